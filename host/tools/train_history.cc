// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "host/tools/train_history.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace systole::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 2;

Recipe RecipeOf(const Json& j) {
  Recipe r;
  r.steps = j.at("steps").get<int64_t>();
  r.rate = j.at("rate").get<double>();
  r.seed = j.at("seed").get<uint32_t>();
  r.program = j.at("program").get<std::string>();
  r.data = j.at("data").get<std::string>();
  return r;
}

Json ToJson(const Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics) json[name] = value;
  return json;
}

Metrics MetricsOf(const Json& json) {
  Metrics metrics;
  // What is no number is null in JSON.
  for (const auto& [name, value] : json.items()) {
    metrics.emplace_back(name,
                         value.is_null() ? std::nan("") : value.get<double>());
  }
  return metrics;
}

CurvePoint PointOf(const Json& j) {
  CurvePoint p;
  p.step = j.at("step").get<int64_t>();
  p.rate = j.at("rate").get<double>();
  p.metrics = MetricsOf(j.at("metrics"));
  p.cycles = j.at("cycles").get<int64_t>();
  p.seconds = j.at("seconds").get<double>();
  p.checked = j.at("checked").get<bool>();
  p.compared = j.at("compared").get<bool>();
  p.test = MetricsOf(j.at("test"));
  return p;
}

}  // namespace

absl::Status Recipe::Check() const {
  if (steps < 1) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d steps: at least 1 is needed", steps));
  }
  if (!(rate > 0) || std::isinf(static_cast<float>(rate))) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a rate of %g: a float32 of more than 0 is needed", rate));
  }
  return absl::OkStatus();
}

float Recipe::Rate(int64_t step) const {
  return static_cast<float>(rate * static_cast<double>(steps - step) /
                            static_cast<double>(steps));
}

Json Recipe::ToJson() const {
  return {{"steps", steps},
          {"rate", rate},
          {"seed", seed},
          {"program", program},
          {"data", data}};
}

std::string Disagreement(const Recipe& a, const Recipe& b) {
  const Json x = a.ToJson(), y = b.ToJson();
  for (const auto& [key, value] : x.items()) {
    if (value != y[key])
      return absl::StrCat("its ", key, " is ", value.dump(), ", here it is ",
                          y[key].dump());
  }
  return "";
}

Json ToJson(const std::vector<CurvePoint>& curve) {
  Json list = Json::array();
  for (const CurvePoint& p : curve) {
    list.push_back({{"step", p.step},
                    {"rate", p.rate},
                    {"metrics", ToJson(p.metrics)},
                    {"cycles", p.cycles},
                    {"seconds", p.seconds},
                    {"checked", p.checked},
                    {"compared", p.compared},
                    {"test", ToJson(p.test)}});
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

}  // namespace systole::tools
