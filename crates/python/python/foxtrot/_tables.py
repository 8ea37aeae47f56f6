"""Tables of other libraries: their key columns in, and their rows out. No library is imported that the caller did not."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

from . import _core
from ._errors import UsageError

#: A column's name, or names of several.
On = Union[str, Sequence[str], None]

#: Normalisers of all key columns, or of each.
Normalize = Union[str, Sequence[str], None]


def _library(value: object) -> str:
    """Return the library that the value's class is from."""
    for kind in type(value).__mro__:
        name = kind.__module__.partition(".")[0]
        if name in ("pandas", "polars", "pyarrow", "duckdb", "_duckdb", "numpy"):
            return "duckdb" if name == "_duckdb" else name
    return ""


def _numpy() -> Any:
    """Return NumPy, if it can be imported."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def indices_of(raw: bytes) -> Any:
    """Make numbers of rows: a NumPy array of int64, or without NumPy an ``array.array``."""
    numpy = _numpy()
    return array("q", raw) if numpy is None else numpy.frombuffer(raw, dtype=numpy.int64)


def numbers_of(raw: bytes) -> Any:
    """Make numbers of shards: a NumPy array of int32, or without NumPy an ``array.array``."""
    numpy = _numpy()
    return array("i", raw) if numpy is None else numpy.frombuffer(raw, dtype=numpy.int32)


def mask_of(raw: bytes) -> Any:
    """Make a mask of rows: a NumPy array of bool, or without NumPy a list."""
    numpy = _numpy()
    return [byte != 0 for byte in raw] if numpy is None else numpy.frombuffer(raw, dtype=numpy.bool_)


#: Names of columns, and their text in the rows that are taken.
More = Mapping[str, "list[str]"]


class Source:
    """A caller's table: its keys, other columns, and how rows of it are taken."""

    __slots__ = ("_beside", "columns", "keys", "names", "take")

    def __init__(
        self,
        keys: _core.Keys,
        columns: list[str] | None,
        take: Callable[[bytes, bytes, More], Any],
        names: list[str] | None = None,
        beside: Callable[[list[str]], _core.Rows] | None = None,
    ) -> None:
        self.keys = keys
        self.columns = columns
        self.take = take
        #: The names of all columns; none for plain values.
        self.names = names
        self._beside = beside

    def beside(self, columns: list[str], option: str) -> _core.Rows:
        """Give other columns of the same rows."""
        if self._beside is None or self.names is None:
            raise UsageError(f"{option}= names columns of a table, and these are plain values")
        for name in columns:
            if self.names.count(name) != 1:
                number = "no" if name not in self.names else "more than one"
                raise UsageError(f"{option}=: the table has {number} column {name!r}; its columns are {_listed(self.names)}")
        return self._beside(columns)


def _pairs(indices: bytes, more: More) -> Any:
    """Give plain values' numbers with what the peer has beside them."""
    return list(zip(indices_of(indices).tolist(), *more.values()))


def _columns(on: On, names: list[Any], what: str) -> list[str]:
    if on is None:
        if len(names) == 1:
            return names
        raise UsageError(f"name the key column of {what} with on=; its columns are {_listed(names)}")
    chosen = [on] if isinstance(on, str) else list(on)
    if not chosen:
        raise UsageError("on= names no column")
    for name in chosen:
        if names.count(name) != 1:
            number = "no" if name not in names else "more than one"
            raise UsageError(f"{what} has {number} column {name!r}; its columns are {_listed(names)}")
    return chosen


def _listed(names: list[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:20])
    return shown + (", …" if len(names) > 20 else "")


def normalisers(normalize: Normalize, parts: int) -> list[str]:
    """Return a normaliser for each part of a key."""
    if normalize is None:
        return ["none"] * parts
    if isinstance(normalize, str):
        if parts > 1:
            raise UsageError(f"the key has {parts} columns: give normalize= a list with one name for each")
        return [normalize]
    names = list(normalize)
    if len(names) != parts:
        raise UsageError(f"normalize= has {len(names)} names, and the key {parts} columns")
    return names


def has_columns(table: Any) -> bool:
    """Tell whether the rows have named columns: plain values and series have none."""
    return hasattr(table, "columns") or hasattr(table, "column_names") or _is_stream(table)


def _is_stream(table: Any) -> bool:
    return hasattr(table, "__arrow_c_stream__") and _library(table) in ("", "duckdb")


def read(table: Any, on: On, normalize: Normalize, show: int = 0) -> Source:
    """Read the keys of a table, list or array. A source has been read."""
    if isinstance(table, Source):
        return table
    library = _library(table)
    if library == "pandas":
        return _pandas(table, on, normalize, show)
    if library == "polars":
        return _polars(table, on, normalize, show)
    if library == "pyarrow":
        return _pyarrow(table, on, normalize, show)
    if library == "numpy":
        return _values(table.tolist() if getattr(table, "ndim", 0) == 1 else None, table, on, normalize, show)
    if hasattr(table, "__arrow_c_stream__"):
        return _stream(table, on, normalize, show, library == "duckdb")
    if isinstance(table, (list, tuple)):
        return _values(list(table), table, on, normalize, show)
    if isinstance(table, (set, frozenset)):
        raise UsageError("a set has no order, so its rows have no numbers; give sorted(...) or list(...)")
    if isinstance(table, (str, bytes)):
        raise UsageError("this is a single text, and no table; give a list of keys")
    kind = type(table).__name__
    raise UsageError(
        f"{kind} is no table: give a DataFrame or table of pandas, polars, pyarrow or DuckDB, an object with "
        "__arrow_c_stream__, a list of keys, or a NumPy array"
    )


def _keys(rows: _core.Rows, columns: list[str] | None, normalize: Normalize, show: int) -> _core.Keys:
    return _core.keys_of(rows, columns, normalisers(normalize, len(columns or [""])), show)


def _pandas(table: Any, on: On, normalize: Normalize, show: int) -> Source:
    pandas: Any = sys.modules["pandas"]
    series = isinstance(table, (pandas.Series, pandas.Index))
    if series:
        if on is not None and on != table.name:
            raise UsageError(f"on= names a column, and this is a series named {table.name!r}")
        name = "key" if table.name is None else str(table.name)
        frame: Any = table.to_frame(index=False, name=name) if isinstance(table, pandas.Index) else table.to_frame(name)
        columns = [name]
    else:
        frame = table
        columns = _columns(on, list(table.columns), "the DataFrame")

    def take(mask: bytes, indices: bytes, more: More) -> Any:
        rows = indices_of(indices)
        if series:
            return _pairs(indices, more) if more else table[rows] if isinstance(table, pandas.Index) else table.iloc[rows]
        return table.iloc[rows].assign(**more) if more else table.iloc[rows]

    def chosen(columns: list[Any]) -> _core.Rows:
        names, few = [str(column) for column in columns], frame[columns]
        if any(name != column for name, column in zip(names, columns)):
            few = few.set_axis(names, axis=1)
        if not ("pyarrow" in sys.modules or _pyarrow_is_there()):
            # Without pyarrow pandas has no Arrow stream.
            return [few[name].astype(object).where(few[name].notna(), None).tolist() for name in names]
        try:
            return _core.Table(few.reset_index(drop=True))
        except Exception as error:
            if not type(error).__module__.startswith("pyarrow"):
                raise
            # The error's text has values.
            why = "has values of several types, or a type that Arrow does not have; convert it to text first"
            raise UsageError(f"a column ({_listed(names)}) {why}") from None

    names = [str(column) for column in columns]
    keys = _keys(chosen(columns), names, normalize, show)
    return Source(keys, names, take, None if series else list(table.columns), None if series else chosen)


def _arrow(table: Any, kinds: Iterable[tuple[str, Any]]) -> _core.Table:
    """Read a table whose columns have these types."""
    try:
        return _core.Table(table)
    except UsageError:
        raise
    except Exception as error:
        if type(error) is not ValueError and not type(error).__module__.startswith(("polars", "pyarrow")):
            raise
        # The error's text may have values.
        named = ", ".join(f"{name!r} is {kind}" for name, kind in kinds)
        raise UsageError(f"a column ({named}) has a type that is not read; convert it to text first") from None


def _pyarrow_is_there() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


def _polars(table: Any, on: On, normalize: Normalize, show: int) -> Source:
    kind = type(table).__name__
    if kind == "LazyFrame":
        raise UsageError("a LazyFrame has no rows yet; call .collect() first")
    series = kind == "Series"
    if series and on is not None and on != table.name:
        raise UsageError(f"on= names a column, and this is a series named {table.name!r}")
    frame = table.to_frame() if series else table
    columns = _columns(None if series else on, list(frame.columns), "the DataFrame")

    def take(mask: bytes, indices: bytes, more: More) -> Any:
        polars: Any = sys.modules["polars"]
        if series and more:
            return _pairs(indices, more)
        # An empty list would be one of columns.
        rows = table[polars.Series(values=indices_of(indices), dtype=polars.Int64)]
        texts = [polars.Series(name, texts, dtype=polars.String) for name, texts in more.items()]
        return rows.with_columns(texts) if texts else rows

    def chosen(columns: list[str]) -> _core.Rows:
        polars: Any = sys.modules["polars"]
        few = frame.select(columns)
        # Its nulls without another type are not those of Arrow.
        nulls = [name for name, kind in few.schema.items() if kind == polars.Null]
        few = few.with_columns(polars.col(nulls).cast(polars.String)) if nulls else few
        return _arrow(few, few.schema.items())

    keys = _keys(chosen(columns), columns, normalize, show)
    return Source(keys, columns, take, None if series else list(frame.columns), None if series else chosen)


def _pyarrow(table: Any, on: On, normalize: Normalize, show: int) -> Source:
    pyarrow: Any = sys.modules["pyarrow"]

    is_array = isinstance(table, (pyarrow.Array, pyarrow.ChunkedArray))

    def taken(mask: bytes, indices: bytes) -> Any:
        try:
            return table.take(pyarrow.array(indices_of(indices), type=pyarrow.int64()))
        except pyarrow.ArrowNotImplementedError:
            # pyarrow does not take rows of every type, say of string views.
            rows = pyarrow.table(_core.Table(pyarrow.table({"key": table}) if is_array else table).filter(mask))
        if is_array:
            return rows["key"].combine_chunks() if isinstance(table, pyarrow.Array) else rows["key"]
        return rows if isinstance(table, pyarrow.Table) else pyarrow.record_batch(rows.combine_chunks().to_pydict(), rows.schema)

    def take(mask: bytes, indices: bytes, more: More) -> Any:
        if is_array and more:
            return _pairs(indices, more)
        rows = taken(mask, indices)
        if not more:
            return rows
        schema = rows.schema
        for name in more:
            schema = schema.append(pyarrow.field(name, pyarrow.string()))
        texts = [pyarrow.array(texts, pyarrow.string()) for texts in more.values()]
        return type(rows).from_arrays([*rows.columns, *texts], schema=schema)

    if is_array:
        if on is not None:
            raise UsageError("on= names a column, and this is an array")
        return Source(_keys(_core.Table(pyarrow.table({"key": table})), ["key"], normalize, show), None, take)
    if not isinstance(table, (pyarrow.Table, pyarrow.RecordBatch)):
        return _stream(table, on, normalize, show, False)
    names = list(table.column_names)
    columns = _columns(on, names, "the table")

    def chosen(columns: list[str]) -> _core.Rows:
        few = table.select(columns)
        return _arrow(few, zip(few.schema.names, few.schema.types))

    return Source(_keys(chosen(columns), columns, normalize, show), columns, take, names, chosen)


def _stream(table: Any, on: On, normalize: Normalize, show: int, relation: bool) -> Source:
    """Read a stream once: a second reading may give other rows."""
    try:
        read = table if isinstance(table, _core.Table) else _core.Table(table)
    except ValueError as error:
        raise UsageError(f"{type(table).__name__} gives no table: {error}") from None
    columns = _columns(on, read.column_names, "the table")
    keys = _keys(read, columns, normalize, show)

    def take(mask: bytes, indices: bytes, more: More) -> Any:
        rows = read.filter(mask)
        rows = rows.with_columns(list(more.items())) if more else rows
        return sys.modules["duckdb"].from_arrow(rows) if relation else rows

    return Source(keys, columns, take, read.column_names, lambda _: read)


def _values(values: list[Any] | None, table: Any, on: On, normalize: Normalize, show: int) -> Source:
    if on is not None:
        raise UsageError("on= names a column of a table, and these are plain values")
    if values is None:
        raise UsageError(f"the array has {getattr(table, 'ndim', 0)} dimensions; keys are an array of one dimension")
    keys = _keys([values], None, normalize, show)

    def take(mask: bytes, indices: bytes, more: More) -> Any:
        if more:
            return _pairs(indices, more)
        rows = indices_of(indices)
        return rows if _library(table) == "numpy" else rows.tolist()

    return Source(keys, None, take)
