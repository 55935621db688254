// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// run with a program that has no model, as `systole asm` makes it: bytes into
// HBM before it, and out of HBM behind it.
#include <cstdio>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "host/driver/run_loop.h"
#include "host/files/printable.h"
#include "host/files/read_file.h"
#include "host/files/write_file.h"
#include "host/tools/interrupt.h"
#include "host/tools/report.h"
#include "host/tools/run.h"

namespace systole::tools {
namespace {

// Bytes of HBM, and their file.
struct Image {
  uint64_t address = 0, size = 0;
  std::string file, bytes;
};

bool Number(const std::string& text, uint64_t& value) {
  return text.substr(0, 2) == "0x" ? absl::SimpleHexAtoi(text, &value)
                                   : absl::SimpleAtoi(text, &value);
}

// "ADDRESS=FILE", or "ADDRESS+BYTES=FILE" if `sized`.
absl::StatusOr<Image> ParseImage(const char* option, const std::string& text,
                                 bool sized) {
  const size_t equals = text.find('='), plus = text.find('+');
  Image image;
  const bool plain = !sized && equals != std::string::npos &&
                     Number(text.substr(0, equals), image.address);
  const bool with_size =
      sized && plus < equals && equals != std::string::npos &&
      Number(text.substr(0, plus), image.address) &&
      Number(text.substr(plus + 1, equals - plus - 1), image.size) &&
      image.size > 0;
  if ((!plain && !with_size) || equals + 1 == text.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, " ", text, ": ", sized ? "ADDRESS+BYTES=FILE" : "ADDRESS=FILE",
        " is needed, numbers decimal or 0x"));
  }
  image.file = text.substr(equals + 1);
  return image;
}

absl::StatusOr<std::vector<Image>> ParseImages(
    const char* option, const std::vector<std::string>& texts, bool sized,
    uint64_t capacity) {
  std::vector<Image> images;
  for (const std::string& text : texts) {
    auto image = ParseImage(option, text, sized);
    if (!image.ok()) return image.status();
    if (!sized) {
      auto bytes = ReadFile(image->file);
      if (!bytes.ok()) return bytes.status();
      image->bytes = *std::move(bytes);
      image->size = image->bytes.size();
    }
    if (image->address > capacity || image->size > capacity - image->address) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s %s: %d bytes at 0x%x, the memory has %d", option,
                          text, image->size, image->address, capacity));
    }
    images.push_back(*std::move(image));
  }
  return images;
}

// What the program itself needs lies where it lies.
absl::Status CheckOverlap(const Program& program, const Image& image) {
  const auto meets = [&](uint64_t begin, uint64_t bytes) {
    return image.address < begin + bytes && begin < image.address + image.size;
  };
  const uint64_t descriptors =
      program.descriptors.size() * isa::kDescriptorBytes;
  if (!meets(program.prog_addr, descriptors)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "--memory %s: 0x%x to 0x%x overlaps the descriptors at 0x%x to 0x%x",
      image.file, image.address, image.address + image.size, program.prog_addr,
      program.prog_addr + descriptors));
}

}  // namespace

absl::Status RunProgram(const RunArgs& args, const Program& file) {
  absl::StatusOr<Program> runnable = ForChip(file);
  if (!runnable.ok()) {
    return absl::Status(
        runnable.status().code(),
        absl::StrCat(args.model, ": ", runnable.status().message()));
  }
  const Program& program = *runnable;
  const auto preset = PresetByName(program.preset);
  if (!preset.ok()) return preset.status();
  if (args.preset_given && program.preset != args.preset) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: was compiled for preset '%s', but --preset is '%s'", args.model,
        program.preset, args.preset));
  }
  if (!args.inputs.empty() || !args.outputs.empty() || args.random > 0 ||
      !args.check.empty() || !args.tensors.empty() || args.batch) {
    return absl::InvalidArgumentError(absl::StrCat(
        args.model,
        ": a program without a model has no inputs and outputs: "
        "--memory ADDRESS=FILE and --dump ADDRESS+BYTES=FILE are for it"));
  }
  std::vector<Program> programs = {program};
  if (!args.second.empty()) {
    auto second = ReadProgram(args.second);
    if (!second.ok()) return OneLine(second.status());
    if ((*preset)->chip.cores < 2 || second->preset != program.preset) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "--second %s: made for preset '%s'; %s is for '%s', whose chip has "
          "%d core(s)",
          args.second, second->preset, args.model, program.preset,
          (*preset)->chip.cores));
    }
    auto flat = ForChip(*std::move(second));
    if (!flat.ok()) return flat.status();
    programs.push_back(*std::move(flat));
  }
  const uint64_t own = (*preset)->memory_bytes();
  const uint64_t capacity = own * programs.size();
  const auto memory = ParseImages("--memory", args.memory, false, capacity);
  if (!memory.ok()) return memory.status();
  const auto dumps = ParseImages("--dump", args.dumps, true, capacity);
  if (!dumps.ok()) return dumps.status();
  for (const auto* images : {&*memory, &*dumps}) {
    for (const Image& image : *images) {
      if (image.size > 0 &&
          image.address / own != (image.address + image.size - 1) / own) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s: 0x%x to 0x%x crosses from one core's memory into the other's",
            image.file, image.address, image.address + image.size));
      }
    }
  }
  for (const Image& image : *memory) {
    const size_t core = image.address / own;
    Image at = image;
    at.address %= own;
    if (core >= programs.size()) continue;
    if (absl::Status s = CheckOverlap(programs[core], at); !s.ok()) return s;
  }
  std::vector<std::string> written = {args.waves.trace.file};
  for (const Image& image : *dumps) written.push_back(image.file);
  absl::Status places =
      CheckDistinct(written, {args.model, args.second, args.firmware});
  places.Update(CheckTraceRun(args.waves, 1));
  for (const Image& image : *dumps) {
    if (places.ok())
      places = WithHint(CheckWritable(image.file), "--dump names another file");
  }
  if (!places.ok()) return places;

  Progress progress(args.quiet);
  progress.set_label(args.model);
  const auto cores =
      OpenDevices(args, program.preset, programs.size(), progress);
  if (!cores.ok()) return cores.status();
  for (const Image& image : *memory) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(image.bytes.data());
    if (absl::Status s = (*cores)[image.address / own]->Write(
            image.address % own, {bytes, image.bytes.size()});
        !s.ok())
      return s;
  }
  absl::Status status;
  for (size_t c = 0; c < programs.size(); ++c)
    status.Update((*cores)[c]->Load(programs[c]));
  std::vector<RunStats> stats;
  if (status.ok()) {
    std::vector<Launch> launches;
    for (size_t c = 0; c < programs.size(); ++c)
      launches.push_back({(*cores)[c].get(), &programs[c]});
    auto done = RunTogether(launches);
    status = done.status();
    if (done.ok()) stats = *std::move(done);
  }
  if (Interrupted())
    return InterruptedError(
        absl::StrCat("in the program ", args.model, "; nothing is written"));
  if (!status.ok()) return status;
  progress.Clear();
  FileSet files;
  for (const Image& image : *dumps) {
    std::string bytes(image.size, '\0');
    auto* to = reinterpret_cast<uint8_t*>(bytes.data());
    status = (*cores)[image.address / own]->Read(image.address % own,
                                                 {to, bytes.size()});
    if (status.ok()) status = files.Add(bytes, image.file);
    if (!status.ok()) return status;
  }
  status = files.Commit();
  if (!status.ok()) return status;
  const bool cycles = args.backend != "iss";
  if (args.json) {
    nlohmann::ordered_json json = {{"program", args.model},
                                   {"backend", args.backend},
                                   {"preset", program.preset},
                                   {"descriptors", program.descriptors.size()},
                                   {"cycles", nullptr}};
    if (cycles) json["cycles"] = stats[0].cycles;
    if (stats[0].ecc.corrected != 0)
      json["ecc_corrected"] = stats[0].ecc.corrected;
    if (stats[0].ecc.smem_corrected != 0)
      json["smem_corrected"] = stats[0].ecc.smem_corrected;
    if (stats.size() > 1) {
      json["second"] = {{"program", args.second},
                        {"descriptors", programs[1].descriptors.size()},
                        {"cycles", nullptr}};
      if (cycles) json["second"]["cycles"] = stats[1].cycles;
    }
    PrintJson(json);
    return absl::OkStatus();
  }
  for (size_t c = 0; c < programs.size(); ++c) {
    std::printf("%s on %s, %s: %s descriptors",
                Printable(c == 0 ? args.model : args.second).c_str(),
                args.backend.c_str(), program.preset.c_str(),
                Thousands(static_cast<int64_t>(programs[c].descriptors.size()))
                    .c_str());
    if (cycles)
      std::printf(", %s cycles",
                  Thousands(static_cast<int64_t>(stats[c].cycles)).c_str());
    std::printf("\n");
    PrintEcc(stats[c].ecc);
  }
  return absl::OkStatus();
}

}  // namespace systole::tools
