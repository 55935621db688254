// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/onnx/onnx_importer.h"

#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/files/printable.h"
#include "host/import/onnx/graph_converter.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

absl::Status Invalid(const std::string& what) {
  return absl::InvalidArgumentError(what);
}

absl::Status CheckVersions(const onnx::ModelProto& model) {
  if (!model.has_graph()) {
    return absl::DataLossError(
        "not an ONNX model, or damaged: it has no graph");
  }
  if (model.ir_version() > kNewestOnnxIr) {
    return absl::UnimplementedError(
        absl::StrCat("ONNX of ir version ", model.ir_version(), "; up to ",
                     kNewestOnnxIr, " is supported"));
  }
  const Opsets opsets = OpsetsOf(model.opset_import());
  const auto own = opsets.find("");
  if (own == opsets.end()) {
    if (opsets.empty()) return Invalid("no opset_import: no operator is known");
    return absl::OkStatus();  // operators of other domains are refused by name
  }
  if (own->second < kOldestOpset || own->second > kNewestOpset) {
    return absl::UnimplementedError(
        absl::StrCat("opset ", own->second, "; ", kOldestOpset, " to ",
                     kNewestOpset, " are supported",
                     own->second < kOldestOpset
                         ? " (onnx.version_converter makes a newer one)"
                         : ""));
  }
  return absl::OkStatus();
}

bool IsBatch(const std::string& name) {
  static const auto& names = *new std::set<std::string>{
      "batch", "batch_size", "batchsize", "bs", "n", "batch_dim"};
  return names.count(absl::AsciiStrToLower(name)) > 0;
}

// Gives every dimension of the inputs a size.
class Dimensions {
 public:
  Dimensions(const OnnxOptions& options, std::vector<std::string>& notes)
      : options_(options), notes_(notes) {}

  int64_t SizeOf(const onnx::TensorShapeProto::Dimension& dim,
                 const std::string& input, int axis) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) return dim.dim_value();
    const std::string place = absl::StrCat(input, "[", axis, "]");
    const std::string name = dim.dim_param().empty() || dim.dim_param() == "?"
                                 ? place
                                 : dim.dim_param();
    known_.insert(name);
    const auto given = options_.dims.find(name);
    if (given != options_.dims.end()) return given->second;
    if (axis == 0 || IsBatch(name)) {
      if (noted_.insert(name).second) {
        notes_.push_back(absl::StrCat("dimension ", Printable(name),
                                      " is 1 (--dim ", Printable(name),
                                      "=SIZE sets it)"));
      }
      return 1;
    }
    if (noted_.insert(name).second) open_.push_back(name);
    return 1;
  }

  absl::Status Check() const {
    if (!open_.empty()) {
      return Invalid(absl::StrCat(
          "open dimensions: give ",
          absl::StrJoin(open_, " ", [](std::string* out, const auto& name) {
            absl::StrAppend(out, "--dim ", Printable(name), "=SIZE");
          })));
    }
    for (const auto& [name, size] : options_.dims) {
      if (known_.count(name) == 0) {
        return Invalid(absl::StrCat(
            "--dim ", Printable(name), ": there is no such dimension",
            known_.empty()
                ? "; all are fixed"
                : "; open ones are " + Printable(absl::StrJoin(known_, ", "))));
      }
      if (size < 1) {
        return Invalid(absl::StrCat("--dim ", Printable(name), "=", size,
                                    ": sizes begin at 1"));
      }
    }
    return absl::OkStatus();
  }

 private:
  const OnnxOptions& options_;
  std::vector<std::string>& notes_;
  std::set<std::string> known_, noted_;
  std::vector<std::string> open_;
};

// The type of an input. Errors do not name it.
absl::StatusOr<ir::Type> TypeOf(const onnx::ValueInfoProto& info,
                                Dimensions& dimensions) {
  if (!info.has_type() || !info.type().has_tensor_type()) {
    return absl::UnimplementedError(
        info.type().has_sequence_type()   ? "a sequence"
        : info.type().has_optional_type() ? "an optional value"
        : info.type().has_map_type()      ? "a map"
                                          : "no tensor");
  }
  const auto& tensor = info.type().tensor_type();
  const auto element = OnnxElement(tensor.elem_type());
  if (!element.ok()) return element.status();
  if (!tensor.has_shape()) {
    return absl::UnimplementedError("a tensor of unknown rank");
  }
  ir::Type type{*element, {}, {}};
  if (tensor.shape().dim_size() > ir::kMaxRank) {
    return absl::UnimplementedError(
        absl::StrCat("rank ", tensor.shape().dim_size()));
  }
  int64_t elements = 1;
  for (int i = 0; i < tensor.shape().dim_size(); ++i) {
    const int64_t size =
        dimensions.SizeOf(tensor.shape().dim(i), info.name(), i);
    if (size < 0 || (size > 0 && elements > ir::kMaxElements / size)) {
      return Invalid(absl::StrCat("a size of ", size,
                                  ": tensors have up to 2^31 elements"));
    }
    elements *= size;
    type.shape.push_back(size);
  }
  return type;
}

absl::Status AddInputs(const onnx::GraphProto& graph,
                       const OnnxOptions& options, OnnxContext& context,
                       HloBuilder& b, GraphConverter& converter,
                       OnnxProgram& program) {
  std::set<std::string> constants, seen;
  for (const auto& tensor : graph.initializer())
    constants.insert(tensor.name());
  Dimensions dimensions(options, program.notes);
  for (const onnx::ValueInfoProto& info : graph.input()) {
    if (!seen.insert(info.name()).second)
      return Invalid(absl::StrCat("two inputs '", Printable(info.name()), "'"));
    // The initializer is the input's default value. It is used, so the input is
    // no parameter.
    if (constants.count(info.name()) > 0) continue;
    const auto type = TypeOf(info, dimensions);
    if (!type.ok()) {
      if (!absl::IsUnimplemented(type.status())) ++context.wrong;
      context.obstacles.push_back(absl::StrCat(
          "input '", Printable(info.name()), "': ", type.status().message()));
      converter.DefineMissing(info.name());
      continue;
    }
    if (const auto fixed = options.fixed.find(info.name());
        fixed != options.fixed.end()) {
      auto value = fixed->second(*type);
      if (!value.ok()) {
        return absl::Status(value.status().code(),
                            absl::StrCat("--fix ", Printable(info.name()), ": ",
                                         value.status().message()));
      }
      converter.Define(info.name(), b.Constant(*type, *std::move(value)));
      continue;
    }
    converter.Define(
        info.name(),
        b.Parameter(program.module->UniqueName(
                        info.name().empty() ? "input" : info.name()),
                    *type, info.name()));
  }
  for (const auto& [name, value] : options.fixed) {
    if (seen.count(name) == 0 || constants.count(name) > 0) {
      return Invalid(
          absl::StrCat("--fix ", Printable(name), ": there is no such input"));
    }
  }
  return dimensions.Check();
}

// Sets the outputs. Checks their types against the file's.
absl::Status AddOutputs(const onnx::GraphProto& graph, OnnxContext& context,
                        GraphConverter& converter, OnnxProgram& program) {
  if (graph.output_size() == 0) return Invalid("no outputs");
  for (const onnx::ValueInfoProto& info : graph.output()) {
    const auto value = converter.Find(info.name());
    if (absl::IsCancelled(value.status())) continue;
    if (!value.ok()) {
      return Invalid(absl::StrCat("output '", Printable(info.name()),
                                  "': ", value.status().message()));
    }
    const auto& tensor = info.type().tensor_type();
    const int64_t own = OnnxTypeOf(value->type().element);
    if (tensor.elem_type() != 0 && tensor.elem_type() != own) {
      ++context.wrong;
      context.obstacles.push_back(absl::StrCat(
          "output '", Printable(info.name()), "': is ", OnnxTypeName(own),
          ", but the file says ", OnnxTypeName(tensor.elem_type())));
    }
    program.module->outputs.push_back({info.name(), *value});
  }
  return absl::OkStatus();
}

absl::Status Obstacles(const OnnxContext& context) {
  if (context.obstacles.empty()) return absl::OkStatus();
  const std::string text =
      context.obstacles.size() == 1
          ? context.obstacles[0]
          : absl::StrCat(context.obstacles.size(),
                         " obstacles:", PrintableList(context.obstacles));
  return context.wrong > 0 ? Invalid(text) : absl::UnimplementedError(text);
}

}  // namespace

absl::StatusOr<OnnxProgram> ImportOnnx(absl::string_view bytes,
                                       const OnnxOptions& options) {
  onnx::ModelProto model;
  if (bytes.size() > INT32_MAX ||
      !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("not an ONNX model, or cut off or damaged");
  }
  if (absl::Status s = CheckVersions(model); !s.ok()) return s;
  const onnx::GraphProto& graph = model.graph();
  OnnxContext context{{}, TensorReader(options.folder), {}};
  for (const onnx::FunctionProto& function : model.functions()) {
    context.functions[{DomainOf(function.domain()), function.name()}] =
        &function;
  }
  OnnxProgram program;
  program.module = std::make_unique<ir::Module>(
      graph.name().empty() ? "main" : Printable(graph.name()));
  BuildState state;
  state.precision = options.precision;
  HloBuilder b(*program.module, state);
  const Opsets opsets = OpsetsOf(model.opset_import());
  GraphConverter converter(context, b, opsets);
  absl::Status status = converter.AddInitializers(graph);
  if (status.ok())
    status = AddInputs(graph, options, context, b, converter, program);
  if (status.ok()) status = converter.Convert(graph.node());
  if (status.ok()) status = AddOutputs(graph, context, converter, program);
  if (status.ok()) status = Obstacles(context);
  if (!status.ok()) return status;
  program.module->RemoveUnused();
  if (status = ir::Verify(*program.module); !status.ok()) return status;
  return program;
}

}  // namespace systole::import
