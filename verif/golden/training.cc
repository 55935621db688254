// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "verif/golden/training.h"

#include "absl/strings/str_format.h"
#include "verif/golden/fp32.h"
#include "verif/golden/training_layers.h"

namespace systole::golden {
namespace {

absl::Status CheckBatch(const TrainingNetwork& network,
                        const Bf16Matrix& images, int rows) {
  if (absl::Status status = Validate(network); !status.ok()) return status;
  const int size = network.height * network.width * network.channels;
  if (images.rows() < 1 || images.cols() != size) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "training: %d images of %d values, the network takes %d", images.rows(),
        images.cols(), size));
  }
  if (rows < network.classes() || (rows & (rows - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "training: %d lanes for %d classes", rows, network.classes()));
  }
  return absl::OkStatus();
}

// The same values with one column per input channel of the layer.
Fp32Matrix AsInput(const LayerGeometry& g, const Fp32Matrix& values) {
  return Eigen::Map<const Fp32Matrix>(
      values.data(), values.size() / g.in_channels, g.in_channels);
}

bool HasPool(const TrainingLayer& layer) {
  return layer.pool.kind != TrainingPool::Kind::kNone;
}

// Sum of two outputs or gradients, element by element, rounded to bf16.
Fp32Matrix Sum(const Fp32Matrix& a, const Fp32Matrix& b) {
  return RoundedToBf16(a.binaryExpr(b, &fp32::Add));
}

// Adds a gradient of a layer's output, reshaped to one column per channel. The
// first gradient is stored; further ones are added.
void Give(const Fp32Matrix& gradient, LayerTrace* to) {
  const Fp32Matrix given = Eigen::Map<const Fp32Matrix>(
      gradient.data(), to->out.rows(), to->out.cols());
  to->dout = to->dout.size() == 0 ? given : Sum(to->dout, given);
}

// The fp32 rows of the last layer, with the bias.
Fp32Matrix Logits(const LayerGeometry& g, const Fp32Matrix& x,
                  const LayerState& layer, int rows) {
  Fp32Matrix logits = Forward(g, x, RoundedToBf16(layer.weights.value), rows);
  for (int64_t n = 0; n < logits.rows(); ++n) {
    for (int64_t c = 0; c < logits.cols(); ++c) {
      logits(n, c) = fp32::Add(logits(n, c), layer.offset.value(c));
    }
  }
  return logits;
}

// Forward and backward pass: computes all gradients.
absl::StatusOr<StepResult> Gradients(const TrainingNetwork& network,
                                     const Bf16Matrix& images,
                                     absl::Span<const uint8_t> labels, int rows,
                                     const TrainingState* state) {
  if (absl::Status status = CheckBatch(network, images, rows); !status.ok()) {
    return status;
  }
  if (static_cast<int64_t>(labels.size()) != images.rows()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "training: %d labels for %d images", labels.size(), images.rows()));
  }
  for (size_t n = 0; n < labels.size(); ++n) {
    if (labels[n] >= network.classes()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("training: label %d is %d of %d classes", n,
                          labels[n], network.classes()));
    }
  }
  const std::vector<LayerGeometry> geometries =
      Geometries(network, static_cast<int>(images.rows()));
  const size_t last = geometries.size() - 1;
  StepResult result;
  result.layers.resize(geometries.size());
  std::vector<Fp32Matrix> inputs;
  std::vector<BatchNorm> norms;

  const Fp32Matrix pixels = FromBf16(images);
  for (size_t i = 0; i <= last; ++i) {
    const LayerGeometry& g = geometries[i];
    LayerTrace& trace = result.layers[i];
    const int from = network.InputOf(static_cast<int>(i));
    inputs.push_back(AsInput(g, from < 0 ? pixels : result.layers[from].out));
    if (i == last) {
      trace.z = Logits(g, inputs[i], state->layers[i], rows);
      break;
    }
    const LayerState& layer = state->layers[i];
    trace.z = RoundedToBf16(
        Forward(g, inputs[i], RoundedToBf16(layer.weights.value), rows));
    norms.push_back(BatchStatistics(g, trace.z));
    trace.mean = norms[i].mean;
    trace.var = norms[i].var;
    trace.inv = norms[i].inv;
    trace.a = NormaliseRelu(norms[i], trace.z, layer.offset.value);
    trace.out = trace.a;
    if (HasPool(network.layers[i]))
      trace.out = trace.pooled =
          PoolForward(g, network.layers[i].pool, trace.a);
    const int plus = network.layers[i].plus;
    if (plus >= 0) trace.out = Sum(trace.out, result.layers[plus].out);
  }

  ClassLoss loss = SoftmaxLoss(result.layers[last].z, labels, rows);
  result.loss = loss.loss;
  result.correct = loss.correct;
  result.layers[last].a = loss.p;
  result.layers[last].dz = loss.dz;
  result.layers[last].doffset = SampleSum(loss.dz);

  for (size_t i = last + 1; i-- > 0;) {
    const LayerGeometry& g = geometries[i];
    LayerTrace& trace = result.layers[i];
    const LayerState& layer = state->layers[i];
    if (i < last) {
      // The gradient of the output is the same for both summands.
      const int plus = network.layers[i].plus;
      if (plus >= 0) Give(trace.dout, &result.layers[plus]);
      trace.da = trace.dout;
      if (HasPool(network.layers[i])) {
        trace.dpooled = trace.dout;
        trace.da = PoolGradient(g, network.layers[i].pool, trace.a,
                                trace.pooled, trace.dpooled);
      }
      BatchNormGradient gradient = NormaliseReluGradient(
          g, norms[i], trace.z, layer.offset.value, trace.da);
      trace.dz = std::move(gradient.dz);
      trace.sum_g = gradient.sum_g;
      trace.sum_gx = gradient.sum_gx;
      trace.doffset = gradient.sum_g;
    }
    trace.dw = WeightGradient(g, inputs[i], trace.dz, rows);
    const int from = network.InputOf(static_cast<int>(i));
    if (from < 0) continue;
    Give(InputGradient(g, trace.dz, RoundedToBf16(layer.weights.value), rows),
         &result.layers[from]);
  }

  return result;
}

// Updates the parameters of a layer.
void Learn(const Optimiser& optimiser, const Fp32Matrix& dw,
           const Fp32Row& doffset, const LayerTrace& trace,
           const TrainingState& state, LayerState* layer) {
  Update(optimiser, state, dw, &layer->weights);
  Update(optimiser, state, doffset.matrix(), &layer->offset);
  if (layer->running_mean.size() == 0) return;
  UpdateRunning(trace.mean, &layer->running_mean);
  UpdateRunning(trace.var, &layer->running_var);
}

}  // namespace

absl::StatusOr<StepResult> Step(const TrainingNetwork& network,
                                const Bf16Matrix& images,
                                absl::Span<const uint8_t> labels,
                                const Optimiser& optimiser, int rows,
                                TrainingState* state) {
  absl::StatusOr<StepResult> result =
      Gradients(network, images, labels, rows, state);
  if (!result.ok()) return result;
  BeginStep(optimiser, state);
  for (size_t i = 0; i < state->layers.size(); ++i) {
    const LayerTrace& trace = result->layers[i];
    Learn(optimiser, trace.dw, trace.doffset, trace, *state, &state->layers[i]);
  }
  return result;
}

absl::StatusOr<std::array<StepResult, 2>> StepOnReplicas(
    const TrainingNetwork& network, const std::array<Bf16Matrix, 2>& images,
    const std::array<absl::Span<const uint8_t>, 2>& labels,
    const Optimiser& optimiser, int rows,
    std::array<TrainingState, 2>* states) {
  std::array<StepResult, 2> results;
  for (int r = 0; r < 2; ++r) {
    absl::StatusOr<StepResult> result =
        Gradients(network, images[r], labels[r], rows, &(*states)[r]);
    if (!result.ok()) return result.status();
    results[r] = *std::move(result);
  }
  for (int r = 0; r < 2; ++r) {
    TrainingState& state = (*states)[r];
    BeginStep(optimiser, &state);
    for (size_t i = 0; i < state.layers.size(); ++i) {
      const LayerTrace &first = results[0].layers[i],
                       &second = results[1].layers[i];
      Learn(optimiser, Fp32Matrix(first.dw.binaryExpr(second.dw, &fp32::Add)),
            Fp32Row(first.doffset.binaryExpr(second.doffset, &fp32::Add)),
            results[r].layers[i], state, &state.layers[i]);
    }
  }
  return results;
}

absl::StatusOr<Fp32Matrix> Evaluate(const TrainingNetwork& network,
                                    const Bf16Matrix& images, int rows,
                                    const TrainingState& state) {
  if (absl::Status status = CheckBatch(network, images, rows); !status.ok()) {
    return status;
  }
  const std::vector<LayerGeometry> geometries =
      Geometries(network, static_cast<int>(images.rows()));
  const Fp32Matrix pixels = FromBf16(images);
  std::vector<Fp32Matrix> outputs;
  for (size_t i = 0;; ++i) {
    const LayerGeometry& g = geometries[i];
    const LayerState& layer = state.layers[i];
    const int from = network.InputOf(static_cast<int>(i));
    Fp32Matrix x = AsInput(g, from < 0 ? pixels : outputs[from]);
    if (i + 1 == geometries.size()) return Logits(g, x, layer, rows);
    const Fp32Matrix z =
        RoundedToBf16(Forward(g, x, RoundedToBf16(layer.weights.value), rows));
    x = NormaliseRelu(FromStatistics(layer.running_mean, layer.running_var), z,
                      layer.offset.value);
    if (HasPool(network.layers[i]))
      x = PoolForward(g, network.layers[i].pool, x);
    const int plus = network.layers[i].plus;
    if (plus >= 0) x = Sum(x, outputs[plus]);
    outputs.push_back(std::move(x));
  }
}

int CountCorrect(const Fp32Matrix& logits, absl::Span<const uint8_t> labels) {
  int correct = 0;
  for (int64_t n = 0; n < logits.rows(); ++n) {
    Eigen::Index answer = 0;
    for (Eigen::Index c = 1; c < logits.cols(); ++c) {
      if (logits(n, c) > logits(n, answer)) answer = c;
    }
    correct += answer == labels[n];
  }
  return correct;
}

Bf16Matrix PixelsToBf16(absl::Span<const uint8_t> pixels, int image_size) {
  Fp32Matrix values(pixels.size() / image_size, image_size);
  for (int64_t i = 0; i < values.size(); ++i) {
    values.data()[i] = static_cast<float>(pixels[i]) / 255.0f;
  }
  return ToBf16(values);
}

}  // namespace systole::golden
