// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/processes/ranks.h"

#include <time.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

#include "verif/tb/lanes.h"

namespace systole::tb {
namespace {

constexpr uint64_t kGatherCycles = 1024;  // between reports
// Tests in vain: first without a pause, if each process has a processor, then
// with naps, at last with longer ones while the host thinks. (A yield may give
// away milliseconds.)
constexpr int kSpins = 3000, kShortNaps = 2000;
constexpr int64_t kShortNap = 20'000, kLongNap = 1'000'000;  // ns

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A chip in a frame. The words of its links follow.
struct ChipFrame {
  uint32_t cycles;  // that it has run
  bool answered, refused, failed, pending;
  std::array<bool, kMaxCores> irq;
};

}  // namespace

Ranks::Ranks() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  if (static_cast<unsigned>(size_) <= std::thread::hardware_concurrency())
    spins_ = kSpins;
  cpu_seconds_.resize(size_);
}

void Ranks::Pause(int tests) const {
  if (tests < spins_) return;
  const timespec nap{0, tests < spins_ + kShortNaps ? kShortNap : kLongNap};
  nanosleep(&nap, nullptr);
}

void Ranks::Await(std::vector<MPI_Request>& requests) {
  for (int tests = 0;; ++tests) {
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done,
                MPI_STATUSES_IGNORE);
    if (done != 0) return;
    Pause(tests);
  }
}

void Ranks::Send(int to, Tag tag, absl::string_view bytes) {
  std::vector<MPI_Request> requests(1);
  MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to,
            static_cast<int>(tag), MPI_COMM_WORLD, &requests[0]);
  Await(requests);
}

std::string Ranks::Receive(int from, Tag tag) {
  MPI_Message message;
  MPI_Status status;
  for (int tests = 0;; ++tests) {
    int there = 0;
    MPI_Improbe(from, static_cast<int>(tag), MPI_COMM_WORLD, &there, &message,
                &status);
    if (there != 0) break;
    Pause(tests);
  }
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string bytes(size, '\0');
  std::vector<MPI_Request> requests(1);
  MPI_Imrecv(bytes.data(), size, MPI_BYTE, &message, &requests[0]);
  Await(requests);
  return bytes;
}

void Ranks::Join(const ChipsOptions& options, int link_bytes, Windows* windows,
                 std::vector<ReportLog*> logs) {
  windows_ = windows;
  logs_ = std::move(logs);
  link_words_ = (LinkBits(link_bytes) + 31) / 32;
  for (int rank = 0; rank < size_; ++rank)
    owners_.resize(options.FirstChip(rank + 1), rank);
  size_t most = 0;  // chips of a process
  for (int rank = 0; rank < size_; ++rank) {
    most = std::max<size_t>(
        most, options.FirstChip(rank + 1) - options.FirstChip(rank));
  }
  frame_bytes_ =
      sizeof(double) +
      most * (sizeof(ChipFrame) + kLinks * sizeof(uint32_t) * link_words_ *
                                      windows->wires().cycles());
  received_.assign(size_, std::string(frame_bytes_, '\0'));
  frames_.resize(size_);
}

// A round without a chip of a process brings nothing from it.
void Ranks::Exchange(uint64_t from, const std::vector<int>& due) {
  bool own = false;
  std::vector<bool> sends(size_);
  for (const int chip : due) {
    sends[owners_[chip]] = true;
    if (owners_[chip] != rank_) continue;
    own = true;
    windows_->state(chip).pending = !logs_[chip]->empty();
  }
  if (own) cpu_seconds_[rank_] = CpuSeconds();
  std::vector<MPI_Request> requests;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    if (sends[rank]) {
      requests.emplace_back();
      MPI_Irecv(received_[rank].data(), static_cast<int>(frame_bytes_),
                MPI_BYTE, rank, static_cast<int>(Tag::kFrame), MPI_COMM_WORLD,
                &requests.back());
    }
    if (own) {
      frames_[rank] = Packer();
      PutFrame(rank, from, due, frames_[rank]);
      requests.emplace_back();
      MPI_Isend(frames_[rank].bytes().data(),
                static_cast<int>(frames_[rank].bytes().size()), MPI_BYTE, rank,
                static_cast<int>(Tag::kFrame), MPI_COMM_WORLD,
                &requests.back());
    }
  }
  Await(requests);
  for (int rank = 0; rank < size_; ++rank)
    if (rank != rank_ && sends[rank])
      GetFrame(rank, from, due, received_[rank]);

  uint64_t now = windows_->state(0).cycles;
  for (int i = 1; i < windows_->chips(); ++i)
    now = std::min(now, windows_->state(i).cycles);
  if (now / kGatherCycles == gathered_ / kGatherCycles) return;
  gathered_ = now;
  GatherReports();
  if (rank_ == 0) on_progress(now);
}

void Ranks::PutFrame(int to, uint64_t from, const std::vector<int>& due,
                     Packer& packer) {
  packer.Put(cpu_seconds_[rank_]);
  for (const int chip : due) {
    if (owners_[chip] != rank_) continue;
    const ChipState& state = windows_->state(chip);
    packer.Put(ChipFrame{static_cast<uint32_t>(state.cycles - from),
                         state.answered, state.refused, state.failed,
                         state.pending, state.irq});
    for (int link = 0; link < kLinks; ++link) {
      const int neighbour = windows_->wires().Neighbour(chip, link);
      if (neighbour < 0 || owners_[neighbour] != to) continue;
      for (uint64_t cycle = from; cycle < state.cycles; ++cycle) {
        const LinkWords& words = windows_->wires().Sent(chip, cycle)[link];
        for (int w = 0; w < link_words_; ++w) packer.Put(words[w]);
      }
    }
  }
}

void Ranks::GetFrame(int rank, uint64_t from, const std::vector<int>& due,
                     absl::string_view bytes) {
  Unpacker unpacker(bytes);
  cpu_seconds_[rank] = unpacker.Get<double>();
  for (const int chip : due) {
    if (owners_[chip] != rank) continue;
    const auto frame = unpacker.Get<ChipFrame>();
    ChipState& state = windows_->state(chip);
    state.cycles = from + frame.cycles;
    state.answered = frame.answered;
    state.refused = frame.refused;
    state.failed = frame.failed;
    state.pending = frame.pending;
    state.irq = frame.irq;
    for (int link = 0; link < kLinks; ++link) {
      const int neighbour = windows_->wires().Neighbour(chip, link);
      if (neighbour < 0 || owners_[neighbour] != rank_) continue;
      for (uint64_t cycle = from; cycle < state.cycles; ++cycle) {
        LinkWords& words = windows_->wires().Sent(chip, cycle)[link];
        for (int w = 0; w < link_words_; ++w)
          words[w] = unpacker.Get<uint32_t>();
      }
    }
  }
}

void Ranks::GatherReports() {
  for (int rank = 0; rank < size_; ++rank) {
    bool pending = false;
    for (int chip = 0; chip < windows_->chips(); ++chip) {
      if (owners_[chip] != rank) continue;
      pending |= std::exchange(windows_->state(chip).pending, false);
    }
    if (!pending || (rank_ != 0 && rank_ != rank)) continue;
    if (rank_ != rank) {
      on_reports(Receive(rank, Tag::kReports));
      continue;
    }
    Packer packer;
    for (ReportLog* log : logs_)
      if (log != nullptr && !log->empty()) log->Take(packer);
    if (rank_ == 0) {
      on_reports(packer.bytes());
    } else {
      Send(0, Tag::kReports, packer.bytes());
    }
  }
}

double Ranks::cpu_seconds() const {
  return std::accumulate(cpu_seconds_.begin(), cpu_seconds_.end(), 0.0);
}

}  // namespace systole::tb
