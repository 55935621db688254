#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Installs what was built, and takes it away (docs/install.md). `make install` builds it first.
#
#   scripts/install.sh BUILD PREFIX [DESTDIR]
#   scripts/install.sh --uninstall PREFIX [DESTDIR]
#
# PREFIX/share/systole/install_manifest.txt lists the files that an installation put there, and the folders that it made ("lib/"), from the
# prefix on: the installation knows what is its own wherever it is moved to.

set -euo pipefail
umask 022  # whoever installs: all may read it
export LC_ALL=C  # one order of names for sort and comm

die() { echo "install: $*" >&2; exit 1; }

absolute() { case "$1" in /* | "") echo "$1" ;; *) echo "$PWD/$1" ;; esac; }

# The nearest folder that exists must be one to write to.
writable() {
  local place=$1
  while [ ! -e "$place" ]; do place=$(dirname "$place"); done
  [ -d "$place" ] || die "$place is no folder"
  [ -w "$place" ] || die "$1: no permission to write there"
}

# All folders of the files on the input, each with what it is in, and "./" for the prefix: "lib/cmake/" and "lib/".
folders() {
  local file folder
  echo ./
  while IFS= read -r file; do
    folder=${file%/*}
    [ "$folder" != "$file" ] || continue
    echo "$folder/"
  done | sort -u | while IFS= read -r folder; do
    while [ -n "$folder" ]; do
      echo "$folder"
      folder=${folder%/}
      case "$folder" in */*) folder=${folder%/*}/ ;; *) folder= ;; esac
    done
  done | sort -u
}

# remove ROOT < names of a manifest: files, then folders that are empty.
remove() {
  local root=$1 name cached names
  mapfile -t names
  for name in "${names[@]}"; do
    case "/$name/" in
      */../* | //*) die "$manifest: '$name' is not below the prefix: the list was changed" ;;
    esac
  done
  for name in "${names[@]}"; do
    case "$name" in */) continue ;; esac
    rm -f "$root/$name"
    case "$name" in *.py)  # what Python has stored of it
      cached=$root/$(dirname "$name")/__pycache__
      rm -f "$cached/$(basename "$name" .py)".*.pyc
      [ ! -d "$cached" ] || rmdir --ignore-fail-on-non-empty "$cached" ;;
    esac
  done
  for name in "${names[@]}"; do
    case "$name" in */) echo "$name" ;; esac
  done | sort -r | while IFS= read -r name; do
    [ ! -d "$root/$name" ] || rmdir --ignore-fail-on-non-empty "$root/${name#./}"
  done
}

listed=share/systole/install_manifest.txt

if [ "${1-}" = --uninstall ]; then
  [ $# -ge 2 ] && [ -n "$2" ] || die "wanted: --uninstall PREFIX [DESTDIR]"
  root=$(absolute "${3-}")$(absolute "$2")
  manifest=$root/$listed
  [ -f "$manifest" ] || die "nothing was installed below $root: there is no $listed"
  writable "$root"
  writable "$(dirname "$manifest")"
  (cat "$manifest"; echo "$listed") | remove "$root"
  echo "uninstalled from $root"
  exit
fi

[ $# -ge 2 ] && [ -n "$2" ] || die "wanted: BUILD PREFIX [DESTDIR]"
build=$1 prefix=$(absolute "$2") destdir=$(absolute "${3-}")
prefix=${prefix%/}
root=$destdir$prefix
manifest=$root/$listed
[ "${2#\~}" = "$2" ] || die "$2: no shell has replaced the ~; write \$HOME"
[ ! "$root/" -ef "$(dirname "$0")/.." ] || die "$root: these are the sources; name another folder"
[ -f "$build/cmake_install.cmake" ] || die "$build is no build folder"
writable "$root"

# One at a time from a build: cmake writes its list there.
if [ -w "$build" ]; then
  exec 9>"$build/install.lock"
  flock 9
fi
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
touch "$before/installed" "$before/there"
[ ! -f "$manifest" ] || cp "$manifest" "$before/installed"
[ ! -d "$root" ] || (cd "$root" && find . -maxdepth 4 -type d -printf '%P/\n' 2>/dev/null | sed 's|^/$|./|' || true) > "$before/there"

# What is below the root now, as far as it is the installation's: the list. The files are in $before/files.
record() {
  echo "$listed" | cat - "$before/files" | folders > "$before/folders"
  {
    cat "$before/files"
    # Folders of an earlier installation are the installation's.
    comm -23 "$before/folders" <(sort "$before/there")
    grep '/$' "$before/installed" || true
  } | sort -u > "$before/manifest"
  cp "$before/manifest" "$manifest"
}

# Room for the lists, where the disk becomes full.
reserve=$(dirname "$manifest")/.reserve
out=$(mkdir -p "$(dirname "$manifest")" 2>&1) || die "${out#mkdir: }"
trap 'rm -rf "$before" "$reserve"' EXIT
out=$({ head -c 1M /dev/zero > "$reserve"; } 2>&1) || die "$root: ${out##*: }"

# What cmake prints of each file is of use only when it fails. An interrupt ends cmake alone.
trap : INT TERM
if ! out=$(DESTDIR=$destdir cmake --install "$build" --prefix "$prefix" 2>&1); then
  rm -f "$reserve"
  {
    grep -v '/$' "$before/installed" || true
    sed -n 's/^-- Installing: //p' <<<"$out" | while IFS= read -r file; do
      [ -d "$file" ] && [ ! -L "$file" ] || echo "${file#"$root"/}"
    done
  } | sort -u > "$before/files"
  record
  reason=$(grep -v '^-- ' <<<"$out" | sed '/^ *$/d' || true)
  die "${reason:-interrupted}
install: not complete; make uninstall with the same PREFIX takes away what was put below $root"
fi
rm -f "$reserve"
while IFS= read -r file || [ -n "$file" ]; do echo "${file#"$prefix"/}"; done < "$build/install_manifest.txt" | sort -u > "$before/files"
rm -f "$build/install_manifest.txt"
record
# What an earlier version had, and this one has not.
comm -23 <(grep -v '/$' "$before/installed" | sort -u) "$before/files" | remove "$root"
echo "installed below $root"
