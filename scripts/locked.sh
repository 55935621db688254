#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Runs a command that writes to a build folder, when no other does: scripts/locked.sh BUILD COMMAND... The lock is free when the command and
# all that it started have ended.

set -euo pipefail
if ! mkdir -p -- "$1" || ! { : >> "$1/.lock"; } 2>/dev/null; then
  echo "$1: cannot be written; BUILD=folder names another build folder" >&2
  exit 1
fi
exec 9> "$1/.lock"
if ! flock -n 9; then
  echo "waiting for another make that builds in $1" >&2
  flock 9
fi
shift
exec "$@"
