// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Mutates ONNX models and imports them: whatever the bytes, the importer
// returns a module that verifies, or an error, and soon.
//
//   onnx_fuzz_test [--mutations N] [--seed S] [--only I]
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "host/ir/verifier.h"
#include "tests/onnx/model.h"
#include "tests/testing/fuzzing.h"

namespace systole::import {
namespace {

using fuzz::Die;

std::vector<std::string> Corpus() {
  std::vector<std::string> corpus;
  const auto add = [&](OnnxModel& m) {
    corpus.push_back(m.proto.SerializeAsString());
  };
  OnnxModel net;
  net.Input("x", {1, 2, 6, 6}).Output("y");
  net.Constant("w", {4, 2, 3, 3}, Sample(72)).Constant("b", {4}, Sample(4));
  net.Integers("s", {1, -1}).Constant("g", {4, 3}, Sample(12));
  net.Node("Conv", {"x", "w", "b"}, {"c"})
      .Set("pads", Shape{1, 1, 1, 1})
      .Set("strides", Shape{2, 2});
  net.Node("MaxPool", {"c"}, {"p"}).Set("kernel_shape", Shape{3, 3});
  net.Node("Reshape", {"p", "s"}, {"f"});
  net.Node("Gemm", {"f", "g"}, {"h"}).Set("alpha", 0.5f);
  net.Node("Softmax", {"h"}, {"y"}).Set("axis", 1);
  add(net);
  OnnxModel moves;
  moves.Input("x", {4, 6}).Integers("a", {1, 2}).Integers("e", {3, 5});
  moves.Integers("p", {1, 0, 0, 2}).Integers("k", {2}).Output("y").Output("z");
  moves.Constant("sc", {2}, {2, 1.5});
  moves.Node("Slice", {"x", "a", "e"}, {"s"});
  moves.Node("Pad", {"s", "p"}, {"q"}).Set("mode", "reflect");
  moves.Node("Resize", {"q", "", "sc"}, {"r"}).Set("mode", "linear");
  moves.Node("Gather", {"r", "k"}, {"g"}).Set("axis", 1);
  moves.Node("Transpose", {"g"}, {"t"}).Set("perm", Shape{1, 0});
  moves.Node("TopK", {"t", "k"}, {"y", "i"}).Set("axis", 1);
  moves.Node("ScatterElements", {"t", "i", "y"}, {"z"}).Set("axis", 1);
  add(moves);
  OnnxModel body;
  body.Node("Identity", {"c"}, {"go"});
  body.Node("Add", {"s", "x"}, {"s2"});
  onnx::GraphProto graph = *body.proto.mutable_graph();
  for (const char* name : {"i", "c", "s"}) graph.add_input()->set_name(name);
  for (const char* name : {"go", "s2", "s2"})
    graph.add_output()->set_name(name);
  OnnxModel loop;
  loop.Input("x", {2}).Constant("z", {2}, {0, 0}).Output("y").Output("all");
  loop.Constant("n", {}, {3}, onnx::TensorProto::INT64);
  loop.Node("Loop", {"n", "", "z"}, {"l", "all"}).Set("body", graph);
  loop.Node("ReduceSum", {"l"}, {"y"}).Set("keepdims", 0);
  add(loop);
  OnnxModel quantised;
  quantised.Input("x", {3, 4}).Output("y").Output("h");
  quantised.Constant("s", {}, {0.1});
  quantised.Constant("w", {1, 8, 4}, Sample(32));
  quantised.Constant("r", {1, 8, 2}, Sample(16));
  quantised.Integers("a", {1});
  quantised.Node("QuantizeLinear", {"x", "s"}, {"q"});
  quantised.Node("DequantizeLinear", {"q", "s"}, {"d"});
  quantised.Node("Unsqueeze", {"d", "a"}, {"u"});
  quantised.Node("LSTM", {"u", "w", "r"}, {"y", "h"}).Set("hidden_size", 2);
  add(quantised);
  return corpus;
}

// Bytes, and fields of the message: numbers of dimensions, attributes and
// names are what finds its way furthest.
std::string Mutated(const std::vector<std::string>& corpus, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  std::string bytes = corpus[below(corpus.size())];
  for (uint64_t left = 1 + below(3); left > 0 && !bytes.empty(); --left) {
    const size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] + (below(2) ? 1 : -1));
        break;
      case 2:
        bytes[at] = static_cast<char>(below(12));
        break;
      case 3:
        bytes[at] = bytes[below(bytes.size())];
        break;
      case 4:
        if (below(6) == 0) bytes.resize(at);
        break;
      default: {
        onnx::ModelProto model;
        if (!model.ParseFromString(bytes) || model.graph().node_size() == 0)
          break;
        onnx::GraphProto& graph = *model.mutable_graph();
        onnx::NodeProto& node =
            *graph.mutable_node(static_cast<int>(below(graph.node_size())));
        if (below(3) == 0 && graph.initializer_size() > 0) {
          onnx::TensorProto& tensor = *graph.mutable_initializer(
              static_cast<int>(below(graph.initializer_size())));
          for (int64_t& value : *tensor.mutable_int64_data())
            if (below(2)) value = static_cast<int64_t>(below(9)) - 4;
        } else if (node.attribute_size() > 0 && below(2)) {
          onnx::AttributeProto& a = *node.mutable_attribute(
              static_cast<int>(below(node.attribute_size())));
          if (a.ints_size() > 0) {
            a.set_ints(static_cast<int>(below(a.ints_size())),
                       static_cast<int64_t>(below(9)) - 3);
          } else {
            a.set_i(static_cast<int64_t>(below(9)) - 4);
          }
        } else if (node.input_size() > 0) {
          const onnx::NodeProto& other =
              graph.node(static_cast<int>(below(graph.node_size())));
          if (below(2)) {
            node.set_op_type(other.op_type());
          } else if (other.input_size() > 0) {
            node.set_input(
                static_cast<int>(below(node.input_size())),
                other.input(static_cast<int>(below(other.input_size()))));
          }
        }
        bytes = model.SerializeAsString();
      }
    }
  }
  return bytes;
}

// "" for a module, otherwise the kind of error.
std::string Check(const std::string& bytes) {
  const auto program = ImportOnnx(bytes, {});
  if (!program.ok()) return absl::StatusCodeToString(program.status().code());
  const absl::Status status = ir::Verify(*program->module);
  if (!status.ok()) Die("the module does not verify: " + status.ToString());
  return "";
}

auto Prepare() {
  const std::vector<std::string> corpus = Corpus();
  for (const std::string& bytes : corpus)
    if (!Check(bytes).empty()) Die("a model that is not changed is refused");
  return [corpus](uint64_t seed) { return Mutated(corpus, seed); };
}

}  // namespace
}  // namespace systole::import

int main(int argc, char** argv) {
  return systole::fuzz::Run({"onnx_fuzz_test", "Imports mutated ONNX models."},
                            argc, argv, systole::import::Prepare,
                            systole::import::Check);
}
