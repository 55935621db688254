// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// A program as bytes. The order here and in parse.cc is that of
// docs/program_file.md.

#include <string>
#include <utility>
#include <vector>

#include "host/files/write_parts.h"
#include "host/program/check.h"
#include "host/program/codec.h"
#include "host/program/write.h"
#include "systole/program.h"

namespace systole {
namespace {

namespace pf = program_file;

// The bytes of a file: what was written, and between it what lies elsewhere.
class Parts {
 public:
  pf::Writer w;

  // Bytes that outlive this.
  void Refer(const std::vector<uint8_t>& data) {
    w.U64(data.size());
    cuts_.push_back({w.bytes().size(), &data});
    elsewhere_ += data.size();
  }
  size_t size() { return w.bytes().size() + elsewhere_; }
  std::vector<std::string_view> Views() {
    std::vector<std::string_view> views;
    size_t from = 0;
    const auto add = [&](const uint8_t* data, size_t size) {
      views.emplace_back(reinterpret_cast<const char*>(data), size);
    };
    for (const auto& [at, data] : cuts_) {
      add(w.bytes().data() + from, at - from);
      add(data->data(), data->size());
      from = at;
    }
    add(w.bytes().data() + from, w.bytes().size() - from);
    return views;
  }

 private:
  std::vector<std::pair<size_t, const std::vector<uint8_t>*>> cuts_;
  size_t elsewhere_ = 0;
};

Parts PartsOf(const Program& program, absl::Span<const Section> more) {
  Parts parts;
  pf::Writer& w = parts.w;
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
  w.U32(static_cast<uint32_t>(program.loops.size()));
  for (const Loop& l : program.loops) {
    for (uint32_t v : {l.begin, l.end, l.count, l.flag}) w.U32(v);
    w.U64(l.word);
  }
  w.U32(static_cast<uint32_t>(program.steps.size()));
  for (const Step& s : program.steps) {
    for (uint32_t v : {s.descriptor, s.loop, s.lsb, s.bits}) w.U32(v);
    w.I64(s.add);
  }

  w.U32(static_cast<uint32_t>(program.segments.size()));
  for (const DataSegment& s : program.segments) {
    w.String(s.name);
    w.U64(s.hbm_addr);
    parts.Refer(s.data);
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

  w.U32(static_cast<uint32_t>(program.sections.size() + more.size()));
  for (const absl::Span<const Section> sections :
       {absl::MakeConstSpan(program.sections), more}) {
    for (const Section& s : sections) {
      w.String(s.name);
      w.U32(s.version);
      parts.Refer(s.bytes);
    }
  }

  w.PatchU64(size_at, parts.size() + pf::kTrailerBytes);
  w.U32(pf::Crc32(parts.Views()));
  return parts;
}

}  // namespace

std::vector<uint8_t> SerializeProgram(const Program& program) {
  Parts parts = PartsOf(program, {});
  std::vector<uint8_t> bytes;
  bytes.reserve(parts.size());
  for (const std::string_view view : parts.Views())
    bytes.insert(bytes.end(), view.begin(), view.end());
  return bytes;
}

absl::Status WriteProgram(const Program& program, const std::string& path,
                          absl::Span<const Section> more) {
  if (absl::Status s = CheckProgram(program, more, path); !s.ok()) return s;
  return WriteParts(PartsOf(program, more).Views(), path);
}

absl::Status WriteProgram(const Program& program, const std::string& path) {
  return WriteProgram(program, path, {});
}

}  // namespace systole
