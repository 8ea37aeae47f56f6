"""Tables of every library in and out."""

from __future__ import annotations

import datetime
from typing import Any

import duckdb
import foxtrot
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

ROWS = {
    "mail": ["Ann@x.org", "bob@x.org", None, "cid@x.org", "ann@x.org ", ""],
    "n": [0, 1, 2, 3, 4, 5],
}
THEIRS = ["ann@x.org", "cid@x.org", "dan@x.org"]


class OnlyAStream:
    """A table of a library that Foxtrot does not know."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def numbers(rows: Any) -> list[int]:
    """The column `n` of a table of any library."""
    if isinstance(rows, pl.DataFrame):
        return rows["n"].to_list()
    if isinstance(rows, pd.DataFrame):
        return list(rows["n"])
    if isinstance(rows, duckdb.DuckDBPyRelation):
        return [n for _, n in rows.fetchall()]
    return pa.table(rows)["n"].to_pylist()


def relation() -> duckdb.DuckDBPyRelation:
    arrow = pa.table(ROWS)
    return duckdb.sql("SELECT mail, n FROM arrow")


TABLES = {
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas with an index": lambda: pd.DataFrame(ROWS, index=list("uvwxyz")),
    "pandas objects": lambda: pd.DataFrame(ROWS).astype({"mail": object}),
    "pandas categories": lambda: pd.DataFrame(ROWS).astype({"mail": "category"}),
    "polars": lambda: pl.DataFrame(ROWS),
    "polars categories": lambda: pl.DataFrame(ROWS).with_columns(pl.col("mail").cast(pl.Categorical)),
    "pyarrow": lambda: pa.table(ROWS),
    "pyarrow in chunks": lambda: pa.concat_tables([pa.table(ROWS).slice(0, 2), pa.table(ROWS).slice(2)]),
    "a batch of pyarrow": lambda: pa.RecordBatch.from_pydict(ROWS),
    "duckdb": relation,
}


@pytest.mark.parametrize("name", TABLES)
def test_rows_come_out_as_the_type_that_went_in_and_in_order(name: str) -> None:
    table = TABLES[name]()
    common = _local(table)
    assert type(common) is type(table)
    assert numbers(common) == [0, 3, 4]


def _local(table: Any) -> Any:
    other = pl.DataFrame({"E-Mail": THEIRS, "n": [0, 1, 2]})
    return foxtrot.psi.local(table, other, on="mail", on_b="E-Mail", normalize="email")


def test_a_stream_of_an_unknown_library_gives_a_stream() -> None:
    common = _local(OnlyAStream(pa.table(ROWS)))
    assert isinstance(common, foxtrot.Table)
    assert numbers(common) == [0, 3, 4] and len(common) == 3
    assert pl.DataFrame(common)["n"].to_list() == [0, 3, 4]
    # A stream can be asked for again.
    assert numbers(common) == [0, 3, 4]


def test_a_reader_of_batches_is_read_once() -> None:
    reader = pa.table(ROWS).to_reader(max_chunksize=2)
    assert numbers(_local(reader)) == [0, 3, 4]


def test_details_have_indices_a_mask_what_was_left_out_and_a_record() -> None:
    table = pl.DataFrame(ROWS)
    found = foxtrot.psi.local(table, THEIRS, on="mail", normalize="email", details=True)
    assert found.indices.dtype == np.int64 and found.indices.tolist() == [0, 3, 4]
    assert found.mask.dtype == np.bool_ and found.mask.tolist() == [True, False, False, True, True, False]
    assert found.rows_in_common["n"].to_list() == [0, 3, 4]
    assert found.left_out.duplicates == [4] and found.left_out.without_key == [2, 5]
    assert (found.rows, found.keys, found.peer_keys) == (6, 3, 3)
    record = found.record()
    assert record["keys_receiver"] == 3 and record["keys_sender"] == 3 and record["results"] == 3
    assert record["normalize"] == "email/2" and len(record["session"]) == 64
    assert "x.org" not in repr(record) and "x.org" not in repr(found)


def test_lists_give_indices_and_arrays_give_arrays() -> None:
    assert foxtrot.psi.local(["a", "b", "a"], ["a"]) == [0, 2]
    assert foxtrot.psi.local(("a", b"b", None), ["b"]) == [1]
    common = foxtrot.psi.local(np.array(["a", "b"]), np.array(["b"]))
    assert isinstance(common, np.ndarray) and common.dtype == np.int64 and common.tolist() == [1]
    assert foxtrot.psi.local(np.array([3, 5]), ["5"]).tolist() == [1]


def test_series_give_series() -> None:
    common = foxtrot.psi.local(pl.Series("mail", ["a", "b"]), ["b"])
    assert isinstance(common, pl.Series) and common.to_list() == ["b"]
    common = foxtrot.psi.local(pd.Series(["a", "b"], index=[7, 8]), ["b"])
    assert isinstance(common, pd.Series) and list(common.index) == [8]
    common = foxtrot.psi.local(pd.Index(["a", "b"]), ["b"])
    assert list(common) == ["b"]
    for array in (pa.array(["a", "b"]), pa.chunked_array([["a"], ["b"]])):
        assert foxtrot.psi.local(array, ["b"]).to_pylist() == ["b"]


DAY = datetime.date(1990, 2, 1)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["7", None, "9"]),
        pa.array(["7", None, "9"], pa.large_string()),
        pa.array(["7", None, "9"], pa.string_view()),
        pa.array([b"7", None, b"9"]),
        pa.array([b"7", None, b"9"], pa.large_binary()),
        pa.array([b"7", None, b"9"], pa.binary_view()),
        pa.array(["7", None, "9"]).dictionary_encode(),
        pa.array([7, None, 9]).dictionary_encode(),
        *(pa.array([7, None, 9], getattr(pa, kind)()) for kind in ("int8", "int16", "int32", "int64")),
        *(pa.array([7, None, 9], getattr(pa, kind)()) for kind in ("uint8", "uint16", "uint32", "uint64")),
    ],
    ids=lambda column: str(column.type),
)
def test_keys_are_text_and_whole_numbers_of_every_type(column: pa.Array) -> None:
    found = foxtrot.psi.local(pa.table({"key": column}), ["7", "8", "", "None"], details=True)
    for table in (pa.RecordBatch.from_arrays([column], ["key"]), column, pa.chunked_array([column])):
        common = foxtrot.psi.local(table, ["7"])
        assert type(common) is type(table) and len(common) == 1
    assert found.indices.tolist() == [0] and found.left_out.without_key == [1]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([DAY, None]),
        pa.array([DAY, None], pa.date64()),
        *(pa.array([datetime.datetime(1990, 2, 1), None], pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")),
        pa.array([DAY, None]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_dates_are_keys_of_iso_form(column: pa.Array) -> None:
    assert foxtrot.psi.local(pa.table({"day": column}), ["1990-02-01"]).num_rows == 1
    assert foxtrot.psi.local([DAY, datetime.datetime(1990, 2, 1), None], ["1990-02-01"]) == [0, 1]


def test_dates_of_pandas_and_polars_are_keys() -> None:
    days = pd.DataFrame({"day": pd.to_datetime(["1990-02-01", None, "1991-03-04"])})
    assert len(foxtrot.psi.local(days, [DAY], normalize="date")) == 1
    assert pl.DataFrame({"day": [DAY]}).pipe(foxtrot.psi.local, ["1990-02-01"]).height == 1


def test_several_columns_make_one_key() -> None:
    ours = pd.DataFrame({"day": ["01.02.1990", "01.02.1990"], "name": ["Ann  Lee", "Bob"], "n": [0, 1]})
    theirs = pl.DataFrame({"who": ["ann lee"], "born": [DAY]})
    common = foxtrot.psi.local(
        ours,
        theirs,
        on=["name", "day"],
        on_b=["who", "born"],
        normalize=["name", "date:DD.MM.YYYY"],
        normalize_b=["name", "date"],
    )
    assert list(common["n"]) == [0]


def test_empty_tables_are_empty_sets() -> None:
    empty = pl.DataFrame({"a": []}, schema={"a": pl.String})
    assert foxtrot.psi.local(empty, ["x"]).height == 0
    assert foxtrot.psi.local(["x"], []) == []
    assert foxtrot.psi.local(pa.table({"a": pa.nulls(2)}), ["x"]).num_rows == 0


def test_columns_of_nulls_alone_are_rows_without_a_key() -> None:
    nulls = [None, None]
    tables = [
        pl.Series("a", nulls),
        pl.DataFrame({"a": nulls}),
        pa.table({"a": nulls}),
        pd.DataFrame({"a": nulls}),
        pd.Series(nulls, name="a"),
        duckdb.sql("SELECT NULL AS a FROM range(2)"),
        nulls,
    ]
    for table in tables:
        seen = foxtrot.psi.inspect(table)
        assert (seen.rows, seen.keys, seen.left_out.without_key) == (2, 0, [0, 1]), type(table)
    # A stream of polars that Foxtrot does not know as one.
    with pytest.raises(foxtrot.UsageError, match='column "a": .*of type Null; convert them to text first'):
        foxtrot.psi.inspect(OnlyAStream(pl.DataFrame({"a": nulls})))


def test_inspect_tells_how_a_table_is_read() -> None:
    seen = foxtrot.psi.inspect(pd.DataFrame(ROWS), "mail", normalize="email")
    assert (seen.rows, seen.keys, seen.columns, seen.normalisers) == (6, 3, ["mail"], "email/2")
    assert seen.left_out.duplicates == [4] and seen.left_out.without_key == [2, 5] and seen.warnings == []
    assert seen.shown == []
    for table in (pd.DataFrame(ROWS), list(ROWS["mail"])):
        on = "mail" if isinstance(table, pd.DataFrame) else None
        seen = foxtrot.psi.inspect(table, on, normalize="email", show=3)
        assert seen.shown == [(["Ann@x.org"], ["ann@x.org"]), (["bob@x.org"], ["bob@x.org"]), ([""], [""])]
        assert "row 0: ['Ann@x.org'] → ['ann@x.org']" in repr(seen) and "row 2: [''] → no key" in repr(seen)
    same = foxtrot.psi.inspect(["a"] * 9)
    assert "repeat the key" in same.warnings[0] and "duplicates:  8" in repr(same)
