# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Does the tutorials of docs/tutorials as a reader would, page by page, and compares what the commands print.

A block ```console has commands behind "$ " and below each what it prints; "..." stands for anything, on a line of its own for any
lines. A command without anything below may print what it likes. A block ```diff is a change of the project, applied with patch. A
block ```python whose comment in front is <!-- file: NAME --> is written to that file. Blocks behind <!-- long --> build or run long
and are done with --long only, those behind <!-- by hand --> never. Each page is done in a copy of the project: without --long with the
programs of the build folder, with --long in <build>/tutorials, whose own build folder stays for the next time.
"""

import argparse
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"((?:<!-- (?:long|by hand|file: \S+) -->\n)*)```(console|diff|python)\n(.*?)^```$", re.M | re.S)
LEFT_OUT = (".git", "build*", ".venv*")  # of the project's root
COMMAND_SECONDS = 3600


class TutorialError(Exception):
    """A step that does not work as the page says."""


@dataclasses.dataclass
class Block:
    line: int
    kind: str
    text: str
    marks: set

    @property
    def file(self):
        return next((mark.removeprefix("file: ") for mark in self.marks if mark.startswith("file: ")), None)


def blocks_of(text):
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        yield Block(line, match[2], match[3], set(re.findall(r"<!-- (.*?) -->", match[1])))


def steps_of(block):
    """(command, what it prints) of a console block; a command may go on behind a backslash."""
    steps, lines = [], block.text.splitlines()
    while lines:
        line = lines.pop(0)
        if not line.startswith("$ "):
            raise TutorialError(f"line {block.line}: a block of commands begins with \"$ \", not with {line!r}")
        command = line[2:]
        while command.endswith("\\") and lines:
            command = f"{command}\n{lines.pop(0)}"
        expected = []
        while lines and not lines[0].startswith("$ "):
            expected.append(lines.pop(0))
        steps.append((command, expected))
    return steps


def matches(expected, printed):
    """Whether the lines printed are those expected; "..." for anything."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    return re.fullmatch(pattern, printed if not printed or printed.endswith("\n") else printed + "\n") is not None


def run(command, tree):
    # As a reader's shell has it: `make` in `make test` would name the folders that it enters.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    try:
        result = subprocess.run(["bash", "-c", command], cwd=tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                errors="replace", check=False, env=environment, timeout=COMMAND_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise TutorialError(f"longer than {error.timeout:g} s: {command}") from error
    return result.returncode, result.stdout


def do_block(block, tree):
    if block.kind == "python":
        (tree / block.file).write_text(block.text)
    elif block.kind == "diff":
        result = subprocess.run(["patch", "-p1", "--forward", "--fuzz=0"], cwd=tree, input=block.text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, check=False)
        if result.returncode:
            raise TutorialError(f"the change does not apply:\n{result.stdout}")
    else:
        for command, expected in steps_of(block):
            code, printed = run(command, tree)
            failure_meant = any(line.startswith("exit code ") for line in expected)
            wanted = int(expected[-1].split()[-1]) if failure_meant else 0
            if code != wanted:
                raise TutorialError(f"exit code {code}, not {wanted}: {command}\n{printed[-3000:]}")
            expected = expected[:-1] if failure_meant else expected
            if expected and not matches(expected, printed):
                raise TutorialError(f"{command}\nprints\n{printed[-3000:]}and not\n" + "\n".join(expected))


def do_page(page, tree, long):
    done = 0
    for block in blocks_of(page.read_text()):
        if block.kind == "python" and not block.file or "by hand" in block.marks or ("long" in block.marks and not long):
            continue
        try:
            do_block(block, tree)
        except TutorialError as error:
            raise TutorialError(f"{page.name}:{block.line}: {error}") from error
        done += 1
    return done


def copy(root, tree, build):
    """The project's files; of the tools' folders, and of the build without a build of its own, links."""
    def left_out(folder, names):
        patterns = LEFT_OUT if pathlib.Path(folder) == root else ("__pycache__",)
        return {name for pattern in patterns for name in fnmatch.filter(names, pattern)}

    shutil.copytree(root, tree, symlinks=True, ignore=left_out, dirs_exist_ok=True)
    copy_links(root, tree)
    if build and not (tree / "build").exists():
        (tree / "build").symlink_to(build)


def copy_links(root, tree):
    for name in (".venv", ".venv-jax", ".venv-onnx"):
        if (root / name).exists() and not (tree / name).exists():
            (tree / name).symlink_to(root / name)


def renew(root, tree):
    """The project as it was before the last page, but for its build. A file that a page changed and put back keeps its new time, so that what was
    built from the change is built again."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = pathlib.Path(folder)
        copy(root, fresh, None)
        wanted = {path.relative_to(fresh): path for path in files_of(fresh)}
        for path in files_of(tree):
            if path.relative_to(tree) not in wanted:
                path.unlink()
        for name, source in wanted.items():
            path = tree / name
            if source.is_symlink():
                path.unlink(missing_ok=True)
            elif path.is_file() and path.read_bytes() == source.read_bytes():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, path, follow_symlinks=False)
    copy_links(root, tree)


def files_of(tree):
    own = [item for item in tree.glob("*") if item.name != "build" and not item.is_symlink()]
    return [path for item in own for path in ([item] if item.is_file() else item.rglob("*")) if path.is_file() or path.is_symlink()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="pages to do (default: all of docs/tutorials)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--long", action="store_true", help="also what builds and runs long, in a build of its own")
    parser.add_argument("--here", action="store_true", help="in this copy of the project itself, which the tutorials change")
    args = parser.parse_args()

    for page in args.pages:
        if not page.is_file():
            parser.error(f"{page}: no such page")
    failed = False
    pages = args.pages or sorted((ROOT / "docs/tutorials").glob("*.md"))
    for page in pages:
        try:
            if args.here:
                done = do_page(page, ROOT, args.long)
            elif args.long:
                tree = args.build.resolve() / "tutorials"
                renew(ROOT, tree)
                done = do_page(page, tree, True)
            else:
                with tempfile.TemporaryDirectory() as folder:
                    tree = pathlib.Path(folder) / "systole"
                    copy(ROOT, tree, args.build.resolve())
                    done = do_page(page, tree, False)
        except (TutorialError, OSError) as error:
            print(f"tutorials: {error}", file=sys.stderr)
            failed = True
            continue
        print(f"tutorials: {page.name}: {done} steps work", flush=True)
    return 1 if failed or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
