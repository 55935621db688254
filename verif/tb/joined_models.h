// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A chip's Verilated models. A chip with one core is one model of its top. One
// with two is two models of systole_node, joined as systole_top_pair joins the
// modules: both run the same code, which a host's cache then holds once.
//
//   JoinedModels<VSystoleMinichip, 2> chip(&context);
//   chip[0].axil_awvalid_i = true;  // the host's pins are those of core 0
//   chip.Eval(0);                   // clock low: all settled, both cores
//   chip.Eval(1);                   // rising edge

#ifndef SYSTOLE_VERIF_TB_JOINED_MODELS_H_
#define SYSTOLE_VERIF_TB_JOINED_MODELS_H_

#include <array>
#include <cassert>
#include <cstring>
#include <memory>
#include <string>

#include "verif/tb/huge_pages.h"
#include "verilated.h"

namespace systole::tb {

// What each of two cores shows to the other one is put on the other's pins; a
// bit a core: something is new to it.
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
    bool other = take(from.link_req_o, &to.link_req_i);
    other |= take(from.link_rsp_o, &to.link_rsp_i);
    other |= take(from.link_wr_data_o, &to.link_wr_data_i);
    other |= take(from.link_wr_mask_o, &to.link_wr_mask_i);
    other |= take(from.link_rd_data_o, &to.link_rd_data_i);
    changed |= other ? 1u << c : 0;
  }
  return changed;
}

template <typename Model, int kCores>
class JoinedModels {
 public:
  static_assert(kCores == 1 || kCores == 2);

  explicit JoinedModels(VerilatedContext* context) {
    HugePages huge_pages;
    for (int c = 0; c < kCores; ++c) {
      const std::string name = kCores == 1 ? "TOP" : "core" + std::to_string(c);
      models_[c] = std::make_unique<Model>(context, name.c_str());
    }
  }

  Model& operator[](int core) { return *models_[core]; }
  const Model& operator[](int core) const { return *models_[core]; }

  void SetReset(int rst_ni) {
    for (auto& m : models_) m->rst_ni = rst_ni;
  }

  void Eval(int clk) {
    for (auto& m : models_) m->clk_i = clk;
    if (clk == 0) Join();
    for (auto& m : models_) m->eval();
    if (clk == 1) return;
    // An answer depends on a request, and no request on an answer.
    [[maybe_unused]] int rounds = 0;
    while (const unsigned changed = Join()) {
      assert(++rounds < 4 && "a loop between the cores");
      for (int c = 0; c < kCores; ++c)
        if (changed >> c & 1) models_[c]->eval();
    }
  }

  template <typename Trace>
  void AddTo(Trace* trace) {
    for (auto& m : models_) m->trace(trace, 99);
  }

  void Final() {
    for (auto& m : models_) m->final();
  }

 private:
  unsigned Join() {
    if constexpr (kCores == 2) return JoinCores(models_);
    return 0;
  }

  std::array<std::unique_ptr<Model>, kCores> models_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_JOINED_MODELS_H_
