// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Compiled with the options of the hot loops, and data alone: no instruction of
// this file runs.
#include "host/capi/processor.h"

const char systole_architecture[] = SYSTOLE_ARCHITECTURE;

const char* const systole_features_used[] = {
#ifdef __SSE3__
    "sse3",
#endif
#ifdef __SSSE3__
    "ssse3",
#endif
#ifdef __SSE4_1__
    "sse4.1",
#endif
#ifdef __SSE4_2__
    "sse4.2",
#endif
#ifdef __POPCNT__
    "popcnt",
#endif
#ifdef __AVX__
    "avx",
#endif
#ifdef __AVX2__
    "avx2",
#endif
#ifdef __BMI__
    "bmi",
#endif
#ifdef __BMI2__
    "bmi2",
#endif
#ifdef __FMA__
    "fma",
#endif
#ifdef __AVX512F__
    "avx512f",
#endif
#ifdef __AVX512BW__
    "avx512bw",
#endif
#ifdef __AVX512CD__
    "avx512cd",
#endif
#ifdef __AVX512DQ__
    "avx512dq",
#endif
#ifdef __AVX512VL__
    "avx512vl",
#endif
#ifdef __AVX512IFMA__
    "avx512ifma",
#endif
#ifdef __AVX512VBMI__
    "avx512vbmi",
#endif
#ifdef __AVX512VBMI2__
    "avx512vbmi2",
#endif
#ifdef __AVX512VNNI__
    "avx512vnni",
#endif
#ifdef __AVX512BITALG__
    "avx512bitalg",
#endif
#ifdef __AVX512VPOPCNTDQ__
    "avx512vpopcntdq",
#endif
#ifdef __AVX512BF16__
    "avx512bf16",
#endif
#ifdef __AVX512VP2INTERSECT__
    "avx512vp2intersect",
#endif
#ifdef __GFNI__
    "gfni",
#endif
#ifdef __VPCLMULQDQ__
    "vpclmulqdq",
#endif
#ifdef __FMA4__
    "fma4",
#endif
#ifdef __XOP__
    "xop",
#endif
// Older compilers do not know the names below.
#if (defined(__clang__) && __clang_major__ >= 19) || \
    (!defined(__clang__) && __GNUC__ >= 12)
#ifdef __LZCNT__
    "lzcnt",
#endif
#ifdef __F16C__
    "f16c",
#endif
#ifdef __MOVBE__
    "movbe",
#endif
#ifdef __AVXVNNI__
    "avxvnni",
#endif
#ifdef __AVX512FP16__
    "avx512fp16",
#endif
#endif
    nullptr};
