"""The receiver of `softspoken-8` with random choices, checked: docs/wire/softspoken.md, section 7."""

import os

import aes
from wire import PROTOCOL, PROOFS, oracle, u64

K, ROWS, TREES = 8, 128, 16
MOST = 65472
SETUP = TREES * ((K - 1) * 32 + 32) + 32
CHALLENGE, PROOF = 32, 32 + 8 * (1 + ROWS)


def columns(n):
    return 512 * -(-(n + 64) // 512)


def batches(n):
    return [min(MOST, n - first) for first in range(0, n, MOST)]


def bytes_of(n):
    """Bytes of both parties for n OTs, without base OTs and set-up."""
    return sum(32 + (TREES - 1) * columns(batch) // 8 + CHALLENGE + PROOF for batch in batches(n))


def _xor(parts):
    total = 0
    for part in parts:
        total ^= int.from_bytes(part, "little")
    return total


class Receiver:
    """`pairs` are both keys of the base OTs, in which this side was the sender."""

    def __init__(self, sub_sid, pairs):
        self._id, self._batch = sub_sid, 0
        self._nonce = oracle("foxtrot v1 extension stream", sub_sid, 0, 0, [], 8)

        def pad(row, b):
            return oracle("foxtrot v1 extension base", sub_sid, row, b, [pairs[row][1 - b]], 16)

        sums, checks, self._leaves = b"", [], []
        for tree in range(TREES):
            row = K * tree + K - 1
            nodes = [pad(row, 0), pad(row, 1)]
            for level in range(2, K + 1):
                children = (
                    oracle("foxtrot v1 extension tree", sub_sid, tree, level, [node]) for node in nodes
                )
                nodes = [half for both in children for half in (both[:16], both[16:])]
                row = K * tree + K - level
                for b in (0, 1):
                    masked = _xor(nodes[b::2]) ^ int.from_bytes(pad(row, b), "little")
                    sums += masked.to_bytes(16, "little")
            leaves = [oracle("foxtrot v1 extension leaf", sub_sid, tree, 0, [node], 48) for node in nodes]
            self._leaves.append([leaf[:16] for leaf in leaves])
            checks.append([leaf[16:] for leaf in leaves])
        digest = oracle("foxtrot v1 extension tree check", sub_sid, 0, 0, [b"".join(sum(checks, []))])
        self.setup = sums + b"".join(_xor(of_tree).to_bytes(32, "little") for of_tree in checks) + digest

    def correlated(self, frames, n):
        """Choice bits and rows of n OTs, batch after batch."""
        bits, rows = [], []
        for of_batch in batches(n):
            some_bits, some_rows = self._one_batch(frames, of_batch)
            bits += some_bits
            rows += some_rows
        return bits, rows

    def _one_batch(self, frames, n):
        batch, width, coin = self._batch, columns(n), os.urandom(32)
        self._batch += 1
        keys = [leaf for leaves in self._leaves for leaf in leaves]
        streams = aes.aegis_streams(keys, u64(batch) + self._nonce, width // 8)
        sums, rows = [], []
        for tree in range(TREES):
            of_tree = streams[tree << K : tree + 1 << K]
            sums.append(_xor(of_tree))
            for j in range(K):
                rows.append(_xor(stream for x, stream in enumerate(of_tree) if x >> j & 1))
        choices = sums[0]
        corrections = oracle("foxtrot v1 extension commitment", self._id, batch, 0, [coin])
        for of_tree in sums[1:]:
            corrections += (of_tree ^ choices).to_bytes(width // 8, "little")
        frames.send(PROTOCOL, corrections)
        challenge = frames.receive(PROTOCOL, CHALLENGE, CHALLENGE)
        count = width // 64
        chi = oracle("foxtrot v1 extension check", self._id, batch, 0, [challenge], 8 * (count - 1))
        weights = [int.from_bytes(chi[8 * b : 8 * b + 8], "little") for b in range(count - 1)]
        hashes = (_hash(weights, of_row) for of_row in [choices, *rows])
        frames.send(PROOFS, coin + b"".join(map(u64, hashes)))
        flips = oracle("foxtrot v1 extension flips", self._id, batch, 0, [challenge], -(-n // 8))
        choices ^= int.from_bytes(flips, "little") & (1 << n) - 1
        return [choices >> i & 1 for i in range(n)], _transposed(rows, n)


def _hash(weights, row):
    """Sum of weight times element, and of the last element."""
    total = row >> 64 * len(weights)
    for b, weight in enumerate(weights):
        element = row >> 64 * b & (1 << 64) - 1
        while weight:
            low = weight & -weight
            total ^= element * low
            weight ^= low
    for k in range(total.bit_length() - 1, 63, -1):
        if total >> k & 1:
            total ^= 0x1_0000_0000_0000_001B << k - 64
    return total


def _transposed(rows, n):
    """Column i of the rows, whose bit r is bit i of row r."""
    texts = [f"{row & (1 << n) - 1:0{n}b}"[::-1] for row in reversed(rows)]
    return [int("".join(bits), 2) for bits in zip(*texts)]
