// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/training/trainer.h"

#include <cstring>

#include "absl/strings/str_format.h"
#include "host/training/initial_state.h"

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
  if (absl::Status s = trainer->WriteInitialState(seed); !s.ok()) return s;
  return trainer;
}

absl::Status Trainer::WriteInitialState(uint32_t seed) {
  const int64_t lanes = device_.preset().cols;
  const StepLayout& layout = step_.layout;
  const std::vector<float> zeros(layout.param_blocks * kParamRows * lanes);
  if (absl::Status s = device_.Write(layout.params, BytesOf(zeros)); !s.ok())
    return s;
  const std::vector<float> powers(kPowerRows * lanes, 1.0f);
  if (absl::Status s = device_.Write(layout.powers, BytesOf(powers)); !s.ok())
    return s;
  uint32_t first = 0;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& l = layers_[i];
    const LayerLayout& p = layout.layers[i];
    const int64_t count = l.contraction() * l.co;
    const std::vector<float> values =
        InitialWeights(seed, first, l.contraction(), count);
    first += static_cast<uint32_t>(count);
    std::vector<float> master(p.slab.elements());
    for (int64_t k = 0; k < l.contraction(); ++k) {
      for (int64_t n = 0; n < l.co; ++n)
        master[p.slab.at(k, n)] = values[k * l.co + n];
    }
    std::vector<uint16_t> working(master.size());
    for (size_t e = 0; e < master.size(); ++e) working[e] = ToBf16(master[e]);
    const std::vector<float> none(master.size());
    for (absl::Status s : {device_.Write(p.master, BytesOf(master)),
                           device_.Write(p.working, BytesOf(working)),
                           device_.Write(p.first, BytesOf(none)),
                           device_.Write(p.second, BytesOf(none))}) {
      if (!s.ok()) return s;
    }
    const std::vector<float> ones(l.co, 1.0f);
    std::vector<float> mask(l.co);
    std::memset(mask.data(), 0xFF, mask.size() * sizeof(float));
    absl::Status s = l.normed
                         ? WriteParam(static_cast<int>(i), kRunningVar, ones)
                         : WriteParam(static_cast<int>(i), kClassMask, mask);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
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

absl::StatusOr<StepReport> Trainer::Step(absl::Span<const uint8_t> pixels,
                                         absl::Span<const uint8_t> labels,
                                         float rate) {
  const Layer& input = layers_.front();
  const int64_t size = input.h * input.w * input.ci, batch = options_.batch;
  if (static_cast<int64_t>(labels.size()) != batch ||
      static_cast<int64_t>(pixels.size()) != batch * size) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d labels and %d pixels, a batch has %d images of %d",
                        labels.size(), pixels.size(), batch, size));
  }
  const int64_t lanes = device_.preset().cols;
  const StepLayout& layout = step_.layout;
  const ImageTensor& in = layout.layers[0].in;
  for (int64_t n = 0; n < batch; ++n) {
    if (labels[n] >= layers_.back().co) {
      return absl::InvalidArgumentError(
          absl::StrFormat("image %d: class %d, the network has %d", n,
                          labels[n], layers_.back().co));
    }
    std::vector<uint16_t> image(size), hot(lanes);
    for (int64_t e = 0; e < size; ++e)
      image[e] = ToBf16(static_cast<float>(pixels[n * size + e]) / 255.0f);
    hot[labels[n]] = ToBf16(1.0f);
    absl::Status s = device_.Write(in.hbm + n * in.pitch, BytesOf(image));
    if (s.ok())
      s = device_.Write(layout.labels + n * layout.label_pitch, BytesOf(hot));
    if (!s.ok()) return s;
  }
  const std::vector<float> rates(lanes, rate);
  if (absl::Status s = device_.Write(layout.powers + kLearningRate * lanes * 4,
                                     BytesOf(rates));
      !s.ok()) {
    return s;
  }
  if (absl::Status s = device_.Start(step_.program); !s.ok()) return s;
  absl::StatusOr<RunStats> stats = device_.Wait();
  if (!stats.ok()) return stats.status();
  const int last = static_cast<int>(layers_.size()) - 1;
  const auto loss = ReadParam(last, kLoss), right = ReadParam(last, kRight);
  if (!loss.ok()) return loss.status();
  if (!right.ok()) return right.status();
  StepReport report;
  report.loss = (*loss)[0] / static_cast<double>(batch);
  report.right = (*right)[0] / static_cast<double>(batch);
  report.stats = *std::move(stats);
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
