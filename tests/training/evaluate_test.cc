// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Modules of training steps, evaluated on the host, against the golden model:
// every parameter behind each step, to the bit.
#include "host/ir/evaluate.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "host/training/step_module.h"
#include "tests/training/random_graph.h"
#include "tests/training/step_check.h"

namespace systole {
namespace {

using golden::Fp32Matrix;
using ir::Literal;
using ir::Literals;
using training::Layer;
using Values = std::map<std::string, Literal>;  // by a parameter's name

template <typename Tensor>
Literal Floats(const Tensor& values) {
  return Literal(
      std::vector<float>(values.data(), values.data() + values.size()));
}

template <typename Tensor>
Literal Halves(const Tensor& values) {
  std::vector<ir::Bfloat16> halves;
  for (Eigen::Index i = 0; i < values.size(); ++i)
    halves.emplace_back(values.data()[i]);
  return Literal(halves);
}

// What a step carries on, with the names of its module.
Values ValuesOf(const std::vector<Layer>& layers,
                const golden::TrainingState& state) {
  Values values;
  values["powers"] = Literal(std::vector<float>{state.power1, state.power2});
  for (size_t i = 0; i < layers.size(); ++i) {
    const golden::LayerState& s = state.layers[i];
    const std::string& name = layers[i].name;
    const auto put = [&](const std::string& what, const golden::Parameter& p) {
      values[name + what] = Floats(p.value);
      values[name + what + ".first"] = Floats(p.first);
      values[name + what + ".second"] = Floats(p.second);
    };
    put(".weights", s.weights);
    put(".offset", s.offset);
    values[name + ".working"] = Halves(s.weights.value);
    if (!layers[i].normed) continue;
    values[name + ".running_mean"] = Floats(s.running_mean);
    values[name + ".running_var"] = Floats(s.running_var);
  }
  return values;
}

// A batch and the rate.
void PutBatch(const golden::Bf16Matrix& images,
              const std::vector<uint8_t>& labels, int64_t classes, float rate,
              Values* values) {
  (*values)["images"] = Halves(golden::FromBf16(images));
  Fp32Matrix hot =
      Fp32Matrix::Zero(static_cast<int64_t>(labels.size()), classes);
  for (size_t n = 0; n < labels.size(); ++n)
    hot(static_cast<int64_t>(n), labels[n]) = 1;
  (*values)["labels"] = Halves(hot);
  (*values)["rate"] = Literal(std::vector<float>{rate});
}

// The outputs take their parameters' places.
absl::Status Step(const ir::Module& step, const ir::OtherCore& other,
                  Values* values) {
  Literals inputs;
  for (const ir::Node* p : step.inputs()) inputs.push_back(values->at(p->name));
  ir::EvaluateOptions options;
  options.other_core = other;
  const absl::StatusOr<Literals> made =
      ir::EvaluateModule(step, inputs, options);
  if (!made.ok()) return made.status();
  for (size_t i = 0; i < made->size(); ++i)
    (*values)[step.outputs[i].name] = (*made)[i];
  return absl::OkStatus();
}

// The first value that differs, or nothing.
std::string Difference(const Values& got, const Values& want) {
  for (const auto& [name, wanted] : want) {
    const Literal& literal = got.at(name);
    if (literal.size() != wanted.size()) return name + " has another size";
    const int64_t bytes = wanted.element() == ir::ElementType::kFloat32 ? 4 : 2;
    for (int64_t i = 0; i < wanted.size(); ++i) {
      if (std::memcmp(literal.data() + i * bytes, wanted.data() + i * bytes,
                      bytes) != 0)
        return absl::StrFormat("%s, value %d of %d", name, i, wanted.size());
    }
  }
  return "";
}

struct Training {
  std::vector<Layer> layers;
  training::StepOptions options;
  int rows = 128;
  golden::TrainingNetwork network;
  golden::Optimiser optimiser;

  Training(uint64_t seed, int rows, int replicas)
      : layers(RandomGraph(seed).Draw()), rows(rows) {
    options.batch = 1 + static_cast<int64_t>(seed % 9);
    options.replicas = replicas;
    if (seed % 3 == 1) options.optimiser = training::OptimiserKind::kSgd;
    network = tools::GoldenNetwork(layers);
    optimiser = golden::Adam{kRate};
    if (options.optimiser == training::OptimiserKind::kSgd)
      optimiser = golden::Sgd{kRate, static_cast<float>(options.momentum)};
  }
  static constexpr float kRate = 0.01f;

  std::unique_ptr<ir::Module> Module() const {
    auto module = training::StepModule(layers, options, rows);
    EXPECT_TRUE(module.ok()) << module.status();
    return *std::move(module);
  }
  // Of step `n` and core `core`.
  golden::Bf16Matrix Batch(int n, int core,
                           std::vector<uint8_t>& labels) const {
    std::vector<uint8_t> pixels;
    MakeBatch(network.classes(), network.height, network.width,
              static_cast<int>(options.batch), 100 + 10 * n + core, pixels,
              labels);
    return golden::PixelsToBf16(pixels, network.height * network.width);
  }
};

TEST(TrainingEvaluate, RandomGraphs) {
  for (int round = 0; round < 40; ++round) {
    const uint64_t seed = 2000 + static_cast<uint64_t>(round);
    SCOPED_TRACE(absl::StrFormat("graph of seed %d", seed));
    const Training s(seed, 8 << round % 5, 1);
    const auto module = s.Module();
    golden::TrainingState state =
        golden::InitialState(s.network, static_cast<uint32_t>(seed));
    Values values = ValuesOf(s.layers, state);
    for (int step = 0; step < 3; ++step) {
      std::vector<uint8_t> labels;
      const golden::Bf16Matrix images = s.Batch(step, 0, labels);
      PutBatch(images, labels, s.network.classes(), Training::kRate, &values);
      const absl::Status made = Step(*module, {}, &values);
      ASSERT_TRUE(made.ok()) << made;
      const auto want =
          golden::Step(s.network, images, labels, s.optimiser, s.rows, &state);
      ASSERT_TRUE(want.ok()) << want.status();
      EXPECT_EQ(values.at("loss").values<float>()[0], want->loss);
      EXPECT_EQ(values.at("right").values<float>()[0], want->correct);
      ASSERT_EQ(Difference(values, ValuesOf(s.layers, state)), "")
          << "step " << step;
    }
  }
}

// The gradients of a core do not depend on the other one's: one evaluation
// shows them, a second one has those of the other core.
TEST(TrainingEvaluate, TwoCores) {
  for (int round = 0; round < 12; ++round) {
    const uint64_t seed = 3000 + static_cast<uint64_t>(round);
    SCOPED_TRACE(absl::StrFormat("graph of seed %d", seed));
    const Training s(seed, 8 << round % 5, 2);
    const auto module = s.Module();
    std::array<golden::TrainingState, 2> states;
    states.fill(golden::InitialState(s.network, static_cast<uint32_t>(seed)));
    std::array<Values, 2> values;
    values.fill(ValuesOf(s.layers, states[0]));
    for (int step = 0; step < 2; ++step) {
      std::array<golden::Bf16Matrix, 2> images;
      std::array<std::vector<uint8_t>, 2> labels;
      std::array<Values, 2> gradients;
      for (int core = 0; core < 2; ++core) {
        images[core] = s.Batch(step, core, labels[core]);
        PutBatch(images[core], labels[core], s.network.classes(),
                 Training::kRate, &values[core]);
        Values ignored = values[core];
        const absl::Status made = Step(
            *module,
            [&](const ir::Node& node, const Literal& own) {
              gradients[core][node.name] = own;
              return own;
            },
            &ignored);
        ASSERT_TRUE(made.ok()) << made;
      }
      for (int core = 0; core < 2; ++core) {
        const absl::Status made = Step(
            *module,
            [&](const ir::Node& node, const Literal&) {
              return gradients[1 - core].at(node.name);
            },
            &values[core]);
        ASSERT_TRUE(made.ok()) << made;
      }
      const auto want =
          golden::StepOnReplicas(s.network, images, {labels[0], labels[1]},
                                 s.optimiser, s.rows, &states);
      ASSERT_TRUE(want.ok()) << want.status();
      for (int core = 0; core < 2; ++core) {
        ASSERT_EQ(Difference(values[core], ValuesOf(s.layers, states[core])),
                  "")
            << "step " << step << ", core " << core;
      }
    }
  }
}

}  // namespace
}  // namespace systole
