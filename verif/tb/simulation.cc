// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/simulation.h"

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <systemc>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "verif/tb/chip.h"
#include "verif/tb/local_chips.h"
#include "verif/tb/remote_chips.h"

// The SystemC library needs an sc_main. Our programs use SystemC as a library.
int sc_main(int, char**) { return 0; }

namespace systole::tb {
namespace {

// SystemC's kernel serves one thread at a time. The lock is recursive, because
// a simulation may end while another one is created. A copy of the process may
// be made while the lock is held. The lock therefore identifies a thread by an
// id that is the same in the copy. The library's recursive mutex uses the
// thread number, so the copy would deadlock.
class KernelLock {
 public:
  void lock() {
    if (owner_ != std::this_thread::get_id()) {
      mutex_.lock();
      owner_ = std::this_thread::get_id();
    }
    ++depth_;
  }
  void unlock() {
    if (--depth_ > 0) return;
    owner_ = std::thread::id();
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
  int depth_ = 0;  // of the current owner
};

std::unique_lock<KernelLock> LockKernel() {
  static auto& lock = *new KernelLock;
  return std::unique_lock<KernelLock>(lock);
}

}  // namespace

// SystemC keeps its state in one global context. Each Simulation has its own
// context and makes it current while it works.
struct Simulation::Context {
  Context() : own(new sc_core::sc_simcontext) {}
  ~Context() {
    Enter();
    delete own;
    sc_core::sc_curr_simcontext = nullptr;
    sc_core::sc_default_global_context = nullptr;
  }
  void Enter() {
    sc_core::sc_curr_simcontext = own;
    sc_core::sc_default_global_context = own;
  }
  sc_core::sc_simcontext* own;
};

// The chip, and the initiator that carries out one request of the driver at a
// time.
class Simulation::Bench : public sc_core::sc_module {
 public:
  Bench(sc_core::sc_module_name name, BuiltChip built)
      : sc_module(name),
        memory_model(std::move(built.memory)),
        chip("chip", std::move(built.chip)),
        irq_("irq", static_cast<size_t>(chip.clocked().cores())),
        registers_("registers_initiator"),
        memory_("memory_initiator") {
    chip.irq(irq_);
    registers_.bind(chip.registers);
    memory_.bind(chip.memory);
    SC_THREAD(Host);
    host_ = sc_core::sc_get_last_created_process_handle();
    SC_METHOD(End);
    sensitive << end_;
    dont_initialize();
  }
  // Ends the host's thread before its context: SystemC 3.0 deletes the
  // coroutine package before the remaining threads, which use it.
  ~Bench() override {
    end_.notify();
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  // Runs the simulation until the request is answered.
  Outcome Serve(const ChipRequest& request) {
    if (chip.clocked().core().failed()) return Outcome::kFailed;
    outcome_ = Outcome::kFailed;  // if the simulation ends early
    request_ = request;
    pending_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();
    return chip.clocked().core().failed() ? Outcome::kFailed : outcome_;
  }

  std::unique_ptr<MemoryModel> memory_model;
  Chip chip;

 private:
  using Socket = tlm_utils::simple_initiator_socket<Bench>;
  SC_HAS_PROCESS(Bench);
  void Host() {
    while (true) {
      wait(pending_);
      if (request_.kind == ChipRequest::Kind::kInterrupt) {
        outcome_ = AwaitInterrupt();
      } else {
        tlm::tlm_generic_payload payload;
        sc_core::sc_time delay;
        payload.set_command(request_.write ? tlm::TLM_WRITE_COMMAND
                                           : tlm::TLM_READ_COMMAND);
        payload.set_address(request_.addr);
        payload.set_data_ptr(request_.data);
        payload.set_data_length(static_cast<unsigned>(request_.bytes));
        payload.set_streaming_width(static_cast<unsigned>(request_.bytes));
        Socket& socket = request_.kind == ChipRequest::Kind::kRegister
                             ? registers_
                             : memory_;
        socket->b_transport(payload, delay);
        outcome_ =
            payload.is_response_ok() ? Outcome::kDone : Outcome::kRefused;
      }
      sc_core::sc_pause();
    }
  }

  void End() { host_.kill(); }

  Outcome AwaitInterrupt() {
    sc_core::sc_signal<bool>& irq = irq_[request_.core];
    if (irq.read()) return Outcome::kDone;
    if (request_.bytes == 0) {
      wait(irq.posedge_event());
    } else {  // at least one cycle, so that repeated requests advance time
      wait(irq.posedge_event() |
           chip.At(chip.clocked().core().cycles() +
                   std::max<uint64_t>(request_.bytes - 1, 1)));
    }
    return irq.read() ? Outcome::kDone : Outcome::kNoInterrupt;
  }

  sc_core::sc_vector<sc_core::sc_signal<bool>> irq_;
  Socket registers_, memory_;
  sc_core::sc_process_handle host_;
  sc_core::sc_event pending_, end_;
  ChipRequest request_{};
  Outcome outcome_ = Outcome::kDone;
};

Simulation::Simulation(const Preset* preset, const Options& options)
    : preset_(preset), columns_(options.columns), rows_(options.rows) {}

Simulation::~Simulation() {
  if (context_ == nullptr) return;
  const auto lock = LockKernel();
  context_->Enter();
  bench_.reset();
  context_.reset();
}

namespace {

// Cables join links that there are, one a link.
absl::Status CheckCables(const std::vector<Cable>& cables, int chips) {
  std::set<std::pair<int, int>> used;
  for (const Cable& cable : cables) {
    for (const LinkEnd& end : cable.ends) {
      if (end.chip < 0 || end.chip >= chips || end.link < 0 ||
          end.link >= kLinks) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "a cable to link %d of chip %d: there are links 0 to %d of chips "
            "0 to %d",
            end.link, end.chip, kLinks - 1, chips - 1));
      }
      if (used.insert({end.chip, end.link}).second) continue;
      return absl::InvalidArgumentError(absl::StrFormat(
          "two cables to link %s of chip %d", kLinkNames[end.link], end.chip));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Simulation::CheckOptions(const Options& options,
                                      const Preset& preset) {
  const int chips = options.chips();
  if (absl::Status s = CheckCables(options.cables, chips); !s.ok()) return s;
  if (options.processes < 0 || options.processes > chips ||
      (options.processes > 0 && chips == 1)) {
    return absl::InvalidArgumentError(
        chips == 1
            ? absl::StrFormat("%d processes: a single chip is simulated by "
                              "this one",
                              options.processes)
            : absl::StrFormat("%d processes: %d chips are simulated by 1 to "
                              "%d, one a chip",
                              options.processes, chips, chips));
  }
  // Of those that a process has.
  const int own = options.processes == 0
                      ? chips
                      : (chips + options.processes - 1) / options.processes;
  const int most = chips > 1 ? own : static_cast<int>(preset.chip.cores);
  if (options.threads >= 1 && options.threads <= most) return absl::OkStatus();
  const std::string what =
      own > 1 ? absl::StrCat(own, " chips are")
              : absl::StrCat(chips > 1 ? "a chip" : options.preset, " is");
  return absl::InvalidArgumentError(
      most == 1
          ? absl::StrFormat("%d threads: %s simulated by 1", options.threads,
                            what)
          : absl::StrFormat("%d threads: %s simulated by 1 to %d, one a %s",
                            options.threads, what, most,
                            chips > 1 ? "chip" : "core"));
}

absl::StatusOr<std::unique_ptr<Simulation>> Simulation::Create(
    const Options& options) {
  const Preset* preset = FindPreset(options.preset);
  if (preset == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("no preset '", options.preset, "'"));
  if (absl::Status s = CheckOptions(options, *preset); !s.ok()) return s;
  std::unique_ptr<Simulation> sim(new Simulation(preset, options));
  if (options.chips() > 1) {
    auto chips = options.processes > 0 ? RemoteChips::Create(options)
                                       : LocalChips::Create(options, *preset);
    if (!chips.ok()) return chips.status();
    sim->chips_ = *std::move(chips);
    return sim;
  }
  auto built = BuildChip(options, *preset, 0);
  if (!built.ok()) return built.status();
  const auto lock = LockKernel();
  sim->context_ = std::make_unique<Context>();
  sim->context_->Enter();
  sim->bench_ = std::make_unique<Bench>("bench", *std::move(built));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates; the host process
                                             // waits for a request
  return sim;
}

absl::StatusOr<Outcome> Simulation::Serve(const ChipRequest& request) {
  if (chips_ != nullptr) return chips_->Serve(request);
  const auto lock = LockKernel();
  context_->Enter();
  return bench_->Serve(request);
}

absl::Status Simulation::Transport(const ChipRequest& request) {
  const auto outcome = Serve(request);
  if (!outcome.ok()) return outcome.status();
  if (*outcome == Outcome::kDone) return absl::OkStatus();
  if (*outcome == Outcome::kFailed) return Failed();
  return absl::OutOfRangeError(absl::StrFormat(
      "the core refused to %s %d bytes at %s 0x%x",
      request.write ? "write" : "read", request.bytes,
      request.kind == ChipRequest::Kind::kRegister ? "register"
                                                   : "memory address",
      request.addr));
}

absl::StatusOr<uint32_t> Simulation::ReadRegister(uint32_t offset, int chip) {
  uint32_t value = 0;
  absl::Status status =
      Transport({ChipRequest::Kind::kRegister, false, chip, 0, offset, 4,
                 reinterpret_cast<uint8_t*>(&value)});
  if (!status.ok()) return status;
  return value;
}

absl::Status Simulation::WriteRegister(uint32_t offset, uint32_t value,
                                       int chip) {
  return Transport({ChipRequest::Kind::kRegister, true, chip, 0, offset, 4,
                    reinterpret_cast<uint8_t*>(&value)});
}

absl::Status Simulation::ReadMemory(uint64_t addr, absl::Span<uint8_t> bytes,
                                    int chip) {
  if (bytes.empty()) return absl::OkStatus();
  return Transport({ChipRequest::Kind::kMemory, false, chip, 0, addr,
                    bytes.size(), bytes.data()});
}

absl::Status Simulation::WriteMemory(uint64_t addr,
                                     absl::Span<const uint8_t> bytes,
                                     int chip) {
  if (bytes.empty()) return absl::OkStatus();
  return Transport({ChipRequest::Kind::kMemory, true, chip, 0, addr,
                    bytes.size(),
                    const_cast<uint8_t*>(bytes.data())});  // only read
}

absl::Status Simulation::WaitInterrupt(uint64_t max_cycles, int core_number,
                                       int chip) {
  const auto outcome = Serve({ChipRequest::Kind::kInterrupt, false, chip,
                              core_number, 0, max_cycles, nullptr});
  if (!outcome.ok()) return outcome.status();
  if (*outcome == Outcome::kDone) return absl::OkStatus();
  if (*outcome == Outcome::kFailed) return Failed();
  return absl::DeadlineExceededError(
      absl::StrCat("no interrupt within ", max_cycles, " cycles"));
}

absl::Status Simulation::Failed() {
  for (int chip = 0; chip < columns_ * rows_; ++chip) {
    if (!core(chip).failed()) continue;
    const FailedAssertion& failed = *core(chip).failed();
    return absl::InternalError(absl::StrFormat(
        "%s%s, in %s, cycle %d",
        chips_ != nullptr ? absl::StrCat("chip ", chip, ": ") : "", failed.what,
        failed.path, failed.cycle));
  }
  return absl::InternalError("the simulation ended early");
}

MemoryModel& Simulation::memory() { return *bench_->memory_model; }

ObservedCore& Simulation::core(int chip) {
  if (chips_ != nullptr) return chips_->core(chip);
  return bench_->chip.clocked().core();
}

absl::Status Simulation::Flip(uint64_t addr, int bit, int core_number,
                              int chip) {
  if (chips_ != nullptr) return chips_->Flip(chip, core_number, addr, bit);
  return FlipBit(memory(), core_number, addr, bit);
}

absl::Status Simulation::CheckMemory(int chip) {
  return chips_ != nullptr ? chips_->CheckMemory(chip) : memory().Check();
}

double Simulation::other_cpu_seconds() const {
  return chips_ != nullptr ? chips_->cpu_seconds() : 0;
}

absl::Status Simulation::RecordLayer(const LayerPlan& plan, int chip) {
  if (chips_ != nullptr) return chips_->RecordLayer(chip, plan);
  bench_->chip.clocked().RecordLayer(plan);
  return absl::OkStatus();
}

void Simulation::SetCallbacks(
    std::function<void(int queue, uint32_t index, uint64_t cycle)> on_retire,
    std::function<void(uint64_t cycle)> on_progress, int core_number,
    int chip) {
  if (chips_ != nullptr) {
    chips_->SetCallbacks(chip, core_number, std::move(on_retire),
                         std::move(on_progress));
    return;
  }
  bench_->chip.clocked().on_retire[core_number] = std::move(on_retire);
  bench_->chip.on_progress[core_number] = std::move(on_progress);
}

}  // namespace systole::tb
