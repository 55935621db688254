// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/profile/embedded.h"
#include "host/profile/profile.h"

namespace systole::profile {
namespace {

std::string Gzip(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 16, kMemory = 8;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip,
                   kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // only read
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

std::string EmbeddedText(const std::string& name) {
  for (const Text& text : EmbeddedTexts()) {
    if (text.name == name) return text.text;
  }
  return "";
}

}  // namespace

std::string PageOf(const Profile& profile) {
  std::string scripts;
  for (const char* name : {"data.js", "timeline.js", "views.js", "cores.js",
                           "floorplan.js", "main.js"})
    absl::StrAppend(&scripts, EmbeddedText(name));
  return absl::StrReplaceAll(
      EmbeddedText("page.html"),
      {{"@style@", EmbeddedText("style.css")},
       {"@scripts@", scripts},
       {"@data@", absl::Base64Escape(Gzip(JsonOf(profile)))}});
}

}  // namespace systole::profile
