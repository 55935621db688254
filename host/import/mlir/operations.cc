// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/import/mlir/operations.h"

#include <algorithm>

#include "host/import/mlir/properties.h"

namespace systole::mlir {
namespace {

constexpr int kMaxDepth = 200;  // nesting of regions
constexpr int kOperationSection = 4;

// The format version that introduced each feature.
constexpr uint64_t kIsolatedSections = 2;
constexpr uint64_t kUseListOrders = 3;
constexpr uint64_t kArgumentsWithoutLocation = 4;
constexpr uint64_t kProperties = 5;

enum Parts : uint8_t {
  kHasAttributes = 1,
  kHasResults = 2,
  kHasOperands = 4,
  kHasSuccessors = 8,
  kHasRegions = 16,
  kHasUseListOrders = 32,
  kHasProperties = 64,
};

constexpr ValueId kUndefined = ~ValueId{0};

// The values that operands can refer to, by number: those of the enclosing
// regions, up to a region isolated from above. The numbers of a region come
// after all numbers of the region around it, even those defined later.
struct Scope {
  std::vector<ValueId> values;
  std::vector<size_t> next;  // of each open region: the next number
};

class OperationReader {
 public:
  OperationReader(const Decoder& decoder, const Tables& tables, Module& module)
      : decoder_(decoder), tables_(tables), module_(module) {}

  void ReadRoot(ByteReader& in) {
    Scope scope;
    scope.next.push_back(0);
    Block block;
    ReadBlock(in, scope, 0, block);
    if (!in.empty()) in.Fail("bytes behind the last operation");
    if (in.ok() && block.operations.size() != 1) {
      in.Fail(block.operations.size(), " operations at the top, not one");
    }
    if (in.ok()) module_.root = std::move(block.operations[0]);
  }

 private:
  ValueId Define(ByteReader& in, Scope& scope, const Type* type,
                 const Attribute* location) {
    if (scope.next.back() == scope.values.size()) {
      in.Fail("more values in a region than it says");
      return 0;
    }
    const ValueId id = static_cast<ValueId>(module_.values.size());
    module_.values.push_back({type, location});
    scope.values[scope.next.back()++] = id;
    return id;
  }

  const Attribute* ReadLocation(ByteReader& in) {
    const Attribute* location = decoder_.AttributeAt(in);
    if (in.ok() && location->kind < Attribute::Kind::kUnknownLocation &&
        location->kind != Attribute::Kind::kOpaque) {
      in.Fail("a location that is none");
    }
    return location;
  }

  // Skips the order of the uses of values, which the import does not need.
  void SkipUseListOrders(ByteReader& in, size_t values) {
    size_t orders = 1;
    if (values > 1) orders = in.Count();
    for (; orders > 0 && in.ok(); --orders) {
      if (values > 1) in.Index(values, "value");
      uint64_t numbers = in.VarInt() >> 1;
      if (numbers > in.remaining()) in.Fail("a use list beyond the data");
      for (; numbers > 0 && in.ok(); --numbers) in.VarInt();
    }
  }

  void ReadArguments(ByteReader& in, Scope& scope, Block& block) {
    for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
      const Type* type = nullptr;
      const Attribute* location = nullptr;
      if (tables_.version >= kArgumentsWithoutLocation) {
        const uint64_t word = in.VarInt();
        type = decoder_.TypeAt(word >> 1, in);
        if ((word & 1) != 0) location = ReadLocation(in);
      } else {
        type = decoder_.TypeAt(in);
        location = ReadLocation(in);
      }
      block.arguments.push_back(Define(in, scope, type, location));
    }
    if (tables_.version >= kUseListOrders && in.Byte() != 0) {
      SkipUseListOrders(in, block.arguments.size());
    }
  }

  void ReadBlock(ByteReader& in, Scope& scope, int depth, Block& block) {
    const uint64_t word = in.VarInt();
    if ((word & 1) != 0) ReadArguments(in, scope, block);
    uint64_t count = word >> 1;
    if (count > in.remaining()) in.Fail(count, " operations beyond the data");
    for (; count > 0 && in.ok(); --count) {
      ReadOperation(in, scope, depth, block.operations.emplace_back());
    }
  }

  void ReadRegion(ByteReader& in, Scope& scope, int depth, Region& region) {
    if (depth > kMaxDepth) in.Fail("regions are nested too deep");
    const size_t blocks = in.Count();
    if (blocks == 0) return;
    const size_t outside = scope.values.size();
    scope.next.push_back(outside);
    scope.values.resize(outside + in.Count(), kUndefined);
    for (size_t i = 0; i < blocks && in.ok(); ++i) {
      ReadBlock(in, scope, depth, region.blocks.emplace_back());
    }
    if (scope.next.back() != scope.values.size())
      in.Fail("a region has less values than it says");
    scope.next.pop_back();
    scope.values.resize(outside);
  }

  void ReadRegions(ByteReader& in, Scope& scope, int depth,
                   Operation& operation) {
    const uint64_t word = in.VarInt();
    const uint64_t count = word >> 1;
    const bool isolated = (word & 1) != 0;
    if (count > in.remaining()) in.Fail(count, " regions beyond the data");
    if (count == 0 || !in.ok()) return;
    if (!isolated) {
      for (uint64_t i = 0; i < count && in.ok(); ++i) {
        ReadRegion(in, scope, depth + 1, operation.regions.emplace_back());
      }
      return;
    }
    Scope inside;
    if (tables_.version < kIsolatedSections) {
      for (uint64_t i = 0; i < count && in.ok(); ++i) {
        ReadRegion(in, inside, depth + 1, operation.regions.emplace_back());
      }
      return;
    }
    // One section holds all regions.
    const Section section = ReadSection(in);
    if (!in.ok()) return;
    if (section.id != kOperationSection) in.Fail("no section of operations");
    ByteReader part(module_.bytes, section.data);
    for (uint64_t i = 0; i < count && part.ok(); ++i) {
      ReadRegion(part, inside, depth + 1, operation.regions.emplace_back());
    }
    if (!part.empty()) part.Fail("bytes behind the last region");
    in.Absorb(part);
  }

  void ReadAttributes(ByteReader& in, Operation& operation) {
    const Attribute* attributes = decoder_.AttributeAt(in);
    if (!in.ok()) return;
    AddDictionary(in, *attributes, operation);
  }

  void AddDictionary(ByteReader& in, const Attribute& attributes,
                     Operation& operation) {
    if (attributes.kind != Attribute::Kind::kDictionary) {
      in.Fail("attributes of an operation that are no dictionary");
      return;
    }
    for (size_t i = 0; i < attributes.elements.size(); i += 2) {
      operation.attributes.emplace_back(attributes.elements[i]->text,
                                        attributes.elements[i + 1]);
    }
  }

  void ReadProperties(ByteReader& in, bool registered, Operation& operation) {
    const size_t index = in.Index(tables_.properties.size(), "properties");
    if (!in.ok()) return;
    ByteReader part(module_.bytes, tables_.properties[index]);
    const auto properties = PropertiesOf(operation.name);
    if (!registered) {
      ReadAttributes(part, operation);
    } else if (!properties) {
      operation.opaque_properties = tables_.properties[index];
      return;
    } else {
      for (const Property& property : *properties) {
        const Attribute* value = property.optional
                                     ? decoder_.OptionalAttributeAt(part)
                                     : decoder_.AttributeAt(part);
        if (value) operation.attributes.emplace_back(property.name, value);
      }
    }
    if (!part.empty()) part.Fail(operation.name, " has more properties");
    in.Absorb(part);
  }

  void ReadOperands(ByteReader& in, const Scope& scope, Operation& operation) {
    for (size_t left = in.Count(); left > 0 && in.ok(); --left) {
      const size_t index = in.Index(scope.values.size(), "operand");
      if (!in.ok()) return;
      if (scope.values[index] == kUndefined) {
        in.Fail("operand ", index, " is used before it is defined");
        return;
      }
      operation.operands.push_back(scope.values[index]);
    }
  }

  void ReadOperation(ByteReader& in, Scope& scope, int depth,
                     Operation& operation) {
    const size_t name = in.Index(tables_.names.size(), "operation name");
    const uint8_t parts = in.Byte();
    operation.location = ReadLocation(in);
    if (!in.ok()) return;
    operation.name = tables_.names[name].name;
    if (parts & kHasAttributes) ReadAttributes(in, operation);
    if (parts & kHasProperties) {
      if (tables_.version < kProperties) in.Fail("properties before version 5");
      ReadProperties(in, tables_.names[name].registered, operation);
    }
    std::sort(operation.attributes.begin(), operation.attributes.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    // Results are numbered after the operands are read.
    std::vector<const Type*> results;
    if (parts & kHasResults) results = decoder_.Types(in);
    if (parts & kHasOperands) ReadOperands(in, scope, operation);
    for (const Type* type : results) {
      if (!in.ok()) return;
      operation.results.push_back(Define(in, scope, type, operation.location));
    }
    if (parts & kHasSuccessors && in.Count() != 0) {
      in.Fail("branches between blocks are not read");
    }
    if (parts & kHasUseListOrders) {
      SkipUseListOrders(in, operation.results.size());
    }
    if (parts & kHasRegions) ReadRegions(in, scope, depth, operation);
  }

  const Decoder& decoder_;
  const Tables& tables_;
  Module& module_;
};

}  // namespace

Section ReadSection(ByteReader& in) {
  const uint8_t word = in.Byte();
  const uint64_t size = in.VarInt();
  if ((word & 0x80) != 0) in.Align(in.VarInt());
  return {word & 0x7f, in.Bytes(size)};
}

absl::Status ReadOperations(const Decoder& decoder, const Tables& tables,
                            absl::string_view section, Module& module) {
  ByteReader in(module.bytes, section);
  OperationReader(decoder, tables, module).ReadRoot(in);
  return in.status();
}

}  // namespace systole::mlir
