// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bits of the program control that turn by themselves: what has parity is
// found, and the fault names the place (docs/sequencer.md).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "Vsequencer_state.h"
#include "tests/rtl/sequencer/bench.h"
#include "verilated_syms.h"

namespace systole::sequencer_test {
namespace {

using isa::Fault;
using isa::Opcode;
using StateBench = Bench<Vsequencer_state, 32>;

// Bits of one register, or of a memory's elements.
struct Register {
  uint8_t* data = nullptr;
  uint64_t element_bytes = 0, element_bits = 0, elements = 0;
};

// The register `name` of the instance whose path ends so.
Register Find(StateBench& bench, const std::string& instance,
              std::string_view name) {
  Register found;
  int count = 0;
  for (const auto& [unused, scope] : *bench.context().scopeNameMap()) {
    const std::string path = scope->name();
    if (scope->varsp() == nullptr || path.size() < instance.size() ||
        path.compare(path.size() - instance.size(), instance.size(),
                     instance) != 0)
      continue;
    for (const auto& [variable_name, variable] : *scope->varsp()) {
      if (variable_name != name) continue;
      ++count;
      found.data = static_cast<uint8_t*>(variable.datap());
      found.element_bytes = variable.entSize();
      found.element_bits = static_cast<uint64_t>(
          variable.dims() > variable.udims() ? variable.packed().elements()
                                             : 1);
      found.elements = 1;
      for (int dim = 1; dim <= variable.udims(); ++dim)
        found.elements *= static_cast<uint64_t>(variable.elements(dim));
    }
  }
  EXPECT_EQ(count, 1) << instance << "." << name;
  return found;
}

void Turn(const Register& r, uint64_t element, uint64_t bit) {
  r.data[element * r.element_bytes + bit / 8] ^=
      static_cast<uint8_t>(1u << bit % 8);
}

constexpr int64_t kTurn = 400, kDone = 600;
constexpr uint64_t kNever = 31;  // a flag that nobody posts

class UpsetsTest : public ::testing::Test {
 protected:
  // In each queue one descriptor in flight until kDone, a head that waits for
  // what never comes, and two behind it.
  std::vector<isa::Descriptor> Program() {
    std::vector<isa::Descriptor> program;
    for (int i = 0; i < 4; ++i) {
      for (const Opcode op : {Opcode::kLoad, Opcode::kStore, Opcode::kWeights,
                              Opcode::kMatmul, Opcode::kAdd, Opcode::kSend}) {
        const uint32_t post = static_cast<uint32_t>(bench_.random()()) & 0xffff;
        program.push_back(MakeDescriptor(op, i == 0 ? 0 : 1u << kNever, post,
                                         bench_.random()));
      }
    }
    program.push_back(MakeDescriptor(Opcode::kHalt, 0, 0, bench_.random()));
    return program;
  }

  Outcome Run(int64_t cycle, std::function<void()> turn) {
    World world;
    world.latency = 2;
    world.work = 0;
    world.least_work = kDone - 50;
    world.limit = kDone + 200;
    world.turn_at = cycle;
    world.turn = std::move(turn);
    return bench_.Run(Program(), world);
  }

  void ExpectFault(const Outcome& o, uint64_t place) {
    ASSERT_TRUE(o.fault.has_value()) << "nobody saw it";
    EXPECT_EQ(o.fault->code, Fault::kParity);
    EXPECT_EQ(o.fault->queue, 7);
    EXPECT_EQ(o.fault->addr, place);
  }

  // A random bit of each element: a fault at once, or with the next post.
  void EachElement(const std::string& instance, std::string_view name,
                   uint64_t first_place, uint64_t places_apart,
                   int64_t within = 12, uint64_t leave_out = ~uint64_t{0}) {
    const Register r = Find(bench_, instance, name);
    ASSERT_NE(r.data, nullptr);
    // A vector of flags or queues: an element each.
    const bool vector = r.elements == 1 && places_apart != 0;
    const uint64_t count = vector ? r.element_bits : r.elements;
    for (uint64_t i = 0; i < count; ++i) {
      if (i == leave_out) continue;
      SCOPED_TRACE(::testing::Message() << instance << "." << name << " " << i);
      const uint64_t bit = vector ? i : bench_.random()() % r.element_bits;
      const Outcome o = Run(kTurn, [&] { Turn(r, vector ? 0 : i, bit); });
      ExpectFault(o, first_place + places_apart * i);
      if (o.fault) EXPECT_LE(o.fault->cycle, kTurn + within);
    }
  }

  // Of element 0, which is the oldest in flight.
  void OneElement(const std::string& instance, std::string_view name,
                  uint64_t place, uint64_t bit, int64_t within) {
    SCOPED_TRACE(::testing::Message() << instance << "." << name);
    const Register r = Find(bench_, instance, name);
    ASSERT_NE(r.data, nullptr);
    const Outcome o = Run(kTurn, [&] { Turn(r, 0, bit); });
    ExpectFault(o, place);
    if (o.fault) EXPECT_LE(o.fault->cycle, kTurn + within);
  }

  StateBench bench_{3};
};

std::string Queue(int q) {
  return q == static_cast<int>(isa::Queue::kSend)
             ? "gen_send.u_queue"
             : "gen_queue[" + std::to_string(q) + "].u_queue";
}

TEST_F(UpsetsTest, NothingTurned) {
  const Outcome o = Run(kTurn, [] {});
  EXPECT_FALSE(o.fault.has_value());
}

TEST_F(UpsetsTest, Flags) {
  EachElement("u_sync", "count_q", 32, 1);
  // What all heads wait for they would take in the same cycle.
  EachElement("u_sync", "set_q", 32, 1, 12, kNever);
  EachElement("u_sync.gen_parity", "parity_q", 32, 1);
}

TEST_F(UpsetsTest, Heads) {
  for (int q = 0; q < kQueues; ++q) {
    const auto place = static_cast<uint64_t>(q);
    for (int i = 0; i < 4; ++i) EachElement(Queue(q), "head_q", place, 0);
    for (const char* name : {"head_valid_q", "granted_q"})
      EachElement(Queue(q), name, place, 0);
    for (const char* name :
         {"no_head_q", "not_granted_q", "head_free_q", "head_parity_q"})
      EachElement(Queue(q) + ".gen_parity", name, place, 0);
  }
}

// A count beyond what a unit takes; and one that says nothing is in flight when
// something is done.
TEST_F(UpsetsTest, CountsInFlight) {
  for (int q = 0; q < kQueues; ++q) {
    const auto place = static_cast<uint64_t>(8 + q);
    OneElement(Queue(q), "in_ptr_q", place, 3, 12);
    OneElement(Queue(q), "out_ptr_q", place, 3, 12);
    OneElement(Queue(q), "in_ptr_q", place, 0, kDone);
  }
}

TEST_F(UpsetsTest, PlacesInTheMemory) {
  for (int i = 0; i < 3; ++i) {
    for (const char* name : {"held_q", "avail_q", "wr_ptr_q", "rd_ptr_q"})
      EachElement("u_queue_ram", name, 16, 1);
  }
}

TEST_F(UpsetsTest, Posts) {
  for (int q = 0; q < kQueues; ++q) {
    const auto place = static_cast<uint64_t>(24 + q);
    for (int i = 0; i < 4; ++i)
      OneElement(Queue(q) + ".u_post.gen_old", "mem_q", place,
                 bench_.random()() % 32, kDone);
    OneElement(Queue(q) + ".gen_parity.u_post_parity.gen_old", "mem_q", place,
               0, kDone);
  }
  EachElement("u_sync", "posted_q", 24, 1);
  EachElement("u_sync.gen_parity", "post_parity_q", 24, 1);
}

}  // namespace
}  // namespace systole::sequencer_test
