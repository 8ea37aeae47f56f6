"""Identities, and connections to the other party."""

from __future__ import annotations

import functools
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, Union, cast

from . import _core
from ._errors import FoxtrotError, UsageError

__all__ = [
    "Ended",
    "Gateway",
    "Identity",
    "Limits",
    "Listener",
    "Peer",
    "Server",
    "bind",
    "connect",
    "gateway",
    "listen",
    "pair",
    "serve",
]

#: Fingerprints of peers, or names of peers with their fingerprints.
Peers = Union[Iterable[str], Mapping[str, str]]

#: A file with a policy, as the command's option ``--policy`` has it.
Policy = Union[str, "os.PathLike[str]", None]

#: Bytes of the largest key or policy.
_MOST = 1 << 20


def _read(place: Path) -> tuple[bytes, os.stat_result]:
    """Read a small file or a pipe, and say whose it is."""
    with place.open("rb") as file:
        found = os.fstat(file.fileno())
        if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
            raise UsageError(f"{place} is a device")
        content = file.read(_MOST + 1)
    if len(content) > _MOST:
        raise UsageError(f"{place} has more than {_MOST >> 20} MiB")
    return content, found


class Identity:
    """A key pair by which peers know this side.

    The two parties tell each other their fingerprints, say over the phone. ``repr`` shows the fingerprint only.

    Example:
        import foxtrot

        me = foxtrot.Identity.generate("identity.pem")  # once; later: Identity.load("identity.pem")
        print(me.fingerprint)
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Identity) -> None:
        self._core = core

    @staticmethod
    def default_path() -> Path:
        """Return the place of the key that the command ``foxtrot keygen`` writes by default."""
        if sys.platform == "win32":
            folder = Path(os.environ["APPDATA"])
        else:
            named = Path(os.environ.get("XDG_CONFIG_HOME", ""))
            folder = named if named.is_absolute() else Path.home() / ".config"
        return folder / "foxtrot" / "identity.pem"

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Identity:
        """Read a key file, which ``foxtrot keygen`` or :meth:`generate` wrote.

        Args:
            path: The file; without it :meth:`default_path`.

        Raises:
            FileNotFoundError: There is no such file.
            UsageError: The file is no key, or other users can read it.
        """
        place = Path(path) if path is not None else cls.default_path()
        try:
            pem, found = _read(place)
        except FileNotFoundError as error:
            hint = "create it with `foxtrot keygen` or foxtrot.Identity.generate(path)"
            raise FileNotFoundError(f"identity key {place} not found; {hint}") from error
        if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077 and found.st_uid == os.geteuid():
            why = f"other users can read or write the key {place}"
            raise UsageError(f"{why}; run `chmod 600 {place}`; if others have read it, make a new key")
        try:
            return cls(_core.Identity.of_pem(pem))
        except UsageError as error:
            raise UsageError(f"{place}: {error}") from None

    @classmethod
    def generate(cls, path: str | os.PathLike[str] | None = None) -> Identity:
        """Make a fresh key pair.

        Args:
            path: A new file for it, which only its owner can read. Without it the key exists in memory only.

        Raises:
            FileExistsError: The file exists; it is not overwritten.
        """
        made = cls(_core.Identity.fresh())
        if path is not None:
            place = Path(path)
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(made._core.pem())
        return made

    @property
    def fingerprint(self) -> str:
        """The public key's hash, ``SHA256:`` and 43 characters: peers pin it."""
        return self._core.fingerprint

    def __repr__(self) -> str:
        return f"<foxtrot.Identity {self.fingerprint}>"


class Limits:
    """Limits of what one peer may learn of this side in a day (UTC), with their counts in a file.

    A run counts when the peer is admitted, also if it fails. Make one object for a file: another process, or another object,
    cannot use the file meanwhile. Peers are told apart by their keys; all peers with ``insecure=True`` have one count together.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        limits = foxtrot.Limits("limits", max_runs_per_day=2, max_keys_per_day=100_000)
        answer = lambda peer: foxtrot.psi.send(peer, ["bob", "cid"])
        with foxtrot.serve("0.0.0.0:7000", answer, identity=me, peers=["SHA256:…"], limits=limits) as server:
            for ended in server:
                print(ended.peer, ended.error or "done")

    Args:
        path: The file, which is made if it is missing. It is that of the command's option ``--limits``.
        max_runs_per_day: The most runs.
        max_keys_per_day: The most keys that the peer can test: a run counts the bound for a cheating receiver or, where
            there is no bound, the keys that the peer declares.

    Raises:
        UsageError: The file cannot be used; the text says why.
    """

    __slots__ = ("_core",)

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_runs_per_day: int | None = None,
        max_keys_per_day: int | None = None,
    ) -> None:
        if any(most is not None and most < 1 for most in (max_runs_per_day, max_keys_per_day)):
            raise UsageError("limits per day are at least 1")
        self._core = _core.Limits(
            os.fspath(path), max_runs_per_day=max_runs_per_day, max_keys_per_day=max_keys_per_day
        )


class Peer:
    """A connection to the other party, on which jobs run one after another.

    Both programs make matching calls in the same order. A job that fails ends the connection. A call with wrong arguments, say a
    column that is not there, fails before its job and leaves the connection as it is: correct it and call again. If the
    connection ends instead, the peer is told that this side could not use its own input. ``with`` closes it.
    """

    __slots__ = ("_core", "_transport")

    def __init__(self, core: _core.Peer, transport: str) -> None:
        self._core = core
        self._transport = transport

    @property
    def address(self) -> str | None:
        """The peer's address, if the connection has one."""
        return self._core.address

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the peer's key; none without keys."""
        return self._core.fingerprint

    @property
    def name(self) -> str | None:
        """The name that ``peers`` gave the peer's key."""
        return self._core.name

    def cancel(self) -> None:
        """End the job that another thread runs, and the connection: that job raises :class:`Cancelled`."""
        self._core.cancel()

    def close(self) -> None:
        """End the connection in order: the last messages have left when it returns.

        Raises:
            ConnectionError: The last messages could not be sent.
        """
        self._core.close()

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            note_mistake(self._core, error)
            self._core.abandon()

    def __repr__(self) -> str:
        return repr(self._core)


def note_mistake(core: _core.Peer, error: BaseException | None) -> None:
    """Note on the peer that this program failed by itself. Other errors of the library are of a job, and the peer knows them."""
    if isinstance(error, UsageError) or (isinstance(error, Exception) and not isinstance(error, FoxtrotError)):
        core.mistaken()


Call = TypeVar("Call", bound=Callable[..., Any])


def runs_a_job(call: Call) -> Call:
    """Note on the peer, the first argument of ``call``, that the call failed before its job."""

    @functools.wraps(call)
    def run(peer: Peer, *arguments: Any, **options: Any) -> Any:
        try:
            return call(peer, *arguments, **options)
        except Exception as error:
            note_mistake(peer._core, error)
            raise

    return cast(Call, run)


def config(
    identity: Identity | None,
    peers: Peers,
    insecure: bool,
    *,
    timeout: float,
    wait: float | None,
    application: str | None,
    threads: int,
    session_timeout: float | None = None,
    max_sessions: int | None = None,
    max_sessions_per_peer: int | None = None,
    max_memory: int | None = None,
    policy: Policy = None,
    limits: Limits | None = None,
    route: str | None = None,
) -> _core.Config:
    if isinstance(peers, str):
        peers = [peers]
    if isinstance(peers, Mapping):
        keys: list[tuple[str, str | None]] = [(key, name) for name, key in peers.items()]
    else:
        keys = [(key, None) for key in peers]
    if insecure and (identity is not None or keys):
        raise UsageError("insecure=True has neither an identity nor peers; leave it out for TLS")
    if not insecure and not keys:
        raise UsageError('give the fingerprints of accepted peers: peers=["SHA256:…"]')
    if not 1 <= threads <= _core.MOST_THREADS:
        raise UsageError(f"threads is from 1 to {_core.MOST_THREADS}, and not {threads}")
    if not insecure and identity is None:
        identity = Identity.load()
    return _core.Config(
        None if identity is None else identity._core,
        keys,
        timeout=timeout,
        wait=wait,
        session_timeout=session_timeout,
        application=application,
        threads=threads,
        max_sessions=max_sessions,
        max_sessions_per_peer=max_sessions_per_peer,
        max_memory=max_memory,
        policy=None if policy is None else _read(Path(policy))[0].decode(),
        limits=None if limits is None else limits._core,
        route=route,
    )


def routed(route: str | None, behind: bool) -> str | None:
    if behind and route is None:
        raise UsageError("behind=True needs route=, the name by which the gateway finds the peer")
    return route


def connect(
    address: str,
    *,
    identity: Identity | None = None,
    peers: Peers = (),
    insecure: bool = False,
    timeout: float = 30.0,
    wait: float | None = None,
    application: str | None = None,
    policy: Policy = None,
    limits: Limits | None = None,
    threads: int = 1,
    route: str | None = None,
    behind: bool = False,
) -> Peer:
    """Connect to a peer that listens, by TLS 1.3 with a post-quantum key exchange and pinned keys.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.connect("b.example.org:7000", identity=me, peers={"acme": "SHA256:…"}) as peer:
            print(foxtrot.psi.receive(peer, ["ann", "bob"]), "by", peer.name)

    Args:
        address: Host and port, as in ``"hospital-b:7000"``.
        identity: Our key, :meth:`Identity.load` by default.
        peers: Fingerprints of accepted peers, or a dictionary of names with fingerprints.
        insecure: Plain TCP without keys, for tests on one machine only.
        timeout: The longest single wait for the peer, in seconds.
        wait: The time to try to connect, in seconds. By default 30, so that the peer may start later.
        application: A name that both sides have to give alike.
        policy: A file with rules that both sides have agreed on. What it forbids is refused.
        limits: :class:`Limits` of what the peer may learn of this side in a day. A policy with limits per day needs
            them where the peer learns something.
        threads: The number of threads that compute, from 1 to 1024.
        route: The address is a gateway's, and the peer meets us there on this route: up to 128 letters, digits and
            ``._:-``.
        behind: The address is the inner one of our own :func:`gateway`. The peer connects to the outer one.

    Returns:
        A :class:`Peer`. Use it in ``with``.

    Raises:
        ConnectionError: There is no peer, or one with another key.
    """
    settings = config(
        identity,
        peers,
        insecure,
        timeout=timeout,
        wait=wait,
        application=application,
        policy=policy,
        limits=limits,
        threads=threads,
        route=routed(route, behind),
    )
    return Peer(_core.connect(address, settings, _core.Attempt(), behind=behind), "tcp" if insecure else "tls")


class Gateway:
    """One port for many machines; :func:`gateway` makes it. ``with`` closes its ports."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.Gateway) -> None:
        self._core = core

    @property
    def outside(self) -> str:
        """The address for the other company, also where port 0 let the system choose."""
        return self._core.outside

    @property
    def inside(self) -> str:
        """The address for our own machines."""
        return self._core.inside

    def close(self) -> None:
        """Close both ports."""
        self._core.close()

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<foxtrot.Gateway on {self.outside}, inside on {self.inside}>"


def gateway(listen: str, inside: str, *, wait: float = 600.0, routes: int = 1024) -> Gateway:
    """Let many machines meet the other company's on one port, as ``foxtrot psi gateway`` does.

    A connection from outside and one from inside that name the same route are joined. The gateway only copies bytes: TLS
    begins and ends at the two machines, and the gateway has no keys.

    Example:
        import foxtrot, threading

        with foxtrot.gateway("localhost:0", "localhost:0") as gateway:
            def worker():
                with foxtrot.connect(gateway.inside, route="march", behind=True, insecure=True) as peer:
                    foxtrot.psi.send(peer, ["bob", "cid"])

            threading.Thread(target=worker).start()
            with foxtrot.connect(gateway.outside, route="march", insecure=True) as peer:
                print(foxtrot.psi.receive(peer, ["ann", "bob"]))

    Args:
        listen: Host and port for the other company.
        inside: Host and port for our own machines. Nobody else should reach it.
        wait: The longest wait of a connection for its other end, in seconds.
        routes: The most connections that are joined at once, and of each side that wait. From one address outside a quarter of
            them may wait. One more is told to try again, which :func:`connect` does until its ``wait`` is over.

    Returns:
        A :class:`Gateway`. Use it in ``with``.

    Raises:
        ConnectionError: An address cannot be listened on.
    """
    return Gateway(_core.Gateway(listen, inside, wait=wait, routes=routes))


class Listener:
    """A port on which one peer is awaited; :func:`bind` makes it. ``with`` closes the port."""

    __slots__ = ("_core", "_transport")

    def __init__(self, core: _core.Listener, transport: str) -> None:
        self._core = core
        self._transport = transport

    @property
    def address(self) -> str:
        """The address with the port, also where port 0 let the system choose."""
        return self._core.address

    def accept(self) -> Peer:
        """Wait for the first peer that may connect, and close the port. Strangers are refused.

        Raises:
            ConnectionError: Nobody came in time.
        """
        return Peer(self._core.accept(_core.Attempt()), self._transport)

    def close(self) -> None:
        """Close the port."""
        self._core.close()

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<foxtrot.Listener on {self.address}>"


def bind(
    address: str,
    *,
    identity: Identity | None = None,
    peers: Peers = (),
    insecure: bool = False,
    timeout: float = 30.0,
    wait: float | None = None,
    application: str | None = None,
    policy: Policy = None,
    limits: Limits | None = None,
    threads: int = 1,
) -> Listener:
    """Take a port without waiting for the peer: for programs that tell the port before.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.bind("0.0.0.0:0", identity=me, peers=["SHA256:…"]) as listener:
            print("waiting on", listener.address)
            with listener.accept() as peer:
                foxtrot.psi.send(peer, ["bob", "cid"])

    The arguments are as of :func:`listen`.

    Returns:
        A :class:`Listener`. Use it in ``with``.
    """
    settings = config(
        identity,
        peers,
        insecure,
        timeout=timeout,
        wait=wait,
        application=application,
        policy=policy,
        limits=limits,
        threads=threads,
    )
    return Listener(_core.Listener(address, settings), "tcp" if insecure else "tls")


def listen(
    address: str,
    *,
    identity: Identity | None = None,
    peers: Peers = (),
    insecure: bool = False,
    timeout: float = 30.0,
    wait: float | None = None,
    application: str | None = None,
    policy: Policy = None,
    limits: Limits | None = None,
    threads: int = 1,
) -> Peer:
    """Wait at an address for a peer with one of these keys.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        with foxtrot.listen("0.0.0.0:7000", identity=me, peers=["SHA256:…"]) as peer:
            foxtrot.psi.send(peer, ["bob", "cid"])

    Args:
        address: Host and port to listen on.
        wait: The longest wait for the peer, in seconds. By default without end.

    The other arguments are as of :func:`connect`.

    Returns:
        A :class:`Peer`. Use it in ``with``.

    Raises:
        ConnectionError: The address cannot be listened on, or nobody came in time.
    """
    return bind(
        address,
        identity=identity,
        peers=peers,
        insecure=insecure,
        timeout=timeout,
        wait=wait,
        application=application,
        policy=policy,
        limits=limits,
        threads=threads,
    ).accept()


def pair() -> tuple[Peer, Peer]:
    """Make both ends of a connection in this process, for tests. Use them in two threads.

    Example:
        import foxtrot, threading

        ours, theirs = foxtrot.pair()
        threading.Thread(target=foxtrot.psi.send, args=(theirs, ["bob", "cid"])).start()
        print(foxtrot.psi.receive(ours, ["ann", "bob"]))

    Returns:
        Two :class:`Peer` objects.
    """
    ours, theirs = _core.pair()
    return Peer(ours, "memory"), Peer(theirs, "memory")


class Ended:
    """A session of a :class:`Server` that has ended, or a refused connection.

    Attributes:
        peer: Name, key and address of the peer, as far as they are known.
        fingerprint: The peer's key, if it has shown one that is accepted.
        error: The exception that ended the session; none if it went well.
    """

    __slots__ = ("error", "fingerprint", "peer")

    def __init__(self, peer: str, fingerprint: str | None, error: BaseException | None) -> None:
        self.peer = peer
        self.fingerprint = fingerprint
        self.error = error

    def __repr__(self) -> str:
        return f"<foxtrot.Ended {self.peer}: {'done' if self.error is None else self.error}>"


class Server:
    """Sessions with all peers that come, each on a thread of its own; :func:`serve` makes it.

    Iterating waits for sessions to end. ``with`` stops the server, and waits up to five seconds for sessions.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Server) -> None:
        self._core = core

    @property
    def address(self) -> str:
        """The address with the port, also where port 0 let the system choose."""
        return self._core.address

    def next(self, within: float | None = None) -> Ended | None:
        """Wait for the next session to end.

        Args:
            within: The longest wait, in seconds.

        Returns:
            The session; ``None`` if none ended in time, or after :meth:`stop` when all have ended.
        """
        ended = self._core.next(within)
        return None if ended is None else Ended(ended["peer"], ended["fingerprint"], ended["error"])

    def stop(self) -> None:
        """End the listening. Sessions run on to their end."""
        self._core.stop()

    def close(self) -> None:
        """End the listening, and wait up to five seconds for sessions."""
        self._core.close()

    def __iter__(self) -> Iterator[Ended]:
        while (ended := self.next()) is not None:
            yield ended

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.close()

    def __repr__(self) -> str:
        return repr(self._core)


def serve(
    address: str,
    handler: Callable[[Peer], object],
    *,
    identity: Identity | None = None,
    peers: Peers = (),
    insecure: bool = False,
    timeout: float = 30.0,
    session_timeout: float | None = None,
    application: str | None = None,
    policy: Policy = None,
    limits: Limits | None = None,
    threads: int = 1,
    max_sessions: int = 64,
    max_sessions_per_peer: int = 8,
    max_memory: int | None = None,
) -> Server:
    """Answer all peers that come, side by side, until the server is stopped.

    Example:
        import foxtrot

        me = foxtrot.Identity.load()
        answer = lambda peer: foxtrot.psi.send(peer, ["bob", "cid"])
        with foxtrot.serve("0.0.0.0:7000", answer, identity=me, peers={"acme": "SHA256:…"}) as server:
            for ended in server:
                print(ended.peer, ended.error or "done")

    Args:
        address: Host and port to listen on.
        handler: A function that gets each :class:`Peer`, on a thread of its own, and runs jobs with it.
        session_timeout: The longest time of a session, in seconds. By default without end.
        max_sessions: The most sessions at once.
        max_sessions_per_peer: The most sessions at once with one peer.
        max_memory: The most bytes that all sessions take together, with payloads and results. A job that would take more is refused.

    The other arguments are as of :func:`connect`.

    Returns:
        A :class:`Server`. Use it in ``with``, and iterate to wait for sessions that have ended.
    """
    transport = "tcp" if insecure else "tls"
    settings = config(
        identity,
        peers,
        insecure,
        timeout=timeout,
        wait=None,
        application=application,
        policy=policy,
        limits=limits,
        threads=threads,
        session_timeout=session_timeout,
        max_sessions=max_sessions,
        max_sessions_per_peer=max_sessions_per_peer,
        max_memory=max_memory,
    )

    def session(core: _core.Peer) -> None:
        try:
            handler(Peer(core, transport))
        except Exception as error:
            note_mistake(core, error)
            raise

    return Server(_core.Listener(address, settings).serve(session))
