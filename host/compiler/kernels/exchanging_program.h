// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A program of kernels and collectives, which run at the same time where none
// waits for the other. It differs from process to process.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_EXCHANGING_PROGRAM_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_EXCHANGING_PROGRAM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "host/compiler/collectives/collective_spec.h"
#include "host/compiler/kernels/collective_order.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/compiler/kernels/kernel_link.h"
#include "host/compiler/kernels/kernel_program.h"
#include "host/ir/module.h"
#include "systole/gen/presets.h"

namespace systole::lanes {

// What a plan has to know of collectives.
class Exchanges {
 public:
  struct Member {
    // The group is processes by position; without memory.
    compiler::CollectiveSpec spec;
    int position = 0;
    std::vector<int64_t> out_bytes;  // of each vector
    // The result of position p begins at byte p * part_bytes of its vector.
    std::vector<int64_t> part_bytes;
  };
  virtual ~Exchanges() = default;
  virtual int processes() const = 0;
  // Nothing: it is not done by programs of the cores. Or else every process
  // comes to it, in a group of the same size.
  virtual std::optional<Member> Of(const ir::Node& node, int process) const = 0;
};

class ExchangingProgram {
 public:
  // Operands have numbers: first the inputs and outputs of the plan's step,
  // then those of the collectives.
  struct Collective {
    const ir::Node* node = nullptr;
    Exchanges::Member member;  // of process 0
    std::vector<int> in, out;  // of each vector
    int scratch = 0;
    int64_t scratch_bytes = 0;
    int64_t cycles = 0;  // expected
    // Of the other members by position: of each, as many as this one has.
    int others = 0;
  };

  // A step of kernels, or of a collective.
  struct Part {
    PlanStep step;
    std::vector<int> operands;
  };

  // parts: in an order in which they may run one after the other. bytes: of the
  // step's inputs and outputs. `exchanges` must outlive this.
  ExchangingProgram(std::vector<Part> parts, std::vector<int64_t> bytes,
                    const Exchanges& exchanges, const Preset& preset);

  const std::vector<Collective>& collectives() const { return collectives_; }
  // Nodes of the kernels, by tag; the collectives' tags follow.
  std::vector<std::vector<const ir::Node*>> kernels() const;
  // As a process takes part in a collective.
  Exchanges::Member MemberOf(const Collective& collective, int process) const {
    return *exchanges_.Of(*collective.node, process);
  }
  // Of an operand, where the value of a process begins: after a reduce_scatter,
  // it has its part of the vector.
  int64_t OffsetOf(int operand, int process) const;
  // Whether the collectives can be one program, by each process's core: each
  // core exchanges with two cores of other chips at most, so that each of its
  // link flags has one sender. Errors: InvalidArgument, FailedPrecondition.
  absl::Status CheckCores(const std::vector<int>& cores) const {
    return PartnersOf(cores).status();
  }
  // The program of a process, by each process's core. Operands of other members
  // are addresses as the sender gives them. Errors: those of Link and of
  // CheckCores; FailedPrecondition if the parts cannot be together.
  absl::StatusOr<KernelProgram> For(int process, const std::vector<int>& cores,
                                    int columns) const;

 private:
  absl::Status Check() const;
  // By core: see compiler::MemberRoom.
  using Partners = std::map<int, std::map<int, int>>;
  absl::StatusOr<Partners> PartnersOf(const std::vector<int>& cores) const;
  // A stretch of a collective, whose pieces come one after the other: nothing
  // else is exchanged in between. linked: when.
  struct Turn {
    size_t part = 0;
    compiler::Stretch stretch;
    LinkedCollective linked;
  };
  // number: of each part, among kernels or collectives. Sets when the kernels
  // are expected to start.
  std::vector<Turn> TurnsOf(
      const std::vector<int>& number,
      const std::vector<compiler::CollectivePart>& members,
      std::vector<LinkedKernel>& kernels) const;
  OrderedCollective PlaceOf(
      size_t part, const std::vector<int>& number,
      const std::vector<std::vector<int>>& stretches) const;

  const std::vector<Part> parts_;
  std::vector<int64_t> bytes_;
  const Exchanges& exchanges_;
  const Preset& preset_;
  std::vector<Collective> collectives_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_EXCHANGING_PROGRAM_H_
