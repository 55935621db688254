// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Loads and stores: every size, place and lane count, the accumulators, order,
// words that a window needs.

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/rtl/vpu/fixture.h"
#include "tests/rtl/vpu/reference.h"

namespace systole::vpu_test {
namespace {

using absl::StrCat;
using absl::Substitute;

class VpuMemoryTest : public VpuTest {};

// Every size, at odd addresses, with every number of lanes, up to the last
// byte.
TEST_P(VpuMemoryTest, LoadsAndStoresOfEveryKind) {
  const uint32_t end = static_cast<uint32_t>(unit_->preset().ub_bytes);
  for (int lanes = 1; lanes <= lanes_; lanes += lanes_ > 8 ? 9 : 1) {
    for (int size : {4, 2, 1}) {
      const uint32_t in = kIn + random_() % 4099, bytes = lanes * size;
      const uint32_t out = kOut + random_() % 4099;
      const int stride = static_cast<int>(random_() % 700) - 350;
      Memories before = unit_->memories();
      const std::string n = std::to_string(8 * size);
      Run(Substitute("lanes s5\n"
                     "ld$0 v9, s1, s2\n"  // 8 rows
                     "ld$0 v2, s6, s0\n"  // the last bytes there are
                     "li s15, 1\nvl s15\n"
                     "st$1 v9, s3, s0\nfence\n"
                     "ld$0 v3, s3, s0\n"  // sees it
                     "li s15, 8\nvl s15\n"
                     "li s15, $2\nlanes s15\n"
                     "st32 v9, s4, s7\nst32 v2, s4, s7, 32*L\n"
                     "li s15, 1\nvl s15\nst32 v3, s4, s7, 64*L\nhalt\n",
                     n, n, lanes_),
          {in + 3000, static_cast<uint32_t>(stride),
           out + 40000 + (lanes_ > 8 ? 0x100000u : 0u), kOut,
           static_cast<uint32_t>(lanes), end - bytes,
           static_cast<uint32_t>(4 * lanes_)});
      const auto loaded = [&](uint32_t address, int l) -> uint32_t {
        if (l >= lanes) return 0;
        const uint8_t* p = &before.ub[address + l * size];
        if (size == 4)
          return p[0] | p[1] << 8 | p[2] << 16 | uint32_t{p[3]} << 24;
        if (size == 2) return uint32_t{p[0]} << 16 | uint32_t{p[1]} << 24;
        return static_cast<uint32_t>(static_cast<int8_t>(p[0]));
      };
      const auto stored = [&](uint32_t x) {  // and loaded again
        return size == 4   ? x
               : size == 2 ? uint32_t{StoredHalf(x)} << 16
                           : static_cast<uint32_t>(static_cast<int8_t>(x));
      };
      for (int r = 0; r < 8; ++r) {
        for (int l = 0; l < lanes_; ++l) {
          ASSERT_EQ(Out(0, r, l), loaded(in + 3000 + stride * r, l))
              << size << " " << lanes;
          ASSERT_EQ(Out(1, r, l), loaded(end - bytes, l))
              << size << " " << lanes;
        }
      }
      for (int l = 0; l < lanes_; ++l)
        ASSERT_EQ(Out(2, 0, l), l < lanes ? stored(loaded(in + 3000, l)) : 0)
            << size << " " << lanes;
      // Nothing beyond the lanes was written.
      const uint32_t at = out + 40000 + (lanes_ > 8 ? 0x100000 : 0);
      for (uint32_t i = 0; i < 4u * lanes_; ++i) {
        if (i >= bytes)
          ASSERT_EQ(unit_->memories().ub[at + i], before.ub[at + i]);
      }
      ASSERT_EQ(unit_->memories().ub[at - 1], before.ub[at - 1]);
    }
  }
}

// Words for scalar registers: any place up to the last bytes, whatever rows and
// lanes there are; what follows at once, a chain of addresses, what was stored
// before a fence; s0 stays 0.
TEST_P(VpuMemoryTest, WordsForScalarRegisters) {
  const uint32_t end = static_cast<uint32_t>(unit_->preset().ub_bytes);
  for (const uint32_t at : {kIn, kIn + 1, kIn + 4099, end - 4}) {
    Word(kIn + 8192) = at;
    const Memories before = unit_->memories();
    uint32_t word;
    std::memcpy(&word, &before.ub[at], 4);
    Run(StrCat("li s15, 3\nlanes s15\n",
               "lds s7, s1, 8192\n"  // an address
               "lds s8, s7\n"        // the word there
               "add s9, s8, s8\n"    // at once
               "lds s0, s7\n"
               "mov v32, s8\nmov v33, s9\nmov v34, s0\n"
               "li s15, L\nlanes s15\nli s14, 4*L\n"
               "st32 v32, s2, s14\nst32 v33, s2, s14, 32*L\n"
               "st32 v34, s2, s14, 64*L\n"
               "fence\nlds s10, s2, 32*L\niadd v16, v32, s10\n"
               "st32 v16, s2, s14, 96*L\nhalt\n"
               "lds s8, s7\nlds s8, s7\n"),  // never executed
        {kIn, kOut});
    for (int r = 0; r < 8; ++r) {
      for (int l = 0; l < lanes_; ++l) {
        ASSERT_EQ(Out(0, r, l), word) << at;
        ASSERT_EQ(Out(1, r, l), 2 * word) << at;
        ASSERT_EQ(Out(2, r, l), 0u) << at;
        ASSERT_EQ(Out(3, r, l), 3 * word) << at;
      }
    }
  }
}

// Roundings of a store, at every corner; and halves without one.
TEST_P(VpuMemoryTest, HalvesRoundToNearestEven) {
  const auto& corners = CornerOperands();
  for (size_t first = 0; first < corners.size(); first += 8 * lanes_) {
    for (int i = 0; i < 8 * lanes_; ++i)
      In(0, i / lanes_, i % lanes_) = i + first < corners.size()
                                          ? corners[first + i]
                                          : static_cast<uint32_t>(random_());
    Run(StrCat("li s14, 4*L\nli s13, ", kIn, "\nli s12, ", kOut,
               "\nli s11, 2*L\nld32 v0, s13, s14\nst16 v0, s12, s11\n"
               "st16h v0, s12, s11, 16*L\nhalt\n"));
    const auto half = [&](int i) {
      uint16_t bits;
      std::memcpy(&bits, &unit_->memories().ub[kOut + 2 * i], 2);
      return bits;
    };
    for (int i = 0; i < 8 * lanes_; ++i) {
      const uint32_t in = In(0, i / lanes_, i % lanes_);
      ASSERT_EQ(half(i), StoredHalf(in)) << std::hex << in;
      ASSERT_EQ(half(i + 8 * lanes_), in >> 16) << std::hex << in;
    }
  }
}

TEST_P(VpuMemoryTest, AccumulatorRowsThroughBothUnits) {
  const uint32_t rows = static_cast<uint32_t>(unit_->preset().acc_rows);
  // Both at once, backward from the last row; lanes limit them.
  Run(StrCat("li s14, 4*L\nli s12, ", kOut,
             "\nli s11, -1\nli s10, 3\nlanes s10\n",
             "ldacc v0, s1, s11\nldacc v8, s2, s10\nldacc v1, s1, s11, -8\n"
             "li s10, L\nlanes s10\nldacc v9, s1, s0\n"
             "st32 v0, s12, s14\nst32 v8, s12, s14, 32*L\n"
             "st32 v1, s12, s14, 64*L\nst32 v9, s12, s14, 96*L\nhalt\n"),
      {rows - 1, 7});
  const auto acc = [&](uint32_t row, int l) {
    return unit_->memories().acc[row * lanes_ + l];
  };
  for (int r = 0; r < 8; ++r) {
    for (int l = 0; l < lanes_; ++l) {
      ASSERT_EQ(Out(0, r, l), l < 3 ? acc(rows - 1 - r, l) : 0);
      ASSERT_EQ(Out(1, r, l), l < 3 ? acc(7 + 3 * r, l) : 0);
      ASSERT_EQ(Out(2, r, l), l < 3 ? acc(rows - 9 - r, l) : 0);
      ASSERT_EQ(Out(3, r, l), acc(rows - 1, l));
    }
  }
}

// A store never overtakes a load before it, though the load is refused nearly
// always and the store never; loads of both units, one after the other.
TEST_P(VpuMemoryTest, StoresStayBehindOlderLoads) {
  for (int round = 0; round < 20; ++round) {
    Memories before = unit_->memories();
    Run(Body("mov v32, s1\nld32 v2, s13, s14\nld32 v10, s13, s14, 32*L\n"
             "ld32 v3, s13, s14, 64*L\nst32 v32, s13, s14\n"
             "st32 v32, s13, s14, 32*L\nld32 v11, s13, s14, 96*L\n"
             "st32 v32, s13, s14, 64*L\nst32 v32, s13, s14, 96*L\n",
             {2, 10, 3, 11}),
        {static_cast<uint32_t>(round)}, {round % 2 ? 240 : 128, 0, 0, 0});
    for (int i = 0; i < 4; ++i) {
      for (int r = 0; r < 8; ++r) {
        uint32_t old;
        std::memcpy(&old, &before.ub[kIn + (i * 8 + r) * 4 * lanes_], 4);
        ASSERT_EQ(Out(i, r, 0), old) << i;
        ASSERT_EQ(In(i, r, lanes_ - 1), static_cast<uint32_t>(round));
        In(i, r, 0) = static_cast<uint32_t>(random_());
      }
    }
  }
}

// Stores reach the memory in program order, rows in order.
TEST_P(VpuMemoryTest, StoresKeepTheirOrder) {
  const std::string text = Body("", {0, 1, 8, 0, 1, 8});
  const RunResult r = RunProgram(unit_.get(), text, {}, {100, 100, 0, 0});
  ASSERT_EQ(r.write_addresses.size(), 48u);
  for (uint32_t i = 0; i < 48; ++i)
    EXPECT_EQ(r.write_addresses[i], kOut + i * 4 * lanes_);
}

// A window that lies in one word asks for one word.
TEST_P(VpuMemoryTest, AlignedHalvesNeedOneWord) {
  const uint32_t row = static_cast<uint32_t>(4 * lanes_);
  const auto words = [&](uint32_t address, const char* op) {
    const RunResult r =
        RunProgram(unit_.get(), StrCat(op, " v0, s1, s0\nhalt\n"), {address});
    EXPECT_EQ(r.reads[0].size(), 8u);
    return 1 + r.two_word_reads / 8;
  };
  EXPECT_EQ(words(4 * row, "ld32"), 1);
  EXPECT_EQ(words(4 * row + 1, "ld32"), 2);
  EXPECT_EQ(words(4 * row + row / 2, "ld16"), 1);
  EXPECT_EQ(words(4 * row + row / 2 + 1, "ld16"), 2);
  EXPECT_EQ(words(4 * row + 3 * row / 4, "ld8"), 1);
  EXPECT_EQ(words(4 * row + 3 * row / 4 + 1, "ld8"), 2);
}

INSTANTIATE_TEST_SUITE_P(Presets, VpuMemoryTest, ::testing::ValuesIn(Presets()),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace systole::vpu_test
