// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Connects an AXI4-Lite master to two slaves, with one write and one read at a time. Decoding the slave delays an access by one
// cycle. An access to the second slave also waits while hold_second_i is high.
// Docs: docs/chip.md. Test: tests/rtl/chip, tests/system.

module systole_axil_split
  import systole_bus_pkg::*;
(
    input  logic      clk_i,
    input  logic      rst_ni,

    input  axil_req_t req_i,  // the highest address bit selects the slave
    output axil_rsp_t rsp_o,

    input  logic      hold_second_i,

    output axil_req_t req_o [2],
    input  axil_rsp_t rsp_i [2]
);
  // The slave of the current access. An address or data that the slave has accepted are not offered again.
  logic write_q, write_to_q, aw_done_q, w_done_q, read_q, read_to_q, ar_done_q;
  logic aw_second, ar_second, aw_take, w_take, ar_take;
  assign aw_second = req_i.awaddr[AxilBits-1];
  assign ar_second = req_i.araddr[AxilBits-1];

  always_comb begin
    for (int unsigned s = 0; s < 2; s++) begin
      req_o[s]         = req_i;
      req_o[s].awvalid = write_q && write_to_q == 1'(s) && req_i.awvalid && !aw_done_q;
      req_o[s].wvalid  = write_q && write_to_q == 1'(s) && req_i.wvalid && !w_done_q;
      req_o[s].bready  = write_q && write_to_q == 1'(s) && req_i.bready;
      req_o[s].arvalid = read_q && read_to_q == 1'(s) && req_i.arvalid && !ar_done_q;
      req_o[s].rready  = read_q && read_to_q == 1'(s) && req_i.rready;
    end
    rsp_o         = rsp_i[write_to_q];
    rsp_o.awready = write_q && !aw_done_q && rsp_i[write_to_q].awready;
    rsp_o.wready  = write_q && !w_done_q && rsp_i[write_to_q].wready;
    rsp_o.bvalid  = write_q && rsp_i[write_to_q].bvalid;
    rsp_o.arready = read_q && !ar_done_q && rsp_i[read_to_q].arready;
    rsp_o.rvalid  = read_q && rsp_i[read_to_q].rvalid;
    rsp_o.rdata   = rsp_i[read_to_q].rdata;
    rsp_o.rresp   = rsp_i[read_to_q].rresp;
  end
  assign aw_take = req_i.awvalid && rsp_o.awready;
  assign w_take  = req_i.wvalid && rsp_o.wready;
  assign ar_take = req_i.arvalid && rsp_o.arready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q <= 1'b0;
      read_q  <= 1'b0;
    end else begin
      if (!write_q) write_q <= req_i.awvalid && !(aw_second && hold_second_i);
      else if (rsp_o.bvalid && req_i.bready) write_q <= 1'b0;
      if (!read_q) read_q <= req_i.arvalid && !(ar_second && hold_second_i);
      else if (rsp_o.rvalid && req_i.rready) read_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    aw_done_q <= write_q && (aw_done_q || aw_take);
    w_done_q  <= write_q && (w_done_q || w_take);
    ar_done_q <= read_q && (ar_done_q || ar_take);
    if (!write_q) write_to_q <= aw_second;
    if (!read_q) read_to_q <= ar_second;
  end

  // Checks: a slave answers only after it accepted the whole access.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_write : assert (!rsp_o.bvalid || (aw_done_q && w_done_q));
      a_read : assert (!rsp_o.rvalid || ar_done_q);
    end
  end
endmodule
