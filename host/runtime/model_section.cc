// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/model_section.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/program/codec.h"

namespace systole::runtime {
namespace {

constexpr uint32_t kVersion = 2;
constexpr size_t kMaxText = size_t{1} << 30;

absl::Status ParseModule(size_t part, const std::string& text,
                         std::unique_ptr<ir::Module>& module) {
  auto parsed = ir::Parse(text);
  absl::Status status = parsed.status();
  if (status.ok()) status = ir::Verify(**parsed);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "section 'model': part ", part, " of the host: ", status.message()));
  }
  module = *std::move(parsed);
  return absl::OkStatus();
}

}  // namespace

Section ToSection(const CompiledModel& model) {
  program_file::Writer writer;
  writer.String(model.name);
  writer.U32(static_cast<uint32_t>(model.parts.size()));
  for (const auto& part : model.parts) writer.String(ir::Print(*part));
  writer.U32(static_cast<uint32_t>(model.placements.size()));
  for (const lower::Placement& p : model.placements) {
    for (const std::string* text : {&p.node, &p.op, &p.unit, &p.reason}) {
      writer.String(*text);
    }
    writer.U32(static_cast<uint32_t>(p.step));
    writer.U64(static_cast<uint64_t>(p.macs));
    writer.U64(static_cast<uint64_t>(p.bytes));
  }
  return {kModelSection, kVersion, std::move(writer.bytes())};
}

absl::Status ParseSection(const Section& section, CompiledModel& model) {
  if (section.version != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("section 'model' has version ", section.version,
                     ", this program reads version ", kVersion));
  }
  program_file::Reader reader(section.bytes.data(),
                              section.bytes.data() + section.bytes.size());
  model.name = reader.String(kMaxText);
  std::vector<std::string> parts;
  for (uint32_t i = reader.Count(4); i > 0 && reader.ok(); --i) {
    parts.push_back(reader.String(kMaxText));
  }
  for (uint32_t i = reader.Count(36); i > 0 && reader.ok(); --i) {
    lower::Placement& p = model.placements.emplace_back();
    for (std::string* text : {&p.node, &p.op, &p.unit, &p.reason}) {
      *text = reader.String(kMaxText);
    }
    p.step = static_cast<int>(reader.U32());
    p.macs = static_cast<int64_t>(reader.U64());
    p.bytes = static_cast<int64_t>(reader.U64());
  }
  if (!reader.ok() || reader.left() != 0) {
    return absl::DataLossError(
        "section 'model': its fields do not fill its bytes");
  }
  if (parts.size() < 2) {
    return absl::InvalidArgumentError(
        "section 'model': fewer than two parts of the host");
  }
  for (const std::string& text : parts) {
    const absl::Status status =
        ParseModule(model.parts.size(), text, model.parts.emplace_back());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace systole::runtime
