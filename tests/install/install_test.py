#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The installation: what it holds, and programs that use it, each built in a folder of its own.

The built tree is installed to a prefix with a blank in its name, which is then moved; everything runs from where it was moved to.

Usage: scripts/python tests/install/install_test.py --build build [unittest's arguments]
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
CLANG = next((name for name in ("clang-19", "clang") if shutil.which(name)), "clang")


def run(*command, **options):
    """The finished process; what it printed as text."""
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          **{"timeout": 600, **options})


def declared(header):
    """Functions that a header declares."""
    return set(re.findall(r"^SYSTOLE_API [\w* ]*?\b(systole_\w+)\(", re.sub(r"(SYSTOLE_API \w+\*?)\n\s*", r"\1 ", header), re.M))


def exported(library):
    """Functions of a shared library with their versions, but for SystemC's."""
    lines = run("nm", "-D", "--defined-only", library).stdout.splitlines()
    return {name for name in (line.split()[-1] for line in lines if " T " in line or " D " in line or " B " in line) if name.split("@")[0] != "sc_main"}


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="systole install ")
        top = pathlib.Path(cls.folder.name)
        done = run(ROOT / "scripts/install.sh", BUILD, "/usr/some where", top / "staged")
        assert done.returncode == 0, done.stdout
        (top / "staged/usr/some where").rename(top / "moved away")
        cls.prefix = top / "moved away"
        cls.share = cls.prefix / "share/systole"
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": str(cls.prefix / "lib/pkgconfig"), "LD_LIBRARY_PATH": str(cls.prefix / "lib"),
                           "SYSTOLE_SHARE": str(cls.share)}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="systole consumer ")
        self.addCleanup(work.cleanup)
        self.work = pathlib.Path(work.name)

    def ok(self, *command, **options):
        done = run(*command, **{"env": self.environment, "cwd": self.work, **options})
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout

    def test_nothing_names_the_source_or_the_build(self):
        places = (str(ROOT).encode(), b"/usr/some where")
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.suffix in (".cmake", ".pc", ".core", ".f", ".h", ".py", ".toml", ".xml", ".sv"):
                text = path.read_bytes()
                self.assertFalse([place for place in places if place in text], path)
        for binary in (self.prefix / "bin/systole", self.prefix / "lib/libsystole.so"):
            self.assertNotRegex(run("readelf", "-d", binary).stdout, "R(UN)?PATH")

    def test_symbols(self):
        header = (self.prefix / "include/systole.h").read_text()
        functions = declared(header)
        self.assertGreater(len(functions), 25)
        self.assertEqual(exported(self.prefix / "lib/libsystole.so"), {f"{name}@@SYSTOLE_1" for name in functions})
        self.assertIn("libsystole.so.1", run("readelf", "-d", self.prefix / "lib/libsystole.so").stdout)
        # A function without its declaration is seen.
        self.assertEqual(functions - declared(header.replace("systole_device_close(", "systole_gone(")), {"systole_device_close"})

    def test_tool(self):
        tool = self.prefix / "bin/systole"
        self.ok(tool, "compile", self.share / "models/mnist_cnn.tflite", "--preset", "nano", "-o", "digits.tpu")
        header = (self.prefix / "include/systole.h").read_text()
        version = ".".join(re.search(rf"SYSTOLE_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
        self.assertEqual(self.ok(tool, "--version").strip(), f"systole {version}")
        self.assertIn("largest of 0", self.ok(tool, "run", "digits.tpu", "--backend", "iss", "--random", "1", "--quiet"))

    def test_c99_by_pkg_config(self):
        shutil.copy(self.share / "examples/c/digits.c", self.work)
        for compiler in ("gcc", CLANG):
            with self.subTest(compiler):
                self.ok("sh", "-c", f"eval {compiler} -std=c99 -pedantic -Wall -Wextra -Werror digits.c $(pkg-config --cflags --libs systole) -o {compiler}")
                self.assertIn("8 of 8 right on iss, edge", self.ok(f"./{compiler}"))
        out = self.ok("./gcc", "rtl", "nano", "1")
        self.assertRegex(out, r"1 of 1 right on rtl, nano; \d{5,} cycles\n  conv1.out +conv2d +\d+ cycles\n")
        done = run("./gcc", "rtl", "lite", env=self.environment, cwd=self.work)
        self.assertEqual(done.returncode, 1)
        self.assertIn("preset 'lite' has no int8 cell", done.stdout)
        done = run("./gcc", env={**self.environment, "SYSTOLE_SHARE": "/no/where"}, cwd=self.work)
        self.assertEqual((done.returncode, done.stdout), (1, "digits: cannot read /no/where/digits/test-images-idx3-ubyte\n"))
        self.assertEqual(self.ok("pkg-config", "--modversion", "systole"), "1.0.0\n")
        self.assertTrue(pathlib.Path(self.ok("pkg-config", "--variable=rtldir", "systole").strip().replace("\\", ""), "systole.f").exists())

    def test_cmake(self):
        shutil.copytree(self.share / "examples/cmake", self.work / "source")
        for compiler in ("g++", CLANG.replace("clang", "clang++")):
            with self.subTest(compiler):
                build = self.work / f"build {compiler}"
                self.ok("cmake", "-S", self.work / "source", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={compiler}")
                self.ok("cmake", "--build", build)
                out = self.ok(build / "classify", env={**os.environ})  # the library is found without LD_LIBRARY_PATH
                self.assertEqual(re.findall(r"^(\w+) +\d+x\d+ +sees a (\d)$", out, re.M),
                                 [(name, "1") for name in ("nano", "edge", "v1", "board8", "board", "edgechip")])
        self.ok("cmake", "--build", build, "--target", "lint_core")

    def test_cmake_of_another_version_or_component(self):
        for wanted, error in (("2.0", "1.0.0"), ("1.9", "1.0.0"), ("1.0 REQUIRED COMPONENTS pod", "pod")):
            project = self.work / re.sub(r"\W", "_", wanted)
            project.mkdir()
            (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES CXX)\n"
                                                    f"find_package(Systole {wanted}{'' if 'REQ' in wanted else ' REQUIRED'})\n")
            done = run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(error, done.stdout)

    def test_python(self):
        environment = {**os.environ, "PYTHONPATH": str(self.share / "python")}
        out = self.ok(sys.executable, self.share / "examples/python/digits_numpy.py", "--preset", "nano", env=environment)
        self.assertIn("8 of 8 right on iss, nano", out)

    def test_pip_install(self):
        # The models of other presets are 60 MB to pack.
        package = self.work / "package"
        shutil.copytree(self.share / "python", package, ignore=lambda _, names: [name for name in names if re.match(r"model_(?!nano\.)", name)])
        target = self.work / "site packages"
        self.ok(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation",
                "--disable-pip-version-check", "--root-user-action=ignore", "--target", target, package)
        self.assertFalse((target / "systole/libsystole.so.1").is_symlink())
        self.assertTrue((target / "systole_jax/libsystole_pjrt.so").exists())
        self.assertTrue((target / "systole/models/model_nano.so").exists())
        self.assertTrue((target / "systole-1.0.0.dist-info").exists())
        out = self.ok(sys.executable, "-c", "import systole; print(systole.__file__, systole.__version__)",
                      env={**os.environ, "PYTHONPATH": str(target)})
        self.assertEqual(out, f"{target}/systole/__init__.py 1.0.0\n")
        out = self.ok(sys.executable, "-c", "from importlib.metadata import entry_points; print(*(e.value for e in entry_points(group='jax_plugins')))",
                      env={**os.environ, "PYTHONPATH": str(target)})
        self.assertEqual(out, "systole_jax\n")

    def test_rtl_file_lists(self):
        rtl = self.share / "rtl"
        self.ok("verilator", "--lint-only", "--top-module", "systole_top", "-GPreset=0", "-F", rtl / "systole_files.f")
        named = re.findall(r"^(?:-y )?(\w\S*)$", (rtl / "systole.f").read_text(), re.M)  # the build elaborates with this one
        self.assertGreater(len(named), 20)
        self.assertEqual([path for path in named if not (rtl / path).exists()], [])
        registers = (self.share / "ip-xact/systole_csr.xml").read_text()
        for name in ("prog_addr_lo", "fault_cause", "counters"):
            self.assertIn(f"<ipxact:name>{name}</ipxact:name>", registers)

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which("setpriv"), "becomes another user")
    def test_without_permission(self):
        done = run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ROOT / "scripts/install.sh", BUILD, "/usr/local/systole")
        self.assertEqual((done.returncode, done.stdout), (1, "install: /usr/local/systole: no permission to write there\n"))
        self.assertFalse(pathlib.Path("/usr/local/systole").exists())

    def test_where_nothing_can_be_installed(self):
        (self.work / "file").touch()
        for arguments, error in (((BUILD, self.work / "file/below"), "file is no folder"), ((self.work, self.work / "prefix"), "is no build folder"),
                                 ((BUILD, ""), "wanted: BUILD PREFIX"), ((BUILD, "/proc/systole"), "/proc/systole")):
            done = run(ROOT / "scripts/install.sh", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stdout.startswith("install: ") and error in done.stdout, done.stdout)

    def test_relative_folders(self):
        self.ok(ROOT / "scripts/install.sh", BUILD, "my prefix", "my stage")
        self.assertTrue((self.work / f"my stage/{self.work}/my prefix/include/systole.h").exists())


def main():
    global BUILD
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
