"""BLAKE3 as its specification describes it: one chunk after another, and a tree of their chaining values."""

import functools

IV = (
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
KEYED_HASH, DERIVE_KEY_CONTEXT, DERIVE_KEY_MATERIAL = 16, 32, 64
BLOCK, CHUNK = 64, 1024
MASK = 0xFFFFFFFF


def _schedules():
    """The order of the message's words in each of the seven rounds."""
    order, orders = tuple(range(16)), []
    for _ in range(7):
        orders.append(order)
        order = tuple(order[i] for i in PERMUTATION)
    return orders


SCHEDULES = _schedules()
# Columns, then diagonals, of the state's square.
QUARTERS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)


def _compress(chaining, block, counter, length, flags):
    """All sixteen words of the output."""
    v = [*chaining, *IV[:4], counter & MASK, counter >> 32, length, flags]
    for order in SCHEDULES:
        for k, (a, b, c, d) in enumerate(QUARTERS):
            for word, left, right in ((order[2 * k], 16, 12), (order[2 * k + 1], 8, 7)):
                v[a] = (v[a] + v[b] + block[word]) & MASK
                x = v[d] ^ v[a]
                v[d] = (x >> left | x << (32 - left)) & MASK
                v[c] = (v[c] + v[d]) & MASK
                x = v[b] ^ v[c]
                v[b] = (x >> right | x << (32 - right)) & MASK
    return [v[i] ^ v[i + 8] for i in range(8)] + [v[i + 8] ^ chaining[i] for i in range(8)]


def _words(data):
    data = data.ljust(BLOCK, b"\0")
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, BLOCK, 4)]


def _chunk(data, number, key, flags):
    """The last compression of a chunk, to be done as that of a root or not."""
    blocks = [data[i : i + BLOCK] for i in range(0, len(data), BLOCK)] or [b""]
    chaining, start = key, CHUNK_START
    for block in blocks[:-1]:
        chaining = _compress(chaining, _words(block), number, BLOCK, flags | start)[:8]
        start = 0
    last = blocks[-1]
    return chaining, _words(last), number, len(last), flags | start | CHUNK_END


def _tree(data, number, key, flags):
    if len(data) <= CHUNK:
        return _chunk(data, number, key, flags)
    # The left half is the largest power of two of whole chunks that leaves something to the right.
    left = CHUNK << ((len(data) - 1) // CHUNK).bit_length() - 1
    halves = ((data[:left], number), (data[left:], number + left // CHUNK))
    block = [word for half, at in halves for word in _compress(*_tree(half, at, key, flags))[:8]]
    return key, block, 0, BLOCK, flags | PARENT


def _hash(key, flags, data, length):
    chaining, block, _, size, flags = _tree(data, 0, key, flags)
    output = bytearray()
    for counter in range(-(-length // BLOCK)):
        for word in _compress(chaining, block, counter, size, flags | ROOT):
            output += word.to_bytes(4, "little")
    return bytes(output[:length])


def blake3(data, length=32):
    return _hash(IV, 0, data, length)


def keyed_hash(key, data, length=32):
    return _hash(tuple(_words(key)[:8]), KEYED_HASH, data, length)


@functools.cache
def _context_key(context):
    return _hash(IV, DERIVE_KEY_CONTEXT, context.encode(), 32)


def derive_key(context, material, length=32):
    return material_hash(_context_key(context), material, length)


def material_hash(key, data, length=32):
    """The second step of deriving a key: F of docs/wire/paxos.md, section 13."""
    return _hash(tuple(_words(key)[:8]), DERIVE_KEY_MATERIAL, data, length)
