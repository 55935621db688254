// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A torus of Verilated chips' networks, with their cores and the wires.

#ifndef SYSTOLE_TESTS_RTL_LINK_NETWORK_H_
#define SYSTOLE_TESTS_RTL_LINK_NETWORK_H_

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "tests/rtl/link/end.h"
#include "tests/rtl/link/ports.h"
#include "verilated.h"

namespace systole::link_test {

inline constexpr int kLinks = link::kPorts - 1;
inline constexpr int kOpposite[] = {1, 0, 3, 2};

template <typename Model>
class Network {
 public:
  struct Chip {
    std::unique_ptr<Model> model;
    std::deque<Packet> offered;
    std::vector<Packet> received, poisoned;
    std::vector<int64_t> when;  // the received ones ended
    Packet arriving;
    int flit = 0;  // of the packet that is being sent
  };

  Network(int columns, int rows, Width width, uint64_t seed, int delay)
      : columns_(columns),
        rows_(rows),
        width_(width),
        random_(seed),
        chips_(columns * rows) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed) | 1);
    context_.fatalOnError(false);
    for (Chip& chip : chips_) {
      chip.model = std::make_unique<Model>(&context_);
      Model& m = *chip.model;
      const int i = static_cast<int>(&chip - chips_.data());
      m.x_i = i % columns;
      m.y_i = i / columns;
      m.chip_i = Number(i);
      m.columns_i = columns;
      m.rows_i = rows;
      // A ring of one chip has no links.
      m.enable_i = (columns > 1 ? 3 : 0) | (rows > 1 ? 12 : 0);
      m.rst_ni = m.send_valid_i = m.recv_ready_i = 0;
      for (int k = 0; k < 3; ++k) Clock(&m);
      m.rst_ni = 1;
    }
    context_.gotError(false);
    wires_.assign(chips_.size() * kLinks, Wire(delay));
  }
  ~Network() {
    for (Chip& chip : chips_) chip.model->final();
  }

  // The chip's number, of 16 bits.
  static int Number(int chip) { return chip * 1031 % 65536; }
  // Who a chip should find at the other end of a link.
  int Peer(size_t chip, int link) const {
    return kOpposite[link] << 16 |
           Number(static_cast<int>(Neighbour(chip, link)));
  }
  Chip& chip(int x, int y) { return chips_[y * columns_ + x]; }
  std::vector<Chip>& chips() { return chips_; }
  // From a chip through its port.
  Wire& wire(int x, int y, int port) {
    return wires_[(y * columns_ + x) * kLinks + port];
  }
  std::vector<Wire>& wires() { return wires_; }
  int64_t cycle() const { return cycle_; }
  bool failed() const { return failed_; }
  bool up() const {
    return std::all_of(chips_.begin(), chips_.end(), [](const Chip& chip) {
      return chip.model->up_o == chip.model->enable_i;
    });
  }

  void Cycle() {
    for (size_t i = 0; i < chips_.size(); ++i) {
      for (int l = 0; l < kLinks; ++l) {
        const Symbols in = wires_[i * kLinks + l].Pass(
            Lanes(*chips_[i].model, l), width_.lane);
        SetLanes(chips_[Neighbour(i, l)].model.get(), kOpposite[l], in);
      }
    }
    for (Chip& chip : chips_) Core(&chip);
    for (Chip& chip : chips_) Clock(chip.model.get());
    if (context_.gotError()) failed_ = true;
    ++cycle_;
  }

  int hold = 0;  // chances of 256 that a core takes or gives nothing

 private:
  static void Clock(Model* m) {
    m->clk_i = 1;
    m->eval();
    m->clk_i = 0;
    m->eval();
  }
  bool Chance(int in_256) { return static_cast<int>(random_() & 255) < in_256; }
  size_t Neighbour(size_t i, int port) const {
    int x = static_cast<int>(i) % columns_, y = static_cast<int>(i) / columns_;
    if (port == 0) x = (x + 1) % columns_;
    if (port == 1) x = (x + columns_ - 1) % columns_;
    if (port == 2) y = (y + 1) % rows_;
    if (port == 3) y = (y + rows_ - 1) % rows_;
    return y * columns_ + x;
  }
  Symbols Lanes(const Model& m, int port) const {
    Symbols s;
    const int bits = 8 * width_.lane + 2;
    for (int l = 0; l < link::kLanes; ++l) {
      const int at = (port * link::kLanes + l) * bits;
      s[l].tag =
          static_cast<link::Tag>(GetBits(m.lanes_o, at + 8 * width_.lane, 2));
      for (int i = 0; i < width_.lane; ++i) {
        s[l].bytes[i] = static_cast<uint8_t>(GetBits(m.lanes_o, at + 8 * i, 8));
      }
    }
    return s;
  }
  void SetLanes(Model* m, int port, const Symbols& s) const {
    const int bits = 8 * width_.lane + 2;
    for (int l = 0; l < link::kLanes; ++l) {
      const int at = (port * link::kLanes + l) * bits;
      SetBits(&m->lanes_i, at + 8 * width_.lane, 2, static_cast<int>(s[l].tag));
      for (int i = 0; i < width_.lane; ++i) {
        SetBits(&m->lanes_i, at + 8 * i, 8, s[l].bytes[i]);
      }
    }
  }

  void Core(Chip* chip) {
    Model& m = *chip->model;
    m.send_valid_i = !chip->offered.empty() && !Chance(hold);
    if (m.send_valid_i) {
      const Packet& p = chip->offered.front();
      const auto set = [&](link::Field f, uint64_t value) {
        SetBits(&m.send_head_i, f.lsb, f.bits, value);
      };
      set(link::send::kKind, static_cast<uint64_t>(p.kind));
      set(link::send::kTie, p.tie);
      set(link::send::kLength, p.payload.size());
      set(link::send::kDstX, p.dst_x);
      set(link::send::kDstY, p.dst_y);
      set(link::send::kDstCore, p.dst_core);
      set(link::send::kSrcCore, p.src_core);
      set(link::send::kAddress, p.address);
      m.send_last_i = chip->flit + 1 >= p.FlitCount(width_.flit) - 1;
      for (int i = 0; i < width_.flit; ++i) {
        const size_t at = static_cast<size_t>(chip->flit * width_.flit + i);
        const uint8_t byte = at < p.payload.size()
                                 ? p.payload[at]
                                 : static_cast<uint8_t>(random_());
        SetBits(&m.send_data_i, 8 * i, 8, byte);
      }
    }
    m.recv_ready_i = !Chance(hold);
    m.eval();
    if (m.send_valid_i && m.send_ready_o) {
      ++chip->flit;
      if (m.send_last_i) {
        chip->flit = 0;
        chip->offered.pop_front();
      }
    }
    if (m.recv_valid_o && m.recv_ready_i) Receive(chip);
  }

  void Receive(Chip* chip) {
    const Model& m = *chip->model;
    Bytes head(16);
    for (int i = 0; i < link::kHeadBytes; ++i) {
      head[i] = static_cast<uint8_t>(GetBits(m.recv_head_o, 8 * i, 8));
    }
    SetField(head.data(), link::head::kLength, 0);
    const Packet now = PacketOf({head});
    Packet& p = chip->arriving;
    if (p.payload.empty()) p = now;
    if (now.address != p.address + p.payload.size()) failed_ = true;
    for (int i = 0; i < width_.flit; ++i) {
      if (!GetBits(m.recv_mask_o, i, 1)) continue;
      p.payload.push_back(
          static_cast<uint8_t>(GetBits(m.recv_data_o, 8 * i, 8)));
    }
    if (!m.recv_last_o) return;
    (p.kind == link::Kind::kPoison ? chip->poisoned : chip->received)
        .push_back(p);
    chip->when.push_back(cycle_);
    p = Packet();
  }

  int columns_, rows_;
  Width width_;
  std::mt19937_64 random_;
  VerilatedContext context_;
  std::vector<Chip> chips_;
  std::vector<Wire> wires_;
  int64_t cycle_ = 0;
  bool failed_ = false;
};

}  // namespace systole::link_test

#endif  // SYSTOLE_TESTS_RTL_LINK_NETWORK_H_
