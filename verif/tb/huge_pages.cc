// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors

#include "verif/tb/huge_pages.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace systole::tb {
namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr std::size_t kLarge = std::size_t{64} << 10;  // half a small model
thread_local bool in_huge_pages = false;

void* Allocate(std::size_t size) {
  if (!in_huge_pages || size < kLarge) return std::malloc(size != 0 ? size : 1);
  const std::size_t pages = (size + kPage - 1) / kPage * kPage;
  void* const memory = std::aligned_alloc(kPage, pages);
  if (memory != nullptr) madvise(memory, pages, MADV_HUGEPAGE);  // best effort
  return memory;
}

}  // namespace

HugePages::HugePages() { in_huge_pages = true; }
HugePages::~HugePages() { in_huge_pages = false; }

}  // namespace systole::tb

// Replace the library's operators. Its array and nothrow forms call these.
void* operator new(std::size_t size) {
  void* const memory = systole::tb::Allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
