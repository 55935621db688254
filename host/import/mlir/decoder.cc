// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/mlir/decoder.h"

#include <algorithm>

namespace systole::mlir {
namespace {

constexpr int kMaxDepth = 400;            // nesting of attributes
constexpr uint64_t kMaxNodes = 1u << 24;  // of an attribute, expanded as a tree

// Visits each type and attribute once.
class StructureCheck {
 public:
  explicit StructureCheck(const Module& module)
      : module_(module),
        types_(module.types.size()),
        attributes_(module.attributes.size()) {}

  absl::Status Run() {
    for (const Type& type : module_.types) Visit(type, 0);
    for (const Attribute& attribute : module_.attributes) Visit(attribute, 0);
    return status_;
  }

 private:
  static constexpr uint64_t kOpen = ~uint64_t{0};

  // Number of nodes, 0 after an error.
  uint64_t Visit(const Type& type, int depth) {
    return VisitOnce(types_[&type - module_.types.data()], depth, [&] {
      if (!HasParts(type)) Fail("a type without its parts");
      uint64_t nodes = 1;
      for (const Type* element : type.elements) {
        nodes = std::min(nodes + Visit(*element, depth + 1), kMaxNodes);
      }
      if (type.encoding) nodes += Visit(*type.encoding, depth + 1);
      return nodes;
    });
  }

  uint64_t Visit(const Attribute& attribute, int depth) {
    return VisitOnce(
        attributes_[&attribute - module_.attributes.data()], depth, [&] {
          if (!HasParts(attribute)) Fail("an attribute without its parts");
          uint64_t nodes = 1;
          if (attribute.type) nodes += Visit(*attribute.type, depth + 1);
          for (const Attribute* element : attribute.elements) {
            nodes = std::min(nodes + Visit(*element, depth + 1), kMaxNodes);
          }
          return nodes;
        });
  }

  template <typename Nodes>
  uint64_t VisitOnce(uint64_t& nodes, int depth, Nodes&& count) {
    if (!status_.ok()) return 0;
    if (nodes == kOpen) {
      Fail("a type or attribute contains itself");
    } else if (nodes == 0) {
      if (depth > kMaxDepth) Fail("types or attributes are nested too deep");
      if (!status_.ok()) return 0;
      nodes = kOpen;
      const uint64_t found = count();
      if (found >= kMaxNodes) Fail("a type or attribute is too large");
      nodes = found;
    }
    return status_.ok() ? nodes : 0;
  }

  static bool HasParts(const Type& type) {
    const size_t elements = type.elements.size();
    switch (type.kind) {
      case Type::Kind::kComplex:
      case Type::Kind::kTensor:
      case Type::Kind::kUnrankedTensor:
      case Type::Kind::kBuffer:
        return elements == 1;
      case Type::Kind::kQuantized:
        return elements == 2;
      case Type::Kind::kFunction:
        return type.inputs <= elements;
      default:
        return true;
    }
  }

  static bool IsString(const Attribute* attribute) {
    return attribute->kind == Attribute::Kind::kString;
  }

  static bool HasParts(const Attribute& attribute) {
    const auto& elements = attribute.elements;
    switch (attribute.kind) {
      case Attribute::Kind::kDictionary:
        if (elements.size() % 2 != 0) return false;
        for (size_t i = 0; i < elements.size(); i += 2) {
          if (!IsString(elements[i])) return false;
        }
        return true;
      case Attribute::Kind::kSymbol:
        return !elements.empty() && IsString(elements[0]);
      case Attribute::Kind::kFileLocation:
        return elements.size() == 1 && IsString(elements[0]);
      case Attribute::Kind::kNameLocation:
        return elements.size() == 2 && IsString(elements[0]);
      case Attribute::Kind::kCallSiteLocation:
        return elements.size() == 2;
      default:
        return true;
    }
  }

  void Fail(const char* message) {
    if (status_.ok()) status_ = absl::DataLossError(message);
  }

  const Module& module_;
  std::vector<uint64_t> types_, attributes_;  // nodes of each, 0 if not visited
  absl::Status status_;
};

}  // namespace

const Attribute* Decoder::OptionalAttributeAt(ByteReader& in) const {
  const uint64_t word = in.VarInt();
  if ((word & 1) == 0) return nullptr;
  return At(module_.attributes, word >> 1, in, "attribute");
}

absl::string_view Decoder::String(ByteReader& in) const {
  const absl::string_view* string =
      At(module_.strings, in.VarInt(), in, "string");
  return string ? *string : absl::string_view();
}

absl::string_view Decoder::Resource(ByteReader& in) const {
  const absl::string_view* data = At(resources_, in.VarInt(), in, "resource");
  return data ? *data : absl::string_view();
}

std::vector<const Attribute*> Decoder::Attributes(ByteReader& in) const {
  std::vector<const Attribute*> list;
  for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
    list.push_back(AttributeAt(in));
  }
  return list;
}

std::vector<const Type*> Decoder::Types(ByteReader& in) const {
  std::vector<const Type*> list;
  for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
    list.push_back(TypeAt(in));
  }
  return list;
}

std::vector<int64_t> Decoder::SignedIntegers(ByteReader& in) const {
  std::vector<int64_t> list;
  for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
    list.push_back(in.SignedVarInt());
  }
  return list;
}

std::vector<int64_t> Decoder::Words(ByteReader& in, int width) const {
  if (width > 64) return SignedIntegers(in);
  int64_t word = width <= 8 ? in.Byte() : in.SignedVarInt();
  if (width > 0 && width < 64) {
    const int unused = 64 - width;
    word =
        static_cast<int64_t>(static_cast<uint64_t>(word) << unused) >> unused;
  }
  return {word};
}

absl::Status UnpackElements(Module& module, Attribute& elements) {
  const Type* type = elements.type;
  if (type == nullptr || type->kind != Type::Kind::kTensor) {
    return absl::OkStatus();
  }
  const int64_t count = NumElements(*type);
  const Type& element = *type->elements[0];
  const int64_t bytes = ElementBytes(element);
  const int64_t size = elements.data.size();
  if (count < 0) return absl::DataLossError("dense elements of unknown shape");
  if (bytes == 0) return absl::OkStatus();
  // A splat may have more elements than any file can hold.
  const bool all = count <= size && count * bytes == size;
  if (element.kind == Type::Kind::kBoolean ||
      (element.kind == Type::Kind::kInteger && element.width == 1)) {
    const int64_t packed = count / 8 + (count % 8 != 0);
    if (size == 1 && static_cast<uint8_t>(elements.data[0]) == 0xff) {
      elements.is_splat = true;
      elements.data = absl::string_view("\1", 1);
    } else if (size == 1 && elements.data[0] == 0 && count > 1) {
      elements.is_splat = true;
    } else if (size == packed && !all) {
      std::string& unpacked = module.storage.emplace_back(count, '\0');
      for (int64_t i = 0; i < count; ++i) {
        unpacked[i] = elements.data[i / 8] >> (i % 8) & 1;
      }
      elements.data = unpacked;
    } else if (!all) {
      return absl::DataLossError("dense elements of another size");
    }
    return absl::OkStatus();
  }
  elements.is_splat = size == bytes && count != 1;
  if (!all && !elements.is_splat) {
    return absl::DataLossError("dense elements of another size");
  }
  return absl::OkStatus();
}

absl::Status CheckStructure(const Module& module) {
  return StructureCheck(module).Run();
}

}  // namespace systole::mlir
