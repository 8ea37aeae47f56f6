"""ChaCha20-Poly1305 without associated data, as RFC 8439 describes it."""

import hmac

MASK = 0xFFFFFFFF
QUARTERS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)


def _numbers(data):
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]


def _block(key, counter, nonce):
    start = [*_numbers(b"expand 32-byte k"), *_numbers(key), counter, *_numbers(nonce)]
    v = list(start)
    for _ in range(10):
        for a, b, c, d in QUARTERS:
            for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                v[x] = (v[x] + v[y]) & MASK
                mixed = v[z] ^ v[x]
                v[z] = (mixed << n | mixed >> (32 - n)) & MASK
    return b"".join(((x + y) & MASK).to_bytes(4, "little") for x, y in zip(v, start))


def _encrypt(key, nonce, text):
    blocks = range(-(-len(text) // 64))
    stream = b"".join(_block(key, 1 + i, nonce) for i in blocks)
    return bytes(x ^ y for x, y in zip(text, stream))


def _tag(key, nonce, ciphertext):
    one_time = _block(key, 0, nonce)
    r = int.from_bytes(one_time[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    lengths = (0).to_bytes(8, "little") + len(ciphertext).to_bytes(8, "little")
    data = ciphertext + bytes(-len(ciphertext) % 16) + lengths
    total = 0
    for i in range(0, len(data), 16):
        total = (total + int.from_bytes(data[i : i + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
    return (total + int.from_bytes(one_time[16:32], "little") & (1 << 128) - 1).to_bytes(16, "little")


def seal(key, nonce, text):
    ciphertext = _encrypt(key, nonce, text)
    return ciphertext + _tag(key, nonce, ciphertext)


def unseal(key, nonce, sealed):
    """The text, or None if it is not authentic."""
    ciphertext, tag = sealed[:-16], sealed[-16:]
    if not hmac.compare_digest(tag, _tag(key, nonce, ciphertext)):
        return None
    return _encrypt(key, nonce, ciphertext)
