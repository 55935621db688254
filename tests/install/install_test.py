#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The installation: what it holds, and programs that use it, each built in a folder of its own.

The built tree is installed to a prefix with a blank in its name, which is then moved; everything runs from where it was moved to. Where
root runs the test, the programs that use the installation run as a user that owns nothing in it.

Usage: scripts/python tests/install/install_test.py --build build [unittest's arguments]
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
JAX = ROOT / ".venv-jax/bin/python"
NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups") if os.geteuid() == 0 and shutil.which("setpriv") else ()
# Not where nobody else may look, as in root's home: the environment of JAX is in there.
if AS_NOBODY and subprocess.run([*AS_NOBODY, "ls", ROOT, tempfile.gettempdir()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                check=False).returncode != 0:
    AS_NOBODY = ()
# Shared libraries that every distribution of manylinux has (PEP 600): what else a wheel needs ties it to one distribution.
EVERYWHERE = re.compile(r"(libgcc_s|libstdc\+\+|libm|libdl|librt|libc|libnsl|libutil|libpthread|libresolv|libz|libexpat|ld-linux-x86-64)\.so\.\d+")
_NUMBERS = re.findall(r"^#define SYSTOLE_VERSION_\w+ (\d+)$", (ROOT / "host/include/systole.h").read_text(), re.M)
VERSION = ".".join(_NUMBERS)
MAJOR, MINOR, _ = map(int, _NUMBERS)
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


def snapshot(folder):
    """All below a folder, with times and sizes."""
    return {path.relative_to(folder).as_posix(): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")}


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="systole install ")
        top = pathlib.Path(cls.folder.name)
        top.chmod(0o755)
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
        if AS_NOBODY:
            os.chown(self.work, NOBODY, NOBODY)

    def ok(self, *command, user=AS_NOBODY, **options):
        options = {"env": self.environment, "cwd": self.work, **options}
        options["env"] = {**options["env"], "HOME": str(self.work), "TMPDIR": str(self.work)}
        options["env"].pop("PYTHONDONTWRITEBYTECODE", None)  # as users have it
        done = run(*user, *command, **options)
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

    def test_the_library_notes_the_processor_that_it_needs(self):
        wanted = re.search(r"^SYSTOLE_ARCH:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]
        level = re.search(r"x86 ISA needed:.*?(x86-64-\w+)\n", run("readelf", "-n", self.prefix / "lib/libsystole.so").stdout)
        self.assertIsNotNone(level)
        if wanted.startswith("x86-64-v"):
            self.assertEqual(level[1], wanted)

    def test_tool(self):
        tool = self.prefix / "bin/systole"
        self.ok(tool, "compile", self.share / "models/mnist_cnn.tflite", "--preset", "nano", "-o", "digits.tpu")
        header = (self.prefix / "include/systole.h").read_text()
        version = ".".join(re.search(rf"SYSTOLE_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
        self.assertEqual(self.ok(tool, "--version").strip(), f"systole {version}")
        self.assertIn("image 0: largest", self.ok(tool, "run", "digits.tpu", "--backend", "iss", "--random", "1", "--quiet"))
        self.assertIn("accuracy: 1 of 1", self.ok(tool, "run", "--backend", "iss", "--images", "1", "--quiet"))
        self.assertEqual([path.name for path in self.work.iterdir()], ["digits.tpu"])

    def test_manual_and_completions(self):
        for name in ("man/man1/systole.1", "bash-completion/completions/systole", "zsh/site-functions/_systole",
                     "fish/vendor_completions.d/systole.fish"):
            self.assertIn("systole", (self.prefix / "share" / name).read_text())

    def test_c99_by_pkg_config(self):
        shutil.copy(self.share / "examples/c/digits.c", self.work)
        for compiler in ("gcc", CLANG):
            with self.subTest(compiler):
                self.ok("sh", "-c", f"eval {compiler} -std=c99 -pedantic -Wall -Wextra -Werror digits.c $(pkg-config --cflags --libs systole) -o {compiler}")
                self.assertIn("8 of 8 right on iss, edge", self.ok(f"./{compiler}"))
        share = self.ok("sh", "-c", 'eval export SYSTOLE_SHARE="$(pkg-config --variable=sharedir systole)"; cd "$SYSTOLE_SHARE"; ls')
        self.assertIn("models\n", share)
        out = self.ok("./gcc", "rtl", "nano", "1")
        self.assertRegex(out, r"1 of 1 right on rtl, nano; \d{5,} cycles\n  conv1.out +conv2d +\d+ cycles\n")
        done = run("./gcc", "rtl", "lite", env=self.environment, cwd=self.work)
        self.assertEqual(done.returncode, 1)
        self.assertIn("preset 'lite' has no int8 cell", done.stdout)
        done = run("./gcc", env={**self.environment, "SYSTOLE_SHARE": "/no/where"}, cwd=self.work)
        self.assertEqual((done.returncode, done.stdout), (1, "digits: cannot read /no/where/digits/test-images-idx3-ubyte\n"))
        self.assertEqual(self.ok("pkg-config", "--modversion", "systole"), f"{VERSION}\n")
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

    @unittest.skipUnless(shutil.which("riscv64-unknown-elf-gcc"), "no compiler for the scalar unit")
    def test_firmware(self):
        if not (self.prefix / "lib/systole/model_minichip.so").exists():
            self.skipTest("a build without Ibex")
        shutil.copytree(self.share / "examples/firmware", self.work / "own")
        if AS_NOBODY:
            os.chown(self.work / "own", NOBODY, NOBODY)
        out = self.ok("make", "-C", "own", "run", f"PREFIX={self.prefix}")
        self.assertRegex(out, r"\nlaunches 1, copies 1, cycles \d+ and \d+, status 0\n")
        # What is built into the tool builds as well.
        for name in ("boot_main.c", "main.c", "selftest.c"):
            self.assertTrue((self.share / "firmware" / name).exists())

    def test_cmake_of_another_version_or_component(self):
        for wanted, error in ((f"{MAJOR + 1}.0", VERSION), (f"{MAJOR}.{MINOR + 1}", VERSION),
                              (f"{MAJOR}.{MINOR} REQUIRED COMPONENTS pod", "no components; asked for: pod")):
            project = self.work / re.sub(r"\W", "_", wanted)
            project.mkdir()
            (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES CXX)\n"
                                                    f"find_package(Systole {wanted}{'' if 'REQ' in wanted else ' REQUIRED'})\n")
            done = run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(error, re.sub(r"\s+", " ", done.stdout))

    def test_python(self):
        environment = {**os.environ, "PYTHONPATH": str(self.share / "python")}
        out = self.ok(sys.executable, self.share / "examples/python/digits_numpy.py", "--preset", "nano", env=environment)
        self.assertIn("8 of 8 right on iss, nano", out)

    def package(self):
        """A folder with the Python packages as installed, but for the models of other presets, which are 60 MB to pack."""
        folder = tempfile.TemporaryDirectory(prefix="systole package ")
        self.addCleanup(folder.cleanup)
        pathlib.Path(folder.name).chmod(0o755)
        package = pathlib.Path(folder.name) / "python"
        shutil.copytree(self.share / "python", package, ignore=lambda _, names: [name for name in names if re.match(r"model_(?!nano\.)", name)])
        return package

    def test_pip_install(self):
        package = self.package()
        for number, user in enumerate((AS_NOBODY, ())):  # who cannot write there, and who can
            before = snapshot(package)
            target = self.work / f"site packages {number}"
            self.ok(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-cache-dir",
                    "--disable-pip-version-check", "--root-user-action=ignore", "--target", target, package, user=user)
            self.assertEqual(snapshot(package), before)
        self.assertFalse((target / "systole/libsystole.so.1").is_symlink())
        for name in ("systole_jax/libsystole_pjrt.so", "systole/models/model_nano.so", "systole/py.typed", "systole_torch/_aten.py",
                     f"systole_tpu-{VERSION}.dist-info"):
            self.assertTrue((target / name).exists(), name)
        out = self.ok(sys.executable, "-c", "import systole; print(systole.__file__, systole.__version__)",
                      env={**os.environ, "PYTHONPATH": str(target)})
        self.assertEqual(out, f"{target}/systole/__init__.py {VERSION}\n")
        points = ("from importlib.metadata import entry_points; "
                  "print(*(e.value for g in ('jax_plugins', 'torch_dynamo_backends') for e in entry_points(group=g)))")
        for path in (target, self.share / "python"):  # installed by pip, or named
            self.assertEqual(self.ok(sys.executable, "-c", points, env={**os.environ, "PYTHONPATH": str(path)}),
                             "systole_jax systole_torch:backend\n")

    def test_wheel(self):
        package = self.package()
        wheel = pathlib.Path(self.ok(sys.executable, package / "systole_build.py", "my wheels").strip())
        self.assertEqual(wheel, pathlib.Path(f"my wheels/systole_tpu-{VERSION}-py3-none-linux_x86_64.whl"))
        with zipfile.ZipFile(self.work / wheel) as archive:
            info = f"systole_tpu-{VERSION}.dist-info"
            metadata = archive.read(f"{info}/METADATA").decode()
            header = metadata.partition("\n\n")[0].splitlines()
            for line in ("Name: systole-tpu", f"Version: {VERSION}", "License-Expression: Apache-2.0", "License-File: LICENSE", "Provides-Extra: jax",
                         'Requires-Dist: jax>=0.10; extra == "jax"', "Description-Content-Type: text/markdown", "Classifier: Typing :: Typed"):
                self.assertIn(line, header)
            self.assertIn("# systole-tpu", metadata)
            self.assertIn("Root-Is-Purelib: false\nTag: py3-none-linux_x86_64\n", archive.read(f"{info}/WHEEL").decode())
            for name in ("LICENSE", "NOTICE"):
                if (ROOT / name).exists():
                    self.assertEqual(archive.read(f"{info}/licenses/{name}"), (ROOT / name).read_bytes())
            record = [line.rsplit(",", 2) for line in archive.read(f"{info}/RECORD").decode().splitlines()]
            self.assertEqual([name for name, *_ in record], archive.namelist())
            for name, digest, size in record[:-1]:
                data = archive.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((f"sha256={found}", str(len(data))), (digest, size), name)
            # The tag says whether it runs on every distribution: not while it needs libraries of this one.
            libraries = [name for name in archive.namelist() if ".so" in name]
            self.assertEqual(len(libraries), 3)
            foreign = set()
            for name in libraries:
                needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", archive.extract(name, self.work / "unpacked")).stdout)
                foreign |= {library for library in needed if not EVERYWHERE.fullmatch(library)}
            self.assertTrue(any(name.startswith("libabsl_") for name in foreign), foreign)
        # The same at another time.
        first = (self.work / wheel).read_bytes()
        self.assertEqual(pathlib.Path(self.work, self.ok(sys.executable, package / "systole_build.py", "again").strip()).read_bytes(), first)
        for missing, error in (("LICENSE", "the licence goes with the package"), ("systole/libsystole.so.1", "libsystole.so.* does not exist")):
            (package / missing).unlink()
            done = run(sys.executable, package / "systole_build.py", self.work / "none", cwd=self.work)
            self.assertEqual(done.returncode, 1)
            self.assertIn(error, done.stdout)
        self.assertEqual(list((self.work / "none").iterdir()), [])

    def test_licences(self):
        for folder in (self.prefix / "share/doc/systole", self.share / "python"):
            for name in ("LICENSE", "NOTICE"):
                if (ROOT / name).exists():
                    self.assertEqual((folder / name).read_bytes(), (ROOT / name).read_bytes())

    @unittest.skipUnless(JAX.exists(), "no environment with jax")
    def test_jax_and_keras(self):
        environment = {**os.environ, "PYTHONPATH": str(self.share / "python"), "JAX_PLATFORMS": "systole", "KERAS_BACKEND": "jax",
                       "SYSTOLE_PRESET": "lite"}
        examples = self.share / "examples"
        for script, arguments, out in (
                ("keras_lstm.py", ("--epochs", "1", "--sequences", "64"), r"loss: [\d.]+"),
                ("keras_mnist.py", ("--digits", self.share / "digits", "--train", "test", "--images", "128", "--test", "32", "--epochs", "1"),
                 r"right: [\d.]+ % of 32 test digits"),
                ("jax_mlp.py", ("--digits", self.share / "digits", "--images", "400", "--epochs", "1"), r"epoch 1: loss [\d.]+, right")):
            with self.subTest(script):
                self.assertRegex(self.ok(JAX, examples / script, *arguments, env=environment), out)

    def test_rtl_file_lists(self):
        rtl = self.share / "rtl"
        self.ok("verilator", "--lint-only", "--top-module", "systole_top", "-GPreset=0", "-F", rtl / "systole_files.f")
        named = re.findall(r"^(?:-y )?(\w\S*)$", (rtl / "systole.f").read_text(), re.M)  # the build elaborates with this one
        self.assertGreater(len(named), 20)
        self.assertEqual([path for path in named if not (rtl / path).exists()], [])
        registers = (self.share / "ip-xact/systole_csr.xml").read_text()
        for name in ("prog_addr_lo", "fault_cause", "counters"):
            self.assertIn(f"<ipxact:name>{name}</ipxact:name>", registers)

    def test_without_permission(self):
        if os.geteuid() == 0 and not AS_NOBODY:
            self.skipTest("root may write anywhere, and nobody else can read this folder")
        done = run(*AS_NOBODY, ROOT / "scripts/install.sh", BUILD, "/usr/local/systole")
        self.assertEqual((done.returncode, done.stdout), (1, "install: /usr/local/systole: no permission to write there\n"))
        self.assertFalse(pathlib.Path("/usr/local/systole").exists())

    def test_where_nothing_can_be_installed(self):
        (self.work / "file").touch()
        for arguments, error in (((BUILD, self.work / "file/below"), "file is no folder"), ((self.work, self.work / "prefix"), "is no build folder"),
                                 ((BUILD, ""), "wanted: BUILD PREFIX"), ((BUILD, "/proc/systole"), "/proc/systole"),
                                 ((BUILD, ROOT), "these are the sources"), ((BUILD, "~/systole"), "write $HOME")):
            done = run(ROOT / "scripts/install.sh", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stdout.startswith("install: ") and error in done.stdout, done.stdout)

    def test_all_may_read_what_a_private_umask_installs(self):
        self.ok("sh", "-c", 'umask 077; "$1" "$2" prefix', "sh", ROOT / "scripts/install.sh", BUILD, user=())
        private = [path for path in (self.work / "prefix").rglob("*") if not path.lstat().st_mode & 0o004]
        self.assertEqual(private, [])

    def test_relative_folders(self):
        self.ok(ROOT / "scripts/install.sh", BUILD, "my prefix", "my stage", user=())
        self.assertTrue((self.work / f"my stage/{self.work}/my prefix/include/systole.h").exists())
        self.ok(ROOT / "scripts/install.sh", "--uninstall", "my prefix", "my stage", user=())
        self.assertFalse((self.work / f"my stage/{self.work}/my prefix").exists())


class Uninstalled(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="systole uninstall ")
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.prefix = self.top / "pre fix"
        self.manifest = self.prefix / "share/systole/install_manifest.txt"

    def install(self):
        done = run(ROOT / "scripts/install.sh", BUILD, self.prefix)
        self.assertEqual(done.returncode, 0, done.stdout)

    def uninstall(self, *arguments):
        return run(ROOT / "scripts/install.sh", "--uninstall", *(arguments or (self.prefix,)))

    def left(self, folder=None):
        folder = folder or self.top
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))

    def test_all_of_it_goes(self):
        self.install()
        listed = {line for line in self.manifest.read_text().splitlines() if not line.endswith("/")}
        there = {path.relative_to(self.prefix).as_posix() for path in self.prefix.rglob("*") if path.is_symlink() or path.is_file()}
        self.assertEqual(listed | {"share/systole/install_manifest.txt"}, there)
        self.assertGreater(len(listed), 250)
        run(sys.executable, "-c", "import systole", env={**os.environ, "PYTHONPATH": str(self.prefix / "share/systole/python"),
                                                         "PYTHONDONTWRITEBYTECODE": ""})
        self.assertTrue(list(self.prefix.rglob("*.pyc")))  # which is not installed, but its
        done = self.uninstall()
        self.assertEqual((done.returncode, done.stdout), (0, f"uninstalled from {self.prefix}\n"))
        self.assertEqual(self.left(), [])
        # Another installation from the build, a test's for example, has not made this one forget its files.
        self.assertFalse((BUILD / "install_manifest.txt").exists())

    def test_what_is_others_stays(self):
        for name in ("bin/tool", "lib/pkgconfig/other.pc", "share/man/"):
            path = self.prefix / name
            (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
            if not name.endswith("/"):
                path.write_text("other's")
        before = self.left()
        for _ in range(2):  # the second time over itself
            self.install()
        mine = self.prefix / "share/systole/examples/mine.py"
        mine.write_text("")
        self.prefix.rename(self.top / "moved")
        self.prefix = self.top / "moved"
        done = self.uninstall()
        self.assertEqual(done.returncode, 0, done.stdout)
        folders = ["moved/share/systole", "moved/share/systole/examples", "moved/share/systole/examples/mine.py"]
        self.assertEqual(self.left(), sorted([*(name.replace("pre fix", "moved") for name in before), *folders]))

    def test_files_of_an_earlier_version_go_when_it_is_installed_over(self):
        self.install()
        old = self.prefix / "share/systole/rtl/gone/old.sv"
        old.parent.mkdir()
        old.write_text("")
        self.manifest.write_text(self.manifest.read_text() + "share/systole/rtl/gone/old.sv\nshare/systole/rtl/gone/\n")
        self.install()
        self.assertFalse(old.exists())
        self.assertEqual(self.uninstall().returncode, 0)
        self.assertEqual(self.left(), [])

    def test_where_nothing_is_installed(self):
        self.prefix.mkdir()
        done = self.uninstall()
        self.assertEqual((done.returncode, done.stdout), (1, f"install: nothing was installed below {self.prefix}: there is no "
                                                             "share/systole/install_manifest.txt\n"))
        self.manifest.parent.mkdir(parents=True)
        outside = self.top / "outside"
        outside.write_text("")
        for line in (f"/{outside}", "share/../../outside"):
            self.manifest.write_text(f"{line}\n")
            done = self.uninstall()
            self.assertEqual(done.returncode, 1)
            self.assertIn("is not below the prefix", done.stdout)
        self.assertTrue(outside.exists())
        self.assertEqual(self.uninstall("").stdout, "install: wanted: --uninstall PREFIX [DESTDIR]\n")

    def test_make(self):
        self.install()
        done = run("make", "--no-print-directory", "-C", ROOT, "uninstall", f"PREFIX={self.prefix}")
        self.assertEqual((done.returncode, done.stdout), (0, f"uninstalled from {self.prefix}\n"))
        self.assertEqual(self.left(), [])


def main():
    global BUILD
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
