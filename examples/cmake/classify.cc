// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// A digit on every int8 preset of the instruction-set simulator, in C++ on the
// C API: all must agree.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "systole.h"
#include "systole/gen/presets.h"

namespace {

struct Close {
  void operator()(systole_program* program) const {
    systole_program_close(program);
  }
  void operator()(systole_device* device) const {
    systole_device_close(device);
  }
};
using Program = std::unique_ptr<systole_program, Close>;
using Device = std::unique_ptr<systole_device, Close>;

void Check(systole_status status) {
  if (status == SYSTOLE_OK) return;
  std::fprintf(stderr, "classify: %s: %s\n", systole_status_name(status),
               systole_error());
  std::exit(1);
}

std::vector<int8_t> Scores(const std::string& model, const char* preset,
                           std::vector<uint8_t>& image) {
  systole_compile_options how = SYSTOLE_COMPILE_OPTIONS_INIT;
  how.preset = preset;
  systole_program* program = nullptr;
  Check(systole_program_load(model.c_str(), &how, &program));
  const Program keep_program(program);
  systole_device_options options = SYSTOLE_DEVICE_OPTIONS_INIT;
  options.preset = preset;
  systole_device* device = nullptr;
  Check(systole_device_open(&options, &device));
  const Device keep_device(device);
  std::vector<int8_t> scores(10);
  const int64_t in_shape[] = {1, 28, 28, 1}, out_shape[] = {1, 10};
  const systole_array in = {SYSTOLE_UINT8, 4, in_shape, image.data(),
                            image.size()};
  const systole_array out = {SYSTOLE_INT8, 2, out_shape, scores.data(),
                             scores.size()};
  Check(systole_device_run(device, program, &in, 1, &out, 1));
  return scores;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string share = argc > 1 ? argv[1] : SYSTOLE_SHARE;
  std::vector<uint8_t> image(28 * 28);
  std::ifstream file(share + "/digits/test-images-idx3-ubyte",
                     std::ios::binary);
  if (!file.seekg(16) ||
      !file.read(reinterpret_cast<char*>(image.data()), image.size())) {
    std::fprintf(stderr, "classify: no digits in %s\n", share.c_str());
    return 1;
  }
  std::vector<int8_t> first;
  for (const systole::Preset& preset : systole::kPresets) {
    if (preset.cell != systole::Cell::kInt8) continue;
    const std::vector<int8_t> scores =
        Scores(share + "/models/mnist_cnn.tflite", preset.name.data(), image);
    if (first.empty()) first = scores;
    std::printf(
        "%-7s %3dx%-3d sees a %d\n", preset.name.data(),
        static_cast<int>(preset.rows), static_cast<int>(preset.cols),
        static_cast<int>(std::max_element(scores.begin(), scores.end()) -
                         scores.begin()));
    if (scores != first) return 1;
  }
  return 0;
}
