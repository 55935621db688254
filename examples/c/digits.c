/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: Systole contributors
 *
 * Recognises handwritten digits with a TensorFlow Lite model, by the C API:
 *
 *   cc digits.c $(pkg-config --cflags --libs systole) -o digits
 *   ./digits rtl nano 4
 *
 * The arguments are backend, preset and number of digits. Model and digits are
 * those of the installation, or of the folder that SYSTOLE_SHARE names.
 */
#include <stdio.h>
#include <stdlib.h>

#include "systole.h"

#ifndef SYSTOLE_SHARE
#define SYSTOLE_SHARE "/usr/local/share/systole"
#endif

enum { kPixels = 28 * 28, kClasses = 10, kMostDigits = 2000 };

static uint8_t images[kMostDigits * kPixels];
static uint8_t labels[kMostDigits];
static int8_t scores[kMostDigits * kClasses];

/* Ends the program with the library's message if a call failed. */
static void check(systole_status status) {
  if (status == SYSTOLE_OK) return;
  fprintf(stderr, "digits: %s: %s\n", systole_status_name(status),
          systole_error());
  exit(1);
}

static const char* in_share(const char* name) {
  static char path[4096];
  const char* folder = getenv("SYSTOLE_SHARE");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : SYSTOLE_SHARE, name);
  return path;
}

/* The first bytes behind the header of an IDX file. */
static void read_idx(const char* name, size_t header, void* data, size_t size) {
  const char* path = in_share(name);
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, (long)header, SEEK_SET) != 0 ||
      fread(data, 1, size, file) != size) {
    fprintf(stderr, "digits: cannot read %s\n", path);
    exit(1);
  }
  fclose(file);
}

static int largest(const int8_t* values) {
  int best = 0;
  for (int i = 1; i < kClasses; ++i)
    if (values[i] > values[best]) best = i;
  return best;
}

/* Where the cycles of the last batch went, layer by layer. */
static void print_layers(systole_device* device) {
  int64_t count;
  check(systole_device_num_layers(device, &count));
  for (int64_t i = 0; i < count; ++i) {
    systole_layer layer;
    check(systole_device_layer(device, i, &layer));
    printf("  %-12s %-8s %10llu cycles\n", layer.name, layer.op,
           (unsigned long long)layer.cycles);
  }
}

int main(int argc, char** argv) {
  const char* backend = argc > 1 ? argv[1] : "iss";
  const char* preset = argc > 2 ? argv[2] : "edge";
  const int count = argc > 3 ? atoi(argv[3]) : 8;
  if (systole_abi_version() != SYSTOLE_ABI_VERSION || count < 1 ||
      count > kMostDigits) {
    fprintf(stderr, "usage: digits [BACKEND [PRESET [1 to %d DIGITS]]]\n",
            kMostDigits);
    return 2;
  }
  read_idx("digits/test-images-idx3-ubyte", 16, images,
           (size_t)count * kPixels);
  read_idx("digits/test-labels-idx1-ubyte", 8, labels, (size_t)count);

  systole_compile_options how = SYSTOLE_COMPILE_OPTIONS_INIT;
  how.preset = preset;
  how.batch = count < 4 ? count : 4;
  systole_program* program;
  check(systole_program_load(in_share("models/mnist_cnn.tflite"), &how,
                             &program));

  const int rtl = backend[0] == 'r';
  systole_device_options options = SYSTOLE_DEVICE_OPTIONS_INIT;
  options.backend = backend;
  options.preset = preset;
  options.profile = rtl;
  systole_device* device;
  check(systole_device_open(&options, &device));

  const int64_t image_shape[] = {count, 28, 28, 1};
  const int64_t score_shape[] = {count, kClasses};
  const systole_array input = {SYSTOLE_UINT8, 4, image_shape, images,
                               (size_t)count * kPixels};
  const systole_array output = {SYSTOLE_INT8, 2, score_shape, scores,
                                (size_t)count * kClasses};
  check(systole_device_run(device, program, &input, 1, &output, 1));

  int right = 0;
  printf("digits:");
  for (int i = 0; i < count; ++i) {
    const int digit = largest(scores + i * kClasses);
    right += digit == labels[i];
    printf(" %d", digit);
  }
  systole_run_stats stats = SYSTOLE_RUN_STATS_INIT;
  check(systole_device_get_stats(device, &stats));
  printf("\n%d of %d right on %s, %s", right, count, backend, preset);
  if (stats.cycles != 0) /* the simulator of instructions has no cycles */
    printf("; %llu cycles", (unsigned long long)stats.cycles);
  putchar('\n');
  if (rtl) print_layers(device);

  check(systole_device_close(device));
  check(systole_program_close(program));
  return 0;
}
