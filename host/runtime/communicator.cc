// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/communicator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/runtime/collectives.h"
#include "host/runtime/link_collectives.h"

namespace systole::runtime {

using ir::Literal;
using ir::Literals;
using ir::Node;

absl::StatusOr<PlacedValues> Communicator::ThroughHost(
    const Node& node, int process, const PlacedValues& operands,
    ProcessDevice& device) {
  auto own = std::make_shared<Literals>();
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StatusOr<Literal> literal =
        device.ToHost(*operands[i], node.operands[i].type());
    if (!literal.ok()) return literal.status();
    own->push_back(*std::move(literal));
  }
  const std::vector<int>& sources = *groups_.Of(node, process).sources;
  const auto compute = [&](Rendezvous::Given& given) {
    std::vector<Literals> values;
    for (const auto& member : given)
      values.push_back(std::move(*static_cast<Literals*>(member.get())));
    auto results = Collective(node, values, sources);
    if (!results.ok()) return results.status();
    for (size_t p = 0; p < given.size(); ++p)
      *static_cast<Literals*>(given[p].get()) = std::move((*results)[p]);
    return absl::OkStatus();
  };
  const auto results = rendezvous_.Meet(node, process, std::move(own), compute);
  if (!results.ok()) return results.status();
  PlacedValues values;
  for (Literal& literal : *static_cast<Literals*>(results->get()))
    values.push_back(OnHost(std::move(literal)));
  return values;
}

absl::StatusOr<PlacedValues> Communicator::InParts(const Node& node,
                                                   int process, Place& own,
                                                   ProcessDevice& device) {
  if (absl::Status s = device.ToDevice(own); !s.ok()) return s;
  using Pieces = std::vector<Place::Piece>;
  const auto share = [](Rendezvous::Given& given) {
    auto all = std::make_shared<Pieces>();
    for (const auto& member : given)
      all->push_back(*static_cast<Place::Piece*>(member.get()));
    for (auto& member : given) member = all;
    return absl::OkStatus();
  };
  const auto met = rendezvous_.Meet(
      node, process,
      std::make_shared<Place::Piece>(Place::Piece{&device.core(), own.device}),
      share);
  if (!met.ok()) return met.status();
  auto value = std::make_shared<Place>();
  value->pieces = *static_cast<Pieces*>(met->get());
  value->bytes = own.bytes * static_cast<int64_t>(value->pieces.size());
  value->part = {own.device, groups_.Of(node, process).position * own.bytes,
                 own.bytes};
  return PlacedValues{std::move(value)};
}

absl::StatusOr<std::vector<std::vector<uint64_t>>> Communicator::Share(
    const Node& node, int process, std::vector<uint64_t> own) {
  using All = std::vector<std::vector<uint64_t>>;
  const auto share = [](Rendezvous::Given& given) {
    auto all = std::make_shared<All>();
    for (const auto& member : given)
      all->push_back(*static_cast<std::vector<uint64_t>*>(member.get()));
    for (auto& member : given) member = all;
    return absl::OkStatus();
  };
  const auto met = rendezvous_.MeetAll(
      node, process, std::make_shared<std::vector<uint64_t>>(std::move(own)),
      share);
  if (!met.ok()) return met.status();
  return *static_cast<All*>(met->get());
}

// What a member gives, and what it gets: programs, unless the host has to do
// it.
struct LinkCommunicator::Member {
  int core = 0;
  std::vector<compiler::MemberMemory> memory;  // of each program
  std::vector<Program> programs;
  bool on_host = false;
};

absl::Status LinkCommunicator::Compile(
    const Node& node, const std::vector<LinkCollective>& collectives,
    Rendezvous::Given& given) const {
  std::vector<Member*> members;
  std::vector<int> group;
  for (const auto& member : given) {
    members.push_back(static_cast<Member*>(member.get()));
    group.push_back(members.back()->core);
  }
  const auto all_on_host = [&] {
    for (Member* member : members) member->on_host = true;
    return absl::OkStatus();
  };
  if (std::any_of(members.begin(), members.end(),
                  [](const Member* member) { return member->on_host; }))
    return all_on_host();
  for (size_t i = 0; i < collectives.size(); ++i) {
    std::vector<compiler::MemberMemory> memory;
    for (const Member* member : members) memory.push_back(member->memory[i]);
    auto programs =
        collectives[i].Compile(group, board_.torus().columns, memory, preset_);
    // Of groups that lie on the chips in another way.
    if (absl::IsInvalidArgument(programs.status())) return all_on_host();
    if (!programs.ok()) {
      return absl::Status(programs.status().code(),
                          absl::StrCat("node '", node.name,
                                       "': ", programs.status().message()));
    }
    for (size_t p = 0; p < members.size(); ++p)
      members[p]->programs.push_back(std::move((*programs)[p]));
  }
  return absl::OkStatus();
}

absl::StatusOr<PlacedValues> LinkCommunicator::Exchange(
    const Node& node, int process, const PlacedValues& operands,
    ProcessDevice& device) {
  const CollectiveGroups::Membership member = groups_.Of(node, process);
  const std::vector<LinkCollective> collectives = LinkCollectivesOf(
      node, static_cast<int>(member.all->size()), *member.sources, preset_);
  if (collectives.empty()) return ThroughHost(node, process, operands, device);
  const auto failed = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat("node '", node.name, "'",
                                     node.location.empty() ? "" : " at ",
                                     node.location, ": ", status.message()));
  };
  auto own = std::make_shared<Member>();
  own->core = device.core().number();
  std::vector<std::shared_ptr<DeviceMemory>> outs(operands.size()), kept;
  std::vector<uint64_t> offsets(operands.size());  // of results in these
  for (const LinkCollective& collective : collectives) {
    compiler::MemberMemory& memory = own->memory.emplace_back();
    for (size_t i = 0; i < collective.operands.size(); ++i) {
      Place& operand = *operands[collective.operands[i]];
      if (absl::Status s = device.ToDevice(operand); !s.ok()) return failed(s);
      auto out = device.core().Allocate(collective.out_bytes[i]);
      if (!out.ok()) return failed(out.status());
      memory.in.push_back(operand.device->address());
      memory.out.push_back((*out)->address());
      outs[collective.operands[i]] = *std::move(out);
      offsets[collective.operands[i]] =
          member.position * collective.part_bytes[i];
    }
    if (collective.scratch_bytes == 0) continue;
    auto scratch = device.core().Allocate(collective.scratch_bytes);
    // The host needs none.
    own->on_host = absl::IsResourceExhausted(scratch.status());
    if (own->on_host) break;
    if (!scratch.ok()) return failed(scratch.status());
    memory.scratch = (*scratch)->address();
    kept.push_back(*std::move(scratch));
  }
  if (own->on_host) outs.clear();
  const auto compile = [&](Rendezvous::Given& given) {
    return Compile(node, collectives, given);
  };
  const auto met = rendezvous_.Meet(node, process, std::move(own), compile);
  if (!met.ok()) return met.status();
  Member& got = *static_cast<Member*>(met->get());
  if (got.on_host) return ThroughHost(node, process, operands, device);
  for (Program& program : got.programs) {
    LayerInfo& layer = program.layers.emplace_back();
    layer.name = node.name;
    layer.op = ir::OpName(node.op);
    if (absl::Status s = device.Run(program); !s.ok()) return failed(s);
  }
  const bool receives =
      member.sources->empty() || (*member.sources)[member.position] >= 0;
  PlacedValues values;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ir::Type& type = node.result_type(static_cast<int>(i));
    if (!receives) {
      values.push_back(OnHost(Literal::Zeros(type.element, type.elements())));
      continue;
    }
    values.push_back(OnDevice(outs[i], offsets[i], type.bytes()));
  }
  return values;
}

}  // namespace systole::runtime
