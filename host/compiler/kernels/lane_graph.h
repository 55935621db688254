// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The computation of a vector kernel for one lane: a graph of instructions of
// the vector unit (docs/vpu.md) whose leaves are loads and constants.
//
//   LaneGraph graph;
//   const Lane x = graph.Load({0, Storage::kWord, Pattern::kStream});
//   const Lane y = graph.Make(vpu::Op::kFadd, x, graph.Float(1));
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_LANE_GRAPH_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_LANE_GRAPH_H_

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "host/ir/type.h"
#include "systole/gen/vpu.h"

namespace systole::lanes {

// How an element is stored, and loaded into a lane: the bits of a word, two
// bytes in the upper half, or a sign-extended byte.
enum class Storage : uint8_t { kWord, kHalf, kByte };
int StorageBytes(Storage storage);

// Whether values of the type fit a lane: at most 32 bits.
bool FitsLane(ir::ElementType type);
Storage StorageOf(ir::ElementType type);
// Whether a store replaces all NaNs with one: bf16 and f16.
bool HasOneNan(ir::ElementType type);

// The element of an operand that belongs to an element of the result.
enum class Pattern : uint8_t {
  kStream,  // the one at the same position
  kSplat,   // the only one
  kRow,     // that of the row of lanes, in lane 0
};

struct LaneLoad {
  int operand = 0;
  Storage storage = Storage::kWord;
  Pattern pattern = Pattern::kStream;
};

using Lane = int;  // a value in a graph

struct LaneNode {
  enum class Kind : uint8_t { kLoad, kConstant, kOp } kind = Kind::kOp;
  vpu::Op op = vpu::Op::kMov;
  Lane a = -1, b = -1, c = -1;  // -1: none
  uint32_t bits = 0;            // of a constant
  LaneLoad load;
};

class LaneGraph {
 public:
  // Equal loads, constants and operations share one value.
  Lane Load(const LaneLoad& load);
  Lane Constant(uint32_t bits);
  Lane Float(float value);
  Lane Make(vpu::Op op, Lane a, Lane b = -1, Lane c = -1);

  const LaneNode& node(Lane lane) const { return nodes_[lane]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  bool IsConstant(Lane lane) const {
    return nodes_[lane].kind == LaneNode::Kind::kConstant;
  }

  // Functions may be shorter where a guard tells if their arguments are
  // extreme. The graph's results hold if bit 30 of all guards is 0 in all
  // lanes; the other bits say nothing.
  void set_guarded() { guarded_ = true; }
  bool guarded() const { return guarded_; }
  struct LaneGuard {
    Lane lane, of;  // of: the argument
  };
  void Guard(Lane lane, Lane of) { guards_.push_back({lane, of}); }
  const std::vector<LaneGuard>& guards() const { return guards_; }
  // Operations that are computed first, in this order.
  void SetOrder(std::vector<Lane> order) { order_ = std::move(order); }
  const std::vector<Lane>& order() const { return order_; }
  // Values that lie from 0 to 2^32, or are NaN, where no guard tells.
  void SetBounded(Lane lane) { bounded_.insert(lane); }
  bool IsBounded(Lane lane) const { return bounded_.count(lane) > 0; }
  // Values that are not above 0, or are NaN.
  void SetNotPositive(Lane lane) { not_positive_.insert(lane); }
  bool IsNotPositive(Lane lane) const { return not_positive_.count(lane) > 0; }

 private:
  using Key = std::tuple<int, int, int, int, int, uint32_t>;
  Lane Add(const Key& key, const LaneNode& node);

  std::vector<LaneNode> nodes_;
  std::map<Key, Lane> known_;
  bool guarded_ = false;
  std::vector<LaneGuard> guards_;
  std::set<Lane> bounded_, not_positive_;
  std::vector<Lane> order_;
};

// Shorter names for one graph: g(op, a, b), g.K(bits), g.F(value).
struct LaneBuilder {
  LaneGraph& graph;

  Lane operator()(vpu::Op op, Lane a, Lane b = -1, Lane c = -1) const {
    return graph.Make(op, a, b, c);
  }
  Lane K(int64_t bits) const {  // the lower 32
    return graph.Constant(static_cast<uint32_t>(bits));
  }
  Lane F(float value) const { return graph.Float(value); }
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_LANE_GRAPH_H_
