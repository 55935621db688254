// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// One build of a chip's top as a CoreModel: Verilated, or a class with the pins
// of a Verilated one. Compiled once per build, with
//   SYSTOLE_MODEL           the Verilated class, e.g. VSystoleEdge
//   SYSTOLE_MODEL_HEADER    its header
//   SYSTOLE_MODEL_ENGINE    "verilator", the engine's name
//   SYSTOLE_MODEL_PRESET    "edge"
//   SYSTOLE_MODEL_CHECKED   0 or 1
//   SYSTOLE_MODEL_TRACE     1 if tracing is compiled in
//   SYSTOLE_MODEL_NODE      if defined: the (first) node's instance, mangled;
//                           the overview of verif/waves is bound into it
//   SYSTOLE_MODEL_AXI       1 if its memory is a DRAM at an AXI4 port, 0: HBM
//   SYSTOLE_MODEL_CORES     1, or 2: so many models of systole_node_pins
//   SYSTOLE_MODEL_PROBE     if defined: the probe of verif/profile is bound
//                           into the node
//   SYSTOLE_MODEL_COVERAGE  if defined: the probe of verif/coverage is bound
//                           into the node
//   SYSTOLE_MODEL_ROOT_HEADER  with NODE: header of the model's signals
//   SYSTOLE_MODEL_PINS      if defined: header with ForEachPin; the build
//                           records pins

#include "verif/tb/core_model.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "verif/coverage/log.h"
#include "verif/tb/failed_assertion.h"
#include "verif/tb/joined_models.h"
#include "verif/tb/waveform.h"
#include "verif/views/fst.h"
#include "verif/views/hold.h"
#include "verif/views/print.h"
#include "verilated.h"
#include SYSTOLE_MODEL_HEADER
#if SYSTOLE_MODEL_AXI
#include "verif/dram_model/axi.h"
#else
#include "verif/hbm_model/phy.h"
#endif
#if SYSTOLE_MODEL_TRACE
#include "verilated_fst_c.h"
#endif
#ifdef SYSTOLE_MODEL_PINS
#include SYSTOLE_MODEL_PINS
#endif
#ifdef SYSTOLE_MODEL_ROOT_HEADER
#include SYSTOLE_MODEL_ROOT_HEADER
#endif
#define SYSTOLE_JOINED(a, b) a##b
#define SYSTOLE_BELOW(node, name) SYSTOLE_JOINED(node, __DOT__##name)
#define SYSTOLE_SIGNAL(name) SYSTOLE_BELOW(SYSTOLE_MODEL_NODE, name)

namespace systole::tb {
namespace {

using Model = SYSTOLE_MODEL;
using Chip = JoinedModels<Model, SYSTOLE_MODEL_CORES>;
constexpr int kResetCycles = 8;

class ModelledCore : public CoreModel {
 public:
  ModelledCore(const CoreOptions& options, MemoryModel* memory)
      : memory_(memory) {
    // Initial values are drawn at random when the model is constructed.
    context_.randReset(options.checked ? 2 : 0);
    context_.randSeed(static_cast<int>(options.seed & 0x7fffffff) | 1);
    context_.traceEverOn(SYSTOLE_MODEL_TRACE);
    context_.fatalOnError(false);
    Verilated::threadContextp(&context_);
    chip_ = std::make_unique<Chip>(&context_, options.threads);
#ifdef SYSTOLE_MODEL_PINS
    if (!options.record_file.empty())
      record_ = std::fopen(options.record_file.c_str(), "w");
#endif
    views::hold = {static_cast<uint32_t>(options.stall_rate),
                   static_cast<uint32_t>(options.seed)};
    alone_ = options.alone;
    HardReset();
    views::hold = {};
  }
  ~ModelledCore() override {
    chip_->Final();
    std::vector<uint32_t> hits;
#ifdef SYSTOLE_MODEL_COVERAGE
    for (const auto count :
         First().rootp->SYSTOLE_SIGNAL(u_coverage__DOT__hits_q).m_storage)
      hits.push_back(count);
#endif
    coverage::Add(SYSTOLE_MODEL_PRESET, SYSTOLE_MODEL_CHECKED, cycles_, hits);
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
    Apply(pins->in);
    chip_->Eval(0);
    Dump();
    Sample(&pins->out);
    if (record_ != nullptr) Record();
    chip_->Eval(1);
    views::printed = nullptr;
    if (!printed_.empty()) Printed();
#ifdef SYSTOLE_MODEL_PROBE
    if (probe_ != nullptr) Probe();
#endif
#if SYSTOLE_MODEL_AXI
    dram::TickAxi(memory_->dram(), &First());
#else
    for (int c = 0; c < chip_->cores(); ++c) {
      Model& m = (*chip_)[c];
      hbm::TickPhy(memory_->hbm(c), m.phy_row_cmd_o, m.phy_row_bank_o,
                   m.phy_row_addr_o, m.phy_col_cmd_o, m.phy_col_bank_o,
                   m.phy_col_addr_o, m.phy_wdata_o, m.phy_wmask_o,
                   &m.phy_rdata_i, &m.phy_rdata_valid_i, &m.phy_rcheck_i);
    }
#endif
    ++cycles_;
  }

  uint64_t cycles() const override { return cycles_; }
  const std::optional<FailedAssertion>& failed() const override {
    return failed_;
  }

  absl::Status OpenTrace(const std::string& file, uint64_t zero) override {
#if SYSTOLE_MODEL_TRACE
    auto place = WaveformPlace::Reserve(file);
    if (!place.ok()) return place.status();
    place_.emplace(*std::move(place));
    trace_file_ = file;
    trace_zero_ = zero;
    recorded_ = 0;
#ifdef SYSTOLE_MODEL_NODE
    First().rootp->SYSTOLE_SIGNAL(u_waves__DOT__recording) = 1;
#endif
    views::BeginFst();
    fst_ = std::make_unique<VerilatedFstC>();
    fst_->set_time_unit("1s");  // viewers show seconds unscaled
    fst_->set_time_resolution("1s");
    chip_->AddTo(fst_.get());
    fst_->open(place_->beside().c_str());
    if (fst_->isOpen()) return absl::OkStatus();
    return CloseTrace();
#else
    (void)zero;
    return absl::UnimplementedError(
        absl::StrCat(file, ": this build of the ", SYSTOLE_MODEL_PRESET,
                     " model has no waveform tracing"));
#endif
  }

  void RecordTrace(uint64_t from, uint64_t to) override {
    record_from_ = from;
    record_to_ = to;
  }

  absl::Status CloseTrace() override {
#if SYSTOLE_MODEL_TRACE
    const bool open = fst_->isOpen();
    fst_.reset();
    record_from_ = record_to_ = 0;
    const int failure = views::EndFst(place_->beside());
    const int error = !open && failure == 0 ? EIO : failure;
    if (error != 0) {
      place_.reset();
      return absl::UnavailableError(absl::StrCat(
          trace_file_, ": cannot write the waveform: ", std::strerror(error)));
    }
    if (recorded_ == 0) {
      place_.reset();
      return absl::OutOfRangeError(
          absl::StrCat(trace_file_, ": no cycle to record came"));
    }
    absl::Status status = place_->Commit();
    place_.reset();
    return status;
#else
    return absl::OkStatus();
#endif
  }

  absl::Status SetProbe(ProbeSink* sink) override {
#ifdef SYSTOLE_MODEL_PROBE
    probe_ = sink;
    First().rootp->SYSTOLE_SIGNAL(u_profile__DOT__sampling) = sink != nullptr;
    return absl::OkStatus();
#else
    (void)sink;
    return absl::UnimplementedError(
        absl::StrCat("this build of the ", SYSTOLE_MODEL_PRESET,
                     " model has no probe: it cannot be profiled"));
#endif
  }

 private:
  // The model that has the host's pins.
  Model& First() { return (*chip_)[0]; }

  // Writes a line: the value of each pin but the clock in hexadecimal digits,
  // most significant first, padded to whole words.
  void Record() {
#ifdef SYSTOLE_MODEL_PINS
    ForEachPin(First(), [this](const auto& pin) {
      unsigned char bytes[sizeof(pin)];
      std::memcpy(bytes, &pin, sizeof(pin));
      for (size_t i = sizeof(pin); i-- > 0;)
        std::fprintf(record_, "%02x", bytes[i]);
      std::fputc(' ', record_);
    });
    std::fputc('\n', record_);
#endif
  }

#ifdef SYSTOLE_MODEL_PROBE
  void Probe() {
    probe_->Sample({First().rootp->SYSTOLE_SIGNAL(u_profile__DOT__sample_q)});
#if !SYSTOLE_MODEL_AXI
    for (int group = 0; group < 2; ++group) {
      const int pc = group * memory_->hbm()->pcs() / 2;  // first of the group
      const uint32_t command = hbm::PortBits(
          First().phy_row_cmd_o, pc * hbm::kRowCmdBits, hbm::kRowCmdBits);
      if (command == static_cast<uint32_t>(hbm::RowCmd::kNop)) continue;
      probe_->Command({group, command,
                       hbm::PortBits(First().phy_row_bank_o,
                                     pc * hbm::kBankBits, hbm::kBankBits),
                       hbm::PortBits(First().phy_row_addr_o, pc * hbm::kRowBits,
                                     hbm::kRowBits)});
    }
#endif
  }
#endif

  void Dump() {
#if SYSTOLE_MODEL_TRACE
    if (cycles_ < record_from_ || cycles_ >= record_to_) return;
    fst_->dump(cycles_ - trace_zero_);
    ++recorded_;
#endif
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
    for (int c = 0; c < SYSTOLE_MODEL_CORES; ++c) {
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
  [[maybe_unused]] ProbeSink* probe_ = nullptr;
  std::FILE* record_ = nullptr;
  std::string printed_;  // text printed in this cycle
  std::optional<FailedAssertion> failed_;
#if SYSTOLE_MODEL_TRACE
  std::unique_ptr<VerilatedFstC> fst_;
#endif
  std::optional<WaveformPlace> place_;  // of the open trace
  std::string trace_file_;
  uint64_t record_from_ = 0, record_to_ = 0;
  [[maybe_unused]] uint64_t trace_zero_ = 0, recorded_ = 0;
};

[[maybe_unused]] const bool registered = RegisterCore(
    SYSTOLE_MODEL_ENGINE, SYSTOLE_MODEL_PRESET, SYSTOLE_MODEL_CHECKED,
    [](const CoreOptions& options,
       MemoryModel* memory) -> std::unique_ptr<CoreModel> {
      return std::make_unique<ModelledCore>(options, memory);
    });

}  // namespace
}  // namespace systole::tb
