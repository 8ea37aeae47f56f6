"""Items of `foxtrot psi` by docs/psi-files.md: prints test vectors as JSON."""

import json
import re
import unicodedata

from blake3 import derive_key

# Unicode's White_Space, which is not what str.strip takes.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_INVISIBLE = "\u200b-\u200f\u202a-\u202e\u2060\ufeff"
_PHONE_NOISE = re.compile(f"[{re.escape(WHITE_SPACE)}./\u2010-\u2015\u2212{_INVISIBLE}-]")


def _trim(text):
    return text.strip(WHITE_SPACE)


def _nfc(text):
    return unicodedata.normalize("NFC", text)


def _email(text):
    text = _nfc(_trim(text).lower())
    return text if "@" in text else ""


def _phone(text, country):
    text = _PHONE_NOISE.sub("", text)
    if text.lstrip("(").startswith(("+", "00")):
        text = text.replace("(0)", "", 1)
    text = text.replace("(", "").replace(")", "")
    if text.startswith("00"):
        text = "+" + text[2:]
    elif text.startswith("0"):
        text = country + text[1:]
    return text if re.search("[0-9]", text) else ""


_STEPS = {
    "none/1": lambda text: text,
    "trim/1": _trim,
    "lower/1": str.lower,
    "nfc/1": _nfc,
    "digits/1": lambda text: re.sub("[^0-9]", "", text),
    "email/1": _email,
}


def normalised(terms, text):
    """A part of a key after the steps that `terms` joins by commas."""
    for step in terms.split(","):
        name, _, country = step.partition(":")
        text = _phone(text, country) if name == "phone/1" else _STEPS[name](text)
    return text


def item(terms, parts):
    """The 32 bytes of a key by its parts; none if one is empty."""
    parts = [normalised(*both).encode() for both in zip(terms.split(";"), parts, strict=True)]
    if not all(parts):
        return None
    lengths = (len(part).to_bytes(8, "little") for part in parts)
    return derive_key("foxtrot v1 psi item", b"".join(map(bytes.__add__, lengths, parts)))


KEYS = [
    ("none/1", ["plain"]),
    ("none/1", [" as it is\t"]),
    ("none/1", [""]),
    ("trim/1", ["\u3000\x85 both ends \xa0\u2028"]),
    ("trim/1", ["\x1c not white space \x1f"]),
    ("trim/1", [" \t "]),
    ("lower/1", ["\u0130STANBUL \u00c9\u1e9e"]),
    ("lower/1", ["\u039f\u0394\u039f\u03a3 \u03a3\u0391\u03a3"]),
    ("nfc/1", ["Mu\u0308ller \u212b \uac00\u11a8"]),
    ("digits/1", ["DE 12-34\u0663 \u00b2 5"]),
    ("digits/1", ["none"]),
    ("email/1", ["  Jo\u0301se@Example.ORG "]),
    ("email/1", ["nobody at example.org"]),
    ("phone/1:+49", ["0 30 / 1234\u2011567"]),
    ("phone/1:+49", ["+49 (0)30 1234567"]),
    ("phone/1:+49", ["(0049) (0) 30.1234-567"]),
    ("phone/1:+44", ["\u200e(020) 7946\u2212 0018\u202c"]),
    ("phone/1:+44", ["7946 0018"]),
    ("phone/1:+49", ["ask her"]),
    ("trim/1,lower/1", [" A b "]),
    ("lower/1;trim/1", ["A", " b c "]),
    ("email/1;phone/1:+49;none/1", ["A@b.de", "030 5", "1990-01-31"]),
    ("none/1;none/1", ["ab", "c"]),
    ("none/1;none/1", ["a", "bc"]),
    ("none/1;none/1", ["a", ""]),
    ("none/1", ["x" * 1025]),
]

if __name__ == "__main__":
    cases = [{"terms": terms, "parts": parts, "item": item(terms, parts)} for terms, parts in KEYS]
    for case in cases:
        case["item"] = case["item"] and case["item"].hex()
    print(json.dumps({"provenance": "reference/python/psi_items.py", "cases": cases}, indent=1))
