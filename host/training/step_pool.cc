// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_format.h"
#include "host/compiler/geometry.h"
#include "host/training/step_builder.h"

namespace systole::training {

using compiler::CeilDiv;

void StepBuilder::MaxPool(int i) {
  BeginOp(i, Phase::kForward);
  const LayerLayout& p = layout_.layers[i];
  PoolPass(i, "max_pool", {&p.a, &layout_.layers[i + 1].in});
}

void StepBuilder::MaxPoolGradient(int i) {
  BeginOp(i, Phase::kNormBackward);
  const LayerLayout& p = layout_.layers[i];
  PoolPass(i, "max_pool_gradient",
           {&p.a, &layout_.layers[i + 1].in, &p.pooled_da, &p.da});
}

// Blocks of images; the last of `tensors` is the result, the others are loaded.
void StepBuilder::PoolPass(int i, const char* kernel,
                           const std::vector<const ImageTensor*>& tensors) {
  constexpr const char* kNames[] = {"full", "pooled", "grad", "to"};
  const Layer& l = layers_[i];
  const bool backward = tensors.size() == 4;
  int64_t pitch = 0;
  for (const ImageTensor* t : tensors) pitch += t->pitch;
  const int64_t images =
      std::min({options_.batch, kMostImages, work_bytes() / (2 * pitch)});
  if (images < 1) {
    return Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%s: an image of the max pool does not fit the unified buffer of "
        "preset '%s'",
        l.name, preset_.name)));
  }
  std::vector<int64_t> slots[2];
  for (std::vector<int64_t>& slot : slots) {
    for (const ImageTensor* t : tensors)
      slot.push_back(Allocate(images * t->pitch));
  }
  const int64_t lines = l.oh / 2, width = l.ow / 2, channel = 2 * l.co;
  int turn = 0;
  for (int64_t n0 = 0; n0 < options_.batch; n0 += images, turn ^= 1) {
    const int64_t n = std::min(images, options_.batch - n0);
    const std::vector<int64_t>& slot = slots[turn];
    for (size_t t = 0; t + 1 < tensors.size(); ++t)
      LoadImages(*tensors[t], n0, n, slot[t]);
    for (int64_t image = 0; image < n; ++image) {
      for (int64_t tile = 0; tile < layout_.layers[i].slab.tiles; ++tile) {
        const int64_t cols = TileCols(l.co, tile);
        Args args = {{"pitch", channel},
                     {"line", l.ow * channel},
                     {"width", width},
                     {"lines", lines},
                     {"cols", cols}};
        std::vector<compiler::Access> accesses;
        for (size_t t = 0; t < tensors.size(); ++t) {
          const bool small = t == 1 || t == 2;
          const int64_t at =
              slot[t] + image * tensors[t]->pitch + 2 * tile * L();
          args.push_back({kNames[t], at});
          accesses.push_back(UbRows(at, 2 * cols,
                                    small ? lines * width : l.positions(),
                                    channel, t + 1 == tensors.size()));
        }
        Run(kernel, args, std::move(accesses),
            60 + lines * CeilDiv(width, 8) * (backward ? 80 : 40));
      }
    }
    StoreImages(*tensors.back(), n0, n, slot.back());
  }
}

}  // namespace systole::training
