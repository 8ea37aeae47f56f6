"""Private set intersection: the receiver learns which of its rows the sender also has.

The sender learns how many different keys the receiver compared, and the names of its key columns. The receiver learns the
same of the sender. The protocol is secure against malicious peers, and post-quantum. The command ``foxtrot psi`` is a peer
for these functions.

:func:`join` also gives columns of the sender, with ``both=True`` both sides learn their matches, and :func:`count` and
:func:`sum` tell numbers only.

Tables are DataFrames of pandas or polars, tables of pyarrow, relations of DuckDB, or any object with
``__arrow_c_stream__``. Lists and NumPy arrays of keys also work. Keys are text, whole numbers or dates. A null, or empty
text, is no key.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Literal, TypeVar, Union, overload

from . import _core
from ._connection import Peer, runs_a_job
from ._errors import UsageError
from ._progress import Progress, shown
from ._tables import Normalize, On, Source, has_columns, indices_of, mask_of, normalisers, numbers_of, read

__all__ = [
    "Counted",
    "Inspection",
    "Intersection",
    "Joined",
    "LeftOut",
    "Report",
    "Ticket",
    "agree_on_shards",
    "count",
    "inspect",
    "join",
    "local",
    "receive",
    "send",
    "sum",
]

T = TypeVar("T")

#: The side of an intersection.
Role = Literal["receiver", "sender"]

#: The assumption of an intersection, beside that of the base OTs.
Assumption = Literal["symmetric", "lpn"]

#: The row of the sender that is taken of several with one key.
Duplicates = Literal["refuse", "first", "last"]


class LeftOut:
    """The rows that bring no key of their own, by their numbers from 0.

    Attributes:
        duplicates: Rows whose key an earlier row has. They are in the result if that row is.
        without_key: Rows whose key, or a part of it, is null or empty after normalisation. They are never in the result.
    """

    __slots__ = ("duplicates", "without_key")

    def __init__(self, keys: _core.Keys) -> None:
        self.duplicates: list[int] = keys.duplicates
        self.without_key: list[int] = keys.without_key

    def __repr__(self) -> str:
        return f"<foxtrot.psi.LeftOut: {len(self.duplicates)} duplicates, {len(self.without_key)} rows without a key>"


class Report:
    """Facts about a run, for people and records.

    Attributes:
        rows: The number of rows of this side's table.
        keys: The number of its different keys, with those that fill up a shard.
        left_out: The rows that bring no key of their own.
        peer_keys: The number of the peer's different keys.
        peer_columns: The names of the peer's key columns as it told them, if they have names.
        seconds: The time of the run, without reading the table.
        bytes_sent, bytes_received: Bytes of the protocol, without TLS.
    """

    __slots__ = (
        "_record",
        "bytes_received",
        "bytes_sent",
        "keys",
        "left_out",
        "peer_columns",
        "peer_keys",
        "rows",
        "seconds",
    )

    def __init__(self, source: Source, facts: _core.Facts, record: dict[str, Any]) -> None:
        self.rows = source.keys.rows
        self.keys = len(source.keys)
        self.left_out = LeftOut(source.keys)
        self.peer_keys = facts["peer_keys"]
        self.peer_columns = facts["peer_columns"]
        self.bytes_sent = facts["bytes_sent"]
        self.bytes_received = facts["bytes_received"]
        self.seconds: float = record["seconds"]
        self._record = record

    def record(self) -> dict[str, Any]:
        """Return the audit record of the run, with fields of ``foxtrot psi --record``. It has no keys of rows."""
        return dict(self._record)

    def __repr__(self) -> str:
        return f"<foxtrot.psi.{type(self).__name__}: {self.keys} keys here, {self.peer_keys} at the peer>"


class Intersection(Report):
    """The result of :func:`receive` and :func:`local` with ``details=True``.

    Attributes:
        rows_in_common: The common rows, of the table's type, in the table's order.
        indices: Their numbers from 0: a NumPy array of int64, or without NumPy an ``array.array``.
        mask: Whether each row is common: a NumPy array of bool, or without NumPy a list.
    """

    __slots__ = ("indices", "mask", "rows_in_common")

    def __init__(
        self, source: Source, rows: tuple[bytes, bytes], facts: _core.Facts, record: dict[str, Any]
    ) -> None:
        super().__init__(source, facts, record)
        mask, indices = rows
        self.rows_in_common: Any = source.take(mask, indices, {})
        self.indices: Any = indices_of(indices)
        self.mask: Any = mask_of(mask)

    def __repr__(self) -> str:
        return f"<foxtrot.psi.{type(self).__name__}: {len(self.indices)} of {self.rows} rows in common>"


class Joined(Intersection):
    """The result of :func:`join` with ``details=True``.

    Attributes:
        rows_in_common: The common rows, with the peer's columns behind their own.
        indices: Their numbers from 0: a NumPy array of int64, or without NumPy an ``array.array``.
        mask: Whether each row is common: a NumPy array of bool, or without NumPy a list.
        columns: The peer's columns by name: a list of ``str`` for each, as long as ``indices``.
    """

    __slots__ = ("columns",)

    def __init__(
        self,
        source: Source,
        rows: tuple[bytes, bytes],
        columns: dict[str, list[str]],
        facts: _core.Facts,
        record: dict[str, Any],
    ) -> None:
        super().__init__(source, rows, facts, record)
        self.columns = columns
        self.rows_in_common = source.take(*rows, columns)


class Counted(Report):
    """The result of :func:`count` and :func:`sum`, the same on both sides.

    Attributes:
        count: The number of common keys; ``None`` if there are fewer than ``min_count``.
        sum: The sum of the sender's numbers of these keys; ``None`` after :func:`count`, and if it is withheld.
    """

    __slots__ = ("count", "sum")

    def __init__(
        self, source: Source, found: int | None, total: int | None, facts: _core.Facts, record: dict[str, Any]
    ) -> None:
        super().__init__(source, facts, record)
        self.count = found
        self.sum = total

    def __repr__(self) -> str:
        if self.count is None:
            return "<foxtrot.psi.Counted: withheld>"
        total = "" if self.sum is None else f", sum {self.sum}"
        return f"<foxtrot.psi.Counted: {self.count} keys in common{total}>"


class Ticket:
    """What both sides have agreed on for all shards of an intersection; :func:`agree_on_shards` makes it.

    ``str(ticket)`` is the text of the command's ``--ticket`` file, and ``Ticket(text)`` reads it. It has no keys of rows.
    Do not show it to strangers, who could disturb the run by it.
    """

    __slots__ = ("_core",)

    def __init__(self, text: str) -> None:
        self._core = _core.Ticket.parse(text)

    @property
    def shards(self) -> int:
        """The number of shards."""
        return self._core.shards

    def keys(self, role: Role) -> int:
        """Return the number of keys that the side of this role has declared."""
        return self._core.keys(_is_sender(role))

    def load(self, role: Role) -> int:
        """Return the number of keys in each shard of this side, with those that fill it up."""
        return self._core.load(_is_sender(role))

    def route(self, name: str, shard: int, attempt: int = 0) -> str:
        """Return the route on which the workers of a shard meet, as of the command with ``--route name``."""
        return name + self._core.route(shard, attempt)

    def shards_of(self, table: Any, on: On = None, *, normalize: Normalize = None) -> Any:
        """Find the shard of each row.

        Returns:
            Numbers from 0, and -1 for a row without a key: a NumPy array of int32, or without NumPy an ``array.array``.
        """
        return numbers_of(self._core.shards_of(read(table, on, normalize).keys))

    def __reduce__(self) -> tuple[Any, ...]:
        return Ticket, (str(self),)

    def __str__(self) -> str:
        return self._core.text()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ticket) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"<foxtrot.psi.Ticket of {self.shards} shards>"


def _is_sender(role: Role) -> bool:
    if role not in ("receiver", "sender"):
        raise UsageError(f'a role is "receiver" or "sender", and not {role!r}')
    return role == "sender"


class Inspection:
    """The keys of a table as they would be compared; :func:`inspect` makes it.

    Attributes:
        rows: The number of rows.
        keys: The number of different keys.
        columns: The names of the key columns; none for plain values.
        normalisers: The normalisation of the parts of a key, in the form in which both sides compare it.
        left_out: The rows that bring no key of their own.
        shown: The first keys, as many as ``show`` says: for each its parts, before and after normalisation.
        warnings: Findings that are likely to be mistakes.
    """

    __slots__ = ("columns", "keys", "left_out", "normalisers", "rows", "shown", "warnings")

    def __init__(self, source: Source) -> None:
        self.rows = source.keys.rows
        self.keys = len(source.keys)
        self.columns = source.columns
        self.normalisers = source.keys.terms
        self.left_out = LeftOut(source.keys)
        self.shown = source.keys.shown
        self.warnings: list[str] = []
        repeated, empty = len(self.left_out.duplicates), len(self.left_out.without_key)
        if repeated > self.rows // 2:
            self.warnings.append(f"{repeated} of {self.rows} rows repeat the key of an earlier row; is this the right column?")
        if empty > self.rows // 2:
            self.warnings.append(f"{empty} of {self.rows} rows have no key after {self.normalisers}")

    def __repr__(self) -> str:
        lines = [
            f"rows:        {self.rows}",
            f"keys:        {self.keys}",
            f"columns:     {', '.join(self.columns) if self.columns else 'none'}",
            f"normalisers: {self.normalisers}",
            f"duplicates:  {len(self.left_out.duplicates)}",
            f"without key: {len(self.left_out.without_key)}",
            *(f"warning: {warning}" for warning in self.warnings),
            *(
                f"row {row}: {before!r} → {after!r}" if all(after) else f"row {row}: {before!r} → no key"
                for row, (before, after) in enumerate(self.shown)
            ),
        ]
        return "\n".join(lines)


_Shard = Union[tuple[_core.Ticket, int, int], None]


def _options(
    assumption: str, semi_honest: bool, max_peer_keys: int | None, min_peer_keys: int, shard: _Shard = None
) -> _core.PsiOptions:
    return {
        "assumption": assumption,
        "semi_honest": semi_honest,
        "max_peer_keys": max_peer_keys,
        "min_peer_keys": min_peer_keys,
        "shard": shard,
    }


def _fill(source: Source, ticket: Ticket | None, shard: int | None, attempt: int, is_sender: bool) -> _Shard:
    """Fill up the keys of a shard, and name the shard."""
    if (ticket is None) != (shard is None):
        raise UsageError("ticket= and shard= go together")
    if ticket is None or shard is None:
        return None
    if not (0 <= shard < ticket.shards and 0 <= attempt < 1 << 16):
        raise UsageError(f"there are shards 0 to {ticket.shards - 1}, not {shard}, and attempts from 0")
    source.keys.fill_up_to(ticket._core.load(is_sender))
    return ticket._core, shard, attempt


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class _Run:
    """The record of a run that has begun."""

    def __init__(
        self,
        role: str,
        peer: Peer | None,
        source: Source,
        normalize: Normalize,
        options: _core.PsiOptions,
        function: str = "intersection",
    ) -> None:
        self._role = role
        self._peer = peer
        self._source = source
        self._options = options
        self._function = function
        self._normalize = normalisers(normalize, len(source.columns or [""]))
        self._started, self._clock = _now(), time.monotonic()

    def record(self, facts: _core.Facts, results: int | None) -> dict[str, Any]:
        keys = [len(self._source.keys), facts["peer_keys"]]
        receivers, senders = keys if self._role == "receiver" else keys[::-1]
        record: dict[str, Any] = {
            "schema": 1,
            "version": _core.__version__,
            "started": self._started,
            "ended": _now(),
            "outcome": "done",
            "job": "psi",
            "role": self._role,
            "session": facts["session"],
            "function": self._function,
            "assumption": self._options["assumption"],
            "adversary": "semi-honest" if self._options["semi_honest"] else "malicious",
            "normalize": self._source.keys.terms,
            "our_normalize": self._normalize,
            "key_columns": self._source.columns,
            "peer_key_columns": facts["peer_columns"],
            "keys_receiver": receivers,
            "keys_sender": senders,
            "bytes_sent": facts["bytes_sent"],
            "bytes_received": facts["bytes_received"],
            "seconds": time.monotonic() - self._clock,
        }
        if self._peer is not None:
            peer = self._peer
            record["peer"] = {"fingerprint": peer.fingerprint, "name": peer.name, "address": peer.address}
            record["transport"] = peer._transport
        if results is not None:
            record["results"] = results
        return record


@runs_a_job
def agree_on_shards(
    peer: Peer,
    role: Role,
    keys: int,
    *,
    shards: int,
    normalize: str | Sequence[str] = "none",
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
) -> Ticket:
    """Agree with the peer on the shards of one intersection on many machines. Both sides make this call, or run the command.

    Each side then divides its rows by :meth:`Ticket.shards_of`. A machine of each side intersects a shard by :func:`send`,
    :func:`receive` or :func:`join` with ``ticket=`` and ``shard=``, on a connection of its own.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.connect("b.example.org:7000", identity=me, peers=["SHA256:…"], route="march") as peer:
            ticket = foxtrot.psi.agree_on_shards(peer, "receiver", 1_000_000_000, shards=64, normalize="email")
        print(ticket.load("receiver"), "keys in each shard")

    Args:
        peer: The connection. The other side makes the same call with the other role, or runs ``foxtrot psi --shards``.
        role: ``"receiver"`` or ``"sender"``.
        keys: The number of different keys of this side, or a larger number, which hides it.
        shards: The number of shards, from 1 to 65536. Both sides have the same.
        normalize: A normaliser, or a list of one for each key column. Both sides have the same.
        assumption: As of :func:`receive`. Both sides have the same, also for all shards.
        semi_honest: As of :func:`receive`. Both sides have the same, also for all shards.
        max_peer_keys: The most keys that the peer may have, 10^8 by default, up to 2^30.
        min_peer_keys: The fewest keys that the peer may have.

    Returns:
        A :class:`Ticket`, the same for both sides.

    Raises:
        AgreementError: The two sides want different things. The message has both.
    """
    if keys < 0 or not 1 <= shards <= 1 << 16:
        raise UsageError("keys is at least 0, and shards from 1 to 65536")
    names = [normalize] if isinstance(normalize, str) else list(normalize)
    terms = _core.keys_of([[] for _ in names], None, names, 0).terms
    options = _options(assumption, semi_honest, max_peer_keys, min_peer_keys)
    core = _core.agree_on_shards(peer._core, _is_sender(role), keys, terms, shards, options)
    return Ticket(core.text())


@overload
def send(
    peer: Peer,
    table: Any,
    on: On = None,
    *,
    normalize: Normalize = None,
    share: str | Sequence[str] | None = None,
    width: int = 64,
    duplicates: Duplicates = "refuse",
    both: Literal[False] = False,
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
    ticket: Ticket | None = None,
    shard: int | None = None,
    attempt: int = 0,
    progress: Progress = None,
) -> Report: ...


@overload
def send(
    peer: Peer,
    table: Any,
    on: On = None,
    *,
    normalize: Normalize = None,
    share: None = None,
    width: int = 64,
    duplicates: Duplicates = "refuse",
    both: Literal[True],
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
    ticket: Ticket | None = None,
    shard: int | None = None,
    attempt: int = 0,
    progress: Progress = None,
) -> Intersection: ...


@runs_a_job
def send(
    peer: Peer,
    table: Any,
    on: On = None,
    *,
    normalize: Normalize = None,
    share: str | Sequence[str] | None = None,
    width: int = 64,
    duplicates: Duplicates = "refuse",
    both: bool = False,
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
    ticket: Ticket | None = None,
    shard: int | None = None,
    attempt: int = 0,
    progress: Progress = None,
) -> Report:
    """Let the peer find out which of its rows are also in this table.

    Example:
        import foxtrot, pandas as pd

        me = foxtrot.Identity.load()
        with foxtrot.listen("0.0.0.0:7000", identity=me, peers=["SHA256:…"]) as peer:
            report = foxtrot.psi.send(peer, pd.read_csv("b.csv"), on="E-Mail", normalize="email")
        print(report.peer_keys, report.left_out)

    Args:
        peer: The connection. The other side calls :func:`receive`, or runs ``foxtrot psi receive``.
        table: A table, or a list or NumPy array of keys.
        on: The key column, or several in the same order as at the peer. A table with one column needs none.
        normalize: A normaliser, as in ``"email"`` or ``"trim,lower"``. For several columns it is a list. Both sides have
            the same, except for formats of dates.
        share: A column, or several, that the peer may read for each match. The peer calls :func:`join`, or runs
            ``foxtrot psi receive --with``. Values are text, whole numbers or dates, which arrive as text.
        width: The most bytes of a shared value, from 1 to 4096. Both sides have the same.
        duplicates: The row that is shared of several with one key. ``"refuse"`` fails if there are such rows. Both sides
            have the same.
        both: ``True`` on both sides: this side also learns which of its rows match. A peer that cheats or ends early can
            keep matches back.
        assumption: ``"symmetric"``, or ``"lpn"``: the fewest bytes, and a younger assumption. Both sides have the same.
        semi_honest: Accept a cheaper protocol that gives no protection against a malicious peer.
        max_peer_keys: The most keys that the peer may have, 10^8 by default. Memory grows with it.
        min_peer_keys: The fewest keys that the peer may have. Very few keys are a question about somebody.
        ticket: What :func:`agree_on_shards` gave: the table has the rows of one shard, and is filled up with keys that
            nobody else has.
        shard: The number of this shard, from 0.
        attempt: How often this shard was tried before. Both sides have the same.
        progress: ``True`` for a bar in terminals and notebooks. Or a function of three arguments: units done, all units,
            the unit's name.

    Returns:
        A :class:`Report`: sizes, the rows that were left out, and the record of the run. With ``both`` it is an
        :class:`Intersection`.

    Raises:
        UsageError: The table has no such column, or values of a wrong type.
        AgreementError: The two sides want different things. The message has both.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    if both and share is not None:
        raise UsageError("share= and both=True do not go together")
    source = read(table, on, normalize)
    options = _options(assumption, semi_honest, max_peer_keys, min_peer_keys, _fill(source, ticket, shard, attempt, True))
    fields = None
    if share is not None:
        names = _names(share, "share")
        fields = _core.fields_of(source.beside(names, "share"), names, source.keys, (width, duplicates))
    function = "both" if both else "intersection" if fields is None else "join"
    run = _Run("sender", peer, source, normalize, options, function)
    with shown(progress) as tell:
        if not both:
            facts = _core.psi_send(peer._core, source.keys, options, share=fields, progress=tell)
            return Report(source, facts, run.record(facts, None))
        rows, facts = _core.psi_send_both(peer._core, source.keys, options, progress=tell)
    return Intersection(source, rows, facts, run.record(facts, len(rows[1]) // 8))


@overload
def receive(
    peer: Peer,
    table: T,
    on: On = None,
    *,
    normalize: Normalize = None,
    both: bool = False,
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
    ticket: Ticket | None = None,
    shard: int | None = None,
    attempt: int = 0,
    progress: Progress = None,
    details: Literal[False] = False,
) -> T: ...


@overload
def receive(
    peer: Peer,
    table: Any,
    on: On = None,
    *,
    normalize: Normalize = None,
    both: bool = False,
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
    ticket: Ticket | None = None,
    shard: int | None = None,
    attempt: int = 0,
    progress: Progress = None,
    details: Literal[True],
) -> Intersection: ...


@runs_a_job
def receive(
    peer: Peer,
    table: Any,
    on: On = None,
    *,
    normalize: Normalize = None,
    both: bool = False,
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
    ticket: Ticket | None = None,
    shard: int | None = None,
    attempt: int = 0,
    progress: Progress = None,
    details: bool = False,
) -> Any:
    """Find out which rows of a table the peer also has.

    Example:
        import foxtrot, polars as pl

        me = foxtrot.Identity.load()
        with foxtrot.connect("hospital-b:7000", identity=me, peers=["SHA256:…"]) as peer:
            common = foxtrot.psi.receive(peer, pl.read_parquet("a.parquet"), on="email", normalize="email")
        print(common)

    Args:
        peer: The connection. The other side calls :func:`send`, or runs ``foxtrot psi send``.
        table: A table, or a list or NumPy array of keys.
        on: The key column, or several in the same order as at the peer. A table with one column needs none.
        normalize: A normaliser, as in ``"email"`` or ``"trim,lower"``. For several columns it is a list. Both sides have
            the same, except for formats of dates.
        both: ``True`` on both sides: the peer also learns which of its rows match.
        assumption: ``"symmetric"``, or ``"lpn"``: the fewest bytes, and a younger assumption. Both sides have the same.
        semi_honest: Accept a cheaper protocol that gives no protection against a malicious peer.
        max_peer_keys: The most keys that the peer may have, 10^8 by default. Memory grows with it.
        min_peer_keys: The fewest keys that the peer may have. Very few keys are a question about somebody.
        ticket: What :func:`agree_on_shards` gave: the table has the rows of one shard, and is filled up with keys that
            nobody else has.
        shard: The number of this shard, from 0.
        attempt: How often this shard was tried before. Both sides have the same.
        progress: ``True`` for a bar in terminals and notebooks. Or a function of three arguments: units done, all units,
            the unit's name.
        details: ``True`` gives an :class:`Intersection` in place of the rows alone.

    Returns:
        The common rows, including duplicates, in the order of the table. Their type is the table's. A list gives indices, a
        list of ``int``. A NumPy array gives indices, int64 of shape (rows in common,). An object that is known only by
        ``__arrow_c_stream__`` gives a ``foxtrot.Table``, which is such an object.

    Raises:
        UsageError: The table has no such column, or keys of a wrong type.
        AgreementError: The two sides want different things. The message has both.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    source = read(table, on, normalize)
    options = _options(assumption, semi_honest, max_peer_keys, min_peer_keys, _fill(source, ticket, shard, attempt, False))
    run = _Run("receiver", peer, source, normalize, options, "both" if both else "intersection")
    with shown(progress) as tell:
        rows, facts = _core.psi_receive(peer._core, source.keys, options, both=both, progress=tell)
    if not details:
        return source.take(*rows, {})
    return Intersection(source, rows, facts, run.record(facts, len(rows[1]) // 8))


def _names(names: str | Sequence[str], option: str) -> list[str]:
    chosen = [names] if isinstance(names, str) else list(names)
    if not chosen or len(set(chosen)) != len(chosen):
        raise UsageError(f"{option}= names no column, or one twice")
    if any(not name or "\n" in name for name in chosen):
        raise UsageError(f"{option}=: a name of a column is empty or has a line end")
    return chosen


@overload
def join(
    peer: Peer,
    table: T,
    on: On = None,
    *,
    columns: str | Sequence[str],
    normalize: Normalize = None,
    width: int = 64,
    duplicates: Duplicates = "refuse",
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
    ticket: Ticket | None = None,
    shard: int | None = None,
    attempt: int = 0,
    progress: Progress = None,
    details: Literal[False] = False,
) -> T: ...


@overload
def join(
    peer: Peer,
    table: Any,
    on: On = None,
    *,
    columns: str | Sequence[str],
    normalize: Normalize = None,
    width: int = 64,
    duplicates: Duplicates = "refuse",
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
    ticket: Ticket | None = None,
    shard: int | None = None,
    attempt: int = 0,
    progress: Progress = None,
    details: Literal[True],
) -> Joined: ...


@runs_a_job
def join(
    peer: Peer,
    table: Any,
    on: On = None,
    *,
    columns: str | Sequence[str],
    normalize: Normalize = None,
    width: int = 64,
    duplicates: Duplicates = "refuse",
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int | None = None,
    min_peer_keys: int = 0,
    ticket: Ticket | None = None,
    shard: int | None = None,
    attempt: int = 0,
    progress: Progress = None,
    details: bool = False,
) -> Any:
    """Find out which rows of a table the peer also has, and read the peer's columns of these rows.

    Example:
        import foxtrot, polars as pl

        me = foxtrot.Identity.load()
        with foxtrot.connect("shop-b:7000", identity=me, peers=["SHA256:…"]) as peer:
            common = foxtrot.psi.join(peer, pl.read_csv("a.csv"), on="email", columns=["city", "plan"], normalize="email")
        print(common)

    Args:
        peer: The connection. The other side calls :func:`send` with ``share=``, or runs ``foxtrot psi send --share``.
        table: A table, or a list or NumPy array of keys.
        on: The key column, or several in the same order as at the peer. A table with one column needs none.
        columns: A column of the peer, or several. The peer shares them, by the same names.
        normalize: A normaliser, as in ``"email"`` or ``"trim,lower"``. For several columns it is a list. Both sides have
            the same, except for formats of dates.
        width: The most bytes of a value, from 1 to 4096, to which all are padded. Both sides have the same.
        duplicates: The row of the peer that is taken of several with one key. Both sides have the same.
        assumption: ``"symmetric"``, or ``"lpn"``: the fewest bytes, and a younger assumption. Both sides have the same.
        semi_honest: Accept a cheaper protocol that gives no protection against a malicious peer.
        max_peer_keys: The most keys that the peer may have, 10^8 by default. Memory grows with it.
        min_peer_keys: The fewest keys that the peer may have. Very few keys are a question about somebody.
        ticket: What :func:`agree_on_shards` gave: the table has the rows of one shard, and is filled up with keys that
            nobody else has.
        shard: The number of this shard, from 0.
        attempt: How often this shard was tried before. Both sides have the same.
        progress: ``True`` for a bar in terminals and notebooks. Or a function of three arguments: units done, all units,
            the unit's name.
        details: ``True`` gives a :class:`Joined` in place of the rows alone.

    Returns:
        The common rows as of :func:`receive`, with the peer's columns behind their own, as text. A list, array or series of
        keys gives a list of tuples: the row's number, and a ``str`` for each column.

    Raises:
        UsageError: The table has no such key column, or has a column of the same name as the peer's.
        AgreementError: The peer does not share such a column, or wants something else. The message has both.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    names = _names(columns, "columns")
    source = read(table, on, normalize)
    for name in names:
        if name in (source.names or []):
            raise UsageError(f"the table already has a column {name!r}, as columns= asks of the peer; rename it")
    options = _options(assumption, semi_honest, max_peer_keys, min_peer_keys, _fill(source, ticket, shard, attempt, False))
    run = _Run("receiver", peer, source, normalize, options, "join")
    with shown(progress) as tell:
        rows, texts, facts = _core.psi_join(
            peer._core, source.keys, options, names, (width, duplicates), progress=tell
        )
    more = dict(zip(names, texts))
    if not details:
        return source.take(*rows, more)
    return Joined(source, rows, more, facts, run.record(facts, len(rows[1]) // 8))


def _count(
    peer: Peer,
    source: Source,
    normalize: Normalize,
    role: str,
    options: _core.CountOptions,
    numbers: _core.Numbers | None,
    largest: int | None,
    progress: Progress,
) -> Counted:
    function = "count" if largest is None else "sum"
    run = _Run(role, peer, source, normalize, _options("lpn", True, None, 0), function)
    with shown(progress) as tell:
        found, total, facts = _core.psi_count(
            peer._core, source.keys, options, numbers=numbers, largest=largest, progress=tell
        )
    limits = {"min_count": options["min_count"], "largest": largest}
    return Counted(source, found, total, facts, run.record(facts, found) | limits)


@runs_a_job
def count(
    peer: Peer,
    table: Any,
    on: On = None,
    *,
    normalize: Normalize = None,
    min_count: int = 0,
    max_peer_keys: int = 1 << 20,
    min_peer_keys: int = 0,
    progress: Progress = None,
) -> Counted:
    """Find out how many keys both sides have, and nothing else. Both sides make the same call.

    Secure only if both sides follow the protocol: there is no malicious security. The result itself can tell: the count of a
    set with one key says whether the peer has it. ``min_count`` and ``min_peer_keys`` bound that.

    Example:
        import foxtrot, pandas as pd

        me = foxtrot.Identity.load()
        with foxtrot.connect("hospital-b:7000", identity=me, peers=["SHA256:…"]) as peer:
            learnt = foxtrot.psi.count(peer, pd.read_csv("a.csv"), on="email", normalize="email", min_count=10)
        print(learnt.count)

    Args:
        peer: The connection. The other side makes the same call, or runs ``foxtrot psi count``.
        table: A table, or a list or NumPy array of keys. It may have 2^20 different keys.
        on: The key column, or several in the same order as at the peer. A table with one column needs none.
        normalize: A normaliser, as in ``"email"`` or ``"trim,lower"``. For several columns it is a list. Both sides have
            the same, except for formats of dates.
        min_count: Both learn only that there are fewer common keys, if there are. Both sides have the same.
        max_peer_keys: The most keys that the peer may have.
        min_peer_keys: The fewest keys that the peer may have. Very few keys are a question about somebody.
        progress: ``True`` for a bar, or a function of units done, all units, the unit's name.

    Returns:
        A :class:`Counted`.

    Raises:
        UsageError: The table has no such column, or values of a wrong type.
        AgreementError: The two sides want different things. The message has both.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    source = read(table, on, normalize)
    options: _core.CountOptions = {"min_count": min_count, "max_peer_keys": max_peer_keys, "min_peer_keys": min_peer_keys}
    role = "receiver" if peer._core.has_connected else "sender"
    return _count(peer, source, normalize, role, options, None, None, progress)


@runs_a_job
def sum(
    peer: Peer,
    table: Any,
    on: On = None,
    *,
    largest: int,
    value: Any = None,
    normalize: Normalize = None,
    duplicates: Duplicates = "refuse",
    min_count: int = 0,
    max_peer_keys: int = 1 << 20,
    min_peer_keys: int = 0,
    progress: Progress = None,
) -> Counted:
    """Find out how many keys both sides have, and the sum of one side's numbers of these keys. Both learn both.

    Secure only if both sides follow the protocol: there is no malicious security. Two sums that differ by one key tell its
    number. ``min_count`` and ``min_peer_keys`` bound that.

    Example:
        import foxtrot, pandas as pd

        me = foxtrot.Identity.load()
        with foxtrot.listen("0.0.0.0:7000", identity=me, peers=["SHA256:…"]) as peer:
            learnt = foxtrot.psi.sum(peer, pd.read_csv("b.csv"), on="E-Mail", value="spent", largest=10_000)
        print(learnt.count, learnt.sum)

    Args:
        peer: The connection. The other side makes the same call, or runs ``foxtrot psi sum``. One side has ``value``.
        table: A table, or a list or NumPy array of keys. It may have 2^20 different keys.
        on: The key column, or several in the same order as at the peer. A table with one column needs none.
        largest: The largest number that there may be. Both sides have the same.
        value: The column with whole numbers from 0, on the side that has them. For plain values it is a list or array of
            numbers, one for each.
        normalize: A normaliser, as in ``"email"`` or ``"trim,lower"``. For several columns it is a list. Both sides have
            the same, except for formats of dates.
        duplicates: The row whose number is taken of several with one key. ``"refuse"`` fails if there are such rows.
        min_count: Both learn only that there are fewer common keys, if there are. Both sides have the same.
        max_peer_keys: The most keys that the peer may have.
        min_peer_keys: The fewest keys that the peer may have. Very few keys are a question about somebody.
        progress: ``True`` for a bar, or a function of units done, all units, the unit's name.

    Returns:
        A :class:`Counted`.

    Raises:
        UsageError: The table has no such column, or a number is missing or too large.
        AgreementError: The two sides want different things. The message has both.
        PeerError: The peer departed from the protocol. Do not retry.
    """
    source = read(table, on, normalize)
    numbers = None
    if isinstance(value, str):
        numbers = _core.numbers_of(source.beside([value], "value"), value, source.keys, largest, duplicates)
    elif value is not None:
        if source.names is not None:
            raise UsageError("value= is the name of a column of the table")
        plain = value.tolist() if hasattr(value, "tolist") else list(value)
        numbers = _core.numbers_of([plain], None, source.keys, largest, duplicates)
    options: _core.CountOptions = {"min_count": min_count, "max_peer_keys": max_peer_keys, "min_peer_keys": min_peer_keys}
    role = "receiver" if numbers is None else "sender"
    return _count(peer, source, normalize, role, options, numbers, largest, progress)


@overload
def local(
    a: T,
    b: Any,
    on: On = None,
    *,
    on_b: On = None,
    normalize: Normalize = None,
    normalize_b: Normalize = None,
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    details: Literal[False] = False,
) -> T: ...


@overload
def local(
    a: Any,
    b: Any,
    on: On = None,
    *,
    on_b: On = None,
    normalize: Normalize = None,
    normalize_b: Normalize = None,
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    details: Literal[True],
) -> Intersection: ...


def local(
    a: Any,
    b: Any,
    on: On = None,
    *,
    on_b: On = None,
    normalize: Normalize = None,
    normalize_b: Normalize = None,
    assumption: Assumption = "symmetric",
    semi_honest: bool = False,
    details: bool = False,
) -> Any:
    """Run both parties in this process, to try things out.

    Example:
        import foxtrot, pandas as pd

        ours = pd.DataFrame({"email": ["Ann@example.org", "bob@example.org"], "visits": [3, 1]})
        theirs = pd.DataFrame({"E-Mail": ["ann@example.org"]})
        print(foxtrot.psi.local(ours, theirs, on="email", on_b="E-Mail", normalize="email"))

    Args:
        a: The receiver's table.
        b: The sender's table.
        on: The key column or columns of both.
        on_b: The key column or columns of ``b``, if they have other names.
        normalize: The normalisers of both.
        normalize_b: The normalisers of ``b``, if its dates have another format.
        assumption: ``"symmetric"``, or ``"lpn"``: the fewest bytes, and a younger assumption. Both sides have the same.
        semi_honest: Accept a cheaper protocol that gives no protection against a malicious peer.
        details: ``True`` gives an :class:`Intersection` in place of the rows alone.

    Returns:
        The rows of ``a`` that ``b`` also has, as of :func:`receive`.
    """
    ours = read(a, on, normalize)
    if on_b is None and has_columns(b):
        on_b = on
    theirs = read(b, on_b, normalize_b if normalize_b is not None else normalize)
    options = _options(assumption, semi_honest, None, 0)
    run = _Run("receiver", None, ours, normalize, options)
    rows, facts = _core.psi_local(ours.keys, theirs.keys, options)
    if not details:
        return ours.take(*rows, {})
    return Intersection(ours, rows, facts, run.record(facts, len(rows[1]) // 8))


def inspect(table: Any, on: On = None, *, normalize: Normalize = None, show: int = 0) -> Inspection:
    """Find out how a table is read, without a peer.

    Example:
        import foxtrot, pandas as pd

        table = pd.DataFrame({"email": ["Ann@example.org", "ann@example.org", "n/a"]})
        seen = foxtrot.psi.inspect(table, on="email", normalize="email", show=3)
        print(seen)
        print(table.iloc[seen.left_out.without_key])

    Args:
        table: A table, or a list or NumPy array of keys.
        on: The key column or columns. A table with one column needs none.
        normalize: A normaliser, or a list of one for each column.
        show: The number of keys to show, before and after normalisation.

    Returns:
        An :class:`Inspection`: sizes, the rows that would be left out, and warnings.

    Raises:
        UsageError: The table has no such column, or keys of a wrong type.
    """
    return Inspection(read(table, on, normalize, show))
