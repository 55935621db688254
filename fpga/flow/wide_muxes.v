// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Multiplexers of four and eight inputs in one slice or two: lookup tables and the multiplexers behind them, which the mapper does not use
// for data of their own. For yosys_job.py.

module \$_MUX4_ (input A, B, C, D, S, T, output Y);
  wire low, high;
  LUT4 #(.INIT(16'hCACA)) u_low (.A(A), .B(B), .C(S), .D(1'b0), .Z(low));
  LUT4 #(.INIT(16'hCACA)) u_high (.A(C), .B(D), .C(S), .D(1'b0), .Z(high));
  PFUMX u_mux (.ALUT(high), .BLUT(low), .C0(T), .Z(Y));
endmodule

module \$_MUX8_ (input A, B, C, D, E, F, G, H, S, T, U, output Y);
  wire low, high;
  \$_MUX4_ u_low (.A(A), .B(B), .C(C), .D(D), .S(S), .T(T), .Y(low));
  \$_MUX4_ u_high (.A(E), .B(F), .C(G), .D(H), .S(S), .T(T), .Y(high));
  L6MUX21 u_mux (.D0(low), .D1(high), .SD(U), .Z(Y));
endmodule
