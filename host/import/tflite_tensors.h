// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The tensors of a subgraph as the file stores them. Every index, offset and
// size is checked before its use.
#ifndef SYSTOLE_HOST_IMPORT_TFLITE_TENSORS_H_
#define SYSTOLE_HOST_IMPORT_TFLITE_TENSORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "host/import/tflite_schema_generated.h"

namespace systole::import {

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

template <typename... Parts>
absl::Status Unsupported(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// "prefix: message".
absl::Status Prefixed(const std::string& prefix, const absl::Status& status);

// "FLOAT32", also for a number that the schema does not have.
std::string TypeName(tflite::TensorType type);

// The operator of a code. The code may be in either of two fields.
tflite::BuiltinOperator BuiltinOf(const tflite::OperatorCode& code);
absl::StatusOr<const tflite::OperatorCode*> CodeOf(const tflite::Model& model,
                                                   const tflite::Operator& op);
// "CONV_2D", "CUSTOM 'Name'".
std::string OperatorName(const tflite::OperatorCode& code);

// The verified flatbuffer of a model with at least one subgraph. Errors:
// DataLoss, InvalidArgument.
absl::StatusOr<const tflite::Model*> OpenModel(absl::Span<const uint8_t> file);

// Names of the model's signatures.
std::vector<std::string> SignaturesOf(const tflite::Model& model);

// The signature of that name, which has a subgraph; null for "". NotFound lists
// the existing names.
absl::StatusOr<const tflite::SignatureDef*> SignatureOf(
    const tflite::Model& model, const std::string& name);

class TfliteTensors {
 public:
  // `file` holds the model. All three arguments must outlive this.
  TfliteTensors(absl::Span<const uint8_t> file, const tflite::Model& model,
                const tflite::SubGraph& subgraph)
      : file_(file), model_(model), subgraph_(subgraph) {}

  const tflite::SubGraph& subgraph() const { return subgraph_; }
  const tflite::Model& model() const { return model_; }
  absl::Span<const uint8_t> file() const { return file_; }
  int64_t size() const {
    return subgraph_.tensors() ? subgraph_.tensors()->size() : 0;
  }
  absl::StatusOr<const tflite::Tensor*> At(int index) const;
  // The bytes of the tensor's buffer, empty for none.
  absl::StatusOr<absl::Span<const uint8_t>> Data(const tflite::Tensor&) const;
  // The same, checked for the size of the tensor.
  absl::StatusOr<absl::Span<const uint8_t>> ExactData(int index,
                                                      int64_t bytes) const;
  // "i8[1,2]", "UINT8[3]", or a readable text for an invalid tensor.
  std::string Describe(int index) const;
  // The first part of the name, or "t" and the index if there is none.
  std::string NameOf(int index) const;
  // "f(i8[1,2], i32[4]) -> i8[3]" for the operator `name`.
  std::string Signature(const std::string& name,
                        const tflite::Operator& op) const;

 private:
  absl::Span<const uint8_t> file_;
  const tflite::Model& model_;
  const tflite::SubGraph& subgraph_;
};

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_TENSORS_H_
