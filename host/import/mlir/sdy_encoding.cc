// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Attributes of the sdy dialect: meshes and shardings, as structs whose fields
// are in the order of the encoding.
#include <iterator>

#include "host/import/mlir/decoder.h"

namespace systole::mlir {
namespace {

enum AttributeCode : uint64_t {
  kManualAxes = 0,
  kMeshAxis = 1,
  kMesh = 2,
  kSubAxisInfo = 3,
  kAxisRef = 4,
  kDimensionSharding = 5,
  kSharding = 6,
  kShardingPerValue = 7,
  kDimensionMapping = 8,
  kTensorMapping = 9,
  kShardingRule = 10,
  kAxisRefList = 11,
  kListOfAxisRefLists = 12,
  kAllToAllParam = 13,
  kAllToAllParamList = 14,
  kShardingWithUnreduced = 15,
  kShardingPerValueWithUnreduced = 16,
  kShardingWithReduction = 17,
};

// Concatenates lists of attributes in `elements`, with the end of each list in
// `integers`.
void ReadLists(const Decoder& decoder, ByteReader& in, int lists,
               Attribute& out) {
  for (int i = 0; i < lists; ++i) {
    for (const Attribute* item : decoder.Attributes(in)) {
      out.elements.push_back(item);
    }
    out.integers.push_back(static_cast<int64_t>(out.elements.size()));
  }
}

void ReadSharding(const Decoder& decoder, ByteReader& in, int lists,
                  Attribute& out) {
  out.name = "sharding";
  out.elements = {decoder.AttributeAt(in)};  // mesh
  ReadLists(decoder, in, lists, out);  // dimensions, replicated, unreduced
}

// Reads the sizes of the factors. It skips the mappings of operands and results
// and the lists of factors, which describe how to shard an operation; the
// import does not shard.
void ReadShardingRule(const Decoder& decoder, ByteReader& in, Attribute& out) {
  out.name = "op_sharding_rule";
  out.integers = decoder.SignedIntegers(in);
  decoder.Attributes(in);
  decoder.Attributes(in);
  for (int list = 0; list < 4; ++list) decoder.SignedIntegers(in);
  in.Byte();  // custom
}

}  // namespace

void ReadSdyAttribute(const Decoder& decoder, ByteReader& in, Attribute& out) {
  out.kind = Attribute::Kind::kStruct;
  const uint64_t code = in.VarInt();
  switch (code) {
    case kManualAxes:
      out.name = "manual_axes";
      return ReadLists(decoder, in, 1, out);
    case kMeshAxis:
      out.name = "mesh_axis";
      out.text = decoder.String(in);
      out.integers = {in.SignedVarInt()};
      return;
    case kMesh:
      out.name = "mesh";
      out.elements = decoder.Attributes(in);
      out.integers = decoder.SignedIntegers(in);  // device ids
      return;
    case kSubAxisInfo:
      out.name = "sub_axis_info";
      out.integers = {in.SignedVarInt()};
      out.integers.push_back(in.SignedVarInt());
      return;
    case kAxisRef:
      out.name = "axis_ref";
      out.text = decoder.String(in);
      if (const Attribute* sub_axis = decoder.OptionalAttributeAt(in)) {
        out.elements = {sub_axis};
      }
      return;
    case kDimensionSharding: {
      out.name = "dimension_sharding";
      out.elements = decoder.Attributes(in);
      out.integers = {in.Byte()};  // closed
      const uint64_t priority = in.VarInt();
      if ((priority & 1) != 0) {
        out.integers.push_back(static_cast<int64_t>(priority >> 1));
      }
      return;
    }
    case kSharding:
      return ReadSharding(decoder, in, 2, out);
    case kShardingWithUnreduced:
      return ReadSharding(decoder, in, 3, out);
    case kShardingWithReduction:
      ReadSharding(decoder, in, 3, out);
      out.integers.push_back(in.SignedVarInt());
      return;
    case kShardingPerValue:
    case kShardingPerValueWithUnreduced:
      out.name = "sharding_per_value";
      return ReadLists(decoder, in, 1, out);
    case kDimensionMapping:
      out.name = "dim_mapping";
      out.integers = decoder.SignedIntegers(in);
      return;
    case kTensorMapping:
      out.name = "tensor_mapping";
      out.elements = decoder.Attributes(in);
      return;
    case kShardingRule:
      return ReadShardingRule(decoder, in, out);
    case kAxisRefList:
    case kListOfAxisRefLists:
    case kAllToAllParamList:
      out.name = code == kAxisRefList ? "axis_ref_list" : "list";
      return ReadLists(decoder, in, 1, out);
    case kAllToAllParam:
      out.name = "all_to_all_param";
      out.elements = decoder.Attributes(in);
      out.integers = {in.SignedVarInt()};
      out.integers.push_back(in.SignedVarInt());
      return;
    default:
      out.kind = Attribute::Kind::kOpaque;
  }
}

}  // namespace systole::mlir
