// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Operations that stand in front of a node and for it, and what the lowering of
// products makes of their operands.
#ifndef SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_NODES_H_
#define SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_NODES_H_

#include <cstdint>
#include <vector>

#include "host/ir/index.h"
#include "host/ir/module.h"

namespace systole::lanes {

inline constexpr ir::ElementType kBf16 = ir::ElementType::kBfloat16;
inline constexpr ir::ElementType kF32 = ir::ElementType::kFloat32;

// Elements of a value in an order of their own: sizes and strides of
// dimensions, in elements, from one on.
struct Walk {
  ir::Ints sizes, strides;
  int64_t offset = 0;

  void Add(int64_t size, int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
  // It meets the elements in their order, each once.
  bool Dense() const {
    const ir::Ints dense = ir::StridesOf(sizes);
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] != 1 && strides[i] != dense[i]) return false;
    return offset == 0;
  }
};

int64_t SizeOf(const ir::Ints& shape);

class ProductNodes {
 public:
  // Puts them before `node`.
  ProductNodes(ir::Module& module, ir::Node& node)
      : module_(module), node_(node) {}

  ir::Value Make(ir::Op op, ir::Type type, std::vector<ir::Value> operands,
                 ir::Attributes attributes = ir::NoAttributes{});
  // The number everywhere; of an integer type, or 0.
  ir::Value Number(ir::ElementType type, int32_t number, const ir::Ints& shape);
  ir::Value Convert(ir::Value value, ir::ElementType element);
  ir::Value Reshape(ir::Value value, const ir::Ints& shape);
  ir::Value Walked(ir::Value value, const Walk& walk);
  // The part of the numbers that a pass multiplies, in bf16: the nearest to
  // what the parts before it leave; numbers that are not finite have one part.
  ir::Value Part(ir::Value value, int part);
  // Of integers, in bf16, of base 256; the last one has the sign.
  ir::Value Digit(ir::Value value, int digit);
  // The other module's results, of these values for its parameters.
  std::vector<ir::Value> Inlined(const ir::Module& other,
                                 const std::vector<ir::Value>& operands);

 private:
  ir::Module& module_;
  ir::Node& node_;
};

}  // namespace systole::lanes

#endif  // SYSTOLE_HOST_COMPILER_KERNELS_PRODUCT_NODES_H_
