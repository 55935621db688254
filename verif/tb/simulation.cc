// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/simulation.h"

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <systemc>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "verif/tb/chip.h"
#include "verif/tb/follower.h"

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

// The chips, and the initiator that carries out one request of the driver at a
// time.
class Simulation::Bench : public sc_core::sc_module {
 public:
  struct Request {
    enum class Kind { kRegisters, kMemory, kInterrupt } kind;
    bool write;
    uint64_t addr;
    uint8_t* data;
    uint64_t bytes;  // interrupt: most cycles with this one, 0: any
    int core = 0;    // interrupt: of which core
    int chip = 0;
  };

  Bench(sc_core::sc_module_name name,
        std::vector<std::unique_ptr<CoreModel>> cores, const Preset& preset,
        const Options& options)
      : sc_module(name) {
    if (cores.size() > 1) {
      wires.emplace(options.columns, options.rows, options.wire_cycles);
      wires->SetErrors(static_cast<int>(preset.chip.link_bytes),
                       options.wire_errors, options.seed);
    }
    for (size_t i = 0; i < cores.size(); ++i) {
      const std::string number = i == 0 ? "" : std::to_string(i);
      chips.push_back(
          std::make_unique<Chip>(("chip" + number).c_str(), std::move(cores[i]),
                                 static_cast<int>(preset.chip.cores),
                                 static_cast<int>(preset.axi_bytes()),
                                 options.stall_rate, options.seed + 2 * i));
      irq_.push_back(
          std::make_unique<Irq>(("irq" + number).c_str(), preset.chip.cores));
      registers_.push_back(
          std::make_unique<Socket>(("registers_initiator" + number).c_str()));
      memory_.push_back(
          std::make_unique<Socket>(("memory_initiator" + number).c_str()));
      chips[i]->irq(*irq_[i]);
      registers_[i]->bind(chips[i]->registers);
      memory_[i]->bind(chips[i]->memory);
      if (wires) chips[i]->Connect(&*wires, static_cast<int>(i));
    }
    if (wires) {
      next_.resize(chips.size());
      for (int t = 1; t < options.threads; ++t)
        followers_.push_back(std::make_unique<Follower>([this] { RunDue(); }));
      SC_METHOD(ClockAll);
    }
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
  tlm::tlm_response_status Serve(const Request& request) {
    for (const auto& chip : chips)
      if (chip->core().failed()) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    status_ = tlm::TLM_GENERIC_ERROR_RESPONSE;  // if the simulation ends early
    request_ = request;
    pending_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();
    return status_;
  }

  std::optional<Wires> wires;  // if there are several chips
  std::vector<std::unique_ptr<Chip>> chips;

 private:
  // Runs the chips that are due, on all threads. Lanes arrive wires->cycles()
  // cycles later, and no chip gets further ahead of another one than that.
  void ClockAll() {
    due_.clear();
    for (size_t i = 0; i < chips.size(); ++i)
      if (next_[i] == now_) due_.push_back(i);
    taken_ = 0;
    const size_t helpers = std::min(followers_.size(), due_.size() - 1);
    for (size_t t = 0; t < helpers; ++t) followers_[t]->Start();
    RunDue();
    for (size_t t = 0; t < helpers; ++t) followers_[t]->Join();
    bool failed = false;
    for (const size_t i : due_) {
      chips[i]->Report();
      failed |= chips[i]->core().failed().has_value();
    }
    if (failed) {  // otherwise the waiting processes wait for ever
      sc_core::sc_pause();
      return;
    }
    const uint64_t next = *std::min_element(next_.begin(), next_.end());
    next_trigger(static_cast<double>(next - now_) *
                 sc_core::sc_time(1, sc_core::SC_NS));
    now_ = next;
  }
  void RunDue() {
    for (size_t i; (i = taken_++) < due_.size();)
      next_[due_[i]] += chips[due_[i]]->Run(wires->cycles());
  }

  using Irq = sc_core::sc_vector<sc_core::sc_signal<bool>>;
  using Socket = tlm_utils::simple_initiator_socket<Bench>;
  SC_HAS_PROCESS(Bench);
  void Host() {
    while (true) {
      wait(pending_);
      if (request_.kind == Request::Kind::kInterrupt) {
        status_ = AwaitInterrupt();
      } else {
        tlm::tlm_generic_payload payload;
        sc_core::sc_time delay;
        payload.set_command(request_.write ? tlm::TLM_WRITE_COMMAND
                                           : tlm::TLM_READ_COMMAND);
        payload.set_address(request_.addr);
        payload.set_data_ptr(request_.data);
        payload.set_data_length(static_cast<unsigned>(request_.bytes));
        payload.set_streaming_width(static_cast<unsigned>(request_.bytes));
        Socket& socket = request_.kind == Request::Kind::kRegisters
                             ? *registers_[request_.chip]
                             : *memory_[request_.chip];
        socket->b_transport(payload, delay);
        status_ = payload.get_response_status();
      }
      sc_core::sc_pause();
    }
  }

  void End() { host_.kill(); }

  tlm::tlm_response_status AwaitInterrupt() {
    Chip& chip = *chips[request_.chip];
    sc_core::sc_signal<bool>& irq = (*irq_[request_.chip])[request_.core];
    if (irq.read()) return tlm::TLM_OK_RESPONSE;
    if (request_.bytes == 0) {
      wait(irq.posedge_event());
    } else {  // at least one cycle, so that repeated requests advance time
      wait(irq.posedge_event() |
           chip.At(chip.core().cycles() +
                   std::max<uint64_t>(request_.bytes - 1, 1)));
    }
    return irq.read() ? tlm::TLM_OK_RESPONSE : tlm::TLM_INCOMPLETE_RESPONSE;
  }

  sc_core::sc_process_handle host_;
  // Several chips: the next cycle of each chip to run, and the earliest of
  // these.
  std::vector<uint64_t> next_;
  uint64_t now_ = 0;
  std::vector<size_t> due_;
  std::atomic<size_t> taken_{0};
  std::vector<std::unique_ptr<Follower>> followers_;
  // One element per chip.
  std::vector<std::unique_ptr<Irq>> irq_;
  std::vector<std::unique_ptr<Socket>> registers_, memory_;
  sc_core::sc_event pending_, end_;
  Request request_{};
  tlm::tlm_response_status status_ = tlm::TLM_OK_RESPONSE;
};

Simulation::Simulation(const Preset* preset, const Options& options,
                       std::vector<std::unique_ptr<MemoryModel>> memories)
    : preset_(preset),
      columns_(options.columns),
      rows_(options.rows),
      memories_(std::move(memories)),
      context_(std::make_unique<Context>()) {}

Simulation::~Simulation() {
  const auto lock = LockKernel();
  context_->Enter();
  bench_.reset();
  context_.reset();
}

absl::StatusOr<std::unique_ptr<Simulation>> Simulation::Create(
    const Options& options) {
  const Preset* preset = FindPreset(options.preset);
  if (preset == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("no preset '", options.preset, "'"));
  const int chips = options.columns * options.rows;
  const int most = chips > 1 ? chips : static_cast<int>(preset->chip.cores);
  if (options.threads < 1 || options.threads > most) {
    const std::string what = chips > 1 ? absl::StrCat(chips, " chips are")
                                       : absl::StrCat(options.preset, " is");
    return absl::InvalidArgumentError(
        most == 1
            ? absl::StrFormat("%d threads: %s is simulated by 1",
                              options.threads, options.preset)
            : absl::StrFormat("%d threads: %s simulated by 1 to %d, one a %s",
                              options.threads, what, most,
                              chips > 1 ? "chip" : "core"));
  }
  std::vector<std::unique_ptr<MemoryModel>> memories;
  std::vector<std::unique_ptr<CoreModel>> cores;
  for (int chip = 0; chip < chips; ++chip) {
    const uint64_t seed = options.seed + chip;
    auto memory = MemoryModel::Create(*preset, seed, options.stall_rate);
    if (!memory.ok()) return memory.status();
    memories.push_back(std::move(*memory));
    auto core = CreateCoreModel(
        {options.preset, options.checked, seed, options.stall_rate,
         options.engine, options.record_file, chips > 1 ? 1 : options.threads,
         options.alone},
        memories.back().get());
    if (!core.ok()) return core.status();
    cores.push_back(std::move(*core));
  }

  const auto lock = LockKernel();
  std::unique_ptr<Simulation> sim(
      new Simulation(preset, options, std::move(memories)));
  sim->context_->Enter();
  sim->bench_ =
      std::make_unique<Bench>("bench", std::move(cores), *preset, options);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);  // elaborates; the host process
                                             // waits for a request
  return sim;
}

absl::Status Simulation::Transport(int chip, bool registers, bool write,
                                   uint64_t addr, uint8_t* data,
                                   uint64_t bytes) {
  const auto lock = LockKernel();
  context_->Enter();
  const auto kind = registers ? Bench::Request::Kind::kRegisters
                              : Bench::Request::Kind::kMemory;
  if (bench_->Serve({kind, write, addr, data, bytes, 0, chip}) ==
      tlm::TLM_OK_RESPONSE)
    return absl::OkStatus();
  if (FailedChip() >= 0) return Failed();
  return absl::OutOfRangeError(absl::StrFormat(
      "the core refused to %s %d bytes at %s 0x%x", write ? "write" : "read",
      bytes, registers ? "register" : "memory address", addr));
}

absl::StatusOr<uint32_t> Simulation::ReadRegister(uint32_t offset, int chip) {
  uint32_t value = 0;
  absl::Status status = Transport(chip, true, false, offset,
                                  reinterpret_cast<uint8_t*>(&value), 4);
  if (!status.ok()) return status;
  return value;
}

absl::Status Simulation::WriteRegister(uint32_t offset, uint32_t value,
                                       int chip) {
  return Transport(chip, true, true, offset, reinterpret_cast<uint8_t*>(&value),
                   4);
}

absl::Status Simulation::ReadMemory(uint64_t addr, absl::Span<uint8_t> bytes,
                                    int chip) {
  if (bytes.empty()) return absl::OkStatus();
  return Transport(chip, false, false, addr, bytes.data(), bytes.size());
}

absl::Status Simulation::WriteMemory(uint64_t addr,
                                     absl::Span<const uint8_t> bytes,
                                     int chip) {
  if (bytes.empty()) return absl::OkStatus();
  return Transport(chip, false, true, addr, const_cast<uint8_t*>(bytes.data()),
                   bytes.size());  // only read
}

absl::Status Simulation::WaitInterrupt(uint64_t max_cycles, int core_number,
                                       int chip) {
  const auto lock = LockKernel();
  context_->Enter();
  if (bench_->Serve({Bench::Request::Kind::kInterrupt, false, 0, nullptr,
                     max_cycles, core_number, chip}) == tlm::TLM_OK_RESPONSE) {
    return absl::OkStatus();
  }
  if (FailedChip() >= 0) return Failed();
  return absl::DeadlineExceededError(
      absl::StrCat("no interrupt within ", max_cycles, " cycles"));
}

int Simulation::FailedChip() {
  for (size_t i = 0; i < bench_->chips.size(); ++i)
    if (core(static_cast<int>(i)).failed()) return static_cast<int>(i);
  return -1;
}

absl::Status Simulation::Failed() {
  const int chip = FailedChip();
  const FailedAssertion& failed = *core(chip).failed();
  return absl::InternalError(absl::StrFormat(
      "%s%s, in %s, cycle %d",
      bench_->chips.size() > 1 ? absl::StrCat("chip ", chip, ": ") : "",
      failed.what, failed.path, failed.cycle));
}

CoreModel& Simulation::core(int chip) { return bench_->chips[chip]->core(); }

void Simulation::SetCallbacks(
    std::function<void(int queue, uint32_t index, uint64_t cycle)> on_retire,
    std::function<void(uint64_t cycle)> on_progress, int core_number,
    int chip) {
  bench_->chips[chip]->on_retire[core_number] = std::move(on_retire);
  bench_->chips[chip]->on_progress[core_number] = std::move(on_progress);
}

}  // namespace systole::tb
