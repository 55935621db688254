// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The top of a chip behind plain pins. It hides preset, build and simulator, so
// one test bench serves all of them.
//
//   auto core = CreateCoreModel({.preset = "edge"}, memory);
//   pins.in.axil_arvalid = true;
//   // One clock: applies the inputs and returns the outputs as they were
//   // before the rising edge.
//   core->Cycle(&pins);
//   if (pins.out.axil_arready) ...  // the address was accepted

#ifndef SYSTOLE_VERIF_TB_CORE_MODEL_H_
#define SYSTOLE_VERIF_TB_CORE_MODEL_H_

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "systole/gen/isa.h"
#include "systole/probe.h"
#include "verif/tb/memory.h"

namespace systole::tb {

inline constexpr int kMaxBeatBytes = 128;
inline constexpr int kMaxCores = 2;

// The lanes of a chip's links in a cycle, in the order X+, X-, Y+, Y-. They are
// all 0 without a signal, and in chips without links.
inline constexpr int kLinks = 4;
inline constexpr int kMaxLinkWords = 17;  // of 32 bits
using LinkWords = std::array<uint32_t, kMaxLinkWords>;
using LanePins = std::array<LinkWords, kLinks>;

// Inputs of a top, without clock, reset and memory.
struct PinsIn {
  bool axil_awvalid = false, axil_wvalid = false, axil_bready = false,
       axil_arvalid = false, axil_rready = false;
  uint16_t axil_awaddr = 0, axil_araddr = 0;
  uint32_t axil_wdata = 0;
  bool axi_awvalid = false, axi_wvalid = false, axi_wlast = false,
       axi_bready = false, axi_arvalid = false, axi_rready = false;
  uint64_t axi_awaddr = 0, axi_araddr = 0;
  uint8_t axi_awlen = 0, axi_arlen = 0;
  std::array<uint8_t, kMaxBeatBytes> axi_wdata{};
  std::array<bool, kMaxBeatBytes> axi_wstrb{};
  LanePins lanes{};
};

// The settled outputs before the rising edge that samples the inputs.
struct PinsOut {
  bool axil_awready = false, axil_wready = false, axil_bvalid = false,
       axil_arready = false, axil_rvalid = false;
  uint8_t axil_bresp = 0, axil_rresp = 0;
  uint32_t axil_rdata = 0;
  bool axi_awready = false, axi_wready = false, axi_bvalid = false,
       axi_arready = false, axi_rvalid = false, axi_rlast = false;
  uint8_t axi_bresp = 0, axi_rresp = 0;
  std::array<uint8_t, kMaxBeatBytes>
      axi_rdata{};  // written only while axi_rvalid
  LanePins lanes{};
  std::array<bool, kMaxCores> irq{};
  std::array<uint8_t, kMaxCores> retire_valid{};  // one bit per queue
  std::array<std::array<uint32_t, isa::kNumQueues>, kMaxCores> retire_index{};
};

struct Pins {
  PinsIn in;
  PinsOut out;
};

struct CoreOptions {
  std::string preset = "edge";
  bool checked = false;  // the build with X-randomisation
  uint64_t seed = 1;     // of random initial values and stalls
  int stall_rate = 0;    // stalls per stream of the core, in 1/256 per cycle
  std::string engine = "verilator";  // or record: docs/simulators.md
  std::string record_file = "";      // engine record: all pins of every cycle
  int threads = 1;                   // 2: a thread for each of two cores
  bool alone = false;                // core 1 stays in reset, without a clock
};

// A failed assertion of the design.
struct FailedAssertion {
  std::string what;    // "systole_fifo.sv:62: Assertion failed: a_count"
  std::string path;    // its module's instance: ...gen_node[0].u_node.u_core...
  uint64_t cycle = 0;  // value of cycles()
};

// What can be seen of a chip's model. It may be in another process.
class ObservedCore {
 public:
  static constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

  virtual ~ObservedCore() = default;
  // Cycles since construction.
  virtual uint64_t cycles() const = 0;
  // The first failed assertion; the model is invalid after it.
  virtual const std::optional<FailedAssertion>& failed() const = 0;

  // Opens a waveform (FST) of all signals, with one time step per cycle and the
  // values settled before the clock edge. Cycle `zero` of cycles() is time 0.
  // Recording does not start yet. kUnavailable: the file cannot be written.
  virtual absl::Status OpenTrace(const std::string& file, uint64_t zero) = 0;
  // Records while `from` <= cycles() < `to`. A trace has one such interval.
  virtual void RecordTrace(uint64_t from, uint64_t to) = 0;
  // Completes the file. kUnavailable: it could not be written. kOutOfRange: no
  // cycle was recorded, so there is no file.
  virtual absl::Status CloseTrace() = 0;

  // Takes a sample of the chip's core every cycle from now on. kUnimplemented
  // if the build has no probe.
  virtual absl::Status SetProbe(int core, ProbeSink* sink) = 0;
};

class CoreModel : public ObservedCore {
 public:
  // Holds the hardware reset for some cycles, with idle inputs.
  virtual void HardReset() = 0;
  // One clock.
  virtual void Cycle(Pins* pins) = 0;
};

// kNotFound if there is no build of that preset; the message lists the existing
// ones.
absl::StatusOr<std::unique_ptr<CoreModel>> CreateCoreModel(
    const CoreOptions& options, MemoryModel* memory);

// Each build of the model registers itself.
using CoreFactory = std::unique_ptr<CoreModel> (*)(const CoreOptions& options,
                                                   MemoryModel* memory);
bool RegisterCore(const char* engine, const char* preset, bool checked,
                  CoreFactory factory);

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_CORE_MODEL_H_
