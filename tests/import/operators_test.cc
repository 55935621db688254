// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Every operator: models of one, through importer and golden interpreter,
// against the reference kernels of TensorFlow Lite
// (scripts/vectors/tflite_operators.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

#include "absl/strings/escaping.h"
#include "host/import/tflite_importer.h"
#include "host/ir/text.h"
#include "tests/import/reference.h"
#include "verif/golden/interpreter.h"

namespace systole::import {
namespace {

std::string Decoded(const nlohmann::json& text) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(text.get<std::string>(), &bytes));
  return bytes;
}

ir::Literal LiteralOf(const ir::Type& type, const std::string& bytes) {
  EXPECT_EQ(static_cast<int64_t>(bytes.size()), type.bytes());
  return ir::Literal::FromBytes(type.element, type.elements(),
                                reinterpret_cast<const uint8_t*>(bytes.data()));
}

// A function of single precision is the C library's, here and in the reference
// kernels: its last bit depends on the release.
int64_t ApartAtMost(const std::string& a, const std::string& b) {
  EXPECT_EQ(a.size(), b.size());
  int64_t most = 0;
  for (size_t at = 0; at + 4 <= std::min(a.size(), b.size()); at += 4) {
    int32_t x, y;  // of one sign, floats are ordered as their bits
    std::memcpy(&x, &a[at], 4);
    std::memcpy(&y, &b[at], 4);
    most = std::max(most, std::abs(int64_t{x} - y));
  }
  return most;
}

TEST(OperatorsTest, EqualReferenceKernels) {
  std::set<ir::Op> seen;
  const nlohmann::json cases = Reference("operators").at("cases");
  ASSERT_GT(cases.size(), 100u);
  for (const nlohmann::json& item : cases) {
    const std::string name = item.at("name");
    SCOPED_TRACE(name);
    const auto module = ImportTflite(Decoded(item.at("model")), name);
    ASSERT_TRUE(module.ok()) << module.status();
    std::vector<ir::Literal> inputs;
    const std::vector<ir::Node*> parameters = (*module)->inputs();
    const bool seeded = item.contains("seeds");
    const nlohmann::json& given = item.at(seeded ? "seeds" : "inputs");
    ASSERT_EQ(parameters.size(), given.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      const ir::Type& type = parameters[i]->type;
      inputs.push_back(
          seeded ? ir::Literal(SeededValues(given[i], type.elements()))
                 : LiteralOf(type, Decoded(given[i])));
    }
    const auto outputs = golden::RunModule(**module, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    if (seeded) {
      EXPECT_EQ(CrcText(Crc32(outputs->at(0).Bytes())),
                item.at("crc32").get<std::string>());
    } else {
      std::string got;
      for (const ir::Literal& output : *outputs) {
        const std::vector<uint8_t> bytes = output.Bytes();
        got.append(bytes.begin(), bytes.end());
      }
      const std::string wanted = Decoded(item.at("output"));
      if (name.find("real_function") == 0) {
        EXPECT_LE(ApartAtMost(got, wanted), 1);
      } else {
        EXPECT_TRUE(got == wanted);
      }
    }
    for (const auto& node : (*module)->nodes()) seen.insert(node->op);

    const auto parsed = ir::Parse(ir::Print(**module));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_TRUE(ir::Equal(**module, **parsed));
  }
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (ir::SetOf(info.op) >= ir::OpSet::kHlo) continue;
    EXPECT_EQ(seen.count(info.op), 1u) << info.name << " has no vectors";
  }
}

}  // namespace
}  // namespace systole::import
