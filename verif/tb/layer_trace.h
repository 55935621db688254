// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Records the waveform of a layer: between completions of its program's
// descriptors. It is where the chip is, in whichever process, as the host
// hears of completions when they are long past.

#ifndef SYSTOLE_VERIF_TB_LAYER_TRACE_H_
#define SYSTOLE_VERIF_TB_LAYER_TRACE_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "verif/tb/core_model.h"

namespace systole::tb {

struct LayerPlan {
  int core = 0;  // of the chip: whose completions these are
  // By descriptor of its program. The recording begins at the first completion
  // of one of `begins`; empty: it has begun. It ends when all of `wanted` are
  // complete; empty: there is no layer.
  std::vector<bool> begins, wanted;
};

class LayerTrace {
 public:
  // `chip` must outlive it, and its trace is open while a layer is.
  LayerTrace(ObservedCore* chip, LayerPlan plan)
      : chip_(chip),
        plan_(std::move(plan)),
        left_(std::count(plan_.wanted.begin(), plan_.wanted.end(), true)),
        recording_(plan_.begins.empty()) {}

  // `core` has completed descriptor `index` in this cycle of the chip.
  void OnRetire(int core, uint32_t index) {
    if (core != plan_.core || index >= plan_.wanted.size()) return;
    if (!recording_ && plan_.begins[index]) {
      chip_->RecordTrace(chip_->cycles(), ObservedCore::kForever);
      recording_ = true;
    }
    if (plan_.wanted[index] && --left_ == 0)
      chip_->RecordTrace(0, chip_->cycles() + kAfter);
  }

 private:
  static constexpr uint64_t kAfter = 64;  // cycles behind the layer's end

  ObservedCore* chip_;
  LayerPlan plan_;
  int64_t left_;  // of `wanted`
  bool recording_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_LAYER_TRACE_H_
