// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Exchanges over the cores of chips: all-gather, all-to-all, broadcast,
// permutation.

#include <algorithm>
#include <cstdio>

#include "systole/collective.h"
#include "tests/system/torus_test.h"

namespace systole {
namespace {

using ::testing::HasSubstr;

class ExchangeTest : public TorusTest {
 protected:
  // Runs it and compares; returns the cycles of the core that started last.
  uint64_t Check(const compiler::ExchangeSpec& spec) {
    auto programs = compiler::CompileExchange(spec, *FindPreset(g_preset));
    EXPECT_TRUE(programs.ok()) << programs.status();
    if (!programs.ok()) return 0;
    const int size = static_cast<int>(spec.group.size());
    const size_t vectors = spec.in_bytes.size();
    const auto tensor = [&](int p, const char* name, size_t v) {
      return (*programs)[p].FindTensor(vectors == 1 ? name
                                                    : name + std::to_string(v));
    };
    const auto in = [&](int p, size_t v) {
      return RandomBytes(p + 1000 * v, spec.in_bytes[v]);
    };
    std::vector<std::vector<std::vector<uint8_t>>> want(size);
    for (int p = 0; p < size; ++p) {
      Device& core = *cores_[spec.group[p]];
      EXPECT_EQ(core.Load((*programs)[p]), absl::OkStatus());
      for (size_t v = 0; v < vectors; ++v) {
        want[p].push_back(RandomBytes(100 + p + 1000 * v, spec.out_bytes[v]));
        EXPECT_EQ(core.WriteTensor(*tensor(p, "in", v), in(p, v)),
                  absl::OkStatus());
        EXPECT_EQ(core.WriteTensor(*tensor(p, "out", v), want[p][v]),
                  absl::OkStatus());
      }
    }
    for (const compiler::Transfer& t : spec.transfers) {
      const std::vector<uint8_t> from = in(t.from, t.vector);
      for (int64_t line = 0; line < t.lines; ++line) {
        std::copy_n(
            from.begin() + t.from_byte + line * t.from_pitch, t.bytes,
            want[t.to][t.vector].begin() + t.to_byte + line * t.to_pitch);
      }
    }
    for (int p = 0; p < size; ++p)
      EXPECT_EQ(cores_[spec.group[p]]->Start((*programs)[p]), absl::OkStatus());
    uint64_t cycles = ~uint64_t{0};
    for (int p = 0; p < size; ++p) {
      const auto stats = cores_[spec.group[p]]->Wait();
      EXPECT_TRUE(stats.ok()) << "position " << p << ": " << stats.status();
      if (!stats.ok()) return 0;
      cycles = std::min(cycles, stats->cycles);
    }
    for (int p = 0; p < size; ++p) {
      for (size_t v = 0; v < vectors; ++v) {
        const auto got =
            cores_[spec.group[p]]->ReadTensor(*tensor(p, "out", v));
        EXPECT_TRUE(got.ok()) << got.status();
        if (got.ok())
          EXPECT_TRUE(*got == want[p][v])
              << "vector " << v << ", position " << p;
      }
    }
    return cycles;
  }
};

TEST_F(ExchangeTest, GatherAllToAllBroadcastPermute) {
  Open(2, 2);
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7};
  Check(compiler::AllGather({5 << 10}, all, 2));
  Check(compiler::AllToAll(3 << 10, all, 2));
  Check(compiler::Broadcast(3, 5000, all, 2));
  Check(compiler::Permute({{0, 1}, {1, 2}, {2, 3}, {3, 0}, {5, 5}}, 7000, all,
                          2));
  Check(compiler::AllGather({992}, {6, 1, 4}, 2));
  Check(compiler::AllToAll(64, {5}, 2));
}

// Of which some are longer than a piece, and some cores are the only ones of
// their chips.
TEST_F(ExchangeTest, SeveralVectorsWithStallsAndSpoiltWires) {
  DeviceOptions options;
  options.simulation.stall_rate = 40;
  options.simulation.wire_errors = g_backend == "rtl" ? 40 : 0;
  Open(2, 2, options);
  Check(compiler::AllGather({96, 9 << 10, 32, 5 << 10},
                            {0, 1, 2, 3, 4, 5, 6, 7}, 2));
  Check(compiler::AllGather({5 << 10, 96}, {7, 6, 3, 2, 0}, 2));
  // What goes to both cores of a chip, but not the same to both, is not passed
  // on.
  compiler::ExchangeSpec spec =
      compiler::AllGather({4 << 10, 96}, {0, 1, 2, 3}, 2);
  spec.transfers.erase(spec.transfers.begin() + 2);
  Check(spec);
}

// Lines that lie apart, at the sender, at the receiver or at both: shorter and
// longer than a piece, to one and to several.
TEST_F(ExchangeTest, Lines) {
  Open(2, 2);
  for (const int64_t bytes : {32, 96, 4096}) {
    compiler::ExchangeSpec spec;
    spec.group = {0, 1, 2, 3, 4, 5, 6, 7};
    spec.columns = 2;
    const int64_t lines = 40;
    spec.in_bytes = {3 * bytes * lines};
    spec.out_bytes = {2 * bytes * lines};
    for (int p = 0; p < 8; ++p) {
      // The second of three columns to the first of two of a position on
      // another chip; the third to both cores of the next chip.
      spec.transfers.push_back(
          {p, (p + 3) % 8, bytes, 0, bytes, 0, lines, 3 * bytes, 2 * bytes});
      if (p % 2 != 0) continue;
      for (const int to : {(p + 2) % 8, (p + 3) % 8}) {
        spec.transfers.push_back(
            {p, to, 2 * bytes, bytes, bytes, 0, lines, 3 * bytes, 2 * bytes});
      }
    }
    Check(spec);
    if (g_backend == "rtl") return;  // it takes long
  }
}

// Of the bytes that every chip gets over its links.
TEST_F(ExchangeTest, Rates) {
  Open(2, 2);
  for (const int64_t bytes : {4 << 10, 64 << 10}) {
    const uint64_t cycles =
        Check(compiler::AllGather({bytes / 8}, {0, 1, 2, 3, 4, 5, 6, 7}, 2));
    if (cycles == 0) continue;
    const double link =
        static_cast<double>(FindPreset(g_preset)->chip.link_bytes);
    const double bound = static_cast<double>(bytes) / (4 * link) * 17 / 16;
    std::printf(
        "[ figure   ] all-gather of %lld bytes on four chips: %llu cycles, "
        "%.1f %% of the bound\n",
        static_cast<long long>(bytes), static_cast<unsigned long long>(cycles),
        100 * bound / static_cast<double>(cycles));
  }
}

TEST(Exchange, WhatIsRefused) {
  const auto refused = [](const compiler::ExchangeSpec& spec) {
    return std::string(compiler::CompileExchange(spec, *FindPreset("minichip"))
                           .status()
                           .message());
  };
  EXPECT_THAT(refused(compiler::AllGather({100}, {0, 1}, 1)),
              HasSubstr("transfer 0, 100 bytes from byte 0 to byte 0: "
                        "multiples of the beat of 32 bytes"));
  EXPECT_THAT(refused(compiler::Broadcast(2, 64, {0, 1}, 1)),
              HasSubstr("from byte 0 of position 2"));
  EXPECT_THAT(refused(compiler::Broadcast(0, 0, {0, 1}, 1)),
              HasSubstr("vectors of 0 bytes"));
  EXPECT_THAT(refused(compiler::AllToAll(64, {0, 1, 1}, 1)),
              HasSubstr("3 cores, 2 of them different"));
  compiler::ExchangeSpec spec = compiler::AllGather({32, 64}, {0, 1}, 1);
  spec.transfers[5].vector = 2;
  EXPECT_THAT(refused(spec), HasSubstr("transfer 5 is of vector 2 of 2"));
  spec.out_bytes.pop_back();
  EXPECT_THAT(refused(spec), HasSubstr("2 vectors to 1"));
  spec = compiler::Broadcast(0, 128, {0, 1}, 1);
  spec.transfers[1].lines = 3;
  spec.transfers[1].bytes = 32;
  spec.transfers[1].from_pitch = spec.transfers[1].to_pitch = 64;
  EXPECT_THAT(refused(spec), HasSubstr("3 times 32 bytes from byte 0"));
  spec.transfers[1].lines = 2;
  spec.transfers[1].to_pitch = 40;
  EXPECT_THAT(refused(spec), HasSubstr("multiples of the beat"));
  spec = compiler::Permute({{0, 1}}, 64, {0, 1}, 1);
  spec.zeros = {0};
  EXPECT_THAT(refused(spec), HasSubstr("part of a program only"));
}

}  // namespace
}  // namespace systole
