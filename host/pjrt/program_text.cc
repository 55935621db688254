// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/pjrt/program_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "host/ir/hlo/fold.h"
#include "host/ir/text.h"

namespace systole::pjrt {
namespace {

using ir::Node;
using ir::Op;

// A name that a text of MLIR may have without quotes.
std::string Symbol(absl::string_view name) {
  std::string symbol(name);
  for (char& c : symbol)
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  return symbol;
}

// "tensor<4x8xf32>".
std::string TensorText(ir::Type type, bool is_complex) {
  std::string text = "tensor<";
  if (is_complex) {
    type.shape.pop_back();
    for (const int64_t size : type.shape) absl::StrAppend(&text, size, "x");
    return absl::StrCat(text, "complex<f32>>");
  }
  for (const int64_t size : type.shape) absl::StrAppend(&text, size, "x");
  const char* const name = ir::ElementTypeName(type.element);
  absl::StrAppend(&text, ir::IsUnsigned(type.element) ? "ui" : "",
                  ir::IsUnsigned(type.element) ? name + 1 : name, ">");
  return text;
}

std::string TensorTexts(const std::vector<ir::Type>& types,
                        const std::vector<bool>& is_complex) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < types.size(); ++i)
    texts.push_back(TensorText(types[i], is_complex[i]));
  return absl::StrJoin(texts, ", ");
}

// Text in quotes, as MLIR reads it.
std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || !absl::ascii_isprint(c)) {
      absl::StrAppend(
          &quoted, "\\",
          absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

// "stablehlo.add".
std::string SourceName(Op op) {
  absl::string_view name = ir::OpName(op);
  absl::ConsumePrefix(&name, "hlo.");
  return absl::StrCat("stablehlo.", name);
}

// Groups of devices, or pairs of them, a line each.
std::string GroupsText(const ir::HloCollectiveAttributes& a, int64_t size) {
  const auto count = static_cast<int64_t>(a.replica_groups.size()) / size;
  std::vector<std::string> groups;
  for (int64_t g = 0; g < count; ++g) {
    const auto begin = a.replica_groups.begin() + g * size;
    groups.push_back(
        absl::StrCat("[", absl::StrJoin(begin, begin + size, ", "), "]"));
  }
  return absl::StrCat("dense<[", absl::StrJoin(groups, ", "), "]> : tensor<",
                      count, "x", size, "xi64>");
}

// The attributes of a collective in StableHLO, and before them the region in
// which it combines; "" if it has no such form. Sums and gathers may have
// several operands of one type.
std::string CollectiveText(const Node& node) {
  const auto& a = node.attr<ir::HloCollectiveAttributes>();
  const bool several =
      node.op == Op::kHloAllReduce || node.op == Op::kHloAllGather;
  if ((node.results() != 1 && !several) ||
      static_cast<int>(node.operands.size()) != node.results() ||
      a.replica_groups.empty())
    return "";
  std::string region, more;
  if (node.op == Op::kHloAllReduce || node.op == Op::kHloReduceScatter) {
    const std::optional<Op> op = ir::CombinerOf(*node.regions[0]);
    if (!op) return "";
    const std::string type = TensorText({node.type.element, {}, {}}, false);
    region = absl::StrCat(
        " ({\n    ^bb0(%l: ", type, ", %r: ", type, "):\n      %s = \"",
        SourceName(*op), "\"(%l, %r) : (", type, ", ", type, ") -> ", type,
        "\n      \"stablehlo.return\"(%s) : (", type, ") -> ()\n    })");
  }
  switch (node.op) {
    case Op::kHloAllReduce:
      break;
    case Op::kHloAllGather:
      more = absl::StrCat(", all_gather_dim = ", a.dimension, " : i64");
      break;
    case Op::kHloReduceScatter:
      more = absl::StrCat(", scatter_dimension = ", a.dimension, " : i64");
      break;
    case Op::kHloAllToAll:
      more = absl::StrCat(", split_dimension = ", a.dimension,
                          " : i64, concat_dimension = ", a.concat_dimension,
                          " : i64, split_count = ", a.group_size, " : i64");
      break;
    case Op::kHloCollectivePermute:
      more = absl::StrCat(", source_target_pairs = ", GroupsText(a, 2));
      break;
    case Op::kHloCollectiveBroadcast:
      break;
    default:
      return "";
  }
  if (node.op != Op::kHloCollectivePermute)
    absl::StrAppend(&more, ", replica_groups = ", GroupsText(a, a.group_size));
  const bool knows = node.op == Op::kHloAllReduce ||
                     node.op == Op::kHloAllGather ||
                     node.op == Op::kHloReduceScatter;
  if (knows && a.use_global_device_ids) more += ", use_global_device_ids";
  return absl::StrCat(region,
                      " {channel_handle = #stablehlo.channel_handle<handle = ",
                      a.channel, ", type = 1>", more, "}");
}

// Whether StableHLO has the operation with the same operands and no attributes.
bool IsPlain(const Node& node) {
  const auto same_shape = [&](const ir::Value& operand) {
    return operand.type().shape == node.type.shape;
  };
  const auto same_type = [&](const ir::Value& operand) {
    return operand.type().element == node.type.element && same_shape(operand);
  };
  if (node.op == Op::kHloReshape || node.op == Op::kHloPartitionId) return true;
  if (!ir::IsElementwiseOp(node.op) ||
      node.attributes.If<ir::NoAttributes>() == nullptr)
    return false;
  return std::all_of(node.operands.begin(), node.operands.end(), same_type) ||
         (node.op == Op::kHloConvert && same_shape(node.operands[0]));
}

// The statements of the module, each operation under its name: those that
// StableHLO has with the same attributes as they are, all others as calls with
// their text.
class Body {
 public:
  explicit Body(const PJRT_Executable& executable) : executable_(executable) {}

  std::string OneCall() {
    std::vector<std::string> arguments, values;
    const runtime::Executable& program = *executable_.executable;
    const auto count = program.results().size();
    for (size_t i = 0; i < program.parameters().size(); ++i)
      arguments.push_back(absl::StrCat("%arg", i));
    const std::string from =
        TensorTexts(program.parameters(), executable_.complex_arguments);
    const std::string to =
        TensorTexts(program.results(), executable_.complex_results);
    if (count == 0) return "    return\n";
    const std::string name =
        Call("systole_program", absl::StrJoin(arguments, ", "), from, "", to,
             "", static_cast<int>(count));
    for (size_t i = 0; i < count; ++i)
      values.push_back(count == 1 ? name : absl::StrCat(name, "#", i));
    return absl::StrCat(text_, "    return ", absl::StrJoin(values, ", "),
                        " : ", to, "\n");
  }

  std::string Operations() {
    const ir::Module& module = executable_.executable->module();
    const auto inputs = module.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      names_[inputs[i]] = absl::StrCat("%arg", i);
      if (!executable_.complex_arguments[i]) continue;
      names_[inputs[i]] = Call("complex.parts", absl::StrCat("%arg", i),
                               TensorText(inputs[i]->type, true), "",
                               TensorText(inputs[i]->type, false), "");
    }
    for (const auto& node : module.nodes())
      if (node->op != Op::kParameter) Statement(*node);
    std::vector<std::string> values;
    for (size_t i = 0; i < module.outputs.size(); ++i) {
      const ir::Value& value = module.outputs[i].node;
      values.push_back(NameOf(value));
      if (!executable_.complex_results[i]) continue;
      values.back() =
          Call("complex.join", values.back(), TensorText(value.type(), false),
               "", TensorText(value.type(), true), "");
    }
    absl::StrAppend(&text_, "    return ", absl::StrJoin(values, ", "),
                    values.empty() ? "" : " : ",
                    TensorTexts(executable_.executable->results(),
                                executable_.complex_results),
                    "\n");
    return std::move(text_);
  }

 private:
  // "%3", or "%3#1" of several results.
  std::string NameOf(const ir::Value& value) const {
    const std::string& name = names_.at(value.node);
    return value->results() == 1 ? name : absl::StrCat(name, "#", value.index);
  }

  // Appends `operation` and the rest of a statement, and returns its name.
  std::string Append(absl::string_view operation, absl::string_view operands,
                     absl::string_view attributes, absl::string_view from,
                     absl::string_view to, int results,
                     absl::string_view location) {
    const std::string name = absl::StrCat("%v", next_++);
    absl::StrAppend(&text_, "    ", name);
    if (results > 1) absl::StrAppend(&text_, ":", results);
    absl::StrAppend(&text_, " = ", Quoted(operation), "(", operands, ")",
                    attributes, " : (", from, ") -> (", to, ")");
    if (!location.empty())
      absl::StrAppend(&text_, " loc(", Quoted(location), ")");
    text_ += "\n";
    return name;
  }
  std::string Call(absl::string_view target, absl::string_view operands,
                   absl::string_view from, absl::string_view config,
                   absl::string_view to, absl::string_view location,
                   int results = 1) {
    return Append("stablehlo.custom_call", operands,
                  absl::StrCat(" {call_target_name = ", Quoted(target),
                               ", backend_config = ", Quoted(config), "}"),
                  from, to, results, location);
  }

  void Statement(const Node& node) {
    std::vector<std::string> operands, from, to;
    for (const ir::Value& operand : node.operands) {
      operands.push_back(NameOf(operand));
      from.push_back(TensorText(operand.type(), false));
    }
    for (int r = 0; r < node.results(); ++r)
      to.push_back(TensorText(node.result_type(r), false));
    const std::string location =
        node.location.empty() ? node.name : node.location;
    const auto join = [](const auto& texts) {
      return absl::StrJoin(texts, ", ");
    };
    if (node.results() == 0 || names_.count(&node) > 0) return;
    std::string attributes;
    if (ir::IsCollective(node.op)) attributes = CollectiveText(node);
    if (!attributes.empty() || IsPlain(node)) {
      names_[&node] = Append(SourceName(node.op), join(operands), attributes,
                             join(from), join(to), node.results(), location);
      return;
    }
    ir::PrintOptions options;
    options.elide_constants = true;
    names_[&node] =
        Call(ir::OpName(node.op), join(operands), join(from),
             ir::Print(node, options), join(to), location, node.results());
  }

  const PJRT_Executable& executable_;
  std::map<const Node*, std::string> names_;
  std::string text_;
  int next_ = 0;
};

}  // namespace

std::string TextOf(const PJRT_Executable& executable, bool operations) {
  const Shardings& shardings = executable.shardings;
  const std::vector<ir::Type>& parameters = executable.executable->parameters();
  const std::vector<ir::Type>& results = executable.executable->results();
  std::string text = absl::StrCat(
      "module @", Symbol(executable.name),
      " attributes {mhlo.num_partitions = ", executable.options.partitions,
      " : i32, mhlo.num_replicas = ", executable.options.replicas, " : i32");
  if (executable.options.partitions > 1 && !results.empty()) {
    const std::string outputs = absl::StrJoin(shardings.outputs, ", ");
    absl::StrAppend(&text, ", mhlo.spmd_output_sharding = \"",
                    shardings.outputs.size() == 1
                        ? outputs
                        : absl::StrCat("{", outputs, "}"),
                    "\", mhlo.spmd_parameters_shardings = [",
                    absl::StrJoin(shardings.inputs, ", ",
                                  [](std::string* out, const auto& sharding) {
                                    absl::StrAppend(out, "\"", sharding, "\"");
                                  }),
                    "]");
  }
  std::vector<std::string> arguments;
  for (size_t i = 0; i < parameters.size(); ++i) {
    arguments.push_back(absl::StrCat(
        "%arg", i, ": ",
        TensorText(parameters[i], executable.complex_arguments[i])));
  }
  absl::StrAppend(&text, "} {\n  func.func public @main(",
                  absl::StrJoin(arguments, ", "), ") -> (",
                  TensorTexts(results, executable.complex_results), ") {\n");
  Body body(executable);
  return absl::StrCat(text, operations ? body.Operations() : body.OneCall(),
                      "  }\n}\n");
}

namespace {
thread_local bool shows_operations = false;
}  // namespace

bool ShowsOperations() { return shows_operations; }

}  // namespace systole::pjrt

// For the package systole_jax, which asks for them around compiled.as_text():
// jax itself reads the text of each program that it compiles several times.
extern "C" __attribute__((visibility("default"))) void systole_show_operations(
    int show) {
  systole::pjrt::shows_operations = show != 0;
}
