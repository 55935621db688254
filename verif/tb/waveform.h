// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Reserves the place of a waveform. The waveform is recorded to a temporary
// file beside it, which is renamed when complete. So no incomplete file
// remains, and an existing one is kept until then.
//
//   auto place = WaveformPlace::Reserve("build/waves/conv1.fst");
//   if (!place.ok()) return place.status();
//   Record(place->beside());
//   return place->Commit();

#ifndef SYSTOLE_VERIF_TB_WAVEFORM_H_
#define SYSTOLE_VERIF_TB_WAVEFORM_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace systole::tb {

class WaveformPlace {
 public:
  // Follows symbolic links. Errors name the file and the problem: it is not a
  // regular file, or its folder is missing or not writable.
  static absl::StatusOr<WaveformPlace> Reserve(const std::string& file);
  WaveformPlace(WaveformPlace&& other) noexcept
      : file_(std::move(other.file_)), beside_(std::move(other.beside_)) {
    other.beside_.clear();
  }
  WaveformPlace& operator=(WaveformPlace&&) = delete;
  ~WaveformPlace();  // removes an uncommitted file

  const std::string& beside() const { return beside_; }
  absl::Status Commit();

 private:
  WaveformPlace(std::string file, std::string beside)
      : file_(std::move(file)), beside_(std::move(beside)) {}

  std::string file_, beside_;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_WAVEFORM_H_
