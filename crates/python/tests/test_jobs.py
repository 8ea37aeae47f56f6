"""Random OTs, transfers of messages, triples, identities and servers."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import foxtrot
import numpy as np
import pytest
from conftest import ROOT, two_parties


def test_options_that_every_door_has_are_keywords_with_the_same_defaults() -> None:
    calls = (foxtrot.psi.send, foxtrot.psi.receive, foxtrot.psi.join, foxtrot.psi.count)
    keywords = [inspect.signature(call).parameters for call in calls]
    for name, default in foxtrot._core.JOB_OPTIONS.items():
        found = [call[name].default for call in keywords if name in call]
        assert found, name
        for value in found:
            # Without a value the library's own holds; counts take fewer keys.
            assert value is None or str(value).lower() == default or value == 1 << 20, name
    serve = inspect.signature(foxtrot.serve).parameters
    assert {name: str(serve[name].default) for name in foxtrot._core.SERVER_OPTIONS} == foxtrot._core.SERVER_OPTIONS


def test_random_ots_give_the_receiver_the_chosen_keys() -> None:
    sent, received = two_parties(
        lambda peer: foxtrot.rot.send(peer, 1000), lambda peer: foxtrot.rot.receive(peer, 1000)
    )
    choices, keys = received
    assert sent.keys.shape == (1000, 2, 16) and sent.keys.dtype == np.uint8
    assert choices.shape == (1000,) and choices.dtype == np.bool_ and keys.shape == (1000, 16)
    assert np.array_equal(sent.keys[np.arange(1000), choices.astype(int)], keys)
    assert 300 < choices.sum() < 700
    assert "redacted" in repr(sent) and "redacted" in repr(received) and len(sent) == len(received) == 1000


def test_correlated_ots_differ_by_the_offset() -> None:
    bits = np.array([True, False, True] * 100)
    sent, received = two_parties(
        lambda peer: foxtrot.rot.send_correlated(peer, 300),
        lambda peer: foxtrot.rot.receive_correlated(peer, bits),
    )
    assert np.array_equal(received.rows, sent.rows ^ (bits[:, None] * sent.delta))
    assert "redacted" in repr(sent) and "redacted" in repr(received)


@pytest.mark.parametrize("extension", ["softspoken", "silent", "none"])
@pytest.mark.parametrize("semi_honest", [False, True])
def test_extensions_have_the_names_of_the_command(extension: Any, semi_honest: bool) -> None:
    options = {"extension": extension, "semi_honest": semi_honest}
    sent, (choices, keys) = two_parties(
        lambda peer: foxtrot.rot.send(peer, 300, **options), lambda peer: foxtrot.rot.receive(peer, 300, **options)
    )
    assert np.array_equal(sent.keys[np.arange(300), choices.astype(int)], keys)
    _, got = two_parties(
        lambda peer: foxtrot.ot.send(peer, [["a", "b"]] * 9, **options),
        lambda peer: foxtrot.ot.receive(peer, [True] * 9, **options),
    )
    assert list(got) == [b"b"] * 9
    with pytest.raises(foxtrot.AgreementError, match=extension):
        other = "silent" if extension != "silent" else "none"
        two_parties(
            lambda peer: foxtrot.rot.send(peer, 300, **options),
            lambda peer: foxtrot.rot.receive(peer, 300, semi_honest=semi_honest, extension=other),
        )


def test_results_are_not_copied_and_can_be_written() -> None:
    sent, _ = two_parties(lambda peer: foxtrot.rot.send(peer, 10), lambda peer: foxtrot.rot.receive(peer, 10))
    assert sent.keys.flags.writeable and not sent.keys.flags.owndata
    sent.keys[:] = 0


@pytest.mark.parametrize("of", [2, 3, 10])
def test_messages_that_were_chosen_arrive(of: int) -> None:
    messages = [[f"{i}/{j}" for j in range(of)] for i in range(200)]
    choices = [i % of for i in range(200)]
    _, got = two_parties(
        lambda peer: foxtrot.ot.send(peer, messages),
        lambda peer: foxtrot.ot.receive(peer, np.array(choices) if of == 3 else choices, of=of),
    )
    assert list(got) == [f"{i}/{i % of}".encode() for i in range(200)]
    assert got[1] == f"1/{1 % of}".encode() and "1/1" not in repr(got)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_triples_multiply(bits: Any) -> None:
    ours, theirs = two_parties(
        lambda peer: foxtrot.triples.generate(peer, 100, bits=bits),
        lambda peer: foxtrot.triples.generate(peer, 100, bits=bits),
    )
    a, b, c = (mine + other for mine, other in zip(ours, theirs))
    assert a.dtype == np.dtype(f"uint{bits}") and np.array_equal(a * b, c) and "redacted" in repr(ours)


def test_items_match_the_vectors_of_the_command() -> None:
    vectors = json.loads((ROOT / "crates/foxtrot/tests/vectors/psi-items.json").read_text())
    assert len(vectors["cases"]) > 20
    for case in vectors["cases"]:
        item = foxtrot._core.item(case["parts"], case["terms"].split(";"))
        assert (None if item is None else item.hex()) == case["item"], case


def test_a_key_file_is_private_and_shows_no_secret(tmp_path: Path, monkeypatch: Any) -> None:
    place = tmp_path / "folder" / "key.pem"
    made = foxtrot.Identity.generate(place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    loaded = foxtrot.Identity.load(place)
    assert loaded.fingerprint == made.fingerprint
    secret = place.read_text().splitlines()[1]
    assert secret not in repr(made) and repr(made) == f"<foxtrot.Identity {made.fingerprint}>"
    with pytest.raises(FileExistsError):
        foxtrot.Identity.generate(place)
    os.chmod(place, 0o644)
    with pytest.raises(foxtrot.UsageError, match="other users can read"):
        foxtrot.Identity.load(place)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="foxtrot keygen"):
        foxtrot.Identity.load()
    foxtrot.Identity.generate(foxtrot.Identity.default_path())
    assert foxtrot.Identity.load().fingerprint
    place.write_text("nothing")
    os.chmod(place, 0o600)
    with pytest.raises(foxtrot.UsageError, match="key.pem"):
        foxtrot.Identity.load(place)
    place.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(foxtrot.UsageError, match="has more than 1 MiB"):
        foxtrot.Identity.load(place)
    with pytest.raises(foxtrot.UsageError, match="has more than 1 MiB"):
        foxtrot.bind("localhost:0", insecure=True, policy=place)


def test_a_server_answers_peers_with_keys_side_by_side() -> None:
    ours, friend, stranger = (foxtrot.Identity.generate() for _ in range(3))
    named = {"acme": friend.fingerprint}
    names = []

    def answer(peer: foxtrot.Peer) -> None:
        names.append((peer.name, peer.fingerprint))
        foxtrot.psi.send(peer, ["bob", "cid"])

    with foxtrot.serve("localhost:0", answer, identity=ours, peers=named) as server:
        for _ in range(2):
            with foxtrot.connect(server.address, identity=friend, peers=[ours.fingerprint]) as peer:
                assert foxtrot.psi.receive(peer, ["ann", "bob"]) == [1]
            ended = server.next(within=10)
            assert ended is not None and ended.error is None and "acme" in ended.peer
        with pytest.raises(foxtrot.ConnectionError):
            with foxtrot.connect(server.address, identity=stranger, peers=[ours.fingerprint], wait=2) as peer:
                foxtrot.psi.receive(peer, ["ann"])
        refused = server.next(within=10)
        assert refused is not None and refused.fingerprint is None
        assert isinstance(refused.error, foxtrot.ConnectionError)
        server.stop()
        assert all(it.error is not None for it in server)
    assert names == [("acme", friend.fingerprint)] * 2


def test_an_exception_of_a_servers_handler_is_told_and_ends_the_session() -> None:
    def answer(peer: foxtrot.Peer) -> None:
        foxtrot.rot.send(peer, 1)
        raise KeyError("mine")

    with foxtrot.serve("localhost:0", answer, insecure=True) as server:
        with foxtrot.connect(server.address, insecure=True) as peer:
            foxtrot.rot.receive(peer, 1)
        ended = server.next(within=10)
        assert ended is not None and isinstance(ended.error, KeyError)


def test_progress_is_told_and_reaches_the_end() -> None:
    told: list[tuple[int, int, str]] = []
    two_parties(
        lambda peer: foxtrot.rot.send(peer, 1000, progress=lambda *it: told.append(it)),
        lambda peer: foxtrot.rot.receive(peer, 1000, progress=True),
    )
    assert told[-1] == (1000, 1000, "transfers")
    told.clear()
    two_parties(
        lambda peer: foxtrot.psi.count(peer, ["a", "b"], progress=lambda *it: told.append(it)),
        lambda peer: foxtrot.psi.count(peer, ["a"]),
    )
    done, of, unit = told[-1]
    assert done == of > 0 and unit == "steps"


def test_other_threads_run_while_a_job_waits() -> None:
    ours, theirs = foxtrot.pair()
    waiting = threading.Thread(target=lambda: foxtrot.psi.receive(ours, ["a"]))
    waiting.start()
    # This thread could not go on if the other kept the lock of the interpreter.
    assert foxtrot.psi.send(theirs, ["a"]).peer_keys == 1
    waiting.join(10)


def test_asyncio_runs_both_parties_in_one_loop_and_cancels() -> None:
    me, you = foxtrot.Identity.generate(), foxtrot.Identity.generate()

    async def parties() -> list[int]:
        listener = foxtrot.bind("localhost:0", identity=me, peers=[you.fingerprint])

        async def sender() -> None:
            async with await foxtrot.aio.accept(listener) as peer:
                await foxtrot.aio.psi.send(peer, ["bob"])

        sending = asyncio.ensure_future(sender())
        async with await foxtrot.aio.connect(listener.address, identity=you, peers=[me.fingerprint]) as peer:
            common = await foxtrot.aio.psi.receive(peer, ["ann", "bob"])
        await sending
        # Nobody comes: the wait is cancelled.
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(foxtrot.aio.listen("localhost:0", insecure=True), 0.2)
        return common

    assert asyncio.run(parties()) == [1]


def test_asyncio_serves_peers_by_coroutines() -> None:
    async def parties() -> list[int]:
        async def answer(peer: foxtrot.aio.Peer) -> None:
            await foxtrot.aio.psi.send(peer, ["bob"])

        async def ask(address: str) -> list[int]:
            async with await foxtrot.aio.connect(address, insecure=True) as peer:
                return await foxtrot.aio.psi.receive(peer, ["ann", "bob"])

        async with foxtrot.aio.serve("localhost:0", answer, insecure=True, max_sessions_per_peer=20) as server:
            # More than the loop's pool has threads.
            found = await asyncio.gather(*(ask(server.address) for _ in range(20)))
            ended = [await anext(server) for _ in range(20)]
            server.stop()
            assert [it async for it in server] == [] and all(it.error is None for it in ended)
        return [len(it) for it in found]

    assert asyncio.run(parties()) == [1] * 20


@pytest.mark.parametrize("semi_honest", [False, True])
def test_an_assumption_is_agreed_and_recorded(semi_honest: bool) -> None:
    ours, theirs = [f"{i}" for i in range(0, 4000)], [f"{i}" for i in range(2000, 6000)]
    options = {"assumption": "lpn", "semi_honest": semi_honest}
    found, report = two_parties(
        lambda peer: foxtrot.psi.receive(peer, ours, details=True, **options),
        lambda peer: foxtrot.psi.send(peer, theirs, **options),
    )
    assert found.indices.tolist() == list(range(2000, 4000))
    assert found.record()["assumption"] == report.record()["assumption"] == "lpn"
    with pytest.raises(foxtrot.AgreementError, match="symmetric"):
        two_parties(
            lambda peer: foxtrot.psi.receive(peer, ours, **options),
            lambda peer: foxtrot.psi.send(peer, theirs, semi_honest=semi_honest),
        )
    with pytest.raises(foxtrot.UsageError, match="and not"):
        foxtrot.psi.local(ours, theirs, assumption="hope")  # type: ignore[call-overload]


def test_sizes_of_the_peers_set_have_limits() -> None:
    for limit, why in (({"max_peer_keys": 1}, "accepts 1"), ({"min_peer_keys": 3}, "no fewer than 3")):
        with pytest.raises(foxtrot.AgreementError, match=why):
            two_parties(
                lambda peer: foxtrot.psi.receive(peer, ["a", "b"]),
                lambda peer, limit=limit: foxtrot.psi.send(peer, ["a"], **limit),
            )


def test_a_policy_is_kept_by_both_sides(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('policy = 1\nfunctions = ["intersection"]\n[receiver]\nmin-size = 2\n')
    answers: list[Any] = []

    def answer(peer: foxtrot.Peer) -> None:
        answers.append(foxtrot.psi.send(peer, ["bob"]).peer_keys)

    with foxtrot.serve("localhost:0", answer, insecure=True, policy=policy) as server:
        with foxtrot.connect(server.address, insecure=True, policy=policy) as peer:
            with pytest.raises(foxtrot.FoxtrotError, match="receiver.min-size"):
                foxtrot.psi.receive(peer, ["bob"])
            assert foxtrot.psi.receive(peer, ["bob", "eve"]) == [0]
        with pytest.raises(foxtrot.AgreementError, match="policy"):
            with foxtrot.connect(server.address, insecure=True) as peer:
                foxtrot.psi.receive(peer, ["bob", "eve"])
    assert answers == [2]
    with pytest.raises(foxtrot.UsageError):
        foxtrot.bind("localhost:0", insecure=True, policy=__file__)


def test_limits_per_day_count_what_a_peer_can_test(tmp_path: Path) -> None:
    file = tmp_path / "limits"
    limits = foxtrot.Limits(file, max_runs_per_day=3, max_keys_per_day=300)

    def ask(keys: list[str]) -> object:
        with foxtrot.connect(server.address, insecure=True) as peer:
            return foxtrot.psi.receive(peer, keys)

    def answer(peer: foxtrot.Peer) -> None:
        foxtrot.psi.send(peer, ["bob"])

    with foxtrot.serve("localhost:0", answer, insecure=True, limits=limits) as server:
        assert ask(["bob", "eve"]) == [0]
        counted = int(file.read_text().split()[-1])
        assert 100 < counted < 200, "two keys are declared, and more can be tested"
        assert ask(["bob"]) == [0]
        with pytest.raises(foxtrot.AgreementError, match="limits for today"):
            ask(["bob"])
        with pytest.raises(foxtrot.UsageError, match="another process uses this file"):
            foxtrot.Limits(file)
    with pytest.raises(foxtrot.UsageError, match="at least 1"):
        foxtrot.Limits(tmp_path / "other", max_runs_per_day=0)


def test_a_file_of_limits_that_is_dated_in_the_future_is_told(tmp_path: Path) -> None:
    file = tmp_path / "limits"
    file.write_text("foxtrot daily limits 2\nday 2932896\n")
    with pytest.warns(RuntimeWarning, match="counts of 9999-12-31"):
        foxtrot.Limits(file)


def test_limits_per_day_of_a_policy_need_a_file(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('policy = 1\nfunctions = ["intersection"]\nmax-runs-per-day = 1\n')

    def run(**options: Any) -> object:
        def answer(peer: foxtrot.Peer) -> None:
            foxtrot.psi.send(peer, ["bob"])

        with foxtrot.serve("localhost:0", answer, insecure=True, policy=policy, **options) as server:
            try:
                with foxtrot.connect(server.address, insecure=True, policy=policy) as peer:
                    return foxtrot.psi.receive(peer, ["bob"])
            except foxtrot.FoxtrotError:
                ended = server.next()
                assert ended is not None
                return str(ended.error)

    assert "no file keeps their counts" in str(run())
    limits = foxtrot.Limits(tmp_path / "limits", max_runs_per_day=9)
    assert run(limits=limits) == [0]
    assert "this peer has had 1 runs today" in str(run(limits=limits))


def test_a_policy_that_has_expired_forbids_every_run(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('policy = 1\nfunctions = ["intersection"]\nexpires = 2020-01-31\n')
    with foxtrot.serve("localhost:0", lambda peer: None, insecure=True) as server:
        with pytest.raises(foxtrot.FoxtrotError, match="rule expires allows runs until the end of 2020-01-31"):
            with foxtrot.connect(server.address, insecure=True, policy=policy) as peer:
                foxtrot.psi.receive(peer, ["bob"])
