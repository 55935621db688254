# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What the commands answer to what is wrong: runs the cases of docs/spec/errors.yaml, which docs/reference/errors.md is made from.

Each case runs in a folder of its own that holds the files of `files` below, with build/bin first on the path. Beside what the
case itself asks for, no command may end by a signal or with a traceback, and one that fails may leave nothing behind.
"""

import argparse
import base64
import concurrent.futures
import fnmatch
import io
import json
import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs/spec/errors.yaml"
KEYS = {"run", "exit", "says", "not", "setup", "leaves", "seconds", "doc"}
LARGE = 1 << 16  # bytes
SECONDS = 30  # of a case without `seconds`
# What no command may say, whatever it is given.
NEVER = ("terminate called", "Traceback (most recent call last)", "Segmentation fault", "core dumped", "Assertion `")


def safetensors(header, data=b""):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def archive(*members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in members:
            file.writestr(name, b"x")
    return buffer.getvalue()


def elf(*segments, machine=243, bits=32, kind=2, entry=0x80, flags=1, order="<"):
    """An ELF file with loadable segments: (address, bytes in the file, bytes in memory)."""
    ident = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1]) + bytes(9)
    at = 52 + 32 * len(segments)
    headers, data = b"", b""
    for address, content, memory in segments:
        headers += struct.pack(order + "8I", 1, at + len(data), address, address, len(content), memory, 7, 4)
        data += content
    return ident + struct.pack(order + "HHIIIIIHHHHHH", kind, machine, 1, entry, 52, 0, flags, 52, 32, len(segments), 0, 0, 0) + headers + data


def float_model(weights, custom=None):
    """A dense layer of TensorFlow Lite on float32, its weights of the type that is named, and a custom operator after it, as the JSON of
    flatc."""
    quantised = {"quantization": {"scale": [0.5], "zero_point": [0]}} if weights == "INT8" else {}
    tensors = [{"shape": [1, 4], "type": "FLOAT32", "buffer": 0, "name": "x"},
               {"shape": [2, 4], "type": weights, "buffer": 1, "name": "w", **quantised},
               {"shape": [1, 2], "type": "FLOAT32", "buffer": 0, "name": "y"}]
    operators = [{"opcode_index": 0, "inputs": [0, 1, -1], "outputs": [2], "options_type": "FullyConnectedOptions", "options": {}}]
    codes = [{"deprecated_builtin_code": 9, "builtin_code": "FULLY_CONNECTED", "version": 1}]
    if custom:
        tensors.append({"shape": [1, 2], "type": "FLOAT32", "buffer": 0, "name": "z"})
        codes.append({"deprecated_builtin_code": 32, "builtin_code": "CUSTOM", "custom_code": custom, "version": 1})
        operators.append({"opcode_index": 1, "inputs": [2], "outputs": [3]})
    return {"version": 3, "operator_codes": codes,
            "subgraphs": [{"tensors": tensors, "inputs": [0], "outputs": [len(tensors) - 1], "operators": operators}],
            "buffers": [{}, {"data": [1] * (8 if weights == "INT8" else 32)}]}


def write_files(folder, environment):
    """What the cases find in their folders."""
    def put(name, data):
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())

    def save(name, array):
        np.save(folder / name, array)

    def systole(*words):
        subprocess.run(["systole", *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)

    for name in ("models", "tests", "docs", "examples"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "folder").mkdir()
    (folder / "saved").mkdir()
    put("saved/saved_model.pb", b"\x08\x01")
    put("readme.md", "# A text\n")
    put("empty", "")
    put("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(20))
    put("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(20))
    put("model.onnx", b"\x08\x07\x12\x07pytorch\x3a\x40" + bytes(20))
    put("renamed_onnx.tflite", b"\x08\x07\x12\x07pytorch\x3a\x40" + bytes(20))
    # y = Relu(x), x float32 [batch, width], written by the package onnx; and of an operator that there is not.
    relu = bytes.fromhex("08081201703a3e0a0f0a01781201791a016e220452656c751201675a1d0a017812180a16080112120a07120562617463680a07120577696474"
                         "6862090a017912040a02080142040a001011")
    put("relu.onnx", relu)
    put("half.onnx", relu[:40])
    put("fancy.onnx", relu.replace(b"Relu", b"Fanc"))
    put("model.h5", b"\x89HDF\r\n\x1a\n" + bytes(20))
    put("model.keras", archive("metadata.json", "config.json", "model.weights.h5"))
    put("arrays.npz", archive("a.npy"))
    put("other.zip", archive("a.txt"))
    put("weights.pt", archive("archive/data.pkl", "archive/data/0"))
    put("old.pt", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.")
    put("packed.tflite.gz", b"\x1f\x8b\x08\x00" + bytes(20))
    put("graph.pb", b"\x0a\x20" + bytes(20))
    put("foreign.safetensors", safetensors({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)))
    put("broken.safetensors", safetensors({"w": 1})[:20])
    put("cut.tflite", (ROOT / "models/mnist_cnn.tflite").read_bytes()[:5000])
    put("program.txt", "load hbm_addr=0x0 ub_addr=0 len=64 n1=1 n2=1 post=0\nstore hbm_addr=0x1000 ub_addr=0 len=64 n1=1 n2=1 wait=0\nhalt\n")
    # The first copies 64 bytes to the other core's memory, the second waits for them.
    put("first.txt", "load hbm_addr=0x0 ub_addr=0 len=64 n1=1 n2=1 post=0\n"
        "store hbm_addr=0x40001000 ub_addr=0 len=64 n1=1 n2=1 wait=0 post=28\nhalt\n")
    put("second.txt", "load hbm_addr=0x1000 ub_addr=0 len=64 n1=1 n2=1 wait=28 post=0\n"
        "store hbm_addr=0x2000 ub_addr=0 len=64 n1=1 n2=1 wait=0\nhalt\n")
    put("halt.txt", "halt\n")
    header = struct.pack("<I", 0x31574653) + bytes(124)  # firmware/scalar/protocol.h
    code = header + bytes(128)
    for name, data in (
            ("x86", elf(machine=62, bits=64)), ("wide", elf(bits=64)), ("big", elf(order=">")), ("arm", elf(machine=40)),
            ("object", elf(kind=1)), ("pie", elf(kind=3)), ("hard", elf((0, code, 256), flags=5)), ("nothing", elf()),
            ("bare", elf((0, bytes(256), 256))), ("far", elf((0x80000000, code, 256))), ("stack", elf((0, code, 40000))),
            ("odd", elf((0, code, 256), entry=0x81)), ("lost", elf((0, code, 256), entry=0x100)), ("head", elf((0, code, 256), entry=0x40)),
            ("twice", elf((0, code, 256), (0x80, code, 256))), ("cut", elf((0, code, 256))[:300]), ("stub", elf()[:40]),
            ("table", elf((0, code, 256))[:60]), ("less", elf((0, code, 128)))):
        put(f"{name}.elf", data)
    for name, *layer in (("float", "FLOAT32"), ("dynamic", "INT8"), ("custom", "FLOAT32", "MyOp")):
        put(f"{name}.json", json.dumps(float_model(*layer)))
        subprocess.run(["flatc", "-b", str(ROOT / "host/import/tflite_schema.fbs"), f"{name}.json"], cwd=folder, check=True)
        (folder / f"{name}.json").unlink()
        (folder / f"{name}.bin").rename(folder / f"{name}.tflite")
    model = bytearray((ROOT / "models/mnist_cnn.tflite").read_bytes())
    put("hostile.tflite", bytes(model).replace(b"dense2.out", b"d\n\x1b[2J\xff\xfe.o"))
    model[100_000:600_000] = bytes(500_000)  # of weights
    put("wrong.tflite", bytes(model))
    kinds = {case["name"]: case["model"] for case in json.loads((ROOT / "tests/data/tflite/kinds.json").read_text())["cases"]}
    put("signatures.tflite", base64.b64decode(kinds["signature encode"]))
    put("ssd.tflite", base64.b64decode(kinds["uint8 ssd fast"]).replace(b"num_classes", b"num_other__"))
    put("stream.tflite", base64.b64decode(json.loads((ROOT / "tests/data/tflite/stream.json").read_text())["model"]))
    save("x.npy", np.zeros((1, 28, 28, 1), np.int8))
    save("four.npy", np.zeros((4, 28, 28, 1), np.int8))
    save("zero.npy", np.zeros((0, 28, 28, 1), np.int8))
    save("other.npy", np.zeros((28, 28, 2), np.int8))
    save("short.npy", np.zeros((1, 28, 28, 1), np.int16))
    save("double.npy", np.zeros((1, 28, 28, 1), np.float64))
    save("complex.npy", np.zeros((1, 28, 28, 1), np.complex64))
    save("objects.npy", np.array([None] * 4))
    clipped = np.zeros((1, 28, 28, 1), np.float32)
    clipped[0, 3, 4:7, 0] = (1.5, -2, np.inf)
    save("clipped.npy", clipped)
    clipped[0, 9, 9, 0] = clipped[0, 9, 10, 0] = np.nan
    save("nan.npy", clipped)
    for name, shape in (("negative", "(-1, 28, 28, 1)"), ("huge", "(9999999999999999999999, 28)"), ("fraction", "(1.5, 28)"),
                        ("open", "(28, 28"), ("empty_huge", "(1099511627776, 1099511627776, 0)")):
        header = f"{{'descr': '|i1', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        put(f"{name}.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header)
    put("cut.npy", (folder / "four.npy").read_bytes()[:1000])
    for name in ("exp", "scan", "cholesky", "complex_regions", "generic", "sharded_mlp", "unsupported"):
        put(f"{name}.mlirbc", (ROOT / f"tests/data/stablehlo/{name}.mlirbc").read_bytes())
    exported = bytearray((ROOT / "tests/data/stablehlo/exp.jax").read_bytes())
    put("exp.jax", bytes(exported))
    put("cut.jax", bytes(exported[:600]))
    exported[exported.index(b"\3\0\1\0\0\0")] = 12  # of the serialization
    put("later.jax", bytes(exported))
    # Products of the same matrices, the second one less exact.
    for name, program in (("exact", "matmul_highest"), ("rough", "matmul_BF16_BF16_F32_X3")):
        put(f"{name}.mlirbc", (ROOT / f"tests/data/stablehlo/{program}.mlirbc").read_bytes())
    put("cut.mlirbc", (folder / "scan.mlirbc").read_bytes()[:200])
    put("text.mlir", "module @m {\n  func.func @main() { return }\n}\n")
    save("matrix.npy", np.zeros((4, 8), np.float32))
    save("matrix64.npy", np.zeros((4, 8)))
    put("choice.mlirbc", (ROOT / "tests/data/stablehlo/values_behind.mlirbc").read_bytes())
    save("truth.npy", np.array(5, np.uint8).view(np.bool_))
    save("yes.npy", np.array(True))
    save("index.npy", np.array(3, np.int32))
    systole("compile", "models/mnist_cnn.tflite", "-o", "net.tpu")
    put("cut.tpu", (folder / "net.tpu").read_bytes()[:1000])
    damaged = bytearray((folder / "net.tpu").read_bytes())
    damaged[len(damaged) // 2] ^= 4
    put("damaged.tpu", bytes(damaged))
    systole("compile", "hostile.tflite", "-o", "hostile.tpu")
    systole("asm", "program.txt", "-o", "program.tpu", "--preset", "nano")
    for name in ("first", "second", "halt"):
        systole("asm", f"{name}.txt", "-o", f"{name}.tpu", "--preset", "minichip")
    for name, sizes in (("long", [1 << 24] * 3), ("short", [1, 28, 28])):
        (folder / name).mkdir()
        put(f"{name}/test-images-idx3-ubyte", struct.pack(">IIII", 0x803, *sizes) + bytes(10))
    digits = folder / "digits"
    digits.mkdir()
    for kind in ("images-idx3", "labels-idx1"):
        (digits / f"train-{kind}-ubyte.gz").symlink_to(ROOT / f"tests/data/mnist/test-{kind}-ubyte.gz")
    systole("train", "--digits", "digits", "--steps", "1", "--check", "none", "--test-images", "0", "--reports", "",
            "--save", "trained.safetensors", "--quiet")


def add_devices(folder):
    """`null` and `full`: nodes of the folder itself, as a program that replaces one may be run as root. False if they cannot be
    made; without root's rights those of /dev cannot be replaced, and links to them will do."""
    try:
        for name, minor in (("null", 3), ("full", 7)):
            if os.geteuid() != 0:
                (folder / name).symlink_to(f"/dev/{name}")
                continue
            os.mknod(folder / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            with open(folder / name, "wb"):
                pass
        return True
    except OSError:
        return False


def link_large(source, target):
    """Copies a file; one that is large becomes a second name of it: contents() would tell if a command wrote to it."""
    return os.link(source, target) if os.path.getsize(source) > LARGE else shutil.copy2(source, target)


def contents(folder):
    """{path: what is there} of all files that a command could have changed; of large ones when they were written."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = "-> " + os.readlink(path)
        elif path.is_file() and path.stat().st_size > LARGE:
            state = path.stat()
            found[str(path.relative_to(folder))] = (state.st_ino, state.st_size, state.st_mtime_ns)
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
        else:
            found[str(path.relative_to(folder))] = "special" if not path.is_dir() else "folder"
    return found


def shell(command, folder, environment, seconds):
    """Exit code and output; a code of -1: it did not end."""
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        return -1, output.decode(errors="replace")


def listed(value):
    return [] if value is None else value if isinstance(value, list) else [value]


def check(case, files, environment):
    """What is wrong with a case's answer: a list of texts."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="errors_") as work:
        folder = pathlib.Path(work) / "here"
        shutil.copytree(files, folder, symlinks=True, copy_function=link_large)
        if re.search(r"\b(null|full)\b", case["run"]) and not add_devices(folder):
            return []
        if "setup" in case:
            subprocess.run(["bash", "-ec", case["setup"]], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        before = contents(folder)
        code, output = shell(case["run"], folder, environment, case.get("seconds", SECONDS))
        after = contents(folder)
    if code != case["exit"]:
        problems.append("it does not end" if code == -1 else f"exit code {code}, not {case['exit']}")
    problems += [f"does not say: {text}" for text in listed(case.get("says")) if text not in output]
    problems += [f"says: {text}" for text in [*NEVER, *listed(case.get("not"))] if text in output]
    if case["exit"] != 0:
        leaves = listed(case.get("leaves"))
        for path in sorted(set(before) | set(after)):
            if before.get(path) != after.get(path) and not any(fnmatch.fnmatch(path, pattern) for pattern in leaves):
                if after.get(path) == "folder" and path not in before:
                    continue  # that of results, made before minutes of work
                problems.append(f"{path} is {'new' if path not in before else 'gone' if path not in after else 'changed'}")
    else:
        problems += [f"{name} is not there" for name in listed(case.get("leaves")) if not fnmatch.filter(after, name)]
        temporary = [path for path in after if path not in before and path.endswith(".tmp")]
        problems += [f"{path} is left" for path in temporary]
    return [f"{problem}\n    {output.strip()[:2000]}" if i == 0 else problem for i, problem in enumerate(problems)]


# Cases that go wrong, and words of what is found: a check that finds nothing is none.
SEEDED = (({"run": "exit 3", "exit": 1}, "exit code 3, not 1"),
          ({"run": "sleep 9", "exit": 1, "seconds": 0.2}, "it does not end"),
          ({"run": "echo other", "exit": 0, "says": ["this"]}, "does not say: this"),
          ({"run": "echo this", "exit": 0, "not": ["this"]}, "says: this"),
          ({"run": "python -c 'raise ValueError'", "exit": 1}, "says: Traceback"),
          ({"run": "kill -ABRT $$", "exit": 1}, "exit code -6, not 1"),
          ({"run": "touch half.tpu; exit 1", "exit": 1}, "half.tpu is new"),
          ({"run": "echo x >> readme.md; exit 1", "exit": 1}, "readme.md is changed"),
          ({"run": "rm x.npy; exit 1", "exit": 1}, "x.npy is gone"),
          ({"run": "touch trained.safetensors; exit 1", "exit": 1}, "trained.safetensors is changed"),
          ({"run": "cp trained.safetensors x; mv x trained.safetensors; exit 1", "exit": 1}, "trained.safetensors is changed"),
          ({"run": "touch .a.tmp", "exit": 0}, ".a.tmp is left"),
          ({"run": "rm null; touch null; test -c null", "exit": 0}, "exit code 1, not 0"),
          ({"run": "true", "exit": 0, "leaves": "out.tpu"}, "out.tpu is not there"))


def check_seeded(files, environment):
    """The faults that are not found."""
    with tempfile.TemporaryDirectory() as folder:
        devices = add_devices(pathlib.Path(folder))
    return [case["run"] for case, words in SEEDED
            if (devices or "null" not in case["run"]) and not any(words in text for text in check(case, files, environment))]


def read_table(path):
    cases = []
    for section in yaml.safe_load(path.read_text())["sections"]:
        for case in section["cases"]:
            unknown = set(case) - KEYS
            if unknown or "run" not in case or "exit" not in case:
                raise ValueError(f"{path}: {case}: {'unknown ' + ', '.join(unknown) if unknown else 'run and exit are needed'}")
            cases.append(case)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--filter", default="", help="regular expression over the commands")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", type=pathlib.Path, default=TABLE)
    args = parser.parse_args()
    cases = [case for case in read_table(args.table) if re.search(args.filter, case["run"])]
    environment = {**os.environ, "PATH": f"{args.build.resolve() / 'bin'}:{ROOT / 'scripts'}:{os.environ['PATH']}", "ROOT": str(ROOT),
                   "BUILD": str(args.build.resolve()), "LC_ALL": "C.UTF-8"}
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SYSTOLE_DIGITS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        environment.pop(name, None)
    began = time.monotonic()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="errors_files_") as files, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        write_files(pathlib.Path(files), environment)
        for missed in check_seeded(files, environment):
            failed += 1
            print(f"a seeded fault is not found: {missed}")
        for case, problems in zip(cases, pool.map(lambda case: check(case, files, environment), cases)):
            if problems:
                failed += 1
                print(f"{case['run']}\n  " + "\n  ".join(problems))
    print(f"errors: {len(cases)} cases, {failed} failed, {time.monotonic() - began:.0f} s")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
