"""Helpers: two parties in threads, in processes, and with the command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import foxtrot
import pytest

#: A program of `test_ray.py`, and no module of tests.
collect_ignore = ["ray_company.py"]

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "crates" / "python" / "examples"


def two_parties(ours: Callable[[Any], Any], theirs: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Run both parties over memory; an exception of ours is raised, else one of theirs."""
    near, far = foxtrot.pair()
    results: list[Any] = [None, None]

    def other() -> None:
        try:
            results[0] = theirs(far)
        except Exception as error:
            results[1] = error

    thread = threading.Thread(target=other)
    thread.start()
    try:
        mine = ours(near)
    finally:
        thread.join(60)
    if results[1] is not None:
        raise results[1]
    return mine, results[0]


@pytest.fixture
def identities(tmp_path: Path) -> tuple[Path, Path, str, str]:
    """Key files of two parties, and their fingerprints."""
    ours, theirs = tmp_path / "ours.pem", tmp_path / "theirs.pem"
    of_ours = foxtrot.Identity.generate(ours).fingerprint
    of_theirs = foxtrot.Identity.generate(theirs).fingerprint
    return ours, theirs, of_ours, of_theirs


@pytest.fixture
def command() -> str:
    """The command `foxtrot`."""
    path = os.environ.get("FOXTROT_COMMAND")
    if path is None:
        pytest.skip("FOXTROT_COMMAND does not name the command")
    return path


def start(arguments: list[Any], **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(it) for it in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def example(name: str, *arguments: Any) -> subprocess.Popen[str]:
    return start([sys.executable, EXAMPLES / name, *arguments])


def address_of(process: subprocess.Popen[str]) -> str:
    """Wait until a process says where it listens."""
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"listening on (\S+)", line):
            return found[1]
    raise AssertionError(f"it never listened: {process.wait()}")
