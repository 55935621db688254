// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Types and attributes of the vhlo dialect: StableHLO in portable artifacts.
#include <cstddef>
#include <initializer_list>

#include "host/import/mlir/decoder.h"

namespace systole::mlir {
namespace {

struct NamedCode {
  uint64_t code;
  const char* name;
  int width;
};

constexpr NamedCode kFloats[] = {
    {2, "bf16", 16},       {3, "f16", 16},        {4, "f32", 32},
    {5, "f64", 64},        {6, "f8E4M3FN", 8},    {7, "f8E5M2", 8},
    {27, "f8E4M3FNUZ", 8}, {28, "f8E5M2FNUZ", 8}, {29, "f8E4M3B11FNUZ", 8},
    {34, "tf31", 19},      {35, "f8E4M3", 8},     {36, "f8E3M4", 8},
    {37, "f4E2M1FN", 4},   {38, "f6E2M3FN", 6},   {39, "f6E3M2FN", 6},
    {40, "f8E8M0FNU", 8},
};

constexpr NamedCode kIntegers[] = {
    {31, "i2", 2},   {10, "i4", 4},    {11, "i8", 8},    {12, "i16", 16},
    {13, "i32", 32}, {14, "i64", 64},  {32, "ui2", 2},   {15, "ui4", 4},
    {16, "ui8", 8},  {17, "ui16", 16}, {18, "ui32", 32}, {19, "ui64", 64},
};

enum TypeCode : uint64_t {
  kBoolean = 0,
  kComplex = 1,
  kFunction = 8,
  kIndex = 9,
  kTensor = 20,
  kTensorWithEncoding = 21,
  kToken = 22,
  kTuple = 23,
  kUniformQuantized = 24,
  kUnrankedTensor = 25,
  kWitness = 26,
  kUniformQuantizedPerAxis = 30,
  kNone = 33,
  kBuffer = 41,
  kFuture = 42,
};

enum AttributeCode : uint64_t {
  kArray = 1,
  kBooleanAttribute = 2,
  kDictionary = 6,
  kFloat = 8,
  kInteger = 9,
  kOutputOperandAlias = 10,
  kString = 14,
  kTensorAttribute = 15,
  kTypeAttribute = 17,
  kTypeExtensions = 18,
  kResultAccuracy = 20,
  kSubAxisInfo = 21,
  kAxisRef = 22,
  kReplicaGroupMeshAxes = 23,
  kMeshAxis = 24,
  kMesh = 25,
};

// An enumeration. Its cases are numbered from 0.
struct Enumeration {
  uint64_t code;
  const char* name;
  std::initializer_list<const char*> cases;
};

const Enumeration kEnumerations[] = {
    {3, "comparison_direction", {"EQ", "NE", "GE", "GT", "LE", "LT"}},
    {4,
     "comparison_type",
     {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}},
    {5,
     "api_version",
     {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
      "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
      "API_VERSION_TYPED_FFI"}},
    {7, "fft_type", {"FFT", "IFFT", "RFFT", "IRFFT"}},
    {11, "precision", {"DEFAULT", "HIGH", "HIGHEST"}},
    {12, "rng_algorithm", {"DEFAULT", "THREE_FRY", "PHILOX"}},
    {13, "rng_distribution", {"", "UNIFORM", "NORMAL"}},
    {16,
     "transpose",
     {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}},
    {19, "result_accuracy_mode", {"DEFAULT", "HIGHEST", "TOLERANCE"}},
};

void ReadEnumeration(const Enumeration& enumeration, ByteReader& in,
                     Attribute& out) {
  const size_t index = in.Index(enumeration.cases.size(), enumeration.name);
  out.kind = Attribute::Kind::kEnum;
  out.name = enumeration.name;
  out.text = enumeration.cases.begin()[index];
  out.integers = {static_cast<int64_t>(index)};
}

void ReadQuantized(const Decoder& decoder, ByteReader& in, bool per_axis,
                   Type& out) {
  out.kind = Type::Kind::kQuantized;
  in.VarInt();  // flags
  out.elements = {decoder.TypeAt(in)};
  out.elements.push_back(decoder.TypeAt(in));
  if (!per_axis) {
    decoder.Words(in, 64);  // scale
    in.SignedVarInt();      // zero point
  } else {
    in.VarInt();  // dimension
  }
  in.SignedVarInt();  // smallest and largest stored value
  in.SignedVarInt();
  if (!per_axis) return;
  for (size_t left = in.Count(); left > 0; --left) decoder.Words(in, 64);
  decoder.SignedIntegers(in);
}

void ReadStruct(const Decoder& decoder, ByteReader& in, uint64_t code,
                Attribute& out) {
  out.kind = Attribute::Kind::kStruct;
  switch (code) {
    case kOutputOperandAlias: {  // tuple indices of the output, operand, its
      out.name = "output_operand_alias";
      out.integers = decoder.SignedIntegers(in);
      out.integers.insert(out.integers.begin(),
                          static_cast<int64_t>(out.integers.size()));
      out.integers.push_back(in.SignedVarInt());
      for (const int64_t index : decoder.SignedIntegers(in)) {
        out.integers.push_back(index);
      }
      return;
    }
    case kTypeExtensions:
      out.name = "type_extensions";
      out.integers = decoder.SignedIntegers(in);  // bounds
      return;
    case kResultAccuracy:  // bits of both tolerances as f64, ulps; mode
      out.name = "result_accuracy";
      out.integers = {in.SignedVarInt()};
      out.integers.push_back(in.SignedVarInt());
      out.integers.push_back(in.SignedVarInt());
      out.elements = {decoder.AttributeAt(in)};
      return;
    case kSubAxisInfo:
      out.name = "sub_axis_info";
      out.integers = {in.SignedVarInt()};
      out.integers.push_back(in.SignedVarInt());
      return;
    case kAxisRef:
      out.name = "axis_ref";
      out.elements = {decoder.AttributeAt(in)};
      if (in.VarInt() != 0) out.elements.push_back(decoder.AttributeAt(in));
      return;
    case kReplicaGroupMeshAxes:
      out.name = "replica_group_mesh_axes";
      out.elements = {decoder.AttributeAt(in)};
      out.elements.push_back(decoder.AttributeAt(in));
      return;
    case kMeshAxis:
      out.name = "mesh_axis";
      out.elements = {decoder.AttributeAt(in)};
      out.integers = {in.SignedVarInt()};
      return;
    case kMesh:
      out.name = "mesh";
      out.elements = {decoder.AttributeAt(in)};
      if (const Attribute* devices = decoder.OptionalAttributeAt(in)) {
        out.elements.push_back(devices);
      }
      return;
    default:
      out.kind = Attribute::Kind::kOpaque;
  }
}

bool ReadNumberType(uint64_t code, Type& out) {
  for (const NamedCode& type : kFloats) {
    if (type.code != code) continue;
    out.kind = Type::Kind::kFloat;
    out.name = type.name;
    out.width = type.width;
    return true;
  }
  for (const NamedCode& type : kIntegers) {
    if (type.code != code) continue;
    out.kind = Type::Kind::kInteger;
    out.name = type.name;
    out.width = type.width;
    out.is_unsigned = type.name[0] == 'u';
    return true;
  }
  return false;
}

}  // namespace

void ReadVhloType(const Decoder& decoder, ByteReader& in, Type& out) {
  using Kind = Type::Kind;
  const uint64_t code = in.VarInt();
  if (ReadNumberType(code, out)) return;
  switch (code) {
    case kBoolean:
      out.kind = Kind::kBoolean;
      out.name = "bool";
      out.width = 1;
      return;
    case kComplex:
      out.kind = Kind::kComplex;
      out.elements = {decoder.TypeAt(in)};
      return;
    case kFunction:
      out.kind = Kind::kFunction;
      out.elements = decoder.Types(in);
      out.inputs = out.elements.size();
      for (const Type* result : decoder.Types(in)) {
        out.elements.push_back(result);
      }
      return;
    case kIndex:
      out.kind = Kind::kIndex;
      out.name = "index";
      out.width = 64;
      return;
    case kTensorWithEncoding:
      out.encoding = decoder.AttributeAt(in);
      [[fallthrough]];
    case kTensor:
    case kBuffer:
      out.kind = code == kBuffer ? Kind::kBuffer : Kind::kTensor;
      out.shape = decoder.SignedIntegers(in);
      out.elements = {decoder.TypeAt(in)};
      return;
    case kToken:
      out.kind = Kind::kToken;
      out.name = "token";
      return;
    case kTuple:
    case kFuture:
      out.kind = code == kTuple ? Kind::kTuple : Kind::kFuture;
      out.elements = decoder.Types(in);
      return;
    case kUniformQuantized:
    case kUniformQuantizedPerAxis:
      return ReadQuantized(decoder, in, code == kUniformQuantizedPerAxis, out);
    case kUnrankedTensor:
      out.kind = Kind::kUnrankedTensor;
      out.elements = {decoder.TypeAt(in)};
      return;
    case kWitness:
      out.kind = Kind::kWitness;
      out.name = "witness";
      return;
    case kNone:
      out.kind = Kind::kNone;
      out.name = "none";
      return;
    default:
      return;
  }
}

void ReadVhloAttribute(const Decoder& decoder, ByteReader& in, Attribute& out) {
  using Kind = Attribute::Kind;
  const uint64_t code = in.VarInt();
  for (const Enumeration& enumeration : kEnumerations) {
    if (enumeration.code == code) return ReadEnumeration(enumeration, in, out);
  }
  switch (code) {
    case kArray:
      out.kind = Kind::kArray;
      out.elements = decoder.Attributes(in);
      return;
    case kBooleanAttribute:
      out.kind = Kind::kBoolean;
      out.integers = {static_cast<int64_t>(in.Index(2, "boolean"))};
      return;
    case kDictionary:
      out.kind = Kind::kDictionary;
      for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
        out.elements.push_back(decoder.AttributeAt(in));
        out.elements.push_back(decoder.AttributeAt(in));
      }
      return;
    case kFloat:
    case kInteger:
      out.kind = code == kFloat ? Kind::kFloat : Kind::kInteger;
      out.type = decoder.TypeAt(in);
      if (!in.ok()) return;
      if (out.type->width == 0) in.Fail("a number of a type without a width");
      out.integers = decoder.Words(in, out.type->width);
      return;
    case kString:
      out.kind = Kind::kString;
      out.text = decoder.String(in);
      return;
    case kTensorAttribute:
      out.kind = Kind::kElements;
      out.type = decoder.TypeAt(in);
      out.data = in.Bytes(in.VarInt());
      return;
    case kTypeAttribute:
      out.kind = Kind::kType;
      out.type = decoder.TypeAt(in);
      return;
    default:
      return ReadStruct(decoder, in, code, out);
  }
}

}  // namespace systole::mlir
