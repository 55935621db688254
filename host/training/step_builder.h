// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The program of a module of train/ (step_module.h): a plan of its values, and
// an emitter for each of its operations, found by operation and type. Each
// streams blocks of images from HBM through the unified buffer and back.
//
//   auto module = StepModule(layers, options, preset.rows);
//   StepBuilder builder(**module, **module, preset);
//   absl::StatusOr<StepProgram> step = builder.Build();
#ifndef HOST_TRAINING_STEP_BUILDER_H_
#define HOST_TRAINING_STEP_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "host/compiler/buffer_placer.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/pass_plan.h"
#include "host/compiler/plan.h"
#include "host/compiler/schedule_builder.h"
#include "host/ir/module.h"
#include "host/kernels/kernels.h"
#include "host/training/step_program.h"

namespace systole::training {

class StepBuilder {
 public:
  // `step` says what lies in memory, `emitted` what the program does: the step,
  // or a module whose values are called as those of the step are.
  StepBuilder(const ir::Module& step, const ir::Module& emitted,
              const Preset& preset)
      : step_(step),
        emitted_(emitted),
        preset_(preset),
        builder_(preset),
        hbm_(preset),
        placer_(preset.ub_bytes, Up(1)) {
    plan_.name = step.name;
    plan_.preset = &preset;
    plan_.ub_bytes = preset.ub_bytes;
  }
  absl::StatusOr<StepProgram> Build();
  // What lies where in both memories; buffers of the unified one live from one
  // operation to another. Complete when Build has succeeded.
  const compiler::Plan& plan() const { return plan_; }

 private:
  using Args = std::vector<std::pair<std::string, int64_t>>;
  using Emitter = void (StepBuilder::*)(const ir::Node& node);
  // Where a matmul reads: images in the unified buffer.
  struct Source {
    int64_t base, pitch, img_pitch, lines, line_bytes;
    int64_t sy, sx;
    std::vector<compiler::Segment> runs;  // from a position's first tap
  };
  // Where a value lies in HBM: images; matrices as slabs. Rows of channels lie
  // in the parameter block of the offset that they belong to.
  struct Place {
    ImageTensor image;
    uint64_t hbm = 0;
    Slab slab;
  };

  // step_emitters.cc
  static Emitter FindEmitter(ir::Op op, ir::ElementType type);
  void Emit(const ir::Node& node);
  void EmitView(const ir::Node&) {}  // the same bytes
  // Geometry of an operation on windows of `x` that makes `y`; of one on
  // channels of `z`.
  Layer ProductOf(const ir::Node& node, const ir::Type& x,
                  const ir::Type& y) const;
  Layer ChannelsOf(const ir::Node& node, const ir::Type& z) const;
  Layer PoolOf(const ir::Node& node, const ir::Type& a) const;

  // step_memory.cc
  // The nodes of a layer; without norm and its gradient, `back`, the last one.
  // `out` is what other layers read, `dout` its gradient.
  struct LayerNodes {
    ir::Node *product = nullptr, *norm = nullptr, *back = nullptr,
             *gradient = nullptr, *input_gradient = nullptr, *update = nullptr;
    ir::Value out, dout;
  };
  static std::vector<LayerNodes> LayersOf(const ir::Module& step);
  void PlanHbm();
  void PlanBlocks();
  void PlaceLayer(const LayerNodes& n);
  void PlaceAliases();
  void PlaceOnce(ir::Value value);
  void PlaceValue(const ir::Node& node, int result);
  void PlaceTransposed(const ir::Node& input_gradient);
  // Space in HBM of so many lines of `elements`, a line a whole number of
  // beats.
  uint64_t PlaceTensor(const std::string& name, int64_t lines, int64_t elements,
                       int64_t element_bytes);
  void FillLayout(const LayerNodes& n);
  void PlanUb();
  const Place& PlaceOf(ir::Value value) const;
  const ImageTensor& ImageOf(ir::Value value) const {
    return PlaceOf(value).image;
  }
  // Index of the first parameter block of an offset.
  int64_t BlockOf(ir::Value offset) const;

  // step_layout.cc
  void LoadConstants();
  void StoreState();

  // step_forward.cc
  void EmitProduct(const ir::Node& node);
  void EmitClassify(const ir::Node& node);
  void Forward(const ir::Node& node, const Layer& l);
  void KeepSums(const Layer& l, int64_t beside, int64_t z_pitch, int64_t tile,
                int64_t acc, int64_t z, int64_t images, int64_t line,
                int64_t lines);
  // Positions of a line that a vector of the array computes at once, beside
  // each other in the columns.
  int64_t PositionsInVector(const ir::Node& node, const Layer& l) const;
  // The weight tile for these in the unified buffer: a layer's weights once a
  // position, each a position further down.
  isa::Tiles SpreadWeights(const Layer& l, const Place& working,
                           int64_t copies);
  void EmitAdd(const ir::Node& node);
  void AddElements(const int64_t (&slot)[3], int64_t at, int64_t rows,
                   int64_t cols);

  // step_norm.cc
  void EmitNorm(const ir::Node& node);
  void EmitNormInference(const ir::Node& node);
  void EmitNormGradient(const ir::Node& node);
  // What all passes of a norm work on.
  struct Norm {
    Layer l;
    int64_t block;
    const ImageTensor *z, *da, *result;
  };
  void NormTiles(const Norm& norm, const char* kernel, int64_t z = -1);
  // What a pass adds up over the positions: nothing; what begins at +0, or at
  // +0 with the first position's z as its shift.
  enum class Sums { kNone, kFromZero, kShifted };
  // Runs `kernel` over blocks of positions of a layer's output: loads of z (and
  // da), a store of the result when there is one.
  void NormPass(const ir::Node& node, const Norm& norm, const char* kernel,
                Sums sums);
  int64_t WideBytes() const;

  // step_pool.cc
  void EmitPool(const ir::Node& node);
  void EmitPoolGradient(const ir::Node& node);
  // A column tile of an image: where it lies in each tensor of a pass, and
  // where its scratch does.
  struct PoolTile {
    int64_t cols, scratch;
    std::vector<int64_t> at;
  };
  // Streams images through `run`. The last of `tensors` is the result, the
  // others are loaded; `scratch` bytes for all images, one after the other.
  void PoolPass(const Layer& l, const std::vector<const ImageTensor*>& tensors,
                int64_t scratch,
                const std::function<void(const PoolTile&)>& run);
  void PoolWindows(const Layer& l, const char* kernel, const PoolTile& tile,
                   int64_t image, int64_t pooled);
  void PoolGather(const Layer& l, const PoolTile& tile, int64_t grad,
                  int64_t to);
  void AverageShares(const Layer& l, const PoolTile& tile);

  // step_backward.cc
  void EmitBiasGradient(const ir::Node& node);
  void EmitWeightGradient(const ir::Node& node);
  // Inputs of a weight gradient in the unified buffer, `bytes` an image, from
  // the elements of pass `first_pass` of the contraction on.
  struct GradientInput {
    int64_t base, pitch, bytes;
    int64_t first_pass;
  };
  void WeightGradientBlock(const Layer& l, const ImageTensor& dz_image,
                           int64_t tile, int64_t passes, int64_t acc,
                           const GradientInput& in, int64_t dz, int64_t images,
                           bool first);
  void EmitInputGradient(const ir::Node& node);
  void DenseInputGradient(const ir::Node& node, const Layer& l);
  void ConvInputGradient(const ir::Node& node, const Layer& l);
  void TransposeTaps(const ir::Node& node, const Layer& l);
  void PhaseGradient(const ir::Node& node, const Layer& l, int phase,
                     int64_t dz, int64_t da, int64_t images);

  // step_optimiser.cc
  void EmitPowers(const ir::Node& node);
  void EmitUpdate(const ir::Node& node);
  // What an update is told but for its rows.
  struct Update {
    const char* kernel;
    bool adam, shared;
    int64_t c1, c2;
  };
  Update UpdateOf(const ir::Node& node) const;
  void UpdateOffset(const ir::Node& node, const Update& update);
  void UpdateMatrix(const ir::Node& node, const Update& update);
  void EmitSumCores(const ir::Node& node);
  // Two replicas: loads from the other core's memory what lies at `hbm` in this
  // one, behind all gradients of this core; adds `other` to `sum`; has
  // descriptors post to the other core and wait for it.
  void LoadOther(uint64_t hbm, int64_t ub, int64_t bytes);
  void AddRows(int64_t sum, int64_t other, int64_t rows);
  void JoinCores(std::vector<isa::Descriptor>& descriptors) const;

  // step_layout.cc, shared.
  Source ForwardSource(const Layer& l, int64_t img_pitch, int64_t base,
                       int64_t line) const;
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
  void Run(const char* kernel, const Args& args);

  // Work space of an operation: one half of what is left of the unified
  // buffer, so that the next operation's loads need not wait for its end.
  void BeginOp(const ir::Node& node);
  void SetTag(const ir::Node& node);
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
  int64_t Tiles(int64_t columns) const { return (columns + L() - 1) / L(); }
  int64_t ParamBlock(int64_t block, int64_t tile) const {
    return params_ub_ + (block + tile) * kParamRows * row_bytes();
  }
  int64_t InvN(const Layer& l) const;  // bits of 1/N
  int64_t NextBank() {
    bank_ ^= 1;
    return bank_ * preset_.acc_bank_rows();
  }

  const ir::Module &step_, &emitted_;
  const Preset& preset_;
  compiler::ScheduleBuilder builder_;
  compiler::HbmImage hbm_;
  kernels::Image kernels_;
  StepLayout layout_;
  Program program_;
  absl::Status status_;
  int64_t batch_ = 0;
  std::map<std::string, int> layer_of_;  // by name, in the order of products
  std::map<std::pair<std::string, int>, Place> places_;  // node, result
  std::map<std::string, int64_t> blocks_;                // of offsets
  struct Transposed {
    uint64_t hbm = 0;
    std::vector<Slab> phases;
  };
  std::map<std::string, Transposed> transposed_;  // of input gradients
  std::string bias_;             // the offset of the last layer
  int64_t gradients_begin_ = 0;  // in HBM
  bool shared_ = false;
  int64_t params_ub_ = 0, powers_ub_ = 0;
  int64_t wide_ub_ = 0;  // statistics and sums, by lane
  compiler::Plan plan_;
  compiler::BufferPlacer placer_;
  int op_ = 0;  // counts all operations
  std::string op_name_, op_layer_;
  int64_t work_base_ = 0, work_half_ = 0, work_at_ = 0, work_left_ = 0;
  int half_ = 0;
  int64_t bank_ = 0;
};

// Images of a matmul: what its field holds, in whole steps of rows.
inline constexpr int64_t kMostImages = 1016;
// Lines of an image, in half an argument of the pools' kernels.
inline constexpr int64_t kMostPoolLines = 65535;

// Bits of a float.
int64_t FloatBits(double value);

}  // namespace systole::training

#endif  // HOST_TRAINING_STEP_BUILDER_H_
