// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/tools/disasm_module.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/module_lowering.h"
#include "host/compiler/kernels/shard_lowering.h"
#include "host/program/vpu_asm.h"
#include "systole/program.h"

namespace systole::tools {
namespace {

class Listing {
 public:
  explicit Listing(const Preset& preset) : preset_(preset) {}

  void Add(const lanes::DevicePlan& plan) {
    for (const lanes::PlanStep& step : plan.steps) {
      if (step.kernel) {
        Add(step);
        continue;
      }
      const ir::Node& node = *step.node;
      absl::StrAppend(&text_, "; ",
                      lanes::IsControl(node)         ? "loop or branch"
                      : ir::IsCollective(node.op)    ? "exchange"
                      : node.op == ir::Op::kHloShard ? "part of a value"
                                                     : "host",
                      ": ", ir::OpName(node.op), " '", node.name, "'\n\n");
      for (const auto& region : node.regions) {
        const auto inner = plan.regions.find(region.get());
        if (inner == plan.regions.end()) continue;
        absl::StrAppend(&text_, "; region of '", node.name, "'\n\n");
        Add(*inner->second);
        absl::StrAppend(&text_, "; end of a region of '", node.name, "'\n\n");
      }
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  void Add(const lanes::PlanStep& step) {
    const lanes::KernelProgram& program = *step.kernel;
    absl::StrAppendFormat(
        &text_, "; program %d: %d kernels, %d cycles expected\n", ++programs_,
        step.kernels.size(), program.expected_cycles);
    uint64_t at = 0;
    const auto place = [&](int64_t bytes) {
      const auto unit = static_cast<uint64_t>(lanes::ValueAlignment(preset_));
      const uint64_t begin = at;
      at = (at + bytes + unit - 1) / unit * unit;
      return begin;
    };
    std::vector<uint64_t> places;
    for (const int64_t bytes : program.bytes) places.push_back(place(bytes));
    const uint64_t code = place(8 * program.words.size());
    for (size_t i = 0; i < places.size(); ++i) {
      absl::StrAppendFormat(&text_, ";   %s %d at 0x%x, %d bytes\n",
                            i < step.inputs.size() ? "input" : "output",
                            i < step.inputs.size() ? i : i - step.inputs.size(),
                            places[i], program.bytes[i]);
    }
    absl::StrAppendFormat(&text_, ";   code at 0x%x, %d words\n", code,
                          program.words.size());
    size_t kernel = step.kernels.size();
    const auto descriptors = program.Placed(places, code);
    for (size_t i = 0; i < descriptors.size(); ++i) {
      const size_t tag = isa::Halt::Decode(descriptors[i]).header.tag;
      if (tag != kernel && tag < step.kernels.size()) {
        const ir::Node& last = *step.kernels[tag].back();
        absl::StrAppendFormat(
            &text_, "; kernel %d: '%s'%s\n", tag, last.name,
            last.location.empty() ? "" : absl::StrCat(" at ", last.location));
      }
      kernel = tag;
      absl::StrAppendFormat(&text_, "%6d  %s\n", i,
                            systole::Disassemble(descriptors[i]));
    }
    absl::StrAppend(&text_, "; vector code\n",
                    vpu::DisassembleCode(program.words), "\n");
  }

  const Preset& preset_;
  std::string text_;
  int programs_ = 0;
};

}  // namespace

std::string DisassembleModule(const runtime::WholeProgram& program,
                              const Preset& preset) {
  const std::unique_ptr<ir::Module> module = program.DeviceModule();
  lanes::LowerModule(*module, preset);
  Listing listing(preset);
  listing.Add(lanes::PlanFor(*module, preset));
  return listing.Take();
}

}  // namespace systole::tools
