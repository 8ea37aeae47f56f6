"""Both parties of `roted-endemic`: docs/wire/roted.md, section 5. Not constant-time: to compare with, not to protect anything."""

import os

import ring
from wire import WireError, keyed, oracle

BLINDED, REPLY = 1296, 2176


class Receiver:
    """A batch of one transfer per choice; `coins(i)` are the 816 uniform bytes of transfer i."""

    def __init__(self, sub_sid, choices, coins=lambda i: os.urandom(816)):
        self._id, self._choices = sub_sid, choices
        rows = (oracle("foxtrot v1 roted A", sub_sid, row, 0, [], 1560) for row in range(3))
        matrix = [ring.uniform(row) for row in rows]
        hashes = [f"foxtrot v1 roted {name}" for name in ("H1", "T", "H'")]
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
        self._beta = oracle("foxtrot v1 roted Blinded", sub_sid, 0, 0, [b"", condensed])

    def reply_length(self):
        return REPLY * len(self._choices)

    def keys(self, reply):
        """The key of the chosen branch of each transfer; `reply` has the right length."""
        tau = oracle("foxtrot v1 roted transcript", self._id, 0, 0, [self._beta, reply])
        k_out = oracle("foxtrot v1 roted endemic output", self._id, 0, 0, [tau])
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


class Sender:
    """A batch of n transfers from the receiver's message; `coins(i)` are the 2 × 896 uniform bytes of transfer i."""

    def __init__(self, sub_sid, n, blinded, coins=lambda i: os.urandom(2 * 896)):
        rows = (oracle("foxtrot v1 roted A", sub_sid, row, 0, [], 1560) for row in range(3))
        matrix = [ring.uniform(row) for row in rows]
        hashes = [f"foxtrot v1 roted {name}" for name in ("H1", "T", "H'")]
        k_1, k_t, k_prime = (oracle(context, sub_sid, 0, 0, []) for context in hashes)
        secrets, condensed, self.reply = [], b"", b""
        for i in range(n):
            packed, s = blinded[BLINDED * i : BLINDED * i + 1248], blinded[BLINDED * i + 1248 : BLINDED * (i + 1)]
            t = ring.unpack(packed, ring.BITS, 3 * ring.N)
            if any(x >= ring.Q for x in t):
                raise WireError("a coefficient is not below q")
            digest, drawn = keyed(k_t, i, 0, packed, 32), coins(i)
            condensed += digest + s
            for j in (0, 1):
                noise = drawn[896 * j : 896 * (j + 1)]
                noise = [ring.centred_binomial(noise[at : at + 128]) for at in range(0, 896, 128)]
                s_s, e_s, e = [ring.to_ntt(f) for f in noise[:3]], noise[3:6], noise[6]
                r = bytes(x ^ y for x, y in zip(s, keyed(k_prime, i, j, digest, 48)))
                h = ring.uniform(keyed(k_1, i, j, r, 1560))
                p = [ring.add(t[ring.N * k : ring.N * (k + 1)], h[k]) for k in range(3)]
                columns = [[matrix[row][k] for row in range(3)] for k in range(3)]
                u = [
                    ring.add(ring.from_ntt(ring.inner_product(column, s_s)), e_k)
                    for column, e_k in zip(columns, e_s)
                ]
                k = ring.add(ring.from_ntt(ring.inner_product(s_s, p)), e)
                hints = [ring.hint(x) for x in k]
                rounded = [ring.rounded(x, 11) for x in sum(u, [])]
                self.reply += ring.pack(rounded, 11) + ring.pack(hints, 1)
                secrets.append(ring.pack([ring.key_bit(x, hint) for x, hint in zip(k, hints)], 1))
        beta = oracle("foxtrot v1 roted Blinded", sub_sid, 0, 0, [b"", condensed])
        tau = oracle("foxtrot v1 roted transcript", sub_sid, 0, 0, [beta, self.reply])
        k_out = oracle("foxtrot v1 roted endemic output", sub_sid, 0, 0, [tau])
        keys = [keyed(k_out, k // 2, k % 2, sk, 16) for k, sk in enumerate(secrets)]
        self.keys = list(zip(keys[::2], keys[1::2]))
