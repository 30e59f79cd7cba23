"""The commands of `llmc task`, for `command_table`."""

from __future__ import annotations

from llmc.cli.arguments import some_glob, some_name, some_path, some_priority, some_task, some_text
from llmc.cli.command import FAILS, Command, flag, value, word

TASK = value("id", "ID", some_task, "the task's id, such as t3")
TASKS = value("ids", "ID", some_task, "the tasks' ids, such as t3", nargs="+")
MANY = {"action": "append"}
ABOUT_PLANS = (
    "In Markdown every `## TITLE` begins a task; its fields may stand right below it, and the rest is its text:\n\n"
    "  ## Add a login page\n"
    "  touches: src/login.py, templates/login.html\n"
    "\n"
    "  With a form for name and password.\n"
    "\n"
    "  ## Test the login page\n"
    "  after: Add a login page\n"
    "  priority: 5\n\n"
    "The fields are after (titles of the plan, or ids of tasks that are there), worker, agent, machine, priority, "
    "touches, hold and auto_accept (yes or no). In TOML each task is a [[task]] table with title, text and these "
    "fields. One mistake, and none of them is queued."
)
ABOUT_ADD = (
    "Prints the task's id. It goes to the longest idle worker that suits it, the highest priority first, then the "
    "oldest. With --after it waits until the work of those tasks has landed; with --touches until nobody works on "
    "these files. Without a text your editor opens (VISUAL, EDITOR)."
)

WISHES = (
    value("--title", "T", some_text, "a short name (default: the first line of the text)"),
    value("--after", "ID", some_task, "only when these tasks have landed; may be given several times", **MANY),
    value("--worker", "W", some_text, "only to this worker"),
    value("--agent", "A", some_text, "only to a worker that runs this agent"),
    value("--machine", "LABEL", some_text, "only to a worker on a machine with this label"),
    value("--priority", "N", some_priority, "the higher, the sooner (default 0)"),
    value(
        "--touches",
        "GLOB",
        some_glob,
        "files that it will change, such as 'src/*.py'; may be given several times",
        **MANY,
    ),
)

TASK_COMMANDS = (
    Command(
        "list",
        "the tasks that are not done yet",
        ("llmc task list", "llmc task list --all --json"),
        (flag("--all", "-a", text="those that have landed or were cancelled, too"),),
        looks=True,
    ),
    Command(
        "add",
        "queue a task",
        (
            'llmc task add "Add a login page"',
            'llmc task add "Test the login page" --after t1 --touches tests/login',
            "llmc task add --file task.md --worker adam --hold",
        ),
        (
            word("source", metavar="TEXT", nargs="?", help="the task; - reads it from standard input"),
            value("--file", "F", some_path, "the task is in this file"),
            value("--template", "NAME", some_name, "the task is ROOT/templates/NAME.md"),
            value("--set", "K=V", some_text, "fill in {K} of the template", action="append", default=[]),
            *WISHES,
            flag("--hold", text="not before `llmc task release`"),
            flag("--auto-accept", text="lands by itself when its checks pass"),
        ),
        about=ABOUT_ADD,
    ),
    Command(
        "import",
        "queue many tasks from one Markdown or TOML file",
        ("llmc task import plan.md", "llmc task import plan.toml --json"),
        (value("file", "FILE", some_path, "the plan; by its ending .toml, or Markdown"),),
        about=ABOUT_PLANS,
    ),
    Command(
        "show",
        "all that is known of a task: text, attempts, receipts, history",
        ("llmc task show t3", "llmc task show t3 --json"),
        (TASK,),
        looks=True,
    ),
    Command(
        "edit",
        "change a task that no worker has",
        ("llmc task edit t3", "llmc task edit t3 --priority 5 --after t1", "llmc task edit t3 --worker ''"),
        (
            TASK,
            value("--text", "T", some_text, "the new text; - reads it from standard input"),
            value("--file", "F", some_path, "the new text is in this file"),
            *WISHES,
            word("--auto-accept", action="store_true", default=None, help="lands by itself when its checks pass"),
            word("--no-auto-accept", action="store_false", dest="auto_accept", help="does not"),
        ),
        about="Without any of these your editor opens with its text. An empty value takes a wish back.",
    ),
    Command("hold", "keep tasks from being given out", ("llmc task hold t3",), (TASKS,)),
    Command(
        "release",
        "let tasks that were held be given out, or one that has spent its budget go on",
        ("llmc task release t3 t4",),
        (TASKS,),
        about="A task whose budget is spent may use as much again: its worker is told to go on, and the answer is a "
        "receipt.",
    ),
    Command(
        "cancel",
        "take tasks out of the queue",
        ("llmc task cancel t3 t4",),
        (TASKS,),
        about="All of them or none. One that a worker has is not cancelled: `llmc reset WORKER` takes it away, with a "
        "backup of the work, and it has failed then. Tasks that come after a cancelled one wait and say so.",
    ),
    Command(
        "retry",
        "queue a failed or cancelled task again",
        ("llmc task retry t3", 'llmc task retry t3 "Use the existing helper"'),
        (
            TASK,
            word("words", metavar="MORE WORDS", nargs="?", help="added to its text; - reads them from standard input"),
        ),
    ),
    Command(
        "graph",
        "what comes after what",
        ("llmc task graph", "llmc task graph --all --format mermaid"),
        (
            word("--format", choices=("text", "mermaid", "dot"), default="text", help="how it is drawn (default text)"),
            flag("--all", "-a", text="tasks that have landed or were cancelled, too"),
        ),
        looks=True,
    ),
    Command(
        "run-next",
        "give out the next task now, without a daemon",
        ("llmc task run-next", "llmc task run-next --json"),
        about="A running daemon gives tasks out by itself. The answer is a receipt, with the task's id.",
        codes=(*FAILS, "4 delivery unknown: look with `llmc peek` before you send it again"),
    ),
)
