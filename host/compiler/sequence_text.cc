// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/compiler/sequence.h"
#include "host/ir/reader.h"
#include "systole/program.h"

namespace systole::compiler {
namespace {

constexpr const char* kSpaces[] = {"ub", "acc", "hbm"};  // as Space

std::string Text(const Access& access) {
  std::string text = absl::StrFormat(
      "%s %s[0x%x, %d", access.write ? "writes" : "reads",
      kSpaces[static_cast<int>(access.space)], access.base, access.len);
  for (int i = 0; i < 3; ++i) {
    if (access.count[i] > 1)
      absl::StrAppend(&text, ", ", access.count[i], " * ", access.stride[i]);
  }
  return text + "]";
}

class SequenceParser : private ir::Reader {
 public:
  explicit SequenceParser(std::string_view text) : Reader(text) {}

  absl::StatusOr<Sequence> ReadSequence() {
    Expect("sequence");
    Expect("on");
    const std::string name = Word();
    const Preset* preset = FindPreset(name);
    if (preset == nullptr) Fail(absl::StrCat("no preset '", name, "'"));
    if (!ok()) return status();
    Sequence sequence(*preset);
    if (Accept(",")) {
      Expect("flagged");
      sequence.flagged = true;
    }
    Expect("{");
    while (ok() && !Accept("}")) Statement(sequence);
    if (ok() && !AtEnd()) Fail("text behind the sequence");
    if (!ok()) return status();
    return sequence;
  }

 private:
  void Statement(Sequence& sequence) {
    Expect("%");
    if (const int64_t number = Integer(); ok() && number != sequence.size())
      Fail(absl::StrCat("step %", number, " where %", sequence.size(),
                        " is next"));
    Expect("=");
    Step step;
    const auto line = Assemble(std::string(Until(';')), "descriptor");
    if (!line.ok()) {
      Fail(std::string(line.status().message()));
    } else if (line->size() != 1 || QueueOf((*line)[0]) == isa::Queue::kNone) {
      Fail("a descriptor of a queue wanted");
    } else {
      step.descriptor = (*line)[0];
    }
    while (ok() && Accept(";")) Clause(sequence, step);
    if (ok()) sequence.steps.push_back(std::move(step));
  }

  void Clause(const Sequence& sequence, Step& step) {
    const std::string key = Word();
    if (key == "cycles") {
      Expect("=");
      step.cycles = Integer();
    } else if (key == "reads" || key == "writes") {
      step.touches.push_back(ReadAccess(key == "writes"));
    } else if (key == "after") {
      do {
        Expect("%");
        const int64_t on = Integer();
        if (on < 0 || on >= sequence.size()) {
          Fail(absl::StrCat("%", on, " is not before this step"));
          return;
        }
        int& latest = step.after[static_cast<int>(sequence.steps[on].queue())];
        if (latest >= 0) Fail("two steps of one queue");
        latest = static_cast<int>(on);
      } while (ok() && Accept(","));
    } else {
      Fail(absl::StrCat("'", key, "' is none of cycles, reads, writes, after"));
    }
  }

  Access ReadAccess(bool write) {
    Access access;
    access.write = write;
    const std::string space = Word();
    const auto* found =
        std::find(std::begin(kSpaces), std::end(kSpaces), space);
    if (found == std::end(kSpaces)) Fail(absl::StrCat("no memory ", space));
    access.space = static_cast<Space>(found - std::begin(kSpaces));
    Expect("[");
    access.base = Integer();
    Expect(",");
    access.len = Integer();
    for (int i = 0; i < 3 && Accept(","); ++i) {
      access.count[i] = Integer();
      Expect("*");
      access.stride[i] = Integer();
    }
    Expect("]");
    if (ok() && (access.base < 0 || access.len < 1)) Fail("an empty access");
    return access;
  }
};

}  // namespace

std::string Print(const Sequence& sequence) {
  std::string text =
      absl::StrCat("sequence on ", std::string(sequence.preset->name),
                   sequence.flagged ? ", flagged" : "", " {\n");
  for (int i = 0; i < sequence.size(); ++i) {
    const Step& step = sequence.steps[i];
    absl::StrAppend(&text, "  %", i, " = ", Disassemble(step.descriptor));
    if (step.cycles > 0) absl::StrAppend(&text, "; cycles=", step.cycles);
    for (const Access& access : step.touches)
      absl::StrAppend(&text, "; ", Text(access));
    Dependences after = step.after;
    std::sort(after.begin(), after.end());
    const char* separator = "; after %";
    for (const int d : after) {
      if (d < 0) continue;
      absl::StrAppend(&text, separator, d);
      separator = ", %";
    }
    text += "\n";
  }
  return text + "}\n";
}

absl::StatusOr<Sequence> ParseSequence(std::string_view text) {
  return SequenceParser(text).ReadSequence();
}

}  // namespace systole::compiler
