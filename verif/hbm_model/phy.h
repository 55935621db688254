// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Joins the PHY ports of a Verilated model to a Device. Call this after each
// rising clock edge has been evaluated, from the first one in reset on:
//
//   hbm::TickPhy(device, dut.row_cmd_o, dut.row_bank_o, dut.row_addr_o,
//                dut.col_cmd_o, dut.col_bank_o, dut.col_addr_o, dut.wdata_o,
//                dut.wmask_o, &dut.rdata_i, &dut.rdata_valid_i);
//
// The arguments are packed ports, with pseudo-channel 0 in the lowest bits.
// Their types are those that Verilator gives to ports of their width. A device
// with ECC takes one more argument, &dut.rcheck_i.

#ifndef SYSTOLE_VERIF_HBM_MODEL_PHY_H_
#define SYSTOLE_VERIF_HBM_MODEL_PHY_H_

#include <cstdint>
#include <cstring>

#include "verif/hbm_model/device.h"
#include "verilated.h"

namespace systole::hbm {

// Bits of a pseudo-channel's ports.
inline constexpr int kRowCmdBits = 3, kColCmdBits = 3;
inline constexpr int kBankBits = 4, kRowBits = 15, kColBits = 5;

// `width` bits (at most 32) of a port from bit `lsb`.
template <typename T>
uint32_t PortBits(const T& port, int lsb, int width) {
  return static_cast<uint32_t>(static_cast<uint64_t>(port) >> lsb &
                               ((uint64_t{1} << width) - 1));
}
template <size_t N>
uint32_t PortBits(const VlWide<N>& port, int lsb, int width) {
  uint64_t low = port[lsb / 32];
  uint64_t high = lsb / 32 + 1 < static_cast<int>(N) ? port[lsb / 32 + 1] : 0;
  return static_cast<uint32_t>((high << 32 | low) >> (lsb % 32) &
                               ((uint64_t{1} << width) - 1));
}

// One cycle of all pseudo-channels.
template <typename RowCmds, typename RowBanks, typename RowAddrs,
          typename ColCmds, typename ColBanks, typename ColAddrs,
          typename WriteData, typename WriteMask, typename ReadData,
          typename ReadValid, typename ReadCheck = uint32_t>
void TickPhy(Device* device, const RowCmds& row_cmd, const RowBanks& row_bank,
             const RowAddrs& row_addr, const ColCmds& col_cmd,
             const ColBanks& col_bank, const ColAddrs& col_addr,
             const WriteData& wdata, const WriteMask& wmask, ReadData* rdata,
             ReadValid* rdata_valid, ReadCheck* rcheck = nullptr) {
  static_assert(kBanks == 1 << kBankBits && kRows == 1 << kRowBits &&
                kCols == 1 << kColBits);
  uint64_t valid = 0;
  for (int pc = 0; pc < device->pcs(); ++pc) {
    PhyIn in;
    PhyOut out;
    in.row_cmd =
        static_cast<RowCmd>(PortBits(row_cmd, pc * kRowCmdBits, kRowCmdBits));
    in.col_cmd =
        static_cast<ColCmd>(PortBits(col_cmd, pc * kColCmdBits, kColCmdBits));
    if (in.row_cmd != RowCmd::kNop) {
      in.row_bank =
          static_cast<uint8_t>(PortBits(row_bank, pc * kBankBits, kBankBits));
      in.row_addr = PortBits(row_addr, pc * kRowBits, kRowBits);
    }
    if (in.col_cmd != ColCmd::kNop) {
      in.col_bank =
          static_cast<uint8_t>(PortBits(col_bank, pc * kBankBits, kBankBits));
      in.col_addr =
          static_cast<uint8_t>(PortBits(col_addr, pc * kColBits, kColBits));
    }
    in.wmask =
        static_cast<uint16_t>(PortBits(wmask, pc * kPhyBytes, kPhyBytes));
    in.wdata = &wdata[pc * kPhyBytes / sizeof(uint32_t)];
    device->Tick(pc, in, &out);
    if (out.data != nullptr) {
      std::memcpy(&(*rdata)[pc * kPhyBytes / sizeof(uint32_t)], out.data,
                  kPhyBytes);
      if (rcheck != nullptr && out.check != nullptr) {
        std::memcpy(reinterpret_cast<uint8_t*>(rcheck) + pc * kPhyBytes / 8,
                    out.check, kPhyBytes / 8);
      }
      valid |= uint64_t{1} << pc;
    }
  }
  *rdata_valid = static_cast<ReadValid>(valid);
}

}  // namespace systole::hbm

#endif  // SYSTOLE_VERIF_HBM_MODEL_PHY_H_
