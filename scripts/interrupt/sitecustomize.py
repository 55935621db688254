# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What every script does that scripts/python runs: Ctrl-C ends it with a line, not a traceback, and by the signal (exit code 130
of a shell) behind its own cleaning up."""

import sys


def _say(kind, value, trace):
    if issubclass(kind, KeyboardInterrupt):
        print("\nstopped by SIGINT", file=sys.stderr)
    else:
        sys.__excepthook__(kind, value, trace)


sys.excepthook = _say
