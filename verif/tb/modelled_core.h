// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A build of a chip as a CoreModel: a Verilated model, or a class with the same
// pins. CMake writes a source for each build (systole_core_build in
// cmake/CoreBuild.cmake), which describes the build:
//
//   struct Build : PlainBuild {
//     using Model = VSystoleEdge;
//     static constexpr char kEngine[] = "verilator", kPreset[] = "edge";
//     ...
//   };
//   const bool registered = RegisterBuild<Build>();

#ifndef SYSTOLE_VERIF_TB_MODELLED_CORE_H_
#define SYSTOLE_VERIF_TB_MODELLED_CORE_H_

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "systole/gen/presets.h"
#include "verif/coverage/log.h"
#include "verif/dram_model/axi.h"
#include "verif/hbm_model/phy.h"
#include "verif/tb/core_model.h"
#include "verif/tb/failed_assertion.h"
#include "verif/tb/joined_models.h"
#include "verif/tb/lanes.h"
#include "verif/tb/waveform.h"
#include "verif/views/fst.h"
#include "verif/views/hold.h"
#include "verif/views/print.h"
#include "verilated.h"

namespace systole::tb {

// The optional parts of a build. A build overrides those that it has.
struct PlainBuild {
  static constexpr bool kChecked = false;   // every X is random
  static constexpr bool kTraced = false;    // Wave records its signals
  static constexpr bool kOverview = false;  // Recording: the signal that lets
                                            // verif/waves' overview count
  static constexpr bool kProbed = false;    // Sampling, Sample, and with links
                                            // Counting, Counts: verif/profile
  static constexpr bool kCovered = false;   // Hits: counts of verif/coverage
  static constexpr bool kRecorded =
      false;  // ForEachPin: all pins but the clock
  struct Wave {};
  using Network = NoNetwork;  // model of systole_network, in chips with links
};

template <typename Build>
class ModelledCore : public CoreModel {
 public:
  using Model = typename Build::Model;
  static constexpr const Preset& kPreset = *FindPreset(Build::kPreset);
  static constexpr bool kHbm = kPreset.chip.memory == Memory::kHbm;
  static constexpr int kCores = kPreset.chip.cores;
  static constexpr int kResetCycles = 8;
  static constexpr int kLinkBytes = static_cast<int>(kPreset.chip.link_bytes);
  static constexpr bool kLinks =
      NetworkModel<Model, typename Build::Network>::kThere;
  static_assert(kLinks == (kLinkBytes != 0));
  using Chip = JoinedModels<Model, kCores, typename Build::Network>;

  ModelledCore(const CoreOptions& options, MemoryModel* memory)
      : memory_(memory) {
    // The constructor of the model draws random initial values.
    context_.randReset(options.checked ? 2 : 0);
    context_.randSeed(static_cast<int>(options.seed & 0x7fffffff) | 1);
    context_.traceEverOn(Build::kTraced);
    context_.fatalOnError(false);
    Verilated::threadContextp(&context_);
    chip_ = std::make_unique<Chip>(&context_, options.threads);
    if (Build::kRecorded && !options.record_file.empty())
      record_ = std::fopen(options.record_file.c_str(), "w");
    views::hold = {static_cast<uint32_t>(options.stall_rate),
                   static_cast<uint32_t>(options.seed)};
    alone_ = options.alone;
    HardReset();
    views::hold = {};
  }
  ~ModelledCore() override {
    chip_->Final();
    std::vector<uint32_t> hits;
    if constexpr (Build::kCovered)
      for (const auto count : Build::Hits(First())) hits.push_back(count);
    coverage::Add(Build::kPreset, Build::kChecked, cycles_, hits);
    if (record_ != nullptr) std::fclose(record_);
    if (place_) CloseTrace().IgnoreError();
    Verilated::threadContextp(
        &context_);  // the library uses it when a model is destroyed; it may be
                     // that of a later model
    chip_.reset();
  }

  void HardReset() override {
    Pins idle;
    chip_->SetReset(0);
    for (int i = 0; i < kResetCycles; ++i) Cycle(&idle);
    if (alone_) chip_->StopCore1();
    chip_->SetReset(1);
  }

  void Cycle(Pins* pins) override {
    views::printed = &printed_;
    Verilated::threadContextp(
        &context_);  // another chip's, or thread's, before
    Apply(pins->in);
    if constexpr (kLinks) {
      ToPins(pins->in.lanes, kLinkBytes, &chip_->network().model().lanes_i[0]);
    }
    chip_->Eval(0);
    Dump();
    Sample(&pins->out);
    if constexpr (kLinks) {
      FromPins(&chip_->network().model().lanes_o[0], kLinkBytes,
               &pins->out.lanes);
    }
    if (record_ != nullptr) Record();
    chip_->Eval(1);
    views::printed = nullptr;
    if (!printed_.empty()) Printed();
    if (probed_) Probe();
    if (!kHbm) dram::TickAxi(memory_->dram(), &First());
    for (int c = 0; kHbm && c < chip_->cores(); ++c) {
      Model& m = (*chip_)[c];
      hbm::TickPhy(memory_->hbm(c), m.phy_row_cmd_o, m.phy_row_bank_o,
                   m.phy_row_addr_o, m.phy_col_cmd_o, m.phy_col_bank_o,
                   m.phy_col_addr_o, m.phy_wdata_o, m.phy_wmask_o,
                   &m.phy_rdata_i, &m.phy_rdata_valid_i, &m.phy_rcheck_i);
    }
    ++cycles_;
  }

  uint64_t cycles() const override { return cycles_; }
  const std::optional<FailedAssertion>& failed() const override {
    return failed_;
  }

  absl::Status OpenTrace(const std::string& file, uint64_t zero) override {
    if constexpr (!Build::kTraced) {
      (void)zero;
      return absl::UnimplementedError(
          absl::StrCat(file, ": this build of the ", Build::kPreset,
                       " model has no waveform tracing"));
    } else {
      auto place = WaveformPlace::Reserve(file);
      if (!place.ok()) return place.status();
      place_.emplace(*std::move(place));
      trace_file_ = file;
      trace_zero_ = zero;
      recorded_ = 0;
      if constexpr (Build::kOverview) Build::Recording(First()) = 1;
      views::BeginFst();
      fst_ = std::make_unique<typename Build::Wave>();
      fst_->set_time_unit("1s");  // viewers show seconds unscaled
      fst_->set_time_resolution("1s");
      chip_->AddTo(fst_.get());
      fst_->open(place_->beside().c_str());
      if (fst_->isOpen()) return absl::OkStatus();
      return CloseTrace();
    }
  }

  void RecordTrace(uint64_t from, uint64_t to) override {
    record_from_ = from;
    record_to_ = to;
  }

  absl::Status CloseTrace() override {
    if constexpr (!Build::kTraced) {
      return absl::OkStatus();
    } else {
      const bool open = fst_->isOpen();
      fst_.reset();
      record_from_ = record_to_ = 0;
      const int failure = views::EndFst(place_->beside());
      const int error = !open && failure == 0 ? EIO : failure;
      if (error != 0) {
        place_.reset();
        return absl::UnavailableError(absl::StrCat(
            trace_file_,
            ": cannot write the waveform: ", std::strerror(error)));
      }
      if (recorded_ == 0) {
        place_.reset();
        return absl::OutOfRangeError(
            absl::StrCat(trace_file_, ": no cycle to record came"));
      }
      absl::Status status = place_->Commit();
      place_.reset();
      return status;
    }
  }

  absl::Status SetProbe(int core, ProbeSink* sink) override {
    if constexpr (Build::kProbed) {
      probes_[core] = sink;
      probed_ |= sink != nullptr;
      Build::Sampling((*chip_)[core]) = sink != nullptr;
      if constexpr (kLinks) {
        if (core == 0)
          Build::Counting(chip_->network().model()) = sink != nullptr;
      }
      return absl::OkStatus();
    } else {
      (void)core, (void)sink;
      return absl::UnimplementedError(
          absl::StrCat("this build of the ", Build::kPreset,
                       " model has no probe: it cannot be profiled"));
    }
  }

 private:
  // The model that has the host's pins.
  Model& First() { return (*chip_)[0]; }

  // Writes a line: the value of each pin but the clock in hexadecimal digits,
  // most significant first, padded to whole words.
  void Record() {
    if constexpr (Build::kRecorded) {
      Build::ForEachPin(First(), [this](const auto& pin) {
        unsigned char bytes[sizeof(pin)];
        std::memcpy(bytes, &pin, sizeof(pin));
        for (size_t i = sizeof(pin); i-- > 0;)
          std::fprintf(record_, "%02x", bytes[i]);
        std::fputc(' ', record_);
      });
    }
    std::fputc('\n', record_);
  }

  void Probe() {
    for (int c = 0; c < chip_->cores(); ++c)
      if (probes_[c] != nullptr) Probe((*chip_)[c], *probes_[c]);
    if constexpr (Build::kProbed && kLinks) {
      if (probes_[0] == nullptr || cycles_ % ProbeSink::kLinkCycles != 0)
        return;
      const auto& counts = Build::Counts(chip_->network().model());
      ChipLinkCounts links;
      static_assert(sizeof counts == sizeof links);
      std::memcpy(links.data(), &counts, sizeof links);
      probes_[0]->Links(links, cycles_);
    }
  }
  void Probe(const Model& core, ProbeSink& sink) {
    if constexpr (Build::kProbed && kLinks) {
      sink.Sample({Build::Sample(core), Build::SendSample(core)}, cycles_);
    } else if constexpr (Build::kProbed) {
      sink.Sample({Build::Sample(core)}, cycles_);
    }
    if (!kHbm) return;
    for (int group = 0; group < 2; ++group) {
      const int pc = group * memory_->hbm()->pcs() / 2;  // first of the group
      const uint32_t command = hbm::PortBits(
          core.phy_row_cmd_o, pc * hbm::kRowCmdBits, hbm::kRowCmdBits);
      if (command == static_cast<uint32_t>(hbm::RowCmd::kNop)) continue;
      sink.Command({group, command,
                    hbm::PortBits(core.phy_row_bank_o, pc * hbm::kBankBits,
                                  hbm::kBankBits),
                    hbm::PortBits(core.phy_row_addr_o, pc * hbm::kRowBits,
                                  hbm::kRowBits)});
    }
  }

  void Dump() {
    if (cycles_ < record_from_ || cycles_ >= record_to_) return;
    if constexpr (Build::kTraced) fst_->dump(cycles_ - trace_zero_);
    ++recorded_;
  }

  // Prints everything but failed assertions, which it parses.
  void Printed() {
    const std::string text = std::exchange(printed_, "");
    if (!context_.gotError()) {
      std::fputs(text.c_str(), stdout);
    } else if (!failed_) {
      failed_ = ParseFailedAssertion(text, cycles_);
    }
  }

  void Apply(const PinsIn& in) {
    Model& m = First();
    m.axil_awvalid_i = in.axil_awvalid;
    m.axil_awaddr_i = in.axil_awaddr;
    m.axil_wvalid_i = in.axil_wvalid;
    m.axil_wdata_i = in.axil_wdata;
    m.axil_wstrb_i = 0xf;
    m.axil_bready_i = in.axil_bready;
    m.axil_arvalid_i = in.axil_arvalid;
    m.axil_araddr_i = in.axil_araddr;
    m.axil_rready_i = in.axil_rready;
    m.axi_awvalid_i = in.axi_awvalid;
    m.axi_awaddr_i = in.axi_awaddr;
    m.axi_awlen_i = in.axi_awlen;
    m.axi_awsize_i = BeatSize();
    m.axi_awburst_i = 1;  // INCR
    m.axi_awid_i = 0;
    m.axi_wvalid_i = in.axi_wvalid;
    m.axi_wlast_i = in.axi_wlast;
    if (in.axi_wvalid) {
      std::memcpy(&m.axi_wdata_i, in.axi_wdata.data(), kBeatBytes);
      std::array<uint8_t, kMaxBeatBytes / 8> strobes{};
      for (int i = 0; i < kBeatBytes; ++i)
        strobes[i / 8] |= static_cast<uint8_t>(in.axi_wstrb[i] << (i % 8));
      std::memcpy(&m.axi_wstrb_i, strobes.data(), kBeatBytes / 8);
    }
    m.axi_bready_i = in.axi_bready;
    m.axi_arvalid_i = in.axi_arvalid;
    m.axi_araddr_i = in.axi_araddr;
    m.axi_arlen_i = in.axi_arlen;
    m.axi_arsize_i = BeatSize();
    m.axi_arburst_i = 1;
    m.axi_arid_i = 0;
    m.axi_rready_i = in.axi_rready;
  }

  void Sample(PinsOut* out) const {
    const Model& m = (*chip_)[0];
    out->axil_awready = m.axil_awready_o;
    out->axil_wready = m.axil_wready_o;
    out->axil_bvalid = m.axil_bvalid_o;
    out->axil_bresp = m.axil_bresp_o;
    out->axil_arready = m.axil_arready_o;
    out->axil_rvalid = m.axil_rvalid_o;
    out->axil_rdata = m.axil_rdata_o;
    out->axil_rresp = m.axil_rresp_o;
    out->axi_awready = m.axi_awready_o;
    out->axi_wready = m.axi_wready_o;
    out->axi_bvalid = m.axi_bvalid_o;
    out->axi_bresp = m.axi_bresp_o;
    out->axi_arready = m.axi_arready_o;
    out->axi_rvalid = m.axi_rvalid_o;
    if (m.axi_rvalid_o) {
      std::memcpy(out->axi_rdata.data(), &m.axi_rdata_o, kBeatBytes);
      out->axi_rresp = m.axi_rresp_o;
      out->axi_rlast = m.axi_rlast_o;
    }
    for (int c = 0; c < kCores; ++c) {
      const Model& core = (*chip_)[c];
      out->irq[c] = core.irq_o;
      out->retire_valid[c] = core.retire_valid_o;
      if (out->retire_valid[c])
        std::memcpy(out->retire_index[c].data(), &core.retire_index_o,
                    sizeof(out->retire_index[c]));
    }
  }

  static constexpr int kBeatBytes = sizeof(Model::axi_wdata_i);
  static constexpr int BeatSize() {
    return kBeatBytes == 16   ? 4
           : kBeatBytes == 32 ? 5
           : kBeatBytes == 64 ? 6
                              : 7;
  }
  static_assert(kBeatBytes == 16 || kBeatBytes == 32 || kBeatBytes == 64 ||
                    kBeatBytes == 128,
                "a legal AXI4 data width");

  MemoryModel* memory_;
  VerilatedContext context_;
  std::unique_ptr<Chip> chip_;
  uint64_t cycles_ = 0;
  bool alone_ = false;
  std::array<ProbeSink*, kCores> probes_{};  // by core
  bool probed_ = false;
  std::FILE* record_ = nullptr;
  std::string printed_;  // text printed in this cycle
  std::optional<FailedAssertion> failed_;
  std::unique_ptr<typename Build::Wave> fst_;
  std::optional<WaveformPlace> place_;  // of the open trace
  std::string trace_file_;
  uint64_t record_from_ = 0, record_to_ = 0;
  uint64_t trace_zero_ = 0, recorded_ = 0;
};

template <typename Build>
bool RegisterBuild() {
  return RegisterCore(Build::kEngine, Build::kPreset, Build::kChecked,
                      [](const CoreOptions& options,
                         MemoryModel* memory) -> std::unique_ptr<CoreModel> {
                        return std::make_unique<ModelledCore<Build>>(options,
                                                                     memory);
                      });
}

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_MODELLED_CORE_H_
