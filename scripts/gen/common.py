# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""What the generators share: reading a spec file, banners, case conversion."""

import pathlib

import yaml


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # libyaml's, where PyYAML has it, takes a tenth of the time
    """Of a key that is there twice the plain loader keeps the last, silently."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise ValueError(f"line {key.start_mark.line + 1}: '{key.value}' is there twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _check_numbers(spec: dict) -> None:
    """Numbers that tell the items of a collection apart (id, opcode) are there once."""
    for name, collection in spec.items():
        if isinstance(collection, dict):
            items = [{"name": key, **item} for key, item in collection.items() if isinstance(item, dict)]
        elif isinstance(collection, list):
            items = [item for item in collection if isinstance(item, dict)]
        else:
            continue
        for key in ("id", "opcode"):
            seen = {}
            for item in (item for item in items if key in item):
                if item[key] in seen:
                    raise ValueError(f"{name}: '{seen[item[key]]}' and '{item['name']}' have the same {key} {item[key]}")
                seen[item[key]] = item["name"]


def load(root: pathlib.Path, name: str) -> dict:
    """Reads docs/spec/<name>. ValueError names the file: what is there twice."""
    path = root / "docs" / "spec" / name
    try:
        with open(path, encoding="utf-8") as f:
            spec = yaml.load(f, _Loader)  # a SafeLoader
        _check_numbers(spec)
    except (ValueError, yaml.YAMLError) as error:
        raise ValueError(f"docs/spec/{name}: {error}") from None
    return spec


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
