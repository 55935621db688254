// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The RTL of the host link between buses with random latencies, and a line to
// it that loses, flips and doubles bytes.
//
//   Session s({.lost = 10}, seed);   // in 1/65536 a byte
//   s.link->Hello();
#ifndef SYSTOLE_TESTS_FPGA_LINK_BENCH_H_
#define SYSTOLE_TESTS_FPGA_LINK_BENCH_H_

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "Vlink.h"
#include "gtest/gtest.h"
#include "host/serial/link.h"
#include "verilated.h"

namespace systole::serial {

inline constexpr uint64_t kMemoryBytes = 1 << 16;

// The RTL, its buses, and the bytes on their way to and from it.
class Board {
 public:
  explicit Board(uint64_t seed) : random_(seed) {
    context_.randReset(2);
    context_.randSeed(static_cast<int>(seed % 1000) + 1);
    top_ = std::make_unique<Vlink>(&context_);
    memory_.resize(kMemoryBytes);
    Reset();
  }
  void Reset() {
    top_->rst_ni = 0;
    for (int i = 0; i < 4; ++i) Cycle();
    top_->rst_ni = 1;
    aw_ = w_ = ar_ = false;
  }

  // One clock; a byte goes in or comes out each fourth cycle at most.
  void Cycle() {
    ++cycle_;
    top_->clk_i = 0;
    top_->rx_valid_i = 0;
    // What comes in a reset is lost.
    if (cycle_ % 4 == 0 && !to_board.empty()) {
      top_->rx_valid_i = 1;
      top_->rx_data_i = to_board.front();
      to_board.pop_front();
    }
    top_->tx_ready_i = cycle_ % 4 == 1;
    DriveBuses();
    top_->eval();
    const bool out = top_->tx_valid_o && top_->tx_ready_i;
    if (out && top_->rst_ni) from_board.push_back(top_->tx_data_o);
    // What is still there from the power-up is over after a cycle.
    const bool pulses = top_->good_o || top_->bad_o || top_->tx_valid_o;
    const bool asks = top_->axil_awvalid_o || top_->axil_wvalid_o ||
                      top_->axil_arvalid_o || top_->axi_awvalid_o ||
                      top_->axi_wvalid_o || top_->axi_arvalid_o;
    if (resets_ > 0) EXPECT_FALSE(pulses || asks) << "in the reset";
    resets_ = top_->rst_ni ? 0 : resets_ + 1;
    if (top_->rst_ni) {
      good_frames += top_->good_o;
      bad_frames += top_->bad_o;
    }
    SampleBuses();
    top_->clk_i = 1;
    top_->eval();
  }

  std::deque<uint8_t> to_board, from_board;
  std::map<uint32_t, uint32_t> registers;
  std::vector<std::pair<uint32_t, uint32_t>> register_writes;
  std::vector<uint8_t>& memory() { return memory_; }
  int good_frames = 0, bad_frames = 0;

 private:
  bool Chance() { return random_() % 3 == 0; }

  void DriveBuses() {
    top_->axil_awready_i = top_->axil_awvalid_o && !aw_ && Chance();
    top_->axil_wready_i = top_->axil_wvalid_o && !w_ && Chance();
    top_->axil_bvalid_i = aw_ && w_ && !wide_ && Chance();
    top_->axil_arready_i = top_->axil_arvalid_o && Chance();
    top_->axil_rvalid_i = ar_ && !wide_ && Chance();
    top_->axil_rdata_i = ar_ && !wide_ ? registers[address_] : 0xdeadbeef;
    top_->axil_bresp_i = top_->axil_rresp_i = 0;
    top_->axi_awready_i = top_->axi_awvalid_o && Chance();
    top_->axi_wready_i = top_->axi_wvalid_o && Chance();
    top_->axi_bvalid_i = aw_ && w_ && wide_ && Chance();
    top_->axi_arready_i = top_->axi_arvalid_o && Chance();
    top_->axi_rvalid_i = ar_ && wide_ && Chance();
    const bool beyond = address_ >= kMemoryBytes;
    top_->axi_bresp_i = top_->axi_rresp_i = wide_ && beyond ? 2 : 0;
    for (int i = 0; i < 4; ++i) {
      uint32_t word = 0;
      for (int b = 0; b < 4 && ar_ && wide_ && !beyond; ++b)
        word |= uint32_t{memory_[address_ + 4 * i + b]} << (8 * b);
      top_->axi_rdata_i[i] = word;
    }
  }

  void SampleBuses() {
    if (top_->axil_bvalid_i || top_->axi_bvalid_i) aw_ = w_ = false;
    if (top_->axil_rvalid_i || top_->axi_rvalid_i) ar_ = false;
    if (top_->axil_awready_i || top_->axil_arready_i) {
      wide_ = false;
      address_ = top_->axil_addr_o;
      (top_->axil_arready_i ? ar_ : aw_) = true;
    }
    if (top_->axi_awready_i || top_->axi_arready_i) {
      wide_ = true;
      address_ = top_->axi_addr_o;
      EXPECT_EQ(address_ % 16, 0u);
      (top_->axi_arready_i ? ar_ : aw_) = true;
    }
    if (top_->axil_wready_i) {
      w_ = true;
      wide_ = false;
      registers[top_->axil_addr_o] = top_->axil_wdata_o;
      register_writes.emplace_back(top_->axil_addr_o, top_->axil_wdata_o);
    }
    if (top_->axi_wready_i) {
      w_ = true;
      const uint64_t at = top_->axi_addr_o;
      for (int i = 0; i < 16 && at < kMemoryBytes; ++i)
        if (top_->axi_wstrb_o >> i & 1)
          memory_[at + i] =
              static_cast<uint8_t>(top_->axi_wdata_o[i / 4] >> (8 * (i % 4)));
    }
  }

  VerilatedContext context_;
  std::unique_ptr<Vlink> top_;
  std::mt19937_64 random_;
  std::vector<uint8_t> memory_;
  uint64_t cycle_ = 0, address_ = 0;
  int resets_ = 0;  // cycles of reset behind
  bool aw_ = false, w_ = false, ar_ = false, wide_ = false;
};

// The line, with a chance of each fault in 1/65536 a byte.
struct Faults {
  int lost = 0, flipped = 0, doubled = 0;
};

class Line : public Port {
 public:
  Line(Board& board, Faults faults, uint64_t seed)
      : board_(board), faults_(faults), random_(seed) {}
  absl::Status Write(absl::Span<const uint8_t> bytes) override {
    for (uint8_t byte : bytes)
      Pass(byte, [&](uint8_t b) { board_.to_board.push_back(b); });
    return absl::OkStatus();
  }
  absl::StatusOr<size_t> Read(absl::Span<uint8_t> bytes, double) override {
    for (int idle = 0; idle < 20000 && got_.empty(); ++idle) {
      board_.Cycle();
      if (!board_.to_board.empty()) idle = 0;
      while (!board_.from_board.empty()) {
        Pass(board_.from_board.front(), [&](uint8_t b) { got_.push_back(b); });
        board_.from_board.pop_front();
      }
    }
    size_t n = 0;
    for (; n < bytes.size() && !got_.empty(); ++n) {
      bytes[n] = got_.front();
      got_.pop_front();
    }
    return n;
  }
  int injected = 0;

 private:
  template <typename F>
  void Pass(uint8_t byte, F sink) {
    const int draw = static_cast<int>(random_() % 65536);
    const int kind = draw < faults_.lost                     ? 1
                     : draw < faults_.lost + faults_.flipped ? 2
                     : draw < faults_.lost + faults_.flipped + faults_.doubled
                         ? 3
                         : 0;
    injected += kind != 0;
    if (kind == 1) return;
    if (kind == 2) byte ^= static_cast<uint8_t>(1u << random_() % 8);
    sink(byte);
    if (kind == 3) sink(byte);
  }

  Board& board_;
  Faults faults_;
  std::mt19937_64 random_;
  std::deque<uint8_t> got_;
};

struct Session {
  explicit Session(Faults faults = {}, uint64_t seed = 1) : board(seed) {
    auto port = std::make_unique<Line>(board, faults, seed + 100);
    line = port.get();
    LinkOptions options;
    options.timeout = 0;    // the line says when the time is over
    options.attempts = 60;  // a faulty line loses most of the long answers
    link = std::make_unique<Link>(std::move(port), options);
  }
  Board board;
  Line* line;
  std::unique_ptr<Link> link;
};

// The answer to a request that is sent as it is.
inline std::vector<uint8_t> Ask(Board& board,
                                const std::vector<uint8_t>& request) {
  std::vector<uint8_t> wire;
  AppendFrame(request, &wire);
  board.to_board.insert(board.to_board.end(), wire.begin(), wire.end());
  FrameReader reader;
  int frames = 0;
  // A little longer than to the answer, for a second one.
  for (int i = 0, end = 3000 + 8 * static_cast<int>(wire.size()); i < end;
       ++i) {
    board.Cycle();
    for (; !board.from_board.empty(); board.from_board.pop_front()) {
      if (!reader.Add(board.from_board.front())) continue;
      ++frames;
      end = std::min(end, i + 100);
    }
  }
  EXPECT_EQ(frames, 1);
  return frames == 0 ? std::vector<uint8_t>(3) : reader.content();
}

inline std::vector<uint8_t> Random(size_t size, std::mt19937_64& random) {
  std::vector<uint8_t> bytes(size);
  // Many bytes that need an escape.
  for (uint8_t& b : bytes)
    b = random() % 4 == 0 ? 0x7d + random() % 2
                          : static_cast<uint8_t>(random());
  return bytes;
}

}  // namespace systole::serial

#endif  // SYSTOLE_TESTS_FPGA_LINK_BENCH_H_
