// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Text to descriptors, driven by the tables of systole/gen/isa.h. Grammar:
// docs/program_file.md.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
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

// The numbers of "8+64-2", as far as they are numbers.
std::vector<absl::string_view> Terms(absl::string_view text) {
  std::vector<absl::string_view> terms;
  size_t from = 0;
  for (size_t at = 1; at <= text.size(); ++at) {
    if (at < text.size() && text[at] != '+' && text[at] != '-') continue;
    terms.push_back(text.substr(from, at - from));
    from = at < text.size() && text[at] == '+' ? at + 1 : at;
  }
  return terms;
}

// One line of source. Each function returns what is wrong, "" if nothing.
class Line {
 public:
  // `depth`: loops around the line.
  explicit Line(size_t depth) : depth_(depth) {}

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
  // Their `loop` counts from the innermost one outwards.
  const std::vector<Step>& steps() const { return steps_; }

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
      const std::vector<absl::string_view> terms = Terms(items[i]);
      const std::optional<Number> n =
          ParseNumber(terms.empty() ? items[i] : terms[0]);
      if (!n)
        return absl::StrCat(View(field.name), ": '", items[i],
                            "' is not a number");
      if (n->magnitude > (n->negative ? min_magnitude : max)) {
        return absl::StrCat(View(field.name), ": ", terms[0], " is outside ",
                            field.is_signed ? "-" : "", min_magnitude, "..",
                            max);
      }
      const uint64_t bits = n->negative ? ~n->magnitude + 1 : n->magnitude;
      const int lsb = field.lsb + i * field.bits;
      isa::PutBits(d_, lsb, field.bits, bits);
      if (terms.size() > 1 && &field == &kTag)
        return "a tag is the same in each pass of a loop";
      if (terms.size() - 1 > depth_) {
        return absl::StrCat(View(field.name), ": ", items[i], " has ",
                            terms.size() - 1, " steps; ", depth_,
                            depth_ == 1 ? " loop is" : " loops are",
                            " around it");
      }
      for (size_t t = 1; t < terms.size(); ++t) {
        const std::optional<Number> by = ParseNumber(terms[t]);
        if (!by || by->magnitude > (uint64_t{1} << 40))
          return absl::StrCat(View(field.name), ": '", terms[t],
                              "' is not a step");
        const auto add = static_cast<int64_t>(by->magnitude);
        if (add == 0) continue;
        steps_.push_back(
            {0, static_cast<uint32_t>(t - 1), static_cast<uint32_t>(lsb),
             static_cast<uint32_t>(field.bits), by->negative ? -add : add});
      }
    }
    return "";
  }

  const isa::OpInfo* op_ = nullptr;
  isa::Descriptor d_{};
  std::vector<Step> steps_;
  std::set<std::string> seen_;
  size_t depth_;
};

// "loop 10", "while word=0x100 flag=3 most=9", "if word=0x100 flag=3".
std::string ParseLoop(const std::vector<absl::string_view>& tokens,
                      Loop* loop) {
  const auto value = [](absl::string_view text,
                        uint64_t most) -> std::optional<uint64_t> {
    const std::optional<Number> n = ParseNumber(text);
    if (!n || n->negative || n->magnitude > most) return std::nullopt;
    return n->magnitude;
  };
  if (tokens[0] == "loop") {
    const auto count =
        value(tokens.size() == 2 ? tokens[1] : "", Loop::kForever - 1);
    if (!count || *count == 0) return "loop wants how often, at least 1";
    loop->count = static_cast<uint32_t>(*count);
    return "";
  }
  const bool branch = tokens[0] == "if";
  loop->count = branch ? 1 : Loop::kForever;
  std::set<absl::string_view> seen;
  for (size_t i = 1; i < tokens.size(); ++i) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(tokens[i], absl::MaxSplits('=', 1));
    const auto n = value(parts.size() == 2 ? parts[1] : "", ~uint64_t{0});
    if (!n || !seen.insert(parts[0]).second)
      return absl::StrCat("'", tokens[i],
                          "' is no NAME=NUMBER, or not the "
                          "first of its name");
    if (parts[0] == "word") {
      loop->word = *n;
    } else if (parts[0] == "flag" && *n < isa::kNumFlags) {
      loop->flag = static_cast<uint32_t>(*n);
    } else if (parts[0] == "most" && !branch && *n >= 1 &&
               *n < Loop::kForever) {
      loop->count = static_cast<uint32_t>(*n);
    } else {
      return absl::StrCat("'", tokens[i], "' is nothing that ", tokens[0],
                          " has: word, flag", branch ? "" : ", most");
    }
  }
  if (seen.count("word") == 0 || seen.count("flag") == 0)
    return absl::StrCat(tokens[0], " wants word= and flag=");
  return "";
}

}  // namespace

absl::StatusOr<Code> AssembleCode(const std::string& text,
                                  const std::string& name) {
  Code code;
  std::vector<uint32_t> open;
  int number = 0;
  const auto bad = [&](const std::string& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ":", number, ": ", error));
  };
  for (absl::string_view source : absl::StrSplit(text, '\n')) {
    ++number;
    source = source.substr(0, source.find('#'));
    const std::vector<absl::string_view> tokens =
        absl::StrSplit(source, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (tokens.empty()) continue;
    const auto index = static_cast<uint32_t>(code.descriptors.size());
    if (tokens[0] == "loop" || tokens[0] == "while" || tokens[0] == "if") {
      Loop loop;
      loop.begin = index;
      const std::string error = ParseLoop(tokens, &loop);
      if (!error.empty()) return bad(error);
      if (open.size() == kMaxLoopDepth)
        return bad(absl::StrCat("more than ", kMaxLoopDepth,
                                " loops are in each other"));
      open.push_back(static_cast<uint32_t>(code.loops.size()));
      code.loops.push_back(loop);
      continue;
    }
    if (tokens[0] == "end") {
      if (open.empty() || tokens.size() > 1) return bad("end of what?");
      if (code.loops[open.back()].begin == index)
        return bad("nothing is in this loop");
      code.loops[open.back()].end = index;
      open.pop_back();
      continue;
    }
    Line line(open.size());
    const std::string error = line.Parse(tokens);
    if (!error.empty()) return bad(error);
    code.descriptors.push_back(line.descriptor());
    for (Step step : line.steps()) {
      step.descriptor = index;
      step.loop = open[open.size() - 1 - step.loop];
      code.steps.push_back(step);
    }
  }
  if (!open.empty()) return bad("a loop has no end");
  std::sort(code.steps.begin(), code.steps.end(),
            [](const Step& a, const Step& b) {
              return std::tie(a.descriptor, a.lsb, a.loop) <
                     std::tie(b.descriptor, b.lsb, b.loop);
            });
  return code;
}

absl::StatusOr<std::vector<isa::Descriptor>> Assemble(const std::string& text,
                                                      const std::string& name) {
  absl::StatusOr<Code> code = AssembleCode(text, name);
  if (!code.ok()) return code.status();
  if (!code->loops.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": loops, where descriptors alone are wanted"));
  return std::move(code->descriptors);
}

}  // namespace systole
