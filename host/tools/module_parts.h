// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The cycles of a module's kernels, as it runs on one device.
#ifndef HOST_TOOLS_MODULE_PARTS_H_
#define HOST_TOOLS_MODULE_PARTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "host/compiler/access.h"
#include "host/runtime/core.h"
#include "host/tools/waves.h"
#include "systole/probe.h"

namespace systole::tools {

// The kernels of one name, in the order in which they first ran. A kernel's
// cycles begin where those of the one before end: when that is complete.
struct Part {
  std::string name, unit;
  int64_t runs = 0;
  std::optional<int64_t> cycles = 0;  // nothing: they are not known
};
class Parts : public runtime::CoreListener, public ProbeSink {
 public:
  void Starts(const Program& program) override {
    now_.clear();
    for (const LayerInfo& layer : program.layers) {
      const auto same = [&](const Part& part) {
        return part.name == layer.name && part.unit == layer.op;
      };
      const auto found = std::find_if(parts_.begin(), parts_.end(), same);
      now_.push_back(found - parts_.begin());
      if (found == parts_.end()) parts_.push_back({layer.name, layer.op});
    }
    ends_.assign(now_.size(), 0);
    cycle_ = 0;
    for (std::deque<int>& queue : kernels_) queue.clear();
    for (const isa::Descriptor& d : program.descriptors) {
      if (compiler::OpcodeOf(d) == isa::Opcode::kHalt) continue;
      kernels_[static_cast<int>(compiler::QueueOf(d))].push_back(
          compiler::TagOf(d));
    }
  }
  void Sample(ProbeSample sample, uint64_t) override {
    if (sample.running() == 0) return;
    ++cycle_;
    for (int q = 0; q < kProbedQueues; ++q) {
      if ((sample.dones() >> q & 1) == 0 || kernels_[q].empty()) continue;
      ends_[kernels_[q].front()] = cycle_;
      kernels_[q].pop_front();
    }
  }
  void Ended(const RunStats& stats) override {
    const auto all = static_cast<int64_t>(stats.cycles);
    const bool known = cycle_ > 0 || now_.size() == 1;
    if (!ends_.empty()) ends_.back() = all;
    int64_t before = 0;
    for (size_t i = 0; i < now_.size(); ++i) {
      Part& part = parts_[now_[i]];
      ++part.runs;
      if (!known) {
        part.cycles.reset();
      } else if (part.cycles) {
        *part.cycles += std::max<int64_t>(0, ends_[i] - before);
      }
      before = std::max(before, ends_[i]);
    }
  }
  absl::Status Failed(const Device& device, absl::Status status) override {
    return WithWaveform(device, status);
  }
  const std::vector<Part>& all() const { return parts_; }

 private:
  std::vector<Part> parts_;
  // Of the present program: its parts, when each was complete, and the parts
  // of the descriptors that are not.
  std::vector<size_t> now_;
  std::vector<int64_t> ends_;
  std::array<std::deque<int>, isa::kNumQueues> kernels_;
  int64_t cycle_ = 0;
};

}  // namespace systole::tools

#endif  // HOST_TOOLS_MODULE_PARTS_H_
