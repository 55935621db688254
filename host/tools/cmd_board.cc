// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// board: what a board behind a serial port is, whether it works, and the
// digits on it.
#include <chrono>
#include <cstdio>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/files/printable.h"
#include "host/serial/serial_device.h"
#include "host/tools/commands.h"
#include "host/tools/interrupt.h"
#include "host/tools/options.h"
#include "host/tools/report.h"
#include "host/tools/run.h"

namespace systole::tools {
namespace {

struct BoardArgs {
  std::string port = "/dev/ttyUSB0";
  int64_t bytes = 1 << 20;
  uint64_t seed = 1;
  bool quiet = false;
  RunArgs run;
};

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

absl::StatusOr<std::unique_ptr<serial::SerialDevice>> OpenBoard(
    const BoardArgs& args, Progress& progress) {
  const auto address = serial::ParseAddress(args.port);
  if (!address.ok()) return address.status();
  DeviceOptions options;
  options.preset = "";
  options.stop = Interrupted;
  options.transfer = [&progress](uint64_t done, uint64_t all) {
    progress.Report(done, absl::StrCat("of ", all, " bytes").c_str());
  };
  CatchInterrupts();
  return serial::SerialDevice::Open(*address, options);
}

void PrintLink(const serial::LinkStats& link) {
  std::printf(
      "link:     %d requests, %d sent again, %d time-outs, %d garbled\n",
      static_cast<int>(link.requests), static_cast<int>(link.repeated),
      static_cast<int>(link.timeouts), static_cast<int>(link.bad_frames));
}

absl::Status BoardInfo(const BoardArgs& args) {
  Progress progress(args.quiet);
  const auto device = OpenBoard(args, progress);
  if (!device.ok()) return device.status();
  const Preset& preset = (*device)->preset();
  const auto state = (*device)->ReadStatus();
  if (!state.ok()) return state.status();
  std::printf("port:     %s\npreset:   %s, %d MACs a cycle\n",
              Printable(args.port).c_str(), std::string(preset.name).c_str(),
              static_cast<int>(preset.macs_per_cycle()));
  std::printf("clock:    %g MHz\nmemory:   %s bytes\n",
              (*device)->info().clock_mhz,
              Thousands(static_cast<int64_t>(preset.memory_bytes())).c_str());
  std::printf("state:    %s\n", (*state & csr::kStatusRunning) != 0 ? "running"
                                : (*state & csr::kStatusDone) != 0  ? "done"
                                                                    : "idle");
  return absl::OkStatus();
}

absl::Status BoardTest(const BoardArgs& args) {
  Progress progress(args.quiet);
  auto device = OpenBoard(args, progress);
  if (!device.ok()) return device.status();
  const uint64_t capacity = (*device)->preset().memory_bytes();
  if (args.bytes < 1 || static_cast<uint64_t>(args.bytes) > capacity)
    return absl::InvalidArgumentError(
        absl::StrFormat("%d bytes: the board has %d", args.bytes, capacity));
  // At both ends, and a word in each MiB: each address line changes.
  std::mt19937_64 random(args.seed);
  std::vector<uint8_t> data(static_cast<size_t>(args.bytes)), got(data.size());
  for (uint8_t& b : data) b = static_cast<uint8_t>(random());
  const double begin = Seconds();
  progress.set_label("writing");
  if (absl::Status s = (*device)->Write(capacity - data.size(), data); !s.ok())
    return s;
  const double written = Seconds();
  progress.set_label("reading");
  if (absl::Status s =
          (*device)->Read(capacity - got.size(), absl::MakeSpan(got));
      !s.ok())
    return s;
  const double read = Seconds();
  progress.Clear();
  for (size_t i = 0; i < data.size(); ++i)
    if (got[i] != data[i])
      return absl::DataLossError(
          absl::StrFormat("memory at 0x%x holds 0x%02x, written was 0x%02x",
                          capacity - data.size() + i, got[i], data[i]));
  constexpr uint64_t kStep = 1 << 20;
  const auto word = [](uint64_t at) {
    std::vector<uint8_t> bytes(8);
    for (int i = 0; i < 8; ++i)
      bytes[i] = static_cast<uint8_t>((at * 0x9e3779b97f4a7c15u) >> (8 * i));
    return bytes;
  };
  for (uint64_t at = 0; at + data.size() < capacity; at += kStep)
    if (absl::Status s = (*device)->Write(at, word(at + 1)); !s.ok()) return s;
  for (uint64_t at = 0; at + data.size() < capacity; at += kStep) {
    std::vector<uint8_t> bytes(8);
    if (absl::Status s = (*device)->Read(at, absl::MakeSpan(bytes)); !s.ok())
      return s;
    if (bytes != word(at + 1))
      return absl::DataLossError(absl::StrFormat(
          "memory at 0x%x does not hold what was written there", at));
  }
  const double kilobytes = static_cast<double>(data.size()) / 1000;
  std::printf("memory:   %s bytes written (%.0f kB/s) and read (%.0f kB/s)\n",
              Thousands(args.bytes).c_str(), kilobytes / (written - begin),
              kilobytes / (read - written));
  PrintLink((*device)->link_stats());
  return absl::OkStatus();
}

absl::Status BoardRun(BoardArgs args) {
  {
    Progress progress(args.quiet);
    const auto device = OpenBoard(args, progress);
    if (!device.ok()) return device.status();
    args.run.preset = std::string((*device)->preset().name);
  }
  args.run.backend = "serial:" + args.port;
  args.run.quiet = args.quiet;
  return args.run.model.empty() ? RunDigits(args.run) : RunModel(args.run);
}

}  // namespace

void AddBoardCommand(CLI::App& app, Action& chosen) {
  CLI::App* sub =
      app.add_subcommand("board", "Use an FPGA board on a serial port");
  sub->require_subcommand(1);
  const auto add = [&](const char* name, const char* doc, auto action) {
    auto args = std::make_shared<BoardArgs>();
    CLI::App* command = sub->add_subcommand(name, doc);
    command
        ->add_option(
            "--port", args->port,
            "Serial port. ,baud=RATE and ,timeout=SECONDS may follow it")
        ->capture_default_str();
    command->add_flag("--quiet", args->quiet, "Do not show progress");
    command->callback([args, action, &chosen] {
      chosen = [args, action] { return action(*args); };
    });
    return std::make_pair(command, args);
  };
  add("info", "Show preset, clock, memory and state", BoardInfo);
  const auto [test, test_args] = add(
      "test", "Write memory and read it back, and count what the link repeats",
      BoardTest);
  test->add_option("--bytes", test_args->bytes, "Number of bytes to write")
      ->check(WholeNumber(1, int64_t{1} << 40))
      ->capture_default_str();
  test->add_option("--seed", test_args->seed, "Seed of the data")
      ->check(Seed())
      ->capture_default_str();
  const auto [run, run_args] = add("run",
                                   "Run a model, or the digits network with "
                                   "each layer compared with the golden model",
                                   BoardRun);
  CLI::Option* const program =
      run->add_option("program", run_args->run.model,
                      "Program file (.tpu) or model (.tflite, .safetensors)")
          ->check(FileName());
  CLI::Option* const input =
      run->add_option("-i,--input", run_args->run.inputs,
                      "Input of the model: FILE.npy or NAME=FILE.npy")
          ->check(FileName())
          ->needs(program);
  run->add_option("-o,--output", run_args->run.outputs,
                  "Where to write the outputs: FILE.npy or NAME=FILE.npy")
      ->check(FileName())
      ->needs(program);
  run->add_option("--random", run_args->run.random,
                  "Run this many random inputs")
      ->check(WholeNumber(1, int64_t{1} << 20))
      ->needs(program)
      ->excludes(input);
  run->add_option("--check", run_args->run.check,
                  "Model to compare every output with")
      ->check(FileName())
      ->needs(program);
  run->add_option("--images", run_args->run.images, "Number of digits to run")
      ->check(WholeNumber(1, kMostImages))
      ->excludes(program)
      ->capture_default_str();
  run->add_flag("--json", run_args->run.json,
                "Print JSON instead of the table");
}

}  // namespace systole::tools
