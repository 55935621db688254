// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/kernels.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/program/vpu_asm.h"

namespace systole::kernels {
namespace {

[[noreturn]] void Wrong(const std::string& what) {
  std::fprintf(stderr, "kernels: %s\n", what.c_str());
  std::abort();
}

}  // namespace

Image::Part Image::PartOf(const std::string& entry) const {
  const auto it = entries_.find(entry);
  if (it == entries_.end()) Wrong("no kernel " + entry);
  const size_t file = it->second.file;
  const auto end = file + 1 < begin_.size() ? words_.begin() + begin_[file + 1]
                                            : words_.end();
  return {begin_[file], {words_.begin() + begin_[file], end}};
}

Call Image::Run(
    const std::string& entry,
    const std::vector<std::pair<std::string, int64_t>>& args) const {
  const auto it = entries_.find(entry);
  if (it == entries_.end()) Wrong("no kernel " + entry);
  const auto declared = declared_.find(entry);
  if (declared == declared_.end()) Wrong(entry + " declares nothing");
  Call call;
  call.run.pc = static_cast<uint32_t>(it->second.pc);
  const std::map<std::string, int>& names = args_[it->second.file];
  std::vector<int64_t> values(vpu::kArgs, 0);
  for (const auto& [name, value] : args) {
    const auto arg = names.find(name);
    if (arg == names.end()) Wrong(entry + " has no argument " + name);
    call.run.args[arg->second] = static_cast<uint32_t>(value);
    values[arg->second] = value;
  }
  absl::StatusOr<std::vector<Effect>> effects =
      declared->second.Effects(values);
  if (!effects.ok())
    Wrong(absl::StrCat(entry, ": ", effects.status().message()));
  call.effects = *std::move(effects);
  const absl::StatusOr<int64_t> cycles = declared->second.Cycles(values);
  if (!cycles.ok()) Wrong(absl::StrCat(entry, ": ", cycles.status().message()));
  call.cycles = *cycles;
  return call;
}

std::vector<std::string> Image::Kernels() const {
  std::vector<std::string> names;
  for (const auto& [name, declaration] : declared_) names.push_back(name);
  return names;
}

absl::StatusOr<Image> Assemble(const Preset& preset) {
  Image image;
  for (const Text& text : EmbeddedTexts()) {
    const absl::StatusOr<vpu::Code> code =
        vpu::Assemble(std::string(text.text), std::string(text.name),
                      {{"L", preset.cols},
                       {"HALF_L", preset.cols / 2},
                       {"ROW", 4 * preset.cols},
                       {"HALF_ROW", 2 * preset.cols}},
                      static_cast<int>(image.words_.size()));
    if (!code.ok()) return code.status();
    for (const auto& [label, pc] : code->labels) {
      const Image::Entry entry = {pc, static_cast<int>(image.args_.size())};
      if (!image.entries_.emplace(label, entry).second) {
        return absl::InternalError(absl::StrFormat(
            "%s: the label %s is there twice", text.name, label));
      }
    }
    for (const auto& [label, notes] : code->notes) {
      absl::StatusOr<Declaration> declared =
          Declaration::Parse(notes, code->constants, code->args);
      if (!declared.ok()) {
        return absl::InternalError(
            absl::StrCat(std::string(text.name), ":",
                         std::string(declared.status().message())));
      }
      image.declared_[label] = *std::move(declared);
    }
    image.args_.push_back(code->args);
    image.begin_.push_back(static_cast<int>(image.words_.size()));
    image.words_.insert(image.words_.end(), code->words.begin(),
                        code->words.end());
  }
  if (image.words_.size() > vpu::kImemWords) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "the kernels have %d instructions, the instruction memory holds %d",
        image.words_.size(), vpu::kImemWords));
  }
  return image;
}

}  // namespace systole::kernels
