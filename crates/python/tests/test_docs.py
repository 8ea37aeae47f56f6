"""The pages of docs/python are the docstrings, and their examples run."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import foxtrot
import pandas as pd
import polars as pl
import pytest
from conftest import ROOT, address_of, start

PAGES = ROOT / "docs" / "python"

#: Pages whose examples meet.
MEETINGS = [
    ("psi-receive", "psi-send"),
    ("psi-join", "psi-send"),
    ("psi-count", "psi-count"),
    ("psi-sum", "psi-sum"),
    ("rot-receive", "rot-send"),
    ("rot-receive-correlated", "rot-send-correlated"),
    ("ot-receive", "ot-send"),
    ("triples-generate", "triples-generate"),
    ("connect", "listen"),
    ("connect", "bind"),
    ("connect", "serve"),
    ("connect", "limits"),
    ("aio", "listen"),
    ("../../README", "psi-send"),
    ("../psi-files", "psi-send"),
]


def example(page: str) -> str:
    """The first block of code of a page."""
    found = re.search(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text(), re.DOTALL)
    assert found is not None, page
    return found[1]


def runs(code: str, **names: Any) -> None:
    exec(compile(code, "<example>", "exec"), names)


def test_the_pages_are_the_docstrings() -> None:
    script = ROOT / "crates" / "python" / "docs.py"
    subprocess.run([sys.executable, script, "--check"], check=True)


@pytest.mark.parametrize("page", ["psi-local", "psi-inspect", "pair", "gateway", "identity"])
def test_an_example_of_one_process_runs(page: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    runs(example(page))


@pytest.mark.parametrize(("near", "far"), MEETINGS)
def test_examples_of_two_pages_meet_by_tls(near: str, far: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    ours_table = pl.DataFrame({"email": ["Ann@x.org", "bob@x.org"]})
    ours_table.write_parquet("a.parquet")
    ours_table.write_csv("a.csv")
    theirs_table = {"E-Mail": ["ann@x.org"], "city": ["Ulm"], "plan": ["gold"], "spent": [30]}
    pd.DataFrame(theirs_table).to_csv("b.csv", index=False)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    keys = [foxtrot.Identity.generate(), foxtrot.Identity.generate()]

    def adapted(page: str, peer: foxtrot.Identity) -> str:
        code = re.sub(r'"[^"]+:(7000|0)"', f'"{address}"', example(page))
        code = code.replace("SHA256:…", peer.fingerprint).replace("foxtrot.Identity.load()", "me")
        assert code.count(address) == 1 and code.count(peer.fingerprint) == 1
        return re.sub(r"^ *me = me\n", "", code, flags=re.MULTILINE)

    ours, theirs = adapted(near, keys[1]), adapted(far, keys[0])
    if near == "psi-join":
        theirs = theirs.replace('normalize="email")', 'normalize="email", share=["city", "plan"])')
    if near == "psi-sum":
        ours = ours.replace("foxtrot.listen", "foxtrot.connect").replace('value="spent", ', "")
    if near == far:
        theirs = theirs.replace("foxtrot.connect", "foxtrot.listen")
    # A server has no end of its own.
    theirs = theirs.replace("for ended in server:", "for ended in [next(iter(server))]:")
    failures: list[BaseException] = []

    def other() -> None:
        try:
            runs(theirs, me=keys[1])
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        runs(ours, me=keys[0])
    finally:
        thread.join(60)
    assert not failures and not thread.is_alive()
    if near == "../psi-files":
        assert pl.read_parquet("common.parquet")["email"].to_list() == ["Ann@x.org"]
    assert capsys.readouterr().out


def test_the_pipe_from_parquet_to_the_command(
    command: str, tmp_path: Path, identities: tuple[Path, Path, str, str]
) -> None:
    ours, theirs, of_ours, of_theirs = identities
    found = re.search(r"    python3 -c .*? \|\n .*?\n", (ROOT / "docs" / "psi-files.md").read_text())
    assert found is not None
    pl.DataFrame({"email": ["Ann@x.org", "bob@x.org"], "n": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("email\nann@x.org\n")
    keys = ["--key", "email", "--normalize", "email"]
    listening = ["--listen", "localhost:0", "--identity", theirs, "--peer", of_ours]
    sender = start([command, "psi", "send", tmp_path / "b.csv", *keys, *listening])
    pipe = found[0].replace("HOST:7000", f"{address_of(sender)} --identity {ours}").replace("SHA256:…", of_theirs)
    pipe = pipe.replace("python3", sys.executable).replace("foxtrot psi", f"{command} psi")
    subprocess.run(["bash", "-o", "pipefail", "-c", pipe], check=True, cwd=tmp_path, timeout=60)
    assert sender.wait(60) == 0
    assert (tmp_path / "common.csv").read_text() == "email,n\nAnn@x.org,1\n"
