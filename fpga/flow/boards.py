# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Boards (fpga/boards/*/board.yaml) and presets (docs/spec/presets.yaml)."""

import yaml

from flow.tools import ROOT, FlowError

BOARDS = ROOT / "fpga" / "boards"


def names():
    return sorted(yaml.safe_load(path.read_text())["name"] for path in BOARDS.glob("*/board.yaml"))


def load(name):
    """The board's description, with its folder."""
    for path in BOARDS.glob("*/board.yaml"):
        board = yaml.safe_load(path.read_text())
        if board["name"] == name:
            return {**board, "folder": path.parent}
    raise FlowError(f"unknown board '{name}'; there are {', '.join(names())}")


def device(board):
    """Where the board's FPGA has its blocks, and plans for presets that need one (flow/floorplan.py)."""
    return yaml.safe_load((BOARDS / board["sites"]).read_text())


def plan(board, preset_name):
    """The floor plan of a preset, None if place and route do without."""
    return device(board)["plans"].get(preset_name)


def seed(board, given):
    """The placer's: the one that was asked for, else the board's, which is known to reach the clock."""
    return board.get("seed", 1) if given is None else given


def presets():
    return yaml.safe_load((ROOT / "docs/spec/presets.yaml").read_text())["presets"]


def preset(name):
    found = presets()
    if name not in found:
        raise FlowError(f"unknown preset '{name}'; there are {', '.join(found)}")
    return found[name]


def check_fit(board, preset_name, used):
    """used: {resource: number} of the mapped design. One line for all that does not fit."""
    over = [f"{used[what]} of {limit} {what.replace('_', ' ')}" for what, limit in board["resources"].items() if used.get(what, 0) > limit]
    if over:
        raise FlowError(f"preset '{preset_name}' does not fit {board['name']}: it takes {', '.join(over)}")
