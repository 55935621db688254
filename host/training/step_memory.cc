// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Where every value of the module lies, in a plan (host/compiler/plan.h).
#include <algorithm>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/geometry.h"
#include "host/training/step_builder.h"
#include "host/training/step_module.h"
#include "systole/gen/vpu.h"

namespace systole::training {

using compiler::CeilDiv;
using compiler::kNowhere;
using compiler::PlanTensor;
using ir::Op;

uint64_t StepBuilder::PlaceTensor(const std::string& name, int64_t lines,
                                  int64_t elements, int64_t element_bytes) {
  PlanTensor& tensor = plan_.tensors.emplace_back();
  tensor.name = name;
  tensor.h = lines;
  tensor.c = elements;
  tensor.element_bytes = element_bytes;
  tensor.input = tensor.in_hbm = true;
  const int index = static_cast<int>(plan_.tensors.size()) - 1;
  const uint64_t at = hbm_.Allocate(plan_.HbmBytes(index));
  tensor.hbm = static_cast<int64_t>(at);
  return at;
}

namespace {

// What an output of an input's name is written over.
ir::Node* InputNamed(const ir::Module& module, const std::string& name) {
  ir::Node* node = module.Find(name);
  return node != nullptr && node->op == Op::kParameter ? node : nullptr;
}

// Weights are matrices; all other values of bf16 are images or samples.
bool IsMatrix(const ir::Module& module, const ir::Node& node,
              const ir::Type& type) {
  if (type.rank() < 2) return false;
  if (type.element == ir::ElementType::kFloat32) return true;
  return std::any_of(module.nodes().begin(), module.nodes().end(),
                     [&](const auto& user) {
                       return (user->op == Op::kTrainProduct ||
                               user->op == Op::kTrainClassify ||
                               user->op == Op::kTrainInputGradient) &&
                              user->operands[1] == &node;
                     });
}

// What views and sums over cores are of.
ir::Value SourceOf(ir::Value value) {
  while (value->op == Op::kHloReshape || value->op == Op::kTrainSumCores)
    value = value->operands[0];
  return value;
}

}  // namespace

// The layers of a step: its products, and what belongs to each; none where one
// has no gradient or no update.
std::vector<StepBuilder::LayerNodes> StepBuilder::LayersOf(
    const ir::Module& step) {
  std::vector<LayerNodes> layers;
  for (const auto& product : step.nodes()) {
    const bool classify = product->op == Op::kTrainClassify;
    if (product->op != Op::kTrainProduct && !classify) continue;
    LayerNodes n;
    n.product = product.get();
    ir::Value dz = n.product;
    if (!classify) {
      n.norm = UserOf(step, n.product, {Op::kTrainNorm});
      n.back = UserOf(step, n.product, {Op::kTrainNormGradient});
      if (n.norm == nullptr || n.back == nullptr) return {};
      dz = n.back;
      n.out = n.norm;
      n.dout = n.back->operands[4];
      if (n.dout->op == Op::kTrainMaxPoolGradient ||
          n.dout->op == Op::kTrainAveragePoolGradient) {
        n.out =
            UserOf(step, n.norm, {Op::kTrainMaxPool, Op::kTrainAveragePool});
        n.dout = n.dout->operands.back();
      }
      for (const auto& sum : step.nodes()) {
        if (sum->op == Op::kTrainAdd && sum->operands[0] == n.out)
          n.out = sum.get();
      }
    }
    n.gradient = UserOf(step, dz, {Op::kTrainWeightGradient});
    n.input_gradient = UserOf(step, dz, {Op::kTrainInputGradient});
    if (n.gradient == nullptr) return {};
    ir::Node* both = UserOf(step, n.gradient, {Op::kTrainSumCores});
    n.update = UserOf(step, both != nullptr ? both : n.gradient,
                      {Op::kTrainAdam, Op::kTrainSgd});
    if (n.update == nullptr) return {};
    layers.push_back(n);
  }
  return layers;
}

// Parameter blocks of the layers, one a column tile of each offset.
void StepBuilder::PlanBlocks() {
  for (const auto& node : step_.nodes()) {
    int operand = 0;
    if (node->op == Op::kTrainNorm) operand = 1;
    if (node->op == Op::kTrainClassify) operand = 2;
    if (operand == 0) continue;
    const ir::Value& offset = node->operands[operand];
    if (node->op == Op::kTrainClassify) bias_ = offset->name;
    if (!blocks_.try_emplace(offset->name, layout_.param_blocks).second)
      continue;
    layout_.param_blocks += Tiles(offset.type().shape[0]);
  }
}

int64_t StepBuilder::BlockOf(ir::Value offset) const {
  return blocks_.at(offset->name);
}

const StepBuilder::Place& StepBuilder::PlaceOf(ir::Value value) const {
  return places_.at({value->name, value.index});
}

void StepBuilder::PlaceValue(const ir::Node& node, int result) {
  const ir::Type& type = node.result_type(result);
  const std::string name =
      result == 0 ? node.name : absl::StrCat(node.name, ".", result);
  Place place;
  if (IsMatrix(step_, node, type)) {
    const int64_t columns = type.shape.back();
    place.slab = Slab(type.elements() / columns, columns, preset_);
    place.hbm = PlaceTensor(name, 1, place.slab.elements(),
                            ir::ElementBytes(type.element));
  } else {
    // Labels are rows of lanes.
    const int64_t elements =
        node.name == "labels" ? L() : type.elements() / batch_;
    place.image.bytes = 2 * elements;
    place.image.pitch =
        CeilDiv(place.image.bytes, preset_.beat_bytes()) * preset_.beat_bytes();
    place.image.hbm = PlaceTensor(name, batch_, elements, 2);
  }
  places_[{node.name, result}] = place;
}

// The weights of a convolution's input gradient, in the order of each phase.
void StepBuilder::PlaceTransposed(const ir::Node& node) {
  const Layer l = ProductOf(node, node.type, node.operands[0].type());
  if (l.dense) return;
  Transposed& t = transposed_[node.name];
  int64_t bytes = 0;
  for (int64_t phase = 0; phase < l.stride * l.stride; ++phase) {
    const int64_t ky0 = (phase / l.stride + l.pad_top) % l.stride;
    const int64_t kx0 = (phase % l.stride + l.pad_left) % l.stride;
    const int64_t taps =
        CeilDiv(l.kh - ky0, l.stride) * CeilDiv(l.kw - kx0, l.stride);
    t.phases.emplace_back(taps * l.co, l.ci, preset_);
    bytes += 2 * t.phases.back().elements();
  }
  t.hbm =
      hbm_.Add("transposed weights of " + l.name, std::vector<uint8_t>(bytes));
}

void StepBuilder::PlaceOnce(ir::Value value) {
  value = SourceOf(value);
  if (places_.count({value->name, value.index}) == 0)
    PlaceValue(*value, value.index);
}

// What a layer works on lies together: its matrices, then its images.
void StepBuilder::PlaceLayer(const LayerNodes& n) {
  PlaceOnce(n.update->operands[0]);
  PlaceOnce(n.update->operands[1]);
  // SGD has no use for it; it lies beside the others all the same.
  PlaceOnce(step_.Find(n.update->operands[0]->name + ".second"));
  PlaceOnce(n.gradient);
  PlaceOnce(n.product->operands[1]);
  if (n.input_gradient != nullptr) PlaceTransposed(*n.input_gradient);
  PlaceOnce(n.product->operands[0]);
  PlaceOnce(n.product);
  if (n.back == nullptr) return;
  PlaceOnce(n.back->operands[4]);
  PlaceOnce(n.back);
  if (n.out == n.norm) return;  // it lies with the layer that reads it
  PlaceOnce(n.norm);
  PlaceOnce(n.dout);
}

// Views, sums that the optimiser makes, and what is written in place lie where
// something else does.
void StepBuilder::PlaceAliases() {
  const auto alias = [&](const ir::Value& value, const ir::Value& of) {
    const auto found = places_.find({of->name, of.index});
    if (found != places_.end())
      places_[{value->name, value.index}] = found->second;
  };
  for (const ir::Module* module : {&step_, &emitted_}) {
    for (const auto& node : module->nodes()) {
      if (SourceOf(node.get()) != node.get())
        alias(node.get(), SourceOf(node.get()));
    }
    for (const ir::Output& output : module->outputs) {
      if (ir::Node* input = InputNamed(step_, output.name))
        alias(output.node, input);
    }
  }
}

void StepBuilder::PlanHbm() {
  hbm_.Begin(MemoryUse::kArguments);
  PlanBlocks();
  const std::vector<LayerNodes> layers = LayersOf(step_);
  if (layers.empty()) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
        "module '", step_.name, "' is no step: a layer does not learn")));
  }
  for (const LayerNodes& layer : layers) PlaceLayer(layer);
  std::set<std::pair<std::string, int>> over;  // written in place
  for (const ir::Output& output : step_.outputs) {
    if (InputNamed(step_, output.name) != nullptr)
      over.insert({output.node->name, output.node.index});
  }
  for (const auto& node : step_.nodes()) {
    for (int result = 0; result < node->results(); ++result) {
      if (node->result_type(result).rank() > 1 && node->name != "labels" &&
          over.count({node->name, result}) == 0)
        PlaceOnce({node.get(), result});
    }
  }
  const int64_t params = layout_.param_blocks * kParamRows * L();
  layout_.params = PlaceTensor("parameters", 1, params, 4);
  const bool replicas = std::any_of(
      step_.nodes().begin(), step_.nodes().end(),
      [](const auto& node) { return node->op == Op::kTrainSumCores; });
  if (replicas) layout_.shared = PlaceTensor("shared", 1, params, 4);
  layout_.powers = PlaceTensor("powers", 1, kPowerRows * L(), 4);
  PlaceOnce(step_.Find("labels"));
  PlaceAliases();
  for (const LayerNodes& layer : layers) FillLayout(layer);
  const ImageTensor& labels = places_.at({"labels", 0}).image;
  layout_.labels = labels.hbm;
  layout_.label_pitch = labels.pitch;
}

// What the trainer reads and writes.
void StepBuilder::FillLayout(const LayerNodes& n) {
  const int index = static_cast<int>(layout_.layers.size());
  layer_of_[LayerNameOf(*n.product)] = index;
  LayerLayout& p = layout_.layers.emplace_back();
  p.in = ImageOf(n.product->operands[0]);
  p.working = PlaceOf(n.product->operands[1]).hbm;
  p.slab = PlaceOf(n.product->operands[1]).slab;
  p.gradient = PlaceOf(n.gradient).hbm;
  p.master = PlaceOf(n.update->operands[0]).hbm;
  p.first = PlaceOf(n.update->operands[1]).hbm;
  p.second = places_.at({n.update->operands[0]->name + ".second", 0}).hbm;
  const auto at = static_cast<int64_t>(p.gradient);
  gradients_begin_ = index == 0 ? at : std::min(gradients_begin_, at);
  if (n.back == nullptr) {
    p.dz = ImageOf(n.product);
    p.param_block = BlockOf(n.product->operands[2]);
    return;
  }
  p.z = ImageOf(n.product);
  p.dz = ImageOf(n.back);
  p.a = ImageOf(n.norm);
  p.da = ImageOf(n.back->operands[4]);
  p.out = ImageOf(n.out);
  p.dout = ImageOf(n.dout);
  p.param_block = BlockOf(n.norm->operands[1]);
}

void StepBuilder::PlanUb() {
  struct Held {  // for the whole step, one behind the other
    const char* name;
    int64_t bytes;
    int64_t* at;
  };
  int64_t kernels = 0;
  const Held all[] = {
      {"kernels", 8 * vpu::kImemWords, &kernels},
      {"parameters", layout_.param_blocks * kParamRows * row_bytes(),
       &params_ub_},
      {"powers", kPowerRows * row_bytes(), &powers_ub_},
      {"sums", WideBytes(), &wide_ub_}};
  work_base_ = 0;
  for (const Held& held : all) work_base_ += Up(held.bytes);
  work_half_ = (preset_.ub_bytes - work_base_) / 2 / Up(1) * Up(1);
  if (work_half_ <= 0) {
    Fail(absl::ResourceExhaustedError(absl::StrFormat(
        "%d parameter blocks and the sums of batch norm need %d bytes, the "
        "unified buffer of preset '%s' has %d",
        layout_.param_blocks, work_base_, preset_.name, preset_.ub_bytes)));
    return;
  }
  constexpr int kLast = std::numeric_limits<int>::max();
  for (const Held& held : all) {
    const auto placed =
        placer_.Place({held.name, held.bytes, 0, kLast, {}, kNowhere});
    *held.at = placer_.buffers()[placed.value()].at;
  }
}

void StepBuilder::SetTag(const ir::Node& node) {
  const auto layer = layer_of_.find(LayerNameOf(node));
  builder_.set_tag(
      TagOf(layer == layer_of_.end() ? 0 : layer->second, PhaseOf(node)));
}

void StepBuilder::BeginOp(const ir::Node& node) {
  half_ ^= 1;
  work_at_ = work_base_ + half_ * work_half_;
  work_left_ = work_half_;
  op_layer_ = LayerNameOf(node);
  op_name_ = absl::StrCat(op_layer_, " ", PhaseName(PhaseOf(node)));
  ++op_;
  SetTag(node);
}

int64_t StepBuilder::Allocate(int64_t bytes) {
  work_left_ -= Up(bytes);
  const auto placed =
      placer_.PlaceIn(work_at_, work_at_ + work_half_,
                      {op_name_, bytes, op_, op_, {}, kNowhere});
  if (placed) return placer_.buffers()[*placed].at;
  Fail(absl::ResourceExhaustedError(absl::StrFormat(
      "%s: blocks of %d bytes do not fit the unified buffer of preset '%s'",
      op_layer_, bytes, preset_.name)));
  return work_at_;
}

}  // namespace systole::training
