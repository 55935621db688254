// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The vector unit's kernels (firmware/vpu): assembled into one image that fits
// the instruction memory, entered by name.
//
//   absl::StatusOr<kernels::Image> image = kernels::Assemble(preset);
//   kernels::Call call = image->Run("acc_bf16", {{"acc", 0}, {"rows", 64}});
#ifndef HOST_KERNELS_KERNELS_H_
#define HOST_KERNELS_KERNELS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "host/kernels/declaration.h"
#include "systole/gen/isa.h"
#include "systole/gen/presets.h"

namespace systole::kernels {

struct Text {
  std::string_view name;
  std::string_view text;
};
const std::vector<Text>& EmbeddedTexts();

// A run with what its kernel declares of it.
struct Call {
  isa::Vrun run;
  std::vector<Effect> effects;
  int64_t cycles = 0;
};

class Image {
 public:
  const std::vector<uint64_t>& words() const { return words_; }

  // The instructions of the file with the kernel `entry`, for programs that
  // need no other: `words` belong at index `pc` of the instruction memory.
  struct Part {
    int pc;
    std::vector<uint64_t> words;
  };
  Part PartOf(const std::string& entry) const;

  // A run of the kernel at label `entry`. Arguments by the names of its file;
  // those not given are 0. An unknown name is a bug of the caller and stops the
  // program, as is a label that declares nothing.
  Call Run(const std::string& entry,
           const std::vector<std::pair<std::string, int64_t>>& args) const;

  std::vector<std::string> Kernels() const;

 private:
  friend absl::StatusOr<Image> Assemble(const Preset& preset);
  struct Entry {
    int pc = 0;
    int file = 0;
  };
  std::vector<uint64_t> words_;
  std::map<std::string, Declaration> declared_;
  std::map<std::string, Entry> entries_;
  std::vector<std::map<std::string, int>> args_;  // of each file
  std::vector<int> begin_;                        // of each file in words_
};

// Kernels may use the constants L (lanes), ROW (bytes of a row of fp32) and the
// halves of both, HALF_L and HALF_ROW.
// kResourceExhausted when they are more than the instruction memory holds.
absl::StatusOr<Image> Assemble(const Preset& preset);

}  // namespace systole::kernels

#endif  // HOST_KERNELS_KERNELS_H_
