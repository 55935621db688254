// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Bundles of the chip's buses: what a master drives (req) and what a slave drives (rsp). Data and strobes, whose width the
// configuration decides, go beside them. Docs: docs/design.md.

package systole_bus_pkg;
  import systole_presets_pkg::AddrBits;
  import systole_presets_pkg::PcBits;
  import systole_isa_pkg::DescBits;
  import systole_isa_pkg::NumFlags;
  import systole_isa_pkg::PeerFlags;
  import systole_isa_pkg::desc_t;
  import systole_isa_pkg::fault_e;

  // AXI4-Lite of the registers.
  typedef struct packed {
    logic        awvalid;
    logic [11:0] awaddr;
    logic        wvalid;
    logic [31:0] wdata;
    logic [3:0]  wstrb;
    logic        bready;
    logic        arvalid;
    logic [11:0] araddr;
    logic        rready;
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

  // A queue to its unit (docs/design.md). All but the freeze in valid comes from flip-flops.
  typedef struct packed {
    logic  peek;   // desc is the next to start, though its flags may be missing
    logic  valid;  // desc starts when the unit is ready
    desc_t desc;
  } unit_req_t;

  // A unit to its queue; ready does not depend on valid, all else is a pulse or belongs to one.
  typedef struct packed {
    logic                ready;
    logic                done;      // the oldest descriptor in flight is complete
    logic                progress;  // the unit moved data
    logic                fault;     // with the next three
    fault_e              code;
    logic [AddrBits-1:0] addr;
    logic                newest;    // it is about the newest descriptor in flight, otherwise the oldest
  } unit_rsp_t;

  // A fault of the sequencer.
  typedef struct packed {
    logic                valid;  // pulse
    fault_e              code;
    logic [PcBits-1:0]   pc;     // from the cycle after it on
    logic [AddrBits-1:0] addr;
  } seq_fault_t;

  // The registers to the core; all from flip-flops, and but for the cycle they hold while a program runs.
  typedef struct packed {
    logic [AddrBits-1:0] prog_addr;
    logic [PcBits-1:0]   prog_len;
    logic [31:0]         watchdog;
    logic                issue;  // the descriptors come from the issue port; chips without a scalar unit: 0
    logic [AddrBits-1:0] base;      // memory accesses begin at or above, a multiple of the beat; the same: 0
    logic                isolated;  // flags between cores are none of the program's; the same: 0
    logic [63:0]         cycle;  // since the start
  } core_ctl_t;

  // What is added to a field of a list's descriptor, each time that the list comes: an entry of a table (systole_patch).
  localparam int unsigned Patches = 256;
  localparam int unsigned PatchBits = $clog2(Patches);
  typedef struct packed {
    logic [5:0]  bits;   // less 1; at most AddrBits, within two words of 32 bits
    logic [8:0]  lsb;    // in the descriptor
    logic [15:0] index;  // of the descriptor in the list
  } patch_field_t;

  // A write of a part of an entry.
  typedef struct packed {
    logic                 field, value, step;
    logic [PatchBits-1:0] entry;
    logic [AddrBits-1:0]  data;
  } patch_req_t;

  // The scalar unit to the sequencer: the program's next descriptor, or the next list; valid and ready.
  typedef struct packed {
    patch_req_t patch;  // beside it
    logic       valid;
    logic       stream;  // desc is of type stream_t
    desc_t      desc;
  } issue_req_t;

  typedef struct packed {
    logic [DescBits-AddrBits-2*PatchBits-34:0] unused;
    logic [PatchBits:0]                        patches;  // entries of the table, in the order of their descriptors
    logic [PatchBits-1:0]                      first;
    logic [31:0]                               len;      // descriptors
    logic [AddrBits-1:0]                       addr;     // multiple of 64 and of the beat
  } stream_t;

  // The scalar unit and the sync flags: masks.
  typedef struct packed {
    logic [NumFlags-1:0] post;  // pulse: add 1 to each
    logic [NumFlags-1:0] want;  // until all of them are taken
  } flag_req_t;

  typedef struct packed {
    logic                taken;  // pulse: 1 is subtracted from each flag that is wanted
    logic [NumFlags-1:0] there;  // at least 1
  } flag_rsp_t;

  // The other core and the sync flags that cores post to each other; masks, pulses.
  typedef struct packed {
    logic [PeerFlags-1:0] post;  // the other core's: add 1 to each
    logic [PeerFlags-1:0] take;  // one of this core's posts to each has left
  } peer_req_t;

  typedef struct packed {
    logic [PeerFlags-1:0] posted;  // level: posts of this core that have not left
  } peer_rsp_t;

  // The scalar unit to the registers: what it does in the host's place while it owns the core, and its registers' answer.
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
    logic                ack;    // pulse: to host_reg_req_t
    logic [31:0]         data;
  } scalar_ctl_t;

  // The registers to the scalar unit's that the host sees.
  typedef struct packed {
    logic        valid;  // pulse
    logic        write;
    logic [2:0]  index;
    logic [31:0] data;
  } host_reg_req_t;

  // The core to the registers.
  typedef struct packed {
    logic                running;
    logic                done;  // pulse: the program reached its halt
    logic                fault;  // level; those of its name hold while it is high
    fault_e              fault_code;
    logic [2:0]          fault_queue;
    logic [PcBits-1:0]   fault_pc;
    logic [AddrBits-1:0] fault_addr;
    logic [63:0]         fault_cycle;
    logic                acc_saturated;
  } core_status_t;

  // An error of the memory, which faults the core.
  typedef struct packed {
    logic                valid;  // pulse
    fault_e              code;
    logic [AddrBits-1:0] addr;
  } mem_error_t;

  // What ECC found in an answer of a core's own memory, for the registers.
  typedef struct packed {
    logic                fixed;  // pulse: a bit of a word was wrong, or one each of several
    logic                bad;    // pulse: two of a word were
    logic [AddrBits-1:0] addr;   // of the first such word
  } ecc_event_t;

  // Clients of the memory, a bit each: reads of the core's fetch, weight and load and of the host, writes of the core's
  // store and of the host.
  localparam int unsigned NumRd = 4;
  localparam int unsigned NumWr = 2;
  localparam int unsigned RdHost = 3;
  localparam int unsigned WrStore = 0;
  localparam int unsigned WrHost = 1;

  // Their classes: beats of a turn while others ask. Weights, activations and programs stream; the host gets little, and soon.
  localparam logic [7:0] StreamBurst = 8'd64;
  localparam logic [7:0] HostBurst = 8'd8;
  localparam logic [NumRd-1:0][7:0] RdBurst = {HostBurst, {3{StreamBurst}}};
  localparam logic [NumWr-1:0][7:0] WrBurst = {HostBurst, StreamBurst};

  typedef struct packed {
    logic [NumRd-1:0]               rd_valid;
    logic [NumRd-1:0][AddrBits-1:0] rd_addr;
    logic [NumWr-1:0]               wr_valid;
    logic [NumWr-1:0][AddrBits-1:0] wr_addr;
    logic [31:0]                    scrub;  // ECC: cycles from a beat that is looked at to the next; 0: none
  } mem_req_t;

  typedef struct packed {
    logic [NumRd-1:0]       rd_ready;
    logic [NumRd-1:0]       rd_rsp_valid;
    logic [NumRd-1:0]       rd_rsp_far;   // with it: the data are the other core's memory's; chips of one core: 0
    logic [NumWr-1:0]       wr_ready;
    logic                   outstanding;  // reads not answered or writes not in the memory
    mem_error_t             error;        // the memory's bus answered with an error, or ECC found what it cannot correct
    ecc_event_t             ecc;          // without it 0
    systole_hbm_pkg::perf_t perf;
  } mem_rsp_t;

  // One more of each: where there is a scalar unit its own, where there are two cores the other one.
  typedef struct packed {
    logic                rd_valid;
    logic [AddrBits-1:0] rd_addr;
    logic                wr_valid;
    logic [AddrBits-1:0] wr_addr;
  } client_req_t;

  typedef struct packed {
    logic rd_ready;
    logic rd_rsp_valid;
    logic rd_rsp_far;
    logic wr_ready;
  } client_rsp_t;

  // A core of a chip with two to the other one: what it asks, from flip-flops and the host's pins alone, and what it answers.
  typedef struct packed {
    client_req_t          memory;    // to the other memory
    logic [PeerFlags-1:0] post;      // pulses: add 1 to each flag
    logic                 bad;       // pulse: ECC cannot correct what the other core has read here
    logic [AddrBits-1:0]  bad_addr;  // in this memory
    axil_req_t            axil;      // the host's, to the second core's registers
  } link_req_t;

  typedef struct packed {
    client_rsp_t memory;
    axil_rsp_t   axil;
  } link_rsp_t;

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
