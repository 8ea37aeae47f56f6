// Both parties of every OT, a thread for each, over a socket.
#include "ot.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

using foxtrot::Block;

static void expect(bool is, const char *what) {
    if (!is) {
        std::fprintf(stderr, "wrong: %s\n", what);
        std::exit(1);
    }
}

int main() {
    constexpr std::size_t n = 100000;
    int ends[2];
    expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    foxtrot::OT ours(foxtrot::over_socket(ends[0], true)), theirs(foxtrot::over_socket(ends[1], false));
    close(ends[0]);
    close(ends[1]);

    std::vector<Block> m0(n), m1(n), rows(n), keys(n), their_rows(n), chosen(1000);
    const auto b = std::make_unique<bool[]>(n);
    Block delta{};
    std::thread receiver([&] {
        theirs.recv_rot(keys.data(), b.get(), n);
        theirs.recv_cot(their_rows.data(), b.get(), n);
        theirs.recv(chosen.data(), b.get(), chosen.size());
        theirs.close();
    });
    ours.send_rot(m0.data(), m1.data(), n);
    delta = ours.send_cot(rows.data(), n);
    ours.send(m0.data(), m1.data(), chosen.size());
    ours.close();
    receiver.join();

    for (std::size_t i = 0; i < n; i++) {
        expect(keys[i] == (b[i] ? m1[i] : m0[i]), "random OT");
        for (std::size_t j = 0; b[i] && j < delta.size(); j++) rows[i][j] ^= delta[j];
        expect(their_rows[i] == rows[i], "correlated OT");
    }
    for (std::size_t i = 0; i < chosen.size(); i++) expect(chosen[i] == (b[i] ? m1[i] : m0[i]), "chosen OT");
    try {
        ours.send_rot(m0.data(), m1.data(), n);
        expect(false, "a job of a closed peer");
    } catch (const foxtrot::Error &error) {
        expect(error.status == FOXTROT_CALLER, "the status of a closed peer");
    }
    std::printf("%zu random, %zu correlated and %zu chosen OTs are right\n", n, n, chosen.size());
}
