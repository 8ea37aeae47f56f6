// OT in the shape that C++ frameworks for MPC expect: a class over a connection, arrays of blocks.
//
// Replace `Block` by the framework's 128-bit type, say `__m128i`: only its 16 bytes are used.
#pragma once

#include <foxtrot.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace foxtrot {

using Block = std::array<std::uint8_t, 16>;
static_assert(sizeof(Block) == sizeof(foxtrot_block));

/// An error of the library. `status` says who is to blame.
struct Error : std::runtime_error {
    foxtrot_status status;
    explicit Error(const foxtrot_error &error) : std::runtime_error(error.message), status(error.status) {}
};

/// Calls a function of the library with these arguments, and throws its error.
template <class Call, class... Arguments>
void call(Call function, Arguments... arguments) {
    foxtrot_error error{};
    if (function(arguments..., &error) != FOXTROT_OK) throw Error(error);
}

struct Free {
    void operator()(foxtrot_config *it) const { foxtrot_config_free(it); }
    void operator()(foxtrot_peer *it) const { foxtrot_peer_free(it); }
    void operator()(foxtrot_stream *it) const { foxtrot_stream_free(it); }
};
using Peer = std::unique_ptr<foxtrot_peer, Free>;
using Stream = std::unique_ptr<foxtrot_stream, Free>;

/// Makes a handle by a function whose last argument but one it is.
template <class Handle, class Call, class... Arguments>
std::unique_ptr<Handle, Free> make(Call function, Arguments... arguments) {
    Handle *handle = nullptr;
    call(function, arguments..., &handle);
    return std::unique_ptr<Handle, Free>(handle);
}

/// A peer over a socket, whose descriptor may be closed afterwards.
inline Peer over_socket(int descriptor, bool connected) {
    auto config = make<foxtrot_config>(foxtrot_config_insecure);
    const int side = connected ? FOXTROT_INITIATOR : FOXTROT_RESPONDER;
    return make<foxtrot_peer>(foxtrot_peer_over_fds, config.get(), descriptor, descriptor, side);
}

/// The two parties of OTs. Both make matching calls in the same order, with the same n. Malicious security, post-quantum.
///
/// Each call is a run of 128 base OTs and an extension, so give it many OTs at once.
class OT {
  public:
    explicit OT(Peer peer) : peer_(std::move(peer)) {}

    /// Chosen OT: the receiver gets m1[i] where its b[i] is true, else m0[i].
    void send(const Block *m0, const Block *m1, std::size_t n) {
        std::vector<foxtrot_bytes> messages(2 * n);
        for (std::size_t i = 0; i < n; i++) {
            messages[2 * i] = {m0[i].data(), sizeof(Block)};
            messages[2 * i + 1] = {m1[i].data(), sizeof(Block)};
        }
        call(foxtrot_ot_send, peer_.get(), messages.data(), n, std::size_t{2}, nullptr);
    }

    /// A message that does not open is zero: the sender must not learn that there was one.
    void recv(Block *m, const bool *b, std::size_t n) {
        std::vector<std::uint64_t> picks(b, b + n);
        std::vector<std::size_t> lengths(n);
        auto *to = reinterpret_cast<std::uint8_t *>(m);
        call(foxtrot_ot_receive, peer_.get(), picks.data(), n, std::size_t{2}, sizeof(Block), nullptr, to,
             lengths.data());
    }

    /// Random OT: both keys of each.
    void send_rot(Block *m0, Block *m1, std::size_t n) {
        auto stream = make<foxtrot_stream>(foxtrot_rot_open, peer_.get(), FOXTROT_SENDER, n, nullptr);
        std::vector<foxtrot_block> pairs(2 * std::min(n, batch));
        for (std::size_t at = 0; at < n;) {
            const std::size_t some = std::min(n - at, batch);
            call(foxtrot_rot_send, stream.get(), some, pairs.data());
            for (std::size_t i = 0; i < some; i++, at++) {
                std::memcpy(m0[at].data(), &pairs[2 * i], sizeof(Block));
                std::memcpy(m1[at].data(), &pairs[2 * i + 1], sizeof(Block));
            }
        }
        call(foxtrot_stream_end, stream.get());
    }

    /// Random OT: random choices, and the chosen key of each.
    void recv_rot(Block *m, bool *b, std::size_t n) {
        auto stream = make<foxtrot_stream>(foxtrot_rot_open, peer_.get(), FOXTROT_RECEIVER, n, nullptr);
        std::vector<std::uint8_t> choices(n);
        call(foxtrot_rot_receive, stream.get(), n, choices.data(), blocks(m));
        std::transform(choices.begin(), choices.end(), b, [](std::uint8_t it) { return it != 0; });
        call(foxtrot_stream_end, stream.get());
    }

    /// Correlated OT: a row of each; returns delta, which is another one for each call. Hash rows before you use them as keys.
    Block send_cot(Block *rows, std::size_t n) {
        auto stream = make<foxtrot_stream>(foxtrot_cot_open_sender, peer_.get(), n, nullptr);
        call(foxtrot_cot_send, stream.get(), n, blocks(rows));
        call(foxtrot_stream_end, stream.get());
        Block delta{};
        call(foxtrot_cot_delta, stream.get(), blocks(&delta));
        return delta;
    }

    /// Correlated OT: the sender's row of each, plus delta where b[i] is true.
    void recv_cot(Block *rows, const bool *b, std::size_t n) {
        std::vector<std::uint8_t> choices(b, b + n);
        auto stream =
            make<foxtrot_stream>(foxtrot_cot_open_receiver, peer_.get(), choices.data(), n, nullptr);
        call(foxtrot_cot_receive, stream.get(), n, blocks(rows));
        call(foxtrot_stream_end, stream.get());
    }

    /// Ends the connection in order.
    void close() { call(foxtrot_peer_close, peer_.get()); }

  private:
    static constexpr std::size_t batch = 1 << 16;
    static foxtrot_block *blocks(Block *it) { return reinterpret_cast<foxtrot_block *>(it); }
    Peer peer_;
};

}  // namespace foxtrot
