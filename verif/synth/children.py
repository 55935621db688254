# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Programs that the threads of one script run. An interrupt of the script ends all of them and starts no more."""

import subprocess
import threading

_lock = threading.Lock()
_running = set()
_stopped = False


def run(command, cwd=None):
    """Runs a command. Returns (exit code, output)."""
    with _lock:
        if _stopped:
            raise RuntimeError("stopped")
        child = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # pylint: disable=consider-using-with
        _running.add(child)
    try:
        text, _ = child.communicate()
    finally:
        with _lock:
            _running.discard(child)
    return child.returncode, text


def stop():
    global _stopped  # pylint: disable=global-statement
    with _lock:
        _stopped = True
        for child in _running:
            child.kill()
