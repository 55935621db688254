// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/stablehlo/functions.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/files/printable.h"
#include "host/import/mlir/text.h"
#include "host/import/stablehlo/types.h"

namespace systole::import {
namespace {

constexpr absl::string_view kFunction = "vhlo.func_v1";
constexpr int kMaxDepth = 300;  // nesting of calls and regions

// Collects the unsupported operations of all reachable functions. It visits
// each function once.
class SupportCheck {
 public:
  SupportCheck(const mlir::Module& module, const Functions& functions)
      : module_(module), functions_(functions) {}

  absl::Status Run(const mlir::Operation& main) {
    Visit(main);
    if (!status_.ok()) return status_;
    if (refused_.empty()) return absl::OkStatus();
    if (refused_.size() == 1) return absl::UnimplementedError(refused_[0]);
    return absl::UnimplementedError(
        absl::StrCat(refused_.size(),
                     " operations stand in the way:", PrintableList(refused_)));
  }

 private:
  void Visit(const mlir::Operation& function) {
    if (!visited_.insert(&function).second) return;
    calling_.insert(&function);
    Visit(function.regions);
    calling_.erase(&function);
  }

  void Visit(const std::vector<mlir::Region>& regions) {
    if (++depth_ > kMaxDepth) {
      Fail(absl::UnimplementedError("calls and regions are nested too deep"));
    }
    for (const mlir::Region& region : regions) {
      if (region.blocks.size() != 1) {
        Fail(absl::InvalidArgumentError("a region without its one block"));
      }
      if (!status_.ok()) return;
      for (const mlir::ValueId argument : region.blocks[0].arguments) {
        const mlir::Value& value = module_.values[argument];
        const auto type = ConvertParts(*value.type);
        const std::string source = mlir::SourceText(value.location);
        if (!type.ok()) {
          Refuse(
              absl::StrCat("an argument", source.empty() ? "" : " at ", source),
              type.status());
        }
      }
      for (const mlir::Operation& inner : region.blocks[0].operations) {
        if (!status_.ok()) return;
        VisitOperation(inner);
      }
    }
    --depth_;
  }

  void VisitOperation(const mlir::Operation& operation) {
    const OperationRule* rule = FindRule(operation);
    if (rule == nullptr) {
      Refuse(Describe(operation), absl::UnimplementedError("not supported"));
    } else {
      for (const mlir::ValueId result : operation.results) {
        const auto type = ConvertParts(*module_.values[result].type);
        if (!type.ok()) {
          Refuse(Describe(operation), type.status());
          break;
        }
      }
      if (operation.results.empty() && !MayHaveNoResult(operation, *rule)) {
        Refuse(Describe(operation), absl::UnimplementedError("no result"));
      }
    }
    Visit(operation.regions);
    if (rule && rule->conversion == Conversion::kCall) {
      const auto callee = functions_.Callee(operation, *rule);
      if (!callee.ok()) return Fail(callee.status());
      if (calling_.count(*callee) > 0) {
        Fail(Located(operation,
                     absl::UnimplementedError("a function that calls itself")));
        return;
      }
      Visit(**callee);
    }
  }

  void Refuse(const std::string& what, const absl::Status& why) {
    const std::string line = absl::StrCat(what, ": ", why.message());
    if (lines_.insert(line).second) refused_.push_back(line);
  }

  void Fail(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }

  const mlir::Module& module_;
  const Functions& functions_;
  int depth_ = 0;
  std::set<const mlir::Operation*> visited_, calling_;
  std::set<std::string> lines_;
  std::vector<std::string> refused_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Functions> Functions::Of(const mlir::Module& module) {
  Functions functions;
  if (module.root.regions.size() != 1 ||
      module.root.regions[0].blocks.size() != 1) {
    return absl::InvalidArgumentError("a module without its one block");
  }
  for (const mlir::Operation& operation :
       module.root.regions[0].blocks[0].operations) {
    if (operation.name != kFunction) continue;
    const mlir::Attribute* name = operation.Find("sym_name");
    if (name == nullptr || operation.regions.size() != 1 ||
        operation.regions[0].blocks.size() != 1) {
      return absl::InvalidArgumentError(
          "a function without a name or its one block");
    }
    if (!functions.functions_.emplace(name->text, &operation).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two functions '", name->text, "'"));
    }
  }
  return functions;
}

const mlir::Operation* Functions::Find(absl::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

const mlir::Operation* Functions::Main() const {
  if (const mlir::Operation* main = Find("main")) return main;
  const mlir::Operation* only = nullptr;
  for (const auto& [name, function] : functions_) {
    const mlir::Attribute* visibility = function->Find("sym_visibility");
    if (visibility && visibility->text == "private") continue;
    if (only) return nullptr;
    only = function;
  }
  return only;
}

absl::StatusOr<const mlir::Operation*> Functions::Callee(
    const mlir::Operation& call, const OperationRule& rule) const {
  const mlir::Attribute* name = call.Find(rule.callee);
  const mlir::Operation* function = name ? Find(name->text) : nullptr;
  if (function == nullptr) {
    return Located(call, absl::InvalidArgumentError(absl::StrCat(
                             "no function '", name ? name->text : "", "'")));
  }
  return function;
}

absl::Status Functions::CheckSupported(const mlir::Module& module,
                                       const mlir::Operation& main) const {
  return SupportCheck(module, *this).Run(main);
}

const mlir::Block& BlockOf(const mlir::Region& region) {
  return region.blocks[0];
}

std::string Describe(const mlir::Operation& operation) {
  const std::string source = mlir::SourceText(operation.location);
  return absl::StrCat(SourceName(operation.name), source.empty() ? "" : " at ",
                      source);
}

absl::Status Located(const mlir::Operation& operation,
                     const absl::Status& status) {
  return absl::Status(
      status.code(), absl::StrCat(Describe(operation), ": ", status.message()));
}

}  // namespace systole::import
