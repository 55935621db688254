// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Prepares the next descriptor while the current one runs: checks it, fetches the parameter block of a requant into the free
// bank of the lanes, and offers the job. The job may be taken before the fetch ends. If a write of the running job hits the
// block, the block is fetched again after that write.
// Docs: docs/vector.md. Test: tests/rtl/vector/.

module systole_vector_prepare
  import systole_isa_pkg::*;
  import systole_vector_pkg::*;
#(
    parameter systole_presets_pkg::core_cfg_t Cfg = systole_presets_pkg::core_preset(systole_presets_pkg::PresetNano),
    localparam int unsigned CountBits = $clog2(OutDepth + 1)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,

    input  logic                 start_valid_i,
    output logic                 idle_o,         // holds no descriptor: accepts one unless frozen
    input  desc_t                start_desc_i,
    input  logic                 freeze_i,

    // State of the earlier jobs.
    input  logic [1:0]           bank_busy_i,    // micro-ops that use the bank are in the lanes
    input  logic                 drained_i,      // no job runs, all results are written
    input  logic [CountBits-1:0] in_flight_i,    // results not yet written
    input  logic                 issue_i,        // a result was chosen ...
    input  ub_addr_t             issue_addr_i,   // ... and will be written here ...
    input  logic                 issue_raw_i,    // ... or up to three windows further, if it is raw
    input  logic                 written_i,      // the oldest result in flight is written

    // Parameter block words, in order.
    output logic                 rd_valid_o,
    input  logic                 rd_ready_i,
    output ub_addr_t             rd_addr_o,
    output logic [3:0]           rd_word_o,
    output logic                 rd_bank_o,
    output logic                 rd_busy_o,      // some parameter words of the bank are not fetched yet
    output logic                 rd_table_o,     // the word belongs to a table
    input  logic                 table_ready_i,  // the table can take a word
    input  logic                 table_loaded_i, // all words that the table accepted are stored
    output logic                 table_done_o,   // pulse: the descriptor is complete

    // The job: taken when valid and ready are high. A job with a fault is never taken.
    output logic                 job_valid_o,
    input  logic                 job_ready_i,
    output job_t                 job_o,
    output scalars_t             scalars_o,
    output logic                 legal_o,        // no fault
    output fault_e               verdict_o,
    output walk_addr_t           verdict_addr_o
);
  localparam logic [3:0] LastWord = 4'(ParamWords - 1);
  localparam int unsigned WordBits = $clog2(Cfg.Rows);
  localparam int unsigned IndexBits = systole_presets_pkg::UbAddrBits + 1 - WordBits;  // of a word number with a sign

  typedef enum logic [2:0] {
    StEmpty,
    StFirst,    // first cycle of a descriptor
    StWait,     // waits for the bank, for older results, or for the write that hit the block
    StFetch,
    StTable,    // fetches a table; each word waits until the lanes have stored the previous one
    StLoaded,
    StReady
  } state_e;

  state_e               state_q;
  desc_t                desc_q;
  kind_e                kind_q, kind;  // decoded from the opcode
  logic                 bank_q;
  logic [CountBits-1:0] older_q;   // results in flight that are older than the descriptor
  logic                 stale_q;   // a younger result hits the block, so the block must be fetched again
  logic                 taken_q;   // the job was taken before its last words are fetched
  logic [3:0]           word_q;
  logic [8:0]           table_q;   // bytes of the table requested, with the word that is requested now
  ub_addr_t             addr_q;
  // verilator lint_off UNUSEDSIGNAL
  requant_desc_t        start;  // only the opcode (at the same bits in all formats) and a requant's block address are used
  // verilator lint_on UNUSEDSIGNAL
  ub_addr_t             block_addr;
  logic                 come, checked, block, near, near_q, issue_q, hit, clean, take, fetched;

  systole_vector_check #(.Cfg(Cfg)) u_check (
      .clk_i,
      .rst_ni,
      .new_i  (state_q == StFirst),
      .desc_i (desc_q),
      .kind_i (kind_q),
      .bank_i (bank_q),
      .block_o(block),
      .block_addr_o(block_addr),
      .ready_o(checked),
      .legal_o,
      .verdict_o,
      .verdict_addr_o,
      .job_o,
      .scalars_o
  );

  assign start         = start_desc_i;
  assign idle_o        = state_q == StEmpty;
  assign come          = start_valid_i && idle_o && !freeze_i;

  always_comb begin
    unique case (start.opcode)
      OpRequant: kind = KindRequant;
      OpPool: kind = KindPool;
      OpAdd: kind = KindAdd;
      OpMul: kind = KindMul;
      OpTable: kind = KindTable;
      default: kind = KindNone;
    endcase
  end

  // Does a write of the running job hit the block? Whole windows are compared, so a miss is certain and a hit may be false.
  // from_second is the distance in words from the second word of the (aligned) block to the word in which the write begins: -2
  // for the word before the block, -1 for the block's first word, 7 for its last word.
  logic [IndexBits-1:0] from_second, before_second_q;

  assign from_second = IndexBits'(issue_addr_i >> WordBits) + before_second_q;

  always_comb begin
    near = from_second[IndexBits-1:3] == '0 || from_second == '1 ||
           (from_second == -IndexBits'(2) && issue_addr_i[WordBits-1:0] != '0) ||
           (issue_raw_i && from_second[IndexBits-1:3] == '1);
    if (!block || kind_q == KindTable) near = 1'b0;  // a table is never compared: it waits for all earlier writes
  end
  assign hit = near_q && issue_q;

  // No write that hits the block is in flight. A hit is seen one cycle late; the words fetched in that cycle are fetched again.
  assign clean = stale_q || kind_q == KindTable ? drained_i : older_q == '0;

  assign rd_table_o   = state_q == StTable;
  assign table_done_o = state_q == StLoaded && table_loaded_i && !freeze_i;

  assign rd_valid_o  = state_q == StFetch || (state_q == StTable && table_ready_i);
  assign rd_addr_o   = addr_q;
  assign rd_word_o   = word_q;
  assign rd_bank_o   = bank_q;
  assign rd_busy_o   = state_q == StFetch;
  assign fetched     = state_q == StFetch && rd_ready_i && word_q == LastWord;
  assign job_valid_o = checked && !stale_q && !hit && (state_q == StReady || (state_q == StFetch && !taken_q && legal_o));
  assign take        = job_valid_o && job_ready_i;

  always_ff @(posedge clk_i) begin
    if (come) begin
      desc_q          <= start_desc_i;
      kind_q          <= kind;
      before_second_q <= ~IndexBits'(start.params >> WordBits);
    end
    near_q <= near;
    if (!(state_q inside {StFetch, StTable})) addr_q <= block_addr;
    else if (rd_valid_o && rd_ready_i) addr_q <= addr_q + ub_addr_t'(Cfg.Rows);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StEmpty;
      bank_q  <= 1'b0;
      older_q <= '0;
      stale_q <= 1'b0;
      taken_q <= 1'b0;
      word_q  <= '0;
      issue_q <= 1'b0;
    end else begin
      issue_q <= issue_i;
      if (hit && !taken_q) stale_q <= 1'b1;
      if (written_i && older_q != '0) older_q <= older_q - 1'b1;
      unique case (state_q)
        StEmpty: if (come) state_q <= StFirst;
        StFirst: begin
          // From here on, older_q counts the results that were issued before this cycle, and the comparison covers those issued
          // later.
          older_q <= in_flight_i - CountBits'(written_i);
          stale_q <= 1'b0;
          taken_q <= 1'b0;
          word_q  <= '0;
          state_q <= block && kind_q != KindTable && in_flight_i == '0 && !bank_busy_i[bank_q] ? StFetch : StWait;
        end
        StWait: begin
          word_q <= '0;
          table_q <= 9'(Cfg.Rows);
          if (!bank_busy_i[bank_q] && (!block || (clean && !hit))) begin
            stale_q <= 1'b0;
            state_q <= !block ? StReady : kind_q == KindTable ? StTable : StFetch;
          end
        end
        StFetch: begin
          if (rd_valid_o && rd_ready_i) word_q <= word_q + 1'b1;
          if (take) taken_q <= 1'b1;
          if (fetched) state_q <= take || taken_q ? StEmpty : StReady;
          if (fetched && (take || taken_q)) bank_q <= !bank_q;
        end
        StTable: begin
          if (rd_valid_o && rd_ready_i) begin
            table_q <= table_q + 9'(Cfg.Rows);
            if (table_q == 9'(TableBytes)) state_q <= StLoaded;
          end
        end
        StLoaded: if (table_done_o) state_q <= StEmpty;
        default: begin
          if (stale_q) begin
            state_q <= StWait;
          end else if (take) begin
            state_q <= StEmpty;
            bank_q  <= !bank_q;
          end
        end
      endcase
    end
  end

  // Check: a job that is taken is legal.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      a_legal : assert (!take || (legal_o && verdict_o == FaultNone));
      a_block : assert (ParamWords == 9);  // the comparison above assumes it
    end
  end
endmodule
