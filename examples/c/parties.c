/*
 * Both parties in one program, a thread for each: every job over a socket, over callbacks and over TLS, and
 * what goes wrong. Where the two are two programs, each has one of the functions `ours` and `theirs`.
 */
#define _POSIX_C_SOURCE 200809L
#include <foxtrot.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define N 3000
#define ITEM(text) {(const uint8_t *)(text), sizeof(text) - 1}

static const foxtrot_options SEMI_HONEST = {FOXTROT_SEMI_HONEST, 0, 0, 0};
static const foxtrot_bytes OURS[] = {ITEM("ann"), ITEM("bob"), ITEM(""), ITEM("cid")};
static const foxtrot_bytes THEIRS[] = {ITEM("cid"), ITEM("bob"), ITEM("dan")};

static void check(foxtrot_status status, const foxtrot_error *error, int line) {
    if (status != FOXTROT_OK) {
        fprintf(stderr, "line %d: status %d: %s\n", line, (int)status, error->message);
        exit(1);
    }
}
#define CHECK(call) check((call), &error, __LINE__)

static void expect(int is, int line) {
    if (!is) {
        fprintf(stderr, "line %d: not as expected\n", line);
        exit(1);
    }
}
#define EXPECT(is) expect((is), __LINE__)

/* What the other thread has drawn, to compare. */
static struct {
    uint8_t choices[N];
    foxtrot_block keys[N], rows[N];
    uint32_t a[N], b[N], c[N];
    uint8_t bits[3][128 / 8];
} of_theirs;

static void *theirs(void *handle) {
    foxtrot_peer *peer = handle;
    foxtrot_stream *stream = NULL;
    foxtrot_error error;

    CHECK(foxtrot_rot_open(peer, FOXTROT_RECEIVER, N, NULL, &stream, &error));
    /* Batches of any size. */
    for (size_t at = 0, n; at < N; at += n) {
        n = N - at < 700 ? N - at : 700;
        CHECK(foxtrot_rot_receive(stream, n, of_theirs.choices + at, of_theirs.keys + at, &error));
    }
    CHECK(foxtrot_stream_end(stream, &error));
    foxtrot_stream_free(stream);

    CHECK(foxtrot_cot_open_receiver(peer, of_theirs.choices, N, NULL, &stream, &error));
    CHECK(foxtrot_cot_receive(stream, N, of_theirs.rows, &error));
    CHECK(foxtrot_stream_end(stream, &error));
    foxtrot_stream_free(stream);

    const uint64_t picks[] = {2, 0};
    uint8_t messages[2][8];
    size_t lengths[2];
    CHECK(foxtrot_ot_receive(peer, picks, 2, 3, 8, NULL, messages[0], lengths, &error));
    EXPECT(lengths[0] == 4 && memcmp(messages[0], "blue\0\0\0\0", 8) == 0);
    EXPECT(lengths[1] == 3 && memcmp(messages[1], "dog\0\0\0\0\0", 8) == 0);

    CHECK(foxtrot_psi_send(peer, THEIRS, 3, NULL, &error));
    uint8_t mask[3];
    size_t common = 0;
    CHECK(foxtrot_psi_both(peer, FOXTROT_SENDER, THEIRS, 3, NULL, mask, &common, &error));
    EXPECT(common == 2 && mask[0] == 1 && mask[1] == 1 && mask[2] == 0);
    CHECK(foxtrot_psi_send_with(peer, THEIRS, (const uint8_t *)"CcBbDd", 3, 2, NULL, &error));
    foxtrot_outcome outcome;
    CHECK(foxtrot_psi_count(peer, FOXTROT_SENDER, THEIRS, 3, 0, &SEMI_HONEST, &outcome, &error));
    EXPECT(outcome.released && outcome.count == 2);
    const uint64_t numbers[] = {30, 12, 7};
    CHECK(foxtrot_psi_send_sum(peer, THEIRS, numbers, 3, 50, 0, &SEMI_HONEST, &outcome, &error));
    EXPECT(outcome.released && outcome.count == 2 && outcome.sum == 42);

    CHECK(foxtrot_triples_open(peer, 32, N, &SEMI_HONEST, &stream, &error));
    CHECK(foxtrot_triples(stream, N, of_theirs.a, of_theirs.b, of_theirs.c, &error));
    CHECK(foxtrot_stream_end(stream, &error));
    foxtrot_stream_free(stream);
    CHECK(foxtrot_triples_open(peer, 1, 128, &SEMI_HONEST, &stream, &error));
    CHECK(foxtrot_triples(stream, 128, of_theirs.bits[0], of_theirs.bits[1], of_theirs.bits[2], &error));
    CHECK(foxtrot_stream_end(stream, &error));
    foxtrot_stream_free(stream);

    CHECK(foxtrot_peer_close(peer, &error));
    foxtrot_peer_free(peer);
    return NULL;
}

static void ours(foxtrot_peer *peer, pthread_t other) {
    static foxtrot_block pairs[2 * N], rows[N];
    static uint32_t a[N], b[N], c[N];
    foxtrot_stream *stream = NULL;
    foxtrot_error error;
    foxtrot_block delta;

    CHECK(foxtrot_rot_open(peer, FOXTROT_SENDER, N, NULL, &stream, &error));
    CHECK(foxtrot_rot_send(stream, 1, pairs, &error));
    CHECK(foxtrot_rot_send(stream, N - 1, pairs + 2, &error));
    /* The stream has the peer until its end, also when its job is over. */
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    EXPECT(foxtrot_psi_send(peer, OURS, 4, NULL, &error) == FOXTROT_CALLER);
    CHECK(foxtrot_stream_end(stream, &error));
    EXPECT(foxtrot_rot_send(stream, 1, pairs, &error) == FOXTROT_CALLER);
    foxtrot_stream_free(stream);

    CHECK(foxtrot_cot_open_sender(peer, N, NULL, &stream, &error));
    EXPECT(foxtrot_rot_send(stream, 1, pairs, &error) == FOXTROT_CALLER);
    CHECK(foxtrot_cot_send(stream, N, rows, &error));
    EXPECT(foxtrot_cot_delta(stream, &delta, &error) == FOXTROT_CALLER);
    CHECK(foxtrot_stream_end(stream, &error));
    CHECK(foxtrot_cot_delta(stream, &delta, &error));
    foxtrot_stream_free(stream);

    const foxtrot_bytes messages[] = {ITEM("red"), ITEM("green"), ITEM("blue"),
                                      ITEM("dog"), ITEM("cat"),   ITEM("")};
    CHECK(foxtrot_ot_send(peer, messages, 2, 3, NULL, &error));

    uint8_t mask[4], payloads[8];
    size_t common = 0;
    CHECK(foxtrot_psi_receive(peer, OURS, 4, NULL, mask, &common, &error));
    EXPECT(common == 2 && memcmp(mask, "\0\1\0\1", 4) == 0);
    CHECK(foxtrot_psi_both(peer, FOXTROT_RECEIVER, OURS, 4, NULL, mask, NULL, &error));
    EXPECT(memcmp(mask, "\0\1\0\1", 4) == 0);
    CHECK(foxtrot_psi_receive_with(peer, OURS, 4, 2, NULL, mask, payloads, &common, &error));
    EXPECT(memcmp(payloads, "\0\0Bb\0\0Cc", 8) == 0);
    foxtrot_outcome outcome;
    /* A semi-honest job says so. */
    EXPECT(foxtrot_psi_count(peer, FOXTROT_RECEIVER, OURS, 4, 0, NULL, &outcome, &error) == FOXTROT_CALLER);
    CHECK(foxtrot_psi_count(peer, FOXTROT_RECEIVER, OURS, 4, 0, &SEMI_HONEST, &outcome, &error));
    EXPECT(outcome.count == 2);
    CHECK(foxtrot_psi_receive_sum(peer, OURS, 4, 50, 0, &SEMI_HONEST, &outcome, &error));
    EXPECT(outcome.sum == 42);

    CHECK(foxtrot_triples_open(peer, 32, N, &SEMI_HONEST, &stream, &error));
    CHECK(foxtrot_triples(stream, N, a, b, c, &error));
    CHECK(foxtrot_stream_end(stream, &error));
    foxtrot_stream_free(stream);
    uint8_t bits[3][128 / 8];
    CHECK(foxtrot_triples_open(peer, 1, 128, &SEMI_HONEST, &stream, &error));
    CHECK(foxtrot_triples(stream, 8, bits[0], bits[1], bits[2], &error));
    CHECK(foxtrot_triples(stream, 120, bits[0] + 1, bits[1] + 1, bits[2] + 1, &error));
    CHECK(foxtrot_stream_end(stream, &error));
    foxtrot_stream_free(stream);

    CHECK(foxtrot_peer_close(peer, &error));
    foxtrot_peer_free(peer);
    pthread_join(other, NULL);

    for (size_t i = 0; i < N; i++) {
        EXPECT(memcmp(&of_theirs.keys[i], &pairs[2 * i + of_theirs.choices[i]], 16) == 0);
        for (size_t j = 0; j < 16; j++) {
            uint8_t plus = of_theirs.choices[i] ? delta.bytes[j] : 0;
            EXPECT(of_theirs.rows[i].bytes[j] == (rows[i].bytes[j] ^ plus));
        }
        EXPECT((uint32_t)((a[i] + of_theirs.a[i]) * (b[i] + of_theirs.b[i])) == (uint32_t)(c[i] + of_theirs.c[i]));
    }
    for (size_t i = 0; i < 128 / 8; i++) {
        uint8_t product = (bits[0][i] ^ of_theirs.bits[0][i]) & (bits[1][i] ^ of_theirs.bits[1][i]);
        EXPECT(product == (bits[2][i] ^ of_theirs.bits[2][i]));
    }
}

static void both(foxtrot_peer *near, foxtrot_peer *far) {
    pthread_t other;
    EXPECT(pthread_create(&other, NULL, theirs, far) == 0);
    ours(near, other);
}

static void over_a_socket(foxtrot_config *config) {
    foxtrot_error error;
    foxtrot_peer *near = NULL, *far = NULL;
    int ends[2];
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(foxtrot_peer_over_fds(config, ends[0], ends[0], FOXTROT_INITIATOR, &near, &error));
    CHECK(foxtrot_peer_over_fds(config, ends[1], ends[1], FOXTROT_RESPONDER, &far, &error));
    close(ends[0]);
    close(ends[1]);
    both(near, far);
}

/* A stream of the caller: here a socket again. */
struct socket_stream {
    int end;
    pthread_mutex_t lock;
    pthread_cond_t released;
    int is_released;
};

static ptrdiff_t read_socket(void *context, uint8_t *to, size_t size) {
    return recv(((struct socket_stream *)context)->end, to, size, 0);
}

static ptrdiff_t write_socket(void *context, const uint8_t *from, size_t size) {
    return send(((struct socket_stream *)context)->end, from, size, MSG_NOSIGNAL);
}

static void close_socket(void *context, int32_t how) {
    shutdown(((struct socket_stream *)context)->end, how);
}

static void release_socket(void *context) {
    struct socket_stream *stream = context;
    pthread_mutex_lock(&stream->lock);
    close(stream->end);
    stream->is_released = 1;
    pthread_cond_signal(&stream->released);
    pthread_mutex_unlock(&stream->lock);
}

static void over_callbacks(foxtrot_config *config) {
    foxtrot_error error;
    int ends[2];
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    struct socket_stream streams[2];
    foxtrot_peer *peers[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        streams[i].end = ends[i];
        streams[i].is_released = 0;
        pthread_mutex_init(&streams[i].lock, NULL);
        pthread_cond_init(&streams[i].released, NULL);
        foxtrot_callbacks callbacks = {read_socket, write_socket, close_socket, release_socket, &streams[i]};
        CHECK(foxtrot_peer_over_callbacks(config, &callbacks, i, &peers[i], &error));
    }
    both(peers[0], peers[1]);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&streams[i].lock);
        while (!streams[i].is_released) pthread_cond_wait(&streams[i].released, &streams[i].lock);
        pthread_mutex_unlock(&streams[i].lock);
        pthread_mutex_destroy(&streams[i].lock);
        pthread_cond_destroy(&streams[i].released);
    }
}

struct dial {
    foxtrot_config *config;
    char address[32];
    foxtrot_peer *peer;
};

static void *dial(void *context) {
    struct dial *to = context;
    foxtrot_error error;
    CHECK(foxtrot_connect(to->config, to->address, &to->peer, &error));
    return NULL;
}

static void over_tls(void) {
    foxtrot_error error;
    foxtrot_identity *keys[2] = {NULL, NULL};
    foxtrot_config *configs[2] = {NULL, NULL};
    foxtrot_listener *listener = NULL;
    foxtrot_peer *far = NULL, *none = NULL;
    char names[2][FOXTROT_FINGERPRINT_SIZE], seen[FOXTROT_FINGERPRINT_SIZE];
    for (int i = 0; i < 2; i++) {
        CHECK(foxtrot_identity_generate(&keys[i], &error));
        CHECK(foxtrot_identity_fingerprint(keys[i], names[i], &error));
    }
    for (int i = 0; i < 2; i++) {
        const char *peer = names[1 - i];
        CHECK(foxtrot_config_tls(keys[i], &peer, 1, &configs[i], &error));
        CHECK(foxtrot_config_set_application(configs[i], "parties/1", &error));
        CHECK(foxtrot_config_set_timeout(configs[i], 60000, &error));
        CHECK(foxtrot_config_set_wait(configs[i], 60000, &error));
        CHECK(foxtrot_config_set_threads(configs[i], 2, &error));
        foxtrot_identity_free(keys[i]);
    }
    CHECK(foxtrot_bind(configs[1], "127.0.0.1:0", &listener, &error));
    struct dial to = {configs[0], "", NULL};
    snprintf(to.address, sizeof to.address, "127.0.0.1:%u", (unsigned)foxtrot_listener_port(listener));
    pthread_t dialling;
    EXPECT(pthread_create(&dialling, NULL, dial, &to) == 0);
    CHECK(foxtrot_accept(listener, &far, &error));
    EXPECT(foxtrot_accept(listener, &none, &error) == FOXTROT_CALLER && none == NULL);
    pthread_join(dialling, NULL);
    foxtrot_listener_free(listener);
    CHECK(foxtrot_peer_fingerprint(to.peer, seen, &error));
    EXPECT(strcmp(seen, names[1]) == 0);
    foxtrot_peer_free(to.peer);
    foxtrot_peer_free(far);
    for (int i = 0; i < 2; i++) foxtrot_config_free(configs[i]);
}

static void *wait_for_items(void *peer) {
    uint8_t mask[4];
    foxtrot_error error;
    EXPECT(foxtrot_psi_receive(peer, OURS, 4, NULL, mask, NULL, &error) == FOXTROT_CANCELLED);
    return NULL;
}

/* Wrong calls, and a wait that another thread ends. */
static void what_goes_wrong(foxtrot_config *config) {
    foxtrot_error error;
    foxtrot_peer *peer = NULL;
    foxtrot_stream *stream = NULL;
    EXPECT(foxtrot_psi_send(NULL, OURS, 4, NULL, &error) == FOXTROT_CALLER);
    EXPECT(strcmp(error.message, "peer is NULL") == 0);
    EXPECT(foxtrot_peer_over_fds(config, -1, 0, FOXTROT_INITIATOR, &peer, &error) == FOXTROT_CALLER);
    EXPECT(foxtrot_peer_over_fds(config, 9999, 0, FOXTROT_INITIATOR, &peer, NULL) == FOXTROT_CALLER);
    EXPECT(peer == NULL);

    int ends[2];
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    EXPECT(foxtrot_peer_over_fds(config, ends[0], ends[0], 2, &peer, &error) == FOXTROT_CALLER);
    CHECK(foxtrot_peer_over_fds(config, ends[0], ends[0], FOXTROT_INITIATOR, &peer, &error));
    EXPECT(foxtrot_psi_send(peer, NULL, 4, NULL, &error) == FOXTROT_CALLER);
    EXPECT(foxtrot_psi_send(peer, OURS, SIZE_MAX / 2, NULL, &error) == FOXTROT_CALLER);
    EXPECT(foxtrot_psi_send(peer, OURS, 4, &(foxtrot_options){1 << 20, 0, 0, 0}, &error) == FOXTROT_CALLER);
    EXPECT(foxtrot_triples_open(peer, 7, N, &SEMI_HONEST, &stream, &error) == FOXTROT_CALLER);
    EXPECT(stream == NULL);
    const uint8_t choices[] = {0, 2};
    EXPECT(foxtrot_cot_open_receiver(peer, choices, 2, NULL, &stream, &error) == FOXTROT_CALLER);
    pthread_t waits;
    EXPECT(pthread_create(&waits, NULL, wait_for_items, peer) == 0);
    struct timespec a_little = {0, 50000000};
    nanosleep(&a_little, NULL);
    /* One call at a time. */
    EXPECT(foxtrot_psi_send(peer, OURS, 4, NULL, &error) == FOXTROT_CALLER);
    CHECK(foxtrot_peer_cancel(peer, &error));
    pthread_join(waits, NULL);
    EXPECT(foxtrot_psi_send(peer, OURS, 4, NULL, &error) == FOXTROT_CANCELLED);
    foxtrot_peer_free(peer);

    /* A stream that is freed before its end, also after its peer's handle, ends the connection. */
    CHECK(foxtrot_peer_over_fds(config, ends[1], ends[1], FOXTROT_RESPONDER, &peer, &error));
    CHECK(foxtrot_rot_open(peer, FOXTROT_SENDER, N, NULL, &stream, &error));
    foxtrot_peer_free(peer);
    foxtrot_stream_free(stream);
    close(ends[0]);
    close(ends[1]);

    foxtrot_peer_free(NULL);
    foxtrot_stream_free(NULL);
    foxtrot_config_free(NULL);
    foxtrot_identity_free(NULL);
    foxtrot_listener_free(NULL);
}

int main(void) {
    foxtrot_error error;
    foxtrot_config *config = NULL;
    CHECK(foxtrot_config_insecure(&config, &error));
    over_a_socket(config);
    over_callbacks(config);
    over_tls();
    what_goes_wrong(config);
    foxtrot_config_free(config);
    printf("foxtrot %s: all jobs, and what goes wrong, are right\n", foxtrot_version());
    return 0;
}
