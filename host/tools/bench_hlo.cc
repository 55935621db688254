// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Programs of op set hlo as JAX and Keras hand them over, HBM to HBM, beside
// their bound: multiply-adds over the array, or bytes of operands and results
// over the memory, whichever takes longer.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "host/ir/text.h"
#include "host/runtime/client.h"
#include "host/runtime/whole_program.h"
#include "host/tools/bench.h"
#include "host/tools/interrupt.h"
#include "host/tools/module_file.h"
#include "host/tools/train_data.h"
#include "host/tools/train_program.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::tools {
namespace {

struct Probe {
  std::string name, body;  // of the module
  int64_t macs = 0;
  int64_t unread = 0;  // bytes of operands that are not needed
};

Probe Product(int64_t m, int64_t k, int64_t n) {
  return {absl::StrFormat("product %d x %d x %d", m, k, n),
          absl::StrFormat(R"(
  %%a = bf16[%1$d,%2$d] parameter(), name="a"
  %%b = bf16[%2$d,%3$d] parameter(), name="b"
  %%r = f32[%1$d,%3$d] hlo.dot_general(%%a, %%b), lhs_batching=[],
    rhs_batching=[], lhs_contracting=[1], rhs_contracting=[0],
    precision=DEFAULT)",
                          m, k, n),
          m * k * n};
}

constexpr char kWindow[] = "stride=[1,1], low=[1,1], high=[1,1], ";
constexpr char kPlain[] =
    "lhs_dilation=[1,1], rhs_dilation=[1,1], reversal=[0,0], input_batch=0, "
    "input_feature=3, input_spatial=[1,2], kernel_input_feature=2, "
    "kernel_output_feature=3, kernel_spatial=[0,1], output_batch=0, "
    "output_feature=3, output_spatial=[1,2], feature_group_count=1, "
    "batch_group_count=1, precision=DEFAULT";
// The gradients of the operands: by the reversed kernel; of images as features.
constexpr char kOfInput[] =
    "lhs_dilation=[1,1], rhs_dilation=[1,1], reversal=[1,1], input_batch=0, "
    "input_feature=3, input_spatial=[1,2], kernel_input_feature=3, "
    "kernel_output_feature=2, kernel_spatial=[0,1], output_batch=0, "
    "output_feature=3, output_spatial=[1,2], feature_group_count=1, "
    "batch_group_count=1, precision=DEFAULT";
constexpr char kOfKernel[] =
    "lhs_dilation=[1,1], rhs_dilation=[1,1], reversal=[0,0], input_batch=3, "
    "input_feature=0, input_spatial=[1,2], kernel_input_feature=0, "
    "kernel_output_feature=3, kernel_spatial=[1,2], output_batch=2, "
    "output_feature=3, output_spatial=[0,1], feature_group_count=1, "
    "batch_group_count=1, precision=DEFAULT";
constexpr int64_t kConvolution = int64_t{8} * 28 * 28 * 9 * 128 * 128;

std::string Sum(const char* result, const char* of, const char* shape,
                const char* op = "add", const char* first = "zero",
                const char* dimension = "1") {
  return absl::StrFormat(R"(
  %%%s = f32[%s] hlo.reduce(%%%s, %%%s), dimensions=[%s] {
    %%p = f32[] parameter()
    %%q = f32[] parameter()
    %%s = f32[] hlo.%s(%%p, %%q)
    return %%s
  })",
                         result, shape, of, first, dimension, op);
}

std::string Spread(const char* result, const char* of, const char* dimension) {
  return absl::StrFormat(
      "\n  %%%s = f32[1024,1024] hlo.broadcast_in_dim(%%%s), dimensions=[%s]",
      result, of, dimension);
}

std::string Constant(const char* name, const char* value) {
  return absl::StrFormat(
      "\n  %%%1$s_ = f32[] constant(), data=[%2$s]"
      "\n  %%%1$s = f32[1024,1024] hlo.broadcast_in_dim(%%%1$s_), "
      "dimensions=[]",
      name, value);
}

std::vector<Probe> Probes() {
  std::vector<Probe> probes = {Product(256, 256, 256),
                               Product(1024, 1024, 1024),
                               Product(4096, 256, 512), Product(1, 1024, 1024)};
  const std::string image = R"(
  %x = bf16[8,28,28,128] parameter(), name="x")";
  const std::string kernel = R"(
  %w = bf16[3,3,128,128] parameter(), name="w")";
  probes.push_back({"convolution 3 x 3",
                    absl::StrCat(image, kernel,
                                 "\n  %r = f32[8,28,28,128] "
                                 "hlo.convolution(%x, %w), ",
                                 kWindow, kPlain),
                    kConvolution});
  probes.push_back({"convolution, bias, relu",
                    absl::StrCat(image, kernel, R"(
  %bias = f32[128] parameter(), name="bias"
  %y = f32[8,28,28,128] hlo.convolution(%x, %w), )",
                                 kWindow, kPlain, R"(
  %b = f32[8,28,28,128] hlo.broadcast_in_dim(%bias), dimensions=[3]
  %s = f32[8,28,28,128] hlo.add(%y, %b)
  %zero = f32[] constant(), data=[0]
  %z = f32[8,28,28,128] hlo.broadcast_in_dim(%zero), dimensions=[]
  %m = f32[8,28,28,128] hlo.maximum(%s, %z)
  %r = bf16[8,28,28,128] hlo.convert(%m))"),
                    kConvolution});
  probes.push_back({"convolution, both gradients",
                    absl::StrCat(image, kernel, R"(
  %g = f32[8,28,28,128] parameter(), name="g"
  %xf = f32[8,28,28,128] hlo.convert(%x)
  %wf = f32[3,3,128,128] hlo.convert(%w)
  %r = f32[8,28,28,128] hlo.convolution(%g, %wf), )",
                                 kWindow, kOfInput, R"(
  %second = f32[3,3,128,128] hlo.convolution(%xf, %g), )",
                                 kWindow, kOfKernel),
                    2 * kConvolution});
  const std::string x = "\n  %x = f32[1024,1024] parameter(), name=\"x\"";
  const std::string zero = "\n  %zero = f32[] constant(), data=[0]";
  probes.push_back(
      {"softmax",
       absl::StrCat(x, zero, "\n  %low = f32[] constant(), data=[-inf]",
                    Sum("m", "x", "1024", "maximum", "low"),
                    Spread("ms", "m", "0"),
                    "\n  %d = f32[1024,1024] hlo.subtract(%x, %ms)"
                    "\n  %e = f32[1024,1024] hlo.exponential(%d)",
                    Sum("t", "e", "1024"), Spread("ts", "t", "0"),
                    "\n  %r = f32[1024,1024] hlo.divide(%e, %ts)")});
  probes.push_back(
      {"layer norm",
       absl::StrCat(x, R"(
  %scale = f32[1024] parameter(), name="scale"
  %shift = f32[1024] parameter(), name="shift"
  %n = f32[] constant(), data=[1024]
  %ns = f32[1024] hlo.broadcast_in_dim(%n), dimensions=[]
  %small = f32[] constant(), data=[1e-5]
  %eps = f32[1024] hlo.broadcast_in_dim(%small), dimensions=[])",
                    zero, Sum("t", "x", "1024"),
                    "\n  %m = f32[1024] hlo.divide(%t, %ns)",
                    Spread("ms", "m", "0"),
                    "\n  %d = f32[1024,1024] hlo.subtract(%x, %ms)"
                    "\n  %q = f32[1024,1024] hlo.multiply(%d, %d)",
                    Sum("u", "q", "1024"), R"(
  %v = f32[1024] hlo.divide(%u, %ns)
  %ve = f32[1024] hlo.add(%v, %eps)
  %i = f32[1024] hlo.rsqrt(%ve))",
                    Spread("is", "i", "0"), Spread("ss", "scale", "1"),
                    Spread("bs", "shift", "1"), R"(
  %f = f32[1024,1024] hlo.multiply(%d, %is)
  %h = f32[1024,1024] hlo.multiply(%f, %ss)
  %r = f32[1024,1024] hlo.add(%h, %bs))")});
  probes.push_back(
      {"gelu",
       absl::StrCat(x, Constant("a", "0.044715"), Constant("b", "0.7978846"),
                    Constant("c", "0.5"), Constant("o", "1"), R"(
  %2 = f32[1024,1024] hlo.multiply(%x, %x)
  %3 = f32[1024,1024] hlo.multiply(%2, %x)
  %4 = f32[1024,1024] hlo.multiply(%3, %a)
  %5 = f32[1024,1024] hlo.add(%4, %x)
  %6 = f32[1024,1024] hlo.multiply(%5, %b)
  %7 = f32[1024,1024] hlo.tanh(%6)
  %8 = f32[1024,1024] hlo.add(%7, %o)
  %9 = f32[1024,1024] hlo.multiply(%8, %c)
  %r = f32[1024,1024] hlo.multiply(%x, %9))")});
  probes.push_back({"transpose", absl::StrCat(x, R"(
  %r = f32[1024,1024] hlo.transpose(%x), permutation=[1,0])")});
  probes.push_back({"transpose to NCHW", absl::StrCat(image, R"(
  %r = bf16[8,128,28,28] hlo.transpose(%x), permutation=[0,3,1,2])")});
  probes.push_back({"pad", absl::StrCat(image, R"(
  %v = bf16[] parameter(), name="v"
  %r = bf16[8,30,30,128] hlo.pad(%x, %v), low=[0,1,1,0], high=[0,1,1,0],
    interior=[0,0,0,0])")});
  probes.push_back(
      {"column sum",
       absl::StrCat(x, zero, Sum("r", "x", "1024", "add", "zero", "0"))});
  probes.push_back(
      {"depthwise convolution 3 x 3",
       absl::StrCat(image, R"(
  %w = bf16[3,3,1,128] parameter(), name="w"
  %r = bf16[8,28,28,128] hlo.convolution(%x, %w), )",
                    kWindow,
                    absl::StrReplaceAll(kPlain, {{"feature_group_count=1",
                                                  "feature_group_count=128"}})),
       kConvolution / 128});
  const std::string rows = R"(
  %t = f32[16384,512] parameter(), name="t"
  %n = i32[1024,1] parameter(), name="n"
  %most = i32[] constant(), data=[16383]
  %mask = i32[1024,1] hlo.broadcast_in_dim(%most), dimensions=[]
  %i = i32[1024,1] hlo.and(%n, %mask))";
  probes.push_back({"rows of a table", absl::StrCat(rows, R"(
  %r = f32[1024,512] hlo.gather(%t, %i), offset_dims=[1],
    collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1,
    slice_sizes=[1,512])"),
                    0, int64_t{16384 - 1024} * 512 * 4});
  probes.push_back({"rows added to a table", absl::StrCat(rows, R"(
  %u = f32[1024,512] parameter(), name="u"
  %r = f32[16384,512] hlo.scatter(%t, %i, %u), update_window_dims=[1],
    inserted_window_dims=[0], scatter_dims_to_operand_dims=[0],
    index_vector_dim=1 {
    %p = f32[] parameter()
    %q = f32[] parameter()
    %s = f32[] hlo.add(%p, %q)
    return %s
  })")});
  return probes;
}

}  // namespace

absl::StatusOr<Record> Bench::MeasureProgram(
    const std::string& section, runtime::Client& client,
    const std::string& name, const runtime::WholeProgram& program,
    const std::vector<ir::Literal>& inputs, std::optional<int64_t> macs,
    int64_t unread, Table& table) {
  const Preset& preset = client.preset();
  progress_.set_label(absl::StrCat(std::string(preset.name), ": ", name));
  auto executable = client.Compile(program.DeviceModule());
  if (!executable.ok()) return executable.status();
  if (!macs) macs = (*executable)->placement().array.macs;
  int64_t bytes = -unread;
  for (const ir::Type& type : (*executable)->parameters())
    bytes += type.bytes();
  for (const ir::Type& type : (*executable)->results()) bytes += type.bytes();
  runtime::Device& device = client.device(0);
  (void)device.TakeWork();
  const auto outputs = runtime::RunOnce(program, **executable, client, inputs);
  if (Interrupted()) return absl::CancelledError(name);
  if (!outputs.ok()) return outputs.status();
  const runtime::CoreWork work = device.TakeWork();
  const auto wanted = golden::RunHlo(*program.module, inputs);
  if (!wanted.ok()) return wanted.status();
  Record record = RunRecord(section, preset, name, work.stats, *macs);
  record.bit_exact = *outputs == *wanted;
  if (!*record.bit_exact) {
    return absl::DataLossError(
        absl::StrCat(name, " on ", std::string(preset.name),
                     ": the results are not those of the golden model"));
  }
  const int64_t bound =
      std::max((*macs + preset.macs_per_cycle() - 1) / preset.macs_per_cycle(),
               (bytes + preset.beat_bytes() - 1) / preset.beat_bytes());
  const auto cycles = static_cast<int64_t>(work.stats.cycles);
  const double share =
      cycles > 0 ? static_cast<double>(bound) / static_cast<double>(cycles) : 0;
  record.more["bound"] = bound;
  record.more["share_of_bound"] = share;
  record.more["programs"] = work.programs;
  table.Add({name, std::string(preset.name),
             cycles > 0 ? Thousands(cycles) : "-", Thousands(bound),
             cycles > 0 ? Percent(share) : "-", Thousands(work.programs),
             YesNo(*record.bit_exact)});
  return record;
}

namespace {

constexpr char kBoundNote[] =
    "bound: multiply-adds over the array, or bytes of operands and results "
    "over the memory; systole profile FILE tells where the cycles go";

Table BoundTable() {
  return Table({"program", "preset", "cycles", "bound", "of it", "programs",
                "bit-exact"});
}

}  // namespace

absl::StatusOr<std::unique_ptr<runtime::Client>> Bench::OpenClient(
    const std::string& preset) const {
  runtime::ClientOptions options;
  options.preset = preset;
  options.backend = args_.backend;
  options.device.simulation.seed = args_.seed;
  options.device.progress = [this](uint64_t count) {
    progress_.Report(count, "cycles");
  };
  options.device.stop = Interrupted;
  return runtime::Client::Create(options);
}

absl::StatusOr<std::vector<Record>> Bench::Hlo() {
  std::vector<Record> records;
  Table table = BoundTable();
  for (const char* name : {"v2", "lite"}) {
    const auto client = OpenClient(name);
    if (!client.ok()) return client.status();
    for (const Probe& probe : Probes()) {
      const bool two = absl::StrContains(probe.body, "%second");
      auto module = ir::Parse(
          absl::StrCat("module @probe {", probe.body, "\n  return %r as \"r\"",
                       two ? ", %second as \"second\"" : "", "\n}\n"));
      if (!module.ok()) return module.status();
      const auto program = runtime::WholeProgram::Of(*std::move(module));
      std::vector<ir::Literal> inputs;
      for (const ir::Type& type : program.input_types)
        inputs.push_back(RandomOf(type, args_.seed + inputs.size()));
      auto record = MeasureProgram("hlo", **client, probe.name, program, inputs,
                                   probe.macs, probe.unread, table);
      if (!record.ok()) return record.status();
      records.push_back(*std::move(record));
    }
  }
  progress_.Clear();
  Print("StableHLO programs, HBM to HBM, beside their bound", table,
        kBoundNote);
  return records;
}

// The first step of models/digits_training, on the first test digits.
absl::StatusOr<std::vector<Record>> Bench::TrainingSteps() {
  const auto program = ReadTrainProgram(args_.training);
  if (!program.ok()) return program.status();
  const auto data =
      TrainData::Read(program->step, {{}, "--data", args_.digits, "test"});
  if (!data.ok()) return data.status();
  auto inputs = InitialState(*program, static_cast<uint32_t>(args_.seed));
  if (!inputs.ok()) return inputs.status();
  std::vector<int64_t> samples(program->batch);
  std::iota(samples.begin(), samples.end(), int64_t{0});
  const auto arguments = StepArguments(*program, *data, samples, {});
  inputs->insert(inputs->end(), arguments.begin(), arguments.end());
  std::vector<Record> records;
  Table table = BoundTable();
  for (const char* name : {"v2", "lite"}) {
    const auto client = OpenClient(name);
    if (!client.ok()) return client.status();
    auto record =
        MeasureProgram("training", **client,
                       absl::StrFormat("step, %d digits", program->batch),
                       program->step.program, *inputs, std::nullopt, 0, table);
    if (!record.ok()) return record.status();
    record->more["batch"] = program->batch;
    records.push_back(*std::move(record));
  }
  progress_.Clear();
  Print(absl::StrCat("Training step, ", program->step.file), table, kBoundNote);
  return records;
}

}  // namespace systole::tools
