// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The collectives that run in programs of kernels: those that all processes of
// a program do together over links.
#ifndef SYSTOLE_HOST_RUNTIME_PLAN_EXCHANGES_H_
#define SYSTOLE_HOST_RUNTIME_PLAN_EXCHANGES_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
  PlanExchanges(const CollectiveGroups& groups, int processes,
                const Preset& preset)
      : groups_(groups), processes_(processes), preset_(preset) {}

  std::optional<Member> Of(const ir::Node& node, int process) const override;
  // Whether a module has any, outside of regions.
  bool HasAny(const ir::Module& module) const;

 private:
  const CollectiveGroups& groups_;
  const int processes_;
  const Preset& preset_;
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
