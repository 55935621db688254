// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How fast two cores simulate beside one: minichip's node alone, two of them
// joined as in every test, and two with a thread each, all with their HBM and
// without a program. They are clocked in
// turns, a short while each, so that all see the same machine; processor time
// for the first two, time on the wall for the last. docs/chip.md.
//   pair_speed [seconds]

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "VSystoleMinichip.h"
#include "systole/gen/presets.h"
#include "verif/hbm_model/phy.h"
#include "verif/tb/joined_models.h"
#include "verif/tb/memory.h"

namespace {

namespace hbm = systole::hbm;
using systole::tb::MemoryModel;

using Model = VSystoleMinichip;
constexpr int kCycles = 200;  // of a turn

double Now(clockid_t clock) {
  timespec t = {};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

std::unique_ptr<MemoryModel> NewMemory() {
  return *MemoryModel::Create(*systole::FindPreset("minichip"), 1, 0);
}

void Tick(hbm::Device* device, Model* m) {
  hbm::TickPhy(device, m->phy_row_cmd_o, m->phy_row_bank_o, m->phy_row_addr_o,
               m->phy_col_cmd_o, m->phy_col_bank_o, m->phy_col_addr_o,
               m->phy_wdata_o, m->phy_wmask_o, &m->phy_rdata_i,
               &m->phy_rdata_valid_i, &m->phy_rcheck_i);
}

template <int kCores>
class Joined {
 public:
  explicit Joined(int threads = 1)
      : context_(std::make_unique<VerilatedContext>()),
        memory_(NewMemory()),
        chip_(std::make_unique<Chip>(context_.get(), threads)) {
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
    for (int c = 0; c < kCores; ++c) Tick(memory_->hbm(c), &(*chip_)[c]);
  }

 private:
  using Chip = systole::tb::JoinedModels<Model, kCores>;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<MemoryModel> memory_;
  std::unique_ptr<Chip> chip_;
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
  std::fflush(stdout);
  {
    Joined<2> threads(2);
    const auto cycle_threads = [&] { threads.Cycle(); };
    while (Now(CLOCK_MONOTONIC) < end || wall_one.size() < 20) {
      wall_one.push_back(Rate(CLOCK_MONOTONIC, cycle_one));
      wall_two.push_back(Rate(CLOCK_MONOTONIC, cycle_two));
      wall_threads.push_back(Rate(CLOCK_MONOTONIC, cycle_threads));
    }
  }
  std::printf(
      "time on the wall, %d turns: one node %.0f "
      "cycles/s, two %.0f, two with a thread each %.0f: %.2f of the two "
      "(best turns %.2f)\n",
      static_cast<int>(wall_one.size()), Quantile(wall_one, 0.75),
      Quantile(wall_two, 0.75), Quantile(wall_threads, 0.75),
      Quantile(wall_threads, 0.75) / Quantile(wall_two, 0.75),
      Quantile(wall_threads, 1) / Quantile(wall_two, 1));
  return 0;
}
