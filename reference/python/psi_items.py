"""Items of `foxtrot psi` by docs/psi-files.md: prints test vectors as JSON."""

import base64
import datetime
import decimal
import hashlib
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


# Nobody sees these.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_APOSTROPHES = "`\u00b4\u02b9\u02ba\u02bb\u02bc\u02bd\u2018\u2019\u201b\u2032\uff07\uff40"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_MARKS = str.maketrans(dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys(_DASHES, "-"))


def _one(text):
    return _UNSEEN.sub("", text).translate(_MARKS)


def _bare(text):
    classes = set(range(10, 37)) | set(range(200, 256))
    return "".join(c for c in unicodedata.normalize("NFKD", text) if unicodedata.combining(c) not in classes)


def _case(text, way):
    """Case by case: no rule looks at neighbours."""
    return "".join(map(way, text))


def _fold(text):
    text = _bare(_one(text))
    for way in (str.lower, str.upper, str.lower):
        text = _case(text, way)
    return " ".join(re.split(f"[{WHITE_SPACE}]+", _trim(_one(_bare(text)))))


def _words(text):
    words = re.split(r"[ !-&(-/:-@\[-`{-~]+", _fold(text))
    return " ".join(sorted((word for word in words if word), key=str.encode))


def _address(text):
    """Local part and domain; nothing for what is not one address."""
    text = _trim(unicodedata.normalize("NFKC", _UNSEEN.sub("", text)))
    local, _, domain = text.rpartition("@")
    local = unicodedata.normalize("NFKC", local.lower())
    domain = unicodedata.normalize("NFKC", _case(domain, str.lower))
    if not local or not domain or re.search(f'[{WHITE_SPACE}@<>,;"]', local + domain):
        return None
    labels = re.split("[.\u3002]", domain)
    if any(not label.isascii() and len(label) > 63 for label in labels):
        return None
    # Python's codec is for one label: with ASCII letters alone it would add a dash.
    labels = [label if label.isascii() else "xn--" + label.encode("punycode").decode() for label in labels]
    return local, ".".join(labels)


def _email2(text):
    return "@".join(_address(text) or ())


def _gmail(text):
    local, domain = _address(text) or ("", "")
    if domain in ("gmail.com", "googlemail.com"):
        local, domain = local.partition("+")[0].replace(".", ""), "gmail.com"
    return local and f"{local}@{domain}"


def _zeros(text):
    text = _trim(text)
    return text.lstrip("0" + WHITE_SPACE) or text[:1]


def _number(text):
    text = _trim(text)
    if not re.fullmatch(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?", text):
        return ""
    with decimal.localcontext(prec=10_000, Emax=10_000, Emin=-10_000):
        number = decimal.Decimal(text)
        return str(int(number)) if number == int(number) else ""


# Numbers of these countries keep their first zero from abroad; in the others they have none.
_KEEP_ZERO = ("39", "225", "242", "378", "379")
_WITHOUT_ZERO = (
    "1 30 34 45 47 48 65 351 352 354 356 357 371 372 376 377 420 502 503 504 505 506 507 852 853 965 968 973 974".split()
)


def _phone2(text, country):
    text, code = _UNSEEN.sub("", _PHONE_NOISE.sub("", text)), country[1:]
    if abroad := re.match(r"\(*(?:\+|00)(.*)", text, re.DOTALL):
        text = text.replace("(0)", "0" if abroad[1].startswith(_KEEP_ZERO) else "", 1)
    text = re.sub("[()]", "", text)
    if match := re.match(r"\+|00", text):
        text = text[match.end() :]
    elif code in _KEEP_ZERO:
        text = code + text
    elif code in _WITHOUT_ZERO:
        is_long = code == "1" and len(text) == 11 and text[0] == "1"
        text = "" if text.startswith("0") else text if is_long else code + text
    else:
        text = code + text[1:] if text.startswith("0") else ""
    return "+" + text if re.fullmatch("[1-9][0-9]{4,14}", text) else ""


def _hash(name, text, more):
    hashed = getattr(hashlib, name)
    if more != "hashed":
        return text and hashed(text.encode()).hexdigest()
    text, size = _trim(text), hashed().digest_size
    if re.fullmatch(f"[0-9a-fA-F]{{{2 * size}}}", text):
        found = bytes.fromhex(text)
    else:
        digits = text.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            found = base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
        except ValueError:
            return ""
        canonical = base64.b64encode(found).decode()
        if len(found) != size or digits != canonical.rstrip("=") or len(text) not in (len(digits), len(canonical)):
            return ""
    return "" if found == hashed().digest() else found.hex()


_NUMBERS = {
    "YYYY": "[0-9]{4}", "YY": "[0-9]{2}", "MM": "[0-9]{2}", "DD": "[0-9]{2}", "M": "[0-9]{1,2}", "D": "[0-9]{1,2}"
}  # fmt: skip


def _date(text, form):
    form, _, pivot = (form or "YYYY-MM-DD").partition(":year2:")
    words = re.findall("YYYY|YY|MM|DD|M|D|.", form)
    pattern = "".join(
        f"(?P<{word[0]}>{_NUMBERS[word]})" if word in _NUMBERS else re.escape(word) for word in words
    )
    match = re.fullmatch(pattern, _trim(text))
    try:
        if not match:
            return ""
        year, month, day = (int(match[part]) for part in "YMD")
        if pivot:
            year += 2000 if year < int(pivot) else 1900
        return datetime.date(year, month, day).isoformat()
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
    "email/2": _email2,
    "gmail/1": _gmail,
    "zeros/1": _zeros,
    "number/1": _number,
    "fold/1": _fold,
    "words/1": _words,
}


def normalised(terms, text):
    """A part of a key after the steps that `terms` joins by commas."""
    steps = terms.split(",")
    # What is hashed in the file was normalised before.
    hashed = [i for i, step in enumerate(steps) if step.endswith(":hashed")]
    for step in steps[hashed[-1] if hashed else 0 :]:
        name, _, more = step.partition(":")
        if name in ("phone/1", "phone/2", "date/1"):
            text = {"phone/1": _phone, "phone/2": _phone2, "date/1": _date}[name](text, more)
        elif name in ("sha256/1", "sha1/1", "md5/1"):
            text = _hash(name[:-2], text, more)
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


MORE = {
    "zeros/1": ["0000201", " 201", "000", "0", "", "A007", "00A7", "-007", "0 0A", "\u00a00 0"],
    "number/1": [
        "123", "123.0", "123.", "1.23E+05", "+123", "00123", "-7.00", "-0.0", "0.123e3", "100E-2", "1E999",
        "12.5", "1E-2", "1,234", "12 3", "A-123", ".5E1", "1E", "1E1000", "", "\u0661", "1" * 60 + ".0",
    ],
    "fold/1": [
        "\uff2f\u2019NEILL\u2013MU\u0308LLER\u200b  Stra\u00dfe", "STRA\u1e9eE \u0141ukasz \u039f\u0394\u039f\u03a3",
        "\ufb01 e\u0301\u0130\u0131 \u02bcn \u0149", "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd \u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f",
        "\u304c \u0930\u093e\u092e\u094d \u0e44\u0e21\u0e49", "\u00ad\u2060", "a\u00ad\u2014b\ufe0f", "\u03b1\u0345 \u0390 \u01f0", "\u13a0\uab70",
        "\u00a8 \u00b4 \u0384",
    ],
    "words/1": [
        "M\u00fcller, Eva", "Eva  M\u00dcLLER", "O\u2019Neill-Meyer, Dr. Eva", "Eva Eva", " ,.; ", "\u732b b \uff21 \U00020000",
    ],
    "email/2": [
        " Ann\u200ba.Mu\u0308LLER@Example.COM\u00a0", "\uff21NN\u00adA@\u039f\u0394\u039f\u03a3.\uff2d\u00dcLLER\u3002example", "Anna <anna@example.com>",
        "a@x.org; b@x.org", "@example.com", "a@", "a@@b", "a\uff20b.example", "\u039f\u0394\u039f\u03a3@x", "a@stra\u00dfe.example",
        "a@\u65e5\u672c\u8a9e.jp", "a@xn--mller-kva.example", "a b@x", "a@\u05d0\u05d1c", "a@" + "\u00e4" * 63, "a@" + "\u00e4" * 64, "a+b@x",
    ],
    "gmail/1": [
        "Anna.Maria+shop@Googlemail.com", "anna.maria+shop@example.com", "+shop@gmail.com", "...@gmail.com", "annamaria@gmail.com",
        "a.b@\uff47mail.com", "none",
    ],
    "phone/2:+49": [
        "030 / 123 45-67", "(+49) (0)30 1234567", "0049 30\u00ad1234567", "+39 (0)6 1234567", "1234567", "4.91705E+11", "030 1234 ext 5",
        "030 1234+5", "+0301234567", "0", "+4930123456789012", "n/a", "030 \u06612345", "",
    ],
    "phone/2:+39": ["06 1234567", "347 1234567", "0039 06 1234567", "+49 (0)30 1234567", "+39 (0)6 1234567"],
    "phone/2:+1": ["(415) 555-0123", "1-415-555-0123", "+1 415 555 0123", "0415 555 0123"],
    "phone/2:+34": ["912 345 678", "0912 345 678"],
    "date/1:DD.MM.YY:year2:30": ["01.02.29", "01.02.30", "29.02.00", "01.02.1990"],
    "date/1:YYMMDD:year2:0": ["000201", "000229"],
    "email/2,sha256/1": [" Anna@Example.com", "none"],
    "email/2,sha256/1:hashed": [
        hashlib.sha256(b"anna@example.com").hexdigest().upper(), base64.b64encode(hashlib.sha256(b"anna@example.com").digest()).decode(),
        base64.urlsafe_b64encode(hashlib.sha256(b"~~~").digest()).decode().rstrip("="), hashlib.sha256(b"").hexdigest(), "Anna@Example.com",
    ],
    "email/2,sha1/1": ["anna@example.com"],
    "sha1/1:hashed": [hashlib.sha1(b"anna@example.com").hexdigest(), "qZk+NkcGgWq6PiVxeFDCbJzQ2J1="],
    "md5/1": ["anna@example.com", ""],
    "md5/1:hashed": ["kAFQmDzST7DWlj99KOF/cg==", "kAFQmDzST7DWlj99KOF/cg=", "kAFQmDzST7DWlj99KOF/cg", "kAFQmDzST7DWlj99KOF/ch=="],
}  # fmt: skip

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
    *((step, [text]) for step, texts in MORE.items() for text in texts),
]

if __name__ == "__main__":
    cases = [{"terms": terms, "parts": parts, "item": item(terms, parts)} for terms, parts in KEYS]
    for case in cases:
        case["item"] = case["item"] and case["item"].hex()
    print(json.dumps({"provenance": "reference/python/psi_items.py", "cases": cases}, indent=1))
