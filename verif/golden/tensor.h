// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#ifndef SYSTOLE_VERIF_GOLDEN_TENSOR_H_
#define SYSTOLE_VERIF_GOLDEN_TENSOR_H_

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

namespace systole::golden {

template <typename T>
using Matrix =
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A dense tensor [n][h][w][c], c fastest. As weights: n is the output channel,
// h and w the kernel, c the input channel.
template <typename T>
class Tensor {
 public:
  Tensor() = default;
  Tensor(int n, int h, int w, int c, T fill = T{})
      : n_(n), h_(h), w_(w), c_(c), data_(int64_t{1} * n * h * w * c, fill) {}
  // `data` has n * h * w * c values.
  Tensor(int n, int h, int w, int c, std::vector<T> data)
      : n_(n), h_(h), w_(w), c_(c), data_(std::move(data)) {
    eigen_assert(data_.size() == size_t{1} * n * h * w * c);
  }

  int n() const { return n_; }
  int h() const { return h_; }
  int w() const { return w_; }
  int c() const { return c_; }
  std::string shape() const {
    return absl::StrFormat("%dx%dx%dx%d", n_, h_, w_, c_);
  }

  std::vector<T>& data() { return data_; }
  const std::vector<T>& data() const { return data_; }
  T& at(int n, int h, int w, int c) { return data_[Index(n, h, w, c)]; }
  T at(int n, int h, int w, int c) const { return data_[Index(n, h, w, c)]; }

  // The values as a matrix of `columns`, a divisor of the size.
  Eigen::Map<const Matrix<T>> matrix(int64_t columns) const {
    return {data_.data(), static_cast<int64_t>(data_.size()) / columns,
            columns};
  }

  // The same values in another shape of the same size.
  Tensor Reshaped(int n, int h, int w, int c) const {
    return Tensor(n, h, w, c, data_);
  }

  bool operator==(const Tensor& other) const {
    return n_ == other.n_ && h_ == other.h_ && w_ == other.w_ &&
           c_ == other.c_ && data_ == other.data_;
  }

 private:
  int64_t Index(int n, int h, int w, int c) const {
    return ((int64_t{n} * h_ + h) * w_ + w) * c_ + c;
  }

  int n_ = 0;
  int h_ = 0;
  int w_ = 0;
  int c_ = 0;
  std::vector<T> data_;
};

using TensorI8 = Tensor<int8_t>;
using TensorI32 = Tensor<int32_t>;

}  // namespace systole::golden

#endif  // SYSTOLE_VERIF_GOLDEN_TENSOR_H_
