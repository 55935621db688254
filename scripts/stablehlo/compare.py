# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Compares the reader of StableHLO artifacts with jaxlib's: lowers many JAX programs, serialises each for several versions of StableHLO as JAX
does for a plugin, and compares what build/bin/mlir_dump prints with what jaxlib's bindings see in the same bytes: every operation's name,
operands, results and their types, attributes, regions, and its location. Needs jax (python -m pip install jax).

    python scripts/stablehlo/compare.py --dump build/bin/mlir_dump --artifacts build/stablehlo
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

# pylint: disable=wrong-import-position
import jax
import ml_dtypes
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

import programs

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
stablehlo.register_stablehlo_passes()
# What the PJRT client does to a program before it serialises it.
LEGALISE = "builtin.module(func.func(chlo-legalize-to-stablehlo,shape-legalize-to-stablehlo))"

VERSIONS = ("1.0.0", "1.3.0", "1.7.0", "1.9.0", "1.11.0", "1.13.7", "1.16.0", None)  # None: the current one
KINDS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
         "f8E5M2": ml_dtypes.float8_e5m2, "i1": np.bool_, "i4": np.int8, "ui4": np.uint8, "index": np.int64,
         **{f"{u}i{w}": np.dtype(f"{'u' if u else ''}int{w}") for u in ("", "u") for w in (8, 16, 32, 64)}}


def lowered(function, arguments, options):
    """The module that the PJRT client serialises."""
    module = jax.jit(function, **options).lower(*arguments).compiler_ir("stablehlo")
    with module.context:
        passmanager.PassManager.parse(LEGALISE).run(module.operation)
    return module


def serialised(module, version=None):
    with module.context:
        return stablehlo.serialize_portable_artifact(module, version or stablehlo.get_current_version(), True)


def write_artifacts(folder):
    """The artifacts of all programs; for some all versions, for the others one each in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.mlirbc"):
        old.unlink()
    for number, (name, function, arguments, options) in enumerate([*programs.all_programs(), *programs.sharded_programs()]):
        try:
            module = lowered(function, arguments, options)
        except Exception as error:  # pylint: disable=broad-exception-caught
            print(f"{name}: not lowered: {str(error).splitlines()[0]}")
            continue
        for index, version in enumerate(VERSIONS):
            if index != number % len(VERSIONS) and number % 16 != 0:
                continue
            try:
                data = serialised(module, version)
            except Exception:  # pylint: disable=broad-exception-caught
                print(f"{name}: StableHLO {version} has no such operation")
                continue
            (folder / f"{name}-{version or 'current'}.mlirbc").write_bytes(data)


def bits(number, kind):
    """A number as MLIR prints it, as bytes; hexadecimal ones are bits already."""
    dtype = np.dtype(KINDS[kind])
    if number.startswith("0x"):
        return int(number, 16).to_bytes(dtype.itemsize, "little")
    if dtype.kind in "iu":
        return (int(number) & (1 << 8 * dtype.itemsize) - 1).to_bytes(dtype.itemsize, "little")
    if dtype == np.bool_:
        return b"\1" if number == "true" else b"\0"
    return np.array(float(number)).astype(dtype).tobytes()


def elements(match):
    """dense<[[1.0, 2.0]]> : tensor<1x2xf32> with hexadecimal bytes and the type as vhlo has it."""
    body, shape = match.group(1), match.group(2)
    *sizes, element = re.fullmatch(r"((?:\d+x)*)(.*)", shape).groups()
    count = int(np.prod([int(s) for s in sizes[0].split("x")[:-1]], dtype=np.int64))
    part = re.fullmatch(r"complex<(\w+)>", element)
    kind = part.group(1) if part else element
    splat = ""
    if body.startswith('"0x'):
        data = bytes.fromhex(body[3:-1])
        if kind == "i1":
            data = bytes(bool(data[i // 8] >> i % 8 & 1) for i in range(count)) if len(data) != count else bytes(bool(b) for b in data)
    else:
        numbers = re.findall(r"0x[0-9A-Fa-f]+|[-+]?[\d.]+(?:[eE][-+]?\d+)?|true|false", body)
        data = b"".join(bits(n, kind) for n in numbers)
    width = np.dtype(KINDS[kind]).itemsize * (2 if part else 1)
    if len(data) == width and count != 1:
        splat = "splat "
    vhlo = {"i1": "bool"}.get(kind, kind)
    vhlo = f"!vhlo.{vhlo}_v1"
    vhlo = f"!vhlo.complex_v1<{vhlo}>" if part else vhlo
    return f"#vhlo.tensor_v1<{splat}{data.hex()} : !vhlo.tensor_v1<{sizes[0]}{vhlo}>>"


def number(match):
    kind = re.sub(r"!vhlo\.|_v1", "", match.group(2))
    data = bits(match.group(1), kind)
    return f"{int.from_bytes(data, 'little'):#0{2 * len(data) + 2}x} : {match.group(2)}"


def accuracy(match):
    words = [np.array(float(match.group(i))).view(np.int64) for i in (1, 2)]
    return f"#vhlo.result_accuracy_v1<{words[0]}, {words[1]}, {match.group(3)}; {match.group(4)}>"


def alias(match):
    output, operand, inner = (match.group(i) for i in (1, 2, 3))
    numbers = [str(len(output.split(",")) if output else 0), output, operand, inner]
    return f"#vhlo.output_operand_alias_v1<{', '.join(filter(None, numbers))}; >"


def normal(text):
    """An attribute's text, with numbers as the reader prints them."""
    text = re.sub(r"#vhlo\.tensor_v1<dense<(.*?)> : tensor<((?:[^<>]|<[^<>]*>)*)>>", elements, text)
    text = re.sub(r"#vhlo\.result_accuracy_v1<atol = ([^,]*), rtol = ([^,]*), ulps = (\d+), mode = (#vhlo<[^>]*>)>", accuracy, text)
    text = re.sub(r"((?:0x[0-9A-F]+)|(?:[-+]?\d+\.\d+(?:[eE][-+]?\d+)?)) : (!vhlo\.(?:bf|f|tf)\w+|f64)", number, text)
    text = re.sub(r"#sdy\.op_sharding_rule<.*>", "#sdy.op_sharding_rule", text)
    text = re.sub(r"#vhlo\.output_operand_alias_v1<outputTupleIndices = \[([^\]]*)\], operandIndex = (\d+), operandTupleIndices = \[([^\]]*)\]>", alias, text)
    return text


def name_of(key):
    return key if re.fullmatch(r"[A-Za-z_][\w$.]*", key) else f'"{key}"'


class Dump:
    """jaxlib's view of a module in the format of mlir_dump."""

    def __init__(self, module):
        self.lines, self.values = [], {}
        self.operation(module.operation, 0)

    def define(self, value):
        self.values[value] = len(self.values)
        return f"{self.values[value]}: {value.type}"

    def operation(self, operation, depth):
        operands = ", ".join(str(self.values[v]) for v in operation.operands)
        results = ", ".join(self.define(v) for v in operation.results)
        names = sorted(operation.attributes, key=lambda n: n.encode() if isinstance(n, str) else n.name.encode())
        names = [n if isinstance(n, str) else n.name for n in names]
        attributes = ", ".join(f"{name_of(n)} = {normal(str(operation.attributes[n]))}" for n in names)
        self.lines.append(f"{' ' * depth}{operation.name} ({operands}) -> {results} {{{attributes}}} {operation.location}")
        for region in operation.regions:
            self.lines.append(" " * (depth + 1) + "region")
            for block in region.blocks:
                arguments = ", ".join(f"{self.define(a)} {a.location}" for a in block.arguments)
                self.lines.append(f"{' ' * (depth + 2)}block ({arguments})")
                for inner in block.operations:
                    self.operation(inner.operation, depth + 3)


def differences(ours, theirs):
    """Pairs of lines that differ; a missing line is empty."""
    length = max(len(ours), len(theirs))
    padded = zip(ours + [""] * (length - len(ours)), theirs + [""] * (length - len(theirs)))
    return [(a, b) for a, b in padded if a != b]


def is_operation(line):
    return not re.match(r" *(region|block)\b", line)


def read_dumps(program, files):
    """What the reader prints, lines by file."""
    text = subprocess.run([program, *files], stdout=subprocess.PIPE, check=False).stdout.decode()
    dumps = {}
    for line in text.split("\n"):
        if line.startswith("file "):
            lines = dumps.setdefault(line[len("file "):], [])
        elif line:
            lines.append(line)
    return dumps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True, help="the program mlir_dump")
    parser.add_argument("--artifacts", type=pathlib.Path, required=True, help="folder that they are written to")
    parser.add_argument("--keep", action="store_true", help="take the artifacts that are there")
    parser.add_argument("--show", type=int, default=5, help="differences to print")
    args = parser.parse_args()
    if not args.keep:
        write_artifacts(args.artifacts)
    files = sorted(str(p) for p in args.artifacts.glob("*.mlirbc"))
    dumps = read_dumps(args.dump, files)
    imports = read_dumps(args.dump, ["--ir", *files])
    operations, different, names, seeded, refused = 0, 0, set(), 0, {}
    with jax_mlir.make_ir_context():
        for file in files:
            theirs = Dump(ir.Module.parse(pathlib.Path(file).read_bytes())).lines
            found = differences(dumps[file], theirs)
            operations += sum(map(is_operation, theirs))
            names.update(line.split()[0] for line in theirs if is_operation(line))
            for ours, other in found[:max(0, args.show - different)]:
                print(f"{file}:\n  reader {ours.strip()}\n  jaxlib {other.strip()}")
            different += len(found)
            if imports[file][0].startswith("error"):
                refused[file] = imports[file]
            # That the comparison sees an attribute that is dropped.
            for index, line in enumerate(dumps[file]):
                dropped = re.sub(r"\{\w+ = [^=]*\}", "{}", line)
                if dropped != line:
                    seeded += len(differences(dumps[file][:index] + [dropped] + dumps[file][index + 1:], theirs)) > len(found)
                    break
    print(f"{len(files)} artifacts, {operations} operations of {len(names)} names, {different} differences; {seeded} seeded faults seen")
    print(f"{len(files) - len(refused)} imported, {len(refused)} refused:")
    for file, lines in refused.items():
        print(f"  {pathlib.Path(file).stem}: {'; '.join(line.strip() for line in lines)}"[:300])
    wrong = [file for file, lines in refused.items() if not lines[0].startswith("error UNIMPLEMENTED")]
    if different or wrong or len(files) < 300 or not seeded:
        sys.exit(1)


if __name__ == "__main__":
    main()
