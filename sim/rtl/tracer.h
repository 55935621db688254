// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Records a waveform of one run of a program: the whole run, a window of
// cycles, or the time in which a layer's descriptors are active.
//
//   Tracer tracer(port, options, *program, start);  // before the start
//   status = tracer.Open();
//   status = tracer.Close();  // after the end

#ifndef SYSTOLE_SIM_RTL_TRACER_H_
#define SYSTOLE_SIM_RTL_TRACER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "systole/program.h"
#include "systole/simulator.h"
#include "verif/tb/core_port.h"

namespace systole {

class Tracer {
 public:
  // `start`: value of ObservedCore::cycles() that is cycle 0 of the program and
  // of the waveform.
  Tracer(const tb::CorePort& core, const TraceOptions& options,
         const Program& program, uint64_t start)
      : core_(core), options_(options), program_(program), start_(start) {}

  // kInvalidArgument: no such layer, or an empty window; kUnavailable: the file
  // cannot be written.
  absl::Status Open();
  // Also writes the views. Errors are those of CoreModel::CloseTrace.
  absl::Status Close();
  // Path of the GTKWave save file; valid after Close.
  const std::string& view() const { return view_; }

 private:
  absl::StatusOr<tb::LayerPlan> PlanLayer();

  const tb::CorePort core_;
  const TraceOptions options_;
  const Program& program_;
  const uint64_t start_;
  int layer_ = -1;  // its number; -1: no layer
  std::string view_;
};

}  // namespace systole

#endif  // SYSTOLE_SIM_RTL_TRACER_H_
