// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The bf16 cores: matrix products from HBM to HBM, and passes of the
// programmable vector unit.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "host/driver/run_loop.h"
#include "host/program/vpu_asm.h"
#include "host/tools/bench.h"
#include "systole/float_matmul.h"
#include "verif/golden/float_ops.h"

namespace systole::tools {
namespace {

// Values of about 1.
golden::Bf16Matrix RandomBf16(int64_t rows, int64_t cols,
                              std::mt19937_64& rng) {
  golden::Bf16Matrix m(rows, cols);
  for (int64_t e = 0; e < m.size(); ++e) {
    const uint64_t r = rng();
    m.data()[e] =
        static_cast<uint16_t>((r & 0x807F) | (120 + (r >> 16) % 10) << 7);
  }
  return m;
}

template <class T>
absl::Span<const uint8_t> BytesOf(const T* data, int64_t count) {
  return {reinterpret_cast<const uint8_t*>(data),
          static_cast<size_t>(count) * sizeof(T)};
}

// Vectors x and y to z, all in the unified buffer.
struct Pass {
  const char* name;
  // Of eight rows: A..C are a register of load unit 0, load unit 1 and ALU 0,
  // O the offset of the rows. s4: bytes of a row; s5: 2.0.
  const char* body;
  float (*golden)(float x, float y);
};

constexpr Pass kPasses[] = {
    {"relu: load, operation, store",
     "ld32 A, s1, s4, O\nfmax C, A, s0\nst32 C, s3, s4, O\n",
     [](float x, float) { return x > 0 ? x : 0.0f; }},
    {"add: two loads, operation, store",
     "ld32 A, s1, s4, O\nld32 B, s2, s4, O\nfadd C, A, B\n"
     "st32 C, s3, s4, O\n",
     [](float x, float y) { return x + y; }},
    {"two loads, multiply-add, store",
     "ld32 A, s1, s4, O\nld32 B, s2, s4, O\nfma C, A, s5, B\n"
     "st32 C, s3, s4, O\n",
     [](float x, float y) { return 2 * x + y; }},
};

// 64 rows a round; registers in turn, so that rows are loaded while others are
// computed and stored.
std::string TextOf(const Pass& pass) {
  std::string text = "loop:\n";
  for (int k = 0; k < 8; ++k) {
    text += absl::StrReplaceAll(pass.body,
                                {{"A", absl::StrCat("v", k)},
                                 {"B", absl::StrCat("v", 8 + k)},
                                 {"C", absl::StrCat("v", 16 + k)},
                                 {"O", absl::StrCat("(", 8 * k, "*4*L)")}});
  }
  return text +
         "addi s1, s1, (64*4*L)\naddi s2, s2, (64*4*L)\n"
         "addi s3, s3, (64*4*L)\naddi s6, s6, -64\nblt s0, s6, loop\nhalt\n";
}

std::vector<float> RandomFloats(int64_t count, std::mt19937_64& rng) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(rng);
  return values;
}

Program ProgramOf(const Preset& preset, uint64_t addr,
                  std::vector<isa::Descriptor> descriptors) {
  Program program;
  program.preset = std::string(preset.name);
  program.descriptors = std::move(descriptors);
  program.descriptors.push_back(isa::Halt{}.Encode());
  program.prog_addr = addr;
  program.hbm_bytes = addr + program.descriptors.size() * isa::kDescriptorBytes;
  program.hbm_bytes = (program.hbm_bytes + preset.beat_bytes() - 1) /
                      preset.beat_bytes() * preset.beat_bytes();
  return program;
}

isa::Load LoadOf(uint64_t hbm, uint64_t ub, int64_t bytes) {
  isa::Load load;
  load.hbm_addr = hbm;
  load.ub_addr = static_cast<uint32_t>(ub);
  load.len = static_cast<uint32_t>(bytes);
  load.n1 = load.n2 = 1;
  return load;
}

}  // namespace

absl::StatusOr<Measurement> Bench::MeasureFloat(const std::string& preset,
                                                int64_t m, int64_t k, int64_t n,
                                                const std::string& name) {
  progress_.set_label(absl::StrFormat("%s: %s", preset, name));
  const auto device = Open(preset);
  if (!device.ok()) return device.status();
  std::mt19937_64 rng(args_.seed);
  const golden::Bf16Matrix a = RandomBf16(m, k, rng), b = RandomBf16(k, n, rng);
  compiler::FloatMatmulSpec spec;
  spec.m = m;
  spec.k = k;
  spec.n = n;
  spec.b.assign(b.data(), b.data() + b.size());
  const auto program = compiler::CompileFloatMatmul(spec, (*device)->preset());
  if (!program.ok()) return program.status();
  if (absl::Status s = (*device)->Load(*program); !s.ok()) return s;
  const TensorInfo& c = *program->FindTensor("c");
  auto stats =
      RunLoaded(**device, *program,
                {{program->FindTensor("a"), BytesOf(a.data(), a.size())}});
  if (!stats.ok()) return stats.status();
  const auto got = (*device)->ReadTensor(c);
  if (!got.ok()) return got.status();

  Measurement result;
  result.run.stats = *std::move(stats);
  result.macs = program->layers[0].macs;
  result.ideal_cycles = program->layers[0].ideal_cycles;
  result.expected_cycles =
      compiler::EstimateCycles(*program, (*device)->preset());
  LayerRun layer;
  layer.info = program->layers[0];
  layer.cycles = static_cast<int64_t>(result.run.stats.cycles);
  result.run.layers = {layer};
  CountBytes(*program, (*device)->preset(), result.run.layers);
  const golden::Bf16Matrix want = golden::ToBf16(
      golden::FloatMatmul(golden::FromBf16(a), golden::FromBf16(b),
                          static_cast<int>((*device)->preset().rows)));
  const std::string mismatch =
      DescribeMismatch(*program, (*device)->preset(), layer.info, c, *got,
                       BytesOf(want.data(), want.size()), result.run.stats);
  if (!mismatch.empty())
    return absl::DataLossError(absl::StrFormat("%s: %s", name, mismatch));
  result.run.layers[0].bit_exact = true;
  if (absl::Status s = StartAgain(**device, *program, result); !s.ok())
    return s;
  return result;
}

absl::StatusOr<std::vector<Record>> Bench::FloatMatmuls() {
  std::vector<Record> records;
  Table table({"bf16 matmul", "preset", "MACs", "ideal", "cycles", "starts",
               "of peak", "goal", "bit-exact", "cause of the shortfall"});
  struct Item {
    const char* preset;
    int64_t m, k, n;
    double goal;
  };
  for (const Item& item : std::vector<Item>{{"v2", 1024, 1024, 1024, 0.97},
                                            {"v2", 256, 256, 256, 0.80},
                                            {"v2", 512, 512, 512, 0},
                                            {"v2", 128, 1024, 1024, 0},
                                            {"lite", 256, 256, 256, 0},
                                            {"mini", 128, 128, 128, 0},
                                            {"minichip", 128, 128, 128, 0},
                                            {"v2chip", 1024, 1024, 1024, 0}}) {
    // v2chip alone is not built with the others (make pair): it may be missing,
    // or be of the RTL that was.
    if (std::strcmp(item.preset, "v2chip") == 0) {
      const absl::Status model = Open(item.preset).status();
      if (absl::IsFailedPrecondition(model))
        std::fprintf(stderr, "systole: v2chip is left out: %s\n",
                     std::string(model.message()).c_str());
      if (absl::IsFailedPrecondition(model) || absl::IsNotFound(model))
        continue;
    }
    const std::string name =
        absl::StrFormat("%dx%dx%d", item.m, item.k, item.n);
    const auto m = MeasureFloat(item.preset, item.m, item.k, item.n, name);
    if (!m.ok()) return m.status();
    Record r = MakeRecord("bf16", item.preset, name, *m);
    r.more["goal"] = item.goal > 0 ? nlohmann::ordered_json(item.goal)
                                   : nlohmann::ordered_json(nullptr);
    r.more["cause"] = CauseOfShortfall(m->run.stats, m->ideal_cycles);
    table.Add({name, item.preset, Thousands(m->macs),
               Thousands(m->ideal_cycles),
               r.cycles ? Thousands(*r.cycles) : "-", StartsText(*m),
               r.utilisation ? Percent(*r.utilisation) : "-",
               item.goal > 0 ? Percent(item.goal) : "", YesNo(r.bit_exact),
               r.cycles ? r.more["cause"].get<std::string>() : ""});
    records.push_back(std::move(r));
  }
  Print("bf16 products, HBM to HBM, loads and stores included", table);
  return records;
}

absl::StatusOr<Record> Bench::MeasurePass(const std::string& preset_name,
                                          int pass_index) {
  const Pass& pass = kPasses[pass_index];
  progress_.set_label(absl::StrFormat("%s: %s", preset_name, pass.name));
  const auto device = Open(preset_name);
  if (!device.ok()) return device.status();
  const Preset& preset = (*device)->preset();
  const auto code =
      vpu::Assemble(TextOf(pass), pass.name, {{"L", preset.cols}});
  if (!code.ok()) return code.status();

  // A quarter of the buffer each: x, y, z, code.
  const int64_t quarter = preset.ub_bytes / 4, row = 4 * preset.cols;
  const int64_t rows = std::min<int64_t>(4096, quarter / row);
  const int64_t bytes = rows * row, code_addr = 3 * bytes;
  const uint64_t prog_addr = code_addr + 8 * vpu::kImemWords;
  std::mt19937_64 rng(args_.seed);
  const std::vector<float> x = RandomFloats(rows * preset.cols, rng),
                           y = RandomFloats(rows * preset.cols, rng);
  vpu::CodeLoad in =
      vpu::LoadCode(code_addr, 3 * quarter,
                    static_cast<int64_t>(code->words.size()), /*addr=*/0);
  in.load.header.post_mask = in.vload.header.wait_mask = 1;
  Program fill = ProgramOf(
      preset, prog_addr,
      {in.load.Encode(), in.vload.Encode(), LoadOf(0, 0, bytes).Encode(),
       LoadOf(bytes, quarter, bytes).Encode()});
  fill.segments.push_back(vpu::Segment("pass", code_addr, code->words));
  isa::Vrun vrun;
  vrun.args = {0,
               static_cast<uint32_t>(quarter),
               static_cast<uint32_t>(2 * quarter),
               static_cast<uint32_t>(row),
               0x40000000,
               static_cast<uint32_t>(rows)};
  isa::Store store;
  store.hbm_addr = 2 * bytes;
  store.ub_addr = static_cast<uint32_t>(2 * quarter);
  store.len = static_cast<uint32_t>(bytes);
  store.n1 = store.n2 = 1;
  for (absl::Status s : {(*device)->Write(0, BytesOf(x.data(), x.size())),
                         (*device)->Write(bytes, BytesOf(y.data(), y.size())),
                         (*device)->Run(fill).status()}) {
    if (!s.ok()) return s;
  }
  const auto stats =
      (*device)->Run(ProgramOf(preset, prog_addr, {vrun.Encode()}));
  if (!stats.ok()) return stats.status();
  const auto out =
      (*device)->Run(ProgramOf(preset, prog_addr, {store.Encode()}));
  if (!out.ok()) return out.status();
  std::vector<float> got(x.size());
  absl::Status read = (*device)->Read(
      2 * bytes, absl::MakeSpan(reinterpret_cast<uint8_t*>(got.data()), bytes));
  if (!read.ok()) return read;
  for (size_t e = 0; e < got.size(); ++e) {
    const float want = pass.golden(x[e], y[e]);
    if (std::memcmp(&got[e], &want, sizeof(want)) == 0) continue;
    return absl::DataLossError(
        absl::StrFormat("%s: row %d, lane %d: got %g, golden %g", pass.name,
                        e / preset.cols, e % preset.cols, got[e], want));
  }
  Record r = RunRecord("elementwise", preset, pass.name, *stats, 0);
  r.macs.reset();
  r.peak_macs_per_cycle.reset();
  r.utilisation.reset();
  r.bit_exact = true;
  r.more["rows"] = rows;
  if (r.cycles)
    r.more["cycles_per_row"] =
        static_cast<double>(*r.cycles) / static_cast<double>(rows);
  return r;
}

absl::StatusOr<std::vector<Record>> Bench::Elementwise() {
  std::vector<Record> records;
  Table table({"pass", "preset", "rows", "cycles", "cycles a row", "goal",
               "bit-exact"});
  for (const char* preset : {"v2", "lite"}) {
    for (size_t pass = 0; pass < std::size(kPasses); ++pass) {
      auto r = MeasurePass(preset, static_cast<int>(pass));
      if (!r.ok()) return r.status();
      table.Add({r->name, preset, Thousands(r->more["rows"].get<int64_t>()),
                 r->cycles ? Thousands(*r->cycles) : "-",
                 r->cycles
                     ? absl::StrFormat("%.3f",
                                       r->more["cycles_per_row"].get<double>())
                     : "-",
                 "1", YesNo(r->bit_exact)});
      records.push_back(*std::move(r));
    }
  }
  Print("Elementwise passes of the vector unit, in the unified buffer", table);
  return records;
}

}  // namespace systole::tools
