// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// run without a model: the digits network on a backend, every layer checked
// against the golden model.
#include <algorithm>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "host/files/printable.h"
#include "host/files/write_file.h"
#include "host/model/checkpoint.h"
#include "host/tools/checker.h"
#include "host/tools/digits.h"
#include "host/tools/interrupt.h"
#include "host/tools/layer_table.h"
#include "host/tools/report.h"
#include "host/tools/run.h"
#include "systole/compiler.h"
#include "systole/model.h"

namespace systole::tools {
namespace {

struct Totals {
  std::vector<LayerRun> layers;
  int64_t images = 0, right = 0, cycles = 0;
  double host_cpu_seconds = 0;
  EccCounts ecc;
  std::vector<std::string> mismatches;
};

void Accumulate(const CheckedRun& run, Totals& totals) {
  if (totals.layers.empty()) {
    totals.layers = run.layers;
  } else {
    for (size_t l = 0; l < run.layers.size(); ++l) {
      LayerRun& sum = totals.layers[l];
      const LayerRun& layer = run.layers[l];
      sum.info.macs += layer.info.macs;
      sum.info.ideal_cycles += layer.info.ideal_cycles;
      sum.cycles += layer.cycles;
      sum.hbm_read_bytes += layer.hbm_read_bytes;
      sum.hbm_write_bytes += layer.hbm_write_bytes;
      if (sum.bit_exact && layer.bit_exact)
        sum.bit_exact = *sum.bit_exact && *layer.bit_exact;
    }
  }
  totals.cycles += static_cast<int64_t>(run.stats.cycles);
  totals.host_cpu_seconds += run.stats.host_cpu_seconds;
  totals.ecc.Add(run.stats.ecc);
  for (const std::string& text : run.mismatches())
    totals.mismatches.push_back(text);
}

int CountRight(const std::vector<uint8_t>& scores, const uint8_t* labels,
               int64_t images) {
  const int64_t classes = static_cast<int64_t>(scores.size()) / images;
  int right = 0;
  for (int64_t i = 0; i < images; ++i) {
    const int8_t* s = reinterpret_cast<const int8_t*>(&scores[i * classes]);
    right += std::max_element(s, s + classes) - s ==
             labels[i];  // the first of equals
  }
  return right;
}

absl::Status CheckArgs(const RunArgs& args, const model::Network& network,
                       const Digits& digits) {
  if (args.images > digits.count) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d images: %s has %d", args.images, args.digits, digits.count));
  }
  const model::Tensor& in = network.input();
  if (in.height != digits.height || in.width != digits.width ||
      in.channels != 1) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s takes %dx%dx%d, the digits are %dx%dx1", args.network, in.height,
        in.width, in.channels, digits.height, digits.width));
  }
  return absl::OkStatus();
}

std::vector<Record> Records(const RunArgs& args, const Preset& preset,
                            const Totals& totals) {
  const bool rtl = args.backend == "rtl";
  std::vector<Record> records;
  Record all;
  all.macs = 0;
  all.hbm_read_bytes = all.hbm_write_bytes = 0;
  int64_t ideal = 0;
  for (const LayerRun& layer : totals.layers) {
    Record r;
    r.name = layer.info.name;
    r.section = "layer";
    r.macs = layer.info.macs;
    r.hbm_read_bytes = layer.hbm_read_bytes;
    r.hbm_write_bytes = layer.hbm_write_bytes;
    r.bit_exact = layer.bit_exact;
    if (rtl) r.cycles = layer.cycles;
    if (layer.info.ideal_cycles > 0) {
      const double peak = static_cast<double>(preset.macs_per_cycle());
      r.ideal_utilisation =
          static_cast<double>(layer.info.macs) /
          (static_cast<double>(layer.info.ideal_cycles) * peak);
    }
    r.more = {{"operation", layer.info.op},
              {"shape", layer.info.shape},
              {"images", totals.images}};
    *all.macs += layer.info.macs;
    *all.hbm_read_bytes += layer.hbm_read_bytes;
    *all.hbm_write_bytes += layer.hbm_write_bytes;
    ideal += layer.info.ideal_cycles;
    records.push_back(std::move(r));
  }
  all.name = "network";
  all.section = "total";
  if (args.backend != "iss") all.cycles = totals.cycles;
  all.bit_exact = totals.mismatches.empty();
  all.host_cpu_seconds = totals.host_cpu_seconds;
  if (ideal > 0) {
    all.ideal_utilisation = static_cast<double>(*all.macs) /
                            (static_cast<double>(ideal) *
                             static_cast<double>(preset.macs_per_cycle()));
  }
  all.more = {{"images", totals.images},
              {"accuracy", static_cast<double>(totals.right) /
                               static_cast<double>(totals.images)},
              {"backend", args.backend}};
  records.push_back(std::move(all));
  for (Record& r : records) {
    r.preset = std::string(preset.name);
    r.peak_macs_per_cycle = preset.macs_per_cycle();
    if (r.cycles && *r.cycles > 0) {
      r.utilisation = static_cast<double>(*r.macs) /
                      (static_cast<double>(*r.cycles) *
                       static_cast<double>(preset.macs_per_cycle()));
    }
  }
  return records;
}

void Print(const RunArgs& args, const std::vector<Record>& records,
           const Totals& totals) {
  Table table({"layer", "shape", "MACs", "cycles", "utilisation", "HBM read",
               "HBM written", "bit-exact"});
  bool above = false;
  for (const Record& r : records) {
    above = above || (r.utilisation && *r.utilisation > 1);
    table.Add({r.name, r.more.value("shape", ""), Thousands(*r.macs),
               r.cycles ? Thousands(*r.cycles) : "-",
               r.utilisation ? Percent(*r.utilisation) : "-",
               Thousands(static_cast<int64_t>(*r.hbm_read_bytes)),
               Thousands(static_cast<int64_t>(*r.hbm_write_bytes)),
               YesNo(r.bit_exact)});
  }
  std::printf("%s on %s, %s, %s\n\n%s\n", Printable(args.network).c_str(),
              args.backend.c_str(), args.preset.c_str(),
              Counted(totals.images, "image").c_str(),
              table.ToString().c_str());
  if (above) std::printf("utilisation above 100 %%: %s\n\n", kAbovePeak);
  std::printf("accuracy: %d of %d digits (%s)\n",
              static_cast<int>(totals.right), static_cast<int>(totals.images),
              Percent(static_cast<double>(totals.right) /
                      static_cast<double>(totals.images))
                  .c_str());
  if (totals.host_cpu_seconds > 0 && totals.cycles > 0) {
    std::printf(
        "cycles:   %s, %s simulated cycles per host CPU second (%.2f s)\n",
        Thousands(totals.cycles).c_str(),
        Thousands(static_cast<int64_t>(static_cast<double>(totals.cycles) /
                                       totals.host_cpu_seconds))
            .c_str(),
        totals.host_cpu_seconds);
  }
  PrintEcc(totals.ecc);
}

}  // namespace

absl::Status RunDigits(const RunArgs& args) {
  const int64_t batch = args.batch.value_or(32);
  const auto preset = PresetByName(args.preset);
  if (!preset.ok()) return preset.status();
  const auto network = model::ReadNetworkOrCheckpoint(args.network);
  if (!network.ok()) return OneLine(network.status());
  const auto digits = ReadDigits(args.digits);
  if (!digits.ok()) return digits.status();
  if (absl::Status s = CheckArgs(args, *network, *digits); !s.ok()) return s;

  absl::Status places =
      CheckDistinct({args.waves.trace.file}, {args.network, args.firmware});
  places.Update(CheckTraceRun(args.waves, (args.images + batch - 1) / batch));
  if (places.ok() && !args.reports.empty())
    places = WithHint(MakeFolder(args.reports), kOtherReports);
  if (!places.ok()) return places;
  Progress progress(args.quiet);
  auto device = OpenDevice(args, args.preset, progress);
  if (!device.ok()) return device.status();

  Totals totals;
  compiler::Options compile;
  compile.keep_intermediates = true;
  absl::StatusOr<Program> program;
  for (int64_t first = 0; first < args.images; first += batch) {
    const int64_t images = std::min(batch, args.images - first);
    if (first == 0 || images != compile.batch) {
      compile.batch = images;
      program = compiler::CompileNetwork(*network, **preset, compile);
      if (!program.ok()) return program.status();
    }
    progress.set_label(absl::StrFormat("images %d to %d of %d", first,
                                       first + images - 1, args.images));
    const std::vector<int8_t> input =
        digits->Quantised(static_cast<int>(first), static_cast<int>(images));
    const auto expected = GoldenTensors(*network, input, /*raw=*/false);
    if (!expected.ok()) return expected.status();
    const auto run = RunChecked(**device, *program, *network, input, *expected);
    if (Interrupted()) return Stopped(first, args.images);
    if (!run.ok()) return WithWaveform(**device, run.status());
    for (const LayerRun& layer : run->layers) {
      if (layer.wrong_cycle) RecordWrong(**device, 0, *layer.wrong_cycle);
    }
    totals.right += CountRight(run->output(), &digits->labels[first], images);
    totals.images += images;
    Accumulate(*run, totals);
  }
  progress.Clear();

  const std::vector<Record> records = Records(args, **preset, totals);
  if (args.json) {
    PrintJson(ToJson(records));
  } else {
    Print(args, records, totals);
  }
  if (!args.reports.empty()) {
    if (absl::Status s = WriteJson(args.reports + "/run.json", ToJson(records));
        !s.ok())
      return s;
  }
  if (totals.mismatches.empty()) return absl::OkStatus();
  std::string text = Counted(totals.mismatches.size(), "mismatch") + ":";
  for (const std::string& mismatch : totals.mismatches)
    text += "\n  " + Printable(mismatch);
  return WithWaveform(**device, absl::DataLossError(text));
}

}  // namespace systole::tools
