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

constexpr uint32_t kVersion = 1;
constexpr size_t kMaxText = size_t{1} << 30;

absl::Status ParseModule(const char* part, const std::string& text,
                         std::unique_ptr<ir::Module>& module) {
  auto parsed = ir::Parse(text);
  absl::Status status = parsed.status();
  if (status.ok()) status = ir::Verify(**parsed);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("section 'model': ", part, ": ", status.message()));
  }
  module = *std::move(parsed);
  return absl::OkStatus();
}

}  // namespace

Section ToSection(const CompiledModel& model) {
  program_file::Writer writer;
  writer.String(model.name);
  writer.String(ir::Print(*model.head));
  writer.String(ir::Print(*model.tail));
  writer.U32(static_cast<uint32_t>(model.placements.size()));
  for (const lower::Placement& p : model.placements) {
    for (const std::string* text : {&p.node, &p.op, &p.unit, &p.reason}) {
      writer.String(*text);
    }
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
  const std::string head = reader.String(kMaxText);
  const std::string tail = reader.String(kMaxText);
  for (uint32_t i = reader.Count(16); i > 0 && reader.ok(); --i) {
    lower::Placement& p = model.placements.emplace_back();
    for (std::string* text : {&p.node, &p.op, &p.unit, &p.reason}) {
      *text = reader.String(kMaxText);
    }
  }
  if (!reader.ok() || reader.left() != 0) {
    return absl::DataLossError(
        "section 'model': its fields do not fill its bytes");
  }
  const absl::Status status = ParseModule("head", head, model.head);
  return status.ok() ? ParseModule("tail", tail, model.tail) : status;
}

}  // namespace systole::runtime
