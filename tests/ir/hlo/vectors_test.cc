// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The host's evaluation and the golden model against jax on the CPU
// (tests/data/hlo/README.md), and against each other.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "host/ir/evaluate.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::ir {
namespace {

constexpr char kVectors[] =
    SYSTOLE_SOURCE_DIR "/tests/data/hlo/operators.jsonl.gz";

struct Case {
  std::string name;
  std::unique_ptr<Module> module;
  Literals inputs, outputs;
  double ulp = 0;
  bool scaled = false;
};

Literal FromHex(const Type& type, const std::string& hex) {
  const std::string bytes = absl::HexStringToBytes(hex);
  EXPECT_EQ(static_cast<int64_t>(bytes.size()), type.bytes());
  return Literal::FromBytes(type.element, type.elements(),
                            reinterpret_cast<const uint8_t*>(bytes.data()));
}

std::string Unpacked(const char* path) {
  std::string text;
  gzFile file = gzopen(path, "rb");
  EXPECT_NE(file, nullptr) << path;
  char part[1 << 16];
  int count = 0;
  while (file && (count = gzread(file, part, sizeof(part))) > 0) {
    text.append(part, count);
  }
  if (file) gzclose(file);
  return text;
}

const std::vector<Case>& Cases() {
  static const auto& cases = *[] {
    auto* made = new std::vector<Case>;
    std::istringstream file(Unpacked(kVectors));
    for (std::string line; std::getline(file, line);) {
      const nlohmann::json json = nlohmann::json::parse(line);
      Case c;
      c.name = json["name"];
      auto module = Parse(json["text"].get<std::string>());
      EXPECT_TRUE(module.ok()) << c.name << ": " << module.status();
      if (!module.ok()) continue;
      c.module = *std::move(module);
      const std::vector<Node*> parameters = c.module->inputs();
      for (size_t i = 0; i < parameters.size(); ++i) {
        c.inputs.push_back(FromHex(parameters[i]->type, json["inputs"][i]));
      }
      for (size_t i = 0; i < c.module->outputs.size(); ++i) {
        c.outputs.push_back(
            FromHex(c.module->outputs[i].node.type(), json["outputs"][i]));
      }
      c.ulp = json.value("ulp", 0.0);
      c.scaled = json.value("scaled", false);
      made->push_back(std::move(c));
    }
    return made;
  }();
  return cases;
}

int MantissaBits(ElementType type) {
  return type == ElementType::kFloat32   ? 23
         : type == ElementType::kFloat16 ? 10
                                         : 7;
}

// The first place where the values are further apart than the case allows, in
// words; empty if there is none.
std::string Difference(const Case& c, const Literal& got,
                       const Literal& wanted) {
  if (got.element() != wanted.element() || got.size() != wanted.size()) {
    return "of another type or size";
  }
  return got.Visit([&](const auto& values) -> std::string {
    using T = typename std::decay_t<decltype(values)>::value_type;
    const std::vector<T>& expected = wanted.values<T>();
    double largest = 0;
    for (const T& v : expected) {
      const double size = std::abs(static_cast<double>(v));
      if (std::isfinite(size)) largest = std::max(largest, size);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const double a = static_cast<double>(values[i]);
      const double b = static_cast<double>(expected[i]);
      if (std::memcmp(&values[i], &expected[i], sizeof(T)) == 0) continue;
      if (std::isnan(a) && std::isnan(b)) continue;
      double allowed = 0;
      if (c.ulp > 0 && std::isfinite(b)) {
        const double size = c.scaled ? largest : std::abs(b);
        const int exponent =
            std::max(std::ilogb(size == 0 ? 1e-37 : size), -126);
        allowed =
            c.ulp * std::ldexp(1.0, exponent - MantissaBits(got.element()));
      }
      if (std::abs(a - b) <= allowed && a != b) continue;
      return absl::StrCat("value ", i, " is ", a, ", not ", b);
    }
    return "";
  });
}

TEST(HloVectorsTest, ModulesAreSoundAndReadBack) {
  ASSERT_GE(Cases().size(), 400u);
  for (const Case& c : Cases()) {
    EXPECT_EQ(Verify(*c.module), absl::OkStatus()) << c.name;
    const auto again = Parse(Print(*c.module));
    ASSERT_TRUE(again.ok()) << c.name << again.status();
    EXPECT_TRUE(Equal(*c.module, **again)) << c.name;
  }
}

TEST(HloVectorsTest, EqualsJax) {
  for (const Case& c : Cases()) {
    const auto outputs = EvaluateModule(*c.module, c.inputs);
    ASSERT_TRUE(outputs.ok()) << c.name << ": " << outputs.status();
    ASSERT_EQ(outputs->size(), c.outputs.size()) << c.name;
    for (size_t i = 0; i < outputs->size(); ++i) {
      EXPECT_EQ(Difference(c, (*outputs)[i], c.outputs[i]), "")
          << c.name << ", output " << i;
    }
  }
}

// Another reading of docs/hlo.md, which shares no operation with the host's.
TEST(HloVectorsTest, GoldenModelEqualsJaxAndTheHost) {
  for (const Case& c : Cases()) {
    const auto host = EvaluateModule(*c.module, c.inputs);
    const auto outputs = golden::RunHlo(*c.module, c.inputs);
    ASSERT_TRUE(outputs.ok()) << c.name << ": " << outputs.status();
    ASSERT_EQ(outputs->size(), c.outputs.size()) << c.name;
    for (size_t i = 0; i < outputs->size(); ++i) {
      EXPECT_EQ(Difference(c, (*outputs)[i], c.outputs[i]), "")
          << c.name << ", output " << i;
      EXPECT_EQ((*outputs)[i], (*host)[i])
          << c.name << ", output " << i << " is not the host's";
    }
  }
}

// Results that are wrong by a little.
Literal Disturbed(const Literal& values) {
  Literal wrong = values;
  wrong.Visit([](auto& v) {
    using T = typename std::decay_t<decltype(v)>::value_type;
    for (T& x : v) {
      if constexpr (std::is_same_v<T, Bool>) {
        x = !x;
      } else if constexpr (IsFloat(ElementOf<T>::kType)) {
        x = static_cast<T>(static_cast<float>(x) * 1.25f + 0.25f);
      } else {
        x = static_cast<T>(x + 1);
      }
    }
  });
  return wrong;
}

bool Has(const Module& module, Op op) {
  return std::any_of(
      module.nodes().begin(), module.nodes().end(), [&](const auto& node) {
        return node->op == op ||
               std::any_of(node->regions.begin(), node->regions.end(),
                           [&](const auto& r) { return Has(*r, op); });
      });
}

// Every operation has cases, and they see when it is wrong: by jax's values,
// and by the golden model's.
TEST(HloVectorsTest, SeesAFaultInEachOperation) {
  const std::set<Op> without = {
      Op::kHloRng,           Op::kHloIf,
      Op::kHloAllReduce,     Op::kHloAllGather,
      Op::kHloReduceScatter, Op::kHloAllToAll,
      Op::kHloCustomCall,    Op::kHloCollectivePermute,
      Op::kHloPartitionId,   Op::kHloCollectiveBroadcast,
      Op::kHloReplicaId,     Op::kHloStrided,
      Op::kHloMatrixProduct, Op::kHloShard};
  for (const OpInfo& info : AllOps()) {
    if (SetOf(info.op) != OpSet::kHlo || without.count(info.op) > 0) continue;
    Evaluation host;
    EvaluateOptions options;
    options.hook = [&](const Node& node, const Operands& operands,
                       Literals& results) -> absl::StatusOr<bool> {
      if (node.op != info.op) return false;
      absl::StatusOr<Literals> right = host.Node(node, operands);
      if (!right.ok()) return right.status();
      for (const Literal& result : *right) results.push_back(Disturbed(result));
      return true;
    };
    int cases = 0, seen = 0, seen_by_golden = 0;
    for (const Case& c : Cases()) {
      // A loop might not end.
      const bool loops =
          info.op != Op::kHloWhile && Has(*c.module, Op::kHloWhile);
      if (!Has(*c.module, info.op) || loops) continue;
      ++cases;
      const auto outputs = EvaluateModule(*c.module, c.inputs, options);
      bool differs = !outputs.ok();
      for (size_t i = 0; !differs && i < outputs->size(); ++i) {
        differs = !Difference(c, (*outputs)[i], c.outputs[i]).empty();
      }
      seen += differs ? 1 : 0;
      const auto golden = golden::RunHlo(*c.module, c.inputs);
      seen_by_golden +=
          !outputs.ok() || (golden.ok() && *outputs != *golden) ? 1 : 0;
    }
    EXPECT_GT(cases, 0) << info.name;
    EXPECT_GE(4 * seen, cases) << info.name << ": " << seen << " of " << cases;
    EXPECT_GE(4 * seen_by_golden, cases)
        << info.name << ": " << seen_by_golden << " of " << cases;
  }
}

}  // namespace
}  // namespace systole::ir
