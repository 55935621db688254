// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/pjrt/program_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace systole::pjrt {
namespace {

// A name that a text of MLIR may have without quotes.
std::string Symbol(absl::string_view name) {
  std::string symbol(name);
  for (char& c : symbol)
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  return symbol;
}

// "tensor<4x8xf32>".
std::string TensorText(ir::Type type, bool is_complex) {
  std::string text = "tensor<";
  if (is_complex) {
    type.shape.pop_back();
    for (const int64_t size : type.shape) absl::StrAppend(&text, size, "x");
    return absl::StrCat(text, "complex<f32>>");
  }
  for (const int64_t size : type.shape) absl::StrAppend(&text, size, "x");
  const char* const name = ir::ElementTypeName(type.element);
  absl::StrAppend(&text, ir::IsUnsigned(type.element) ? "ui" : "",
                  ir::IsUnsigned(type.element) ? name + 1 : name, ">");
  return text;
}

std::string TensorTexts(const std::vector<ir::Type>& types,
                        const std::vector<bool>& is_complex) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < types.size(); ++i)
    texts.push_back(TensorText(types[i], is_complex[i]));
  return absl::StrJoin(texts, ", ");
}

}  // namespace

std::string TextOf(const PJRT_Executable& executable,
                   const Shardings& shardings) {
  const std::vector<ir::Type>& parameters = executable.executable->parameters();
  const std::vector<ir::Type>& results = executable.executable->results();
  std::string text = absl::StrCat(
      "module @", Symbol(executable.name),
      " attributes {mhlo.num_partitions = ", executable.options.partitions,
      " : i32, mhlo.num_replicas = ", executable.options.replicas, " : i32");
  if (executable.options.partitions > 1 && !results.empty()) {
    const std::string outputs = absl::StrJoin(shardings.outputs, ", ");
    absl::StrAppend(&text, ", mhlo.spmd_output_sharding = \"",
                    shardings.outputs.size() == 1
                        ? outputs
                        : absl::StrCat("{", outputs, "}"),
                    "\", mhlo.spmd_parameters_shardings = [",
                    absl::StrJoin(shardings.inputs, ", ",
                                  [](std::string* out, const auto& sharding) {
                                    absl::StrAppend(out, "\"", sharding, "\"");
                                  }),
                    "]");
  }
  std::vector<std::string> arguments, names, values;
  for (size_t i = 0; i < parameters.size(); ++i) {
    names.push_back(absl::StrCat("%arg", i));
    arguments.push_back(absl::StrCat(
        names.back(), ": ",
        TensorText(parameters[i], executable.complex_arguments[i])));
  }
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(results.size() == 1 ? "%0" : absl::StrCat("%0#", i));
  const std::string types = TensorTexts(results, executable.complex_results);
  absl::StrAppend(&text, "} {\n  func.func public @main(",
                  absl::StrJoin(arguments, ", "), ") -> (", types, ") {\n");
  if (!results.empty()) {
    absl::StrAppend(
        &text, "    %0",
        results.size() == 1 ? "" : absl::StrCat(":", results.size()),
        " = \"stablehlo.custom_call\"(", absl::StrJoin(names, ", "),
        ") {call_target_name = \"systole_program\"} : (",
        TensorTexts(parameters, executable.complex_arguments), ") -> (", types,
        ")\n    return ", absl::StrJoin(values, ", "), " : ", types, "\n");
  } else {
    absl::StrAppend(&text, "    return\n");
  }
  return absl::StrCat(text, "  }\n}\n");
}

}  // namespace systole::pjrt
