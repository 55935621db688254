// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Text to vector code, driven by the tables of systole/gen/vpu.h. Two passes:
// labels and names, then instructions.

#include "host/program/vpu_asm.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "host/program/vpu_expression.h"

namespace systole::vpu {
namespace {

using absl::string_view;

// The packaged Abseil has a string_view of its own.
string_view View(std::string_view s) { return {s.data(), s.size()}; }

bool IsName(string_view s) {
  if (s.empty() || !(absl::ascii_isalpha(s[0]) || s[0] == '_')) return false;
  for (char c : s) {
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  }
  return true;
}

// The statement of a line without its label.
struct Statement {
  int line;
  string_view mnemonic;
  std::vector<string_view> operands;
};

class Assembler {
 public:
  Assembler(const std::string& name,
            const std::map<std::string, int64_t>& constants, int base)
      : name_(name), base_(base) {
    names_.constants = constants;
  }

  absl::StatusOr<Code> Run(const std::string& text) {
    int line = 0;
    for (string_view source : absl::StrSplit(text, '\n')) {
      ++line;
      if (const std::string error = Scan(source, line); !error.empty())
        return Error(line, error);
    }
    for (const Statement& s : statements_) {
      uint64_t word = 0;
      if (const std::string error = Encode(s, &word); !error.empty())
        return Error(s.line, error);
      code_.words.push_back(word);
    }
    if (!notes_.empty())
      return Error(line, notes_[0].directive + " without a label behind it");
    code_.labels = names_.labels;
    code_.constants = names_.constants;
    return std::move(code_);
  }

 private:
  absl::Status Error(int line, const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ":", line, ": ", what));
  }

  // First pass. Each function returns what is wrong, "" if nothing.
  std::string Scan(string_view source, int line) {
    source = absl::StripAsciiWhitespace(source.substr(0, source.find('#')));
    const size_t colon = source.find(':');
    if (colon != string_view::npos) {
      const std::string label(
          absl::StripAsciiWhitespace(source.substr(0, colon)));
      if (std::string e = Define(label); !e.empty()) return e;
      names_.labels[label] = Here();
      if (!notes_.empty()) code_.notes[label] = std::move(notes_);
      notes_.clear();
      source = absl::StripLeadingAsciiWhitespace(source.substr(colon + 1));
    }
    if (source.empty()) return "";
    Statement s{line, source.substr(0, source.find_first_of(" \t")), {}};
    const string_view rest =
        absl::StripAsciiWhitespace(source.substr(s.mnemonic.size()));
    if (s.mnemonic[0] == '.' && s.mnemonic != ".word")
      return Directive(s.mnemonic, rest, line);
    if (!rest.empty()) {
      for (string_view o : SplitOutsideParentheses(rest, ","))
        s.operands.push_back(absl::StripAsciiWhitespace(o));
    }
    if (Here() >= kImemWords)
      return absl::StrCat("the instruction memory ends at ", kImemWords);
    statements_.push_back(std::move(s));
    return "";
  }

  int Here() const { return base_ + static_cast<int>(statements_.size()); }

  std::string Define(const std::string& name) const {
    if (!IsName(name) || ParseRegister(name))
      return absl::StrCat("'", name, "' cannot be a name");
    if (names_.Has(name))
      return absl::StrCat("'", name, "' is defined already");
    return "";
  }

  std::string Directive(string_view directive, string_view rest, int line) {
    if (directive == ".reads" || directive == ".writes" ||
        directive == ".cycles") {
      notes_.push_back({std::string(directive), std::string(rest), line});
      return "";
    }
    const std::vector<string_view> words = absl::StrSplit(
        rest, absl::MaxSplits(absl::ByAnyChar(" \t"), 1), absl::SkipEmpty());
    const std::string name(words.empty() ? "" : words[0]);
    const string_view value =
        words.size() < 2 ? "" : absl::StripAsciiWhitespace(words[1]);
    if (directive != ".arg" && directive != ".reg" && directive != ".const")
      return absl::StrCat("unknown directive '", directive, "'");
    if (std::string e = Define(name); !e.empty()) return e;
    if (directive == ".arg") {
      if (!value.empty()) return absl::StrCat("unexpected '", value, "'");
      if (num_args_ == kArgs)
        return absl::StrCat("more than ", kArgs, " arguments");
      code_.args[name] = num_args_;
      names_.registers[name] = {false, ++num_args_};
      return "";
    }
    if (directive == ".reg") {
      const std::optional<Register> r = ParseRegister(value);
      if (!r) return absl::StrCat("'", value, "' is not a register");
      names_.registers[name] = *r;
      return "";
    }
    int64_t v;
    if (std::string e = ParseExpression(value, names_, &v); !e.empty())
      return e;
    names_.constants[name] = v;
    return "";
  }

  // Second pass.
  std::string Encode(const Statement& s, uint64_t* word) const {
    if (s.mnemonic == ".word") {
      if (s.operands.size() != 1 || !absl::SimpleHexAtoi(s.operands[0], word))
        return ".word wants one hexadecimal number";
      return "";
    }
    const OpInfo* op =
        FindOp(std::string_view(s.mnemonic.data(), s.mnemonic.size()));
    if (op == nullptr)
      return absl::StrCat("unknown instruction '", s.mnemonic, "'");
    const size_t most = op->num_operands;
    const size_t least = most - (IsOptional(op->imm) ? 1 : 0);
    if (s.operands.size() < least || s.operands.size() > most)
      return absl::StrCat(View(op->name), " wants ", Count(*op, least, most),
                          ", not ", s.operands.size());
    Instr x;
    x.op = op->op;
    for (size_t i = 0; i < s.operands.size(); ++i) {
      if (std::string e = OperandOf(*op, op->operands[i], s.operands[i], &x);
          !e.empty())
        return e;
    }
    // c lies in the immediate's place.
    if (op->c != Kind::kNone) x.imm = x.c | x.cm << 6;
    *word = x.Encode();
    return WhyIllegal(*word);
  }

  static std::string Count(const OpInfo&, size_t least, size_t most) {
    if (least == most)
      return absl::StrCat(most, most == 1 ? " operand" : " operands");
    return absl::StrCat(least, " or ", most, " operands");
  }

  std::string OperandOf(const OpInfo& op, const Operand& operand,
                        string_view text, Instr* x) const {
    if (operand.field == 'i') return Immediate(op, text, x);
    string_view base = text;
    const bool row0 = absl::ConsumeSuffix(&base, ".0");
    std::optional<Register> r = ParseRegister(base);
    if (const auto it = names_.registers.find(std::string(base));
        !r && it != names_.registers.end())
      r = it->second;
    if (!r) return absl::StrCat("'", text, "' is not a register");
    const bool scalar_class = op.cls <= Class::kControl;
    const bool vector_only = operand.kind == Kind::kVdst ||
                             operand.kind == Kind::kVfrom ||
                             operand.kind == Kind::kVrow;
    const bool scalar_only =
        operand.kind == Kind::kSdst || operand.kind == Kind::kSsrc;
    if (vector_only && !r->is_vector)
      return absl::StrCat("'", text, "' is not a vector register");
    if (scalar_only && r->is_vector)
      return absl::StrCat("'", text, "' is not a scalar register");
    if (row0 && (!r->is_vector || operand.kind != Kind::kVsrc))
      return absl::StrCat("'", text, "': only a vector source has a row 0");
    Mode mode = Mode::kRow;
    if (row0) mode = Mode::kRow0;
    if (!r->is_vector && !scalar_class) mode = Mode::kScalar;
    const auto number = static_cast<uint8_t>(r->number);
    const auto bits = static_cast<uint8_t>(mode);
    switch (operand.field) {
      case 'd':
        x->d = number;
        break;
      case 'a':
        x->a = number, x->am = bits;
        break;
      case 'b':
        x->b = number, x->bm = bits;
        break;
      default:
        x->c = number, x->cm = bits;
        break;
    }
    return "";
  }

  std::string Immediate(const OpInfo& op, string_view text, Instr* x) const {
    int64_t v;
    if (std::string e = ParseExpression(text, names_, &v); !e.empty()) return e;
    int64_t low = INT32_MIN, high = UINT32_MAX;
    if (op.imm == ImmKind::kShift) low = 0, high = 31;
    if (op.imm == ImmKind::kTarget) low = 0, high = kImemWords - 1;
    if (op.imm == ImmKind::kLimit) low = 0, high = 63;
    if (v < low || v > high)
      return absl::StrCat(v, " is outside ", low, "..", high);
    x->imm = static_cast<int32_t>(static_cast<uint32_t>(v));
    return "";
  }

  const std::string& name_;
  const int base_;
  Names names_;
  int num_args_ = 0;
  std::vector<Statement> statements_;
  std::vector<Code::Note> notes_;  // since the last label
  Code code_;
};

}  // namespace

absl::StatusOr<Code> Assemble(const std::string& text, const std::string& name,
                              const std::map<std::string, int64_t>& constants,
                              int base) {
  return Assembler(name, constants, base).Run(text);
}

}  // namespace systole::vpu
