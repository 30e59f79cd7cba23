"""Claude Code marks what was pasted: the text that was sent is found in it, whatever it holds."""

from __future__ import annotations

import pytest

from llmc.agents.hooks import prompt


@pytest.mark.parametrize("text", ["Add it.", "two\n\nlines\n", "  spaces ", '</pasted_content id="other">'])
def test_what_was_pasted_comes_without_its_marks(text: str) -> None:
    marked = f'\n\n<pasted_content id="b9b3">\n{text}\n</pasted_content id="b9b3">\n'
    assert prompt({"prompt": marked}) == prompt({"prompt": text})


def test_marks_that_do_not_belong_together_stay() -> None:
    odd = '<pasted_content id="a">\nx\n</pasted_content id="b">'
    assert prompt({"prompt": odd}).text == odd
