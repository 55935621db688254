// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Network <-> bytes: the container, the network's text and the checksum.
#include <list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/files/file_kind.h"
#include "host/files/read_file.h"
#include "host/files/write_file.h"
#include "host/model/network_json.h"
#include "host/model/safetensors.h"
#include "systole/model.h"

namespace systole::model {
namespace {

constexpr char kNetworkKey[] = "systole.network";

// Copies of little-endian integers to and from bytes.
template <typename T>
std::vector<T> Decode(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = 0;
    for (size_t b = 0; b < sizeof(T); ++b) {
      bits |= uint32_t{static_cast<uint8_t>(bytes[i * sizeof(T) + b])}
              << (8 * b);
    }
    values[i] = static_cast<T>(bits);
  }
  return values;
}

template <typename T>
std::string Encode(const std::vector<T>& values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(T));
  for (T value : values) {
    for (size_t b = 0; b < sizeof(T); ++b) {
      bytes.push_back(static_cast<char>(static_cast<uint32_t>(value) >> 8 * b));
    }
  }
  return bytes;
}

template <typename T>
constexpr const char* kDtype = sizeof(T) == 1 ? "I8" : "I32";

// Shape of `layer`.weights.
std::vector<int64_t> WeightShape(const Network& network, const Layer& layer) {
  const int64_t out = Filters(network, layer);
  if (layer.op == Op::kDense) return {out, 1, 1, network.in(layer).size()};
  return {out, layer.window.kernel_h, layer.window.kernel_w,
          layer.op == Op::kDepthwise ? 1 : network.in(layer).channels};
}

// Takes an array out of the container.
template <typename T>
absl::Status Take(Container& container, const std::string& name,
                  const std::vector<int64_t>& shape, std::vector<T>& values) {
  const auto it = container.tensors.find(name);
  if (it == container.tensors.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", name, "': missing"));
  }
  const StoredTensor& tensor = it->second;
  if (tensor.dtype != kDtype<T>) {
    return absl::InvalidArgumentError(absl::StrCat("tensor '", name,
                                                   "': dtype ", tensor.dtype,
                                                   " instead of ", kDtype<T>));
  }
  if (tensor.shape != shape) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tensor '", name, "': shape [", absl::StrJoin(tensor.shape, ", "),
        "] instead of [", absl::StrJoin(shape, ", "), "]"));
  }
  values = Decode<T>(tensor.data);
  container.tensors.erase(it);
  return absl::OkStatus();
}

absl::Status TakeLayer(Container& container, const Network& network,
                       Layer& layer) {
  const std::vector<int64_t> channels = {network.out(layer).channels};
  std::vector<int32_t> multiplier;
  std::vector<int8_t> shift;
  absl::Status status;
  status.Update(Take(container, layer.name + ".weights",
                     WeightShape(network, layer), layer.weights));
  if (!HasRequant(layer.op)) return status;
  status.Update(Take(container, layer.name + ".bias", channels, layer.bias));
  status.Update(
      Take(container, layer.name + ".multiplier", channels, multiplier));
  status.Update(Take(container, layer.name + ".shift", channels, shift));
  if (!status.ok()) return status;
  for (size_t c = 0; c < multiplier.size(); ++c) {
    layer.requant.push_back({multiplier[c], shift[c]});
  }
  return absl::OkStatus();
}

absl::StatusOr<Network> Parse(std::string_view bytes) {
  absl::StatusOr<Container> container = ParseContainer(bytes);
  if (!container.ok()) return container.status();
  for (const char* key : {kNetworkKey, kChecksumKey}) {
    if (container->metadata.count(key) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("no metadata '", key, "'"));
    }
  }
  const std::string& text = container->metadata[kNetworkKey];
  const std::string& stated = container->metadata[kChecksumKey];
  const std::string computed = Checksum(text, container->data);
  if (stated != computed) {
    return absl::DataLossError(
        absl::StrCat("corrupt: checksum ", computed, " instead of ", stated));
  }
  absl::StatusOr<Network> network = ParseNetworkJson(text);
  if (!network.ok()) return network.status();
  for (Layer& layer : network->layers) {
    if (!HasWeights(layer.op)) continue;
    absl::Status status = TakeLayer(*container, *network, layer);
    if (!status.ok()) return status;
  }
  if (!container->tensors.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", container->tensors.begin()->first,
                     "': belongs to no layer"));
  }
  absl::Status status = Validate(*network);
  if (!status.ok()) return status;
  return network;
}

}  // namespace

absl::StatusOr<Network> ParseNetwork(std::string_view bytes,
                                     const std::string& name) {
  absl::StatusOr<Network> network = Parse(bytes);
  if (network.ok()) return network;
  return absl::Status(
      network.status().code(),
      absl::StrCat("model file ", name, ": ", network.status().message()));
}

absl::StatusOr<Network> ReadNetwork(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  const FileKind kind = KindOfBytes(*bytes, path);
  if (kind != FileKind::kSafetensors && kind != FileKind::kUnknown)
    return WrongKind(path, kind, "a network (.safetensors)");
  return ParseNetwork(*bytes, path);
}

absl::StatusOr<std::string> SerializeNetwork(const Network& network) {
  absl::Status status = Validate(network);
  if (!status.ok()) return status;
  Container container;
  std::list<std::string> buffers;  // what the stored tensors view
  for (const Layer& layer : network.layers) {
    if (!HasWeights(layer.op)) continue;
    std::vector<int32_t> multiplier;
    std::vector<int8_t> shift;
    for (const Requant& requant : layer.requant) {
      multiplier.push_back(requant.multiplier);
      shift.push_back(requant.shift);
    }
    const auto store = [&](const char* field, const auto& values,
                           std::vector<int64_t> shape) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      buffers.push_back(Encode<T>(values));
      container.tensors[absl::StrCat(layer.name, ".", field)] = {
          kDtype<T>, std::move(shape), buffers.back()};
    };
    const std::vector<int64_t> channels = {network.out(layer).channels};
    store("weights", layer.weights, WeightShape(network, layer));
    if (!HasRequant(layer.op)) continue;
    store("bias", layer.bias, channels);
    store("multiplier", multiplier, channels);
    store("shift", shift, channels);
  }
  const std::string text = NetworkJson(network);
  container.metadata[kNetworkKey] = text;
  container.metadata[kChecksumKey] =
      Checksum(text, DataSection(container.tensors));
  return SerializeContainer(container);
}

absl::Status WriteNetwork(const Network& network, const std::string& path) {
  absl::StatusOr<std::string> bytes = SerializeNetwork(network);
  if (!bytes.ok()) return bytes.status();
  return WriteFile(*bytes, path);
}

}  // namespace systole::model
