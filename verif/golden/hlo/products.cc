// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// docs/hlo.md, "Products": a chain for each section of a result.
#include <cmath>

#include "verif/golden/fp32.h"
#include "verif/golden/hlo/evaluation.h"
#include "verif/golden/hlo/scalars.h"

namespace systole::golden::hlo {
namespace {

constexpr size_t kSection = 4096;  // terms of a chain, at most

struct Pass {
  int left, right;  // number of the part, from 0
};

std::vector<Pass> Passes(ir::Precision precision, Element a, Element b) {
  if (a == Element::kFloat16 && b == Element::kFloat16)
    return {{1, 1}, {1, 0}, {0, 1}, {0, 0}};
  const bool both = a == Element::kBfloat16 && b == Element::kBfloat16;
  if (both || precision == ir::Precision::kDefault) return {{0, 0}};
  if (precision == ir::Precision::kHigh) return {{1, 0}, {0, 1}, {0, 0}};
  return {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
}

// The bf16 parts of the numbers. Non-finite numbers have one part.
std::vector<std::vector<float>> Parts(const Tensor& tensor) {
  std::vector<std::vector<float>> parts(3);
  for (const uint64_t bits : tensor.bits) {
    float rest = Real(Element::kFloat32,
                      Convert(tensor.element, Element::kFloat32, bits));
    for (std::vector<float>& part : parts) {
      part.push_back(fp32::Bf16(rest));
      rest = std::isfinite(part.back()) ? rest - part.back() : 0.0f;
    }
  }
  return parts;
}

// Terms of a result: positions in the operands; -1 on the left means zero.
struct Terms {
  std::vector<int64_t> left, right;
};

class Chains {
 public:
  Chains(ir::Precision precision, const Tensors& operands, Element result)
      : result_(result),
        operands_(operands),
        passes_(Passes(precision, operands[0].element, operands[1].element)) {
    if (!IsReal(result)) return;
    left_ = Parts(operands[0]);
    right_ = Parts(operands[1]);
  }

  uint64_t Of(const Terms& terms) const {
    return IsReal(result_) ? OfFloats(terms) : OfIntegers(terms);
  }

 private:
  uint64_t OfFloats(const Terms& terms) const {
    float sum = 0, chain = 0;
    size_t length = 0;
    for (const Pass& pass : passes_) {
      const std::vector<float>& left = left_[pass.left];
      const std::vector<float>& right = right_[pass.right];
      for (size_t i = 0; i < terms.left.size(); ++i) {
        const float x = terms.left[i] < 0 ? 0.0f : left[terms.left[i]];
        chain = std::fma(x, right[terms.right[i]], chain);
        if (++length < kSection) continue;
        sum += chain;
        chain = 0;
        length = 0;
      }
    }
    return FromReal(result_, sum + chain);
  }

  uint64_t OfIntegers(const Terms& terms) const {
    const Tensor &a = operands_[0], &b = operands_[1];
    uint64_t sum = 0;
    for (size_t i = 0; i < terms.left.size(); ++i) {
      if (terms.left[i] < 0) continue;
      sum += static_cast<uint64_t>(Whole(a.element, a.bits[terms.left[i]])) *
             static_cast<uint64_t>(Whole(b.element, b.bits[terms.right[i]]));
    }
    return Wrapped(result_, sum);
  }

  const Element result_;
  const Tensors& operands_;
  const std::vector<Pass> passes_;
  std::vector<std::vector<float>> left_, right_;
};

// From one index of the dimension to the next.
int64_t StepOf(const Tensor& tensor, int64_t dimension) {
  int64_t step = 1;
  for (size_t d = dimension + 1; d < tensor.rank(); ++d)
    step *= tensor.shape[d];
  return step;
}

Index Joined(Index a, const Index& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Positions in an operand for each index of the contracting dimensions, the
// others 0.
std::vector<int64_t> LineOf(const Tensor& tensor, const Index& contracting) {
  Index place(tensor.rank(), 0);
  std::vector<int64_t> line;
  ForEach(Pick(tensor.shape, contracting), [&](const Index& term) {
    for (size_t i = 0; i < contracting.size(); ++i)
      place[contracting[i]] = term[i];
    line.push_back(tensor.At(place));
  });
  return line;
}

// The line behind the place at which the dimensions `fixed` have the values
// `at`.
void Shift(const Tensor& tensor, const std::vector<int64_t>& line,
           const Index& fixed, const Index& at, std::vector<int64_t>& to) {
  Index place(tensor.rank(), 0);
  for (size_t i = 0; i < fixed.size(); ++i) place[fixed[i]] = at[i];
  const int64_t first = tensor.At(place);
  to.resize(line.size());
  for (size_t i = 0; i < line.size(); ++i) to[i] = first + line[i];
}

}  // namespace

Tensor DotGeneral(const Node& node, const Tensors& operands) {
  const auto& a = node.attr<ir::HloDotAttributes>();
  const Tensor &left = operands[0], &right = operands[1];
  const Chains chains(a.precision, operands, node.type.element);
  Tensor result(node.type.element, node.type.shape);
  const Index left_free =
      Others(left.rank(), Joined(a.lhs_batching, a.lhs_contracting));
  const Index right_free =
      Others(right.rank(), Joined(a.rhs_batching, a.rhs_contracting));
  const size_t batches = a.lhs_batching.size();
  const Index left_fixed = Joined(a.lhs_batching, left_free);
  const Index right_fixed = Joined(a.rhs_batching, right_free);
  const std::vector<int64_t> left_line = LineOf(left, a.lhs_contracting),
                             right_line = LineOf(right, a.rhs_contracting);
  Terms terms;
  ForEach(result.shape, [&](const Index& index) {
    const Index batch(index.begin(), index.begin() + batches);
    const auto middle = index.begin() + batches + left_free.size();
    Shift(left, left_line, left_fixed, Index(index.begin(), middle),
          terms.left);
    Shift(right, right_line, right_fixed,
          Joined(batch, Index(middle, index.end())), terms.right);
    result[index] = chains.Of(terms);
  });
  return result;
}

Tensor Convolution(const Node& node, const Tensors& operands) {
  const auto& a = node.attr<ir::HloConvolutionAttributes>();
  const Tensor &input = operands[0], &kernel = operands[1];
  const Chains chains(a.precision, operands, node.type.element);
  Tensor result(node.type.element, node.type.shape);
  const int64_t features = kernel.shape[a.kernel_input_feature];
  const int64_t outputs = kernel.shape[a.kernel_output_feature];
  const int64_t batches = input.shape[a.input_batch] / a.batch_group_count;
  const Index window = Pick(kernel.shape, a.kernel_spatial);
  const int64_t left_step = StepOf(input, a.input_feature);
  const int64_t right_step = StepOf(kernel, a.kernel_input_feature);
  Terms terms;
  ForEach(result.shape, [&](const Index& index) {
    const int64_t feature = index[a.output_feature];
    const int64_t group = feature / (outputs / a.feature_group_count);
    const int64_t batch_group = feature / (outputs / a.batch_group_count);
    Index from(input.rank(), 0), by(kernel.rank(), 0);
    from[a.input_batch] = batch_group * batches + index[a.output_batch];
    by[a.kernel_output_feature] = feature;
    from[a.input_feature] = group * features;
    terms.left.clear();
    terms.right.clear();
    ForEach(window, [&](const Index& tap) {
      bool inside = true, between = false;
      for (size_t i = 0; i < tap.size(); ++i) {
        const int64_t place = index[a.output_spatial[i]] * a.stride[i] -
                              a.low[i] + tap[i] * a.rhs_dilation[i];
        const int64_t size = input.shape[a.input_spatial[i]];
        between = between || place % a.lhs_dilation[i] != 0;
        inside = inside && place >= 0 && place / a.lhs_dilation[i] < size;
        from[a.input_spatial[i]] = place / a.lhs_dilation[i];
        by[a.kernel_spatial[i]] =
            a.reversal[i] != 0 ? window[i] - 1 - tap[i] : tap[i];
      }
      if (between) return;
      const int64_t left = inside ? input.At(from) : -1;
      const int64_t right = kernel.At(by);
      for (int64_t i = 0; i < features; ++i) {
        terms.left.push_back(inside ? left + i * left_step : -1);
        terms.right.push_back(right + i * right_step);
      }
    });
    result[index] = chains.Of(terms);
  });
  return result;
}

}  // namespace systole::golden::hlo
