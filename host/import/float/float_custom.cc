// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Custom operators.
#include <limits>
#include <type_traits>

#include "flatbuffers/flexbuffers.h"
#include "host/import/float/float_operator.h"
#include "host/ir/hlo/detections.h"

namespace systole::import {
namespace {

using B = tflite::BuiltinOperator;

bool ReadOption(const flexbuffers::Reference& stored, int64_t& value) {
  if (!stored.IsIntOrUint()) return false;
  value = stored.AsInt64();
  return !stored.IsUInt() ||
         stored.AsUInt64() <=
             static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}
bool ReadOption(const flexbuffers::Reference& stored, bool& value) {
  if (!stored.IsBool() && !stored.IsIntOrUint()) return false;
  value = stored.AsBool();
  return true;
}
bool ReadOption(const flexbuffers::Reference& stored, float& value) {
  if (!stored.IsNumeric() || stored.IsBool()) return false;
  value = stored.AsFloat();
  return true;
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
  // The verifier of flexbuffers does not look for the end of the last key; the
  // zero byte behind the copy is one.
  std::vector<uint8_t> bytes(stored->begin(), stored->end());
  const size_t size = bytes.size();
  bytes.push_back(0);
  if (!flexbuffers::VerifyBuffer(bytes.data(), size))
    return Invalid("the options are no valid flexbuffer");
  const flexbuffers::Reference root = flexbuffers::GetRoot(bytes.data(), size);
  if (!root.IsMap()) return Invalid("the options are no map");
  const flexbuffers::Map map = root.AsMap();
  ir::DetectionOptions options;
  std::string wrong;
  ir::DetectionOptions::Fields(
      options, [&](const char* name, auto& value, bool optional) {
        if (!wrong.empty()) return;
        const flexbuffers::Reference found = map[name];
        if (found.IsNull()) {
          if (!optional) wrong = absl::StrCat("no option '", name, "'");
        } else if (!ReadOption(found, value)) {
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
