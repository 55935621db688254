// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// compile: a model's file to a program file.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/data_file.h"
#include "host/files/printable.h"
#include "host/files/write_file.h"
#include "host/ir/text.h"
#include "host/runtime/build.h"
#include "host/runtime/looped.h"
#include "host/tools/commands.h"
#include "host/tools/describe.h"
#include "host/tools/options.h"
#include "host/tools/report.h"

namespace systole::tools {
namespace {

struct CompileArgs {
  std::string model = DataFile("models/mnist_cnn.safetensors",
                               "models/mnist_cnn.safetensors"),
              preset = "edge", output = "out.tpu";
  bool print_ir = false, constants = false, json = false, loops = false;
  std::string host_operators = "allow", signature;
  std::vector<std::string> print_after;
  compiler::Options options;
};

// What is asked for behind each step: printed at once, or kept for JSON.
class IrPrinter {
 public:
  explicit IrPrinter(const CompileArgs& args) : args_(args) {
    print_options_.elide_constants = !args.constants;
  }

  void Module(const std::string& step, const ir::Module& module) {
    if (Wanted(step)) Print(step, ir::Print(module, print_options_));
  }
  void Text(const std::string& step, const std::function<std::string()>& text) {
    if (Wanted(step)) Print(step, text());
  }
  // A list of {"after": step, "text": IR}.
  const nlohmann::ordered_json& texts() const { return texts_; }
  // A name that no step had.
  absl::Status CheckNames() const {
    for (const std::string& name : args_.print_after) {
      if (std::find(steps_.begin(), steps_.end(), name) == steps_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--print-ir-after ", name, ": there are ",
                         absl::StrJoin(steps_, ", ")));
      }
    }
    return absl::OkStatus();
  }

 private:
  bool Wanted(const std::string& step) {
    steps_.push_back(step);
    return args_.print_ir ||
           std::find(args_.print_after.begin(), args_.print_after.end(),
                     step) != args_.print_after.end();
  }
  void Print(const std::string& step, const std::string& text) {
    if (args_.json) {
      texts_.push_back({{"after", step}, {"text", text}});
    } else {
      std::printf("// after %s\n%s\n", step.c_str(),
                  PrintableLines(text).c_str());
    }
  }

  const CompileArgs& args_;
  nlohmann::ordered_json texts_ = nlohmann::ordered_json::array();
  ir::PrintOptions print_options_;
  std::vector<std::string> steps_;
};

absl::Status Compile(const CompileArgs& args) {
  const auto preset = PresetByName(args.preset);
  if (!preset.ok()) return preset.status();
  absl::Status place = CheckDistinct({args.output}, {args.model});
  if (place.ok()) place = WithHint(CheckWritable(args.output), kOtherOutput);
  if (!place.ok()) return place;
  const auto start = std::chrono::steady_clock::now();
  IrPrinter printer(args);
  auto source = runtime::ReadSource(
      args.model,
      [&](const std::string& pass, const ir::Module& module) {
        printer.Module(pass, module);
      },
      *preset, args.signature, args.host_operators == "alone");
  if (!source.ok()) return source.status();
  const lower::Lowered& lowered = source->lowered;
  printer.Module("lowering-head", lowered.head());
  printer.Text("lowering", [&] { return PlacementText(lowered.placements); });
  for (size_t i = 1; i + 1 < lowered.parts.size(); ++i)
    printer.Module(absl::StrCat("lowering-part", i), *lowered.parts[i]);
  printer.Module("lowering-tail", lowered.tail());
  if (absl::Status s = CheckHostOperators(args.host_operators, args.model,
                                          lowered.placements);
      !s.ok())
    return s;
  compiler::Options options = args.options;
  options.observer = [&](const std::string& step,
                         const std::function<std::string()>& text) {
    printer.Text(step, text);
  };
  source->module.reset();  // its constants are those of the networks again
  auto model = runtime::Build(*source, **preset, options);
  if (!model.ok()) return model.status();
  if (absl::Status s = printer.CheckNames(); !s.ok()) return s;
  size_t written = 0;
  int64_t written_cycles = 0;
  if (args.loops) {
    auto looped = runtime::BuildLooped(*source, **preset, args.options);
    if (!looped.ok()) return looped.status();
    for (const Program& program : looped->programs) {
      written += program.descriptors.size();
      written_cycles += compiler::EstimateCycles(program, **preset);
    }
    if (absl::Status s = runtime::WriteModel(*looped, args.output); !s.ok())
      return s;
  } else if (absl::Status s = runtime::WriteModel(*model, args.output);
             !s.ok()) {
    return s;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (args.json) {
    nlohmann::ordered_json json = InfoJson(*model, **preset);
    json["file"] = args.output;
    json["compile_seconds"] = seconds;
    if (!printer.texts().empty()) json["ir"] = printer.texts();
    PrintJson(json);
    return absl::OkStatus();
  }
  std::printf("%s\n", PlacementText(model->placements).c_str());
  size_t layers = 0, descriptors = 0;
  int64_t cycles = 0;
  for (const Program& program : model->programs) {
    layers += program.layers.size();
    descriptors += program.descriptors.size();
    cycles += compiler::EstimateCycles(program, **preset);
  }
  std::printf(
      "%s: %s%s, %d descriptors, %s bytes of HBM, %s cycles expected; "
      "compiled in %.2f s\n",
      Printable(args.output).c_str(),
      model->programs.size() > 1
          ? absl::StrCat(model->programs.size(), " programs, ").c_str()
          : "",
      Counted(layers, "layer").c_str(), static_cast<int>(descriptors),
      Thousands(static_cast<int64_t>(model->hbm_bytes())).c_str(),
      Thousands(cycles).c_str(), seconds);
  if (args.loops)
    std::printf("with loops: %d descriptors, %s cycles expected\n",
                static_cast<int>(written), Thousands(written_cycles).c_str());
  return absl::OkStatus();
}

}  // namespace

void AddCompileCommand(CLI::App& app, Action& chosen) {
  auto args = std::make_shared<CompileArgs>();
  CLI::App* sub =
      app.add_subcommand("compile", "Compile a model to a program file");
  sub->add_option("model", args->model,
                  "Model to compile: TensorFlow Lite (.tflite) or network "
                  "(.safetensors); - is standard input")
      ->check(FileName())
      ->capture_default_str();
  sub->add_option("-o,--output", args->output, "Program file to write")
      ->check(FileName())
      ->capture_default_str();
  sub->add_option("--preset", args->preset,
                  "Configuration: " + QuantisedPresets())
      ->capture_default_str();
  sub->add_option("--batch", args->options.batch, "Images per run")
      ->check(WholeNumber(1, kMostImages))
      ->capture_default_str();
  sub->add_flag("--loops", args->loops,
                "Write repeated descriptors as loops, for a smaller file");
  sub->add_flag("--keep-intermediates", args->options.keep_intermediates,
                "Store the output of every layer in HBM");
  sub->add_flag("--print-ir", args->print_ir,
                "Print the graph, and what it is lowered to, after each step");
  sub->add_option(
      "--print-ir-after", args->print_after,
      "Print the same after this step only; may be given again. Steps: input, "
      "the name of a pass of the graph, lowering-head, lowering, "
      "lowering-tail, plan, column-joining, channel-grouping, vector-fusion, "
      "epilogue-joining, tiling, tile-sharing, memory-planning, descriptors, "
      "dependence-analysis, scheduling, sync-flags");
  sub->add_flag("--print-constants", args->constants,
                "Print constants in full, so that the text can be read back");
  AddHostOperatorsOption(*sub, args->host_operators);
  AddSignatureOption(*sub, args->signature);
  AddVerboseOption(*sub);
  sub->add_flag("--json", args->json,
                "Print JSON, as `systole info --json` does. Its member \"ir\" "
                "is what --print-ir asks for");
  sub->callback([args, &chosen] {
    if (args->constants && !args->print_ir && args->print_after.empty())
      throw CLI::RequiresError("--print-constants",
                               "--print-ir or --print-ir-after");
    chosen = [args] { return OneLine(Compile(*args)); };
  });
}

}  // namespace systole::tools
