"""`llmc web` itself: how it begins and ends, where it listens, and to whom."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from llmc.host.processes import is_running
from llmc.web.addresses import addresses_of, is_loopback
from llmc.web.code import code_of
from llmc.web.server import ServingPlace
from testing.roots import add_worker, make_repository, make_root
from testing.served import serving, start_serving
from testing.story import LLMC


@pytest.fixture
def root(tmp_path):
    root = make_root(tmp_path / "llmc", make_repository(tmp_path / "repository"))
    add_worker(root, "adam")
    return root


def run(root, *words):
    return subprocess.run([*LLMC, "--root", root.path, "web", *words], capture_output=True, text=True, timeout=120)


def test_in_the_background_until_it_is_stopped(root):
    said = json.loads(run(root, "--detach", "--json").stdout.splitlines()[0])
    assert set(said) == {"url", "token", "pid"}
    assert is_running(said["pid"])
    second = run(root)
    assert second.returncode == 1
    assert said["url"] in second.stderr
    assert said["token"] not in second.stderr
    assert said["token"] not in Path(root.logs, "web-output.log").read_text()
    assert run(root, "--stop").returncode == 0
    assert not is_running(said["pid"])
    assert not Path(root.path, "run", "web.json").exists()
    assert "no web server" in run(root, "--stop").stdout


def test_what_stands_in_place_of_its_files_is_left_alone(root, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for place in ("run/web.json", "run/web-key.json", "run/web.lock", "logs/web.log", "logs/web-output.log"):
        Path(root.path, place).parent.mkdir(exist_ok=True)
        Path(root.path, place).symlink_to(precious)
    assert run(root, "--detach").returncode == 0
    assert run(root, "--stop").returncode == 0
    log = Path(root.logs, "web-output.log")
    log.unlink()
    os.mkfifo(log)
    assert run(root, "--detach").returncode == 0
    assert run(root, "--stop").returncode == 0
    assert log.is_file()
    assert precious.read_text() == "precious"


def test_on_this_machine_there_is_no_code_for_any_of_its_addresses(root):
    said = run(root, "--detach", "--host=::1").stdout
    run(root, "--stop")
    assert "http://[::1]:" in said
    assert "█" not in said


def test_who_says_nothing_keeps_nobody_out(root):
    """Each of them takes a file of ours; without a bound there would be none left for those who ask."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, files[1]))
    try:
        served = start_serving(root)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, files)
    with ExitStack() as silent:
        silent.callback(served.end)
        for _ in range(300):
            connection = silent.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=120))
            with suppress(ConnectionError):
                connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert served.get("/tasks")["tasks"] == []
        assert len(os.listdir(f"/proc/{served.process.pid}/fd")) < 200
        assert connection.recv(1) == b""  # the last of them has waited long enough, too


def test_ctrl_c_ends_it_in_order(root):
    served = start_serving(root)
    assert served.end(signal.SIGINT) == 0
    assert not Path(root.path, "run", "web.json").exists()


def test_one_that_was_killed_is_replaced_and_down_leaves_it_alone(root):
    start_serving(root).end(signal.SIGKILL)
    assert Path(root.path, "run", "web.json").exists()
    with serving(root) as served:
        subprocess.run([*LLMC, "--root", root.path, "down", "--force"], capture_output=True, check=True)
        assert served.get("/status")["workers"][0]["name"] == "adam"


def test_a_person_sees_the_address_with_its_token_and_how_to_end_it(root):
    process = subprocess.Popen([*LLMC, "--root", root.path, "web"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first, second = process.stdout.readline(), process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=120)[0]
    assert "http://127.0.0.1:" in first
    assert "/#token=" in first
    assert "Ctrl-C" in second
    assert "█" not in rest


@pytest.mark.lesson(55, "nothing is reached without a login, nor under another name")
def test_another_address_needs_a_certificate_or_to_be_wanted(root):
    for host in ("0.0.0.0", "::", "192.0.2.7", "board.example.org"):
        refused = run(root, "--host", host)
        assert refused.returncode == 1
        assert "--cert" in refused.stderr
        assert "--insecure" in refused.stderr
    assert run(root, "--cert", root.config_file).returncode == 1
    assert not Path(root.path, "run", "web.json").exists()


def test_off_this_machine_there_is_a_code_and_still_a_token(root):
    words = [*LLMC, "--root", root.path, "web", "--host=0.0.0.0", "--insecure"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(12)]
    said = json.loads(Path(root.path, "run", "web.json").read_text())
    port = said["url"].rstrip("/").rpartition(":")[2]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/status")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert refused.value.code == 401
    refused.value.close()
    assert any("█" in line for line in lines)


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_with_a_certificate_the_cookie_is_for_https_alone(root, tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    named = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*make, *named, "-keyout", key, "-out", cert], check=True, capture_output=True)
    with serving(root, f"--cert={cert}", f"--key={key}") as served:
        assert served.url.startswith("https://")
        trust = ssl.create_default_context(cafile=str(cert))
        body = json.dumps({"token": served.token}).encode()
        request = urllib.request.Request(f"{served.url}login", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, context=trust) as answer:
            assert "; Secure" in answer.headers["set-cookie"]


def test_read_only_changes_nothing_whoever_asks(root):
    with serving(root, "--read-only") as served:
        page = served.log_in()
        for headers in (served.bearer, page):
            assert served.ask("GET", "/api/v1/status", None, headers).status == 200
            for path in ("/tasks", "/workers/adam/message", "/workers/adam/restart", "/train/pause"):
                assert served.ask("POST", f"/api/v1{path}", {"text": "x"}, headers).status == 403
            for method in ("PUT", "DELETE", "PATCH"):
                assert served.ask(method, "/api/v1/tasks", None, headers).status == 403
        assert served.get("/tasks")["tasks"] == []


def test_a_port_that_is_taken_is_said_and_the_last_one_is_taken_again(root, tmp_path):
    other = make_root(tmp_path / "other", tmp_path / "repository")
    with serving(root) as served:
        refused = run(other, f"--port={served.port}")
        assert refused.returncode == 1
        assert str(served.port) in refused.stderr
        port = served.port
    with serving(root) as again:
        assert again.port == port
    assert run(root, "--port", "70000").returncode == 1


def test_names_of_the_settings_are_answered(root):
    with open(root.config_file, "a", encoding="utf-8") as config:
        config.write('\n[web]\nhosts = ["board.example.org", "proxy.example.org:443"]\n')
    with serving(root) as served:
        for host in (f"board.example.org:{served.port}", "proxy.example.org:443"):
            assert served.ask("GET", "/api/v1/status", Host=host).status == 200
        for host in ("board.example.org", "other.example.org"):
            assert served.ask("GET", "/api/v1/status", Host=host).status == 403


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("localhost:8642", True),
        ("[::1]:8642", True),
        ("192.0.2.7:8642", True),
        ("localhost", False),
        ("localhost:8643", False),
        ("localhost.evil.example:8642", False),
        ("8642", False),
        ("", False),
    ],
)
def test_names(host, answered):
    addresses = addresses_of("http", "127.0.0.1", 8642, ())
    assert addresses.answers_to(host, "192.0.2.7") is answered


def test_a_usual_port_need_not_be_named():
    addresses = addresses_of("https", "0.0.0.0", 443, ("board.example.org",))
    assert addresses.answers_to("board.example.org")
    assert addresses.is_own_page("https://board.example.org", "board.example.org:443")
    assert not addresses.is_own_page("https://board.example.org:444", "board.example.org")


def test_what_is_this_machine_alone():
    assert [host for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9") if not is_loopback(host)] == []
    assert [host for host in ("0.0.0.0", "::", "10.0.0.1", "localhost.example") if is_loopback(host)] == []
    assert ServingPlace("::1", 0).url(80) == "http://[::1]/"


def test_the_code_is_a_square_with_a_margin():
    lines = code_of("https://192.0.2.7:8642/#token=" + "x" * 43).split("\n")
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) == 2 * len(lines) - 1
    assert set(lines[0]) == {"█"}
