// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A correct program passes the race check; with any one of its waits or posts
// dropped, or a buffer swapped, it does not.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/iss/pipeline.h"

namespace systole::iss {
namespace {

using ::testing::HasSubstr;

constexpr int kWaitLsb = 32, kPostLsb = 64;

// The descriptor of chunk k with that opcode.
template <typename D>
isa::Descriptor* Find(Pipeline* p, int k) {
  for (isa::Descriptor& d : p->descriptors) {
    if (d[0] % 256 != static_cast<uint64_t>(D::kOpcode)) continue;
    if (D::kOpcode == isa::Opcode::kLoad &&
        isa::Load::Decode(d).ub_addr == Pipeline::kParamBlock)
      continue;
    if (k-- == 0) return &d;
  }
  return nullptr;
}

template <typename D, typename F>
std::vector<isa::Descriptor> Edited(int k, F edit) {
  Pipeline p;
  isa::Descriptor* at = Find<D>(&p, k);
  D d = D::Decode(*at);
  edit(&d);
  *at = d.Encode();
  return p.descriptors;
}

TEST(RaceMutation, TheProgramIsCorrect) {
  Iss iss(*FindPreset("nano"), 3);
  EXPECT_EQ(RunChecked(Pipeline().descriptors, &iss), Iss::Event::kHalted);
  ASSERT_EQ(iss.races()->count, 0u) << iss.races()->findings[0].text;
  EXPECT_TRUE(iss.races()->ToStatus().ok());
  EXPECT_EQ(iss.races()->unwritten_bytes, 0u);
  EXPECT_EQ(iss.races()->unwritten_rows, 0u);
}

TEST(RaceMutation, EveryDroppedWaitIsCaught) {
  const Pipeline p;
  int dropped = 0;
  for (size_t i = 0; i < p.descriptors.size(); ++i) {
    for (int f = 0; f < isa::kNumFlags; ++f) {
      std::vector<isa::Descriptor> bad = p.descriptors;
      if (isa::GetBits(bad[i], kWaitLsb + f, 1) == 0) continue;
      isa::PutBits(bad[i], kWaitLsb + f, 1, 0);
      Iss iss(*FindPreset("nano"), 3);
      EXPECT_EQ(RunChecked(bad, &iss), Iss::Event::kHalted)
          << "serial order still works";
      EXPECT_GT(iss.races()->count, 0u)
          << "wait of descriptor " << i << " for flag " << f;
      ++dropped;
    }
  }
  EXPECT_EQ(dropped, 5 * 3 + 3 * 3 + 1);
}

TEST(RaceMutation, EveryDroppedPostIsCaught) {
  const Pipeline p;
  int dropped = 0;
  for (size_t i = 0; i < p.descriptors.size(); ++i) {
    for (int f = 0; f < isa::kNumFlags; ++f) {
      std::vector<isa::Descriptor> bad = p.descriptors;
      if (isa::GetBits(bad[i], kPostLsb + f, 1) == 0) continue;
      isa::PutBits(bad[i], kPostLsb + f, 1, 0);
      Iss iss(*FindPreset("nano"), 3);
      EXPECT_EQ(RunChecked(bad, &iss), Iss::Event::kFaulted)
          << "post of descriptor " << i << " to flag " << f;
      ASSERT_TRUE(iss.fault());
      EXPECT_EQ(iss.fault()->cause, isa::Fault::kWatchdog);
      EXPECT_EQ(iss.fault()->address, static_cast<uint64_t>(f));
      EXPECT_THAT(iss.fault_detail(), HasSubstr("waits for sync flag"));
      ++dropped;
    }
  }
  EXPECT_EQ(dropped, 5 * 3 + 3 * 3 + 1);
}

// A wait moved to the next descriptor of its queue comes too late.
TEST(RaceMutation, EveryLateWaitIsCaught) {
  const Pipeline p;
  int moved = 0;
  for (size_t i = 0; i < p.descriptors.size(); ++i) {
    const isa::Queue queue = isa::FindOp(p.descriptors[i][0] % 256)->queue;
    for (int f = 0; f < isa::kNumFlags; ++f) {
      if (isa::GetBits(p.descriptors[i], kWaitLsb + f, 1) == 0) continue;
      std::vector<isa::Descriptor> bad = p.descriptors;
      isa::PutBits(bad[i], kWaitLsb + f, 1, 0);
      for (size_t j = i + 1; j < bad.size(); ++j) {
        if (isa::FindOp(bad[j][0] % 256)->queue != queue ||
            isa::GetBits(bad[j], kWaitLsb + f, 1) != 0)
          continue;
        isa::PutBits(bad[j], kWaitLsb + f, 1, 1);
        EXPECT_TRUE(IsCaught(bad))
            << "flag " << f << " from " << i << " to " << j;
        ++moved;
        break;
      }
    }
  }
  EXPECT_GT(moved, 5);
}

// The other buffer of a stage: a race, or (before that buffer is in use) a read
// of what nothing wrote.
TEST(RaceMutation, SwappedBuffersAreCaught) {
  const auto caught = [](const std::vector<isa::Descriptor>& descriptors) {
    Iss iss(*FindPreset("nano"), 3);
    RunChecked(descriptors, &iss);
    const RaceReport& r = *iss.races();
    return r.count > 0 || r.unwritten_bytes > 0 || r.unwritten_rows > 0;
  };
  const auto other = [](uint32_t address) { return address ^ Pipeline::kStep; };
  for (int k = 0; k + 1 < Pipeline::kChunks; ++k) {
    EXPECT_TRUE(caught(Edited<isa::Load>(k, [&](isa::Load* d) {
      d->ub_addr = other(d->ub_addr);
    }))) << k;
    EXPECT_TRUE(caught(Edited<isa::Matmul>(k, [&](isa::Matmul* d) {
      d->ub_base = other(d->ub_base);
    }))) << k;
    EXPECT_TRUE(caught(Edited<isa::Matmul>(k, [&](isa::Matmul* d) {
      d->acc ^= 256;
    }))) << k;
    EXPECT_TRUE(caught(Edited<isa::Requant>(k, [&](isa::Requant* d) {
      d->acc ^= 256;
    }))) << k;
    EXPECT_TRUE(caught(Edited<isa::Add>(k, [&](isa::Add* d) {
      d->dst = other(d->dst);
    }))) << k;
    EXPECT_TRUE(caught(Edited<isa::Store>(k, [&](isa::Store* d) {
      d->ub_addr = other(d->ub_addr);
    }))) << k;
  }
}

// One byte, or one row, is enough.
TEST(RaceMutation, SmallOverlapsAreCaught) {
  Iss iss(*FindPreset("nano"), 3);
  RunChecked(Edited<isa::Matmul>(1, [](isa::Matmul* d) { d->acc = 63; }), &iss);
  ASSERT_GE(iss.races()->count, 1u);
  EXPECT_THAT(iss.races()->findings[0].text,
              HasSubstr("race on accumulator rows 63..63: a read and a write"));
  EXPECT_TRUE(IsCaught(Edited<isa::Load>(3, [](isa::Load* d) {
    d->ub_addr = Pipeline::kMid, d->n1 = 1, d->len = 1;
  })));
  EXPECT_TRUE(IsCaught(Edited<isa::Store>(1, [](isa::Store* d) {
    d->hbm_addr = Pipeline::kInput + 2 * 64 * 32, d->n1 = 1, d->len = 1;
  })));
  EXPECT_TRUE(IsCaught(Edited<isa::Store>(1, [](isa::Store* d) {
    d->hbm_addr = Pipeline::kWeights + 2 * 64, d->n1 = 1, d->len = 1;
  })));
  // The bytes between the lines belong to nobody.
  EXPECT_FALSE(
      IsCaught(Edited<isa::Store>(1, [](isa::Store* d) { d->len = 32; })));
}

TEST(RaceMutation, WritesOverTheProgramAreCaught) {
  Iss iss(*FindPreset("nano"), 3);
  const uint64_t end = Pipeline::kProgram + 64 * Pipeline().descriptors.size();
  // The last descriptor's last byte, seen only as a race: the halt was fetched
  // long ago or will be.
  RunChecked(Edited<isa::Store>(0,
                                [&](isa::Store* d) {
                                  d->hbm_addr = end - 32, d->n1 = 1,
                                  d->len = 32;
                                }),
             &iss);
  ASSERT_GE(iss.races()->count, 1u);
  EXPECT_THAT(iss.races()->findings[0].text,
              HasSubstr("fetched by the sequencer"));
  EXPECT_FALSE(IsCaught(Edited<isa::Store>(
      0, [&](isa::Store* d) { d->hbm_addr = end, d->n1 = 1, d->len = 32; })));
}

}  // namespace
}  // namespace systole::iss
