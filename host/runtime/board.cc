// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/board.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/runtime/guarded.h"

namespace systole::runtime {

Torus TorusOf(int chips) {
  Torus torus{chips, 1};
  for (int rows = 1; rows * rows <= chips; ++rows)
    if (chips % rows == 0) torus = {chips / rows, rows};
  return torus;
}

Board::Board(std::string backend, DeviceOptions options, int cores)
    : backend_(std::move(backend)), options_(std::move(options)) {
  const auto on_chip =
      static_cast<int>(FindPreset(options_.preset)->chip.cores);
  options_.torus = TorusOf((cores + on_chip - 1) / on_chip);
}

absl::StatusOr<systole::Device*> Board::Open(int core) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (devices_.empty()) {
    auto devices = systole::Device::OpenCores(backend_, options_);
    if (!devices.ok()) return devices.status();
    devices_ = *std::move(devices);
  }
  return devices_[core].get();
}

void Board::Join(int threads) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return !running_; });
  working_ += threads;
}

void Board::Leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --working_;
  changed_.notify_all();
}

Board::Turn::Turn(Board& board) : board_(board) {
  const std::lock_guard<std::mutex> lock(board_.mutex_);
  board_.turns_.insert(std::this_thread::get_id());
}
Board::Turn::~Turn() {
  {
    const std::lock_guard<std::mutex> lock(board_.mutex_);
    board_.turns_.erase(std::this_thread::get_id());
  }
  board_.Leave();
}

Board::Call::Call(Board& board) : board_(board) {
  const std::lock_guard<std::mutex> lock(board_.mutex_);
  board_.turns_.erase(std::this_thread::get_id());
  ++board_.calling_;
  board_.changed_.notify_all();
}
Board::Call::~Call() {
  const std::lock_guard<std::mutex> lock(board_.mutex_);
  board_.turns_.insert(std::this_thread::get_id());
  --board_.calling_;
  board_.changed_.notify_all();
}

bool Board::AllWait() const {
  return !running_ &&
         static_cast<int>(launches_.size() + requests_.size()) + calling_ ==
             working_;
}

void Board::ServeFirst(std::unique_lock<std::mutex>& lock) {
  const auto first = std::min_element(
      requests_.begin(), requests_.end(),
      [](const Request* a, const Request* b) { return a->core < b->core; });
  Request& request = **first;
  requests_.erase(first);
  running_ = true;
  lock.unlock();
  absl::Status end = Guarded(*request.access);
  lock.lock();
  running_ = false;
  request.end = std::move(end);
  changed_.notify_all();
}

absl::Status Board::Access(int core,
                           const std::function<absl::Status()>& access) {
  Request own{core, &access, std::nullopt};
  std::unique_lock<std::mutex> lock(mutex_);
  const bool guest = turns_.count(std::this_thread::get_id()) == 0;
  if (guest) {
    changed_.wait(lock, [&] { return !running_; });
    ++working_;
  }
  requests_.push_back(&own);
  while (!own.end) {
    if (AllWait()) {
      ServeFirst(lock);
    } else {
      changed_.wait(lock);
    }
  }
  if (guest) {
    --working_;
    changed_.notify_all();
  }
  return *std::move(own.end);
}

absl::StatusOr<RunStats> Board::Run(int core, const Program& program) {
  Launch own{core, &program, std::nullopt};
  std::unique_lock<std::mutex> lock(mutex_);
  launches_.push_back(&own);
  while (!own.end) {
    if (!AllWait() || (requests_.empty() && calling_ > 0)) {
      changed_.wait(lock);
      // The last one that came, or left, wakes all: the first of them runs.
      continue;
    }
    if (!requests_.empty()) {
      ServeFirst(lock);
      continue;
    }
    running_ = true;
    ++rounds_;
    std::vector<Launch*> launches = std::exchange(launches_, {});
    lock.unlock();
    const uint64_t cycles = RunAll(std::move(launches));
    lock.lock();
    cycles_ += cycles;
    running_ = false;
    changed_.notify_all();
  }
  return *std::move(own.end);
}

int64_t Board::rounds() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return rounds_;
}

uint64_t Board::TakeCycles() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(cycles_, 0);
}

std::string Board::NameOf(int core) const {
  const auto on_chip = static_cast<int>(devices_[core]->preset().chip.cores);
  const int chip = core / on_chip;
  return absl::StrFormat("core %d (chip %d at column %d of row %d, core %d)",
                         core, chip, chip % options_.torus.columns,
                         chip / options_.torus.columns, core % on_chip);
}

bool Board::InVain(const Launch& launch) const {
  const auto fault = devices_[launch.core]->fault();
  if (!fault || fault->cause != isa::Fault::kWatchdog) return false;
  // Of a flag that other cores post: links', then the chip's other core's.
  return fault->address >= isa::kFirstLinkFlag &&
         fault->address < isa::kNumFlags;
}

absl::Status Board::StartAll(const std::vector<Launch*>& launches) {
  if (failed_) {
    if (absl::Status s = devices_[0]->Reset(ResetScope::kDevice); !s.ok())
      return s;
    failed_ = false;
  }
  for (const Launch* launch : launches) {
    absl::Status s = devices_[launch->core]->Start(*launch->program);
    if (!s.ok())
      return absl::Status(
          s.code(), absl::StrCat(NameOf(launch->core), ": ", s.message()));
  }
  return absl::OkStatus();
}

uint64_t Board::RunAll(std::vector<Launch*> launches) {
  std::sort(launches.begin(), launches.end(),
            [](const Launch* a, const Launch* b) { return a->core < b->core; });
  const absl::Status started = Guarded([&] { return StartAll(launches); });
  // The core that is recorded first, for its recording ends with its wait.
  std::vector<Launch*> order = launches;
  std::stable_partition(order.begin(), order.end(), [&](const Launch* launch) {
    return !options_.simulation.trace.file.empty() &&
           launch->core == options_.simulation.trace.core;
  });
  uint64_t cycles = 0;  // of the longest program
  for (Launch* launch : order) {
    if (!started.ok()) {
      launch->end = started;
      failed_ = true;
      continue;
    }
    launch->end = Guarded([&] { return devices_[launch->core]->Wait(); });
    if (launch->end->ok()) {
      cycles = std::max<uint64_t>(cycles, (*launch->end)->cycles);
    } else {
      failed_ = true;
    }
  }
  if (failed_ && started.ok()) Explain(launches);
  return cycles;
}

void Board::Explain(const std::vector<Launch*>& launches) {
  Launch* first = nullptr;       // of those that failed by themselves
  std::vector<Launch*> in_vain;  // the others
  std::string waits;             // of those that the watchdog ended
  int waiting = 0;
  for (Launch* launch : launches) {
    if (launch->end->ok()) continue;
    const auto fault = devices_[launch->core]->fault();
    if (fault && fault->cause == isa::Fault::kWatchdog) {
      ++waiting;
      absl::StrAppendFormat(&waits, "\n  %s: flag %d, descriptor %d, cycle %d",
                            NameOf(launch->core), fault->address, fault->index,
                            fault->cycle);
    }
    if (InVain(*launch)) {
      in_vain.push_back(launch);
    } else if (first == nullptr) {
      first = launch;
    }
  }
  const Launch* cause = first != nullptr ? first : in_vain.front();
  const auto fault = devices_[cause->core]->fault();
  const bool all_wait =
      waiting > 1 && fault && fault->cause == isa::Fault::kWatchdog;
  const absl::Status named(
      cause->end->status().code(),
      absl::StrCat(NameOf(cause->core), ": ", cause->end->status().message(),
                   all_wait ? "; cores that wait:" + waits : ""));
  if (first != nullptr) first->end = named;
  for (Launch* launch : in_vain) launch->end = named;
}

}  // namespace systole::runtime
