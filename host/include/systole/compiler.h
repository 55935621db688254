// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The compiler turns a quantised network (or one matrix product) and a batch
// size into a program for a preset. How it works: docs/compiler.md.
//
//   absl::StatusOr<model::Network> network =
//       model::ReadNetwork("models/mnist_cnn.safetensors");
//   absl::StatusOr<Program> program = compiler::CompileNetwork(
//       *network, *FindPreset("edge"), {.batch = 32});
//   // The error names the layer and the sizes that do not fit.
//   if (!program.ok()) return program.status();
#ifndef SYSTOLE_COMPILER_H_
#define SYSTOLE_COMPILER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "systole/gen/presets.h"
#include "systole/model.h"
#include "systole/program.h"

namespace systole::compiler {

struct Options {
  int64_t batch = 1;                // images, >= 1
  bool keep_intermediates = false;  // every layer's output goes to HBM as well,
                                    // so that it can be checked
  bool allow_resident = true;  // tensors may stay in the unified buffer from
                               // one layer to the next
  bool join_columns = true;    // outputs side by side may share a vector
  bool fuse_vector = true;     // additions and pools go between the blocks of
                               // the layer before
  bool reorder = true;         // program order by expected start; otherwise as
                               // lowered, layer by layer
  bool loops = false;    // what is done block by block repeats itself, so that
                         // RollLoops (loops.h) finds it; takes some cycles more
  int64_t ub_bytes = 0;  // use only so much of the unified buffer; 0 = all
  // Called behind each step of the compiler with its name and what prints the
  // plan, or the sequence of descriptors, as it is then.
  std::function<void(const std::string& step,
                     const std::function<std::string()>& text)>
      observer = nullptr;
};

// Errors: kInvalidArgument (batch, illegal network, sums beyond 32 bits),
// kResourceExhausted (a layer whose smallest tiles do not fit the unified
// buffer or the descriptors), kUnimplemented (a window beyond the vector
// unit's).
absl::StatusOr<Program> CompileNetwork(const model::Network& network,
                                       const Preset& preset,
                                       const Options& options);

// A program that only ends, for a model that the host computes alone.
absl::StatusOr<Program> IdleProgram(const Preset& preset);

// Cycles that the compiler's cost model expects of a program. Measured ones
// come from the RTL.
int64_t EstimateCycles(const Program& program, const Preset& preset);
// The same by layer: to the last completion of its array and vector work. They
// add up to the whole.
std::vector<int64_t> EstimateLayerCycles(const Program& program,
                                         const Preset& preset);

// C = A x B. The tensors "a" and "c" have m lines of k and n values.
struct MatmulSpec {
  int64_t m = 1, k = 1, n = 1;
  std::vector<int8_t> weights;  // B transposed: [n][k]
  bool raw = false;  // c is int32, the plain sums of a x b; otherwise int8 with
                     // what follows
  int a_zero_point = 0, c_zero_point = 0;
  std::vector<int32_t> bias;            // [n]
  std::vector<model::Requant> requant;  // [n]
  model::Rounding rounding = model::Rounding::kDouble;
  int clamp_min = -128, clamp_max = 127;
};

// The network of one layer that stands for it.
model::Network MatmulNetwork(const MatmulSpec& spec);
absl::StatusOr<Program> CompileMatmul(const MatmulSpec& spec,
                                      const Preset& preset,
                                      const Options& options);

}  // namespace systole::compiler

#endif  // SYSTOLE_COMPILER_H_
