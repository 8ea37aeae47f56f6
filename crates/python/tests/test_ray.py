"""One intersection on two Ray clusters, which are two processes here. Without Ray these tests are skipped.

`cargo xtask python --all` installs Ray. The first test takes a minute; `FOXTROT_ALL=1` runs the others.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
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


def companies(near: dict[str, Any], far: dict[str, Any], limit: float = 150) -> tuple[dict[str, Any], dict[str, Any]]:
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
    near = {"insecure": False, "identity": str(ours), "peers": [of_theirs], "workers": 1}
    far = {"insecure": False, "identity": str(theirs), "peers": [of_ours], "workers": 1}
    received, sent = companies(receiver(options=near, disturb="_Worker"), sender(options=far))
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
def test_a_cancelled_run_ends_on_both_sides() -> None:
    options = {"shards": 8, "wait": 5, "attempts": 2}
    received, sent = companies(receiver(options=options, cancel=True), sender(options=options))
    assert received["error"] == "KeyboardInterrupt"
    assert sent["error"] == "ConnectionError"


@every
@pytest.mark.parametrize("other", [{"shards": 5}, {"normalize": "lower"}, {"semi_honest": True}])
def test_clusters_that_want_different_things_do_not_agree(other: dict[str, Any], tmp_path: Path) -> None:
    for end in companies(receiver(), sender(options=other)):
        assert end["error"] == "AgreementError", end


@every
def test_mistakes_are_found_before_the_peer_is_met() -> None:
    for wrong, words in [({"on": "no"}, "no column"), ({"options": {"gateway": "x:1"}}, "give one of")]:
        near = receiver(**wrong)
        if "on" in near:
            near["options"] = {"normalize": ["none", "none"]}
            words = "normalize"
        # Nobody is there.
        same: dict[str, Any] = {"insecure": True, "connect": "127.0.0.1:1", "wait": 5}
        near["options"] = same | near["options"]
        party = start([sys.executable, COMPANY, json.dumps(near)])
        out, err = party.communicate(timeout=100)
        end = json.loads(out.splitlines()[-1])
        assert end["error"] == "UsageError" and words in end["words"], (end, err)
