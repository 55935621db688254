// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/tflite_host.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/import/float/float_operator.h"
#include "host/import/tflite_wide.h"
#include "host/ir/evaluate.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

constexpr int kMostDepth = 16;
constexpr int32_t kCentre = 128;  // of uint8

// The element type of the stored values, for types that quant/ supports.
std::optional<ElementType> StoredElement(tflite::TensorType type) {
  switch (type) {
    case tflite::TensorType_BOOL:
      return kI1;
    case tflite::TensorType_INT8:
      return ElementType::kInt8;
    case tflite::TensorType_UINT8:
      return ElementType::kUint8;
    case tflite::TensorType_INT16:
      return ElementType::kInt16;
    case tflite::TensorType_INT32:
      return kI32;
    case tflite::TensorType_INT64:
      return ElementType::kInt64;
    case tflite::TensorType_FLOAT32:
      return kF32;
    default:
      return std::nullopt;
  }
}

// Operators that only select or move values; their scales do not matter.
bool Moves(B code) {
  switch (code) {
    case B::BuiltinOperator_TOPK_V2:
    case B::BuiltinOperator_GATHER_ND:
    case B::BuiltinOperator_RANK:
    case B::BuiltinOperator_DYNAMIC_UPDATE_SLICE:
      return true;
    default:
      return false;
  }
}

// Operators that compute, on plain integers and truth values.
bool Computes(B code) {
  switch (code) {
    case B::BuiltinOperator_FLOOR_DIV:
    case B::BuiltinOperator_FLOOR_MOD:
    case B::BuiltinOperator_POW:
    case B::BuiltinOperator_ADD_N:
    case B::BuiltinOperator_BITWISE_XOR:
    case B::BuiltinOperator_SIGN:
    case B::BuiltinOperator_ZEROS_LIKE:
    case B::BuiltinOperator_ONE_HOT:
    case B::BuiltinOperator_CUMSUM:
    case B::BuiltinOperator_SCATTER_ND:
    case B::BuiltinOperator_RANGE:
    case B::BuiltinOperator_REDUCE_ANY:
    case B::BuiltinOperator_REDUCE_ALL:
      return true;
    default:
      return false;
  }
}

bool IsControl(B code) {
  return code == B::BuiltinOperator_IF || code == B::BuiltinOperator_WHILE;
}

template <typename Function>
absl::Status ForEach(const flatbuffers::Vector<int32_t>* indices,
                     Function function) {
  if (indices == nullptr) return absl::OkStatus();
  for (const int32_t index : *indices) {
    if (index < 0) continue;
    if (absl::Status s = function(index); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ir::Node*> HostOperators::Add(int index, ir::Op op,
                                             ir::Type type,
                                             std::vector<ir::Value> operands) {
  ir::Node node{graph_.TakeName(index), op, std::move(type),
                std::move(operands), ir::InfoOf(op).defaults};
  std::vector<const ir::Literal*> constants;
  for (const ir::Value& operand : node.operands) {
    if (operand->is_constant()) constants.push_back(&operand->literal());
  }
  if (constants.size() == node.operands.size()) {
    auto result = ir::Evaluate(node, constants);
    if (!result.ok()) return result.status();
    node = ir::MakeConstant(node.name, node.type, *std::move(result));
  }
  return graph_.Add(std::move(node));
}

absl::StatusOr<ir::Node*> HostOperators::Cast(int index, ir::Value value,
                                              ir::Type type) {
  type.shape = value.type().shape;
  if (value->results() == 1 && value.type() == type) return value.node;
  return Add(index, ir::Op::kCast, std::move(type), {value});
}

// Adds a number to integers.
absl::StatusOr<ir::Node*> HostOperators::Shifted(int index, ir::Node* value,
                                                 int32_t by) {
  const ir::Type scalar{kI32, {}, std::nullopt};
  const auto number = graph_.Add(ir::MakeConstant(
      graph_.TakeName(index), scalar, ir::Literal(std::vector<int32_t>{by})));
  if (!number.ok()) return number.status();
  return Add(index, ir::Op::kAdd, value->type, {value, *number});
}

absl::StatusOr<ir::Value> HostOperators::Plain(int index) {
  const auto tensor = graph_.tensors().At(index);
  if (!tensor.ok()) return tensor.status();
  const auto value = graph_.Value(index);
  if (!value.ok()) return value.status();
  const auto stored = StoredElement((*tensor)->type());
  if (!stored) return Unsupported("values of ", TypeName((*tensor)->type()));
  ir::Node* node = *value;
  if (*stored == ElementType::kUint8) {
    auto wide = Cast(index, node, {kI32, {}, {}});
    if (wide.ok()) wide = Shifted(index, *wide, kCentre);
    if (!wide.ok()) return wide.status();
    node = *wide;
  }
  const auto plain = Cast(index, node, {*stored, {}, {}});
  if (!plain.ok()) return plain.status();
  return ir::Value(*plain);
}

absl::Status HostOperators::DefinePlain(int index, ir::Value value) {
  const auto tensor = graph_.tensors().At(index);
  if (!tensor.ok()) return tensor.status();
  const auto stored = StoredElement((*tensor)->type());
  auto type = graph_.TypeOf(index);
  if (!type.ok()) return type.status();
  if (!stored || value.type().element != *stored) {
    return Invalid("tensor ", index, " (", graph_.tensors().Describe(index),
                   ") becomes ", ir::TypeText(value.type()));
  }
  if (*stored == ElementType::kUint8) {
    auto wide = Cast(index, value, {kI32, {}, {}});
    if (wide.ok()) wide = Shifted(index, *wide, -kCentre);
    if (!wide.ok()) return wide.status();
    value = *wide;
  }
  const auto node = Cast(index, value, *std::move(type));
  if (!node.ok()) return node.status();
  return graph_.Define(index, *node);
}

// Whether an operand and the result are of 16 bits.
bool HostOperators::IsWide(const tflite::Operator& op, B code) const {
  if (!IsWideOperator(code) || op.outputs() == nullptr ||
      op.outputs()->size() != 1 || op.inputs() == nullptr)
    return false;
  const auto is16 = [&](int index) {
    const auto tensor = graph_.tensors().At(index);
    return tensor.ok() && (*tensor)->type() == tflite::TensorType_INT16;
  };
  return is16(op.outputs()->Get(0)) &&
         std::any_of(op.inputs()->begin(), op.inputs()->end(), is16);
}

bool HostOperators::Takes(const tflite::Operator& op, B code) const {
  if (IsWide(op, code) || IsDetections(graph_.tensors().model(), op))
    return true;
  if (!Moves(code) && !Computes(code) && !IsControl(code)) return false;
  // A POW of floats is a table instead, with the bits of the C library.
  return code != B::BuiltinOperator_POW || op.outputs() == nullptr ||
         op.outputs()->size() == 0 ||
         graph_.tensors().Describe(op.outputs()->Get(0)).substr(0, 3) != "f32";
}

absl::Status HostOperators::Import(const tflite::Operator& op, B code) {
  const std::string name =
      op.outputs() && op.outputs()->size() > 0
          ? absl::StrCat(graph_.TakeName(op.outputs()->Get(0)), "/host")
          : "";
  floats_.nodes().Begin(name, "");
  if (IsControl(code)) return Control(op, code == B::BuiltinOperator_WHILE);
  const bool wide = IsWide(op, code);
  const bool quantised =
      wide || Moves(code) || code == B::BuiltinOperator_CUSTOM;
  const auto check = [&](int index) -> absl::Status {
    const auto type = graph_.TypeOf(index);
    if (!type.ok()) return type.status();
    const bool truth = type->quantization &&
                       type->quantization->scales[0] == 1 &&
                       type->quantization->zero_point == 0;
    if (quantised || !type->quantization || truth) return absl::OkStatus();
    return Unsupported("quantised values of ", ir::TypeText(*type));
  };
  absl::Status status = ForEach(op.inputs(), check);
  if (status.ok()) status = ForEach(op.outputs(), check);
  if (!status.ok()) return status;
  status = ForEach(op.inputs(), [&](int index) -> absl::Status {
    if (passed_.count(index) > 0 || graph_.IsConstant(index))
      return absl::OkStatus();
    const auto plain = Plain(index);
    if (!plain.ok()) return plain.status();
    passed_.insert(index);
    return floats_.Define(index, *plain);
  });
  if (status.ok()) {
    status = wide ? ImportWideOperator(floats_, op, code)
                  : ImportFloatOperator(floats_, op, code);
  }
  if (!status.ok()) return status;
  return ForEach(op.outputs(), [&](int index) -> absl::Status {
    const auto value = floats_.ValueOf(index);
    if (!value.ok()) return value.status();
    passed_.insert(index);
    return DefinePlain(index, *value);
  });
}

absl::Status HostOperators::Control(const tflite::Operator& op, bool loop) {
  const auto* const of_loop = op.options_as_WhileOptions();
  const auto* const of_choice = op.options_as_IfOptions();
  if ((loop && of_loop == nullptr) || (!loop && of_choice == nullptr))
    return Invalid("no options, or of another operator");
  if (depth_ >= kMostDepth)
    return Invalid("more than ", kMostDepth, " subgraphs inside each other");
  HloBuilder& nodes = floats_.nodes();
  Values operands;
  std::vector<ir::Type> types;
  absl::Status status = ForEach(op.inputs(), [&](int index) -> absl::Status {
    const auto plain = Plain(index);
    if (!plain.ok()) return plain.status();
    operands.push_back(*plain);
    types.push_back(plain->type());
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (!loop && operands.empty()) return Invalid("no condition");
  if (!loop) {
    if (types[0].element != kI1 || types[0].elements() != 1)
      return Invalid("a condition of ", ir::TypeText(types[0]));
    operands[0] = nodes.Reshape(operands[0], {});
    types.erase(types.begin());
  }
  std::vector<std::shared_ptr<const ir::Module>> regions;
  for (const int subgraph :
       {loop ? of_loop->cond_subgraph() : of_choice->then_subgraph(),
        loop ? of_loop->body_subgraph() : of_choice->else_subgraph()}) {
    auto region = ImportRegion(context_, subgraph, types, depth_ + 1);
    if (!region.ok())
      return Prefixed(absl::StrCat("subgraph ", subgraph), region.status());
    regions.push_back(*std::move(region));
  }
  if (!context_.refused.empty()) return Unsupported("its subgraphs");
  const Values results =
      nodes.Add(loop ? ir::Op::kHloWhile : ir::Op::kHloIf, operands, {},
                std::nullopt, std::move(regions));
  if (!nodes.ok()) return nodes.status();
  const size_t outputs = op.outputs() ? op.outputs()->size() : 0;
  if (results.size() != outputs)
    return Invalid(outputs, " results of ", results.size());
  for (size_t i = 0; i < outputs; ++i) {
    status = DefinePlain(op.outputs()->Get(i), results[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace systole::import
