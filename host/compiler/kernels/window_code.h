// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What kernels of reduce_window and of select_and_scatter share.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_CODE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_CODE_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/compiler/kernels/buffer_copy.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/compiler/kernels/lane_code.h"
#include "host/compiler/kernels/lane_graph.h"
#include "host/ir/hlo/attributes.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

constexpr int64_t kTapsTogether = 16;  // at most, of a pass

int64_t Product(const ir::Ints& sizes);

// Code for walks over elements of one type and words.
class WindowCode {
 public:
  // Walks of the code: elements inside the windows, an element per window, a
  // word per window.
  enum Walk { kInside, kWindow, kChoice };

  WindowCode(const Preset& preset, ir::ElementType element)
      : preset_(preset), element_(element) {}

  LaneGraph graph;
  // `at`: bytes from the walk's place.
  Lane Element(Walk walk, int64_t at = 0);
  Lane Word(Walk walk);
  void StoreElement(Lane lane, Walk walk, int64_t at = 0);
  void StoreWord(Lane lane, Walk walk);
  // Appends the code to `words`; returns its index there.
  // ResourceExhausted: too many registers.
  absl::StatusOr<int> Append(std::vector<uint64_t>& words);
  // Expected, of the code that was appended.
  int64_t row_cycles() const { return row_cycles_; }

 private:
  const Preset& preset_;
  const ir::ElementType element_;
  std::vector<LaneStore> stores_;
  LanePlaces places_;
  int64_t row_cycles_ = 0;
};

// Images, the first dimension of operands and result, which has no window of
// its own; 1 if there is no such dimension.
int64_t ImagesOf(const ir::Node& node);

// How a kernel cuts its work: images of a block, or bands of an image's rows;
// buffers that take turns.
struct WindowCut {
  int64_t images, sets = 1, bands = 1;
};

// Cuts that are worth a try, beginning with that into blocks of which loads and
// stores run beside the work on others. They begin at whole beats.
std::vector<WindowCut> CutsOf(const ir::Node& node, const Preset& preset);

// Compiles with the first cut that fits the unified buffer, or without one if
// that takes fewer cycles.
template <typename Compile>
absl::StatusOr<KernelProgram> InBlocks(const ir::Node& node,
                                       const Preset& preset,
                                       const Compile& compile) {
  absl::StatusOr<KernelProgram> best = compile(WindowCut{ImagesOf(node)});
  for (const WindowCut& cut : CutsOf(node, preset)) {
    absl::StatusOr<KernelProgram> program = compile(cut);
    if (!program.ok()) continue;
    if (!best.ok() || program->expected_cycles < best->expected_cycles)
      best = std::move(program);
    break;
  }
  return best;
}

// Operands in the unified buffer, elements of one type.
class WindowedKernel {
 protected:
  using Bytes = KernelBuilder::Bytes;

  WindowedKernel(const ir::Node& node, const Preset& preset,
                 const WindowCut& cut)
      : node_(node),
        preset_(preset),
        builder_(preset),
        copier_(preset),
        a_(node.attr<ir::HloWindowAttributes>()),
        element_(node.type.element),
        size_(ir::ElementBytes(element_)),
        taps_(Product(a_.window)),
        images_(ImagesOf(node)),
        block_(cut.images),
        sets_(cut.sets),
        bands_(cut.bands) {}

  // Room for a block of an operand or the result; for all of a scalar.
  Bytes PlaceOf(const ir::Type& type, const char* name = "operand");
  int64_t BytesOf(const ir::Type& type, int64_t images) const {
    return type.shape.empty() ? type.bytes() : type.bytes() / images_ * images;
  }
  void Begin(std::vector<uint64_t> words);
  void LoadBlock(int operand, int64_t first, int64_t images, int64_t at);
  // Calls `work(first image, images, number of the buffers)` for each block.
  template <typename Work>
  absl::Status EachBlock(const Work& work) {
    for (int64_t first = 0; first < images_; first += block_) {
      if (absl::Status s = work(first, std::min(block_, images_ - first),
                                first / block_ % sets_);
          !s.ok())
        return s;
    }
    return absl::OkStatus();
  }
  absl::Status Fill(const Bytes& element, const Bytes& to, int64_t bytes);
  void StoreBlock(const Bytes& result, int64_t first, int64_t images);

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  const ir::HloWindowAttributes& a_;
  const ir::ElementType element_;
  const int64_t size_, taps_, images_, block_, sets_, bands_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_CODE_H_
