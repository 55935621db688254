// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/processes/worker.h"

#include <poll.h>

#include <array>
#include <utility>

#include "absl/strings/str_format.h"
#include "verif/tb/core_module.h"

namespace systole::tb {
namespace {

std::string HostName() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name;
  int size = 0;
  MPI_Get_processor_name(name.data(), &size);
  return {name.data(), static_cast<size_t>(size)};
}

// The chip that a message is about is its first value, except in requests.
int ChipOf(absl::string_view bytes) { return Unpacker(bytes).Get<int>(); }

}  // namespace

Worker::Worker(Ranks* ranks, int socket) : ranks_(ranks), socket_(socket) {
  ranks_->on_reports = [this](absl::string_view bytes) {
    Tell(MessageKind::kReports, bytes);
  };
  ranks_->on_progress = [this](uint64_t cycle) {
    CheckHost();
    Tell(MessageKind::kProgress, Packer().Put(cycle).bytes());
  };
}

void Worker::Run() {
  while (true) {
    const Message message = Next();
    Unpacker unpacker(message.bytes);
    if (message.kind == MessageKind::kEnd) return;
    if (message.kind == MessageKind::kRequest) {
      Serve(unpacker);
      continue;
    }
    if (message.kind == MessageKind::kOpen) {
      absl::Status status = Open(unpacker);
      if (ranks_->rank() != 0) {
        ranks_->Send(0, Tag::kStatus, Packer().PutStatus(status).bytes());
        continue;
      }
      for (int rank = 1; rank < ranks_->size(); ++rank) {
        const std::string bytes = ranks_->Receive(rank, Tag::kStatus);
        status.Update(Unpacker(bytes).GetStatus());
      }
      Answer(status);
      continue;
    }
    const int chip = ChipOf(message.bytes);
    const int owner = ranks_->OwnerOf(chip);
    if (owner == ranks_->rank()) {
      unpacker.Get<int>();
      const absl::Status status = Execute(message.kind, chip, unpacker);
      if (owner == 0) {
        Answer(status);
      } else {
        ranks_->Send(0, Tag::kStatus, Packer().PutStatus(status).bytes());
      }
    } else if (ranks_->rank() == 0) {
      const std::string bytes = ranks_->Receive(owner, Tag::kStatus);
      Answer(Unpacker(bytes).GetStatus());
    }
  }
}

Message Worker::Next() {
  if (ranks_->rank() != 0) {
    const std::string bytes = ranks_->Receive(0, Tag::kCommand);
    Unpacker unpacker(bytes);
    const auto kind = unpacker.Get<MessageKind>();
    return {kind, std::string(unpacker.GetText())};
  }
  auto message = ReceiveMessage(socket_);
  if (!message.ok()) message = Message{MessageKind::kEnd, ""};
  const std::string bytes =
      Packer().Put(message->kind).PutText(message->bytes).bytes();
  for (int rank = 1; rank < ranks_->size(); ++rank)
    ranks_->Send(rank, Tag::kCommand, bytes);
  return *std::move(message);
}

absl::Status Worker::Open(Unpacker& message) {
  if (message.GetText() != kCoreStamp) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "process %d (on %s) was built from other sources than this program",
        ranks_->rank(), HostName()));
  }
  const ChipsOptions options = GetOptions(message);
  if (ranks_->size() != options.processes) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%d processes: MPI started %d", options.processes, ranks_->size()));
  }
  const Preset* preset = FindPreset(options.preset);
  if (preset == nullptr)
    return absl::InvalidArgumentError("no preset " + options.preset);
  std::vector<std::unique_ptr<ClockedChip>> chips(options.chips());
  std::vector<ReportLog*> logs(options.chips());
  memories_.resize(options.chips());
  logs_.resize(options.chips());
  const int rank = ranks_->rank();
  for (int i = options.FirstChip(rank); i < options.FirstChip(rank + 1); ++i) {
    auto built = BuildChip(options, *preset, i);
    if (!built.ok()) return built.status();
    memories_[i] = std::move(built->memory);
    chips[i] = std::move(built->chip);
    logs_[i] = std::make_unique<ReportLog>(i, chips[i].get());
    logs[i] = logs_[i].get();
  }
  windows_ =
      std::make_unique<Windows>(options, *preset, std::move(chips), ranks_);
  ranks_->Join(options, static_cast<int>(preset->chip.link_bytes),
               windows_.get(), std::move(logs));
  return absl::OkStatus();
}

void Worker::Serve(Unpacker& message) {
  std::string data;
  const ChipRequest request = GetRequest(message, data);
  const Outcome outcome = windows_->Serve(request);
  ranks_->GatherReports();
  const int owner = ranks_->OwnerOf(request.chip), rank = ranks_->rank();
  const bool reads = !request.write && !data.empty();
  if (reads && owner != 0 && rank == owner) ranks_->Send(0, Tag::kData, data);
  if (rank != 0) return;
  if (reads && owner != 0) data = ranks_->Receive(owner, Tag::kData);
  Answer(absl::OkStatus(), outcome, reads ? data : "");
}

absl::Status Worker::Execute(MessageKind kind, int chip, Unpacker& message) {
  switch (kind) {
    case MessageKind::kFlip: {
      const int core = message.Get<int>();
      const auto addr = message.Get<uint64_t>();
      return FlipBit(*memories_[chip], core, addr, message.Get<int>());
    }
    case MessageKind::kCheckMemory:
      return memories_[chip]->Check();
    case MessageKind::kOpenTrace: {
      const std::string file(message.GetText());
      return windows_->chip(chip)->core().OpenTrace(file,
                                                    message.Get<uint64_t>());
    }
    case MessageKind::kRecordTrace: {
      const auto from = message.Get<uint64_t>();
      windows_->chip(chip)->core().RecordTrace(from, message.Get<uint64_t>());
      return absl::OkStatus();
    }
    case MessageKind::kRecordLayer:
      windows_->chip(chip)->RecordLayer(GetPlan(message));
      return absl::OkStatus();
    case MessageKind::kCloseTrace:
      return windows_->chip(chip)->core().CloseTrace();
    case MessageKind::kSetProbe: {
      const int core = message.Get<int>();
      return logs_[chip]->SetProbe(core, message.Get<bool>());
    }
    default:
      return absl::InternalError(
          absl::StrFormat("a message of kind %d", static_cast<int>(kind)));
  }
}

void Worker::Answer(const absl::Status& status, Outcome outcome,
                    absl::string_view data) {
  Packer packer;
  packer.PutStatus(status).Put(outcome).Put(ranks_->cpu_seconds());
  for (int i = 0; windows_ != nullptr && i < windows_->chips(); ++i)
    packer.Put(windows_->state(i).cycles);
  packer.PutText(data);
  Tell(MessageKind::kAnswer, packer.bytes());
}

void Worker::Tell(MessageKind kind, absl::string_view bytes) {
  if (!SendMessage(socket_, kind, bytes).ok())
    MPI_Abort(MPI_COMM_WORLD, 1);  // the host is gone
}

void Worker::CheckHost() {
  pollfd host{socket_, POLLRDHUP, 0};
  if (poll(&host, 1, 0) == 1) MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace systole::tb
