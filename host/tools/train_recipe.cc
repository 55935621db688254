// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_recipe.h"

#include <zlib.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/training/initial_state.h"

namespace systole::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Recipe RecipeOf(const Json& j) {
  Recipe r;
  r.preset = j.at("preset").get<std::string>();
  r.optimiser = j.at("optimiser").get<std::string>();
  r.steps = j.at("steps").get<int64_t>();
  r.batch = j.at("batch").get<int64_t>();
  r.rate = j.at("rate").get<double>();
  r.momentum = j.at("momentum").get<double>();
  r.seed = j.at("seed").get<uint32_t>();
  r.digits = j.at("digits").get<std::string>();
  return r;
}

CurvePoint PointOf(const Json& j) {
  CurvePoint p;
  p.step = j.at("step").get<int64_t>();
  p.rate = j.at("rate").get<double>();
  // A loss that is no number is null in JSON.
  p.loss = j.at("loss").is_null() ? std::nan("") : j.at("loss").get<double>();
  p.right = j.at("right").get<double>();
  p.cycles = j.at("cycles").get<int64_t>();
  p.seconds = j.at("seconds").get<double>();
  p.checked = j.at("checked").get<bool>();
  p.compared = j.at("compared").get<bool>();
  p.test_right = j.at("test_right").get<int64_t>();
  return p;
}

}  // namespace

absl::Status Recipe::Check() const {
  if (steps < 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d steps: at least 1 is needed", steps));
  }
  if (batch < 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a batch of %d: at least 1 is needed", batch));
  }
  if (!(rate > 0) || std::isinf(rate)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a rate of %g: more than 0 is needed", rate));
  }
  if (!(momentum >= 0 && momentum < 1)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a momentum of %g is not in 0..1", momentum));
  }
  return absl::OkStatus();
}

training::StepOptions Recipe::Options() const {
  training::StepOptions options;
  options.batch = batch;
  options.optimiser = optimiser == "sgd" ? training::OptimiserKind::kSgd
                                         : training::OptimiserKind::kAdam;
  options.momentum = momentum;
  return options;
}

float Recipe::Rate(int64_t step) const {
  return static_cast<float>(rate * static_cast<double>(steps - step) /
                            static_cast<double>(steps));
}

Json Recipe::ToJson() const {
  return {{"preset", preset},       {"steps", steps},  {"batch", batch},
          {"optimiser", optimiser}, {"rate", rate},    {"momentum", momentum},
          {"seed", seed},           {"digits", digits}};
}

std::string Disagreement(const Recipe& a, const Recipe& b) {
  const Json x = a.ToJson(), y = b.ToJson();
  for (const auto& [key, value] : x.items()) {
    if (value != y[key])
      return absl::StrCat(key, " is ", value.dump(), " and ", y[key].dump());
  }
  return "";
}

Json ToJson(const std::vector<CurvePoint>& curve) {
  Json list = Json::array();
  for (const CurvePoint& p : curve) {
    list.push_back({{"step", p.step},
                    {"rate", p.rate},
                    {"loss", p.loss},
                    {"right", p.right},
                    {"cycles", p.cycles},
                    {"seconds", p.seconds},
                    {"checked", p.checked},
                    {"compared", p.compared},
                    {"test_right", p.test_right}});
  }
  return list;
}

std::string Describe(const History& history) {
  return Json{{"version", kVersion},
              {"recipe", history.recipe.ToJson()},
              {"curve", ToJson(history.curve)}}
      .dump();
}

absl::StatusOr<History> ParseHistory(const std::string& description) {
  try {
    const Json j = Json::parse(description);
    if (j.at("version").get<int>() != kVersion) {
      return absl::InvalidArgumentError(
          absl::StrFormat("version %s, this program reads %d",
                          j.at("version").dump(), kVersion));
    }
    History history;
    history.recipe = RecipeOf(j.at("recipe"));
    for (const Json& point : j.at("curve"))
      history.curve.push_back(PointOf(point));
    return history;
  } catch (const Json::exception& e) {
    return absl::InvalidArgumentError(
        absl::StrCat("no description of a run: ", e.what()));
  }
}

std::string Fingerprint(const Digits& digits) {
  uLong crc = crc32_z(0, digits.pixels.data(), digits.pixels.size());
  crc = crc32_z(crc, digits.labels.data(), digits.labels.size());
  return absl::StrFormat("%08x", crc);
}

void BatchOrder::Shuffle(int64_t epoch) {
  epoch_ = epoch;
  order_.resize(count_);
  std::iota(order_.begin(), order_.end(), int64_t{0});
  const uint32_t key =
      training::Mix(seed_ ^ training::Mix(static_cast<uint32_t>(epoch)));
  for (int64_t i = count_ - 1; i > 0; --i) {
    const uint64_t random =
        training::Mix(key + training::Mix(static_cast<uint32_t>(i)));
    std::swap(order_[i], order_[random * (i + 1) >> 32]);
  }
}

std::vector<int64_t> BatchOrder::Batch(int64_t step, int64_t batch) {
  std::vector<int64_t> indices(batch);
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t at = step * batch + n;
    if (at / count_ != epoch_) Shuffle(at / count_);
    indices[n] = order_[at % count_];
  }
  return indices;
}

}  // namespace systole::tools
