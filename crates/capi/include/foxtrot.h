/*
 * Foxtrot: private set intersection, oblivious transfer and multiplication triples between two
 * parties, post-quantum. This file is made by `cargo xtask capi --header`.
 *
 * Errors. Every call that can fail returns a status, which says who can do something about it. Its
 * last argument may be NULL, or a struct that gets the status and a message. Nothing is global. A
 * call that fails leaves its outputs unspecified, and a handle that it would have made NULL.
 *
 * Pointers. A handle comes from the function that makes it, and is freed once, by the function for
 * its type; NULL may be freed. Arrays have as many elements as the arguments beside them say,
 * outputs do not overlap with anything, and texts are UTF-8 with a zero at their end. NULL for
 * what is needed, wrong alignment and impossible sizes are errors. A handle that was freed, and an
 * array that is too short, cannot be found out: they are undefined behaviour, as everywhere in C.
 *
 * Threads. Any thread may use any handle, and different handles at once. A call that begins while
 * another uses the same handle returns FOXTROT_CALLER, but for foxtrot_peer_cancel, which is for
 * that. Nothing may use a handle while it is freed.
 *
 * Jobs. Both programs make matching calls in the same order on one peer, or run the command
 * `foxtrot`. A job that fails ends the connection, unless the status is FOXTROT_CALLER and nothing
 * was sent.
 *
 * Secrets. The library erases its own when a handle is freed. Keys, choices and shares in arrays
 * of the caller are the caller's to erase.
 */

#ifndef FOXTROT_H
#define FOXTROT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(_WIN32)
#define FOXTROT_HAS_DESCRIPTORS
#endif

/// The length of a message that does not open.
#define FOXTROT_NOT_OPENED SIZE_MAX

// Bytes of an error's message, with the zero at its end.
#define FOXTROT_MESSAGE_SIZE 512

// Bytes of a fingerprint, with the zero at its end.
#define FOXTROT_FINGERPRINT_SIZE 64

// The side that opened the connection.
#define FOXTROT_INITIATOR 0

// The side that waited for the connection.
#define FOXTROT_RESPONDER 1

// The sender of a job.
#define FOXTROT_SENDER 0

// The receiver of a job.
#define FOXTROT_RECEIVER 1



// End reads, as `SHUT_RD`.
#define FOXTROT_CLOSE_READ 0

// End writes, as `SHUT_WR`.
#define FOXTROT_CLOSE_WRITE 1

// End both, as `SHUT_RDWR`.
#define FOXTROT_CLOSE_BOTH 2

// A flag: protocols that give no protection against a malicious peer.
#define FOXTROT_SEMI_HONEST 1

// A flag of PSI: also rests on dual LPN, and sends a fraction of the bytes of a large set.
#define FOXTROT_LPN 2

// A flag of random OTs: silent OTs, which rest on LPN and send some 0.1 bytes per OT.
#define FOXTROT_SILENT 4

// A flag of triples: from ring-LWE, for many.
#define FOXTROT_RLWE 8

// A flag of triples: from oblivious transfer, for few.
#define FOXTROT_GILBOA 16

// The result of a call, by the party that can do something about an error.
typedef enum foxtrot_status {
  // Done.
  FOXTROT_OK,
  // The calling program asked for something that cannot be, or has no memory or no file.
  FOXTROT_CALLER,
  // The two programs want different things: compare their calls and options.
  FOXTROT_AGREEMENT,
  // The connection or its keys: try again, or look at network and fingerprints.
  FOXTROT_CONNECTION,
  // The peer departed from the protocol, or says that this side did. Do not retry: an attempt may reveal something.
  FOXTROT_PEER,
  // Chance: try again.
  FOXTROT_NOBODY,
  // `foxtrot_peer_cancel` was called.
  FOXTROT_CANCELLED,
  // The library is at fault. The handle is of no use any more: free it.
  FOXTROT_PANICKED,
} foxtrot_status;

// The settings of connections.
typedef struct foxtrot_config foxtrot_config;

// A key by which peers know this side. It is erased when it is freed.
typedef struct foxtrot_identity foxtrot_identity;

// A port on which a peer is awaited.
typedef struct foxtrot_listener foxtrot_listener;

// A connection to the other party, on which jobs run one after another.
typedef struct foxtrot_peer foxtrot_peer;

// A job of random OTs, correlated OTs or triples, of which the caller draws one batch after another.
typedef struct foxtrot_stream foxtrot_stream;

// An error: the party to blame, and what happened, as a text in UTF-8 with a zero at its end. It has nothing to free.
typedef struct foxtrot_error {
  // The status that the call also returned.
  enum foxtrot_status status;
  // The fault, in words.
  char message[FOXTROT_MESSAGE_SIZE];
} foxtrot_error;

// Bytes of the caller: an item, or a message.
typedef struct foxtrot_bytes {
  // The first byte; may be NULL if there is none.
  const uint8_t *data;
  // The number of bytes.
  size_t len;
} foxtrot_bytes;

// A reliable, ordered byte stream of the caller, which is already secret and authenticated, or on one machine. The library
// reads in one of its threads and writes in another, at the same time. No callback may throw or call the library
// with the peer's handle.
typedef struct foxtrot_callbacks {
  // Waits for bytes and writes up to `size` of them to `to`. Returns how many; 0 at the stream's end, -1 for an error.
  ptrdiff_t (*read)(void *context, uint8_t *to, size_t size);
  // Sends up to `size` bytes. Returns how many, which is not 0; -1 for an error.
  ptrdiff_t (*write)(void *context, const uint8_t *from, size_t size);
  // Ends the stream as `shutdown` does with the same `how`, a `FOXTROT_CLOSE_`: reads, also one that is waiting; writes, so that
  // the peer reads an end behind all that was written; or both. It may be called several times, from any thread,
  // and must not block. May be NULL: then a thread of the library may wait in `read` until the peer ends the stream.
  void (*close)(void *context, int32_t how);
  // Called once, when the library calls none of the others any more; may be NULL.
  void (*release)(void *context);
  // The first argument of all callbacks.
  void *context;
} foxtrot_callbacks;

// Options of a job; all zero, or NULL, are the defaults. Both sides have the same, but for the limits of items. An option
// that a job does not have is an error.
typedef struct foxtrot_options {
  // Flags, as `FOXTROT_SEMI_HONEST`.
  uint32_t flags;
  // The parameter k of the extension (2, 4 or 8): a larger one sends fewer bytes and computes more. 0 is the default.
  uint32_t k;
  // The most items that the peer of PSI may have. 0 is the default: 10^8, and 2^20 for counts and sums.
  size_t max_peer_keys;
  // The fewest items that the peer of PSI may have.
  size_t min_peer_keys;
} foxtrot_options;

// The result of a count or sum.
typedef struct foxtrot_outcome {
  // True unless there are fewer common items than the two sides agreed to tell.
  bool released;
  // The number of common items, if it is released.
  uint64_t count;
  // The sum of their numbers, if it is released.
  uint64_t sum;
} foxtrot_outcome;

// A key or a row of 16 bytes.
typedef struct foxtrot_block {
  // The bytes.
  uint8_t bytes[16];
} foxtrot_block;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library: three numbers with points between them.
const char *foxtrot_version(void);

// Generates an identity key.
enum foxtrot_status foxtrot_identity_generate(struct foxtrot_identity **identity,
                                              struct foxtrot_error *error);

// Reads an identity key from a file of `foxtrot keygen`. A file that other users can read is an error.
enum foxtrot_status foxtrot_identity_read(const char *path,
                                          struct foxtrot_identity **identity,
                                          struct foxtrot_error *error);

// Reads an identity key from the content of such a file, which the caller erases.
enum foxtrot_status foxtrot_identity_from_pem(struct foxtrot_bytes pem,
                                              struct foxtrot_identity **identity,
                                              struct foxtrot_error *error);

// Writes the fingerprint of a key, for the peer: a text of up to `FOXTROT_FINGERPRINT_SIZE` bytes.
enum foxtrot_status foxtrot_identity_fingerprint(const struct foxtrot_identity *identity,
                                                 char *fingerprint,
                                                 struct foxtrot_error *error);

// Erases and frees a key.
void foxtrot_identity_free(struct foxtrot_identity *identity);

// A configuration without keys: everybody on the way can read and change everything. For one machine, below a tunnel, and
// for streams of the caller.
enum foxtrot_status foxtrot_config_insecure(struct foxtrot_config **config,
                                            struct foxtrot_error *error);

// A configuration with TLS 1.3, an identity key, and the fingerprints of the `n` keys that a peer may have.
enum foxtrot_status foxtrot_config_tls(const struct foxtrot_identity *identity,
                                       const char *const *fingerprints,
                                       size_t n,
                                       struct foxtrot_config **config,
                                       struct foxtrot_error *error);

// Sets the longest wait for the peer in milliseconds; 30 seconds by default. A peer that draws from a stream
// slower than that is not waited for.
enum foxtrot_status foxtrot_config_set_timeout(const struct foxtrot_config *config,
                                               uint64_t timeout_ms,
                                               struct foxtrot_error *error);

// Sets the time in milliseconds to try to connect or to wait for a peer that connects; by default 30 seconds to connect,
// and without end for a listener.
enum foxtrot_status foxtrot_config_set_wait(const struct foxtrot_config *config,
                                            uint64_t wait_ms,
                                            struct foxtrot_error *error);

// Sets the name and version of the application, which both sides have to give alike.
enum foxtrot_status foxtrot_config_set_application(const struct foxtrot_config *config,
                                                   const char *name,
                                                   struct foxtrot_error *error);

// Starts threads that compute for the peers of the configuration: `n` with the caller's own, from 1 to 1024.
enum foxtrot_status foxtrot_config_set_threads(const struct foxtrot_config *config,
                                               size_t n,
                                               struct foxtrot_error *error);

// Frees a configuration. Peers of it stay as they are.
void foxtrot_config_free(struct foxtrot_config *config);

// Connects to a peer that listens at `address`, a host and a port.
enum foxtrot_status foxtrot_connect(const struct foxtrot_config *config,
                                    const char *address,
                                    struct foxtrot_peer **peer,
                                    struct foxtrot_error *error);

// Takes the port at `address`, a host and a port; port 0 lets the system choose.
enum foxtrot_status foxtrot_bind(const struct foxtrot_config *config,
                                 const char *address,
                                 struct foxtrot_listener **listener,
                                 struct foxtrot_error *error);

// The port of a listener; 0 for NULL.
uint16_t foxtrot_listener_port(const struct foxtrot_listener *listener);

// Waits for the first peer that may connect, and closes the port. Strangers are refused, and do not end the wait.
enum foxtrot_status foxtrot_accept(const struct foxtrot_listener *listener,
                                   struct foxtrot_peer **peer,
                                   struct foxtrot_error *error);

// Closes the port, if no peer was accepted, and frees the listener.
void foxtrot_listener_free(struct foxtrot_listener *listener);

#if defined(FOXTROT_HAS_DESCRIPTORS)
// Talks to a peer over blocking file descriptors: two ends of pipes, or twice one socket. Nothing is encrypted, so the
// configuration has no keys. `side` is `FOXTROT_INITIATOR` at one end, and `FOXTROT_RESPONDER` at the other.
//
// The library uses copies of the descriptors; close yours when you do not need them, because the peer sees the end of a
// pipe when all copies are closed. A program that writes to pipes ignores SIGPIPE; for sockets the library does.
enum foxtrot_status foxtrot_peer_over_fds(const struct foxtrot_config *config,
                                          int32_t reader,
                                          int32_t writer,
                                          int32_t side,
                                          struct foxtrot_peer **peer,
                                          struct foxtrot_error *error);
#endif

// Talks to a peer over callbacks, which are copied. Nothing is encrypted, so the configuration has no keys. `release` is also
// called if this call fails, unless `callbacks` is NULL or has no `read` or no `write`.
enum foxtrot_status foxtrot_peer_over_callbacks(const struct foxtrot_config *config,
                                                const struct foxtrot_callbacks *callbacks,
                                                int32_t side,
                                                struct foxtrot_peer **peer,
                                                struct foxtrot_error *error);

// Writes the fingerprint of the peer's key, as `foxtrot_identity_fingerprint` does; no text if the connection has no keys.
enum foxtrot_status foxtrot_peer_fingerprint(const struct foxtrot_peer *peer,
                                             char *fingerprint,
                                             struct foxtrot_error *error);

// Ends the job and the connection, from any thread. The job returns `FOXTROT_CANCELLED`.
enum foxtrot_status foxtrot_peer_cancel(const struct foxtrot_peer *peer,
                                        struct foxtrot_error *error);

// Ends the connection in order: the system has taken everything that was sent. The handle is still to be freed.
enum foxtrot_status foxtrot_peer_close(const struct foxtrot_peer *peer,
                                       struct foxtrot_error *error);

// Frees a peer. A connection that is still open is ended, for which this waits a second at most. A stream of the peer lives on.
void foxtrot_peer_free(struct foxtrot_peer *peer);

// Lets the peer find out which of its items are among these. This side learns only how many different items the peer has.
//
// Items are compared byte by byte. An empty item is never in common. `foxtrot psi receive` with one key column and without
// normalisation is a peer of this call.
enum foxtrot_status foxtrot_psi_send(const struct foxtrot_peer *peer,
                                     const struct foxtrot_bytes *items,
                                     size_t n,
                                     const struct foxtrot_options *options,
                                     struct foxtrot_error *error);

// Finds out which of these items the peer also has. `mask` has `n` bytes: 1 for a common item, else 0. `common`, which
// may be NULL, is the number of ones.
enum foxtrot_status foxtrot_psi_receive(const struct foxtrot_peer *peer,
                                        const struct foxtrot_bytes *items,
                                        size_t n,
                                        const struct foxtrot_options *options,
                                        uint8_t *mask,
                                        size_t *common,
                                        struct foxtrot_error *error);

// Finds out which of these items the peer also has, and the peer finds out the same. One side is `FOXTROT_SENDER`, the other
// `FOXTROT_RECEIVER`. There is no fairness: a peer that cheats can keep items back. `mask` and `common` are as in
// `foxtrot_psi_receive`.
enum foxtrot_status foxtrot_psi_both(const struct foxtrot_peer *peer,
                                     int32_t role,
                                     const struct foxtrot_bytes *items,
                                     size_t n,
                                     const struct foxtrot_options *options,
                                     uint8_t *mask,
                                     size_t *common,
                                     struct foxtrot_error *error);

// Lets the peer find out which of its items are among these, and read the payload of each: `len` bytes, in `payloads` one
// after another. Both sides have the same `len`.
enum foxtrot_status foxtrot_psi_send_with(const struct foxtrot_peer *peer,
                                          const struct foxtrot_bytes *items,
                                          const uint8_t *payloads,
                                          size_t n,
                                          size_t len,
                                          const struct foxtrot_options *options,
                                          struct foxtrot_error *error);

// Finds out which of these items the peer also has, and the peer's payload of each. `payloads` has `n` times `len` bytes:
// the payload at the place of each common item, else zeros. `mask` and `common` are as in `foxtrot_psi_receive`.
enum foxtrot_status foxtrot_psi_receive_with(const struct foxtrot_peer *peer,
                                             const struct foxtrot_bytes *items,
                                             size_t n,
                                             size_t len,
                                             const struct foxtrot_options *options,
                                             uint8_t *mask,
                                             uint8_t *payloads,
                                             size_t *common,
                                             struct foxtrot_error *error);

// Counts the items that both have. Both sides learn the number, and none of the items; neither learns a number below
// `min_count`, on which both agree. Semi-honest: the options have `FOXTROT_SEMI_HONEST`.
enum foxtrot_status foxtrot_psi_count(const struct foxtrot_peer *peer,
                                      int32_t role,
                                      const struct foxtrot_bytes *items,
                                      size_t n,
                                      uint64_t min_count,
                                      const struct foxtrot_options *options,
                                      struct foxtrot_outcome *outcome,
                                      struct foxtrot_error *error);

// Counts as `foxtrot_psi_count` does, and adds up the numbers of the common items, one beside each item of this side and none
// above `largest`, on which both agree.
enum foxtrot_status foxtrot_psi_send_sum(const struct foxtrot_peer *peer,
                                         const struct foxtrot_bytes *items,
                                         const uint64_t *numbers,
                                         size_t n,
                                         uint64_t largest,
                                         uint64_t min_count,
                                         const struct foxtrot_options *options,
                                         struct foxtrot_outcome *outcome,
                                         struct foxtrot_error *error);

// Counts the items that both have, and learns the sum of the peer's numbers, as the peer does: `foxtrot_psi_send_sum`.
enum foxtrot_status foxtrot_psi_receive_sum(const struct foxtrot_peer *peer,
                                            const struct foxtrot_bytes *items,
                                            size_t n,
                                            uint64_t largest,
                                            uint64_t min_count,
                                            const struct foxtrot_options *options,
                                            struct foxtrot_outcome *outcome,
                                            struct foxtrot_error *error);

// Sends, of each `of` messages, the one that the peer picks. `messages` has `n` times `of` messages, those of the first transfer
// first. The longest message decides how many bytes go for each, and the peer learns that length.
enum foxtrot_status foxtrot_ot_send(const struct foxtrot_peer *peer,
                                    const struct foxtrot_bytes *messages,
                                    size_t n,
                                    size_t of,
                                    const struct foxtrot_options *options,
                                    struct foxtrot_error *error);

// Receives, of each `of` messages, the one with the number in `picks`, from 0. `messages` has `n` places of `size` bytes, and
// a sender with longer messages is refused. `lengths` has the length of each message; zeros follow it.
//
// The length of a message that does not open is `FOXTROT_NOT_OPENED`. A sender that cheats can make any message such a one, and
// which of them a receiver meets depends on its picks. So go on with the sender as if all had opened.
enum foxtrot_status foxtrot_ot_receive(const struct foxtrot_peer *peer,
                                       const uint64_t *picks,
                                       size_t n,
                                       size_t of,
                                       size_t size,
                                       const struct foxtrot_options *options,
                                       uint8_t *messages,
                                       size_t *lengths,
                                       struct foxtrot_error *error);

// Begins a stream of `n` random OTs. The sender draws by `foxtrot_rot_send`, the receiver by `foxtrot_rot_receive`, each in
// batches of its own. `foxtrot rot` is a peer of this stream.
enum foxtrot_status foxtrot_rot_open(const struct foxtrot_peer *peer,
                                     int32_t role,
                                     size_t n,
                                     const struct foxtrot_options *options,
                                     struct foxtrot_stream **stream,
                                     struct foxtrot_error *error);

// Draws `n` random OTs as the sender: `pairs` has two keys of each, so 2 times `n` blocks.
enum foxtrot_status foxtrot_rot_send(const struct foxtrot_stream *stream,
                                     size_t n,
                                     struct foxtrot_block *pairs,
                                     struct foxtrot_error *error);

// Draws `n` random OTs as the receiver: `choices` has a byte of each, 0 or 1, and `keys` the chosen key.
enum foxtrot_status foxtrot_rot_receive(const struct foxtrot_stream *stream,
                                        size_t n,
                                        uint8_t *choices,
                                        struct foxtrot_block *keys,
                                        struct foxtrot_error *error);

// Begins a stream of `n` correlated OTs as the sender, which draws rows by `foxtrot_cot_send`. The receiver's row is the sender's,
// plus delta where its choice is 1; `foxtrot_cot_delta` tells delta at the end.
//
// A receiver that cheats may guess groups of bits of delta, and ends the session if it is wrong. Either party may fix its own
// rows. So hash each row with its number before you use it as a key.
enum foxtrot_status foxtrot_cot_open_sender(const struct foxtrot_peer *peer,
                                            size_t n,
                                            const struct foxtrot_options *options,
                                            struct foxtrot_stream **stream,
                                            struct foxtrot_error *error);

// Begins a stream of `n` correlated OTs as the receiver, with these choices, each a byte 0 or 1. It draws rows by
// `foxtrot_cot_receive`.
enum foxtrot_status foxtrot_cot_open_receiver(const struct foxtrot_peer *peer,
                                              const uint8_t *choices,
                                              size_t n,
                                              const struct foxtrot_options *options,
                                              struct foxtrot_stream **stream,
                                              struct foxtrot_error *error);

// Draws `n` rows of correlated OTs as the sender.
enum foxtrot_status foxtrot_cot_send(const struct foxtrot_stream *stream,
                                     size_t n,
                                     struct foxtrot_block *rows,
                                     struct foxtrot_error *error);

// Draws `n` rows of correlated OTs as the receiver, in the order of the choices.
enum foxtrot_status foxtrot_cot_receive(const struct foxtrot_stream *stream,
                                        size_t n,
                                        struct foxtrot_block *rows,
                                        struct foxtrot_error *error);

// Writes delta, of a sender's stream of correlated OTs that has ended.
enum foxtrot_status foxtrot_cot_delta(const struct foxtrot_stream *stream,
                                      struct foxtrot_block *delta,
                                      struct foxtrot_error *error);

// Begins a stream of shares of `n` multiplication triples modulo 2^`bits`, for 1, 8, 16, 32 or 64 `bits`. Both sides make the
// same call, and draw by `foxtrot_triples`. Semi-honest: the options have `FOXTROT_SEMI_HONEST`.
enum foxtrot_status foxtrot_triples_open(const struct foxtrot_peer *peer,
                                         uint32_t bits,
                                         size_t n,
                                         const struct foxtrot_options *options,
                                         struct foxtrot_stream **stream,
                                         struct foxtrot_error *error);

// Draws shares of `n` triples: (a + a')(b + b') = c + c' with the peer's a', b', c'. Each buffer has `n` words of the stream's
// bits, as `uint32_t` for 32. Of 1 bit it has 8 triples in a byte, the first in the lowest bit; `n` is a multiple of 8
// then, but in the last draw.
enum foxtrot_status foxtrot_triples(const struct foxtrot_stream *stream,
                                    size_t n,
                                    void *a,
                                    void *b,
                                    void *c,
                                    struct foxtrot_error *error);

// Ends a stream of which everything is drawn: both sides have the same transcript. The peer takes other jobs again. The handle
// is still to be freed. Show the peer nothing that depends on what was drawn before this has returned `FOXTROT_OK`. After a call
// of the stream that failed because of its job, this and all others return the same error.
enum foxtrot_status foxtrot_stream_end(const struct foxtrot_stream *stream,
                                       struct foxtrot_error *error);

// Erases what was not drawn, and frees the stream. A stream that has not ended ends the peer's connection.
void foxtrot_stream_free(struct foxtrot_stream *stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FOXTROT_H */
