// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Detections as docs/numerics.md defines them, step by step.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <tuple>

#include "verif/golden/hlo/evaluation.h"

namespace systole::golden::hlo {
namespace {

using Numbers = std::vector<float>;
using Corners = std::array<float, 4>;  // y, x, y, x

float NumberOf(uint64_t bits) {
  const auto word = static_cast<uint32_t>(bits);
  float number;
  std::memcpy(&number, &word, sizeof(number));
  return number;
}

uint64_t BitsOf(float number) {
  if (std::isnan(number)) return 0x7fc00000;
  uint32_t word;
  std::memcpy(&word, &number, sizeof(word));
  return word;
}

std::map<std::string, float> SettingsOf(const std::string& text) {
  std::map<std::string, float> settings;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    settings[word.substr(0, equals)] =
        std::strtof(word.c_str() + equals + 1, nullptr);
  }
  return settings;
}

float Area(const Corners& c) { return (c[2] - c[0]) * (c[3] - c[1]); }

// `first` is the box that was chosen before.
float Shared(const Corners& first, const Corners& second) {
  float sides[2];
  for (const size_t axis : {0, 1}) {
    const float low = first[axis] < second[axis] ? second[axis] : first[axis];
    const float high =
        second[axis + 2] < first[axis + 2] ? second[axis + 2] : first[axis + 2];
    sides[axis] = high - low;
    if (sides[axis] < 0) sides[axis] = 0;
  }
  return sides[0] * sides[1];
}

bool Suppresses(const Corners& first, const Corners& second, float threshold) {
  const float a = Area(first), b = Area(second);
  if (a <= 0 || b <= 0) return false;
  const float shared = Shared(first, second);
  return shared / (a + b - shared) > threshold;
}

// Indices of boxes, best first.
std::vector<size_t> Survivors(const std::vector<Corners>& boxes,
                              const Numbers& scores, float least,
                              float threshold, size_t most) {
  std::vector<std::pair<float, size_t>> candidates;
  for (size_t i = 0; i < boxes.size(); ++i)
    if (scores[i] >= least) candidates.emplace_back(-scores[i], i);
  std::sort(candidates.begin(), candidates.end());
  std::vector<bool> out(candidates.size());
  std::vector<size_t> survivors;
  for (size_t i = 0; i < candidates.size() && survivors.size() < most; ++i) {
    if (out[i]) continue;
    const size_t box = candidates[i].second;
    survivors.push_back(box);
    for (size_t k = i + 1; k < candidates.size(); ++k) {
      if (Suppresses(boxes[box], boxes[candidates[k].second], threshold))
        out[k] = true;
    }
  }
  return survivors;
}

// "Sink" of the specification: nodes are numbered from 1, so that those below
// node i are 2i and 2i + 1.
void Sink(const Numbers& scores, std::vector<size_t>& heap, size_t root,
          size_t nodes, size_t number) {
  const auto score = [&](size_t node) { return scores[heap[node - 1]]; };
  std::vector<size_t> path = {root};
  for (size_t left = 2 * root; left <= nodes; left = 2 * path.back()) {
    const bool alone = left == nodes;
    path.push_back(alone || score(left + 1) > score(left) ? left : left + 1);
  }
  for (size_t i = 0; i + 1 < path.size(); ++i)
    heap[path[i] - 1] = heap[path[i + 1] - 1];
  size_t end = path.size() - 1;
  while (end > 0 && scores[heap[path[end - 1] - 1]] > scores[number]) {
    heap[path[end] - 1] = heap[path[end - 1] - 1];
    --end;
  }
  heap[path[end] - 1] = number;
}

// The first `most` classes by descending score.
std::vector<size_t> BestClasses(const Numbers& scores, size_t most) {
  std::vector<size_t> heap;
  if (most == 1) {
    size_t best = 0;
    for (size_t i = 0; i < scores.size(); ++i)
      if (scores[i] > scores[best]) best = i;
    return {best};
  }
  for (size_t i = 0; i < most; ++i) heap.push_back(i);
  for (size_t root = most / 2; root >= 1; --root)
    Sink(scores, heap, root, most, heap[root - 1]);
  for (size_t i = most; i < scores.size(); ++i)
    if (scores[i] > scores[heap[0]]) Sink(scores, heap, 1, most, i);
  for (size_t nodes = most - 1; nodes >= 1; --nodes) {
    const size_t number = heap[nodes];
    heap[nodes] = heap[0];
    Sink(scores, heap, 1, nodes, number);
  }
  return heap;
}

}  // namespace

absl::StatusOr<Tensors> Detections(const Node& node, const Tensors& operands) {
  std::map<std::string, float> settings =
      SettingsOf(node.attr<ir::HloCustomCallAttributes>().config);
  const auto count = [&](const char* name) {
    return static_cast<size_t>(settings.at(name));
  };
  const size_t anchors = operands[2].shape[0], classes = count("num_classes");
  const int64_t background =
      operands[1].shape[2] - static_cast<int64_t>(classes);

  std::vector<Corners> boxes;
  std::vector<Numbers> scores;  // of each box
  for (size_t i = 0; i < anchors; ++i) {
    const auto at = static_cast<int64_t>(i);
    double code[4], anchor[4];
    for (int64_t k = 0; k < 4; ++k) {
      code[k] = NumberOf(operands[0][{0, at, k}]);
      anchor[k] = NumberOf(operands[2][{at, k}]);
    }
    const char* const scales[] = {"y_scale", "x_scale", "h_scale", "w_scale"};
    for (int k = 0; k < 4; ++k) code[k] /= double{settings.at(scales[k])};
    Corners corners;
    for (size_t axis : {0, 1}) {
      const double product = code[axis] * anchor[axis + 2];
      const auto centre = static_cast<float>(product + anchor[axis]);
      const auto half =
          static_cast<float>(0.5 * std::exp(code[axis + 2]) * anchor[axis + 2]);
      corners[axis] = centre - half;
      corners[axis + 2] = centre + half;
      if (corners[axis] > corners[axis + 2])
        return absl::InvalidArgumentError("a box of negative size");
    }
    boxes.push_back(corners);
    scores.emplace_back();
    for (size_t c = 0; c < classes; ++c)
      scores[i].push_back(
          NumberOf(operands[1][{0, at, static_cast<int64_t>(c) + background}]));
  }

  Tensors results;
  for (int i = 0; i < 4; ++i) {
    const ir::Type& type = node.result_type(i);
    results.emplace_back(type.element, type.shape);
  }
  const auto write = [&](size_t row, size_t box, size_t number) {
    for (size_t k = 0; k < 4; ++k)
      results[0].bits[4 * row + k] = BitsOf(boxes[box][k]);
    results[1].bits[row] = BitsOf(static_cast<float>(number));
    results[2].bits[row] = BitsOf(scores[box][number]);
  };
  const float least = settings.at("nms_score_threshold"),
              threshold = settings.at("nms_iou_threshold");
  const size_t most = count("max_detections");
  size_t found = 0;
  if (settings.at("use_regular_nms") != 0) {
    const size_t each = std::min(most, count("detections_per_class"));
    // Negative score, class, place in the class, box.
    std::vector<std::tuple<float, size_t, size_t, size_t>> all;
    for (size_t c = 0; c < classes; ++c) {
      Numbers of_class;
      for (const Numbers& of_box : scores) of_class.push_back(of_box[c]);
      for (const size_t box :
           Survivors(boxes, of_class, least, threshold, each))
        all.emplace_back(-of_class[box], c, all.size(), box);
    }
    std::sort(all.begin(), all.end());
    for (const auto& [score, number, place, box] : all)
      if (found < most) write(found++, box, number);
  } else {
    const size_t room = count("max_classes_per_detection");
    std::vector<std::vector<size_t>> best;
    Numbers highest;
    for (const Numbers& of_box : scores) {
      best.push_back(BestClasses(of_box, std::min(room, classes)));
      highest.push_back(of_box[best.back()[0]]);
    }
    for (const size_t box : Survivors(boxes, highest, least, threshold, most)) {
      for (size_t k = 0; k < best[box].size(); ++k)
        write(found * room + k, box, best[box][k]);
      ++found;
    }
  }
  results[3].bits[0] = BitsOf(static_cast<float>(found));
  return results;
}

}  // namespace systole::golden::hlo
