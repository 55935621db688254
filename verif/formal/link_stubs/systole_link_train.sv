// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Stub of the training for the proof of the link (verif/formal/link.py). It ends when the lanes say so.

module systole_link_train
  import systole_link_pkg::*;
(
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             quiet_i,
    input  logic             retrain_i,
    input  logic             drop_i,
    input  logic             clean_i,
    input  logic             errors_i,
    output logic             up_o,
    output logic             restart_o,
    output logic             failed_o,
    output logic             peer_clean_o,
    output logic             quiet_o,
    output logic             train_o,
    output info_t            info_o,
    output logic [Lanes-1:0] tx_use_o,
    input  logic             set_i,
    output logic             clear_o,
    output logic             listen_o,
    output logic [Lanes-1:0] rx_use_o,
    input  logic [Lanes-1:0] good_i,
    input  logic [Lanes-1:0] some_i,
    input  info_t            info_i,
    input  info_t            any_i,
    input  logic             data_i,
    input  logic             lost_i
);
  assign up_o = data_i && !quiet_i;
  assign {restart_o, failed_o, peer_clean_o, quiet_o, train_o, info_o, clear_o} = '0;
  assign {tx_use_o, listen_o, rx_use_o} = '1;
endmodule
