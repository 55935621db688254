// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Field numbers: CompileOptionsProto.env_option_overrides = 7, entries of a map
// with their names in 1. CompileOptionsProto.executable_build_options = 3; in
// it num_replicas = 4, num_partitions = 5, device_assignment = 9; in that
// computation_devices = 3 (one per partition), each with replica_device_ids =
// 1.
#include "host/pjrt/compile_options.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace systole::pjrt {
namespace {

absl::Status Broken() {
  return absl::InvalidArgumentError(
      "the compile options are no CompileOptionsProto");
}

// Iterates over the fields of a message.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  // Returns false at the end or if the message is malformed.
  bool Next() {
    std::optional<uint64_t> tag;
    if (bytes_.empty() || !(tag = Varint()).has_value()) return false;
    number_ = *tag >> 3;
    content_ = {};
    value_ = 0;
    switch (*tag & 7) {
      case 0: {
        const std::optional<uint64_t> value = Varint();
        if (value.has_value()) value_ = *value;
        return value.has_value();
      }
      case 1:
        return Skip(8);
      case 2: {
        const std::optional<uint64_t> size = Varint();
        return size.has_value() && Skip(*size);
      }
      case 5:
        return Skip(4);
      default:
        return Fail();
    }
  }
  bool ok() const { return ok_; }

  uint64_t number() const { return number_; }
  int64_t value() const { return static_cast<int64_t>(value_); }
  std::string_view content() const { return content_; }

  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const uint8_t byte = bytes_.front();
      bytes_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return std::nullopt;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  bool Fail() {
    ok_ = false;
    bytes_ = {};
    return false;
  }
  bool Skip(uint64_t size) {
    if (size > bytes_.size()) return Fail();
    content_ = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }

  std::string_view bytes_, content_;
  uint64_t number_ = 0, value_ = 0;
  bool ok_ = true;
};

absl::Status ParseAssignment(std::string_view bytes, CompileOptions& options) {
  Fields assignment(bytes);
  int64_t partition = 0;
  while (assignment.Next()) {
    if (assignment.number() != 3) continue;
    Fields computation(assignment.content());
    int64_t replica = 0;
    const auto add = [&](int64_t id) {
      if (replica >= options.replicas || partition >= options.partitions)
        return false;
      options.devices[replica++][partition] = id;
      return true;
    };
    while (computation.Next()) {
      if (computation.number() != 1) continue;
      if (computation.content().empty()) {
        if (!add(computation.value())) return Broken();
      }
      Fields packed(computation.content());
      while (!packed.empty()) {
        const std::optional<uint64_t> id = packed.Varint();
        if (!id.has_value() || !add(static_cast<int64_t>(*id))) return Broken();
      }
    }
    if (!computation.ok() || replica != options.replicas) return Broken();
    ++partition;
  }
  if (!assignment.ok() || partition != options.partitions) return Broken();
  return absl::OkStatus();
}

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(0x80 | (value & 0x7F)));
  out.push_back(static_cast<char>(value));
}

}  // namespace

absl::StatusOr<CompileOptions> ParseCompileOptions(std::string_view bytes) {
  constexpr int64_t kMost = 4096;
  constexpr std::string_view kXla = "xla_";
  CompileOptions options;
  std::string_view build, assignment;
  Fields fields(bytes);
  while (fields.Next()) {
    if (fields.number() == 3) build = fields.content();
    if (fields.number() != 7) continue;
    Fields option(fields.content());
    while (option.Next()) {
      if (option.number() == 1 &&
          option.content().substr(0, kXla.size()) != kXla) {
        return absl::InvalidArgumentError(absl::StrCat(
            "No such compile option: '", std::string(option.content()),
            "'; those of XLA (xla_...) are taken and have no effect"));
      }
    }
    if (!option.ok()) return Broken();
  }
  Fields inner(build);
  while (inner.Next()) {
    if (inner.number() == 4 && inner.value() > 0)
      options.replicas = inner.value();
    if (inner.number() == 5 && inner.value() > 0)
      options.partitions = inner.value();
    if (inner.number() == 9) assignment = inner.content();
  }
  if (!fields.ok() || !inner.ok()) return Broken();
  if (options.replicas > kMost || options.partitions > kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("a program for ", options.replicas, " replicas of ",
                     options.partitions, " partitions"));
  }
  if (!assignment.empty()) {
    options.devices.assign(options.replicas,
                           std::vector<int64_t>(options.partitions));
    if (absl::Status s = ParseAssignment(assignment, options); !s.ok())
      return s;
  }
  return options;
}

std::string SerializeDevices(const CompileOptions& options) {
  std::string out("\x08", 1);
  AppendVarint(options.replicas, out);
  out.push_back(0x10);
  AppendVarint(options.partitions, out);
  for (int64_t p = 0; p < options.partitions; ++p) {
    std::string ids;
    for (const std::vector<int64_t>& replica : options.devices)
      AppendVarint(replica[p], ids);
    std::string computation("\x0A", 1);
    AppendVarint(ids.size(), computation);
    computation += ids;
    out.push_back(0x1A);
    AppendVarint(computation.size(), out);
    out += computation;
  }
  return out;
}

}  // namespace systole::pjrt
