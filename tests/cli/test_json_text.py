"""Our own JSON says what Python's would say, without what a terminal would act upon."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from llmc.cli.json_text import as_json
from llmc.model import Work

simple = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(simple, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(values)
def test_it_reads_back_as_it_was(data):
    text = as_json(data)
    assert json.loads(text) == data
    assert text.replace("\n", "").isprintable()


@given(
    st.recursive(
        st.integers() | st.sampled_from("ab"),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("cd"), inner),
    )
)
def test_it_looks_as_python_would_print_it(data):
    assert as_json(data) == json.dumps(data, indent=2)


def test_words_of_ours_and_paths_are_text():
    assert json.loads(as_json({"work": Work.IDLE, "at": (Path("/a"), 1)})) == {"work": "idle", "at": ["/a", 1]}


def test_what_a_terminal_would_act_upon_is_escaped():
    assert as_json("\x1b[31m\x9b\u202e") == '"\\u001b[31m\\u009b\\u202e"'
