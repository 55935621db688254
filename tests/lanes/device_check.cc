// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/lanes/device_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/ir/evaluate.h"
#include "host/ir/text.h"

namespace systole::lanes {

using ir::Literal;

Literal RandomValues(const ir::Type& type, std::mt19937_64& random) {
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
      const uint32_t kind = random() % 8;
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

DeviceCheck::DeviceCheck(const std::string& preset,
                         const std::string& backend) {
  runtime::ClientOptions options;
  options.preset = preset;
  options.backend = backend;
  options.check_races = backend == "iss";
  absl::StatusOr<std::unique_ptr<runtime::Client>> client =
      runtime::Client::Create(options);
  EXPECT_TRUE(client.ok()) << client.status();
  if (client.ok()) client_ = *std::move(client);
}

std::string DeviceCheck::Difference(std::unique_ptr<ir::Module> module,
                                    uint64_t seed, int host_operations) {
  std::mt19937_64 random(seed);
  const std::unique_ptr<ir::Module> golden = module->Clone();
  const auto executable = client_->Compile(std::move(module));
  if (!executable.ok()) return executable.status().ToString();
  const runtime::ModulePlacement& placement = (*executable)->placement();
  if (placement.host.operations > host_operations)
    return runtime::PlacementText("the module", placement);
  std::vector<Literal> inputs;
  std::vector<std::shared_ptr<runtime::Buffer>> buffers;
  runtime::Device& device = client_->device(0);
  for (const ir::Type& type : (*executable)->parameters()) {
    inputs.push_back(RandomValues(type, random));
    buffers.push_back(
        std::make_shared<runtime::Buffer>(device, type, inputs.back()));
  }
  auto run = (*executable)->Execute(buffers, device);
  if (!run.ok()) return run.status().ToString();
  const auto expected = ir::EvaluateModule(*golden, inputs);
  if (!expected.ok()) return expected.status().ToString();
  for (size_t i = 0; i < expected->size(); ++i) {
    const auto result = run->results[i]->Await();
    if (!result.ok()) return result.status().ToString();
    const Literal& want = (*expected)[i];
    if (*result == want) continue;
    const size_t bytes = ir::ElementBytes(want.element());
    for (int64_t j = 0; j < want.size(); ++j) {
      const auto hex = [&](const Literal& literal) {
        uint64_t word = 0;
        std::memcpy(&word, literal.data() + j * bytes, bytes);
        return absl::StrFormat("%x", word);
      };
      if (hex(*result) == hex(want)) continue;
      std::string text = absl::StrCat("result ", i, "[", j, "]: ", hex(*result),
                                      " instead of ", hex(want));
      for (const Literal& input : inputs) {
        if (input.size() != want.size() ||
            ir::ElementBytes(input.element()) > 4)
          continue;
        uint32_t word = 0;
        std::memcpy(&word, input.data() + j * ir::ElementBytes(input.element()),
                    ir::ElementBytes(input.element()));
        absl::StrAppendFormat(&text, " (%x)", word);
      }
      return text;
    }
    return absl::StrCat("result ", i, " has another type or size");
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
