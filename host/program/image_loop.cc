// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A program for some images as the body of a loop over many. What orders its
// passes is a flag: each pass begins with a load that takes it, and ends with a
// store that posts it, behind all else.

#include "host/program/image_loop.h"

#include <algorithm>
#include <array>
#include <deque>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/program/header_bits.h"
#include "systole/loops.h"
#include "systole/program.h"

namespace systole {
namespace {

constexpr int kFlags = isa::kFirstPeerFlag;
constexpr size_t kNone = ~size_t{0};

isa::Queue QueueOf(const isa::Descriptor& d) {
  const isa::OpInfo* op =
      isa::FindOp(static_cast<uint8_t>(isa::GetBits(d, 0, kOpcodeBits)));
  return op == nullptr ? isa::Queue::kNone : op->queue;
}
uint32_t Waits(const isa::Descriptor& d) {
  return static_cast<uint32_t>(isa::GetBits(d, kWaitLsb, 32));
}
uint32_t Posts(const isa::Descriptor& d) {
  return static_cast<uint32_t>(isa::GetBits(d, kPostLsb, 32));
}

uint64_t Up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// What a descriptor waits for, as queues and flags say it.
class Order {
 public:
  // kFailedPrecondition: a flag is posted more often than it is taken.
  static absl::StatusOr<Order> Of(const std::vector<isa::Descriptor>& list) {
    Order order;
    order.after_.resize(list.size());
    order.before_.resize(list.size());
    order.first_.fill(kNone);
    order.last_.fill(kNone);
    std::array<std::deque<size_t>, 32> posted, taken;
    for (size_t i = 0; i + 1 < list.size(); ++i) {
      const auto q = static_cast<size_t>(QueueOf(list[i]));
      if (q >= order.last_.size()) continue;
      if (order.last_[q] != kNone) order.Edge(order.last_[q], i);
      if (order.first_[q] == kNone) order.first_[q] = i;
      order.last_[q] = i;
      for (size_t f = 0; f < 32; ++f) {
        if (Posts(list[i]) >> f & 1) posted[f].push_back(i);
        if (Waits(list[i]) >> f & 1) taken[f].push_back(i);
      }
    }
    for (size_t f = 0; f < 32; ++f) {
      if (posted[f].size() != taken[f].size())
        return absl::FailedPreconditionError(
            absl::StrCat("flag ", f, " is posted ", posted[f].size(),
                         " times and taken ", taken[f].size(), " times"));
      for (size_t k = 0; k < posted[f].size(); ++k)
        order.Edge(posted[f][k], taken[f][k]);
    }
    return order;
  }
  size_t first(isa::Queue q) const { return first_[static_cast<size_t>(q)]; }
  size_t last(isa::Queue q) const { return last_[static_cast<size_t>(q)]; }
  // Of each descriptor whether it comes behind that one; or before it.
  std::vector<bool> Behind(size_t i) const { return Reach(after_, i); }
  std::vector<bool> Before(size_t i) const { return Reach(before_, i); }

 private:
  using Edges = std::vector<std::vector<size_t>>;
  void Edge(size_t from, size_t to) {
    after_[from].push_back(to);
    before_[to].push_back(from);
  }
  static std::vector<bool> Reach(const Edges& edges, size_t from) {
    std::vector<bool> reached(edges.size());
    std::vector<size_t> open = {from};
    reached[from] = true;
    while (!open.empty()) {
      const size_t i = open.back();
      open.pop_back();
      for (const size_t next : edges[i]) {
        if (reached[next]) continue;
        reached[next] = true;
        open.push_back(next);
      }
    }
    return reached;
  }

  Edges after_, before_;
  std::array<size_t, isa::kNumQueues> first_{}, last_{};
};

// That a pass begins behind its first load, but for weights on their way to the
// FIFO, and ends with its last store.
absl::Status CheckPass(const std::vector<isa::Descriptor>& list) {
  const auto order = Order::Of(list);
  if (!order.ok()) return order.status();
  const size_t load = order->first(isa::Queue::kLoad);
  const size_t store = order->last(isa::Queue::kStore);
  if (load == kNone || store == kNone)
    return absl::FailedPreconditionError("it has no load, or no store");
  const std::vector<bool> behind = order->Behind(load),
                          before = order->Before(store);
  for (size_t q = 0; q < isa::kNumQueues; ++q) {
    const auto queue = static_cast<isa::Queue>(q);
    const size_t first = order->first(queue), last = order->last(queue);
    if (first == kNone) continue;
    const auto opcode =
        static_cast<isa::Opcode>(isa::GetBits(list[first], 0, kOpcodeBits));
    if (!behind[first] && opcode != isa::Opcode::kWeights)
      return absl::FailedPreconditionError(absl::StrCat(
          "descriptor ", first, " does not wait for the first load"));
    // Weights end with the product that takes them.
    if (!before[last] && queue != isa::Queue::kWeight)
      return absl::FailedPreconditionError(
          absl::StrCat("the last store does not wait for descriptor ", last));
  }
  return absl::OkStatus();
}

// One byte of what it moves, with other flags.
isa::Descriptor Signal(isa::Descriptor d, uint32_t wait, uint32_t post) {
  const auto only = [&](auto move) {
    move.len = move.n1 = move.n2 = 1;
    move.header.wait_mask = wait;
    move.header.post_mask = post;
    return move.Encode();
  };
  return QueueOf(d) == isa::Queue::kLoad ? only(isa::Load::Decode(d))
                                         : only(isa::Store::Decode(d));
}

}  // namespace

absl::StatusOr<Program> LoopOverImages(const Program& program, int64_t passes) {
  const auto refused = [](const auto&... why) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program cannot be a loop's body: ", why...));
  };
  if (passes < 1 || passes >= int64_t{Loop::kForever})
    return absl::InvalidArgumentError(absl::StrCat(passes, " passes"));
  if (program.memory.empty()) return refused("it has fixed addresses");
  auto flat = UnrollLoops(program);
  if (!flat.ok()) return flat.status();
  const isa::Descriptor halt = program.descriptors.back();
  if (Waits(halt) != 0) return refused("its halt waits");
  if (absl::Status s = CheckPass(flat->descriptors); !s.ok())
    return refused(s.message());

  uint32_t used = 0;
  for (const isa::Descriptor& d : program.descriptors)
    used |= Waits(d) | Posts(d);
  int flag = 0;
  while (flag < kFlags && (used >> flag & 1)) ++flag;
  if (flag == kFlags) return refused("all sync flags are in use");

  // The first load and the last store, in the first pass and the last one of
  // the loops that they are in.
  isa::Descriptor load{}, store{};
  for (const isa::Descriptor& d : flat->descriptors) {
    if (QueueOf(d) == isa::Queue::kLoad && QueueOf(load) != isa::Queue::kLoad)
      load = d;
    if (QueueOf(d) == isa::Queue::kStore) store = d;
  }
  const uint32_t body = static_cast<uint32_t>(program.descriptors.size()) - 1;

  // Inputs and outputs behind all else, each image's behind those before; then
  // the code.
  Program out = program;
  const Preset& preset = *FindPreset(program.preset);
  const uint64_t align = std::max<uint64_t>(kMemoryAlignment, preset.beat);
  uint64_t at = Up(program.hbm_bytes, align);
  struct Moved {
    uint64_t from, to, pass;  // bytes of a pass
  };
  std::vector<Moved> moved;
  std::vector<MemorySegment> memory;
  for (const MemorySegment& part : program.memory) {
    if (part.use != MemoryUse::kArguments && part.use != MemoryUse::kCode)
      memory.push_back(part);
  }
  const uint64_t arguments = at;
  for (TensorInfo& t : out.tensors) {
    if (!t.is_input && !t.is_output) continue;
    const auto pass = static_cast<uint64_t>(t.n * t.img_pitch);
    if (pass % static_cast<uint64_t>(preset.beat_bytes()) != 0)
      return refused("an image of '", t.name, "' is no whole number of beats");
    moved.push_back({t.hbm_addr, at, pass});
    t.hbm_addr = at;
    t.n *= passes;
    at = Up(at + pass * static_cast<uint64_t>(passes), align);
  }
  memory.push_back({MemoryUse::kArguments, arguments, at - arguments});
  for (LayerInfo& layer : out.layers) {
    layer.macs *= passes;
    layer.ideal_cycles *= passes;
  }

  // Ready | loop: go, body, done | halt.
  constexpr uint32_t kBefore = 2;
  const uint32_t bit = 1u << flag;
  out.descriptors = {Signal(store, 0, bit), Signal(load, bit, 0)};
  out.descriptors.insert(out.descriptors.end(), program.descriptors.begin(),
                         program.descriptors.end() - 1);
  out.descriptors.push_back(Signal(store, 0, bit));
  out.descriptors.push_back(halt);
  isa::PutBits(out.descriptors.back(), kWaitLsb, 32, bit);
  Loop images;
  images.begin = kBefore - 1;
  images.end = body + kBefore + 1;
  images.count = static_cast<uint32_t>(passes);
  out.loops = {images};
  for (Loop loop : program.loops) {
    loop.begin += kBefore;
    loop.end += kBefore;
    out.loops.push_back(loop);
  }
  out.steps.clear();
  for (Step step : program.steps) {
    step.descriptor += kBefore;
    ++step.loop;
    out.steps.push_back(step);
  }

  constexpr auto kAddr = isa::kLoadFields[0];  // of stores and weights, too
  for (uint32_t i = 0; i + 1 < out.descriptors.size(); ++i) {
    const isa::Queue queue = QueueOf(out.descriptors[i]);
    if (queue != isa::Queue::kLoad && queue != isa::Queue::kStore) continue;
    const uint64_t address =
        isa::GetBits(out.descriptors[i], static_cast<int>(kAddr.lsb),
                     static_cast<int>(kAddr.bits));
    for (const Moved& m : moved) {
      if (address < m.from || address >= m.from + m.pass) continue;
      isa::PutBits(out.descriptors[i], static_cast<int>(kAddr.lsb),
                   static_cast<int>(kAddr.bits), address - m.from + m.to);
      if (i >= images.begin && passes > 1) {
        out.steps.push_back({i, 0, static_cast<uint32_t>(kAddr.lsb),
                             static_cast<uint32_t>(kAddr.bits),
                             static_cast<int64_t>(m.pass)});
      }
      break;
    }
  }
  std::sort(out.steps.begin(), out.steps.end(),
            [](const Step& a, const Step& b) {
              return std::tie(a.descriptor, a.lsb, a.loop) <
                     std::tie(b.descriptor, b.lsb, b.loop);
            });
  const uint64_t code = out.descriptors.size() * isa::kDescriptorBytes;
  out.prog_addr = at;
  memory.push_back({MemoryUse::kCode, at, code});
  out.hbm_bytes = Up(at + code, align);
  if (out.hbm_bytes > preset.memory_bytes())
    return absl::ResourceExhaustedError(
        absl::StrCat(passes, " passes have no room in the memory of preset '",
                     out.preset, "'"));
  out.memory = std::move(memory);
  out.relocations.clear();
  const Code code_of = {out.descriptors, out.loops, out.steps};
  if (absl::Status s = CheckLoops(code_of, preset); !s.ok())
    return refused(s.message());
  if (absl::Status s = AddRelocations(out); !s.ok()) return s;
  return out;
}

}  // namespace systole
