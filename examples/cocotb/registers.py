# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Reads names, offsets and fields of registers from an IP-XACT file."""

import xml.etree.ElementTree as ET

IPXACT = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"


def _number(element, tag):
    text = element.findtext(f"{IPXACT}{tag}")
    return int(text.removeprefix("'h"), 16) if text.startswith("'h") else int(text)


def read(path):
    """{name: offset} and {name.field: mask} of an IP-XACT file; those of a register file are file.name."""
    offsets, masks = {}, {}

    def walk(parent, prefix, base):
        for child in parent:
            kind = child.tag.removeprefix(IPXACT)
            if kind not in ("register", "registerFile"):
                continue
            name = prefix + child.findtext(f"{IPXACT}name")
            offset = base + _number(child, "addressOffset")
            if kind == "registerFile":
                walk(child, f"{name}.", offset)
                continue
            offsets[name] = offset
            for field in child.iter(f"{IPXACT}field"):
                masks[f"{name}.{field.findtext(f'{IPXACT}name')}"] = ((1 << _number(field, "bitWidth")) - 1) << _number(field, "bitOffset")

    walk(next(ET.parse(path).iter(f"{IPXACT}addressBlock")), "", 0)
    return offsets, masks
