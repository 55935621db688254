// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/axi_masters.h"

#include <algorithm>

namespace systole::tb {
namespace {

constexpr uint64_t kBoundary = 4096;  // an AXI4 burst must not cross it

void Worsen(Response* response, uint8_t pins) {
  if (pins != 0) *response = Response::kSlaveError;
}

}  // namespace

void AxiLiteMaster::StartWrite(uint16_t addr, uint32_t data) {
  state_ = State::kWrite;
  addr_ = addr;
  data_ = data;
  addr_sent_ = data_sent_ = false;
  response_ = Response::kOkay;
}

void AxiLiteMaster::StartRead(uint16_t addr) {
  state_ = State::kReadAddress;
  addr_ = addr;
  response_ = Response::kOkay;
}

void AxiLiteMaster::Drive(PinsIn* in) {
  // A valid stays high until the transfer.
  in->axil_awvalid =
      state_ == State::kWrite && !addr_sent_ && (in->axil_awvalid || !stall_());
  in->axil_wvalid =
      state_ == State::kWrite && !data_sent_ && (in->axil_wvalid || !stall_());
  in->axil_arvalid =
      state_ == State::kReadAddress && (in->axil_arvalid || !stall_());
  in->axil_bready = state_ == State::kWriteResponse && !stall_();
  in->axil_rready = state_ == State::kReadData && !stall_();
  in->axil_awaddr = in->axil_araddr = addr_;
  in->axil_wdata = data_;
}

void AxiLiteMaster::Observe(const PinsIn& in, const PinsOut& out) {
  switch (state_) {
    case State::kIdle:
      break;
    case State::kWrite:
      addr_sent_ |= in.axil_awvalid && out.axil_awready;
      data_sent_ |= in.axil_wvalid && out.axil_wready;
      if (addr_sent_ && data_sent_) state_ = State::kWriteResponse;
      break;
    case State::kWriteResponse:
      if (in.axil_bready && out.axil_bvalid) {
        Worsen(&response_, out.axil_bresp);
        state_ = State::kIdle;
      }
      break;
    case State::kReadAddress:
      if (in.axil_arvalid && out.axil_arready) state_ = State::kReadData;
      break;
    case State::kReadData:
      if (in.axil_rready && out.axil_rvalid) {
        Worsen(&response_, out.axil_rresp);
        data_ = out.axil_rdata;
        state_ = State::kIdle;
      }
      break;
  }
}

void AxiMaster::Start(bool write, uint64_t addr, uint8_t* data,
                      uint64_t bytes) {
  write_ = write;
  begin_ = addr;
  end_ = addr + bytes;
  data_ = data;
  burst_ = addr / beat_ * beat_;
  response_ = Response::kOkay;
  NextBurst();
}

void AxiMaster::NextBurst() {
  beat_index_ = 0;
  addr_sent_ = data_sent_ = false;
  if (burst_ >= end_) {
    state_ = State::kIdle;
    return;
  }
  const uint64_t limit = std::min(end_, (burst_ / kBoundary + 1) * kBoundary);
  burst_beats_ = static_cast<int>((limit - burst_ + beat_ - 1) / beat_);
  state_ = write_ ? State::kWrite : State::kReadAddress;
}

void AxiMaster::FillBeat(PinsIn* in) const {
  const uint64_t addr = burst_ + static_cast<uint64_t>(beat_index_) * beat_;
  for (int i = 0; i < beat_; ++i) {
    const bool inside = addr + i >= begin_ && addr + i < end_;
    in->axi_wstrb[i] = inside;
    in->axi_wdata[i] = inside ? data_[addr + i - begin_] : 0;
  }
  in->axi_wlast = beat_index_ == burst_beats_ - 1;
}

void AxiMaster::TakeBeat(const PinsOut& out) {
  const uint64_t addr = burst_ + static_cast<uint64_t>(beat_index_) * beat_;
  for (int i = 0; i < beat_; ++i) {
    if (addr + i >= begin_ && addr + i < end_)
      data_[addr + i - begin_] = out.axi_rdata[i];
  }
}

void AxiMaster::Drive(PinsIn* in) {
  in->axi_awvalid =
      state_ == State::kWrite && !addr_sent_ && (in->axi_awvalid || !stall_());
  in->axi_wvalid =
      state_ == State::kWrite && !data_sent_ && (in->axi_wvalid || !stall_());
  in->axi_arvalid =
      state_ == State::kReadAddress && (in->axi_arvalid || !stall_());
  in->axi_bready = state_ == State::kWriteResponse && !stall_();
  in->axi_rready = state_ == State::kReadData && !stall_();
  if (state_ == State::kIdle) return;
  in->axi_awaddr = in->axi_araddr = burst_;
  in->axi_awlen = in->axi_arlen = static_cast<uint8_t>(burst_beats_ - 1);
  if (in->axi_wvalid) FillBeat(in);
}

void AxiMaster::Observe(const PinsIn& in, const PinsOut& out) {
  switch (state_) {
    case State::kIdle:
      break;
    case State::kWrite:
      addr_sent_ |= in.axi_awvalid && out.axi_awready;
      if (in.axi_wvalid && out.axi_wready && ++beat_index_ == burst_beats_)
        data_sent_ = true;
      if (addr_sent_ && data_sent_) state_ = State::kWriteResponse;
      break;
    case State::kWriteResponse:
      if (in.axi_bready && out.axi_bvalid) {
        Worsen(&response_, out.axi_bresp);
        burst_ += static_cast<uint64_t>(burst_beats_) * beat_;
        NextBurst();
      }
      break;
    case State::kReadAddress:
      if (in.axi_arvalid && out.axi_arready) state_ = State::kReadData;
      break;
    case State::kReadData:
      if (in.axi_rready && out.axi_rvalid) {
        Worsen(&response_, out.axi_rresp);
        TakeBeat(out);
        if (++beat_index_ == burst_beats_) {
          burst_ += static_cast<uint64_t>(burst_beats_) * beat_;
          NextBurst();
        }
      }
      break;
  }
}

}  // namespace systole::tb
