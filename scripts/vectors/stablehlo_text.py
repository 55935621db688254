# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Modules of StableHLO, as jax's own bindings read them, in the text of host/ir (host/ir/text.h)."""

import re

import ml_dtypes
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ELEMENTS = {f"ui{n}": f"u{n}" for n in (8, 16, 32, 64)}


def type_text(value_type):
    tensor = ir.RankedTensorType(value_type)
    element = str(tensor.element_type)
    return ELEMENTS.get(element, element) + "[" + ",".join(str(n) for n in tensor.shape) + "]"


def keyword(attribute):
    """The enumerator in `#stablehlo<kind NAME>`."""
    return re.search(r"([A-Z][A-Z_0-9]*)>?$", str(attribute)).group(1)


def ints(values):
    return "[" + ", ".join(str(int(v)) for v in values) + "]"


def number(value):
    value = float(value)
    return repr(value) if np.isfinite(value) else None


FLOATS = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}


def values_of(attribute, element, count):
    if element in ("bf16", "f16"):  # the bindings read no such elements
        text = re.match(r"dense<(.*)> : tensor", str(attribute)).group(1)
        tokens = [t for t in re.split(r"[\[\], ]+", text) if t]
        numbers = [
            np.array(int(t, 16), np.uint16).view(FLOATS[element]) if t.startswith("0x") else FLOATS[element](t) for t in tokens
        ]
        return numbers * count if len(numbers) == 1 else numbers
    dense = (ir.DenseFPElementsAttr if element == "f32" else ir.DenseIntElementsAttr)(attribute)
    return [dense[0]] * count if count and dense.is_splat else [dense[i] for i in range(count)]


def constant(attribute, value_type):
    tensor = ir.RankedTensorType(value_type)
    element = str(tensor.element_type)
    values = values_of(attribute, element, int(np.prod(tensor.shape, dtype=np.int64)))
    if element in FLOATS:
        if all(np.isfinite(v) for v in values) and len(values) <= 64:
            return "[" + ", ".join(repr(float(np.float32(v))) for v in values) + "]"
        return 'x"' + np.array(values, FLOATS[element]).tobytes().hex() + '"'
    if element.startswith("u"):
        values = [int(v) % 2 ** int(element.strip("ui")) for v in values]
    return ints(values)


def listed(name, key=None):
    return lambda op: f", {key or name}={ints(op.attributes[name])}"


def pads(op, rank):
    padding = op.attributes["padding"] if "padding" in op.attributes else None
    pairs = np.array(padding).reshape(rank, 2) if padding is not None and rank else np.zeros((rank, 2), int)
    return f", low={ints(pairs[:, 0])}, high={ints(pairs[:, 1])}"


def entries(op, name, rank, default=1):
    return ints(op.attributes[name] if name in op.attributes else [default] * rank)


def precision(op):
    if "precision_config" not in op.attributes:
        return ""
    order = ["DEFAULT", "HIGH", "HIGHEST"]
    best = max((order.index(keyword(p)) for p in op.attributes["precision_config"]), default=0)
    return "" if best == 0 else f", precision={order[best]}"


def dot(op):
    d = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    return (
        f", lhs_batching={ints(d.lhs_batching_dimensions)}, rhs_batching={ints(d.rhs_batching_dimensions)}"
        f", lhs_contracting={ints(d.lhs_contracting_dimensions)}, rhs_contracting={ints(d.rhs_contracting_dimensions)}"
    ) + precision(op)


def convolution(op):
    d = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    rank = len(d.input_spatial_dimensions)
    reversal = op.attributes["window_reversal"] if "window_reversal" in op.attributes else [0] * rank
    return (
        f", stride={entries(op, 'window_strides', rank)}" + pads(op, rank)
        + f", lhs_dilation={entries(op, 'lhs_dilation', rank)}, rhs_dilation={entries(op, 'rhs_dilation', rank)}"
        f", reversal={ints(reversal)}"
        f", input_batch={d.input_batch_dimension}, input_feature={d.input_feature_dimension}"
        f", input_spatial={ints(d.input_spatial_dimensions)}"
        f", kernel_input_feature={d.kernel_input_feature_dimension}"
        f", kernel_output_feature={d.kernel_output_feature_dimension}"
        f", kernel_spatial={ints(d.kernel_spatial_dimensions)}"
        f", output_batch={d.output_batch_dimension}, output_feature={d.output_feature_dimension}"
        f", output_spatial={ints(d.output_spatial_dimensions)}"
        f", feature_group_count={op.attributes['feature_group_count'].value}"
        f", batch_group_count={op.attributes['batch_group_count'].value}"
    ) + precision(op)


def gather(op):
    d = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    return (
        f", offset_dims={ints(d.offset_dims)}, collapsed_slice_dims={ints(d.collapsed_slice_dims)}"
        f", operand_batching_dims={ints(d.operand_batching_dims)}"
        f", start_indices_batching_dims={ints(d.start_indices_batching_dims)}"
        f", start_index_map={ints(d.start_index_map)}, index_vector_dim={d.index_vector_dim}"
        f", slice_sizes={ints(op.attributes['slice_sizes'])}"
    )


def scatter(op):
    d = stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    return (
        f", update_window_dims={ints(d.update_window_dims)}, inserted_window_dims={ints(d.inserted_window_dims)}"
        f", input_batching_dims={ints(d.input_batching_dims)}"
        f", scatter_indices_batching_dims={ints(d.scatter_indices_batching_dims)}"
        f", scatter_dims_to_operand_dims={ints(d.scattered_dims_to_operand_dims)}"
        f", index_vector_dim={d.index_vector_dim}"
    )


def window(op, strides="window_strides"):
    rank = ir.RankedTensorType(op.operands[0].type).rank
    return (
        f", window={entries(op, 'window_dimensions', rank)}, stride={entries(op, strides, rank)}"
        f", base_dilation={entries(op, 'base_dilations', rank)}"
        f", window_dilation={entries(op, 'window_dilations', rank)}"
    ) + pads(op, rank)


def flag(op, name):
    return "true" if name in op.attributes and op.attributes[name].value else "false"


def compare(op):
    kind = keyword(op.attributes["compare_type"]) if "compare_type" in op.attributes else "DEFAULT"
    return f", direction={keyword(op.attributes['comparison_direction'])}" + ("" if kind == "DEFAULT" else f", type={kind}")


ATTRIBUTES = {
    "compare": compare,
    "reduce_precision": lambda op: (
        f", exponent_bits={op.attributes['exponent_bits'].value}, mantissa_bits={op.attributes['mantissa_bits'].value}"
    ),
    "iota": lambda op: f", dimension={op.attributes['iota_dimension'].value}",
    "concatenate": lambda op: f", dimension={op.attributes['dimension'].value}",
    "broadcast_in_dim": listed("broadcast_dimensions", "dimensions"),
    "transpose": listed("permutation"),
    "reverse": listed("dimensions"),
    "reduce": listed("dimensions"),
    "map": listed("dimensions"),
    "dynamic_slice": listed("slice_sizes", "sizes"),
    "slice": lambda op: "".join(
        f", {key}={ints(op.attributes[name])}"
        for key, name in (("start", "start_indices"), ("limit", "limit_indices"), ("strides", "strides"))
    ),
    "pad": lambda op: "".join(
        f", {key}={ints(op.attributes[name])}"
        for key, name in (("low", "edge_padding_low"), ("high", "edge_padding_high"), ("interior", "interior_padding"))
    ),
    "gather": gather,
    "scatter": scatter,
    "dot_general": dot,
    "convolution": convolution,
    "reduce_window": window,
    "select_and_scatter": window,
    "sort": lambda op: f", dimension={op.attributes['dimension'].value}, is_stable={flag(op, 'is_stable')}",
    "rng_bit_generator": lambda op: f", algorithm={keyword(op.attributes['rng_algorithm'])}",
    "cholesky": lambda op: f", lower={flag(op, 'lower')}",
    "triangular_solve": lambda op: (
        f", left_side={flag(op, 'left_side')}, lower={flag(op, 'lower')}, unit_diagonal={flag(op, 'unit_diagonal')}"
        f", transpose_a={'false' if keyword(op.attributes['transpose_a']) == 'NO_TRANSPOSE' else 'true'}"
    ),
    "batch_norm_training": lambda op: norm(op),
    "batch_norm_inference": lambda op: norm(op),
    "batch_norm_grad": lambda op: norm(op),
}


def norm(op):
    return f", epsilon={number(op.attributes['epsilon'].value)}, feature_index={op.attributes['feature_index'].value}"


class Printer:
    def __init__(self, module):
        self.functions = {
            ir.StringAttr(f.operation.attributes["sym_name"]).value: f.operation for f in module.body.operations
        }
        self.lines = []
        self.next = 0

    def name(self):
        self.next += 1
        return f"%v{self.next}"

    def module(self, title):
        main = self.functions["main"].regions[0].blocks[0]
        values = {}
        for i, argument in enumerate(main.arguments):
            values[argument] = self.name()
            self.lines.append(f'  {values[argument]} = {type_text(argument.type)} parameter(), name="in{i}"')
        outputs = self.block(main, values, 2)
        returned = ", ".join(f'{value} as "out{i}"' for i, value in enumerate(outputs))
        return f"module @{title} {{\n" + "\n".join(self.lines) + f"\n  return {returned}\n}}\n"

    def block(self, block, values, indent):
        """Prints the operations; the texts of what the block returns."""
        for op in block.operations:
            op = op.operation
            if op.name in ("func.return", "stablehlo.return"):
                return [values[v] for v in op.operands]
            if op.name in ("func.call", "stablehlo.composite"):
                key = "callee" if op.name == "func.call" else "decomposition"
                callee = self.functions[ir.FlatSymbolRefAttr(op.attributes[key]).value].regions[0].blocks[0]
                inner = dict(zip(callee.arguments, (values[v] for v in op.operands)))
                results = self.block(callee, inner, indent)
                values.update(zip(op.results, results))
                continue
            self.operation(op, values, indent)
        raise ValueError("a block without return")

    def operation(self, op, values, indent):
        name = self.name()
        for i, result in enumerate(op.results):
            values[result] = name if i == 0 else f"{name}#{i}"
        types = [type_text(r.type) for r in op.results]
        kind = op.name.removeprefix("stablehlo.")
        head = f"{' ' * indent}{name} = {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'}"
        if kind == "constant":
            self.lines.append(f"{head} constant(), data={constant(op.attributes['value'], op.results[0].type)}")
            return
        if "." in kind:
            raise ValueError(f"{op.name} has no counterpart")
        captured = self.captured(op, values)
        operands = [values[v] for v in op.operands] + [values[v] for v in captured]
        text = ATTRIBUTES.get(kind, lambda _: "")(op)
        self.lines.append(f"{head} hlo.{kind}({', '.join(operands)}){text}")
        for region in op.regions:
            if not region.blocks:
                continue
            self.lines[-1] += " {"
            inner = {}
            block = region.blocks[0]
            for value in [*block.arguments, *captured]:
                inner[value] = self.name()
                self.lines.append(f"{' ' * indent}  {inner[value]} = {type_text(value.type)} parameter()")
            outputs = self.block(block, inner, indent + 2)
            self.lines.append(f"{' ' * indent}  return {', '.join(outputs)}")
            self.lines.append(f"{' ' * indent}}}")

    def captured(self, op, values):
        """What the regions read from around them."""
        found = []

        def visit(inner):
            for region in inner.regions:
                for block in region.blocks:
                    for nested in block.operations:
                        for value in nested.operation.operands:
                            if value in values and value not in found:
                                found.append(value)
                        visit(nested.operation)

        visit(op)
        return found


def module_text(module, title):
    return Printer(module).module(title)
