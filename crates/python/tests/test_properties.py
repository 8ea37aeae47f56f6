"""Intersections agree with Python's sets."""

from __future__ import annotations

import foxtrot
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

KEYS = st.lists(st.one_of(st.none(), st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3), st.sampled_from("abcde")), max_size=60)


@settings(max_examples=25, deadline=None)
@given(KEYS, KEYS)
def test_common_rows_are_rows_whose_key_is_in_both_sets(ours: list[str | None], theirs: list[str | None]) -> None:
    both = {key for key in ours if key} & {key for key in theirs if key}
    expected = [row for row, key in enumerate(ours) if key in both]
    assert foxtrot.psi.local(ours, theirs) == expected
    table = pl.DataFrame({"key": ours}, schema={"key": pl.String})
    found = foxtrot.psi.local(table, theirs, details=True)
    assert found.indices.tolist() == expected and found.rows_in_common["key"].to_list() == [ours[row] for row in expected]
    assert (found.keys, found.peer_keys) == (len({it for it in ours if it}), len({it for it in theirs if it}))


@settings(max_examples=50, deadline=None)
@given(KEYS)
def test_rows_are_left_out_if_they_repeat_a_key_or_have_none(rows: list[str | None]) -> None:
    seen = foxtrot.psi.inspect(rows)
    assert seen.left_out.without_key == [row for row, key in enumerate(rows) if not key]
    firsts = {key: row for row, key in reversed(list(enumerate(rows))) if key}
    assert seen.left_out.duplicates == [row for row, key in enumerate(rows) if key and firsts[key] != row]
    assert seen.keys == len(firsts)
