// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Simulates a board behind a pseudo-terminal. It prints "port PATH"; a program
// that opens PATH talks to the board's serial pins.
//
//   board_sim [--lost N] [--flipped N] [--doubled N] [--seed N] [--cycles N]
//             [+plusargs of the model]
//
// The faults are rates in 1/1000000 per byte, in both directions. The program
// ends on SIGTERM, or after the given number of cycles. The serial port has two
// clocks a bit. The clock stops while the board is idle.
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "VBoard8.h"
#include "verilated.h"

namespace systole {
namespace {

volatile sig_atomic_t g_stop = 0;

struct Options {
  int lost = 0, flipped = 0, doubled = 0;
  uint64_t seed = 1, cycles = 0;
  std::vector<const char*> plusargs;
};

// The host's side of the serial pins: bytes of 2 clocks a bit.
class Uart {
 public:
  static constexpr int kClocks = 2, kBits = 10;
  // The pin's level for the next cycle.
  bool Send() {
    if (send_left_ == 0) {
      if (to_board.empty()) return true;
      send_bits_ = 0x200u | static_cast<uint32_t>(to_board.front()) << 1;
      to_board.pop_front();
      send_left_ = kBits * kClocks;
    }
    const bool level =
        send_bits_ >> ((kBits * kClocks - send_left_) / kClocks) & 1;
    --send_left_;
    return level;
  }
  void Receive(bool level) {
    if (receive_at_ < 0) {
      if (!level) receive_at_ = 0;
      receive_bits_ = 0;
      return;
    }
    ++receive_at_;
    if (receive_at_ % kClocks != 0) return;
    const int bit = receive_at_ / kClocks;  // 1 to 8: data, 9: stop
    if (bit <= 8) {
      receive_bits_ |= static_cast<uint32_t>(level) << (bit - 1);
    } else {
      if (level) from_board.push_back(static_cast<uint8_t>(receive_bits_));
      receive_at_ = -1;
    }
  }
  bool idle() const {
    return to_board.empty() && send_left_ == 0 && receive_at_ < 0;
  }

  std::deque<uint8_t> to_board, from_board;

 private:
  int send_left_ = 0, receive_at_ = -1;
  uint32_t send_bits_ = 0, receive_bits_ = 0;
};

class Line {
 public:
  Line(const Options& options, int fd)
      : options_(options), random_(options.seed), fd_(fd) {}

  // Moves bytes between the terminal and the pins. `wait`: blocks, because
  // there is nothing else to do.
  void Exchange(Uart& uart, bool wait) {
    if (wait) {
      pollfd poll_fd = {fd_, POLLIN, 0};
      poll(&poll_fd, 1, 20);
    }
    uint8_t buffer[4096];
    const ssize_t n = read(fd_, buffer, sizeof buffer);
    for (ssize_t i = 0; i < n; ++i) Pass(buffer[i], uart.to_board);
    std::deque<uint8_t> out;
    for (uint8_t byte : uart.from_board) Pass(byte, out);
    uart.from_board.clear();
    for (uint8_t byte : out)
      while (write(fd_, &byte, 1) < 0 && !g_stop) usleep(100);
  }
  int injected() const { return injected_; }

 private:
  void Pass(uint8_t byte, std::deque<uint8_t>& sink) {
    const int draw = static_cast<int>(random_() % 1000000);
    const bool lost = draw < options_.lost;
    const bool flipped = !lost && draw < options_.lost + options_.flipped;
    const bool doubled =
        !lost && !flipped &&
        draw < options_.lost + options_.flipped + options_.doubled;
    injected_ += lost || flipped || doubled;
    if (lost) return;
    if (flipped) byte ^= static_cast<uint8_t>(1u << random_() % 8);
    sink.push_back(byte);
    if (doubled) sink.push_back(byte);
  }

  Options options_;
  std::mt19937_64 random_;
  int fd_;
  int injected_ = 0;
};

// Opens a pseudo-terminal and returns its controlling side, or -1 on failure.
// The other side stays open, so hosts may connect and disconnect.
int OpenTerminal() {
  const int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0) return -1;
  const char* const path = ptsname(fd);
  const int other = open(path, O_RDWR | O_NOCTTY);
  termios settings = {};
  if (other < 0 || tcgetattr(other, &settings) != 0) return -1;
  cfmakeraw(&settings);
  tcsetattr(other, TCSANOW, &settings);
  std::printf("port %s\n", path);
  std::fflush(stdout);
  return fd;
}

constexpr int kRunning = 1, kReady = 8;  // LEDs

void Cycle(VBoard8& top) {
  top.clk_i = 0;
  top.eval();
  top.clk_i = 1;
  top.eval();
}

int Run(const Options& options) {
  VerilatedContext context;
  context.randSeed(static_cast<int>(options.seed));
  context.randReset(2);
  std::vector<const char*> plusargs = options.plusargs;
  context.commandArgs(static_cast<int>(plusargs.size()), plusargs.data());
  auto top = std::make_unique<VBoard8>(&context);
  uint64_t cycle = 0, busy = 0;
  top->uart_rx_i = 1;
  for (; cycle < 16 || !(top->led_o & kReady); ++cycle) {
    top->button_i = cycle < 16;
    Cycle(*top);
    if (g_stop || context.gotFinish()) return 1;
  }
  const int fd = OpenTerminal();
  if (fd < 0) {
    std::fprintf(stderr, "board_sim: no pseudo-terminal: %s\n",
                 std::strerror(errno));
    return 1;
  }
  Uart uart;
  Line line(options, fd);
  constexpr uint64_t kQuiet = 20000;
  constexpr uint64_t kPoll = 512;  // cycles
  while (!g_stop && !context.gotFinish() &&
         (options.cycles == 0 || cycle < options.cycles)) {
    top->uart_rx_i = uart.Send();
    Cycle(*top);
    uart.Receive(top->uart_tx_o);
    ++cycle;
    if (!uart.idle() || top->led_o & kRunning) busy = cycle;
    if (cycle % kPoll == 0) line.Exchange(uart, cycle - busy > kQuiet);
  }
  top->final();
  std::fprintf(stderr, "board_sim: %llu cycles, %d faults on the line\n",
               static_cast<unsigned long long>(cycle), line.injected());
  return context.gotError() || context.gotFinish() ? 1 : 0;
}

}  // namespace
}  // namespace systole

int main(int argc, char** argv) {
  systole::Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (name[0] == '+') {
      options.plusargs.push_back(argv[i--]);
      continue;
    }
    if (i + 1 == argc) {
      std::fprintf(stderr, "board_sim: option %s wants a number\n", argv[i]);
      return 2;
    }
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--lost")
      options.lost = static_cast<int>(value);
    else if (name == "--flipped")
      options.flipped = static_cast<int>(value);
    else if (name == "--doubled")
      options.doubled = static_cast<int>(value);
    else if (name == "--seed")
      options.seed = value;
    else if (name == "--cycles")
      options.cycles = value;
    else {
      std::fprintf(stderr, "board_sim: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  std::signal(SIGTERM, [](int) { systole::g_stop = 1; });
  std::signal(SIGINT, [](int) { systole::g_stop = 1; });
  return systole::Run(options);
}
