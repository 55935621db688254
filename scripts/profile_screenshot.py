# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Takes a picture of a profile's page in a headless browser (scripts/setup.sh browser installs one)."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="?", type=pathlib.Path, default="build/reports/profile.html")
    parser.add_argument("--output", type=pathlib.Path, default="docs/figures/profile.png")
    parser.add_argument("--place", default="", help="what to show: view=layers&descriptor=12, from=0&to=4000")
    parser.add_argument("--size", default="1500,1000", help="width and height in pixels")
    args = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("profile_screenshot: no browser; run scripts/setup.sh browser")
    if not args.page.is_file():
        sys.exit(f"profile_screenshot: {args.page}: no such file; run make profile")
    args.output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}",
                   "--virtual-time-budget=20000", f"--window-size={args.size}", f"--screenshot={args.output.resolve()}",
                   f"file://{args.page.resolve()}#{args.place}"]
        result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0 or not args.output.is_file():
        sys.exit(f"profile_screenshot: {browser}: {result.stderr.strip().splitlines()[-1:]}")


if __name__ == "__main__":
    main()
