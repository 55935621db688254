// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// `systole run`: its options, and its two forms.
#ifndef HOST_TOOLS_RUN_H_
#define HOST_TOOLS_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "host/files/data_file.h"
#include "host/runtime/compiled_model.h"
#include "host/tools/commands.h"
#include "host/tools/module_file.h"
#include "host/tools/waves.h"
#include "systole/device.h"

namespace systole::tools {

struct RunArgs {
  std::string backend = "rtl", preset = "edge",
              reports = ResultPlace("build/reports", "");
  WaveArgs waves;
  std::optional<int64_t> batch;
  int stall = 0, threads = 1, processes = 0;
  std::string firmware;            // ELF file
  std::vector<std::string> flips;  // "ADDRESS:BIT"
  uint64_t seed = 1;
  bool json = false, checked = false, quiet = false;
  bool preset_given = false, reports_given = false;  // not the defaults
  std::vector<std::string> given;  // options, by their long names
  // A model.
  std::string model, check, tensors, host_operators = "allow";
  std::vector<std::string> inputs, outputs;
  int64_t random = 0;
  int64_t devices = 1;
  bool dequantise = false;
  bool reset_variables = false;  // in front of each image
  ModuleArgs module;             // of a float or an ONNX model
  // A program without a model: "ADDRESS=FILE", "ADDRESS+BYTES=FILE".
  // `second`: the program of the chip's other core.
  std::vector<std::string> memory, dumps;
  std::string second;
  // The digits.
  std::string network = DataFile("models/mnist_cnn.safetensors",
                                 "models/mnist_cnn.safetensors"),
              digits = DataFile("tests/data/mnist", "digits");
  int64_t images = 32;
};

// What the options say of a device, but for its backend; it reports to
// `progress`, which must outlive it. For waveforms of failures it keeps the
// last `programs` starts.
absl::StatusOr<DeviceOptions> DeviceOptionsOf(const RunArgs& args,
                                              const std::string& preset,
                                              Progress& progress,
                                              size_t programs,
                                              size_t cores = 1);
// The device that the options describe; it reports to `progress`, and its
// cycles to `probe`; they must outlive it. For waveforms of failures it keeps
// the last `programs` starts.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const RunArgs& args,
                                                   const std::string& preset,
                                                   Progress& progress,
                                                   ProbeSink* probe = nullptr,
                                                   size_t programs = 1);
// As many of the chip's cores, in their order.
absl::StatusOr<std::vector<std::unique_ptr<Device>>> OpenDevices(
    const RunArgs& args, const std::string& preset, size_t cores,
    Progress& progress);

// args.model: a program, or what one is made of. What is asked for and the
// program is not made for (preset, batch) is an error.
absl::StatusOr<runtime::CompiledModel> ReadOrBuild(const RunArgs& args);

// Whether results can go to their files, of which some may be "", and folders,
// and whether so many images have the program that is to be traced: looked at
// before the run.
absl::Status CheckPlaces(const RunArgs& args,
                         const std::vector<std::string>& files,
                         const runtime::CompiledModel& model, int64_t images);

// kCancelled after so many of the images; nothing is written then.
absl::Status Stopped(int64_t done, int64_t images);

absl::Status RunDigits(const RunArgs& args);
absl::Status RunModel(const RunArgs& args);
// args.model: StableHLO, a float or an ONNX model.
absl::Status RunModuleFile(const RunArgs& args, ModuleKind kind);
// `program`: the file args.model, which holds no model.
absl::Status RunProgram(const RunArgs& args, const Program& program);

}  // namespace systole::tools

#endif  // HOST_TOOLS_RUN_H_
