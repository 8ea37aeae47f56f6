"""AES-128 and AEGIS-128L, of many blocks at a time: docs/wire, sections 7 and 20.

Blocks stand one after another in one long integer, and a gate works on all of them at once. Not constant-time: to compare
with, not to protect anything.
"""

BLOCK = 16


class _Field:
    """GF(16)[y] / (y^2 + y + NU), GF(16) = GF(2)[z] / (z^4 + z + 1), and how AES's own field goes into it."""

    def __init__(self):
        # The least constant without a root, and the least element that is a root of AES's polynomial.
        self.nu = next(nu for nu in range(16) if all(self.mul4(y, y) ^ y != nu for y in range(16)))
        root = next(x for x in range(2, 256) if self._polynomial(x) == 0)
        self.into = [1]
        for _ in range(7):
            self.into.append(self.mul8(self.into[-1], root))
        images = {self._image(x): x for x in range(256)}
        self.back = [images[1 << k] for k in range(8)]

    @staticmethod
    def mul4(a, b):
        product = 0
        for k in range(4):
            product ^= (b >> k & 1) * (a << k)
        for k in (6, 5, 4):
            product ^= (product >> k & 1) * (0b10011 << k - 4)
        return product

    def mul8(self, a, b):
        high, low = (a >> 4, b >> 4), (a & 15, b & 15)
        both = self.mul4(*high)
        middle = self.mul4(high[0] ^ low[0], high[1] ^ low[1]) ^ self.mul4(*low)
        return middle << 4 | self.mul4(*low) ^ self.mul4(both, self.nu)

    def _polynomial(self, x):
        square = self.mul8(x, x)
        fourth = self.mul8(square, square)
        return self.mul8(fourth, fourth) ^ self.mul8(fourth, 1) ^ self.mul8(square, x) ^ x ^ 1

    def _image(self, x):
        image = 0
        for k in range(8):
            image ^= (x >> k & 1) * self.into[k]
        return image


FIELD = _Field()


def _linear(columns, bits):
    """The image of planes of bits: plane k of it is the sum of those whose column has bit k."""
    out = []
    for k in range(max(column.bit_length() for column in columns)):
        total = 0
        for column, plane in zip(columns, bits):
            if column >> k & 1:
                total ^= plane
        out.append(total)
    return out


def _mul4(a, b):
    c = [0] * 7
    for i in range(4):
        for j in range(4):
            c[i + j] ^= a[i] & b[j]
    return [c[0] ^ c[4], c[1] ^ c[4] ^ c[5], c[2] ^ c[5] ^ c[6], c[3] ^ c[6]]


def _square4(a):
    return [a[0] ^ a[2], a[2], a[1] ^ a[3], a[3]]


def _add(a, b):
    return [x ^ y for x, y in zip(a, b)]


NU_COLUMNS = [FIELD.mul4(1 << k, FIELD.nu) for k in range(4)]
# Multiplication by the affine map's matrix of FIPS 197, after the way back.
AFFINE_COLUMNS = []
for _column in FIELD.back:
    _image = 0
    for _k in range(8):
        _image |= (sum(_column >> (_k + _s) % 8 & 1 for _s in (0, 4, 5, 6, 7)) & 1) << _k
    AFFINE_COLUMNS.append(_image)


class Lanes:
    """The operations on `count` blocks in one integer."""

    def __init__(self, count):
        self.count, self.size = count, BLOCK * count
        self.ones = int.from_bytes(b"\x01" * self.size, "little")
        self.constant = 0x63 * self.ones
        self._rows = [self._bytes(lambda i, r=r: i % 4 == r) for r in range(4)]
        self._columns = [self._bytes(lambda i, c=c: i // 4 >= c) for c in range(4)]
        self._low = 0x7F * self.ones

    def _bytes(self, wanted):
        block = bytes(255 if wanted(i) else 0 for i in range(BLOCK))
        return int.from_bytes(block * self.count, "little")

    def sub_bytes(self, x):
        bits = [x >> k & self.ones for k in range(8)]
        bits = _linear(FIELD.into, bits)
        low, high = bits[:4], bits[4:]
        both = _add(low, high)
        # The norm of high·y + low, its inverse, and the inverse of the whole.
        norm = _add(_linear(NU_COLUMNS, _square4(high)), _mul4(low, both))
        square = _square4(norm)
        fourth = _square4(square)
        inverse = _mul4(_mul4(square, fourth), _square4(fourth))
        bits = _linear(AFFINE_COLUMNS, _mul4(both, inverse) + _mul4(high, inverse))
        total = self.constant
        for k, plane in enumerate(bits):
            total ^= plane << k
        return total

    def shift_rows(self, x):
        out = 0
        for r in range(4):
            row = x & self._rows[r]
            # Column c comes from column c + r of the same block.
            out |= (row & self._columns[r]) >> 32 * r | (row & ~self._columns[r]) << 32 * (4 - r) % 128
        return out

    def mix_columns(self, x):
        def turned(x, n):
            first = x & sum(self._rows[:n])
            return (x ^ first) >> 8 * n | first << 8 * (4 - n)

        next_one = turned(x, 1)
        both = x ^ next_one
        doubled = (both & self._low) << 1 ^ (both >> 7 & self.ones) * 0x1B
        return doubled ^ next_one ^ turned(both, 2)

    def round(self, x):
        """A round without its key."""
        return self.mix_columns(self.shift_rows(self.sub_bytes(x)))


S_BOX = Lanes(16).sub_bytes(int.from_bytes(bytes(range(256)), "little")).to_bytes(256, "little")


def round_keys(key):
    """The eleven round keys of FIPS 197."""
    words, constant = [key[i : i + 4] for i in range(0, 16, 4)], 1
    for i in range(4, 44):
        word = words[-1]
        if i % 4 == 0:
            turned = word[1:] + word[:1]
            word = bytes(S_BOX[x] for x in turned)
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = constant << 1 ^ (0x11B if constant & 0x80 else 0)
        words.append(bytes(x ^ y for x, y in zip(words[i - 4], word)))
    return [b"".join(words[i : i + 4]) for i in range(0, 44, 4)]


def encrypt(keys, data):
    """Encrypts every block of `data`, each under its own of `keys`, or all under the only one."""
    count = len(data) // BLOCK
    if not count:
        return b""
    lanes, schedules = Lanes(count), {key: round_keys(key) for key in set(keys)}
    keys = keys * count if len(keys) == 1 else keys

    def of(number):
        return int.from_bytes(b"".join(schedules[key][number] for key in keys), "little")

    x = int.from_bytes(data, "little") ^ of(0)
    for number in range(1, 10):
        x = lanes.round(x) ^ of(number)
    x = lanes.shift_rows(lanes.sub_bytes(x)) ^ of(10)
    return x.to_bytes(len(data), "little")


def counters(count, first=0):
    return b"".join(i.to_bytes(BLOCK, "little") for i in range(first, first + count))


C_0 = bytes.fromhex("000101020305080d1522375990e97962")
C_1 = bytes.fromhex("db3d18556dc22ff12011314273b528dd")


def aegis_streams(keys, nonce, length):
    """The first bytes of the stream of AEGIS-128L under each key."""
    count = len(keys)
    part, lanes = 8 * BLOCK * count, Lanes(8 * count)
    key, nonces = int.from_bytes(b"".join(keys), "little"), int.from_bytes(nonce * count, "little")
    c_0, c_1 = (int.from_bytes(c * count, "little") for c in (C_0, C_1))
    state = 0
    for i, block in enumerate((key ^ nonces, c_1, c_0, c_1, key ^ nonces, key ^ c_0, key ^ c_1, key ^ c_0)):
        state |= block << part * i

    def update(state, message):
        turned = lanes.round(state)
        last = turned >> 7 * part
        return (turned ^ last << 7 * part) << part ^ last ^ state ^ message

    for _ in range(10):
        state = update(state, nonces | key << 4 * part)
    pieces, mask = [], (1 << part) - 1
    for _ in range(-(-length // 32)):
        s = [state >> part * i & mask for i in range(8)]
        for z in (s[6] ^ s[1] ^ s[2] & s[3], s[2] ^ s[5] ^ s[6] & s[7]):
            pieces.append(z.to_bytes(BLOCK * count, "little"))
        state = update(state, 0)
    return [
        b"".join(piece[BLOCK * k : BLOCK * (k + 1)] for piece in pieces)[:length] for k in range(count)
    ]
