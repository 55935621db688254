// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of the program of a training step: each operation streams blocks of
// images from HBM through the unified buffer and back.
#ifndef HOST_TRAINING_STEP_BUILDER_H_
#define HOST_TRAINING_STEP_BUILDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/buffer_placer.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/pass_plan.h"
#include "host/compiler/plan.h"
#include "host/compiler/schedule_builder.h"
#include "host/kernels/kernels.h"
#include "host/training/step_program.h"

namespace systole::training {

class StepBuilder {
 public:
  StepBuilder(const std::vector<Layer>& layers, const StepOptions& options,
              const Preset& preset)
      : layers_(layers),
        options_(options),
        preset_(preset),
        builder_(preset),
        hbm_(preset),
        placer_(preset.ub_bytes, Up(1)) {
    plan_.name = "step";
    plan_.preset = &preset;
    plan_.ub_bytes = preset.ub_bytes;
  }
  absl::StatusOr<StepProgram> Build();
  // What lies where in both memories; buffers of the unified one live from one
  // operation to another. Complete when Build has succeeded.
  const compiler::Plan& plan() const { return plan_; }

 private:
  using Args = std::vector<std::pair<std::string, int64_t>>;
  // Where a matmul reads: images in the unified buffer.
  struct Source {
    int64_t base, pitch, img_pitch, lines, line_bytes;
    int64_t sy, sx;
    std::vector<compiler::Segment> runs;  // from a position's first tap
  };

  // step_layout.cc
  absl::Status Check() const;
  void PlanHbm();
  // Space in HBM of so many lines of `elements`, a line a whole number of
  // beats.
  uint64_t PlaceTensor(const std::string& name, int64_t lines, int64_t elements,
                       int64_t element_bytes);
  void PlanUb();
  void LoadConstants();

  // step_forward.cc
  void Forward(int i);
  void KeepSums(int i, int64_t tile, int64_t acc, int64_t z, int64_t images,
                int64_t line, int64_t lines);
  // Positions of a line that a vector of the array computes at once, beside
  // each other in the columns.
  int64_t PositionsInVector(int i) const;
  // The weight tile for these in the unified buffer: a layer's weights once a
  // position, each a position further down.
  isa::Tiles SpreadWeights(int i);

  // step_norm.cc
  void NormForward(int i);
  void NormBackward(int i);
  void NormTiles(int i, const char* kernel, int64_t z = -1);
  // What a pass adds up over the positions: nothing; what begins at +0, or at
  // +0 with the first position's z as its shift.
  enum class Sums { kNone, kFromZero, kShifted };
  // Runs `kernel` over blocks of positions of a layer's output: loads of z (and
  // da), a store of the result when `result` is not nullptr.
  void NormPass(int i, const char* kernel, Phase phase, Sums sums,
                const ImageTensor* result, int64_t cycles_a_row);
  int64_t WideColumns(int i) const;
  int64_t WideBytes() const;
  compiler::Access WideAccess() const;

  // step_pool.cc
  void PoolForward(int i);
  void PoolGradient(int i);
  // A column tile of an image: where it lies in each tensor of a pass, and
  // where its scratch does.
  struct PoolTile {
    int64_t cols, scratch;
    std::vector<int64_t> at;
  };
  // Streams images through `run`. The last of `tensors` is the result, the
  // others are loaded; `scratch` bytes for all images, one after the other.
  void PoolPass(int i, const std::vector<const ImageTensor*>& tensors,
                int64_t scratch,
                const std::function<void(const PoolTile&)>& run);
  void PoolWindows(int i, const char* kernel, const PoolTile& tile,
                   int64_t image, int64_t pooled);
  void PoolGather(int i, const PoolTile& tile, int64_t grad, int64_t to);
  void AverageShares(int i, const PoolTile& tile);
  // Where the layer above puts its input gradient.
  const ImageTensor& OutputGradient(int i) const {
    return layers_[i].pooled() ? layout_.layers[i].pooled_da
                               : layout_.layers[i].da;
  }

  // step_backward.cc
  void BiasGradient(int i);
  void WeightGradient(int i);
  // Inputs of a weight gradient in the unified buffer, `bytes` an image, from
  // the elements of pass `first_pass` of the contraction on.
  struct GradientInput {
    int64_t base, pitch, bytes;
    int64_t first_pass;
  };
  void WeightGradientBlock(int i, int64_t tile, int64_t passes, int64_t acc,
                           const GradientInput& in, int64_t dz, int64_t images,
                           bool first);
  void DenseInputGradient(int i);
  void ConvInputGradient(int i);
  void TransposeTaps(int i);
  void PhaseGradient(int i, int phase, int64_t dz, int64_t da, int64_t images);

  // step_optimiser.cc
  void Learn();  // backward and optimiser
  void OptimiseBegin();
  void Optimise(int i);
  // Two replicas: puts the offsets' gradients where the other core reads them;
  // loads from its memory what lies at `hbm` in this one, behind all gradients
  // of this core; adds `other` to `sum`; has descriptors post to the other core
  // and wait for it.
  void ShareOffsets();
  void LoadOther(uint64_t hbm, int64_t ub, int64_t bytes);
  void AddRows(int64_t sum, int64_t other, int64_t rows);
  void JoinCores(std::vector<isa::Descriptor>& descriptors) const;

  // Shared.
  Source ForwardSource(int i, int64_t base, int64_t line) const;
  void Matmul(const Source& source, int64_t pass, int64_t acc, int64_t n,
              int64_t ny, int64_t nx, int flags);
  void Weights(uint64_t hbm, int64_t tiles, int flags = 0);
  void LoadRows(uint64_t hbm, int64_t hbm_pitch, int64_t ub, int64_t ub_pitch,
                int64_t bytes, int64_t rows);
  void LoadImages(const ImageTensor& t, int64_t first, int64_t images,
                  int64_t ub);
  void StoreImages(const ImageTensor& t, int64_t first, int64_t images,
                   int64_t ub);
  void LoadBytes(uint64_t hbm, int64_t ub, int64_t bytes);
  void StoreBytes(uint64_t hbm, int64_t ub, int64_t bytes);
  void Run(const char* kernel, const Args& args,
           std::vector<compiler::Access> accesses, int64_t cycles);
  static compiler::Access UbRows(int64_t base, int64_t len, int64_t rows,
                                 int64_t pitch, bool write);
  static compiler::Access AccRows(int64_t row, int64_t rows);
  compiler::Access ParamAccess(int64_t block) const;

  // Work space of an operation: one half of what is left of the unified
  // buffer, so that the next operation's loads need not wait for its end.
  void BeginOp(int i, Phase phase);
  int64_t Allocate(int64_t bytes);
  int64_t work_bytes() const { return work_half_; }
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  int64_t L() const { return preset_.cols; }
  int64_t R() const { return preset_.rows; }
  int64_t row_bytes() const { return 4 * preset_.cols; }
  int64_t Up(int64_t bytes) const;  // to the alignment of both memories
  int64_t TileCols(int64_t cols, int64_t tile) const {
    return cols - tile * L() < L() ? cols - tile * L() : L();
  }
  int64_t ParamBlock(int i, int64_t tile) const {
    return params_ub_ +
           (layout_.layers[i].param_block + tile) * kParamRows * row_bytes();
  }
  int64_t InvN(int i) const;  // bits of 1/N
  int64_t NextBank() {
    bank_ ^= 1;
    return bank_ * preset_.acc_bank_rows();
  }

  const std::vector<Layer>& layers_;
  const StepOptions& options_;
  const Preset& preset_;
  compiler::ScheduleBuilder builder_;
  compiler::HbmImage hbm_;
  kernels::Image kernels_;
  StepLayout layout_;
  Program program_;
  absl::Status status_;
  int64_t params_ub_ = 0, powers_ub_ = 0;
  int64_t wide_ub_ = 0;  // statistics and sums, by lane
  compiler::Plan plan_;
  compiler::BufferPlacer placer_;
  int op_ = 0;  // counts all operations
  std::string op_name_;
  int64_t work_base_ = 0, work_half_ = 0, work_at_ = 0, work_left_ = 0;
  int half_ = 0;
  int64_t bank_ = 0;
  int op_layer_ = 0;
};

// Images of a matmul: what its field holds, in whole steps of rows.
inline constexpr int64_t kMostImages = 1016;
// Lines of an image, in half an argument of the pools' kernels.
inline constexpr int64_t kMostPoolLines = 65535;

// Bits of a float.
int64_t FloatBits(double value);

}  // namespace systole::training

#endif  // HOST_TRAINING_STEP_BUILDER_H_
