"""Receives from `foxtrot psi send SET --assumption lpn --insecure`, by nothing but Python's standard library.

    python3 psi_receive.py --connect HOST:PORT SET

SET is a file with a key on each line; the lines that the peer also has go to standard output. A second implementation of
docs/wire/vole-psi.md, for comparison: it is slow, not constant-time, and has no TLS.
"""

import argparse
import math
import os
import random
import socket
import sys

import psi_items
import roted
import silent
import softspoken
from blake3 import material_hash
from wire import PROTOCOL, RECEIVER, Frames, Hello, WireError, greet, oracle, sub_sid

MOST_KEYS = (1 << 17) - 1  # more take another store, which this program does not have
MOST_PEER = 1 << 24
FRAME = 1 << 20
DENSE = 44


def segment(n):
    """Slots of one of the three segments."""
    return max(1, -(-(-(-49 * n // 40) + 5 * math.isqrt(n)) // 3))


class Store:
    """Section 13.3, with words and values of 16 bytes."""

    def __init__(self, bucket_id, n, row_seed):
        self._g = segment(n)
        self._key = oracle("foxtrot v1 okvs row key", bucket_id, n, 1, [row_seed])

    def row_and_word(self, item):
        answer = material_hash(self._key, item, 64)
        a = [int.from_bytes(answer[i : i + 8], "little") for i in range(0, 40, 8)]
        row = a[4] & (1 << DENSE) - 1
        for k in range(3):
            row |= 1 << DENSE + k * self._g + (a[k + 1] * self._g >> 64)
        return row, int.from_bytes(answer[48:], "little")

    def encode(self, equations):
        """Slots that decode every row to its word; all else is random."""
        pivots = []
        for row, word in equations:
            for pivot, of_pivot, value in pivots:
                if row >> pivot & 1:
                    row, word = row ^ of_pivot, word ^ value
            if not row:
                raise WireError("there are no slots for these keys: try again")
            pivots.append((row.bit_length() - 1, row, word))
        slots = [int.from_bytes(os.urandom(16), "little") for _ in range(DENSE + 3 * self._g)]
        # Of later pivots no earlier row has been freed.
        for pivot, row, word in reversed(pivots):
            slots[pivot] = word ^ decode(slots, row ^ 1 << pivot)
        return slots


def decode(slots, row):
    total = 0
    while row:
        low = row & -row
        total ^= slots[low.bit_length() - 1]
        row ^= low
    return total


def tags(frames, n):
    """Section 21.5: the peer's n tags of 128 bits."""
    if not n:
        return set()
    k = n.bit_length() - 1
    first, low = n + (1 << k) - 1, 128 - k
    length = -(-first // 8) + -(-n * low // 8)
    data = b""
    while len(data) < length:
        due = min(FRAME, length - len(data))
        data += frames.receive(PROTOCOL, due, due)
    ones = int.from_bytes(data[: -(-first // 8)], "little")
    rest = int.from_bytes(data[-(-first // 8) :], "little")
    found, places = [], f"{ones:b}"[::-1]
    if len(places) > first or places.count("1") != n or rest >> n * low:
        raise WireError("the peer's tags are malformed")
    at = -1
    for i in range(n):
        at = places.index("1", at + 1)
        found.append(at - i << low | rest >> i * low & (1 << low) - 1)
    if any(one >= other for one, other in zip(found, found[1:])):
        raise WireError("the peer's tags do not ascend")
    return set(found)


def common(frames, items):
    """The items that the peer also has; this side opened the connection."""
    terms = {
        "job": "psi",
        "base": "roted-endemic",
        "assumption": "lpn",
        "adversary": "malicious",
        "normalize": "none/1",
    }
    hello = Hello(RECEIVER, terms, {"most-keys": str(MOST_PEER)})
    sid, details = greet(frames, hello, True, {"keys": str(len(items))})
    theirs = details.get("keys", "")
    if not (theirs.isascii() and theirs.isdigit() and theirs == str(int(theirs))):
        raise WireError("the peer does not say how many keys it has")
    theirs = int(theirs)
    if theirs > MOST_PEER:
        raise WireError("the peer has more keys than we accept")

    of_psi = sub_sid(sid, 0, False, "vole-psi")
    m = DENSE + 3 * segment(len(items))
    use_lpn = silent.bytes_packed(m) >= silent.Size(m).bytes
    of_vole = sub_sid(of_psi, 0, False, "silent-vole" if use_lpn else "vole-packed")
    n = roted.BLINDED * softspoken.ROWS
    of_base = sub_sid(of_vole, 0, True, terms["base"])
    base = roted.Sender(of_base, softspoken.ROWS, frames.receive(PROTOCOL, n, n))
    frames.send(PROTOCOL, base.reply)
    extension = softspoken.Receiver(sub_sid(of_vole, 0, False, "softspoken-8"), base.keys)
    frames.send(PROTOCOL, extension.setup)
    if use_lpn:
        u, v = silent.with_lpn(frames, extension, of_vole, m)
    else:
        u, v = silent.without_lpn(frames, extension, m)

    # The set is fixed, and the row seed is not yet known to anybody.
    row_seed, bucket = os.urandom(32), sub_sid(of_psi, 0, True, "paxos bucket")
    store = Store(bucket, len(items), row_seed)
    rows = [store.row_and_word(item) for item in items]
    slots = store.encode(rows)
    frames.send(PROTOCOL, row_seed)
    masked = b"".join((slot ^ mask).to_bytes(16, "little") for slot, mask in zip(slots, u))
    for at in range(0, len(masked), FRAME):
        frames.send(PROTOCOL, masked[at : at + FRAME])
    key = oracle("foxtrot v1 paxos tag key", bucket, 0, 0, [row_seed])
    ours = [
        int.from_bytes(material_hash(key, item + decode(v, row).to_bytes(16, "little"), 16), "little")
        for item, (row, _) in zip(items, rows)
    ]
    theirs = tags(frames, theirs if items else 0)
    # The session ends before the sets are compared.
    frames.finish(sid, we_are_initiator=True)
    frames.end()
    return {item for item, tag in zip(items, ours) if tag in theirs}


def main():
    parser = argparse.ArgumentParser(description="Receive the common lines of two sets.")
    parser.add_argument("set", metavar="SET")
    parser.add_argument("--connect", metavar="HOST:PORT", required=True)
    options = parser.parse_args()
    with open(options.set, encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")
    of_lines = [psi_items.item("none/1", [line]) for line in lines]
    items = sorted({item for item in of_lines if item})
    random.SystemRandom().shuffle(items)
    if len(items) > MOST_KEYS:
        sys.exit(f"{options.set}: at most {MOST_KEYS} keys")
    host, _, port = options.connect.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            found = common(Frames(connection), items)
    except (OSError, ValueError, WireError) as error:
        sys.exit(f"psi_receive: {error}")
    for line, item in zip(lines, of_lines):
        if item in found:
            print(line)


if __name__ == "__main__":
    main()
