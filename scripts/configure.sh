#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Configures a build folder: scripts/configure.sh BUILD [ARCH]; ARCH: the processor that is compiled for (SYSTOLE_ARCH). Nothing is done,
# and two seconds are saved, where that was done in this place and no package was installed since, of the distribution or in the folders
# that scripts/setup.sh makes: ninja sees changed files itself.

set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 arch=${2-}

configured() {
  local source
  for source in /var/lib/dpkg/status .venv .ibex .pjrt .onnx .fst; do
    [ "$build/build.ninja" -nt $source ] || return 1
  done
  here || return 1
  [ -z "$arch" ] || grep -qx "SYSTOLE_ARCH:STRING=$arch" "$build/CMakeCache.txt" || return 1
}

# A folder that was copied or moved belongs to the project it was made in.
here() {
  grep -qxF -e "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" -e "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd)" "$build/CMakeCache.txt" &&
    grep -qxF "CMAKE_CACHEFILE_DIR:INTERNAL=$(realpath "$build")" "$build/CMakeCache.txt"
}

if [ -f "$build/CMakeCache.txt" ] && ! here; then rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"; fi
configured 2>/dev/null || exec cmake -S . -B "$build" -G Ninja --log-level=NOTICE ${arch:+"-DSYSTOLE_ARCH=$arch"}
