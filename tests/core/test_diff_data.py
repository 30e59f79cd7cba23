from __future__ import annotations

from llmc.core.diff_data import patch_data

PATCH = """\
diff --git a/old b/new
similarity index 80%
rename from old
rename to new
--- a/old
+++ b/new
@@ -1,3 +1,4 @@ first
 one
-two
+2
+diff --git a/x b/x
 three
@@ -9 +10 @@
--- nine
+++ ten
\\ No newline at end of file
diff --git a/pic b/pic
index 1..2
Binary files a/pic and b/pic differ
diff --git a/x b/x
new file mode 100644
@@ -0,0 +1 @@
+x\r
"""
RAW = (
    *(":100644 100644 a b R080", "old", "new"),
    *(":100644 100644 a b M", "pic"),
    *(":000000 100644 0 b A", "x"),
)


def test_a_patch_as_data():
    data = patch_data(PATCH, RAW)
    assert [(each["path"], each["old_path"], each["status"], each["binary"]) for each in data.files] == [
        ("new", "old", "renamed", False),
        ("pic", "pic", "changed", True),
        ("x", None, "added", False),
    ]
    first, second, third = data.hunks
    assert (first["path"], first["old_path"], first["old_start"], first["new_count"]) == ("new", "old", 1, 4)
    assert [(line["kind"], line["old_no"], line["new_no"], line["text"]) for line in first["lines"]] == [
        ("context", 1, 1, "one"),
        ("removed", 2, None, "two"),
        ("added", None, 2, "2"),
        ("added", None, 3, "diff --git a/x b/x"),
        ("context", 3, 4, "three"),
    ]
    assert second["lines"] == [
        {"kind": "removed", "old_no": 9, "new_no": None, "text": "-- nine"},
        {"kind": "added", "old_no": None, "new_no": 10, "text": "++ ten", "no_newline": True},
    ]
    assert third["lines"] == [{"kind": "added", "old_no": None, "new_no": 1, "text": "x\r"}]


def test_a_file_that_became_a_link_goes_and_comes():
    patch = "diff --git a/x b/x\ndeleted file\n@@ -1 +0,0 @@\n-x\ndiff --git a/x b/x\nnew file\n@@ -0,0 +1 @@\n+y\n"
    data = patch_data(patch, (":100644 120000 a b T", "x"))
    assert [each["status"] for each in data.files] == ["deleted", "added"]
    assert [hunk["old_path"] for hunk in data.hunks] == ["x", None]


def test_no_changes():
    assert patch_data("", ()).files == []
