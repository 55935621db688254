#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Makes the wheel of the packages in this folder: for pip (PEP 517), or as a program.

    python3 systole_build.py FOLDER      writes the wheel to FOLDER, prints its path

Nothing is written beside this file, which may be in a folder that is only read. Links are followed: a wheel holds files.
"""

import base64
import hashlib
import importlib.util
import os
import pathlib
import re
import sys
import sysconfig
import time
import zipfile

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

HERE = pathlib.Path(__file__).resolve().parent


def _forget_bytecode():
    """Python has stored this module's bytecode beside it, where it may write."""
    cached = pathlib.Path(importlib.util.cache_from_source(__file__))
    try:
        cached.unlink()
        cached.parent.rmdir()
    except OSError:
        pass  # not there, or other modules' too


_forget_bytecode()


def _configuration():
    return tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))


def _version():
    return (HERE / "VERSION").read_text("ascii").strip()


def _tag():
    """Native code, but of no particular Python: it is called through ctypes."""
    return "py3-none-" + re.sub(r"\W", "_", sysconfig.get_platform())


def _name(project):
    return f"{project['name'].replace('-', '_')}-{_version()}"


def _licences(project):
    """The licence, and the notice of a source tree that has one."""
    return [HERE / name for name in project["license-files"] if (HERE / name).exists()]


def _metadata(project):
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {_version()}", f"Summary: {project['description']}",
             f"License-Expression: {project['license']}"]
    lines += [f"License-File: {path.name}" for path in _licences(project)]
    lines += [f"Project-URL: {label}, {url}" for label, url in project.get("urls", {}).items()]
    lines += [f"Keywords: {','.join(project['keywords'])}"]
    lines += [f"Classifier: {name}" for name in project["classifiers"]]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    for extra, names in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {name}; extra == "{extra}"' for name in names)]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / project["readme"]).read_text("utf-8")]
    return "\n".join(lines)


def _information(project):
    """The files of the .dist-info folder but RECORD, by name."""
    points = "".join(f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
                     for group, entries in project["entry-points"].items())
    files = {"METADATA": _metadata(project), "WHEEL": f"Wheel-Version: 1.0\nGenerator: systole_build {_version()}\n"
             f"Root-Is-Purelib: false\nTag: {_tag()}\n", "entry_points.txt": points, "top_level.txt": "systole\nsystole_jax\nsystole_torch\n"}
    return {**{name: text.encode() for name, text in files.items()},
            **{f"licenses/{path.name}": path.read_bytes() for path in _licences(project)}}


def _files(configuration):
    """The files of the packages: where they are in the wheel, and here."""
    packing = configuration["tool"]["systole"]
    for pattern in packing["needed"]:
        if not any(path.is_file() for path in HERE.glob(pattern)):
            raise SystemExit(f"systole_build: {HERE / pattern} does not exist: the package is made from a built tree's build/python, "
                             "or from share/systole/python of an installation")
    if not (HERE / "LICENSE").exists():
        raise SystemExit(f"systole_build: {HERE / 'LICENSE'} does not exist: the licence goes with the package")
    found = {path for pattern in packing["files"] for path in HERE.glob(pattern) if path.is_file()}
    return {path.relative_to(HERE).as_posix(): path for path in sorted(found)}


def get_requires_for_build_wheel(config_settings=None):
    """Nothing but Python."""
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    project = _configuration()["project"]
    folder = f"{_name(project)}.dist-info"
    for name, data in _information(project).items():
        path = pathlib.Path(metadata_directory, folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    configuration = _configuration()
    project = configuration["project"]
    wheel = f"{_name(project)}-{_tag()}.whl"
    info = f"{_name(project)}.dist-info"
    contents = {**_files(configuration), **{f"{info}/{name}": data for name, data in _information(project).items()}}
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]  # a zip file knows 1980 and later
    record = []
    target = pathlib.Path(wheel_directory, wheel)
    part = target.with_suffix(".part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:

            def write(name, data, mode=0o644):
                entry = zipfile.ZipInfo(name, when)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100000 | mode) << 16
                archive.writestr(entry, data)

            for name, given in contents.items():
                data = given if isinstance(given, bytes) else given.read_bytes()
                write(name, data, 0o755 if ".so" in name else 0o644)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f"{name},sha256={digest},{len(data)}\n")
            write(f"{info}/RECORD", "".join([*record, f"{info}/RECORD,,\n"]))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """The interface wants the function; the sources are those of the whole project."""
    raise SystemExit("systole_build: there is no source distribution of the packages alone: build the wheel (make wheel)")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit("usage: systole_build.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        print(folder / build_wheel(folder))
    except OSError as error:
        raise SystemExit(f"systole_build: {error.filename or folder}: {error.strerror}") from None


if __name__ == "__main__":
    main()
