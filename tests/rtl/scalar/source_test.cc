// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the issue port brings becomes the program's descriptors: random lists
// with patches that grow from pass to pass, descriptors between them, and
// writes of the table meanwhile, against what they say.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "VSourceBench.h"
#include "tests/testing/seeds.h"

namespace systole {
namespace {

using Descriptor = std::array<uint32_t, 16>;
constexpr uint64_t kMask = (uint64_t{1} << 36) - 1;
constexpr uint32_t kPlaces = 0x10000 / 64;  // of the memory

struct Entry {
  uint32_t index = 0, lsb = 0, bits = 1;
  uint64_t value = 0, step = 0;
};
struct List {
  uint32_t from = 0, length = 1, first = 0, patches = 0;
};

class Source : public ::testing::Test {
 protected:
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void Start(uint64_t seed) {
    random_.seed(seed);
    top_.reset();
    context_ = std::make_unique<VerilatedContext>();
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed) | 1);
    top_ = std::make_unique<VSourceBench>(context_.get());
    memory_.resize(kPlaces);
    for (Descriptor& d : memory_)
      for (uint32_t& w : d) w = static_cast<uint32_t>(random_());
    pending_.clear();
    got_.clear();
    cycles_ = 0;
    top_->rst_ni = 0;
    top_->valid_i = 0;  // before, inputs are whatever they are
    top_->start_i = 0;
    top_->write_i = 0;
    for (int i = 0; i < 4; ++i) Cycle();
    top_->rst_ni = 1;
    top_->start_i = 1;
    Cycle();
    top_->start_i = 0;
  }

  // Returns whether the item that is there was taken.
  bool Cycle() {
    top_->clk_i = 0;
    top_->desc_ready_i = Below(4) != 0;
    top_->rd_ready_i = Below(4) != 0;
    top_->rd_rsp_valid_i = 0;
    if (!pending_.empty() && pending_.front().second <= cycles_) {
      top_->rd_rsp_valid_i = 1;
      const uint64_t at = pending_.front().first;
      std::memcpy(&top_->rd_rsp_data_i, &memory_[at / 64][at % 64 / 4], 32);
      pending_.pop_front();
    }
    top_->eval();
    const bool taken = top_->valid_i && top_->ready_o;
    if (top_->rst_ni && top_->desc_valid_o && top_->desc_ready_i) {
      Descriptor d;
      std::memcpy(d.data(), &top_->desc_o, sizeof d);
      got_.push_back(d);
    }
    if (top_->rst_ni && top_->rd_valid_o && top_->rd_ready_i)
      pending_.push_back({top_->rd_addr_o, cycles_ + 5 + Below(20)});
    top_->clk_i = 1;
    top_->eval();
    ++cycles_;
    return taken;
  }

  void Put(uint32_t entry, int part, uint64_t data) {
    top_->write_i = static_cast<uint8_t>(1 << part);
    top_->entry_i = static_cast<uint8_t>(entry);
    top_->data_i = data & kMask;
  }
  void Write(uint32_t e) {
    const Entry& entry = table_[e];
    const uint64_t parts[] = {
        entry.index | entry.lsb << 16 | uint64_t{entry.bits - 1} << 25,
        entry.value, entry.step};
    for (int part = 0; part < 3; ++part) {
      Put(e, part, parts[part]);
      Cycle();
    }
    top_->write_i = 0;
  }

  // The list as the sequencer has to get it.
  void Expect(const List& list) {
    uint32_t e = list.first;
    for (uint32_t i = 0; i < list.length; ++i) {
      Descriptor d = memory_[list.from + i];
      for (; e < list.first + list.patches && table_[e].index == i; ++e) {
        Entry& entry = table_[e];
        uint64_t carry = 0;
        for (uint32_t b = 0; b < entry.bits; ++b) {
          const uint32_t bit = entry.lsb + b;
          const uint64_t sum =
              (d[bit / 32] >> bit % 32 & 1) + (entry.value >> b & 1) + carry;
          d[bit / 32] = (d[bit / 32] & ~(1u << bit % 32)) |
                        static_cast<uint32_t>(sum & 1) << bit % 32;
          carry = sum >> 1;
        }
        entry.value = (entry.value + entry.step) & kMask;
      }
      want_.push_back(d);
    }
  }

  std::mt19937_64 random_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<VSourceBench> top_;
  std::vector<Descriptor> memory_, got_, want_;
  std::deque<std::pair<uint64_t, uint64_t>> pending_;  // address, when
  std::array<Entry, 256> table_;
  uint64_t cycles_ = 0;
};

TEST_F(Source, ListsArePatchedAndGrow) {
  size_t descriptors = 0, patches = 0;
  const testing_options::Seeds seeds(40);
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(seed);
    Start(seed);
    want_.clear();
    // Lists that share the table's lower half, each with entries in order.
    std::vector<List> lists;
    for (uint32_t e = 0; e < 128;) {
      List list;
      list.length = 1 + Below(12);
      list.from = Below(kPlaces - list.length);
      list.first = e;
      for (uint32_t i = 0; i < list.length && e < 128; ++i) {
        for (uint32_t n = Below(4) == 0 ? Below(4) : 0; n > 0 && e < 128; --n) {
          Entry& entry = table_[e++];
          entry.index = i;
          entry.bits = 1 + Below(36);
          do {
            entry.lsb = Below(512 - entry.bits + 1);
          } while (entry.lsb % 32 + entry.bits > 64);
          entry.value = random_() & kMask;
          entry.step = random_() & kMask;
          ++list.patches;
        }
      }
      if (Below(8) == 0) list.length = 1 + Below(100);
      if (list.from + list.length > kPlaces) list.length = 1;
      while (list.patches > 0 &&
             table_[list.first + list.patches - 1].index >= list.length)
        --list.patches;
      lists.push_back(list);
    }
    for (uint32_t e = 0; e < 256; ++e) Write(e);

    for (int n = 0; n < 60; ++n) {
      const List& list = lists[Below(static_cast<uint32_t>(lists.size()))];
      top_->valid_i = 1;
      top_->stream_i = Below(5) != 0;
      if (top_->stream_i) {
        top_->addr_i = uint64_t{list.from} * 64;
        top_->len_i = list.length;
        top_->first_i = static_cast<uint8_t>(list.first);
        top_->patches_i = static_cast<uint16_t>(list.patches);
        Expect(list);
        patches += list.patches;
      } else {
        Descriptor d;
        for (uint32_t& w : d) w = static_cast<uint32_t>(random_());
        std::memcpy(&top_->desc_i, d.data(), sizeof d);
        want_.push_back(d);
      }
      bool taken = false;
      for (int i = 0; i < 20000 && !taken; ++i) {
        // Entries of no list, at any time.
        top_->write_i = 0;
        if (Below(3) == 0) Put(128 + Below(128), static_cast<int>(Below(3)), 0);
        taken = Cycle();
      }
      ASSERT_TRUE(taken) << "item " << n;
      top_->valid_i = 0;
      // Those of a list between its passes.
      if (list.patches > 0 && Below(3) == 0) {
        const uint32_t e = list.first + Below(list.patches);
        table_[e].value = random_() & kMask;
        Write(e);
      }
    }
    descriptors += got_.size();
    ASSERT_EQ(got_.size(), want_.size());
    for (size_t i = 0; i < got_.size(); ++i) ASSERT_EQ(got_[i], want_[i]) << i;
  }
  EXPECT_GT(patches, 25u * seeds.size());
  std::printf("[ figure   ] %d descriptors, %d patches\n",
              static_cast<int>(descriptors), static_cast<int>(patches));
}

// Lists of a loop, one after the other: cycles of a descriptor.
TEST_F(Source, ALoopIsFast) {
  Start(1);
  table_[0] = {0, 96, 36, 0, 64};
  table_[1] = {5, 96, 36, 0, 64};
  for (uint32_t e = 0; e < 2; ++e) Write(e);
  const uint64_t begin = cycles_;
  top_->valid_i = 1;
  top_->stream_i = 1;
  top_->addr_i = 64;
  top_->len_i = 10;
  top_->first_i = 0;
  top_->patches_i = 2;
  for (int n = 0; n < 100; ++n) {
    while (!Cycle()) {
    }
  }
  const auto each = static_cast<double>(cycles_ - begin) / 1000;
  std::printf(
      "[ figure   ] a descriptor of a loop of 10, two patched: %.1f "
      "cycles, with reads that take 5 to 24\n",
      each);
  EXPECT_LT(each, 20);
}

// What lies outside is told when all before it was handed over.
TEST_F(Source, TheEndIsToldLast) {
  Start(7);
  table_[0] = {1, 0, 32, 1, 1};
  Write(0);
  top_->valid_i = 1;
  top_->stream_i = 1;
  top_->addr_i = 0x10000 - 128;
  top_->len_i = 3;
  top_->first_i = 0;
  top_->patches_i = 1;
  for (int i = 0; i < 500 && !top_->out_of_range_o; ++i) Cycle();
  EXPECT_TRUE(top_->out_of_range_o);
  EXPECT_EQ(got_.size(), 2u);
}

}  // namespace
}  // namespace systole
