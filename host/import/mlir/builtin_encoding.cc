// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Types, attributes and locations of the builtin dialect.
#include "host/import/mlir/decoder.h"

namespace systole::mlir {
namespace {

enum TypeCode : uint64_t {
  kInteger = 0,  // width << 2 | signedness
  kIndex = 1,
  kFunction = 2,
  kBFloat16 = 3,
  kFloat16 = 4,
  kFloat32 = 5,
  kFloat64 = 6,
  kComplex = 9,
  kNone = 12,
  kRankedTensor = 13,
  kRankedTensorWithEncoding = 14,
  kTuple = 15,
  kUnrankedTensor = 18,
};

enum AttributeCode : uint64_t {
  kArray = 0,
  kDictionary = 1,
  kString = 2,
  kStringWithType = 3,
  kFlatSymbolRef = 4,
  kSymbolRef = 5,
  kTypeAttribute = 6,
  kUnit = 7,
  kIntegerAttribute = 8,
  kFloatAttribute = 9,
  kCallSiteLocation = 10,
  kFileLineCol = 11,
  kFusedLocation = 12,
  kFusedLocationWithMetadata = 13,
  kNameLocation = 14,
  kUnknownLocation = 15,
  kDenseResource = 16,
  kDenseArray = 17,
  kDenseElements = 18,
  kFileLineColRange = 22,
};

constexpr uint64_t kMaxWidth = 1 << 24;  // of an integer; MLIR's limit

void SetFloat(Type& out, absl::string_view name, int width) {
  out.kind = Type::Kind::kFloat;
  out.name = name;
  out.width = width;
}

void ReadInteger(ByteReader& in, Type& out) {
  const uint64_t word = in.VarInt();
  if (word >> 2 > kMaxWidth) in.Fail("an integer of ", word >> 2, " bits");
  out.kind = Type::Kind::kInteger;
  out.width = static_cast<int>(word >> 2);
  out.name = (word & 3) == 1 ? "si" : (word & 3) == 2 ? "ui" : "i";
  out.is_unsigned = (word & 3) == 2;
}

// A dense array of numbers.
void ReadDenseArray(const Decoder& decoder, ByteReader& in, Attribute& out) {
  out.kind = Attribute::Kind::kStruct;
  out.name = "array";
  out.type = decoder.TypeAt(in);
  out.integers = {static_cast<int64_t>(in.VarInt())};
  out.data = in.Bytes(in.VarInt());
}

}  // namespace

void ReadBuiltinType(const Decoder& decoder, ByteReader& in, Type& out) {
  switch (in.VarInt()) {
    case kInteger:
      return ReadInteger(in, out);
    case kIndex:
      out.kind = Type::Kind::kIndex;
      out.name = "index";
      out.width = 64;
      return;
    case kFunction:
      out.kind = Type::Kind::kFunction;
      out.elements = decoder.Types(in);
      out.inputs = out.elements.size();
      for (const Type* result : decoder.Types(in)) {
        out.elements.push_back(result);
      }
      return;
    case kBFloat16:
      return SetFloat(out, "bf16", 16);
    case kFloat16:
      return SetFloat(out, "f16", 16);
    case kFloat32:
      return SetFloat(out, "f32", 32);
    case kFloat64:
      return SetFloat(out, "f64", 64);
    case kComplex:
      out.kind = Type::Kind::kComplex;
      out.elements = {decoder.TypeAt(in)};
      return;
    case kNone:
      out.kind = Type::Kind::kNone;
      out.name = "none";
      return;
    case kRankedTensorWithEncoding:
      out.encoding = decoder.AttributeAt(in);
      [[fallthrough]];
    case kRankedTensor:
      out.kind = Type::Kind::kTensor;
      out.shape = decoder.SignedIntegers(in);
      out.elements = {decoder.TypeAt(in)};
      return;
    case kTuple:
      out.kind = Type::Kind::kTuple;
      out.elements = decoder.Types(in);
      return;
    case kUnrankedTensor:
      out.kind = Type::Kind::kUnrankedTensor;
      out.elements = {decoder.TypeAt(in)};
      return;
    default:
      return;
  }
}

void ReadBuiltinAttribute(const Decoder& decoder, ByteReader& in,
                          Attribute& out) {
  using Kind = Attribute::Kind;
  const uint64_t code = in.VarInt();
  switch (code) {
    case kArray:
      out.kind = Kind::kArray;
      out.elements = decoder.Attributes(in);
      return;
    case kDictionary:
      out.kind = Kind::kDictionary;
      for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
        out.elements.push_back(decoder.AttributeAt(in));
        out.elements.push_back(decoder.AttributeAt(in));
      }
      return;
    case kString:
    case kStringWithType:
      out.kind = Kind::kString;
      out.text = decoder.String(in);
      if (code == kStringWithType) out.type = decoder.TypeAt(in);
      return;
    case kFlatSymbolRef:
    case kSymbolRef:
      out.kind = Kind::kSymbol;
      out.elements = {decoder.AttributeAt(in)};
      if (code == kSymbolRef) {
        for (const Attribute* nested : decoder.Attributes(in)) {
          out.elements.push_back(nested);
        }
      }
      return;
    case kTypeAttribute:
      out.kind = Kind::kType;
      out.type = decoder.TypeAt(in);
      return;
    case kUnit:
      out.kind = Kind::kUnit;
      return;
    case kIntegerAttribute:
    case kFloatAttribute:
      out.kind = code == kFloatAttribute ? Kind::kFloat : Kind::kInteger;
      out.type = decoder.TypeAt(in);
      if (!in.ok()) return;
      if (out.type->width == 0) in.Fail("a number of a type without a width");
      out.integers = decoder.Words(in, out.type->width);
      return;
    case kCallSiteLocation:
      out.kind = Kind::kCallSiteLocation;
      out.elements = {decoder.AttributeAt(in)};
      out.elements.push_back(decoder.AttributeAt(in));
      return;
    case kFileLineCol:
      out.kind = Kind::kFileLocation;
      out.elements = {decoder.AttributeAt(in)};
      out.integers = {static_cast<int64_t>(in.VarInt())};
      out.integers.push_back(static_cast<int64_t>(in.VarInt()));
      return;
    case kFileLineColRange:
      out.kind = Kind::kFileLocation;
      out.elements = {decoder.AttributeAt(in)};
      for (size_t left = in.Count(); left > 0; --left) {
        out.integers.push_back(static_cast<int64_t>(in.VarInt()));
      }
      return;
    case kFusedLocation:
    case kFusedLocationWithMetadata:
      out.kind = Kind::kFusedLocation;
      out.elements = decoder.Attributes(in);
      if (code == kFusedLocationWithMetadata) decoder.AttributeAt(in);
      return;
    case kNameLocation:
      out.kind = Kind::kNameLocation;
      out.elements = {decoder.AttributeAt(in)};
      out.elements.push_back(decoder.AttributeAt(in));
      return;
    case kUnknownLocation:
      out.kind = Kind::kUnknownLocation;
      return;
    case kDenseResource:
      out.kind = Kind::kElements;
      out.type = decoder.TypeAt(in);
      out.data = decoder.Resource(in);
      return;
    case kDenseArray:
      return ReadDenseArray(decoder, in, out);
    case kDenseElements:
      out.kind = Kind::kElements;
      out.type = decoder.TypeAt(in);
      out.data = in.Bytes(in.VarInt());
      return;
    default:
      return;
  }
}

}  // namespace systole::mlir
