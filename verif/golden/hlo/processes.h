// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A run of a module in several processes. All of them execute one node at a
// time. Loops and branches execute for the processes that take them. The
// processes of a group must reach a collective together.
#ifndef SYSTOLE_VERIF_GOLDEN_HLO_PROCESSES_H_
#define SYSTOLE_VERIF_GOLDEN_HLO_PROCESSES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "verif/golden/hlo/evaluation.h"

namespace systole::golden::hlo {

// Process r * partitions + p is partition p of replica r.
using ByProcess = std::map<int, Tensors>;

class Processes {
 public:
  Processes(int replicas, int partitions);

  int replicas() const { return replicas_; }
  int partitions() const { return partitions_; }
  // Returns the outputs of the processes that have inputs.
  ByProcess Run(const ir::Module& module, const ByProcess& inputs);
  // The first error. The values are then meaningless.
  absl::Status status() const;
  void Fail(const Node& node, absl::StatusCode code, const std::string& why);
  Evaluation& evaluation(int process) { return evaluations_[process]; }

 private:
  ByProcess Results(const Node& node, const ByProcess& operands);
  ByProcess Branch(const Node& node, const ByProcess& operands);
  ByProcess Loop(const Node& node, const ByProcess& operands);

  const int replicas_, partitions_;
  std::vector<Evaluation> evaluations_;
  absl::Status status_;
};

// collectives.cc
ByProcess Exchanged(const Node& node, const ByProcess& operands,
                    Processes& processes);

}  // namespace systole::golden::hlo

#endif  // SYSTOLE_VERIF_GOLDEN_HLO_PROCESSES_H_
