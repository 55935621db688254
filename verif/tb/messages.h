// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Messages between a host (RemoteChips) and the first of the processes that
// simulate its chips (verif/processes). Both are of the same build, so values
// go as they lie in memory.
//
//   Packer packer;
//   packer.Put(chip).Put(core).PutText(file);
//   SendMessage(socket, MessageKind::kOpenTrace, packer.bytes());
//
//   auto message = ReceiveMessage(socket);
//   Unpacker unpacker(message->bytes);
//   const int chip = unpacker.Get<int>();

#ifndef SYSTOLE_VERIF_TB_MESSAGES_H_
#define SYSTOLE_VERIF_TB_MESSAGES_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "verif/tb/chips.h"

namespace systole::tb {

enum class MessageKind : uint32_t {
  // From the host. Each is answered.
  kOpen,         // stamp, options
  kRequest,      // a ChipRequest: PutRequest
  kFlip,         // chip, core, address, bit
  kCheckMemory,  // chip
  kOpenTrace,    // chip, file, cycle that is 0
  kRecordTrace,  // chip, from, to
  kRecordLayer,  // chip, a LayerPlan: PutPlan
  kCloseTrace,   // chip
  kSetProbe,     // chip, core, whether there is a sink
  kEnd,          // nothing; all processes end, without an answer
  // To the host.
  kAnswer,   // status, outcome, CPU seconds, cycles of each chip, data
  kReports,  // ReportLog::Take of a process
  kProgress  // the chips' cycle
};

class Packer {
 public:
  template <typename T>
  Packer& Put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Packer& PutText(absl::string_view text) {
    Put(uint64_t{text.size()});
    bytes_.append(text.data(), text.size());
    return *this;
  }
  Packer& PutStatus(const absl::Status& status) {
    return Put(static_cast<int>(status.code())).PutText(status.message());
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// What goes beyond the end reads as 0 or empty; ok() tells.
class Unpacker {
 public:
  explicit Unpacker(absl::string_view bytes) : rest_(bytes) {}
  template <typename T>
  T Get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    const absl::string_view from = Bytes(sizeof value);
    if (ok_) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  absl::string_view GetText() { return Bytes(Get<uint64_t>()); }
  absl::Status GetStatus() {
    const auto code = static_cast<absl::StatusCode>(Get<int>());
    return absl::Status(code, GetText());
  }
  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }

 private:
  absl::string_view Bytes(uint64_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const absl::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  absl::string_view rest_;
  bool ok_ = true;
};

struct Message {
  MessageKind kind;
  std::string bytes;
};

// kUnavailable: the other end is closed.
absl::Status SendMessage(int socket, MessageKind kind, absl::string_view bytes);
absl::StatusOr<Message> ReceiveMessage(int socket);

void PutOptions(const ChipsOptions& options, Packer& packer);
ChipsOptions GetOptions(Unpacker& unpacker);

void PutPlan(const LayerPlan& plan, Packer& packer);
LayerPlan GetPlan(Unpacker& unpacker);

// With the bytes that a register or memory is to get.
void PutRequest(const ChipRequest& request, Packer& packer);
// `data` gets these bytes, or room for those that are read; request.data points
// there.
ChipRequest GetRequest(Unpacker& unpacker, std::string& data);

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_MESSAGES_H_
