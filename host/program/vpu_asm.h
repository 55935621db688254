// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Assembler and disassembler of vector programs (docs/vpu.md, "Text"), and how
// a program brings vector code into the core.
//
//   absl::StatusOr<vpu::Code> code =
//       vpu::Assemble(text, "relu.vs", {{"L", preset.cols}});
//   program.segments.push_back(vpu::Segment("relu", hbm_addr, code->words));
//   vpu::CodeLoad in = vpu::LoadCode(hbm_addr, ub_addr, code->words.size(),
//                                    /*addr=*/0);
//   in.load.header.post_mask = in.vload.header.wait_mask = 1 << flag;
//   vrun.pc = code->labels.at("start");
//   vrun.args[code->args.at("rows")] = 128;
#ifndef SYSTOLE_HOST_PROGRAM_VPU_ASM_H_
#define SYSTOLE_HOST_PROGRAM_VPU_ASM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "systole/gen/isa.h"
#include "systole/gen/vpu.h"
#include "systole/program.h"

namespace systole::vpu {

struct Code {
  std::vector<uint64_t> words;
  std::map<std::string, int> args;           // .arg: index in the vrun's args
  std::map<std::string, int> labels;         // instruction index
  std::map<std::string, int64_t> constants;  // given ones, and .const
  // .reads, .writes and .cycles, by the label that follows them: not for the
  // assembler (host/kernels/declaration.h).
  struct Note {
    std::string directive, text;
    int line = 0;
  };
  std::map<std::string, std::vector<Note>> notes;
};

// `constants` are names that expressions may use. `base` is where the code will
// lie in the instruction memory: labels count from there. Errors,
// kInvalidArgument: "name:line: what is wrong".
absl::StatusOr<Code> Assemble(
    const std::string& text, const std::string& name,
    const std::map<std::string, int64_t>& constants = {}, int base = 0);

// Why an instruction is illegal whatever the registers hold; "" if it is not.
std::string WhyIllegal(uint64_t word);

// One instruction as text, a branch's target as a number; ".word 0x..." for
// what has no other text. Assemble gives the same word back.
std::string Disassemble(uint64_t word);
// A whole program that lies at `base`: a line each, branch targets as labels.
std::string DisassembleCode(absl::Span<const uint64_t> words, int base = 0);

// The code as a data segment: 8 bytes an instruction, little endian. The name
// begins with kSegmentPrefix, by which listings know it.
inline constexpr std::string_view kSegmentPrefix = "vector code: ";
DataSegment Segment(const std::string& name, uint64_t hbm_addr,
                    absl::Span<const uint64_t> words);
// The instructions of such a segment.
std::vector<uint64_t> WordsOf(const DataSegment& segment);

// Descriptors that bring `count` instructions from HBM through the unified
// buffer into the instruction memory at index `addr`. The caller adds the sync
// flag between the two. `hbm_addr` and `ub_addr`: multiples of the beat,
// `ub_addr` of the word too.
struct CodeLoad {
  isa::Load load;
  isa::Vload vload;
};
CodeLoad LoadCode(uint64_t hbm_addr, uint64_t ub_addr, int64_t count, int addr);

}  // namespace systole::vpu

#endif  // SYSTOLE_HOST_PROGRAM_VPU_ASM_H_
