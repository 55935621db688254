// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/rendezvous.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/runtime/guarded.h"

namespace systole::runtime {

using ir::Node;

CollectiveGroups::CollectiveGroups(const ir::Module& module,
                                   ir::ProcessGrid grid) {
  Add(module, grid);
}

void CollectiveGroups::Add(const ir::Module& module, ir::ProcessGrid grid) {
  for (const auto& node : module.nodes()) {
    for (const auto& region : node->regions) Add(*region, grid);
    if (!ir::IsCollective(node->op)) continue;
    Groups& own = nodes_[node.get()];
    own.groups = *ir::ProcessGroupsOf(*node, grid);
    own.sources.resize(own.groups.size());
    if (node->op != ir::Op::kHloCollectivePermute) continue;
    const std::vector<int> sources = *ir::SourcesOf(*node, grid);
    for (size_t g = 0; g < own.groups.size(); ++g) {
      const ir::ProcessGroup& group = own.groups[g];
      for (const int process : group) {
        const auto from =
            std::find(group.begin(), group.end(), sources[process]);
        own.sources[g].push_back(
            from == group.end() ? -1 : static_cast<int>(from - group.begin()));
      }
    }
  }
}

CollectiveGroups::Membership CollectiveGroups::Of(const Node& node,
                                                  int process) const {
  const Groups& own = nodes_.at(&node);
  for (size_t g = 0; g < own.groups.size(); ++g) {
    const ir::ProcessGroup& group = own.groups[g];
    const auto found = std::find(group.begin(), group.end(), process);
    if (found == group.end()) continue;
    return {static_cast<int>(g), &group,
            static_cast<int>(found - group.begin()), &own.sources[g]};
  }
  std::abort();  // CheckCollectives: each process is in a group
}

struct Rendezvous::Meeting {
  const ir::ProcessGroup* group = nullptr;
  Given given;  // then what the members get
  std::vector<bool> here;
  size_t missing = 0;
  bool done = false;
};

Rendezvous::Rendezvous(const CollectiveGroups& groups, int processes,
                       Board* board)
    : groups_(groups),
      everyone_(processes),
      board_(board),
      present_(processes),
      to_start_(processes),
      cores_(processes) {
  std::iota(everyone_.begin(), everyone_.end(), 0);
}
Rendezvous::~Rendezvous() = default;

// With the lock held. Nobody is left that could end a meeting.
void Rendezvous::CheckProgress() {
  if (waiting_ < present_ || !status_.ok() || meetings_.empty()) return;
  const auto& [key, meeting] = *meetings_.begin();
  const Node& node = *key.first;
  std::vector<int> missing;
  for (size_t p = 0; p < meeting->here.size(); ++p)
    if (!meeting->here[p]) missing.push_back((*meeting->group)[p]);
  status_ = absl::FailedPreconditionError(absl::StrCat(
      "node '", node.name, "'", node.location.empty() ? "" : " at ",
      node.location, ": process ", absl::StrJoin(missing, ", "),
      " of its group never comes to this ", ir::OpName(node.op)));
  changed_.notify_all();
}

absl::Status Rendezvous::Start(int process, int core) {
  std::unique_lock<std::mutex> lock(mutex_);
  cores_[process] = core;
  ++waiting_;
  if (--to_start_ > 0) {
    changed_.wait(lock, [&] { return to_start_ == 0 || !status_.ok(); });
  } else if (status_.ok()) {
    board_->Join(waiting_);
    waiting_ = 0;
    changed_.notify_all();
    return absl::OkStatus();
  }
  return status_;
}

absl::StatusOr<std::shared_ptr<void>> Rendezvous::Meet(
    const Node& node, int process, std::shared_ptr<void> own,
    const std::function<absl::Status(Given&)>& finish) {
  return MeetAs(node, groups_.Of(node, process), std::move(own), finish);
}

absl::StatusOr<std::shared_ptr<void>> Rendezvous::MeetAll(
    const Node& node, int process, std::shared_ptr<void> own,
    const std::function<absl::Status(Given&)>& finish) {
  return MeetAs(node, {-1, &everyone_, process, nullptr}, std::move(own),
                finish);
}

absl::StatusOr<std::shared_ptr<void>> Rendezvous::MeetAs(
    const Node& node, const CollectiveGroups::Membership& member,
    std::shared_ptr<void> own,
    const std::function<absl::Status(Given&)>& finish) {
  std::unique_lock<std::mutex> lock(mutex_);
  // A member that comes again has seen the end of the meeting before.
  const std::pair<const Node*, int> key{&node, member.group};
  std::shared_ptr<Meeting>& place = meetings_[key];
  if (place == nullptr) {
    place = std::make_shared<Meeting>();
    place->group = member.all;
    place->missing = member.all->size();
    place->given.resize(place->missing);
    place->here.resize(place->missing);
  }
  const std::shared_ptr<Meeting> meeting = place;
  meeting->given[member.position] = std::move(own);
  meeting->here[member.position] = true;
  const int others = static_cast<int>(member.all->size()) - 1;
  const bool waited = --meeting->missing > 0;
  if (!waited) {
    meetings_.erase(key);
    lock.unlock();
    const absl::Status finished =
        Guarded([&] { return finish(meeting->given); });
    if (finished.ok() && board_ != nullptr) board_->Join(others);
    lock.lock();
    if (finished.ok()) {
      meeting->done = true;
      waiting_ -= others;
    } else if (status_.ok()) {
      status_ = finished;
    }
    changed_.notify_all();
  } else {
    ++waiting_;
    if (board_ != nullptr) board_->Leave();
    CheckProgress();
    changed_.wait(lock, [&] { return meeting->done || !status_.ok(); });
  }
  if (meeting->done) return meeting->given[member.position];
  const absl::Status status = status_;
  lock.unlock();
  if (board_ != nullptr && waited) board_->Join();
  return status;
}

void Rendezvous::Leave(int process, const absl::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  --present_;
  if (!status.ok() && status_.ok()) {
    status_ = absl::Status(status.code(), absl::StrCat("process ", process,
                                                       ": ", status.message()));
    changed_.notify_all();
  }
  CheckProgress();
}

}  // namespace systole::runtime
