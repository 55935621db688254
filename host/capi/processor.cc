// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/capi/processor.h"

#include <cstdio>
#include <cstring>

int systole_has_feature(const char* name) {
#if defined(__x86_64__)
  __builtin_cpu_init();
#define SYSTOLE_FEATURE(feature)       \
  if (std::strcmp(name, feature) == 0) \
    return __builtin_cpu_supports(feature) != 0;
  SYSTOLE_FEATURE("sse3")
  SYSTOLE_FEATURE("ssse3")
  SYSTOLE_FEATURE("sse4.1")
  SYSTOLE_FEATURE("sse4.2")
  SYSTOLE_FEATURE("popcnt")
  SYSTOLE_FEATURE("avx")
  SYSTOLE_FEATURE("avx2")
  SYSTOLE_FEATURE("bmi")
  SYSTOLE_FEATURE("bmi2")
  SYSTOLE_FEATURE("fma")
  SYSTOLE_FEATURE("avx512f")
  SYSTOLE_FEATURE("avx512bw")
  SYSTOLE_FEATURE("avx512cd")
  SYSTOLE_FEATURE("avx512dq")
  SYSTOLE_FEATURE("avx512vl")
  SYSTOLE_FEATURE("avx512ifma")
  SYSTOLE_FEATURE("avx512vbmi")
  SYSTOLE_FEATURE("avx512vbmi2")
  SYSTOLE_FEATURE("avx512vnni")
  SYSTOLE_FEATURE("avx512bitalg")
  SYSTOLE_FEATURE("avx512vpopcntdq")
  SYSTOLE_FEATURE("avx512bf16")
  SYSTOLE_FEATURE("avx512vp2intersect")
  SYSTOLE_FEATURE("gfni")
  SYSTOLE_FEATURE("vpclmulqdq")
  SYSTOLE_FEATURE("fma4")
  SYSTOLE_FEATURE("xop")
#if (defined(__clang__) && __clang_major__ >= 19) || \
    (!defined(__clang__) && __GNUC__ >= 12)
  SYSTOLE_FEATURE("lzcnt")
  SYSTOLE_FEATURE("f16c")
  SYSTOLE_FEATURE("movbe")
  SYSTOLE_FEATURE("avxvnni")
  SYSTOLE_FEATURE("avx512fp16")
#endif
#undef SYSTOLE_FEATURE
#endif
  return 0;
}

const char* systole_lacks(const char* const* features, const char* architecture,
                          int (*has)(const char* name), char* text,
                          size_t size) {
  char missing[400] = "";
  size_t used = 0;
  for (const char* const* name = features; *name != nullptr; ++name) {
    if (has(*name) || used + 1 >= sizeof missing) continue;
    used += static_cast<size_t>(std::snprintf(missing + used,
                                              sizeof missing - used, "%s%s",
                                              used == 0 ? "" : ", ", *name));
  }
  if (used == 0) return nullptr;
  std::snprintf(
      text, size,
      "this build of Systole is for processors of -march=%s, and this "
      "one lacks %s: build it with -DSYSTOLE_ARCH= and an older one, "
      "such as x86-64-v2",
      architecture, missing);
  return text;
}

const char* systole_processor_lacks(void) {
  static char text[640];
  static const char* const reason =
      systole_lacks(systole_features_used, systole_architecture,
                    systole_has_feature, text, sizeof text);
  return reason;
}
