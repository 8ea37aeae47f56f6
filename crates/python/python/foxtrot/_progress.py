"""Progress of long calls: a bar in terminals and notebooks, or a function of the caller."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Union

#: A function that takes how many units are done, how many there are, and the name of the unit.
Tell = Callable[[int, int, str], object]

#: ``True`` for a bar, or a function that is called a few times a second.
Progress = Union[bool, Tell, None]

_WIDTH = 30


def _in_notebook() -> bool:
    """Tell whether the program runs in a Jupyter kernel."""
    get_ipython: Any = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_ipython() if get_ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Terminal:
    """A bar on standard error, which is removed at the end."""

    def __init__(self) -> None:
        self._shown = False

    def __call__(self, done: int, of: int, unit: str) -> None:
        share = min(done / of, 1.0) if of else 1.0
        full = int(share * _WIDTH)
        sys.stderr.write(f"\r[{'#' * full}{'.' * (_WIDTH - full)}] {share:4.0%} of {of} {unit}")
        sys.stderr.flush()
        self._shown = True

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class _Notebook:
    """A bar below the cell, which stays."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, done: int, of: int, unit: str) -> None:
        from importlib import import_module

        shown: Any = import_module("IPython.display")
        bar = f"<progress value='{done}' max='{max(of, 1)}'></progress> {done} of {of} {unit}"
        if self._handle is None:
            self._handle = shown.display(shown.HTML(bar), display_id=True)
        elif self._handle is not None:
            self._handle.update(shown.HTML(bar))

    def close(self) -> None:
        self._handle = None


@contextmanager
def shown(progress: Progress) -> Generator[Tell | None, None, None]:
    """Give the function that the library calls while a job runs."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield None
        return
    if _in_notebook():
        bar: _Notebook | _Terminal = _Notebook()
    elif sys.stderr.isatty():
        bar = _Terminal()
    else:
        yield None
        return
    try:
        yield bar
    finally:
        bar.close()
