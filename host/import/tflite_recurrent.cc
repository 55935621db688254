// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operators with states. An LSTM over a sequence is unrolled step by step. One
// product computes all gates, and for the input also all steps. SVDF is
// imported, too.
#include <optional>
#include <unordered_map>

#include "absl/strings/str_join.h"
#include "host/import/tflite_operator.h"

namespace systole::import {
namespace {

using ir::Ints;
using ir::Op;

constexpr int kGates = 4;  // input, forget, candidate, output
constexpr int64_t kMaxSteps = 1024;
constexpr float kGateScale = 1.0f / (1 << 12);  // scale of a gate's input

// Operand numbers.
enum Operand {
  kInput = 0,
  kInputWeights = 1,
  kRecurrentWeights = 5,
  kPeepholes = 9,
  kBiases = 12,
  kProjection = 16,
  kOutputState = 18,
  kCellState = 19,
  kNormalizations = 20,
};

// The stacked weights of all gates, and a constant to add to the products: the
// bias minus the zero point's part.
struct Products {
  int64_t depth = 0;
  std::vector<int8_t> weights;
  std::vector<int32_t> bias;
  float scales[kGates] = {};
};

class Lstm {
 public:
  explicit Lstm(Importer& in) : in_(in) {}

  void Run() {
    CheckKind();
    ir::Node* const input = in_.Value(kInput);
    if (!in_.ok()) return;
    const auto* const options =
        in_.op().options_as_UnidirectionalSequenceLstmOptions();
    time_ = options->time_major() ? 0 : 1;
    const ir::Type& type = input->type;
    if (type.rank() != 3 || !IsInt8(type) || !IsInt8(in_.type())) {
      in_.Fail(Unsupported("an input of ", ir::TypeText(type), ", a result of ",
                           ir::TypeText(in_.type())));
      return;
    }
    steps_ = type.shape[time_];
    batch_ = type.shape[1 - time_];
    if (steps_ > kMaxSteps) {
      in_.Fail(Unsupported(steps_, " steps, more than ", kMaxSteps));
      return;
    }
    const ir::Type state = in_.StateType(kOutputState);
    const ir::Type cell = in_.StateType(kCellState);
    const ir::Quantization hidden = in_.IntermediateQuantization(kGates);
    if (!in_.ok()) return;
    if (!IsInt8(state) || cell.element != ir::ElementType::kInt16 ||
        !cell.quantization) {
      in_.Fail(Invalid("states ", ir::TypeText(state), " and ",
                       ir::TypeText(cell), ", not quantised i8 and i16"));
      return;
    }
    const Products of_input = Read(kInputWeights, type, true);
    const Products of_state = Read(kRecurrentWeights, state, false);
    if (!in_.ok()) return;
    if (of_input.depth != type.shape[2] || of_state.depth != units_ ||
        state.elements() != batch_ * units_ ||
        cell.elements() != batch_ * units_) {
      in_.Fail(Invalid("states ", ir::TypeText(state), " and ",
                       ir::TypeText(cell), " for weights of ", units_,
                       " units"));
      return;
    }
    if (cell.quantization->scale() < 0x1p-15f ||
        cell.quantization->scale() > 0x1p-9f) {
      in_.Fail(Unsupported("cells of scale ", cell.quantization->scale(),
                           ": the reference kernel has no tanh but of 2^-15 "
                           "to 2^-9"));
      return;
    }
    SetFactors(options->cell_clip(), cell, hidden, of_input, of_state);
    first_ = static_cast<int8_t>(state.quantization->zero_point);
    Emit(input, cell, of_input, of_state);
  }

 private:
  static bool IsInt8(const ir::Type& type) {
    return type.element == ir::ElementType::kInt8 && type.quantization &&
           !type.quantization->per_channel();
  }

  // Refuses features of other kinds of LSTM.
  void CheckKind() {
    const auto* const options =
        in_.op().options_as_UnidirectionalSequenceLstmOptions();
    if (in_.Read(options) == nullptr) return;
    std::vector<std::string> ways;
    const auto given = [&](int first, int count) {
      for (int i = first; i < first + count; ++i) {
        if (in_.Index(i) != -1) return true;
      }
      return false;
    };
    if (options->activation() != tflite::Activation_TANH)
      ways.push_back("an activation other than TANH");
    if (in_.Index(kInputWeights) == -1 || in_.Index(kRecurrentWeights) == -1)
      ways.push_back("a joint input and forget gate");
    if (given(kPeepholes, 3)) ways.push_back("peepholes");
    if (given(kProjection, 2)) ways.push_back("a projection");
    if (given(kNormalizations, 4)) ways.push_back("layer normalisation");
    if (options->diagonal_recurrent_tensors())
      ways.push_back("diagonal recurrent weights");
    if (!ways.empty())
      in_.Fail(Unsupported("an LSTM with ", absl::StrJoin(ways, ", ")));
  }

  Products Read(int first, const ir::Type& factor, bool biased) {
    Products products;
    for (int gate = 0; gate < kGates; ++gate) {
      const ir::Node* const weights = in_.Value(first + gate);
      if (!in_.ok()) return products;
      const ir::Type& type = weights->type;
      if (!weights->is_constant() || !IsInt8(type) || type.rank() != 2 ||
          type.quantization->zero_point != 0) {
        in_.Fail(Unsupported("weights ", ir::TypeText(type),
                             " that are not constants of i8 with one scale"));
        return products;
      }
      if (gate == 0) products.depth = type.shape[1];
      if (units_ == 0) units_ = type.shape[0];
      if (type.shape != Ints{units_, products.depth}) {
        in_.Fail(Invalid("weights ", ir::TypeText(type), " instead of [",
                         units_, ",", products.depth, "]"));
        return products;
      }
      products.scales[gate] =
          type.quantization->scale() * factor.quantization->scale();
      const std::vector<int8_t>& values = weights->literal().values<int8_t>();
      products.weights.insert(products.weights.end(), values.begin(),
                              values.end());
      AddBias(biased ? kBiases + gate : -1, values, factor, products);
    }
    return products;
  }

  void AddBias(int operand, const std::vector<int8_t>& weights,
               const ir::Type& factor, Products& products) {
    std::vector<int32_t> given(units_);
    if (operand >= 0 && in_.Index(operand) != -1) {
      const ir::Node* const bias = in_.Value(operand);
      if (!in_.ok()) return;
      if (!bias->is_constant() ||
          bias->type.element != ir::ElementType::kInt32 ||
          bias->type.shape != Ints{units_}) {
        in_.Fail(Unsupported("a bias of ", ir::TypeText(bias->type)));
        return;
      }
      given = bias->literal().values<int32_t>();
    }
    for (int64_t unit = 0; unit < units_; ++unit) {
      int64_t sum = given[unit];
      for (int64_t i = 0; i < products.depth; ++i) {
        sum -= int64_t{factor.quantization->zero_point} *
               weights[unit * products.depth + i];
      }
      if (sum != static_cast<int32_t>(sum)) {
        in_.Fail(Invalid("a bias of ", sum));
        return;
      }
      products.bias.push_back(static_cast<int32_t>(sum));
    }
  }

  void SetFactors(float clip, const ir::Type& cell,
                  const ir::Quantization& hidden, const Products& of_input,
                  const Products& of_state) {
    for (int gate = 0; gate < kGates - 1; ++gate) {
      cell_.input_factors[gate] = of_input.scales[gate] / kGateScale;
      cell_.recurrent_factors[gate] = of_state.scales[gate] / kGateScale;
    }
    output_.input_factor = of_input.scales[kGates - 1] / kGateScale;
    output_.recurrent_factor = of_state.scales[kGates - 1] / kGateScale;
    output_.hidden_scale = hidden.scale();
    output_.hidden_zero = hidden.zero_point;
    if (clip > 0) {  // NaN means no clip
      cell_.clip = static_cast<int64_t>(
          std::min(clip / cell.quantization->scale(), 32767.0f));
    }
  }

  // The products of all gates for all rows, plus the bias.
  ir::Node* Sums(ir::Node* rows, const Products& products) {
    if (!in_.ok()) return nullptr;
    const int64_t outputs = kGates * units_;
    const ir::Quantization one{{1.0f}, 0, 0};
    ir::Node*& weights = weights_[&products];
    if (weights == nullptr) {
      weights =
          in_.Constant({ir::ElementType::kInt8, {outputs, products.depth}, one},
                       ir::Literal(products.weights));
      bias_[&products] =
          in_.Constant({ir::ElementType::kInt32, {outputs}, std::nullopt},
                       ir::Literal(products.bias));
    }
    ir::Type bytes = rows->type;
    bytes.shape.back() = 4 * outputs;
    bytes.quantization = one;
    ir::Node* sums =
        in_.Emit(Op::kDenseSums, bytes, {rows, weights}, ir::NoAttributes{});
    ir::Type type{ir::ElementType::kInt32, rows->type.shape, std::nullopt};
    type.shape.back() = outputs;
    sums = in_.Emit(Op::kBitcast, type, {sums}, ir::NoAttributes{});
    return in_.Emit(Op::kAdd, type, {sums, bias_[&products]},
                    ir::ClampAttributes{});
  }

  void Emit(ir::Node* input, const ir::Type& cell_type,
            const Products& of_input, const Products& of_state) {
    const Ints row = {batch_, units_}, gates = {batch_, kGates * units_};
    const ir::Type sums_type{ir::ElementType::kInt32, gates, std::nullopt};
    const ir::Type state_type{ir::ElementType::kInt16, row,
                              cell_type.quantization};
    ir::Type result = in_.type();
    result.shape = row;
    ir::Node* const inputs = Sums(input, of_input);
    // The kernel keeps the stored bytes between runs, whatever their scale.
    ir::Node* const hidden_before =
        in_.State(kOutputState, result,
                  ir::Literal(std::vector<int8_t>(batch_ * units_, first_)));
    ir::Node* const cell_before =
        in_.State(kCellState, state_type,
                  ir::Literal(std::vector<int16_t>(batch_ * units_)));
    ir::Node* states = Sums(hidden_before, of_state);
    ir::Node* cell = cell_before;
    ir::Type step = result;
    step.shape = time_ == 0 ? Ints{1, batch_, units_} : Ints{batch_, 1, units_};
    std::vector<ir::Value> results;
    for (int64_t t = 0; in_.ok() && t < steps_; ++t) {
      ir::Type slice = inputs->type;
      slice.shape[time_] = 1;
      ir::SliceAttributes from{{0, 0, 0}, {1, 1, 1}};
      from.begin[time_] = t;
      ir::Node* sums = in_.Emit(Op::kStridedSlice, slice, {inputs}, from);
      sums = in_.Emit(Op::kReshape, sums_type, {sums}, ir::NoAttributes{});
      cell = in_.Emit(Op::kLstmCell, state_type, {sums, states, cell}, cell_);
      ir::Node* const hidden =
          in_.Emit(Op::kLstmOutput, result, {sums, states, cell}, output_);
      results.push_back(
          in_.Emit(Op::kReshape, step, {hidden}, ir::NoAttributes{}));
      if (t + 1 < steps_) {
        states = Sums(hidden, of_state);
        continue;
      }
      in_.Keep(hidden_before, hidden);
      in_.Keep(cell_before, cell);
    }
    in_.Emit(Op::kConcatenate, results, ir::AxisAttributes{time_});
  }

  Importer& in_;
  int64_t time_ = 1, steps_ = 0, batch_ = 0, units_ = 0;
  int8_t first_ = 0;  // initial stored value of the state
  ir::LstmCellAttributes cell_;
  ir::LstmOutputAttributes output_;
  std::unordered_map<const Products*, ir::Node*> weights_, bias_;
};

}  // namespace

void ImportLstm(Importer& in) { Lstm(in).Run(); }

constexpr int64_t kMostState = 1 << 24;  // values

// A layer of filters. Each filter multiplies the input, keeps its results of
// the last steps, and sums these with further weights. The results are kept
// between runs.
void ImportSvdf(Importer& in) {
  const auto* const options = in.op().options_as_SvdfOptions();
  ir::Node* const input = in.Value(0);
  ir::Node* const features = in.Value(1);
  ir::Node* const times = in.Value(2);
  const ir::Type kept = in.StateType(4);
  if (in.Read(options) == nullptr || !in.ok()) return;
  const ir::Type &x = input->type, &w = features->type, &t = times->type;
  const bool quantised = x.quantization && w.quantization && t.quantization &&
                         kept.quantization && in.type().quantization;
  if (!quantised || x.element != ir::ElementType::kInt8 || x.rank() != 2 ||
      w.element != ir::ElementType::kInt8 || w.rank() != 2 || t.rank() != 2 ||
      !features->is_constant() || w.shape[1] != x.shape[1] ||
      !times->is_constant() || t.shape[0] != w.shape[0] ||
      kept.shape != Ints{x.shape[0], t.elements()} ||
      kept.elements() > kMostState || in.type().quantization->per_channel()) {
    in.Fail(Unsupported("an SVDF of ", ir::TypeText(x), " by ", ir::TypeText(w),
                        " and ", ir::TypeText(t), " with a state of ",
                        ir::TypeText(kept)));
    return;
  }
  const auto scale = [](const ir::Type& type) {
    return type.quantization->scale();
  };
  const int64_t filters = w.shape[0];
  const std::vector<int8_t>& weights = features->literal().values<int8_t>();
  std::vector<int32_t> zeros(filters);  // the zero point's part of the sums
  for (size_t i = 0; i < weights.size(); ++i)
    zeros[i / x.shape[1]] -= x.quantization->zero_point * weights[i];
  ir::Type bytes = x;
  bytes.shape = {x.shape[0], 4 * filters};
  bytes.quantization = ir::Quantization{{1.0f}, 0, 0};
  const ir::Type sums_type{ir::ElementType::kInt32, {x.shape[0], filters}, {}};
  ir::Node* sums =
      in.Emit(Op::kDenseSums, bytes, {input, features}, ir::NoAttributes{});
  sums = in.Emit(Op::kBitcast, sums_type, {sums}, ir::NoAttributes{});
  ir::Node* const offsets =
      in.Constant({ir::ElementType::kInt32, {filters}, std::nullopt},
                  ir::Literal(std::move(zeros)));
  sums = in.Emit(Op::kAdd, sums_type, {sums, offsets}, ir::ClampAttributes{});
  const auto zero = kept.quantization->zero_point;
  ir::Node* const before =
      in.State(4, kept,
               kept.element == ir::ElementType::kInt8
                   ? ir::Literal(std::vector<int8_t>(kept.elements(),
                                                     static_cast<int8_t>(zero)))
                   : ir::Literal(std::vector<int16_t>(
                         kept.elements(), static_cast<int16_t>(zero))));
  // Single precision, as specified.
  ir::Node* const after =
      in.Emit(Op::kSvdfState, kept, {sums, before},
              ir::SvdfAttributes{scale(x) * scale(w) / scale(kept)});
  in.Keep(before, after);
  std::vector<ir::Value> operands = {after, times};
  if (in.Index(3) != -1) operands.push_back(in.Value(3));
  if (!in.ok()) return;
  in.Emit(Op::kSvdfOutput, operands,
          ir::SvdfAttributes{scale(kept) * scale(t) / scale(in.type()),
                             options->rank()});
}

// The output gate has one row of weights per unit.
Ints LstmShape(Importer& in) {
  const ir::Node* const input = in.Value(kInput);
  const ir::Node* const weights = in.Value(kInputWeights + kGates - 1);
  if (!in.ok()) return {};
  Ints shape = input->type.shape;
  if (!shape.empty() && !weights->type.shape.empty())
    shape.back() = weights->type.shape[0];
  return shape;
}

}  // namespace systole::import
