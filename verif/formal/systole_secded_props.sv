// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Proof of systole_secded for all errors of one and two bits. Two cells are connected back to back, and up to two bits
// flip at the input of the second one. Check bits are parities, so the syndrome depends only on the error. Three words
// therefore stand for all words.

module systole_secded_props #(
    parameter Word = 0  // one half of the word; the other half is its complement. 0: both halves are 0
) (
    input wire [6:0]  first_i,   // bits of {check, data} that flip; 72 and above: none
    input wire [6:0]  second_i
);
  localparam [31:0] Half = Word;
  wire [63:0] word = Word == 0 ? 64'd0 : {Half, ~Half};
  wire [7:0]  code, unused_code;
  wire [63:0] unused_data, got;
  wire        fixed, bad, unused_fixed, unused_bad;

  systole_secded u_encode (
      .valid_i(1'b1), .data_i(word), .check_i(8'h00), .code_o(code), .data_o(unused_data), .fixed_o(unused_fixed), .bad_o(unused_bad)
  );

  wire [127:0] one   = 128'd1 << first_i;
  wire [127:0] two   = 128'd1 << second_i;
  wire [71:0]  error = one[71:0] ^ two[71:0];
  wire [71:0]  sent  = {code, word} ^ error;

  systole_secded u_decode (
      .valid_i(1'b1), .data_i(sent[63:0]), .check_i(sent[71:64]), .code_o(unused_code), .data_o(got), .fixed_o(fixed), .bad_o(bad)
  );

  wire none   = error == 0;
  wire single = !none && (error & (error - 1)) == 0;

  always @* begin
    p_clean : assert (!none || (!fixed && !bad && got == word));
    p_single : assert (!single || (fixed && !bad && got == word));
    p_double : assert (none || single || (bad && !fixed));
  end
endmodule
