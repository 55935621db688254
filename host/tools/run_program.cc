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
      "--memory %s: 0x%x to 0x%x meets the descriptors at 0x%x to 0x%x",
      image.file, image.address, image.address + image.size, program.prog_addr,
      program.prog_addr + descriptors));
}

}  // namespace

absl::Status RunProgram(const RunArgs& args, const Program& program) {
  const auto preset = PresetByName(program.preset);
  if (!preset.ok()) return preset.status();
  if (args.preset_given && program.preset != args.preset) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: made for preset '%s', --preset says '%s'",
                        args.model, program.preset, args.preset));
  }
  if (!args.inputs.empty() || !args.outputs.empty() || args.random > 0 ||
      !args.check.empty() || !args.tensors.empty() || args.batch) {
    return absl::InvalidArgumentError(absl::StrCat(
        args.model,
        ": a program without a model has no inputs and outputs: "
        "--memory ADDRESS=FILE and --dump ADDRESS+BYTES=FILE are for it"));
  }
  const uint64_t capacity = (*preset)->memory_bytes();
  const auto memory = ParseImages("--memory", args.memory, false, capacity);
  if (!memory.ok()) return memory.status();
  const auto dumps = ParseImages("--dump", args.dumps, true, capacity);
  if (!dumps.ok()) return dumps.status();
  for (const Image& image : *memory) {
    if (absl::Status s = CheckOverlap(program, image); !s.ok()) return s;
  }
  for (const Image& image : *dumps) {
    if (absl::Status s = CheckWritable(image.file); !s.ok()) return s;
  }

  Progress progress(args.quiet);
  progress.set_label(args.model);
  const auto device = OpenDevice(args, program.preset, progress);
  if (!device.ok()) return device.status();
  for (const Image& image : *memory) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(image.bytes.data());
    if (absl::Status s =
            (*device)->Write(image.address, {bytes, image.bytes.size()});
        !s.ok())
      return s;
  }
  const auto stats = (*device)->Run(program);
  if (Interrupted())
    return InterruptedError(
        absl::StrCat("in the program ", args.model, "; nothing is written"));
  if (!stats.ok()) return stats.status();
  progress.Clear();
  for (const Image& image : *dumps) {
    std::string bytes(image.size, '\0');
    auto* to = reinterpret_cast<uint8_t*>(bytes.data());
    absl::Status status = (*device)->Read(image.address, {to, bytes.size()});
    if (status.ok()) status = WriteFile(bytes, image.file);
    if (!status.ok()) return status;
  }
  const bool cycles = args.backend != "iss";
  if (args.json) {
    nlohmann::ordered_json json = {{"program", args.model},
                                   {"backend", args.backend},
                                   {"preset", program.preset},
                                   {"descriptors", program.descriptors.size()},
                                   {"cycles", nullptr}};
    if (cycles) json["cycles"] = stats->cycles;
    std::printf("%s\n", json.dump(2).c_str());
    return absl::OkStatus();
  }
  std::printf(
      "%s on %s, %s: %s descriptors", args.model.c_str(), args.backend.c_str(),
      program.preset.c_str(),
      Thousands(static_cast<int64_t>(program.descriptors.size())).c_str());
  if (cycles)
    std::printf(", %s cycles",
                Thousands(static_cast<int64_t>(stats->cycles)).c_str());
  std::printf("\n");
  return absl::OkStatus();
}

}  // namespace systole::tools
