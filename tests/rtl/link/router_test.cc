// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Tori of routers with links of small buffers between them: all packets
// arrive, whole, unchanged and in the order of each flow, whatever the load.

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "VLinkRouter.h"
#include "gtest/gtest.h"
#include "tests/rtl/link/end.h"
#include "tests/rtl/link/ports.h"
#include "tests/testing/long.h"
#include "tests/testing/seeds.h"
#include "verilated.h"

namespace systole::link_test {
namespace {

constexpr Width kWidth = {16, 4};
constexpr int kLinks = link::kPorts - 1;
constexpr int kOpposite[] = {1, 0, 3, 2};

struct Flit {
  Bytes bytes;
  bool last;
};

// A link: flits of a channel that are on their way or in the buffer.
struct Channel {
  std::deque<std::pair<int64_t, Flit>> flits;  // cycle from which it is there
};

class Torus {
 public:
  struct Chip {
    std::unique_ptr<VLinkRouter> router;
    std::array<std::array<Channel, link::kVcs>, kLinks> in;  // from its links
    std::deque<Packet> offered;
    std::deque<Flit> sending;
    std::vector<Bytes> arriving;
    std::vector<Packet> received;
    std::vector<int64_t> when;
  };

  Torus(int columns, int rows, uint64_t seed)
      : columns_(columns), rows_(rows), random_(seed), chips_(columns * rows) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) | 1);
    context_.fatalOnError(false);
    for (Chip& chip : chips_) {
      chip.router = std::make_unique<VLinkRouter>(&context_);
      VLinkRouter& r = *chip.router;
      const int i = static_cast<int>(&chip - chips_.data());
      r.x_i = i % columns;
      r.y_i = i / columns;
      r.columns_i = columns;
      r.rows_i = rows;
      r.rst_ni = r.send_valid_i = r.valid_i = r.room_i = r.recv_ready_i = 0;
      for (int k = 0; k < 3; ++k) Clock(&r);
      r.rst_ni = 1;
    }
    context_.gotError(false);
  }
  ~Torus() {
    for (Chip& chip : chips_) chip.router->final();
  }

  Chip& chip(int x, int y) { return chips_[y * columns_ + x]; }
  std::vector<Chip>& chips() { return chips_; }

  void Cycle() {
    for (Chip& chip : chips_) Drive(&chip);
    for (Chip& chip : chips_) Move(&chip);
    for (Chip& chip : chips_) Clock(chip.router.get());
    if (context_.gotError()) failed_ = true;
    ++cycle_;
  }
  bool failed() const { return failed_; }
  int64_t cycle() const { return cycle_; }

  int buffer = 40;  // flits of a channel
  int delay = 3;    // cycles of a link
  int hold = 0;     // chances of 256 that a chip takes nothing in a cycle

 private:
  static void Clock(VLinkRouter* r) {
    r->clk_i = 1;
    r->eval();
    r->clk_i = 0;
    r->eval();
  }
  bool Chance(int in_256) { return static_cast<int>(random_() & 255) < in_256; }
  Chip& Neighbour(const Chip& chip, int port) {
    const int i = static_cast<int>(&chip - chips_.data());
    int x = i % columns_, y = i / columns_;
    if (port == 0) x = (x + 1) % columns_;
    if (port == 1) x = (x + columns_ - 1) % columns_;
    if (port == 2) y = (y + 1) % rows_;
    if (port == 3) y = (y + rows_ - 1) % rows_;
    return this->chip(x, y);
  }

  void Drive(Chip* chip) {
    VLinkRouter& r = *chip->router;
    if (chip->sending.empty() && !chip->offered.empty()) {
      std::vector<Bytes> flits = FlitsOf(chip->offered.front(), kWidth.flit);
      for (size_t i = 0; i < flits.size(); ++i) {
        chip->sending.push_back({flits[i], i + 1 == flits.size()});
      }
      chip->offered.pop_front();
    }
    r.send_valid_i = !chip->sending.empty() && !Chance(hold / 2);
    if (r.send_valid_i) {
      r.send_last_i = chip->sending.front().last;
      Put(&r.send_data_i, 0, chip->sending.front().bytes);
    }
    r.recv_ready_i = !Chance(hold);
    r.valid_i = r.last_i = r.room_i = 0;
    for (int l = 0; l < kLinks; ++l) {
      for (int v = 0; v < link::kVcs; ++v) {
        const int bit = l * link::kVcs + v;
        auto& flits = chip->in[l][v].flits;
        // Only whole packets are there: a link checks them first.
        if (!flits.empty() && flits.front().first <= cycle_) {
          r.valid_i |= 1 << bit;
          if (flits.front().second.last) r.last_i |= 1 << bit;
          Put(&r.data_i, bit * kWidth.flit, flits.front().second.bytes);
        }
        const auto& there = Neighbour(*chip, l).in[kOpposite[l]][v].flits;
        if (buffer - static_cast<int>(there.size()) > link::kPacketFlits) {
          r.room_i |= 1 << bit;
        }
      }
    }
    r.eval();
  }

  void Move(Chip* chip) {
    VLinkRouter& r = *chip->router;
    if (r.send_valid_i && r.send_ready_o) chip->sending.pop_front();
    if (r.recv_valid_o && r.recv_ready_i) {
      chip->arriving.push_back(Get(r.recv_data_o, 0));
      if (r.recv_last_o) {
        chip->received.push_back(PacketOf(chip->arriving));
        chip->when.push_back(cycle_);
        if (FlitsAfter(chip->arriving[0]) + 1 !=
            static_cast<int>(chip->arriving.size())) {
          failed_ = true;
        }
        chip->arriving.clear();
      }
    }
    for (int l = 0; l < kLinks; ++l) {
      for (int v = 0; v < link::kVcs; ++v) {
        const int bit = l * link::kVcs + v;
        if (r.valid_i >> bit & r.ready_o >> bit & 1) {
          chip->in[l][v].flits.pop_front();
        }
      }
      if (!(r.push_o >> l & 1)) continue;
      Chip& to = Neighbour(*chip, l);
      auto& flits = to.in[kOpposite[l]][r.vc_o >> l & 1].flits;
      const bool last = r.last_o >> l & 1;
      flits.push_back({INT64_MAX, {Get(r.data_o, l * kWidth.flit), last}});
      if (static_cast<int>(flits.size()) > buffer) failed_ = true;
      if (!last) continue;
      for (auto& flit : flits)
        flit.first = std::min(flit.first, cycle_ + delay);
    }
  }

  template <typename Port>
  static void Put(Port* port, int at, const Bytes& bytes) {
    for (int i = 0; i < static_cast<int>(bytes.size()); ++i) {
      SetBits(port, 8 * (at + i), 8, bytes[i]);
    }
  }
  template <typename Port>
  static Bytes Get(const Port& port, int at) {
    Bytes bytes(kWidth.flit);
    for (int i = 0; i < kWidth.flit; ++i) {
      bytes[i] = static_cast<uint8_t>(GetBits(port, 8 * (at + i), 8));
    }
    return bytes;
  }

  int columns_, rows_;
  std::mt19937_64 random_;
  VerilatedContext context_;
  std::vector<Chip> chips_;
  int64_t cycle_ = 0;
  bool failed_ = false;
};

struct Size {
  int columns, rows;
};

class RouterTest : public ::testing::TestWithParam<Size> {};

// A flow's packets keep their order: same cores, same tie.
using Flow = std::array<int, 7>;
Flow FlowOf(const Packet& p) {
  return {p.src_x, p.src_y, p.src_core, p.dst_x, p.dst_y, p.dst_core, p.tie};
}

TEST_P(RouterTest, DeliversEverythingInOrder) {
  const auto [columns, rows] = GetParam();
  for (const uint64_t seed :
       testing_options::Seeds(testing_options::Sized(6, 60))) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Torus torus(columns, rows, seed);
    torus.buffer = 36 + static_cast<int>(random() % 20);
    torus.hold = static_cast<int>(random() % 3 * 60);
    std::map<Flow, std::vector<Packet>> want;
    constexpr int kPackets = 60;
    // In some cases all packets go as far as they can, which fills rings.
    const bool far = seed % 2;
    for (int x = 0; x < columns; ++x) {
      for (int y = 0; y < rows; ++y) {
        for (int i = 0; i < kPackets; ++i) {
          Packet p = RandomPacket(&random, kWidth);
          p.vc = 0;
          p.src_x = x;
          p.src_y = y;
          p.dst_x = far ? (x + columns / 2) % columns : random() % columns;
          p.dst_y = far ? (y + rows / 2) % rows : random() % rows;
          if (far) p.tie = 0;
          torus.chip(x, y).offered.push_back(p);
          want[FlowOf(p)].push_back(p);
        }
      }
    }
    const size_t all = static_cast<size_t>(columns) * rows * kPackets;
    size_t there = 0, before = 0;
    for (int idle = 0; there < all && idle < 3000 && !torus.failed(); ++idle) {
      torus.Cycle();
      there = 0;
      for (const auto& chip : torus.chips()) there += chip.received.size();
      if (there != before) idle = 0;
      before = there;
    }
    ASSERT_FALSE(torus.failed()) << "an assertion, a length or a credit";
    ASSERT_EQ(there, all) << "nothing has moved for 3000 cycles";
    for (int x = 0; x < columns; ++x) {
      for (int y = 0; y < rows; ++y) {
        for (const Packet& p : torus.chip(x, y).received) {
          ASSERT_TRUE(p.dst_x == x && p.dst_y == y) << p.Name();
          std::vector<Packet>& flow = want[FlowOf(p)];
          ASSERT_FALSE(flow.empty()) << "came twice: " << p.Name();
          ASSERT_TRUE(flow.front() == p)
              << flow.front().Name() << "; came " << p.Name();
          flow.erase(flow.begin());
        }
      }
    }
  }
}

// A stream through a router: a flit each cycle, also from packet to packet.
TEST_P(RouterTest, Rate) {
  const auto [columns, rows] = GetParam();
  Torus torus(columns, rows, 1);
  torus.buffer = 200;
  std::mt19937_64 random(1);
  constexpr int kPackets = 50;
  Torus::Chip& to = torus.chip((1) % columns, columns == 1 ? 1 : 0);
  for (int i = 0; i < kPackets; ++i) {
    Packet p = RandomPacket(&random, kWidth);
    p.kind = link::Kind::kWrite;
    p.payload.assign(256, 1);
    p.src_x = p.src_y = p.tie = 0;
    p.dst_x = 1 % columns;
    p.dst_y = columns == 1 ? 1 : 0;
    torus.chip(0, 0).offered.push_back(p);
  }
  while (to.received.size() < kPackets && torus.cycle() < 5000) torus.Cycle();
  ASSERT_EQ(to.received.size(), static_cast<size_t>(kPackets));
  EXPECT_EQ(to.when.back() - to.when.front(), (kPackets - 1) * 17);
}

// Whoever waits is served: an input that sends one packet among inputs that
// never stop waits for no more than a packet of each.
TEST_P(RouterTest, ServesInBoundedTime) {
  const auto [columns, rows] = GetParam();
  if (columns < 3) return;
  Torus torus(columns, rows, 1);
  torus.buffer = 400;
  std::mt19937_64 random(1);
  // The chip in the middle and one neighbour flood it; the other one, whose
  // input is the last, sends ten packets.
  const auto write = [&](int x, int dst_x) {
    Packet p = RandomPacket(&random, kWidth);
    p.kind = link::Kind::kWrite;
    p.payload.assign(256, 1);
    p.src_x = x;
    p.src_y = 0;
    p.dst_x = dst_x;
    p.dst_y = 0;
    return p;
  };
  for (int i = 0; i < 60; ++i) {
    torus.chip(1, 0).offered.push_back(write(1, 1));
    torus.chip(2, 0).offered.push_back(write(2, 1));
  }
  for (int i = 0; i < 300; ++i) torus.Cycle();
  Torus::Chip& middle = torus.chip(1, 0);
  for (int i = 0; i < 10; ++i) {
    torus.chip(0, 0).offered.push_back(write(0, 1));
  }
  const int64_t start = torus.cycle();
  int own = 0;
  while (own < 10 && torus.cycle() - start < 3000) {
    torus.Cycle();
    own = static_cast<int>(
        std::count_if(middle.received.begin(), middle.received.end(),
                      [](const Packet& p) { return p.src_x == 0; }));
  }
  EXPECT_EQ(own, 10);
  EXPECT_LE(torus.cycle() - start, (10 + 1) * 3 * 17);
}

INSTANTIATE_TEST_SUITE_P(Tori, RouterTest,
                         ::testing::Values(Size{2, 2}, Size{3, 1}, Size{4, 1},
                                           Size{5, 1}, Size{1, 4}, Size{1, 5},
                                           Size{4, 4}, Size{2, 3}),
                         [](const ::testing::TestParamInfo<Size>& info) {
                           return std::to_string(info.param.columns) + "x" +
                                  std::to_string(info.param.rows);
                         });

}  // namespace
}  // namespace systole::link_test
