// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Converts types and tensors of ONNX to those of the IR.
#ifndef SYSTOLE_HOST_IMPORT_ONNX_TENSORS_H_
#define SYSTOLE_HOST_IMPORT_ONNX_TENSORS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "host/import/onnx/onnx_node.h"
#include "host/ir/type.h"
#include "onnx-ml.pb.h"

namespace systole::import {

// "float", "double", "string" and so on, for a TensorProto.DataType.
std::string OnnxTypeName(int64_t type);

// Unimplemented: "type double".
absl::StatusOr<ir::ElementType> OnnxElement(int64_t type);
// The DataType of an element type.
int64_t OnnxTypeOf(ir::ElementType element);

// Reads the values of tensors. Those of some tensors are in files of their own.
class TensorReader {
 public:
  // folder: the folder of these files; "": there are none.
  explicit TensorReader(std::string folder) : folder_(std::move(folder)) {}

  // Errors do not name the tensor. kUnimplemented: an unsupported type.
  // kInvalidArgument: sizes or values that do not fit. Others: those of
  // ReadFile.
  absl::StatusOr<OnnxTensor> Read(const onnx::TensorProto& tensor);

 private:
  absl::StatusOr<std::string> External(const onnx::TensorProto& tensor,
                                       int64_t bytes);

  std::string folder_;
  std::map<std::string, std::string> files_;
};

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_ONNX_TENSORS_H_
