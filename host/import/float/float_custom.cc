// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Custom operators.
#include "host/import/float/flexbuffer.h"
#include "host/import/float/float_operator.h"
#include "host/ir/hlo/detections.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

using Kind = FlexValue::Kind;

bool ReadOption(const FlexValue& stored, int64_t& value) {
  value = stored.integer;
  return stored.kind == Kind::kInteger;
}
bool ReadOption(const FlexValue& stored, bool& value) {
  value = stored.integer != 0;
  return stored.kind == Kind::kBool || stored.kind == Kind::kInteger;
}
bool ReadOption(const FlexValue& stored, float& value) {
  value = static_cast<float>(stored.real);
  return stored.kind == Kind::kReal || stored.kind == Kind::kInteger;
}

constexpr const char* KindOf(int64_t) { return "an integer"; }
constexpr const char* KindOf(bool) { return "a truth value"; }
constexpr const char* KindOf(float) { return "a number"; }

absl::StatusOr<ir::DetectionOptions> ReadDetectionOptions(
    const tflite::Operator& op) {
  const auto* const stored = op.custom_options();
  if (stored == nullptr || stored->size() == 0) return Invalid("no options");
  if (op.custom_options_format() != 0)
    return Invalid("options that are no flexbuffer");
  const auto map = ReadFlexMap({stored->data(), stored->size()});
  if (!map.ok()) return map.status();
  ir::DetectionOptions options;
  std::string wrong;
  ir::DetectionOptions::Fields(
      options, [&](const char* name, auto& value, bool optional) {
        if (!wrong.empty()) return;
        const auto found = map->find(name);
        if (found == map->end() || found->second.kind == Kind::kNull) {
          if (!optional) wrong = absl::StrCat("no option '", name, "'");
        } else if (!ReadOption(found->second, value)) {
          wrong = absl::StrCat("option '", name, "' is not ", KindOf(value));
        }
      });
  if (!wrong.empty()) return Invalid(wrong);
  if (const absl::Status status = ir::CheckDetectionOptions(options);
      !status.ok())
    return status;
  return options;
}

void ImportDetections(FloatOperator& in) {
  if (!in.Require(in.inputs() == 3, in.inputs(),
                  " operands instead of boxes, scores and anchors") ||
      !in.Require(in.outputs() == 4, in.outputs(), " results instead of 4"))
    return;
  const auto options = ReadDetectionOptions(in.op());
  if (!options.ok()) return in.Fail(options.status());
  const Values results =
      in.nodes().Add(Op::kHloCustomCall, {in.Real(0), in.Real(1), in.Real(2)},
                     ir::HloCustomCallAttributes{ir::kDetections,
                                                 ir::DetectionText(*options)});
  // The shapes follow from the options, whatever the file says.
  for (int i = 0; i < in.outputs() && in.ok(); ++i) {
    if (!in.Require(in.ResultType(i).element == kF32, "result ", i,
                    " is not f32"))
      return;
    in.nodes().NameResult(results[i]);
    in.Fail(in.graph().Define(in.Output(i), results[i]));
  }
}

void ImportCustom(FloatOperator& in) {
  if (!IsDetections(in.graph().tensors().model(), in.op()))
    return in.Fail(Unsupported("the operator is not supported"));
  ImportDetections(in);
}

}  // namespace

bool IsDetections(const tflite::Model& model, const tflite::Operator& op) {
  const auto code = CodeOf(model, op);
  return code.ok() && BuiltinOf(**code) == B::BuiltinOperator_CUSTOM &&
         (*code)->custom_code() != nullptr &&
         (*code)->custom_code()->string_view() == ir::kDetections;
}

FloatRules CustomRules() { return {{B::BuiltinOperator_CUSTOM, ImportCustom}}; }

}  // namespace systole::import
