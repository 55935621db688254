// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/training/trainer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "host/driver/run_loop.h"

namespace systole::training {
namespace {

uint16_t ToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <class T>
absl::Span<const uint8_t> BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()),
          values.size() * sizeof(T)};
}

template <class T>
absl::Span<uint8_t> MutableBytesOf(std::vector<T>& values) {
  return {reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Create(
    Device& device, const std::vector<Layer>& layers,
    const StepOptions& options, uint32_t seed) {
  absl::StatusOr<StepProgram> step =
      BuildStep(layers, options, device.preset());
  if (!step.ok()) return step.status();
  std::unique_ptr<Trainer> trainer(
      new Trainer(device, layers, options, *std::move(step)));
  if (absl::Status s = device.Load(trainer->step_.program); !s.ok()) return s;
  if (absl::Status s = trainer->WriteState(InitialState(layers, seed)); !s.ok())
    return s;
  return trainer;
}

absl::Status Trainer::WriteState(const TrainState& state) {
  const int64_t lanes = device_.preset().cols;
  const StepLayout& layout = step_.layout;
  const std::vector<float> zeros(layout.param_blocks * kParamRows * lanes);
  if (absl::Status s = device_.Write(layout.params, BytesOf(zeros)); !s.ok())
    return s;
  std::vector<float> powers(kPowerRows * lanes, 1.0f);
  for (int row : {kPower1, kPower2}) {
    std::fill_n(powers.begin() + row * lanes, lanes,
                state.powers[row - kPower1]);
  }
  if (absl::Status s = device_.Write(layout.powers, BytesOf(powers)); !s.ok())
    return s;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const LayerState& l = state.layers[i];
    const LayerLayout& p = layout.layers[i];
    std::vector<uint16_t> working(p.slab.elements());
    for (int64_t k = 0; k < p.slab.rows; ++k) {
      for (int64_t n = 0; n < p.slab.cols; ++n)
        working[p.slab.at(k, n)] = ToBf16(l.weights[k * p.slab.cols + n]);
    }
    const int index = static_cast<int>(i);
    const auto param = [&](ParamRow row, const std::vector<float>& values) {
      return WriteParam(index, row, values);
    };
    for (const absl::Status& s :
         {WriteMatrix(p.slab, p.master, l.weights),
          WriteMatrix(p.slab, p.first, l.weights_first),
          WriteMatrix(p.slab, p.second, l.weights_second),
          device_.Write(p.working, BytesOf(working)),
          param(layers_[i].normed ? kBeta : kBias, l.offset),
          param(kOffsetFirst, l.offset_first),
          param(kOffsetSecond, l.offset_second)}) {
      if (!s.ok()) return s;
    }
    absl::Status s;
    if (layers_[i].normed) {
      s = param(kRunningMean, l.running_mean);
      if (s.ok()) s = param(kRunningVar, l.running_var);
    } else {
      std::vector<float> mask(layers_[i].co);
      std::memset(mask.data(), 0xFF, mask.size() * sizeof(float));
      s = param(kClassMask, mask);
    }
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainState> Trainer::ReadState() {
  TrainState state = EmptyState(layers_);
  absl::Status status;
  const auto take = [&](absl::StatusOr<std::vector<float>> values,
                        std::vector<float>& to) {
    if (values.ok()) to = *std::move(values);
    status.Update(values.status());
  };
  for (size_t i = 0; i < layers_.size(); ++i) {
    LayerState& l = state.layers[i];
    const LayerLayout& p = step_.layout.layers[i];
    const int index = static_cast<int>(i);
    take(ReadMatrix(p.slab, p.master), l.weights);
    take(ReadMatrix(p.slab, p.first), l.weights_first);
    take(ReadMatrix(p.slab, p.second), l.weights_second);
    take(ReadParam(index, layers_[i].normed ? kBeta : kBias), l.offset);
    take(ReadParam(index, kOffsetFirst), l.offset_first);
    take(ReadParam(index, kOffsetSecond), l.offset_second);
    if (!layers_[i].normed) continue;
    take(ReadParam(index, kRunningMean), l.running_mean);
    take(ReadParam(index, kRunningVar), l.running_var);
  }
  for (int row : {kPower1, kPower2}) {
    absl::Span<float> power =
        absl::MakeSpan(state.powers).subspan(row - kPower1, 1);
    status.Update(device_.Read(
        step_.layout.powers + row * device_.preset().cols * 4,
        {reinterpret_cast<uint8_t*>(power.data()), sizeof(float)}));
  }
  if (!status.ok()) return status;
  return state;
}

absl::Status Trainer::WriteMatrix(const Slab& slab, uint64_t hbm,
                                  const std::vector<float>& dense) {
  std::vector<float> raw(slab.elements());
  for (int64_t k = 0; k < slab.rows; ++k) {
    for (int64_t n = 0; n < slab.cols; ++n)
      raw[slab.at(k, n)] = dense[k * slab.cols + n];
  }
  return device_.Write(hbm, BytesOf(raw));
}

absl::Status Trainer::WriteParam(int layer, ParamRow row,
                                 absl::Span<const float> values) {
  const int64_t lanes = device_.preset().cols;
  const LayerLayout& p = step_.layout.layers[layer];
  for (int64_t t = 0; t < p.slab.tiles; ++t) {
    std::vector<float> line(lanes);
    for (int64_t c = 0; c < lanes; ++c) {
      const int64_t n = t * lanes + c;
      if (n < static_cast<int64_t>(values.size())) line[c] = values[n];
    }
    const uint64_t at = step_.layout.params +
                        ((p.param_block + t) * kParamRows + row) * lanes * 4;
    if (absl::Status s = device_.Write(at, BytesOf(line)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Trainer::CheckBatch(absl::Span<const uint8_t> pixels,
                                 absl::Span<const uint8_t> labels) const {
  const Layer& input = layers_.front();
  const int64_t size = input.h * input.w * input.ci;
  const auto images = static_cast<int64_t>(labels.size());
  if (static_cast<int64_t>(pixels.size()) != images * size) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d labels and %d pixels, an image has %d", images,
                        pixels.size(), size));
  }
  for (int64_t n = 0; n < images; ++n) {
    if (labels[n] >= layers_.back().co) {
      return absl::InvalidArgumentError(
          absl::StrFormat("image %d: class %d, the network has %d", n,
                          labels[n], layers_.back().co));
    }
  }
  return absl::OkStatus();
}

absl::Status Trainer::WriteBatch(absl::Span<const uint8_t> pixels,
                                 absl::Span<const uint8_t> labels) {
  if (absl::Status s = CheckBatch(pixels, labels); !s.ok()) return s;
  const Layer& input = layers_.front();
  const int64_t size = input.h * input.w * input.ci;
  const StepLayout& layout = step_.layout;
  const ImageTensor& in = layout.layers[0].in;
  for (int64_t n = 0; n < options_.batch; ++n) {
    std::vector<uint16_t> image(size), hot(device_.preset().cols);
    if (n < static_cast<int64_t>(labels.size())) {
      for (int64_t e = 0; e < size; ++e)
        image[e] = ToBf16(static_cast<float>(pixels[n * size + e]) / 255.0f);
      hot[labels[n]] = ToBf16(1.0f);
    }
    absl::Status s = device_.Write(in.hbm + n * in.pitch, BytesOf(image));
    if (s.ok())
      s = device_.Write(layout.labels + n * layout.label_pitch, BytesOf(hot));
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

// Behind the step's, whose state it reads: only constants and code are its own.
absl::Status Trainer::LoadForward() {
  if (forward_) return absl::OkStatus();
  StepOptions options = options_;
  options.forward_only = true;
  const absl::StatusOr<StepProgram> forward =
      BuildStep(layers_, options, device_.preset());
  if (!forward.ok()) return forward.status();
  const Program& program = forward->program;
  const uint64_t align =
      std::max<uint64_t>(kMemoryAlignment, device_.preset().beat_bytes());
  uint64_t next = step_.program.prog_addr +
                  step_.program.descriptors.size() * isa::kDescriptorBytes;
  std::vector<uint64_t> addresses;
  for (const MemorySegment& part : program.memory) {
    if (part.use == MemoryUse::kArguments) {
      addresses.push_back(part.hbm_addr);
      continue;
    }
    next = (next + align - 1) / align * align;
    addresses.push_back(next);
    next += part.bytes;
  }
  absl::StatusOr<Program> placed = PlaceProgram(program, addresses);
  if (!placed.ok()) return placed.status();
  for (size_t i = 0; i < program.segments.size(); ++i) {
    DataSegment& segment = placed->segments[i];
    if (segment.hbm_addr != program.segments[i].hbm_addr)
      segment.data = program.segments[i].data;
  }
  if (absl::Status s = device_.Load(*placed); !s.ok()) return s;
  forward_ = *std::move(placed);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Trainer::CountRight(absl::Span<const uint8_t> pixels,
                                            absl::Span<const uint8_t> labels) {
  if (absl::Status s = CheckBatch(pixels, labels); !s.ok()) return s;
  if (absl::Status s = LoadForward(); !s.ok()) return s;
  const auto images = static_cast<int64_t>(labels.size());
  const int64_t batch = options_.batch;
  int64_t right = 0;
  for (int64_t n0 = 0; n0 < images; n0 += batch) {
    const int64_t n = std::min(batch, images - n0);
    const int64_t size = static_cast<int64_t>(pixels.size()) / images;
    if (absl::Status s = WriteBatch(pixels.subspan(n0 * size, n * size),
                                    labels.subspan(n0, n));
        !s.ok())
      return s;
    const absl::StatusOr<RunStats> stats = RunLoaded(device_, *forward_);
    if (!stats.ok()) return stats.status();
    const auto count = ReadParam(static_cast<int>(layers_.size()) - 1, kRight);
    if (!count.ok()) return count.status();
    // No class has been missed in an empty place: it counts as right.
    right +=
        std::max<int64_t>(0, static_cast<int64_t>((*count)[0]) - (batch - n));
  }
  return right;
}

absl::StatusOr<std::array<StepReport, 2>> StepOnBoth(
    Trainer& first, Trainer& second, absl::Span<const uint8_t> pixels,
    absl::Span<const uint8_t> labels, float rate) {
  Trainer* const trainers[] = {&first, &second};
  std::vector<Launch> launches;
  for (int core = 0; core < 2; ++core) {
    const size_t count = labels.size() / 2, size = pixels.size() / 2;
    absl::Status s =
        trainers[core]->Prepare(pixels.subspan(core * size, size),
                                labels.subspan(core * count, count), rate);
    if (!s.ok()) return s;
    launches.push_back(
        {&trainers[core]->device_, &trainers[core]->step_.program});
  }
  absl::StatusOr<std::vector<RunStats>> stats = RunTogether(launches);
  if (!stats.ok()) return stats.status();
  std::array<StepReport, 2> reports;
  for (int core = 0; core < 2; ++core) {
    auto report = trainers[core]->Report(std::move((*stats)[core]));
    if (!report.ok()) return report.status();
    reports[core] = *std::move(report);
  }
  return reports;
}

absl::StatusOr<StepReport> Trainer::Step(absl::Span<const uint8_t> pixels,
                                         absl::Span<const uint8_t> labels,
                                         float rate) {
  if (absl::Status s = Prepare(pixels, labels, rate); !s.ok()) return s;
  absl::StatusOr<RunStats> stats = RunLoaded(device_, step_.program);
  if (!stats.ok()) return stats.status();
  return Report(*std::move(stats));
}

absl::Status Trainer::Prepare(absl::Span<const uint8_t> pixels,
                              absl::Span<const uint8_t> labels, float rate) {
  const int64_t batch = options_.batch, lanes = device_.preset().cols;
  const StepLayout& layout = step_.layout;
  if (static_cast<int64_t>(labels.size()) != batch) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d labels, a batch has %d images", labels.size(), batch));
  }
  if (absl::Status s = WriteBatch(pixels, labels); !s.ok()) return s;
  const std::vector<float> rates(lanes, rate);
  return device_.Write(layout.powers + kLearningRate * lanes * 4,
                       BytesOf(rates));
}

absl::StatusOr<StepReport> Trainer::Report(RunStats stats) {
  const int64_t batch = options_.batch;
  const int last = static_cast<int>(layers_.size()) - 1;
  const auto loss = ReadParam(last, kLoss), right = ReadParam(last, kRight);
  if (!loss.ok()) return loss.status();
  if (!right.ok()) return right.status();
  StepReport report;
  report.loss = (*loss)[0] / static_cast<double>(batch);
  report.right = (*right)[0] / static_cast<double>(batch);
  report.stats = std::move(stats);
  return report;
}

absl::StatusOr<std::vector<float>> Trainer::ReadMatrix(const Slab& slab,
                                                       uint64_t hbm) {
  std::vector<float> raw(slab.elements()), dense(slab.rows * slab.cols);
  if (absl::Status s = device_.Read(hbm, MutableBytesOf(raw)); !s.ok())
    return s;
  for (int64_t k = 0; k < slab.rows; ++k) {
    for (int64_t n = 0; n < slab.cols; ++n)
      dense[k * slab.cols + n] = raw[slab.at(k, n)];
  }
  return dense;
}

absl::StatusOr<std::vector<float>> Trainer::ReadParam(int layer, ParamRow row) {
  const int64_t lanes = device_.preset().cols;
  const LayerLayout& p = step_.layout.layers[layer];
  std::vector<float> values;
  for (int64_t t = 0; t < p.slab.tiles; ++t) {
    std::vector<float> line(lanes);
    const uint64_t at = step_.layout.params +
                        ((p.param_block + t) * kParamRows + row) * lanes * 4;
    if (absl::Status s = device_.Read(at, MutableBytesOf(line)); !s.ok())
      return s;
    values.insert(values.end(), line.begin(), line.end());
  }
  values.resize(layers_[layer].co);
  return values;
}

absl::StatusOr<std::vector<uint16_t>> Trainer::ReadImages(
    const ImageTensor& tensor) {
  std::vector<uint16_t> all(options_.batch * tensor.bytes / 2);
  for (int64_t n = 0; n < options_.batch; ++n) {
    absl::Status s = device_.Read(
        tensor.hbm + n * tensor.pitch,
        MutableBytesOf(all).subspan(n * tensor.bytes, tensor.bytes));
    if (!s.ok()) return s;
  }
  return all;
}

}  // namespace systole::training
