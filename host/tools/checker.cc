// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/checker.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/compiler/access.h"
#include "host/driver/run_loop.h"
#include "verif/golden/network.h"
#include "verif/golden/ops.h"

namespace systole::tools {
namespace {

template <class T>
std::vector<uint8_t> BytesOf(const T* data, size_t count) {
  std::vector<uint8_t> bytes(count * sizeof(T));
  std::memcpy(bytes.data(), data, bytes.size());
  return bytes;
}

// Index of the last descriptor of `queues` before `limit` that writes an
// address, or -1.
int LastWriter(const Program& program, const Preset& preset,
               compiler::Space space, int64_t address, int limit) {
  for (int i = limit - 1; i >= 0; --i) {
    for (const compiler::Access& access :
         compiler::AccessesOf(program.descriptors[i], preset)) {
      if (access.write && access.space == space && access.Contains(address))
        return i;
    }
  }
  return -1;
}

// The unified buffer address that a store reads for an HBM address that it
// writes.
int64_t StoreSource(const isa::Descriptor& descriptor, int64_t address) {
  const isa::Store s = isa::Store::Decode(descriptor);
  for (int64_t i2 = 0; i2 < s.n2; ++i2) {
    for (int64_t i1 = 0; i1 < s.n1; ++i1) {
      const int64_t offset =
          address - static_cast<int64_t>(s.hbm_addr + i2 * s.hbm_stride2 +
                                         i1 * s.hbm_stride1);
      if (offset >= 0 && offset < s.len)
        return s.ub_addr + i2 * s.ub_stride2 + i1 * s.ub_stride1 + offset;
    }
  }
  return -1;
}

int64_t RetireCycle(const RunStats& stats, int index) {
  for (const Retire& r : stats.retires) {
    if (static_cast<int>(r.index) == index)
      return static_cast<int64_t>(r.cycle);
  }
  return 0;
}

int64_t Value(absl::Span<const uint8_t> bytes, int64_t element,
              int64_t element_bytes) {
  if (element_bytes == 1) return static_cast<int8_t>(bytes[element]);
  if (element_bytes == 2) {  // bits of bf16
    uint16_t bits;
    std::memcpy(&bits, &bytes[2 * element], 2);
    return bits;
  }
  int32_t value;
  std::memcpy(&value, &bytes[4 * element], 4);
  return value;
}

}  // namespace

absl::StatusOr<std::vector<ExpectedTensor>> GoldenTensors(
    const model::Network& network, const Inputs& inputs, bool raw) {
  std::vector<golden::TensorI8> tensors;
  for (size_t i = 0; i < inputs.size() && i < network.inputs.size(); ++i) {
    const model::Tensor& in = network.input(static_cast<int>(i));
    if (inputs[i].empty() || inputs[i].size() % in.size() != 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: %d input values are no whole number of images of %d",
          network.name, inputs[i].size(), in.size()));
    }
    tensors.emplace_back(
        static_cast<int>(inputs[i].size() / in.size()), in.height, in.width,
        in.channels, std::vector<int8_t>(inputs[i].begin(), inputs[i].end()));
  }
  std::vector<ExpectedTensor> expected;
  if (raw) {
    const model::Layer& layer = network.layers[0];
    const model::Window& w = layer.window;
    const golden::TensorI8 weights(network.out(layer).channels, w.kernel_h,
                                   w.kernel_w, network.input().channels,
                                   layer.weights);
    const golden::Geometry geometry = {w.stride_h,   w.stride_w, w.dilation_h,
                                       w.dilation_w, w.pad_top,  w.pad_left,
                                       w.pad_bottom, w.pad_right};
    absl::StatusOr<golden::TensorI32> sums =
        golden::Conv2D(tensors[0], weights, geometry, /*input_zero_point=*/0);
    if (!sums.ok()) return sums.status();
    expected.push_back({network.out(layer).name,
                        BytesOf(sums->data().data(), sums->data().size())});
    return expected;
  }
  absl::StatusOr<std::vector<golden::TensorI8>> outputs =
      golden::RunNetwork(network, tensors);
  if (!outputs.ok()) return outputs.status();
  for (size_t l = 0; l < network.layers.size(); ++l) {
    const std::vector<int8_t>& data = (*outputs)[l].data();
    expected.push_back({network.out(network.layers[l]).name,
                        BytesOf(data.data(), data.size())});
  }
  return expected;
}

std::string DescribeMismatch(const Program& program, const Preset& preset,
                             const LayerInfo& layer, const TensorInfo& tensor,
                             absl::Span<const uint8_t> got,
                             absl::Span<const uint8_t> want,
                             const RunStats& stats,
                             std::optional<uint64_t>* cycle) {
  if (got.size() != want.size()) {
    return absl::StrFormat("%s (%s): %d bytes, golden has %d", layer.name,
                           layer.op, got.size(), want.size());
  }
  const int64_t size = tensor.element_bytes();
  int64_t first = -1, wrong = 0;
  for (int64_t e = 0; e < tensor.elements(); ++e) {
    if (Value(got, e, size) == Value(want, e, size)) continue;
    if (first < 0) first = e;
    ++wrong;
  }
  if (first < 0) return "";
  if (cycle != nullptr) *cycle = stats.cycles;  // at the latest
  const int64_t c = first % tensor.channels,
                x = first / tensor.channels % tensor.w;
  const int64_t y = first / (tensor.channels * tensor.w) % tensor.h,
                i = first / (tensor.channels * tensor.w * tensor.h);
  std::string text = absl::StrFormat(
      "%s (%s): image %d, row %d, column %d, channel %d: got %d, golden %d (%d "
      "of %d differ)",
      layer.name, layer.op, i, y, x, c, Value(got, first, size),
      Value(want, first, size), wrong, tensor.elements());
  const int64_t address = static_cast<int64_t>(tensor.hbm_addr) +
                          i * tensor.img_pitch + y * tensor.pitch +
                          (x * tensor.channels + c) * size;
  const int store = LastWriter(program, preset, compiler::Space::kHbm, address,
                               static_cast<int>(program.descriptors.size()));
  if (store < 0) return text + "; no store covers it";
  const int64_t source = StoreSource(program.descriptors[store], address);
  const int writer =
      LastWriter(program, preset, compiler::Space::kUb, source, store);
  const int index = writer < 0 ? store : writer;
  absl::StrAppendFormat(&text, "; written by descriptor %d: %s", index,
                        Disassemble(program.descriptors[index]));
  if (stats.cycles > 0) {
    const int64_t at = RetireCycle(stats, index);
    absl::StrAppendFormat(&text, "; complete at cycle %d", at);
    if (cycle != nullptr) *cycle = static_cast<uint64_t>(at);
  }
  return text;
}

void CountBytes(const Program& program, const Preset& preset,
                std::vector<LayerRun>& layers) {
  const int64_t beat = preset.beat_bytes();
  for (const isa::Descriptor& d : program.descriptors) {
    const size_t tag = compiler::TagOf(d);
    if (tag >= layers.size()) continue;
    for (const compiler::Access& a : compiler::AccessesOf(d, preset)) {
      if (a.space != compiler::Space::kHbm) continue;
      const uint64_t bytes = (a.len + beat - 1) / beat * beat * a.count[0] *
                             a.count[1] * a.count[2];
      (a.write ? layers[tag].hbm_write_bytes : layers[tag].hbm_read_bytes) +=
          bytes;
    }
  }
}

uint64_t LeastBytes(const Program& program, size_t layer) {
  const LayerInfo& info = program.layers[layer];
  int64_t bytes = info.parameter_bytes;
  const auto add = [&](const std::string& name, bool TensorInfo::*role) {
    const TensorInfo* tensor = program.FindTensor(name);
    if (tensor != nullptr && tensor->*role)
      bytes += tensor->elements() * tensor->element_bytes();
  };
  for (const std::string& input :
       std::set<std::string>(info.inputs.begin(), info.inputs.end())) {
    const bool read_before =
        std::any_of(program.layers.begin(), program.layers.begin() + layer,
                    [&](const LayerInfo& l) {
                      return std::find(l.inputs.begin(), l.inputs.end(),
                                       input) != l.inputs.end();
                    });
    if (!read_before) add(input, &TensorInfo::is_input);
  }
  add(info.output, &TensorInfo::is_output);
  return static_cast<uint64_t>(bytes);
}

void AttributeCycles(const Program& program, const RunStats& stats,
                     std::vector<LayerRun>& layers) {
  std::vector<int64_t> end(layers.size(), 0);
  for (const Retire& r : stats.retires) {
    if (r.index >= program.descriptors.size()) continue;
    const size_t tag = compiler::TagOf(program.descriptors[r.index]);
    if (tag < layers.size() &&
        (r.queue == isa::Queue::kMxu || r.queue == isa::Queue::kVector)) {
      end[tag] = std::max(end[tag], static_cast<int64_t>(r.cycle));
    }
  }
  int64_t before = 0;
  for (size_t l = 0; l < layers.size(); ++l) {
    const int64_t at = l + 1 == layers.size()
                           ? static_cast<int64_t>(stats.cycles)
                           : std::max(before, end[l]);
    layers[l].cycles = at - before;
    before = at;
  }
}

std::vector<std::string> CheckedRun::mismatches() const {
  std::vector<std::string> all;
  for (const LayerRun& layer : layers) {
    if (!layer.mismatch.empty()) all.push_back(layer.mismatch);
  }
  return all;
}

absl::StatusOr<CheckedRun> RunChecked(
    Device& device, const Program& program, const model::Network& network,
    const Inputs& inputs, const std::vector<ExpectedTensor>& expected) {
  if (absl::Status s = device.Load(program); !s.ok()) return s;
  std::vector<Argument> arguments;
  for (size_t i = 0; i < inputs.size() && i < network.inputs.size(); ++i) {
    arguments.push_back(
        {program.FindTensor(network.input(static_cast<int>(i)).name),
         {reinterpret_cast<const uint8_t*>(inputs[i].data()),
          inputs[i].size()}});
  }
  absl::StatusOr<RunStats> stats = RunLoaded(device, program, arguments);
  if (!stats.ok()) return stats.status();

  CheckedRun run;
  run.stats = *std::move(stats);
  for (const LayerInfo& info : program.layers) {
    LayerRun layer;
    layer.info = info;
    run.layers.push_back(std::move(layer));
  }
  CountBytes(program, device.preset(), run.layers);
  AttributeCycles(program, run.stats, run.layers);
  for (LayerRun& layer : run.layers) {
    const TensorInfo* tensor = program.FindTensor(layer.info.output);
    if (tensor == nullptr) continue;  // it stayed in the unified buffer
    absl::StatusOr<std::vector<uint8_t>> got = device.ReadTensor(*tensor);
    if (!got.ok()) return got.status();
    for (const ExpectedTensor& want : expected) {
      if (want.name != tensor->name) continue;
      layer.mismatch =
          DescribeMismatch(program, device.preset(), layer.info, *tensor, *got,
                           want.bytes, run.stats, &layer.wrong_cycle);
      layer.bit_exact = layer.mismatch.empty();
    }
  }
  for (const int output : network.outputs) {
    const TensorInfo* tensor = program.FindTensor(network.tensors[output].name);
    if (tensor == nullptr)
      return absl::InternalError("the program has no output tensor");
    absl::StatusOr<std::vector<uint8_t>> got = device.ReadTensor(*tensor);
    if (!got.ok()) return got.status();
    run.outputs.push_back(*std::move(got));
  }
  return run;
}

}  // namespace systole::tools
