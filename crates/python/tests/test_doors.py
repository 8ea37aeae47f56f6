"""Every door, the same: Python plays the cases that the library's own tests also play."""

from __future__ import annotations

import json
import re
import socket
import threading
from typing import Any

import foxtrot
import pyarrow as pa
import pytest
from conftest import ROOT

CASES = json.loads((ROOT / "crates/foxtrot/tests/doors.json").read_text())["cases"]
BLAME = {
    "agreement": foxtrot.AgreementError,
    "connection": foxtrot.ConnectionError,
    "peer": foxtrot.PeerError,
}


def columns(of: dict[str, Any], name: str) -> dict[str, list[str]]:
    return {column: ["x", "y"] for column in of.get(name, [])}


def options(of: dict[str, Any]) -> dict[str, Any]:
    names = ("max_peer_keys", "min_peer_keys", "assumption", "semi_honest")
    more = {name: of[name] for name in names if name in of}
    return {"on": "email", "normalize": of.get("normalize", "email"), **more}


def send(listener: foxtrot.Listener, of: dict[str, Any], told: list[BaseException]) -> None:
    table = pa.table({"email": ["bob@example.org", "cid@example.org"], **columns(of, "share")})
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_python_is_told_what_the_table_says(case: dict[str, Any]) -> None:
    of, told = case.get("sender", {}), list[BaseException]()
    if of.get("closes") or of.get("garbage"):
        listening = socket.create_server(("127.0.0.1", 0))
        address = "127.0.0.1:" + str(listening.getsockname()[1])

        def answer() -> None:
            with listening.accept()[0] as connection:
                if of.get("garbage"):
                    connection.sendall(b"\7" * 4000)

        sender = threading.Thread(target=answer)
    else:
        if "max_memory" in of:
            pytest.skip("only servers of Python bound their memory")
        listener = foxtrot.bind("127.0.0.1:0", insecure=True)
        address = listener.address
        sender = threading.Thread(target=send, args=(listener, of, told))
    sender.start()
    peer = foxtrot.connect(address, insecure=True)
    if "finds" in case:
        with peer:
            assert receive(peer, case.get("receiver", {})) == case["finds"]
        sender.join()
        assert not told
        return
    with pytest.raises(BLAME[case["blame"]], match=re.escape(case["says"])):
        with peer:
            receive(peer, case.get("receiver", {}))
    sender.join()
    if "peer_says" in case:
        assert isinstance(told[0], BLAME[case["peer_blame"]])
        assert case["peer_says"] in str(told[0])
