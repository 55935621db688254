/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: Systole contributors
 *
 * Systole's C API: compiles models, runs them on arrays on a simulated core (or
 * a board), says what it cost. C99; the library is libsystole.so. A page with
 * an example: docs/api.md.
 *
 *   systole_program* program;
 *   systole_compile_options how = SYSTOLE_COMPILE_OPTIONS_INIT;
 *   how.preset = "edge";
 *   if (systole_program_load("digits.tflite", &how, &program) != SYSTOLE_OK)
 *     puts(systole_error());
 *
 * Errors. A function that can fail returns a systole_status; what was wrong is
 * then in systole_error(), of this thread. Nothing is written to results that
 * are not returned. No function exits, aborts or lets a C++ exception out; a
 * broken invariant of the RTL (a failed assertion) does stop the process.
 *
 * Handles. systole_program* and systole_device* are not addresses: a handle
 * that is NULL, closed or made up is SYSTOLE_INVALID_ARGUMENT everywhere.
 *
 * Threads. Every function may be called from any thread. Runs on one device
 * take turns; devices with backend "iss" run side by side; those with backend
 * "rtl" take turns, as they share one simulator. What a device says about its
 * last run is that of the last run of any thread.
 *
 * Memory. Structures and arrays are the caller's. Strings and shapes that the
 * library hands out live as long as the program or, of a run, until the next
 * run on the device.
 *
 * Structures with a struct_size may grow: set it by their _INIT. A program
 * built with an older header goes on working with a newer library of the same
 * SYSTOLE_ABI_VERSION.
 */
#ifndef SYSTOLE_H_
#define SYSTOLE_H_

#include <stddef.h>
#include <stdint.h>

#define SYSTOLE_VERSION_MAJOR 1
#define SYSTOLE_VERSION_MINOR 0
#define SYSTOLE_VERSION_PATCH 0
/* Grows when a program must be compiled again; the library's SOVERSION. */
#define SYSTOLE_ABI_VERSION 1

#if defined(__GNUC__)
#define SYSTOLE_API __attribute__((visibility("default")))
#else
#define SYSTOLE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions, errors ---------------------------------------------------- */

/* Of the library that is loaded: "1.0.0", and SYSTOLE_ABI_VERSION. */
SYSTOLE_API const char* systole_version(void);
SYSTOLE_API int32_t systole_abi_version(void);

typedef enum systole_status {
  SYSTOLE_OK = 0,
  SYSTOLE_CANCELLED = 1,           /* systole_device_options.interrupt */
  SYSTOLE_INVALID_ARGUMENT = 2,    /* handles, options, arrays, models */
  SYSTOLE_NOT_FOUND = 3,           /* a file, a name */
  SYSTOLE_FAILED_PRECONDITION = 4, /* not now, or not with this device */
  SYSTOLE_UNIMPLEMENTED = 5,       /* an operator, a version, a backend */
  SYSTOLE_DATA_LOSS = 6,           /* a damaged file */
  SYSTOLE_RESOURCE_EXHAUSTED = 7,  /* memory of the host or of the device */
  SYSTOLE_UNAVAILABLE = 8,         /* a file or a port cannot be used */
  SYSTOLE_ABORTED = 9,             /* a fault of the core: what and where */
  SYSTOLE_OUT_OF_RANGE = 10,       /* an index */
  SYSTOLE_INTERNAL = 11
} systole_status;

/* "INVALID_ARGUMENT"; "UNKNOWN" of a number that is none. */
SYSTOLE_API const char* systole_status_name(systole_status status);
/* Of the last call of this thread that failed; "" if none did. Until the
 * thread's next call that fails. */
SYSTOLE_API const char* systole_error(void);

/* ---- Values -------------------------------------------------------------- */

typedef enum systole_type {
  SYSTOLE_BOOL = 0, /* a byte, 0 or 1 */
  SYSTOLE_INT8 = 1,
  SYSTOLE_INT16 = 2,
  SYSTOLE_INT32 = 3,
  SYSTOLE_INT64 = 4,
  SYSTOLE_UINT8 = 5,
  SYSTOLE_UINT16 = 6,
  SYSTOLE_UINT32 = 7,
  SYSTOLE_UINT64 = 8,
  SYSTOLE_BFLOAT16 = 9,
  SYSTOLE_FLOAT16 = 10,
  SYSTOLE_FLOAT32 = 11
} systole_type;

/* Bytes of a value, "int8"; 0 and NULL of a number that is no type. */
SYSTOLE_API size_t systole_type_size(systole_type type);
SYSTOLE_API const char* systole_type_name(systole_type type);

/* An array of the caller: row-major, little endian, without gaps. */
typedef struct systole_array {
  systole_type type;
  int32_t rank; /* 0: one value; at most 32 */
  const int64_t* shape;
  void* data;   /* inputs are only read */
  size_t bytes; /* of data: must be what type and shape say */
} systole_array;

/* An input or output of a program. */
typedef struct systole_tensor {
  const char* name; /* may be "" */
  systole_type type;
  int32_t rank;
  const int64_t* shape; /* of one image */
  int32_t stacked;      /* 1: arrays hold any number of images, see run */
  int32_t quantised;    /* 1: an int8 q stands for scale * (q - zero_point) */
  float scale;
  int32_t zero_point;
} systole_tensor;

/* ---- Presets ------------------------------------------------------------- */

typedef struct systole_preset {
  const char* name; /* "edge" */
  const char* cell; /* "int8", "bf16" */
  int32_t rows, cols;
  uint64_t memory_bytes;
} systole_preset;

SYSTOLE_API int32_t systole_num_presets(void);
/* SYSTOLE_OUT_OF_RANGE beyond them. */
SYSTOLE_API systole_status systole_get_preset(int32_t index,
                                              systole_preset* preset);

/* ---- Programs ------------------------------------------------------------ */

typedef struct systole_program systole_program;

typedef struct systole_compile_options {
  size_t struct_size;
  /* The configuration that a model is compiled for; NULL: "edge". A program
   * file has its own, and another one here is an error. StableHLO,
   * float TensorFlow Lite and ONNX models run on every bf16 preset; what would
   * run where is told of this one, NULL: "v2". */
  const char* preset;
  /* Images that a run of the device takes; 0: 1, or the program file's. */
  int64_t batch;
  /* 1: a model of which anything would run on the host is refused. */
  int32_t refuse_host;
  /* How an ONNX model is read, as `systole run` has it, with blanks between:
   * "--precision highest --dim batch=4 --fix rate=16000"; NULL: nothing is
   * given. */
  const char* model_options;
} systole_compile_options;

#define SYSTOLE_COMPILE_OPTIONS_INIT \
  { sizeof(systole_compile_options), NULL, 0, 0, NULL }

/* Reads a program file (.tpu), or compiles a TensorFlow Lite model (.tflite),
 * an ONNX model (.onnx), a network (.safetensors) or a StableHLO artifact (MLIR
 * bytecode, as jax.export writes it), whatever the file's name ends in.
 * options: NULL for the defaults. */
SYSTOLE_API systole_status
systole_program_load(const char* path, const systole_compile_options* options,
                     systole_program** program);
/* The same of bytes in memory, but not of a network; name: for messages. */
SYSTOLE_API systole_status systole_program_parse(
    const void* bytes, size_t size, const char* name,
    const systole_compile_options* options, systole_program** program);
/* As a program file. SYSTOLE_FAILED_PRECONDITION of StableHLO, float and
 * ONNX models. */
SYSTOLE_API systole_status systole_program_save(const systole_program* program,
                                                const char* path);
/* Devices that have run it keep what they need. */
SYSTOLE_API systole_status systole_program_close(systole_program* program);

typedef struct systole_program_info {
  size_t struct_size;
  const char* name;
  const char* preset;    /* "" for StableHLO, float, ONNX */
  int64_t batch;         /* images of a run of the device; 1 for these */
  int32_t num_inputs;    /* systole_program_input, ... */
  int32_t num_outputs;   /* systole_program_output, ... */
  const char* placement; /* what runs where, a line an operation or product */
} systole_program_info;

#define SYSTOLE_PROGRAM_INFO_INIT \
  { sizeof(systole_program_info), NULL, NULL, 0, 0, 0, NULL }

SYSTOLE_API systole_status systole_program_get_info(
    const systole_program* program, systole_program_info* info);
/* SYSTOLE_OUT_OF_RANGE beyond them. */
SYSTOLE_API systole_status systole_program_input(const systole_program* program,
                                                 int32_t index,
                                                 systole_tensor* tensor);
SYSTOLE_API systole_status systole_program_output(
    const systole_program* program, int32_t index, systole_tensor* tensor);

/* ---- Devices ------------------------------------------------------------- */

typedef struct systole_device systole_device;

typedef struct systole_device_options {
  size_t struct_size;
  /* "iss": the instruction-set simulator; "rtl": the Verilated core, cycle by
   * cycle; "serial:PORT": a board. NULL: "iss". */
  const char* backend;
  const char* preset; /* NULL: "edge" */
  /* Of random stalls and of what unwritten memory holds; 0: 1. */
  uint64_t seed;
  /* 1: records every descriptor's times (rtl): timeline, layers, pages. Costs 3
   * to 13 % of the simulator's speed. SYSTOLE_UNIMPLEMENTED: the RTL model has
   * no probe, as that of "mini". */
  int32_t profile;
  /* Asked about 50 times a second while a program runs, from the thread that
   * runs it; not 0 ends the run with SYSTOLE_CANCELLED. Not asked by StableHLO
   * programs. It must not call functions with the device. NULL: none. */
  int (*interrupt)(void* user);
  void* user;
} systole_device_options;

#define SYSTOLE_DEVICE_OPTIONS_INIT \
  { sizeof(systole_device_options), NULL, NULL, 0, 0, NULL, NULL }

/* options: NULL for the defaults. SYSTOLE_NOT_FOUND: there is no RTL model of
 * the preset; the message names the folder, which is lib/systole beside the
 * library unless the environment variable SYSTOLE_MODELS names another.
 * SYSTOLE_FAILED_PRECONDITION: the processor lacks a feature that the library
 * was compiled for, which systole_program_load and _parse answer too. */
SYSTOLE_API systole_status systole_device_open(
    const systole_device_options* options, systole_device** device);
/* A run of another thread goes on to its end. */
SYSTOLE_API systole_status systole_device_close(systole_device* device);

/* Runs a program, and waits for it. An array for each input and output, in
 * their order, of the tensor's shape; where the tensor is `stacked`, a stack of
 * n images, as many in all arrays: with n in place of a leading 1 of the shape,
 * else with n in front of it; more than a batch are as many runs. Inputs have
 * the tensor's type; int8 inputs of a model also come as float32, which are
 * quantised by scale and zero point as TensorFlow Lite does it, or as uint8,
 * which are re-centred by -128. Outputs have the tensor's type.
 *
 * A fault or an interrupt leaves a device that can run again. A program for
 * another preset is SYSTOLE_FAILED_PRECONDITION. */
SYSTOLE_API systole_status systole_device_run(systole_device* device,
                                              const systole_program* program,
                                              const systole_array* inputs,
                                              int32_t num_inputs,
                                              const systole_array* outputs,
                                              int32_t num_outputs);

/* ---- What the last run cost ---------------------------------------------- */

/* All of these are SYSTOLE_FAILED_PRECONDITION before a run that ended well. */

typedef struct systole_run_stats {
  size_t struct_size;
  int64_t images; /* that were asked for */
  int64_t runs;   /* of the device's programs; of products and kernels */
  /* 0 on the iss, which has no time. Of several devices: from begin to end, if
   * links join them, else those of the device that needs most. */
  uint64_t cycles;
  double host_cpu_seconds; /* of the simulation */
  int32_t saturated;       /* 1: a sum went beyond int32 */
} systole_run_stats;

#define SYSTOLE_RUN_STATS_INIT \
  { sizeof(systole_run_stats), 0, 0, 0, 0, 0 }

SYSTOLE_API systole_status systole_device_get_stats(systole_device* device,
                                                    systole_run_stats* stats);

/* The performance counters of docs/reference/csr.md, by index; NULL beyond
 * them. */
SYSTOLE_API int32_t systole_num_counters(void);
SYSTOLE_API const char* systole_counter_name(int32_t index);
/* Sums over all runs, `count` of them from index 0 on. The iss counts what does
 * not depend on time, the rest is 0. */
SYSTOLE_API systole_status systole_device_get_counters(systole_device* device,
                                                       uint64_t* values,
                                                       int32_t count);

/* With systole_device_options.profile, of the last batch of a model. Of the
 * last run of StableHLO, each program of the core, a product or a kernel, is a
 * layer; of more than 2000 the first are recorded. What runs on the host alone
 * is SYSTOLE_FAILED_PRECONDITION. A program for several devices is recorded on
 * cores whose chips have links ("minichip", "litechip", "v2chip"); on others
 * its run is SYSTOLE_FAILED_PRECONDITION. */

/* A layer's work. Cycles of all layers add up to the program's but for what
 * comes behind the last descriptor. */
typedef struct systole_layer {
  const char* name;
  const char* op;
  int32_t program; /* a model may have several, from 0 on */
  uint64_t cycles;
  int64_t macs;
} systole_layer;

/* A descriptor, in cycles since its program's start. */
typedef struct systole_event {
  const char* unit; /* "load", "weight loader", "array", ... */
  const char* name; /* "conv1 matmul" */
  int32_t program;
  int32_t layer;       /* as systole_device_layer counts; -1: none */
  uint32_t descriptor; /* of the program */
  uint64_t head;       /* it was the next of its unit */
  uint64_t start;      /* its flags were there, its unit began */
  uint64_t end;        /* complete */
} systole_event;

SYSTOLE_API systole_status systole_device_num_layers(systole_device* device,
                                                     int64_t* count);
SYSTOLE_API systole_status systole_device_layer(systole_device* device,
                                                int64_t index,
                                                systole_layer* layer);
/* The core of a program on several devices, from 0 on; else 0. Its layers come
 * together, and programs count from 0 on for each core. */
SYSTOLE_API systole_status systole_device_layer_core(systole_device* device,
                                                     int64_t index,
                                                     int32_t* core);
SYSTOLE_API systole_status systole_device_num_events(systole_device* device,
                                                     int64_t* count);
SYSTOLE_API systole_status systole_device_event(systole_device* device,
                                                int64_t index,
                                                systole_event* event);
SYSTOLE_API systole_status systole_device_event_core(systole_device* device,
                                                     int64_t index,
                                                     int32_t* core);
/* format: "html" (the page of docs/profile.md), "perfetto", "xspace", "json".
 */
SYSTOLE_API systole_status systole_device_write_profile(systole_device* device,
                                                        const char* format,
                                                        const char* path);

#ifdef __cplusplus
}
#endif

#endif /* SYSTOLE_H_ */
