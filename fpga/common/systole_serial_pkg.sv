// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The host link's frames: docs/fpga.md. A frame is header and payload, then a CRC-32 (little endian), between flags; flags and escapes
// inside are escaped. A request's header: operation, sequence number, address (5 bytes), length - 1 (2 bytes). A response: operation,
// sequence number, payload, status. Test: tests/fpga.

package systole_serial_pkg;
  localparam logic [7:0] Version = 8'd2;

  localparam logic [7:0] Flag = 8'h7E;
  localparam logic [7:0] Escape = 8'h7D;
  localparam logic [7:0] EscapeXor = 8'h20;

  localparam int unsigned HeaderBytes = 9;
  localparam int unsigned CrcBytes = 4;
  localparam int unsigned MaxData = 1024;  // bytes of memory in a frame

  // Operations; a response has the uppermost bit too.
  localparam logic [7:0] OpNone = 8'h00;   // response only: a frame that could not be read
  localparam logic [7:0] OpHello = 8'h01;  // begins a session: the next sequence number is this one's successor
  localparam logic [7:0] OpReadRegister = 8'h02;
  localparam logic [7:0] OpWriteRegister = 8'h03;
  localparam logic [7:0] OpReadMemory = 8'h04;
  localparam logic [7:0] OpWriteMemory = 8'h05;
  localparam logic [7:0] ResponseBit = 8'h80;

  // Status of a response. Bit 7: a write since the hello met a bus error.
  localparam logic [6:0] StatusOk = 7'd0;
  localparam logic [6:0] StatusBus = 7'd1;      // an error response on the bus
  localparam logic [6:0] StatusRequest = 7'd2;  // no such operation, or a length that does not fit it
  localparam logic [6:0] StatusOrder = 7'd3;    // not executed: requests before it are missing; the sequence number is the wanted one
  localparam logic [6:0] StatusSession = 7'd4;  // not executed: no hello since the reset

  // CRC-32 of Ethernet, bits reflected: begin with ones, send the complement; over data and CRC it leaves the residue.
  localparam logic [31:0] CrcBegin = '1;
  localparam logic [31:0] CrcResidue = 32'hDEBB20E3;

  function automatic logic [31:0] crc_byte(logic [31:0] crc, logic [7:0] data);
    logic [31:0] next;
    next = crc ^ 32'(data);
    for (int i = 0; i < 8; i++) next = (next >> 1) ^ (next[0] ? 32'hEDB88320 : 32'h0);
    return next;
  endfunction
endpackage
