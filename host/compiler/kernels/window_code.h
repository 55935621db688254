// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What kernels of reduce_window and of select_and_scatter share.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_CODE_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_CODE_H_

#include <cstdint>
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
  void StoreElement(Lane lane, Walk walk);
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

// Operands in the unified buffer, elements of one type.
class WindowedKernel {
 protected:
  using Bytes = KernelBuilder::Bytes;

  WindowedKernel(const ir::Node& node, const Preset& preset)
      : node_(node),
        preset_(preset),
        builder_(preset),
        copier_(preset),
        a_(node.attr<ir::HloWindowAttributes>()),
        element_(node.type.element),
        size_(ir::ElementBytes(element_)),
        taps_(Product(a_.window)) {}

  // Reserves room for the next operand.
  Bytes PlaceOf(int operand);
  // Sets the code and loads the operands that have a place.
  void Begin(std::vector<uint64_t> words, int operands);
  absl::Status Fill(const Bytes& element, const Bytes& to, int64_t bytes);
  absl::StatusOr<KernelProgram> Finish(int operands, const Bytes& result);

  const ir::Node& node_;
  const Preset& preset_;
  KernelBuilder builder_;
  BufferCopier copier_;
  const ir::HloWindowAttributes& a_;
  const ir::ElementType element_;
  const int64_t size_, taps_;
  std::vector<Bytes> operands_;  // of no bytes: loaded by the kernel itself
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_WINDOW_CODE_H_
