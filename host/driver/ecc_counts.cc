// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_format.h"
#include "systole/device.h"

namespace systole {

void EccCounts::Add(const EccCounts& later) {
  if (corrected == 0) first = later.first;
  if (later.corrected != 0) last = later.last;
  if (uncorrected == 0) bad = later.bad;
  corrected += later.corrected;
  uncorrected += later.uncorrected;
  if (later.smem_corrected != 0) smem_last = later.smem_last;
  smem_corrected += later.smem_corrected;
}

std::string EccCounts::Describe() const {
  std::string text;
  if (corrected != 0) {
    absl::StrAppendFormat(&text, "ECC corrected %d answer(s) of the memory, ",
                          corrected);
    absl::StrAppendFormat(&text, "the first at 0x%x, the last at 0x%x", first,
                          last);
  }
  if (uncorrected != 0) {
    absl::StrAppendFormat(
        &text,
        "%sscrubbing found %d word(s) with two wrong bits, the first at 0x%x",
        text.empty() ? "" : "; ", uncorrected, bad);
  }
  if (smem_corrected != 0) {
    absl::StrAppendFormat(
        &text,
        "%sECC corrected %d read(s) of the scalar unit's memory, the last at "
        "0x%x of it",
        text.empty() ? "" : "; ", smem_corrected, smem_last);
  }
  return text;
}

}  // namespace systole
