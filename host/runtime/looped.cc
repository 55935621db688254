// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/looped.h"

#include <utility>

#include "host/program/image_loop.h"
#include "systole/loops.h"

namespace systole::runtime {
namespace {

constexpr uint32_t kAnyNumber = 1u << 24;  // no limit on descriptors with steps

// The shorter of the program and of one image's program in a loop over all
// images. The length of the latter does not depend on the number of images.
Program Shorter(Program program, const Program& one, int64_t batch) {
  const Program looped_one = RollLoops(one, kAnyNumber, kMaxLoopDepth - 1);
  for (const Program& body : {looped_one, one}) {
    auto looped = LoopOverImages(body, batch);
    if (!looped.ok()) continue;
    if (looped->descriptors.size() < program.descriptors.size())
      program = *std::move(looped);
    break;
  }
  return program;
}

}  // namespace

absl::StatusOr<CompiledModel> BuildLooped(const Source& source,
                                          const Preset& preset,
                                          const compiler::Options& options) {
  absl::StatusOr<CompiledModel> model;
  for (const bool loops : {false, true}) {
    compiler::Options as = options;
    as.loops = loops;
    as.observer = nullptr;
    absl::StatusOr<CompiledModel> made = Build(source, preset, as);
    if (!made.ok()) return made.status();
    for (Program& program : made->programs)
      program = RollLoops(program, kAnyNumber);
    if (options.batch > 1) {
      as.batch = 1;
      absl::StatusOr<CompiledModel> one = Build(source, preset, as);
      if (!one.ok()) return one.status();
      for (size_t i = 0; i < made->programs.size(); ++i)
        made->programs[i] = Shorter(std::move(made->programs[i]),
                                    one->programs[i], options.batch);
    }
    if (!loops) {
      model = std::move(made);
      continue;
    }
    for (size_t i = 0; i < made->programs.size(); ++i) {
      if (made->programs[i].descriptors.size() <
          model->programs[i].descriptors.size())
        model->programs[i] = std::move(made->programs[i]);
    }
  }
  return model;
}

}  // namespace systole::runtime
