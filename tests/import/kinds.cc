// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/import/kinds.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "tests/import/reference.h"

namespace systole::import {
namespace {

std::string Decoded(const nlohmann::json& text) {
  std::string bytes;
  absl::Base64Unescape(text.get<std::string>(), &bytes);
  return bytes;
}

std::vector<std::string> AllDecoded(const nlohmann::json& texts) {
  std::vector<std::string> all;
  for (const nlohmann::json& text : texts) all.push_back(Decoded(text));
  return all;
}

// Integers of one size as those of another.
template <typename From, typename To>
std::string Resized(const std::string& bytes) {
  std::string resized;
  for (size_t at = 0; at + sizeof(From) <= bytes.size(); at += sizeof(From)) {
    From from;
    std::memcpy(&from, &bytes[at], sizeof(from));
    const To to = static_cast<To>(from);
    resized.append(reinterpret_cast<const char*>(&to), sizeof(to));
  }
  return resized;
}

std::string Recentred(std::string bytes) {
  for (char& byte : bytes) byte = static_cast<char>(byte ^ 0x80);
  return bytes;
}

}  // namespace

std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  const nlohmann::json all = Reference("kinds");
  for (const nlohmann::json& item : all.at("cases")) {
    Kind kind{item.at("name"),
              Decoded(item.at("model")),
              item.value("signature", ""),
              item.value("calls", 1),
              AllDecoded(item.at("inputs")),
              AllDecoded(item.at("outputs")),
              {}};
    for (const nlohmann::json& shape : item.at("shapes"))
      kind.shapes.push_back(shape.get<std::vector<int64_t>>());
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

ir::Literal FromFile(const std::string& bytes, const ir::Type& type,
                     const std::string& stored) {
  const std::string values = stored == "u8" ? Recentred(bytes)
                             : stored == "i64"
                                 ? Resized<int64_t, int32_t>(bytes)
                                 : bytes;
  if (static_cast<int64_t>(values.size()) != type.bytes())
    return ir::Literal::Zeros(type.element, 0);
  return ir::Literal::FromBytes(
      type.element, type.elements(),
      reinterpret_cast<const uint8_t*>(values.data()));
}

std::string ToFile(const ir::Literal& values, const std::string& stored) {
  const std::vector<uint8_t> bytes = values.Bytes();
  const std::string text(bytes.begin(), bytes.end());
  if (stored == "u8") return Recentred(text);
  return stored == "i64" ? Resized<int32_t, int64_t>(text) : text;
}

std::vector<ir::Literal> InputsOf(const Kind& kind,
                                  const std::vector<ir::Node*>& parameters,
                                  int call) {
  std::vector<ir::Literal> inputs;
  for (const ir::Node* parameter : parameters) {
    if (!parameter->operands.empty()) continue;
    const std::string& all = kind.inputs.at(inputs.size());
    const size_t size = all.size() / static_cast<size_t>(kind.calls);
    inputs.push_back(FromFile(
        all.substr(static_cast<size_t>(call) * size, size), parameter->type,
        parameter->attr<ir::ParameterAttributes>().stored));
  }
  return inputs;
}

std::string OutputOf(const Kind& kind, size_t i, int call) {
  const size_t size = kind.outputs[i].size() / static_cast<size_t>(kind.calls);
  return kind.outputs[i].substr(static_cast<size_t>(call) * size, size);
}

}  // namespace systole::import
