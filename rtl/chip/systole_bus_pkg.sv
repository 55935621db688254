// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Structs for the chip's buses: signals driven by a master (req) and by a slave (rsp). Data and strobes, whose width depends on
// the configuration, are separate ports.
// Docs: docs/design.md.

package systole_bus_pkg;
  import systole_presets_pkg::AddrBits;
  import systole_presets_pkg::PcBits;
  import systole_isa_pkg::DescBits;
  import systole_isa_pkg::NumFlags;
  import systole_isa_pkg::PeerFlags;
  import systole_isa_pkg::LinkFlags;
  import systole_isa_pkg::desc_t;
  import systole_isa_pkg::fault_e;

  // AXI4-Lite of the registers: 4096 bytes for each core of the chip.
  localparam int unsigned AxilBits = 13;
  typedef struct packed {
    logic                awvalid;
    logic [AxilBits-1:0] awaddr;
    logic                wvalid;
    logic [31:0]         wdata;
    logic [3:0]          wstrb;
    logic                bready;
    logic                arvalid;
    logic [AxilBits-1:0] araddr;
    logic                rready;
  } axil_req_t;

  typedef struct packed {
    logic        awready;
    logic        wready;
    logic        bvalid;
    logic [1:0]  bresp;
    logic        arready;
    logic        rvalid;
    logic [31:0] rdata;
    logic [1:0]  rresp;
  } axil_rsp_t;

  // AXI4 of the memory window.
  typedef struct packed {
    logic [AddrBits-1:0] addr;
    logic [7:0]          len;
    logic [2:0]          size;
    logic [1:0]          burst;
    logic [3:0]          id;
  } axi_addr_t;

  typedef struct packed {
    logic      awvalid;
    axi_addr_t aw;
    logic      wvalid;
    logic      wlast;
    logic      bready;
    logic      arvalid;
    axi_addr_t ar;
    logic      rready;
  } axi_req_t;

  typedef struct packed {
    logic       awready;
    logic       wready;
    logic       bvalid;
    logic [1:0] bresp;
    logic [3:0] bid;
    logic       arready;
    logic       rvalid;
    logic [1:0] rresp;
    logic       rlast;
    logic [3:0] rid;
  } axi_rsp_t;

  // From a queue to its unit (docs/design.md). All signals come from flip-flops, except that the freeze gates valid.
  typedef struct packed {
    logic  peek;   // desc starts next, but it may still wait for sync flags
    logic  valid;  // desc starts when the unit is ready
    desc_t desc;
  } unit_req_t;

  // From a unit to its queue. ready does not depend on valid. All other signals are pulses, or belong to a pulse.
  typedef struct packed {
    logic                ready;
    logic                done;      // the oldest descriptor in flight is complete
    logic                progress;  // the unit moved data
    logic                fault;     // pulse; the next three fields belong to it
    fault_e              code;
    logic [AddrBits-1:0] addr;
    logic                newest;    // 1: the fault belongs to the newest descriptor in flight; 0: to the oldest
  } unit_rsp_t;

  // A fault of the sequencer.
  typedef struct packed {
    logic                valid;  // pulse
    fault_e              code;
    logic [PcBits-1:0]   pc;     // valid from the next cycle on
    logic [AddrBits-1:0] addr;
  } seq_fault_t;

  // From the registers to the core. All come from flip-flops. All but cycle hold while a program runs.
  typedef struct packed {
    logic [AddrBits-1:0] prog_addr;
    logic [PcBits-1:0]   prog_len;
    logic [31:0]         watchdog;
    logic                issue;  // the descriptors come from the issue port; chips without a scalar unit: 0
    logic [AddrBits-1:0] base;      // lowest address of memory accesses, a multiple of the beat; chips without a scalar unit: 0
    logic                isolated;  // the program may not use the flags between cores; chips without a scalar unit: 0
    logic [63:0]         cycle;  // cycles since the start
  } core_ctl_t;

  // An entry of the patch table (systole_patch). Each time its list runs, its value is added to a field of one of the list's
  // descriptors.
  localparam int unsigned Patches = 256;
  localparam int unsigned PatchBits = $clog2(Patches);
  typedef struct packed {
    logic [5:0]  bits;   // width - 1; the field has at most AddrBits bits and lies within two words of 32 bits
    logic [8:0]  lsb;    // lowest bit of the field in the descriptor
    logic [15:0] index;  // number of the descriptor in the list
  } patch_field_t;

  // A write to one part of an entry.
  typedef struct packed {
    logic                 field, value, step;
    logic [PatchBits-1:0] entry;
    logic [AddrBits-1:0]  data;
  } patch_req_t;

  // From the scalar unit to the sequencer, with a valid-ready handshake: the program's next descriptor, or its next list.
  typedef struct packed {
    patch_req_t patch;  // independent of the handshake
    logic       valid;
    logic       stream;  // desc is of type stream_t
    desc_t      desc;
  } issue_req_t;

  typedef struct packed {
    logic [DescBits-AddrBits-2*PatchBits-34:0] unused;
    logic [PatchBits:0]                        patches;  // number of the list's table entries, which are in the order of their descriptors
    logic [PatchBits-1:0]                      first;
    logic [31:0]                               len;      // descriptors
    logic [AddrBits-1:0]                       addr;     // a multiple of 64 and of the beat
  } stream_t;

  // Between the scalar unit and the sync flags; one bit per flag.
  typedef struct packed {
    logic [NumFlags-1:0] post;  // pulse: add 1 to each
    logic [NumFlags-1:0] want;  // level: take 1 from each; held until all are taken
  } flag_req_t;

  typedef struct packed {
    logic                taken;  // pulse: 1 was subtracted from each wanted flag
    logic [NumFlags-1:0] there;  // the flag is at least 1
  } flag_rsp_t;

  // Between a core and the sync flags that other cores post; one bit per flag, pulses.
  typedef struct packed {
    logic [LinkFlags-1:0] link;  // from packets: add 1 to each; 0 in chips without links
    logic [PeerFlags-1:0] post;  // from the other core: add 1 to each
    logic [PeerFlags-1:0] take;  // one post of this core to the flag has left
  } peer_req_t;

  typedef struct packed {
    logic [PeerFlags-1:0] posted;  // level: posts of this core that have not left yet
  } peer_rsp_t;

  // From the scalar unit to the registers: its control of the core, valid while it owns the core, and the response of its own
  // registers.
  typedef struct packed {
    logic                owns;
    logic                start;  // pulse
    logic                reset;  // pulse
    logic                irq;    // pulse: the host's interrupt
    logic [AddrBits-1:0] prog_addr;
    logic [PcBits-1:0]   prog_len;
    logic [31:0]         watchdog;
    logic [AddrBits:0]   limit;
    logic                issue;
    logic [AddrBits-1:0] base;
    logic                isolated;
    logic                ack;    // pulse: answers host_reg_req_t
    logic [31:0]         data;
  } scalar_ctl_t;

  // A host access that the registers pass on: to the scalar unit's host registers, or to the registers of the links.
  typedef struct packed {
    logic        valid;  // pulse
    logic        write;
    logic [2:0]  index;
    logic [31:0] data;
  } host_reg_req_t;

  // From the core to the registers.
  typedef struct packed {
    logic                running;
    logic                done;  // pulse: the program reached its halt
    logic                fault;  // level; the other fault fields hold while it is high
    fault_e              fault_code;
    logic [2:0]          fault_queue;
    logic [PcBits-1:0]   fault_pc;
    logic [AddrBits-1:0] fault_addr;
    logic [63:0]         fault_cycle;
    logic                acc_saturated;
  } core_status_t;

  // A memory error, which faults the core.
  typedef struct packed {
    logic                valid;  // pulse
    fault_e              code;
    logic [AddrBits-1:0] addr;
  } mem_error_t;

  // ECC events in the responses of a core's own memory, for the registers.
  typedef struct packed {
    logic                fixed;  // pulse: one bit flip was corrected, or one in each of several words
    logic                bad;    // pulse: a word had two bit flips, which cannot be corrected
    logic [AddrBits-1:0] addr;   // of the first such word
  } ecc_event_t;

  // Clients of the memory, one bit each. Reads: the core's fetch, weight and load, and the host. Writes: the core's store and
  // the host.
  localparam int unsigned NumRd = 4;
  localparam int unsigned NumWr = 2;
  localparam int unsigned RdHost = 3;
  localparam int unsigned WrStore = 0;
  localparam int unsigned WrHost = 1;

  // Longest turn of a client in beats, while other clients request. Weights, activations and programs stream; the host gets
  // short turns with low latency.
  localparam logic [7:0] StreamBurst = 8'd64;
  localparam logic [7:0] HostBurst = 8'd8;
  localparam logic [NumRd-1:0][7:0] RdBurst = {HostBurst, {3{StreamBurst}}};
  localparam logic [NumWr-1:0][7:0] WrBurst = {HostBurst, StreamBurst};

  // A chip with a scalar unit has one more read client and one more write client, the scalar unit's. They come after those
  // above.
  function automatic int unsigned num_rd(int unsigned smem_bytes);
    return NumRd + 32'(smem_bytes != 0);
  endfunction
  function automatic int unsigned num_wr(int unsigned smem_bytes);
    return NumWr + 32'(smem_bytes != 0);
  endfunction

  // From the memory of a core, in addition to the responses to its clients.
  typedef struct packed {
    logic                   outstanding;  // some reads have no response yet, or some writes are not in the memory yet
    mem_error_t             error;        // the memory's bus answered with an error, or ECC found an uncorrectable one
    ecc_event_t             ecc;          // chips without ECC: 0
    systole_hbm_pkg::perf_t perf;
  } mem_status_t;

  // A read client and a write client together: those of the scalar unit, or of the other core in chips of two cores.
  typedef struct packed {
    logic                rd_valid;
    logic [AddrBits-1:0] rd_addr;
    logic                wr_valid;
    logic [AddrBits-1:0] wr_addr;
  } client_req_t;

  typedef struct packed {
    logic rd_ready;
    logic rd_rsp_valid;
    logic wr_ready;
  } client_rsp_t;

  // Between the two cores of a chip: the signals between their crossings, and the host's accesses to the second core's
  // registers. Requests come only from flip-flops and the host's pins.
  typedef struct packed {
    client_req_t          memory;    // to the other memory
    logic [PeerFlags-1:0] post;      // pulses: add 1 to each flag
    logic                 bad;       // pulse: the other core read an uncorrectable word here
    logic [AddrBits-1:0]  bad_addr;  // its address in this memory
  } crossing_req_t;

  typedef struct packed {
    crossing_req_t crossing;
    axil_req_t     axil;
  } cross_req_t;

  typedef struct packed {
    client_rsp_t memory;
    axil_rsp_t   axil;
  } cross_rsp_t;

  // Position of the chip in the torus of a device; both of its cores see it.
  typedef struct packed {
    logic [systole_link_pkg::CoordinateBits-1:0] x, y;
    logic [systole_link_pkg::CoordinateBits:0]   columns, rows;
  } torus_t;

  // Inputs of a core's send unit, and the stream of flits from it to the network. A flit's bytes are a separate port.
  typedef struct packed {
    logic              core;   // number of the core
    torus_t            torus;
    logic [AddrBits:0] last;   // end of the accesses, the same in every core's memory
    logic              ready;  // the flit is taken
  } send_ctl_t;

  typedef struct packed {
    logic                    busy;   // packets wait or are being sent
    logic                    valid;
    systole_link_pkg::send_t head;   // header of the packet, repeated with each flit
    logic                    last;
  } send_stream_t;

  // Trace: a descriptor of queue q has completed.
  typedef struct packed {
    logic [systole_isa_pkg::NumQueues-1:0]       valid;
    logic [systole_isa_pkg::NumQueues-1:0][31:0] index;
  } retire_t;

  // From a core to its chip's part of the network (systole_network), and back. A flit's bytes and byte mask are separate ports.
  // All signals from a core come from flip-flops.
  typedef struct packed {
    logic                    send_valid;
    systole_link_pkg::send_t send_head;  // header of the packet, repeated with each flit
    logic                    send_last;
    logic                    recv_ready;
    host_reg_req_t           registers;  // host access to the registers of the links; reads from the second core return 0
  } net_req_t;

  typedef struct packed {
    logic                    send_ready;
    logic                    recv_valid;
    systole_link_pkg::head_t recv_head;  // header; in a WRITE, the address is that of this flit
    logic                    recv_last;
    logic                    core;       // number of the core
    torus_t                  torus;
    logic                    down;       // pulse: a link is down
    logic [1:0]              down_link;  // number of that link; holds
    logic                    ack;        // pulse: answers registers
    logic [31:0]             data;
    logic                    clear;      // the network is in reset: what came in part is forgotten
  } net_rsp_t;

  // Status of a core, visible outside the chip.
  typedef struct packed {
    logic irq;
    logic running;  // a program runs
    logic fault;    // a fault froze the core
  } node_status_t;

  // A pseudo-channel's PHY.
  typedef struct packed {
    systole_hbm_pkg::row_cmd_e                  row_cmd;
    logic [systole_hbm_pkg::BankBits-1:0]       row_bank;
    logic [systole_hbm_pkg::RowBits-1:0]        row_addr;
    systole_hbm_pkg::col_cmd_e                  col_cmd;
    logic [systole_hbm_pkg::BankBits-1:0]       col_bank;
    logic [systole_hbm_pkg::ColBits-1:0]        col_addr;
    logic [systole_hbm_pkg::PhyBytes-1:0]       wmask;  // with ECC: the check bits
    logic [systole_hbm_pkg::PhyBytes*8-1:0]     wdata;
  } phy_req_t;

  typedef struct packed {
    logic                                       rdata_valid;
    logic [systole_hbm_pkg::PhyBytes-1:0]       rcheck;  // with ECC: 8 check bits for each 64 bits
    logic [systole_hbm_pkg::PhyBytes*8-1:0]     rdata;
  } phy_rsp_t;

  // AXI4 to a board's DRAM: INCR bursts of whole beats, one ID.
  typedef struct packed {
    logic                awvalid;
    logic [AddrBits-1:0] awaddr;
    logic [7:0]          awlen;
    logic                wvalid;
    logic                wlast;
    logic                bready;
    logic                arvalid;
    logic [AddrBits-1:0] araddr;
    logic [7:0]          arlen;
    logic                rready;
  } dram_req_t;

  typedef struct packed {
    logic       awready;
    logic       wready;
    logic       bvalid;
    logic [1:0] bresp;
    logic       arready;
    logic       rvalid;
    logic [1:0] rresp;
    logic       rlast;
  } dram_rsp_t;
endpackage
