// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Traces of the commands of an HBM device, in the formats of open DRAM
// simulators, and a checker that reads traces back.
//
//   auto trace = TraceWriter::Create("run", device->pcs()).value();
//   device->set_trace(trace.get());
//   ...
//   absl::Status status = trace->Close();  // reports a full disk
//   auto found = CheckCommandTrace("run.cmd", Timing{}).value();
//
// PREFIX.cmd has one command per line, as the TraceRecorder of Ramulator 2
// writes them for HBM2: `cycle, command, channel, pseudo-channel, bank group,
// bank, row, column`, with -1 where the command has no such field.
// Pseudo-channel p of channel c is number p * pcs / 2 + c of the device.
// PREFIX.trace has column commands as requests that DRAMsim3 replays
// (`dramsim3main -t`): `0xADDRESS READ|WRITE cycle`, with the byte address of
// the burst.

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
  // `address`: the byte address of the burst.
  void Column(int64_t cycle, int pc, ColCmd command, int bank, uint32_t row,
              uint32_t col, uint64_t address);

  // Flushes the files. Returns an error if anything could not be written.
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
// and one BusChecker per channel. Pseudo-channels get the number 2 x channel +
// pseudo-channel, because the trace does not have the device's numbers. An
// error names the file and the first line that is not understood.
absl::StatusOr<TraceVerdict> CheckCommandTrace(const std::string& path,
                                               const Timing& timing);

}  // namespace systole::hbm

#endif  // SYSTOLE_VERIF_HBM_MODEL_TRACE_H_
