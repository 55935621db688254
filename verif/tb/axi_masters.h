// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bus masters of the test bench. Each has one transfer at a time and is
// advanced once per clock: Drive() sets the pins before the edge, Observe()
// reads the transfers at the edge. With a stall rate, they leave random gaps on
// every channel.

#ifndef SYSTOLE_VERIF_TB_AXI_MASTERS_H_
#define SYSTOLE_VERIF_TB_AXI_MASTERS_H_

#include <cstdint>
#include <random>

#include "verif/tb/core_model.h"

namespace systole::tb {

// True with probability rate/256.
class Staller {
 public:
  Staller(int rate, uint64_t seed)
      : rate_(rate), rng_(static_cast<uint32_t>(seed) | 1) {}
  bool operator()() {
    return rate_ != 0 && static_cast<int>(rng_() >> 8 & 0xff) < rate_;
  }

 private:
  int rate_;
  std::minstd_rand rng_;
};

enum class Response : uint8_t { kOkay = 0, kSlaveError = 2 };

// AXI4-Lite: transfers of one 32-bit register.
class AxiLiteMaster {
 public:
  AxiLiteMaster(int stall_rate, uint64_t seed) : stall_(stall_rate, seed) {}
  void StartWrite(uint16_t addr, uint32_t data);
  void StartRead(uint16_t addr);
  bool busy() const { return state_ != State::kIdle; }
  uint32_t data() const { return data_; }
  Response response() const { return response_; }
  void Drive(PinsIn* in);
  void Observe(const PinsIn& in, const PinsOut& out);

 private:
  enum class State { kIdle, kWrite, kWriteResponse, kReadAddress, kReadData };
  State state_ = State::kIdle;
  bool addr_sent_ = false, data_sent_ = false;
  uint16_t addr_ = 0;
  uint32_t data_ = 0;
  Response response_ = Response::kOkay;
  Staller stall_;
};

// AXI4: transfers of any number of bytes at any address. They are cut into
// aligned bursts of whole beats that do not cross a 4 KiB boundary.
class AxiMaster {
 public:
  AxiMaster(int beat_bytes, int stall_rate, uint64_t seed)
      : beat_(beat_bytes), stall_(stall_rate, seed) {}
  void Start(bool write, uint64_t addr, uint8_t* data, uint64_t bytes);
  bool busy() const { return state_ != State::kIdle; }
  Response response() const { return response_; }  // the worst response
  void Drive(PinsIn* in);
  void Observe(const PinsIn& in, const PinsOut& out);

 private:
  enum class State { kIdle, kWrite, kWriteResponse, kReadAddress, kReadData };
  void NextBurst();
  void FillBeat(PinsIn* in) const;
  void TakeBeat(const PinsOut& out);

  int beat_;
  State state_ = State::kIdle;
  bool write_ = false, addr_sent_ = false, data_sent_ = false;
  uint64_t begin_ = 0, end_ = 0;  // range of the transfer
  uint64_t burst_ = 0;            // address of the burst's first beat
  int burst_beats_ = 0, beat_index_ = 0;
  uint8_t* data_ = nullptr;
  Response response_ = Response::kOkay;
  Staller stall_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_AXI_MASTERS_H_
