"""Oblivious transfer of messages: the receiver gets the messages it chooses, the sender does not learn which.

Secure against malicious peers, and post-quantum, unless ``semi_honest=True``. The command ``foxtrot ot --hex`` is a peer for
these functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Union, overload

from . import _core
from ._choices import Extension, picks
from ._connection import Peer, runs_a_job
from ._errors import UsageError
from ._progress import Progress, shown

__all__ = ["Messages", "receive", "send"]


class Messages(Sequence[Union[bytes, None]]):
    """The chosen messages, in order. ``repr`` does not show them.

    A message that does not open is ``None``. The sender must not learn that one did not open, as that may depend on the
    choices: go on with the sender as if all had opened.
    """

    __slots__ = ("_all",)

    def __init__(self, messages: list[bytes | None]) -> None:
        self._all = messages

    @overload
    def __getitem__(self, place: int) -> bytes | None: ...

    @overload
    def __getitem__(self, place: slice) -> list[bytes | None]: ...

    def __getitem__(self, place: int | slice) -> bytes | list[bytes | None] | None:
        return self._all[place]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[bytes | None]:
        return iter(self._all)

    def __repr__(self) -> str:
        return f"<foxtrot.ot.Messages: {len(self)}, redacted>"


@runs_a_job
def send(
    peer: Peer,
    messages: Iterable[Sequence[Union[str, bytes]]],
    *,
    semi_honest: bool = False,
    extension: Extension | None = None,
    longest: int | None = None,
    progress: Progress = None,
) -> None:
    """Send one message of each group: the one that the receiver chooses.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.listen("0.0.0.0:7000", identity=me, peers=["SHA256:…"]) as peer:
            foxtrot.ot.send(peer, [["heads", "tails"], ["left", "right"]])

    Args:
        peer: The connection. The other side calls :func:`receive`, or runs ``foxtrot ot receive --hex``.
        messages: A sequence of n groups with the same number of messages, 2 or more. Text is sent in UTF-8.
        semi_honest: Accept a protocol that gives no protection against a malicious peer.
        extension: As on the command: ``"softspoken"``, ``"silent"`` (fewer bytes, for slow links) or ``"none"``. Both sides
            have the same.
        longest: The most bytes of a message, 65536 by default. The receiver learns the length of the longest.
        progress: ``True`` for a bar, or a function of units done, all units, the unit's name.

    Raises:
        UsageError: Groups differ in size, or a message is too long.
        AgreementError: The two sides want different numbers or protocols.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    groups = [list(group) for group in messages]
    of = len(groups[0]) if groups else 2
    if of < 2 or any(len(group) != of for group in groups):
        raise UsageError("each transfer has the same number of messages, 2 or more")
    flat = [message.encode() if isinstance(message, str) else bytes(message) for group in groups for message in group]
    with shown(progress) as tell:
        _core.ot_send(
            peer._core, flat, of, semi_honest=semi_honest, extension=extension, longest=longest, progress=tell
        )


@runs_a_job
def receive(
    peer: Peer,
    choices: Any,
    *,
    of: int = 2,
    semi_honest: bool = False,
    extension: Extension | None = None,
    longest: int | None = None,
    progress: Progress = None,
) -> Messages:
    """Receive one message of each group.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.connect("b.example.org:7000", identity=me, peers=["SHA256:…"]) as peer:
            first, second = foxtrot.ot.receive(peer, [True, False])
        print(first, second)

    Args:
        peer: The connection. The other side calls :func:`send`, or runs ``foxtrot ot send --hex``.
        choices: The index of the wanted message of each group: a list or NumPy array of shape (n,).
        of: The number of messages of each group.
        semi_honest: Accept a protocol that gives no protection against a malicious peer.
        extension: As on the command: ``"softspoken"``, ``"silent"`` (fewer bytes, for slow links) or ``"none"``. Both sides
            have the same.
        longest: The most bytes of a message that this side accepts, 65536 by default.
        progress: ``True`` for a bar, or a function of units done, all units, the unit's name.

    Returns:
        :class:`Messages`: a sequence of n ``bytes``. A message that does not open is ``None``.

    Raises:
        UsageError: A choice is no index of a message.
        AgreementError: The two sides want different numbers or protocols.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    if of < 2:
        raise UsageError("each transfer has 2 or more messages")
    chosen = picks(choices, of)
    with shown(progress) as tell:
        got = _core.ot_receive(
            peer._core, chosen, of, semi_honest=semi_honest, extension=extension, longest=longest, progress=tell
        )
    return Messages(got)
