// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "tests/vpu/run_kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "host/kernels/kernels.h"
#include "host/program/vpu_asm.h"

namespace systole {

absl::StatusOr<std::unique_ptr<Device>> OpenStalled(const std::string& backend,
                                                    const std::string& preset,
                                                    uint64_t seed) {
  DeviceOptions options;
  options.preset = preset;
  options.simulation.checked =
      preset == "mini";  // the others only have a fast model
  options.simulation.seed = seed;
  options.simulation.stall_rate = 16;
  return Device::Open(backend, options);
}

absl::StatusOr<std::vector<uint8_t>> RunKernel(
    Device* device, const std::string& entry,
    const std::vector<std::pair<std::string, int64_t>>& args,
    const std::vector<uint8_t>& input) {
  const Preset& preset = device->preset();
  const auto image = kernels::Assemble(preset);
  if (!image.ok()) return image.status();
  const kernels::Image::Part part = image->PartOf(entry);
  const int64_t count = static_cast<int64_t>(part.words.size());
  const int64_t bytes = static_cast<int64_t>(input.size());
  const int64_t code_addr = 2 * bytes;
  const int64_t end = code_addr + WholeBeats(8 * count + 4 * preset.cols);
  if (end > preset.ub_bytes) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "input, output and code take %d bytes, the unified buffer has %d", end,
        preset.ub_bytes));
  }

  vpu::CodeLoad code = vpu::LoadCode(code_addr, code_addr, count, part.pc);
  isa::Load load;
  load.hbm_addr = 0, load.ub_addr = 0;
  load.len = static_cast<uint32_t>(bytes), load.n1 = load.n2 = 1;
  isa::Vrun run = image->Run(entry, args).run;
  isa::Store store;
  store.hbm_addr = bytes, store.ub_addr = static_cast<uint32_t>(bytes);
  store.len = static_cast<uint32_t>(bytes), store.n1 = store.n2 = 1;
  code.load.header.post_mask = code.vload.header.wait_mask = 1;
  load.header.post_mask = run.header.wait_mask = 2;
  run.header.post_mask = store.header.wait_mask = 4;

  Program program;
  program.preset = preset.name;
  program.segments.push_back(vpu::Segment("kernels", code_addr, part.words));
  program.descriptors = {code.load.Encode(),  load.Encode(),
                         code.vload.Encode(), run.Encode(),
                         store.Encode(),      isa::Halt{}.Encode()};
  program.prog_addr = end;
  program.hbm_bytes = end + 1024;

  std::vector<uint8_t> output(input.size());
  if (absl::Status s = device->Write(0, input); !s.ok()) return s;
  if (const auto stats = device->Run(program); !stats.ok()) {
    return stats.status();
  }
  if (absl::Status s = device->Read(bytes, absl::MakeSpan(output)); !s.ok()) {
    return s;
  }
  return output;
}

}  // namespace systole
