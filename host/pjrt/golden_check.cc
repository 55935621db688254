// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/pjrt/golden_check.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "verif/golden/hlo/interpreter.h"

namespace systole::pjrt {
namespace {

// Of the process.
std::atomic<int64_t> runs{0}, values{0}, left_out{0};

void Summarise() {
  std::fprintf(stderr,
               "systole: SYSTOLE_CHECK: %lld runs, %lld values equal to the "
               "golden model; %lld runs not compared\n",
               static_cast<long long>(runs), static_cast<long long>(values),
               static_cast<long long>(left_out));
}

// "result 2 of process 1: element 17 is the first that ..."
std::string Difference(const std::vector<uint8_t>& good,
                       const std::vector<uint8_t>& got, int64_t element_bytes,
                       size_t result, size_t process, size_t processes) {
  const auto at =
      std::mismatch(good.begin(), good.end(), got.begin(), got.end()).first -
      good.begin();
  return absl::StrFormat(
      "result %d%s: element %d is the first that is not the golden model's",
      result, processes > 1 ? absl::StrCat(" of process ", process) : "",
      at / element_bytes);
}

}  // namespace

std::unique_ptr<const GoldenCheck> GoldenCheck::For(const ir::Module& module,
                                                    ir::ProcessGrid grid) {
  const char* const wanted = std::getenv("SYSTOLE_CHECK");
  if (wanted == nullptr || *wanted == '\0' || *wanted == '0') return nullptr;
  static const int registered = std::atexit(Summarise);
  static_cast<void>(registered);
  return std::unique_ptr<const GoldenCheck>(
      new GoldenCheck(module.Clone(), grid));
}

absl::StatusOr<GoldenCheck::Values> GoldenCheck::ValuesOf(
    const std::vector<runtime::Arguments>& arguments) {
  Values values(arguments.size());
  for (size_t p = 0; p < arguments.size(); ++p) {
    for (const std::shared_ptr<runtime::Buffer>& argument : arguments[p]) {
      absl::StatusOr<ir::Literal> value = argument->Await();
      if (!value.ok()) return value.status();
      values[p].push_back(*std::move(value));
    }
  }
  return values;
}

absl::Status GoldenCheck::Compare(
    const Values& inputs, const std::vector<runtime::Execution>& run) const {
  const absl::StatusOr<Values> wanted =
      golden::RunHlo(*module_, grid_.replicas, grid_.partitions, inputs);
  if (absl::IsUnimplemented(wanted.status())) {
    CannotCompare(wanted.status().message());
    return absl::OkStatus();
  }
  if (!wanted.ok()) return wanted.status();
  int64_t compared = 0;
  for (size_t p = 0; p < run.size(); ++p) {
    for (size_t i = 0; i < run[p].results.size(); ++i) {
      const absl::StatusOr<ir::Literal> value = run[p].results[i]->Await();
      if (!value.ok()) return value.status();
      const ir::Literal& good = (*wanted)[p][i];
      const std::vector<uint8_t> bytes = good.Bytes(), got = value->Bytes();
      if (bytes != got) {
        return absl::DataLossError(absl::StrCat(
            module_->name, ": ",
            Difference(bytes, got, ir::ElementBytes(good.element()), i, p,
                       run.size())));
      }
      compared += good.size();
    }
  }
  ++runs;
  values += compared;
  return absl::OkStatus();
}

void GoldenCheck::CannotCompare(absl::string_view why) const {
  ++left_out;
  std::call_once(said_, [&] {
    const std::string text =
        absl::StrCat("systole: SYSTOLE_CHECK: ", module_->name,
                     " is not compared with the golden model: ", why, "\n");
    std::fputs(text.c_str(), stderr);
  });
}

}  // namespace systole::pjrt
