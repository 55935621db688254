// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// AXI4 slave in front of the HBM. It serves INCR bursts of whole aligned beats of H bytes with write strobes: one write burst
// and one read burst at a time, one beat a cycle each. D / H beats make an HBM beat; a burst may begin and end inside one. Any
// other burst, or one that goes beyond the HBM, gets the response SLVERR and has no effect.
// Docs: docs/host.md. Test: tests/rtl/host.

module systole_axi_hbm
  import systole_presets_pkg::*;
#(
    parameter int unsigned D = 64,              // bytes of an HBM beat
    parameter int unsigned H = D,               // bytes of a beat of this port: D or a fraction of it
    parameter logic [AddrBits:0] HbmBytes = '0  // capacity
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  systole_bus_pkg::axi_req_t axi_req_i,
    input  logic [H*8-1:0]      axi_wdata_i,
    input  logic [H-1:0]        axi_wstrb_i,
    output systole_bus_pkg::axi_rsp_t axi_rsp_o,
    output logic [H*8-1:0]      axi_rdata_o,

    // HBM clients (systole_hbm).
    output logic                rd_valid_o,
    input  logic                rd_ready_i,
    output logic [AddrBits-1:0] rd_addr_o,
    input  logic                rd_rsp_valid_i,
    input  logic [D*8-1:0]      rd_rsp_data_i,
    output logic                wr_valid_o,
    input  logic                wr_ready_i,
    output logic [AddrBits-1:0] wr_addr_o,
    output logic [D*8-1:0]      wr_data_o,
    output logic [D-1:0]        wr_mask_o
);
  localparam int unsigned BeatShift = $clog2(H);
  localparam int unsigned Parts = D / H;  // beats of this port in an HBM beat
  localparam int unsigned PartBits = Parts > 1 ? $clog2(Parts) : 1;
  localparam logic [1:0] BurstIncr = 2'b01;
  localparam logic [1:0] RespOkay = 2'b00;
  localparam logic [1:0] RespSlvErr = 2'b10;
  localparam int unsigned RspDepth = 64 / Parts;  // HBM beats requested and not yet taken; enough to cover the HBM's latency

  typedef logic [PartBits-1:0] part_t;

  // The part of an HBM beat that an address selects, and the address of that HBM beat.
  // verilator lint_off UNUSEDSIGNAL
  function automatic part_t part_of(logic [AddrBits-1:0] addr);
    return Parts > 1 ? addr[BeatShift+:PartBits] : '0;
  endfunction
  function automatic logic [AddrBits-1:0] beat_of(logic [AddrBits-1:0] addr);
    return {addr[AddrBits-1:$clog2(D)], {$clog2(D){1'b0}}};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Bursts that this slave refuses.
  function automatic logic refused(logic [AddrBits-1:0] addr, logic [7:0] len, logic [2:0] size, logic [1:0] burst);
    logic [AddrBits:0] last;
    last = {1'b0, addr} + (((AddrBits + 1)'(len) + (AddrBits + 1)'(1)) << BeatShift);
    return size != 3'(BeatShift) || burst != BurstIncr || addr[BeatShift-1:0] != '0 || last > HbmBytes;
  endfunction

  // Writes: the parts of an HBM beat are collected until its last part arrives.
  typedef enum logic [1:0] {WIdle, WData, WResponse} wstate_e;
  wstate_e             wstate_q;
  logic [AddrBits-1:0] waddr_q;
  logic [7:0]          wleft_q;
  logic                werror_q;
  logic [3:0]          wid_q;
  logic                w_accept, w_whole;
  part_t               wpart;

  assign wpart         = part_of(waddr_q);
  assign w_whole       = wpart == part_t'(Parts - 1) || wleft_q == '0;
  assign axi_rsp_o.awready = wstate_q == WIdle;
  assign wr_valid_o    = wstate_q == WData && axi_req_i.wvalid && !werror_q && w_whole;
  assign wr_addr_o     = beat_of(waddr_q);
  assign axi_rsp_o.wready  = wstate_q == WData && (werror_q || !w_whole || wr_ready_i);
  assign w_accept      = axi_req_i.wvalid && axi_rsp_o.wready;
  assign axi_rsp_o.bvalid  = wstate_q == WResponse;
  assign axi_rsp_o.bresp   = werror_q ? RespSlvErr : RespOkay;
  assign axi_rsp_o.bid     = wid_q;

  if (Parts == 1) begin : gen_whole
    assign wr_data_o = axi_wdata_i;
    assign wr_mask_o = axi_wstrb_i;
  end else begin : gen_gather
    for (genvar p = 0; p < Parts; p++) begin : gen_part
      logic [H*8-1:0] data_q;
      logic [H-1:0]   mask_q;
      logic           now;
      assign now = wpart == part_t'(p);
      assign wr_data_o[p*H*8+:H*8] = now ? axi_wdata_i : data_q;
      assign wr_mask_o[p*H+:H]     = now ? axi_wstrb_i : mask_q;
      always_ff @(posedge clk_i) begin
        if (wstate_q == WIdle || (w_accept && w_whole)) mask_q <= '0;
        else if (w_accept && now) mask_q <= axi_wstrb_i;
        if (w_accept && now) data_q <= axi_wdata_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wstate_q <= WIdle;
    end else begin
      unique case (wstate_q)
        WIdle:     if (axi_req_i.awvalid) wstate_q <= WData;
        WData:     if (w_accept && wleft_q == '0) wstate_q <= WResponse;
        WResponse: if (axi_req_i.bready) wstate_q <= WIdle;
        default:   wstate_q <= WIdle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (wstate_q == WIdle) begin
      waddr_q  <= axi_req_i.aw.addr;
      wleft_q  <= axi_req_i.aw.len;
      wid_q    <= axi_req_i.aw.id;
      werror_q <= refused(axi_req_i.aw.addr, axi_req_i.aw.len, axi_req_i.aw.size, axi_req_i.aw.burst);
    end else if (w_accept) begin
      waddr_q <= waddr_q + AddrBits'(H);
      wleft_q <= wleft_q - 8'd1;
    end
  end

  // Reads: requests run ahead of the data as long as the response FIFO has room.
  logic                        rbusy_q, rerror_q, rask_q;
  logic [AddrBits-1:0]         raddr_q;
  logic [7:0]                  rask_left_q, rleft_q;  // HBM beats left to request, beats left to return; each minus 1
  part_t                       rpart_q;
  logic [3:0]                  rid_q;
  logic                        credit, rd_accept, rsp_valid, rsp_ready, r_accept;
  logic [$clog2(RspDepth+1)-1:0] credits_left, rsp_count;
  logic                        rsp_room, credit_idle;
  logic [D*8-1:0]              rsp_data;

  assign axi_rsp_o.arready = !rbusy_q;
  assign rd_valid_o    = rask_q && credit;
  assign rd_addr_o     = beat_of(raddr_q);
  assign rd_accept     = rd_valid_o && rd_ready_i;
  assign axi_rsp_o.rvalid  = rbusy_q && (rerror_q || rsp_valid);
  assign axi_rsp_o.rresp   = rerror_q ? RespSlvErr : RespOkay;
  assign axi_rsp_o.rlast   = rleft_q == '0;
  assign axi_rsp_o.rid     = rid_q;
  assign r_accept      = axi_rsp_o.rvalid && axi_req_i.rready;
  assign rsp_ready     = r_accept && !rerror_q && (rpart_q == part_t'(Parts - 1) || axi_rsp_o.rlast);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rbusy_q <= 1'b0;
      rask_q  <= 1'b0;
    end else if (!rbusy_q) begin
      rbusy_q <= axi_req_i.arvalid;
      rask_q  <= axi_req_i.arvalid && !refused(axi_req_i.ar.addr, axi_req_i.ar.len, axi_req_i.ar.size, axi_req_i.ar.burst);
    end else begin
      if (rd_accept && rask_left_q == '0) rask_q <= 1'b0;
      if (r_accept && axi_rsp_o.rlast) rbusy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rbusy_q) begin
      raddr_q     <= axi_req_i.ar.addr;
      rask_left_q <= 8'((9'(part_of(axi_req_i.ar.addr)) + 9'(axi_req_i.ar.len)) >> $clog2(Parts));
      rpart_q     <= part_of(axi_req_i.ar.addr);
      rleft_q     <= axi_req_i.ar.len;
      rid_q       <= axi_req_i.ar.id;
      rerror_q    <= refused(axi_req_i.ar.addr, axi_req_i.ar.len, axi_req_i.ar.size, axi_req_i.ar.burst);
    end else begin
      if (rd_accept) begin
        raddr_q     <= raddr_q + AddrBits'(D);
        rask_left_q <= rask_left_q - 8'd1;
      end
      if (r_accept) begin
        rleft_q <= rleft_q - 8'd1;
        if (Parts > 1) rpart_q <= rpart_q + 1'b1;
      end
    end
  end

  systole_credit #(.Credits(RspDepth)) u_credit (
      .clk_i, .rst_ni, .take_i(rd_accept), .give_i(rsp_ready),
      .avail_o(credit), .idle_o(credit_idle), .count_o(credits_left)
  );

  systole_fifo #(.Width(D * 8), .Depth(RspDepth)) u_rsp (
      .clk_i, .rst_ni,
      .valid_i(rd_rsp_valid_i), .ready_o(rsp_room), .data_i(rd_rsp_data_i),
      .valid_o(rsp_valid), .ready_i(rsp_ready), .data_o(rsp_data), .count_o(rsp_count)
  );

  if (Parts == 1) begin : gen_answer
    assign axi_rdata_o = rsp_data;
  end else begin : gen_split
    always_comb begin
      axi_rdata_o = rsp_data[H*8-1:0];
      for (int unsigned p = 1; p < Parts; p++) if (rpart_q == part_t'(p)) axi_rdata_o = rsp_data[p*H*8+:H*8];
    end
  end

  // Check: AXI4 allows the width, and an HBM beat has a whole number of parts.
  initial a_width : assert (H >= 8 && H <= 128 && D % H == 0 && Parts <= 16);

  // Checks: wlast agrees with the length; every response finds room; nothing is left over between bursts.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_wlast : assert (!w_accept || axi_req_i.wlast == (wleft_q == '0));
      a_room : assert (!rd_rsp_valid_i || rsp_room);
      a_idle : assert (rbusy_q || (credit_idle && rsp_count == '0));
      a_credits : assert (32'(credits_left) + 32'(rsp_count) <= RspDepth);
    end
  end
endmodule
