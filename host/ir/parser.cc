// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Recursive descent over the text; the grammar is in text.h.
#include <limits>
#include <unordered_map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "host/ir/reader.h"
#include "host/ir/text.h"

namespace systole::ir {
namespace {

class Parser : private Reader {
 public:
  explicit Parser(std::string_view text) : Reader(text) {}

  absl::StatusOr<std::unique_ptr<Module>> ReadModule() {
    auto module = std::make_unique<Module>();
    Expect("module");
    Expect("@");
    module->name = Name();
    Expect("{");
    Scope scope{module.get(), {}};
    while (ok() && !Accept("return")) Statement(scope);
    if (!Accept("}")) {  // an empty module returns nothing
      do {
        const Value value = Operand(scope);
        Expect("as");
        module->outputs.push_back({String(), value});
        if (Accept("stored")) module->outputs.back().stored = String();
      } while (ok() && Accept(","));
      Expect("}");
    }
    if (ok() && !AtEnd()) Fail("text behind the module");
    if (!ok()) return status();
    return module;
  }

 private:
  static constexpr int kMaxDepth = 64;  // nesting of regions

  struct Scope {
    Module* module;
    std::unordered_map<std::string, Node*> nodes;
  };

  Value Operand(const Scope& scope) {
    Expect("%");
    const std::string name = Name();
    const int64_t index = Accept("#") ? Integer() : 0;
    const auto found = scope.nodes.find(name);
    if (found == scope.nodes.end()) {
      Fail(absl::StrCat("%", name, " is not defined before it is used"));
      return nullptr;
    }
    if (index < 0 || index >= found->second->results()) {
      Fail(absl::StrCat("%", name, " has no result ", index));
      return nullptr;
    }
    return {found->second, static_cast<int>(index)};
  }

  // Parsers of attribute values, by type.
  void Read(const Type&, int64_t& value) { value = Integer(); }
  void Read(const Type&, float& value) { value = Float(); }
  void Read(const Type&, std::string& value) { value = String(); }
  void Read(const Type&, bool& value) {
    value = Accept("true");
    if (!value) Expect("false");
  }
  void Read(const Type&, Reals& values) {
    values.clear();
    List([&] { values.push_back(Float()); });
  }
  void Read(const Type&, Ints& values) {
    values.clear();
    List([&] { values.push_back(Integer()); });
  }
  template <typename E, typename = std::enable_if_t<std::is_enum_v<E>>>
  void Read(const Type&, E& value) {
    const std::string name = Word();
    for (size_t i = 0; i < EnumNames<E>::kNames.size(); ++i) {
      if (name != EnumNames<E>::kNames[i]) continue;
      value = static_cast<E>(i);
      return;
    }
    Fail(absl::StrCat("'", name, "' is no value of the attribute"));
  }
  void Read(const Type& type, std::shared_ptr<const Literal>& data) {
    data = std::make_shared<Literal>(Data(type));
  }

  template <typename T>
  Literal Elements(int64_t count) {
    std::vector<T> values;
    List([&] {
      if constexpr (IsFloat(ElementOf<T>::kType)) {
        values.push_back(static_cast<T>(Float()));
      } else if constexpr (std::is_same_v<T, Bool>) {
        const int64_t value = Integer();
        if (value != 0 && value != 1) {
          Fail(absl::StrCat(value, " is not a value of the type"));
        }
        values.push_back(value != 0);
      } else if constexpr (std::is_same_v<T, uint64_t>) {
        values.push_back(Unsigned());
      } else {
        const int64_t value = Integer();
        if (value < std::numeric_limits<T>::min() ||
            value > std::numeric_limits<T>::max()) {
          Fail(absl::StrCat(value, " is not a value of the type"));
        }
        values.push_back(static_cast<T>(value));
      }
    });
    if (static_cast<int64_t>(values.size()) != count) {
      Fail(absl::StrCat(values.size(), " values instead of ", count));
    }
    return Literal(std::move(values));
  }

  Literal Data(const Type& type) {
    const int64_t count = type.elements();
    if (Accept("elided")) Fail("the values of the constant were left out");
    if (Accept("x")) {
      Expect("\"");
      const std::string_view digits =
          Run([](char c) { return absl::ascii_isxdigit(c); });
      Expect("\"");
      if (static_cast<int64_t>(digits.size()) != 2 * type.bytes()) {
        Fail(absl::StrCat(digits.size(), " hexadecimal digits instead of ",
                          2 * type.bytes()));
      }
      if (!ok()) return Literal();
      const std::string bytes = absl::HexStringToBytes(
          absl::string_view(digits.data(), digits.size()));
      return Literal::FromBytes(type.element, count,
                                reinterpret_cast<const uint8_t*>(bytes.data()));
    }
    return WithElement(type.element, [&](auto tag) {
      return Elements<typename decltype(tag)::type>(count);
    });
  }

  Quantization ReadQuantization() {
    Quantization q;
    do {
      const std::string key = Word();
      Expect("=");
      if (key == "axis") {
        q.axis = static_cast<int>(Integer());
      } else if (key == "zero") {
        q.zero_point = static_cast<int32_t>(Integer());
      } else if (key == "scale") {
        q.scales.clear();
        if (Peek() == '[') {
          List([&] { q.scales.push_back(Float()); });
        } else {
          q.scales.push_back(Float());
        }
      } else {
        Fail(absl::StrCat("'", key, "' is no part of a quantisation"));
      }
    } while (ok() && Accept(","));
    Expect("}");
    return q;
  }

  Type ReadType() {
    Type type;
    const std::string element = Word();
    if (const auto found = ElementTypeFromName(element)) {
      type.element = *found;
    } else {
      Fail(absl::StrCat("'", element, "' is no element type"));
    }
    int64_t elements = 1;
    List([&] {
      const int64_t size = Integer();
      if (size < 0 || size > kMaxElements || elements * size > kMaxElements) {
        Fail("the shape is too large");
        return;
      }
      elements *= size;
      type.shape.push_back(size);
    });
    if (Accept("{")) type.quantization = ReadQuantization();
    return type;
  }

  void ReadAttribute(Node& node) {
    const std::string key = Word();
    Expect("=");
    bool found = false;
    node.attributes.Visit([&](auto& kind) {
      std::decay_t<decltype(kind)>::Fields(kind,
                                           [&](const char* name, auto& value) {
                                             if (key != name) return;
                                             Read(node.type, value);
                                             found = true;
                                           });
    });
    if (!found) Fail(absl::StrCat("no attribute '", key, "'"));
  }

  void ReadTypes(Node& node) {
    if (!Accept("(")) {
      node.type = ReadType();
      return;
    }
    node.type = ReadType();
    while (ok() && Accept(",")) node.more_types.push_back(ReadType());
    Expect(")");
  }

  // After the opening brace.
  std::shared_ptr<const Module> Region() {
    auto region = std::make_shared<Module>();
    Scope scope{region.get(), {}};
    if (++depth_ > kMaxDepth) Fail("regions are nested too deeply");
    while (ok() && !Accept("return")) Statement(scope);
    do {
      region->outputs.push_back({"", Operand(scope)});
    } while (ok() && Accept(","));
    Expect("}");
    --depth_;
    return region;
  }

  void Statement(Scope& scope) {
    Node node;
    Expect("%");
    node.name = Name();
    Expect("=");
    ReadTypes(node);
    const std::string name(Run(
        [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; }));
    if (const auto op = OpFromName(name)) {
      node.op = *op;
      node.attributes = InfoOf(*op).defaults;
    } else {
      Fail(absl::StrCat("no operation '", name, "'"));
    }
    Expect("(");
    if (!Accept(")")) {
      do {
        node.operands.push_back(Operand(scope));
      } while (ok() && Accept(","));
      Expect(")");
    }
    while (ok() && Accept(",")) ReadAttribute(node);
    while (ok() && Accept("{")) node.regions.push_back(Region());
    if (!ok()) return;
    const std::string key = node.name;
    if (!scope.nodes.emplace(key, scope.module->Add(std::move(node))).second) {
      Fail(absl::StrCat("%", key, " is defined twice"));
    }
  }

  int depth_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> Parse(std::string_view text) {
  return Parser(text).ReadModule();
}

}  // namespace systole::ir
