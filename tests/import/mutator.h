// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Mutates .tflite files, mostly where they say what they are: tables, options,
// shapes, lists of tensors.
#ifndef SYSTOLE_TESTS_IMPORT_MUTATOR_H_
#define SYSTOLE_TESTS_IMPORT_MUTATOR_H_

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "host/import/tflite_schema_generated.h"

namespace systole::import {

inline constexpr size_t kLarge = 32768;  // bytes of a model

// A model, and where in it the bytes are that say what it is.
struct Sample {
  std::string bytes;
  std::vector<size_t> fields;   // of tables: numbers and offsets
  std::vector<size_t> numbers;  // of options, and in short vectors
};

class FieldFinder {
 public:
  explicit FieldFinder(Sample& sample) : sample_(sample) {}

  void Find() {
    const tflite::Model* model = tflite::GetModel(sample_.bytes.data());
    AddTable(model);
    AddTables(model->operator_codes());
    AddTables(model->subgraphs());
    for (const tflite::Buffer* buffer : *model->buffers()) {
      AddTable(buffer);
      AddVector(buffer->data());
    }
    for (const tflite::SubGraph* graph : *model->subgraphs()) {
      AddVector(graph->inputs());
      AddVector(graph->outputs());
      for (const tflite::Tensor* tensor : *graph->tensors()) {
        AddTable(tensor);
        AddVector(tensor->shape());
        if (tensor->quantization() == nullptr) continue;
        AddTable(tensor->quantization());
        AddVector(tensor->quantization()->scale());
        AddVector(tensor->quantization()->zero_point());
      }
      for (const tflite::Operator* op : *graph->operators()) {
        AddTable(op);
        AddTable(static_cast<const flatbuffers::Table*>(op->options()),
                 sample_.numbers);
        AddVector(op->inputs());
        AddVector(op->outputs());
        AddVector(op->intermediates());
        if (op->custom_options() == nullptr) continue;
        for (uint32_t i = 0; i < op->custom_options()->size(); ++i)
          sample_.numbers.push_back(Place(op->custom_options()->data() + i));
      }
    }
  }

 private:
  size_t Place(const void* field) const {
    return static_cast<const char*>(field) - sample_.bytes.data();
  }

  template <typename T>
  void AddTable(const T* typed) {
    AddTable(typed, sample_.fields);
  }

  template <typename T>
  void AddTable(const T* typed, std::vector<size_t>& places) {
    if (typed == nullptr) return;
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(typed);
    const auto* vtable = reinterpret_cast<const uint16_t*>(table->GetVTable());
    for (int i = 2; i < vtable[0] / 2; ++i) {
      if (vtable[i] != 0) {
        places.push_back(
            Place(reinterpret_cast<const char*>(table) + vtable[i]));
      }
    }
  }

  template <typename T>
  void AddTables(const flatbuffers::Vector<flatbuffers::Offset<T>>* tables) {
    for (const T* table : *tables) AddTable(table);
  }

  template <typename T>
  void AddVector(const flatbuffers::Vector<T>* values) {
    if (values == nullptr) return;
    const size_t count = std::min<size_t>(values->size(), 32 / sizeof(T));
    sample_.fields.push_back(Place(values->Data() - 4));  // the length
    for (size_t i = 0; i < count; ++i) {
      sample_.numbers.push_back(Place(values->Data() + i * sizeof(T)));
    }
  }

  Sample& sample_;
};

inline std::vector<Sample> Samples(const std::vector<std::string>& corpus) {
  std::vector<Sample> samples;
  for (const std::string& bytes : corpus) {
    samples.push_back({bytes, {}, {}});
    FieldFinder(samples.back()).Find();
  }
  return samples;
}

class Mutator {
 public:
  Mutator(const std::vector<Sample>& corpus, uint64_t seed)
      : corpus_(corpus), random_(seed) {}

  std::string Next() {
    // Large models take long to copy and are mostly weights.
    const Sample* chosen = &corpus_[Below(corpus_.size())];
    while (chosen->bytes.size() > kLarge && Below(50) != 0) {
      chosen = &corpus_[Below(corpus_.size())];
    }
    const Sample& sample = *chosen;
    std::string bytes = sample.bytes;
    const bool wild = Below(4) == 0;
    for (size_t left = 1 + Below(Below(4) == 0 ? 12 : 3); left > 0; --left) {
      if (bytes.empty()) break;
      if (wild) {
        Mutate(bytes);
      } else {
        const std::vector<size_t>& places =
            Below(4) == 0 ? sample.fields : sample.numbers;
        MutateField(bytes, places[Below(places.size())]);
      }
    }
    return bytes;
  }

 private:
  uint64_t Below(uint64_t limit) { return limit ? random_() % limit : 0; }

  void MutateField(std::string& bytes, size_t at) {
    switch (Below(5)) {
      case 0:
        bytes[at] = static_cast<char>(Below(12));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] + (Below(2) ? 1 : -1));
        break;
      case 2:
        bytes[at] = static_cast<char>(random_());
        break;
      default:
        SetWord(bytes, at, kWords[Below(std::size(kWords))]);
    }
  }

  void Mutate(std::string& bytes) {
    const size_t at = Below(bytes.size());
    const size_t word = at & ~size_t{3};
    switch (Below(9)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random_());
        break;
      case 2:
        bytes[at] = static_cast<char>(bytes[at] + (Below(2) ? 1 : -1));
        break;
      case 3:
        SetWord(bytes, word, kWords[Below(std::size(kWords))]);
        break;
      case 4:
        SetWord(bytes, word, static_cast<uint32_t>(Below(bytes.size())));
        break;
      case 5:  // one word becomes another one of the file
        if (word + 4 <= bytes.size()) {
          const size_t from = Below(bytes.size()) & ~size_t{3};
          if (from + 4 <= bytes.size()) bytes.replace(word, 4, bytes, from, 4);
        }
        break;
      case 6:
        if (Below(4) == 0) bytes.resize(at);
        break;
      case 7: {  // a piece of another model
        const std::string& other = corpus_[Below(corpus_.size())].bytes;
        const size_t from = Below(other.size());
        const size_t size =
            std::min({Below(64), other.size() - from, bytes.size() - at});
        bytes.replace(at, size, other, from, size);
        break;
      }
      default:
        bytes.insert(at, Below(2) ? 4 : 1 + Below(16),
                     static_cast<char>(Below(3) ? 0 : 0xff));
    }
  }

  static constexpr uint32_t kWords[] = {
      0,          1,          2,          3,          4,          0x7f,
      0x80,       0xff,       0x100,      0xffff,     0x10000,    0x100000,
      0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x7f800000, 0x7fc00000,
      0xff800000, 0x00000001, 0x40000000, 0x3f800000};

  void SetWord(std::string& bytes, size_t at, uint32_t word) {
    for (int i = 0; i < 4 && at + i < bytes.size(); ++i) {
      bytes[at + i] = static_cast<char>(word >> (8 * i));
    }
  }

  const std::vector<Sample>& corpus_;
  std::mt19937_64 random_;
};

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_IMPORT_MUTATOR_H_
