// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The Verilated models of a chip. A chip with one core is one model of its top.
// A chip with two cores is two models of systole_node_pins and, with links, a
// model of systole_network. They are connected as systole_chip connects them.
// Both cores run the same code, so a host's cache holds it only once. With two
// threads, each core is evaluated by its own thread.
//
//   JoinedModels<VSystoleMinichip, 2, VSystoleMinichipNet> chip(&context);
//   chip[0].axil_awvalid_i = true;  // the host's pins are those of core 0
//   chip.Eval(0);                   // clock low: all settled, both cores
//   chip.Eval(1);                   // rising edge
//
// Core 1 may be left in reset without a clock. This halves the time. Core 0
// then sees the reset values of core 1's pins.

#ifndef SYSTOLE_VERIF_TB_JOINED_MODELS_H_
#define SYSTOLE_VERIF_TB_JOINED_MODELS_H_

#include <array>
#include <cassert>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

#include "verif/tb/follower.h"
#include "verif/tb/huge_pages.h"
#include "verif/views/hold.h"
#include "verif/views/print.h"
#include "verilated.h"

namespace systole::tb {

// Copies what each core sends to the other. Returns a bit per core that says
// whether its inputs changed.
template <typename Model>
unsigned JoinCores(const std::array<std::unique_ptr<Model>, 2>& models) {
  const auto take = [](const auto& from, auto* to) {
    if (std::memcmp(&from, to, sizeof from) == 0) return false;
    std::memcpy(to, &from, sizeof from);
    return true;
  };
  unsigned changed = 0;
  for (int c = 0; c < 2; ++c) {
    const Model& from = *models[1 - c];
    Model& to = *models[c];
    bool other = take(from.cross_req_o, &to.cross_req_i);
    other |= take(from.cross_rsp_o, &to.cross_rsp_i);
    other |= take(from.cross_wr_data_o, &to.cross_wr_data_i);
    other |= take(from.cross_wr_mask_o, &to.cross_wr_mask_i);
    other |= take(from.cross_rd_data_o, &to.cross_rd_data_i);
    changed |= other ? 1u << c : 0;
  }
  return changed;
}

// Replaces the network in chips without links.
struct NoNetwork {};

// The model of the network. It sleeps until a core sends or sets a register;
// before that, it would not change. Everything from a core comes from
// flip-flops, so one round from the cores to the network and back is enough.
template <typename Model, typename Network>
class NetworkModel {
 public:
  static constexpr bool kThere = !std::is_same_v<Network, NoNetwork>;

  explicit NetworkModel(VerilatedContext* context) {
    if constexpr (kThere)
      model_ = std::make_unique<Network>(context, "network");
  }
  Network& model() { return *model_; }
  bool awake() const { return awake_; }
  // Wakes the model, because there are other chips, which may send.
  void Wake() { awake_ = true; }

  void SetReset(int rst_ni) {
    if constexpr (kThere) model_->rst_ni = rst_ni;
  }
  // clk low: copies what the cores send. Returns a bit per core that says
  // whether its inputs changed.
  template <size_t kCores>
  unsigned Join(const std::array<std::unique_ptr<Model>, kCores>& cores) {
    unsigned changed = 0;
    if constexpr (kThere) {
      bool different = false;
      for (size_t c = 0; c < kCores; ++c) {
        different |= Take(cores[c]->net_req_o, &model_->net_req_i[c]);
        different |=
            Take(cores[c]->net_send_data_o, &model_->net_send_data_i[c]);
      }
      awake_ |= different && model_->rst_ni;
      if (!awake_ && model_->rst_ni && settled_) return 0;
      settled_ = model_->rst_ni;
      model_->clk_i = 0;
      model_->eval();
      for (size_t c = 0; c < kCores; ++c) {
        bool other = Take(model_->net_rsp_o[c], &cores[c]->net_rsp_i);
        other |= Take(model_->net_recv_data_o, &cores[c]->net_recv_data_i);
        other |= Take(model_->net_recv_mask_o, &cores[c]->net_recv_mask_i);
        changed |= other ? 1u << c : 0;
      }
    }
    return changed;
  }
  void Rise() {
    if constexpr (kThere) {
      if (!awake_ && model_->rst_ni && settled_) return;
      model_->clk_i = 1;
      model_->eval();
    }
  }
  template <typename Trace>
  void AddTo(Trace* trace) {
    if constexpr (kThere) model_->trace(trace, 99);
  }
  void Final() {
    if constexpr (kThere) model_->final();
  }

 private:
  template <typename T>
  static bool Take(const T& from, T* to) {
    if (std::memcmp(&from, to, sizeof from) == 0) return false;
    std::memcpy(to, &from, sizeof from);
    return true;
  }

  std::unique_ptr<Network> model_;
  bool awake_ = false, settled_ = false;  // settled: evaluated since the reset
};

template <typename Model, int kCores, typename Network = NoNetwork>
class JoinedModels {
 public:
  static_assert(kCores == 1 || kCores == 2);

  explicit JoinedModels(VerilatedContext* context, int threads = 1)
      : network_(context) {
    HugePages huge_pages;
    for (int c = 0; c < kCores; ++c) {
      const std::string name = kCores == 1 ? "TOP" : "core" + std::to_string(c);
      models_[c] = std::make_unique<Model>(context, name.c_str());
    }
    if (threads < 2 || kCores < 2) return;
    follower_ = std::make_unique<Follower>([this, context] {
      Verilated::threadContextp(context);
      views::hold = hold_;
      views::printed = &printed_;
      models_[kCores - 1]->eval();
    });
  }

  Model& operator[](int core) { return *models_[core]; }
  const Model& operator[](int core) const { return *models_[core]; }

  NetworkModel<Model, Network>& network() { return network_; }

  void SetReset(int rst_ni) {
    for (int c = 0; c < cores_; ++c) models_[c]->rst_ni = rst_ni;
    network_.SetReset(rst_ni);
  }
  // Core 1 keeps its reset state: its reset is active.
  void StopCore1() {
    assert(cores_ < 2 || !models_[cores_ - 1]->rst_ni);
    cores_ = 1;
  }
  int cores() const { return cores_; }

  void Eval(int clk) {
    for (int c = 0; c < cores_; ++c) models_[c]->clk_i = clk;
    if (clk == 0) Join();
    EvalAll();
    if (clk == 1) {
      network_.Rise();
      return;
    }
    const unsigned answered = network_.Join(models_);
    for (int c = 0; c < cores_; ++c)
      if (answered >> c & 1) models_[c]->eval();
    // Responses depend on requests, but requests do not depend on responses.
    [[maybe_unused]] int rounds = 0;
    while (const unsigned changed = Join()) {
      assert(++rounds < 4 && "a loop between the cores");
      if (changed == 3 && cores_ == 2) {
        EvalAll();
        continue;
      }
      for (int c = 0; c < cores_; ++c)
        if (changed >> c & 1) models_[c]->eval();
    }
  }

  template <typename Trace>
  void AddTo(Trace* trace) {
    for (auto& m : models_) m->trace(trace, 99);
    network_.AddTo(trace);
  }

  void Final() {
    for (auto& m : models_) m->final();
    network_.Final();
  }

 private:
  void EvalAll() {
    if (follower_ == nullptr || cores_ < 2) {
      for (int c = 0; c < cores_; ++c) models_[c]->eval();
      return;
    }
    hold_ = views::hold;
    follower_->Start();
    models_[0]->eval();
    follower_->Join();
    if (printed_.empty()) return;
    if (views::printed != nullptr) views::printed->append(printed_);
    printed_.clear();
  }
  unsigned Join() {
    if constexpr (kCores == 2) return JoinCores(models_);
    return 0;
  }

  std::array<std::unique_ptr<Model>, kCores> models_;
  NetworkModel<Model, Network> network_;
  int cores_ = kCores;   // cores that have a clock
  views::Hold hold_;     // settings of the caller's thread
  std::string printed_;  // output of the other thread
  std::unique_ptr<Follower> follower_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_JOINED_MODELS_H_
