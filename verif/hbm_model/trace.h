// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Traces of the commands of an HBM device, in the formats of open DRAM
// simulators, and a checker for traces that are read back.
//
//   auto trace = TraceWriter::Create("run", device->pcs()).value();
//   device->set_trace(trace.get());
//   ...
//   absl::Status status = trace->Close();  // a full disk is told of here
//   auto found = CheckCommandTrace("run.cmd", Timing{}).value();
//
// PREFIX.cmd holds commands, a line each, as the TraceRecorder of Ramulator 2
// writes them for HBM2: `cycle, command, channel, pseudo-channel, bank group,
// bank, row, column`, -1 where the command has none. Pseudo-channel p of
// channel c is number p * pcs / 2 + c of the device. PREFIX.trace holds column
// commands as requests, as DRAMsim3 replays them (`dramsim3main -t`):
// `0xADDRESS READ|WRITE cycle`, the byte address of the burst.

#ifndef SYSTOLE_VERIF_HBM_MODEL_TRACE_H_
#define SYSTOLE_VERIF_HBM_MODEL_TRACE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "systole/gen/hbm.h"
#include "verif/hbm_model/timing_checker.h"

namespace systole::hbm {

class TraceWriter {
 public:
  static absl::StatusOr<std::unique_ptr<TraceWriter>> Create(
      const std::string& prefix, int pcs);
  ~TraceWriter();

  void Row(int64_t cycle, int pc, RowCmd command, int bank, uint32_t row);
  // `address`: of the burst, in bytes.
  void Column(int64_t cycle, int pc, ColCmd command, int bank, uint32_t row,
              uint32_t col, uint64_t address);

  // Writes the rest. Returns an error if any of it could not be written.
  absl::Status Close();

 private:
  TraceWriter(std::string prefix, int pcs)
      : prefix_(std::move(prefix)), channels_(pcs / 2) {}
  std::string prefix_;
  int channels_;
  std::FILE* commands_ = nullptr;
  std::FILE* requests_ = nullptr;
};

struct TraceVerdict {
  int64_t commands = 0;
  int pcs = 0;  // pseudo-channels with commands
  ViolationLog log;
};

// Reads a command trace and checks it with one TimingChecker per pseudo-channel
// (numbered 2 x channel + pseudo-channel, as the trace does not contain their
// number) and one BusChecker per channel. An error names the file and the line
// that it does not understand.
absl::StatusOr<TraceVerdict> CheckCommandTrace(const std::string& path,
                                               const Timing& timing);

}  // namespace systole::hbm

#endif  // SYSTOLE_VERIF_HBM_MODEL_TRACE_H_
