"""The commands that open another face: the board in the terminal, and in the browser."""

from __future__ import annotations

from llmc.cli.arguments import some_name, some_path
from llmc.cli.command import Command, flag, value

FACE_COMMANDS = (
    Command(
        "ui",
        "the board in the terminal: who needs you, with keys to answer, review and accept",
        ("llmc ui",),
        answers=False,
        home="llmc.ui.command",
        about="`?` shows the keys of the screen that you are on, `q` quits.",
    ),
    Command(
        "web",
        "the board in the browser, on this machine or on your phone",
        ("llmc web --open", "llmc web --detach", "llmc web --stop", "llmc web --read-only --port 8080"),
        (
            value("--port", "P", int, "the port (default: that of the settings, else a free one)"),
            value("--host", "H", some_name, "the address to listen on (default 127.0.0.1)"),
            flag("--read-only", text="show everything, and change nothing"),
            flag("--open", text="open the page in your browser"),
            flag("--detach", text="in the background"),
            flag("--stop", text="end the one in the background"),
            value("--cert", "F", some_path, "a certificate: needed for any address but this machine's own"),
            value("--key", "F", some_path, "its private key"),
            flag("--insecure", text="without a certificate on another address: everybody on the way can read it"),
        ),
        home="llmc.web.command",
        guests={"/mcp": "llmc.mcp.http"},
        about="It prints the address with its token, and off this machine a QR code. Whoever has that address can do "
        "what you can do here.",
    ),
    Command(
        "mcp",
        "tools for agents, by the Model Context Protocol on standard input and output",
        ("llmc mcp", "llmc mcp --allow read", "claude mcp add llmc -- llmc mcp --allow read,delegate,message"),
        (
            value(
                "--allow",
                "KINDS",
                some_name,
                "read, delegate, message, answer, review, accept: which of them (default read,delegate,message)",
            ),
            value("--worker", "W", some_name, "as the agent of this worker, with its bounds: for LLMC itself"),
        ),
        answers=False,
        home="llmc.mcp.command",
        about="A client starts it. What is asked for is done by the commands themselves, and is in `llmc events`.",
    ),
)
