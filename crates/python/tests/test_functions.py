"""More than an intersection: columns of the peer, matches for both sides, counts and sums."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import duckdb
import foxtrot
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import address_of, start, two_parties
from foxtrot import psi
from test_processes import finish

OURS = {"mail": ["Ann@x.org", "bob@x.org", None, "eve@x.org", "ann@x.org"], "n": [0, 1, 2, 3, 4]}
THEIRS = pl.DataFrame(
    {"E-Mail": ["ann@x.org", "bob@x.org", "cid@x.org", None], "city": ["Köln", None, "Ulm", "Bonn"], "since": [2020, 7, 8, 9]}
)


def relation() -> duckdb.DuckDBPyRelation:
    arrow = pa.table(OURS)
    return duckdb.sql("SELECT mail, n FROM arrow")


def joined(table: Any, on: Any = "mail", **options: Any) -> Any:
    found, _ = two_parties(
        lambda peer: psi.join(peer, table, on, columns=["since", "city"], normalize="email", **options),
        lambda peer: psi.send(peer, THEIRS, "E-Mail", share=["city", "since", "E-Mail"], normalize="email"),
    )
    return found


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(OURS), pl.DataFrame(OURS), pa.table(OURS), pa.RecordBatch.from_pydict(OURS), relation()],
    ids=["pandas", "polars", "pyarrow", "a batch", "duckdb"],
)
def test_columns_of_the_peer_stand_behind_those_of_the_table(table: Any) -> None:
    rows = joined(table)
    assert type(rows) is type(table)
    if isinstance(rows, duckdb.DuckDBPyRelation):
        columns, found = rows.columns, rows.fetchall()
    else:
        frame = pl.DataFrame(rows) if not isinstance(rows, pd.DataFrame) else pl.from_pandas(rows)
        columns, found = frame.columns, frame.rows()
    assert columns == ["mail", "n", "since", "city"]
    assert found == [
        ("Ann@x.org", 0, "2020", "Köln"),
        ("bob@x.org", 1, "7", ""),
        ("ann@x.org", 4, "2020", "Köln"),
    ]


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
def test_plain_keys_give_numbers_and_values(make: Any) -> None:
    assert joined(make(["eve@x.org", "ann@x.org"]), None) == [(1, "2020", "Köln")]


def test_details_of_a_join_have_columns_and_a_record() -> None:
    found = joined(pl.DataFrame(OURS), details=True)
    assert found.columns == {"since": ["2020", "7", "2020"], "city": ["Köln", "", "Köln"]}
    assert found.indices.tolist() == [0, 1, 4] and found.rows_in_common["city"].to_list() == ["Köln", "", "Köln"]
    record = found.record()
    assert (record["function"], record["results"]) == ("join", 3)
    assert "Köln" not in repr(found) and "ann" not in repr(found)
    assert joined(["nobody"], None) == [] and joined(pl.DataFrame({"mail": ["x"]})).rows() == []


@pytest.mark.parametrize(("rule", "city"), [("first", "Köln"), ("last", "Ulm")])
def test_rows_of_the_sender_with_one_key_follow_the_rule(rule: Any, city: str) -> None:
    theirs = pd.DataFrame({"mail": ["ann", "ann"], "city": ["Köln", "Ulm"]})
    found, _ = two_parties(
        lambda peer: psi.join(peer, ["ann"], columns="city", duplicates=rule),
        lambda peer: psi.send(peer, theirs, "mail", share="city", duplicates=rule),
    )
    assert found == [(0, city)]


def test_what_cannot_be_shared_is_refused_before_anything_is_sent() -> None:
    ours, _ = foxtrot.pair()
    twice = pd.DataFrame({"k": ["a", "a"], "city": ["s3cret", "Ulm"], "x": [0.5, 1.0]})
    for options, why in (
        ({"share": "city"}, 'column "city", row 1: an earlier row has the same key'),
        ({"share": "city", "duplicates": "first", "width": 2}, "row 0: 6 bytes, and there is room for 2"),
        ({"share": "x", "duplicates": "first"}, "Float64; convert them"),
        ({"share": "town"}, "no column 'town'; its columns are 'k', 'city', 'x'"),
        ({"share": []}, "names no column"),
        ({"share": ["city", "city"]}, "one twice"),
        ({"share": "city", "width": 0}, "width is from 1 to 4096"),
        ({"share": "city", "duplicates": "any"}, '"refuse", "first" or "last"'),
        ({"share": "city", "both": True}, "do not go together"),
    ):
        with pytest.raises(foxtrot.UsageError, match=why) as raised:
            psi.send(ours, twice, "k", **options)  # type: ignore[call-overload]
        assert "s3cret" not in str(raised.value)
    with pytest.raises(foxtrot.UsageError, match="plain values"):
        psi.send(ours, ["a"], share="city")
    with pytest.raises(foxtrot.UsageError, match="already has a column 'city'"):
        psi.join(ours, twice, "k", columns="city")
    with pytest.raises(foxtrot.UsageError, match="0 to 65536|65536"):
        psi.join(ours, ["a"], columns=[f"c{i}" for i in range(17)], width=4096)


def test_columns_that_are_not_shared_are_named_on_both_sides() -> None:
    def sends(peer: Any) -> str:
        with pytest.raises(foxtrot.AgreementError) as raised:
            psi.send(peer, THEIRS, "E-Mail", share="city")
        return str(raised.value)

    def receives(peer: Any) -> str:
        with pytest.raises(foxtrot.AgreementError) as raised:
            psi.join(peer, ["a"], columns="since")
        return str(raised.value)

    for said in two_parties(receives, sends):
        assert "since" in said and "city" in said
    with pytest.raises(foxtrot.AgreementError, match="width"):
        two_parties(
            lambda peer: psi.join(peer, ["a"], columns="city", width=10),
            lambda peer: psi.send(peer, THEIRS, "E-Mail", share="city"),
        )
    with pytest.raises(foxtrot.AgreementError, match="join"):
        two_parties(
            lambda peer: psi.receive(peer, ["a"]), lambda peer: psi.send(peer, THEIRS, "E-Mail", share="city")
        )


def test_both_sides_learn_their_matches() -> None:
    found, theirs = two_parties(
        lambda peer: psi.receive(peer, pl.DataFrame(OURS), "mail", normalize="email", both=True),
        lambda peer: psi.send(peer, THEIRS, "E-Mail", normalize="email", both=True),
    )
    assert found["n"].to_list() == [0, 1, 4]
    assert theirs.rows_in_common["city"].to_list() == ["Köln", None]
    assert theirs.indices.tolist() == [0, 1] and theirs.record()["function"] == "both"
    with pytest.raises(foxtrot.AgreementError, match="both"):
        two_parties(lambda peer: psi.receive(peer, ["a"]), lambda peer: psi.send(peer, ["a"], both=True))


@pytest.mark.parametrize("min_count", [0, 2, 3])
def test_both_sides_learn_the_count_unless_it_is_too_small(min_count: int) -> None:
    ours, theirs = two_parties(
        lambda peer: psi.count(peer, pl.DataFrame(OURS), "mail", normalize="email", min_count=min_count),
        lambda peer: psi.count(peer, THEIRS, "E-Mail", normalize="email", min_count=min_count),
    )
    count = 2 if min_count <= 2 else None
    assert ours.count == theirs.count == count and ours.sum is None
    assert (ours.peer_keys, theirs.peer_keys, ours.peer_columns) == (3, 3, "E-Mail")
    assert repr(ours) == ("<foxtrot.psi.Counted: withheld>" if count is None else "<foxtrot.psi.Counted: 2 keys in common>")
    records = ours.record(), theirs.record()
    assert [it["adversary"] for it in records] == ["semi-honest"] * 2 and [it["role"] for it in records] == ["receiver", "sender"]


@pytest.mark.parametrize("swapped", [False, True])
def test_both_sides_learn_the_sum_of_the_numbers_in_common(swapped: bool) -> None:
    def adds(peer: Any) -> psi.Counted:
        return psi.sum(peer, THEIRS, "E-Mail", value="since", largest=3000, normalize="email")

    def asks(peer: Any) -> psi.Counted:
        return psi.sum(peer, pd.DataFrame(OURS), "mail", largest=3000, normalize="email")

    for learnt in two_parties(adds, asks) if swapped else two_parties(asks, adds):
        assert (learnt.count, learnt.sum) == (2, 2027)
        assert learnt.record()["function"] == "sum" and "sum 2027" in repr(learnt)


@pytest.mark.parametrize("make", [list, np.array])
def test_numbers_stand_beside_plain_keys(make: Any) -> None:
    ours, theirs = two_parties(
        lambda peer: psi.sum(peer, ["a", "c"], largest=9),
        lambda peer: psi.sum(peer, make(["a", "b", "c"]), value=make([5, 6, 7]), largest=9),
    )
    assert (ours.count, ours.sum) == (theirs.count, theirs.sum) == (2, 12)


def test_numbers_that_cannot_be_added_are_refused() -> None:
    ours, _ = foxtrot.pair()
    frame = pl.DataFrame({"k": ["a", "b"], "n": [1, 70], "z": [1, None], "m": [-1, 0]})
    for value, why in (
        ("n", 'column "n", row 1: no whole number from 0 to 9'),
        ("z", 'column "z", row 1: no whole number'),
        ("m", 'column "m", row 0: no whole number'),
        ("q", "no column 'q'"),
        ([1, 2], "value= is the name of a column"),
    ):
        with pytest.raises(foxtrot.UsageError, match=why) as raised:
            psi.sum(ours, frame, "k", value=value, largest=9)
        assert "70" not in str(raised.value)
    with pytest.raises(foxtrot.UsageError, match="1 values beside 2 keys"):
        psi.sum(ours, ["a", "b"], value=[1], largest=9)
    with pytest.raises(foxtrot.UsageError, match="same key"):
        psi.sum(ours, ["a", "a"], value=[1, 2], largest=9)


def test_asyncio_has_the_same_functions() -> None:
    async def parties() -> tuple[Any, Any, Any]:
        listener = foxtrot.bind("localhost:0", insecure=True)

        async def other() -> None:
            async with await foxtrot.aio.accept(listener) as peer:
                await foxtrot.aio.psi.send(peer, THEIRS, "E-Mail", share="city")
                await foxtrot.aio.psi.count(peer, THEIRS, "E-Mail")
                await foxtrot.aio.psi.sum(peer, THEIRS, "E-Mail", value="since", largest=9999)

        sending = asyncio.ensure_future(other())
        async with await foxtrot.aio.connect(listener.address, insecure=True) as peer:
            keys = ["cid@x.org"]
            got = await foxtrot.aio.psi.join(peer, keys, columns="city")
            count = await foxtrot.aio.psi.count(peer, keys)
            total = await foxtrot.aio.psi.sum(peer, keys, largest=9999)
        await sending
        return got, count.count, total.sum

    assert asyncio.run(parties()) == ([(0, "Ulm")], 1, 8)


def test_joins_meet_the_command_either_way(command: str, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("E-Mail,city,plan\nann@x.org,Köln,gold\ncid@x.org,Ulm,\n")
    keys = ["--key", "E-Mail", "--normalize", "email", "--insecure", "--listen", "127.0.0.1:0"]
    sender = start([command, "psi", "send", tmp_path / "b.csv", *keys, "--share", "city,plan"])
    with foxtrot.connect(address_of(sender), insecure=True) as peer:
        rows = psi.join(peer, pd.DataFrame(OURS), "mail", columns=["plan", "city"], normalize="email")
    finish(sender)
    assert rows[["plan", "city"]].to_numpy().tolist() == [["gold", "Köln"]] * 2

    receiver = start([command, "psi", "receive", tmp_path / "b.csv", *keys, "--with", "n,mail", "--duplicates", "last"])
    with foxtrot.connect(address_of(receiver), insecure=True) as peer:
        psi.send(peer, pl.DataFrame(OURS), "mail", share=["mail", "n"], normalize="email", duplicates="last")
    assert finish(receiver) == "E-Mail,city,plan,n,mail\nann@x.org,Köln,gold,4,ann@x.org\n"


def test_matches_for_both_counts_and_sums_meet_the_command(command: str, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("mail,n\nann@x.org,5\nbob@x.org,6\ncid@x.org,7\n")
    keys = ["--key", "mail", "--normalize", "email", "--insecure", "--listen", "127.0.0.1:0"]
    ours: dict[str, Any] = {"on": "mail", "normalize": "email"}
    frame = pd.DataFrame(OURS)
    both = start([command, "psi", "receive", tmp_path / "b.csv", *keys, "--both"])
    with foxtrot.connect(address_of(both), insecure=True) as peer:
        assert psi.send(peer, frame, **ours, both=True).indices.tolist() == [0, 1, 4]
    assert finish(both) == "mail,n\nann@x.org,5\nbob@x.org,6\n"
    count = start([command, "psi", "count", tmp_path / "b.csv", *keys, "--min-count", "2"])
    with foxtrot.connect(address_of(count), insecure=True) as peer:
        assert psi.count(peer, frame, **ours, min_count=2).count == 2
    assert finish(count) == "2\n"
    adds = start([command, "psi", "sum", tmp_path / "b.csv", *keys, "--value", "n", "--largest", "9", "--json"])
    with foxtrot.connect(address_of(adds), insecure=True) as peer:
        learnt = psi.sum(peer, frame, **ours, largest=9)
    assert (learnt.count, learnt.sum) == (2, 11)
    said = json.loads(finish(adds))
    assert (said["count"], said["sum"]) == (2, 11)
    asks = start([command, "psi", "sum", tmp_path / "b.csv", *keys, "--largest", "9"])
    with foxtrot.connect(address_of(asks), insecure=True) as peer:
        psi.sum(peer, frame, **ours, value="n", largest=9, duplicates="last")
    assert finish(asks) == "2 5\n"
