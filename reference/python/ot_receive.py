"""Receives chosen messages from `foxtrot ot send … --insecure`, by nothing but Python's standard library.

    python3 ot_receive.py --connect HOST:PORT CHOICES

CHOICES is a file with 0 or 1 on each line; the messages go to standard output. A second implementation of
docs/wire, for comparison: it is slow, not constant-time, and has no TLS.
"""

import argparse
import socket
import sys

import chacha20poly1305
import roted
from wire import PROTOCOL, RECEIVER, Frames, Hello, WireError, greet, oracle, sub_sid

MOST_TRANSFERS = 128  # more go over an extension, which this program does not have
LONGEST_MESSAGE = 16_777_216


def received(frames, choices):
    """The chosen messages; this side opened the connection."""
    terms = {
        "job": "ot",
        "base": "roted-endemic",
        "extension": "none",
        "adversary": "malicious",
        "count": str(len(choices)),
        "format": "text",
    }
    sid, details = greet(frames, Hello(RECEIVER, terms, {}), we_are_initiator=True)
    length = details.get("message-length", "")
    if not (length.isascii() and length.isdigit() and length == str(int(length))):
        raise WireError("the peer does not say how long its messages are")
    length = int(length)
    if length > LONGEST_MESSAGE:
        raise WireError(f"messages of {length} bytes are too long")

    receiver = roted.Receiver(sub_sid(sid, 0, False, terms["base"]), choices)
    frames.send(PROTOCOL, receiver.blinded)
    n = receiver.reply_length()
    keys = receiver.keys(frames.receive(PROTOCOL, n, n))

    messages_id = sub_sid(sid, 0, False, "chosen-messages")
    in_frame = min(1024, max(1, 1_048_576 // (2 * (length + 20))))
    messages, failed = [], False
    for start in range(0, len(choices), in_frame):
        now = min(in_frame, len(choices) - start)
        n = now * 2 * (length + 20)
        sealed = frames.receive(PROTOCOL, n, n)
        for k in range(now):
            i = start + k
            at = (2 * k + choices[i]) * (length + 20)
            key = oracle("foxtrot v1 chosen message", messages_id, i, choices[i], [keys[i]])
            text = chacha20poly1305.unseal(key, bytes(12), sealed[at : at + length + 20])
            size = length + 1 if text is None else int.from_bytes(text[:4], "little")
            failed |= size > length or any(text[4 + size :])
            messages.append(b"" if failed else text[4 : 4 + size])
    frames.finish(sid, we_are_initiator=True)
    frames.end()
    # Which one it was would tell the peer what was chosen.
    if failed:
        raise WireError("a message does not open")
    return messages


def main():
    parser = argparse.ArgumentParser(description="Receive chosen messages by oblivious transfer.")
    parser.add_argument("choices", metavar="CHOICES")
    parser.add_argument("--connect", metavar="HOST:PORT", required=True)
    options = parser.parse_args()
    with open(options.choices, encoding="ascii") as file:
        lines = file.read().split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    for number, line in enumerate(lines, 1):
        if line not in ("0", "1"):
            sys.exit(f"{options.choices}:{number}: a choice is 0 or 1")
    if not 0 < len(lines) <= MOST_TRANSFERS:
        sys.exit(f"{options.choices}: 1 to {MOST_TRANSFERS} choices")
    host, _, port = options.connect.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            messages = received(Frames(connection), [int(line) for line in lines])
    except (OSError, ValueError, WireError) as error:
        sys.exit(f"ot_receive: {error}")
    for message in messages:
        sys.stdout.buffer.write(message + b"\n")


if __name__ == "__main__":
    main()
