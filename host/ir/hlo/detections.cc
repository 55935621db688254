// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/hlo/detections.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "host/ir/hlo/elementwise.h"

namespace systole::ir {
namespace {

constexpr int64_t kMostCount = 1 << 20;  // of detections, classes

std::string NumberText(int64_t value) { return absl::StrCat(value); }
std::string NumberText(bool value) { return value ? "1" : "0"; }
std::string NumberText(float value) { return FloatText(value); }

bool ReadNumber(const std::string& text, int64_t& value) {
  return absl::SimpleAtoi(text, &value);
}
bool ReadNumber(const std::string& text, bool& value) {
  value = text == "1";
  return value || text == "0";
}
bool ReadNumber(const std::string& text, float& value) {
  return absl::SimpleAtof(text, &value);
}

// y and x of two corners; the first has the lower numbers.
struct Box {
  float y0, x0, y1, x1;
};

// As TensorFlow Lite writes them, which matters for NaNs.
float Overlap(const Box& a, const Box& b) {
  const float area_a = (a.y1 - a.y0) * (a.x1 - a.x0);
  const float area_b = (b.y1 - b.y0) * (b.x1 - b.x0);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const float shared = std::max(height, 0.0f) * std::max(width, 0.0f);
  return shared / (area_a + area_b - shared);
}

// The places of the `count` highest scores, in descending order. A heap of the
// places that are the highest so far has the lowest score at its root.
class HighestScores {
 public:
  HighestScores(const float* scores, int64_t size, int64_t count)
      : scores_(scores), places_(count) {
    std::iota(places_.begin(), places_.end(), 0);
    if (count == 1) {
      for (int64_t i = 1; i < size; ++i)
        if (scores[i] > scores[places_[0]]) places_[0] = i;
      return;
    }
    for (int64_t root = count / 2; root-- > 0;)
      Sink(root, count, places_[root]);
    for (int64_t i = count; i < size; ++i)
      if (scores[i] > scores[places_[0]]) Sink(0, count, i);
    for (int64_t last = count - 1; last > 0; --last) {
      const int64_t place = places_[last];
      places_[last] = places_[0];
      Sink(0, last, place);
    }
  }

  const std::vector<int64_t>& places() const { return places_; }

 private:
  bool Higher(int64_t a, int64_t b) const { return scores_[a] > scores_[b]; }

  // Puts a place into the first `size` nodes of the heap, of which node `top`
  // is free: the gap goes down to a leaf, the place up from there.
  void Sink(int64_t top, int64_t size, int64_t place) {
    int64_t gap = top;
    while (2 * gap + 1 < size) {
      int64_t child = 2 * gap + 2;
      if (child == size || Higher(places_[child], places_[child - 1])) --child;
      places_[gap] = places_[child];
      gap = child;
    }
    while (gap > top && Higher(places_[(gap - 1) / 2], place)) {
      places_[gap] = places_[(gap - 1) / 2];
      gap = (gap - 1) / 2;
    }
    places_[gap] = place;
  }

  const float* const scores_;
  std::vector<int64_t> places_;
};

class Detector {
 public:
  Detector(const Node& node, const Operands& operands, DetectionOptions options)
      : options_(options),
        count_(node.operands[0].type().shape[1]),
        code_size_(node.operands[0].type().shape[2]),
        stride_(node.operands[1].type().shape[2]),
        codes_(operands[0]->values<float>().data()),
        background_(stride_ - options.num_classes),
        scores_(operands[1]->values<float>().data()),
        anchors_(operands[2]->values<float>().data()),
        rows_(options.max_detections * options.max_classes_per_detection),
        boxes_(4 * rows_),
        classes_(rows_),
        values_(rows_) {}

  absl::StatusOr<Literals> Run() {
    if (absl::Status status = Decode(); !status.ok()) return status;
    std::vector<float> found = {
        static_cast<float>(options_.use_regular_nms ? Regular() : Fast())};
    Literals results;
    for (std::vector<float>* values : {&boxes_, &classes_, &values_, &found}) {
      for (float& value : *values) value = Canonical(value);
      results.emplace_back(std::move(*values));
    }
    return results;
  }

 private:
  const float* ScoresOf(int64_t box) const {
    return scores_ + box * stride_ + background_;
  }

  absl::Status Decode() {
    for (int64_t i = 0; i < count_; ++i) {
      const float* const code = codes_ + i * code_size_;
      const float* const anchor = anchors_ + 4 * i;
      const auto centre = [&](int k, float scale) {
        return static_cast<float>(double{code[k]} / double{scale} *
                                      double{anchor[k + 2]} +
                                  double{anchor[k]});
      };
      const auto half = [&](int k, float scale) {
        return static_cast<float>(0.5 *
                                  std::exp(double{code[k]} / double{scale}) *
                                  double{anchor[k]});
      };
      const float y = centre(0, options_.y_scale),
                  x = centre(1, options_.x_scale),
                  h = half(2, options_.h_scale), w = half(3, options_.w_scale);
      const Box box = {y - h, x - w, y + h, x + w};
      if (box.y0 > box.y1 || box.x0 > box.x1) {
        return absl::InvalidArgumentError(
            absl::StrCat("box ", i, " has a negative size, as its anchor has"));
      }
      decoded_.push_back(box);
    }
    return absl::OkStatus();
  }

  // At most `most` boxes, by descending score.
  std::vector<int64_t> Suppress(const std::vector<float>& scores,
                                int64_t most) const {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count_; ++i)
      if (scores[i] >= options_.nms_score_threshold) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return scores[a] > scores[b];
    });
    std::vector<int64_t> chosen;
    for (const int64_t i : order) {
      if (static_cast<int64_t>(chosen.size()) == most) break;
      const bool covered =
          std::any_of(chosen.begin(), chosen.end(), [&](int64_t better) {
            return Overlap(decoded_[better], decoded_[i]) >
                   options_.nms_iou_threshold;
          });
      if (!covered) chosen.push_back(i);
    }
    return chosen;
  }

  void Set(int64_t row, int64_t box, int64_t number) {
    const Box& b = decoded_[box];
    const float corners[] = {b.y0, b.x0, b.y1, b.x1};
    std::copy(corners, corners + 4, &boxes_[4 * row]);
    classes_[row] = static_cast<float>(number);
    values_[row] = ScoresOf(box)[number];
  }

  // One suppression, by each box's highest score.
  int64_t Fast() {
    const int64_t most = options_.max_classes_per_detection;
    const int64_t named = std::min(most, options_.num_classes);
    std::vector<std::vector<int64_t>> best;
    std::vector<float> highest;
    for (int64_t i = 0; i < count_; ++i) {
      const float* const scores = ScoresOf(i);
      best.push_back(
          HighestScores(scores, options_.num_classes, named).places());
      highest.push_back(scores[best.back()[0]]);
    }
    int64_t found = 0;
    for (const int64_t box : Suppress(highest, options_.max_detections)) {
      for (int64_t k = 0; k < named; ++k)
        Set(found * most + k, box, best[box][k]);
      ++found;
    }
    return found;
  }

  // A suppression for each class.
  int64_t Regular() {
    struct Found {
      int64_t box, number;
      float score;
    };
    std::vector<Found> all;
    for (int64_t number = 0; number < options_.num_classes; ++number) {
      std::vector<float> scores;
      for (int64_t i = 0; i < count_; ++i)
        scores.push_back(ScoresOf(i)[number]);
      const auto before = static_cast<int64_t>(all.size());
      for (const int64_t box :
           Suppress(scores, std::min(options_.detections_per_class,
                                     options_.max_detections)))
        all.push_back({box, number, scores[box]});
      std::inplace_merge(
          all.begin(), all.begin() + before, all.end(),
          [](const Found& a, const Found& b) { return a.score > b.score; });
      if (static_cast<int64_t>(all.size()) > options_.max_detections)
        all.resize(options_.max_detections);
    }
    for (size_t row = 0; row < all.size(); ++row)
      Set(static_cast<int64_t>(row), all[row].box, all[row].number);
    return static_cast<int64_t>(all.size());
  }

  const DetectionOptions options_;
  const int64_t count_, code_size_, stride_;
  const float* const codes_;
  const int64_t background_;  // scores before those of the classes
  const float* const scores_;
  const float* const anchors_;
  std::vector<Box> decoded_;
  const int64_t rows_;
  std::vector<float> boxes_, classes_, values_;
};

}  // namespace

std::string DetectionText(const DetectionOptions& options) {
  std::string text;
  DetectionOptions::Fields(options, [&](const char* name, auto value, bool) {
    absl::StrAppend(&text, text.empty() ? "" : " ", name, "=",
                    NumberText(value));
  });
  return text;
}

absl::StatusOr<DetectionOptions> ParseDetectionText(const std::string& text) {
  std::map<std::string, std::string> given;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    given.insert(parts);
  }
  DetectionOptions options;
  std::string wrong;
  DetectionOptions::Fields(options, [&](const char* name, auto& value, bool) {
    const auto found = given.find(name);
    if (wrong.empty() &&
        (found == given.end() || !ReadNumber(found->second, value)))
      wrong = name;
  });
  if (wrong.empty()) return options;
  return absl::InvalidArgumentError(
      absl::StrCat("no option '", wrong, "', or no number"));
}

absl::Status CheckDetectionOptions(const DetectionOptions& options) {
  std::string wrong;
  const auto require = [&](bool condition, const char* name, auto value,
                           const char* range) {
    if (!condition && wrong.empty())
      wrong = absl::StrCat("option '", name, "' is ", NumberText(value),
                           ", not ", range);
  };
  const auto count = [&](const char* name, int64_t value) {
    require(1 <= value && value <= kMostCount, name, value, "1 to 1048576");
  };
  const auto scale = [&](const char* name, float value) {
    require(std::isfinite(value) && value != 0, name, value,
            "a finite number other than 0");
  };
  count("max_detections", options.max_detections);
  count("max_classes_per_detection", options.max_classes_per_detection);
  if (options.use_regular_nms)
    count("detections_per_class", options.detections_per_class);
  count("num_classes", options.num_classes);
  require(std::isfinite(options.nms_score_threshold), "nms_score_threshold",
          options.nms_score_threshold, "a finite number");
  require(0 < options.nms_iou_threshold && options.nms_iou_threshold <= 1,
          "nms_iou_threshold", options.nms_iou_threshold,
          "above 0 and at most 1");
  scale("y_scale", options.y_scale);
  scale("x_scale", options.x_scale);
  scale("h_scale", options.h_scale);
  scale("w_scale", options.w_scale);
  SYSTOLE_IR_CHECK(wrong.empty(), wrong);
  return absl::OkStatus();
}

Types InferDetections(const Node& node) {
  const auto options =
      ParseDetectionText(node.attr<HloCustomCallAttributes>().config);
  if (!options.ok()) return options.status();
  SYSTOLE_IR_RETURN_IF_ERROR(CheckDetectionOptions(*options));
  SYSTOLE_IR_CHECK(node.operands.size() == 3, node.operands.size(),
                   " operands instead of boxes, scores and anchors");
  const Type& boxes = node.operands[0].type();
  const Type& scores = node.operands[1].type();
  const Type& anchors = node.operands[2].type();
  const auto is = [](const Type& type, int rank) {
    return type.element == ElementType::kFloat32 && type.rank() == rank;
  };
  SYSTOLE_IR_CHECK(is(boxes, 3) && boxes.shape[0] == 1 && boxes.shape[2] >= 4,
                   "boxes ", TypeText(boxes), ", not f32[1,n,4]");
  const int64_t count = boxes.shape[1], classes = options->num_classes;
  SYSTOLE_IR_CHECK(
      is(scores, 3) && scores.shape[0] == 1 && scores.shape[1] == count,
      "scores ", TypeText(scores), " for boxes ", TypeText(boxes));
  SYSTOLE_IR_CHECK(scores.shape[2] == classes || scores.shape[2] == classes + 1,
                   "scores ", TypeText(scores), " of ", classes,
                   " classes, with or without the background");
  SYSTOLE_IR_CHECK(
      is(anchors, 2) && anchors.shape[0] == count && anchors.shape[1] == 4,
      "anchors ", TypeText(anchors), " for boxes ", TypeText(boxes));
  const int64_t rows =
      options->max_detections * options->max_classes_per_detection;
  SYSTOLE_IR_CHECK(rows <= kMostCount, "more than ", kMostCount,
                   " detections: ", options->max_detections, " of ",
                   options->max_classes_per_detection, " classes");
  const auto result = [](Ints shape) {
    return Type{ElementType::kFloat32, std::move(shape), {}};
  };
  return std::vector<Type>{result({1, rows, 4}), result({1, rows}),
                           result({1, rows}), result({1})};
}

absl::StatusOr<Literals> EvaluateDetections(const Node& node,
                                            const Operands& operands) {
  const auto options =
      ParseDetectionText(node.attr<HloCustomCallAttributes>().config);
  if (!options.ok()) return options.status();
  return Detector(node, operands, *options).Run();
}

}  // namespace systole::ir
