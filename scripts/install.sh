#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Installs what was built: scripts/install.sh BUILD PREFIX [DESTDIR]. `make install` builds it first (docs/install.md).

set -euo pipefail

die() { echo "install: $*" >&2; exit 1; }

[ $# -ge 2 ] && [ -n "$2" ] || die "wanted: BUILD PREFIX [DESTDIR]"
build=$1 prefix=$2 destdir=${3-}
case "$prefix" in /*) ;; *) prefix=$PWD/$prefix ;; esac
case "$destdir" in /* | "") ;; *) destdir=$PWD/$destdir ;; esac
[ -f "$build/cmake_install.cmake" ] || die "$build is no build folder"

# The nearest folder that exists must be one to write to.
place=$destdir$prefix
while [ ! -e "$place" ]; do place=$(dirname "$place"); done
[ -d "$place" ] || die "$place is no folder"
[ -w "$place" ] || die "$destdir$prefix: no permission to write there"

# What cmake prints of each file is of use only when it fails.
if ! out=$(DESTDIR=$destdir cmake --install "$build" --prefix "$prefix" 2>&1); then
  die "$(grep -v '^-- ' <<<"$out" | sed '/^ *$/d')"
fi
echo "installed below $destdir$prefix"
