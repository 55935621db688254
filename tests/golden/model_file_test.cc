// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The model file: round trip, and every way that a file can be bad.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "systole/model.h"
#include "tests/golden/sample_network.h"

namespace systole::model {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr char kModel[] = SYSTOLE_SOURCE_DIR "/models/mnist_cnn.safetensors";

// A file taken apart, so that a test can change a part and keep the rest right.
struct File {
  Json header;
  std::string data;

  Json network() const {
    return Json::parse(
        header["__metadata__"]["systole.network"].get<std::string>());
  }
  void set_network(const Json& network) {
    header["__metadata__"]["systole.network"] = network.dump();
  }
  void FixChecksum() {
    const std::string all =
        header["__metadata__"]["systole.network"].get<std::string>() + data;
    header["__metadata__"]["systole.crc32"] = absl::StrFormat(
        "%08x",
        crc32_z(0, reinterpret_cast<const Bytef*>(all.data()), all.size()));
  }
};

std::string Pack(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes.push_back(static_cast<char>(uint64_t{header.size()} >> (8 * i)));
  }
  return bytes + header + data;
}

std::string Bytes() { return SerializeNetwork(SampleNetwork()).value(); }

File Open() {
  const std::string bytes = Bytes();
  const size_t length =
      static_cast<uint8_t>(bytes[0]) + 256 * static_cast<uint8_t>(bytes[1]);
  return {Json::parse(bytes.substr(8, length)), bytes.substr(8 + length)};
}

// Each error names the file and says what is wrong.
void ExpectError(const std::string& bytes, absl::StatusCode code,
                 const std::string& message) {
  const absl::Status status = ParseNetwork(bytes, "some.file").status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(status.message(), HasSubstr("model file some.file: "));
  EXPECT_THAT(status.message(), HasSubstr(message));
}

void ExpectSame(const Network& a, const Network& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_EQ(a.tensors[i].name, b.tensors[i].name);
    EXPECT_EQ(a.tensors[i].size(), b.tensors[i].size());
    EXPECT_EQ(a.tensors[i].scale, b.tensors[i].scale);
    EXPECT_EQ(a.tensors[i].zero_point, b.tensors[i].zero_point);
  }
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (size_t i = 0; i < a.layers.size(); ++i) {
    const Layer &x = a.layers[i], &y = b.layers[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.op, y.op);
    EXPECT_EQ(x.inputs, y.inputs);
    EXPECT_EQ(x.output, y.output);
    EXPECT_EQ(0, std::memcmp(&x.window, &y.window, sizeof(Window)));
    EXPECT_EQ(x.clamp_min, y.clamp_min);
    EXPECT_EQ(x.clamp_max, y.clamp_max);
    EXPECT_EQ(x.rounding, y.rounding);
    EXPECT_EQ(x.weights, y.weights);
    EXPECT_EQ(x.bias, y.bias);
    ASSERT_EQ(x.requant.size(), y.requant.size());
    for (size_t c = 0; c < x.requant.size(); ++c) {
      EXPECT_EQ(x.requant[c].multiplier, y.requant[c].multiplier);
      EXPECT_EQ(x.requant[c].shift, y.requant[c].shift);
    }
    for (size_t c = 0; c < x.add.size(); ++c) {
      EXPECT_EQ(x.add[c].multiplier, y.add[c].multiplier);
      EXPECT_EQ(x.add[c].shift, y.add[c].shift);
    }
  }
}

TEST(ModelFile, RoundTripInMemoryAndOnDisk) {
  const Network network = SampleNetwork();
  ExpectSame(ParseNetwork(Bytes(), "memory").value(), network);
  const std::string path = ::testing::TempDir() + "/sample.safetensors";
  ASSERT_TRUE(WriteNetwork(network, path).ok());
  ExpectSame(ReadNetwork(path).value(), network);
  std::remove(path.c_str());
}

TEST(ModelFile, ConcatenationsOfAnyNumber) {
  for (const int count : {1, 2, 5}) {
    Network network = SampleNetwork();
    Layer layer;
    layer.name = "beside";
    layer.op = Op::kConcat;
    layer.inputs.assign(count, 1);
    layer.output = static_cast<int>(network.tensors.size());
    network.tensors.push_back({"wide", 6, 5 * count, 3, 0.1f, -10});
    network.layers.push_back(layer);
    const auto bytes = SerializeNetwork(network);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    const auto again = ParseNetwork(*bytes, "x");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->layers.back().inputs, layer.inputs);
    EXPECT_EQ(*SerializeNetwork(*again), *bytes);
  }
}

TEST(ModelFile, TheTrainedModelSurvivesARewrite) {
  const absl::StatusOr<Network> network = ReadNetwork(kModel);
  ASSERT_TRUE(network.ok()) << network.status();
  ExpectSame(ParseNetwork(SerializeNetwork(*network).value(), "copy").value(),
             *network);
}

TEST(ModelFile, MissingFileAndUnwritablePath) {
  const absl::Status status = ReadNetwork("/no/such/file").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("/no/such/file"));
  EXPECT_FALSE(WriteNetwork(SampleNetwork(), "/no/such/file").ok());
}

TEST(ModelFile, TruncatedAtAnyLength) {
  const std::string bytes = Bytes();
  for (size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(ParseNetwork(bytes.substr(0, length), "cut").ok()) << length;
  }
  ExpectError(bytes.substr(0, 5), absl::StatusCode::kDataLoss, "truncated");
  ExpectError(bytes.substr(0, 100), absl::StatusCode::kDataLoss, "truncated");
  ExpectError(bytes.substr(0, bytes.size() - 1), absl::StatusCode::kDataLoss,
              "tensor '");
}

TEST(ModelFile, TrailingBytes) {
  ExpectError(Bytes() + "x", absl::StatusCode::kDataLoss, "tensors end at");
}

// Flips each bit of the data section and each byte of the header's text.
TEST(ModelFile, EveryCorruptByteIsNoticed) {
  const std::string bytes = Bytes();
  const Network network = SampleNetwork();
  const size_t data = bytes.size() - Open().data.size();
  for (size_t i = data; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = bytes;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      const absl::Status status = ParseNetwork(bad, "bad").status();
      ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << i;
      ASSERT_THAT(status.message(), HasSubstr("corrupt: checksum"));
    }
  }
  for (size_t i = 0; i < data; ++i) {
    if (bytes[i] == ' ') continue;  // padding of the header
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    ASSERT_FALSE(ParseNetwork(bad, "bad").ok()) << i << ": " << bytes[i];
  }
}

TEST(ModelFile, HeaderThatIsNotOne) {
  using absl::StatusCode;
  ExpectError(Pack("[1]", ""), StatusCode::kInvalidArgument,
              "not a JSON object");
  ExpectError(Pack("{\"a\":", ""), StatusCode::kInvalidArgument,
              "not a JSON object");
  ExpectError(Pack("{}", ""), StatusCode::kInvalidArgument,
              "no metadata 'systole.network'");
  ExpectError(Pack("{\"__metadata__\":3}", ""), StatusCode::kInvalidArgument,
              "__metadata__");
  ExpectError(Pack("{\"__metadata__\":{\"k\":3}}", ""),
              StatusCode::kInvalidArgument, "metadata 'k'");
  ExpectError(std::string(8, '\xff') + "{}", StatusCode::kDataLoss,
              "header should");
}

struct Fault {
  const char* name;
  std::function<void(File&)> breaks;
  absl::StatusCode code;
  const char* message;
};

void PrintTo(const Fault& fault, std::ostream* os) { *os << fault.name; }

Fault InHeader(const char* name, std::function<void(Json&)> breaks,
               const char* message,
               absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  return {name, [=](File& file) { breaks(file.header); }, code, message};
}

Fault InNetwork(const char* name, std::function<void(Json&)> breaks,
                const char* message) {
  return {name,
          [=](File& file) {
            Json network = file.network();
            breaks(network);
            file.set_network(network);
            file.FixChecksum();
          },
          absl::StatusCode::kInvalidArgument, message};
}

const Fault kFaults[] = {
    InHeader(
        "Dtype", [](Json& h) { h["conv.bias"]["dtype"] = "F64"; },
        "tensor 'conv.bias': dtype 'F64'"),
    InHeader(
        "DtypeOfLayer",
        [](Json& h) {
          h["conv.shift"]["dtype"] = "I32";
          h["conv.shift"]["shape"] = Json::array();
          h["conv.shift"]["data_offsets"][1] =
              h["conv.shift"]["data_offsets"][0].get<int>() + 4;
          h["dense.shift"]["data_offsets"][0] =
              h["conv.shift"]["data_offsets"][1];
        },
        "tensor '"),
    InHeader(
        "ShapeSize", [](Json& h) { h["conv.bias"]["shape"] = {4}; },
        "tensor 'conv.bias': its shape needs 16"),
    InHeader(
        "ShapeOverflow",
        [](Json& h) {
          h["conv.bias"]["shape"] = {INT64_MAX, INT64_MAX};
        },
        "too large"),
    InHeader(
        "ShapeNegative", [](Json& h) { h["conv.bias"]["shape"] = {-3}; },
        "entry is malformed"),
    InHeader(
        "ShapeOfLayer",
        [](Json& h) {
          h["conv.bias"]["shape"] = {1, 3};
        },
        "tensor 'conv.bias': shape [1, 3] instead of [3]"),
    InHeader(
        "Offsets", [](Json& h) { h["conv.bias"]["data_offsets"] = {0}; },
        "malformed"),
    InHeader(
        "OffsetsSwapped",
        [](Json& h) {
          h["conv.bias"]["data_offsets"] = {12, 0};
        },
        "outside the data section", absl::StatusCode::kDataLoss),
    InHeader(
        "OffsetsOutside",
        [](Json& h) {
          h["conv.bias"]["data_offsets"] = {1 << 20, (1 << 20) + 12};
        },
        "truncated or corrupt", absl::StatusCode::kDataLoss),
    InHeader(
        "Overlap",
        [](Json& h) {
          h["dense.bias"]["data_offsets"] = {4, 20};
        },
        "inside another tensor"),
    InHeader(
        "Gap", [](Json& h) { h.erase("conv.bias"); }, "behind a gap"),
    InHeader(
        "Renamed",
        [](Json& h) {
          h["other"] = h["conv.bias"];
          h.erase("conv.bias");
        },
        "tensor 'conv.bias': missing"),
    InHeader(
        "Unowned",
        [](Json& h) {
          h["zzz"] = {
              {"dtype", "I8"}, {"shape", {0}}, {"data_offsets", {0, 0}}};
        },
        "tensor 'zzz': belongs to no layer"),
    InHeader(
        "Checksum",
        [](Json& h) { h["__metadata__"]["systole.crc32"] = "00000000"; },
        "instead of 00000000", absl::StatusCode::kDataLoss),
    InHeader(
        "NoChecksum", [](Json& h) { h["__metadata__"].erase("systole.crc32"); },
        "no metadata 'systole.crc32'"),
    {"NetworkText",
     [](File& f) {
       f.header["__metadata__"]["systole.network"] = "{\"version\":";
       f.FixChecksum();
     },
     absl::StatusCode::kInvalidArgument, "is not JSON"},
    {"Multiplier",
     [](File& f) {
       f.data[f.header["conv.multiplier"]["data_offsets"][0].get<int>() + 3] =
           1;
       f.FixChecksum();
     },
     absl::StatusCode::kInvalidArgument, "layer 'conv': channel 0: multiplier"},
    InNetwork(
        "NotAnObject", [](Json& n) { n = 3; }, "is not a JSON object"),
    InNetwork(
        "Version", [](Json& n) { n["version"] = 2; }, "version 2"),
    InNetwork(
        "UnknownField", [](Json& n) { n["layers"][0]["groups"] = 2; },
        "layer 'conv' has an unknown field 'groups'"),
    InNetwork(
        "MissingField", [](Json& n) { n["layers"][0].erase("stride"); },
        "layer 'conv' has no field 'stride'"),
    InNetwork(
        "WrongType", [](Json& n) { n["name"] = 7; }, "'name' is not a string"),
    InNetwork(
        "NotAnInteger", [](Json& n) { n["tensors"][0]["zero_point"] = 1.5; },
        "not an int32: 1.5"),
    InNetwork(
        "LargeInteger",
        [](Json& n) { n["layers"][0]["clamp"][1] = 5000000000; },
        "not an int32"),
    InNetwork(
        "Dimension", [](Json& n) { n["tensors"][0]["shape"][1] = 1 << 30; },
        "tensor 'in' has a dimension"),
    InNetwork(
        "ShapeRank",
        [](Json& n) {
          n["tensors"][0]["shape"] = {1, 2};
        },
        "'shape' is not an array of 3"),
    InNetwork(
        "ScaleType", [](Json& n) { n["tensors"][0]["scale"] = "1"; },
        "'scale' is not a number"),
    InNetwork(
        "Op", [](Json& n) { n["layers"][0]["op"] = "lstm"; },
        "layer 'conv' has an unknown op 'lstm'"),
    InNetwork(
        "Rounding", [](Json& n) { n["layers"][0]["rounding"] = "up"; },
        "unknown rounding 'up'"),
    InNetwork(
        "Input", [](Json& n) { n["layers"][0]["inputs"] = {"q"}; },
        "unknown tensor 'q'"),
    InNetwork(
        "TensorsType", [](Json& n) { n["tensors"] = 5; }, "object"),
    InNetwork(
        "LayersType", [](Json& n) { n["layers"] = "x"; }, "object"),
    InNetwork(
        "AddPair", [](Json& n) { n["layers"][3]["requantise"][0] = 1; },
        "[multiplier, shift]"),
    InNetwork(
        "AddShift", [](Json& n) { n["layers"][3]["requantise"][0][1] = 300; },
        "shift 300"),
    InNetwork(
        "Rule",
        [](Json& n) {
          n["layers"][0]["clamp"] = {5, 4};
        },
        "layer 'conv': clamp 5..4"),
};

class ModelFileFault : public ::testing::TestWithParam<Fault> {};

TEST_P(ModelFileFault, IsAnError) {
  File file = Open();
  GetParam().breaks(file);
  ExpectError(Pack(file.header.dump(), file.data), GetParam().code,
              GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(All, ModelFileFault, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace systole::model
