// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Writes small .tflite models for tests, right or wrong ones.
//
//   ModelBuilder b;
//   const int x = b.Tensor({1, 4}, tflite::TensorType_INT8, {0.5f}, {3});
//   const int y = b.Tensor({1, 4}, tflite::TensorType_INT8, {0.5f}, {3});
//   b.Operator(tflite::BuiltinOperator_RELU, {x}, {y});
//   const std::string bytes = b.Model({x}, {y});
#ifndef SYSTOLE_TESTS_IMPORT_MODEL_BUILDER_H_
#define SYSTOLE_TESTS_IMPORT_MODEL_BUILDER_H_

#include <string>
#include <vector>

#include "host/import/tflite_schema_generated.h"

namespace systole::import {

class ModelBuilder {
 public:
  using Offset = flatbuffers::Offset<void>;

  flatbuffers::FlatBufferBuilder fbb;
  int subgraphs = 1;
  uint32_t version = 3;

  ModelBuilder() { Buffer({}); }

  // A buffer in the file; its index.
  uint32_t Buffer(const std::vector<uint8_t>& data) {
    buffers_.push_back(
        tflite::CreateBuffer(fbb, data.empty() ? 0 : fbb.CreateVector(data)));
    return static_cast<uint32_t>(buffers_.size() - 1);
  }
  // A buffer that lies elsewhere in the file.
  uint32_t OutsideBuffer(uint64_t offset, uint64_t size) {
    buffers_.push_back(tflite::CreateBuffer(fbb, 0, offset, size));
    return static_cast<uint32_t>(buffers_.size() - 1);
  }

  int Tensor(const std::vector<int32_t>& shape, tflite::TensorType type,
             const std::vector<float>& scales,
             const std::vector<int64_t>& zero_points, uint32_t buffer = 0,
             int axis = 0, bool variable = false) {
    const auto quantization = tflite::CreateQuantizationDirect(
        fbb, nullptr, nullptr, &scales, &zero_points, 0, 0, axis);
    const std::string name = "t" + std::to_string(tensors_.size());
    tensors_.push_back(tflite::CreateTensorDirect(
        fbb, &shape, type, buffer, name.c_str(), quantization, variable));
    return static_cast<int>(tensors_.size() - 1);
  }

  // A tensor of which the signature leaves sizes open.
  int OpenTensor(const std::vector<int32_t>& shape,
                 const std::vector<int32_t>& signature, tflite::TensorType type,
                 const std::vector<float>& scales,
                 const std::vector<int64_t>& zero_points) {
    const auto quantization = tflite::CreateQuantizationDirect(
        fbb, nullptr, nullptr, &scales, &zero_points);
    const std::string name = "t" + std::to_string(tensors_.size());
    tensors_.push_back(tflite::CreateTensorDirect(fbb, &shape, type, 0,
                                                  name.c_str(), quantization,
                                                  false, 0, &signature));
    return static_cast<int>(tensors_.size() - 1);
  }

  // A constant whose values are stored as `sparsity` says.
  int SparseTensor(const std::vector<int32_t>& shape, tflite::TensorType type,
                   uint32_t buffer,
                   flatbuffers::Offset<tflite::Sparsity> sparsity) {
    const std::string name = "t" + std::to_string(tensors_.size());
    tensors_.push_back(tflite::CreateTensorDirect(
        fbb, &shape, type, buffer, name.c_str(), 0, false, sparsity));
    return static_cast<int>(tensors_.size() - 1);
  }

  // A constant tensor of 32-bit integers.
  int Integers(const std::vector<int32_t>& values) {
    std::vector<uint8_t> bytes(4 * values.size());
    memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor({static_cast<int32_t>(values.size())},
                  tflite::TensorType_INT32, {}, {}, Buffer(bytes));
  }

  void Operator(tflite::BuiltinOperator code,
                const std::vector<int32_t>& inputs,
                const std::vector<int32_t>& outputs,
                tflite::Options kind = tflite::Options_NONE, Offset options = 0,
                const char* custom = nullptr,
                const std::vector<uint8_t>* custom_options = nullptr) {
    codes_.push_back(tflite::CreateOperatorCodeDirect(
        fbb, static_cast<int8_t>(std::min<int>(code, 127)), custom, 1, code));
    operators_.push_back(tflite::CreateOperatorDirect(
        fbb, static_cast<uint32_t>(codes_.size() - 1), &inputs, &outputs, kind,
        options, custom_options));
  }

  // Makes what was added a further subgraph; its index.
  int Subgraph(const std::vector<int32_t>& inputs,
               const std::vector<int32_t>& outputs) {
    further_.push_back(tflite::CreateSubGraphDirect(fbb, &tensors_, &inputs,
                                                    &outputs, &operators_));
    tensors_.clear();
    operators_.clear();
    return static_cast<int>(further_.size());
  }

  // With what was added since the last subgraph as the main graph.
  std::string Model(const std::vector<int32_t>& inputs,
                    const std::vector<int32_t>& outputs) {
    std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs;
    for (int i = 0; i < subgraphs; ++i) {
      graphs.push_back(tflite::CreateSubGraphDirect(fbb, &tensors_, &inputs,
                                                    &outputs, &operators_));
    }
    graphs.insert(graphs.end(), further_.begin(), further_.end());
    tflite::FinishModelBuffer(
        fbb, tflite::CreateModelDirect(fbb, version, &codes_, &graphs, nullptr,
                                       &buffers_));
    return std::string(reinterpret_cast<const char*>(fbb.GetBufferPointer()),
                       fbb.GetSize());
  }

 private:
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<tflite::Operator>> operators_;
  std::vector<flatbuffers::Offset<tflite::SubGraph>> further_;
};

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_IMPORT_MODEL_BUILDER_H_
