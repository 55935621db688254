// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/communicator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/runtime/collectives.h"
#include "host/runtime/guarded.h"

namespace systole::runtime {

using ir::Literal;
using ir::Literals;
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

struct HostCommunicator::Meeting {
  const ir::ProcessGroup* group = nullptr;
  std::vector<Literals> operands, results;  // by position
  std::vector<bool> here;
  size_t missing = 0;
  bool done = false;
};

HostCommunicator::HostCommunicator(const CollectiveGroups& groups,
                                   int processes)
    : groups_(groups), present_(processes) {}
HostCommunicator::~HostCommunicator() = default;

// With the lock held. Nobody is left that could end a meeting.
void HostCommunicator::CheckProgress() {
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

absl::StatusOr<PlacedValues> HostCommunicator::Exchange(
    const Node& node, int process, const PlacedValues& operands,
    Transfers& transfers) {
  Literals own;
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StatusOr<Literal> literal =
        transfers.ToHost(*operands[i], node.operands[i].type());
    if (!literal.ok()) return literal.status();
    own.push_back(*std::move(literal));
  }
  const CollectiveGroups::Membership member = groups_.Of(node, process);
  std::unique_lock<std::mutex> lock(mutex_);
  // A member that comes again has seen the end of the meeting before.
  const std::pair<const Node*, int> key{&node, member.group};
  std::shared_ptr<Meeting>& place = meetings_[key];
  if (place == nullptr) {
    place = std::make_shared<Meeting>();
    place->group = member.all;
    place->missing = member.all->size();
    place->operands.resize(place->missing);
    place->here.resize(place->missing);
  }
  const std::shared_ptr<Meeting> meeting = place;
  meeting->operands[member.position] = std::move(own);
  meeting->here[member.position] = true;
  if (--meeting->missing == 0) {
    meetings_.erase(key);
    lock.unlock();
    auto results = Guarded(
        [&] { return Collective(node, meeting->operands, *member.sources); });
    lock.lock();
    if (results.ok()) {
      meeting->results = *std::move(results);
      meeting->done = true;
      waiting_ -= static_cast<int>(member.all->size()) - 1;
    } else if (status_.ok()) {
      status_ = results.status();
    }
    meeting->operands.clear();
    changed_.notify_all();
  } else {
    ++waiting_;
    CheckProgress();
    changed_.wait(lock, [&] { return meeting->done || !status_.ok(); });
  }
  if (!meeting->done) return status_;
  PlacedValues values;
  for (Literal& literal : meeting->results[member.position])
    values.push_back(OnHost(std::move(literal)));
  return values;
}

void HostCommunicator::Leave(int process, const absl::Status& status) {
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
