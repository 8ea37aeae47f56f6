"""The same calls for asyncio: each runs on a thread of its own, and the event loop goes on.

A task that is cancelled ends its job, and the connection. Functions of ``progress`` run on the job's thread.

Example:
    import asyncio, foxtrot

    async def main():
        me = foxtrot.Identity.load()
        async with await foxtrot.aio.connect("b.example.org:7000", identity=me, peers=["SHA256:…"]) as peer:
            print(await foxtrot.aio.psi.receive(peer, ["ann", "bob"]))

    asyncio.run(main())
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from . import _connection, _core
from . import ot as _ot
from . import psi as _psi
from . import rot as _rot
from . import triples as _triples

__all__ = ["Peer", "Server", "accept", "connect", "listen", "ot", "psi", "rot", "serve", "triples"]

P = ParamSpec("P")
R = TypeVar("R")


async def _on_thread(call: Callable[[], R], cancel: Callable[[], object]) -> R:
    """Run a call on a thread of its own: those of the loop's pool are few, and jobs wait for each other."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[R] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if ended.done():
            return
        if error is None:
            ended.set_result(result)
        else:
            ended.set_exception(error)

    def work() -> None:
        result: Any = None
        failure: BaseException | None = None
        try:
            result = context.run(call)
        except BaseException as error:
            failure = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:
            # The loop is closed: nobody asks for the result.
            pass

    threading.Thread(target=work, name="foxtrot", daemon=True).start()
    try:
        return await ended
    except asyncio.CancelledError:
        # The thread ends by itself.
        cancel()
        raise


class Peer:
    """A connection to the other party, for asyncio. ``async with`` closes it."""

    __slots__ = ("_peer",)

    def __init__(self, peer: _connection.Peer) -> None:
        self._peer = peer

    @property
    def address(self) -> str | None:
        """The peer's address, if the connection has one."""
        return self._peer.address

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the peer's key; none without keys."""
        return self._peer.fingerprint

    @property
    def name(self) -> str | None:
        """The name that ``peers`` gave the peer's key."""
        return self._peer.name

    async def run(
        self, function: Callable[Concatenate[_connection.Peer, P], R], *arguments: P.args, **options: P.kwargs
    ) -> R:
        """Run a function of :mod:`foxtrot` that takes a peer first, as in ``await peer.run(foxtrot.psi.send, table)``."""
        return await _on_thread(lambda: function(self._peer, *arguments, **options), self._peer.cancel)

    async def close(self) -> None:
        """End the connection in order."""
        await _on_thread(self._peer.close, self._peer.cancel)

    async def __aenter__(self) -> Peer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self.close()
        else:
            await _on_thread(lambda: self._peer.__exit__(kind, error, trace), self._peer.cancel)

    def __repr__(self) -> str:
        return repr(self._peer)


async def connect(
    address: str,
    *,
    identity: _connection.Identity | None = None,
    peers: _connection.Peers = (),
    insecure: bool = False,
    timeout: float = 30.0,
    wait: float | None = None,
    application: str | None = None,
    policy: _connection.Policy = None,
    limits: _connection.Limits | None = None,
    threads: int = 1,
    route: str | None = None,
    behind: bool = False,
) -> Peer:
    """:func:`foxtrot.connect` for asyncio, with the same arguments."""
    config = _connection.config(
        identity,
        peers,
        insecure,
        timeout=timeout,
        wait=wait,
        application=application,
        policy=policy,
        limits=limits,
        threads=threads,
        route=_connection.routed(route, behind),
    )
    attempt = _core.Attempt()
    core = await _on_thread(lambda: _core.connect(address, config, attempt, behind=behind), attempt.cancel)
    return Peer(_connection.Peer(core, "tcp" if insecure else "tls"))


async def accept(listener: _connection.Listener) -> Peer:
    """:meth:`foxtrot.Listener.accept` for asyncio."""
    attempt = _core.Attempt()
    core = await _on_thread(lambda: listener._core.accept(attempt), attempt.cancel)
    return Peer(_connection.Peer(core, listener._transport))


async def listen(
    address: str,
    *,
    identity: _connection.Identity | None = None,
    peers: _connection.Peers = (),
    insecure: bool = False,
    timeout: float = 30.0,
    wait: float | None = None,
    application: str | None = None,
    policy: _connection.Policy = None,
    limits: _connection.Limits | None = None,
    threads: int = 1,
) -> Peer:
    """:func:`foxtrot.listen` for asyncio, with the same arguments."""
    listener = _connection.bind(
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
    )
    return await accept(listener)


class Server:
    """Sessions with all peers that come; :func:`serve` makes it. Iterating awaits sessions that end. ``async with`` stops it."""

    __slots__ = ("_is_stopped", "_server")

    def __init__(self, server: _connection.Server) -> None:
        self._server = server
        self._is_stopped = False

    @property
    def address(self) -> str:
        """The address with the port, also where port 0 let the system choose."""
        return self._server.address

    def stop(self) -> None:
        """End the listening. Sessions run on to their end."""
        self._is_stopped = True
        self._server.stop()

    async def close(self) -> None:
        """End the listening, and wait up to five seconds for sessions."""
        self.stop()
        await _on_thread(self._server.close, lambda: None)

    def __aiter__(self) -> Server:
        return self

    async def __anext__(self) -> _connection.Ended:
        while True:
            # A wait that is cancelled ends soon.
            is_last, within = self._is_stopped, None if self._is_stopped else 0.2
            ended = await _on_thread(functools.partial(self._server.next, within), lambda: None)
            if ended is not None:
                return ended
            if is_last:
                raise StopAsyncIteration

    async def __aenter__(self) -> Server:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return repr(self._server)


def serve(address: str, handler: Callable[[Peer], Awaitable[object]], **options: Any) -> Server:
    """:func:`foxtrot.serve` for asyncio: ``handler`` is a coroutine function, which runs in this event loop.

    The options are as of :func:`foxtrot.serve`.
    """
    loop = asyncio.get_running_loop()

    async def session(peer: _connection.Peer) -> None:
        await handler(Peer(peer))

    def on_thread(peer: _connection.Peer) -> None:
        asyncio.run_coroutine_threadsafe(session(peer), loop).result()

    return Server(_connection.serve(address, on_thread, **options))


def _twin(
    function: Callable[Concatenate[_connection.Peer, P], R],
) -> Callable[Concatenate[Peer, P], Coroutine[Any, Any, R]]:
    @functools.wraps(function)
    async def twin(peer: Peer, /, *arguments: P.args, **options: P.kwargs) -> R:
        return await peer.run(function, *arguments, **options)

    twin.__doc__ = f":func:`{function.__module__}.{function.__name__}` for asyncio, with the same arguments."
    return twin


class psi:
    """:mod:`foxtrot.psi` for asyncio."""

    send = _twin(_psi.send)
    receive = _twin(_psi.receive)
    join = _twin(_psi.join)
    agree_on_shards = _twin(_psi.agree_on_shards)
    count = _twin(_psi.count)
    sum = _twin(_psi.sum)


class rot:
    """:mod:`foxtrot.rot` for asyncio."""

    send = _twin(_rot.send)
    receive = _twin(_rot.receive)
    send_correlated = _twin(_rot.send_correlated)
    receive_correlated = _twin(_rot.receive_correlated)


class ot:
    """:mod:`foxtrot.ot` for asyncio."""

    send = _twin(_ot.send)
    receive = _twin(_ot.receive)


class triples:
    """:mod:`foxtrot.triples` for asyncio."""

    generate = _twin(_triples.generate)
