// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// From a TensorFlow Lite model to results in files, by the command line alone.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/npy/npy.h"
#include "host/tools/digits.h"
#include "nlohmann/json.hpp"
#include "systole/program.h"
#include "tests/tools/cli.h"

namespace systole::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kModel[] = "models/mnist_cnn.tflite";

class ModelCli : public CliTest {
 protected:
  void Compile(const std::string& options = "") {
    const Outcome o = Run(absl::StrCat("compile ", kModel, " -o ",
                                       File("cnn.tpu"), " ", options));
    ASSERT_EQ(o.code, 0) << o.text;
  }
  // Digits as int8, and as the floats that these stand for.
  void WriteDigits(int images) {
    digits_ = *ReadDigits("tests/data/mnist");
    const std::vector<int8_t> values = digits_.Quantised(0, images);
    npy::Array array;
    array.shape = {images, 28, 28, 1};
    array.bytes.assign(values.begin(), values.end());
    ASSERT_EQ(npy::Write(array, File("x.npy")), absl::OkStatus());
    array.type = npy::Type::kFloat32;
    array.bytes.resize(4 * values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const float real = static_cast<float>(values[i] + 128) / 255.0f;
      std::memcpy(&array.bytes[4 * i], &real, 4);
    }
    ASSERT_EQ(npy::Write(array, File("f.npy")), absl::OkStatus());
  }
  nlohmann::json RunJson(const std::string& arguments) {
    const Outcome o = Run(absl::StrCat("run ", arguments, " --json --quiet"));
    EXPECT_EQ(o.code, 0) << o.text;
    return nlohmann::json::parse(o.text, nullptr, false);
  }
  std::string Program() const { return File("cnn.tpu"); }
  Digits digits_;
};

TEST_F(ModelCli, CompilesAndSaysWhatRunsWhere) {
  const Outcome o = Run(absl::StrCat("compile ", kModel, " -o ", Program()));
  ASSERT_EQ(o.code, 0) << o.text;
  EXPECT_THAT(o.text, HasSubstr("conv2d    array"));
  EXPECT_THAT(o.text, HasSubstr("5 layers"));
  EXPECT_THAT(o.text, HasSubstr("cycles expected"));
}

TEST_F(ModelCli, RunsAStackOfInputs) {
  Compile();
  WriteDigits(5);
  const nlohmann::json json =
      RunJson(absl::StrCat(Program(), " --backend iss -i ", File("x.npy"),
                           " -o ", File("y.npy"), " --check ", kModel));
  EXPECT_EQ(json["images"], 5);
  EXPECT_EQ(json["runs"].size(), 5u);
  EXPECT_EQ(json["sums_saturated"], false);
  EXPECT_EQ(json["inputs_quantised"], false);
  EXPECT_EQ(json["cycles"], nullptr);
  EXPECT_EQ(json["check"]["bit_exact"], true);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(json["outputs"][0]["index_of_largest"][i], digits_.labels[i]);
  }
  const auto y = npy::Read(File("y.npy"));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(npy::Describe(*y), "int8 (5, 10)");
  // Floats are quantised to the same; results as floats.
  const nlohmann::json floats =
      RunJson(absl::StrCat(Program(), " --backend iss -i ", File("f.npy"),
                           " -o ", File("g.npy"), " --float"));
  EXPECT_EQ(floats["inputs_quantised"], true);
  EXPECT_EQ(floats["outputs"][0]["index_of_largest"],
            json["outputs"][0]["index_of_largest"]);
  const auto g = npy::Read(File("g.npy"));
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ(npy::Describe(*g), "float32 (5, 10)");
}

TEST_F(ModelCli, RunsBatchesOnTheRtl) {
  Compile("--batch 2 --keep-intermediates");
  WriteDigits(3);
  const nlohmann::json json =
      RunJson(absl::StrCat(Program(), " --backend rtl --input ", File("x.npy"),
                           " --check ", kModel));
  EXPECT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][1]["images"], 1);
  EXPECT_GT(json["cycles"], 40000);
  EXPECT_EQ(json["check"]["bit_exact"], true);
  EXPECT_EQ(json["check"]["tensors"].size(), 6u);  // layers and the output
}

TEST_F(ModelCli, CompilesInMemory) {
  const Outcome o = Run(absl::StrCat(
      "run ", kModel, " --backend iss --random 2 --check ", kModel));
  EXPECT_EQ(o.code, 0) << o.text;
  EXPECT_THAT(o.text, HasSubstr("6 tensors, 0 mismatches"));
  EXPECT_EQ(Run("run models/mnist_cnn.safetensors --backend iss --random 1 "
                "--check models/mnist_cnn.safetensors --preset v1 --quiet")
                .code,
            0);
}

// A program one of whose biases is not that of the model.
TEST_F(ModelCli, TheCheckFindsAWrongProgram) {
  Compile("--keep-intermediates");
  auto program = ReadProgram(Program());
  ASSERT_TRUE(program.ok());
  for (DataSegment& segment : program->segments) {
    if (segment.name == "conv1.out.params") segment.data[1] ^= 0x20;
  }
  ASSERT_EQ(WriteProgram(*program, Program()), absl::OkStatus());
  ExpectError(absl::StrCat("run ", Program(),
                           " --backend iss --random 1 --check ", kModel),
              1, "6 mismatches:\n  conv1.out (conv2d): image 0, row ");
}

TEST_F(ModelCli, BadInputs) {
  Compile();
  WriteDigits(1);
  const std::string run = absl::StrCat("run ", Program(), " --backend iss ");
  ExpectError(run, 1, "give either --input or --random");
  ExpectError(run + "--random 0", 2, "--random");
  ExpectError("compile / -o " + File("x.tpu"), 1, "/: is a folder");
  ExpectError(run + "-i none.npy", 1, "none.npy: cannot be opened");
  ExpectError(run + "-i " + kModel, 1, "not an array (.npy)");
  ExpectError(run + "-i " + File("x.npy") + " -o a=b.npy -o c.npy", 1,
              "--output a=b.npy: give one NAME=FILE");
  ExpectError(run + "-i " + File("x.npy") + " -o " + File("no/y.npy"), 1,
              "no/y.npy: cannot be written");
  npy::Array array;
  array.shape = {28, 28, 2};
  array.bytes.resize(28 * 28 * 2);
  ASSERT_EQ(npy::Write(array, File("bad.npy")), absl::OkStatus());
  ExpectError(run + "-i " + File("bad.npy"), 1,
              "int8 (28, 28, 2) is neither [1,28,28,1] nor a stack of them");
  array.type = npy::Type::kInt16;
  array.shape = {28, 28, 1};
  array.bytes.resize(2 * 28 * 28);
  ASSERT_EQ(npy::Write(array, File("bad.npy")), absl::OkStatus());
  ExpectError(run + "-i " + File("bad.npy"), 1, "give int8, uint8 or float32");
}

TEST_F(ModelCli, WritesTheTensorsOnTheWay) {
  const std::string folder = File("tensors");
  const Outcome o = Run(absl::StrCat("run ", kModel,
                                     " --backend iss --random 3 --batch 2 "
                                     "--tensors ",
                                     folder));
  ASSERT_EQ(o.code, 0) << o.text;
  std::ifstream file(folder + "/index.json");
  const auto index = nlohmann::json::parse(file, nullptr, false);
  ASSERT_GE(index.size(), 5u);
  for (const auto& entry : index) {
    const auto array =
        npy::Read(absl::StrCat(folder, "/", entry["file"].get<std::string>()));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->shape[0], 3);
    EXPECT_GT(entry["scale"].get<double>(), 0);
  }
  ExpectError(absl::StrCat("run ", kModel,
                           " --backend iss --random 1 --tensors /dev/null"),
              1, "/dev/null: ");
}

// What a file is is told by what it holds.
TEST_F(ModelCli, ForeignFiles) {
  const std::string named = File("model.bin");
  std::filesystem::copy_file(kModel, named);
  EXPECT_EQ(Run("compile " + named + " -o " + File("n.tpu")).code, 0);
  EXPECT_EQ(Run("run " + named + " --backend iss --random 1").code, 0);
  std::filesystem::rename(File("n.tpu"), File("program"));
  EXPECT_EQ(Run("run " + File("program") + " --backend iss --random 1").code,
            0);
  EXPECT_EQ(Run("info " + File("program")).code, 0);
  const auto expect = [&](const std::string& name, const std::string& bytes,
                          const char* text) {
    std::ofstream(File(name), std::ios::binary) << bytes;
    for (const char* command : {"compile ", "run --random 1 ", "info "}) {
      ExpectError(command + File(name), 1, text);
    }
  };
  expect("readme.md", "# A text\n", "readme.md: is a text, not ");
  expect("lfs.tflite", "version https://git-lfs.github.com/spec/v1\n",
         "is a Git LFS pointer to a file, not ");
  expect("page.tflite", "<!DOCTYPE html><html></html>",
         "is an HTML page, not ");
  expect("empty", "", "is an empty file");
  expect("m.keras", std::string("PK\x03\x04", 4),
         "is a Keras model (.keras), not ");
  expect("m.h5", "\x89HDF\r\n\x1A\n", "is an HDF5 file");
  expect("m.onnx", std::string("\x08\x07", 2), "an ONNX model");
  expect("m.npy", "\x93NUMPY", "is an array (.npy)");
  std::filesystem::create_directory(File("saved"));
  std::ofstream(File("saved/saved_model.pb")) << "x";
  ExpectError("compile " + File("saved"), 1,
              "saved: is a TensorFlow graph (a SavedModel), not a model");
}

// Numbers that no int8 stands for.
TEST_F(ModelCli, FloatsThatAreClipped) {
  Compile();
  WriteDigits(1);
  auto array = npy::Read(File("f.npy"));
  ASSERT_TRUE(array.ok());
  const auto set = [&](size_t index, float value) {
    std::memcpy(&array->bytes[4 * index], &value, 4);
    ASSERT_EQ(npy::Write(*array, File("g.npy")), absl::OkStatus());
  };
  const std::string run = absl::StrCat("run ", Program(), " --backend iss -i ",
                                       File("g.npy"), " --quiet");
  set(7, 1.001f);  // rounds to 1, the highest
  EXPECT_THAT(Run(run).text, Not(HasSubstr("clipped")));
  set(7, 1.5f);
  set(8, -HUGE_VALF);
  const Outcome o = Run(run);
  EXPECT_EQ(o.code, 0);
  EXPECT_THAT(o.text, HasSubstr("g.npy: 2 of 784 values lie outside 0 to 1 and "
                                "are clipped"));
  set(783, NAN);
  ExpectError(
      run, 1,
      "1 of 784 values are not numbers (NaN), the first is element 783");
}

TEST_F(ModelCli, InfoDescribesAModel) {
  const Outcome o = Run(absl::StrCat("info ", kModel));
  EXPECT_EQ(o.code, 0);
  for (const char* text :
       {"model mnist_cnn", "i8[1,28,28,1]", "runs on", "systole compile "})
    EXPECT_THAT(o.text, HasSubstr(text));
  const auto json =
      nlohmann::json::parse(Run(absl::StrCat("info --json ", kModel)).text);
  EXPECT_EQ(json["inputs"].size(), 1u);
  EXPECT_EQ(json["operators"][0]["runs_on"], "array");
}

TEST_F(ModelCli, BadPrograms) {
  Compile();
  std::ifstream file(Program(), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  const std::string bad = File("bad.tpu");
  std::ofstream(bad, std::ios::binary) << bytes.substr(0, bytes.size() - 100);
  ExpectError("run " + bad + " --random 1", 1, "bad.tpu: truncated");
  ExpectError("info " + bad, 1, "bad.tpu: truncated");
  bytes[bytes.size() / 2] ^= 4;
  std::ofstream(bad, std::ios::binary) << bytes;
  ExpectError("run " + bad + " --random 1", 1, "bad.tpu: corrupted");
  std::ofstream(File("text")) << "halt\n";
  ASSERT_EQ(Run(absl::StrCat("asm ", File("text"), " -o ", bad)).code, 0);
  ExpectError("run " + bad + " --random 1", 1, "a program without a model");
  EXPECT_EQ(Run("info " + bad).code, 0);
  std::ofstream(File("bad.tflite")) << "no model";
  ExpectError("compile " + File("bad.tflite"), 1, "bad.tflite");
  ExpectError("compile " + File("none.tflite"), 1, "none.tflite");
}

// Of another version, whatever else is wrong with it; and folders.
TEST_F(ModelCli, OlderProgramsAndFolders) {
  Compile();
  std::ifstream file(Program(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  const std::string old = File("old.tpu");
  constexpr int kFormat = 8, kIsa = 12;  // behind the magic
  for (const auto& [at, text] :
       {std::make_pair(kFormat,
                       "old.tpu: a program of format version 3, this program "
                       "reads version 4: compile its model again"),
        std::make_pair(kIsa, "old.tpu: made for ISA version 0, this is 1")}) {
    std::string changed = bytes;
    --changed[at];
    std::ofstream(old, std::ios::binary) << changed;
    for (const char* command : {"run --random 1 ", "info ", "disasm "})
      ExpectError(command + old, 1, text);
  }
  std::filesystem::create_directory(File("folder"));
  const std::string folder = File("folder");
  for (const char* command :
       {"run --random 1 ", "info ", "disasm ", "compile "})
    ExpectError(command + folder, 1, "folder: is a folder");
  ExpectError("run " + Program() + " --backend iss -i " + folder, 1,
              "folder: is a folder");
}

TEST_F(ModelCli, InfoDescribesTheProgram) {
  Compile("--preset nano");
  const Outcome o = Run("info " + Program());
  EXPECT_EQ(o.code, 0);
  for (const char* text :
       {"model mnist_cnn", "i8[1,28,28,1]", "runs on", "expected cycles",
        "column tiles of", "unified buffer", "(parameters)", "data in HBM",
        "preset nano"}) {
    EXPECT_THAT(o.text, HasSubstr(text));
  }
  const nlohmann::json json =
      nlohmann::json::parse(Run("info --json " + Program()).text);
  EXPECT_EQ(json["layers"].size(), 5u);
  int64_t cycles = 0;
  for (const nlohmann::json& layer : json["layers"]) {
    cycles += layer["expected_cycles"].get<int64_t>();
    EXPECT_GE(layer["hbm_read_bytes"].get<int64_t>() +
                  layer["hbm_write_bytes"].get<int64_t>(),
              layer["least_hbm_bytes"].get<int64_t>());
  }
  EXPECT_EQ(json["expected_cycles"], cycles);
  EXPECT_EQ(json["inputs"][0]["shape"], nlohmann::json({1, 28, 28, 1}));
  EXPECT_FALSE(json["unified_buffer"].empty());
  EXPECT_FALSE(json["operators"].empty());
}

TEST_F(ModelCli, PrintsTheGraphBehindEachStep) {
  const std::string compile =
      absl::StrCat("compile ", kModel, " -o ", Program());
  const Outcome all = Run(compile + " --print-ir");
  EXPECT_EQ(all.code, 0);
  for (const char* step :
       {"input", "simplification", "constant-folding", "clamp-fusion",
        "pad-folding", "lowering", "tiling", "memory-planning", "scheduling"}) {
    EXPECT_THAT(all.text, HasSubstr(absl::StrCat("// after ", step, "\n")));
  }
  const Outcome one =
      Run(compile + " --print-ir-after pad-folding --print-constants");
  EXPECT_THAT(one.text, Not(HasSubstr("// after input")));
  const size_t begin = one.text.find("module @"), end = one.text.find("\n}\n");
  ASSERT_NE(end, std::string::npos);
  const auto module = ir::Parse(one.text.substr(begin, end + 3 - begin));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ir::Verify(**module), absl::OkStatus());
  ExpectError(compile + " --print-ir-after flying", 1,
              "--print-ir-after flying: there are input, simplification");
}

TEST_F(ModelCli, BenchMeasuresLayers) {
  const Outcome o =
      Run(absl::StrCat("bench ", kModel, " --quiet --reports ", folder_));
  ASSERT_EQ(o.code, 0) << o.text;
  EXPECT_THAT(o.text, HasSubstr("of ideal"));
  std::ifstream file(File("bench_models.json"));
  const nlohmann::json records = nlohmann::json::parse(file);
  ASSERT_EQ(records.size(), 6u);
  int64_t cycles = 0;
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(records[i]["section"], "layer");
    cycles += records[i]["cycles"].get<int64_t>();
  }
  EXPECT_EQ(records[5]["section"], "model");
  EXPECT_EQ(records[5]["cycles"], cycles);
  EXPECT_LT(std::abs(records[5]["prediction_error"].get<double>()), 0.1);
  EXPECT_LT(records[5]["compile_seconds"].get<double>(), 2);
  ExpectError("bench models/none.tflite", 2, "none.tflite");
}

}  // namespace
}  // namespace systole::tools
