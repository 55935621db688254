// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Mutates .tflite files and imports them: whatever the bytes, the importer
// returns a module that verifies, that text and passes can take and that lowers
// to a valid network, or an error, and soon. tflite_fuzz_sanitized is the same
// under the address and undefined behaviour sanitizers.
//
//   tflite_fuzz_test [--mutations N] [--seed S] [--only I]
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "host/import/tflite_importer.h"
#include "host/import/tflite_schema_generated.h"
#include "host/ir/pass.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "host/lower/lowering.h"
#include "tests/import/fuzz_models.h"
#include "tests/import/kinds.h"
#include "tests/import/model_builder.h"
#include "tests/import/mutator.h"
#include "tests/import/reference.h"
#include "tests/testing/fuzzing.h"

namespace systole::import {
namespace {

using fuzz::Die;

// Models of one operator each, and whole ones; those of MLPerf Tiny too where
// they are.
std::vector<std::string> Corpus() {
  std::vector<std::string> corpus;
  const nlohmann::json operators = Reference("operators");
  for (const nlohmann::json& item : operators.at("cases")) {
    corpus.emplace_back();
    absl::Base64Unescape(item.at("model").get<std::string>(), &corpus.back());
  }
  for (const char* name :
       {"kws_dscnn_int8", "ic_resnet8_int8", "vww_mobilenet025_96_int8"}) {
    const std::string path = ModelPath(name);
    if (!path.empty()) corpus.push_back(ReadBytes(path));
  }
  corpus.push_back(ReadBytes(ModelPath("mnist_cnn")));
  for (std::string& model : OtherModels()) corpus.push_back(std::move(model));
  for (Kind& kind : Kinds()) corpus.push_back(std::move(kind.model));
  return corpus;
}

// An operator that the importer takes and no model has is never mutated.
void CheckCorpus(const std::vector<std::string>& corpus) {
  std::set<int> seen;
  for (const std::string& bytes : corpus) {
    for (const auto* code : *tflite::GetModel(bytes.data())->operator_codes())
      seen.insert(
          std::max<int>(code->deprecated_builtin_code(), code->builtin_code()));
  }
  for (const tflite::BuiltinOperator code :
       tflite::EnumValuesBuiltinOperator()) {
    if (seen.count(code) > 0) continue;
    ModelBuilder b;
    const int x = b.Tensor({1, 4}, tflite::TensorType_INT8, {0.5f}, {0});
    const int y = b.Tensor({1, 4}, tflite::TensorType_INT8, {0.5f}, {0});
    b.Operator(code, {x}, {y});
    const auto module = ImportTflite(b.Model({x}, {y}), "corpus");
    if (module.ok() || !absl::StrContains(module.status().message(),
                                          "the operator is not supported")) {
      Die(absl::StrCat("no model of the corpus has the operator ",
                       tflite::EnumNameBuiltinOperator(code)));
    }
  }
}

// "" for a module, otherwise the kind of error.
std::string Check(const std::string& bytes) {
  const auto module = ImportTflite(bytes, "fuzz");
  if (!module.ok()) return absl::StatusCodeToString(module.status().code());
  const absl::Status status = ir::Verify(**module);
  if (!status.ok()) Die("the module does not verify: " + status.ToString());
  const auto parsed = ir::Parse(ir::Print(**module));
  if (!parsed.ok()) Die("the text is not read: " + parsed.status().ToString());
  if (!ir::Equal(**module, **parsed)) Die("the text reads as another module");
  const absl::Status passed = ir::StandardPasses().Run(**module);
  if (!passed.ok()) Die("a pass fails: " + passed.ToString());
  const auto lowered = lower::LowerModule(**module);
  if (lowered.ok()) {
    for (const model::Network& network : lowered->networks) {
      const absl::Status valid = model::Validate(network);
      if (!valid.ok()) Die("a network is not valid: " + valid.ToString());
    }
  }
  return "";
}

// Mutated models of the corpus, whose own are imported.
auto Prepare() {
  const std::vector<std::string> corpus = Corpus();
  CheckCorpus(corpus);
  for (const std::string& bytes : corpus) {
    const std::string error = Check(bytes);
    if (!error.empty()) Die("an unchanged model is refused: " + error);
  }
  return [samples = Samples(corpus)](uint64_t seed) {
    return Mutator(samples, seed).Next();
  };
}

}  // namespace
}  // namespace systole::import

int main(int argc, char** argv) {
  return systole::fuzz::Run(
      {"tflite_fuzz_test", "Imports mutated .tflite files."}, argc, argv,
      systole::import::Prepare, systole::import::Check);
}
