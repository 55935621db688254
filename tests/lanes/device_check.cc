// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/lanes/device_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/ir/evaluate.h"
#include "host/ir/text.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::lanes {

using ir::Literal;

Literal RandomValues(const ir::Type& type, std::mt19937_64& random,
                     bool moderate) {
  static constexpr uint32_t kSpecial[] = {
      0,          0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000,
      0x7FC00000, 0xFFC12345, 0x7F7FFFFF, 0x00800000, 0x007FFFFF, 0x00000001,
      0x80000001, 0x3F7FFFFF, 0x4B000000, 0xCB000001, 0x4F000000, 0xCF000000,
      0x4F800000, 0x42B17218, 0xC2CFF1B5, 0x3F000000, 0x40200000, 0xC0200000};
  return ir::WithElement(type.element, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> values(type.elements());
    for (T& value : values) {
      const uint64_t bits = random();
      const uint32_t kind = random() % 8 | (moderate ? 4 : 0);
      if constexpr (std::is_same_v<T, ir::Bool>) {
        value = (bits & 1) != 0;
      } else if constexpr (ir::IsFloat(ir::ElementOf<T>::kType)) {
        uint32_t word = static_cast<uint32_t>(bits);
        if (kind < 2) word = kSpecial[word % std::size(kSpecial)];
        if (kind >= 4) {
          word = ir::BitsOf(static_cast<float>(static_cast<int32_t>(word)) /
                            (kind < 6 ? 3e8f : 2e9f));
        }
        value = static_cast<T>(ir::FromBits(word));
      } else {
        const int64_t small = static_cast<int64_t>(bits % 80) - 40;
        value = static_cast<T>(kind < 4 ? bits : small);
      }
    }
    return Literal(std::move(values));
  });
}

namespace {

// The first place where they differ, with the operands' elements there; "" if
// there is none.
std::string Where(const Literal& got, const Literal& want,
                  const std::vector<Literal>& inputs) {
  if (got == want) return "";
  if (got.element() != want.element() || got.size() != want.size())
    return " has another type or size";
  const auto bits = [](const Literal& literal, int64_t j) {
    const size_t bytes = ir::ElementBytes(literal.element());
    uint64_t word = 0;
    std::memcpy(&word, literal.data() + j * bytes, bytes);
    return word;
  };
  int64_t j = 0;
  while (bits(got, j) == bits(want, j)) ++j;
  std::string text =
      absl::StrFormat("[%d]: %x instead of %x", j, bits(got, j), bits(want, j));
  for (const Literal& input : inputs) {
    if (input.size() == want.size())
      absl::StrAppendFormat(&text, " (%x)", bits(input, j));
  }
  return text;
}

// Whether half of the elements or more are infinite or NaN.
bool IsMostlyExtreme(const Literal& literal) {
  if (!ir::IsFloat(literal.element())) return false;
  return ir::WithElement(literal.element(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t extreme = 0;
    if constexpr (ir::IsFloat(ir::ElementOf<T>::kType)) {
      const T* const values = literal.values<T>().data();
      for (int64_t i = 0; i < literal.size(); ++i)
        extreme += !std::isfinite(static_cast<float>(values[i]));
    }
    return 2 * extreme >= literal.size() && extreme > 0;
  });
}

}  // namespace

DeviceCheck::DeviceCheck(const std::string& preset,
                         const std::string& backend) {
  runtime::ClientOptions options;
  options.preset = preset;
  options.backend = backend;
  options.device.simulation.check_races = backend == "iss";
  absl::StatusOr<std::unique_ptr<runtime::Client>> client =
      runtime::Client::Create(options);
  EXPECT_TRUE(client.ok()) << client.status();
  if (client.ok()) client_ = *std::move(client);
}

std::string DeviceCheck::Difference(std::unique_ptr<ir::Module> module,
                                    uint64_t seed, int host_operations) {
  std::mt19937_64 random(seed);
  const std::unique_ptr<ir::Module> source = module->Clone();
  const auto executable = client_->Compile(std::move(module));
  if (!executable.ok()) return executable.status().ToString();
  const runtime::ModulePlacement& placement = (*executable)->placement();
  if (placement.host.operations > host_operations)
    return runtime::PlacementText("the module", placement);
  for (const bool moderate : {false, true}) {
    Inputs inputs;
    for (const ir::Type& type : (*executable)->parameters())
      inputs.push_back(RandomValues(type, random, moderate));
    std::vector<Literal> results;
    std::string difference = Difference(*source, **executable, inputs, results);
    if (!difference.empty()) return difference;
    if (std::none_of(results.begin(), results.end(), IsMostlyExtreme)) break;
  }
  return "";
}

std::string DeviceCheck::Difference(const ir::Module& source,
                                    runtime::Executable& executable,
                                    const Inputs& inputs,
                                    std::vector<Literal>& results) {
  runtime::Device& device = client_->device(0);
  std::vector<std::shared_ptr<runtime::Buffer>> buffers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    buffers.push_back(std::make_shared<runtime::Buffer>(
        device, executable.parameters()[i], inputs[i]));
  }
  auto run = executable.Execute(buffers, device);
  if (!run.ok()) return run.status().ToString();
  const auto expected = ir::EvaluateModule(source, inputs);
  if (!expected.ok()) return expected.status().ToString();
  auto defined = golden::RunHlo(source, inputs);
  if (!defined.ok()) return defined.status().ToString();
  results = *std::move(defined);
  for (size_t i = 0; i < expected->size(); ++i) {
    const auto result = run->results[i]->Await();
    if (!result.ok()) return result.status().ToString();
    for (const auto& [who, values] :
         {std::pair("device", &*result), std::pair("host", &(*expected)[i])}) {
      const std::string where = Where(*values, results[i], inputs);
      if (!where.empty()) return absl::StrCat(who, ", result ", i, where);
    }
  }
  return "";
}

void DeviceCheck::Check(std::unique_ptr<ir::Module> module, uint64_t seed,
                        int host_operations) {
  const std::string text = ir::Print(*module);
  EXPECT_EQ(Difference(std::move(module), seed, host_operations), "")
      << "seed " << seed << "\n"
      << text;
}

void DeviceCheck::Check(const std::string& text, uint64_t seed,
                        int host_operations) {
  absl::StatusOr<std::unique_ptr<ir::Module>> module = ir::Parse(text);
  ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
  Check(*std::move(module), seed, host_operations);
}

}  // namespace systole::lanes
