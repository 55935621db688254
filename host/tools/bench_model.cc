// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/bench_model.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/files/printable.h"
#include "host/runtime/build.h"
#include "host/runtime/runner.h"
#include "host/tools/interrupt.h"
#include "host/tools/model_check.h"
#include "host/tools/tensor_io.h"
#include "systole/target.h"

namespace systole::tools {
namespace {

// What is known about a layer, or of all of them.
struct Row {
  int64_t macs = 0, ideal = 0, expected = 0, cycles = 0, parameters = 0;
  int64_t roofline = 0;
  uint64_t read = 0, written = 0, least = 0;
  std::string cause;  // of the cycles beyond the roofline

  void Add(const Row& other) {
    macs += other.macs;
    ideal += other.ideal;
    expected += other.expected;
    cycles += other.cycles;
    parameters += other.parameters;
    roofline += other.roofline;
    read += other.read;
    written += other.written;
    least += other.least;
  }
};

std::string Bytes(uint64_t bytes) {
  return Thousands(static_cast<int64_t>(bytes));
}

double Ratio(double a, double b) { return b > 0 ? a / b : 0; }

class ModelBench {
 public:
  ModelBench(const BenchArgs& args, const ModelBenchArgs& model_args,
             const Preset& preset, Progress& progress)
      : args_(args),
        model_args_(model_args),
        preset_(preset),
        progress_(progress) {}

  absl::StatusOr<std::vector<Record>> Measure(const std::string& path) {
    const auto start = std::chrono::steady_clock::now();
    const auto source = runtime::ReadSource(path, nullptr, &preset_);
    if (!source.ok()) return OneLine(source.status());
    compiler::Options options;
    options.batch = model_args_.batch;
    const auto model = runtime::Build(*source, preset_, options);
    if (!model.ok()) return model.status();
    compile_seconds_ =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    const auto run = Run(*source, *model);
    if (!run.ok()) return run.status();
    return Report(*model, *run);
  }

 private:
  absl::StatusOr<runtime::BatchRun> Run(const runtime::Source& source,
                                        const runtime::CompiledModel& model) {
    progress_.set_label(model.name);
    DeviceOptions options;
    options.preset = std::string(preset_.name);
    if (args_.backend == "rtl") options.sample_cycles = kSampleCycles;
    options.progress = [this](uint64_t count) {
      progress_.Report(count,
                       args_.backend == "rtl" ? "cycles" : "descriptors");
    };
    options.stop = Interrupted;
    auto device = Device::Open(args_.backend, options);
    if (!device.ok()) return device.status();
    std::vector<ir::Literal> inputs;
    for (const ir::Node* input : model.inputs()) {
      inputs.push_back(RandomValues(input->type, model_args_.batch,
                                    args_.seed + inputs.size()));
    }
    auto run = runtime::Runner(**device, model).Run(inputs);
    if (!run.ok()) return run;
    ModelCheck check(source);
    if (absl::Status s = check.Compare(model, inputs, *run); !s.ok()) return s;
    if (!check.mismatches().empty())
      return absl::DataLossError(check.mismatches()[0]);
    progress_.Clear();
    return run;
  }

  std::vector<Row> Rows(const Program& program, const RunStats& stats) const {
    std::vector<LayerRun> runs(program.layers.size());
    CountBytes(program, preset_, runs);
    AttributeCycles(program, stats, runs);
    const std::vector<int64_t> expected =
        compiler::EstimateLayerCycles(program, preset_);
    std::vector<Row> rows;
    uint64_t begin = 0;
    for (size_t l = 0; l < runs.size(); ++l) {
      const LayerInfo& info = program.layers[l];
      Row row;
      row.macs = info.macs;
      row.ideal = info.ideal_cycles;
      row.expected = expected[l];
      row.cycles = runs[l].cycles;
      row.parameters = info.parameter_bytes;
      row.roofline = std::max(
          info.ideal_cycles,
          info.parameter_bytes / Target(preset_).memory_bytes_per_cycle());
      row.read = runs[l].hbm_read_bytes;
      row.written = runs[l].hbm_write_bytes;
      row.least = LeastBytes(program, l);
      const uint64_t end = begin + runs[l].cycles;
      if (row.cycles > row.roofline)
        row.cause = CauseOfShortfall(Between(stats, begin, end), row.ideal);
      begin = end;
      rows.push_back(std::move(row));
    }
    return rows;
  }

  Record MakeRecord(const std::string& section, const std::string& name,
                    const std::string& model, const Row& row) const {
    const double peak = static_cast<double>(preset_.macs_per_cycle());
    Record r;
    r.name = name;
    r.section = section;
    r.preset = std::string(preset_.name);
    r.macs = row.macs;
    r.peak_macs_per_cycle = preset_.macs_per_cycle();
    r.hbm_read_bytes = row.read;
    r.hbm_write_bytes = row.written;
    r.bit_exact = true;  // otherwise there is no record
    if (row.ideal > 0) r.ideal_utilisation = Ratio(row.macs, row.ideal * peak);
    r.more = {{"model", model},
              {"images", model_args_.batch},
              {"ideal_cycles", row.ideal},
              {"roofline_cycles", row.roofline},
              {"expected_cycles", row.expected},
              {"least_hbm_bytes", row.least}};
    if (args_.backend != "rtl") return r;
    r.cycles = row.cycles;
    r.utilisation = Ratio(row.macs, row.cycles * peak);
    r.more["of_ideal"] = Ratio(row.ideal, row.cycles);
    r.more["of_roofline"] = Ratio(row.roofline, row.cycles);
    r.more["cause"] = row.cause;
    r.more["prediction_error"] = Ratio(row.expected, row.cycles) - 1;
    return r;
  }

  std::vector<Record> Report(const runtime::CompiledModel& model,
                             const runtime::BatchRun& run) const {
    const bool rtl = args_.backend == "rtl";
    Table table({"layer", "shape", "roofline", "ideal", "expected", "cycles",
                 "of roofline", "of ideal", "of peak", "error", "HBM bytes",
                 "least", "times", "beyond the ideal"});
    const auto add = [&](const std::string& name, const std::string& shape,
                         const Row& row, const Record& record) {
      const uint64_t moved = row.read + row.written;
      table.Add(
          {name, shape, Thousands(row.roofline), Thousands(row.ideal),
           Thousands(row.expected), rtl ? Thousands(row.cycles) : "-",
           rtl && row.roofline > 0 ? Percent(record.more["of_roofline"]) : "-",
           rtl && row.ideal > 0 ? Percent(record.more["of_ideal"]) : "-",
           rtl && row.ideal > 0 ? Percent(*record.utilisation) : "-",
           rtl ? Percent(record.more["prediction_error"]) : "-", Bytes(moved),
           Bytes(row.least),
           row.least > 0 ? absl::StrFormat("%.2f", Ratio(moved, row.least))
                         : "-",
           row.cause});
    };
    std::vector<Record> records;
    Row total;
    size_t number = 0, descriptors = 0;
    for (size_t p = 0; p < model.programs.size(); ++p) {
      const Program& program = model.programs[p];
      const std::vector<Row> rows = Rows(program, run.runs[p]);
      for (size_t l = 0; l < rows.size(); ++l) {
        const LayerInfo& info = program.layers[l];
        Record record = MakeRecord("layer", info.name, model.name, rows[l]);
        record.more["operation"] = info.op;
        record.more["shape"] = info.shape;
        record.more["tiling"] = info.tiling;
        add(absl::StrCat(number++, " ", info.op), info.shape, rows[l], record);
        records.push_back(std::move(record));
        total.Add(rows[l]);
      }
      descriptors += program.descriptors.size();
    }
    Record record = MakeRecord("model", model.name, model.name, total);
    record.host_cpu_seconds = run.stats.host_cpu_seconds;
    record.more["compile_seconds"] = compile_seconds_;
    record.more["descriptor_bytes"] = descriptors * isa::kDescriptorBytes;
    if (rtl) record.more["cause"] = CauseOfShortfall(run.stats, total.ideal);
    add("all", "", total, record);
    if (!args_.json) {
      std::printf("%s on %s, %s, %d image(s) a run; compiled in %.2f s\n\n%s\n",
                  Printable(model.name).c_str(), args_.backend.c_str(),
                  std::string(preset_.name).c_str(),
                  static_cast<int>(model_args_.batch), compile_seconds_,
                  table.ToString().c_str());
      if (rtl) {
        std::printf(
            "of ideal, of roofline: above 100 %% where joined outputs or "
            "groups of channels need fewer vectors than the ideal\n");
        std::printf("beyond the ideal: %s\n\n",
                    record.more["cause"].get<std::string>().c_str());
      }
    }
    records.push_back(std::move(record));
    return records;
  }

  const BenchArgs& args_;
  const ModelBenchArgs& model_args_;
  const Preset& preset_;
  Progress& progress_;
  double compile_seconds_ = 0;
};

}  // namespace

absl::Status BenchModels(const BenchArgs& args,
                         const ModelBenchArgs& model_args) {
  const auto preset = PresetByName(model_args.preset);
  if (!preset.ok()) return preset.status();
  Progress progress(args.quiet);
  ModelBench bench(args, model_args, **preset, progress);
  std::vector<Record> records;
  for (const std::string& path : args.sections) {
    const auto measured = bench.Measure(path);
    if (absl::IsCancelled(measured.status()))
      return InterruptedError(
          absl::StrFormat("in the model %s; no results are written", path));
    if (!measured.ok()) return measured.status();
    records.insert(records.end(), measured->begin(), measured->end());
  }
  if (args.json) PrintJson(ToJson(records));
  if (!args.reports.empty()) {
    if (absl::Status s =
            WriteJson(args.reports + "/bench_models.json", ToJson(records));
        !s.ok())
      return s;
  }
  return args.compare.empty() ? absl::OkStatus()
                              : CompareRecords(records, args.compare);
}

}  // namespace systole::tools
