// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/tflite_tensors.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"

namespace systole::import {
namespace {

// The names in messages of types that the IR has, too.
const char* ShortName(tflite::TensorType type) {
  switch (type) {
    case tflite::TensorType_INT8:
      return "i8";
    case tflite::TensorType_INT16:
      return "i16";
    case tflite::TensorType_INT32:
      return "i32";
    case tflite::TensorType_FLOAT32:
      return "f32";
    default:
      return nullptr;
  }
}

std::string TextOf(const flatbuffers::String* text) {
  return text == nullptr ? "" : text->str();
}

}  // namespace

absl::Status Prefixed(const std::string& prefix, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(prefix, ": ", status.message()));
}

std::string TypeName(tflite::TensorType type) {
  const char* name = tflite::EnumNameTensorType(type);
  return *name ? name : absl::StrCat("type ", static_cast<int>(type));
}

tflite::BuiltinOperator BuiltinOf(const tflite::OperatorCode& code) {
  return std::max(code.builtin_code(), static_cast<tflite::BuiltinOperator>(
                                           code.deprecated_builtin_code()));
}

absl::StatusOr<const tflite::OperatorCode*> CodeOf(const tflite::Model& model,
                                                   const tflite::Operator& op) {
  const size_t codes =
      model.operator_codes() ? model.operator_codes()->size() : 0;
  if (op.opcode_index() >= codes) {
    return Invalid("operator code ", op.opcode_index(), " of ", codes);
  }
  const tflite::OperatorCode* code =
      model.operator_codes()->Get(op.opcode_index());
  if (code == nullptr) return Invalid("an operator code is missing");
  return code;
}

std::string OperatorName(const tflite::OperatorCode& code) {
  const tflite::BuiltinOperator builtin = BuiltinOf(code);
  std::string name = tflite::EnumNameBuiltinOperator(builtin);
  if (name.empty()) name = absl::StrCat("builtin ", static_cast<int>(builtin));
  if (builtin == tflite::BuiltinOperator_CUSTOM && code.custom_code()) {
    absl::StrAppend(&name, " '", code.custom_code()->str(), "'");
  }
  return name;
}

absl::StatusOr<const tflite::Model*> OpenModel(absl::Span<const uint8_t> file) {
  flatbuffers::Verifier verifier(file.data(), file.size());
  if (!tflite::VerifyModelBuffer(verifier)) {
    return absl::DataLossError("not a TensorFlow Lite model, or damaged");
  }
  const tflite::Model* model = tflite::GetModel(file.data());
  if (model->version() != 3) {
    return Invalid("schema version ", model->version(), ", not 3");
  }
  const size_t subgraphs = model->subgraphs() ? model->subgraphs()->size() : 0;
  if (subgraphs < 1 || model->subgraphs()->Get(0) == nullptr)
    return Invalid("no graph");
  return model;
}

std::vector<std::string> SignaturesOf(const tflite::Model& model) {
  std::vector<std::string> names;
  if (model.signature_defs() == nullptr) return names;
  for (const tflite::SignatureDef* signature : *model.signature_defs())
    names.push_back(TextOf(signature ? signature->signature_key() : nullptr));
  return names;
}

absl::StatusOr<const tflite::SignatureDef*> SignatureOf(
    const tflite::Model& model, const std::string& name) {
  const tflite::SignatureDef* none = nullptr;
  if (name.empty()) return none;
  const std::vector<std::string> names = SignaturesOf(model);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != name) continue;
    const tflite::SignatureDef* found = model.signature_defs()->Get(i);
    if (found->subgraph_index() >= model.subgraphs()->size() ||
        model.subgraphs()->Get(found->subgraph_index()) == nullptr)
      return Invalid("signature '", name, "' is of subgraph ",
                     found->subgraph_index());
    return found;
  }
  if (names.empty())
    return absl::NotFoundError(
        absl::StrCat("the model has no signatures, and so none '", name, "'"));
  return absl::NotFoundError(absl::StrCat(
      "no signature '", name, "'; the model has ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<const tflite::Tensor*> TfliteTensors::At(int index) const {
  if (index < 0 || index >= size()) {
    return Invalid("tensor index ", index, " of ", size(), " tensors");
  }
  const tflite::Tensor* tensor = subgraph_.tensors()->Get(index);
  if (tensor == nullptr) return Invalid("tensor ", index, " is missing");
  return tensor;
}

absl::StatusOr<absl::Span<const uint8_t>> TfliteTensors::Data(
    const tflite::Tensor& tensor) const {
  absl::Span<const uint8_t> none;
  const size_t buffers = model_.buffers() ? model_.buffers()->size() : 0;
  if (tensor.buffer() == 0) return none;  // buffer 0 is empty by convention
  if (tensor.buffer() >= buffers) {
    return Invalid("buffer ", tensor.buffer(), " of ", buffers);
  }
  const tflite::Buffer* buffer = model_.buffers()->Get(tensor.buffer());
  if (buffer == nullptr) return none;
  if (buffer->data() != nullptr && buffer->data()->size() > 0) {
    return absl::MakeConstSpan(buffer->data()->data(), buffer->data()->size());
  }
  if (buffer->offset() <= 1 || buffer->size() == 0) return none;
  if (buffer->offset() > file_.size() ||
      buffer->size() > file_.size() - buffer->offset()) {
    return Invalid("buffer ", tensor.buffer(), " from ", buffer->offset(),
                   " of ", buffer->size(), " bytes, in a file of ",
                   file_.size());
  }
  return file_.subspan(buffer->offset(), buffer->size());
}

absl::StatusOr<absl::Span<const uint8_t>> TfliteTensors::ExactData(
    int index, int64_t bytes) const {
  const absl::StatusOr<const tflite::Tensor*> tensor = At(index);
  if (!tensor.ok()) return tensor.status();
  absl::StatusOr<absl::Span<const uint8_t>> data = Data(**tensor);
  if (!data.ok()) return data.status();
  if (static_cast<int64_t>(data->size()) != bytes) {
    return Invalid("tensor ", index, " (", Describe(index), "): a buffer of ",
                   data->size(), " bytes instead of ", bytes);
  }
  return data;
}

std::string TfliteTensors::Describe(int index) const {
  const absl::StatusOr<const tflite::Tensor*> tensor = At(index);
  if (!tensor.ok()) return absl::StrCat("tensor ", index, " (none)");
  const char* const name = ShortName((*tensor)->type());
  std::string text = name ? name : TypeName((*tensor)->type());
  text += "[";
  if ((*tensor)->shape() != nullptr) {
    for (size_t i = 0; i < std::min<size_t>((*tensor)->shape()->size(), 8);
         ++i) {
      absl::StrAppend(&text, i ? "," : "", (*tensor)->shape()->Get(i));
    }
  }
  return text + "]";
}

std::string TfliteTensors::NameOf(int index) const {
  const absl::StatusOr<const tflite::Tensor*> tensor = At(index);
  std::string name;
  if (tensor.ok() && (*tensor)->name() != nullptr) {
    name = (*tensor)->name()->str();
    name = name.substr(0, name.find(';'));  // fused: one name per part
  }
  return name.empty() ? absl::StrCat("t", index) : name;
}

std::string TfliteTensors::Signature(const std::string& name,
                                     const tflite::Operator& op) const {
  constexpr size_t kShown = 16;
  const auto list = [&](const flatbuffers::Vector<int32_t>* indices) {
    std::vector<std::string> tensors;
    for (size_t i = 0; indices && i < std::min<size_t>(indices->size(), kShown);
         ++i) {
      const int32_t index = indices->Get(i);
      tensors.push_back(index == -1 ? "-" : Describe(index));
    }
    return absl::StrJoin(tensors, ", ");
  };
  return absl::StrCat(name, "(", list(op.inputs()), ") -> ",
                      list(op.outputs()));
}

}  // namespace systole::import
