// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Batch normalisation as docs/hlo.md defines it: fp32, each operation rounded,
// sums in ascending order of the elements.
#include <cmath>

#include "host/ir/hlo/elementwise.h"
#include "host/ir/index.h"

namespace systole::ir {
namespace {

std::vector<float> Floats(const Literal& literal) {
  return literal.Visit([](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    std::vector<float> floats;
    for (const T& value : values) floats.push_back(static_cast<float>(value));
    return floats;
  });
}

Literal Rounded(ElementType type, const std::vector<float>& values) {
  return WithElement(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> rounded;
    for (float v : values) rounded.push_back(static_cast<T>(Canonical(v)));
    return Literal(std::move(rounded));
  });
}

// The feature that an element belongs to.
struct Features {
  int64_t count, inner;
  float each;  // elements per feature

  explicit Features(const Node& node) {
    const Ints& shape = node.operands[0].type().shape;
    const auto& a = node.attr<HloBatchNormAttributes>();
    count = shape[a.feature_index];
    inner = StridesOf(shape)[a.feature_index];
    each = static_cast<float>(node.operands[0].type().elements() /
                              std::max<int64_t>(count, 1));
  }
  int64_t operator()(size_t i) const {
    return static_cast<int64_t>(i) / inner % count;
  }
  // Sums over each feature of f(i).
  template <typename F>
  std::vector<float> Sums(size_t size, F f) const {
    std::vector<float> sums(count, 0.0f);
    for (size_t i = 0; i < size; ++i) sums[(*this)(i)] += f(i);
    return sums;
  }
};

std::vector<float> Divided(std::vector<float> values, float by) {
  for (float& value : values) value /= by;
  return values;
}

std::vector<float> Normalized(const Features& f, const std::vector<float>& x,
                              const std::vector<float>& scale,
                              const std::vector<float>& offset,
                              const std::vector<float>& mean,
                              const std::vector<float>& variance,
                              float epsilon) {
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t c = f(i);
    const float deviation = std::sqrt(variance[c] + epsilon);
    y[i] = scale[c] * (x[i] - mean[c]) / deviation + offset[c];
  }
  return y;
}

}  // namespace

absl::StatusOr<Literals> EvaluateBatchNormTraining(const Node& node,
                                                   const Operands& operands,
                                                   Evaluation&) {
  const Features f(node);
  const ElementType type = node.type.element;
  const std::vector<float> x = Floats(*operands[0]);
  const std::vector<float> mean =
      Divided(f.Sums(x.size(), [&](size_t i) { return x[i]; }), f.each);
  const std::vector<float> variance = Divided(f.Sums(x.size(),
                                                     [&](size_t i) {
                                                       const float centred =
                                                           x[i] - mean[f(i)];
                                                       return centred * centred;
                                                     }),
                                              f.each);
  return Literals{
      Rounded(type, Normalized(f, x, Floats(*operands[1]), Floats(*operands[2]),
                               mean, variance,
                               node.attr<HloBatchNormAttributes>().epsilon)),
      Rounded(type, mean), Rounded(type, variance)};
}

absl::StatusOr<Literals> EvaluateBatchNormInference(const Node& node,
                                                    const Operands& operands,
                                                    Evaluation&) {
  const Features f(node);
  return Only(Rounded(node.type.element,
                      Normalized(f, Floats(*operands[0]), Floats(*operands[1]),
                                 Floats(*operands[2]), Floats(*operands[3]),
                                 Floats(*operands[4]),
                                 node.attr<HloBatchNormAttributes>().epsilon)));
}

absl::StatusOr<Literals> EvaluateBatchNormGrad(const Node& node,
                                               const Operands& operands,
                                               Evaluation&) {
  const Features f(node);
  const float epsilon = node.attr<HloBatchNormAttributes>().epsilon;
  const std::vector<float> x = Floats(*operands[0]);
  const std::vector<float> scale = Floats(*operands[1]);
  const std::vector<float> mean = Floats(*operands[2]);
  const std::vector<float> variance = Floats(*operands[3]);
  const std::vector<float> grad = Floats(*operands[4]);
  const auto centred = [&](size_t i) { return x[i] - mean[f(i)]; };
  const auto deviation = [&](int64_t c) {
    return std::sqrt(variance[c] + epsilon);
  };
  const std::vector<float> sums =
      f.Sums(x.size(), [&](size_t i) { return grad[i]; });
  const std::vector<float> products =
      f.Sums(x.size(), [&](size_t i) { return grad[i] * centred(i); });
  const std::vector<float> of_scale = f.Sums(x.size(), [&](size_t i) {
    return grad[i] * (centred(i) / deviation(f(i)));
  });
  std::vector<float> of_operand(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t c = f(i);
    const float inner = grad[i] * f.each - sums[c] -
                        products[c] * centred(i) / (variance[c] + epsilon);
    of_operand[i] = scale[c] / deviation(c) / f.each * inner;
  }
  const ElementType type = node.type.element;
  return Literals{Rounded(type, of_operand), Rounded(type, of_scale),
                  Rounded(type, sums)};
}

}  // namespace systole::ir
