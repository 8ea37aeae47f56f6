"""Wrong input is refused with words that help, before anything is sent and without a value."""

from __future__ import annotations

import datetime
import decimal
import threading
import time
from typing import Any

import foxtrot
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import two_parties

SECRET = "s3cret@example.org"


@pytest.mark.parametrize(
    ("table", "on", "why"),
    [
        (pd.DataFrame({"a": [1], "b": [2]}), None, "name the key column.*'a', 'b'"),
        (pd.DataFrame({"a": [1], "b": [2]}), "c", "no column 'c'; its columns are 'a', 'b'"),
        (pl.DataFrame({"a": [1]}), [], "names no column"),
        (pl.DataFrame({"a": [1.5]}), "a", 'column "a": values are text, whole numbers or dates, and these are Float64'),
        (pl.DataFrame({"a": [True]}), "a", "Boolean; convert them to text"),
        (pl.DataFrame({"a": [datetime.datetime(2020, 1, 1, 12)]}), "a", 'column "a", row 0: a time of day'),
        (pl.DataFrame({"a": [[1]]}), "a", "values are text, whole numbers or dates"),
        (pl.DataFrame({"a": ["x", "y\0"]}), "a", 'column "a", row 1: a NUL byte'),
        (pl.LazyFrame({"a": ["x"]}), "a", "call .collect"),
        (pa.table({"a": pa.array([b"\xff"])}), "a", "row 0: bytes that are not UTF-8"),
        (pa.table({"a": [datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)]}), "a", "convert them to dates"),
        (pd.DataFrame({"a": [SECRET, 5]}), "a", "values of several types"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "a", "more than one column 'a'"),
        ([SECRET, 1.5], None, "row 1: values are text, whole numbers or dates, and this is float"),
        ([SECRET, True], None, "row 1: .* this is bool"),
        ([b"\xff"], None, "row 0: bytes that are not UTF-8"),
        (["\ud800"], None, "row 0: text that is not Unicode"),
        ([1, 10**5000], None, "row 1: a whole number of so many digits"),
        (pl.DataFrame({"a": [datetime.time(1)]}), "a", 'column "a": .* these are Time64.*; convert them to text first'),
        (pa.table({"a": pa.array([b"ab"], pa.binary(2))}), "a", "FixedSizeBinary.*; convert them to text first"),
        (pa.table({"a": pa.array([decimal.Decimal("1.5")])}), "a", "Decimal128.*; convert them to whole numbers or text"),
        (pl.DataFrame({"a": pl.Series([1], dtype=pl.Int128)}), "a", "'a' is Int128.* convert it to text first"),
        (pl.DataFrame({"a": [object()]}), "a", 'column "a": .*; convert them to text first'),
        (["a"], "mail", "these are plain values"),
        (np.zeros((2, 2)), None, "2 dimensions"),
        ({"a", "b"}, None, "a set has no order"),
        ("mail", None, "a single text"),
        (42, None, "int is no table"),
        (None, None, "NoneType is no table"),
    ],
)
def test_a_table_that_has_no_keys_is_refused_with_words_that_help(table: Any, on: Any, why: str) -> None:
    with pytest.raises(foxtrot.UsageError, match=why) as raised:
        foxtrot.psi.inspect(table, on)
    assert SECRET not in str(raised.value)
    assert isinstance(raised.value, ValueError) and raised.value.blame == "caller"


def test_mixed_columns_show_no_value_in_the_whole_traceback() -> None:
    import traceback

    try:
        foxtrot.psi.inspect(pd.DataFrame({"a": [SECRET, 5]}), "a")
    except foxtrot.UsageError as error:
        assert SECRET not in "".join(traceback.format_exception(error))
    else:
        raise AssertionError("it was taken")


@pytest.mark.parametrize(
    ("normalize", "why"),
    [("emial", "unknown normaliser emial"), (["email", "trim"], "has 2 names"), ("phone", "country code")],
)
def test_wrong_normalisers_are_refused(normalize: Any, why: str) -> None:
    with pytest.raises(foxtrot.UsageError, match=why):
        foxtrot.psi.inspect(["a"], normalize=normalize)
    with pytest.raises(foxtrot.UsageError, match="a list with one name for each"):
        foxtrot.psi.inspect(pd.DataFrame({"a": ["x"], "b": ["y"]}), ["a", "b"], normalize="trim")


def test_two_sides_that_differ_raise_the_same_blame_and_both_values() -> None:
    with pytest.raises(foxtrot.AgreementError, match="email/2") as raised:
        two_parties(
            lambda peer: foxtrot.psi.receive(peer, ["a"], normalize="email"),
            lambda peer: foxtrot.psi.send(peer, ["a"]),
        )
    assert raised.value.blame == "agreement" and "none/1" in str(raised.value)
    with pytest.raises(foxtrot.AgreementError, match="20"):
        two_parties(lambda peer: foxtrot.rot.send(peer, 10), lambda peer: foxtrot.rot.receive(peer, 20))


def test_a_closed_peer_is_refused() -> None:
    ours, theirs = foxtrot.pair()
    ours.close()
    ours.close()
    with pytest.raises(foxtrot.UsageError, match="this peer is closed"):
        foxtrot.psi.receive(ours, ["a"])
    with pytest.raises(foxtrot.ConnectionError):
        foxtrot.psi.send(theirs, ["a"])


def test_one_peer_runs_one_job_at_a_time() -> None:
    ours, theirs = foxtrot.pair()
    waiting = threading.Thread(target=lambda: pytest.raises(foxtrot.Cancelled, foxtrot.psi.receive, ours, ["a"]))
    waiting.start()
    time.sleep(0.5)
    with pytest.raises(foxtrot.UsageError, match="another call uses this peer"):
        foxtrot.rot.send(ours, 1)
    with pytest.raises(foxtrot.UsageError, match="cancel it first"):
        ours.close()
    ours.cancel()
    waiting.join(10)
    assert not waiting.is_alive()
    del theirs


def test_an_exception_in_the_function_of_progress_ends_the_run() -> None:
    ours, theirs = foxtrot.pair()

    def raises(done: int, of: int, unit: str) -> None:
        raise RuntimeError("enough")

    def send() -> None:
        with pytest.raises(foxtrot.ConnectionError):
            foxtrot.rot.send(theirs, 5_000_000)

    other = threading.Thread(target=send)
    other.start()
    with pytest.raises(RuntimeError, match="enough"):
        foxtrot.rot.receive(ours, 5_000_000, progress=raises)
    other.join(30)
    assert not other.is_alive()
    with pytest.raises(foxtrot.UsageError, match="closed"):
        foxtrot.rot.receive(ours, 1)


def test_threads_are_from_1_to_1024() -> None:
    for threads in (0, -1, 1025, 10**30):
        with pytest.raises(foxtrot.UsageError, match=f"threads is from 1 to 1024, and not {threads}"):
            foxtrot.connect("localhost:1", insecure=True, threads=threads)


def test_settings_of_connections_are_checked() -> None:
    me = foxtrot.Identity.generate()
    with pytest.raises(foxtrot.UsageError, match="fingerprints of accepted peers"):
        foxtrot.connect("localhost:1", identity=me)
    with pytest.raises(foxtrot.UsageError, match="43 characters"):
        foxtrot.connect("localhost:1", identity=me, peers=["SHA256:short"])
    with pytest.raises(foxtrot.UsageError, match="neither an identity nor peers"):
        foxtrot.connect("localhost:1", identity=me, insecure=True)
    with pytest.raises(foxtrot.UsageError, match="number of seconds"):
        foxtrot.connect("localhost:1", insecure=True, timeout=-1)
    with pytest.raises(foxtrot.ConnectionError) as raised:
        foxtrot.connect("localhost:1", insecure=True, wait=0.2)
    assert isinstance(raised.value, ConnectionError)


def test_choices_and_messages_are_checked_and_not_shown() -> None:
    ours, _ = foxtrot.pair()
    with pytest.raises(foxtrot.UsageError, match="choice 1 is not below 2"):
        foxtrot.ot.receive(ours, [1, 77])
    with pytest.raises(foxtrot.UsageError, match="choice 0 is no bool"):
        foxtrot.ot.receive(ours, ["77"])
    with pytest.raises(foxtrot.UsageError, match="the same number of messages"):
        foxtrot.ot.send(ours, [["a", "b"], ["c"]])
    with pytest.raises(foxtrot.UsageError):
        foxtrot.ot.send(ours, [["a" * 100, "b"]], longest=10)
    with pytest.raises(foxtrot.UsageError, match="8, 16, 32 or 64"):
        foxtrot.triples.generate(ours, 1, bits=7)  # type: ignore[arg-type]


def told_when(fails: Any) -> str:
    """The words of a peer that waits while this side fails."""
    ours, theirs = foxtrot.pair()
    told: list[str] = []

    def waits() -> None:
        with pytest.raises(foxtrot.FoxtrotError) as raised:
            foxtrot.psi.receive(theirs, ["bob"])
        told.append(str(raised.value))

    thread = threading.Thread(target=waits)
    thread.start()
    fails(ours)
    del ours
    thread.join(30)
    return told[0]


def test_a_peer_that_waits_for_a_call_hears_that_this_side_cannot_use_its_own_input() -> None:
    table = pl.DataFrame({"mail": ["bob"]})

    def wrong_column(peer: foxtrot.Peer) -> None:
        with pytest.raises(foxtrot.UsageError), peer:
            foxtrot.psi.send(peer, table, on="missing")

    def wrong_column_then_close(peer: foxtrot.Peer) -> None:
        with pytest.raises(foxtrot.UsageError):
            foxtrot.psi.send(peer, ["bob"], on="missing")
        peer.close()

    def wrong_option(peer: foxtrot.Peer) -> None:
        with pytest.raises(foxtrot.UsageError):
            foxtrot.rot.send(peer, 10, extension="iknp?")  # type: ignore[arg-type]
        peer.close()

    def no_file(peer: foxtrot.Peer) -> None:
        with pytest.raises(FileNotFoundError), peer:
            open("missing.csv")

    for fails in (wrong_column, wrong_column_then_close, wrong_option, no_file):
        assert told_when(fails) == "the peer gave up: it cannot use its own input or settings", fails


def test_a_call_is_repeated_after_a_mistake() -> None:
    def ours(peer: foxtrot.Peer) -> Any:
        with pytest.raises(foxtrot.UsageError):
            foxtrot.psi.receive(peer, ["bob"], on="missing")
        found = foxtrot.psi.receive(peer, ["ann", "bob"])
        peer.close()
        return found

    def theirs(peer: foxtrot.Peer) -> None:
        foxtrot.psi.send(peer, ["bob"])

    assert list(two_parties(ours, theirs)[0]) == [1]


def test_a_client_hears_that_the_handler_of_a_server_failed() -> None:
    def handler(peer: foxtrot.Peer) -> None:
        open("missing.csv")

    with foxtrot.serve("localhost:0", handler, insecure=True) as server:
        own_input = "it cannot use its own input or settings"
        with pytest.raises(foxtrot.FoxtrotError, match=own_input), foxtrot.connect(server.address, insecure=True) as peer:
            foxtrot.psi.receive(peer, ["bob"])
