// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/system/escapes.h"

namespace systole {
namespace {

using isa::Fault;
using isa::Load;
using isa::Queue;
using isa::Store;

constexpr uint32_t kAddr = PATCH_FIELD(96, 36, 0);
constexpr uint32_t kSequencer = 7;
constexpr uint64_t kWrap = uint64_t{1} << 36;

}  // namespace

std::vector<Escape> Escapes(uint64_t memory, uint64_t rings) {
  const isa::Descriptor halt = isa::Halt().Encode();
  const auto load = [](uint64_t at, uint32_t len = kLine) {
    Load d;
    d.hbm_addr = at;
    d.len = len;
    d.n1 = d.n2 = 1;
    return d;
  };
  const auto store = [&](uint64_t at, uint32_t len = kLine) {
    const Load from = load(at, len);
    Store d;
    d.hbm_addr = from.hbm_addr;
    d.len = from.len;
    d.n1 = d.n2 = 1;
    return d;
  };
  const auto weights = [](uint64_t at) {
    isa::Weights d;
    d.hbm_addr = at;
    d.tiles = 2;
    return d.Encode();
  };
  const auto strided = [&](auto d, uint64_t stride1, uint64_t stride2) {
    d.n1 = d.n2 = 2;
    d.hbm_stride1 = stride1;
    d.hbm_stride2 = stride2;
    return d.Encode();
  };
  const uint32_t kLoad = static_cast<uint32_t>(Queue::kLoad),
                 kStore = static_cast<uint32_t>(Queue::kStore),
                 kWeight = static_cast<uint32_t>(Queue::kWeight);
  const isa::Descriptor inside = load(kSecond).Encode();
  isa::Load posts = load(kSecond), waits = load(kSecond);
  posts.header.post_mask = 1u << isa::kFirstPeerFlag;
  waits.header.wait_mask = 1u << 31;
  isa::Halt halt_waits;
  halt_waits.header.wait_mask = 1u << 30;
  const auto at_program = [](uint64_t at, uint32_t length) {
    return [=](scalar::Launch* l) {
      l->program = at;
      l->length = length;
    };
  };
  const auto patched = [](uint64_t add, uint64_t step, uint32_t repeat) {
    return [=](scalar::Launch* l) {
      const auto low = static_cast<uint32_t>(add);
      const auto high = static_cast<uint32_t>(add >> 32);
      l->patches = {{1, kAddr, {low, high}, {static_cast<uint32_t>(step), 0}}};
      l->repeat = repeat;
    };
  };
  const auto looped = [](uint64_t step) {
    return [=](scalar::Launch* l) {
      AddLoops({{1, 2, 8, Loop::kNoFlag, 0}},
               {{1, 0, 96, 36, static_cast<int64_t>(step)}}, l);
    };
  };
  const auto condition = [](uint64_t word) {
    return [=](scalar::Launch* l) { AddLoops({{1, 2, 1, 0, word}}, {}, l); };
  };
  isa::Load flagged = load(kSecond);
  flagged.header.post_mask = 1;
  const isa::Descriptor told = flagged.Encode();
  return {
      {"load of what is the host's",
       {load(kEnd).Encode(), halt},
       Fault::kHbmRange,
       kLoad,
       0,
       kEnd},
      {"load of the other context's",
       {inside, load(kFirst).Encode(), halt},
       Fault::kHbmRange,
       kLoad,
       1,
       kFirst},
      {"load across the end",
       {load(kEnd - 128).Encode(), halt},
       Fault::kHbmRange,
       kLoad,
       0,
       kEnd},
      {"load across the begin",
       {load(kSecond - 128).Encode(), halt},
       Fault::kHbmRange,
       kLoad,
       0,
       kSecond - 128},
      {"load by its inner stride",
       {strided(load(kSecond), kBytes, 0), halt},
       Fault::kHbmRange,
       kLoad,
       0,
       kEnd},
      {"load by its outer stride",
       {strided(load(kSecond), 0, kBytes), halt},
       Fault::kHbmRange,
       kLoad,
       0,
       kEnd},
      {"load by a stride around the addresses' end",
       {strided(load(kSecond), kWrap - 0x1000, 0), halt},
       Fault::kHbmRange,
       kLoad,
       0,
       (kWrap - 0x1000 + kSecond) % kWrap},
      {"load of the last address",
       {load(kWrap - 256).Encode(), halt},
       Fault::kHbmRange,
       kLoad,
       0,
       kWrap - 256},
      {"store to what is the host's",
       {store(kEnd).Encode(), halt},
       Fault::kHbmRange,
       kStore,
       0,
       kEnd},
      {"store to the other context's",
       {inside, store(kFirst).Encode(), halt},
       Fault::kHbmRange,
       kStore,
       1,
       kFirst},
      {"store across the begin",
       {store(kSecond - 32, 64).Encode(), halt},
       Fault::kHbmRange,
       kStore,
       0,
       kSecond - 32},
      {"store by its stride",
       {strided(store(kSecond), 0, kBytes), halt},
       Fault::kHbmRange,
       kStore,
       0,
       kEnd},
      {"store to the rings",
       {store(rings).Encode(), halt},
       Fault::kHbmRange,
       kStore,
       0,
       rings},
      {"weights of what is the host's",
       {weights(kEnd), halt},
       Fault::kHbmRange,
       kWeight,
       0,
       kEnd},
      {"weights of the other context's",
       {weights(kSecond - 128), halt},
       Fault::kHbmRange,
       kWeight,
       0,
       kSecond - 128},
      {"weights across the end",
       {weights(kEnd - 128), halt},
       Fault::kHbmRange,
       kWeight,
       0,
       kEnd},
      {"load of the other core's memory",
       {load(memory + kSecond).Encode(), halt},
       Fault::kHbmRange,
       kLoad,
       0,
       memory + kSecond},
      {"store to the other core's memory",
       {store(memory + kSecond).Encode(), halt},
       Fault::kHbmRange,
       kStore,
       0,
       memory + kSecond},
      {"a post to the other core",
       {inside, posts.Encode(), halt},
       Fault::kIllegalDescriptor,
       kSequencer,
       1,
       0},
      {"a wait for the other core",
       {waits.Encode(), halt},
       Fault::kIllegalDescriptor,
       kSequencer,
       0,
       0},
      {"a halt that waits for the other core",
       {inside, halt_waits.Encode()},
       Fault::kIllegalDescriptor,
       kSequencer,
       1,
       0},
      {"a program of the other context",
       {halt},
       Fault::kHbmRange,
       kSequencer,
       0,
       kFirst,
       at_program(kFirst, 2)},
      {"a program of the host",
       {halt},
       Fault::kHbmRange,
       kSequencer,
       0,
       kEnd,
       at_program(kEnd, 2)},
      {"a program that leaves its memory",
       {inside, halt},
       Fault::kHbmRange,
       kSequencer,
       2,
       kEnd,
       at_program(kEnd - 128, 3)},
      {"an argument",
       {inside, inside, halt},
       Fault::kHbmRange,
       kLoad,
       1,
       kSecond + kBytes,
       patched(kBytes, 0, 1)},
      {"an argument around the addresses' end",
       {inside, inside, halt},
       Fault::kHbmRange,
       kLoad,
       1,
       kFirst,
       patched(kWrap - kBytes, 0, 1)},
      {"an argument that grows with each run",
       {inside, inside, halt},
       Fault::kHbmRange,
       kLoad,
       1,
       kEnd,
       patched(0, kBytes / 4, 6)},
      {"a loop's step",
       {inside, inside, halt},
       Fault::kHbmRange,
       kLoad,
       1,
       kEnd,
       looped(kBytes / 4)},
      {"a loop's step downwards",
       {inside, inside, halt},
       Fault::kHbmRange,
       kLoad,
       1,
       kSecond - 0x1000,
       looped(uint64_t{0} - 0x1000)},
      {"a patched descriptor of the host",
       {inside, halt},
       Fault::kHbmRange,
       kSequencer,
       2,
       kEnd - 128,  // the list's
       [=](scalar::Launch* l) {
         l->program = kEnd - 128;
         l->length = 3;
         l->patches = {{2, kAddr, {}, {}}};
       }},
      {"a patched descriptor of the other context",
       {inside, halt},
       Fault::kHbmRange,
       kSequencer,
       0,
       kFirst,
       [=](scalar::Launch* l) {
         l->program = kFirst;
         l->patches = {{0, kAddr, {}, {}}};
       }},
      {"lists of the other context",
       {inside, halt},
       Fault::kHbmRange,
       kSequencer,
       0,
       kFirst,
       [=](scalar::Launch* l) {
         l->program = kFirst;
         AddLoops({{0, 1, 2, Loop::kNoFlag, 0}}, {}, l);
       }},
      {"a condition of the other context",
       {told, inside, halt},
       Fault::kHbmRange,
       FAULT_QUEUE_FIRMWARE,
       1,
       kSecond - 4,
       condition(kSecond - 4)},
      {"a condition of the host",
       {told, inside, halt},
       Fault::kHbmRange,
       FAULT_QUEUE_FIRMWARE,
       1,
       kEnd,
       condition(kEnd)},
      {"a condition in the rings",
       {told, inside, halt},
       Fault::kHbmRange,
       FAULT_QUEUE_FIRMWARE,
       1,
       rings,
       condition(rings)},
      {"a launch that says it may do more",
       {load(kEnd).Encode(), halt},
       Fault::kHbmRange,
       kLoad,
       0,
       kEnd,
       [=](scalar::Launch* l) { l->limit = 2 * memory; }},
  };
}

}  // namespace systole
