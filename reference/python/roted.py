"""The receiver of `roted-endemic`: docs/wire/roted.md, section 5. Not constant-time: to compare with, not to protect anything."""

import os

import ring
from wire import keyed, oracle

BLINDED, REPLY = 1296, 2176


class Receiver:
    """A batch of one transfer per choice; `coins(i)` are the 816 uniform bytes of transfer i."""

    def __init__(self, sub_sid, choices, coins=lambda i: os.urandom(816)):
        self._id, self._choices = sub_sid, choices
        rows = (oracle("foxtrot v1 roted A", sub_sid, row, 0, [], 1560) for row in range(3))
        matrix = [ring.uniform(row) for row in rows]
        hashes = [f"foxtrot v2 roted {name}" for name in ("H1", "T", "H'")]
        k_1, k_t, k_prime = (oracle(context, sub_sid, 0, 0, []) for context in hashes)
        self._secrets, condensed, self.blinded = [], b"", b""
        for i, c in enumerate(choices):
            drawn = coins(i)
            noise, r = drawn[:768], drawn[768:]
            noise = [ring.to_ntt(ring.centred_binomial(noise[at : at + 128])) for at in range(0, 768, 128)]
            s_r, e_r = noise[:3], noise[3:]
            h = ring.uniform(keyed(k_1, i, c, r, 1560))
            t = [
                ring.subtract(ring.add(ring.inner_product(row, s_r), e), hidden)
                for row, e, hidden in zip(matrix, e_r, h)
            ]
            packed = ring.pack(sum(t, []), ring.BITS)
            digest = keyed(k_t, i, 0, packed, 32)
            s = bytes(x ^ y for x, y in zip(r, keyed(k_prime, i, c, digest, 48)))
            self._secrets.append(s_r)
            self.blinded += packed + s
            condensed += digest + s
        self._beta = oracle("foxtrot v2 roted Blinded", sub_sid, 0, 0, [b"", condensed])

    def reply_length(self):
        return REPLY * len(self._choices)

    def keys(self, reply):
        """The key of the chosen branch of each transfer; `reply` has the right length."""
        tau = oracle("foxtrot v2 roted transcript", self._id, 0, 0, [self._beta, reply])
        k_out = oracle("foxtrot v2 roted endemic output", self._id, 0, 0, [tau])
        keys = []
        for i, (c, s_r) in enumerate(zip(self._choices, self._secrets)):
            answer = reply[REPLY * i + REPLY // 2 * c :]
            rounded = ring.unpack(answer[:1056], 11, 3 * ring.N)
            u = [ring.unround(y, 11) for y in rounded]
            u = [ring.to_ntt(u[k * ring.N : (k + 1) * ring.N]) for k in range(3)]
            hints = ring.unpack(answer[1056:1088], 1, ring.N)
            k = ring.from_ntt(ring.inner_product(s_r, u))
            sk = ring.pack([ring.key_bit(x, hint) for x, hint in zip(k, hints)], 1)
            keys.append(keyed(k_out, i, c, sk, 16))
        return keys
