"""The receiver of `silent-vole` and `vole-packed`: docs/wire/silent.md, section 20."""

import os
from itertools import accumulate
from operator import xor

import aes
import softspoken
from blake3 import derive_key
from wire import PROTOCOL, WireError, oracle, u64

NOISE, ACCUMULATED, PACKED = 192, 1440, 128
# Elements whose coefficients have a factor in common.
RUN = 256
MASK = (1 << 128) - 1
M_ROW = 0x000AB0ED


def times_x(a):
    return a << 1 & MASK ^ (0x87 if a >> 127 else 0)


def multiply(a, b):
    """In GF(2^128)."""
    table = [0, a]
    for k in range(2, 16):
        table.append(table[k // 2] << 1 ^ (a if k % 2 else 0))
    product = 0
    for shift in range(124, -4, -4):
        product = product << 4 ^ table[b >> shift & 15]
    for _ in range(2):
        high = product >> 128
        product = product & MASK ^ high ^ high << 1 ^ high << 2 ^ high << 7
    return product


def packed(values):
    """The sum of values times powers of X."""
    total = 0
    for value in reversed(values):
        total = times_x(total) ^ value
    return total


class Size:
    """Trees, height and OTs for m outputs."""

    def __init__(self, m):
        def ots(t, h):
            return PACKED * (t + 1) + t * h

        def cost(sizes):
            t, h = sizes
            return 15 * ots(t, h) + 8 * 16 * t * (2 * h + 1)

        allowed = []
        for h in range(5, 19):
            t = max(NOISE, -(-2 * m >> h))
            t += t % 2 if h == 5 else 0
            if t << h <= max(1 << 14, 5 * m // 2):
                allowed.append((t, h))
        self.trees, self.height = min(allowed, key=cost)
        self.ots, self.leaves = ots(self.trees, self.height), self.trees << self.height
        self.accumulators = 2 if 7 * self.trees >= ACCUMULATED else 3
        self.message = 16 * self.trees * (2 * self.height + 1)
        # What both parties send for these outputs, without base OTs.
        self.bytes = softspoken.SETUP + softspoken.bytes_of(self.ots) + self.message + 32 + 32


def bytes_packed(m):
    return softspoken.SETUP + softspoken.bytes_of(PACKED * m)


def without_lpn(frames, extension, m):
    """U and V of `vole-packed`."""
    bits, rows = extension.correlated(frames, PACKED * m)
    cut = [slice(PACKED * j, PACKED * (j + 1)) for j in range(m)]
    u = [sum(bit << i for i, bit in enumerate(bits[it])) for it in cut]
    return u, [packed(rows[it]) for it in cut]


def with_lpn(frames, extension, sub_sid, m):
    """U and V of the first batch of `silent-vole`."""
    size = Size(m)
    t, h = size.trees, size.height
    bits, rows = extension.correlated(frames, size.ots)
    cut = [slice(PACKED * j, PACKED * (j + 1)) for j in range(t + 1)]
    *u, u_mask = [sum(bit << i for i, bit in enumerate(bits[it])) for it in cut]
    *v, v_mask = [packed(rows[it]) for it in cut]
    first = PACKED * (t + 1)
    bits, rows = bits[first:], rows[first:]
    message = frames.receive(PROTOCOL, size.message, size.message)

    leaves, places = _leaves(sub_sid, size, bits, rows, v, message)
    seed = os.urandom(16)
    frames.send(PROTOCOL, seed)
    noise = [0] * size.leaves
    for u_j, place in zip(u, places):
        noise[place] = u_j
    code = Code(size)
    x, total = [mask ^ _check(seed, code.second(it)) for mask, it in ((u_mask, noise), (v_mask, leaves))]
    frames.send(PROTOCOL, x.to_bytes(16, "little"))
    expected = oracle("foxtrot v1 silent check", sub_sid, 0, 0, [total.to_bytes(16, "little")])
    if frames.receive(PROTOCOL, 32, 32) != expected:
        raise WireError("the peer's trees are wrong")
    return code.encode(noise)[:m], code.encode(leaves)[:m]


def elements(data):
    return [int.from_bytes(data[i : i + 16], "little") for i in range(0, len(data), 16)]


def _check(seed, values):
    """The sum of challenges times values."""
    runs = elements(aes.encrypt([seed], aes.counters(-(-len(values) // RUN))))
    within = [(1 << 64) + i for i in range(RUN)]
    within = elements(aes.encrypt([seed], b"".join(i.to_bytes(16, "little") for i in within)))
    total = 0
    for k, of_run in enumerate(runs):
        inner = 0
        for weight, value in zip(within, values[RUN * k :]):
            inner ^= multiply(weight, value)
        total ^= multiply(of_run, inner)
    return total


def _leaves(sub_sid, size, bits, rows, v, message):
    """All leaves, tree after tree, and the places of those that were not sent."""
    t, h = size.trees, size.height
    tree_keys = oracle("foxtrot v1 silent tree", sub_sid, 0, 0, [], 16 * t)
    tree_keys = [tree_keys[16 * j : 16 * (j + 1)] for j in range(t)]
    mask_key = [oracle("foxtrot v1 silent mask", sub_sid, 0, 0, [], 16)]
    once = elements(aes.encrypt(mask_key, b"".join(row.to_bytes(16, "little") for row in rows)))
    twice = aes.encrypt(mask_key, b"".join((x ^ i).to_bytes(16, "little") for i, x in enumerate(once)))
    masks = [x ^ y for x, y in zip(once, elements(twice))]
    message = elements(message)

    def sum_of(tree, level):
        i = tree * h + level - 1
        return message[tree * (2 * h + 1) + 2 * (level - 1) + bits[i]] ^ masks[i]

    # The nodes of a level of every tree; the one that leads to the missing leaf counts as 0.
    levels = [[0, 0] for _ in range(t)]
    missing = [1 ^ bits[j * h] for j in range(t)]
    for j in range(t):
        levels[j][bits[j * h]] = sum_of(j, 1)
    for level in range(2, h + 1):
        count = len(levels[0])
        keys = [key for key in tree_keys for _ in range(2 * count)]
        inputs = [node ^ side for nodes in levels for node in nodes for side in (0, 1)]
        outputs = elements(aes.encrypt(keys, b"".join(x.to_bytes(16, "little") for x in inputs)))
        children = [x ^ y for x, y in zip(inputs, outputs)]
        for j in range(t):
            nodes = children[2 * count * j : 2 * count * (j + 1)]
            b = bits[j * h + level - 1]
            below = 2 * missing[j]
            nodes[below] = nodes[below + 1] = 0
            others = 0
            for node in nodes[b::2]:
                others ^= node
            nodes[below + b] = others ^ sum_of(j, level)
            levels[j], missing[j] = nodes, below + (1 ^ b)
    for j, nodes in enumerate(levels):
        leaf = message[(j + 1) * (2 * h + 1) - 1] ^ v[j]
        for node in nodes:
            leaf ^= node
        nodes[missing[j]] = leaf
    return sum(levels, []), [(j << h) + alpha for j, alpha in enumerate(missing)]


class Code:
    """Section 20.5, for outputs in GF(2^128)."""

    def __init__(self, size):
        n = size.leaves

        def stream(layer, purpose, blocks):
            key = derive_key("foxtrot v1 silent code", u64(n) + bytes([layer, purpose]), 16)
            return aes.encrypt([key], aes.counters(blocks))

        def permutation(layer):
            buckets = [[] for _ in range(256)]
            for i, bucket in zip(range(n), stream(layer, 0, -(-n // 16))):
                buckets[bucket].append(i)
            # A word may be drawn again: there are more than are needed.
            drawn = stream(layer, 1, n // 2 + 64)
            words = (int.from_bytes(drawn[i : i + 4], "little") for i in range(0, len(drawn), 4))
            for bucket in buckets:
                for i in range(len(bucket) - 1, 0, -1):
                    d = i + 1
                    x = next(words)
                    while (x * d) & 0xFFFFFFFF < (1 << 32) % d:
                        x = next(words)
                    k = x * d >> 32
                    bucket[i], bucket[k] = bucket[k], bucket[i]
            return sum(buckets, [])

        self._tables = [permutation(layer) for layer in range(1, size.accumulators + 1)]
        self._factors = [
            [x or 1 for x in elements(stream(layer, 2, n))] for layer in range(2, size.accumulators + 1)
        ]

    def second(self, string):
        """Y of the second accumulator."""
        return _permuted(self._tables[0], list(accumulate(string, xor)))

    def encode(self, string):
        x = list(accumulate(string, xor))
        for table, factors in zip(self._tables, self._factors):
            y = _permuted(table, x)
            x, total = [], 0
            for factor, element in zip(factors, y):
                total ^= multiply(factor, element)
                x.append(total)
        z = [x[place] for place in self._tables[-1]]
        out = []
        for at in range(0, len(z), 64):
            for i in range(32):
                row = (M_ROW << i | M_ROW >> 32 - i) & 0xFFFFFFFF
                y = z[at + i]
                for k in range(32):
                    if row >> k & 1:
                        y ^= z[at + 32 + k]
                out.append(y)
        return out


def _permuted(table, values):
    y = [0] * len(table)
    for place, value in zip(table, values):
        y[place] = value
    return y
