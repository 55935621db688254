// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How fast two cores simulate beside one: minichip's node alone, two of them
// joined as in every test, and two with a thread each. They are clocked in
// turns, a short while each, so that all see the same machine; processor time
// for the first two, time on the wall for the last. docs/chip.md.
//   pair_speed [seconds]

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "VSystoleMinichip.h"
#include "verif/tb/joined_models.h"

namespace {

using Model = VSystoleMinichip;
constexpr int kCycles = 200;  // of a turn

double Now(clockid_t clock) {
  timespec t = {};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

template <int kCores>
class Joined {
 public:
  Joined()
      : context_(std::make_unique<VerilatedContext>()),
        chip_(std::make_unique<Chip>(context_.get())) {
    chip_->SetReset(0);
    for (int i = 0; i < 8; ++i) Cycle();
    chip_->SetReset(1);
  }
  ~Joined() {
    Verilated::threadContextp(context_.get());  // the library looks there
    chip_.reset();
  }
  void Cycle() {
    chip_->Eval(0);
    chip_->Eval(1);
  }

 private:
  using Chip = systole::tb::JoinedModels<Model, kCores>;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Chip> chip_;
};

// The second core's evaluations in a thread of its own: both settle at once,
// what goes over is carried by the first thread, as JoinedModels does it.
class Threaded {
 public:
  Threaded() {
    for (int c = 0; c < 2; ++c) {
      contexts_[c] = std::make_unique<VerilatedContext>();
      models_[c] = std::make_unique<Model>(contexts_[c].get(), "core");
      models_[c]->rst_ni = 0;
    }
    thread_ = std::thread([this] { Follow(); });
    for (int i = 0; i < 8; ++i) Cycle();
    for (auto& m : models_) m->rst_ni = 1;
  }
  ~Threaded() {
    stop_ = true;
    ++asked_;
    thread_.join();
    for (int c = 0; c < 2; ++c) {
      Verilated::threadContextp(contexts_[c].get());
      models_[c].reset();
    }
  }
  void Cycle() {
    for (auto& m : models_) m->clk_i = 0;
    Join();
    Both();
    while (const unsigned changed = Join()) {
      for (int c = 0; c < 2; ++c)
        if (changed >> c & 1) models_[c]->eval();
    }
    for (auto& m : models_) m->clk_i = 1;
    Both();
  }

 private:
  void Both() {
    const unsigned turn = ++asked_;
    models_[0]->eval();
    while (done_.load(std::memory_order_acquire) != turn) {
    }
  }
  void Follow() {
    for (unsigned turn = 1;; ++turn) {
      while (asked_.load(std::memory_order_acquire) != turn) {
      }
      if (stop_) return;
      models_[1]->eval();
      done_.store(turn, std::memory_order_release);
    }
  }
  unsigned Join() { return systole::tb::JoinCores(models_); }

  std::unique_ptr<VerilatedContext> contexts_[2];
  std::array<std::unique_ptr<Model>, 2> models_;
  std::atomic<unsigned> asked_{0}, done_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

double Rate(clockid_t clock, const std::function<void()>& cycle) {
  const double start = Now(clock);
  for (int i = 0; i < kCycles; ++i) cycle();
  return kCycles / (Now(clock) - start);
}

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share *
                                    static_cast<double>(values.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 20;
  Joined<1> one;
  Joined<2> two;
  std::vector<double> of_one, of_two, ratio, wall_one, wall_two, wall_threads;
  const double end = Now(CLOCK_MONOTONIC) + seconds;
  const double joined_end = end - seconds / 2;
  const auto cycle_one = [&] { one.Cycle(); };
  const auto cycle_two = [&] { two.Cycle(); };
  while (Now(CLOCK_MONOTONIC) < joined_end || of_one.size() < 20) {
    of_one.push_back(Rate(CLOCK_PROCESS_CPUTIME_ID, cycle_one));
    of_two.push_back(Rate(CLOCK_PROCESS_CPUTIME_ID, cycle_two));
    ratio.push_back(of_two.back() / of_one.back());
  }
  std::printf(
      "processor time, %d pairs of %d cycles: one node %.0f cycles/s, two "
      "%.0f (upper quartiles), %.3f of one; ratio of a pair: median %.3f, "
      "quartiles %.3f to %.3f\n",
      static_cast<int>(of_one.size()), kCycles, Quantile(of_one, 0.75),
      Quantile(of_two, 0.75), Quantile(of_two, 0.75) / Quantile(of_one, 0.75),
      Quantile(ratio, 0.5), Quantile(ratio, 0.25), Quantile(ratio, 0.75));
  {
    // Its thread spins: only while it is measured.
    Threaded threads;
    const auto cycle_threads = [&] { threads.Cycle(); };
    while (Now(CLOCK_MONOTONIC) < end || wall_one.size() < 20) {
      wall_one.push_back(Rate(CLOCK_MONOTONIC, cycle_one));
      wall_two.push_back(Rate(CLOCK_MONOTONIC, cycle_two));
      wall_threads.push_back(Rate(CLOCK_MONOTONIC, cycle_threads));
    }
  }
  std::printf(
      "time on the wall beside a spinning thread, %d turns: one node %.0f "
      "cycles/s, two %.0f, two with a thread each %.0f: %.2f of the two "
      "(best turns %.2f)\n",
      static_cast<int>(wall_one.size()), Quantile(wall_one, 0.75),
      Quantile(wall_two, 0.75), Quantile(wall_threads, 0.75),
      Quantile(wall_threads, 0.75) / Quantile(wall_two, 0.75),
      Quantile(wall_threads, 1) / Quantile(wall_two, 1));
  return 0;
}
