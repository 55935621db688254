// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/mlir/text.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "host/import/mlir/sdy_text.h"

namespace systole::mlir {
namespace {

std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (std::isprint(static_cast<unsigned char>(c)) && c != '"') {
      out += c;
    } else {
      absl::StrAppend(&out, "\\",
                      absl::StrFormat("%02X", static_cast<unsigned char>(c)));
    }
  }
  return out + "\"";
}

std::string Types(absl::Span<const Type* const> types) {
  return absl::StrJoin(types, ", ", [](std::string* out, const Type* type) {
    out->append(TypeText(*type));
  });
}

std::string Attributes(absl::Span<const Attribute* const> attributes) {
  return absl::StrJoin(attributes, ", ",
                       [](std::string* out, const Attribute* attribute) {
                         out->append(AttributeText(*attribute));
                       });
}

std::string Shaped(const Type& type) {
  std::string text;
  for (const int64_t size : type.shape) {
    absl::StrAppend(&text, size == kDynamic ? "?" : absl::StrCat(size), "x");
  }
  absl::StrAppend(&text, TypeText(*type.elements[0]));
  if (type.encoding) {
    absl::StrAppend(&text, ", ", AttributeText(*type.encoding));
  }
  return text;
}

std::string FunctionText(const Type& type) {
  const auto elements = absl::MakeConstSpan(type.elements);
  const auto inputs = elements.subspan(0, type.inputs);
  const auto results = elements.subspan(type.inputs);
  const bool vhlo = type.dialect == "vhlo";
  const bool parentheses = results.empty() || (!vhlo && results.size() > 1);
  return absl::StrCat("(", vhlo && inputs.empty() ? "()" : Types(inputs),
                      ") -> ", parentheses ? "(" : "", Types(results),
                      parentheses ? ")" : "");
}

// The parameters of a type, without the dialect's notation around them.
std::string Parameters(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kComplex:
    case Type::Kind::kTuple:
    case Type::Kind::kFuture:
    case Type::Kind::kQuantized:
      return Types(type.elements);
    case Type::Kind::kTensor:
    case Type::Kind::kBuffer:
      return Shaped(type);
    case Type::Kind::kUnrankedTensor:
      return absl::StrCat(type.dialect == "vhlo" ? "" : "*x",
                          TypeText(*type.elements[0]));
    case Type::Kind::kFunction:
      return FunctionText(type);
    default:
      return "";
  }
}

absl::string_view KindName(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kComplex:
      return "complex";
    case Type::Kind::kTensor:
      return "tensor";
    case Type::Kind::kUnrankedTensor:
      return type.dialect == "vhlo" ? "unranked_tensor" : "tensor";
    case Type::Kind::kBuffer:
      return "buffer";
    case Type::Kind::kFunction:
      return "func";
    case Type::Kind::kTuple:
      return "tuple";
    case Type::Kind::kFuture:
      return "future";
    case Type::Kind::kQuantized:
      return "quant";
    case Type::Kind::kOpaque:
      return "opaque";
    default:
      return type.name;
  }
}

// The builtin name of an integer type.
std::string IntegerName(const Type& type) {
  if (type.kind == Type::Kind::kIndex) return "index";
  if (type.dialect == "vhlo") return std::string(type.name);
  return absl::StrCat(type.name, type.width);
}

std::string NumberText(const Attribute& attribute) {
  const Type& type = *attribute.type;
  if (attribute.kind == Attribute::Kind::kFloat) {
    const uint64_t mask =
        type.width < 64 ? (uint64_t{1} << type.width) - 1 : ~uint64_t{0};
    const uint64_t bits =
        attribute.integers.empty() ? 0 : attribute.integers[0];
    return absl::StrFormat("0x%0*x : %s", (type.width + 3) / 4, bits & mask,
                           TypeText(type));
  }
  if (type.width == 1 && type.dialect == "builtin") {
    return attribute.integers[0] != 0 ? "true" : "false";
  }
  std::string digits;
  if (attribute.integers.size() != 1) {
    digits = absl::StrJoin(attribute.integers, "_");
  } else if (type.is_unsigned) {
    const uint64_t mask =
        type.width < 64 ? (uint64_t{1} << type.width) - 1 : ~uint64_t{0};
    digits = absl::StrCat(static_cast<uint64_t>(attribute.integers[0]) & mask);
  } else {
    digits = absl::StrCat(attribute.integers[0]);
  }
  return absl::StrCat(digits, " : ", IntegerName(type));
}

std::string ElementsText(const Attribute& attribute) {
  std::string hex = absl::BytesToHexString(attribute.data);
  if (attribute.is_splat) hex = absl::StrCat("splat ", hex);
  return absl::StrCat(hex, " : ", TypeText(*attribute.type));
}

std::string DictionaryText(const Attribute& attribute) {
  const bool names = attribute.dialect == "builtin";
  std::string text = "{";
  for (size_t i = 0; i < attribute.elements.size(); i += 2) {
    const Attribute& key = *attribute.elements[i];
    const Attribute& value = *attribute.elements[i + 1];
    absl::StrAppend(&text, i == 0 ? "" : ", ",
                    names ? NameText(key.text) : AttributeText(key));
    if (names && value.kind == Attribute::Kind::kUnit) continue;
    absl::StrAppend(&text, " = ", AttributeText(value));
  }
  return text + "}";
}

std::string SymbolText(const Attribute& symbol) {
  const auto append = [](std::string* out, const Attribute* part) {
    out->append(part->kind == Attribute::Kind::kSymbol
                    ? SymbolText(*part)
                    : absl::StrCat("@", part->text));
  };
  return absl::StrJoin(symbol.elements, "::", append);
}

std::string BuiltinText(const Attribute& attribute) {
  switch (attribute.kind) {
    case Attribute::Kind::kUnit:
      return "unit";
    case Attribute::Kind::kInteger:
    case Attribute::Kind::kFloat:
      return NumberText(attribute);
    case Attribute::Kind::kString:
      return attribute.type ? absl::StrCat(Quoted(attribute.text), " : ",
                                           TypeText(*attribute.type))
                            : Quoted(attribute.text);
    case Attribute::Kind::kType:
      return TypeText(*attribute.type);
    case Attribute::Kind::kArray:
      return absl::StrCat("[", Attributes(attribute.elements), "]");
    case Attribute::Kind::kDictionary:
      return DictionaryText(attribute);
    case Attribute::Kind::kSymbol:
      return SymbolText(attribute);
    case Attribute::Kind::kElements:
      return absl::StrCat("dense<", ElementsText(attribute), ">");
    case Attribute::Kind::kStruct:
      return absl::StrCat("array<", absl::BytesToHexString(attribute.data),
                          ">");
    case Attribute::Kind::kOpaque:
      return attribute.text.empty()
                 ? absl::StrCat("opaque<",
                                absl::BytesToHexString(attribute.data), ">")
                 : std::string(attribute.text);
    default:
      return LocationText(&attribute);
  }
}

// Numbers first, then attributes. Fields of shardings are printed with names.
std::string StructText(const Attribute& attribute) {
  if (attribute.name == "type_extensions") {
    return absl::StrCat("bounds = [", absl::StrJoin(attribute.integers, ", "),
                        "]");
  }
  std::vector<std::string> fields;
  if (attribute.name == "replica_group_mesh_axes") fields = {"mesh", "axes"};
  if (attribute.name == "axis_ref") fields = {"name", "sub_axis_info"};
  if (fields.empty() || fields.size() < attribute.elements.size()) {
    return absl::StrCat(absl::StrJoin(attribute.integers, ", "), "; ",
                        Attributes(attribute.elements));
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i >= attribute.elements.size()) break;
    absl::StrAppend(&fields[i], " = ", AttributeText(*attribute.elements[i]));
  }
  fields.resize(attribute.elements.size());
  return absl::StrJoin(fields, ", ");
}

std::string VhloText(const Attribute& attribute) {
  const auto with = [](absl::string_view name, const std::string& parameters) {
    return absl::StrCat("#vhlo.", name, "_v1<", parameters, ">");
  };
  switch (attribute.kind) {
    case Attribute::Kind::kBoolean:
      return with("bool", attribute.integers[0] != 0 ? "true" : "false");
    case Attribute::Kind::kInteger:
      return with("integer", NumberText(attribute));
    case Attribute::Kind::kFloat:
      return with("float", NumberText(attribute));
    case Attribute::Kind::kString:
      return with("string", Quoted(attribute.text));
    case Attribute::Kind::kEnum:
      return absl::StrCat("#vhlo<", attribute.name, "_v1 ", attribute.text,
                          ">");
    case Attribute::Kind::kType:
      return with("type", TypeText(*attribute.type));
    case Attribute::Kind::kArray:
      return with("array",
                  absl::StrCat("[", Attributes(attribute.elements), "]"));
    case Attribute::Kind::kDictionary:
      return with("dict", DictionaryText(attribute));
    case Attribute::Kind::kElements:
      return with("tensor", ElementsText(attribute));
    case Attribute::Kind::kStruct:
      return with(attribute.name, StructText(attribute));
    default:
      return BuiltinText(attribute);
  }
}

std::string FileText(const Attribute& location) {
  const std::vector<int64_t>& n = location.integers;
  std::string text = Quoted(location.elements[0]->text);
  if (n.empty()) return absl::StrCat(text, ":0:0");
  absl::StrAppend(&text, ":", n[0], ":", n.size() > 1 ? n[1] : 0);
  if (n.size() == 3) absl::StrAppend(&text, " to :", n[2]);
  if (n.size() == 4) absl::StrAppend(&text, " to ", n[2], ":", n[3]);
  return text;
}

std::string InnerLocationText(const Attribute& location) {
  switch (location.kind) {
    case Attribute::Kind::kFileLocation:
      return FileText(location);
    case Attribute::Kind::kNameLocation: {
      const std::string name = Quoted(location.elements[0]->text);
      const Attribute& child = *location.elements[1];
      return child.kind == Attribute::Kind::kUnknownLocation
                 ? name
                 : absl::StrCat(name, "(", InnerLocationText(child), ")");
    }
    case Attribute::Kind::kCallSiteLocation:
      return absl::StrCat("callsite(", InnerLocationText(*location.elements[0]),
                          " at ", InnerLocationText(*location.elements[1]),
                          ")");
    case Attribute::Kind::kFusedLocation:
      return absl::StrCat(
          "fused[",
          absl::StrJoin(location.elements, ", ",
                        [](std::string* out, const Attribute* part) {
                          out->append(InnerLocationText(*part));
                        }),
          "]");
    default:
      return "unknown";
  }
}

const Attribute* FirstFile(const Attribute* location) {
  if (location->kind == Attribute::Kind::kFileLocation) return location;
  const bool named = location->kind == Attribute::Kind::kNameLocation;
  if (!named && location->kind != Attribute::Kind::kCallSiteLocation &&
      location->kind != Attribute::Kind::kFusedLocation) {
    return nullptr;
  }
  for (size_t i = named ? 1 : 0; i < location->elements.size(); ++i) {
    const Attribute* found = FirstFile(location->elements[i]);
    if (found) return found;
  }
  return nullptr;
}

}  // namespace

std::string NameText(absl::string_view name) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '$' || c == '.';
  };
  const bool bare = !name.empty() &&
                    !std::isdigit(static_cast<unsigned char>(name[0])) &&
                    name[0] != '$' && name[0] != '.' &&
                    std::all_of(name.begin(), name.end(), fits);
  return bare ? std::string(name) : Quoted(name);
}

std::string TypeText(const Type& type) {
  if (type.kind == Type::Kind::kOpaque && !type.text.empty()) {
    return std::string(type.text);
  }
  if (type.dialect == "builtin") {
    if (type.kind == Type::Kind::kFunction) return FunctionText(type);
    if (type.kind == Type::Kind::kInteger) return IntegerName(type);
  }
  std::string text(KindName(type));
  if (type.dialect != "builtin") {
    text = absl::StrCat("!", type.dialect, ".", text, "_v1");
  }
  const std::string parameters = Parameters(type);
  return parameters.empty() ? text : absl::StrCat(text, "<", parameters, ">");
}

std::string AttributeText(const Attribute& attribute) {
  if (attribute.kind == Attribute::Kind::kOpaque) return BuiltinText(attribute);
  if (attribute.dialect == "vhlo") return VhloText(attribute);
  if (attribute.dialect == "sdy") return SdyAttributeText(attribute);
  return BuiltinText(attribute);
}

std::string LocationText(const Attribute* location) {
  return absl::StrCat("loc(",
                      location ? InnerLocationText(*location) : "unknown", ")");
}

std::string SourceText(const Attribute* location) {
  if (location == nullptr) return "";
  std::string text;
  if (const Attribute* file = FirstFile(location)) {
    const std::vector<int64_t>& n = file->integers;
    text = std::string(file->elements[0]->text);
    if (n.size() > 1) absl::StrAppend(&text, ":", n[0], ":", n[1]);
  }
  if (location->kind == Attribute::Kind::kNameLocation) {
    const absl::string_view name = location->elements[0]->text;
    absl::StrAppend(&text, text.empty() ? "" : " ", "(", name, ")");
  }
  return text;
}

}  // namespace systole::mlir
