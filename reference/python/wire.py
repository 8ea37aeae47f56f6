"""Oracle, frames and hello: docs/wire/README.md, sections 1 to 3."""

import os

from blake3 import derive_key, keyed_hash

VERSION = 1
MAGIC = b"FOXTROT\0"
HELLO, PROTOCOL, PROOFS = 0, 1, 2
SENDER, RECEIVER = 0, 1
LANES = 8
REASONS = {
    1: "it could not decode a message",
    2: "a check failed",
    3: "it waited in vain",
    5: "it has as many sessions as it may have",
    6: "its set has more keys than we accept",
    7: "it has too little memory for a session of this size",
}
MOST_PUZZLE_BITS = 24
RECEIVED, STEP_LENGTH = 0, 33


class WireError(Exception):
    """What the peer did wrong, or what both sides do not agree on."""


def u16(x):
    return x.to_bytes(2, "little")


def u64(x):
    return x.to_bytes(8, "little")


def prefixed(data):
    return u64(len(data)) + data


def oracle(context, sub_sid, i, branch, fields, length=32):
    material = sub_sid + u64(i) + bytes([branch]) + b"".join(map(prefixed, fields))
    return derive_key(context, material, length)


def keyed(key, i, branch, text, length):
    return keyed_hash(key, text + u64(i) + bytes([branch]), length)


class Frames:
    """Frames over a connected socket."""

    def __init__(self, socket):
        self._socket = socket
        # What went either way on each lane: by us, by the peer.
        self._sent, self._received = ([[] for _ in range(LANES)] for _ in range(2))

    def send(self, lane, payload):
        self._sent[lane].append(payload)
        self._socket.sendall(len(payload).to_bytes(4, "little") + bytes([lane]) + payload)

    def receive(self, lane, least, most):
        """The next payload, which has from `least` to `most` bytes; no more is read for another."""
        head = self._exactly(5)
        length, there = int.from_bytes(head[:4], "little"), head[4]
        if there == HELLO and length == 1:
            reason = REASONS.get(self._exactly(1)[0], "something failed there")
            raise WireError(f"the peer gave up: {reason}")
        if there != lane:
            raise WireError(f"a frame on lane {there}, where one on lane {lane} is due")
        if not least <= length <= most:
            raise WireError(f"a frame of {length} bytes, where {least} to {most} are due")
        payload = self._exactly(length)
        self._received[lane].append(payload)
        return payload

    def finish(self, sid, we_are_initiator):
        """Both sides say that they have all, and compare what they have sent and received."""
        both = (self._sent, self._received)
        both = both if we_are_initiator else both[::-1]
        hashes = b"".join(
            oracle("foxtrot v1 frames", sid, lane, side, both[side][lane])
            for lane in range(1, LANES)
            for side in (0, 1)
        )
        step = bytes([RECEIVED]) + oracle("foxtrot v1 transcript", sid, 0, 0, [hashes])
        self.send(HELLO, step)
        if self.receive(HELLO, STEP_LENGTH, STEP_LENGTH) != step:
            raise WireError("the two sides have not received what the other sent")

    def end(self):
        """Waits until the peer has nothing more to say."""
        if self._socket.recv(1):
            raise WireError("the peer sent more than the protocol has")

    def _exactly(self, length):
        data = bytearray()
        while len(data) < length:
            part = self._socket.recv(length - len(data))
            if not part:
                raise WireError("the peer ended the connection in the middle of the run")
            data += part
        return bytes(data)


class Hello:
    """What one side says first."""

    def __init__(self, role, terms, offers):
        self.role, self.terms, self.offers = role, terms, offers
        self.nonce = os.urandom(32)

    def encode(self):
        head = MAGIC + u16(VERSION) + self.nonce + bytes([self.role, 0])
        return head + _table(self.terms) + _table(self.offers)


def greet(frames, ours, we_are_initiator, table=()):
    """Exchanges hellos and details, of which ours are the table; the session id and the peer's details."""
    mine = ours.encode()
    frames.send(HELLO, mine)
    theirs = frames.receive(HELLO, 10, 4096)
    if theirs[:8] != MAGIC:
        raise WireError("the peer does not speak this protocol")
    version = int.from_bytes(theirs[8:10], "little")
    if version != VERSION:
        raise WireError(f"the peer has wire version {version}, this is {VERSION}")
    reader = _Reader(theirs[10:])
    nonce, role, fingerprint = reader.take(32), reader.number(1), reader.number(1)
    terms, offers = reader.table(), reader.table()
    if reader.rest() or role > 1 or fingerprint:
        raise WireError("the peer's hello is malformed, or that of a TLS session")
    if role == ours.role:
        raise WireError("both sides want the same role")
    if nonce == ours.nonce:
        raise WireError("the peer repeats our nonce")
    for key in sorted(ours.terms.keys() | terms.keys()):
        here, there = ours.terms.get(key, "nothing"), terms.get(key, "nothing")
        if here != there:
            raise WireError(f"{key} is {here} here and {there} at the peer")
    both = (mine, theirs) if we_are_initiator else (theirs, mine)
    greeting = derive_key("foxtrot v1 session", b"".join(map(prefixed, (*both, b""))))
    if "puzzle" in offers and not we_are_initiator:
        raise WireError("only the responder may set a puzzle")

    def tell():
        details = our_details(greeting, int(not we_are_initiator), offers.get("puzzle", "0"), table)
        frames.send(HELLO, details)
        return details

    def hear():
        details = frames.receive(HELLO, 42, 4096)
        return details, peers_details(greeting, int(we_are_initiator), details)

    if "keys" in dict(table) and int(dict(table)["keys"]) > int(offers.get("most-keys", "0")):
        raise WireError("our set has more keys than the peer accepts")

    # The initiator's come first.
    if we_are_initiator:
        first, (second, table) = tell(), hear()
    else:
        first, table = hear()
        second = tell()
    return oracle("foxtrot v1 session id", greeting, 0, 0, [first, second]), table


def our_details(greeting, side, puzzle, table=()):
    """The second hello, for a puzzle of so many bits."""
    if not (puzzle.isascii() and puzzle.isdigit() and int(puzzle) <= MOST_PUZZLE_BITS):
        raise WireError("the peer sets a puzzle that cannot be")
    mask, x = (1 << int(puzzle)) - 1, 0
    while int.from_bytes(oracle("foxtrot v1 puzzle", greeting, x, side, [])[:4], "little") & mask:
        x += 1
    return oracle("foxtrot v1 confirmation", greeting, 0, side, []) + u64(x) + _table(dict(table))


def peers_details(greeting, side, data):
    """The table in the peer's, of which we have asked for no work."""
    reader = _Reader(data)
    if reader.take(32) != oracle("foxtrot v1 confirmation", greeting, 0, side, []):
        raise WireError("the peer did not answer our hello")
    if reader.number(8):
        raise WireError("the peer has solved a puzzle that there is not")
    table = reader.table()
    if reader.rest():
        raise WireError("the peer's details are malformed")
    return table


def sub_sid(sid, counter, initiator_sends, protocol):
    return oracle("foxtrot v1 sub-session", sid, counter, int(not initiator_sends), [protocol.encode()])


def _table(entries):
    rows = sorted((key.encode(), value.encode()) for key, value in entries.items())
    return u16(len(rows)) + b"".join(
        bytes([len(key)]) + key + u16(len(value)) + value for key, value in rows
    )


class _Reader:
    def __init__(self, data):
        self._data = data

    def take(self, length):
        if length > len(self._data):
            raise WireError("the peer's hello is cut short")
        taken, self._data = self._data[:length], self._data[length:]
        return taken

    def number(self, length):
        return int.from_bytes(self.take(length), "little")

    def table(self):
        entries, last = {}, None
        for _ in range(self.number(2)):
            key = self.take(self.number(1))
            value = self.take(self.number(2))
            if last is not None and key <= last:
                raise WireError("the keys of the peer's hello are not in order")
            last = key
            try:
                entries[key.decode()] = value.decode()
            except UnicodeDecodeError:
                raise WireError("the peer's hello is not UTF-8") from None
        return entries

    def rest(self):
        return self._data
