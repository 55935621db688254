# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""What cases of operators are made of: their options, and a model of one operator with seeded inputs and the results of TensorFlow Lite's
reference kernels."""

import base64
import itertools
import zlib

import numpy as np
import tflite_graph
import tflite_inputs
from ai_edge_litert import interpreter as tfl

SEED = 20260102
schema = tflite_graph.schema
OP, KIND = schema.BuiltinOperator, schema.BuiltinOptions
SAME, VALID = tflite_graph.PADDINGS["same"], tflite_graph.PADDINGS["valid"]
ACTIVATIONS = {
    **tflite_graph.ACTIVATIONS, "relu_n1_to_1": schema.ActivationFunctionType.RELU_N1_TO_1, "tanh": schema.ActivationFunctionType.TANH,
}  # fmt: skip


class NoOptions:
    """Options of operators that have none."""

    def Pack(self, builder):
        builder.StartObject(0)
        return builder.EndObject()


tflite_graph.TYPES[np.dtype(np.float32)] = schema.TensorType.FLOAT32
tflite_graph.TYPES[np.dtype(np.int16)] = schema.TensorType.INT16
tflite_graph.TYPES[np.dtype(np.int64)] = schema.TensorType.INT64
tflite_graph.TYPES[np.dtype(bool)] = schema.TensorType.BOOL
tflite_graph.OPS.update(
    depthwise=(OP.DEPTHWISE_CONV_2D, KIND.DepthwiseConv2DOptions, schema.DepthwiseConv2DOptionsT, 3),
    sub=(OP.SUB, KIND.SubOptions, schema.SubOptionsT, 3),
    mul=(OP.MUL, KIND.MulOptions, schema.MulOptionsT, 2),
    conv_3d=(OP.CONV_3D, KIND.Conv3DOptions, schema.Conv3DOptionsT, 1),
    div=(OP.DIV, KIND.DivOptions, schema.DivOptionsT, 1),
    lstm=(OP.UNIDIRECTIONAL_SEQUENCE_LSTM, KIND.UnidirectionalSequenceLSTMOptions, schema.UnidirectionalSequenceLSTMOptionsT, 1),
    mean=(OP.MEAN, KIND.ReducerOptions, schema.ReducerOptionsT, 2),
    softmax=(OP.SOFTMAX, KIND.SoftmaxOptions, schema.SoftmaxOptionsT, 2),
    logistic=(OP.LOGISTIC, KIND.NONE, NoOptions, 2),
    tanh=(OP.TANH, KIND.NONE, NoOptions, 2),
    hard_swish=(OP.HARD_SWISH, KIND.HardSwishOptions, schema.HardSwishOptionsT, 1),
    relu=(OP.RELU, KIND.NONE, NoOptions, 2),
    relu6=(OP.RELU6, KIND.NONE, NoOptions, 2),
    relu_n1_to_1=(OP.RELU_N1_TO_1, KIND.NONE, NoOptions, 1),
    quantize=(OP.QUANTIZE, KIND.QuantizeOptions, schema.QuantizeOptionsT, 2),
    dequantize=(OP.DEQUANTIZE, KIND.DequantizeOptions, schema.DequantizeOptionsT, 2),
    reshape=(OP.RESHAPE, KIND.ReshapeOptions, schema.ReshapeOptionsT, 1),
    squeeze=(OP.SQUEEZE, KIND.SqueezeOptions, schema.SqueezeOptionsT, 1),
    expand_dims=(OP.EXPAND_DIMS, KIND.ExpandDimsOptions, schema.ExpandDimsOptionsT, 1),
    pad=(OP.PAD, KIND.PadOptions, schema.PadOptionsT, 2),
    padv2=(OP.PADV2, KIND.PadV2Options, schema.PadV2OptionsT, 2),
    concatenation=(OP.CONCATENATION, KIND.ConcatenationOptions, schema.ConcatenationOptionsT, 2),
    transpose=(OP.TRANSPOSE, KIND.TransposeOptions, schema.TransposeOptionsT, 2),
    strided_slice=(OP.STRIDED_SLICE, KIND.StridedSliceOptions, schema.StridedSliceOptionsT, 2),
    resize_nearest=(OP.RESIZE_NEAREST_NEIGHBOR, KIND.ResizeNearestNeighborOptions, schema.ResizeNearestNeighborOptionsT, 3),
    resize_bilinear=(OP.RESIZE_BILINEAR, KIND.ResizeBilinearOptions, schema.ResizeBilinearOptionsT, 3),
)
for _name, _options, _version in (
    ("ABS", "Abs", 2), ("ARG_MAX", "ArgMax", 2), ("ARG_MIN", "ArgMin", 2), ("BATCH_MATMUL", "BatchMatMul", 2),
    ("BATCH_TO_SPACE_ND", "BatchToSpaceND", 2), ("BROADCAST_TO", None, 2), ("DEPTH_TO_SPACE", "DepthToSpace", 1), ("ELU", None, 1),
    ("EQUAL", "Equal", 2), ("EXP", "Exp", 2), ("FILL", "Fill", 3), ("GATHER", "Gather", 2), ("GELU", "Gelu", 2),
    ("GREATER", "Greater", 2), ("GREATER_EQUAL", "GreaterEqual", 2), ("L2_NORMALIZATION", "L2Norm", 2), ("LEAKY_RELU", "LeakyRelu", 2),
    ("LESS", "Less", 2), ("LESS_EQUAL", "LessEqual", 2), ("LOG", None, 2), ("LOGICAL_AND", "LogicalAnd", 1),
    ("LOGICAL_NOT", "LogicalNot", 1), ("LOGICAL_OR", "LogicalOr", 1), ("LOG_SOFTMAX", "LogSoftmax", 2), ("MAXIMUM", "MaximumMinimum", 2),
    ("MINIMUM", "MaximumMinimum", 2), ("MIRROR_PAD", "MirrorPad", 2), ("NEG", "Neg", 1), ("NOT_EQUAL", "NotEqual", 2), ("PRELU", None, 1),
    ("REDUCE_MAX", "Reducer", 2), ("REDUCE_MIN", "Reducer", 2), ("REDUCE_PROD", "Reducer", 1), ("REVERSE_V2", "ReverseV2", 3),
    ("RSQRT", None, 2), ("SELECT", "Select", 2), ("SELECT_V2", "SelectV2", 1), ("SLICE", "Slice", 2),
    ("SPACE_TO_BATCH_ND", "SpaceToBatchND", 2), ("SPACE_TO_DEPTH", "SpaceToDepth", 2), ("SPLIT", "Split", 2), ("SPLIT_V", "SplitV", 2),
    ("SQRT", None, 1), ("SQUARED_DIFFERENCE", "SquaredDifference", 2), ("SUM", "Reducer", 2), ("TILE", "Tile", 2),
    ("TRANSPOSE_CONV", "TransposeConv", 3), ("UNPACK", "Unpack", 2),
):  # fmt: skip
    _kind = (getattr(KIND, f"{_options}Options"), getattr(schema, f"{_options}OptionsT")) if _options else (KIND.NONE, NoOptions)
    tflite_graph.OPS[_name.lower()] = (getattr(OP, _name), *_kind, _version)


def text(data):
    return base64.b64encode(bytes(data)).decode()


class Case:
    """A model of one operator while it is built."""

    def __init__(self, rng, name):
        self.rng, self.name, self.graph, self.feeds, self.seeds = rng, name, tflite_graph.Graph(), {}, []

    def scale(self, low=0.005, high=0.2):
        return float(np.float32(np.exp(self.rng.uniform(np.log(low), np.log(high)))))

    def zero(self):
        return int(self.rng.integers(-128, 128))

    def bytes(self, shape):
        """int8 values, the extremes more often than by chance."""
        values = self.rng.integers(-128, 128, shape)
        extreme = self.rng.choice([-128, -127, 127], shape)
        return np.where(self.rng.random(shape) < 0.1, extreme, values).astype(np.int8)

    def input(self, shape, scale=None, zero=None, values=None):
        index = self.graph.tensor(shape, scale or self.scale(), self.zero() if zero is None else zero)
        self.feeds[index] = self.bytes(shape) if values is None else values.reshape(shape)
        return index

    def seeded_input(self, shape, scale):
        """A large one, of which the file has the seed only."""
        seed = next(s for s in itertools.count(SEED) if int(tflite_inputs.random_words(s, 1)[0]) & 15 == 0)  # plain noise
        self.seeds.append(seed)
        return self.input(shape, scale, values=tflite_inputs.values(seed, int(np.prod(shape))))

    def float_input(self, values):
        index = self.graph.tensor(values.shape, [], [], dtype=np.float32)
        self.feeds[index] = values
        return index

    def constant(self, values, scales=(), zeros=(), dtype=np.int32):
        values = np.asarray(values, dtype)
        return self.graph.tensor(values.shape, scales, zeros, values)

    def scale_of(self, index):
        return self.graph.tensors[index].quantization.scale[0]

    def like(self, index, shape):
        """A result with scale and zero point of another tensor."""
        q = self.graph.tensors[index].quantization
        return self.graph.tensor(shape, q.scale, q.zeroPoint)

    def plain_input(self, values):
        """Values without quantisation."""
        index = self.graph.tensor(values.shape, [], [], dtype=values.dtype)
        self.feeds[index] = values
        return index

    def result(self, shape, scale=None, zero=None, dtype=np.int8):
        if dtype != np.int8:
            return self.graph.tensor(shape, [], [], dtype=dtype)
        return self.graph.tensor(shape, scale or self.scale(), self.zero() if zero is None else zero)

    def finish(self, op, inputs, output, **options):
        """The case: its model, inputs and results."""
        if "activation" in options:
            options["fusedActivationFunction"] = ACTIVATIONS[options.pop("activation")]
        self.graph.operator(op, inputs, output, **options)
        outputs = output if isinstance(output, list) else [output]
        model = self.graph.model(list(self.feeds), outputs)
        # The reference kernel of SUM gives -1 for all int8 inputs; ELU has none.
        broken = op in ("sum", "elu")
        resolver = tfl.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if broken else tfl.OpResolverType.BUILTIN_REF
        results = tflite_graph.run(model, self.feeds, outputs, resolver)
        for index, values in zip(outputs, results):
            expected = tuple(self.graph.tensors[index].shape)
            if values.shape != expected:
                raise ValueError(f"{self.name}: result {values.shape}, declared {expected}")
            if values.size > 1 and len(np.unique(values)) == 1 and op != "fill":
                raise ValueError(f"{self.name}: all results are equal")
        values = np.concatenate([values.ravel() for values in results])
        result = {"name": self.name, "model": text(model)}
        if self.seeds:
            return {**result, "seeds": self.seeds, "crc32": f"{zlib.crc32(values.tobytes()):08x}"}
        return {**result, "inputs": [text(v.tobytes()) for v in self.feeds.values()], "output": text(values.tobytes())}
