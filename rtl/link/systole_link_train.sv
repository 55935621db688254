// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Training of a link's lanes. POLL: sets go out on all lanes, and those that come in are counted. CONFIG: this end has chosen the
// lanes that it receives on, and says so; the other end sends on them. UP: flits. Both directions choose by themselves: four good lanes
// are four, two or three are two, the lowest. With drop_i, of either end, an end that has seen errors leaves out the lowest lane that
// it used; lanes that were left out come back when the signal was lost. A retrain, a lost signal, or an end that polls leads back to
// POLL. Docs: docs/link.md. Test: tests/rtl/link.

module systole_link_train
  import systole_link_pkg::*;
(
    input  logic             clk_i,
    input  logic             rst_ni,

    input  logic             quiet_i,       // the link is down
    input  logic             retrain_i,
    input  logic             drop_i,        // until the link is up
    input  logic             clean_i,
    input  logic             errors_i,      // flits of the last time up were wrong
    output logic             up_o,          // flits go and come
    output logic             restart_o,     // a training begins
    output logic             failed_o,      // for this end's own reasons
    output logic             peer_clean_o,

    // Lanes, sending.
    output logic             quiet_o,
    output logic             train_o,
    output info_t            info_o,
    output logic [Lanes-1:0] tx_use_o,
    input  logic             set_i,

    // Lanes, receiving.
    output logic             clear_o,
    output logic             listen_o,
    output logic [Lanes-1:0] rx_use_o,
    input  logic [Lanes-1:0] good_i,
    input  logic [Lanes-1:0] some_i,
    // verilator lint_off UNUSEDSIGNAL
    input  info_t            info_i,        // of the lowest lane in use
    input  info_t            any_i,         // of the lowest lane with sets
    // verilator lint_on UNUSEDSIGNAL
    input  logic             data_i,
    input  logic             lost_i
);
  localparam int unsigned WaitBits = $clog2(SettleSets + 1);

  typedef enum logic [1:0] {StPoll, StConfig, StUp} state_e;
  state_e              state_q;
  logic [WaitBits-1:0] wait_q;    // sets since a lane was good, or since the other end has chosen
  logic [Lanes-1:0]    rx_use_q, tx_use_q, out_q, out, avail;
  logic                clear_q, chosen_q, drop_q, peer_clean_q, settled, polls, restart;

  function automatic logic [Lanes-1:0] lowest(logic [Lanes-1:0] lanes);
    return lanes & (~lanes + 1'b1);
  endfunction
  // Four lanes, or the lowest two, or one.
  function automatic logic [Lanes-1:0] choose(logic [Lanes-1:0] lanes);
    automatic logic [Lanes-1:0] one = lowest(lanes);
    return &lanes ? lanes : one | lowest(lanes & ~one);
  endfunction

  assign settled = set_i && 32'(wait_q) == SettleSets;
  assign polls   = some_i != '0 && !any_i.chosen;
  assign restart = retrain_i || (state_q == StUp && (lost_i || polls));

  // Lanes that are left out, if there are others.
  assign out   = out_q | ((drop_i || drop_q) && errors_i ? lowest(rx_use_q) : '0);
  assign avail = (good_i & ~out) != '0 ? good_i & ~out : good_i;

  assign up_o         = state_q == StUp && data_i && !quiet_i;
  assign restart_o    = restart;
  assign failed_o     = retrain_i || (state_q == StUp && lost_i);
  assign peer_clean_o = peer_clean_q;
  assign quiet_o      = quiet_i;
  assign train_o      = state_q != StUp;
  assign info_o       = '{one: 1'b1, clean: clean_i, drop: drop_i, chosen: state_q == StConfig,
                          lanes: state_q == StConfig ? rx_use_q : good_i};
  assign tx_use_o     = tx_use_q;
  assign clear_o      = clear_q;
  assign listen_o     = state_q != StPoll && chosen_q;
  assign rx_use_o     = rx_use_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= StPoll;
      wait_q       <= '0;
      rx_use_q     <= Lanes'(1);
      tx_use_q     <= Lanes'(1);
      out_q        <= '0;
      clear_q      <= 1'b1;
      chosen_q     <= 1'b0;
      drop_q       <= 1'b0;
      peer_clean_q <= 1'b0;
    end else begin
      clear_q <= restart;
      if (restart || clear_q) begin
        state_q  <= StPoll;
        wait_q   <= '0;
        chosen_q <= 1'b0;
        if (restart) drop_q <= 1'b0;
        if (state_q == StUp && lost_i) out_q <= '0;
      end else begin
        case (state_q)
          StPoll: begin
            if (some_i != '0 && any_i.drop) drop_q <= 1'b1;
            if (good_i == '0) wait_q <= '0;
            else if (settled) wait_q <= '0;
            else if (set_i) wait_q <= wait_q + 1'b1;
            if (settled && good_i != '0) begin
              state_q  <= StConfig;
              out_q    <= avail == good_i && (good_i & out) != '0 ? '0 : out;
              rx_use_q <= choose(avail);
            end
          end
          StConfig: begin
            // The other end's choice, on the lane that flits will come on.
            if (!chosen_q && (some_i & lowest(rx_use_q)) != '0 && info_i.chosen && info_i.lanes != '0) begin
              chosen_q     <= 1'b1;
              tx_use_q     <= choose(info_i.lanes);
              peer_clean_q <= info_i.clean;
            end
            if (chosen_q && set_i) wait_q <= wait_q + 1'b1;
            if (chosen_q && settled) state_q <= StUp;
          end
          default: state_q <= StUp;
        endcase
      end
    end
  end
endmodule
