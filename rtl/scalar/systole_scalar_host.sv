// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The scalar unit's registers that the host sees (docs/spec/csr.rdl, `scalar`), and the owner of the core. An access is
// answered one cycle later. The scalar unit owns the core once `run` is set and no program of the host runs. When `run` is
// cleared, the core is reset and belongs to the host again.
// Docs: docs/scalar.md. Test: tests/rtl/scalar.

module systole_scalar_host
  import systole_csr_pkg::*;
  import systole_bus_pkg::host_reg_req_t;
#(
    parameter int unsigned SmemBytes = 32768
) (
    input  logic          clk_i,
    input  logic          rst_ni,

    input  host_reg_req_t req_i,
    output logic          ack_o,
    output logic [31:0]   data_o,

    input  logic [31:0]   state_i,
    input  logic [31:0]   completed_i,
    input  logic          core_busy_i,   // a program runs, or a soft reset is in progress

    output logic          run_o,
    output logic          owns_o,
    output logic          reset_core_o,  // pulse
    output logic [31:0]   boot_addr_o,
    output logic [31:0]   boot_flags_o,
    output logic          doorbell_o,    // pulse; doorbell_value_o is valid from this cycle on
    output logic [31:0]   doorbell_value_o
);
  logic run_q, owns_q;

  assign run_o  = run_q;
  assign owns_o = owns_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q        <= 1'b0;
      owns_q       <= 1'b0;
      reset_core_o <= 1'b0;
      doorbell_o   <= 1'b0;
      ack_o        <= 1'b0;
      boot_addr_o  <= '0;
      boot_flags_o <= '0;
      doorbell_value_o <= '0;
    end else begin
      ack_o        <= req_i.valid;
      doorbell_o   <= req_i.valid && req_i.write && req_i.index == ScalarDoorbell;
      reset_core_o <= req_i.valid && req_i.write && req_i.index == ScalarRun && run_q && !req_i.data[0];
      if (req_i.valid && req_i.write) begin
        unique case (req_i.index)
          ScalarRun:       run_q <= req_i.data[0];
          ScalarBootAddr:  boot_addr_o <= req_i.data;
          ScalarBootFlags: boot_flags_o <= req_i.data;
          ScalarDoorbell:  doorbell_value_o <= req_i.data;
          default: ;
        endcase
      end
      if (!core_busy_i && !reset_core_o) owns_q <= run_q;
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (req_i.index)
      ScalarSmemBytes: data_o <= SmemBytes;
      ScalarRun:       data_o <= {31'b0, run_q};
      ScalarBootAddr:  data_o <= boot_addr_o;
      ScalarBootFlags: data_o <= boot_flags_o;
      ScalarDoorbell:  data_o <= doorbell_value_o;
      ScalarState:     data_o <= state_i;
      ScalarCompleted: data_o <= completed_i;
      default:         data_o <= '0;
    endcase
  end

  // Check: the owner changes only while nothing runs in the core.
  logic owned_q;
  always_ff @(posedge clk_i) begin
    owned_q <= owns_q;
    if (rst_ni) a_owner : assert (owned_q == owns_q || !core_busy_i || reset_core_o);
  end
endmodule
