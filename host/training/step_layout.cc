// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What is refused, and what all operations use.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/finish_program.h"
#include "host/compiler/geometry.h"
#include "host/ir/text.h"
#include "host/program/vpu_asm.h"
#include "host/training/step_builder.h"
#include "host/training/step_module.h"
#include "systole/target.h"

namespace systole::training {

using compiler::CeilDiv;

int64_t FloatBits(double value) {
  return absl::bit_cast<uint32_t>(static_cast<float>(value));
}

int64_t StepBuilder::Up(int64_t bytes) const {
  const int64_t align = std::max(preset_.beat_bytes(), preset_.word_bytes());
  return CeilDiv(bytes, align) * align;
}

int64_t StepBuilder::InvN(const Layer& l) const {
  return FloatBits(1.0 / static_cast<double>(batch_ * l.positions()));
}

namespace {

constexpr int64_t kMostBatch = 1 << 20;

absl::Status CheckPool(const Layer& l) {
  if (!l.pooled()) return absl::OkStatus();
  const PoolWindow& w = l.pool.window;
  const std::string pool =
      absl::StrFormat("%s: a pool of %d x %d with stride %d x %d", l.name, w.h,
                      w.w, w.stride_y, w.stride_x);
  if (l.dense || !l.normed) {
    return absl::InvalidArgumentError(
        absl::StrCat(pool, " stands behind a convolution only"));
  }
  if (std::min({w.h, w.w, w.stride_y, w.stride_x}) < 1)
    return absl::InvalidArgumentError(absl::StrCat(pool, ": at least 1"));
  if (l.pool.positions() < 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s does not fit an image of %d x %d without padding",
                        pool, l.oh, l.ow));
  }
  if (l.oh > kMostPoolLines) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: images of %d lines, its kernels take %d", pool,
                        l.oh, kMostPoolLines));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStep(const std::vector<Layer>& layers,
                       const StepOptions& options, const Preset& preset) {
  if (!Target(preset).float_modules()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "preset '%s' has the %s cell; training needs the bf16 cell",
        preset.name, preset.cell_name()));
  }
  if (options.batch < 1 || options.batch > kMostBatch) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a batch of %d images: 1 to %d are possible",
                        options.batch, kMostBatch));
  }
  if (options.replicas != 1 && options.replicas != preset.chip.cores) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d replicas: a chip of preset '%s' has %d cores",
                        options.replicas, preset.name, preset.chip.cores));
  }
  if (layers.empty() || layers.back().normed || !layers.back().dense ||
      layers.back().co > preset.cols) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the last layer must be dense, without batch norm, and have at most %d "
        "classes at preset '%s'",
        preset.cols, preset.name));
  }
  for (const Layer& l : layers) {
    if (absl::Status s = CheckPool(l); !s.ok()) return s;
    if (!l.normed && &l != &layers.back()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: all layers but the last have a batch norm", l.name));
    }
    const int from = InputOf(layers, static_cast<int>(&l - &layers[0]));
    const Layer& below = from < 0 ? layers[0] : layers[from];
    const int64_t outputs =
        from < 0 ? below.h * below.w * below.ci : below.outputs();
    if (outputs != l.h * l.w * l.ci) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s has %d outputs, %s takes %d", from < 0 ? "an image" : below.name,
          outputs, l.name, l.h * l.w * l.ci));
    }
    if (l.stride > std::min(l.kh, l.kw)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: a stride of %d with a kernel of %d x %d skips inputs", l.name,
          l.stride, l.kh, l.kw));
    }
    if (!l.dense && l.ow > preset.rows) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: lines of %d positions, the array of '%s' has %d rows", l.name,
          l.ow, preset.name, preset.rows));
    }
  }
  return absl::OkStatus();
}

namespace {

// A parameter that is written in place is read no more behind its writer.
absl::Status CheckInPlace(const ir::Module& module) {
  for (const ir::Output& output : module.outputs) {
    const ir::Node* parameter = module.Find(output.name);
    if (parameter == nullptr || parameter->op != ir::Op::kParameter) continue;
    bool written = false;
    for (const auto& node : module.nodes()) {
      const auto& operands = node->operands;
      if (written && std::count(operands.begin(), operands.end(), parameter)) {
        return absl::InvalidArgumentError(
            absl::StrFormat("node '%s' reads '%s', which '%s' has written over",
                            node->name, output.name, output.node->name));
      }
      written = written || node.get() == output.node.node;
    }
  }
  return absl::OkStatus();
}

}  // namespace

void StepBuilder::LoadConstants() {
  // The kernel of sums is the last one.
  const bool sums = std::any_of(
      emitted_.nodes().begin(), emitted_.nodes().end(),
      [](const auto& node) { return node->op == ir::Op::kTrainAdd; });
  std::vector<uint64_t> words = kernels_.words();
  if (!sums) words.resize(kernels_.PartOf("sum_images").pc);
  const DataSegment code =
      vpu::Segment("kernels", hbm_.Allocate(Up(8 * vpu::kImemWords)), words);
  program_.segments.push_back(code);
  const vpu::CodeLoad in =
      vpu::LoadCode(code.hbm_addr, 0, static_cast<int64_t>(words.size()), 0);
  builder_.Append(in.load);
  builder_.Append(in.vload);
  LoadBytes(layout_.params, params_ub_,
            layout_.param_blocks * kParamRows * row_bytes());
  LoadBytes(layout_.powers, powers_ub_, kPowerRows * row_bytes());
}

void StepBuilder::LoadRows(uint64_t hbm, int64_t hbm_pitch, int64_t ub,
                           int64_t ub_pitch, int64_t bytes, int64_t rows) {
  isa::Load load;
  load.hbm_addr = hbm;
  load.ub_addr = ub;
  load.len = bytes;
  load.n1 = rows;
  load.n2 = 1;
  load.hbm_stride1 = hbm_pitch;
  load.ub_stride1 = ub_pitch;
  builder_.Append(load);
}

void StepBuilder::LoadImages(const ImageTensor& t, int64_t first,
                             int64_t images, int64_t ub) {
  LoadRows(t.hbm + first * t.pitch, t.pitch, ub, t.pitch, t.bytes, images);
}

void StepBuilder::StoreImages(const ImageTensor& t, int64_t first,
                              int64_t images, int64_t ub) {
  isa::Store store;
  store.hbm_addr = t.hbm + first * t.pitch;
  store.ub_addr = ub;
  store.len = t.bytes;
  store.n1 = images;
  store.n2 = 1;
  store.hbm_stride1 = store.ub_stride1 = t.pitch;
  builder_.Append(store);
}

void StepBuilder::LoadBytes(uint64_t hbm, int64_t ub, int64_t bytes) {
  LoadImages({hbm, bytes, 0}, 0, 1, ub);
}

void StepBuilder::StoreBytes(uint64_t hbm, int64_t ub, int64_t bytes) {
  StoreImages({hbm, bytes, 0}, 0, 1, ub);
}

void StepBuilder::Weights(uint64_t hbm, int64_t tiles, int flags) {
  isa::Weights w;
  w.header.flags = static_cast<uint8_t>(flags);
  w.hbm_addr = hbm;
  w.tiles = tiles;
  builder_.Append(w);
}

StepBuilder::Source StepBuilder::ForwardSource(const Layer& l,
                                               int64_t img_pitch, int64_t base,
                                               int64_t line) const {
  Source s;
  s.base = base;
  s.pitch = s.line_bytes = 2 * l.w * l.ci;
  s.img_pitch = img_pitch;
  s.lines = l.h;
  s.sy = l.stride;
  s.sx = 2 * l.stride * l.ci;
  for (int64_t ky = 0; ky < l.kh; ++ky) {
    s.runs.push_back({line * l.stride - l.pad_top + ky, -2 * l.pad_left * l.ci,
                      l.kw * l.ci});
  }
  return s;
}

// The pass-th R elements of the contraction.
void StepBuilder::Matmul(const Source& source, int64_t pass, int64_t acc,
                         int64_t n, int64_t ny, int64_t nx, int flags) {
  isa::Matmul m;
  m.header.flags = static_cast<uint8_t>(flags);
  m.ub_base = source.base;
  m.pitch = source.pitch;
  m.img_pitch = source.img_pitch;
  m.lines = source.lines;
  m.line_bytes = source.line_bytes;
  m.n = n;
  m.ny = ny;
  m.nx = nx;
  m.sy = source.sy;
  m.sx = source.sx;
  m.t0 = m.t1 = 1;
  m.acc = acc;
  const auto passes = compiler::CutContraction(
      source.runs, R(), static_cast<int64_t>(m.seg_len.size()),
      /*element_bytes=*/2);
  // The tiles of a slab have whole passes but for the last.
  const bool whole =
      std::all_of(passes.begin(), passes.end() - 1,
                  [&](const auto& p) { return compiler::RowsOf(p) == R(); });
  if (!whole) {
    Fail(absl::ResourceExhaustedError(
        absl::StrFormat("%s: a pass over more than %d kernel rows", op_layer_,
                        m.seg_len.size())));
    return;
  }
  const std::vector<compiler::Segment>& segments = passes[pass];
  for (size_t s = 0; s < segments.size(); ++s) {
    m.seg_dy[s] = segments[s].line;
    m.seg_dx[s] = segments[s].byte;
    m.seg_len[s] = segments[s].len;
  }
  builder_.Append(m);
}

void StepBuilder::Run(const char* kernel, const Args& args) {
  builder_.Append(kernels_.Run(kernel, args));
}

// Parameters and powers go back to memory; of a forward pass, loss and answers.
void StepBuilder::StoreState() {
  const bool learns = std::any_of(
      emitted_.nodes().begin(), emitted_.nodes().end(),
      [](const auto& node) { return PhaseOf(*node) == Phase::kOptimiser; });
  if (!learns) {
    const int64_t block = layout_.layers.back().param_block;
    return StoreBytes(layout_.params + block * kParamRows * row_bytes(),
                      ParamBlock(block, 0), kParamRows * row_bytes());
  }
  StoreBytes(layout_.params, params_ub_,
             layout_.param_blocks * kParamRows * row_bytes());
  StoreBytes(layout_.powers, powers_ub_, kPowerRows * row_bytes());
}

absl::StatusOr<StepProgram> StepBuilder::Build() {
  if (absl::Status s = CheckInPlace(emitted_); !s.ok()) return s;
  batch_ = step_.Find("images")->type.shape[0];
  absl::StatusOr<kernels::Image> image = kernels::Assemble(preset_);
  if (!image.ok()) return image.status();
  kernels_ = *std::move(image);
  PlanHbm();
  if (!status_.ok()) return status_;
  PlanUb();
  if (!status_.ok()) return status_;
  hbm_.Begin(MemoryUse::kConstants);
  LoadConstants();
  for (const auto& node : emitted_.nodes()) {
    Emit(*node);
    if (!status_.ok()) return status_;
  }
  StoreState();

  plan_.buffers = placer_.buffers();
  if (absl::Status s = compiler::Verify(plan_); !s.ok()) return s;

  absl::StatusOr<compiler::Schedule> schedule = builder_.Finish();
  if (!schedule.ok()) return schedule.status();
  StepProgram step;
  step.estimated_cycles = schedule->estimated_cycles;
  // Gradients come from the other core's memory, where they lie in this one.
  const bool joined = shared_;
  if (absl::Status s = compiler::FinishProgram(
          preset_, std::move(schedule->descriptors), hbm_, program_,
          /*movable=*/!joined);
      !s.ok())
    return s;
  if (joined) {
    JoinCores(program_.descriptors);
    program_.hbm_bytes += preset_.memory_bytes();
  }
  step.program = std::move(program_);
  step.layout = std::move(layout_);
  return step;
}

namespace {

// The step's module and what of it is emitted.
struct Modules {
  std::unique_ptr<ir::Module> step, emitted;
};

absl::StatusOr<Modules> MakeModules(const std::vector<Layer>& layers,
                                    const StepOptions& options,
                                    const Preset& preset) {
  if (absl::Status s = CheckStep(layers, options, preset); !s.ok()) return s;
  StepOptions whole = options;
  whole.forward_only = false;
  auto step = StepModule(layers, whole, preset.rows);
  if (!step.ok()) return step.status();
  auto emitted = StepModule(layers, options, preset.rows);
  if (!emitted.ok()) return emitted.status();
  return Modules{*std::move(step), *std::move(emitted)};
}

}  // namespace

absl::StatusOr<StepProgram> BuildStep(const std::vector<Layer>& layers,
                                      const StepOptions& options,
                                      const Preset& preset) {
  const auto modules = MakeModules(layers, options, preset);
  if (!modules.ok()) return modules.status();
  auto step = StepBuilder(*modules->step, *modules->emitted, preset).Build();
  if (step.ok()) step->program.layers = StepLayers(layers, options.batch);
  return step;
}

absl::StatusOr<std::string> StepText(const std::vector<Layer>& layers,
                                     const StepOptions& options,
                                     const Preset& preset) {
  const auto modules = MakeModules(layers, options, preset);
  if (!modules.ok()) return modules.status();
  StepBuilder builder(*modules->step, *modules->emitted, preset);
  if (const auto step = builder.Build(); !step.ok()) return step.status();
  return absl::StrCat("// module\n", ir::Print(*modules->emitted),
                      "\n// plan\n", compiler::Print(builder.plan()));
}

}  // namespace systole::training
