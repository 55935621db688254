# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes a C++ header with a function that visits the pins of a Verilated systole_top, for builds that record them.

    pins.py --preset 0 --out FILE
"""

import argparse
import pathlib

import design


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()

    args.out.parent.mkdir(parents=True, exist_ok=True)
    core = design.Design(args.out.with_suffix(".log"))
    core.read("systole_top", {"Preset": args.preset})
    lines = ["#pragma once", "// The pins of systole_top but its clock, in the order of their declaration.",
             "template <typename Model, typename Visitor> void ForEachPin(const Model& model, Visitor visit) {"]
    lines += [f"  visit(model.{port.name});" for port in core.ports() if port.name != "clk_i"]
    args.out.write_text("\n".join([*lines, "}", ""]))


if __name__ == "__main__":
    main()
