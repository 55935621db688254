// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// compile, asm, disasm, info.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "host/compiler/access.h"
#include "host/tools/checker.h"
#include "host/tools/commands.h"
#include "host/tools/report.h"
#include "systole/compiler.h"
#include "systole/model.h"
#include "systole/program.h"

namespace systole::tools {
namespace {

struct CompileArgs {
  std::string model = "models/mnist_cnn.safetensors", preset = "edge",
              output = "out.tpu";
  compiler::Options options;
};

absl::Status Compile(const CompileArgs& args) {
  const auto preset = PresetByName(args.preset);
  if (!preset.ok()) return preset.status();
  const auto network = model::ReadNetwork(args.model);
  if (!network.ok()) return network.status();
  const auto program =
      compiler::CompileNetwork(*network, **preset, args.options);
  if (!program.ok()) return program.status();
  if (absl::Status s = WriteProgram(*program, args.output); !s.ok()) return s;
  std::printf("%s: %d layers, %d descriptors, %s bytes of HBM\n",
              args.output.c_str(), static_cast<int>(program->layers.size()),
              static_cast<int>(program->descriptors.size()),
              Thousands(static_cast<int64_t>(program->hbm_bytes)).c_str());
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return absl::NotFoundError(absl::StrFormat("%s: cannot be opened", path));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

absl::Status Assemble(const std::string& input, const std::string& output,
                      const std::string& preset_name) {
  const auto preset = PresetByName(preset_name);
  if (!preset.ok()) return preset.status();
  const auto text = ReadText(input);
  if (!text.ok()) return text.status();
  auto descriptors = systole::Assemble(*text, input);
  if (!descriptors.ok()) return descriptors.status();
  Program program;
  program.preset = (*preset)->name;
  program.descriptors = *std::move(descriptors);
  // The descriptors lie behind everything that they touch.
  uint64_t end = 0;
  for (const isa::Descriptor& d : program.descriptors) {
    for (const compiler::Access& a : compiler::AccessesOf(d, **preset)) {
      if (a.space != compiler::Space::kHbm) continue;
      a.ForEachRun([&](int64_t, int64_t last) {
        end = std::max(end, static_cast<uint64_t>(last));
      });
    }
  }
  program.prog_addr = (end + 127) / 128 * 128;
  program.hbm_bytes =
      program.prog_addr +
      (program.descriptors.size() * isa::kDescriptorBytes + 127) / 128 * 128;
  if (absl::Status s = WriteProgram(program, output); !s.ok()) return s;
  std::printf("%s: %d descriptors\n", output.c_str(),
              static_cast<int>(program.descriptors.size()));
  return absl::OkStatus();
}

absl::Status Disassemble(const std::string& input) {
  const auto program = ReadProgram(input);
  if (!program.ok()) return program.status();
  std::fputs(DisassembleProgram(*program).c_str(), stdout);
  return absl::OkStatus();
}

absl::Status Info(const std::string& input) {
  const auto program = ReadProgram(input);
  if (!program.ok()) return program.status();
  const auto preset = PresetByName(program->preset);
  if (!preset.ok()) return preset.status();
  std::printf("preset %s, %d descriptors, %s bytes of HBM\n",
              program->preset.c_str(),
              static_cast<int>(program->descriptors.size()),
              Thousands(static_cast<int64_t>(program->hbm_bytes)).c_str());
  std::printf("expected cycles: %s\n\n",
              Thousands(compiler::EstimateCycles(*program, **preset)).c_str());
  std::vector<LayerRun> runs(program->layers.size());
  CountBytes(*program, **preset, runs);
  Table layers({"layer", "operation", "shape", "MACs", "ideal cycles", "read",
                "written"});
  for (size_t l = 0; l < runs.size(); ++l) {
    const LayerInfo& info = program->layers[l];
    layers.Add({info.name, info.op, info.shape, Thousands(info.macs),
                Thousands(info.ideal_cycles),
                Thousands(static_cast<int64_t>(runs[l].hbm_read_bytes)),
                Thousands(static_cast<int64_t>(runs[l].hbm_write_bytes))});
  }
  Table tensors({"tensor", "type", "shape", "address", "line pitch",
                 "image pitch", "role"});
  for (const TensorInfo& t : program->tensors) {
    tensors.Add({t.name, std::string(ElementTypeName(t.type)),
                 absl::StrFormat("%dx%dx%dx%d", t.n, t.h, t.w, t.channels),
                 absl::StrFormat("0x%x", t.hbm_addr), Thousands(t.pitch),
                 Thousands(t.img_pitch),
                 t.is_input    ? "input"
                 : t.is_output ? "output"
                               : "-"});
  }
  Table segments({"data", "address", "bytes"});
  for (const DataSegment& s : program->segments) {
    segments.Add({s.name, absl::StrFormat("0x%x", s.hbm_addr),
                  Thousands(static_cast<int64_t>(s.data.size()))});
  }
  std::printf("%s\n%s\n%s", layers.ToString().c_str(),
              tensors.ToString().c_str(), segments.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace

void AddCompileCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<CompileArgs>();
  CLI::App* sub =
      app.add_subcommand("compile", "compile a model file to a program file");
  sub->add_option("model", args->model, "model file")->capture_default_str();
  sub->add_option("-o,--output", args->output, "program file to write")
      ->capture_default_str();
  sub->add_option("--preset", args->preset, "configuration: nano, edge, v1")
      ->capture_default_str();
  sub->add_option("--batch", args->options.batch, "images a run")
      ->capture_default_str();
  sub->add_flag("--keep-intermediates", args->options.keep_intermediates,
                "store every layer's output in HBM");
  sub->callback(
      [args, &chosen] { chosen = [args] { return Compile(*args); }; });
}

void AddAsmCommands(CLI::App& app, Action& chosen) {
  struct Args {
    std::string input, output = "out.tpu", preset = "edge";
  };
  auto args = std::make_shared<Args>();
  CLI::App* assemble = app.add_subcommand(
      "asm", "assemble a text of descriptors to a program file");
  assemble->add_option("text", args->input, "assembly text")->required();
  assemble->add_option("-o,--output", args->output, "program file to write")
      ->capture_default_str();
  assemble
      ->add_option("--preset", args->preset, "configuration: nano, edge, v1")
      ->capture_default_str();
  assemble->callback([args, &chosen] {
    chosen = [args] {
      return Assemble(args->input, args->output, args->preset);
    };
  });
  CLI::App* disassemble =
      app.add_subcommand("disasm", "print the descriptors of a program file");
  disassemble->add_option("program", args->input, "program file")->required();
  disassemble->callback([args, &chosen] {
    chosen = [args] { return Disassemble(args->input); };
  });
}

void AddInfoCommand(CLI::App& app, Action& chosen) {
  auto input = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand(
      "info", "describe a program file: layers, tensors, data");
  sub->add_option("program", *input, "program file")->required();
  sub->callback(
      [input, &chosen] { chosen = [input] { return Info(*input); }; });
}

}  // namespace systole::tools
