// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/messages.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <type_traits>

namespace systole::tb {
namespace {

struct Head {
  MessageKind kind;
  uint64_t bytes;
};

absl::Status Closed() {
  return absl::UnavailableError("the connection is closed");
}

absl::Status SendAll(int socket, absl::string_view bytes, int flags) {
  while (!bytes.empty()) {
    const ssize_t sent =
        send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | flags);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return Closed();
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

absl::Status ReceiveAll(int socket, char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = recv(socket, data, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Closed();
    data += got;
    bytes -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SendMessage(int socket, MessageKind kind,
                         absl::string_view bytes) {
  const Head head{kind, bytes.size()};
  std::array<char, sizeof head> raw;
  std::memcpy(raw.data(), &head, sizeof head);
  absl::Status s =
      SendAll(socket, {raw.data(), raw.size()}, bytes.empty() ? 0 : MSG_MORE);
  return s.ok() ? SendAll(socket, bytes, 0) : s;
}

absl::StatusOr<Message> ReceiveMessage(int socket) {
  Head head;
  std::array<char, sizeof head> raw;
  if (absl::Status s = ReceiveAll(socket, raw.data(), raw.size()); !s.ok())
    return s;
  std::memcpy(&head, raw.data(), sizeof head);
  Message message{head.kind, std::string(head.bytes, '\0')};
  absl::Status s =
      ReceiveAll(socket, message.bytes.data(), message.bytes.size());
  if (!s.ok()) return s;
  return message;
}

namespace {

// The one list of what is sent of the options.
template <class Options, class Each>
void ForEachOption(Options& options, const Each& each) {
  each(options.preset);
  each(options.checked);
  each(options.seed);
  each(options.stall_rate);
  each(options.threads);
  each(options.columns);
  each(options.rows);
  each(options.cables);
  each(options.wire_cycles);
  each(options.wire_errors);
  each(options.processes);
}

}  // namespace

void PutOptions(const ChipsOptions& options, Packer& packer) {
  ForEachOption(options, [&packer](const auto& option) {
    using Option = std::decay_t<decltype(option)>;
    if constexpr (std::is_same_v<Option, std::string>) {
      packer.PutText(option);
    } else if constexpr (std::is_same_v<Option, std::vector<Cable>>) {
      packer.Put(uint64_t{option.size()});
      for (const Cable& cable : option) packer.Put(cable);
    } else {
      packer.Put(option);
    }
  });
}

ChipsOptions GetOptions(Unpacker& unpacker) {
  ChipsOptions options;
  ForEachOption(options, [&unpacker](auto& option) {
    using Option = std::decay_t<decltype(option)>;
    if constexpr (std::is_same_v<Option, std::string>) {
      option = std::string(unpacker.GetText());
    } else if constexpr (std::is_same_v<Option, std::vector<Cable>>) {
      for (auto left = unpacker.Get<uint64_t>(); left > 0 && unpacker.ok();
           --left)
        option.push_back(unpacker.Get<Cable>());
    } else {
      option = unpacker.Get<Option>();
    }
  });
  return options;
}

void PutPlan(const LayerPlan& plan, Packer& packer) {
  packer.Put(plan.core);
  for (const std::vector<bool>* bits : {&plan.begins, &plan.wanted})
    packer.PutText(std::string(bits->begin(), bits->end()));
}

LayerPlan GetPlan(Unpacker& unpacker) {
  LayerPlan plan;
  plan.core = unpacker.Get<int>();
  for (std::vector<bool>* bits : {&plan.begins, &plan.wanted}) {
    const absl::string_view text = unpacker.GetText();
    bits->assign(text.begin(), text.end());
  }
  return plan;
}

void PutRequest(const ChipRequest& request, Packer& packer) {
  packer.Put(request.kind)
      .Put(request.write)
      .Put(request.chip)
      .Put(request.core)
      .Put(request.addr)
      .Put(request.bytes);
  if (request.write) {
    packer.PutText(
        {reinterpret_cast<const char*>(request.data), request.bytes});
  }
}

ChipRequest GetRequest(Unpacker& unpacker, std::string& data) {
  ChipRequest request;
  request.kind = unpacker.Get<ChipRequest::Kind>();
  request.write = unpacker.Get<bool>();
  request.chip = unpacker.Get<int>();
  request.core = unpacker.Get<int>();
  request.addr = unpacker.Get<uint64_t>();
  request.bytes = unpacker.Get<uint64_t>();
  data.clear();
  if (request.write) {
    data = std::string(unpacker.GetText());
  } else if (request.kind != ChipRequest::Kind::kInterrupt) {
    data.resize(request.bytes);
  }
  request.data = reinterpret_cast<uint8_t*>(data.data());
  return request;
}

}  // namespace systole::tb
