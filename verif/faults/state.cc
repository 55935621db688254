// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/faults/state.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "verilated.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"

namespace systole::faults {
namespace {

// A signal belongs to the first rule whose words all occur in its path.
struct Rule {
  std::vector<const char*> words;
  const char* structure;
};

const std::vector<Rule>& Rules() {
  static const auto& rules = *new std::vector<Rule>{
      {{".u_queue_ram.u_ram."}, "unit queues: descriptors"},
      {{".u_queue_ram."}, "unit queues: pointers"},
      {{".gen_queue", ".head_q"}, "unit queues: heads"},
      {{".gen_queue", ".head_"}, "unit queues: heads"},
      {{".gen_queue", ".u_post."}, "unit queues: posts in flight"},
      {{".gen_queue", ".u_index."}, "unit queues: indices (reports only)"},
      {{".gen_queue"}, "unit queues: pointers"},
      {{".u_sync."}, "sync flags"},
      {{".u_fault."}, "fault latch"},
      {{".u_vector.", ".u_fetch."}, "vector unit's programs"},
      {{".u_patch."}, "issue port"},
      {{".u_scalar.u_issue."}, "issue port"},
      {{".u_fetch."}, "program fetch"},
      {{".u_sequencer."}, "dispatch"},
      {{".u_control."}, "dispatch"},
      {{".u_load.", "buffer"}, "DMA data"},
      {{".u_store.", "data"}, "DMA data"},
      {{".u_load.", "walk"}, "address registers"},
      {{".u_store.", "walk"}, "address registers"},
      {{".u_sds", "walk"}, "address registers"},
      {{".u_sds", "prepare"}, "address registers"},
      {{".u_vector.", "walk"}, "address registers"},
      {{".u_array."}, "array"},  // its rows are not addresses
      {{".u_core.", "addr"}, "address registers"},
      {{".u_core.", "_row"}, "address registers"},
      {{".u_load."}, "DMA control"},
      {{".u_store."}, "DMA control"},
      {{".u_weight_loader."}, "DMA control"},
      {{".u_weight_fifo", "mem_q"}, "weight FIFO"},
      {{".u_mxu."}, "MXU control"},
      {{".u_accumulators.", "mem_q"}, "accumulators"},
      {{".u_accumulators."}, "accumulator pipeline"},
      {{".u_unified_buffer.", "mem_q"}, "unified buffer"},
      {{".u_unified_buffer."}, "unified buffer ports"},
      {{".u_vector.", "u_regs"}, "vector registers"},
      {{".u_vector."}, "vector unit"},
      {{".u_hbm.", ".u_beats."}, "HBM controller: data"},
      {{".u_hbm.", "data_q"}, "HBM controller: data"},
      {{".u_hbm."}, "HBM controller: control"},
      {{".u_csr."}, "host registers and counters"},
      {{".u_axi_hbm."}, "host's window"},
      {{".u_smem.", "mem_q"}, "SMEM"},
      {{".u_cpu."}, "scalar processor"},
      {{".u_scalar."}, "scalar unit"},
      {{".u_crossing"}, "crossing"},
  };
  return rules;
}

std::map<std::string, uint64_t>& StateBytes() {
  static auto& bytes = *new std::map<std::string, uint64_t>;
  return bytes;
}

absl::Status NoState() {
  return absl::FailedPreconditionError(
      "the model shows no state: it was not built with state.vlt");
}

}  // namespace

std::string StructureOf(const std::string& path) {
  for (const Rule& rule : Rules()) {
    bool all = true;
    for (const char* word : rule.words) all &= absl::StrContains(path, word);
    if (all) return rule.structure;
  }
  return "other";
}

bool RegisterState(const char* preset, uint64_t bytes) {
  return StateBytes().emplace(preset, bytes).second;
}

absl::StatusOr<State> State::Find(const Preset& preset) {
  VerilatedContext* const context = Verilated::threadContextp();
  std::map<std::string, Structure> structures;
  const VerilatedScopeNameMap* const scopes = context->scopeNameMap();
  const auto bytes = StateBytes().find(std::string(preset.name));
  if (scopes == nullptr || bytes == StateBytes().end()) return NoState();
  std::set<const VerilatedSyms*> models;
  for (const auto& [unused, scope] : *scopes) {
    models.insert(scope->symsp());
    if (scope->varsp() == nullptr) continue;
    std::string path = scope->name();
    if (absl::StartsWith(path, "core1.")) continue;
    for (const auto& [name, variable] : *scope->varsp()) {
      if (variable.isParam() || !variable.isPublicRW()) continue;
      Signal signal;
      signal.name = absl::StrCat(path, ".", name);
      if ((preset.chip.smem_bytes == 0 &&
           absl::StrContains(signal.name, ".scalar_")) ||
          (preset.chip.cores == 1 && absl::StrContains(signal.name, ".peer_")))
        continue;
      signal.data = static_cast<uint8_t*>(variable.datap());
      signal.element_bits = static_cast<uint64_t>(
          variable.dims() > variable.udims() ? variable.packed().elements()
                                             : 1);
      signal.element_bytes = variable.entSize();
      signal.elements = 1;
      for (int dim = 1; dim <= variable.udims(); ++dim)
        signal.elements *= static_cast<uint64_t>(variable.elements(dim));
      Structure& structure = structures[StructureOf(signal.name)];
      structure.bits += signal.bits();
      structure.signals.push_back(std::move(signal));
    }
  }
  if (structures.empty()) return NoState();
  State state;
  for (const VerilatedSyms* model : models) {
    state.everything_.emplace_back(reinterpret_cast<const uint8_t*>(model),
                                   bytes->second);
  }
  for (auto& [name, structure] : structures) {
    structure.name = name;
    state.structures_.push_back(std::move(structure));
  }
  return state;
}

namespace {

// The signal of a bit, and the bit's number in it.
std::pair<const Signal*, uint64_t> Locate(const Structure& structure,
                                          uint64_t bit) {
  for (const Signal& signal : structure.signals) {
    if (bit < signal.bits()) return {&signal, bit};
    bit -= signal.bits();
  }
  return {nullptr, 0};
}

}  // namespace

void State::Turn(const Structure& structure, uint64_t bit) const {
  const auto [signal, at] = Locate(structure, bit);
  if (signal == nullptr) return;
  const uint64_t in_element = at % signal->element_bits;
  uint8_t& byte =
      signal->data[at / signal->element_bits * signal->element_bytes +
                   in_element / 8];
  byte = static_cast<uint8_t>(byte ^ 1 << in_element % 8);
}

std::string State::Describe(const Structure& structure, uint64_t bit) {
  const auto [signal, at] = Locate(structure, bit);
  if (signal == nullptr) return "";
  std::string text = signal->name;
  if (signal->elements > 1)
    absl::StrAppendFormat(&text, "[%d]", at / signal->element_bits);
  return absl::StrFormat("%s bit %d", text, at % signal->element_bits);
}

std::pair<std::string, uint64_t> State::WordOf(const Structure& structure,
                                               uint64_t bit) {
  const auto [signal, at] = Locate(structure, bit);
  if (signal == nullptr) return {};
  return {signal->name, at / signal->element_bits};
}

}  // namespace systole::faults
