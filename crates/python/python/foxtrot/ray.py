"""One intersection on two Ray clusters: each company has its own, and workers of both meet in pairs on one port.

The drivers agree on a ticket by :func:`foxtrot.psi.agree_on_shards`. Each side divides its rows into shards, and a worker of
each side intersects a shard in a session of its own. A shard that fails is tried again by both sides; finished shards are
kept. The package is installed on all machines of the cluster: ``pip install 'foxtrot-mpc[ray]'``.

Example:
    import foxtrot, ray

    rows = ray.data.read_parquet("s3://ours/customers/")
    common = foxtrot.ray.psi_receive(rows, "email", connect="b.example.org:7000", peers=["SHA256:…"], normalize="email")
    common.write_parquet("s3://ours/common/")

The other company calls ``foxtrot.ray.psi_send(rows, "mail", listen="0.0.0.0:7000", peers=["SHA256:…"], normalize="email")``.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar, Union

from . import _connection, _core, psi
from ._connection import Identity, Peers
from ._errors import ConnectionError, FoxtrotError, RetryError, UsageError
from ._progress import Progress, Tell, shown
from ._tables import More, Normalize, Source, normalisers

__all__ = ["Intersection", "Report", "psi_join", "psi_receive", "psi_send"]

T = TypeVar("T")

#: A key of ours, or a file with it on every machine.
Key = Union[Identity, str, "os.PathLike[str]", None]

#: The columns of row numbers and items in pieces of shards.
_ROW, _KEY = "__foxtrot_row", "__foxtrot_key"

#: The most rows and bytes that one task divides.
_GROUP_ROWS, _GROUP_BYTES = 1 << 22, 512 << 20

#: Seconds between two looks at workers.
_LOOK = 0.5

#: Seconds in which workers start, if there is room for them.
_SOON = 30.0

#: Seconds in which bytes of the last meeting pass a gateway of ours before it is closed.
_LINGER = 1.0

#: Bytes of memory of a worker: for itself, and for each key of its shard on both sides. Measured, with a margin of a quarter.
_WORKER_BYTES, _KEY_BYTES = 448 << 20, 100


def _import_ray() -> Any:
    try:
        import_module("ray.data")
        return import_module("ray")
    except ImportError as error:
        raise ImportError("foxtrot.ray needs Ray: pip install 'foxtrot-mpc[ray]'") from error


class Report:
    """Facts about a run on a cluster.

    Attributes:
        rows: The number of rows of this side's dataset.
        shards: The number of shards.
        load, peer_load: The number of keys in each shard of this side, and of the peer, with those that fill it up.
        workers: The number of shards that both sides intersected at once.
        retries: For each shard that was tried again: its number, the attempt that failed, and why.
        most_tested: The most keys that a cheating receiver could test in all attempts at all shards. ``None`` with
            ``semi_honest=True``: there is no bound then.
        bytes_sent, bytes_received: Bytes of the protocol in all shards that this side finished, without TLS.
        seconds: The time of the run.
    """

    def __init__(self, rows: int, ticket: psi.Ticket, role: psi.Role) -> None:
        other: psi.Role = "sender" if role == "receiver" else "receiver"
        self.rows = rows
        self.shards = ticket.shards
        self.load = ticket.load(role)
        self.peer_load = ticket.load(other)
        self.workers = 0
        self.retries: list[tuple[int, int, str]] = []
        self.most_tested: int | None = 0
        self.bytes_sent = 0
        self.bytes_received = 0
        self.seconds = 0.0

    def __repr__(self) -> str:
        kind = f"foxtrot.ray.{type(self).__name__}"
        return f"<{kind}: {self.rows} rows in {self.shards} shards, {len(self.retries)} tried again>"


class Intersection(Report):
    """The result of :func:`psi_receive` and :func:`psi_join` with ``details=True``.

    Attributes:
        rows_in_common: The common rows, a Ray Dataset.
    """

    rows_in_common: Any


@dataclass(frozen=True)
class _Way:
    """How machines of this side meet the peer's."""

    address: str
    behind: bool
    gateway: Any
    name: str
    key: bytes | str | None = field(repr=False)
    peers: Any
    insecure: bool
    timeout: float
    wait: float
    threads: int

    def _identity(self) -> Identity | None:
        if self.insecure:
            return None
        if isinstance(self.key, bytes):
            return Identity(_core.Identity.of_pem(self.key))
        return Identity.load(self.key)

    def meet(self, route: str, wait: float, attempt: _core.Attempt | None = None) -> _connection.Peer:
        """Meet the peer on a route. A gateway that is started again is found again."""
        deadline = time.monotonic() + wait
        while True:
            try:
                settings = _connection.config(
                    self._identity(),
                    self.peers,
                    self.insecure,
                    timeout=self.timeout,
                    wait=max(deadline - time.monotonic(), 1.0),
                    application=None,
                    threads=self.threads,
                    route=self.name + route,
                )
                core = _core.connect(self._where(), settings, attempt or _core.Attempt(), behind=self.behind)
                return _connection.Peer(core, "tcp" if self.insecure else "tls")
            except ConnectionError:
                if time.monotonic() + 1.0 > deadline:
                    raise
                time.sleep(0.2)

    def _where(self) -> str:
        if self.gateway is None:
            return self.address
        # Without `ray.data`, whose import costs half a second.
        ray: Any = import_module("ray")
        try:
            return str(ray.get(self.gateway.inside.remote(), timeout=5.0))
        except ray.exceptions.RayError as error:
            raise ConnectionError(f"our gateway has not started again: {error}") from None


@dataclass(frozen=True)
class _Job:
    """What is the same for all shards."""

    role: psi.Role
    on: list[str]
    normalize: list[str]
    #: Columns that the sender shares, or for which the receiver asks.
    columns: list[str] | None
    width: int
    duplicates: psi.Duplicates
    assumption: psi.Assumption
    semi_honest: bool

    @property
    def shared(self) -> list[str]:
        """The columns that go to the peer."""
        return self.columns if self.columns is not None and self.role == "sender" else []


def _item() -> Any:
    """The type of items: 32 bytes."""
    return import_module("pyarrow").binary(32)


def _partition(job: _Job, ticket: psi.Ticket, *blocks: Any) -> Any:
    """Divide a group of blocks: for each shard the items of its rows, their numbers in the group, and shared columns."""
    pyarrow: Any = import_module("pyarrow")

    table = pyarrow.concat_tables(blocks)
    # Blocks may have many chunks, among which each take would search.
    shared = table.select(job.shared).combine_chunks()
    pieces = []
    for numbers, items in ticket._core.divide(_core.Table(table.select(job.on)), job.on, job.normalize):
        rows = pyarrow.array(numbers)
        its = pyarrow.FixedSizeBinaryArray.from_buffers(_item(), len(rows), [None, pyarrow.py_buffer(items)])
        beside = dict(zip(job.shared, shared.take(rows).columns)) if job.shared else {}
        pieces.append(pyarrow.table({_ROW: rows, _KEY: its, **beside}))
    return pieces[0] if len(pieces) == 1 else tuple(pieces)


def _schemas(*blocks: Any) -> list[Any]:
    return [block.schema for block in blocks]


def _groups(blocks: list[Any], sizes: list[tuple[int, int]], most: int) -> list[list[Any]]:
    """Put blocks together, in order, to groups of so many rows: small pieces of shards cost more than their rows."""
    groups: list[list[Any]] = []
    rows = size = 0
    for block, (more, bytes_more) in zip(blocks, sizes):
        if not groups or rows + more > most or size + bytes_more > _GROUP_BYTES:
            groups.append([])
            rows = size = 0
        groups[-1].append(block)
        rows, size = rows + more, size + bytes_more
    return groups


def _alike(group: list[Any], schemas: list[Any]) -> list[list[Any]]:
    """Divide a group where schemas change."""
    runs = groupby(zip(group, schemas), key=itemgetter(1))
    return [[block for block, _ in run] for _, run in runs]


def _rows(blocks: int, *of: Any) -> Any:
    """Take the common rows of a group of blocks, in order, with columns of the peer behind them."""
    import numpy
    pyarrow: Any = import_module("pyarrow")

    more = pyarrow.concat_tables(of[blocks:]).combine_chunks()
    numbers = more[_ROW].to_numpy()
    rows = pyarrow.concat_tables(of[:blocks])
    mask = numpy.zeros(len(rows), bool)
    mask[numbers] = True
    rows = rows.filter(pyarrow.array(mask))
    if names := more.column_names[1:]:
        # Each shard's are in order already.
        order = pyarrow.array(numpy.argsort(numbers, kind="stable"))
        for name in names:
            rows = rows.append_column(name, more[name].take(order))
    return rows


class _Gateway:
    """The gateway of a company, an actor on the head node."""

    def __init__(self, listen: str, inside: str) -> None:
        deadline = time.monotonic() + 30.0
        while True:
            try:
                self._gateway = _connection.gateway(listen, inside)
                return
            except ConnectionError:
                # The former actor's port may not be free yet.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def inside(self) -> str:
        return self._gateway.inside


class _Worker:
    """An actor that intersects shards, one after another."""

    def ready(self) -> bool:
        return True

    def intersect(self, same: tuple[_Way, _Job, psi.Ticket], shard: int, attempt: int, *pieces: Any) -> Any:
        """Intersect a shard whose rows are in pieces, one of each group: its end, and for the receiver rows of each group."""
        way, job, ticket = same
        results = len(pieces) if job.role == "receiver" else 0
        try:
            peer = way.meet(ticket.route("", shard, attempt), way.wait)
        except ConnectionError as error:
            return _results({"state": "absent", "error": str(error)}, [None] * results)
        try:
            with peer:
                facts, found = _intersect(peer, job, ticket, (shard, attempt), pieces)
        except (ConnectionError, RetryError) as error:
            return _results({"state": "failed", "error": str(error)}, [None] * results)
        return _results({"state": "done", **facts}, found)


def _intersect(
    peer: _connection.Peer, job: _Job, ticket: psi.Ticket, shard: tuple[int, int], pieces: Sequence[Any]
) -> tuple[dict[str, Any], list[Any]]:
    import numpy
    pyarrow: Any = import_module("pyarrow")

    some = [piece for piece in pieces if piece.num_rows]
    empty: Any = {_KEY: pyarrow.array([], _item())} | {name: pyarrow.array([], pyarrow.string()) for name in job.shared}
    rows: Any = pyarrow.concat_tables(some) if some else pyarrow.table(empty)
    keys = _core.keys_of_items(_core.Table(rows.select([_KEY])), job.on, job.normalize)

    def take(mask: bytes, indices: bytes, more: More) -> None:
        """Rows of the dataset are taken at the end."""

    table = Source(keys, job.on, take, job.shared, lambda names: _core.Table(rows.select(names)))
    options: Any = {
        "normalize": job.normalize,
        "assumption": job.assumption,
        "semi_honest": job.semi_honest,
        "ticket": ticket,
        "shard": shard[0],
        "attempt": shard[1],
    }
    payload: Any = {"width": job.width, "duplicates": job.duplicates}
    if job.role == "sender":
        shared: Any = {} if job.columns is None else {"share": job.columns, **payload}
        return _bytes(psi.send(peer, table, job.on, **options, **shared)), []
    more: dict[str, list[str]] = {}
    if job.columns is None:
        done = psi.receive(peer, table, job.on, **options, details=True)
    else:
        done = psi.join(peer, table, job.on, columns=job.columns, **options, **payload, details=True)
        more = done.columns
    # The rows of a group stand side by side.
    ends = numpy.cumsum([0, *(piece.num_rows for piece in pieces)])
    bounds = numpy.searchsorted(done.indices, ends)
    found = []
    for piece, start, first, end in zip(pieces, ends, bounds, bounds[1:]):
        rows = piece[_ROW].combine_chunks().to_numpy()[done.indices[first:end] - start]
        columns = {name: pyarrow.array(texts[first:end], pyarrow.string()) for name, texts in more.items()}
        found.append(pyarrow.table({_ROW: pyarrow.array(rows, pyarrow.int32()), **columns}))
    return _bytes(done), found


def _bytes(report: psi.Report) -> dict[str, Any]:
    return {"bytes_sent": report.bytes_sent, "bytes_received": report.bytes_received}


def _results(end: dict[str, Any], found: list[Any]) -> Any:
    return (end, *found) if found else end


class _Watch(threading.Thread):
    """Meets the peer's driver from time to time, to notice that it has gone: its workers would be awaited in vain."""

    def __init__(self, way: _Way, role: psi.Role, name: str) -> None:
        super().__init__(daemon=True)
        self._way, self._route = way, f":watch:{name}"
        self._role: psi.Role = role
        self._over = threading.Event()
        #: What the driver itself, and this thread, try to reach.
        self._attempt, self._own = _core.Attempt(), _core.Attempt()
        self._gone: ConnectionError | None = None

    def run(self) -> None:
        patience, seen = 2 * self._way.timeout, time.monotonic()
        while not self._over.wait(self._way.timeout / 4):
            try:
                with self._way.meet(self._route, patience, self._own) as peer:
                    # The shortest session that there is.
                    psi.agree_on_shards(peer, self._role, 0, shards=1)
                seen = time.monotonic()
            except Exception as error:
                if time.monotonic() - seen >= patience and not self._over.is_set():
                    self._gone = ConnectionError(f"the peer's driver has left the run: {error}")
                    self._attempt.cancel()
                    return

    def end(self) -> None:
        self._over.set()
        self._own.cancel()

    def look(self) -> None:
        """Raise an error if the peer's driver has gone."""
        if self._gone is not None:
            raise self._gone

    def meet(self, route: str, wait: float) -> _connection.Peer:
        """Meet the peer's driver on a route, if it has not gone."""
        self._attempt = _core.Attempt()
        try:
            self.look()
            return self._way.meet(route, wait, self._attempt)
        except FoxtrotError:
            self.look()
            raise


class _Crew:
    """The workers of this side, and the shards that they have finished."""

    def __init__(
        self, ray: Any, way: _Way, job: _Job, ticket: psi.Ticket, report: Report, watch: _Watch, tell: Tell | None
    ) -> None:
        self._ray, self._way, self._job, self._ticket = ray, way, job, ticket
        self._report, self._watch, self._tell = report, watch, tell
        #: Once for all shards.
        self._same = ray.put((way, job, ticket))
        self._workers: list[Any] = []
        self._idle: list[Any] = []
        #: Workers that Ray starts again.
        self._starting: dict[Any, Any] = {}
        #: Attempts to meet workers of the peer whose partners have died.
        self._leaving: list[_core.Attempt] = []
        #: What finished shards have found, by groups of blocks.
        self.found: dict[int, list[Any]] = {}

    def _wait(self, refs: list[Any], wanted: int, limit: float) -> tuple[list[Any], list[Any]]:
        """Wait for results, as long as the peer's driver is there."""
        deadline = time.monotonic() + limit
        while True:
            self._watch.look()
            ready, others = self._ray.wait(refs, num_returns=wanted, timeout=min(_LOOK, limit))
            if len(ready) >= wanted or time.monotonic() > deadline:
                return ready, others

    def hire(self, workers: int, cpus: int, memory: int) -> None:
        """Start workers, and keep those for which the cluster has room."""
        options = {"num_cpus": cpus, "memory": memory, "max_restarts": -1, "max_task_retries": 0}
        actor = self._ray.remote(_Worker).options(**options)
        self._workers = [actor.remote() for _ in range(workers)]
        ready = {worker.ready.remote(): worker for worker in self._workers}
        # One is needed. The others come soon after it, or there is no room for them.
        there, _ = self._wait(list(ready), 1, self._way.wait)
        if not there:
            raise UsageError(f"the cluster has no room for a worker: {cpus} CPUs and {memory} bytes of memory")
        there, absent = self._wait(list(ready), len(ready), _SOON)
        self._ray.get(there)
        self._idle = [ready[it] for it in there]
        for it in absent:
            self._dismiss(ready[it])

    def _dismiss(self, worker: Any) -> None:
        self._workers.remove(worker)
        self._ray.kill(worker)

    def dismiss(self) -> None:
        for attempt in self._leaving:
            attempt.cancel()
        for worker in list(self._workers):
            self._dismiss(worker)

    def __len__(self) -> int:
        return len(self._workers)

    def round(self, shards: list[int], attempt: int, window: int, pieces: list[list[Any]]) -> None:
        """Intersect shards in order, with ``window`` of them at once. Failures are left for the next round."""
        queue, running = list(shards), dict[Any, tuple[int, Any, list[Any]]]()
        of_one = self._ticket._core.most_tested(self._job.assumption == "lpn", self._job.semi_honest)
        while queue or running:
            while queue and self._idle and len(running) < window:
                shard, worker = queue.pop(0), self._idle.pop(0)
                of_groups = [group[shard] for group in pieces]
                results = 1 + (len(of_groups) if self._job.role == "receiver" else 0)
                refs = worker.intersect.options(num_returns=results).remote(self._same, shard, attempt, *of_groups)
                end, *found = refs if results > 1 else [refs]
                running[end] = shard, worker, found
                # Also an attempt that fails may have told the peer something.
                told = self._report.most_tested
                self._report.most_tested = None if told is None or of_one is None else told + of_one
            if not running and not self._starting:
                raise RetryError("no worker is left")
            limit = _LOOK if running else self._way.wait
            ready, _ = self._wait([*running, *self._starting], 1, limit)
            if not ready and not running:
                # Ray has no room any more for workers that have died.
                return
            for it in ready:
                if it in self._starting:
                    self._has_started(it)
                elif not self._has_ended(it, *running.pop(it), attempt):
                    # The peer has left the round: so do we, as soon as running shards have ended.
                    queue.clear()
            if self._tell is not None:
                self._tell(len(self.found), self._ticket.shards, "shards")

    def settle(self, shards: set[int]) -> None:
        """Take shards for finished of which the receiver has the rows, also if our session of them has failed at its end."""
        if missing := shards - set(self.found):
            self.found.update((shard, []) for shard in missing)
            if self._tell is not None:
                self._tell(len(self.found), self._ticket.shards, "shards")

    def _has_started(self, ready: Any) -> None:
        worker = self._starting.pop(ready)
        try:
            self._ray.get(ready)
            self._idle.append(worker)
        except self._ray.exceptions.RayActorError:
            self._starting[worker.ready.remote()] = worker

    def _has_ended(self, end: Any, shard: int, worker: Any, found: list[Any], attempt: int) -> bool:
        """Take a shard's end. Returns false if the peer has not come."""
        try:
            facts = self._ray.get(end)
        except self._ray.exceptions.RayActorError:
            self._starting[worker.ready.remote()] = worker
            self._report.retries.append((shard, attempt, "the worker has died"))
            # The peer's worker may wait for the one that has died.
            self._leaving.append(_core.Attempt())
            told = self._ticket.route("", shard, attempt), self._leaving[-1]
            threading.Thread(target=self._hang_up, args=told, daemon=True).start()
            return True
        except self._ray.exceptions.RayTaskError as error:
            # A peer that departs from the protocol is not asked again.
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        self._idle.append(worker)
        if facts["state"] != "done":
            self._report.retries.append((shard, attempt, facts["error"]))
            return bool(facts["state"] == "failed")
        self._report.bytes_sent += facts["bytes_sent"]
        self._report.bytes_received += facts["bytes_received"]
        self.found[shard] = found
        return True

    def _hang_up(self, route: str, attempt: _core.Attempt) -> None:
        """Meet a worker of the peer, and leave it."""
        try:
            self._way.meet(route, self._way.wait, attempt)._core.abandon()
        except (FoxtrotError, self._ray.exceptions.RayError):
            # Nobody waits there.
            pass


def _tried(attempts: int, action: Callable[[], T]) -> T:
    """Run an action that a lost connection may end, some times."""
    for attempt in range(attempts):
        try:
            return action()
        except (ConnectionError, RetryError):
            if attempt + 1 == attempts:
                raise
    raise UsageError("attempts is at least 1")


def _common(watch: _Watch, job: _Job, route: str, facts: list[str], wait: float, attempts: int) -> set[str]:
    """Meet the other driver, and find the facts that both have: by an intersection of which both learn the result."""

    def meet() -> set[str]:
        with watch.meet(route, wait) as peer:
            return common(peer)

    def common(peer: _connection.Peer) -> set[str]:
        if job.role == "receiver":
            table: Any = facts
            places: list[int] = psi.receive(peer, table, both=True)
        else:
            places = psi.send(peer, facts, both=True).rows_in_common
        return {facts[place] for place in places}

    return _tried(attempts, meet)


@dataclass(frozen=True)
class _Place:
    """Where machines of both sides meet, as callers say it."""

    connect: str | None
    listen: str | None
    gateway: str | None
    inside: str | None
    route: str
    identity: Key
    peers: Peers
    insecure: bool
    timeout: float
    wait: float

    def way(self, ray: Any, threads: int) -> tuple[_Way, Any]:
        """Start the gateway, if it is ours to start."""
        if sum(it is not None for it in (self.connect, self.listen, self.gateway)) != 1:
            raise UsageError("give one of connect= (the peer's gateway), listen= (our own) and gateway= (ours, which runs)")
        key = self.identity
        way = _Way(
            address=self.connect or self.gateway or "",
            behind=self.connect is None,
            gateway=None,
            name=self.route,
            key=key._core.pem() if isinstance(key, Identity) else None if key is None else str(Path(key)),
            peers=self.peers if isinstance(self.peers, (str, dict)) else list(self.peers),
            insecure=self.insecure,
            timeout=self.timeout,
            wait=self.wait,
            threads=threads,
        )
        # Mistakes of keys are known before anything is started.
        _connection.config(
            way._identity(), way.peers, way.insecure, timeout=1.0, wait=None, application=None, threads=1
        )
        if self.listen is None:
            return way, None
        inside = self.inside or f"{ray.util.get_node_ip_address()}:0"
        # On the head node, and back there with the same port if it dies.
        options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1}
        actor = ray.remote(_Gateway).options(**options, resources={"node:__internal_head__": 0.001})
        gateway = actor.remote(self.listen, inside)
        try:
            ray.get(gateway.inside.remote())
        except ray.exceptions.RayActorError as error:
            ray.kill(gateway)
            raise ConnectionError(f"the gateway does not start: {error}") from None
        return _Way(**{**way.__dict__, "gateway": gateway}), gateway


@dataclass(frozen=True)
class _Bounds:
    """Numbers of a run."""

    shards: int
    workers: int | None
    cpus: int
    memory: int | None
    attempts: int
    max_peer_keys: int
    min_peer_keys: int
    #: Whether the sender answers shards that it has finished.
    again: bool = False


def _play(dataset: Any, job: _Job, place: _Place, bounds: _Bounds, progress: Progress) -> Report:
    """Run one side."""
    ray, began = _import_ray(), time.monotonic()
    if min(bounds.attempts, bounds.cpus, 1 if bounds.workers is None else bounds.workers) < 1:
        raise UsageError("attempts, cpus and workers are at least 1")
    dataset = dataset.materialize()
    about = [it for bundle in dataset.iter_internal_ref_bundles() for it in bundle.metadata]
    full = [(block, (it.num_rows, it.size_bytes)) for block, it in zip(dataset.to_arrow_refs(), about) if it.num_rows]
    rows = sum(rows for _, (rows, _) in full)
    processors = int(ray.cluster_resources().get("CPU", 1))
    most = min(_GROUP_ROWS, rows // (2 * processors) + 1)
    groups = _groups([block for block, _ in full], [size for _, size in full], most)
    look, partition = ray.remote(_schemas), ray.remote(_partition)
    # What a dataset tells as the schema of all blocks need not be that of each.
    schemas = ray.get([look.remote(*group) for group in groups])
    groups = [alike for group, its in zip(groups, schemas) for alike in _alike(group, its)]
    for its in schemas[:1]:
        names = its[0].names
        for name in dict.fromkeys([*job.on, *job.shared]):
            if names.count(name) != 1:
                raise UsageError(f"the dataset has no column {name!r}, or two; its columns are {', '.join(names)}")
        if clash := set(names) & {_ROW, _KEY, *(job.columns or [] if job.role == "receiver" else [])}:
            raise UsageError(f"the dataset already has a column {min(clash)!r}; rename it")
    way, gateway = place.way(ray, bounds.cpus)
    crew: _Crew | None = None
    watch: _Watch | None = None
    try:

        def agree() -> psi.Ticket:
            with way.meet("", way.wait) as peer:
                return psi.agree_on_shards(
                    peer,
                    job.role,
                    rows,
                    shards=bounds.shards,
                    normalize=job.normalize,
                    assumption=job.assumption,
                    semi_honest=job.semi_honest,
                    max_peer_keys=bounds.max_peer_keys,
                    min_peer_keys=bounds.min_peer_keys,
                )

        ticket = _tried(bounds.attempts, agree)
        # Both drivers have the same ticket: its name tells this run's meetings from those of others.
        ours = ticket.route("", 0).rpartition(":")[2]
        watch = _Watch(way, job.role, ours)
        watch.start()
        report = Intersection(rows, ticket, job.role) if job.role == "receiver" else Report(rows, ticket, job.role)
        divide = partition.options(num_returns=ticket.shards)
        divided = [divide.remote(job, ticket, *group) for group in groups]
        pieces: list[list[Any]] = [[it] if ticket.shards == 1 else list(it) for it in divided]
        # Workers hold their CPUs, which this needs.
        waiting = [of_group[0] for of_group in pieces]
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=_LOOK, fetch_local=False)
            try:
                ray.get(done[:1] and done)
            except ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, Exception) else error) from None
        with shown(progress) as tell:
            crew = _Crew(ray, way, job, ticket, report, watch, tell)
            fields = 2 * job.width * len(job.columns or []) * ticket.load("sender")
            memory = bounds.memory or _WORKER_BYTES + _KEY_BYTES * (report.load + report.peer_load) + fields
            if (workers := bounds.workers) is None:
                # Ray tells a moment later that the tasks above have left their CPUs.
                time.sleep(2 * _LOOK)
                workers = int(ray.available_resources().get("CPU", 1)) // bounds.cpus
            crew.hire(max(1, min(workers, ticket.shards)), bounds.cpus, memory)
            facts = [f"worker {number}" for number in range(len(crew))]
            # The peer may still wait for a worker that does not come.
            wait = 2 * way.wait
            both = _common(watch, job, f":start:{ours}", facts, wait, bounds.attempts)
            report.workers = len(both)
            pending = list(range(ticket.shards))
            for attempt in range(bounds.attempts):
                crew.round(pending, attempt, report.workers, pieces)
                # A shard is done when the receiver has its rows. The sender names all, and so learns which these are.
                named = crew.found if job.role == "receiver" else range(ticket.shards)
                facts = [f"attempt {attempt}", *(f"shard {shard}" for shard in named)]
                route = f":round:{attempt}:{ours}"
                both = _common(watch, job, route, facts, wait, bounds.attempts)
                pending = [shard for shard in range(ticket.shards) if f"shard {shard}" not in both]
                crew.settle(set(range(ticket.shards)) - set(pending))
                if not pending:
                    break
                if finished := [shard for shard in pending if shard in crew.found]:
                    if job.role == "receiver":
                        raise RetryError(f"the sender does not take {len(finished)} shards for finished of which this side has the rows")
                    if not bounds.again:
                        shards = ", ".join(map(str, finished[:10]))
                        raise RetryError(
                            f"the peer says that it has no rows of {len(finished)} shards ({shards}), which this side has finished. "
                            "Ask the other company. With again=True this side answers them once more, and a cheating receiver "
                            f"can test up to {report.most_tested} keys so far, and as many again for each attempt"
                        )
                    for shard in finished:
                        crew.found.pop(shard)
            else:
                why = report.retries[-1][2] if report.retries else "the peer has not finished them"
                shards = ", ".join(map(str, pending[:10]))
                raise RetryError(f"{len(pending)} shards ({shards}) failed {bounds.attempts} times: {why}")
        watch.end()
        # The tasks below need the workers' CPUs.
        crew.dismiss()
        if isinstance(report, Intersection):
            take = ray.remote(_rows)
            taken = [
                take.remote(len(group), *group, *(crew.found[shard][number] for shard in range(ticket.shards)))
                for number, group in enumerate(groups)
            ]
            report.rows_in_common = ray.data.from_arrow_refs(taken) if taken else dataset.limit(0)
            if taken:
                ray.wait(taken, num_returns=len(taken), fetch_local=False)
        report.seconds = time.monotonic() - began
        return report
    finally:
        if watch is not None:
            watch.end()
        # The peer's workers notice that connections have ended.
        if crew is not None:
            crew.dismiss()
        if gateway is not None:
            time.sleep(_LINGER)
            ray.kill(gateway)


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def psi_receive(
    dataset: Any,
    on: str | Sequence[str],
    *,
    connect: str | None = None,
    listen: str | None = None,
    gateway: str | None = None,
    inside: str | None = None,
    route: str = "foxtrot",
    identity: Key = None,
    peers: Peers = (),
    insecure: bool = False,
    normalize: Normalize = None,
    shards: int = 64,
    workers: int | None = None,
    cpus: int = 1,
    memory: int | None = None,
    attempts: int = 3,
    wait: float = 600.0,
    timeout: float = 30.0,
    assumption: psi.Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int = 1 << 30,
    min_peer_keys: int = 0,
    progress: Progress = None,
    details: bool = False,
) -> Any:
    """Find out which rows of a Ray Dataset the peer also has. The peer calls :func:`psi_send` on its own cluster.

    Args:
        dataset: A Ray Dataset, of which each row is kept until the end.
        on: The key column, or several in the same order as at the peer.
        connect: Host and port of the peer's gateway. One of the two companies connects, and the other listens.
        listen: Host and port of our gateway, which runs on the head node until the end.
        gateway: The inner address of a gateway of ours that already runs, as ``foxtrot psi gateway`` does.
        inside: With ``listen``: the inner address, by default a free port of the head node.
        route: A name for this run. Both sides have the same. Two runs at once on one gateway have different names.
        identity: Our key: a file that all machines have, or an :class:`foxtrot.Identity`, which Ray sends to our workers.
        peers: Fingerprints of accepted peers.
        insecure: Plain TCP without keys, for tests on one machine only.
        normalize: A normaliser, or a list of one for each key column. Both sides have the same.
        shards: The number of shards. Both sides have the same.
        workers: The most shards at once, by default one for each free CPU. The side with fewer workers decides.
        cpus: CPUs of a worker, and its threads.
        memory: Bytes of memory that Ray reserves for a worker. By default 448 MiB, 100 bytes for each key of a
            shard on both sides, and twice the width of the columns that the peer reads.
        attempts: How often a shard is tried. Both sides have the same.
        wait: The longest wait for the peer, or for its worker of a shard, in seconds. It is longer than a shard takes.
        timeout: The longest single wait for bytes of the peer, in seconds.
        assumption, semi_honest: As of :func:`foxtrot.psi.receive`. Both sides have the same.
        max_peer_keys, min_peer_keys: The most and fewest rows that the peer may have.
        progress: ``True`` for a bar, or a function of three arguments: shards done, all shards, ``"shards"``.
        details: ``True`` gives an :class:`Intersection` in place of the dataset alone.

    Returns:
        A Ray Dataset of the common rows, including duplicates, in the order of the dataset.

    Raises:
        UsageError: The dataset has no such column, or the cluster has no room for a worker.
        AgreementError: The two sides want different things. The message has both.
        ConnectionError: The peer did not come, or left.
        PeerError: The peer departed from the protocol. Do not retry.
        RetryError: A shard failed in all attempts.
    """
    keys = _listed(on)
    job = _Job(
        "receiver", keys, normalisers(normalize, len(keys)), None, 64, "refuse", assumption, semi_honest
    )
    place = _Place(connect, listen, gateway, inside, route, identity, peers, insecure, timeout, wait)
    bounds = _Bounds(shards, workers, cpus, memory, attempts, max_peer_keys, min_peer_keys)
    found = _play(dataset, job, place, bounds, progress)
    return found if details else found.rows_in_common  # type: ignore[attr-defined]


def psi_join(
    dataset: Any,
    on: str | Sequence[str],
    *,
    columns: str | Sequence[str],
    width: int = 64,
    duplicates: psi.Duplicates = "refuse",
    connect: str | None = None,
    listen: str | None = None,
    gateway: str | None = None,
    inside: str | None = None,
    route: str = "foxtrot",
    identity: Key = None,
    peers: Peers = (),
    insecure: bool = False,
    normalize: Normalize = None,
    shards: int = 64,
    workers: int | None = None,
    cpus: int = 1,
    memory: int | None = None,
    attempts: int = 3,
    wait: float = 600.0,
    timeout: float = 30.0,
    assumption: psi.Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int = 1 << 30,
    min_peer_keys: int = 0,
    progress: Progress = None,
    details: bool = False,
) -> Any:
    """Find out which rows of a Ray Dataset the peer also has, and read the peer's columns of these rows.

    The peer calls :func:`psi_send` with ``share=``. ``columns``, ``width`` and ``duplicates`` are as of
    :func:`foxtrot.psi.join`, the other arguments as of :func:`psi_receive`.

    Returns:
        A Ray Dataset as of :func:`psi_receive`, with the peer's columns behind its own, as text.
    """
    keys = _listed(on)
    job = _Job(
        "receiver", keys, normalisers(normalize, len(keys)), _listed(columns), width, duplicates, assumption, semi_honest
    )
    place = _Place(connect, listen, gateway, inside, route, identity, peers, insecure, timeout, wait)
    bounds = _Bounds(shards, workers, cpus, memory, attempts, max_peer_keys, min_peer_keys)
    found = _play(dataset, job, place, bounds, progress)
    return found if details else found.rows_in_common  # type: ignore[attr-defined]


def psi_send(
    dataset: Any,
    on: str | Sequence[str],
    *,
    share: str | Sequence[str] | None = None,
    width: int = 64,
    duplicates: psi.Duplicates = "refuse",
    connect: str | None = None,
    listen: str | None = None,
    gateway: str | None = None,
    inside: str | None = None,
    route: str = "foxtrot",
    identity: Key = None,
    peers: Peers = (),
    insecure: bool = False,
    normalize: Normalize = None,
    shards: int = 64,
    workers: int | None = None,
    cpus: int = 1,
    memory: int | None = None,
    attempts: int = 3,
    wait: float = 600.0,
    timeout: float = 30.0,
    assumption: psi.Assumption = "symmetric",
    semi_honest: bool = False,
    max_peer_keys: int = 1 << 30,
    min_peer_keys: int = 0,
    again: bool = False,
    progress: Progress = None,
) -> Report:
    """Let the peer find out which of its rows are also in this Ray Dataset. The peer calls :func:`psi_receive`.

    ``share``, ``width`` and ``duplicates`` are as of :func:`foxtrot.psi.send`: with ``share`` the peer calls :func:`psi_join`.
    With ``again=True`` this side answers shards once more that it has finished, if the peer says that it has no rows of them:
    a cheating receiver then tests more keys. The other arguments are as of :func:`psi_receive`.

    Returns:
        A :class:`Report`.
    """
    keys = _listed(on)
    job = _Job(
        "sender", keys, normalisers(normalize, len(keys)), None if share is None else _listed(share), width, duplicates, assumption, semi_honest
    )
    place = _Place(connect, listen, gateway, inside, route, identity, peers, insecure, timeout, wait)
    bounds = _Bounds(shards, workers, cpus, memory, attempts, max_peer_keys, min_peer_keys, again)
    return _play(dataset, job, place, bounds, progress)
