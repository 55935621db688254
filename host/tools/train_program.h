// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A training as StableHLO: a folder with init.mlirbc, step.mlirbc and, if it is
// to be tested, evaluate.mlirbc (docs/training.md).
#ifndef HOST_TOOLS_TRAIN_PROGRAM_H_
#define HOST_TOOLS_TRAIN_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/ir/module.h"
#include "host/runtime/whole_program.h"

namespace systole::tools {

// The result of evaluate.mlirbc that says whether a sample is right.
inline constexpr char kRight[] = "right";

struct StateTensor {
  std::string name;  // "parameters.conv1.weights"
  ir::Type type;
};

// What a module takes behind the state.
struct TrainArgument {
  enum class Kind { kData, kRate, kStep, kSeed };
  Kind kind = Kind::kData;
  std::string name;  // "images"
  ir::Type type;     // of data: of a batch
};

struct TrainModule {
  std::string file;
  runtime::WholeProgram program;
  std::vector<TrainArgument> arguments;  // behind the state
  std::vector<std::string> results;      // names; of the step: behind the state
};

struct TrainProgram {
  std::string folder;
  std::unique_ptr<ir::Module> init;
  bool seeded = false;  // init takes the seed
  TrainModule step;
  std::optional<TrainModule> evaluate;  // if there is such a file
  std::vector<StateTensor> state;
  int64_t batch = 0;
  std::string digest;  // CRC-32 of init and step, 8 hex digits
};

// Errors: NotFound for the folder or a file; those of ReadModuleFile;
// InvalidArgument names the file and the argument or result that breaks the
// rules.
absl::StatusOr<TrainProgram> ReadTrainProgram(const std::string& folder);

// The state that the training starts from, computed on the host.
absl::StatusOr<std::vector<ir::Literal>> InitialState(
    const TrainProgram& program, uint32_t seed);

// The path behind the name of an argument: "parameters.conv1.weights" of
// "state['parameters']['conv1']['weights']"; a name without one as it is.
std::string PathOf(absl::string_view name);
// The name in front of the path: "state".
std::string RootOf(absl::string_view name);
// The last key of it if that is a name: "loss" of "result[1]['loss']" and of
// "result[1].loss"; "" if there is none.
std::string KeyOf(absl::string_view name);

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_PROGRAM_H_
