# SPDX-FileCopyrightText: Systole contributors
# SPDX-License-Identifier: Apache-2.0
"""An elaborated register description -> reference page, and IP-XACT file (IEEE 1685-2014). Used by csr.py and scalar.py."""

from xml.sax.saxutils import escape

NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
ACCESS = {"r": ("read-only", "ro"), "w": ("write-only", "wo"), "rw": ("read-write", "rw")}


def text(node) -> str:
    return " ".join((node.get_property("desc") or "").split())


def resets(field):
    value = field.get_property("reset")
    return value if isinstance(value, int) else None


def clears(field) -> bool:
    """Whether a written 1 clears the bit, and nothing else writes it."""
    onwrite = field.get_property("onwrite")
    if onwrite is None:
        return False
    if onwrite.name != "woclr":
        raise SystemExit(f"generate: {field.get_path()}: onwrite = {onwrite.name} has no place in the reference page yet")
    return True


def access(field) -> str:
    return "w1c" if clears(field) else ACCESS[field.get_property("sw").name][1]


# ---- The reference page --------------------------------------------------------

def row(*cells) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def reset_text(field) -> str:
    value = resets(field)
    return "" if value is None else f"0x{value:X}"


def is_plain(register) -> bool:
    """One field as wide as the register, which needs no table of its own."""
    return [field.inst_name for field in register.fields()] == ["value"]


def page_of(node, digits, level=2) -> list:
    """Table of the registers directly in a map, then tables of their fields, then the groups; level: of their headings."""
    registers = [child for child in node.children() if hasattr(child, "fields")]
    groups = [child for child in node.children() if not hasattr(child, "fields")]
    out = [row("address", "register", "access", "reset", "meaning"), "|---|---|---|---|---|"]
    for register in registers:
        plain = next(iter(register.fields())) if is_plain(register) else None
        out.append(row(f"0x{register.absolute_address:0{digits}X}", f"`{register.inst_name}`", access(plain) if plain else "fields",
                       reset_text(plain) if plain else "", text(register)))
    for register in registers:
        if not is_plain(register):
            out += ["", f"{'#' * level} {register.inst_name}", "", row("bits", "field", "access", "reset", "meaning"), "|---|---|---|---|---|"]
            for field in register.fields():
                place = str(field.low) if field.width == 1 else f"{field.high}:{field.low}"
                out.append(row(place, f"`{field.inst_name}`", access(field), reset_text(field), text(field)))
    for group in groups:
        out += ["", f"{'#' * level} {group.get_property('name')}", "", text(group), "", *page_of(group, digits, level + 1)]
    return out


def page(top, title: str, source: str) -> str:
    digits = len(f"{top.size - 1:X}")
    head = [f"# {title}", "", f"<!-- Generated from docs/spec/{source} by scripts/generate.py: edit the source. -->", "", text(top), "",
            "Access is read-only (`ro`), write-only (`wo`), both (`rw`), or `w1c`: a written 1 clears the bit.", ""]
    return "\n".join([*head, *page_of(top, digits)]) + "\n"


# ---- IP-XACT --------------------------------------------------------------------

def element(depth: int, name: str, value) -> str:
    return f"{'  ' * depth}<ipxact:{name}>{escape(str(value))}</ipxact:{name}>"


def named(depth: int, node) -> list:
    """Name, displayed name and description."""
    out = [element(depth, "name", node.inst_name)]
    if node.list_properties() and "name" in node.list_properties():
        out.append(element(depth, "displayName", node.get_property("name")))
    return out + ([element(depth, "description", text(node))] if text(node) else [])


def xml_field(depth: int, field) -> list:
    inside = depth + 1
    out = ["  " * depth + "<ipxact:field>", *named(inside, field), element(inside, "bitOffset", field.low)]
    if resets(field) is not None:
        out += ["  " * inside + "<ipxact:resets>", "  " * (inside + 1) + "<ipxact:reset>", element(inside + 2, "value", f"'h{resets(field):x}"),
                "  " * (inside + 1) + "</ipxact:reset>", "  " * inside + "</ipxact:resets>"]
    out.append(element(inside, "bitWidth", field.width))
    if field.is_volatile:
        out.append(element(inside, "volatile", "true"))
    out.append(element(inside, "access", ACCESS[field.get_property("sw").name][0]))
    if clears(field):
        out.append(element(inside, "modifiedWriteValue", "oneToClear"))
    return [*out, "  " * depth + "</ipxact:field>"]


def xml_of(depth: int, node) -> list:
    """The registers and groups in a map."""
    out = []
    for child in node.children():
        inside = depth + 1
        kind = "register" if hasattr(child, "fields") else "registerFile"
        out += ["  " * depth + f"<ipxact:{kind}>", *named(inside, child), element(inside, "addressOffset", f"'h{child.address_offset:x}")]
        if kind == "register":
            out.append(element(inside, "size", child.get_property("regwidth")))
            for field in child.fields():
                out += xml_field(inside, field)
        else:
            out += [element(inside, "range", f"'h{child.size:x}"), *xml_of(inside, child)]
        out.append("  " * depth + f"</ipxact:{kind}>")
    return out


def ipxact(top, source: str) -> str:
    width = max(register.get_property("regwidth") for register in top.descendants() if hasattr(register, "fields"))
    out = ['<?xml version="1.0" encoding="UTF-8"?>', f"<!-- Generated from docs/spec/{source} by scripts/generate.py: edit the source. -->",
           f'<ipxact:component xmlns:ipxact="{NAMESPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
           f'xsi:schemaLocation="{NAMESPACE} {NAMESPACE}/index.xsd">']
    out += [element(1, "vendor", "systole"), element(1, "library", "systole"), element(1, "name", top.inst_name), element(1, "version", "1.0"),
            "  <ipxact:memoryMaps>", "    <ipxact:memoryMap>", element(3, "name", f"{top.inst_name}_mmap"), "      <ipxact:addressBlock>",
            *named(4, top), element(4, "baseAddress", "'h0"), element(4, "range", f"'h{top.size:x}"), element(4, "width", width),
            *xml_of(4, top),
            "      </ipxact:addressBlock>", "    </ipxact:memoryMap>", "  </ipxact:memoryMaps>", "</ipxact:component>"]
    return "\n".join(out) + "\n"
