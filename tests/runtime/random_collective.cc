// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/runtime/random_collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"

namespace systole::runtime {
namespace {

using ir::Literal;
using ir::ProcessGrid;

constexpr char kAdd[] =
    "{ %p = f32[] parameter()\n %q = f32[] parameter()\n"
    "%r = f32[] hlo.add(%p, %q)\n return %r }";
constexpr char kMax[] =
    "{ %p = f32[] parameter()\n %q = f32[] parameter()\n"
    "%r = f32[] hlo.maximum(%p, %q)\n return %r }";

// The groups of a random partition of `count` numbers into equal groups.
std::string RandomGroups(std::mt19937_64& rng, int count, int size) {
  std::vector<int> numbers(count);
  for (int i = 0; i < count; ++i) numbers[i] = i;
  std::shuffle(numbers.begin(), numbers.end(), rng);
  return absl::StrCat("replica_groups=[", absl::StrJoin(numbers, ", "),
                      "], group_size=", size);
}

}  // namespace

std::unique_ptr<ir::Module> Module(const std::string& statements,
                                   const std::string& results) {
  const std::string text = absl::StrCat(
      "module @m {\n",
      absl::StrReplaceAll(statements, {{"ADD", kAdd}, {"MAX", kMax}}),
      "\nreturn ", results, "\n}\n");
  absl::StatusOr<std::unique_ptr<ir::Module>> module = ir::Parse(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  if (!module.ok()) return nullptr;
  EXPECT_EQ(ir::Verify(**module), absl::OkStatus()) << text;
  return *std::move(module);
}

Literal Random(std::mt19937_64& rng, const ir::Type& type) {
  std::vector<uint8_t> bytes(type.bytes());
  if (type.element == ir::ElementType::kFloat32) {
    std::vector<float> values(type.elements());
    for (float& v : values) {
      const uint32_t bits = static_cast<uint32_t>(rng() & 0x807FFFFF) |
                            static_cast<uint32_t>(115 + rng() % 20) << 23;
      std::memcpy(&v, &bits, 4);
      if (rng() % 40 == 0) v = rng() % 2 == 0 ? INFINITY : -0.0f;
    }
    return Literal(values);
  }
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng());
  if (type.element == ir::ElementType::kBool)
    for (uint8_t& byte : bytes) byte &= 1;
  return Literal::FromBytes(type.element, type.elements(), bytes.data());
}

std::unique_ptr<ir::Module> RandomProgram(std::mt19937_64& rng,
                                          ProcessGrid grid, int unit) {
  const char* types[] = {"f32", "bf16", "f16", "i32", "u8", "i1"};
  const std::string type = types[rng() % 6];
  // What the numbers in the groups are: replicas, partitions, replicas with all
  // of their partitions, or processes.
  const int kind = static_cast<int>(rng() % 6);
  const int mode = static_cast<int>(rng() % (kind < 3 ? 3 : 2));
  const bool channel = kind < 3 ? mode > 0 : mode == 0;
  const bool global = kind < 3 && mode == 2;
  const int numbers = global                 ? grid.count()
                      : kind < 3 || !channel ? grid.replicas
                                             : grid.partitions;
  std::vector<int> sizes;
  for (int size = 1; size <= numbers; ++size)
    if (numbers % size == 0) sizes.push_back(size);
  const int listed = sizes[rng() % sizes.size()];
  const int size = kind < 3 && mode == 1 ? listed * grid.partitions : listed;
  const std::string groups =
      absl::StrCat(RandomGroups(rng, numbers, listed), ", channel=", channel,
                   global ? ", use_global_device_ids=true" : "");
  const int a = size * static_cast<int>(1 + rng() % 3),
            b = static_cast<int>(rng() % 5),
            c = unit * (1 + static_cast<int>(rng() % 9));
  const char* ops[] = {"add", "multiply", "maximum", "minimum"};
  const std::string region = absl::StrCat(
      " { %p = ", type, "[] parameter()\n %q = ", type, "[] parameter()\n",
      rng() % 4 == 0
          ? absl::StrCat("%s = ", type, "[] hlo.maximum(%p, %q)\n%r = ", type,
                         "[] hlo.minimum(%s, %q)\n")
          : absl::StrCat("%r = ", type, "[] hlo.", ops[rng() % 4],
                         "(%p, %q)\n"),
      " return %r }");
  const auto shape = [&](int x, int y) {
    return absl::StrCat(type, "[", x, ",", y, ",", c, "]");
  };
  std::string node, result = shape(b, a);
  switch (kind) {
    case 0:
      node = absl::StrCat("hlo.all_reduce(%n), ", groups, region);
      break;
    case 1:
      result = shape(b, a * size);
      node = absl::StrCat("hlo.all_gather(%n), dimension=1, ", groups);
      break;
    case 2:
      result = shape(b, a / size);
      node =
          absl::StrCat("hlo.reduce_scatter(%n), dimension=1, ", groups, region);
      break;
    case 3:
      result = shape(b * size, a / size);
      node = absl::StrCat(
          "hlo.all_to_all(%n), dimension=1, concat_dimension=0, ", groups);
      break;
    case 4: {
      std::vector<std::string> pairs;
      const int by = static_cast<int>(rng() % numbers);
      for (int p = 0; p < numbers; ++p)
        if (rng() % 4 != 0)
          pairs.push_back(absl::StrCat(p, ", ", (p + by) % numbers));
      node = absl::StrCat("hlo.collective_permute(%n), channel=", channel,
                          ", group_size=2, replica_groups=[",
                          absl::StrJoin(pairs, ", "), "]");
      break;
    }
    default:
      node = absl::StrCat("hlo.collective_broadcast(%n), ", groups);
  }
  return Module(
      absl::StrCat("%x = ", shape(b, a), " parameter(), name=\"x\"\n%n = ",
                   shape(b, a), " hlo.", type == "i1" ? "not" : "negate",
                   "(%x)\n%c = ", result, " ", node,
                   "\n%i = u32[] hlo.partition_id()\n%j = u32[] "
                   "hlo.replica_id()\n%k = u32[] hlo.add(%i, %j)\n%y = ",
                   result, " hlo.", type == "i1" ? "not" : "negate", "(%c)"),
      "%y as \"y\", %k as \"k\"");
}

}  // namespace systole::runtime
