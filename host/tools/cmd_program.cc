// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// asm, disasm.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/access.h"
#include "host/files/file_kind.h"
#include "host/files/printable.h"
#include "host/files/read_file.h"
#include "host/files/write_file.h"
#include "host/runtime/compiled_model.h"
#include "host/tools/commands.h"
#include "host/tools/describe.h"
#include "host/tools/disasm_module.h"
#include "host/tools/module_program.h"
#include "host/tools/options.h"
#include "systole/program.h"

namespace systole::tools {
namespace {

absl::Status Assemble(const std::string& input, const std::string& output,
                      const std::string& preset_name) {
  const auto preset = PresetByName(preset_name);
  if (!preset.ok()) return preset.status();
  absl::Status place = CheckDistinct({output}, {input});
  if (place.ok()) place = WithHint(CheckWritable(output), kOtherOutput);
  if (!place.ok()) return place;
  const auto text = ReadFile(input);
  if (!text.ok()) return text.status();
  const FileKind kind = KindOfBytes(*text, input);
  if (kind != FileKind::kText && kind != FileKind::kUnknown)
    return WrongKind(input, kind, "a text of descriptors");
  auto code = systole::AssembleCode(*text, input);
  if (!code.ok()) return code.status();
  if (absl::Status s = CheckLoops(*code, **preset); !s.ok())
    return absl::Status(s.code(), absl::StrCat(input, ": ", s.message()));
  Program program;
  program.preset = (*preset)->name;
  program.descriptors = std::move(code->descriptors);
  program.loops = std::move(code->loops);
  program.steps = std::move(code->steps);
  // The descriptors lie behind everything that they touch of the core's own
  // memory; the other core's follows that.
  const uint64_t own = (*preset)->memory_bytes();
  uint64_t end = 0, far_end = 0;
  const auto reach = [&](int64_t first, uint64_t last) {
    const bool near = static_cast<uint64_t>(first) < own;
    if (near) end = std::max(end, std::min(last, own));
    if (!near || last > own) far_end = std::max(far_end, last);
  };
  for (uint32_t i = 0; i < program.descriptors.size(); ++i) {
    const int64_t further = ReachOf(program.loops, program.steps, i).most;
    for (const compiler::Access& a :
         compiler::AccessesOf(program.descriptors[i], **preset)) {
      if (a.space != compiler::Space::kHbm) continue;
      const Extent span = ExtentOf(a);
      reach(span.low, static_cast<uint64_t>(span.high + further));
    }
  }
  for (const Loop& loop : program.loops) {
    if (loop.conditional())
      reach(static_cast<int64_t>(loop.word), loop.word + 4);
  }
  const auto beat = static_cast<uint64_t>((*preset)->beat_bytes());
  const auto aligned = [beat](uint64_t bytes) {
    const uint64_t unit = std::max<uint64_t>(beat, 128);
    return (bytes + unit - 1) / unit * unit;
  };
  program.prog_addr = aligned(end);
  program.hbm_bytes = std::max(
      aligned(far_end), program.prog_addr + aligned(program.descriptors.size() *
                                                    isa::kDescriptorBytes));
  // What is wrong with it is wrong in the text.
  absl::Status status = ParseProgram(SerializeProgram(program), input).status();
  if (status.ok()) status = WriteProgram(program, output);
  if (!status.ok()) return status;
  std::printf("%s: %d descriptors\n", Printable(output).c_str(),
              static_cast<int>(program.descriptors.size()));
  return absl::OkStatus();
}

struct DisassembleArgs {
  std::string input, preset;
  ModuleArgs module;
};

absl::Status Disassemble(const DisassembleArgs& args) {
  const std::string& input = args.input;
  const auto kind = ModuleKindOf(input, args.module.signature);
  if (!kind.ok()) return kind.status();
  if (absl::Status s = CheckModuleArgs(input, *kind, args.module); !s.ok())
    return s;
  if (*kind != ModuleKind::kNone) {
    const auto preset = ModulePreset(*kind, args.preset, !args.preset.empty());
    if (!preset.ok()) return preset.status();
    const auto whole = ReadModuleProgram(input, *kind, args.module, 0);
    if (!whole.ok()) return whole.status();
    std::fputs(PrintableLines(DisassembleModule(*whole, **preset)).c_str(),
               stdout);
    return absl::OkStatus();
  }
  if (!args.preset.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        input,
        ": --preset is for StableHLO, float and ONNX models; a program "
        "file has its own"));
  }
  const auto program = ReadProgram(input);
  if (!program.ok()) return program.status();
  // A file without a model is one of descriptors alone.
  auto model = runtime::FromProgram(*program, input, /*as_written=*/true);
  if (!model.ok() && !absl::IsFailedPrecondition(model.status()))
    return model.status();
  const std::vector<Program> bare = {*program};
  for (const Program& p : model.ok() ? model->programs : bare)
    std::fputs(PrintableLines(DisassembleProgram(p)).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace

void AddAsmCommands(CLI::App& app, Action& chosen) {
  struct Args {
    std::string input, output = "out.tpu", preset = "edge";
  };
  auto args = std::make_shared<Args>();
  CLI::App* assemble = app.add_subcommand(
      "asm", "Assemble descriptors, as text, to a program file");
  assemble
      ->add_option("text", args->input, "Assembly text; - is standard input")
      ->check(FileName())
      ->required();
  assemble->add_option("-o,--output", args->output, "Program file to write")
      ->check(FileName())
      ->capture_default_str();
  assemble
      ->add_option(
          "--preset", args->preset,
          "Configuration: " + QuantisedPresets() + ", " + FloatPresets())
      ->capture_default_str();
  assemble->callback([args, &chosen] {
    chosen = [args] {
      return OneLine(Assemble(args->input, args->output, args->preset));
    };
  });
  auto listed = std::make_shared<DisassembleArgs>();
  CLI::App* disassemble = app.add_subcommand(
      "disasm",
      "Print the descriptors of a program file, or those and the vector code "
      "that a StableHLO, float or ONNX model becomes");
  disassemble
      ->add_option("program", listed->input,
                   "Program file, or model; - is standard input")
      ->check(FileName())
      ->required();
  disassemble->add_option("--preset", listed->preset,
                          "Configuration that a model is compiled for: " +
                              FloatPresets() + " (default: lite)");
  AddModuleOptions(*disassemble, listed->module);
  disassemble->callback([listed, &chosen] {
    chosen = [listed] { return OneLine(Disassemble(*listed)); };
  });
}

}  // namespace systole::tools
