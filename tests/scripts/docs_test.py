# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The checks of the documents fail on seeded faults: of pages, of the site's links, of tutorials, of the drawn figures; the reader of
RTL headers leaves no port out."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts/site")]
import check_docs  # noqa: E402
import check_links  # noqa: E402
import doxygen_filter  # noqa: E402
import rtl_pages  # noqa: E402
import tutorials  # noqa: E402
import wrap_docs  # noqa: E402
import yaml  # noqa: E402
from gen import commands, figure, matrix_product, timing  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        return self.root / path


class PagesTest(Folder):
    def problems(self, text):
        page = self.write("docs/page.md", text)
        self.write("docs/other.md", "# A `heading`, twice\n\n# A `heading`, twice\n")
        return list(check_docs.problems_of(page, self.root, {"systole_core", "systole_core_nano"}))

    def test_a_page_without_faults(self):
        self.assertEqual(self.problems("[x](other.md#a-heading-twice-1), `systole_core`, `systole_core_<preset>`\n"), [])

    def test_each_fault_is_named(self):
        for text, wanted in (("x" * 120, "120 characters"), ("[x](none.md)", "link to none.md"), ("[x](other.md#none)", "no such heading"),
                             ("[x](#none)", "no such heading"), ("`rtl/none.sv`", "names rtl/none.sv"), ("`systole_host_if`", "names systole_host_if")):
            found = self.problems(f"\n{text}\n")
            self.assertEqual(len(found), 1, (text, found))
            self.assertTrue(found[0].startswith("docs/page.md:2: "), found)
            self.assertIn(wanted, found[0])

    def test_a_page_that_the_index_leaves_out(self):
        self.write("docs/index.md", "- [One](one.md)\n")
        self.write("docs/one.md", "# One\n")
        self.assertEqual(list(check_docs.problems_of_index(self.root)), [])
        self.write("docs/tutorials/two.md", "# Two\n")
        self.assertEqual(list(check_docs.problems_of_index(self.root)), ["docs/tutorials/two.md: docs/index.md does not list this page"])

    def test_variables_of_the_environment(self):
        one, two, new = (f"SYSTOLE_{name}" for name in ("ONE", "TWO", "NEW"))  # no string that the check takes for a variable of this file
        self.write("docs/environment.md", f"| `{one}` | 1 | x |\n| `{two}` | 2 | y |\n")
        sources = {"host/a.cc": f'std::getenv("{one}")', "scripts/b.py": f"os.environ['{two}']"}
        for path, text in sources.items():
            self.write(path, text)
        for path in ("Makefile", "CMakeLists.txt"):
            self.write(path, "set(SYSTOLE_ARCH native)\n")
        self.assertEqual(list(check_docs.problems_of_environment(self.root)), [])
        for path, text in (("host/c.h", f'FromEnvironment("{new}")'), ("python/d.py", f'os.environ.get("{new}")'),
                           ("scripts/e.sh", f"echo ${{{new}:-none}}"), ("scripts/f", f"echo ${new}"), ("Makefile", f"x = $({new})"),
                           ("cmake/g.cmake", f"if($ENV{{{new}}})"), ("CMakeLists.txt", f"set(x $ENV{{{new}}})")):
            written = self.write(path, text)
            self.assertEqual(list(check_docs.problems_of_environment(self.root)),
                             [f"docs/environment.md: no row for {new}, which {path} reads"])
            written.write_text("")
        for path, text in (("host/c.h", 'getenv("HOME")'), ("python/d.py", "os.environ['HOME']"), ("CMakeLists.txt", "if(DEFINED ENV{HOME})")):
            written = self.write(path, text)
            self.assertEqual(list(check_docs.problems_of_environment(self.root)), [f"docs/environment.md: no row for HOME, which {path} reads"])
            written.write_text("")
        self.write("tests/a.py", "os.environ['HOME']")
        self.assertEqual(list(check_docs.problems_of_environment(self.root)), [])
        self.write("scripts/b.py", "")
        self.assertEqual(list(check_docs.problems_of_environment(self.root)), [f"docs/environment.md: {two} is read by no source"])


class CommandsTest(Folder):
    """docs/commands.md says what Makefile and program say."""

    MARKS = "".join(f"<!-- generated: {part} -->\n<!-- end: {part} -->\n" for part in ("make", "systole"))

    def test_targets_of_the_makefile(self):
        page = self.write("docs/commands.md", self.MARKS)
        makefile = self.write("Makefile", "run: tool ## run the digits\n\t@true\ntool:\n\t@true\n")
        text = commands.generate(self.root)[commands.PAGE]
        self.assertIn("make run            run the digits\n", text)
        self.assertNotIn("tool", text)
        page.write_text(text)
        self.assertEqual(commands.generate(self.root)[commands.PAGE], text)
        makefile.write_text("run: tool ## run " + "them all " * 20 + "\n")
        changed = commands.generate(self.root)[commands.PAGE]
        self.assertNotEqual(changed, text)
        self.assertLessEqual(max(map(len, changed.splitlines())), commands.WIDTH)
        page.write_text("no marks\n")
        self.assertRaises(ValueError, commands.generate, self.root)

    def test_options_of_the_program(self):
        page = self.write("docs/commands.md", self.MARKS)
        tool = self.root / "tool"

        def program(option):
            self.write("tool", "#!/bin/sh\ncase $1 in\nrun) echo 'run a model'; echo; echo 'Options:'; "
                       f"echo '  --{option}                  seed of {'all ' * 40}'; exit;;\nesac\n"
                       "printf 'a tool\\n\\nSubcommands:\\n  run                         run a model\\n'\n")
            tool.chmod(0o755)

        def script(*words):
            done = subprocess.run([sys.executable, ROOT / "scripts/commands.py", "--tool", tool, "--page", page, *words], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            return done.returncode, done.stdout

        program("seed")
        self.assertEqual(script("--check")[0], 1)
        self.assertEqual(script()[0], 0)
        self.assertEqual(script("--check")[0], 0)
        self.assertIn("### systole run\n", page.read_text())
        self.assertLessEqual(max(map(len, page.read_text().splitlines())), commands.WIDTH)
        program("sand")
        code, output = script("--check")
        self.assertEqual(code, 1)
        self.assertIn("--sand", output)
        tool.write_text("#!/bin/sh\nexit 3\n")
        self.assertIn("commands: Command", script("--check")[1])


class WrapTest(unittest.TestCase):
    def test_only_what_is_too_long(self):
        text = "# " + "h" * 130 + "\n\n- " + "word " * 40 + "\n\n```\n" + "c" * 130 + "\n```\n\nshort\nlines\n"
        lines = wrap_docs.wrap(text).splitlines()
        self.assertEqual(lines[0], "# " + "h" * 130)
        self.assertTrue(lines[3].startswith("  word"))
        self.assertIn("c" * 130, lines)
        self.assertEqual(lines[-2:], ["short", "lines"])
        self.assertEqual(wrap_docs.wrap("\n".join(lines)).splitlines(), lines)

    def test_no_word_becomes_a_list(self):
        lines = wrap_docs.wrap("w" * 118 + " - " + "x" * 10 + " 12. y\n").splitlines()
        self.assertFalse([line for line in lines if re.match(r"\s*(-|\d+\.) ", line)], lines)


class LinksTest(Folder):
    def test_links_and_anchors(self):
        self.write("index.html", '<a href="a/b.html#there">x</a><a href="https://example.org/none">x</a><img src="x.svg">')
        self.write("a/b.html", '<h1 id="there">x</h1><a href="../index.html">x</a><a href="#there">x</a>')
        self.write("x.svg", "<svg/>")
        self.assertEqual(check_links.check(self.root), ([], 2))
        for link, wanted in (("none.html", "leads to no file"), ("a/b.html#none", "there is no such anchor"), ("#none", "there is no such anchor"),
                             ("a", "leads to no file")):
            self.write("fault.html", f'<a href="{link}">x</a>')
            self.assertEqual(check_links.check(self.root)[0], [f"fault.html: {link}: {wanted}"])
        self.write("fault.html", '<img src="none.png">')
        self.assertEqual(len(check_links.check(self.root)[0]), 1)


class TutorialsTest(Folder):
    def do(self, text, long=False):
        return tutorials.do_page(self.write("page.md", text), self.root, long)

    def test_commands_files_and_changes(self):
        self.write("old.txt", "one\ntwo\nthree\n")
        done = self.do("<!-- file: made.py -->\n```python\nprint(6 * 7)\n```\n\n```diff\n--- a/old.txt\n+++ b/old.txt\n@@ -1,3 +1,3 @@\n one\n"
                       "-two\n+2\n three\n```\n\n```console\n$ cat old.txt\none\n...\nthree\n$ python3 made.py; \\\n  false\n4...\nexit code 1\n```\n")
        self.assertEqual(done, 3)

    def test_each_fault_is_seen(self):
        self.write("old.txt", "one\n")
        for text, wanted in (("```console\n$ false\n```\n", "exit code 1, not 0"), ("```console\n$ true\nexit code 1\n```\n", "exit code 0, not 1"),
                             ("```console\n$ echo one\ntwo\n```\n", "and not"), ("```console\n$ true\nmore\n```\n", "and not"),
                             ("```console\n$ printf 'one\\ntwo\\n'\none\n```\n", "and not"), ("```console\necho\n```\n", "begins with"),
                             ("```diff\n--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-two\n+2\n```\n", "does not apply")):
            with self.assertRaisesRegex(tutorials.TutorialError, wanted, msg=text):
                self.do(text)

    def test_long_blocks(self):
        text = "<!-- long -->\n```console\n$ false\n```\n<!-- by hand -->\n```console\n$ false\n```\n"
        self.assertEqual(self.do(text), 0)
        with self.assertRaises(tutorials.TutorialError):
            self.do(text, long=True)

    def test_every_block_of_the_pages_is_marked_or_run(self):
        for page in sorted((ROOT / "docs/tutorials").glob("*.md")):
            text = page.read_text()
            fences = len(re.findall(r"^```(?:console|diff|python)$", text, re.M))
            self.assertEqual(len(list(tutorials.blocks_of(text))), fences, page.name)
            self.assertGreater(fences, 1, page.name)


class RtlPagesTest(Folder):
    HEADER = "// Purpose.\n\nmodule systole_x #(\n    parameter int unsigned Width = 8  // bits\n) (\n    input  logic clk_i,\n{port}\n);\nendmodule\n"

    def test_ports_and_parameters(self):
        unit = rtl_pages.read(self.write("systole_x.sv", self.HEADER.format(port="    output logic [Width-1:0] data_o [4]  // rows")))
        self.assertEqual([(p.name, p.default, p.doc) for p in unit.parameters], [("Width", "8", "bits")])
        self.assertEqual([(p.name, p.direction, p.type, p.doc) for p in unit.ports],
                         [("clk_i", "input", "logic", ""), ("data_o", "output", "logic [Width-1:0] [4]", "rows")])

    def test_what_is_not_understood_is_an_error(self):
        with self.assertRaisesRegex(rtl_pages.HeaderError, "systole_x.sv:7: not understood"):
            rtl_pages.read(self.write("systole_x.sv", self.HEADER.format(port="    other_if.slave bus")))

    def test_every_port_of_the_design(self):
        for path in sorted((ROOT / "rtl").rglob("*.sv")):
            text = re.sub(r"//.*", "", path.read_text())
            unit = rtl_pages.read(path)
            if unit.kind == "module":
                header = re.search(r"module .*?\)\s*;", text, re.S)[0]
                self.assertEqual(len(set(p.name for p in unit.ports)), len(unit.ports), path)
                self.assertTrue(unit.ports or path.stem == "systole_cfg_check", path)
                for name in re.findall(r"\b\w+_(?:i|ni|o)\b(?=\s*(?:\[[^\]]*\]\s*)*(?:,|$))", header, re.M):
                    self.assertIn(name, [p.name for p in unit.ports], path)


class FilterTest(unittest.TestCase):
    def test_comments_become_documentation(self):
        text = doxygen_filter.translate("// SPDX-x\n//\n// A file.\n//\n//   Use(it);\n#include <x>\n// What f <does>.\nint f();  // trailing\n")
        self.assertIn("/// @file", text)
        self.assertIn("/// @verbatim\n///   Use(it);\n/// @endverbatim", text)
        self.assertIn("/// What f \\<does\\>.\nint f();  ///< trailing", text)


class FigureTest(unittest.TestCase):
    def setUp(self):
        self.figure = yaml.safe_load((ROOT / figure.SOURCE).read_text())
        self.modules = {path.stem for path in (ROOT / "rtl").rglob("*.sv")}

    def test_a_module_that_is_not_there(self):
        self.figure["boxes"]["sds"]["modules"] = ["systole_host_if"]
        with self.assertRaisesRegex(ValueError, "box sds names systole_host_if"):
            figure.draw(self.figure, self.modules)

    def test_an_arrow_to_nowhere(self):
        self.figure["arrows"].append({"from": "none.l.50", "to": "sds.l.50"})
        with self.assertRaisesRegex(ValueError, "there is no box none"):
            figure.draw(self.figure, self.modules)


class MatrixProductTest(unittest.TestCase):
    """The figures of docs/matrix_product.md are drawn only of registers that follow the array's rules and hold the product."""

    def test_weights_may_come_as_late_as_the_contract_says(self):
        written = matrix_product.tile_row_of
        with mock.patch.object(matrix_product, "tile_row_of", lambda cycle: written(cycle - 2)):
            self.assertEqual(matrix_product.LAST + 2 - matrix_product.FIRST, len(list(matrix_product.states())))

    def test_weights_that_come_later(self):
        written = matrix_product.tile_row_of
        with mock.patch.object(matrix_product, "tile_row_of", lambda cycle: written(cycle - 3)):
            with self.assertRaisesRegex(ValueError, "row 0, column 0 is used before it is written"):
                list(matrix_product.states())

    def test_a_skew_that_is_too_short(self):
        whole = matrix_product.Grid.__init__

        def short(grid):
            whole(grid)
            grid.skew[2].pop()

        with mock.patch.object(matrix_product.Grid, "__init__", short), self.assertRaisesRegex(ValueError, "an activation of another vector"):
            list(matrix_product.states())

    def test_a_wrong_sum(self):
        right = matrix_product.Grid.sum_of

        def wrong(grid, row, column):
            found = right(grid, row, column)
            return (found[0], found[1] + 1) if found and (row, column) == (1, 2) else found

        with mock.patch.object(matrix_product.Grid, "sum_of", wrong), self.assertRaisesRegex(ValueError, "row 0, column 2: .* is not the product"):
            list(matrix_product.states())


class TimingTest(unittest.TestCase):
    """Faults of a timing diagram's WaveJSON."""

    def draw(self, *signals):
        return timing.draw("x.json", {"head": {"text": "h"}, "foot": {"text": "f"}, "signal": [{"name": "cycle", "wave": "==|=", "data": ["0", "1", "9"]}, *signals]})

    def test_a_diagram(self):
        text = self.draw({"name": "valid_i", "wave": "01|."}, {})
        self.assertIn("valid_i", text)
        self.assertIn("M150 95L309 95L309 81", text)

    def test_faults(self):
        for signal, message in (({"name": "a", "wave": "01."}, "a has 3 cycles, the first signal 4"), ({"name": "a", "wave": "0z.."}, "a: 'z' in cycle 1"),
                                ({"name": "a", "wave": ".1.."}, "a: '.' in cycle 0"), ({"name": "a", "wave": "=.|="}, "a: no data for cycle 0"),
                                ({"name": "a", "wave": "=.|.", "data": ["x", "y"]}, "a: more data than cycles")):
            with self.assertRaisesRegex(timing.WaveError, message):
                self.draw(signal)

    def test_no_diagram(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "docs/figures"
            path.mkdir(parents=True)
            (path / "a.json").write_text('{"signal": [')
            with self.assertRaisesRegex(timing.WaveError, "docs/figures/a.json: no timing diagram"):
                timing.generate(pathlib.Path(folder))


if __name__ == "__main__":
    unittest.main()
