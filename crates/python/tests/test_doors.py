"""Every door, the same: Python plays the cases that the library's own tests also play."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import foxtrot
import pyarrow as pa
import pytest
from conftest import ROOT

CASES = json.loads((ROOT / "crates/foxtrot/tests/doors.json").read_text())["cases"]
BLAME = {
    "agreement": foxtrot.AgreementError,
    "caller": foxtrot.UsageError,
    "connection": foxtrot.ConnectionError,
    "peer": foxtrot.PeerError,
}
OPTIONS = {"max_peer_keys", "min_peer_keys", "assumption", "semi_honest", "width", "normalize", "share"}


def options(of: dict[str, Any]) -> dict[str, Any]:
    names = ("max_peer_keys", "min_peer_keys", "assumption", "semi_honest")
    more = {name: of[name] for name in names if name in of}
    return {"on": "email", "normalize": of.get("normalize", "email"), **more}


def send(listener: foxtrot.Listener, of: dict[str, Any], told: list[BaseException]) -> None:
    columns = {column: ["x", "y"] for column in of.get("share", [])}
    table = pa.table({"email": ["bob@example.org", "cid@example.org"], **columns})
    share = {"share": of["share"]} if "share" in of else {}
    try:
        with listener.accept() as peer:
            foxtrot.psi.send(peer, table, **options(of), **share)
    except foxtrot.FoxtrotError as error:
        told.append(error)


def receive(peer: foxtrot.Peer, of: dict[str, Any]) -> list[str]:
    table = pa.table({"email": ["ann@example.org", "bob@example.org"]})
    if "with" in of:
        width = {"width": of["width"]} if "width" in of else {}
        rows = foxtrot.psi.join(peer, table, columns=of["with"], **options(of), **width)
    else:
        rows = foxtrot.psi.receive(peer, table, **options(of))
    found: list[str] = rows["email"].to_pylist()
    return found


def check(case: dict[str, Any], address: str) -> None:
    """Play the receiver of a case."""
    peer = foxtrot.connect(address, insecure=True)
    if "finds" in case:
        with peer:
            assert receive(peer, case.get("receiver", {})) == case["finds"]
        return
    with pytest.raises(BLAME[case["blame"]], match=re.escape(case["says"])) as raised:
        with peer:
            receive(peer, case.get("receiver", {}))
    hint = case.get("hint")
    assert raised.value.hint == (hint and re.sub(r"{(\w+)}", r"\1=", hint))


@pytest.fixture(scope="module")
def senders() -> Iterator[Iterator[str]]:
    """Senders of the library, one after another: the address of each."""
    program = os.environ.get("FOXTROT_DOORS")
    if program is None:
        pytest.skip("FOXTROT_DOORS does not name the program with the senders")
    with subprocess.Popen(
        [program, "--ignored", "--nocapture", "senders_wait"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        found = (re.search(r"listens on (\S+)", line) for line in process.stdout)
        yield (it[1] for it in found if it)
    assert process.returncode == 0, "a sender was told something else"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_python_is_told_what_the_table_says(case: dict[str, Any], senders: Iterator[str]) -> None:
    check(case, next(senders))


@pytest.mark.parametrize("case", [it for it in CASES if it.get("sender", {}).keys() <= OPTIONS], ids=lambda it: it["name"])
def test_a_sender_of_python_tells_and_is_told_the_same(case: dict[str, Any]) -> None:
    told: list[BaseException] = []
    listener = foxtrot.bind("127.0.0.1:0", insecure=True)
    sender = threading.Thread(target=send, args=(listener, case.get("sender", {}), told))
    sender.start()
    check(case, listener.address)
    sender.join()
    if "peer_says" in case:
        assert isinstance(told[0], BLAME[case["peer_blame"]])
        assert case["peer_says"] in str(told[0])
    else:
        assert not told
