"""What happens in `llmc demo`: the sample repository and the tasks of its three workers."""

from __future__ import annotations

SAMPLE_FILES = {
    "README.md": "# Greeter\n\nSays hello. A sample repository of `llmc demo`.\n",
    "greeter.py": 'def greet(name: str) -> str:\n    return f"Hello, {name}!"\n\n\nprint(greet("world"))\n',
    "FEATURES.md": "# Features\n\n- says hello\n",
}

TASKS = {
    "adam": """\
Let the greeter say goodbye, and list it under the features.

demo:spend 3200 540 61000 4100 claude-sonnet-5-5
demo:append greeter.py \\n\\ndef part(name: str) -> str:\\n    return f"Goodbye, {name}!"
demo:append FEATURES.md - says goodbye
demo:commit Say goodbye\\n\\nThe greeter can take its leave now.
""",
    "baker": """\
Greet a whole list of people, and list it under the features.

demo:spend 2900 810 74000 5200 claude-sonnet-5-5
demo:write crowd.py from greeter import greet\\n
demo:append crowd.py \\ndef greet_all(names: list[str]) -> list[str]:\\n    return [greet(name) for name in names]
demo:append FEATURES.md - greets a whole crowd
demo:commit Greet a whole crowd\\n\\nOne call for a list of names.
""",
    "charlie": """\
Write a page that tells how to use the greeter.

demo:spend 12400 390 30000 0 gpt-5
demo:write docs/usage.md # Usage\\n\\nRun `python greeter.py`.
demo:commit Document how to run the greeter
""",
}

"""What they spend is made up: the demo agent asks no model."""

FEEDBACK = """\
Good. Please also show how to use it from Python.

demo:spend 1800 160 44000 0 gpt-5
demo:append docs/usage.md \\nFrom Python: `from greeter import greet`.
demo:commit Show the use from Python
"""

BOARD_TASKS = {
    "adam": """\
Remove what nobody needs any more.

demo:spend 900 120 18000 2200 claude-sonnet-5-5
demo:say I list what is there before I remove anything.
demo:permit rm -r build
demo:append FEATURES.md - is tidy
demo:commit Tidy up
""",
    "baker": """\
Greet people in their own language.

demo:spend 2100 460 52000 3800 claude-sonnet-5-5
demo:write languages.py GREETINGS = {\\n    "en": "Hello",\\n    "de": "Hallo",\\n    "fr": "Bonjour",\\n}
demo:replace greeter.py return f"Hello, {name}!" => return f"{GREETINGS[language]}, {name}!"
demo:commit Greet in three languages
""",
    "charlie": """\
Look for greetings that sound odd.

demo:say I read all greetings aloud. This takes a while.
demo:sleep 36000
""",
}
"""What is on the board that `llmc demo --keep --web` leaves running: one who asks, one to review, one at work."""

EXPECTED_SUBJECTS = ("Start the greeter", "Say goodbye", "Document how to run the greeter", "Greet a whole crowd")
"""One commit per accepted task, in the order in which they are accepted."""
