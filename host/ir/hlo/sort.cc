// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A stable merge sort that compares many pairs at once. The position of an
// element in the merged run is its position in its own run plus the number of
// elements of the other run that come before it. That number is found by
// bisection; one evaluation of the region does one step for all elements of all
// runs. If the comparison is not an order, two elements may claim one position;
// such a run is merged one element after the other.
#include <algorithm>
#include <numeric>

#include "host/ir/hlo/elementwise.h"
#include "host/ir/hlo/strided.h"
#include "host/ir/index.h"

namespace systole::ir {
namespace {

class Sorter {
 public:
  Sorter(const Node& node, const Operands& operands, Evaluation& evaluation)
      : node_(node),
        evaluation_(evaluation),
        count_(node.results()),
        captured_(operands.begin() + count_, operands.end()),
        shape_(node.type.shape) {
    const int64_t given = node.attr<HloSortAttributes>().dimension;
    dimension_ = given < 0 ? given + node.type.rank() : given;
    if (!shape_.empty()) length_ = shape_[dimension_];
    // The sorted dimension becomes the last one.
    steps_ = StridesOf(shape_);
    if (!shape_.empty()) {
      lines_ = shape_;
      std::rotate(lines_.begin() + dimension_, lines_.begin() + dimension_ + 1,
                  lines_.end());
      std::rotate(steps_.begin() + dimension_, steps_.begin() + dimension_ + 1,
                  steps_.end());
    }
    size_ = node.type.elements();
    for (int i = 0; i < count_; ++i) {
      const Literal& from = *operands[i];
      values_.push_back(Literal::Zeros(from.element(), size_));
      CopyStrided(ElementBytes(from.element()), lines_, {from.data(), steps_},
                  {values_.back().data(), StridesOf(lines_)});
    }
  }

  absl::StatusOr<Literals> Run() {
    order_.resize(size_);
    std::iota(order_.begin(), order_.end(), 0);
    for (int64_t width = 1; width < length_; width *= 2) {
      const absl::Status status = Merge(width);
      if (!status.ok()) return status;
    }
    Literals results;
    for (const Literal& values : values_) {
      const Literal sorted = Picked(values, order_);
      results.push_back(Literal::Zeros(values.element(), size_));
      CopyStrided(ElementBytes(values.element()), lines_,
                  {sorted.data(), StridesOf(lines_)},
                  {results.back().data(), steps_});
    }
    return results;
  }

 private:
  static Literal Picked(const Literal& from,
                        const std::vector<int64_t>& places) {
    return from.Visit([&](const auto& values) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      std::vector<T> picked(places.size());
      for (size_t i = 0; i < picked.size(); ++i) picked[i] = values[places[i]];
      return Literal(std::move(picked));
    });
  }

  // Whether element left[i] comes before right[i].
  absl::StatusOr<Literal> Before(const std::vector<int64_t>& left,
                                 const std::vector<int64_t>& right) {
    Literals pairs;
    for (const Literal& values : values_) {
      pairs.push_back(Picked(values, left));
      pairs.push_back(Picked(values, right));
    }
    Operands inputs;
    for (const Literal& values : pairs) inputs.push_back(&values);
    inputs.insert(inputs.end(), captured_.begin(), captured_.end());
    absl::StatusOr<Literals> results = evaluation_.RunLanes(
        *node_.regions[0], static_cast<int64_t>(left.size()), inputs);
    if (!results.ok()) return results.status();
    return (*results)[0];
  }

  // Begin of the run of `width` elements that contains a place, and begin and
  // end of the run that it is merged with.
  struct Runs {
    int64_t own, begin, end;
    bool left;
  };
  Runs RunsOf(int64_t place, int64_t width) const {
    const int64_t line = place / length_ * length_;
    const int64_t run = (place - line) / width;
    const auto edge = [&](int64_t r) {
      return line + std::min(r * width, length_);
    };
    const bool left = run % 2 == 0;
    const int64_t other = left ? run + 1 : run - 1;
    return {edge(run), edge(other), edge(other + 1), left};
  }

  absl::Status Merge(int64_t width) {
    std::vector<int64_t> low(size_), high(size_);
    for (int64_t i = 0; i < size_; ++i) {
      const Runs runs = RunsOf(i, width);
      low[i] = runs.begin;
      high[i] = runs.end;
    }
    std::vector<int64_t> active, left, right;
    while (true) {
      active.clear();
      left.clear();
      right.clear();
      for (int64_t i = 0; i < size_; ++i) {
        if (low[i] >= high[i]) continue;
        const int64_t middle = order_[(low[i] + high[i]) / 2];
        const bool is_left = RunsOf(i, width).left;
        active.push_back(i);
        left.push_back(is_left ? middle : order_[i]);
        right.push_back(is_left ? order_[i] : middle);
      }
      if (active.empty()) break;
      const absl::StatusOr<Literal> before = Before(left, right);
      if (!before.ok()) return before.status();
      const std::vector<Bool>& answers = before->values<Bool>();
      for (size_t k = 0; k < active.size(); ++k) {
        const int64_t i = active[k];
        const bool answer = answers[answers.size() == 1 ? 0 : k];
        const int64_t middle = (low[i] + high[i]) / 2;
        // The middle element comes first if it is before a left element, or if
        // a right element is not before it.
        if (RunsOf(i, width).left == answer) {
          low[i] = middle + 1;
        } else {
          high[i] = middle;
        }
      }
    }
    std::vector<int64_t> merged(size_, -1);
    bool claimed_twice = false;
    for (int64_t i = 0; i < size_; ++i) {
      const Runs runs = RunsOf(i, width);
      const int64_t first = std::min(runs.own, runs.begin);
      const int64_t place = first + (i - runs.own) + (low[i] - runs.begin);
      claimed_twice |= merged[place] >= 0;
      merged[place] = order_[i];
    }
    if (claimed_twice) return MergeOneByOne(width);
    order_ = std::move(merged);
    return absl::OkStatus();
  }

  absl::Status MergeOneByOne(int64_t width) {
    std::vector<int64_t> merged;
    for (int64_t first = 0; first < size_;) {
      const Runs runs = RunsOf(first, width);
      int64_t a = first, b = runs.begin;
      while (a < runs.begin || b < runs.end) {
        bool takes_right = a >= runs.begin;
        if (!takes_right && b < runs.end) {
          const absl::StatusOr<Literal> before =
              Before({order_[b]}, {order_[a]});
          if (!before.ok()) return before.status();
          takes_right = before->values<Bool>()[0];
        }
        merged.push_back(order_[takes_right ? b++ : a++]);
      }
      first = runs.end;
    }
    order_ = std::move(merged);
    return absl::OkStatus();
  }

  const Node& node_;
  Evaluation& evaluation_;
  const int count_;
  const Operands captured_;
  const Ints& shape_;
  Ints lines_, steps_;
  int64_t dimension_ = 0;
  int64_t length_ = 1;
  int64_t size_ = 1;
  Literals values_;
  std::vector<int64_t> order_;
};

}  // namespace

absl::StatusOr<Literals> EvaluateSort(const Node& node,
                                      const Operands& operands,
                                      Evaluation& evaluation) {
  return Sorter(node, operands, evaluation).Run();
}

}  // namespace systole::ir
