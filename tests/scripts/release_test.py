# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""scripts/release.py: the project's files agree on the version; each seeded disagreement is named; tags and tarballs in copies."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import release  # noqa: E402

FILES = (release.HEADER, release.CHANGELOG, release.CITATION, release.RELEASES, "Makefile", "scripts/release.py", "scripts/python",
         "scripts/interrupt/sitecustomize.py", "docs/spec/presets.yaml")
CLEAN = {**{name: value for name, value in os.environ.items() if not name.startswith("GIT_")}, "GIT_CONFIG_GLOBAL": os.devnull,
         "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org"}


class Copy(unittest.TestCase):
    """The files that a release is made of, in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = self.folder / "project"
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.version = release.version_of_header(self.read(release.HEADER))

    def read(self, name):
        return (self.root / name).read_text()

    def edit(self, name, old, new):
        self.assertIn(old, self.read(name))
        (self.root / name).write_text(self.read(name).replace(old, new, 1))

    def run_in(self, root, *command, **environment):
        result = subprocess.run([str(part) for part in command], cwd=root, env={**CLEAN, **environment}, text=True, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return result.returncode, result.stdout

    def release(self, *arguments):
        return self.run_in(self.root, sys.executable, "scripts/release.py", "--root", self.root, "--build", self.folder / "build", *arguments)

    def git(self, *words):
        code, said = self.run_in(self.root, "git", *words, GIT_COMMITTER_NAME="C", GIT_COMMITTER_EMAIL="c@example.org",
                                 GIT_COMMITTER_DATE="2026-01-02T03:04:05+00:00", GIT_AUTHOR_DATE="2026-01-02T03:04:05+00:00")
        self.assertEqual(code, 0, said)
        return said.strip()

    def commit(self):
        if not (self.root / ".git").exists():
            self.git("init", "--quiet", "--initial-branch=main")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "Commit")
        return self.git("rev-parse", "HEAD")

    def list_only(self, *commits):
        """Leaves the newest releases in the table, with these commits."""
        rows = [line for line in self.read(release.RELEASES).splitlines() if release.ROW.match(line)]
        kept = [f"| {release.ROW.match(row)[1]} | {release.ROW.match(row)[2]} | {commit} | {release.ROW.match(row)[4]} |"
                for row, commit in zip(rows, commits)]
        self.edit(release.RELEASES, "\n".join(rows), "\n".join(kept))
        return [release.ROW.match(row)[1] for row in kept]


class CheckTest(Copy):
    def test_the_project_agrees(self):
        self.assertEqual(release.problems_of(ROOT), [])

    def test_each_disagreement_is_named(self):
        newest = next(line for line in self.read(release.RELEASES).splitlines() if release.ROW.match(line))
        date = newest.split(" | ")[1]
        major = self.version.split(".")[0]
        for name, old, new, wanted in (
                (release.HEADER, f"VERSION_MAJOR {major}", f"VERSION_MAJOR {int(major) + 1}", f"the newest release is {self.version}, but"),
                (release.HEADER, "#define SYSTOLE_VERSION_MINOR", "#define SYSTOLE_VERSION_SMALL", "no SYSTOLE_VERSION_MAJOR, _MINOR"),
                (release.CHANGELOG, f"## {self.version} - {date}", f"## {self.version} - 2001-01-01", f"{self.version} of 2001-01-01 is not in"),
                (release.CHANGELOG, f"## {self.version} - {date}", f"## {self.version}", "is neither '## Unreleased' nor"),
                (release.CHANGELOG, "## Unreleased", "## 99.0.0 - 2099-01-01", "the first section is '## Unreleased'"),
                (release.CHANGELOG, "## 0.12.0", "## 0.2.1", "not in order"),
                (release.CHANGELOG, "\n- ", "\n- An entry that goes on\n  in a second line.\n- ", "an entry is one line"),
                (release.CHANGELOG, f"## {self.version} -", f"## 99.0.0 - 2099-01-01\n\n## {self.version} -", "99.0.0 has no entry"),
                (release.RELEASES, newest, "", "the newest release is"),
                (release.RELEASES, "| 0.1.0 | 2026-11-21 | `f93f5ba` |", "| 0.1.0 | 2026-11-21 | - |", "0.1.0 has no commit"),
                (release.CITATION, f"version: {self.version}", "version: 99.0.0", "CITATION.cff: version 99.0.0, but"),
                (release.CITATION, f"date-released: {date}", "date-released: 2001-01-01", "CITATION.cff: date-released 2001-01-01, but"),
                (release.CITATION, "authors:", "writers:", "CITATION.cff: no 'authors'")):
            with self.subTest(name=name, new=new):
                before = self.read(name)
                self.edit(name, old, new)
                code, said = self.release("check")
                self.assertEqual(code, 1, said)
                self.assertIn(wanted, said)
                self.assertNotIn("Traceback", said)
                (self.root / name).write_text(before)
                self.assertEqual(self.release("check")[0], 0)

    def test_the_version_of_the_built_packages(self):
        (self.folder / "build/python").mkdir(parents=True)
        (self.folder / "build/python/VERSION").write_text(f"{self.version}\n")
        self.assertEqual(self.release("check")[0], 0)
        (self.folder / "build/python/VERSION").write_text("0.0.1\n")
        code, said = self.release("check")
        self.assertEqual((code, "version 0.0.1, but" in said), (1, True), said)

    def test_a_file_that_is_not_there(self):
        (self.root / release.CITATION).unlink()
        self.assertEqual(self.release("check"), (1, "release: CITATION.cff: No such file or directory\n"))


class TagsTest(Copy):
    def test_missing_tags_are_set_once_at_their_commits(self):
        table = self.read(release.RELEASES)
        self.edit(release.RELEASES, f"| {self.version} |", "| later |")
        first = self.commit()
        (self.root / release.RELEASES).write_text(table)
        newest, older = self.list_only("-", f"`{first[:7]}`")
        second = self.commit()
        self.commit()
        code, said = self.release("tags")
        self.assertEqual((code, "2 releases, 2 new tags" in said), (0, True), said)
        self.assertEqual(self.git("rev-parse", f"v{older}^{{commit}}"), first)
        self.assertEqual(self.git("rev-parse", f"v{newest}^{{commit}}"), second)
        self.assertEqual(self.git("cat-file", "-t", f"v{newest}"), "tag")
        before = self.git("rev-parse", f"v{newest}")
        self.assertIn("0 new tags", self.release("tags")[1])
        self.git("tag", "--delete", f"v{newest}")
        self.release("tags")
        self.assertEqual(self.git("rev-parse", f"v{newest}"), before)  # the same tag in every clone

    def test_a_tag_that_lies_elsewhere_is_told_and_stays(self):
        first = self.commit()
        version, = self.list_only(f"`{first[:7]}`")
        second = self.commit()
        self.git("tag", "-a", "-m", "wrong", f"v{version}", second)
        code, said = self.release("tags")
        self.assertEqual((code, f"tag v{version} is {second[:7]}, but" in said), (1, True), said)
        self.assertEqual(self.git("rev-parse", f"v{version}^{{commit}}"), second)

    def test_a_commit_that_is_not_there(self):
        self.list_only("`0123456`")
        self.commit()
        code, said = self.release("tags")
        self.assertEqual((code, "no commit 0123456 in this clone; its history was rewritten" in said), (1, True), said)

    def test_without_a_clone(self):
        for command in ("tags", "dist"):
            code, said = self.release(command)
            self.assertEqual((code, "is not a git clone" in said), (1, True), said)
        self.assertFalse((self.folder / "build/dist").exists())


class DistTest(Copy):
    def test_the_tarball_is_what_is_committed_and_the_same_each_time(self):
        self.commit()
        (self.root / "left_out").write_text("not committed\n")
        self.edit("Makefile", "# The front door", "# edited")
        name = f"systole-{self.version}"
        target = self.folder / f"build/dist/{name}.tar.gz"
        code, said = self.release("dist")
        self.assertEqual((code, "not committed are not in it" in said), (0, True), said)
        self.assertIn("no release", said)
        first = target.read_bytes()
        os.utime(self.root / "CHANGELOG.md", (1, 1))
        os.chmod(self.root / "CHANGELOG.md", 0o600)
        self.assertEqual(self.release("dist")[0], 0)
        self.assertEqual(target.read_bytes(), first)
        self.assertEqual(sorted(path.name for path in target.parent.iterdir()), [target.name, f"{target.name}.sha256"])
        self.assertEqual(self.run_in(target.parent, "sha256sum", "-c", f"{target.name}.sha256")[0], 0)
        with tarfile.open(target) as archive:
            members = archive.getmembers()
            self.assertEqual({member.name.split("/")[0] for member in members}, {name})
            self.assertEqual({f"{name}/{path}" for path in FILES}, {member.name for member in members if member.isfile()})
            self.assertEqual({member.mtime for member in members}, {1767323045})  # of the commit
            archive.extractall(self.folder / "unpacked")
        code, said = self.run_in(self.folder / "unpacked" / name, "make", "help")
        self.assertEqual((code, "make dist" in said), (0, True), said)
        self.assertIn("# The front door", (self.folder / "unpacked" / name / "Makefile").read_text())

    def test_a_release(self):
        first = self.commit()
        version, = self.list_only(f"`{first[:7]}`")
        self.commit()
        self.release("tags")
        code, said = self.release("dist", "--ref", f"v{version}")
        self.assertEqual((code, "no release" in said), (0, False), said)
        code, said = self.release("dist", "--ref", "v99.0.0")
        self.assertEqual((code, "no commit 'v99.0.0'" in said), (1, True), said)

    def test_a_build_folder_that_is_a_file(self):
        self.commit()
        (self.folder / "build").write_text("")
        code, said = self.release("dist")
        self.assertEqual((code, "Traceback" in said), (1, False), said)


class NewTest(Copy):
    def test_a_release_is_prepared_and_holds(self):
        old_row = self.list_only("-")
        added = self.commit()
        for text in (release.CHANGELOG, release.CITATION):  # of the one release that is left
            self.assertIn(old_row[0], self.read(text))
        sections = self.read(release.CHANGELOG).split("\n## ")
        (self.root / release.CHANGELOG).write_text("\n## ".join([sections[0], "Unreleased\n\n### Added\n\n- A thing.\n", sections[2]]))
        major = int(self.version.split(".")[0])
        wanted = f"{major + 1}.0.0"
        code, said = self.release("new", wanted, "--title", "More of everything", "--date", "2099-01-01")
        self.assertEqual(code, 0, said)
        self.assertEqual(self.release("check")[0], 0)
        self.assertEqual(release.rows_of(self.read(release.RELEASES))[0], (wanted, "2099-01-01", None, "More of everything"))
        self.assertEqual(release.rows_of(self.read(release.RELEASES))[1][2], added[:7])
        self.assertIn(f"## Unreleased\n\n## {wanted} - 2099-01-01\n\nMore of everything\n\n### Added\n\n- A thing.\n", self.read(release.CHANGELOG))
        self.assertIn(f'the library that is loaded: "{wanted}"', self.read(release.HEADER))
        code, said = self.release("new", f"{major + 2}.0.0", "--title", "Empty")
        self.assertEqual((code, "nothing is listed under" in said), (1, True), said)

    def test_wrong_versions(self):
        before = {name: self.read(name) for name in FILES}
        for arguments, wanted in ((["1.2"], "is no version"), (["1.02.0"], "is no version"), (["0.0.1"], "is not above"), ([self.version], "is not above"),
                                  (["99.0.0"], "say in one line"), (["99.0.0", "--title", "a | b"], "say in one line"),
                                  (["99.0.0", "--title", "x", "--date", "today"], "is no date")):
            code, said = self.release("new", *arguments)
            self.assertEqual((code, wanted in said), (1, True), said)
        self.assertEqual({name: self.read(name) for name in FILES}, before)


if __name__ == "__main__":
    unittest.main()
