// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Every operator: models of one, through importer and golden interpreter,
// against the reference kernels of TensorFlow Lite
// (scripts/vectors/tflite_operators.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>

#include "absl/strings/escaping.h"
#include "host/import/float/float_importer.h"
#include "host/import/tflite_importer.h"
#include "host/ir/evaluate.h"
#include "host/ir/text.h"
#include "tests/import/kinds.h"
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
    for (size_t i = 0; i < parameters.size(); ++i) {
      const ir::Type& type = parameters[i]->type;
      if (i >= given.size()) {  // a state
        ASSERT_FALSE(parameters[i]->operands.empty());
        inputs.push_back(parameters[i]->operands[0]->literal());
        continue;
      }
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
      const std::string wanted = Decoded(item.at("output"));
      std::string got;
      for (const ir::Literal& output : *outputs) {
        if (got.size() == wanted.size()) break;  // states
        const std::vector<uint8_t> bytes = output.Bytes();
        got.append(bytes.begin(), bytes.end());
      }
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
  for (const Kind& kind : Kinds()) {  // compared in kinds_test.cc
    const auto module = ImportTflite(kind.model, kind.name, kind.signature);
    ASSERT_TRUE(module.ok()) << module.status();
    for (const auto& node : (*module)->nodes()) seen.insert(node->op);
  }
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (ir::SetOf(info.op) >= ir::OpSet::kHlo) continue;
    EXPECT_EQ(seen.count(info.op), 1u) << info.name << " has no vectors";
  }
}

// How far results are from the reference kernels': floats by their sizes, other
// numbers in steps.
double Distance(const ir::Literal& got, const std::string& bytes) {
  const bool shifted = got.element() == ir::ElementType::kUint8;
  std::vector<uint8_t> values(bytes.begin(), bytes.end());
  for (uint8_t& value : values)
    if (shifted) value ^= 0x80;  // as the graph of integers has them
  const ir::Literal wanted =
      ir::Literal::FromBytes(got.element(), got.size(), values.data());
  return got.Visit([&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::value_type;
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double x = a[i], y = wanted.values<T>()[i];
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      // The kernels give the largest number for infinities.
      if (std::isinf(x) && std::abs(y) == std::numeric_limits<float>::max())
        continue;
      most = std::max(most, ir::IsFloat(got.element())
                                ? std::abs(x - y) / std::max(1.0, std::abs(y))
                                : std::abs(x - y));
    }
    return most;
  });
}

// The same operators as parts of a float model, which computes with the numbers
// that the integers stand for, are at most a step away; an image that is
// resized with align_corners two, as the kernel's places are rounded.
TEST(OperatorsTest, AreNearInFloatModels) {
  constexpr double kReal = 3e-6;
  int compared = 0;
  const nlohmann::json cases = Reference("operators").at("cases");
  for (const nlohmann::json& item : cases) {
    const std::string name = item.at("name"), model = Decoded(item.at("model"));
    SCOPED_TRACE(name);
    const auto begins = [&](const char* with) { return name.find(with) == 0; };
    const bool real =
        begins("real_function") || begins("quotient") || begins("conv_3d");
    if (real) EXPECT_FALSE(item.contains("seeds"));
    // None of integers between floats is a float model.
    EXPECT_EQ(IsFloatTflite(model), real);
    const auto module =
        ImportFloatTflite(model, name, {ir::Precision::kHighest, {}});
    if (begins("lstm") || begins("kept_constant") || begins("stream")) {
      EXPECT_TRUE(absl::IsUnimplemented(module.status())) << module.status();
      continue;
    }
    ASSERT_TRUE(module.ok()) << module.status();
    // Logarithms of what is not above 0 are the kernel's own; long inputs.
    if (begins("function log") || item.contains("seeds")) continue;
    std::vector<ir::Literal> inputs;
    bool narrowed = false;  // 64 bits are 32 in the vectors
    for (const ir::Node* parameter : (*module)->inputs()) {
      std::string values = Decoded(item.at("inputs")[inputs.size()]);
      narrowed |= parameter->type.element == ir::ElementType::kInt64;
      if (parameter->type.element == ir::ElementType::kUint8)
        for (char& value : values) value = static_cast<char>(value ^ 0x80);
      if (!narrowed) inputs.push_back(LiteralOf(parameter->type, values));
    }
    if (narrowed) continue;
    const auto outputs = ir::EvaluateModule(**module, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    std::string wanted = Decoded(item.at("output"));
    for (const ir::Literal& output : *outputs) {
      if (output.element() == ir::ElementType::kInt64) break;
      const size_t size = output.Bytes().size();
      ASSERT_LE(size, wanted.size());
      const double limit = ir::IsFloat(output.element())     ? kReal
                           : name.find("align") != name.npos ? 2
                                                             : 1;
      EXPECT_LE(Distance(output, wanted.substr(0, size)), limit);
      wanted.erase(0, size);
      ++compared;
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace systole::import
