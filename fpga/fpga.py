# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""From source to bitstream for a board, and a report of what it takes and where its time goes.

  fpga.py --board ulx3s-85f [--preset board8]   the bitstream, and build/reports/fpga.json
  fpga.py --units [--preset board8]             each unit alone, its ports registered: cells and clock, placed and routed
  fpga.py --check                               the units of fpga/budget.yaml against their budgets, without placing them
  fpga.py --whole nano                          a chip mapped flat: what it takes, against fpga/budget.yaml
  fpga.py --generic v1 v2                       gates of each unit in a generic library
"""

import argparse
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from flow import board, boards, budget, chip, generic, tools, units, whole  # noqa: E402  behind the path


def whole_number(least):
    """A type of arguments: whole numbers from `least` on."""
    def read(text):
        if not re.fullmatch(r"\d+", text, re.ASCII) or int(text) < least:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} on")
        return int(text)
    return read


def megahertz(text):
    """A type of arguments: frequencies."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a frequency above 0, in MHz")
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--board", help=f"the board: {', '.join(boards.names())}")
    what.add_argument("--units", action="store_true", help="place and route each unit of the preset alone")
    what.add_argument("--check", action="store_true", help="map the units and compare with fpga/budget.yaml")
    what.add_argument("--whole", nargs="+", metavar="PRESET", help="map chips flat, without placing them")
    what.add_argument("--generic", nargs="+", metavar="PRESET", help="gates of each unit for a generic library")
    parser.add_argument("--preset", help="the configuration of the chip (default: the board's first)")
    parser.add_argument("--only", nargs="+", default=[], metavar="UNIT", help="with --units, --check or --generic: only these")
    parser.add_argument("--clock", type=megahertz, metavar="MHZ", help="the clock instead of the board's")
    parser.add_argument("--seed", type=whole_number(0), help="of the placer (default: the board's)")
    parser.add_argument("--tries", type=whole_number(1), metavar="N", default=3,
                        help="with --board: place and route with up to N seeds, one after another, until one reaches the clock (default: %(default)s)")
    parser.add_argument("--placer", choices=("heap", "static"), help="(default: the board's)")
    parser.add_argument("--router", choices=("router1", "router2"), default="router1", help="(default: %(default)s)")
    parser.add_argument("--limit", type=whole_number(1), metavar="MINUTES", default=180, help="end a placement or a route after this (default: %(default)s)")
    parser.add_argument("--no-route", action="store_true", help="stop after mapping and placement, of one seed: an estimate, no bitstream")
    parser.add_argument("--fault", metavar="UNIT", help="with --check: make a path of this unit longer; with --generic: make it grow faster; "
                        "which must be seen")
    parser.add_argument("--update", action="store_true", help="with --check: write the measured values, and some room, as the budgets")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="build folder (default: %(default)s)")
    args = parser.parse_args()
    args.build = args.build.resolve()
    try:
        if args.board:
            return board.run(args)
        for preset in [*(args.whole or []), *(args.generic or []), *([args.preset] if args.preset not in (None, chip.NETWORK) else [])]:
            boards.preset(preset)  # an error now, not behind minutes
        if args.units:
            return units.run(args)
        if args.whole:
            return whole.run(args)
        if args.generic:
            return generic.run(args)
        return budget.run(args)
    except tools.FlowError as error:
        print(f"fpga: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("fpga: stopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
