# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Results of deterministic tools, kept by the digest of all that they were made from: netlists, elaborated designs.

Lies in the folder SYSTOLE_CACHE, or else in systole below the user's cache; SYSTOLE_CACHE= (empty) turns it off. What lay untouched
longest goes when there is more than a gibibyte. A cache that cannot be written is no error: then nothing is kept.

    kept = cache.Entry("map", version, script, source.read_bytes())
    if not kept.restore(folder):
        run_the_tool(folder)
        kept.store(folder, ["net.json", "map.log"])
"""

import contextlib
import functools
import hashlib
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile

LIMIT = 1 << 30


def place():
    """The cache's folder, None if it is off."""
    named = os.environ.get("SYSTOLE_CACHE")
    if named is not None:
        return pathlib.Path(named) if named else None
    base = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):  # no home
        return (pathlib.Path(base) if base else pathlib.Path.home() / ".cache") / "systole"
    return None


@functools.lru_cache(maxsize=None)
def version(*command):
    """What a tool says of its version."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def sources(folder, *patterns):
    """Names and contents of the files below a folder, as one text for a digest."""
    paths = sorted({path for pattern in patterns for path in folder.rglob(pattern)})
    return "".join(f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in paths)


def uses(rtl):
    """For the name of each module or package below a folder of RTL: the texts that it depends on, its own and those of all that it names,
    in a fixed order."""
    texts = {path.stem: path.read_text() for path in rtl.rglob("*.sv")}
    named = {module: set(re.findall(r"\bsystole_\w+", text)) & set(texts) for module, text in texts.items()}
    packages = {module for module in texts if module.endswith("_pkg")}  # read by every run, whatever it looks at
    files = [path.read_text() for path in sorted(rtl.glob("*.f"))]

    def closure(module):
        found, left = set(), packages | {module}
        while left:
            found |= left
            left = set().union(*(named[known] for known in left)) - found
        return [*files, *(texts[known] for known in sorted(found))]
    return {module: closure(module) for module in texts}


def canonical(rtlil):
    """RTLIL with its internal names numbered in order: what was read beside a module moves their numbers."""
    numbers = {}
    return re.sub(r"(?<!cell )(?<=\s)\$\S*\d\S*", lambda match: numbers.setdefault(match[0], f"${len(numbers)}"),
                  re.sub(r"(?m)^autoidx \d+$", "", rtlil))


class Entry:
    """One result. parts: texts and bytes, all that it depends on, in order."""

    def __init__(self, *parts):
        digest = hashlib.sha256()
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            digest.update(len(data).to_bytes(8, "little") + data)
        folder = place()
        self.path = folder and folder / f"{digest.hexdigest()}.tar.gz"

    def restore(self, folder):
        """Puts the kept files into a folder; whether there were any."""
        if not self.path or not self.path.exists():
            return False
        try:
            with tarfile.open(self.path) as archive:
                archive.extractall(folder)
            os.utime(self.path)
        except (OSError, EOFError, tarfile.TarError):  # a broken one, or gone meanwhile
            return False
        return True

    def store(self, folder, names):
        """Keeps files of a folder, by their names in it."""
        if not self.path:
            return
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file, tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive:
                    for name in names:
                        archive.add(folder / name, arcname=name)
                os.replace(temporary, self.path)
            except BaseException:
                os.unlink(temporary)
                raise
            self._trim()

    def _trim(self):
        kept = sorted(((entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in os.scandir(self.path.parent)
                       if entry.name.endswith(".tar.gz")), reverse=True)
        total = 0
        for _, size, path in kept:
            total += size
            if total > LIMIT:
                os.unlink(path)
