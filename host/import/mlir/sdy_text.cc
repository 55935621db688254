// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/mlir/sdy_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "host/import/mlir/text.h"

namespace systole::mlir {
namespace {

using Attributes = absl::Span<const Attribute* const>;

std::string Parameters(const Attribute& attribute);

std::string Join(Attributes attributes, const char* separator = ", ") {
  return absl::StrJoin(attributes, separator,
                       [](std::string* out, const Attribute* attribute) {
                         out->append(Parameters(*attribute));
                       });
}

int64_t Integer(const Attribute& attribute, size_t index) {
  return index < attribute.integers.size() ? attribute.integers[index] : 0;
}

// List number `list`. The lists are stored in `elements`, from `first` on.
Attributes List(const Attribute& attribute, size_t list, size_t first) {
  const Attributes all = attribute.elements;
  const size_t begin = list == 0 ? first : Integer(attribute, list - 1);
  const size_t end = Integer(attribute, list);
  if (begin > end || end > all.size()) return {};
  return all.subspan(begin, end - begin);
}

std::string Sharding(const Attribute& attribute) {
  std::string text;
  if (!attribute.elements.empty()) {
    const Attribute& mesh = *attribute.elements[0];
    text = mesh.kind == Attribute::Kind::kSymbol
               ? AttributeText(mesh)
               : absl::StrCat("mesh<", Parameters(mesh), ">");
  }
  absl::StrAppend(&text, ", [", Join(List(attribute, 0, 1)), "]");
  const char* const names[] = {"", "replicated", "unreduced"};
  for (size_t list = 1; list < 3 && list < attribute.integers.size(); ++list) {
    const Attributes axes = List(attribute, list, 0);
    if (axes.empty()) continue;
    absl::StrAppend(&text, ", ", names[list], "={", Join(axes), "}");
  }
  return text;
}

std::string DimensionSharding(const Attribute& attribute) {
  std::string text = absl::StrCat("{", Join(attribute.elements));
  if (Integer(attribute, 0) == 0) {
    absl::StrAppend(&text, attribute.elements.empty() ? "?" : ", ?");
  }
  absl::StrAppend(&text, "}");
  if (attribute.integers.size() > 1) {
    absl::StrAppend(&text, "p", attribute.integers[1]);
  }
  return text;
}

std::string Parameters(const Attribute& attribute) {
  const absl::string_view name = attribute.name;
  if (name == "mesh_axis") {
    return absl::StrCat("\"", attribute.text, "\"=", Integer(attribute, 0));
  }
  if (name == "mesh") {
    std::string text = absl::StrCat("[", Join(attribute.elements), "]");
    if (!attribute.integers.empty()) {
      absl::StrAppend(&text, ", device_ids=[",
                      absl::StrJoin(attribute.integers, ", "), "]");
    }
    return text;
  }
  if (name == "sub_axis_info") {
    return absl::StrCat("(", Integer(attribute, 0), ")", Integer(attribute, 1));
  }
  if (name == "axis_ref") {
    const std::string axis = absl::StrCat("\"", attribute.text, "\"");
    return attribute.elements.empty()
               ? axis
               : absl::StrCat(axis, ":", Parameters(*attribute.elements[0]));
  }
  if (name == "dimension_sharding") return DimensionSharding(attribute);
  if (name == "sharding") return Sharding(attribute);
  if (name == "sharding_per_value") {
    return absl::StrCat(
        "[",
        absl::StrJoin(attribute.elements, ", ",
                      [](std::string* out, const Attribute* sharding) {
                        absl::StrAppend(out, "<", Parameters(*sharding), ">");
                      }),
        "]");
  }
  return AttributeText(attribute);
}

}  // namespace

std::string SdyAttributeText(const Attribute& attribute) {
  if (attribute.name == "manual_axes") {
    return absl::StrCat(
        "#sdy<manual_axes{",
        absl::StrJoin(attribute.elements, ", ",
                      [](std::string* out, const Attribute* axis) {
                        out->append(AttributeText(*axis));
                      }),
        "}>");
  }
  if (attribute.name != "mesh" && attribute.name != "sharding" &&
      attribute.name != "sharding_per_value" &&
      attribute.name != "dimension_sharding") {
    return absl::StrCat("#sdy.", attribute.name);
  }
  return absl::StrCat("#sdy.", attribute.name, "<", Parameters(attribute), ">");
}

}  // namespace systole::mlir
