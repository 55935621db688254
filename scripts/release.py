# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Versions and releases: docs/releases.md says how they work.

  check         the files that name the version or a release agree
  tags          set the annotated tags of docs/releases.md that this clone lacks
  dist          write a source tarball of what is committed, and its checksum, to BUILD/dist
  new VERSION   prepare a release: header, changelog, CITATION.cff and docs/releases.md
"""

import argparse
import datetime
import gzip
import hashlib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADER, CHANGELOG, CITATION, RELEASES = "host/include/systole.h", "CHANGELOG.md", "CITATION.cff", "docs/releases.md"
VERSION = r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)"
DATE = r"\d{4}-\d\d-\d\d"
SECTION = re.compile(rf"^## (?:({VERSION}) - ({DATE})|(Unreleased))$")
ROW = re.compile(rf"^\| ({VERSION}) \| ({DATE}) \| (?:`([0-9a-f]{{7,40}})`|-) \| (.+?) \|$")


class Problem(Exception):
    """What the user can put right, in one line."""


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def version_of_header(text):
    parts = [re.search(rf"^#define SYSTOLE_VERSION_{part} (\d+)$", text, re.M) for part in ("MAJOR", "MINOR", "PATCH")]
    if None in parts:
        raise Problem(f"{HEADER}: no SYSTOLE_VERSION_MAJOR, _MINOR and _PATCH")
    return ".".join(part[1] for part in parts)


def sections_of(text):
    """Problems of the changelog, and [(version, or None of what is not released, date, number of entries)]."""
    problems, found = [], []
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{CHANGELOG}:{number}"
        if line.startswith("## "):
            section = SECTION.match(line)
            if not section:
                problems.append(f"{where}: '{line}' is neither '## Unreleased' nor '## VERSION - YYYY-MM-DD'")
                continue
            found.append([section[1], section[2], 0])
        elif line.startswith("- ") and found:
            found[-1][2] += 1
        elif line.startswith(" ") and line.strip() and found:
            problems.append(f"{where}: an entry is one line; this one goes on")
    if not found or found[0][0] is not None:
        problems.append(f"{CHANGELOG}: the first section is '## Unreleased'")
    problems += [f"{CHANGELOG}: {version} has no entry" for version, _, entries in found if version and not entries]
    return problems, [(version, date) for version, date, _ in found if version]


def rows_of(text):
    """The releases of docs/releases.md, newest first: (version, date, commit or None, what it is)."""
    return [row.groups() for row in map(ROW.match, text.splitlines()) if row]


def problems_of(root, build=None):
    def read(name):
        try:
            return (root / name).read_text()
        except OSError as error:
            raise Problem(f"{name}: {error.strerror}") from error

    version = version_of_header(read(HEADER))
    problems, sections = sections_of(read(CHANGELOG))
    rows = rows_of(read(RELEASES))
    for name, listed in ((CHANGELOG, sections), (RELEASES, rows)):
        order = [numbers(entry[0]) for entry in listed]
        if order != sorted(set(order), reverse=True):
            problems.append(f"{name}: the releases are not in order, newest first, each once")
        if not listed:
            problems.append(f"{name}: no release")
        elif listed[0][0] != version:
            problems.append(f"{name}: the newest release is {listed[0][0]}, but {HEADER} says {version}")
    for missing in sorted({s[:2] for s in sections} ^ {r[:2] for r in rows}):
        here, there = (CHANGELOG, RELEASES) if missing in sections else (RELEASES, CHANGELOG)
        problems.append(f"{here}: {missing[0]} of {missing[1]} is not in {there}")
    unknown = [row[0] for row in rows[1:] if not row[2]]
    problems += [f"{RELEASES}: {old} has no commit; only the newest release may have '-'" for old in unknown]

    citation = dict(re.findall(r"^([\w-]+): *\"?([^\"\n]*)\"?$", read(CITATION), re.M))
    for key in ("cff-version", "message", "title", "authors", "version", "date-released"):
        if key not in citation:
            problems.append(f"{CITATION}: no '{key}'")
    if citation.get("version", version) != version:
        problems.append(f"{CITATION}: version {citation['version']}, but {HEADER} says {version}")
    if sections and citation.get("date-released", sections[0][1]) != sections[0][1]:
        problems.append(f"{CITATION}: date-released {citation['date-released']}, but {CHANGELOG} says {sections[0][1]}")

    built = build / "python/VERSION" if build else None
    if built and built.exists() and built.read_text().strip() != version:
        problems.append(f"{built}: version {built.read_text().strip()}, but {HEADER} says {version}; build again")
    return problems


def git(root, *words, environment=None):
    try:
        result = subprocess.run(["git", "-C", str(root), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                env={**os.environ, "LC_ALL": "C", **(environment or {})})
    except FileNotFoundError as error:
        raise Problem("git is missing: run scripts/setup.sh") from error
    if result.returncode:
        said = result.stderr.decode(errors="replace").strip().splitlines() or ["failed"]
        raise Problem(f"git {words[0]}: {next((line for line in said if line.startswith('fatal')), said[-1])}")
    return result.stdout


def need_clone(root):
    try:
        top = git(root, "rev-parse", "--show-toplevel").decode().strip()
    except Problem as error:
        if "not a git repository" not in str(error):  # but git is missing, or does not trust the folder's owner
            raise
        top = ""
    if not top or pathlib.Path(top).resolve() != root.resolve():
        raise Problem(f"{root} is not a git clone, but an unpacked tarball or a copy; run this in a clone")


def commit_of(root, name):
    try:
        return git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
    except Problem:
        return None


def commit_of_row(root, version, commit):
    """The commit of a release: the one that is listed, or the one that added the row."""
    if commit:
        found = commit_of(root, commit)
        if found:
            return found
        hint = "fetch the whole history: git fetch --unshallow"
        shallow = git(root, "rev-parse", "--is-shallow-repository").strip() == b"true"
        raise Problem(f"v{version}: no commit {commit} in this clone; {hint if shallow else 'its history was rewritten'}")
    added = git(root, "log", "--reverse", "--format=%H", f"-S| {version} |", "--", RELEASES).decode().split()
    if not added:
        raise Problem(f"v{version}: no commit has its row of {RELEASES}; commit the release first")
    return added[0]


def tags(root):
    need_clone(root)
    problems, new, rows = [], 0, rows_of((root / RELEASES).read_text())
    for version, _, commit, what in reversed(rows):
        try:
            wanted, there = commit_of_row(root, version, commit), commit_of(root, f"refs/tags/v{version}")
            if there is None:
                # The same tag in every clone, whoever sets it.
                name, mail, date = git(root, "log", "-1", "--format=%cn%n%ce%n%cI", wanted).decode().splitlines()
                who = {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail, "GIT_COMMITTER_DATE": date}
                git(root, "tag", "--annotate", "--no-sign", "-m", f"Systole {version}: {what}", f"v{version}", wanted, environment=who)
                print(f"release: v{version} is {wanted[:7]}")
                new += 1
            elif there != wanted:
                problems.append(f"tag v{version} is {there[:7]}, but {RELEASES} says {wanted[:7]}; delete the tag if it is wrong")
        except Problem as error:
            problems.append(str(error))
    print(f"release: {len(rows)} releases, {new} new tags")
    return problems


def dist(root, build, ref):
    need_clone(root)
    commit = commit_of(root, ref)
    if commit is None:
        raise Problem(f"no commit '{ref}'; `make tags` sets the tags of releases")
    name = ref.removeprefix("v") if re.fullmatch(f"v{VERSION}", ref) else version_of_header(git(root, "show", f"{commit}:{HEADER}").decode())
    released = commit_of(root, f"refs/tags/v{name}")
    archive = git(root, "-c", "tar.umask=0022", "-c", "core.autocrlf=false", "archive", "--format=tar", f"--prefix=systole-{name}/", commit)
    packed = gzip.compress(archive, 9, mtime=0)
    folder = build / "dist"
    target = folder / f"systole-{name}.tar.gz"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        digest = f"{hashlib.sha256(packed).hexdigest()}  {target.name}\n".encode()
        for path, content in ((target, packed), (folder / f"{target.name}.sha256", digest)):
            part = path.with_name(f"{path.name}.{os.getpid()}.part")
            try:
                part.write_bytes(content)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise Problem(f"{error.filename or folder}: {error.strerror}") from error
    if ref == "HEAD" and git(root, "status", "--porcelain"):
        print("release: changes that are not committed are not in it")
    if released != commit:
        print(f"release: commit {commit[:7]} is not the one of tag v{name}: no release")
    print(f"release: wrote {target} ({len(packed):,} bytes)\n{digest.decode()}", end="")


def prepare(root, version, what, date):
    if not re.fullmatch(VERSION, version):
        raise Problem(f"'{version}' is no version: MAJOR.MINOR.PATCH is wanted")
    problems = problems_of(root)
    if problems:
        return problems
    header, changelog = (root / HEADER).read_text(), (root / CHANGELOG).read_text()
    old = version_of_header(header)
    if not re.fullmatch(DATE, date):
        raise Problem(f"'{date}' is no date: YYYY-MM-DD is wanted")
    if numbers(version) <= numbers(old):
        raise Problem(f"{version} is not above {old}, the present version")
    if not what or "|" in what or "\n" in what:
        raise Problem("say in one line what the release is, without '|': --title \"...\"")
    unreleased = changelog.split("\n## ")[1]
    if "\n- " not in unreleased:
        raise Problem(f"{CHANGELOG}: nothing is listed under '## Unreleased'")
    for part, number in zip(("MAJOR", "MINOR", "PATCH"), version.split(".")):
        header = re.sub(rf"^(#define SYSTOLE_VERSION_{part}) \d+$", rf"\1 {number}", header, flags=re.M)
    releases, citation = (root / RELEASES).read_text(), (root / CITATION).read_text()
    last = next(row for row in releases.splitlines() if ROW.match(row))
    if "| - |" in last:  # its own row could not name it
        need_clone(root)
        releases = releases.replace(last, last.replace("| - |", f"| `{commit_of_row(root, old, None)[:7]}` |"))
        last = last.replace("| - |", f"| `{commit_of_row(root, old, None)[:7]}` |")
    (root / HEADER).write_text(header.replace(f'"{old}"', f'"{version}"'))
    (root / CHANGELOG).write_text(changelog.replace("## Unreleased\n", f"## Unreleased\n\n## {version} - {date}\n\n{what}\n", 1))
    (root / RELEASES).write_text(releases.replace(last, f"| {version} | {date} | - | {what} |\n{last}"))
    citation = re.sub(r"^version: .*$", f"version: {version}", citation, flags=re.M)
    (root / CITATION).write_text(re.sub(r"^date-released: .*$", f"date-released: {date}", citation, flags=re.M))
    print(f"release: {version} is prepared; next: make generate, make test, commit, make tags, make dist")
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="root of the project")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder (default: build)")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    commands.add_parser("tags")
    commands.add_parser("dist").add_argument("--ref", default="HEAD", help="commit or tag to pack (default: HEAD)")
    new = commands.add_parser("new")
    new.add_argument("version")
    new.add_argument("--title", default="", help="what the release is, in one line")
    new.add_argument("--date", default=datetime.date.today().isoformat(), help="date of the release (default: today)")
    args = parser.parse_args()
    problems = []
    try:
        if args.command == "check":
            problems = problems_of(args.root, args.build)
        elif args.command == "tags":
            problems = tags(args.root)
        elif args.command == "dist":
            dist(args.root, args.build, args.ref)
        else:
            problems = prepare(args.root, args.version, args.title, args.date)
    except Problem as error:
        problems = [str(error)]
    for problem in problems:
        print(f"release: {problem}", file=sys.stderr)
    if args.command == "check" and not problems:
        print("release: header, changelog, list of releases and citation agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
