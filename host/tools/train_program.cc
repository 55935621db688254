// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_program.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/read_file.h"
#include "host/ir/evaluate.h"
#include "host/tools/module_file.h"

namespace systole::tools {
namespace {

using Kind = TrainArgument::Kind;

constexpr char kInit[] = "init.mlirbc", kStep[] = "step.mlirbc",
               kEvaluate[] = "evaluate.mlirbc";
constexpr char kRules[] = "; docs/training.md has the rules";

absl::Status Wrong(const std::string& file, const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", text));
}

bool Same(const ir::Type& a, const ir::Type& b) {
  return a.element == b.element && a.shape == b.shape;
}

const std::string& NameOf(const ir::Node& input) {
  return input.attr<ir::ParameterAttributes>().name;
}

std::string Text(const ir::Type& type) { return ValuesText(type, ""); }

// Names as they are told apart: of equal ones the later have a number.
std::string Unique(std::string name, std::set<std::string>& taken) {
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i)
    unique = absl::StrCat(name, "_", i);
  return unique;
}

absl::StatusOr<std::unique_ptr<ir::Module>> Read(const std::string& file) {
  const auto kind = ModuleKindOf(file, "");
  if (!kind.ok()) return kind.status();
  if (*kind != ModuleKind::kStableHlo)
    return Wrong(file, "is not StableHLO as jax.export serialises it");
  auto module = ReadModuleFile(file, *kind, {});
  if (!module.ok()) return module;
  for (const ir::Node* input : (*module)->inputs()) {
    if (!input->attr<ir::ParameterAttributes>().stored.empty())
      return Wrong(file, absl::StrCat("argument '", NameOf(*input),
                                      "' is of complex numbers"));
  }
  return module;
}

absl::StatusOr<TrainArgument> ArgumentOf(const std::string& file,
                                         const ir::Node& input) {
  TrainArgument argument;
  argument.type = input.type;
  argument.name = KeyOf(NameOf(input));
  if (argument.name.empty()) argument.name = NameOf(input);
  if (!input.type.shape.empty()) return argument;
  const bool whole = ir::IsInteger(input.type.element) &&
                     ir::ElementBytes(input.type.element) == 4;
  if (argument.name == "rate" &&
      input.type.element == ir::ElementType::kFloat32) {
    argument.kind = Kind::kRate;
  } else if (argument.name == "step" && whole) {
    argument.kind = Kind::kStep;
  } else if (argument.name == "seed" && whole) {
    argument.kind = Kind::kSeed;
  } else {
    return Wrong(file, absl::StrCat("argument '", NameOf(input), "' is ",
                                    Text(input.type),
                                    ": single values are 'rate' (float32), "
                                    "'step' and 'seed' (int32 or uint32), by "
                                    "the names of the function's arguments",
                                    kRules));
  }
  return argument;
}

// The arguments behind the state, which must be the module's first ones.
absl::Status AddArguments(const TrainProgram& program, const ir::Module& module,
                          TrainModule& to, int64_t& batch) {
  const auto& inputs = module.inputs();
  const size_t count = program.state.size();
  if (inputs.size() < count) {
    return Wrong(to.file,
                 absl::StrFormat("takes %d values, the state that %s makes has "
                                 "%d; give jax.jit keep_unused=True",
                                 inputs.size(), kInit, count));
  }
  for (size_t i = 0; i < count; ++i) {
    if (Same(inputs[i]->type, program.state[i].type)) continue;
    return Wrong(to.file, absl::StrFormat(
                              "argument %d, '%s', is %s, but result %d of "
                              "%s is %s%s",
                              i, NameOf(*inputs[i]), Text(inputs[i]->type), i,
                              kInit, Text(program.state[i].type), kRules));
  }
  // An argument without a use is missing unless JAX is told to keep it.
  const bool paths =
      NameOf(*inputs[0]).find_first_of("[.") != std::string::npos;
  const std::string root = RootOf(NameOf(*inputs[0]));
  for (size_t i = 1; i < inputs.size() && paths; ++i) {
    if ((RootOf(NameOf(*inputs[i])) == root) == (i < count)) continue;
    return Wrong(to.file, absl::StrFormat(
                              "the state that %s makes has %d values, but "
                              "argument %d is '%s' and argument 0 '%s': give "
                              "jax.jit keep_unused=True%s",
                              kInit, count, i, NameOf(*inputs[i]),
                              NameOf(*inputs[0]), kRules));
  }
  std::set<std::string> names;
  for (size_t i = count; i < inputs.size(); ++i) {
    auto argument = ArgumentOf(to.file, *inputs[i]);
    if (!argument.ok()) return argument.status();
    if (!names.insert(argument->name).second)
      return Wrong(to.file, absl::StrCat("has two arguments '", argument->name,
                                         "' behind the state"));
    if (argument->kind == Kind::kData) {
      const int64_t size = argument->type.shape[0];
      if (batch == 0) batch = size;
      if (size < 1 || size != batch) {
        return Wrong(to.file, absl::StrFormat(
                                  "argument '%s' is %s: the first dimension "
                                  "is the batch, which is %d",
                                  argument->name, Text(argument->type), batch));
      }
    }
    to.arguments.push_back(*std::move(argument));
  }
  if (batch == 0)
    return Wrong(to.file,
                 absl::StrCat("takes no data behind the state", kRules));
  return absl::OkStatus();
}

absl::Status AddStep(std::unique_ptr<ir::Module> module,
                     TrainProgram& program) {
  TrainModule& step = program.step;
  const auto& outputs = module->outputs;
  if (absl::Status s = AddArguments(program, *module, step, program.batch);
      !s.ok())
    return s;
  if (outputs.size() < program.state.size()) {
    return Wrong(step.file,
                 absl::StrFormat("has %d results, the state that %s makes has "
                                 "%d",
                                 outputs.size(), kInit, program.state.size()));
  }
  std::set<std::string> names, metrics;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::Type& type = outputs[i].node.type();
    if (i < program.state.size()) {
      StateTensor& tensor = program.state[i];
      tensor.name = Unique(PathOf(NameOf(*module->inputs()[i])), names);
      if (tensor.name == "__metadata__")
        return Wrong(step.file,
                     "the state may not have the name "
                     "'__metadata__': checkpoints need it");
      if (Same(type, tensor.type)) continue;
      return Wrong(step.file,
                   absl::StrFormat("result %d, '%s', is %s, but argument %d, "
                                   "'%s', is %s%s",
                                   i, outputs[i].name, Text(type), i,
                                   NameOf(*module->inputs()[i]),
                                   Text(tensor.type), kRules));
    }
    if (type.elements() != 1 || !outputs[i].stored.empty()) {
      return Wrong(step.file,
                   absl::StrFormat("result '%s' behind the state is %s, a "
                                   "single value is needed%s",
                                   outputs[i].name, Text(type), kRules));
    }
    const std::string key = KeyOf(outputs[i].name);
    const bool only = i + 1 == outputs.size() && i == program.state.size();
    step.results.push_back(Unique(!key.empty() ? key
                                  : only       ? "loss"
                                               : outputs[i].name,
                                  metrics));
  }
  step.program = runtime::WholeProgram::Of(std::move(module));
  return absl::OkStatus();
}

absl::Status AddEvaluate(std::unique_ptr<ir::Module> module,
                         TrainProgram& program) {
  TrainModule evaluate = {program.folder + "/" + kEvaluate};
  int64_t batch = 0;
  if (absl::Status s = AddArguments(program, *module, evaluate, batch); !s.ok())
    return s;
  for (const TrainArgument& argument : evaluate.arguments) {
    if (argument.kind != Kind::kData)
      return Wrong(evaluate.file, absl::StrCat("takes '", argument.name,
                                               "', which is for steps only"));
  }
  if (module->outputs.empty()) return Wrong(evaluate.file, "has no results");
  std::set<std::string> names;
  for (const ir::Output& output : module->outputs) {
    if (output.node.type().shape != ir::Ints{batch} || !output.stored.empty()) {
      return Wrong(evaluate.file,
                   absl::StrFormat("result '%s' is %s: one value is needed for "
                                   "each of the %d samples of a batch%s",
                                   output.name, Text(output.node.type()), batch,
                                   kRules));
    }
    const std::string key = KeyOf(output.name);
    const bool only = module->outputs.size() == 1;
    evaluate.results.push_back(Unique(!key.empty() ? key
                                      : only       ? kRight
                                                   : output.name,
                                      names));
    if (evaluate.results.back() == kRight &&
        output.node.type().element != ir::ElementType::kBool) {
      return Wrong(evaluate.file,
                   absl::StrFormat("result 'right' is %s: truth values are "
                                   "needed%s",
                                   Text(output.node.type()), kRules));
    }
  }
  evaluate.program = runtime::WholeProgram::Of(std::move(module));
  program.evaluate = std::move(evaluate);
  return absl::OkStatus();
}

// Keys of a path as JAX writes it: ['a'], ["it's"], [0], .b. Empty: it is none.
std::vector<std::string> KeysOf(absl::string_view name) {
  std::vector<std::string> keys;
  size_t at = name.find_first_of("[.");
  while (at < name.size()) {
    if (name[at] == '.') {
      const size_t end =
          std::min(name.size(), name.find_first_of("[.", at + 1));
      keys.emplace_back(name.substr(at + 1, end - at - 1));
      at = end;
      continue;
    }
    if (name[at] != '[' || at + 1 >= name.size()) return {};
    const char quote = name[at + 1];
    const bool quoted = quote == '\'' || quote == '"';
    const std::string close = quoted ? std::string{quote, ']'} : "]";
    const size_t begin = at + (quoted ? 2 : 1), end = name.find(close, begin);
    if (end == absl::string_view::npos) return {};
    keys.emplace_back(name.substr(begin, end - begin));
    at = end + close.size();
  }
  return keys;
}

}  // namespace

std::string PathOf(absl::string_view name) {
  const std::vector<std::string> keys = KeysOf(name);
  return keys.empty() ? std::string(name) : absl::StrJoin(keys, ".");
}

std::string RootOf(absl::string_view name) {
  return std::string(name.substr(0, name.find_first_of("[.")));
}

std::string KeyOf(absl::string_view name) {
  const std::vector<std::string> keys = KeysOf(name);
  const bool named =
      !keys.empty() && !keys.back().empty() &&
      !std::all_of(keys.back().begin(), keys.back().end(), absl::ascii_isdigit);
  return named ? keys.back() : "";
}

absl::StatusOr<TrainProgram> ReadTrainProgram(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(
        absl::StrCat(folder, ": no such folder; a training is a folder with ",
                     kInit, ", ", kStep, " and ", kEvaluate, kRules));
  }
  TrainProgram program;
  program.folder = folder;
  program.step.file = folder + "/" + kStep;
  const std::string init = folder + "/" + kInit;
  uLong crc = 0;
  for (const std::string& file : {init, program.step.file}) {
    const auto bytes = ReadFile(file);
    if (!bytes.ok()) return bytes.status();
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes->data()),
                  bytes->size());
  }
  program.digest = absl::StrFormat("%08x", crc);
  auto module = Read(init);
  if (!module.ok()) return module.status();
  const auto& inputs = (*module)->inputs();
  program.seeded = inputs.size() == 1;
  if (inputs.size() > 1 ||
      (program.seeded &&
       (!inputs[0]->type.shape.empty() ||
        (inputs[0]->type.element != ir::ElementType::kUint32 &&
         inputs[0]->type.element != ir::ElementType::kInt32)))) {
    return Wrong(init,
                 absl::StrFormat("argument %d, '%s', is %s: at most a seed "
                                 "(int32 or uint32) is taken%s",
                                 inputs.size() - 1, NameOf(*inputs.back()),
                                 Text(inputs.back()->type), kRules));
  }
  for (const ir::Output& output : (*module)->outputs) {
    if (!output.stored.empty())
      return Wrong(init, absl::StrCat("result '", output.name,
                                      "' is of complex numbers"));
    program.state.push_back({output.name, output.node.type()});
  }
  if (program.state.empty()) return Wrong(init, "has no results");
  program.init = *std::move(module);
  module = Read(program.step.file);
  if (!module.ok()) return module.status();
  if (absl::Status s = AddStep(*std::move(module), program); !s.ok()) return s;
  const std::string evaluate = folder + "/" + kEvaluate;
  if (!std::filesystem::exists(evaluate, error)) return program;
  module = Read(evaluate);
  if (!module.ok()) return module.status();
  if (absl::Status s = AddEvaluate(*std::move(module), program); !s.ok())
    return s;
  return program;
}

absl::StatusOr<std::vector<ir::Literal>> InitialState(
    const TrainProgram& program, uint32_t seed) {
  ir::Literals inputs;
  if (program.seeded) {
    inputs.push_back(
        program.init->inputs()[0]->type.element == ir::ElementType::kUint32
            ? ir::Literal(std::vector<uint32_t>{seed})
            : ir::Literal(std::vector<int32_t>{static_cast<int32_t>(seed)}));
  }
  auto state = ir::Evaluation().Run(*program.init, std::move(inputs));
  if (state.ok()) return state;
  return absl::Status(
      state.status().code(),
      absl::StrCat(program.folder, "/", kInit, ": ", state.status().message()));
}

}  // namespace systole::tools
