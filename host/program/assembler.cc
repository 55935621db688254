// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Text to descriptors, driven by the tables of systole/gen/isa.h. Grammar:
// docs/program_file.md.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "host/program/header_bits.h"
#include "systole/program.h"

namespace systole {
namespace {

constexpr isa::FieldInfo kTag = {"tag", kTagLsb, kTagBits, 1, false, ""};

// The packaged Abseil has a string_view of its own.
absl::string_view View(std::string_view s) { return {s.data(), s.size()}; }

// A number with its sign apart, so that 64 unsigned bits fit.
struct Number {
  bool negative;
  uint64_t magnitude;
};

std::optional<Number> ParseNumber(absl::string_view text) {
  Number n{absl::ConsumePrefix(&text, "-"), 0};
  if (text.empty() || text[0] == '+' || text[0] == '-') return std::nullopt;
  const bool hex = absl::StartsWith(text, "0x") || absl::StartsWith(text, "0X");
  if (hex ? !absl::SimpleHexAtoi(text, &n.magnitude)
          : !absl::SimpleAtoi(text, &n.magnitude))
    return std::nullopt;
  return n;
}

// One line of source. Each function returns what is wrong, "" if nothing.
class Line {
 public:
  std::string Parse(const std::vector<absl::string_view>& tokens) {
    if (tokens[0] == "raw") return Raw(tokens);
    for (const isa::OpInfo& op : isa::kOps) {
      if (View(op.name) == tokens[0]) op_ = &op;
    }
    if (op_ == nullptr) {
      const auto name = [](std::string* out, const isa::OpInfo& op) {
        out->append(op.name);
      };
      return absl::StrCat("unknown operation '", tokens[0], "'; there are ",
                          absl::StrJoin(isa::kOps, ", ", name), ", raw");
    }
    isa::PutBits(d_, 0, 8, static_cast<uint64_t>(op_->opcode));
    for (size_t i = 1; i < tokens.size(); ++i) {
      const std::vector<absl::string_view> parts =
          absl::StrSplit(tokens[i], absl::MaxSplits('=', 1));
      if (!seen_.insert(std::string(parts[0])).second)
        return absl::StrCat("'", parts[0], "' is given twice");
      std::string error =
          parts.size() == 1 ? Flag(parts[0]) : Assignment(parts[0], parts[1]);
      if (!error.empty()) return error;
    }
    return "";
  }
  const isa::Descriptor& descriptor() const { return d_; }

 private:
  std::string Raw(const std::vector<absl::string_view>& tokens) {
    if (tokens.size() != d_.size() + 1)
      return absl::StrCat("raw wants ", d_.size(), " words");
    for (size_t i = 0; i < d_.size(); ++i) {
      const std::optional<Number> n = ParseNumber(tokens[i + 1]);
      if (!n || n->negative)
        return absl::StrCat("'", tokens[i + 1], "' is not a 64-bit word");
      d_[i] = n->magnitude;
    }
    return "";
  }

  std::string Flag(absl::string_view name) {
    for (int i = 0; i < op_->num_flags; ++i) {
      if (View(op_->flags[i].name) != name) continue;
      isa::PutBits(d_, kFlagsLsb + op_->flags[i].bit, 1, 1);
      return "";
    }
    return absl::StrCat(View(op_->name), " has no flag '", name, "'");
  }

  std::string Assignment(absl::string_view name, absl::string_view value) {
    if (name == "wait") return Mask(kWaitLsb, name, value);
    if (name == "post") return Mask(kPostLsb, name, value);
    if (name == View(kTag.name)) return Field(kTag, value);
    for (int i = 0; i < op_->num_fields; ++i) {
      if (View(op_->fields[i].name) == name)
        return Field(op_->fields[i], value);
    }
    return absl::StrCat(View(op_->name), " has no field '", name, "'");
  }

  std::string Mask(int lsb, absl::string_view name, absl::string_view value) {
    for (absl::string_view item : absl::StrSplit(value, ',')) {
      const std::optional<Number> n = ParseNumber(item);
      if (!n || n->negative || n->magnitude >= isa::kNumFlags) {
        return absl::StrCat(name, ": '", item, "' is not a sync flag (0 to ",
                            isa::kNumFlags - 1, ")");
      }
      const int bit = lsb + static_cast<int>(n->magnitude);
      if (isa::GetBits(d_, bit, 1) != 0)
        return absl::StrCat(name, ": flag ", n->magnitude, " is given twice");
      isa::PutBits(d_, bit, 1, 1);
    }
    return "";
  }

  std::string Field(const isa::FieldInfo& field, absl::string_view value) {
    const std::vector<absl::string_view> items = absl::StrSplit(value, ',');
    if (static_cast<int>(items.size()) != field.count) {
      return absl::StrCat(View(field.name), " wants ", field.count, " value",
                          field.count == 1 ? "" : "s", ", not ", items.size());
    }
    const uint64_t max =
        (uint64_t{1} << (field.bits - (field.is_signed ? 1 : 0))) - 1;
    const uint64_t min_magnitude = field.is_signed ? max + 1 : 0;
    for (int i = 0; i < field.count; ++i) {
      const std::optional<Number> n = ParseNumber(items[i]);
      if (!n)
        return absl::StrCat(View(field.name), ": '", items[i],
                            "' is not a number");
      if (n->magnitude > (n->negative ? min_magnitude : max)) {
        return absl::StrCat(View(field.name), ": ", items[i], " is outside ",
                            field.is_signed ? "-" : "", min_magnitude, "..",
                            max);
      }
      const uint64_t bits = n->negative ? ~n->magnitude + 1 : n->magnitude;
      isa::PutBits(d_, field.lsb + i * field.bits, field.bits, bits);
    }
    return "";
  }

  const isa::OpInfo* op_ = nullptr;
  isa::Descriptor d_{};
  std::set<std::string> seen_;
};

}  // namespace

absl::StatusOr<std::vector<isa::Descriptor>> Assemble(const std::string& text,
                                                      const std::string& name) {
  std::vector<isa::Descriptor> descriptors;
  int number = 0;
  for (absl::string_view source : absl::StrSplit(text, '\n')) {
    ++number;
    source = source.substr(0, source.find('#'));
    const std::vector<absl::string_view> tokens =
        absl::StrSplit(source, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (tokens.empty()) continue;
    Line line;
    const std::string error = line.Parse(tokens);
    if (!error.empty())
      return absl::InvalidArgumentError(
          absl::StrCat(name, ":", number, ": ", error));
    descriptors.push_back(line.descriptor());
  }
  return descriptors;
}

}  // namespace systole
