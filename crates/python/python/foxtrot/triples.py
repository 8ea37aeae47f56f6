"""Beaver multiplication triples: shares of random a, b and of c = a·b modulo 2^bits. With them an MPC engine multiplies.

Secure only against a peer that follows the protocol; post-quantum. Shares are NumPy arrays, without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from ._connection import Peer, runs_a_job
from ._progress import Progress, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Triples", "generate"]


class Triples:
    """A party's shares; ``a, b, c = triples`` also works. ``repr`` does not show them.

    With the peer's shares, (a + a')·(b + b') = c + c' modulo 2^bits.

    Attributes:
        a, b, c: Unsigned words of 8, 16, 32 or 64 bits, of shape (n,).
    """

    __slots__ = ("a", "b", "c")

    def __init__(self, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> None:
        self.a = a
        self.b = b
        self.c = c

    def __len__(self) -> int:
        return len(self.a)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.a, self.b, self.c))

    def __repr__(self) -> str:
        return f"<foxtrot.triples.Triples: {len(self)} of {self.a.dtype.itemsize * 8} bits, redacted>"


@runs_a_job
def generate(
    peer: Peer,
    n: int,
    *,
    bits: Literal[8, 16, 32, 64] = 64,
    method: Literal["auto", "rlwe", "gilboa"] = "auto",
    progress: Progress = None,
) -> Triples:
    """Make shares of random products. Both sides make the same call.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.connect("b.example.org:7000", identity=me, peers=["SHA256:…"]) as peer:
            a, b, c = foxtrot.triples.generate(peer, 10_000, bits=64)
        print(a.dtype, a.shape)

    Args:
        peer: The connection. The other side makes the same call.
        n: The number of triples.
        bits: The size of the words.
        method: ``"rlwe"`` for many, ``"gilboa"`` for few. ``"auto"`` takes the one that costs less.
        progress: ``True`` for a bar, or a function of units done, all units, the unit's name.

    Returns:
        :class:`Triples` with this side's shares ``a``, ``b``, ``c``: uint8, uint16, uint32 or uint64 of shape (n,).

    Raises:
        AgreementError: The two sides want different triples.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    with shown(progress) as tell:
        return Triples(*_core.triples_generate(peer._core, n, bits, method, progress=tell))
