# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Takes a picture of a view in GTKWave, in a display of its own (`scripts/setup.sh pictures` installs Xvfb).

    screenshot.py build/waves/conv1.gtkw docs/figures/waves.png
"""

import argparse
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from PIL import Image

WIDTH, HEIGHT = 1800, 1000  # as of the save files
TITLE = 54  # lines of the window's title, which is left out: it names a folder of this machine
RC = "hide_sst 1\nfontname_signals Monospace 10\nfontname_waves Monospace 9\nuse_roundcaps 1\nignore_savefile_pos 1\nenable_vert_grid 0\n"


def read_xwd(path):
    """The picture in Xvfb's frame buffer file (X window dump, version 7, 32 bits a pixel), or None while there is none."""
    data = path.read_bytes()
    if len(data) < 100:
        return None
    words = struct.unpack(">25I", data[:100])
    header, width, height, bits, line, colours = words[0], words[4], words[5], words[11], words[12], words[19]
    start = header + 12 * colours
    if bits != 32 or len(data) < start + line * height:
        return None
    return Image.frombytes("RGB", (width, height), data[start:start + line * height], "raw", "BGRX", line, 1)


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise TimeoutError(f"{what} after {seconds} s")


def settled(frame, seconds):
    """The picture once it has colours and stays the same."""
    last = [None, 0]

    def look():
        image = read_xwd(frame)
        if image is None:
            return None
        text = image.tobytes()
        if text == last[0] and len(image.getcolors(1 << 24)) > 8:
            last[1] += 1
        else:
            last[0], last[1] = text, 0
        return image if last[1] >= 8 else None

    return wait_for(look, seconds, "no picture of the view")


def take(save, picture, seconds=60):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "gtkwaverc").write_text(RC)
        read, write = os.pipe()
        with subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", str(folder), "-nolisten", "tcp"],
                              pass_fds=[write], stderr=subprocess.DEVNULL) as server:
            os.close(write)
            try:
                with os.fdopen(read) as numbers:
                    display = numbers.readline().strip()
                environment = {**os.environ, "DISPLAY": f":{display}", "HOME": str(folder), "GDK_BACKEND": "x11"}
                environment.pop("WAYLAND_DISPLAY", None)
                with subprocess.Popen(["gtkwave", "--rcfile", str(folder / "gtkwaverc"), "--save", str(save)], env=environment,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as viewer:
                    try:
                        image = settled(folder / "Xvfb_screen0", seconds)
                    finally:
                        viewer.terminate()
            finally:
                server.terminate()
    image.crop((0, TITLE, WIDTH, HEIGHT)).quantize(64).save(picture, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("view", type=pathlib.Path, help="save file of GTKWave (.gtkw)")
    parser.add_argument("picture", type=pathlib.Path, help="PNG")
    args = parser.parse_args()
    for tool in ("Xvfb", "gtkwave"):
        if not shutil.which(tool):
            print(f"screenshot: no {tool}; scripts/setup.sh pictures installs it", file=sys.stderr)
            return 1
    if not args.view.exists():
        print(f"screenshot: {args.view}: there is no such file", file=sys.stderr)
        return 1
    try:
        take(args.view, args.picture)
    except (OSError, TimeoutError) as error:
        print(f"screenshot: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
