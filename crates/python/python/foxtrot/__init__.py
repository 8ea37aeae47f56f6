"""Private set intersection, oblivious transfer and multiplication triples between two parties, post-quantum.

    import foxtrot, polars as pl

    me = foxtrot.Identity.load()
    with foxtrot.connect("hospital-b:7000", identity=me, peers=["SHA256:…"]) as peer:
        common = foxtrot.psi.receive(peer, pl.read_parquet("a.parquet"), on="email", normalize="email")

Long calls release the GIL, stop at Ctrl-C, and show a bar with ``progress=True``. :mod:`foxtrot.aio` has the same calls for
asyncio. The library was not audited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import ot, psi, rot, triples
from ._connection import (
    Ended,
    Gateway,
    Identity,
    Limits,
    Listener,
    Peer,
    Server,
    bind,
    connect,
    gateway,
    listen,
    pair,
    serve,
)
from ._core import Table, __version__
from ._errors import (
    AgreementError,
    Cancelled,
    ConnectionError,
    FoxtrotError,
    PeerError,
    RetryError,
    UsageError,
)

if TYPE_CHECKING:
    from . import aio, ray

__all__ = [
    "AgreementError",
    "Cancelled",
    "ConnectionError",
    "Ended",
    "FoxtrotError",
    "Gateway",
    "Identity",
    "Limits",
    "Listener",
    "Peer",
    "PeerError",
    "RetryError",
    "Server",
    "Table",
    "UsageError",
    "__version__",
    "aio",
    "bind",
    "connect",
    "gateway",
    "listen",
    "ot",
    "pair",
    "psi",
    "ray",
    "rot",
    "serve",
    "triples",
]


def __getattr__(name: str) -> Any:
    # Importing asyncio takes longer than all the rest.
    if name in ("aio", "ray"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
