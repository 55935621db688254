// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "host/ir/reader.h"
#include "host/ir/text.h"

namespace systole::ir {
namespace {

constexpr int64_t kInlineElements = 16;

std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::CEscape(text), "\"");
}

template <typename T>
std::string ElementText(T value) {
  if constexpr (std::is_same_v<T, Bool>) {
    return value ? "1" : "0";
  } else if constexpr (std::is_convertible_v<T, float> &&
                       !std::is_integral_v<T>) {
    return FloatText(value);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return absl::StrCat(value);
  } else {
    return absl::StrCat(int64_t{value});
  }
}

std::string DataText(const Literal& data, const PrintOptions& options) {
  const bool finite = data.Visit([](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](auto v) {
      return std::isfinite(static_cast<double>(v));
    });
  });
  if (data.size() <= kInlineElements && finite) {
    return data.Visit([](const auto& values) {
      const auto format = [](std::string* out, auto v) {
        out->append(ElementText(v));
      };
      return absl::StrCat("[", absl::StrJoin(values, ", ", format), "]");
    });
  }
  const std::vector<uint8_t> bytes = data.Bytes();
  if (options.elide_constants) {
    return absl::StrFormat("elided(bytes=%d, crc32=%08x)", bytes.size(),
                           crc32(0, bytes.data(), bytes.size()));
  }
  const absl::string_view view(reinterpret_cast<const char*>(bytes.data()),
                               bytes.size());
  return absl::StrCat("x\"", absl::BytesToHexString(view), "\"");
}

// Texts of the values of attributes.
struct FieldText {
  const PrintOptions& options;

  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(float value) const { return FloatText(value); }
  std::string operator()(const std::string& value) const {
    return Quoted(value);
  }
  template <typename E, typename = std::enable_if_t<std::is_enum_v<E>>>
  std::string operator()(E value) const {
    return EnumNames<E>::kNames[static_cast<int>(value)];
  }
  std::string operator()(const Ints& values) const {
    return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
  }
  std::string operator()(const Reals& values) const {
    const auto format = [](std::string* out, float value) {
      out->append(FloatText(value));
    };
    return absl::StrCat("[", absl::StrJoin(values, ", ", format), "]");
  }
  std::string operator()(const std::shared_ptr<const Literal>& data) const {
    return data ? DataText(*data, options) : "";
  }
};

using Field = std::pair<std::string, std::string>;

std::vector<Field> FieldsOf(const Attributes& attributes,
                            const PrintOptions& options) {
  std::vector<Field> fields;
  const FieldText text{options};
  attributes.Visit([&](const auto& kind) {
    std::decay_t<decltype(kind)>::Fields(
        kind, [&](const char* name, const auto& value) {
          fields.emplace_back(name, text(value));
        });
  });
  return fields;
}

std::string NameOf(const Node& node) {
  return absl::StrCat("%", NameText(node.name));
}

void AppendOperand(std::string* out, const Value& value) {
  absl::StrAppend(out, value.node ? NameOf(*value) : "%?");
  if (value.index > 0) absl::StrAppend(out, "#", value.index);
}

std::string TypesText(const Node& node) {
  if (node.results() == 1) return TypeText(node.type);
  std::string text = absl::StrCat("(", TypeText(node.type));
  for (const Type& type : node.more_types) {
    absl::StrAppend(&text, ", ", TypeText(type));
  }
  return text + ")";
}

// Prints a statement with `indent` blanks in front.
std::string Statement(const Node& node, const PrintOptions& options,
                      int indent) {
  std::string line =
      absl::StrCat(NameOf(node), " = ", TypesText(node), " ", OpName(node.op),
                   "(", absl::StrJoin(node.operands, ", ", AppendOperand), ")");
  const std::vector<Field> defaults =
      FieldsOf(InfoOf(node.op).defaults, options);
  for (const Field& field : FieldsOf(node.attributes, options)) {
    if (std::count(defaults.begin(), defaults.end(), field) == 0) {
      absl::StrAppend(&line, ", ", field.first, "=", field.second);
    }
  }
  const std::string margin(indent, ' ');
  for (const auto& region : node.regions) {
    absl::StrAppend(&line, " {\n");
    for (const auto& inner : region->nodes()) {
      absl::StrAppend(&line, margin, "  ",
                      Statement(*inner, options, indent + 2), "\n");
    }
    const auto format = [](std::string* out, const Output& output) {
      AppendOperand(out, output.node);
    };
    absl::StrAppend(&line, margin, "  return ",
                    absl::StrJoin(region->outputs, ", ", format), "\n", margin,
                    "}");
  }
  return line;
}

}  // namespace

std::string Print(const Node& node, const PrintOptions& options) {
  return Statement(node, options, 0);
}

std::string Print(const Module& module, const PrintOptions& options) {
  std::string text = absl::StrCat("module @", NameText(module.name), " {\n");
  for (const auto& node : module.nodes()) {
    absl::StrAppend(&text, "  ", Statement(*node, options, 2), "\n");
  }
  const auto format = [](std::string* out, const Output& output) {
    AppendOperand(out, output.node);
    absl::StrAppend(out, " as ", Quoted(output.name));
    if (!output.stored.empty())
      absl::StrAppend(out, " stored ", Quoted(output.stored));
  };
  absl::StrAppend(&text, "  return ",
                  absl::StrJoin(module.outputs, ", ", format), "\n}\n");
  return text;
}

}  // namespace systole::ir
