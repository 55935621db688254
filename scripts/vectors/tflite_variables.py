# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Cases of variables: models of a main graph and one that gives the variable its first value."""

import flatbuffers
import numpy as np
import tflite_graph
from ai_edge_litert import interpreter as tfl
from tflite_case import KIND, OP, NoOptions, schema, text

tflite_graph.OPS.update(
    var_handle=(OP.VAR_HANDLE, KIND.VarHandleOptions, schema.VarHandleOptionsT, 1),
    read_variable=(OP.READ_VARIABLE, KIND.NONE, NoOptions, 1),
    assign_variable=(OP.ASSIGN_VARIABLE, KIND.NONE, NoOptions, 1),
    call_once=(OP.CALL_ONCE, KIND.CallOnceOptions, schema.CallOnceOptionsT, 1),
)


class Graph(tflite_graph.Graph):
    """One of several graphs of a model, with the variable `state`. It shares operator codes and buffers with another."""

    def __init__(self, other=None):
        super().__init__()
        if other:
            self.codes, self.buffers = other.codes, other.buffers

    def handle(self):
        index = self.tensor((), [], [], dtype=np.float32)
        self.tensors[index].type = schema.TensorType.RESOURCE
        self.operator("var_handle", [], index, container="", sharedName="state")
        return index

    def read(self, handle, shape):
        value = self.tensor(shape, [], [], dtype=np.float32)
        self.operator("read_variable", [handle], value)
        return value


def model(main, inputs, outputs, first):
    """The main graph, and one that assigns the first value."""
    init = Graph(main)
    value = init.tensor(first.shape, [], [], first)
    init.operator("assign_variable", [init.handle(), value], [])
    packed = schema.ModelT()
    packed.version, packed.subgraphs = 3, []
    for graph, sources, results in ((main, inputs, outputs), (init, [], [])):
        made = schema.SubGraphT()
        made.tensors, made.operators, made.inputs, made.outputs = graph.tensors, graph.operators, sources, results
        packed.subgraphs.append(made)
    packed.operatorCodes, packed.buffers = main.codes, main.buffers
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(packed.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def kept_constant(rng, name, shape):
    """What only the initialiser assigns."""
    graph, scale, zero = Graph(), 0.1, 3
    graph.operator("call_once", [], [], initSubgraphIndex=1)
    source = graph.tensor(shape, scale, zero)
    value = graph.tensor(shape, scale, zero)
    graph.operator("quantize", [graph.read(graph.handle(), shape)], value)
    target = graph.tensor(shape, 0.2, -4)
    graph.operator("add", [source, value], target)
    file = model(graph, [source], [target], rng.normal(0, 5, shape).astype(np.float32))
    given = rng.integers(-128, 128, shape).astype(np.int8)
    (result,) = tflite_graph.run(file, {source: given}, [target])
    return {"name": name, "model": text(file), "inputs": [text(given.tobytes())], "output": text(result.tobytes())}


def stream(rng, name, steps, channels):
    """The last values stay in a variable; the case is the second of two runs."""
    graph, scale, zero = Graph(), 0.05, -7
    shape, all_steps = (1, steps, channels), (1, steps + 1, channels)
    graph.operator("call_once", [], [], initSubgraphIndex=1)
    source = graph.tensor((1, 1, channels), scale, zero)
    handle = graph.handle()
    kept = graph.tensor(shape, scale, zero)
    graph.operator("quantize", [graph.read(handle, shape)], kept)
    joined = graph.tensor(all_steps, scale, zero)
    graph.operator("concatenation", [kept, source], joined, axis=1)
    last = graph.tensor(shape, scale, zero)
    bounds = [graph.tensor((3,), [], [], np.asarray(v, np.int32)) for v in ((0, 1, 0), (1, steps + 1, channels), (1, 1, 1))]
    graph.operator("strided_slice", [joined, *bounds], last)
    real = graph.tensor(shape, [], [], dtype=np.float32)
    graph.operator("dequantize", [last], real)
    graph.operator("assign_variable", [handle, real], [])
    file = model(graph, [source], [joined], rng.normal(0, 2, shape).astype(np.float32))
    interpreter = tfl.Interpreter(
        model_content=file, num_threads=1, experimental_op_resolver_type=tfl.OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )  # fmt: skip
    interpreter.allocate_tensors()
    state = None
    for _ in range(2):
        before, given = state, rng.integers(-128, 128, (1, 1, channels)).astype(np.int8)
        interpreter.set_tensor(source, given)
        interpreter.invoke()
        result, state = interpreter.get_tensor(joined), interpreter.get_tensor(real)
    inputs = [text(given.tobytes()), text(before.tobytes())]
    return {"name": name, "model": text(file), "inputs": inputs, "output": text(result.tobytes() + state.tobytes())}
