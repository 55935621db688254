// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// How the processes of a run exchange values in collectives. An executable asks
// its communicator at each collective; what lies behind may be the host's
// memory (HostCommunicator) or links between the devices.
//
//   HostCommunicator communicator(collectives, grid.count());
//   // In the thread of each process, for each collective that it comes to:
//   auto results = communicator.Exchange(node, process, operands, transfers);
//   communicator.Leave(process, status);  // at its end
#ifndef SYSTOLE_HOST_RUNTIME_COMMUNICATOR_H_
#define SYSTOLE_HOST_RUNTIME_COMMUNICATOR_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/ir/hlo/process_groups.h"
#include "host/ir/module.h"
#include "host/runtime/place.h"

namespace systole::runtime {

// A process's own copies between its device and the host.
class Transfers {
 public:
  virtual ~Transfers() = default;
  virtual absl::StatusOr<ir::Literal> ToHost(Place& value,
                                             const ir::Type& type) = 0;
};

// The groups of a module's collectives, also of those in regions.
class CollectiveGroups {
 public:
  struct Membership {
    int group = 0;                // a number within the node
    const ir::ProcessGroup* all;  // its processes by position
    int position = 0;
    // Of collective_permute: by position, the position that sends; or -1.
    const std::vector<int>* sources;
  };

  // The module must have passed CheckCollectives and must outlive this.
  CollectiveGroups(const ir::Module& module, ir::ProcessGrid grid);

  Membership Of(const ir::Node& node, int process) const;

 private:
  struct Groups {
    std::vector<ir::ProcessGroup> groups;
    std::vector<std::vector<int>> sources;
  };
  void Add(const ir::Module& module, ir::ProcessGrid grid);

  std::map<const ir::Node*, Groups> nodes_;
};

// Thread-safe. Every process calls Exchange in its program's order and Leave
// once, when it takes part in nothing more.
class Communicator {
 public:
  virtual ~Communicator() = default;

  // Gives the operands of a collective and waits for the process's results.
  // Errors: that of a process which left with one; FailedPrecondition if
  // processes can never come together, as they wait for each other or have
  // left.
  virtual absl::StatusOr<PlacedValues> Exchange(const ir::Node& node,
                                                int process,
                                                const PlacedValues& operands,
                                                Transfers& transfers) = 0;
  virtual void Leave(int process, const absl::Status& status) = 0;
};

// Through the host's memory: the last process that comes computes the results
// of all.
class HostCommunicator : public Communicator {
 public:
  // `groups` must outlive the communicator.
  HostCommunicator(const CollectiveGroups& groups, int processes);
  ~HostCommunicator() override;

  absl::StatusOr<PlacedValues> Exchange(const ir::Node& node, int process,
                                        const PlacedValues& operands,
                                        Transfers& transfers) override;
  void Leave(int process, const absl::Status& status) override;

 private:
  struct Meeting;

  void CheckProgress();

  const CollectiveGroups& groups_;
  std::mutex mutex_;
  std::condition_variable changed_;
  absl::Status status_;  // the first error; ends all meetings
  int present_;          // processes that have not left
  int waiting_ = 0;      // of them, for a meeting that has not ended
  // Those that some members have not come to, by node and group.
  std::map<std::pair<const ir::Node*, int>, std::shared_ptr<Meeting>> meetings_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_COMMUNICATOR_H_
