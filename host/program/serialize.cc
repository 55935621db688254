// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A program as bytes. The order here and in parse.cc is that of
// docs/program_file.md.

#include <string>
#include <vector>

#include "host/program/codec.h"
#include "systole/program.h"

namespace systole {
std::vector<uint8_t> SerializeProgram(const Program& program) {
  namespace pf = program_file;
  pf::Writer w;
  size_t large = program.descriptors.size() * isa::kDescriptorBytes;
  for (const DataSegment& s : program.segments) large += s.data.size();
  for (const Section& s : program.sections) large += s.bytes.size();
  w.bytes().reserve(large + large / 64);
  w.Bytes(pf::kMagic.data(), pf::kMagic.size());
  w.U32(pf::kFormatVersion);
  w.U32(isa::kVersion);
  const size_t size_at = w.bytes().size();
  w.U64(0);

  w.String(program.preset);
  w.U64(program.prog_addr);
  w.U64(program.hbm_bytes);

  w.U32(static_cast<uint32_t>(program.memory.size()));
  for (const MemorySegment& m : program.memory) {
    w.U8(static_cast<uint8_t>(m.use));
    w.U64(m.hbm_addr);
    w.U64(m.bytes);
  }
  w.U32(static_cast<uint32_t>(program.relocations.size()));
  for (const Relocation& r : program.relocations) {
    w.U32(r.descriptor);
    w.U32(r.segment);
  }

  w.U32(static_cast<uint32_t>(program.descriptors.size()));
  for (const isa::Descriptor& d : program.descriptors) {
    for (uint64_t word : d) w.U64(word);
  }

  w.U32(static_cast<uint32_t>(program.segments.size()));
  for (const DataSegment& s : program.segments) {
    w.String(s.name);
    w.U64(s.hbm_addr);
    w.U64(s.data.size());
    w.Bytes(s.data.data(), s.data.size());
  }

  w.U32(static_cast<uint32_t>(program.tensors.size()));
  for (const TensorInfo& t : program.tensors) {
    w.String(t.name);
    w.U8(static_cast<uint8_t>(t.type));
    w.U8(static_cast<uint8_t>((t.is_input ? 1 : 0) | (t.is_output ? 2 : 0)));
    for (int64_t v : {t.n, t.h, t.w, t.channels}) w.I64(v);
    w.U64(t.hbm_addr);
    w.I64(t.pitch);
    w.I64(t.img_pitch);
    w.F32(t.scale);
    w.U32(static_cast<uint32_t>(t.zero_point));
  }

  w.U32(static_cast<uint32_t>(program.layers.size()));
  for (const LayerInfo& l : program.layers) {
    for (const std::string* s :
         {&l.name, &l.op, &l.shape, &l.output, &l.tiling})
      w.String(*s);
    w.U32(static_cast<uint32_t>(l.inputs.size()));
    for (const std::string& input : l.inputs) w.String(input);
    w.I64(l.macs);
    w.I64(l.ideal_cycles);
    w.I64(l.parameter_bytes);
  }

  w.U32(static_cast<uint32_t>(program.buffers.size()));
  for (const BufferInfo& b : program.buffers) {
    w.String(b.name);
    w.U64(b.ub_addr);
    w.U64(b.bytes);
    w.U32(b.first_layer);
    w.U32(b.last_layer);
  }

  w.U32(static_cast<uint32_t>(program.sections.size()));
  for (const Section& s : program.sections) {
    w.String(s.name);
    w.U32(s.version);
    w.U64(s.bytes.size());
    w.Bytes(s.bytes.data(), s.bytes.size());
  }

  w.PatchU64(size_at, w.bytes().size() + pf::kTrailerBytes);
  w.U32(pf::Crc32(w.bytes().data(), w.bytes().size()));
  return std::move(w.bytes());
}

}  // namespace systole
