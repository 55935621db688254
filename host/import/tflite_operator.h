// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the import of single operators is made of.
#ifndef SYSTOLE_HOST_IMPORT_TFLITE_OPERATOR_H_
#define SYSTOLE_HOST_IMPORT_TFLITE_OPERATOR_H_

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/import/tflite_graph.h"

namespace systole::import {

template <typename... Parts>
absl::Status Unsupported(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// An operator while its nodes are made. Steps do nothing after an error.
class Importer {
 public:
  Importer(TfliteGraph& graph, const tflite::Operator& op)
      : graph_(graph), op_(op) {
    if (outputs() != 1) {
      Fail(Invalid(outputs(), " outputs"));
      return;
    }
    absl::StatusOr<ir::Type> type = graph.TypeOf(op.outputs()->Get(0));
    if (type.ok()) {
      type_ = *std::move(type);
    } else {
      Fail(type.status());
    }
  }

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  void Fail(const absl::Status& status) {
    if (ok()) status_ = status;
  }
  const ir::Type& type() const { return type_; }
  // The tensor of an operand, -1 if it is left out.
  int Index(int i) const { return i < inputs() ? op_.inputs()->Get(i) : -1; }

  // Reads operand `i` as a value; null after an error.
  ir::Node* Value(int i) {
    if (!ok()) return nullptr;
    if (i >= inputs()) Fail(Invalid("no operand ", i));
    if (!ok()) return nullptr;
    absl::StatusOr<ir::Node*> node = graph_.Value(Index(i));
    if (node.ok()) return *node;
    Fail(node.status());
    return nullptr;
  }

  // Reads operand `i` as constant integers.
  std::vector<int64_t> Integers(int i) {
    if (!ok()) return {};
    absl::StatusOr<std::vector<int64_t>> values = graph_.Integers(Index(i));
    if (values.ok()) return *std::move(values);
    Fail(values.status());
    return {};
  }

  // The operator's options, which must be there.
  template <typename Options>
  const Options* Read(const Options* options) {
    if (options == nullptr) Fail(Invalid("no options, or of another operator"));
    return options;
  }

  // [min, max] of the result for a fused activation.
  ir::Ints Clamp(tflite::Activation activation) {
    double low = -INFINITY, high = INFINITY;
    switch (activation) {
      case tflite::Activation_NONE:
        return {-128, 127};
      case tflite::Activation_RELU:
        low = 0;
        break;
      case tflite::Activation_RELU_N1_TO_1:
        low = -1;
        high = 1;
        break;
      case tflite::Activation_RELU6:
        low = 0;
        high = 6;
        break;
      default:
        Fail(Unsupported("fused activation ",
                         tflite::EnumNameActivation(activation)));
        return {};
    }
    return Clamp(low, high);
  }

  // The quantised range of the result for the real range low..high.
  ir::Ints Clamp(double low, double high) {
    if (!ok()) return {};
    if (!type_.quantization) {
      Fail(Invalid("result ", ir::TypeText(type_), " is not quantised"));
      return {};
    }
    const ir::Quantization& q = *type_.quantization;
    if (!std::isfinite(q.scale()) || q.scale() <= 0) {
      Fail(Invalid("result ", ir::TypeText(type_), " has no positive scale"));
      return {};
    }
    const auto quantised = [&](double real) {
      const float steps = std::round(static_cast<float>(real) / q.scale());
      return static_cast<int64_t>(
          std::clamp(double{steps} + q.zero_point, -128.0, 127.0));
    };
    return {quantised(low), quantised(high)};
  }

  // Adds the operator's node, makes it the value of the output.
  void Emit(ir::Op op, std::vector<ir::Node*> operands,
            ir::Attributes attributes) {
    Emit(op, type_, std::move(operands), std::move(attributes));
    Finish();
  }

  // Adds a node of another type on the way to the result.
  ir::Node* Emit(ir::Op op, ir::Type type, std::vector<ir::Node*> operands,
                 ir::Attributes attributes) {
    if (!ok()) return nullptr;
    absl::StatusOr<ir::Node*> node =
        graph_.Add({graph_.TakeName(op_.outputs()->Get(0)), op, std::move(type),
                    std::move(operands), std::move(attributes)});
    if (!node.ok()) {
      Fail(node.status());
      return nullptr;
    }
    last_ = *node;
    return last_;
  }

  // Makes the last node the value of the output. Arithmetic on shapes is done
  // here and now.
  void Finish() {
    if (ok()) Fail(graph_.FoldIntegers(*last_));
    if (ok()) Fail(graph_.Define(op_.outputs()->Get(0), last_));
  }

  // The last node becomes a constant, if it is arithmetic on shapes.
  void Fold() {
    if (ok()) Fail(graph_.FoldIntegers(*last_));
  }

  ir::Node* last() const { return last_; }
  int inputs() const { return op_.inputs() ? op_.inputs()->size() : 0; }
  int outputs() const { return op_.outputs() ? op_.outputs()->size() : 0; }
  const tflite::Operator& op() const { return op_; }

 private:
  TfliteGraph& graph_;
  const tflite::Operator& op_;
  ir::Type type_;
  ir::Node* last_ = nullptr;
  absl::Status status_;
};

// One function for each kind of operator. They leave an error in the importer.
void ImportConvolution(Importer& in);
void ImportDepthwise(Importer& in);
void ImportPool(Importer& in, ir::Op op);
void ImportFullyConnected(Importer& in);
void ImportBinary(Importer& in, ir::Op op);
void ImportUnary(Importer& in, ir::Op op);
void ImportRelu(Importer& in, double low, double high);
void ImportSoftmax(Importer& in);
void ImportMean(Importer& in);
void ImportPad(Importer& in);
void ImportConcatenation(Importer& in);
void ImportTranspose(Importer& in);
void ImportStridedSlice(Importer& in);
void ImportShape(Importer& in);
void ImportPack(Importer& in);
void ImportResize(Importer& in, ir::Op op);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_OPERATOR_H_
