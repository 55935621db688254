// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/stablehlo/stablehlo_importer.h"

#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "host/files/jax_export.h"
#include "host/files/printable.h"
#include "host/import/mlir/bytecode.h"
#include "host/import/mlir/text.h"
#include "host/import/stablehlo/functions.h"
#include "host/import/stablehlo/graph_builder.h"
#include "host/ir/calls.h"
#include "host/ir/verifier.h"

namespace systole::import {
namespace {

using mlir::Attribute;

constexpr absl::string_view kProducer = "StableHLO_v";
constexpr int kNewestMajor = 1;

// Makes names unique by appending a number.
class UniqueNames {
 public:
  std::string Take(absl::string_view wanted) {
    std::string name(wanted);
    for (int i = 1; !taken_.insert(name).second; ++i) {
      name = absl::StrCat(wanted, ".", i);
    }
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
};

// The dictionary of argument or result number `index`, or null.
const Attribute* Entry(const mlir::Operation& function, const char* list,
                       size_t index) {
  const Attribute* all = function.Find(list);
  if (all == nullptr || all->kind != Attribute::Kind::kArray ||
      index >= all->elements.size()) {
    return nullptr;
  }
  return all->elements[index];
}

std::string Sharding(const Attribute* entry) {
  if (entry == nullptr) return "";
  if (const Attribute* sharding = entry->Find("sdy.sharding")) {
    return mlir::AttributeText(*sharding);
  }
  const Attribute* sharding = entry->Find("mhlo.sharding");
  return sharding ? std::string(sharding->text) : "";
}

bool IsNumber(const Attribute* attribute) {
  return attribute && attribute->kind == Attribute::Kind::kInteger &&
         attribute->integers.size() == 1;
}

absl::StatusOr<StableHloArgument> ReadArgument(const mlir::Operation& main,
                                               size_t index, size_t results) {
  StableHloArgument argument;
  const Attribute* entry = Entry(main, "arg_attrs", index);
  argument.sharding = Sharding(entry);
  if (entry == nullptr) return argument;
  const Attribute* aliased = entry->Find("tf.aliasing_output");
  if (IsNumber(aliased)) {
    const int64_t output = aliased->integers[0];
    if (output < 0 || output >= static_cast<int64_t>(results)) {
      return absl::InvalidArgumentError(absl::StrCat("argument ", index,
                                                     " is to become output ",
                                                     output, " of ", results));
    }
    argument.aliased_output = static_cast<int>(output);
  }
  const Attribute* donor = entry->Find("jax.buffer_donor");
  argument.donated = donor && donor->kind == Attribute::Kind::kBoolean &&
                     donor->integers[0] != 0;
  return argument;
}

// A count attribute of the module; 1 if it is missing.
int ReadCount(const mlir::Module& source, const char* name) {
  const Attribute* count = source.root.Find(name);
  return IsNumber(count) && count->integers[0] > 0 &&
                 count->integers[0] < 1 << 20
             ? static_cast<int>(count->integers[0])
             : 1;
}

// The name of an argument in the source, for example params['w'].
absl::string_view ArgumentName(const mlir::Value& argument) {
  const Attribute* location = argument.location;
  return location && location->kind == Attribute::Kind::kNameLocation
             ? location->elements[0]->text
             : absl::string_view("argument");
}

// The sharding of an argument or result, if it has one of sdy. The dimension of
// the parts of complex numbers is not divided.
absl::StatusOr<std::optional<partition::Sharding>> TilesOf(
    const Attribute* entry, const ir::Type& type, bool is_complex,
    const Shardings& shardings) {
  const Attribute* found = entry ? entry->Find("sdy.sharding") : nullptr;
  if (found == nullptr || shardings.partitions() == 1) return std::nullopt;
  const size_t rank = type.shape.size() - (is_complex ? 1 : 0);
  absl::StatusOr<partition::Sharding> read = shardings.Read(*found, rank);
  if (!read.ok()) return read.status();
  if (is_complex) read->dims.emplace_back();
  return std::optional(*std::move(read));
}

absl::Status About(const char* what, size_t index, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(what, " ", index, ": ", status.message()));
}

absl::Status ConvertMain(const mlir::Module& source,
                         const mlir::Operation& main,
                         const Functions& functions,
                         StableHloProgram& program) {
  const Shardings shardings(source, program.num_partitions);
  ImportContext context{source, functions, shardings, program.shardings};
  GraphBuilder builder(context, *program.module);
  const mlir::Block& body = BlockOf(main.regions[0]);
  UniqueNames inputs, outputs;
  for (size_t i = 0; i < body.arguments.size(); ++i) {
    const absl::Status status = builder.AddParameter(
        body.arguments[i], absl::StrCat("arg", i),
        inputs.Take(ArgumentName(source.values[body.arguments[i]])));
    if (!status.ok()) return status;
  }
  const auto parts = builder.Convert(body);
  if (!context.refused.empty()) {
    return absl::UnimplementedError(
        context.refused.size() == 1
            ? context.refused[0]
            : absl::StrCat(context.refused.size(),
                           " operations stand in the way:",
                           PrintableList(context.refused)));
  }
  if (!parts.ok()) return parts.status();
  const auto& nodes = program.module->nodes();
  const bool acts = std::any_of(nodes.begin(), nodes.end(), [](const auto& n) {
    return ir::HasEffect(*n);
  });
  if (parts->empty() && !body.arguments.empty() && !acts) {
    return absl::UnimplementedError("the program has no results");
  }
  auto results = builder.Outputs(body, *parts);
  if (!results.ok()) return results.status();
  for (size_t i = 0; i < results->size(); ++i) {
    const Attribute* entry = Entry(main, "res_attrs", i);
    const Attribute* name = entry ? entry->Find("jax.result_info") : nullptr;
    ir::Output& output = (*results)[i];
    output.name =
        outputs.Take(name && !name->text.empty() ? name->text : "result");
    auto tiles =
        TilesOf(entry, output.node.type(), !output.stored.empty(), shardings);
    program.module->outputs.push_back(std::move(output));
    if (!tiles.ok()) return About("output", i, tiles.status());
    const Attribute* memory = entry ? entry->Find("mhlo.memory_kind") : nullptr;
    program.results.push_back({Sharding(entry), *std::move(tiles),
                               memory ? std::string(memory->text) : ""});
  }
  for (size_t i = 0; i < body.arguments.size(); ++i) {
    auto argument = ReadArgument(main, i, results->size());
    if (!argument.ok()) return argument.status();
    ir::Node& input = *program.module->inputs()[i];
    input.attr<ir::ParameterAttributes>().donated =
        argument->donated || argument->aliased_output;
    auto tiles = TilesOf(Entry(main, "arg_attrs", i), input.type,
                         !input.attr<ir::ParameterAttributes>().stored.empty(),
                         shardings);
    if (!tiles.ok()) return About("argument", i, tiles.status());
    argument->tiles = *std::move(tiles);
    program.arguments.push_back(*std::move(argument));
  }
  program.module->RemoveUnused();
  return ir::Verify(*program.module);
}

absl::Status CheckVersion(absl::string_view producer,
                          StableHloProgram& program) {
  if (producer.substr(0, kProducer.size()) != kProducer) {
    return absl::OkStatus();
  }
  program.version = std::string(producer.substr(kProducer.size()));
  int major = 0;
  if (std::sscanf(program.version.c_str(), "%d.", &major) != 1 ||
      major > kNewestMajor) {
    return absl::UnimplementedError(
        absl::StrCat("StableHLO version ", program.version,
                     "; versions 0.9 to ", kNewestMajor, ".x are supported"));
  }
  return absl::OkStatus();
}

void ReadMeshes(const mlir::Module& source, StableHloProgram& program) {
  for (const mlir::Operation& operation :
       source.root.regions[0].blocks[0].operations) {
    const Attribute* name = operation.Find("sym_name");
    const Attribute* mesh = operation.Find("mesh");
    if (operation.name == "sdy.mesh" && name && mesh) {
      program.meshes.emplace_back(std::string(name->text),
                                  mlir::AttributeText(*mesh));
    }
  }
}

}  // namespace

absl::StatusOr<StableHloProgram> ImportStableHlo(absl::string_view bytes) {
  if (IsJaxExport({bytes.data(), bytes.size()})) {
    const absl::StatusOr<std::string_view> artifact =
        ModuleOfJaxExport({bytes.data(), bytes.size()});
    if (!artifact.ok()) return artifact.status();
    bytes = {artifact->data(), artifact->size()};
  }
  const auto source = mlir::ReadBytecode(bytes);
  if (!source.ok()) return source.status();
  StableHloProgram program;
  absl::Status status = CheckVersion((*source)->producer, program);
  if (!status.ok()) return status;
  const absl::StatusOr<Functions> functions = Functions::Of(**source);
  if (!functions.ok()) return functions.status();
  const mlir::Operation* main = functions->Main();
  if (main == nullptr) {
    return absl::InvalidArgumentError(
        "no function 'main' of vhlo: not a portable StableHLO artifact");
  }
  status = functions->CheckSupported(**source, *main);
  if (!status.ok()) return status;
  const Attribute* name = (*source)->root.Find("sym_name");
  program.module =
      std::make_unique<ir::Module>(name ? std::string(name->text) : "main");
  program.num_replicas = ReadCount(**source, "mhlo.num_replicas");
  program.num_partitions = ReadCount(**source, "mhlo.num_partitions");
  ReadMeshes(**source, program);
  status = ConvertMain(**source, *main, *functions, program);
  if (!status.ok()) return status;
  return program;
}

absl::StatusOr<partition::GlobalProgram> GlobalProgramOf(
    StableHloProgram& program) {
  partition::GlobalProgram global;
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    const StableHloArgument& argument = program.arguments[i];
    if (!argument.tiles && !argument.sharding.empty()) {
      return absl::UnimplementedError(
          absl::StrCat("argument ", i, ": the sharding '", argument.sharding,
                       "' is not of Shardy, which jax has unless "
                       "jax_use_shardy_partitioner is turned off"));
    }
    global.inputs.push_back(argument.tiles);
  }
  for (const StableHloResult& result : program.results)
    global.outputs.push_back(result.tiles);
  global.module = std::move(program.module);
  global.devices = program.num_partitions;
  global.suggested = std::move(program.shardings.suggested);
  global.marks = std::move(program.shardings.marks);
  return global;
}

}  // namespace systole::import
