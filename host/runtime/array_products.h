// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Products of bf16 matrices on the array of a bf16 core.
#ifndef SYSTOLE_HOST_RUNTIME_ARRAY_PRODUCTS_H_
#define SYSTOLE_HOST_RUNTIME_ARRAY_PRODUCTS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "host/ir/evaluate.h"
#include "host/runtime/core.h"
#include "systole/program.h"

namespace systole::runtime {

class ArrayProducts : public ir::ProductUnit {
 public:
  // The core must outlive the products. `host_operators`: products that do not
  // fit the array may run on the host.
  ArrayProducts(Core& core, bool host_operators)
      : core_(core), host_operators_(host_operators) {}

  // c[m][n] = a[m][k] x b[k][n] as docs/numerics.md defines a bf16 product.
  // There is one program per shape, built when it is first needed. If a line of
  // `a` does not fit the unified buffer, the product runs on the host, with a
  // message on standard error the first time; without `host_operators` it is
  // ResourceExhausted. Errors: those of the device (a fault has cause, place
  // and cycle).
  absl::Status Multiply(int64_t m, int64_t k, int64_t n, const uint16_t* a,
                        const uint16_t* b, float* c) override;

 private:
  using Shape = std::array<int64_t, 3>;

  absl::StatusOr<const Program*> ProgramOf(const Shape& shape);

  Core& core_;
  const bool host_operators_;
  std::map<Shape, Program> programs_;
  const Program* loaded_ = nullptr;
  bool said_ = false;
};

}  // namespace systole::runtime

#endif  // SYSTOLE_HOST_RUNTIME_ARRAY_PRODUCTS_H_
