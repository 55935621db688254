// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Each group is a matrix product. A row of the left matrix holds the inputs of
// one window: taps in ascending order of input position, features fastest.
#include <algorithm>
#include <map>

#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/products.h"
#include "host/ir/hlo/strided.h"
#include "host/ir/hlo/window.h"
#include "host/ir/index.h"

namespace systole::ir {
namespace {

// Elements of the left matrix that are generated at a time.
constexpr int64_t kMaxWindows = int64_t{1} << 20;

class Convolution {
 public:
  Convolution(const Node& node, const Operands& operands,
              Evaluation& evaluation)
      : a_(node.attr<HloConvolutionAttributes>()),
        node_(node),
        unit_(evaluation.products()),
        input_shape_(node.operands[0].type().shape),
        kernel_shape_(node.operands[1].type().shape),
        input_(*operands[0]),
        kernel_(*operands[1]) {
    const int spatial = static_cast<int>(a_.stride.size());
    const Ints input_strides = StridesOf(input_shape_);
    for (int i = 0; i < spatial; ++i) {
      windows_.push_back({input_shape_[a_.input_spatial[i]],
                          kernel_shape_[a_.kernel_spatial[i]], a_.stride[i],
                          a_.lhs_dilation[i], a_.rhs_dilation[i], a_.low[i],
                          a_.high[i]});
      positions_.push_back(windows_.back().positions());
      taps_.push_back(windows_.back().window);
      input_spatial_strides_.push_back(input_strides[a_.input_spatial[i]]);
    }
    groups_ = a_.feature_group_count * a_.batch_group_count;
    features_ = kernel_shape_[a_.kernel_input_feature];
    outputs_ = kernel_shape_[a_.kernel_output_feature] / groups_;
    batch_ = input_shape_[a_.input_batch] / a_.batch_group_count;
    depth_ = features_;
    for (int64_t taps : taps_) depth_ *= taps;
    places_ = 1;
    for (int64_t positions : positions_) places_ *= positions;
  }

  absl::StatusOr<Literals> Run() {
    Literal result = Literal::Zeros(node_.type.element, node_.type.elements());
    if (result.size() == 0) return Only(std::move(result));
    FindTaps();
    for (int64_t group = 0; group < groups_; ++group) {
      const Literal weights = Weights(group);
      for (const auto& [taps, phase] : phases_) {
        if (absl::Status s = Multiply(group, taps, phase, weights, result);
            !s.ok())
          return s;
      }
    }
    return Only(std::move(result));
  }

 private:
  // Output positions whose windows use the same taps.
  struct Phase {
    Ints places;
    // Offset in the input for each position and tap; -1 in the padding.
    std::vector<int64_t> offsets;
  };

  void FindTaps() {
    const int64_t all = depth_ / std::max<int64_t>(features_, 1);
    Ints place(positions_.size(), 0);
    for (int64_t p = 0; p < places_; ++p) {
      Ints tap(taps_.size(), 0), taps;
      std::vector<int64_t> offsets;
      for (int64_t t = 0; t < all; ++t) {
        bool between = false;
        int64_t offset = 0;
        for (size_t i = 0; i < windows_.size(); ++i) {
          between = between || windows_[i].IsBetween(place[i], tap[i]);
          const int64_t index = windows_[i].IndexOf(place[i], tap[i]);
          offset = index < 0 || offset < 0
                       ? -1
                       : offset + index * input_spatial_strides_[i];
        }
        if (!between) {
          taps.push_back(t);
          offsets.push_back(offset);
        }
        Advance(taps_, tap);
      }
      Phase& phase = phases_[taps];
      phase.places.push_back(p);
      phase.offsets.insert(phase.offsets.end(), offsets.begin(), offsets.end());
      Advance(positions_, place);
    }
  }

  absl::Status Multiply(int64_t group, const Ints& taps, const Phase& phase,
                        const Literal& weights, Literal& result) const {
    const auto count_of = [](const Ints& list) {
      return static_cast<int64_t>(list.size());
    };
    const int64_t depth = count_of(taps) * features_;
    const int64_t lines = batch_ * count_of(phase.places);
    const int64_t most =
        std::max<int64_t>(1, kMaxWindows / std::max<int64_t>(1, depth));
    const Literal part =
        depth == depth_ ? weights : Rows(weights, taps, features_ * outputs_);
    for (int64_t first = 0; first < lines; first += most) {
      const int64_t count = std::min(most, lines - first);
      const absl::StatusOr<Literal> product =
          MatrixProduct(count, depth, outputs_,
                        Windows(group, phase, count_of(taps), first, count),
                        part, node_.type.element, a_.precision, unit_);
      if (!product.ok()) return product.status();
      Store(group, phase, first, count, *product, result);
    }
    return absl::OkStatus();
  }

  // Picks these rows of a matrix with `width` elements per row.
  static Literal Rows(const Literal& matrix, const Ints& rows, int64_t width) {
    Literal some = Literal::Zeros(matrix.element(),
                                  static_cast<int64_t>(rows.size()) * width);
    const int64_t bytes = width * ElementBytes(matrix.element());
    uint8_t* to = some.data();
    for (const int64_t row : rows) {
      to = std::copy_n(matrix.data() + row * bytes, bytes, to);
    }
    return some;
  }

  // One line per window: [taps, features].
  Literal Windows(int64_t group, const Phase& phase, int64_t taps,
                  int64_t first, int64_t count) const {
    const Ints strides = StridesOf(input_shape_);
    const int64_t feature_step = strides[a_.input_feature];
    const int64_t batch_step = strides[a_.input_batch];
    const int64_t base = a_.batch_group_count > 1
                             ? group * batch_ * batch_step
                             : group * features_ * feature_step;
    const auto places = static_cast<int64_t>(phase.places.size());
    return input_.Visit([&](const auto& values) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      std::vector<T> lines(count * taps * features_);
      T* to = lines.data();
      for (int64_t line = first; line < first + count; ++line) {
        const T* image = values.data() + base + line / places * batch_step;
        const int64_t* offset = phase.offsets.data() + line % places * taps;
        for (int64_t t = 0; t < taps; ++t, to += features_) {
          if (offset[t] < 0) continue;
          const T* from = image + offset[t];
          for (int64_t f = 0; f < features_; ++f)
            to[f] = from[f * feature_step];
        }
      }
      return Literal(std::move(lines));
    });
  }

  // Weights of a group as [taps, features, outputs], reversed as the attributes
  // say.
  Literal Weights(int64_t group) const {
    const Ints strides = StridesOf(kernel_shape_);
    const int64_t output_step = strides[a_.kernel_output_feature];
    int64_t first = group * outputs_ * output_step;
    Ints shape = taps_, from;
    for (size_t i = 0; i < taps_.size(); ++i) {
      const int64_t step = strides[a_.kernel_spatial[i]];
      from.push_back(a_.reversal[i] ? -step : step);
      if (a_.reversal[i]) first += (taps_[i] - 1) * step;
    }
    shape.push_back(features_);
    from.push_back(strides[a_.kernel_input_feature]);
    shape.push_back(outputs_);
    from.push_back(output_step);
    const int bytes = ElementBytes(kernel_.element());
    Literal weights = Literal::Zeros(kernel_.element(), depth_ * outputs_);
    CopyStrided(bytes, shape, {kernel_.data() + first * bytes, from},
                {weights.data(), StridesOf(shape)});
    return weights;
  }

  void Store(int64_t group, const Phase& phase, int64_t first, int64_t count,
             const Literal& product, Literal& result) const {
    const auto places = static_cast<int64_t>(phase.places.size());
    const Ints strides = StridesOf(node_.type.shape);
    const int64_t feature_step = strides[a_.output_feature];
    product.Visit([&](const auto& values) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      const T* from = values.data();
      T* base = result.values<T>().data() + group * outputs_ * feature_step;
      for (int64_t line = first; line < first + count; ++line) {
        int64_t offset = line / places * strides[a_.output_batch];
        int64_t place = phase.places[line % places];
        for (size_t i = positions_.size(); i-- > 0;) {
          offset += place % positions_[i] * strides[a_.output_spatial[i]];
          place /= positions_[i];
        }
        T* to = base + offset;
        for (int64_t o = 0; o < outputs_; ++o) to[o * feature_step] = *from++;
      }
    });
  }

  const HloConvolutionAttributes& a_;
  const Node& node_;
  ProductUnit& unit_;
  const Ints& input_shape_;
  const Ints& kernel_shape_;
  const Literal& input_;
  const Literal& kernel_;
  std::vector<WindowDimension> windows_;
  Ints positions_, taps_, input_spatial_strides_;
  std::map<Ints, Phase> phases_;  // by taps
  int64_t groups_ = 1, features_ = 1, outputs_ = 1, batch_ = 1;
  int64_t depth_ = 1;   // length of the contraction
  int64_t places_ = 1;  // windows of an image
};

}  // namespace

absl::StatusOr<Literals> EvaluateHloConvolution(const Node& node,
                                                const Operands& operands,
                                                Evaluation& evaluation) {
  return Convolution(node, operands, evaluation).Run();
}

}  // namespace systole::ir
