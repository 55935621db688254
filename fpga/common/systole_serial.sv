// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Executes the host's requests, one at a time and in order, as a master of registers (AXI4-Lite) and memory window (AXI4, 16-byte beats,
// one beat a burst). A request that was executed before is answered again: reads are read again, writes are not repeated; one that comes
// before others that are missing is refused. Docs: docs/fpga.md. Test: tests/fpga.

module systole_serial
  import systole_serial_pkg::*;
  import systole_bus_pkg::*;
  import systole_presets_pkg::AddrBits;
#(
    parameter int unsigned ClockHz = 60_000_000
) (
    input  logic                clk_i,
    input  logic                rst_ni,

    input  logic                rx_valid_i,  // pulse
    input  logic [7:0]          rx_data_i,
    output logic                tx_valid_o,
    input  logic                tx_ready_i,
    output logic [7:0]          tx_data_o,
    output logic                good_o,  // pulse: a frame came in
    output logic                bad_o,   // pulse: a frame was dropped

    // Registers.
    output axil_req_t           axil_o,
    input  axil_rsp_t           axil_i,

    // Memory window, a beat at a time.
    output axi_req_t            axi_o,
    output logic [127:0]        axi_wdata_o,
    output logic [15:0]         axi_wstrb_o,
    // verilator lint_off UNUSEDSIGNAL
    input  axi_rsp_t            axi_i,  // IDs and last are known
    // verilator lint_on UNUSEDSIGNAL
    input  logic [127:0]        axi_rdata_i
);
  localparam logic [31:0] ClockKhz = 32'(ClockHz / 1000);
  localparam logic signed [7:0] Behind = -8'sd64;  // older requests are taken for newer ones

  typedef enum logic [3:0] {
    Header, Decide, Payload, WriteMemory, WriteRegister, ReadRegister, Operation, Sequence, ReadMemory, Data, Status
  } state_e;
  state_e state_q;

  // The request.
  logic [8*HeaderBytes-1:0] header_q;
  logic [3:0]               header_count_q;
  logic                     bare_q;  // no payload
  logic [7:0]               op, number;
  logic [39:0]              address;
  logic [10:0]              length;
  logic [7:0]               expected_q;
  logic                     session_q;  // a hello since the reset
  logic signed [7:0]        lead;  // of the request before the expected one; negative: executed before
  logic                     known, is_write;

  // Its execution.
  logic                execute_q;
  logic [6:0]          status_q;
  logic                write_failed_q;
  logic [39:0]         address_q;
  logic [10:0]         left_q;
  logic [127:0]        data_q;  // a beat, or a response's data
  logic [15:0]         strobe_q;
  logic                end_q;       // the payload's last byte is in
  logic                aw_q, w_q, ar_q, axil_aw_q, axil_w_q, axil_ar_q;
  logic [3:0]          lane;  // of what comes in
  logic                bus_error, refused_q, bad_pending_q;

  logic       rx_valid, rx_ready, rx_last, in_valid, in_ready, in_last;
  logic       out_valid, out_ready, out_last, tx_valid, tx_ready, tx_last;
  logic [7:0] rx_data, in_data, out_data, tx_data;

  // Address and state go to buses far away: their paths end in registers on both sides of the execution.
  systole_serial_receive u_receive (
      .clk_i, .rst_ni, .byte_valid_i(rx_valid_i), .byte_data_i(rx_data_i),
      .valid_o(rx_valid), .ready_i(rx_ready), .data_o(rx_data), .last_o(rx_last), .good_o, .bad_o
  );
  systole_skid #(.Width(9)) u_in (
      .clk_i, .rst_ni, .valid_i(rx_valid), .ready_o(rx_ready), .data_i({rx_last, rx_data}),
      .valid_o(in_valid), .ready_i(in_ready), .data_o({in_last, in_data})
  );
  systole_skid #(.Width(9)) u_out (
      .clk_i, .rst_ni, .valid_i(out_valid), .ready_o(out_ready), .data_i({out_last, out_data}),
      .valid_o(tx_valid), .ready_i(tx_ready), .data_o({tx_last, tx_data})
  );
  systole_serial_send u_send (
      .clk_i, .rst_ni, .valid_i(tx_valid), .ready_o(tx_ready), .data_i(tx_data), .last_i(tx_last),
      .byte_valid_o(tx_valid_o), .byte_ready_i(tx_ready_i), .byte_data_o(tx_data_o)
  );

  assign op       = header_q[7:0];
  assign number   = header_q[15:8];
  assign address  = header_q[55:16];
  assign length   = {1'b0, header_q[65:56]} + 11'd1;
  assign lead     = signed'(number - expected_q);
  assign is_write = op == OpWriteMemory || op == OpWriteRegister;
  assign known    = (is_write && !bare_q) || (bare_q && (op == OpHello || op == OpReadRegister || op == OpReadMemory));

  assign lane     = op == OpWriteRegister ? left_q[3:0] : address_q[3:0];
  assign in_ready = state_q == Header || (state_q == Payload && !end_q);

  axi_addr_t beat;
  assign beat        = '{addr: {address_q[AddrBits-1:4], 4'd0}, len: '0, size: 3'd4, burst: 2'b01, id: '0};
  assign axil_o      = '{awvalid: axil_aw_q, awaddr: {1'b0, address_q[11:0]}, wvalid: axil_w_q, wdata: data_q[31:0], wstrb: '1, bready: 1'b1,
                         arvalid: axil_ar_q, araddr: {1'b0, address_q[11:0]}, rready: 1'b1};
  assign axi_o       = '{awvalid: aw_q, aw: beat, wvalid: w_q, wlast: 1'b1, bready: 1'b1, arvalid: ar_q, ar: beat, rready: 1'b1};
  assign axi_wdata_o = data_q;
  assign axi_wstrb_o = strobe_q;
  // Only one bus is at work.
  assign bus_error   = (axil_i.bvalid && axil_i.bresp != '0) || (axi_i.bvalid && axi_i.bresp != '0) ||
                          (axil_i.rvalid && axil_i.rresp != '0) || (axi_i.rvalid && axi_i.rresp != '0);

  always_comb begin
    out_valid = 1'b0;
    out_data  = '0;
    out_last  = 1'b0;
    unique case (state_q)
      Operation: begin
        out_valid = 1'b1;
        out_data  = op | ResponseBit;
      end
      Sequence: begin
        out_valid = 1'b1;
        out_data  = refused_q ? expected_q : number;
      end
      Data: begin
        out_valid = 1'b1;
        out_data  = data_q[8*address_q[3:0]+:8];
      end
      Status: begin
        out_valid = 1'b1;
        out_data  = {write_failed_q, status_q};
        out_last  = 1'b1;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q        <= Header;
      header_count_q <= '0;
      expected_q     <= '0;
      session_q      <= 1'b0;
      write_failed_q <= 1'b0;
      bad_pending_q  <= 1'b0;
      {aw_q, w_q, ar_q, axil_aw_q, axil_w_q, axil_ar_q} <= '0;
    end else begin
      if (bad_o) bad_pending_q <= 1'b1;
      if (axil_i.awready) axil_aw_q <= 1'b0;
      if (axil_i.wready) axil_w_q <= 1'b0;
      if (axil_i.arready) axil_ar_q <= 1'b0;
      if (axi_i.awready) aw_q <= 1'b0;
      if (axi_i.wready) w_q <= 1'b0;
      if (axi_i.arready) ar_q <= 1'b0;

      unique case (state_q)
        Header: begin
          execute_q <= 1'b0;
          refused_q <= 1'b0;
          status_q  <= StatusOk;
          strobe_q  <= '0;
          left_q    <= '0;
          if (in_valid) begin
            header_q       <= {in_data, header_q[8*HeaderBytes-1:8]};
            header_count_q <= header_count_q + 4'd1;
            bare_q         <= in_last;
            if (in_last || header_count_q == 4'(HeaderBytes - 1)) begin
              header_count_q <= '0;
              state_q        <= Decide;
            end
          end else if (bad_pending_q && header_count_q == '0) begin
            // The host need not wait until it is sure that there is no answer.
            bad_pending_q  <= 1'b0;
            header_q[7:0]  <= OpNone;
            refused_q      <= 1'b1;
            status_q       <= StatusOrder;
            state_q        <= Operation;
          end
        end
        Decide: begin
          end_q     <= bare_q;
          address_q <= address;
          if (op == OpHello) begin
            expected_q     <= number + 8'd1;
            session_q      <= 1'b1;
            write_failed_q <= 1'b0;
            address_q      <= '0;
            data_q         <= 128'({ClockKhz, 16'(MaxData), 8'd0, 8'd0, Version});
            left_q         <= 11'd9;
            status_q       <= known ? StatusOk : StatusRequest;
          end else if (!session_q) begin
            // Whatever its number: a write must not look as if it had been executed before.
            refused_q <= 1'b1;
            status_q  <= StatusSession;
          end else if (lead > 0 || lead < Behind) begin
            refused_q <= 1'b1;
            status_q  <= StatusOrder;
          end else begin
            if (lead == 0) expected_q <= expected_q + 8'd1;
            status_q  <= known ? StatusOk : StatusRequest;
            // Reads again, writes once.
            execute_q <= known && (lead == 0 || !is_write);
          end
          state_q <= Payload;
        end
        Payload: begin  // until its end, or a beat's
          if (in_valid && !end_q) begin
            end_q <= in_last;
            data_q[8*lane+:8] <= in_data;
            strobe_q[lane]    <= 1'b1;
            if (op == OpWriteRegister) left_q <= left_q + 11'd1;
            if (execute_q && op == OpWriteMemory && (in_last || address_q[3:0] == 4'hF)) begin
              aw_q    <= 1'b1;
              w_q     <= 1'b1;
              state_q <= WriteMemory;
            end else if (op == OpWriteMemory) begin
              address_q <= address_q + 40'd1;
            end
          end else if (end_q) begin
            state_q <= Operation;
            if (execute_q && op == OpWriteRegister) begin
              left_q <= '0;
              if (left_q == 11'd4) begin
                axil_aw_q <= 1'b1;
                axil_w_q  <= 1'b1;
                state_q   <= WriteRegister;
              end else begin
                status_q <= StatusRequest;
              end
            end else if (execute_q && op == OpReadRegister) begin
              axil_ar_q <= 1'b1;
              state_q   <= ReadRegister;
            end else if (op != OpHello) begin
              left_q <= '0;
            end
          end
        end
        WriteMemory: if (axi_i.bvalid) begin
          address_q <= address_q + 40'd1;
          strobe_q  <= '0;
          state_q   <= Payload;
        end
        WriteRegister: if (axil_i.bvalid) state_q <= Operation;
        ReadRegister: if (axil_i.rvalid) begin
          data_q[31:0] <= axil_i.rdata;
          address_q    <= '0;
          left_q       <= 11'd4;
          state_q      <= Operation;
        end
        Operation: if (out_ready) state_q <= Sequence;
        Sequence: if (out_ready) begin
          state_q <= left_q == '0 ? Status : Data;
          if (execute_q && op == OpReadMemory) begin
            left_q  <= length;
            ar_q    <= 1'b1;
            state_q <= ReadMemory;
          end
        end
        ReadMemory: if (axi_i.rvalid) begin
          data_q  <= axi_rdata_i;
          state_q <= Data;
        end
        Data: if (out_ready) begin
          left_q    <= left_q - 11'd1;
          address_q <= address_q + 40'd1;
          if (left_q == 11'd1) begin
            state_q <= Status;
          end else if (op == OpReadMemory && address_q[3:0] == 4'hF) begin
            ar_q    <= 1'b1;
            state_q <= ReadMemory;
          end
        end
        Status: if (out_ready) state_q <= Header;
        default: state_q <= Header;
      endcase

      if (bus_error) begin
        status_q <= StatusBus;
        if (axil_i.bvalid || axi_i.bvalid) write_failed_q <= 1'b1;
      end
    end
  end

  // A bus answers only what it was asked.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_write : assert (!axi_i.bvalid || state_q == WriteMemory);
      a_read : assert (!axi_i.rvalid || state_q == ReadMemory);
      a_axil_write : assert (!axil_i.bvalid || state_q == WriteRegister);
      a_axil_read : assert (!axil_i.rvalid || state_q == ReadRegister);
    end
  end
endmodule
