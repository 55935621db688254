// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Helpers for the import of single operators.
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

// The import of one operator. After an error its methods do nothing.
class Importer {
 public:
  Importer(TfliteGraph& graph, const tflite::Operator& op)
      : graph_(graph), op_(op) {
    if (outputs() < 1 || outputs() > kMaxOutputs) {
      Fail(Invalid(outputs(), " outputs"));
      return;
    }
    for (int i = 0; i < outputs(); ++i) {
      absl::StatusOr<ir::Type> type = graph.TypeOf(op.outputs()->Get(i));
      if (!type.ok()) {
        Fail(type.status());
        return;
      }
      types_.push_back(*std::move(type));
    }
  }

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  void Fail(const absl::Status& status) {
    if (ok()) status_ = status;
  }
  // The type of the next output that has no value yet.
  const ir::Type& type() const { return types_[output_]; }
  // The type of output `i`, and whether the file leaves its sizes open.
  const ir::Type& type(int i) const { return types_[i]; }
  bool IsOpen(int i) const { return graph_.IsOpen(op_.outputs()->Get(i)); }
  void SetShape(int i, ir::Ints shape) { types_[i].shape = std::move(shape); }
  // The tensor of an operand, -1 if the operand is omitted.
  int Index(int i) const { return i < inputs() ? op_.inputs()->Get(i) : -1; }

  // Whether operand `i` is of uint8 in the file.
  bool IsUint8(int i) const {
    return IsOfType(Index(i), tflite::TensorType_UINT8);
  }
  // Whether the next output is of uint8 in the file.
  bool IsUint8Result() const {
    return IsOfType(Output(), tflite::TensorType_UINT8);
  }
  bool IsTruthResult() const {
    return IsOfType(Output(), tflite::TensorType_BOOL);
  }

  // The number of images (TfliteGraph::Images).
  int64_t Images() const { return graph_.Images(); }

  // Whether operand `i` has no elements.
  bool IsEmpty(int i) const {
    const auto tensor = graph_.tensors().At(Index(i));
    if (!tensor.ok() || (*tensor)->shape() == nullptr) return false;
    const auto* const shape = (*tensor)->shape();
    return std::count(shape->begin(), shape->end(), 0) > 0;
  }

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

  // The type of operand `i`, which is a state of the operator.
  ir::Type StateType(int i) {
    return Taken(graph_.TypeOf(Index(i), TfliteGraph::Kind::kVariable));
  }

  // State: the value of a state before the run; the initial value is `first`.
  // Keep: sets its value after the run.
  ir::Node* State(int i, const ir::Type& type, ir::Literal first) {
    if (!ok()) return nullptr;
    return Taken(graph_.AddState(Index(i), type, std::move(first)));
  }
  void Keep(const ir::Node* state, ir::Node* next) {
    if (ok()) graph_.SetState(state, next);
  }

  // Scale and zero point of the operator's intermediate tensor `i`.
  ir::Quantization IntermediateQuantization(int i) {
    const auto* const tensors = op_.intermediates();
    if (tensors == nullptr || static_cast<int>(tensors->size()) <= i) {
      Fail(Invalid("no intermediate tensor ", i));
      return {};
    }
    return Taken(graph_.QuantizationAt(tensors->Get(i)));
  }

  // Reads operand `i` as constant integers.
  std::vector<int64_t> Integers(int i) {
    if (!ok()) return {};
    absl::StatusOr<std::vector<int64_t>> values = graph_.Integers(Index(i));
    if (values.ok()) return *std::move(values);
    Fail(values.status());
    return {};
  }

  // Whether operand `i` consists of integers that are known at import.
  bool IsKnown(int i) const { return graph_.Integers(Index(i)).ok(); }

  // The operator's options, which must exist.
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
    if (!type().quantization) {
      Fail(Invalid("result ", ir::TypeText(type()), " is not quantised"));
      return {};
    }
    const ir::Quantization& q = *type().quantization;
    if (!std::isfinite(q.scale()) || q.scale() <= 0) {
      Fail(Invalid("result ", ir::TypeText(type()), " has no positive scale"));
      return {};
    }
    const auto quantised = [&](double real) {
      const float steps = std::round(static_cast<float>(real) / q.scale());
      return static_cast<int64_t>(
          std::clamp(double{steps} + q.zero_point, -128.0, 127.0));
    };
    return {quantised(low), quantised(high)};
  }

  // Adds the operator's node as the value of the output.
  void Emit(ir::Op op, std::vector<ir::Value> operands,
            ir::Attributes attributes) {
    Emit(op, type(), std::move(operands), std::move(attributes));
    Finish();
  }

  // Adds an intermediate node of the given type.
  ir::Node* Emit(ir::Op op, ir::Type type, std::vector<ir::Value> operands,
                 ir::Attributes attributes) {
    if (!ok()) return nullptr;
    absl::StatusOr<ir::Node*> node =
        graph_.Add({graph_.TakeName(Output()), op, std::move(type),
                    std::move(operands), std::move(attributes)});
    if (!node.ok()) {
      Fail(node.status());
      return nullptr;
    }
    last_ = *node;
    if (first_ == nullptr) first_ = last_;
    return last_;
  }

  // Adds a new constant.
  ir::Node* Constant(const ir::Type& type, ir::Literal values) {
    return Emit(ir::Op::kConstant, type, {},
                ir::MakeConstant("", type, std::move(values)).attributes);
  }

  // Makes the last node the value of the next output. The node gets the
  // tensor's name, without a number. Arithmetic on shapes is computed at once.
  void Finish() {
    if (first_ != nullptr) std::swap(first_->name, last_->name);
    first_ = nullptr;
    if (ok()) Fail(graph_.FoldIntegers(*last_));
    if (ok()) Fail(graph_.Define(Output(), last_));
    if (output_ + 1 < outputs()) ++output_;
  }

  // Replaces the last node by a constant if it is arithmetic on shapes.
  void Fold() {
    if (ok()) Fail(graph_.FoldIntegers(*last_));
  }

  ir::Node* last() const { return last_; }
  int inputs() const { return op_.inputs() ? op_.inputs()->size() : 0; }
  int outputs() const { return op_.outputs() ? op_.outputs()->size() : 0; }
  const tflite::Operator& op() const { return op_; }

 private:
  static constexpr int kMaxOutputs = 1024;

  // The value, or a default if there is an error.
  template <typename T>
  T Taken(absl::StatusOr<T> value) {
    if (value.ok()) return *std::move(value);
    Fail(value.status());
    return {};
  }

  int Output() const { return op_.outputs()->Get(output_); }
  bool IsOfType(int index, tflite::TensorType type) const {
    const auto tensor = graph_.tensors().At(index);
    return tensor.ok() && (*tensor)->type() == type;
  }

  TfliteGraph& graph_;
  const tflite::Operator& op_;
  std::vector<ir::Type> types_;  // of the outputs
  int output_ = 0;
  ir::Node* first_ = nullptr;  // for the next output
  ir::Node* last_ = nullptr;
  absl::Status status_;
};

// One function per kind of operator. Errors are kept in the importer. An
// operator with several outputs sets them in order.
void ImportConvolution(Importer& in);
void ImportDepthwise(Importer& in);
void ImportTransposeConvolution(Importer& in);
void ImportPool(Importer& in, ir::Op op);
void ImportFullyConnected(Importer& in);
void ImportBatchMatmul(Importer& in);
void ImportConvolution3D(Importer& in);
void ImportDivision(Importer& in);
void ImportLstm(Importer& in);
void ImportSvdf(Importer& in);
void ImportBinary(Importer& in, ir::Op op);
void ImportSwapped(Importer& in, ir::Op op);
void ImportNot(Importer& in);
void ImportSelect(Importer& in);
void ImportUnary(Importer& in, ir::Op op);
void ImportRelu(Importer& in, double low, double high);
void ImportLeakyRelu(Importer& in);
void ImportGelu(Importer& in);
void ImportSoftmax(Importer& in);
void ImportL2Normalization(Importer& in);
void ImportReduce(Importer& in, ir::Op op);
void ImportArgument(Importer& in, ir::Op op);
void ImportPad(Importer& in);
void ImportMirrorPad(Importer& in);
void ImportConcatenation(Importer& in);
void ImportTranspose(Importer& in);
void ImportStridedSlice(Importer& in);
void ImportSlice(Importer& in);
void ImportSplit(Importer& in, int value, int axis);
void ImportUnpack(Importer& in);
void ImportReverse(Importer& in);
void ImportTile(Importer& in);
void ImportBroadcast(Importer& in, int value);
void ImportGather(Importer& in);
void ImportLookup(Importer& in);
void ImportSpaceToDepth(Importer& in);
void ImportDepthToSpace(Importer& in);
void ImportSpaceToBatch(Importer& in);
void ImportBatchToSpace(Importer& in);
void ImportShape(Importer& in);
void ImportPack(Importer& in);
void ImportCast(Importer& in);
void ImportResize(Importer& in, ir::Op op);

// Result shapes that are inferred from the operands.
ir::Ints Conv3DShape(Importer& in);
ir::Ints LstmShape(Importer& in);

constexpr int64_t kMaxWindow = 1 << 20;  // limit of kernel, stride and dilation

// Number of window positions along an axis; `same`: with TensorFlow's padding.
int64_t Positions(int64_t size, int64_t kernel, int64_t stride,
                  int64_t dilation, bool same);
// TensorFlow's total padding along one axis.
int64_t SamePadding(int64_t size, int64_t kernel, int64_t stride,
                    int64_t dilation);
// TensorFlow's padding of a window as [top, left, bottom, right].
ir::Ints PaddingOf(Importer& in, const ir::Type& input, tflite::Padding padding,
                   const ir::Ints& kernel, const ir::Ints& stride,
                   const ir::Ints& dilation);
// Input, weights, and the bias if there is one.
std::vector<ir::Value> WeightedOperands(Importer& in);

// Negative axes count from the end.
int64_t AxisOf(Importer& in, int64_t axis, int rank);

}  // namespace systole::import

#endif  // SYSTOLE_HOST_IMPORT_TFLITE_OPERATOR_H_
