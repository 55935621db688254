// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/runtime/array_products.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "systole/float_matmul.h"

namespace systole::runtime {
namespace {

compiler::FloatMatmulSpec SpecOf(int64_t m, int64_t k, int64_t n) {
  compiler::FloatMatmulSpec spec;
  spec.m = m;
  spec.k = k;
  spec.n = n;
  spec.b_later = true;
  spec.float32_result = true;
  return spec;
}

template <typename T>
absl::Span<const uint8_t> BytesOf(const T* data, int64_t count) {
  return {reinterpret_cast<const uint8_t*>(data), count * sizeof(T)};
}

}  // namespace

absl::StatusOr<const Program*> ArrayProducts::ProgramOf(const Shape& shape) {
  const auto found = programs_.find(shape);
  if (found != programs_.end()) return &found->second;
  absl::StatusOr<Program> program = compiler::CompileFloatMatmul(
      SpecOf(shape[0], shape[1], shape[2]), core_.preset());
  if (!program.ok()) return program.status();
  if (program->hbm_bytes > core_.product_bytes()) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%d bytes of tiles and lines do not fit the memory for products, %d "
        "bytes",
        program->hbm_bytes, core_.product_bytes()));
  }
  return &programs_.emplace(shape, *std::move(program)).first->second;
}

absl::Status ArrayProducts::Multiply(int64_t m, int64_t k, int64_t n,
                                     const uint16_t* a, const uint16_t* b,
                                     float* c) {
  if (m == 0 || n == 0) return absl::OkStatus();
  if (k == 0) {
    std::fill(c, c + m * n, 0.0f);
    return absl::OkStatus();
  }
  const absl::StatusOr<const Program*> program = ProgramOf({m, k, n});
  if (absl::IsResourceExhausted(program.status()) && host_operators_) {
    if (!said_) {
      std::fprintf(stderr,
                   "systole: a product of %lld x %lld x %lld runs on the host: "
                   "%s\n",
                   static_cast<long long>(m), static_cast<long long>(k),
                   static_cast<long long>(n),
                   std::string(program.status().message()).c_str());
    }
    said_ = true;
    return ir::HostProducts().Multiply(m, k, n, a, b, c);
  }
  if (!program.ok()) return program.status();
  const compiler::FloatMatmulSpec spec = SpecOf(m, k, n);
  const absl::Status loaded =
      core_.Use([&](systole::Device& device) -> absl::Status {
        if (loaded_ != *program) {
          if (absl::Status s = device.Load(**program); !s.ok()) return s;
          loaded_ = *program;
        }
        absl::Status s =
            device.WriteTensor(*(*program)->FindTensor("a"), BytesOf(a, m * k));
        if (!s.ok()) return s;
        return device.WriteTensor(*(*program)->FindTensor("b"),
                                  compiler::PackTiles(spec, core_.preset(), b));
      });
  if (!loaded.ok()) return loaded;
  systole::Program told = **program;
  LayerInfo layer;
  layer.name = "product";
  layer.op = "array";
  layer.shape = absl::StrFormat("%dx%d", m, n);
  layer.macs = m * k * n;
  told.layers = {std::move(layer)};
  for (isa::Descriptor& descriptor : told.descriptors)
    isa::PutBits(descriptor, 16, 16, 0);
  if (absl::Status s = core_.Run(told); !s.ok()) {
    loaded_ = nullptr;
    return s;
  }
  return core_.Use([&](systole::Device& device) {
    const absl::StatusOr<std::vector<uint8_t>> result =
        device.ReadTensor(*(*program)->FindTensor("c"));
    if (result.ok()) std::memcpy(c, result->data(), result->size());
    return result.status();
  });
}

}  // namespace systole::runtime
