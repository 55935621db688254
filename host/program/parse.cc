// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes into a program. Every length is checked before it is used and every
// value before it is believed, so that no file, however made, can do more than
// return an error.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/program/check.h"
#include "host/program/codec.h"
#include "systole/program.h"

namespace systole {
namespace {

namespace pf = program_file;
using pf::Reader;

class Parser {
 public:
  Parser(const std::vector<uint8_t>& bytes, const std::string& name)
      : bytes_(bytes), name_(name) {}

  absl::StatusOr<Program> Parse() {
    if (absl::Status s = Envelope(); !s.ok()) return s;
    Reader r(bytes_.data() + pf::kHeaderBytes,
             bytes_.data() + bytes_.size() - pf::kTrailerBytes);
    if (absl::Status s = Body(&r); !s.ok()) return s;
    if (absl::Status s = CheckProgram(program_, {}, name_); !s.ok()) return s;
    return std::move(program_);
  }

 private:
  template <typename... Args>
  absl::Status Bad(const Args&... args) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", args...));
  }

  // Magic, versions, size, CRC.
  absl::Status Envelope() const {
    const size_t compared = std::min(bytes_.size(), pf::kMagic.size());
    if (!std::equal(bytes_.begin(), bytes_.begin() + compared,
                    pf::kMagic.begin())) {
      return Bad("not a Systole program file");
    }
    if (bytes_.size() < pf::kHeaderBytes + pf::kTrailerBytes) {
      return absl::DataLossError(absl::StrCat(name_,
                                              ": truncated: ", bytes_.size(),
                                              " bytes are less than a header"));
    }
    Reader r(bytes_.data() + pf::kMagic.size(), bytes_.data() + bytes_.size());
    const uint32_t format = r.U32();
    const uint32_t isa_version = r.U32();
    const uint64_t size = r.U64();
    if (format != pf::kFormatVersion) {
      return Bad("a program of format version ", format,
                 ", this program reads version ", pf::kFormatVersion,
                 ": compile its model again");
    }
    if (isa_version != isa::kVersion)
      return Bad("made for ISA version ", isa_version, ", this is ",
                 isa::kVersion);
    if (size != bytes_.size()) {
      return absl::DataLossError(absl::StrCat(
          name_, size > bytes_.size() ? ": truncated: " : ": too long: ",
          bytes_.size(), " bytes, the header says ", size));
    }
    const size_t covered = bytes_.size() - pf::kTrailerBytes;
    const uint32_t stored =
        Reader(bytes_.data() + covered, bytes_.data() + bytes_.size()).U32();
    const std::string_view all(reinterpret_cast<const char*>(bytes_.data()),
                               covered);
    const uint32_t computed = pf::Crc32({all});
    if (stored != computed) {
      return absl::DataLossError(
          absl::StrFormat("%s: corrupted: CRC-32 is %08x, should be %08x",
                          name_, computed, stored));
    }
    return absl::OkStatus();
  }

  absl::Status Body(Reader* r) {
    Program& p = program_;
    p.preset = r->String();
    p.prog_addr = r->U64();
    p.hbm_bytes = r->U64();
    if (absl::Status s = Memory(r); !s.ok()) return s;
    for (uint32_t i = r->Count(isa::kDescriptorBytes); i > 0 && r->ok(); --i) {
      for (uint64_t& word : p.descriptors.emplace_back()) word = r->U64();
    }
    if (!r->ok())
      return Bad("the list of descriptors does not fit in the file");
    for (uint32_t i = r->Count(24); i > 0 && r->ok(); --i) {
      Loop& l = p.loops.emplace_back();
      for (uint32_t* v : {&l.begin, &l.end, &l.count, &l.flag}) *v = r->U32();
      l.word = r->U64();
    }
    for (uint32_t i = r->Count(24); i > 0 && r->ok(); --i) {
      Step& s = p.steps.emplace_back();
      for (uint32_t* v : {&s.descriptor, &s.loop, &s.lsb, &s.bits})
        *v = r->U32();
      s.add = r->I64();
    }
    if (!r->ok()) return Bad("the loops do not fit in the file");
    for (uint32_t i = r->Count(20); i > 0 && r->ok(); --i) {
      DataSegment& s = p.segments.emplace_back();
      s.name = r->String();
      s.hbm_addr = r->U64();
      const uint64_t size = r->U64();
      const uint8_t* data = r->Bytes(size);
      if (data != nullptr) s.data.assign(data, data + size);
    }
    if (!r->ok())
      return Bad("data segment ", p.segments.size(),
                 " does not fit in the file");
    for (uint32_t i = r->Count(70); i > 0 && r->ok(); --i) {
      TensorInfo& t = p.tensors.emplace_back();
      t.name = r->String();
      const uint8_t type = r->U8();
      const uint8_t role = r->U8();
      if (r->ok() && type >= kNumElementTypes)
        return Bad("tensor '", t.name, "' has the unknown element type ", type);
      if (r->ok() && role > 3)
        return Bad("tensor '", t.name, "' has the unknown role ", role);
      t.type = static_cast<ElementType>(type);
      t.is_input = (role & 1) != 0;
      t.is_output = (role & 2) != 0;
      for (int64_t* v : {&t.n, &t.h, &t.w, &t.channels}) *v = r->I64();
      t.hbm_addr = r->U64();
      t.pitch = r->I64();
      t.img_pitch = r->I64();
      t.scale = r->F32();
      t.zero_point = static_cast<int32_t>(r->U32());
    }
    if (!r->ok())
      return Bad("tensor ", p.tensors.size(), " does not fit in the file");
    if (absl::Status s = Layers(r); !s.ok()) return s;
    for (uint32_t i = r->Count(28); i > 0 && r->ok(); --i) {
      BufferInfo& b = p.buffers.emplace_back();
      b.name = r->String();
      b.ub_addr = r->U64();
      b.bytes = r->U64();
      b.first_layer = r->U32();
      b.last_layer = r->U32();
    }
    if (!r->ok())
      return Bad("buffer ", p.buffers.size(), " does not fit in the file");
    for (uint32_t i = r->Count(16); i > 0 && r->ok(); --i) {
      Section& s = p.sections.emplace_back();
      s.name = r->String();
      s.version = r->U32();
      const uint64_t size = r->U64();
      const uint8_t* data = r->Bytes(size);
      if (data != nullptr) s.bytes.assign(data, data + size);
    }
    if (!r->ok())
      return Bad("section ", p.sections.size(), " does not fit in the file");
    if (r->left() != 0)
      return Bad(r->left(), " bytes too many after the sections");
    return absl::OkStatus();
  }

  absl::Status Memory(Reader* r) {
    for (uint32_t i = r->Count(17); i > 0 && r->ok(); --i) {
      const uint8_t use = r->U8();
      if (r->ok() && use >= kNumMemoryUses)
        return Bad("a part of the memory has the unknown use ", use);
      MemorySegment& m = program_.memory.emplace_back();
      m.use = static_cast<MemoryUse>(use);
      m.hbm_addr = r->U64();
      m.bytes = r->U64();
    }
    for (uint32_t i = r->Count(8); i > 0 && r->ok(); --i) {
      Relocation& relocation = program_.relocations.emplace_back();
      relocation.descriptor = r->U32();
      relocation.segment = r->U32();
    }
    if (r->ok()) return absl::OkStatus();
    return Bad("the parts of the memory do not fit in the file");
  }

  absl::Status Layers(Reader* r) {
    Program& p = program_;
    for (uint32_t i = r->Count(48); i > 0 && r->ok(); --i) {
      LayerInfo& l = p.layers.emplace_back();
      for (std::string* s : {&l.name, &l.op, &l.shape, &l.output, &l.tiling})
        *s = r->String();
      for (uint32_t n = r->Count(4); n > 0 && r->ok(); --n)
        l.inputs.push_back(r->String());
      l.macs = r->I64();
      l.ideal_cycles = r->I64();
      l.parameter_bytes = r->I64();
      if (l.macs < 0 || l.ideal_cycles < 0 || l.parameter_bytes < 0)
        return Bad("layer '", l.name, "' has negative work");
    }
    if (!r->ok())
      return Bad("layer ", p.layers.size(), " does not fit in the file");
    return absl::OkStatus();
  }

  const std::vector<uint8_t>& bytes_;
  const std::string& name_;
  Program program_;
};

}  // namespace

absl::StatusOr<Program> ParseProgram(const std::vector<uint8_t>& bytes,
                                     const std::string& name) {
  return Parser(bytes, name).Parse();
}

}  // namespace systole
