"""Choices of a receiver, from lists and arrays; names of protocols."""

from __future__ import annotations

import operator
from typing import Any, Literal

from ._errors import UsageError

#: Extensions of oblivious transfers, by their names on the command.
Extension = Literal["softspoken", "silent", "none"]


def bits(choices: Any) -> bytes:
    """Return a byte for each choice bit: 0 or 1."""
    return bytes(picks(choices, 2))


def picks(choices: Any, of: int) -> list[int]:
    """Return the index of the chosen message of each transfer. Errors do not show it."""
    values = choices.tolist() if hasattr(choices, "tolist") else list(choices)
    made: list[int] = []
    for place, value in enumerate(values):
        try:
            pick = operator.index(value)
        except TypeError:
            raise UsageError(f"choice {place} is no bool and no whole number") from None
        if not 0 <= pick < of:
            raise UsageError(f"choice {place} is not below {of}")
        made.append(pick)
    return made
