// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// SMEM, the memory of the scalar unit: words with a SECDED code, one access a cycle. Responses come one cycle after the
// transfer. The requesting client with the lowest number is served first. A write with some byte enables at 0 is a
// read-modify-write: it takes one more cycle, in which no client is served. After the reset all words are cleared, one a cycle.
// Docs: docs/scalar.md. Test: tests/rtl/scalar.

module systole_smem
  import systole_scalar_pkg::*;
#(
    parameter int unsigned Bytes = 32768,
    parameter int unsigned Clients = 4
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,

    // An access beyond the memory is granted and answered as failed.
    input  smem_req_t [Clients-1:0]  req_i,
    output smem_rsp_t [Clients-1:0]  rsp_o,

    // Self-test: code bits that the next write flips.
    input  code_t                    flip_i,
    output logic                     flip_used_o,

    // Pulses, one cycle after the transfer of a read that found bit flips.
    output logic                     corrected_o,
    output logic                     failed_o,
    output logic [29:0]              word_o
);
  localparam int unsigned Words = Bytes / 4;
  localparam int unsigned IndexBits = $clog2(Words);
  typedef logic [IndexBits-1:0] index_t;

  // All words are cleared first, because a word that was never written would have an invalid code.
  logic   clearing_q;
  index_t clear_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clearing_q <= 1'b1;
      clear_q    <= '0;
    end else if (clearing_q) begin
      clear_q    <= clear_q + 1'b1;
      clearing_q <= clear_q != '1;
    end
  end

  // Arbitration.
  logic [Clients-1:0] grant, served_q;
  smem_req_t          req;
  // verilator lint_off UNUSEDSIGNAL
  smem_req_t          req_q;  // valid and write are not used
  // verilator lint_on UNUSEDSIGNAL
  logic               any, in_range, part, merge_q, read_q, outside_q;

  always_comb begin
    grant = '0;
    req   = '0;
    any   = 1'b0;
    for (int unsigned c = 0; c < Clients; c++) begin
      if (req_i[c].valid && !any && !merge_q && !clearing_q) begin
        grant[c] = 1'b1;
        any      = 1'b1;
        req      = req_i[c];
      end
    end
  end
  assign in_range = req.word < 30'(Words);
  assign part   = req.write && req.strobe != '1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      served_q  <= '0;
      merge_q   <= 1'b0;
      read_q    <= 1'b0;
      outside_q <= 1'b0;
    end else begin
      served_q  <= grant;
      merge_q   <= any && in_range && part;
      read_q    <= any && in_range && (!req.write || part);
      outside_q <= any && !in_range;
    end
  end
  always_ff @(posedge clk_i) if (any) req_q <= req;

  // Read-modify-write: the word that was read, merged with the bytes that are written.
  code_t       code, written;
  word_t       word;
  logic [31:0] merged;
  logic        write;
  index_t      write_index;

  assign word = decode(code);
  always_comb begin
    merged = word.data;
    for (int unsigned b = 0; b < 4; b++) if (req_q.strobe[b]) merged[b*8+:8] = req_q.data[b*8+:8];
  end

  // A word with an uncorrectable error keeps its contents unless the whole word is written.
  always_comb begin
    write       = any && in_range && req.write && !part;
    write_index = req.word[IndexBits-1:0];
    written     = encode(req.data) ^ flip_i;
    if (merge_q) begin
      write       = !word.failed;
      write_index = req_q.word[IndexBits-1:0];
      written     = encode(merged) ^ flip_i;
    end
    if (clearing_q) begin
      write       = 1'b1;
      write_index = clear_q;
      written     = encode('0);
    end
  end
  assign flip_used_o = write && !clearing_q;

  systole_prim_ram_1r1w #(.Width(CodeBits), .Depth(Words), .AnyOnCollision(1'b1)) u_ram (
      .clk_i, .we_i(write), .waddr_i(write_index), .wdata_i(written),
      .re_i(any && in_range && (!req.write || part)), .raddr_i(req.word[IndexBits-1:0]), .rdata_o(code)
  );

  for (genvar c = 0; c < Clients; c++) begin : gen_answer
    assign rsp_o[c] = '{ready: grant[c], valid: served_q[c], failed: outside_q || (read_q && word.failed), data: word.data};
  end
  assign corrected_o = read_q && word.corrected;
  assign failed_o    = read_q && word.failed;
  assign word_o      = req_q.word;

  // Checks: one client is served in a cycle, and none during a read-modify-write.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_one : assert ((grant & (grant - 1'b1)) == '0);
      a_merge : assert (!merge_q || grant == '0);
    end
  end
endmodule
