// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/partition/chooser.h"

#include <algorithm>
#include <utility>

namespace systole::partition {

Sharding Division::Of(const std::vector<int>& dims) const {
  Sharding sharding = Sharding::Replicated(dims.size());
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != kWhole) sharding.dims[d] = factors[dims[d]];
  sharding.devices = devices;
  return Normalised(std::move(sharding));
}

Chooser::Chooser(const ir::Node& node, const OpRule& rule)
    : node_(node), rule_(rule) {
  division_.factors.resize(rule.factors);
  fixed_.resize(rule.factors, false);
}

void Chooser::Suggest(int result, const Sharding& sharding) {
  if (!Take(rule_.results[result], sharding)) return;
  for (const int factor : rule_.results[result])
    if (factor != kWhole) fixed_[factor] = true;
}

void Chooser::Use(size_t operand, const Sharding& sharding) {
  const std::vector<int>& dims = rule_.operands[operand];
  for (size_t d = 0; d < dims.size(); ++d)
    whole_ = whole_ || (dims[d] == kWhole && !sharding.dims[d].empty());
  Take(dims, sharding);
}

bool Chooser::Take(const std::vector<int>& dims, const Sharding& sharding) {
  if (!sharding.replicated()) {
    if (chosen_ && sharding.devices != division_.devices) return false;
    for (size_t d = 0; d < dims.size(); ++d) {
      const int factor = dims[d];
      if (factor == kWhole || fixed_[factor]) continue;
      Parts& own = division_.factors[factor];
      if (!own.empty()) continue;
      Parts parts = sharding.dims[d];
      while (!parts.empty() && !Fits(factor, parts)) {
        parts.pop_back();
        uneven_ = true;
      }
      const bool free = std::none_of(
          division_.factors.begin(), division_.factors.end(),
          [&](const Parts& other) { return Overlap(other, parts); });
      if (parts.empty() || !free) continue;
      own = parts;
      division_.devices = sharding.devices;
      chosen_ = true;
    }
  }
  return true;
}

bool Chooser::Fits(int factor, const Parts& parts) const {
  const int64_t tiles = TilesOf(parts);
  const auto fits = [&](const std::vector<int>& dims, const ir::Type& type) {
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] == factor && type.shape[d] % tiles != 0) return false;
    return true;
  };
  for (size_t i = 0; i < node_.operands.size(); ++i)
    if (!fits(rule_.operands[i], node_.operands[i].type())) return false;
  for (int r = 0; r < node_.results(); ++r)
    if (!fits(rule_.results[r], node_.result_type(r))) return false;
  return true;
}

}  // namespace systole::partition
