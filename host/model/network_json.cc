// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/model/network_json.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace systole::model {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr Op kOps[] = {Op::kConv2D,  Op::kDepthwise,   Op::kDense,  Op::kSums,
                       Op::kMaxPool, Op::kAveragePool, Op::kMean,   Op::kAdd,
                       Op::kMul,     Op::kTable,       Op::kConcat, Op::kSlice};

bool HasRounding(Op op) {
  return op != Op::kMaxPool && op != Op::kAveragePool && op != Op::kTable &&
         op != Op::kConcat && op != Op::kSums && op != Op::kSlice;
}
// Layers whose factors are in the JSON.
size_t Factors(Op op) {
  return op == Op::kAdd ? 3 : op == Op::kMul || op == Op::kMean ? 1 : 0;
}
bool IsConvolution(Op op) { return op == Op::kConv2D || op == Op::kDepthwise; }
bool HasWindow(Op op) { return IsConvolution(op) || IsPool(op); }

// Reads the fields of one JSON object. The first failure sticks, and fields
// that nobody asked for are a failure, too.
class Fields {
 public:
  Fields(const Json& object, std::string what)
      : object_(object), what_(std::move(what)) {
    if (!object.is_object()) Fail("is not a JSON object");
  }

  void set_what(std::string what) { what_ = std::move(what); }

  const Json* Get(const std::string& field) {
    if (!status_.ok()) return nullptr;
    used_.insert(field);
    const auto it = object_.find(field);
    if (it == object_.end()) {
      Fail(absl::StrCat("has no field '", field, "'"));
      return nullptr;
    }
    return &*it;
  }

  std::string String(const std::string& field) {
    const Json* value = Get(field);
    if (value == nullptr) return "";
    if (!value->is_string()) {
      Fail(absl::StrCat("'", field, "' is not a string"));
      return "";
    }
    return value->get<std::string>();
  }

  int Int(const std::string& field) {
    const Json* value = Get(field);
    return value == nullptr ? 0 : ToInt(field, *value);
  }

  float Float(const std::string& field) {
    const Json* value = Get(field);
    if (value == nullptr) return 0;
    if (!value->is_number()) {
      Fail(absl::StrCat("'", field, "' is not a number"));
      return 0;
    }
    return value->get<float>();
  }

  // An array of some elements, null after a failure.
  const Json* Array(const std::string& field) {
    const Json* value = Get(field);
    if (value != nullptr && (!value->is_array() || value->empty())) {
      Fail(absl::StrCat("'", field, "' is not an array"));
      return nullptr;
    }
    return value;
  }

  // An array of exactly `count` elements, null after a failure.
  const Json* Array(const std::string& field, size_t count) {
    const Json* value = Get(field);
    if (value == nullptr) return nullptr;
    if (!value->is_array() || value->size() != count) {
      Fail(absl::StrCat("'", field, "' is not an array of ", count));
      return nullptr;
    }
    return value;
  }

  void Ints(const std::string& field, std::vector<int*> targets) {
    const Json* value = Array(field, targets.size());
    if (value == nullptr) return;
    for (size_t i = 0; i < targets.size(); ++i) {
      *targets[i] = ToInt(field, (*value)[i]);
    }
  }

  int ToInt(const std::string& field, const Json& value) {
    if (value.is_number_integer()) {
      const int64_t wide = value.get<int64_t>();
      if (wide >= INT32_MIN && wide <= INT32_MAX) return static_cast<int>(wide);
    }
    Fail(absl::StrCat("'", field,
                      "' has a value that is not an int32: ", value.dump()));
    return 0;
  }

  void Fail(const std::string& why) {
    if (status_.ok()) {
      status_ = absl::InvalidArgumentError(absl::StrCat(what_, " ", why));
    }
  }

  absl::Status Finish() {
    if (status_.ok()) {
      for (const auto& [key, value] : object_.items()) {
        if (used_.count(key) == 0) {
          Fail(absl::StrCat("has an unknown field '", key, "'"));
        }
      }
    }
    return status_;
  }

 private:
  const Json& object_;
  std::string what_;
  std::set<std::string> used_;
  absl::Status status_;
};

// Index of a named tensor; fails if there is none.
int FindTensor(Fields& fields, const Network& network,
               const std::string& name) {
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    if (network.tensors[i].name == name) return static_cast<int>(i);
  }
  fields.Fail(absl::StrCat("names an unknown tensor '", name, "'"));
  return 0;
}

// One name, or a list of names.
std::vector<int> FindTensors(Fields& fields, const Network& network,
                             const std::string& field) {
  const Json* value = fields.Get(field);
  if (value == nullptr) return {};
  std::vector<int> tensors;
  for (const Json& name : value->is_array() ? *value : Json::array({*value})) {
    if (!name.is_string()) {
      fields.Fail(absl::StrCat("'", field, "' has a name that is no string"));
      return {};
    }
    tensors.push_back(FindTensor(fields, network, name.get<std::string>()));
  }
  return tensors;
}

Json TensorNames(const Network& network, const std::vector<int>& tensors) {
  if (tensors.size() == 1) return network.tensors[tensors[0]].name;
  Json names = Json::array();
  for (int t : tensors) names.push_back(network.tensors[t].name);
  return names;
}

absl::StatusOr<Tensor> ParseTensor(const Json& json) {
  Fields fields(json, "a tensor");
  Tensor tensor;
  tensor.name = fields.String("name");
  fields.set_what(absl::StrCat("tensor '", tensor.name, "'"));
  fields.Ints("shape", {&tensor.height, &tensor.width, &tensor.channels});
  for (int size : {tensor.height, tensor.width, tensor.channels}) {
    // Checked here so that the size of a tensor can be computed.
    if (size < 1 || size > kMaxDimension) {
      fields.Fail(absl::StrCat("has a dimension of ", size, ", outside 1..",
                               kMaxDimension));
    }
  }
  tensor.scale = fields.Float("scale");
  tensor.zero_point = fields.Int("zero_point");
  absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  return tensor;
}

void ParseWindow(Fields& fields, Op op, Window& w) {
  fields.Ints("kernel", {&w.kernel_h, &w.kernel_w});
  fields.Ints("stride", {&w.stride_h, &w.stride_w});
  if (IsConvolution(op)) {
    fields.Ints("dilation", {&w.dilation_h, &w.dilation_w});
  }
  fields.Ints("padding",
              {&w.pad_top, &w.pad_left, &w.pad_bottom, &w.pad_right});
}

void ParseFactors(Fields& fields, Layer& layer) {
  const size_t count = Factors(layer.op);
  const Json* factors = fields.Array("requantise", count);
  if (factors == nullptr) return;
  if (layer.op != Op::kAdd) layer.requant.resize(count);
  Requant* const to =
      layer.op == Op::kAdd ? layer.add.data() : layer.requant.data();
  for (size_t i = 0; i < count; ++i) {
    const Json& pair = (*factors)[i];
    if (!pair.is_array() || pair.size() != 2) {
      fields.Fail("'requantise' is not an array of [multiplier, shift]");
      return;
    }
    const int shift = fields.ToInt("requantise", pair[1]);
    if (shift < INT8_MIN || shift > INT8_MAX) {
      fields.Fail(absl::StrCat("shift ", shift, " is outside -31..30"));
    }
    to[i] = {fields.ToInt("requantise", pair[0]), static_cast<int8_t>(shift)};
  }
}

void ParseTable(Fields& fields, Layer& layer) {
  const Json* values = fields.Array("table", 256);
  if (values == nullptr) return;
  for (const Json& each : *values) {
    const int value = fields.ToInt("table", each);
    if (value < INT8_MIN || value > INT8_MAX) {
      fields.Fail(absl::StrCat("'table' has ", value, ", which is no int8"));
    }
    layer.table.push_back(static_cast<int8_t>(value));
  }
}

absl::StatusOr<Layer> ParseLayer(const Json& json, const Network& network) {
  Fields fields(json, "a layer");
  Layer layer;
  layer.name = fields.String("name");
  fields.set_what(absl::StrCat("layer '", layer.name, "'"));

  const std::string op = fields.String("op");
  bool known = false;
  for (Op candidate : kOps) {
    if (op == OpName(candidate)) {
      layer.op = candidate;
      known = true;
    }
  }
  if (!known) fields.Fail(absl::StrCat("has an unknown op '", op, "'"));

  const bool any = layer.op == Op::kConcat;
  const size_t arity = TakesInputs(layer.op, 2) ? 2 : 1;
  if (const Json* names =
          any ? fields.Array("inputs") : fields.Array("inputs", arity)) {
    for (const Json& name : *names) {
      layer.inputs.push_back(FindTensor(
          fields, network, name.is_string() ? name.get<std::string>() : ""));
    }
  }
  layer.output = FindTensor(fields, network, fields.String("output"));
  if (HasWindow(layer.op)) ParseWindow(fields, layer.op, layer.window);
  fields.Ints("clamp", {&layer.clamp_min, &layer.clamp_max});
  if (HasRounding(layer.op)) {
    const std::string rounding = fields.String("rounding");
    if (rounding != "double" && rounding != "single") {
      fields.Fail(absl::StrCat("has an unknown rounding '", rounding, "'"));
    }
    layer.rounding =
        rounding == "single" ? Rounding::kSingle : Rounding::kDouble;
  }
  if (HasRequant(layer.op) && json.contains("weight_zero_point"))
    layer.weight_zero_point = fields.Int("weight_zero_point");
  if (Factors(layer.op) > 0) ParseFactors(fields, layer);
  if (layer.op == Op::kTable) ParseTable(fields, layer);
  if (layer.op == Op::kSlice) {
    fields.Ints("begin", {&layer.begin[0], &layer.begin[1], &layer.begin[2]});
    fields.Ints("stride", {&layer.window.stride_h, &layer.window.stride_w});
  }
  absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  return layer;
}

Json LayerJson(const Network& network, const Layer& layer) {
  Json json = {{"name", layer.name},
               {"op", OpName(layer.op)},
               {"output", network.out(layer).name},
               {"clamp", {layer.clamp_min, layer.clamp_max}}};
  for (int input : layer.inputs) {
    json["inputs"].push_back(network.tensors[input].name);
  }
  const Window& w = layer.window;
  if (HasWindow(layer.op)) {
    json["kernel"] = {w.kernel_h, w.kernel_w};
    json["stride"] = {w.stride_h, w.stride_w};
    json["padding"] = {w.pad_top, w.pad_left, w.pad_bottom, w.pad_right};
  }
  if (IsConvolution(layer.op)) {
    json["dilation"] = {w.dilation_h, w.dilation_w};
  }
  if (HasRounding(layer.op)) {
    json["rounding"] =
        layer.rounding == Rounding::kDouble ? "double" : "single";
  }
  if (layer.weight_zero_point != 0)
    json["weight_zero_point"] = layer.weight_zero_point;
  const Requant* const factors =
      layer.op == Op::kAdd ? layer.add.data() : layer.requant.data();
  for (size_t i = 0; i < Factors(layer.op); ++i) {
    json["requantise"].push_back(
        Json::array({factors[i].multiplier, factors[i].shift}));
  }
  if (layer.op == Op::kTable) json["table"] = layer.table;
  if (layer.op == Op::kSlice) {
    json["begin"] = layer.begin;
    json["stride"] = {w.stride_h, w.stride_w};
  }
  return json;
}

}  // namespace

absl::StatusOr<Network> ParseNetworkJson(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return absl::InvalidArgumentError("'systole.network' is not JSON");
  }
  Fields fields(json, "'systole.network'");
  if (const int version = fields.Int("version"); version != kVersion) {
    fields.Fail(
        absl::StrCat("has version ", version, " instead of ", kVersion));
  }
  Network network;
  network.name = fields.String("name");
  if (const Json* tensors = fields.Get("tensors")) {
    if (!tensors->is_array()) fields.Fail("'tensors' is not an array");
    for (const Json& entry : *tensors) {
      absl::StatusOr<Tensor> tensor = ParseTensor(entry);
      if (!tensor.ok()) return tensor.status();
      network.tensors.push_back(*std::move(tensor));
    }
  }
  network.inputs = FindTensors(fields, network, "input");
  network.outputs = FindTensors(fields, network, "output");
  if (const Json* layers = fields.Get("layers")) {
    if (!layers->is_array()) fields.Fail("'layers' is not an array");
    for (const Json& entry : *layers) {
      absl::StatusOr<Layer> layer = ParseLayer(entry, network);
      if (!layer.ok()) return layer.status();
      network.layers.push_back(*std::move(layer));
    }
  }
  absl::Status status = fields.Finish();
  if (!status.ok()) return status;
  return network;
}

std::string NetworkJson(const Network& network) {
  Json json = {{"version", kVersion},
               {"name", network.name},
               {"input", TensorNames(network, network.inputs)},
               {"output", TensorNames(network, network.outputs)}};
  for (const Tensor& tensor : network.tensors) {
    json["tensors"].push_back(
        {{"name", tensor.name},
         {"shape", {tensor.height, tensor.width, tensor.channels}},
         {"scale", tensor.scale},
         {"zero_point", tensor.zero_point}});
  }
  for (const Layer& layer : network.layers) {
    json["layers"].push_back(LayerJson(network, layer));
  }
  return json.dump();
}

}  // namespace systole::model
