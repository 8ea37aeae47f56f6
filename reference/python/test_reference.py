"""Known answers: python3 -m unittest discover reference/python"""

import json
import pathlib
import unittest

import aes
import blake3
import chacha20poly1305
import ring
import roted
import silent
import wire

WIRE = pathlib.Path(__file__).parents[2] / "docs/wire/paxos.md"
VECTORS = pathlib.Path(__file__).parents[2] / "crates/ot/tests/vectors/roted.json"
SILENT = VECTORS.with_name("silent.json")


class KnownAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vectors = json.loads(VECTORS.read_text())

    def test_blake3(self):
        # From the official test_vectors.json: input length, the hash, bytes 99 to 130 of the derived key.
        context = "BLAKE3 2019-12-27 16:29:52 test vectors context"
        known = (
            (
                0,
                "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
                "224ac99f860011f73609e6e0e4540f93b273e56547dfd3aa1a035ba6689d89a0",
            ),
            (
                1025,
                "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
                "09cbef665953f2ee85ec83d88b88d11547a6f911c8217cca46defa2751e7f3ad",
            ),
            (
                8193,
                "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b",
                "64f309994d2810c49cfba6989d7abb095897459f5425adb48aba07c5fb3c83c0",
            ),
        )
        for length, expected, derived in known:
            data = bytes(i % 251 for i in range(length))
            self.assertEqual(blake3.blake3(data).hex(), expected)
            self.assertEqual(blake3.derive_key(context, data, 131)[99:].hex(), derived)

    def test_hashes_of_items(self):
        # F of docs/wire/paxos.md, section 13.
        rows = WIRE.read_text().splitlines()
        start = rows.index("| x | the first 32 bytes of F(K, x) |") + 2
        for row, length in zip(rows[start:], (0, 32, 133)):
            expected = blake3.material_hash(bytes(range(32)), bytes(range(length)))
            self.assertEqual(row.split("`")[1], expected.hex())

    def test_chacha20_poly1305(self):
        # RFC 8439, sections 2.3.2 and 2.4.2.
        key, nonce = bytes(range(32)), bytes.fromhex("000000090000004a00000000")
        stream = chacha20poly1305._block(key, 1, nonce)
        self.assertEqual(stream[:16].hex(), "10f1e7e4d13b5915500fdd1fa32071c4")
        sealed = chacha20poly1305.seal(key, nonce, b"text")
        self.assertEqual(chacha20poly1305.unseal(key, nonce, sealed), b"text")
        for at in range(len(sealed)):
            changed = bytearray(sealed)
            changed[at] ^= 1
            self.assertIsNone(chacha20poly1305.unseal(key, nonce, bytes(changed)))

    def test_aes(self):
        # FIPS 197, appendix C.1.
        block = bytes.fromhex("00112233445566778899aabbccddeeff")
        expected = "69c4e0d86a7b0430d8cdb78070b4c55a"
        self.assertEqual(aes.encrypt([bytes(range(16))], 3 * block).hex(), 3 * expected)

    def test_aegis_128l(self):
        # RFC 10032, test vector 1: the ciphertext of zeros.
        key, nonce = (bytes.fromhex(start + "00" * 12) for start in ("10010000", "10000200"))
        streams = aes.aegis_streams([key, bytes(16)], nonce, 16)
        self.assertEqual(streams[0].hex(), "c1c0e58bd913006feba00f4b3cc3594e")

    def test_silent_code_and_products(self):
        vectors = json.loads(SILENT.read_text())
        for it in vectors["products"]:
            a, b, product = (int.from_bytes(bytes.fromhex(it[k]), "little") for k in ("a", "b", "product"))
            self.assertEqual(silent.multiply(a, b), product)
        it = next(it for it in vectors["codes"] if (it["bits"], it["n"]) == (128, 6144))
        size = silent.Size(440)
        self.assertEqual((size.leaves, size.accumulators), (it["n"], it["accumulators"]))
        data = wire.oracle("foxtrot v1 test silent input", bytes(range(32)), it["n"], 0, [], 16 * it["n"])
        output = silent.Code(size).encode(silent.elements(data))
        output = b"".join(element.to_bytes(16, "little") for element in output)
        self.assertEqual(output[:16].hex(), it["first_output"])
        self.assertEqual(blake3.blake3(output).hex(), it["output_blake3"])

    def test_oracle_and_ids(self):
        self.assertEqual(self.vectors["wire_version"], wire.VERSION)
        for it in self.vectors["oracle"]:
            fields, expected = [bytes.fromhex(x) for x in it["fields"]], bytes.fromhex(it["output"])
            answer = wire.oracle(
                it["context"], bytes.fromhex(it["id"]), it["i"], it["branch"], fields, len(expected)
            )
            self.assertEqual(answer, expected)
        for it in self.vectors["sub_sid"]:
            sid = bytes.fromhex(it["sid"])
            answer = wire.sub_sid(sid, it["counter"], it["direction"] == 0, it["protocol"])
            self.assertEqual(answer.hex(), it["sub_sid"])

    def test_ring(self):
        it = self.vectors["rings"][0]
        question, expected = it["uniform_input"], bytes.fromhex(it["uniform"])
        answer = wire.oracle(
            question["context"], bytes.fromhex(question["id"]), question["i"], question["branch"], [], 1560
        )
        polynomials = ring.uniform(answer)
        self.assertEqual(ring.pack(sum(polynomials, []), ring.BITS), expected)
        transformed = ring.to_ntt(polynomials[0])
        self.assertEqual(ring.pack(transformed, ring.BITS).hex(), it["ntt_of_first"])
        self.assertEqual(ring.from_ntt(transformed), polynomials[0])

    def test_roted_endemic(self):
        checked = 0
        for it in self.vectors["roted"]:
            if it["mode"] != "endemic" or "reply" not in it:
                continue
            sub_sid, seed = bytes.fromhex(it["id"]), bytes.fromhex(it["receiver_seed"])
            drawn = wire.oracle("foxtrot v1 roted receiver coins", sub_sid, 0, 0, [seed], 24)

            def coins(i):
                counters = range(51 * i, 51 * (i + 1))
                return aes.encrypt([drawn[:16]], b"".join(wire.u64(b) + drawn[16:] for b in counters))

            choices = ring.unpack(bytes.fromhex(it["choices"]), 1, it["n"])
            receiver = roted.Receiver(sub_sid, choices, coins)
            self.assertEqual(receiver.blinded.hex(), it["blinded"])
            keys = receiver.keys(bytes.fromhex(it["reply"]))
            self.assertEqual(b"".join(keys).hex(), it["receiver_keys"])
            seed = bytes.fromhex(it["sender_seed"])
            drawn = wire.oracle("foxtrot v1 roted sender coins", sub_sid, 0, 0, [seed], 24)

            def senders_coins(i):
                counters = range(112 * i, 112 * (i + 1))
                return aes.encrypt([drawn[:16]], b"".join(wire.u64(b) + drawn[16:] for b in counters))

            sender = roted.Sender(sub_sid, it["n"], receiver.blinded, senders_coins)
            self.assertEqual(sender.reply.hex(), it["reply"])
            self.assertEqual(b"".join(map(b"".join, sender.keys)).hex(), it["sender_keys"])
            checked += it["n"]
        self.assertGreater(checked, 0)


if __name__ == "__main__":
    unittest.main()
