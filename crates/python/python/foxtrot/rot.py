"""Random oblivious transfer: the sender has two random keys of each, the receiver one of the two and a choice bit.

Keys have 16 bytes. Results are NumPy arrays, without a copy; ``repr`` of the results does not show them.
Secure against malicious peers, and post-quantum, unless ``semi_honest=True``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _core
from ._choices import Extension, bits
from ._connection import Peer, runs_a_job
from ._progress import Progress, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "CorrelatedReceived",
    "CorrelatedSent",
    "Received",
    "Sent",
    "receive",
    "receive_correlated",
    "send",
    "send_correlated",
]


class Sent:
    """The sender's keys.

    Attributes:
        keys: uint8 of shape (n, 2, 16): ``keys[i, c]`` is the key for choice ``c``.
    """

    __slots__ = ("keys",)

    def __init__(self, keys: NDArray[np.uint8]) -> None:
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"<foxtrot.rot.Sent: {len(self)} pairs of keys, redacted>"


class Received:
    """The receiver's choices and keys; ``choices, keys = received`` also works.

    Attributes:
        choices: bool of shape (n,).
        keys: uint8 of shape (n, 16): ``keys[i]`` is the sender's ``keys[i, choices[i]]``.
    """

    __slots__ = ("choices", "keys")

    def __init__(self, choices: NDArray[np.bool_], keys: NDArray[np.uint8]) -> None:
        self.choices = choices
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.choices, self.keys))

    def __repr__(self) -> str:
        return f"<foxtrot.rot.Received: {len(self)} choices and keys, redacted>"


class CorrelatedSent:
    """The sender's offset and rows.

    Attributes:
        delta: uint8 of shape (16,), for this call only.
        rows: uint8 of shape (n, 16).
    """

    __slots__ = ("delta", "rows")

    def __init__(self, delta: NDArray[np.uint8], rows: NDArray[np.uint8]) -> None:
        self.delta = delta
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<foxtrot.rot.CorrelatedSent: an offset and {len(self)} rows, redacted>"


class CorrelatedReceived:
    """The receiver's rows.

    Attributes:
        rows: uint8 of shape (n, 16): the sender's row, XOR the offset where the choice is 1.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: NDArray[np.uint8]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<foxtrot.rot.CorrelatedReceived: {len(self)} rows, redacted>"


@runs_a_job
def send(
    peer: Peer, n: int, *, semi_honest: bool = False, extension: Extension | None = None, progress: Progress = None
) -> Sent:
    """Make random OTs as the sender.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.listen("0.0.0.0:7000", identity=me, peers=["SHA256:…"]) as peer:
            sent = foxtrot.rot.send(peer, 1_000_000)
        print(sent.keys.shape)

    Args:
        peer: The connection. The other side calls :func:`receive` with the same ``n``, or runs ``foxtrot rot receive``.
        n: The number of transfers.
        semi_honest: Accept a protocol that gives no protection against a malicious peer.
        extension: As on the command: ``"softspoken"``, ``"silent"`` (fewer bytes, for slow links) or ``"none"``. Both sides
            have the same.
        progress: ``True`` for a bar, or a function of units done, all units, the unit's name.

    Returns:
        A :class:`Sent` with ``keys``: uint8 of shape (n, 2, 16). Each key has 16 bytes.

    Raises:
        AgreementError: The two sides want different numbers or protocols.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    with shown(progress) as tell:
        return Sent(_core.rot_send(peer._core, n, semi_honest=semi_honest, extension=extension, progress=tell))


@runs_a_job
def receive(
    peer: Peer, n: int, *, semi_honest: bool = False, extension: Extension | None = None, progress: Progress = None
) -> Received:
    """Make random OTs as the receiver.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.connect("b.example.org:7000", identity=me, peers=["SHA256:…"]) as peer:
            choices, keys = foxtrot.rot.receive(peer, 1_000_000)
        print(choices.shape, keys.shape)

    Args:
        peer: The connection. The other side calls :func:`send` with the same ``n``, or runs ``foxtrot rot send``.
        n: The number of transfers.
        semi_honest: Accept a protocol that gives no protection against a malicious peer.
        extension: As on the command: ``"softspoken"``, ``"silent"`` (fewer bytes, for slow links) or ``"none"``. Both sides
            have the same.
        progress: ``True`` for a bar, or a function of units done, all units, the unit's name.

    Returns:
        A :class:`Received` with ``choices``: bool of shape (n,), and ``keys``: uint8 of shape (n, 16).

    Raises:
        AgreementError: The two sides want different numbers or protocols.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    with shown(progress) as tell:
        made = _core.rot_receive(peer._core, n, semi_honest=semi_honest, extension=extension, progress=tell)
    return Received(*made)


@runs_a_job
def send_correlated(
    peer: Peer, n: int, *, semi_honest: bool = False, progress: Progress = None
) -> CorrelatedSent:
    """Make correlated OTs as the sender: an offset, and a row of each.

    A row is no key: a peer that cheats may fix its own rows, and may guess bits of the offset. Hash each row with its number
    before you use it as a key.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.listen("0.0.0.0:7000", identity=me, peers=["SHA256:…"]) as peer:
            sent = foxtrot.rot.send_correlated(peer, 1000)
        print(sent.delta.shape, sent.rows.shape)

    Args:
        peer: The connection. The other side calls :func:`receive_correlated` with ``n`` choices.
        n: The number of transfers.
        semi_honest: Accept a protocol that gives no protection against a malicious peer.
        progress: ``True`` for a bar, or a function of units done, all units, the unit's name.

    Returns:
        A :class:`CorrelatedSent` with ``delta``: uint8 of shape (16,), and ``rows``: uint8 of shape (n, 16).

    Raises:
        AgreementError: The two sides want different numbers or protocols.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    with shown(progress) as tell:
        return CorrelatedSent(*_core.rot_send_correlated(peer._core, n, semi_honest=semi_honest, progress=tell))


@runs_a_job
def receive_correlated(
    peer: Peer, choices: Any, *, semi_honest: bool = False, progress: Progress = None
) -> CorrelatedReceived:
    """Make correlated OTs as the receiver, with choice bits of its own.

    A row is no key: hash it with its number before you use it as one.

    Example:
        import foxtrot, numpy as np

        me = foxtrot.Identity.load()
        with foxtrot.connect("b.example.org:7000", identity=me, peers=["SHA256:…"]) as peer:
            received = foxtrot.rot.receive_correlated(peer, np.arange(1000) % 2 == 1)
        print(received.rows.shape)

    Args:
        peer: The connection. The other side calls :func:`send_correlated` with as many transfers.
        choices: A list of bool, or a NumPy array of bool of shape (n,).
        semi_honest: Accept a protocol that gives no protection against a malicious peer.
        progress: ``True`` for a bar, or a function of units done, all units, the unit's name.

    Returns:
        A :class:`CorrelatedReceived` with ``rows``: uint8 of shape (n, 16). Each is the sender's row, XOR ``delta`` where
        the choice is 1.

    Raises:
        AgreementError: The two sides want different numbers or protocols.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    with shown(progress) as tell:
        rows = _core.rot_receive_correlated(peer._core, bits(choices), semi_honest=semi_honest, progress=tell)
    return CorrelatedReceived(rows)
