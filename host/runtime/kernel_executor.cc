// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/kernel_executor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/compiler/kernels/row_update.h"
#include "host/runtime/kernel_unit.h"
#include "host/runtime/placement.h"

namespace systole::runtime {
namespace {

using ir::Literal;
using ir::Literals;

std::vector<uint8_t> BytesOf(absl::Span<const uint64_t> words) {
  std::vector<uint8_t> bytes;
  bytes.reserve(8 * words.size());
  for (const uint64_t word : words) {
    for (int i = 0; i < 8; ++i)
      bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
  }
  return bytes;
}

std::vector<uint8_t> BytesOf(absl::Span<const isa::Descriptor> descriptors) {
  std::vector<uint64_t> words;
  for (const isa::Descriptor& descriptor : descriptors)
    words.insert(words.end(), descriptor.begin(), descriptor.end());
  return BytesOf(words);
}

ir::EvaluateOptions OptionsOf(ir::ProductUnit& products, ir::Caller caller) {
  ir::EvaluateOptions options;
  options.products = &products;
  options.caller = std::move(caller);
  return options;
}

// The node of a program that its fault's message names, or the first one.
const ir::Node& FaultyOf(const lanes::PlanStep& step,
                         absl::string_view message) {
  for (const Nodes& nodes : step.kernels) {
    const std::string name = absl::StrCat("(layer '", nodes.back()->name, "')");
    if (absl::StrContains(message, name)) return *nodes.back();
  }
  return *step.kernels[0].back();
}

}  // namespace

KernelExecutor::KernelExecutor(Core& core, ir::ProductUnit& products,
                               ir::Caller caller, Process process)
    : core_(core),
      process_(process),
      evaluation_(OptionsOf(products, std::move(caller))) {}

absl::Status KernelExecutor::ToDevice(Place& value) {
  if (value.device != nullptr) return absl::OkStatus();
  const absl::StatusOr<Literal> literal =
      value.Fetch(ir::ElementType::kUint8, core_);
  if (!literal.ok()) return literal.status();
  absl::StatusOr<std::shared_ptr<DeviceMemory>> memory =
      core_.Allocate(value.bytes);
  if (!memory.ok()) return memory.status();
  if (absl::Status s =
          core_.Write((*memory)->address(),
                      {literal->data(), static_cast<size_t>(value.bytes)});
      !s.ok())
    return s;
  ++counts_.uploads;
  counts_.upload_bytes += value.bytes;
  core_.CountUpload(value.bytes);
  value.device = *std::move(memory);
  return absl::OkStatus();
}

absl::StatusOr<Literal> KernelExecutor::ToHost(Place& value,
                                               const ir::Type& type) {
  if (!value.on_host()) {
    ++counts_.downloads;
    counts_.download_bytes += value.bytes;
  }
  return value.Host(type, core_);
}

absl::Status KernelExecutor::Run(Program& program) {
  for (const DataSegment& segment : program.segments) {
    absl::Status s = core_.Write(segment.hbm_addr, segment.data);
    if (!s.ok()) return s;
  }
  const auto memory = core_.Resident(BytesOf(program.descriptors));
  if (!memory.ok()) return memory.status();
  program.prog_addr = (*memory)->address();
  return core_.Run(program, /*exchanges=*/true);
}

absl::Status KernelExecutor::RunProgram(const lanes::KernelProgram& kernel,
                                        absl::Span<const uint64_t> places,
                                        std::vector<LayerInfo> layers,
                                        uint64_t hbm_bytes) {
  const auto code_at = core_.Resident(BytesOf(kernel.words));
  if (!code_at.ok()) return code_at.status();
  Program program;
  program.preset = std::string(core_.preset().name);
  program.hbm_bytes = hbm_bytes;
  program.descriptors = kernel.Placed(places, (*code_at)->address());
  program.layers = std::move(layers);
  const auto program_at = core_.Resident(BytesOf(program.descriptors));
  if (!program_at.ok()) return program_at.status();
  program.prog_addr = (*program_at)->address();
  ++counts_.kernels;
  return core_.Run(program);
}

absl::Status KernelExecutor::Copy(const DeviceMemory& from,
                                  const DeviceMemory& to, int64_t bytes) {
  const absl::StatusOr<lanes::KernelProgram> kernel =
      lanes::CompileCopy(bytes, core_.preset());
  if (!kernel.ok()) return kernel.status();
  LayerInfo layer;
  layer.name = layer.op = "copy";
  return RunProgram(*kernel, {from.address(), to.address()}, {layer},
                    core_.preset().memory_bytes());
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> KernelExecutor::OutputMemory(
    const lanes::PlanStep& step, size_t output, PlacedValues& values) {
  const int64_t bytes = step.kernel->bytes[step.inputs.size() + output];
  const auto update = std::find_if(
      step.updates.begin(), step.updates.end(), [&](const auto& pair) {
        return pair.second == static_cast<int>(output);
      });
  if (update == step.updates.end()) return core_.Allocate(bytes);
  const int slot = step.inputs[update->first];
  const PlacedValue& value = values[slot];
  if (value.use_count() == 1 && value->device.use_count() == 1 &&
      value->device->whole())
    return value->device;
  auto memory = core_.Allocate(bytes);
  if (!memory.ok()) return memory;
  if (absl::Status s = Copy(*value->device, **memory, bytes); !s.ok()) return s;
  return memory;
}

absl::StatusOr<std::vector<uint64_t>> KernelExecutor::Places(
    const lanes::PlanStep& step, PlacedValues& values) {
  std::vector<uint64_t> places;
  for (const int slot : step.inputs) {
    if (absl::Status s = ToDevice(*values[slot]); !s.ok()) return s;
    places.push_back(values[slot]->device->address());
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    auto value = std::make_shared<Place>();
    value->bytes = step.kernel->bytes[step.inputs.size() + i];
    absl::StatusOr<std::shared_ptr<DeviceMemory>> memory =
        OutputMemory(step, i, values);
    if (!memory.ok()) return memory.status();
    value->device = *std::move(memory);
    places.push_back(value->device->address());
    values[step.outputs[i]] = std::move(value);
  }
  return places;
}

std::vector<LayerInfo> KernelExecutor::LayersOf(
    const lanes::PlanStep& step) const {
  std::vector<LayerInfo> layers;
  for (const Nodes& nodes : step.kernels) {
    LayerInfo& layer = layers.emplace_back();
    layer.name = nodes.back()->name;  // in the message of a fault
    if (core_.has_listener()) {
      const ir::Node* const product = ProductOf(nodes);
      layer.op = UnitOf(nodes);
      layer.shape = absl::StrJoin(nodes.back()->type.shape, "x");
      layer.macs = product != nullptr ? MacsOf(*product) : 0;
    }
  }
  return layers;
}

absl::Status KernelExecutor::RunKernel(const lanes::PlanStep& step,
                                       PlacedValues& values) {
  const auto places = Places(step, values);
  if (!places.ok()) return places.status();
  return RunProgram(*step.kernel, *places, LayersOf(step),
                    core_.preset().memory_bytes());
}

absl::Status KernelExecutor::RunNode(const lanes::PlanStep& step,
                                     PlacedValues& values) {
  const ir::Node& node = *step.node;
  Literals literals(step.inputs.size());
  ir::Operands operands;
  std::vector<const Literal*> dying;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const int slot = step.inputs[i];
    PlacedValue& value = values[slot];
    absl::StatusOr<Literal> literal = ToHost(*value, node.operands[i].type());
    if (!literal.ok()) return literal.status();
    literals[i] = *std::move(literal);
    operands.push_back(&literals[i]);
    // A value that nobody else has or needs may be overwritten.
    const bool dies =
        std::count(step.dead.begin(), step.dead.end(), slot) > 0 &&
        std::count(step.inputs.begin(), step.inputs.end(), slot) == 1;
    if (!dies) continue;
    if (value.use_count() == 1) dying.push_back(&literals[i]);
    value = nullptr;  // the literal is now the only owner
  }
  evaluation_.SetDying(std::move(dying));
  absl::StatusOr<Literals> results = evaluation_.Node(node, operands);
  if (!results.ok()) return results.status();
  for (size_t i = 0; i < step.outputs.size(); ++i)
    values[step.outputs[i]] = OnHost(std::move((*results)[i]));
  return absl::OkStatus();
}

const PlacedValue& KernelExecutor::DeviceId(ir::Op op) {
  const bool replica = op == ir::Op::kHloReplicaId;
  PlacedValue& id = replica ? replica_ : partition_;
  if (id == nullptr) {
    const int partitions = process_.grid.partitions;
    const int number =
        replica ? process_.number / partitions : process_.number % partitions;
    id = OnHost(Literal(std::vector<uint32_t>{static_cast<uint32_t>(number)}));
  }
  return id;
}

int64_t ShardBegin(const ir::Node& node, int partition) {
  const ir::Ints& starts = node.attr<ir::HloShardAttributes>().starts;
  return starts[std::min(static_cast<size_t>(partition), starts.size() - 1)] *
         ir::ElementBytes(node.type.element);
}

// The result is a part of the operand's memory.
absl::Status KernelExecutor::RunShard(const lanes::PlanStep& step,
                                      PlacedValues& values) {
  Place& whole = *values[step.inputs[0]];
  const int64_t bytes = step.node->type.bytes();
  const int64_t begin =
      ShardBegin(*step.node, process_.number % process_.grid.partitions);
  PlacedValue& own = values[step.outputs[0]];
  if (whole.device == nullptr && whole.HasPart(begin, bytes)) {
    own = OnDevice(whole.part.device, 0, bytes);
    return absl::OkStatus();
  }
  if (absl::Status s = ToDevice(whole); !s.ok()) return s;
  own = OnDevice(whole.device, begin, bytes);
  return absl::OkStatus();
}

absl::Status KernelExecutor::RunCollective(const lanes::PlanStep& step,
                                           PlacedValues& values) {
  const ir::Node& node = *step.node;
  PlacedValues operands;
  for (const int slot : step.inputs) operands.push_back(values[slot]);
  for (const int slot : step.dead) values[slot] = nullptr;
  const CollectiveGroups::Membership member =
      process_.groups->Of(node, process_.number);
  if (member.all->size() > 1) {
    const bool stays = node.attr<ir::HloCollectiveAttributes>().parts_stay;
    if (!stays) ++counts_.collectives;
    Communicator& all = *process_.communicator;
    absl::StatusOr<PlacedValues> results =
        stays ? all.InParts(node, process_.number, *operands[0], *this)
              : all.Exchange(node, process_.number, operands, *this);
    if (!results.ok()) return results.status();
    operands = *std::move(results);
  } else if (!member.sources->empty() && (*member.sources)[0] < 0) {
    operands = {
        OnHost(Literal::Zeros(node.type.element, node.type.elements()))};
  }
  for (size_t i = 0; i < step.outputs.size(); ++i)
    values[step.outputs[i]] = std::move(operands[i]);
  return absl::OkStatus();
}

absl::StatusOr<PlacedValues> KernelExecutor::Run(
    const lanes::DevicePlan& plan, PlacedValues inputs,
    const PlacedValues& constants) {
  PlacedValues values(plan.slots);
  for (size_t i = 0; i < inputs.size(); ++i)
    values[plan.parameters[i]] = std::move(inputs[i]);
  for (size_t i = 0; i < constants.size(); ++i)
    values[plan.constants[i].first] = constants[i];
  for (const auto& [slot, op] : plan.device_ids) values[slot] = DeviceId(op);
  for (const lanes::PlanStep& step : plan.steps) {
    const absl::Status s =
        step.exchanging != nullptr           ? RunExchanging(step, values)
        : step.kernel                        ? RunKernel(step, values)
        : lanes::IsControl(*step.node)       ? RunControl(step, plan, values)
        : ir::IsCollective(step.node->op)    ? RunCollective(step, values)
        : step.node->op == ir::Op::kHloShard ? RunShard(step, values)
                                             : RunNode(step, values);
    // What another process reports has its place already.
    if (!s.ok() && !step.kernel && ir::IsCollective(step.node->op)) return s;
    if (!s.ok()) {
      const ir::Node& node =
          step.kernel ? FaultyOf(step, s.message()) : *step.node;
      return absl::Status(s.code(),
                          absl::StrCat("node '", node.name, "'",
                                       node.location.empty() ? "" : " at ",
                                       node.location, ": ", s.message()));
    }
    for (const int slot : step.dead) values[slot] = nullptr;
  }
  PlacedValues results;
  for (const int slot : plan.outputs) results.push_back(values[slot]);
  return results;
}

}  // namespace systole::runtime
