/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: Systole contributors
 *
 * Whether this processor has what the hot loops were compiled for
 * (SYSTOLE_ARCH). Asked before anything else: otherwise the process would end
 * with SIGILL. Plain C and data, so that none of it is code that another file
 * compiled for a newer processor.
 *
 *   const char* reason = systole_processor_lacks();
 *   if (reason != NULL) puts(reason);
 */
#ifndef SYSTOLE_HOST_CAPI_PROCESSOR_H_
#define SYSTOLE_HOST_CAPI_PROCESSOR_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Features that the compiler was allowed to use, as __builtin_cpu_supports
 * names them; NULL ends the list. What -march was. (processor_features.cc) */
extern const char* const systole_features_used[];
extern const char systole_architecture[];

/* Whether this processor, under its operating system, has a feature: 0 or 1; 0
 * for a name that is not known. */
int systole_has_feature(const char* name);

/* NULL, or the error: what is missing, and how to build without it. In `text`,
 * cut at its size. */
const char* systole_lacks(const char* const* features, const char* architecture,
                          int (*has)(const char* name), char* text,
                          size_t size);
/* The same of this build and processor. */
const char* systole_processor_lacks(void);

#ifdef __cplusplus
}
#endif

#endif /* SYSTOLE_HOST_CAPI_PROCESSOR_H_ */
