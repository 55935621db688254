// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The collectives that run in programs of kernels: those to which all processes
// of a program come together, over links. Groups of some of them may be in
// branches that others do not take, and in loops of other lengths; so they are
// not in regions, but in loops whose turns are known.
#ifndef SYSTOLE_HOST_RUNTIME_PLAN_EXCHANGES_H_
#define SYSTOLE_HOST_RUNTIME_PLAN_EXCHANGES_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/kernels/exchanging_program.h"
#include "host/runtime/rendezvous.h"
#include "systole/gen/presets.h"

namespace systole::runtime {

class PlanExchanges : public lanes::Exchanges {
 public:
  // All must outlive this.
  PlanExchanges(const ir::Module& module, const CollectiveGroups& groups,
                int processes, const Preset& preset)
      : groups_(groups), processes_(processes), preset_(preset) {
    Find(module, /*together=*/true);
  }

  int processes() const override { return processes_; }
  std::optional<Member> Of(const ir::Node& node, int process) const override;
  bool HasAny() const;

 private:
  // together: all processes come to the module's nodes equally often.
  void Find(const ir::Module& module, bool together);
  bool GroupsFit(const ir::Node& node, bool together) const;
  // Of a collective_permute: by process, who gives it its value, or -1.
  std::vector<int> SourcesOf(const ir::Node& node) const;

  const CollectiveGroups& groups_;
  const int processes_;
  const Preset& preset_;
  std::set<const ir::Node*> nodes_;  // to which all processes come
};

// Programs of processes, made when they are first needed. Thread-safe.
class ExchangingPrograms {
 public:
  using Program = std::shared_ptr<const lanes::KernelProgram>;
  // Errors: those of ExchangingProgram::For.
  absl::StatusOr<Program> Of(const lanes::ExchangingProgram& program,
                             int process, const std::vector<int>& cores,
                             int columns);

 private:
  using Key =
      std::tuple<const lanes::ExchangingProgram*, int, std::vector<int>, int>;
  std::mutex mutex_;
  std::map<Key, Program> made_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_PLAN_EXCHANGES_H_
