// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/training/state.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/training/initial_state.h"

namespace systole::training {
namespace {

std::string Text(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return absl::StrFormat("%.9g (0x%08X)", value, bits);
}

std::string Index(const std::vector<int64_t>& shape, int64_t element) {
  if (shape.size() == 1) return absl::StrCat("[", element, "]");
  return absl::StrCat("[", element / shape[1], "][", element % shape[1], "]");
}

}  // namespace

TrainState EmptyState(const std::vector<Layer>& layers) {
  TrainState state;
  for (const Layer& l : layers) {
    LayerState s;
    s.weights = s.weights_first = s.weights_second =
        std::vector<float>(l.contraction() * l.co);
    s.offset = s.offset_first = s.offset_second = std::vector<float>(l.co);
    if (l.normed) s.running_mean = s.running_var = std::vector<float>(l.co);
    state.layers.push_back(std::move(s));
  }
  return state;
}

TrainState InitialState(const std::vector<Layer>& layers, uint32_t seed) {
  TrainState state = EmptyState(layers);
  uint32_t first = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    LayerState& s = state.layers[i];
    const auto count = static_cast<int64_t>(s.weights.size());
    s.weights = InitialWeights(seed, first, layers[i].contraction(), count);
    first += static_cast<uint32_t>(count);
    s.running_var.assign(s.running_var.size(), 1.0f);
  }
  return state;
}

std::vector<StateTensor> Tensors(const std::vector<Layer>& layers,
                                 TrainState& state) {
  std::vector<StateTensor> list;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Layer& l = layers[i];
    LayerState& s = state.layers[i];
    const std::vector<int64_t> matrix = {l.contraction(), l.co}, row = {l.co};
    const auto add = [&](const char* name, const std::vector<int64_t>& shape,
                         std::vector<float>& values) {
      list.push_back({absl::StrCat(l.name, ".", name), shape, &values});
    };
    add("weights", matrix, s.weights);
    add("weights.first", matrix, s.weights_first);
    add("weights.second", matrix, s.weights_second);
    add("offset", row, s.offset);
    add("offset.first", row, s.offset_first);
    add("offset.second", row, s.offset_second);
    if (l.normed) {
      add("running_mean", row, s.running_mean);
      add("running_var", row, s.running_var);
    }
  }
  list.push_back({"powers", {2}, &state.powers});
  return list;
}

std::string Difference(const std::vector<Layer>& layers, TrainState got,
                       TrainState want) {
  const std::vector<StateTensor> a = Tensors(layers, got),
                                 b = Tensors(layers, want);
  std::string text;
  int64_t wrong = 0, total = 0;
  for (size_t t = 0; t < a.size(); ++t) {
    total += static_cast<int64_t>(a[t].values->size());
    for (size_t e = 0; e < a[t].values->size(); ++e) {
      const float x = (*a[t].values)[e], y = (*b[t].values)[e];
      if (std::memcmp(&x, &y, sizeof(x)) == 0) continue;
      if (wrong++ == 0) {
        text = absl::StrFormat("%s%s is %s instead of %s", a[t].name,
                               Index(a[t].shape, static_cast<int64_t>(e)),
                               Text(x), Text(y));
      }
    }
  }
  if (wrong == 0) return "";
  return absl::StrFormat("%s; %d of %d values differ", text, wrong, total);
}

}  // namespace systole::training
