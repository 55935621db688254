// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Typed attributes of operations. Each kind lists its fields once, in `Fields`.
// Printing, parsing and comparison use that list.
#ifndef SYSTOLE_HOST_IR_ATTRIBUTES_H_
#define SYSTOLE_HOST_IR_ATTRIBUTES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "host/ir/hlo/attributes.h"
#include "host/ir/literal.h"
#include "host/ir/quant/attributes.h"

namespace systole::ir {

struct NoAttributes {
  template <typename Self, typename Visitor>
  static void Fields(Self&, Visitor&&) {}
};

// `stored` of complex64, of shape S: the values are f32 of shape S + [2], real
// and imaginary parts, which are the same bytes.
inline constexpr char kComplexStored[] = "c64";

// The name of the input for callers.
// `stored`: the element type in which callers have the values, if it is another
// than the node's: "u8" for numbers that are 128 higher, "i64", "i1", or
// kComplexStored.
// `replicated`: all processes of the program get the same value.
// `donated`: callers do not need the value afterwards; results may be where it
// lies.
struct ParameterAttributes {
  std::string name;
  std::string stored = {};
  bool replicated = false;
  bool donated = false;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("name", self.name);
    visit("stored", self.stored);
    visit("replicated", self.replicated);
    visit("donated", self.donated);
  }
};

struct ConstantAttributes {
  std::shared_ptr<const Literal> data;  // shared by copies of a node

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("data", self.data);
  }
};

template <typename... Kinds>
struct KindList {
  // The number of kinds, if T is none of them.
  template <typename T>
  static constexpr int IndexOf() {
    int index = 0;
    (void)((std::is_same_v<T, Kinds> || (++index, false)) || ...);
    return index;
  }
  static constexpr int kSize = sizeof...(Kinds);
};
using AttributeKinds = KindList<
    NoAttributes, ParameterAttributes, ConstantAttributes, ConvAttributes,
    DenseAttributes, PoolAttributes, ClampAttributes, ReduceAttributes,
    SoftmaxAttributes, PadAttributes, AxisAttributes, GatherAttributes,
    TransposeAttributes, SliceAttributes, ResizeAttributes, RowAttributes,
    SvdfAttributes, SlopeAttributes, GeluAttributes, MatmulAttributes,
    Conv3DAttributes, LstmCellAttributes, LstmOutputAttributes,
    HloCompareAttributes, HloReducePrecisionAttributes, HloDimensionAttributes,
    HloDimensionsAttributes, HloSliceAttributes, HloSizesAttributes,
    HloPadAttributes, HloGatherAttributes, HloScatterAttributes,
    HloDotAttributes, HloConvolutionAttributes, HloWindowAttributes,
    HloSortAttributes, HloRngBitsAttributes, HloRngAttributes,
    HloBatchNormAttributes, HloCholeskyAttributes, HloTriangularSolveAttributes,
    HloCollectiveAttributes, HloCustomCallAttributes, HloStridedAttributes,
    HloMatrixProductAttributes, HloShardAttributes>;

// A value of one of the kinds; each copy has its own. (A std::variant would
// generate code for all kinds in every file that copies or destroys a node.)
class Attributes {
 public:
  Attributes() : Attributes(NoAttributes{}) {}
  template <typename T, int kIndex = AttributeKinds::IndexOf<T>(),
            typename = std::enable_if_t<(kIndex < AttributeKinds::kSize)>>
  Attributes(T value)
      : value_(std::make_unique<Of<T>>(kIndex, std::move(value))) {}
  Attributes(const Attributes& other) : value_(other.value_->Copy()) {}
  Attributes(Attributes&&) = default;  // `other` can only be assigned to then
  Attributes& operator=(Attributes other) {
    value_ = std::move(other.value_);
    return *this;
  }

  // Index of the kind in AttributeKinds.
  int index() const { return value_->index; }

  // Null if the value is of another kind.
  template <typename T>
  const T* If() const {
    constexpr int kIndex = AttributeKinds::IndexOf<T>();
    static_assert(kIndex < AttributeKinds::kSize, "no kind of attributes");
    return index() == kIndex ? &static_cast<const Of<T>&>(*value_).value
                             : nullptr;
  }
  template <typename T>
  T* If() {
    return const_cast<T*>(std::as_const(*this).If<T>());
  }
  // Throws std::bad_cast if the value is of another kind.
  template <typename T>
  const T& Get() const {
    if (const T* value = If<T>()) return *value;
    throw std::bad_cast();
  }
  template <typename T>
  T& Get() {
    return const_cast<T&>(std::as_const(*this).Get<T>());
  }

  // Calls `visit` with the value in its own type.
  template <typename Visitor>
  void Visit(Visitor&& visit) const {
    VisitOneOf(*this, visit, AttributeKinds{});
  }
  template <typename Visitor>
  void Visit(Visitor&& visit) {
    VisitOneOf(*this, visit, AttributeKinds{});
  }

 private:
  struct Base {
    explicit Base(int index) : index(index) {}
    virtual ~Base() = default;
    virtual std::unique_ptr<Base> Copy() const = 0;
    const int index;
  };
  template <typename T>
  struct Of final : Base {
    Of(int index, T value) : Base(index), value(std::move(value)) {}
    std::unique_ptr<Base> Copy() const override {
      return std::make_unique<Of>(*this);
    }
    T value;
  };

  template <typename Self, typename Visitor, typename... Kinds>
  static void VisitOneOf(Self& self, Visitor& visit, KindList<Kinds...>) {
    const auto visit_if = [&](auto* value) {
      return value && (visit(*value), true);
    };
    (void)(visit_if(self.template If<Kinds>()) || ...);
  }

  std::unique_ptr<Base> value_;
};

bool Equal(const Attributes& a, const Attributes& b);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_ATTRIBUTES_H_
