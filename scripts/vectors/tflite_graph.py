# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Small TensorFlow Lite models, built as flatbuffers, and their run on the reference kernels."""

import flatbuffers
import numpy as np
from ai_edge_litert import interpreter as tfl
from ai_edge_litert import schema_py_generated as schema

OPS = {
    "conv2d": (schema.BuiltinOperator.CONV_2D, schema.BuiltinOptions.Conv2DOptions, schema.Conv2DOptionsT, 3),
    "dense": (
        schema.BuiltinOperator.FULLY_CONNECTED,
        schema.BuiltinOptions.FullyConnectedOptions,
        schema.FullyConnectedOptionsT,
        4,
    ),
    "avgpool": (schema.BuiltinOperator.AVERAGE_POOL_2D, schema.BuiltinOptions.Pool2DOptions, schema.Pool2DOptionsT, 2),
    "maxpool": (schema.BuiltinOperator.MAX_POOL_2D, schema.BuiltinOptions.Pool2DOptions, schema.Pool2DOptionsT, 2),
    "add": (schema.BuiltinOperator.ADD, schema.BuiltinOptions.AddOptions, schema.AddOptionsT, 2),
}
TYPES = {np.dtype(np.int8): schema.TensorType.INT8, np.dtype(np.int32): schema.TensorType.INT32}
ACTIVATIONS = {
    "none": schema.ActivationFunctionType.NONE,
    "relu": schema.ActivationFunctionType.RELU,
    "relu6": schema.ActivationFunctionType.RELU6,
}
PADDINGS = {"same": schema.Padding.SAME, "valid": schema.Padding.VALID}


class Graph:
    """Collects tensors and operators; tensors are known by their index."""

    def __init__(self):
        self.tensors, self.operators, self.codes, self.buffers = [], [], [], [schema.BufferT()]

    def tensor(self, shape, scales, zero_points, value=None, dtype=np.int8):
        """An activation, or a constant when a value is given; several scales mean one for each index of axis 0."""
        dtype = np.dtype(dtype) if value is None else value.dtype
        tensor = schema.TensorT()
        tensor.shape = [int(d) for d in shape]
        tensor.type = TYPES[dtype]
        tensor.name = f"t{len(self.tensors)}"
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale = [float(s) for s in np.atleast_1d(scales)]
        tensor.quantization.zeroPoint = [int(z) for z in np.atleast_1d(zero_points)]
        tensor.quantization.quantizedDimension = 0
        tensor.buffer = 0
        if value is not None:
            tensor.buffer = len(self.buffers)
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(value.tobytes(), np.uint8)
            self.buffers.append(buffer)
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def weighted(self, op, source, source_scale, weights, weight_scales, bias, target, **options):
        """A convolution or dense layer with per-channel weights."""
        zeros = np.zeros(len(weight_scales), np.int64)
        w = self.tensor(weights.shape, weight_scales, zeros, weights)
        b = self.tensor(bias.shape, np.float32(source_scale) * np.asarray(weight_scales, np.float32), zeros, bias)
        self.operator(op, [source, w, b], target, **options)

    def variable(self, shape, scale, zero_point, dtype):
        """What an operator keeps from one step to the next."""
        index = self.tensor(shape, scale, zero_point, dtype=dtype)
        self.tensors[index].isVariable = True
        return index

    def operator(self, op, inputs, output, intermediates=None, **options):
        builtin, kind, options_type, version = OPS[op]
        code = schema.OperatorCodeT()
        code.builtinCode, code.deprecatedBuiltinCode = builtin, min(builtin, 127)
        code.version = version
        self.codes.append(code)
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self.codes) - 1
        operator.inputs, operator.outputs = inputs, output if isinstance(output, list) else [output]
        operator.intermediates = intermediates
        operator.builtinOptionsType = kind
        operator.builtinOptions = options_type()
        for key, value in options.items():
            if not hasattr(operator.builtinOptions, key):
                raise ValueError(f"{op} has no option {key}")
            setattr(operator.builtinOptions, key, value)
        self.operators.append(operator)

    def model(self, inputs, outputs):
        graph = schema.SubGraphT()
        graph.tensors, graph.operators = self.tensors, self.operators
        graph.inputs, graph.outputs = inputs, outputs
        model = schema.ModelT()
        model.version = 3
        model.subgraphs, model.operatorCodes, model.buffers = [graph], self.codes, self.buffers
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def run(model, inputs, wanted, resolver=tfl.OpResolverType.BUILTIN_REF):
    """Runs a model on the reference kernels; `inputs` maps indices to arrays, `wanted` lists indices to return."""
    interpreter = tfl.Interpreter(
        model_content=model,
        num_threads=1,
        experimental_op_resolver_type=resolver,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    for index, value in inputs.items():
        interpreter.set_tensor(index, value)
    interpreter.invoke()
    return [interpreter.get_tensor(index) for index in wanted]
