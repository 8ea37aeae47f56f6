"""The ring of `Module768` and its encodings: docs/wire/README.md, section 4. Polynomials are lists of coefficients."""

N, Q, PSI, BITS = 256, 7681, 62, 13
EIGHTH = (Q - 1) // 8


def add(a, b):
    return [(x + y) % Q for x, y in zip(a, b)]


def subtract(a, b):
    return [(x - y) % Q for x, y in zip(a, b)]


def multiply(a, b):
    """Point by point, of values in NTT order."""
    return [x * y % Q for x, y in zip(a, b)]


def inner_product(a, b):
    total = [0] * N
    for x, y in zip(a, b):
        total = add(total, multiply(x, y))
    return total


def to_ntt(f):
    """f(ψ^(2·brv(i) + 1)) for all i.

    X^n − c² is (X^(n/2) − c)·(X^(n/2) + c), so f is split into its remainders by both, until n is 1. With
    exponents of ψ: c² = ψ^e, and −1 = ψ^N.
    """

    def split(f, exponent):
        n = len(f)
        if n == 1:
            return f
        half, c = exponent // 2, pow(PSI, exponent // 2, Q)
        low, high = f[: n // 2], [c * x % Q for x in f[n // 2 :]]
        return split(add(low, high), half) + split(subtract(low, high), half + N)

    # X^N + 1 = X^N − ψ^N.
    return split(f, N)


def from_ntt(values):
    def join(values, exponent):
        n = len(values)
        if n == 1:
            return values
        half = exponent // 2
        left, right = join(values[: n // 2], half), join(values[n // 2 :], half + N)
        halved, c = pow(2, -1, Q), pow(PSI, -half, Q)
        low = [x * halved % Q for x in add(left, right)]
        high = [x * halved * c % Q for x in subtract(left, right)]
        return low + high

    return join(values, N)


def pack(values, bits):
    packed = sum(x << bits * i for i, x in enumerate(values))
    return packed.to_bytes(-(-len(values) * bits // 8), "little")


def unpack(data, bits, count):
    packed, mask = int.from_bytes(data, "little"), (1 << bits) - 1
    return [packed >> bits * i & mask for i in range(count)]


def uniform(data):
    """Three polynomials in NTT order from 1560 bytes."""
    accepted = [x for x in unpack(data, BITS, 960) if x < Q][: 3 * N]
    if len(accepted) < 3 * N:
        accepted = [0] * (3 * N)
    return [accepted[k * N : (k + 1) * N] for k in range(3)]


def centred_binomial(data):
    bits = unpack(data, 1, 4 * N)
    return [(bits[4 * k] + bits[4 * k + 1] - bits[4 * k + 2] - bits[4 * k + 3]) % Q for k in range(N)]


def unround(y, bits):
    return (Q * y + (1 << bits - 1)) >> bits


def rounded(x, bits):
    return ((x << bits) + Q // 2) // Q & (1 << bits) - 1


def hint(x):
    return int(EIGHTH < x <= 3 * EIGHTH or 5 * EIGHTH < x <= 7 * EIGHTH)


def key_bit(x, hint):
    x = (x + 2 * EIGHTH * hint) % Q
    return int(2 * EIGHTH < x <= 6 * EIGHTH)
