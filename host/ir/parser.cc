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
    module_ = module.get();
    Expect("module");
    Expect("@");
    module->name = Name();
    Expect("{");
    while (ok() && !Accept("return")) Statement();
    if (!Accept("}")) {  // an empty module returns nothing
      do {
        const std::string name = (Expect("%"), Name());
        Node* node = Lookup(name);
        Expect("as");
        module->outputs.push_back({String(), node});
      } while (ok() && Accept(","));
      Expect("}");
    }
    if (ok() && !AtEnd()) Fail("text behind the module");
    if (!ok()) return status();
    return module;
  }

 private:
  Node* Lookup(const std::string& name) {
    const auto found = nodes_.find(name);
    if (found != nodes_.end()) return found->second;
    Fail(absl::StrCat("%", name, " is not defined before it is used"));
    return nullptr;
  }

  // Values of attributes, by their type.
  void Read(const Type&, int64_t& value) { value = Integer(); }
  void Read(const Type&, float& value) { value = Float(); }
  void Read(const Type&, std::string& value) { value = String(); }
  void Read(const Type&, bool& value) {
    value = Accept("true");
    if (!value) Expect("false");
  }
  void Read(const Type&, Ints& values) {
    values.clear();
    List([&] { values.push_back(Integer()); });
  }
  void Read(const Type& type, std::shared_ptr<const Literal>& data) {
    data = std::make_shared<Literal>(Data(type));
  }

  template <typename T>
  Literal Elements(int64_t count) {
    std::vector<T> values;
    List([&] {
      if constexpr (std::is_same_v<T, float>) {
        values.push_back(Float());
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
    switch (type.element) {
      case ElementType::kInt8:
        return Elements<int8_t>(count);
      case ElementType::kInt16:
        return Elements<int16_t>(count);
      case ElementType::kInt32:
        return Elements<int32_t>(count);
      case ElementType::kFloat32:
        return Elements<float>(count);
    }
    return Literal();
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
    std::visit(
        [&](auto& kind) {
          std::decay_t<decltype(kind)>::Fields(
              kind, [&](const char* name, auto& value) {
                if (key != name) return;
                Read(node.type, value);
                found = true;
              });
        },
        node.attributes);
    if (!found) Fail(absl::StrCat("no attribute '", key, "'"));
  }

  void Statement() {
    Node node;
    Expect("%");
    node.name = Name();
    Expect("=");
    node.type = ReadType();
    const std::string name = Word();
    if (const auto op = OpFromName(name)) {
      node.op = *op;
      node.attributes = InfoOf(*op).defaults;
    } else {
      Fail(absl::StrCat("no operation '", name, "'"));
    }
    Expect("(");
    if (!Accept(")")) {
      do {
        Expect("%");
        node.operands.push_back(Lookup(Name()));
      } while (ok() && Accept(","));
      Expect(")");
    }
    while (ok() && Accept(",")) ReadAttribute(node);
    if (!ok()) return;
    const std::string key = node.name;
    if (!nodes_.emplace(key, module_->Add(std::move(node))).second) {
      Fail(absl::StrCat("%", key, " is defined twice"));
    }
  }

  Module* module_ = nullptr;
  std::unordered_map<std::string, Node*> nodes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> Parse(std::string_view text) {
  return Parser(text).ReadModule();
}

}  // namespace systole::ir
