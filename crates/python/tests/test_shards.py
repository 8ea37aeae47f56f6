"""One intersection in shards, and the gateway at which machines meet."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import foxtrot
import numpy as np
import polars as pl
import pytest
from conftest import two_parties
from foxtrot.psi import Ticket


def agreed(receivers: int, senders: int, shards: int = 4, **options: Any) -> Ticket:
    ours, theirs = two_parties(
        lambda peer: foxtrot.psi.agree_on_shards(peer, "receiver", receivers, shards=shards, **options),
        lambda peer: foxtrot.psi.agree_on_shards(peer, "sender", senders, shards=shards, **options),
    )
    assert ours == theirs and hash(ours) == hash(theirs)
    return ours


def test_shards_together_give_the_rows_of_one_run() -> None:
    emails = [f"Name{i % 150}@example.org" for i in range(200)] + ["", "n/a"]
    ours = pl.DataFrame({"row": range(202), "email": emails})
    theirs = pl.DataFrame({"mail": [f"name{i}@EXAMPLE.org" for i in range(100, 300)], "city": [f"c{i}" for i in range(100, 300)]})
    ticket = agreed(202, 200, normalize="email")
    of_ours = ticket.shards_of(ours, "email", normalize="email")
    of_theirs = ticket.shards_of(theirs, "mail", normalize="email")
    assert of_ours.dtype == np.int32 and set(of_ours[200:]) == {-1} and set(of_ours[:200]) == {0, 1, 2, 3}
    assert list(of_ours[:50]) == list(of_ours[150:200])
    received, joined = [], []
    for shard in range(4):
        mine, other = ours.filter(pl.Series(of_ours == shard)), theirs.filter(pl.Series(of_theirs == shard))
        options: dict[str, Any] = {"normalize": "email", "ticket": ticket, "shard": shard, "attempt": 2}
        common, sent = two_parties(
            lambda peer: foxtrot.psi.receive(peer, mine, "email", **options),
            lambda peer: foxtrot.psi.send(peer, other, "mail", **options),
        )
        received += common["row"].to_list()
        assert (sent.keys, sent.peer_keys) == (ticket.load("sender"), ticket.load("receiver"))
        common, _ = two_parties(
            lambda peer: foxtrot.psi.join(peer, mine, "email", columns="city", **options),
            lambda peer: foxtrot.psi.send(peer, other, "mail", share="city", **options),
        )
        joined += common.select("row", "city").rows()
    expected = [row for row in range(200) if row % 150 >= 100]
    assert sorted(received) == expected
    assert sorted(joined) == [(row, f"c{row % 150}") for row in expected]


def test_a_ticket_is_kept_as_text() -> None:
    ticket = agreed(1_000_000, 70, shards=16)
    assert Ticket(str(ticket)) == ticket
    assert (ticket.shards, ticket.keys("receiver"), ticket.keys("sender")) == (16, 1_000_000, 70)
    assert ticket.load("receiver") == 64_485
    assert ticket.route("march", 3, 1).startswith("march:3:1:")
    assert ticket.route("march", 3, 1) != ticket.route("march", 4, 1)
    with pytest.raises(foxtrot.UsageError):
        Ticket(str(ticket).replace("shards 16", "shards 0"))
    with pytest.raises(foxtrot.UsageError, match="damaged"):
        Ticket(str(ticket).replace("sender 70", "sender 71"))


@pytest.mark.parametrize(
    "other",
    [
        lambda ticket: {"ticket": ticket, "shard": 1},
        lambda ticket: {"ticket": ticket, "shard": 0, "attempt": 1},
        lambda ticket: {"ticket": agreed(50, 70), "shard": 0},
        lambda ticket: {"ticket": agreed(50, 71), "shard": 0},
        lambda ticket: {},
    ],
    ids=["number", "attempt", "session", "size", "none"],
)
def test_another_shard_is_refused(other: Callable[[Ticket], dict[str, Any]]) -> None:
    ticket = agreed(50, 70)
    options = other(ticket)
    with pytest.raises(foxtrot.AgreementError):
        two_parties(
            lambda peer: foxtrot.psi.receive(peer, ["a"], ticket=ticket, shard=0),
            lambda peer: foxtrot.psi.send(peer, ["a"], **options),
        )


def test_mistakes_with_shards_are_named() -> None:
    ticket = agreed(50, 70)
    peer, _ = foxtrot.pair()
    for wrong in ({"ticket": ticket}, {"shard": 1}, {"ticket": ticket, "shard": 4}, {"ticket": ticket, "shard": -1}):
        with pytest.raises(foxtrot.UsageError, match="shard"):
            foxtrot.psi.receive(peer, ["a"], **wrong)
    with pytest.raises(foxtrot.UsageError, match="room for"):
        foxtrot.psi.receive(peer, [f"{i}" for i in range(100)], ticket=ticket, shard=0)
    with pytest.raises(foxtrot.UsageError):
        foxtrot.psi.agree_on_shards(peer, "neither", 1, shards=1)  # type: ignore[arg-type]


def test_machines_of_two_companies_meet_at_a_gateway(identities: Any) -> None:
    ours, theirs, of_ours, of_theirs = identities
    found: dict[str, Any] = {}

    def worker(route: str, inside: str) -> None:
        key = foxtrot.Identity.load(theirs)
        with foxtrot.connect(inside, identity=key, peers=[of_ours], route=route, behind=True) as peer:
            foxtrot.psi.send(peer, [route, "cid"])

    with foxtrot.gateway("localhost:0", "localhost:0") as gateway:
        threads = [threading.Thread(target=worker, args=(route, gateway.inside)) for route in ("march:0", "march:1")]
        for thread in threads:
            thread.start()
        for route in ("march:1", "march:0"):
            key = foxtrot.Identity.load(ours)
            with foxtrot.connect(gateway.outside, identity=key, peers=[of_theirs], route=route) as peer:
                found[route] = foxtrot.psi.receive(peer, ["march:0", "march:1"])
        for thread in threads:
            thread.join()
    assert found == {"march:0": [0], "march:1": [1]}
    with pytest.raises(foxtrot.UsageError, match="route"):
        foxtrot.connect("localhost:1", insecure=True, behind=True)
    with pytest.raises(foxtrot.UsageError, match="route"):
        foxtrot.connect("localhost:1", insecure=True, route="two words")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_strangers_of_many_addresses_push_no_guest_off_a_gateway() -> None:
    with foxtrot.gateway("127.0.0.1:0", "127.0.0.1:0", routes=8) as gateway, ExitStack() as strangers:
        host, port = gateway.outside.rsplit(":", 1)
        outcome: list[Any] = []

        def guest() -> None:
            with foxtrot.connect(gateway.outside, insecure=True, route="march", wait=30) as peer:
                outcome.extend(foxtrot.psi.receive(peer, ["ann", "bob"]))

        waiting = threading.Thread(target=guest)
        waiting.start()
        for i in range(300):
            source = (f"127.0.0.{2 + i % 200}", 0)
            stranger = strangers.enter_context(socket.create_connection((host, int(port)), source_address=source))
            stranger.sendall(f"FOXTROT ROUTE 1 outside guess{i}\n".encode())
        # The guest waits, or has no place and tries again.
        with foxtrot.connect(gateway.inside, insecure=True, route="march", behind=True) as peer:
            foxtrot.psi.send(peer, ["bob"])
        waiting.join(60)
        assert outcome == [1]
        # The guest's place is free again, so a stranger takes it: the gateway is full once it answers one of them.
        for i in range(50):
            stranger = strangers.enter_context(
                socket.create_connection((host, int(port)), source_address=(f"127.0.1.{2 + i}", 0))
            )
            stranger.sendall(f"FOXTROT ROUTE 1 outside more{i}\n".encode())
            stranger.settimeout(1)
            try:
                stranger.recv(1)
                break
            except TimeoutError:
                continue
        with pytest.raises(foxtrot.ConnectionError, match="too many connections wait at the gateway"):
            foxtrot.connect(gateway.outside, insecure=True, route="april", wait=0.1)


def test_blocks_of_a_dataset_are_divided_and_put_together_again() -> None:
    import pyarrow as pa
    from foxtrot import ray

    ticket, keys = agreed(50, 70), [f"k{i % 40}" if i % 9 else None for i in range(60)]
    table = pa.table({"row": range(60), "key": pa.array(keys, pa.string())})
    blocks = [table.slice(0, 25), table.slice(25, 5), table.slice(30, 30), pa.table({"key": ["x"]})]
    groups = ray._groups(blocks, [(block.num_rows, block.nbytes) for block in blocks], 31)
    assert groups == [blocks[:2], blocks[2:]]
    groups = [alike for group in groups for alike in ray._alike(group, ray._schemas(*group))]
    assert groups == [blocks[:2], blocks[2:3], blocks[3:]]
    job = ray._Job("receiver", ["key"], ["none"], None, 64, "refuse", "symmetric", False)
    of, found = ticket.shards_of(table, "key"), []
    for first, group in ((0, groups[0]), (30, groups[1])):
        pieces = ray._partition(job, ticket, *group)
        for shard, piece in enumerate(pieces):
            assert piece[ray._ROW].to_pylist() == [row - first for row in range(first, first + 30) if of[row] == shard]
            assert len(set(piece[ray._KEY].to_pylist())) == len({keys[first + row] for row in piece[ray._ROW].to_pylist()})
        found += ray._rows(len(group), *group, *(piece.select([ray._ROW]) for piece in pieces))["row"].to_pylist()
    assert found == [row for row in range(60) if keys[row] is not None]
