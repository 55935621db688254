// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Where the processes of a run meet: the members of a group give something, and
// the last one that comes makes of it what each of them gets.
#ifndef SYSTOLE_HOST_RUNTIME_RENDEZVOUS_H_
#define SYSTOLE_HOST_RUNTIME_RENDEZVOUS_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/ir/hlo/process_groups.h"
#include "host/ir/module.h"
#include "host/runtime/board.h"

namespace systole::runtime {

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

// Thread-safe.
class Rendezvous {
 public:
  using Given = std::vector<std::shared_ptr<void>>;  // by position

  // The groups, and the board if there is one, must outlive this. On a board,
  // processes that wait do not work.
  Rendezvous(const CollectiveGroups& groups, int processes, Board* board);
  ~Rendezvous();

  // On a board, before all else: waits until all processes of the run are
  // here. Then each of them works; after an error it does not.
  absl::Status Start(int process, int core);
  // After Start: by process.
  const std::vector<int>& cores() const { return cores_; }

  // Waits for the other members of the process's group. `finish` runs once, in
  // the last one's thread, and replaces what the members gave by what they get.
  // Errors: those of `finish`, for all; that of a process which left with one;
  // FailedPrecondition if processes can never come together, as they wait for
  // each other or have left.
  absl::StatusOr<std::shared_ptr<void>> Meet(
      const ir::Node& node, int process, std::shared_ptr<void> own,
      const std::function<absl::Status(Given&)>& finish);
  // The same of all processes, whatever the node's groups; positions are their
  // numbers.
  absl::StatusOr<std::shared_ptr<void>> MeetAll(
      const ir::Node& node, int process, std::shared_ptr<void> own,
      const std::function<absl::Status(Given&)>& finish);
  // The process takes part in nothing more.
  void Leave(int process, const absl::Status& status);

 private:
  struct Meeting;

  absl::StatusOr<std::shared_ptr<void>> MeetAs(
      const ir::Node& node, const CollectiveGroups::Membership& member,
      std::shared_ptr<void> own,
      const std::function<absl::Status(Given&)>& finish);
  void CheckProgress();

  const CollectiveGroups& groups_;
  ir::ProcessGroup everyone_;
  Board* const board_;
  std::mutex mutex_;
  std::condition_variable changed_;
  absl::Status status_;  // the first error; ends all meetings
  int present_;          // processes that have not left
  int waiting_ = 0;      // of them, for a meeting that has not ended
  int to_start_;         // that have not come to Start
  std::vector<int> cores_;
  // Those that some members have not come to, by node and group; -1: all.
  std::map<std::pair<const ir::Node*, int>, std::shared_ptr<Meeting>> meetings_;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_RENDEZVOUS_H_
