// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions: the list on edge, and the one of NVDLA's smallest configuration
// on nano.
#include <cstdio>

#include "absl/strings/str_format.h"
#include "host/tools/bench.h"
#include "host/tools/digits.h"

namespace systole::tools {
namespace {

struct EdgeConv {
  ConvSpec spec;
  int64_t batch;
};

// ResNet-50's distinct shapes with outputs of 28x28 or 14x14, first layers of 3
// channels, larger kernels.
std::vector<EdgeConv> EdgeConvs() {
  const auto conv = [](const char* name, int side, int channels, int kernel,
                       int filters, int stride, int64_t batch = 1) {
    ConvSpec s;
    s.name = name;
    s.width = s.height = side;
    s.channels = channels;
    s.kernel_w = s.kernel_h = kernel;
    s.filters = filters;
    s.stride = stride;
    return EdgeConv{s, batch};
  };
  return {
      conv("resnet conv1 7x7/2 x4", 56, 3, 7, 64, 2, 4),
      conv("resnet 1x1 64-64", 28, 64, 1, 64, 1),
      conv("resnet 3x3 64-64", 28, 64, 3, 64, 1),
      conv("resnet 1x1 64-256", 28, 64, 1, 256, 1),
      conv("resnet 1x1 256-64", 28, 256, 1, 64, 1),
      conv("resnet 1x1 256-128", 28, 256, 1, 128, 1),
      conv("resnet 3x3/2 128-128", 28, 128, 3, 128, 2),
      conv("resnet 3x3 128-128", 28, 128, 3, 128, 1),
      conv("resnet 1x1/2 256-512", 28, 256, 1, 512, 2),
      conv("resnet 1x1 512-128", 14, 512, 1, 128, 1),
      conv("resnet 3x3 256-256", 14, 256, 3, 256, 1),
      conv("resnet 1x1 1024-256", 14, 1024, 1, 256, 1),
      conv("resnet 1x1 256-1024", 14, 256, 1, 1024, 1),
      conv("first layer 3x3/2 3-32 x16", 56, 3, 3, 32, 2, 16),
      conv("5x5 32-64", 28, 32, 5, 64, 1),
      conv("5x5/2 24-48", 28, 24, 5, 48, 2),
      conv("7x7 16-32", 14, 16, 7, 32, 1),
  };
}

struct NvdlaConv {
  int width, height, channels, kernel_w, kernel_h, filters;
  bool fully_connected;
  double nvdla;  // utilisation measured of nv_small, 64 MACs
};

constexpr NvdlaConv kNvdla[] = {
    {24, 33, 55, 5, 5, 25, false, 0.57}, {13, 15, 64, 5, 3, 16, false, 0.85},
    {24, 44, 14, 5, 3, 41, false, 0.73}, {32, 26, 76, 6, 3, 16, false, 0.88},
    {35, 22, 54, 6, 8, 29, false, 0.85}, {8, 16, 128, 3, 3, 32, false, 0.89},
    {6, 8, 192, 3, 3, 32, false, 0.29},  {8192, 1, 1, 2, 3, 41, false, 0.05},
    {4, 1, 8192, 1, 1, 1, true, 0.014},
};

std::vector<std::string> ConvRow(const Record& r, const std::string& shape,
                                 const Measurement& m) {
  const double of_ideal = r.cycles ? static_cast<double>(m.ideal_cycles) /
                                         static_cast<double>(*r.cycles)
                                   : 0;
  return {r.name,
          shape,
          Thousands(m.ideal_cycles),
          r.cycles ? Thousands(*r.cycles) : "-",
          r.cycles ? Percent(of_ideal) : "-",
          r.utilisation ? Percent(*r.utilisation) : "-",
          Percent(*r.ideal_utilisation),
          YesNo(r.bit_exact),
          r.cycles ? CauseOfShortfall(m.run.stats, m.ideal_cycles) : ""};
}

double OfIdeal(const Measurement& m) {
  return m.run.stats.cycles == 0 ? 0
                                 : static_cast<double>(m.ideal_cycles) /
                                       static_cast<double>(m.run.stats.cycles);
}

// A network of one of a network's layers.
model::Network Single(const model::Network& network,
                      const model::Layer& layer) {
  model::Network single;
  single.name = layer.name;
  single.tensors = {network.in(layer), network.out(layer)};
  single.outputs = {1};
  single.layers = {layer};
  single.layers[0].inputs = {0};
  single.layers[0].output = 1;
  return single;
}

}  // namespace

// The demo's convolutions, each alone, 32 real digits.
absl::StatusOr<std::vector<Record>> Bench::DemoConvolutions(Table& table,
                                                            double& sum,
                                                            int& count) {
  constexpr int kBatch = 32;
  const auto network = model::ReadNetwork(args_.model);
  if (!network.ok()) return network.status();
  const auto digits = ReadDigits(args_.digits);
  if (!digits.ok()) return digits.status();
  const std::vector<int8_t> images = digits->Quantised(0, kBatch);
  const auto tensors = GoldenTensors(*network, images, false);
  if (!tensors.ok()) return tensors.status();
  std::vector<Record> records;
  std::vector<int8_t> input = images;
  for (size_t l = 0; l < network->layers.size(); ++l) {
    const model::Layer& layer = network->layers[l];
    if (layer.op == model::Op::kConv2D) {
      const model::Network single = Single(*network, layer);
      compiler::Options options;
      options.batch = kBatch;
      const auto program =
          compiler::CompileNetwork(single, *FindPreset("edge"), options);
      if (!program.ok()) return program.status();
      const auto m =
          Measure("edge", "demo " + layer.name, single, *program, input, false);
      if (!m.ok()) return m.status();
      Record r =
          MakeRecord("convolution", "edge",
                     absl::StrFormat("demo %s x%d", layer.name, kBatch), *m);
      r.more["cause"] = CauseOfShortfall(m->run.stats, m->ideal_cycles);
      table.Add(ConvRow(r, program->layers[0].shape, *m));
      sum += OfIdeal(*m);
      ++count;
      records.push_back(std::move(r));
    }
    const std::vector<uint8_t>& output = (*tensors)[l].bytes;
    input.assign(output.begin(), output.end());
  }
  return records;
}

absl::StatusOr<std::vector<Record>> Bench::Convolutions() {
  Table table({"convolution on edge", "shape", "ideal cycles", "cycles",
               "of ideal", "of peak", "ideal of peak", "bit-exact",
               "cause of the shortfall"});
  double sum = 0;
  int count = 0;
  auto records = DemoConvolutions(table, sum, count);
  if (!records.ok()) return records;
  for (const EdgeConv& conv : EdgeConvs()) {
    const auto m = MeasureConv("edge", conv.spec, conv.batch);
    if (!m.ok()) return m.status();
    Record r = MakeRecord("convolution", "edge", conv.spec.name, *m);
    r.more["cause"] = CauseOfShortfall(m->run.stats, m->ideal_cycles);
    table.Add(ConvRow(r, m->run.layers[0].info.shape, *m));
    sum += OfIdeal(*m);
    ++count;
    records->push_back(std::move(r));
  }
  Print(
      "Convolutions. Ideal cycles = positions x ceil(K / 32) x ceil(filters / "
      "32), K = kernel rows x columns x channels. Above 100 %:\n"
      "where a layer leaves columns idle, outputs side by side share a "
      "position",
      table);
  if (sum > 0) {
    if (!args_.json)
      std::printf("mean of ideal: %s (goal 80.0 %%)\n\n",
                  Percent(sum / count).c_str());
    Record mean;
    mean.name = "mean of ideal";
    mean.section = "convolution";
    mean.preset = "edge";
    mean.more = {{"of_ideal", sum / count}, {"goal", 0.8}};
    records->push_back(std::move(mean));
  }
  return records;
}

absl::StatusOr<std::vector<Record>> Bench::Nvdla() {
  std::vector<Record> records;
  Table table({"width x height x channels, kernel, filters", "MACs", "cycles",
               "nano", "nv_small", "better", "bit-exact"});
  for (const NvdlaConv& c : kNvdla) {
    ConvSpec spec;
    spec.name = absl::StrFormat(
        "%dx%dx%d %s %d", c.width, c.height, c.channels,
        c.fully_connected ? "fully connected"
                          : absl::StrFormat("%dx%d", c.kernel_w, c.kernel_h),
        c.filters);
    spec.width = c.width;
    spec.height = c.height;
    spec.channels = c.channels;
    spec.kernel_w = c.kernel_w;
    spec.kernel_h = c.kernel_h;
    spec.filters = c.filters;
    const auto m = MeasureConv("nano", spec, 1);
    if (!m.ok()) return m.status();
    Record r = MakeRecord("nvdla", "nano", spec.name, *m);
    r.more["nv_small_utilisation"] = c.nvdla;
    table.Add({spec.name, Thousands(m->macs),
               r.cycles ? Thousands(*r.cycles) : "-",
               r.utilisation ? Percent(*r.utilisation) : "-", Percent(c.nvdla),
               r.utilisation ? YesNo(*r.utilisation > c.nvdla) : "-",
               YesNo(r.bit_exact)});
    records.push_back(std::move(r));
  }
  Print(
      "Side by side with NVDLA's smallest configuration: 64 MACs each; MACs of "
      "the layer, padding included, over 64 x\n"
      "cycles from start to interrupt. Above 100 %: kernel rows that lie "
      "wholly in the padding are not computed",
      table);
  return records;
}

}  // namespace systole::tools
