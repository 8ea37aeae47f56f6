"""Two processes: the examples, the command, interrupts."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import foxtrot
import pandas as pd
import polars as pl
import pytest
from conftest import EXAMPLES, ROOT, address_of, example, start


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def test_the_examples_of_psi_meet_by_tls(tmp_path: Path, identities: tuple[Path, Path, str, str]) -> None:
    ours, theirs, of_ours, of_theirs = identities
    (tmp_path / "a.csv").write_text("email,n\nAnn@x.org,1\nbob@x.org,2\n")
    (tmp_path / "b.csv").write_text("email\nann@x.org\n")
    for receiver in ("psi_receiver.py", "psi_receiver_asyncio.py"):
        sender = example("psi_sender.py", "localhost:0", theirs, of_ours, tmp_path / "b.csv")
        out = finish(example(receiver, address_of(sender), ours, of_theirs, tmp_path / "a.csv"))
        finish(sender)
        assert "Ann@x.org" in out and "bob" not in out


def test_the_example_of_triples_multiplies(tmp_path: Path, identities: tuple[Path, Path, str, str]) -> None:
    ours, theirs, of_ours, of_theirs = identities
    listening = example("multiply.py", "--listen", "localhost:0", theirs, of_ours, "6", "7")
    out = finish(example("multiply.py", "--connect", address_of(listening), ours, of_theirs, "10", "-3"))
    assert finish(listening) == out == "products: [60, -21]\n"


@pytest.mark.parametrize("library", [pd, pl])
def test_a_dataframe_meets_the_command_on_one_wire(
    library: object, command: str, tmp_path: Path, identities: tuple[Path, Path, str, str]
) -> None:
    ours, theirs, of_ours, of_theirs = identities
    (tmp_path / "b.csv").write_text("E-Mail,born\nann@x.org,1990-02-01\ncid@x.org,\nbob@x.org,1991-03-04\n")
    keys = ["--key", "E-Mail", "--key", "born", "--normalize", "email", "--normalize", "date"]
    tls = ["--identity", theirs, "--peer", of_ours]
    table = {"mail": ["Bob@x.org ", "Ann@x.org", "cid@x.org"], "day": ["4.3.1991", "2.2.1990", None]}
    frame = library.DataFrame(table)  # type: ignore[attr-defined]

    sender = start([command, "psi", "send", tmp_path / "b.csv", *keys, *tls, "--listen", "localhost:0"])
    me = foxtrot.Identity.load(ours)
    with foxtrot.connect(address_of(sender), identity=me, peers=[of_theirs]) as peer:
        normalize = ["email", "date:D.M.YYYY"]
        found = foxtrot.psi.receive(peer, frame, on=["mail", "day"], normalize=normalize, details=True)
    finish(sender)
    assert found.indices.tolist() == [0] and found.peer_columns == "E-Mail, born"
    assert found.left_out.without_key == [2] and found.record()["peer"]["fingerprint"] == of_theirs

    record = tmp_path / "record.json"
    with foxtrot.bind("localhost:0", identity=me, peers=[of_theirs]) as listener:
        arguments = ["--connect", listener.address, "--record", record, "-o", tmp_path / "out.csv"]
        receiver = start([command, "psi", "receive", tmp_path / "b.csv", *keys, *tls, *arguments])
        with listener.accept() as peer:
            report = foxtrot.psi.send(peer, frame, on=["mail", "day"], normalize=normalize)
    finish(receiver)
    assert (tmp_path / "out.csv").read_text() == "E-Mail,born\nbob@x.org,1991-03-04\n"
    theirs_record, ours_record = json.loads(record.read_text()), report.record()
    for field in ("session", "normalize", "keys_receiver", "keys_sender", "transport", "job", "schema"):
        assert theirs_record[field] == ours_record[field], field
    assert theirs_record["bytes_sent"] == ours_record["bytes_received"]
    assert theirs_record["peer_key_columns"] == "mail, day"
    assert set(ours_record) <= set(theirs_record)


def test_a_fresh_environment_intersects_dataframes_with_a_running_command_in_six_lines(
    command: str, tmp_path: Path, identities: tuple[Path, Path, str, str]
) -> None:
    fresh = os.environ.get("FOXTROT_FRESH")
    if fresh is None:
        pytest.skip("FOXTROT_FRESH does not name the interpreter of a fresh environment")
    ours, theirs, of_ours, of_theirs = identities
    found = re.search(r"## In Python\n\n```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found is not None
    lines = [line for line in found[1].splitlines() if line]
    assert len(lines) <= 6
    (tmp_path / "foxtrot").mkdir()
    ours.rename(tmp_path / "foxtrot" / "identity.pem")
    pl.DataFrame({"email": ["Ann@x.org", "bob@x.org"], "n": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("email\nann@x.org\n")
    keys = ["--key", "email", "--normalize", "email", "--identity", theirs, "--peer", of_ours]
    sender = start([command, "psi", "send", tmp_path / "b.csv", *keys, "--listen", "localhost:0"])
    code = "\n".join(lines).replace("hospital-b:7000", address_of(sender)).replace("SHA256:…", of_theirs)
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "PYTHONPATH": ""}
    out = finish(start([fresh, "-c", code], cwd=tmp_path, env=environment))
    finish(sender)
    assert "Ann@x.org" in out and "bob" not in out


def test_random_ots_and_messages_meet_the_command(command: str, tmp_path: Path) -> None:
    other = [command, "rot", "receive", "-n", "500", "--insecure", "--listen", "127.0.0.1:0", "-o", tmp_path / "keys"]
    receiver = start(other)
    with foxtrot.connect(address_of(receiver), insecure=True) as peer:
        sent = foxtrot.rot.send(peer, 500)
    finish(receiver)
    keys, bits = (tmp_path / "keys.keys").read_bytes(), (tmp_path / "keys.choices").read_bytes()
    for i in range(500):
        assert sent.keys[i, bits[i // 8] >> (i % 8) & 1].tobytes() == keys[16 * i : 16 * i + 16]
    (tmp_path / "messages").write_text("00\n01\n02\n03\n")
    sender = start(
        [command, "ot", "send", tmp_path / "messages", "--hex", "--insecure", "--listen", "127.0.0.1:0"]
    )
    with foxtrot.connect(address_of(sender), insecure=True) as peer:
        assert list(foxtrot.ot.receive(peer, [True, False])) == [b"\x01", b"\x02"]
    finish(sender)


INTERRUPTED = """
import sys, foxtrot
print('now', flush=True)
try:
    {call}
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(
    "call",
    [
        "foxtrot.listen('localhost:0', insecure=True)",
        "foxtrot.connect('localhost:1', insecure=True, wait=60)",
        "a, b = foxtrot.pair(); foxtrot.rot.send(a, 100)",
        "keys = [str(i) for i in range(300_000)]; foxtrot.psi.local(keys, keys)",
        "a, b = foxtrot.pair(); foxtrot.psi.count(a, ['x'])",
        "list(foxtrot.serve('localhost:0', print, insecure=True))",
    ],
)
def test_an_interrupt_ends_a_call_within_half_a_second(call: str) -> None:
    process = start([sys.executable, "-c", INTERRUPTED.format(call=call)])
    assert process.stdout is not None and process.stdout.readline() == "now\n"
    time.sleep(0.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    took = time.monotonic() - began
    assert process.returncode == 130, err
    assert took < float(os.environ.get("FOXTROT_PATIENCE", "0.5")), took


def test_importing_takes_no_library_along() -> None:
    code = "import sys, foxtrot; print([it for it in ('asyncio', 'numpy', 'pandas', 'polars', 'pyarrow', 'duckdb') if it in sys.modules])"
    assert finish(start([sys.executable, "-c", code])) == "[]\n"


def test_the_notebook_runs(tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(EXAMPLES / "intersection.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    said = json.dumps([cell.get("outputs") for cell in notebook.cells])
    assert "Bob@Example.org" in said and "<progress" in said and "SHA256:" in said
