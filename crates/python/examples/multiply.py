"""Multiply our numbers by the peer's: both learn the products, and nothing else that does not follow from them.

Both sides give as many numbers. A number is shared by its owner, who keeps it, and the peer, who holds 0. Triples hide what
is opened. Secure only if both sides follow the protocol.

Usage: multiply.py --listen|--connect HOST:PORT IDENTITY PEER NUMBER...    (needs NumPy)
"""

import sys

import foxtrot
import numpy as np
from numpy.typing import NDArray

how, address, identity, fingerprint, *numbers = sys.argv[1:]
me = foxtrot.Identity.load(identity)
ours = np.array([int(it) for it in numbers], dtype=np.int64).astype(np.uint64)


def exchange(peer: foxtrot.Peer, words: NDArray[np.uint64], first: bool) -> NDArray[np.uint64]:
    """Send public words to the peer, and get the peer's."""

    def send() -> None:
        # Both messages of a transfer are the same: the peer gets it whatever it chooses.
        foxtrot.ot.send(peer, [[words.tobytes(), words.tobytes()]])

    def receive() -> NDArray[np.uint64]:
        (got,) = foxtrot.ot.receive(peer, [False])
        return np.frombuffer(got or b"", dtype=np.uint64)

    if first:
        send()
        return receive()
    theirs = receive()
    send()
    return theirs


if how == "--listen":
    listener = foxtrot.bind(address, identity=me, peers=[fingerprint])
    print(f"listening on {listener.address}", file=sys.stderr, flush=True)
    peer, first = listener.accept(), True
else:
    peer, first = foxtrot.connect(address, identity=me, peers=[fingerprint]), False
with peer:
    n = len(ours)
    zero = np.zeros(n, dtype=np.uint64)
    x, y = (ours, zero) if first else (zero, ours)
    a, b, c = foxtrot.triples.generate(peer, n, bits=64)
    masked = np.concatenate([x - a, y - b])
    d, e = np.split(masked + exchange(peer, masked, first), 2)
    share = c + d * b + e * a + (d * e if first else zero)
    product = share + exchange(peer, share, first)
print(f"products: {product.astype(np.int64).tolist()}")
