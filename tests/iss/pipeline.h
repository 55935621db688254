// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A correct program for the `nano` preset that uses all queues,
// double-buffered: for each chunk load, weights, matmul, requant, pool,
// addition, store. Every wait and every post in it is needed.
#ifndef SYSTOLE_TESTS_ISS_PIPELINE_H_
#define SYSTOLE_TESTS_ISS_PIPELINE_H_

#include <cstdint>
#include <vector>

#include "sim/iss/iss.h"
#include "systole/gen/isa.h"

namespace systole::iss {

struct Pipeline {
  static constexpr int kChunks = 5;
  static constexpr uint64_t kInput = 0x1000, kWeights = 0x4000,
                            kParams = 0x5000, kOutput = 0x8000,
                            kProgram = 0x10000;
  static constexpr uint64_t kHbmBytes = 0x20000;
  static constexpr int kVectors = 64, kPitch = 32;
  static constexpr uint32_t kIn = 0x0000, kParamBlock = 0x2000, kMid = 0x3000,
                            kPooled = 0x4000, kOut = 0x5000;
  static constexpr uint32_t kStep =
      0x800;  // between the two buffers of a stage
  // Flags: from queue to queue.
  static constexpr uint32_t kLoadMxu = 1u << 0, kMxuLoad = 1u << 1,
                            kMxuVector = 1u << 2, kVectorMxu = 1u << 3,
                            kVectorStore = 1u << 4, kStoreVector = 1u << 5,
                            kLoadVector = 1u << 6;

  std::vector<isa::Descriptor> descriptors;

  Pipeline() {
    for (int k = 0; k < kChunks; ++k) AddChunk(k);
    descriptors.push_back(isa::Halt{}.Encode());
  }

  void AddChunk(int k) {
    const uint32_t buffer = (k % 2) * kStep;
    const bool reuses = k >= 2, reused = k + 2 < kChunks;
    isa::Load load;
    load.header.wait_mask = reuses ? kMxuLoad : 0;
    load.header.post_mask = kLoadMxu;
    load.hbm_addr = kInput + k * kVectors * kPitch;
    load.ub_addr = kIn + buffer;
    load.len = 8, load.n1 = kVectors, load.n2 = 1;
    load.hbm_stride1 = load.ub_stride1 = kPitch;
    descriptors.push_back(load.Encode());
    if (k == 0) {  // after the first data, so that its flag is needed
      isa::Load params;
      params.header.post_mask = kLoadVector;
      params.hbm_addr = kParams, params.ub_addr = kParamBlock;
      params.len = 72, params.n1 = params.n2 = 1;
      descriptors.push_back(params.Encode());
    }
    isa::Weights weights;
    weights.hbm_addr = kWeights + k * 64;
    weights.tiles = 1;
    descriptors.push_back(weights.Encode());
    isa::Matmul matmul;
    matmul.header.wait_mask = kLoadMxu | (reuses ? kVectorMxu : 0);
    matmul.header.post_mask = kMxuVector | (reused ? kMxuLoad : 0);
    matmul.ub_base = kIn + buffer, matmul.pitch = kPitch;
    matmul.lines = kVectors, matmul.line_bytes = 8;
    matmul.n = matmul.nx = matmul.t0 = matmul.t1 = 1, matmul.ny = kVectors,
    matmul.sy = 1;
    matmul.seg_len[0] = 8;
    matmul.acc = (k % 2) * 256;
    descriptors.push_back(matmul.Encode());
    isa::Requant requant;
    requant.header.wait_mask = kMxuVector | (k == 0 ? kLoadVector : 0);
    requant.header.post_mask = reused ? kVectorMxu : 0;
    requant.acc = matmul.acc;
    requant.n = requant.nx = 1, requant.ny = kVectors;
    requant.dst = kMid + buffer, requant.dst_pitch = 8, requant.cols = 8;
    requant.params = kParamBlock, requant.clamp_min = -128,
    requant.clamp_max = 127;
    descriptors.push_back(requant.Encode());
    isa::Pool pool;
    pool.src = kMid + buffer, pool.src_pitch = 8, pool.lines = kVectors,
    pool.line_bytes = 8;
    pool.n = pool.nx = 1, pool.ny = kVectors, pool.sy = 1, pool.kh = 3,
    pool.kw = 1, pool.dy = -1;
    pool.dst = kPooled + buffer, pool.dst_pitch = 8, pool.cols = 8;
    pool.clamp_min = -128, pool.clamp_max = 127;
    descriptors.push_back(pool.Encode());
    isa::Add add;
    add.header.wait_mask = reuses ? kStoreVector : 0;
    add.header.post_mask = kVectorStore;
    add.src0 = kMid + buffer, add.src1 = kPooled + buffer,
    add.dst = kOut + buffer;
    add.pitch0 = add.pitch1 = 8, add.dst_pitch = kPitch;
    add.ny = kVectors, add.line_bytes = 8;
    add.mult0 = add.mult1 = add.mult = 1 << 30, add.shift = -18;
    add.clamp_min = -128, add.clamp_max = 127;
    descriptors.push_back(add.Encode());
    isa::Store store;
    store.header.wait_mask = kVectorStore;
    store.header.post_mask = reused ? kStoreVector : 0;
    store.hbm_addr = kOutput + k * kVectors * kPitch;
    store.ub_addr = kOut + buffer;
    store.len = 8, store.n1 = kVectors, store.n2 = 1;
    store.hbm_stride1 = store.ub_stride1 = kPitch;
    descriptors.push_back(store.Encode());
  }
};

inline void WriteDescriptors(const std::vector<isa::Descriptor>& descriptors,
                             uint64_t address, State* state) {
  std::vector<uint8_t> bytes;
  for (const isa::Descriptor& d : descriptors) {
    for (uint64_t word : d) {
      for (int i = 0; i < 8; ++i)
        bytes.push_back(static_cast<uint8_t>(word >> 8 * i));
    }
  }
  state->hbm.Write(address, bytes);
}

// Runs the descriptors to their end with the race check on.
inline Iss::Event RunChecked(const std::vector<isa::Descriptor>& descriptors,
                             Iss* iss) {
  WriteDescriptors(descriptors, Pipeline::kProgram, &iss->state());
  iss->Start({Pipeline::kProgram, static_cast<uint32_t>(descriptors.size()),
              Pipeline::kHbmBytes, true});
  Iss::Event event;
  do {
    event = iss->Step();
  } while (event == Iss::Event::kRetired);
  return event;
}

// Something was found: a fault (rule 1) or a violation of the other rules.
inline bool IsCaught(const std::vector<isa::Descriptor>& descriptors) {
  Iss iss(*FindPreset("nano"), 3);
  return RunChecked(descriptors, &iss) == Iss::Event::kFaulted ||
         iss.races()->count > 0;
}

}  // namespace systole::iss

#endif  // SYSTOLE_TESTS_ISS_PIPELINE_H_
