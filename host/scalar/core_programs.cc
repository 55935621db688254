// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "host/scalar/core_programs.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/program/vpu_asm.h"
#include "systole/float_matmul.h"
#include "systole/program.h"
#include "systole/target.h"

namespace systole::scalar {
namespace {

constexpr uint64_t kZeros = 4096;  // bytes of zeros that a scrub repeats

std::vector<uint8_t> BytesOf(const std::vector<isa::Descriptor>& program) {
  std::vector<uint8_t> bytes(program.size() * sizeof(isa::Descriptor));
  std::memcpy(bytes.data(), program.data(), bytes.size());
  return bytes;
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Small numbers of both signs: every sum of products is exact.
int ValueOfA(int64_t i, int64_t k) {
  return static_cast<int>((5 * i + 3 * k) % 7) - 3;
}
int ValueOfB(int64_t k, int64_t j) {
  return static_cast<int>((2 * k + 5 * j) % 9) - 4;
}

uint16_t Bf16(int value) {
  return static_cast<uint16_t>(Bits(static_cast<float>(value)) >> 16);
}

void Move(Program* program, uint64_t by) {
  program->prog_addr += by;
  program->hbm_bytes += by;
  for (DataSegment& s : program->segments) s.hbm_addr += by;
  for (TensorInfo& t : program->tensors) t.hbm_addr += by;
  for (isa::Descriptor& d : program->descriptors) {
    const isa::OpInfo* op =
        isa::FindOp(static_cast<uint8_t>(isa::GetBits(d, 0, 8)));
    if (op->num_fields == 0 || op->fields[0].name != "hbm_addr") continue;
    const isa::FieldInfo& f = op->fields[0];
    isa::PutBits(d, f.lsb, f.bits, isa::GetBits(d, f.lsb, f.bits) + by);
  }
}

// One after the other: each waits for the one before it.
class Chain {
 public:
  template <typename Op>
  void Add(Op op) {
    if (posts_ > 0) op.header.wait_mask = 1u << (posts_ - 1) % kFlags;
    op.header.post_mask = 1u << posts_++ % kFlags;
    list_.push_back(op.Encode());
  }
  // Weight tiles, which the matmuls take: they need not wait.
  void AddWeights(uint64_t addr, uint32_t tiles) {
    isa::Weights op;
    op.hbm_addr = addr;
    op.tiles = tiles;
    list_.push_back(op.Encode());
  }
  std::vector<isa::Descriptor> Finish() {
    isa::Halt halt;
    halt.header.wait_mask = 1u << (posts_ - 1) % kFlags;
    list_.push_back(halt.Encode());
    return std::move(list_);
  }

 private:
  static constexpr uint32_t kFlags = 28;  // those of the core itself
  std::vector<isa::Descriptor> list_;
  uint32_t posts_ = 0;
};

// The sum that the firmware makes of words (selftest.c).
uint32_t AddWord(uint32_t sum, uint32_t word) {
  return (sum << 1 | sum >> 31) + word;
}

// A product of lines of the unified buffer with the next tile.
isa::Matmul Product(const Preset& preset, uint32_t pitch, uint32_t lines) {
  isa::Matmul m;
  m.pitch = pitch;
  m.lines = m.ny = static_cast<uint16_t>(lines);
  m.n = m.nx = m.sy = m.t0 = m.t1 = 1;
  m.seg_len[0] = static_cast<uint16_t>(preset.rows);
  return m;
}

// The same of an int8 core: raw sums.
absl::Status AddKnownAnswerInt8(const Preset& preset, uint64_t at,
                                CorePrograms* out, uint64_t* end) {
  const int64_t m = 4, k = 2 * preset.rows, n = 2 * preset.cols;
  const int64_t beat = preset.beat_bytes();
  const int64_t a_pitch = (k + beat - 1) / beat * beat, c_pitch = 4 * n;
  if (c_pitch % beat != 0 || m * c_pitch % 64 != 0)
    return absl::UnimplementedError(
        absl::StrFormat("a known answer with lines of %d bytes", c_pitch));
  std::vector<uint8_t> a(m * a_pitch), tiles;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < k; ++j)
      a[i * a_pitch + j] = static_cast<uint8_t>(ValueOfA(i, j));
  for (int64_t t = 0; t < 4; ++t) {  // down a column of tiles, then the next
    for (int64_t i = 0; i < preset.rows; ++i) {
      for (int64_t j = 0; j < preset.cols; ++j) {
        tiles.push_back(static_cast<uint8_t>(
            ValueOfB(t % 2 * preset.rows + i, t / 2 * preset.cols + j)));
      }
    }
  }
  const uint64_t a_at = at, tiles_at = (at + a.size() + 4095) / 4096 * 4096,
                 c_at = (tiles_at + tiles.size() + 4095) / 4096 * 4096,
                 program = c_at + (m * c_pitch + 4095) / 4096 * 4096;
  const uint32_t c_ub = 4096;  // behind A
  Chain chain;
  isa::Load load;
  load.hbm_addr = a_at;
  load.len = a.size();
  load.n1 = load.n2 = 1;
  chain.Add(load);
  chain.AddWeights(tiles_at, 4);
  for (int t = 0; t < 4; ++t) {
    isa::Matmul product = Product(preset, static_cast<uint32_t>(a_pitch), m);
    product.line_bytes = static_cast<uint16_t>(k);
    product.seg_dx[0] = static_cast<int16_t>(t % 2 * preset.rows);
    product.acc = static_cast<uint16_t>(t / 2 * m);
    if (t % 2 == 1) product.header.flags |= isa::Matmul::kAccumulate;
    chain.Add(product);
  }
  for (int t = 0; t < 2; ++t) {
    isa::Requant raw;
    raw.header.flags = isa::Requant::kRaw;
    raw.acc = static_cast<uint16_t>(t * m);
    raw.n = raw.nx = 1;
    raw.ny = m;
    raw.dst = c_ub + t * 4 * preset.cols;
    raw.dst_pitch = static_cast<uint32_t>(c_pitch);
    raw.cols = static_cast<uint16_t>(preset.cols);
    chain.Add(raw);
  }
  isa::Store store;
  store.hbm_addr = c_at;
  store.ub_addr = c_ub;
  store.len = m * c_pitch;
  store.n1 = store.n2 = 1;
  chain.Add(store);
  const std::vector<isa::Descriptor> list = chain.Finish();
  uint32_t sum = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int dot = 0;
      for (int64_t x = 0; x < k; ++x) dot += ValueOfA(i, x) * ValueOfB(x, j);
      sum = AddWord(sum, static_cast<uint32_t>(dot));
    }
  }
  out->data.emplace_back(a_at, std::move(a));
  out->data.emplace_back(tiles_at, std::move(tiles));
  // Not what an earlier boot has left.
  out->data.emplace_back(c_at, std::vector<uint8_t>(m * c_pitch, 0xFF));
  out->data.emplace_back(program, BytesOf(list));
  out->options.test_program = program;
  out->options.test_length = static_cast<uint32_t>(list.size());
  out->options.test_result = c_at;
  out->options.test_bytes = static_cast<uint32_t>(m * c_pitch);
  out->options.test_sum = sum;
  *end = program + list.size() * sizeof(isa::Descriptor);
  return absl::OkStatus();
}

// Two tiles a row and a column, so that each cell multiplies with both of its
// weights and adds to a sum that is there.
absl::Status AddKnownAnswer(const Preset& preset, uint64_t at,
                            CorePrograms* out, uint64_t* end) {
  const int64_t m = 4, k = 2 * preset.rows, n = 2 * preset.cols;
  compiler::FloatMatmulSpec spec;
  spec.m = m;
  spec.k = k;
  spec.n = n;
  spec.float32_result = true;
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) spec.b.push_back(Bf16(ValueOfB(i, j)));
  auto program = compiler::CompileFloatMatmul(spec, preset);
  if (!program.ok()) return program.status();
  Move(&*program, at);
  const TensorInfo& a = *program->FindTensor("a");
  const TensorInfo& c = *program->FindTensor("c");
  if (c.pitch != c.line_bytes() || m * c.pitch % 64 != 0)
    return absl::UnimplementedError(absl::StrFormat(
        "a known answer whose lines of %d bytes are %d bytes apart",
        c.line_bytes(), c.pitch));
  for (const DataSegment& s : program->segments)
    out->data.emplace_back(s.hbm_addr, s.data);
  out->data.emplace_back(program->prog_addr, BytesOf(program->descriptors));
  uint32_t sum = 0;
  for (int64_t i = 0; i < m; ++i) {
    std::vector<uint8_t> line(2 * k);
    for (int64_t j = 0; j < k; ++j) {
      const uint16_t bits = Bf16(ValueOfA(i, j));
      std::memcpy(&line[2 * j], &bits, 2);
    }
    out->data.emplace_back(a.hbm_addr + i * a.pitch, std::move(line));
    for (int64_t j = 0; j < n; ++j) {
      int dot = 0;
      for (int64_t x = 0; x < k; ++x) dot += ValueOfA(i, x) * ValueOfB(x, j);
      sum = AddWord(sum, Bits(static_cast<float>(dot)));
    }
  }
  // Not what an earlier boot has left.
  out->data.emplace_back(c.hbm_addr, std::vector<uint8_t>(m * c.pitch, 0xFF));
  out->options.test_program = program->prog_addr;
  out->options.test_length = static_cast<uint32_t>(program->descriptors.size());
  out->options.test_result = c.hbm_addr;
  out->options.test_bytes = static_cast<uint32_t>(m * c.pitch);
  out->options.test_sum = sum;
  *end = program->hbm_bytes;
  return absl::OkStatus();
}

// Zeros into all rows of every vector register; those of the load units from
// the unified buffer.
std::string ClearRegisters(const Preset& preset) {
  std::string text = absl::StrCat("li s2, ", preset.vector_rows(), "\nvl s2\n");
  for (int v = 0; v < 16; ++v)
    absl::StrAppend(&text, "ld32 v", v, ", s1, s0\n");
  for (int v = 16; v < 32; ++v)
    absl::StrAppend(&text, "ior v", v, ", v0, v0\n");
  for (int v = 32; v < 40; ++v) absl::StrAppend(&text, "mov v", v, ", s0\n");
  return text + "halt\n";
}

// Unified buffer, accumulators, vector registers and instructions to zero. One
// flag after the other: nothing overlaps.
absl::Status AddScrub(const Preset& preset, uint64_t at, CorePrograms* out,
                      uint64_t* end) {
  const bool bf16 = Target(preset).float_modules();
  uint64_t program = at + kZeros;
  Chain chain;
  const auto zeros = [&](uint64_t bytes) {
    isa::Load load;
    load.hbm_addr = at;
    load.len = kZeros;
    load.n1 = static_cast<uint16_t>(bytes / kZeros);
    load.n2 = 1;
    load.ub_stride1 = kZeros;
    return load;
  };
  chain.Add(zeros(preset.ub_bytes));
  if (bf16) {
    const uint64_t code_ub = 0, clear = 2 * kZeros;
    auto code = vpu::Assemble(ClearRegisters(preset), "scrub");
    if (!code.ok()) return absl::InternalError(code.status().message());
    const DataSegment segment = vpu::Segment("scrub", program, code->words);
    const vpu::CodeLoad in = vpu::LoadCode(
        segment.hbm_addr, code_ub, static_cast<int64_t>(code->words.size()), 0);
    chain.Add(in.load);
    chain.Add(in.vload);
    isa::Vrun run;
    run.args[0] = clear;
    chain.Add(run);
    chain.Add(zeros(clear));
    isa::Vload none;
    none.count = vpu::kImemWords;
    chain.Add(none);
    out->data.emplace_back(segment.hbm_addr, segment.data);
    program = (segment.hbm_addr + segment.data.size() + 127) / 128 * 128;
  }
  chain.AddWeights(at, 1);
  for (int64_t bank = 0; bank < 2; ++bank) {
    isa::Matmul m = Product(preset, 0, 1);
    if (bank > 0) m.header.flags |= isa::Matmul::kKeepWeights;
    m.line_bytes = static_cast<uint16_t>((bf16 ? 2 : 1) * preset.rows);
    m.nx = static_cast<uint16_t>(preset.acc_bank_rows());
    m.acc = static_cast<uint16_t>(bank * preset.acc_bank_rows());
    chain.Add(m);
  }
  const std::vector<isa::Descriptor> list = chain.Finish();
  out->data.emplace_back(at, std::vector<uint8_t>(kZeros));
  out->data.emplace_back(program, BytesOf(list));
  out->options.scrub_program = program;
  out->options.scrub_length = static_cast<uint32_t>(list.size());
  *end = program + list.size() * sizeof(isa::Descriptor);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CorePrograms> MakeCorePrograms(const Preset& preset, uint64_t at,
                                              uint64_t bytes) {
  CorePrograms out;
  uint64_t end = at;
  absl::Status status = AddScrub(preset, at, &out, &end);
  if (status.ok())
    status =
        (Target(preset).float_modules() ? AddKnownAnswer : AddKnownAnswerInt8)(
            preset, (end + 4095) / 4096 * 4096, &out, &end);
  if (!status.ok()) return status;
  if (end - at > bytes)
    return absl::ResourceExhaustedError(absl::StrFormat(
        "the driver's programs are %d bytes, more than %d", end - at, bytes));
  return out;
}

}  // namespace systole::scalar
