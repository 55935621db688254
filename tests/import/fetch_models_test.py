# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Tests scripts/fetch_models.py against servers on this machine."""

import functools
import http.server
import pathlib
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import fetch_models  # noqa: E402


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class FetchModelsTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        (self.root / "old").mkdir()
        (self.root / "new").mkdir()
        (self.root / "old" / "m.tflite").write_bytes(b"another")
        (self.root / "new" / "m.tflite").write_bytes(b"model")
        self.folder = self.root / "models"
        self.folder.mkdir()
        handler = functools.partial(QuietHandler, directory=str(self.root))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        address = f"http://127.0.0.1:{server.server_port}"
        self.sources = [f"{address}/{name}" for name in ("old", "none", "new")]
        self.expected = fetch_models.digest(b"model")

    def place(self, sources):
        return fetch_models.place(self.folder, "ours.tflite", "m.tflite", self.expected, sources)

    def test_takes_the_right_file_and_keeps_it(self):
        self.assertEqual(self.place(self.sources), "fetched, 5 bytes")
        self.assertEqual((self.folder / "ours.tflite").read_bytes(), b"model")
        self.assertEqual(self.place([]), "there already")

    def test_refuses_another_file(self):
        with self.assertRaisesRegex(fetch_models.NotFound, "old/m.tflite: SHA-256 .* instead of .*none/m.tflite: HTTP Error 404"):
            self.place(self.sources[:2])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_replaces_a_damaged_file(self):
        (self.folder / "ours.tflite").write_bytes(b"mod")
        self.assertEqual(self.place(self.sources), "fetched, 5 bytes")

    def test_knows_four_models(self):
        self.assertEqual(len(fetch_models.MODELS), 4)
        for name, path, expected in fetch_models.MODELS:
            self.assertTrue(name.endswith("_int8.tflite") and path.endswith(".tflite") and len(expected) == 64)


if __name__ == "__main__":
    unittest.main()
