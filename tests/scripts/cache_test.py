# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The cache of netlists: what it keeps, what it takes for equal, and that one that cannot be used costs nothing but time."""

import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "fpga")]
import cache  # noqa: E402
from flow import tools  # noqa: E402

RTLIL = """# Generated
autoidx 90
attribute \\src "a.sv:1.1"
module \\leaf
  wire $auto$7
end
module \\middle
  cell \\leaf \\u_leaf
  end
end
attribute \\top 1
module \\top
  cell \\middle \\u_middle
  end
  cell $add $add$12
  end
end
"""


class CacheTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.place = self.folder / "cache"
        patch = mock.patch.dict(os.environ, SYSTOLE_CACHE=str(self.place))
        patch.start()
        self.addCleanup(patch.stop)
        (self.folder / "result").write_text("netlist")

    def kept(self, *parts):
        cache.Entry(*parts).store(self.folder, ["result"])
        (self.folder / "result").unlink()

    def test_restores_what_was_made_from_the_same(self):
        self.kept("tool 1", "script", b"source")
        self.assertFalse(cache.Entry("tool 2", "script", b"source").restore(self.folder))
        self.assertFalse(cache.Entry("tool 1", "scripts", b"ource").restore(self.folder))
        self.assertTrue(cache.Entry("tool 1", "script", b"source").restore(self.folder))
        self.assertEqual((self.folder / "result").read_text(), "netlist")

    def test_a_broken_entry_is_none(self):
        self.kept("a")
        path = next(self.place.iterdir())
        path.write_bytes(path.read_bytes()[:40])
        self.assertFalse(cache.Entry("a").restore(self.folder))

    def test_off_or_unwritable_keeps_nothing(self):
        with mock.patch.dict(os.environ, SYSTOLE_CACHE=""):
            self.kept("a")
            self.assertFalse(cache.Entry("a").restore(self.folder))
        (self.folder / "result").write_text("netlist")
        with mock.patch.dict(os.environ, SYSTOLE_CACHE="/proc/systole"):
            self.kept("a")
            self.assertFalse(cache.Entry("a").restore(self.folder))

    def test_the_oldest_go(self):
        with mock.patch.object(cache, "LIMIT", 1000):
            for number in range(8):
                (self.folder / "result").write_bytes(os.urandom(100))
                self.kept(number)
                os.utime(cache.Entry(number).path, (number, number))
        self.assertTrue(cache.Entry(7).restore(self.folder))
        self.assertFalse(cache.Entry(0).restore(self.folder))

    def test_numbers_of_internal_names_do_not_count_but_all_else_does(self):
        moved = RTLIL.replace("$auto$7", "$auto$8").replace("autoidx 90", "autoidx 91")
        self.assertEqual(cache.canonical(RTLIL), cache.canonical(moved))
        for old, new in (("\\leaf \\u_leaf", "\\leaf \\u_other"), ("cell $add", "cell $sub")):
            self.assertNotEqual(cache.canonical(RTLIL), cache.canonical(RTLIL.replace(old, new)))

    def test_rtl_depends_on_what_it_names(self):
        rtl = self.folder / "rtl"
        rtl.mkdir()
        for name, body in (("systole_leaf", ""), ("systole_top", "systole_leaf u_leaf ();"), ("systole_a_pkg", ""), ("systole_other", "")):
            (rtl / f"{name}.sv").write_text(f"module {name}; {body} endmodule\n")
        before = cache.uses(rtl)
        (rtl / "systole_leaf.sv").write_text("module systole_leaf; wire a; endmodule\n")
        changed = [name for name, texts in cache.uses(rtl).items() if texts != before[name]]
        self.assertEqual(sorted(changed), ["systole_leaf", "systole_top"])
        (rtl / "systole_a_pkg.sv").write_text("package systole_a_pkg; endpackage\n")
        self.assertTrue(all(texts != before[name] for name, texts in cache.uses(rtl).items()))

    def test_a_unit_depends_on_the_modules_in_it(self):
        path = self.folder / "net.il"
        path.write_text(RTLIL)
        part = tools.below(path, "middle")
        self.assertIn("module \\leaf", part)
        self.assertIn("autoidx 90", part)
        self.assertNotIn("module \\top", part)
        path.write_text(RTLIL.replace("$add $add$12", "$sub $sub$12"))
        self.assertEqual(part, tools.below(path, "middle"))
        path.write_text(RTLIL.replace("module \\leaf\n", "module \\leaf\n  wire \\more\n"))
        self.assertNotEqual(part, tools.below(path, "middle"))


if __name__ == "__main__":
    unittest.main()
