// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "systole/compiler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/describe.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/lower.h"
#include "host/compiler/memory_plan.h"
#include "host/compiler/schedule_builder.h"

namespace systole::compiler {
namespace {

absl::Status LowerLayer(LoweringContext& context, int index) {
  context.builder.set_tag(index);
  const int next = index + 1;
  if (next < static_cast<int>(context.network.layers.size()) &&
      context.memory.layers[next].follows_blocks) {
    AddLowering addition(context, next);
    return LowerConv(context, index, [&](size_t block) {
      context.builder.set_tag(next);
      addition.Append(context.memory.layers[next].blocks[block]);
      context.builder.set_tag(index);
    });
  }
  if (context.memory.layers[index].follows_blocks) return absl::OkStatus();
  switch (context.network.layers[index].op) {
    case model::Op::kConv2D:
    case model::Op::kDepthwise:
    case model::Op::kDense:
      return LowerConv(context, index);
    case model::Op::kMaxPool:
    case model::Op::kAveragePool:
      return LowerPool(context, index);
    case model::Op::kAdd: {
      AddLowering addition(context, index);
      for (const Block& block : context.memory.layers[index].blocks)
        addition.Append(block);
      return absl::OkStatus();
    }
  }
  return absl::InternalError("an operation that lowering does not know");
}

LayerInfo InfoOf(const model::Network& network, const model::Layer& layer,
                 const LayerPlan& plan, const Preset& preset) {
  const Geometry g = GeometryOf(network, layer, plan.g.n);
  LayerInfo info;
  info.name = layer.name;
  info.op = model::OpName(layer.op);
  Geometry one = g;
  one.n = 1;
  info.shape = one.ToString();
  info.output = network.out(layer).name;
  for (const int input : layer.inputs)
    info.inputs.push_back(network.tensors[input].name);
  info.tiling = DescribeTiling(plan, preset, model::HasWeights(layer.op));
  info.parameter_bytes = static_cast<int64_t>(
      layer.weights.size() + 4 * layer.bias.size() + 5 * layer.requant.size());
  if (model::HasWeights(layer.op)) {
    const int64_t positions = g.n * g.oh * g.ow;
    const int64_t contraction = g.taps() * TileChannels(g, preset.cols);
    info.macs = positions * g.taps() * g.oc * (g.multiplier == 0 ? g.c : 1);
    info.ideal_cycles = positions * CeilDiv(contraction, preset.rows) *
                        CeilDiv(g.oc, preset.cols);
  }
  return info;
}

absl::StatusOr<Program> Compile(const model::Network& network,
                                const Preset& preset, const Options& options,
                                bool raw) {
  if (preset.cell != Cell::kInt8) {
    return absl::UnimplementedError(absl::StrFormat(
        "preset '%s' has the %s cell; quantised networks and int8 products "
        "need one with the int8 cell",
        preset.name, preset.cell_name()));
  }
  if (options.batch < 1)
    return absl::InvalidArgumentError(
        absl::StrFormat("a batch of %d images", options.batch));
  HbmImage hbm(preset);
  PlanOptions plan_options;
  plan_options.batch = options.batch;
  plan_options.keep_intermediates = options.keep_intermediates;
  plan_options.allow_resident = options.allow_resident;
  plan_options.fuse_additions = options.fuse_additions;
  plan_options.ub_bytes = options.ub_bytes;
  plan_options.raw_output = raw;
  const std::vector<LayerWork> works =
      MakeWork(network, preset, options.batch, options.join_columns && !raw);
  absl::StatusOr<MemoryPlan> memory =
      PlanMemory(network, works, preset, plan_options, hbm);
  if (!memory.ok()) return memory.status();

  Program program;
  program.preset = std::string(preset.name);
  ScheduleBuilder builder(preset);
  LoweringContext context{network, works, preset, *memory, hbm, builder};
  for (size_t l = 0; l < network.layers.size(); ++l) {
    if (absl::Status lowered = LowerLayer(context, static_cast<int>(l));
        !lowered.ok())
      return lowered;
    program.layers.push_back(
        InfoOf(network, network.layers[l], memory->layers[l], preset));
  }
  for (TensorPlan& tensor : memory->tensors) {
    if (tensor.in_hbm) program.tensors.push_back(std::move(tensor.hbm));
  }
  program.buffers = memory->buffers;
  absl::StatusOr<Schedule> schedule = builder.Finish(options.reorder);
  if (!schedule.ok()) return schedule.status();
  program.descriptors = std::move(schedule->descriptors);
  program.prog_addr =
      hbm.Allocate(program.descriptors.size() * isa::kDescriptorBytes);
  program.hbm_bytes = hbm.size();
  program.segments = hbm.TakeSegments();
  return program;
}

Timeline Expected(const Program& program, const Preset& preset) {
  ScheduleBuilder builder(preset);
  for (const isa::Descriptor& d : program.descriptors) {
    if (QueueOf(d) != isa::Queue::kNone) builder.AppendEncoded(d);
  }
  return builder.Expected();
}

}  // namespace

absl::StatusOr<Program> CompileNetwork(const model::Network& network,
                                       const Preset& preset,
                                       const Options& options) {
  if (absl::Status valid = model::Validate(network); !valid.ok()) return valid;
  return Compile(network, preset, options, /*raw=*/false);
}

int64_t EstimateCycles(const Program& program, const Preset& preset) {
  return Expected(program, preset).total;
}

std::vector<int64_t> EstimateLayerCycles(const Program& program,
                                         const Preset& preset) {
  const Timeline timeline = Expected(program, preset);
  std::vector<int64_t> end(program.layers.size(), 0);
  for (size_t i = 0; i + 1 < program.descriptors.size(); ++i) {
    const isa::Queue queue = QueueOf(program.descriptors[i]);
    const size_t layer = TagOf(program.descriptors[i]);
    if (layer < end.size() &&
        (queue == isa::Queue::kMxu || queue == isa::Queue::kVector))
      end[layer] = std::max(end[layer], timeline.end[i]);
  }
  std::vector<int64_t> cycles;
  int64_t before = 0;
  for (size_t l = 0; l < end.size(); ++l) {
    const int64_t at =
        l + 1 == end.size() ? timeline.total : std::max(before, end[l]);
    cycles.push_back(at - before);
    before = at;
  }
  return cycles;
}

model::Network MatmulNetwork(const MatmulSpec& spec) {
  model::Network network;
  network.name = "matmul";
  model::Tensor a, c;
  a.name = "a";
  a.height = static_cast<int>(spec.m);
  a.channels = static_cast<int>(spec.k);
  a.zero_point = spec.a_zero_point;
  c.name = "c";
  c.height = static_cast<int>(spec.m);
  c.channels = static_cast<int>(spec.n);
  c.zero_point = spec.c_zero_point;
  network.tensors = {a, c};
  network.outputs = {1};
  model::Layer layer;
  layer.name = "matmul";
  layer.op = model::Op::kConv2D;
  layer.inputs = {0};
  layer.output = 1;
  layer.weights = spec.weights;
  layer.bias = spec.bias;
  layer.requant = spec.requant;
  layer.rounding = spec.rounding;
  layer.clamp_min = spec.clamp_min;
  layer.clamp_max = spec.clamp_max;
  if (spec.raw) {
    layer.bias.assign(spec.n, 0);
    layer.requant.assign(spec.n, {});
  }
  network.layers.push_back(std::move(layer));
  return network;
}

absl::StatusOr<Program> CompileMatmul(const MatmulSpec& spec,
                                      const Preset& preset,
                                      const Options& options) {
  if (spec.m < 1 || spec.k < 1 || spec.n < 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a matrix product of %d x %d x %d", spec.m, spec.k, spec.n));
  }
  const model::Network network = MatmulNetwork(spec);
  if (absl::Status valid = model::Validate(network); !valid.ok()) return valid;
  absl::StatusOr<Program> program = Compile(network, preset, options, spec.raw);
  if (!program.ok()) return program.status();
  LayerInfo& info = program->layers[0];
  info.op = "matmul";
  info.shape = absl::StrFormat("%dx%d * %dx%d", spec.m, spec.k, spec.k, spec.n);
  return program;
}

}  // namespace systole::compiler
