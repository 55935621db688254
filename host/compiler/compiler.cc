// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "systole/compiler.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/describe.h"
#include "host/compiler/hbm_image.h"
#include "host/compiler/lower.h"
#include "host/compiler/passes/channel_grouping.h"
#include "host/compiler/passes/column_joining.h"
#include "host/compiler/passes/epilogue_joining.h"
#include "host/compiler/passes/memory_planning.h"
#include "host/compiler/passes/tile_sharing.h"
#include "host/compiler/passes/tiling.h"
#include "host/compiler/passes/vector_fusion.h"
#include "host/compiler/plan.h"
#include "host/compiler/plan_program.h"
#include "host/compiler/schedule_builder.h"
#include "systole/loops.h"
#include "systole/target.h"

namespace systole::compiler {
namespace {

// The first block of `producer` after which all of its output that `block` of
// `layer` reads is complete.
size_t LastNeeded(const PlanLayer& layer, const Block& block,
                  const PlanLayer& producer, const Preset& preset) {
  const Region r = InputRegion(layer.g, block, preset.beat_bytes());
  const int64_t x0 = r.b0 / layer.g.c,
                x1 = CeilDiv(r.b0 + r.nb, layer.g.c);  // positions
  size_t last = 0;
  for (size_t j = 0; j < producer.blocks.size(); ++j) {
    const Block& b = producer.blocks[j];
    const int64_t columns = producer.g.columns;
    if (b.i0 < r.i0 + r.ni && r.i0 < b.i0 + b.ni && b.y0 < r.l0 + r.nl &&
        r.l0 < b.y0 + b.ny && b.x0 * columns < x1 &&
        x0 < (b.x0 + b.nx) * columns)
      last = j;
  }
  return last;
}

// Lowers a layer with weights and the vector layer that is fused with it.
absl::Status LowerFused(LoweringContext& context, int index, int next) {
  auto follower = MakeVectorLowering(context, next);
  if (!follower.ok()) return follower.status();
  const PlanLayer &producer = context.plan.layers[index],
                  &layer = context.plan.layers[next];
  size_t done = 0;
  return LowerOnArray(context, index, [&](size_t block) {
    context.builder.set_tag(next);
    while (done < layer.blocks.size() &&
           LastNeeded(layer, layer.blocks[done], producer, context.preset) <=
               block) {
      (*follower)->Append(layer.blocks[done++]);
    }
    context.builder.set_tag(index);
  });
}

absl::Status LowerLayer(LoweringContext& context, int index) {
  const std::vector<PlanLayer>& layers = context.plan.layers;
  const size_t next = index + 1;
  context.builder.set_tag(index);
  if (layers[index].fused || layers[index].joined) return absl::OkStatus();
  if (next < layers.size() && layers[next].fused)
    return LowerFused(context, index, static_cast<int>(next));
  if (model::HasWeights(layers[index].op)) return LowerOnArray(context, index);
  auto lowering = MakeVectorLowering(context, index);
  if (!lowering.ok()) return lowering.status();
  for (const Block& block : layers[index].blocks) (*lowering)->Append(block);
  return absl::OkStatus();
}

// Rejects a batch that cannot fit before it is planned image by image.
absl::Status CheckBatch(const model::Network& network, const Preset& preset,
                        int64_t batch) {
  uint64_t image = 0;
  const auto add = [&](const std::vector<int>& tensors) {
    for (const int t : tensors) {
      const model::Tensor& tensor = network.tensors[t];
      image += uint64_t{1} * tensor.height * tensor.width * tensor.channels;
    }
  };
  add(network.inputs);
  add(network.outputs);
  const uint64_t most = preset.memory_bytes() / std::max<uint64_t>(image, 1);
  if (static_cast<uint64_t>(batch) > most) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "a batch of %d images: at %d bytes of inputs and outputs each, the HBM "
        "of %s has room for %d",
        batch, image, std::string(preset.name), most));
  }
  // Each block of sums fits an accumulator bank and has its own descriptors.
  // Planning this many blocks takes half a minute and 1.5 GB.
  int64_t sums = 0;
  for (const model::Layer& layer : network.layers)
    sums += model::HasWeights(layer.op) ? network.out(layer).size() : 0;
  constexpr int64_t kMostBlocks = 1 << 19;
  const int64_t room = kMostBlocks * preset.acc_bank_rows() * preset.cols;
  if (batch <= room / std::max<int64_t>(sums, 1)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "a batch of %d images: at %d sums each, a program of %s has room for %d",
      batch, sums, std::string(preset.name), room / sums));
}

LayerInfo InfoOf(const model::Network& network, const model::Layer& layer,
                 const PlanLayer& plan, const Preset& preset) {
  const Geometry& g = plan.shape;
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

// The network's plan after all passes.
absl::StatusOr<Plan> PlanNetwork(const model::Network& network,
                                 const Preset& preset, const Options& options,
                                 bool raw) {
  Plan plan = MakePlan(network, preset, options.batch, raw);
  plan.keep_intermediates = options.keep_intermediates;
  plan.allow_resident = options.allow_resident;
  plan.loops = options.loops;
  if (options.ub_bytes > 0) plan.ub_bytes = options.ub_bytes;
  PlanPassManager passes("plan");
  if (options.join_columns && !raw)
    passes.Add(std::make_unique<ColumnJoining>());
  if (options.join_columns && !raw && !options.keep_intermediates)
    passes.Add(std::make_unique<ChannelGrouping>());
  if (options.fuse_vector) {
    passes.Add(std::make_unique<VectorFusion>());
    passes.Add(std::make_unique<EpilogueJoining>());
  }
  passes.Add(std::make_unique<Tiling>());
  passes.Add(std::make_unique<TileSharing>());
  passes.Add(std::make_unique<MemoryPlanning>());
  if (absl::Status s = RunPasses(passes, options, plan); !s.ok()) return s;
  return plan;
}

absl::StatusOr<Program> Compile(const model::Network& network,
                                const Preset& preset, const Options& options,
                                bool raw) {
  if (!Target(preset).quantised_networks()) {
    return absl::UnimplementedError(absl::StrFormat(
        "preset '%s' has the %s cell; quantised networks and int8 products "
        "need one with the int8 cell",
        preset.name, preset.cell_name()));
  }
  if (options.batch < 1)
    return absl::InvalidArgumentError(
        absl::StrFormat("a batch of %d images", options.batch));
  if (absl::Status s = CheckBatch(network, preset, options.batch); !s.ok())
    return s;
  absl::StatusOr<Plan> plan = PlanNetwork(network, preset, options, raw);
  if (!plan.ok()) return plan.status();

  HbmImage hbm(preset);
  Program program;
  ScheduleBuilder builder(preset);
  LoweringContext context{network, preset, *plan, {}, hbm, builder};
  context.tensors = AddTensors(*plan, hbm, program);
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    for (TensorInfo& tensor : program.tensors) {
      if (tensor.name != network.tensors[i].name) continue;
      tensor.scale = network.tensors[i].scale;
      tensor.zero_point = network.tensors[i].zero_point;
    }
    context.tensors[i].scale = network.tensors[i].scale;
    context.tensors[i].zero_point = network.tensors[i].zero_point;
  }
  for (size_t l = 0; l < network.layers.size(); ++l) {
    if (absl::Status lowered = LowerLayer(context, static_cast<int>(l));
        !lowered.ok())
      return lowered;
    program.layers.push_back(
        InfoOf(network, network.layers[l], plan->layers[l], preset));
  }
  if (absl::Status s = FinishPlan(*plan, options, builder, hbm, program);
      !s.ok())
    return s;
  return program;
}

// For a program without loops.
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

absl::StatusOr<Program> IdleProgram(const Preset& preset) {
  HbmImage hbm(preset);
  Program program;
  ScheduleBuilder builder(preset);
  Plan plan;
  plan.preset = &preset;
  if (absl::Status s = FinishPlan(plan, {}, builder, hbm, program); !s.ok())
    return s;
  return program;
}

int64_t EstimateCycles(const Program& program, const Preset& preset) {
  const absl::StatusOr<Program> flat = UnrollLoops(program);
  return Expected(flat.ok() ? *flat : program, preset).total;
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
