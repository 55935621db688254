# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Writes tests/data/stablehlo: a few artifacts (NAME.mlirbc), what jaxlib's bindings see in each (NAME.txt), and files of jax.export
(NAME.jax); and tests/data/training, a small training and one of long steps. Needs jax and flatbuffers.

    python scripts/stablehlo/test_data.py
"""

import io
import pathlib
import re
import sys

import compare
import jax
import jax.export
import programs
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "data" / "stablehlo"

# Of programs.py, with the version of StableHLO; None is the current one.
CHOSEN = {
    "exp": ("1.0.0", None), "constant_bits": (None,), "constant_true": (None,), "constant_special": (None,), "constant_bf16": ("1.9.0",),
    "reduce_pair": (None,), "pool_max_gradient": (None,), "conv_NHWC_2_1_gradient": ("1.9.0",), "matmul_BF16_BF16_F32_X3": (None,),
    "matmul_highest": ("1.0.0",), "batched_take": ("1.3.0",), "scatter_add": (None,), "top_k": ("1.13.7",), "cond": (None,), "scan": (None,),
    "scan_nested": ("1.9.0",), "composite_pair": (None,), "random_bits": (None,), "mlp_sgd": (None,), "cholesky": (None,),
    "sharded_mlp": (None,), "sharded_constraint": ("1.9.0",), "sharded_map": (None,), "fft": (None,), "unicode_Straße": (None,),
}

# Each operation of complex numbers, the result of one an output.
UNARY = ("negate", "sign", "sqrt", "rsqrt", "log", "log_plus_one", "exponential", "exponential_minus_one", "logistic", "sine", "cosine", "tan",
         "tanh")
BINARY = ("add", "subtract", "multiply", "divide", "power")
FUNCTIONS_OF_COMPLEX = (
    "func.func @main(%x: tensor<4096xcomplex<f32>>, %y: tensor<4096xcomplex<f32>>) -> (tensor<4096xf32>"
    + ", tensor<4096xcomplex<f32>>" * len(UNARY + BINARY) + ") {\n%abs = stablehlo.abs %x : (tensor<4096xcomplex<f32>>) -> tensor<4096xf32>\n"
    + "".join(f"%{name} = stablehlo.{name} %x{', %y' * (name in BINARY)} : tensor<4096xcomplex<f32>>\n" for name in UNARY + BINARY)
    + "return %abs" + "".join(f", %{name}" for name in UNARY + BINARY)
    + " : tensor<4096xf32>" + ", tensor<4096xcomplex<f32>>" * len(UNARY + BINARY) + "\n}")

# As jax does not make them. A name with "generic" is not serialised as StableHLO.
WRITTEN = {
    "recursive": """
        func.func @main(%x: tensor<f32>) -> tensor<f32> {
          %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32> loc("model.py":3:4)
          return %0 : tensor<f32>
        }
        func.func private @f(%x: tensor<f32>) -> tensor<f32> {
          %0 = func.call @main(%x) : (tensor<f32>) -> tensor<f32> loc("again"("model.py":7:8))
          return %0 : tensor<f32>
        }""",
    "unsupported": """
        func.func @main(%x: tensor<?xf32> loc("x"), %y: tensor<2xf64> loc("y")) -> tensor<?xf32> {
          %0 = stablehlo.add %x, %x : tensor<?xf32> loc("sum"("model.py":5:2))
          %1 = stablehlo.complex %y, %y : tensor<2xcomplex<f64>> loc("model.py":6:3)
          %2 = stablehlo.create_token : !stablehlo.token loc("model.py":7:3)
          "stablehlo.custom_call"(%2) {call_target_name = "print", has_side_effect = true} : (!stablehlo.token) -> ()
          return %0 : tensor<?xf32>
        }""",
    "values_behind": """
        func.func @main(%p: tensor<i1>, %x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
          %0 = "stablehlo.if"(%p) ({
            %a = stablehlo.add %x, %x : tensor<i32>
            %b = stablehlo.multiply %a, %x : tensor<i32>
            stablehlo.return %b : tensor<i32>
          }, {
            %c = stablehlo.negate %x : tensor<i32>
            stablehlo.return %c : tensor<i32>
          }) : (tensor<i1>) -> tensor<i32>
          %1:2 = stablehlo.while(%i = %0, %n = %x) : tensor<i32>, tensor<i32>
          cond {
            %less = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %less : tensor<i1>
          } do {
            %next = stablehlo.add %i, %x : tensor<i32>
            stablehlo.return %next, %n : tensor<i32>, tensor<i32>
          }
          %2 = stablehlo.subtract %1#0, %x : tensor<i32>
          %3 = stablehlo.xor %2, %0 : tensor<i32>
          return %2, %3 : tensor<i32>, tensor<i32>
        }""",
    "captured": """
        func.func @main(%p: tensor<i1>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
          %one = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
          %0:2 = "stablehlo.if"(%p) ({
            %a = stablehlo.add %x, %one : tensor<3xf32>
            stablehlo.return %a, %y : tensor<3xf32>, tensor<3xf32>
          }, {
            %b = "stablehlo.if"(%p) ({
              stablehlo.return %y : tensor<3xf32>
            }, {
              %c = stablehlo.multiply %x, %y : tensor<3xf32>
              stablehlo.return %c : tensor<3xf32>
            }) : (tensor<i1>) -> tensor<3xf32>
            stablehlo.return %b, %one : tensor<3xf32>, tensor<3xf32>
          }) : (tensor<i1>) -> (tensor<3xf32>, tensor<3xf32>)
          return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
        }""",
    "complex_functions": FUNCTIONS_OF_COMPLEX,
    "complex_regions": """
        func.func @main(%x: tensor<6xcomplex<f32>>, %y: tensor<6xcomplex<f32>>, %p: tensor<i1>) ->
            (tensor<complex<f32>>, tensor<complex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>,
             tensor<6xcomplex<f32>>, tensor<6xi1>, tensor<2x2xcomplex<f32>>) {
          %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
          %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
          %ramp = stablehlo.constant dense<[(1.0, 0.5), (2.0, 0.25), (3.0, 0.125), (4.0, -1.0), (5.0, -2.0), (6.0, -3.0)]> : tensor<6xcomplex<f32>>
          %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
          %product = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
          %chosen = "stablehlo.if"(%p) ({
            %a = stablehlo.multiply %y, %ramp : tensor<6xcomplex<f32>>
            stablehlo.return %a : tensor<6xcomplex<f32>>
          }, {
            stablehlo.return %y : tensor<6xcomplex<f32>>
          }) : (tensor<i1>) -> tensor<6xcomplex<f32>>
          %count = stablehlo.constant dense<0> : tensor<i32>
          %loop:2 = stablehlo.while(%i = %count, %z = %x) : tensor<i32>, tensor<6xcomplex<f32>>
          cond {
            %three = stablehlo.constant dense<3> : tensor<i32>
            %less = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %less : tensor<i1>
          } do {
            %step = stablehlo.constant dense<1> : tensor<i32>
            %next = stablehlo.add %i, %step : tensor<i32>
            %square = stablehlo.multiply %z, %y : tensor<6xcomplex<f32>>
            stablehlo.return %next, %square : tensor<i32>, tensor<6xcomplex<f32>>
          }
          %sorted = "stablehlo.sort"(%x) ({
          ^bb0(%l: tensor<complex<f32>>, %r: tensor<complex<f32>>):
            %lr = stablehlo.imag %l : (tensor<complex<f32>>) -> tensor<f32>
            %rr = stablehlo.imag %r : (tensor<complex<f32>>) -> tensor<f32>
            %before = stablehlo.compare LT, %lr, %rr : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %before : tensor<i1>
          }) {dimension = 0 : i64, is_stable = true} : (tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
          %places = stablehlo.constant dense<[[1], [1], [4], [0], [4], [5]]> : tensor<6x1xi32>
          %scattered = "stablehlo.scatter"(%x, %places, %y) ({
          ^bb0(%l: tensor<complex<f32>>, %r: tensor<complex<f32>>):
            %s = stablehlo.add %l, %r : tensor<complex<f32>>
            stablehlo.return %s : tensor<complex<f32>>
          }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
              : (tensor<6xcomplex<f32>>, tensor<6x1xi32>, tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>>
          %same = stablehlo.compare EQ, %scattered, %x : (tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>) -> tensor<6xi1>
          %left = stablehlo.reshape %x : (tensor<6xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
          %right = stablehlo.reshape %y : (tensor<6xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
          %dot = stablehlo.dot_general %left, %right, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST]
              : (tensor<2x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
          return %sum, %product, %chosen, %loop#1, %sorted, %scattered, %same, %dot : tensor<complex<f32>>, tensor<complex<f32>>,
              tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<6xi1>, tensor<2x2xcomplex<f32>>
        }""",
    "attributes": """
        module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 3 : i32} {
          func.func @main(%x: tensor<2x3xf32> {jax.buffer_donor = true, mhlo.sharding = "{replicated}"},
                          %y: tensor<3x2xf32> {tf.aliasing_output = 0 : i32}) ->
              (tensor<3x2xf32> {jax.result_info = "out['a']", mhlo.sharding = "{devices=[3,1]<=[3]}"}, tensor<2x2xf32>) {
            %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
            %1 = stablehlo.dot %x, %y : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
            %2 = stablehlo.custom_call @Sharding(%0) : (tensor<3x2xf32>) -> tensor<3x2xf32>
            return %2, %1 : tensor<3x2xf32>, tensor<2x2xf32>
          }
        }""",
    "sharded_parts": """
        module attributes {mhlo.num_partitions = 8 : i32} {
          sdy.mesh @mesh = <["a"=4, "b"=2]>
          sdy.mesh @turned = <["c"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
          func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(2)2, "b"}, {"a":(1)2}]>},
                          %y: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@turned, [{"c"}, {}]>}) -> tensor<8x4xf32> {
            %0 = stablehlo.add %x, %y : tensor<8x4xf32>
            return %0 : tensor<8x4xf32>
          }
        }""",
    "generic": """
        module attributes {
            a.s = #sdy.sharding<@mesh, [{"b", ?}p5, {"c":(1)2}], replicated={"d"}>, a.r = dense_resource<foo> : tensor<2xi32>,
            a.m = #sdy<manual_axes{"a", "b"}>, a.pv = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>,
            a.u = #sdy.sharding<@mesh, [{}], unreduced={"b"}>} {
          sdy.mesh @mesh = <["b"=4, "c"=4, "d"=2, "a"=2]>
          "t.x"() ({ ^bb0(%a: i32): "t.y"(%a) : (i32) -> () }) {x = @foo::@bar, y = 1.5 : f64, z = -3 : i8, t = tensor<2x?xf32>, "q-r" = "s"}
              : () -> () loc("f.py":3:4 to 5:6)
          "t.z"() : () -> () loc(fused["a", "f.py":1:2 to :9])
        }
        {-# dialect_resources: { builtin: { foo: "0x040000000100000002000000" } } #-}""",
}


def write(name, data):
    (FOLDER / f"{name}.mlirbc").write_bytes(data)
    text = "\n".join(compare.Dump(ir.Module.parse(data)).lines)
    text = re.sub(r"dense_resource<foo\w*> : tensor<2xi32>", "dense<0100000002000000 : tensor<2xi32>>", text)
    (FOLDER / f"{name}.txt").write_text(text + "\n")


def write_exports():
    """A function alone, and with its first two derivatives."""
    jax.config.update("jax_traceback_in_locations_limit", 0)
    exported = jax.export.export(jax.jit(jax.numpy.exp), platforms=["cpu"])(jax.ShapeDtypeStruct((4, 8), jax.numpy.float32))
    for name, derivatives in (("exp", 0), ("exp_derivatives", 2)):
        (FOLDER / f"{name}.jax").write_bytes(exported.serialize(vjp_order=derivatives))


def write_trainings():
    sys.path.insert(0, str(ROOT / "examples"))
    import jax_export_training as training  # pylint: disable=import-outside-toplevel

    folder = ROOT / "tests" / "data" / "training"
    training.export_training(folder / "long", 1200, training.adam)
    jax.clear_caches()  # the network is another one
    training.CONVOLUTIONS = {"conv1": ((3, 3, 1, 4), 4)}
    training.DENSE = {"dense1": (7 * 7 * 4, 16), "dense2": (16, 10)}
    training.export_training(folder / "small", 8, training.sgd)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    jax.config.update("jax_traceback_in_locations_limit", 1)
    for name, function, arguments, options in [*programs.all_programs(), *programs.sharded_programs()]:
        for version in CHOSEN.get(name, ()):
            data = compare.serialised(compare.lowered(function, arguments, options), version)
            with jax_mlir.make_ir_context():
                write(name.replace("ß", "ss") + (f"-{version}" if len(CHOSEN[name]) > 1 and version else ""), data)
    for name, text in WRITTEN.items():
        with jax_mlir.make_ir_context() as context:
            context.allow_unregistered_dialects = True
            module = ir.Module.parse(text)
            if name == "generic":
                buffer = io.BytesIO()
                module.operation.write_bytecode(buffer)
                write(name, buffer.getvalue())
            else:
                write(name, compare.serialised(module))
    write_exports()
    write_trainings()
    size = sum(p.stat().st_size for p in FOLDER.iterdir())
    print(f"{len(list(FOLDER.iterdir()))} files, {size} bytes")


if __name__ == "__main__":
    main()
