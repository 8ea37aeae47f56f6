"""Exceptions by blame: who can do something about a failure."""

from __future__ import annotations

import builtins

__all__ = [
    "AgreementError",
    "Cancelled",
    "ConnectionError",
    "FoxtrotError",
    "PeerError",
    "RetryError",
    "UsageError",
]


class FoxtrotError(Exception):
    """Base class of all exceptions of Foxtrot. ``blame`` names the party that can do something, ``hint`` what might help.

    Tracebacks of Python 3.11 and later show the hint below the message.
    """

    blame: str = "caller"
    hint: str | None = None

    # Tracebacks and ``repr`` name the public module.
    __module__ = "foxtrot"


class UsageError(FoxtrotError, ValueError):
    """This program asked for something that cannot be: wrong options, columns or key files."""

    blame = "caller"
    __module__ = "foxtrot"


class Cancelled(FoxtrotError):
    """The job was cancelled by this program."""

    blame = "caller"
    __module__ = "foxtrot"


class AgreementError(FoxtrotError):
    """The two programs want different things: compare calls and options. The message names both sides' values."""

    blame = "agreement"
    __module__ = "foxtrot"


class ConnectionError(FoxtrotError, builtins.ConnectionError):
    """The network or the keys failed: try again, or compare addresses and fingerprints."""

    blame = "connection"
    __module__ = "foxtrot"


class PeerError(FoxtrotError):
    """The peer departed from the protocol, or says that this side did. Do not retry: each attempt may reveal something."""

    blame = "peer"
    __module__ = "foxtrot"


class RetryError(FoxtrotError):
    """The run failed by chance: the same call on a new connection works."""

    blame = "nobody"
    __module__ = "foxtrot"
