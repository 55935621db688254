# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""What the generators share: reading a spec file, banners, case conversion."""

import pathlib

import yaml


def load(root: pathlib.Path, name: str) -> dict:
    """Reads docs/spec/<name>."""
    path = root / "docs" / "spec" / name
    with open(path, encoding="utf-8") as f:
        return yaml.safe_load(f)


def banner(comment: str, source: str) -> str:
    """Licence tag and origin, as comments of the target language."""
    return (
        f"{comment} SPDX-FileCopyrightText: Systole contributors\n"
        f"{comment} SPDX-License-Identifier: Apache-2.0\n"
        f"{comment} Generated from docs/spec/{source} by scripts/generate.py: edit the source.\n"
    )


def camel(name: str) -> str:
    """fault_cycle_lo -> FaultCycleLo."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def clog2(n: int) -> int:
    return max(1, (n - 1).bit_length())
