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
const ir::Node* InputNamed(const ir::Module& module, const std::string& name) {
  const ir::Node* node = module.Find(name);
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

}  // namespace

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

// What belongs to a layer lies together, in the order of the module.
void StepBuilder::PlanHbm() {
  hbm_.Begin(MemoryUse::kArguments);
  PlanBlocks();
  std::set<std::pair<std::string, int>> over;  // written in place
  for (const ir::Output& output : step_.outputs) {
    if (InputNamed(step_, output.name) != nullptr)
      over.insert({output.node->name, output.node.index});
  }
  std::vector<std::string> groups;
  for (const auto& node : step_.nodes()) {
    const std::string name = LayerNameOf(*node);
    if (std::find(groups.begin(), groups.end(), name) == groups.end())
      groups.push_back(name);
  }
  for (const std::string& group : groups) {
    for (const auto& node : step_.nodes()) {
      if (LayerNameOf(*node) != group || node->op == Op::kHloReshape ||
          node->op == Op::kTrainSumCores)
        continue;
      for (int result = 0; result < node->results(); ++result) {
        if (node->result_type(result).rank() > 1 &&
            over.count({node->name, result}) == 0)
          PlaceValue(*node, result);
      }
      if (node->op == Op::kTrainInputGradient) PlaceTransposed(*node);
    }
  }
  for (const ir::Module* module : {&step_, &emitted_}) {
    for (const auto& node : module->nodes()) {
      if (node->op == Op::kHloReshape || node->op == Op::kTrainSumCores) {
        const ir::Value& from = node->operands[0];
        const auto found = places_.find({from->name, from.index});
        if (found != places_.end()) places_[{node->name, 0}] = found->second;
      }
    }
    for (const ir::Output& output : module->outputs) {
      const auto found = places_.find({output.name, 0});
      if (found != places_.end())
        places_[{output.node->name, output.node.index}] = found->second;
    }
  }
  const int64_t params = layout_.param_blocks * kParamRows * L();
  layout_.params = PlaceTensor("parameters", 1, params, 4);
  const bool replicas = std::any_of(
      step_.nodes().begin(), step_.nodes().end(),
      [](const auto& node) { return node->op == Op::kTrainSumCores; });
  if (replicas) layout_.shared = PlaceTensor("shared", 1, params, 4);
  layout_.powers = PlaceTensor("powers", 1, kPowerRows * L(), 4);
  FillLayout();
}

// What the trainer reads and writes.
void StepBuilder::FillLayout() {
  gradients_begin_ = std::numeric_limits<int64_t>::max();
  const auto user = [&](ir::Value value, std::initializer_list<Op> ops) {
    return UserOf(step_, value, ops);
  };
  for (const auto& product : step_.nodes()) {
    const bool classify = product->op == Op::kTrainClassify;
    if (product->op != Op::kTrainProduct && !classify) continue;
    layer_of_[LayerNameOf(*product)] = static_cast<int>(layout_.layers.size());
    LayerLayout& p = layout_.layers.emplace_back();
    p.in = ImageOf(product->operands[0]);
    p.working = PlaceOf(product->operands[1]).hbm;
    p.slab = PlaceOf(product->operands[1]).slab;
    ir::Value dz = product.get(), offset;
    if (classify) {
      offset = product->operands[2];
    } else {
      p.z = ImageOf(product.get());
      ir::Node* norm = user(product.get(), {Op::kTrainNorm});
      ir::Node* back = user(product.get(), {Op::kTrainNormGradient});
      offset = norm->operands[1];
      dz = back;
      p.a = ImageOf(norm);
      ir::Value out = norm, dout = back->operands[4];
      p.da = ImageOf(dout);
      if (dout->op == Op::kTrainMaxPoolGradient ||
          dout->op == Op::kTrainAveragePoolGradient) {
        out = user(norm, {Op::kTrainMaxPool, Op::kTrainAveragePool});
        dout = dout->operands.back();
      }
      for (const auto& sum : step_.nodes()) {
        if (sum->op == Op::kTrainAdd && sum->operands[0] == out)
          p.out = ImageOf(sum.get());
      }
      if (p.out.bytes == 0) p.out = ImageOf(out);
      p.dout = ImageOf(dout);
    }
    p.dz = ImageOf(dz);
    p.param_block = BlockOf(offset);
    ir::Node* gradient = user(dz, {Op::kTrainWeightGradient});
    p.gradient = PlaceOf(gradient).hbm;
    gradients_begin_ =
        std::min(gradients_begin_, static_cast<int64_t>(p.gradient));
    ir::Node* sum = user(gradient, {Op::kTrainSumCores});
    const ir::Node* update =
        user(sum != nullptr ? sum : gradient, {Op::kTrainAdam, Op::kTrainSgd});
    p.master = PlaceOf(update->operands[0]).hbm;
    p.first = PlaceOf(update->operands[1]).hbm;
    // SGD has no use for it; it lies beside the others all the same.
    p.second = places_.at({update->operands[0]->name + ".second", 0}).hbm;
  }
  const ImageTensor& labels = places_.at({"labels", 0}).image;
  layout_.labels = labels.hbm;
  layout_.label_pitch = labels.pitch;
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
