"""One intersection on two Ray clusters, which are two processes here. Without Ray these tests are skipped.

The first test takes half a minute. `FOXTROT_ALL=1`, as `cargo xtask python --all` sets it, runs the others also: 7 minutes.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

import foxtrot
import pytest
from conftest import ROOT, start

pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")

every = pytest.mark.skipif(not os.environ.get("FOXTROT_ALL"), reason="set FOXTROT_ALL=1 to run it")

COMPANY = ROOT / "crates" / "python" / "tests" / "ray_company.py"

#: Duplicates, a key that a quarter of the rows has, and rows without a key.
OURS: list[Any] = [f"k{i * i % 1700}" if i % 4 else "many" for i in range(3000)] + [None, ""]
THEIRS: list[Any] = [f"k{i}" for i in range(800, 2500)] + ["many", "k801", None]


def companies(near: dict[str, Any], far: dict[str, Any], limit: float = 400) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run both; the second has the gateway."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    same: dict[str, Any] = {"insecure": True, "shards": 4, "wait": 60}
    near["options"] = same | {"connect": address} | near.get("options", {})
    far["options"] = same | {"listen": address} | far.get("options", {})
    environment = os.environ | {"RAY_DISABLE_IMPORT_WARNING": "1", "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
    parties = [start([sys.executable, COMPANY, json.dumps(it)], env=environment) for it in (near, far)]
    ends = []
    try:
        for party in parties:
            out, err = party.communicate(timeout=limit)
            assert party.returncode == 0, err
            ends.append(json.loads(out.splitlines()[-1]))
    finally:
        for party in parties:
            party.kill()
    return ends[0], ends[1]


def receiver(**more: Any) -> dict[str, Any]:
    return {"role": "receive", "keys": OURS, "cpus": 2} | more


def sender(**more: Any) -> dict[str, Any]:
    return {"role": "send", "keys": THEIRS, "cpus": 2} | more


def rows(end: dict[str, Any]) -> list[int]:
    assert "rows" in end, end
    assert all(OURS[it["row"]] == it["key"] for it in end["rows"])
    return [it["row"] for it in end["rows"]]


def single() -> list[int]:
    return list(foxtrot.psi.local(OURS, THEIRS))


def test_two_clusters_find_the_rows_of_one_process_by_tls_also_if_a_worker_is_killed(identities: Any) -> None:
    ours, theirs, of_ours, of_theirs = identities
    near = {"insecure": False, "identity": str(ours), "peers": [of_theirs], "workers": 1, "timeout": 10}
    far = {"insecure": False, "identity": str(theirs), "peers": [of_ours], "workers": 1, "timeout": 10}
    # The worker may be killed when the sender has just finished its shard.
    received, sent = companies(receiver(options=near, disturb="_Worker"), sender(options=far | {"again": True}))
    assert rows(received) == single() and len(single()) > 1000
    assert (received["workers"], received["shards"]) == (sent["workers"], sent["shards"]) == (1, 4)
    assert received["steps"] == sent["steps"] == [4, 4, "shards"]
    assert received["retries"] >= 1
    # A killed shard's bytes are not counted, and one may be finished on one side only.
    assert received["bytes"][0] > 0 and sent["bytes"][0] > 0


@every
@pytest.mark.parametrize("shards", [1, 16])
def test_other_numbers_of_shards_give_the_same_rows(shards: int) -> None:
    options = {"shards": shards}
    received, sent = companies(receiver(options=options), sender(options=options, cpus=4))
    assert rows(received) == single()
    assert received["bytes"] == sent["bytes"][::-1] and received["retries"] == sent["retries"] == 0


@every
def test_the_sender_s_columns_arrive_beside_the_rows() -> None:
    cities = [f"city of {key} {i}" for i, key in enumerate(THEIRS)]
    share = {"share": "city", "duplicates": "first"}
    asked = {"columns": "city", "duplicates": "first"}
    near = receiver(role="join", options=asked)
    received, _ = companies(near, sender(columns={"city": cities}, options=share))
    assert rows(received) == single()
    assert all(it["city"] == cities[THEIRS.index(it["key"])] for it in received["rows"])


@every
@pytest.mark.parametrize("actors", ["_Worker", "_Gateway"])
def test_a_process_of_the_listening_side_is_killed_on_the_way(actors: str) -> None:
    options = {"shards": 8}
    received, _ = companies(receiver(options=options), sender(options=options, disturb=actors))
    assert rows(received) == single()


@every
def test_a_cluster_of_one_cpu_meets_one_of_four() -> None:
    options = {"shards": 8}
    received, sent = companies(receiver(options=options, cpus=1), sender(options=options, cpus=4))
    assert rows(received) == single()
    assert received["workers"] == sent["workers"] == 1 and received["retries"] == sent["retries"] == 0


@every
@pytest.mark.parametrize("cancels", ["receiver", "sender"])
def test_a_cancelled_run_ends_on_both_sides(cancels: str) -> None:
    options = {"shards": 8, "wait": 300, "timeout": 5}
    both = companies(
        receiver(options=options, cancel=cancels == "receiver"), sender(options=options, cancel=cancels == "sender")
    )
    cancelled, other = both if cancels == "receiver" else both[::-1]
    assert cancelled["error"] == "KeyboardInterrupt"
    # Its workers would have waited for 300 seconds.
    assert other["error"] == "ConnectionError" and "left the run" in other["words"], other


@every
@pytest.mark.parametrize("other", [{"shards": 5}, {"normalize": "lower"}, {"semi_honest": True}])
def test_clusters_that_want_different_things_do_not_agree(other: dict[str, Any]) -> None:
    for end in companies(receiver(), sender(options=other)):
        assert end["error"] == "AgreementError" and next(iter(other)).replace("_", "-") in end["words"], end


class Between(threading.Thread):
    """Someone between both companies. `change` gets the route that a connection names and its first bytes, and changes both."""

    def __init__(self, change: Callable[[str, bytes], tuple[str, bytes]]) -> None:
        super().__init__(daemon=True)
        self._change = change
        self._port = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._port.getsockname()[1]}"
        self.gateway = ("127.0.0.1", 0)
        self.start()

    def run(self) -> None:
        while True:
            threading.Thread(target=self._serve, args=(self._port.accept()[0],), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        with near, socket.socket() as far:
            try:
                route, _, rest = near.recv(4096).partition(b"\n")
                far.connect(self.gateway)
                # The first bytes follow the gateway's answer.
                head, first = self._change(route.decode(), b"")
                far.sendall(head.encode() + b"\n" + rest)
                near.sendall(far.recv(3))
                _, first = self._change(route.decode(), near.recv(4096))
                far.sendall(first)
                back = threading.Thread(target=self._copy, args=(far, near), daemon=True)
                back.start()
                self._copy(near, far)
                back.join()
            except OSError:
                pass

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def between(change: Callable[[str, bytes], tuple[str, bytes]], **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run both companies with someone between them."""
    someone = Between(change)
    with socket.create_server(("127.0.0.1", 0)) as free:
        someone.gateway = free.getsockname()
    options: dict[str, Any] = {"shards": 2, "timeout": 5} | more
    host, port = someone.gateway
    return companies(
        receiver(options=options | {"connect": someone.address}), sender(options=options | {"listen": f"{host}:{port}"})
    )


@every
def test_swapped_shards_are_refused() -> None:
    def swap(route: str, first: bytes) -> tuple[str, bytes]:
        for ours, theirs in ((":0:0:", ":1:0:"), (":1:0:", ":0:0:")):
            if ours in route:
                return route.replace(ours, theirs), first
        return route, first

    for end in between(swap):
        assert end["error"] == "AgreementError" and "shard" in end["words"], end


@every
def test_a_replayed_shard_is_refused() -> None:
    kept: dict[str, bytes] = {}

    def replay(route: str, first: bytes) -> tuple[str, bytes]:
        if first and ":0:0:" in route:
            kept["first"] = first
        return route, kept.get("first", first) if first and ":1:0:" in route else first

    received, sent = between(replay, workers=1)
    assert sent["error"] == "AgreementError" and "shard" in sent["words"], sent
    # Its own message never arrived, so it cannot know.
    assert received["error"] == "ConnectionError", received


@every
def test_a_shard_that_is_led_astray_is_tried_again() -> None:
    def renumber(route: str, first: bytes) -> tuple[str, bytes]:
        return route.replace(":1:0:", ":7:0:"), first

    received, sent = between(renumber, wait=5)
    assert rows(received) == single()
    assert received["retries"] >= 1 and sent["retries"] >= 1


@every
def test_a_finished_shard_is_answered_again_only_if_the_sender_says_so() -> None:
    received, sent = companies(receiver(forgets=True), sender())
    assert sent["error"] == "RetryError" and "again=True" in sent["words"], sent
    assert received["error"] == "ConnectionError", received
    received, sent = companies(receiver(forgets=True), sender(options={"again": True}))
    assert rows(received) == single()
    # Five attempts at four shards.
    assert sent["tested"] == received["tested"] > 0 and sent["tested"] % 5 == 0, sent


@every
def test_another_version_is_named() -> None:
    def newer(route: str, first: bytes) -> tuple[str, bytes]:
        head, name, rest = first.partition(b"FOXTROT\0")
        return route, head + name + b"\xff" + rest[1:] if name else first

    _, sent = between(newer, wait=5)
    assert sent["error"] == "AgreementError" and "version" in sent["words"], sent


@every
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"on": "no"}, "the dataset has no column 'no'"),
        ({"options": {"normalize": ["none", "none"]}}, "normalize= has 2 names"),
        ({"options": {"listen": "127.0.0.1:0"}}, "give one of"),
        ({"options": {"peers": ["x"]}}, "insecure=True"),
    ],
    ids=["column", "normalisers", "two places", "keys"],
)
def test_mistakes_are_found_before_the_peer_is_met(wrong: dict[str, Any], words: str) -> None:
    # Nobody is there.
    options: dict[str, Any] = {"insecure": True, "connect": "127.0.0.1:1", "wait": 5} | wrong.get("options", {})
    party = start([sys.executable, COMPANY, json.dumps(receiver(**wrong | {"options": options}))])
    out, err = party.communicate(timeout=200)
    end = json.loads(out.splitlines()[-1])
    assert end["error"] == "UsageError" and words in end["words"], (end, err)
