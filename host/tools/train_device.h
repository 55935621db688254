// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A device that does the steps of a training. The state stays on it from step
// to step.
#ifndef HOST_TOOLS_TRAIN_DEVICE_H_
#define HOST_TOOLS_TRAIN_DEVICE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/runtime/client.h"
#include "host/tools/train_program.h"

namespace systole::tools {

class TrainDevice : public runtime::CoreListener {
 public:
  // The program must outlive it. Errors: those of Client::Create and Compile.
  static absl::StatusOr<std::unique_ptr<TrainDevice>> Create(
      const TrainProgram& program, runtime::ClientOptions options);

  absl::Status Write(const std::vector<ir::Literal>& state);
  absl::StatusOr<std::vector<ir::Literal>> ReadState() const;

  // A step: the values behind the state, and what it gives behind the state.
  // After an error the state is as before. Errors: those of the execution.
  absl::StatusOr<std::vector<ir::Literal>> Step(
      std::vector<ir::Literal> arguments);
  // As if the last step had not been.
  void Undo() { state_ = before_; }
  // The results of evaluate.mlirbc, which the program must have, for a batch.
  absl::StatusOr<std::vector<ir::Literal>> Evaluate(
      std::vector<ir::Literal> arguments);

  // Since the last call.
  runtime::CoreWork TakeWork() { return client_->device(0).TakeWork(); }
  const runtime::Executable& step() const { return *step_; }
  // Something is wrong in what the last program wrote: records its waveform.
  void RecordWrong();
  // The failure with the waveform that shows it.
  absl::Status WithWaveform(const absl::Status& status) const;

 private:
  explicit TrainDevice(const TrainProgram& program) : program_(program) {}
  // With the state in front.
  absl::StatusOr<runtime::Arguments> Run(runtime::Executable& executable,
                                         std::vector<ir::Literal> arguments);
  void Starts(const Program&) override {}
  void Ended(const RunStats& stats) override { cycles_ = stats.cycles; }
  absl::Status Failed(const systole::Device& device,
                      absl::Status status) override;

  const TrainProgram& program_;
  uint64_t cycles_ = 0;  // of the last program
  std::unique_ptr<runtime::Client> client_;
  std::shared_ptr<runtime::Executable> step_, evaluate_;
  runtime::Arguments state_, before_;
};

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_DEVICE_H_
