// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/client.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/kernels/collective_kernel.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/ir/text.h"
#include "host/runtime/array_products.h"
#include "host/runtime/calling.h"
#include "host/runtime/combine.h"
#include "host/runtime/communicator.h"
#include "host/runtime/count_exchanges.h"
#include "host/runtime/guarded.h"
#include "host/runtime/kernel_executor.h"
#include "host/runtime/placement.h"
#include "host/runtime/shard_updates.h"

namespace systole::runtime {

using ir::Literal;

namespace {

// Exchanges that become one have at most this part of the memory, for their
// program needs several times as much.
constexpr int64_t kCombinedShare = 64;
// And so much over links, as they start when the last of them is there.
constexpr int64_t kCombinedBytes = 1 << 19;

// Results of so many bytes, such as a loss, come to the host with the program.
// The others stay on the device until someone asks.
constexpr int64_t kReadAtOnce = 4096;

// jax hands tokens over as arrays without elements.
bool IsToken(const ir::Type& type) {
  return type.element == ir::ElementType::kBool && type.shape == ir::Ints{0};
}
Literal NoToken() { return Literal::Zeros(ir::ElementType::kBool, 0); }

// The nodes that take parts of a parameter; none if anything else reads it.
std::vector<const ir::Node*> ShardsOf(const ir::Module& module,
                                      const ir::Node& parameter) {
  std::vector<const ir::Node*> shards;
  if (module.IsOutput(&parameter)) return shards;
  for (const ir::Node* user : module.Users(&parameter)) {
    if (user->op != ir::Op::kHloShard) return {};
    shards.push_back(user);
  }
  return shards;
}

// Whether the cores of a run can do what the plan's programs exchange.
bool CanExchange(const lanes::DevicePlan& plan, const std::vector<int>& cores) {
  for (const lanes::PlanStep& step : plan.steps) {
    if (step.exchanging != nullptr && !step.exchanging->CheckCores(cores).ok())
      return false;
  }
  return std::all_of(
      plan.regions.begin(), plan.regions.end(),
      [&](const auto& region) { return CanExchange(*region.second, cores); });
}

std::unique_ptr<ir::Module> Lowered(std::unique_ptr<ir::Module> module,
                                    ir::ProcessGrid grid, const Preset& preset,
                                    bool links) {
  if (grid.count() > 1) {
    if (links) ShardUpdates(*module, grid, preset);
    const auto most =
        static_cast<int64_t>(preset.memory_bytes()) / kCombinedShare;
    CombineExchanges(*module, links ? std::min(most, kCombinedBytes) : most);
  }
  const CollectiveGroups groups(*module, grid);
  const bool beside =
      links && PlanExchanges(*module, groups, grid.count(), preset).HasAny();
  lanes::LowerModule(*module,
                     beside ? lanes::BesideCollectives(preset) : preset);
  return module;
}

}  // namespace

struct Executable::Run {
  std::unique_ptr<Communicator> communicator;
  std::vector<bool> joined;  // by process
};

Executable::Executable(std::unique_ptr<ir::Module> module, ir::ProcessGrid grid,
                       const Preset& preset, bool links)
    : module_(Lowered(std::move(module), grid, preset, links)),
      grid_(grid),
      groups_(std::make_unique<CollectiveGroups>(*module_, grid)),
      exchanges_(std::make_unique<PlanExchanges>(*module_, *groups_,
                                                 grid.count(), preset)),
      preset_(preset),
      plan_(lanes::PlanFor(
          *module_, preset, 0,
          links && exchanges_->HasAny() ? exchanges_.get() : nullptr)),
      placement_(PlacementOf(*module_, plan_, preset)),
      memory_need_(MemoryNeedOf(*module_, plan_)) {
  CountExchanges(*module_, *groups_, preset, links, placement_);
  for (const ir::Node* input : module_->inputs()) {
    parameters_.push_back(input->type);
    shards_.push_back(ShardsOf(*module_, *input));
  }
  for (const ir::Output& output : module_->outputs)
    results_.push_back(output.node.type());
  fingerprint_ = absl::StrFormat(
      "%016x",
      std::hash<std::string>()(absl::StrCat(grid.replicas, " ", grid.partitions,
                                            " ", ir::Print(*module_))));
}

Executable::~Executable() = default;

absl::Status Executable::CheckArguments(
    absl::Span<const std::shared_ptr<Buffer>> arguments) const {
  if (arguments.size() != parameters_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(module_->name, ": ", arguments.size(),
                     " arguments instead of ", parameters_.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::Type& type = arguments[i]->type();
    if (type.element != parameters_[i].element ||
        type.shape != parameters_[i].shape) {
      return absl::InvalidArgumentError(absl::StrCat(
          module_->name, ": argument ", i, " is ", ir::TypeText(type),
          ", the program takes ", ir::TypeText(parameters_[i])));
    }
  }
  return absl::OkStatus();
}

std::shared_ptr<Executable::Run> Executable::NewRun(Client& client) const {
  auto run = std::make_shared<Run>();
  if (client.board() != nullptr) {
    run->communicator = std::make_unique<LinkCommunicator>(
        *groups_, grid_.count(), *client.board(), client.preset());
  } else {
    run->communicator = std::make_unique<Communicator>(*groups_, grid_.count());
  }
  run->joined.resize(grid_.count());
  return run;
}

Execution Executable::Enqueue(
    absl::Span<const std::shared_ptr<Buffer>> arguments, Device& device,
    int process, std::shared_ptr<Run> run, const std::vector<size_t>& kept) {
  std::vector<bool> taken;
  for (const ir::Node* input : module_->inputs())
    taken.push_back(input->attr<ir::ParameterAttributes>().donated);
  for (const size_t i : kept) taken.at(i) = false;
  Execution execution;
  for (size_t i = 0; i < results_.size(); ++i) {
    const Memory memory =
        result_memories_.empty() ? Memory::kDevice : result_memories_[i];
    execution.results.push_back(
        std::make_shared<Buffer>(device, results_[i], memory));
  }
  execution.done = std::make_shared<Event>();
  Arguments held(arguments.begin(), arguments.end());
  device.stream().Enqueue([self = shared_from_this(), held = std::move(held),
                           taken = std::move(taken),
                           results = execution.results, done = execution.done,
                           process, run = std::move(run), &device]() mutable {
    absl::StatusOr<PlacedValues> values =
        self->Evaluate(std::move(held), taken, device, process, run.get());
    if (run != nullptr) run->communicator->Leave(process, values.status());
    // The token of a program that failed is as good as another, so that the
    // next program runs; the other results tell the error.
    const bool tells = std::any_of(
        results.begin(), results.end(),
        [](const auto& result) { return !IsToken(result->type()); });
    for (size_t i = 0; i < results.size(); ++i) {
      if (values.ok()) {
        results[i]->SetPlaced((*values)[i]);
      } else if (tells && IsToken(results[i]->type())) {
        results[i]->Set(NoToken());
      } else {
        results[i]->SetPlaced(values.status());
      }
    }
    done->Set(values.status());
  });
  return execution;
}

absl::StatusOr<Execution> Executable::Execute(
    absl::Span<const std::shared_ptr<Buffer>> arguments, Device& device,
    const std::vector<size_t>& kept) {
  if (grid_.count() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(module_->name,
                     ": arguments of one device for a program "
                     "of ",
                     grid_.count()));
  }
  if (absl::Status s = CheckArguments(arguments); !s.ok()) return s;
  if (absl::Status s = CheckNotCalling(module_->name, device); !s.ok())
    return s;
  return Enqueue(arguments, device, 0, nullptr, kept);
}

absl::StatusOr<std::vector<Execution>> Executable::ExecuteAll(
    absl::Span<const Arguments> arguments, absl::Span<Device* const> devices,
    const std::vector<size_t>& kept) {
  const auto count = static_cast<size_t>(grid_.count());
  if (arguments.size() != count || devices.size() != count) {
    return absl::InvalidArgumentError(absl::StrCat(
        module_->name, ": arguments of ", arguments.size(), " processes on ",
        devices.size(), " devices for a program of ", count));
  }
  if (std::set<Device*>(devices.begin(), devices.end()).size() != count) {
    return absl::InvalidArgumentError(absl::StrCat(
        module_->name, ": two processes of a program on one device"));
  }
  for (size_t process = 0; process < count; ++process) {
    absl::Status s = CheckArguments(arguments[process]);
    if (s.ok()) s = CheckNotCalling(module_->name, *devices[process]);
    if (!s.ok()) return s;
  }
  std::vector<Execution> executions;
  const std::shared_ptr<Run> run = NewRun(devices[0]->client());
  const std::lock_guard<std::mutex> lock(devices[0]->client().order_);
  for (size_t process = 0; process < count; ++process) {
    executions.push_back(Enqueue(arguments[process], *devices[process],
                                 static_cast<int>(process), run, kept));
  }
  return executions;
}

absl::StatusOr<Execution> Executable::ExecuteProcess(
    int process, const Arguments& arguments, Device& device,
    const std::vector<size_t>& kept) {
  if (process < 0 || process >= grid_.count()) {
    return absl::InvalidArgumentError(absl::StrCat(module_->name, ": process ",
                                                   process, " of a program of ",
                                                   grid_.count()));
  }
  absl::Status s = CheckArguments(arguments);
  if (s.ok()) s = CheckNotCalling(module_->name, device);
  if (!s.ok()) return s;
  const std::lock_guard<std::mutex> lock(device.client().order_);
  auto run = std::find_if(open_.begin(), open_.end(), [&](const auto& other) {
    return !other->joined[process];
  });
  if (run == open_.end())
    run = open_.insert(open_.end(), NewRun(device.client()));
  (*run)->joined[process] = true;
  Execution execution = Enqueue(arguments, device, process, *run, kept);
  const std::vector<bool>& joined = (*run)->joined;
  if (std::find(joined.begin(), joined.end(), false) == joined.end())
    open_.erase(run);
  return execution;
}

PlacedValues Executable::Constants(const lanes::DevicePlan& plan,
                                   const Device& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  PlacedValues& values = constants_[{&plan, device.id()}];
  if (values.empty()) {
    for (const auto& [slot, literal] : plan.constants)
      values.push_back(OnHost(literal));
  }
  return values;
}

bool Executable::FitsLinks(const std::vector<int>& cores) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [known, added] = fit_.try_emplace(cores);
  if (added) known->second = CanExchange(plan_, cores);
  return known->second;
}

const lanes::DevicePlan& Executable::PlanApart() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!apart_) apart_ = lanes::PlanFor(*module_, preset_);
  return *apart_;
}

absl::StatusOr<PlacedValues> Executable::Evaluate(
    Arguments arguments, const std::vector<bool>& taken, Device& device,
    int process, const Run* run) {
  for (const std::shared_ptr<Buffer>& argument : arguments)
    if (absl::Status s = argument->ready()->Await(); !s.ok()) return s;
  PlacedValues values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::shared_ptr<Buffer>& argument = arguments[i];
    PlacedValue place = argument->value_;
    // This device cannot use the memory of another device. Of a value in the
    // host's memory, its copy here ends with the execution.
    if (&argument->device() != &device || argument->memory() == Memory::kHost) {
      const absl::StatusOr<Literal> value = argument->Await();
      if (!value.ok()) return value.status();
      place = OnHost(*value);
    }
    // Nobody else has it: the argument and this.
    if (taken[i] && place.use_count() == 2 &&
        std::count(arguments.begin(), arguments.end(), argument) == 1) {
      place = place->Taken();
      if (NeedsPart(i, *place, process)) place->pieces.clear();
    }
    values.push_back(std::move(place));
  }
  arguments.clear();  // a donated value is released after its last read
  std::optional<Board::Turn> turn;
  if (Board* const board = device.client().board(); board != nullptr) {
    if (run == nullptr) {
      board->Join();
    } else if (absl::Status s = run->communicator->Start(process, device.id());
               !s.ok()) {
      return s;
    }
    turn.emplace(*board);
  }
  absl::StatusOr<PlacedValues> results =
      Guarded([&] { return Compute(std::move(values), device, process, run); });
  if (!results.ok()) {
    return absl::Status(
        results.status().code(),
        absl::StrCat(module_->name, ": ", results.status().message()));
  }
  return results;
}

absl::StatusOr<PlacedValues> Executable::Compute(PlacedValues arguments,
                                                 Device& device, int process,
                                                 const Run* run) {
  KernelExecutor executor(
      *device.core_, *device.products_,
      Marked(device.client().options().caller, device),
      {process, grid_, groups_.get(),
       run == nullptr ? nullptr : run->communicator.get(), &programs_});
  const lanes::DevicePlan& plan =
      run == nullptr || FitsLinks(run->communicator->cores()) ? plan_
                                                              : PlanApart();
  absl::StatusOr<PlacedValues> results =
      executor.Run(plan, std::move(arguments), Constants(plan, device));
  if (!results.ok()) return results.status();
  for (size_t i = 0; i < results_.size(); ++i) {
    const bool to_host =
        !result_memories_.empty() && result_memories_[i] == Memory::kHost;
    if (!to_host && (*results)[i]->bytes > kReadAtOnce) continue;
    const auto literal = (*results)[i]->Host(results_[i], *device.core_);
    if (!literal.ok()) return literal.status();
  }
  return results;
}

bool Executable::NeedsPart(size_t parameter, const Place& value,
                           int process) const {
  const int partition = process % grid_.partitions;
  const std::vector<const ir::Node*>& users = shards_[parameter];
  return !users.empty() &&
         std::all_of(users.begin(), users.end(), [&](const ir::Node* user) {
           return value.HasPart(ShardBegin(*user, partition),
                                user->type.bytes());
         });
}

}  // namespace systole::runtime
