// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A program as bytes. The order here and in parse.cc is that of
// docs/program_file.md.

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "host/program/format.h"
#include "systole/program.h"

namespace systole {
namespace {

class Writer {
 public:
  void Bytes(const void* data, size_t size) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }
  void Unsigned(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
      bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void U8(uint8_t v) { Unsigned(v, 1); }
  void U32(uint32_t v) { Unsigned(v, 4); }
  void U64(uint64_t v) { Unsigned(v, 8); }
  void I64(int64_t v) { U64(static_cast<uint64_t>(v)); }
  void F32(float v) {
    uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    U32(bits);
  }
  void String(std::string_view s) {
    U32(static_cast<uint32_t>(s.size()));
    Bytes(s.data(), s.size());
  }
  void PatchU64(size_t at, uint64_t value) {
    for (int i = 0; i < 8; ++i)
      bytes_[at + i] = static_cast<uint8_t>(value >> (8 * i));
  }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace

std::vector<uint8_t> SerializeProgram(const Program& program) {
  namespace pf = program_file;
  Writer w;
  w.Bytes(pf::kMagic.data(), pf::kMagic.size());
  w.U32(pf::kFormatVersion);
  w.U32(isa::kVersion);
  const size_t size_at = w.bytes().size();
  w.U64(0);

  w.String(program.preset);
  w.U64(program.prog_addr);
  w.U64(program.hbm_bytes);

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
    for (const std::string* s : {&l.name, &l.op, &l.shape, &l.output})
      w.String(*s);
    w.I64(l.macs);
    w.I64(l.ideal_cycles);
  }

  w.PatchU64(size_at, w.bytes().size() + pf::kTrailerBytes);
  w.U32(pf::Crc32(w.bytes().data(), w.bytes().size()));
  return std::move(w.bytes());
}

}  // namespace systole
