// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Each fault of a unit with its cause, queue, descriptor and address.

#include "tests/iss/fault_fixture.h"

namespace systole::iss {
namespace {

using ::testing::HasSubstr;

TEST_F(FaultTest, Dma) {
  isa::Load load;
  load.hbm_addr = 0x100, load.ub_addr = 0x40, load.len = 40, load.n1 = 2,
  load.n2 = 2;
  load.hbm_stride1 = load.ub_stride1 = 64,
  load.hbm_stride2 = load.ub_stride2 = 256;
  using D = isa::Load;
  ExpectFaults<D>(
      load, isa::Queue::kLoad,
      {{kIllegal, 0, [](D* d) { d->len = 0; }},
       {kIllegal, 0, [](D* d) { d->n1 = 0; }},
       {kIllegal, 0, [](D* d) { d->n2 = 0; }},
       {kMisaligned, 0x110, [](D* d) { d->hbm_addr = 0x110; }},
       {kMisaligned, 0x41, [](D* d) { d->ub_addr = 0x41; }},
       {kMisaligned, 65, [](D* d) { d->hbm_stride1 = 65; }},
       {kMisaligned, 16, [](D* d) { d->ub_stride1 = 16; }},
       {kMisaligned, 1, [](D* d) { d->hbm_stride2 = 1; }},
       {kMisaligned, 2, [](D* d) { d->ub_stride2 = 2; }},
       {kMisaligned, 1,
        [](D* d) {
          d->n2 = 1, d->hbm_stride2 = 1;
        }},  // even where it is not used
       {kIllegal, 0,
        [](D* d) { d->hbm_addr = 1, d->len = 0; }},  // before misaligned
       {kHbm, kLimit,
        [](D* d) { d->hbm_addr = kLimit - 32; }},  // its tail beat is whole
       {kHbm, kLimit + 192, [](D* d) { d->hbm_stride2 = kLimit - 64; }},
       {kHbm, 0x60, [](D* d) { d->hbm_stride1 = (uint64_t{1} << 36) - 160; }},
       {kHbm, (uint64_t{1} << 36) - 32,
        [](D* d) { d->hbm_addr = (uint64_t{1} << 36) - 32; }},
       {kUb, 65536, [](D* d) { d->ub_addr = 65536 - 32; }},
       {kUb, 65536 + 64, [](D* d) { d->ub_stride2 = 65536; }}});
  isa::Store store;
  store.hbm_addr = 0x8000, store.ub_addr = 0x40, store.len = 40,
  store.n1 = store.n2 = 1;
  using S = isa::Store;
  ExpectFaults<S>(store, isa::Queue::kStore,
                  {{kIllegal, 0, [](S* d) { d->len = 0; }},
                   {kMisaligned, 0x8008, [](S* d) { d->hbm_addr = 0x8008; }},
                   {kHbm, kLimit, [](S* d) { d->hbm_addr = kLimit - 32; }},
                   {kUb, 65536, [](S* d) { d->ub_addr = 65536 - 32; }}});
  isa::Weights weights;
  weights.hbm_addr = 0x100, weights.tiles = 2;
  using W = isa::Weights;
  ExpectFaults<W>(weights, isa::Queue::kWeight,
                  {{kIllegal, 0, [](W* d) { d->tiles = 0; }},
                   {kMisaligned, 0x108, [](W* d) { d->hbm_addr = 0x108; }},
                   {kHbm, kLimit, [](W* d) { d->hbm_addr = kLimit - 96; }}});
}

// The limit is exact: what ends at it is legal.
TEST_F(FaultTest, LimitIsExact) {
  isa::Load load;
  load.hbm_addr = kLimit - 64, load.len = 64, load.n1 = load.n2 = 1;
  load.ub_addr = 65536 - 64;
  EXPECT_EQ(Run({load.Encode(), isa::Halt{}.Encode()}), Iss::Event::kHalted);
  isa::Weights weights;
  weights.hbm_addr = kLimit - 64, weights.tiles = 1;
  EXPECT_EQ(Run({weights.Encode(), isa::Halt{}.Encode()}), Iss::Event::kHalted);
  // A limit amid a beat keeps the whole beat out.
  load.len = 33;
  EXPECT_EQ(Run({load.Encode(), isa::Halt{}.Encode()}, Pipeline::kProgram,
                kLimit - 1),
            Iss::Event::kFaulted);
  EXPECT_EQ(iss_.fault()->cause, kHbm);
  EXPECT_EQ(iss_.fault()->address, kLimit - 32);
}

TEST_F(FaultTest, Matmul) {
  isa::Matmul good;
  good.lines = 4, good.line_bytes = 8, good.pitch = 8,
  good.n = good.t0 = good.t1 = 1, good.ny = 4, good.nx = 1;
  good.sy = 1, good.seg_len[0] = 8;
  isa::Weights weights;
  weights.tiles = 1;
  using D = isa::Matmul;
  const std::vector<std::tuple<isa::Fault, uint64_t, std::function<void(D*)>>>
      cases = {
          {kIllegal, 0, [](D* d) { d->lines = 0; }},
          {kIllegal, 0, [](D* d) { d->line_bytes = 0; }},
          {kIllegal, 0, [](D* d) { d->n = 0; }},
          {kIllegal, 0, [](D* d) { d->ny = 0; }},
          {kIllegal, 0, [](D* d) { d->nx = 0; }},
          {kIllegal, 0, [](D* d) { d->t0 = 0; }},
          {kIllegal, 0, [](D* d) { d->t1 = 0; }},
          {kIllegal, 0, [](D* d) { d->seg_len[0] = 0; }},
          {kIllegal, 0, [](D* d) { d->seg_len[3] = 1; }},
          {kIllegal, 0,
           [](D* d) {
             d->seg_len = {511, 511, 511, 511};
           }},
          {kIllegal, 0,
           [](D* d) { d->header.flags = D::kKeepWeights; }},  // nothing to keep
          {kAcc, 253, [](D* d) { d->acc = 253; }},  // across the banks
          {kAcc, 509, [](D* d) { d->acc = 509; }},
          {kAcc, 512, [](D* d) { d->acc = 512; }},
          {kAcc, 8191, [](D* d) { d->acc = 8191; }},
          {kAcc, 0, [](D* d) { d->ny = 257; }},
          {kAcc, 0, [](D* d) { d->n = 1023, d->ny = d->nx = 16383; }},
          {kUb, 65536 - 7, [](D* d) { d->ub_base = 65536 - 31; }},
          {kUb, 65536 + 24, [](D* d) { d->ub_base = 65536 + 24; }},
          {isa::Fault::kWatchdog, 1,
           [](D* d) { d->t0 = 2; }},  // one tile is there
      };
  for (const auto& [cause, address, spoil] : cases) {
    D d = good;
    spoil(&d);
    SCOPED_TRACE(Disassemble(d.Encode()));
    ASSERT_EQ(Run({weights.Encode(), d.Encode(), isa::Halt{}.Encode()}),
              Iss::Event::kFaulted);
    EXPECT_EQ(iss_.fault()->cause, cause);
    EXPECT_EQ(iss_.fault()->queue, static_cast<uint32_t>(isa::Queue::kMxu));
    EXPECT_EQ(iss_.fault()->index, 1u);
    EXPECT_EQ(iss_.fault()->address, address);
    if (cause == isa::Fault::kWatchdog) {
      EXPECT_THAT(iss_.fault_detail(), HasSubstr("pass 1 takes a tile"));
    }
    if (d.header.flags == D::kKeepWeights) {
      EXPECT_THAT(iss_.fault_detail(), HasSubstr("keep_weights"));
    }
    iss_.Reset();
  }
  // Padding is not read: lines that do not exist may lie outside.
  good.ub_base = 65536 - 8, good.lines = 1;
  EXPECT_EQ(Run({weights.Encode(), good.Encode(), isa::Halt{}.Encode()}),
            Iss::Event::kHalted);
  // A last row that just fits.
  good.acc = 512 - 4;
  EXPECT_EQ(Run({weights.Encode(), good.Encode(), isa::Halt{}.Encode()}),
            Iss::Event::kHalted);
}

TEST_F(FaultTest, Vector) {
  isa::Requant requant;
  requant.n = 1, requant.ny = 2, requant.nx = 3, requant.cols = 8,
  requant.params = 0x1000;
  requant.dst_sx = 8, requant.dst_pitch = 24;
  using R = isa::Requant;
  ExpectFaults<R>(requant, isa::Queue::kVector,
                  {{kIllegal, 0, [](R* d) { d->n = 0; }},
                   {kIllegal, 0, [](R* d) { d->ny = 0; }},
                   {kIllegal, 0, [](R* d) { d->nx = 0; }},
                   {kIllegal, 0, [](R* d) { d->cols = 0; }},
                   {kIllegal, 0, [](R* d) { d->cols = 9; }},
                   {kMisaligned, 0x1004, [](R* d) { d->params = 0x1004; }},
                   {kAcc, 251, [](R* d) { d->acc = 251; }},
                   {kUb, 65536, [](R* d) { d->params = 65536 - 64; }},
                   {kUb, 65536 - 7, [](R* d) { d->dst = 65536 - 47; }},
                   {kUb, 65536, [](R* d) {
                      d->dst = 65536 - 168, d->header.flags = R::kRaw,
                      d->dst_sx = 32, d->dst_pitch = 96;
                    }}});
  isa::Pool pool;
  pool.lines = 4, pool.line_bytes = 32, pool.src_pitch = 32, pool.src_sx = 8,
  pool.kx = 8, pool.sy = 1;
  pool.n = 1, pool.ny = pool.nx = pool.kh = pool.kw = 2, pool.cols = 8;
  pool.dst = 0x1000, pool.dst_sx = 8, pool.dst_pitch = 16;
  using P = isa::Pool;
  ExpectFaults<P>(
      pool, isa::Queue::kVector,
      {{kIllegal, 0, [](P* d) { d->n = 0; }},
       {kIllegal, 0, [](P* d) { d->kh = 0; }},
       {kIllegal, 0, [](P* d) { d->kw = 0; }},
       {kIllegal, 0, [](P* d) { d->kh = d->kw = 17; }},
       {kIllegal, 0, [](P* d) { d->cols = 9; }},
       {kUb, 65536 - 4, [](P* d) { d->src = 65536 - 4; }},
       {kUb, 65536 + 12,
        [](P* d) { d->src = 65536 - 20, d->dx = 32, d->line_bytes = 64; }},
       {kUb, 65536 - 7, [](P* d) { d->dst = 65536 - 31; }}});
  isa::Add add;
  add.src0 = 0, add.src1 = 0x1000, add.dst = 0x2000, add.ny = 2,
  add.line_bytes = 20;
  add.pitch0 = add.pitch1 = add.dst_pitch = 20;
  using A = isa::Add;
  ExpectFaults<A>(add, isa::Queue::kVector,
                  {{kIllegal, 0, [](A* d) { d->ny = 0; }},
                   {kIllegal, 0, [](A* d) { d->line_bytes = 0; }},
                   {kUb, 65536 - 3, [](A* d) { d->src0 = 65536 - 39; }},
                   {kUb, 65536 - 3, [](A* d) { d->src1 = 65536 - 39; }},
                   {kUb, 65536 - 3, [](A* d) { d->dst = 65536 - 39; }}});
}

}  // namespace
}  // namespace systole::iss
