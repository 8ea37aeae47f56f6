"""Items of `foxtrot psi` by docs/psi-files.md: prints test vectors as JSON."""

import datetime
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


def _name(text):
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    return " ".join(re.split(f"[{WHITE_SPACE}]+", _trim(text)))


_NUMBERS = {"YYYY": "[0-9]{4}", "MM": "[0-9]{2}", "DD": "[0-9]{2}", "M": "[0-9]{1,2}", "D": "[0-9]{1,2}"}


def _date(text, form):
    words = re.findall("YYYY|MM|DD|M|D|.", form or "YYYY-MM-DD")
    pattern = "".join(
        f"(?P<{word[0]}>{_NUMBERS[word]})" if word in _NUMBERS else re.escape(word) for word in words
    )
    match = re.fullmatch(pattern, _trim(text))
    try:
        return match and datetime.date(*(int(match[part]) for part in "YMD")).isoformat() or ""
    except ValueError:
        return ""


_STEPS = {
    "none/1": lambda text: text,
    "trim/1": _trim,
    "compact/1": lambda text: re.sub(f"[{WHITE_SPACE}]", "", text),
    "lower/1": str.lower,
    "upper/1": str.upper,
    "nfc/1": _nfc,
    "digits/1": lambda text: re.sub("[^0-9]", "", text),
    "name/1": _name,
    "email/1": _email,
}


def normalised(terms, text):
    """A part of a key after the steps that `terms` joins by commas."""
    for step in terms.split(","):
        name, _, more = step.partition(":")
        if name in ("phone/1", "date/1"):
            text = {"phone/1": _phone, "date/1": _date}[name](text, more)
        else:
            text = _STEPS[name](text)
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
    ("compact/1", [" DE12\u00a03456\t78\u2003\u200b\x1c "]),
    ("upper/1", ["stra\u00dfe \u0149 \u01c6 \u03ad\u03c2 \ufb01"]),
    ("compact/1,upper/1", ["gb 29 nwbk 60"]),
    ("name/1", ["\u00a0 \uff21NNA\u3000  Mu\u0308LLER\n-Wei\u00df "]),
    ("name/1", ["\u0141ukasz O\u2019Neill \ufb01 \u0130 \u039f\u0394\u039f\u03a3 \u00b4"]),
    ("name/1", ["\u1e9e\u2126\u03d4 \u0345\u0301 \x1f"]),
    ("name/1", [" \u2003 "]),
    ("date/1", [" 1990-02-01\n"]),
    ("date/1:DD.MM.YYYY", ["01.02.1990"]),
    ("date/1:D.M.YYYY", ["1.2.1990"]),
    ("date/1:MM/DD/YYYY", ["02/01/1990"]),
    ("date/1:YYYYMMDD", ["20000229"]),
    ("date/1:DD.MM.YYYY", ["29.02.1900"]),
    ("date/1:DD.MM.YYYY", ["1.2.1990"]),
    ("date/1:D.M.YYYY", ["01.02.90"]),
    ("name/1;date/1:DD-MM-YYYY", ["Ada  LOVELACE", "10-12-1815"]),
]

if __name__ == "__main__":
    cases = [{"terms": terms, "parts": parts, "item": item(terms, parts)} for terms, parts in KEYS]
    for case in cases:
        case["item"] = case["item"] and case["item"].hex()
    print(json.dumps({"provenance": "reference/python/psi_items.py", "cases": cases}, indent=1))
