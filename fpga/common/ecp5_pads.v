// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Pads of an ECP5 that Yosys' library declares for its mapper only.

(* blackbox *)
module OFS1P3BX (input SCLK, input PD, input SP, input D, output Q);
endmodule

(* blackbox *)
module IFS1P3BX (input SCLK, input PD, input SP, input D, output Q);
endmodule

(* blackbox *)
module BB (inout B, input I, input T, output O);
endmodule
