/* The interface between a generated program (program.cpp) and the model run time linked beside it.
 *
 * The generated side is constant data plus a few functions; the run time owns everything that
 * lives: models, sessions, memory, checks of the caller's tensors, threads. C++ without exceptions,
 * RTTI or the standard library: this is compiled into model.so.
 *
 * One call of session_run goes: check the inputs against `inputs`, bind symbols, check their
 * ranges, compute_extents, size the arena, obtain outputs, run, then (after success only) copy
 * staged mutated inputs back. So a call that fails leaves inputs, states and outputs as they were.
 */
#ifndef AOTC_MODEL_PROGRAM_H_
#define AOTC_MODEL_PROGRAM_H_

#include "aotc/aotc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AOTC_PROGRAM_VERSION 4u

/* A size, stride, offset or byte count. extent < 0: the constant `value`; otherwise entry `extent`
 * of the array that compute_extents fills. */
typedef struct AotcExtent {
  int64_t value;
  int32_t extent;
} AotcExtent;

/* Where a tensor lives. A program uses at most one GPU. */
typedef enum AotcDevice { AOTC_HOST = 0, AOTC_GPU = 1 } AotcDevice;

/* One dimension of an input. symbol >= 0: this size is factor * symbol + offset; the first such
 * dimension of a symbol gives it its value, others must agree. Else it must equal `size`. */
typedef struct AotcDimension {
  AotcExtent size;
  int32_t symbol;
  int64_t factor; /* not 0 */
  int64_t offset;
} AotcDimension;

typedef struct AotcSymbol {
  const char* name; /* as in the archive, e.g. "s77" */
  int64_t min, max; /* inclusive; INT64_MIN / INT64_MAX: unbounded */
} AotcSymbol;

typedef enum AotcInputKind {
  AOTC_INPUT_TENSOR = 0,
  /* a symbolic Python int: a 0-d int64 tensor whose value is what dimensions[0] says of a size */
  AOTC_INPUT_SYMBOL = 1,
  /* a specialised Python int, float or bool: a 0-d tensor that must equal constant_* */
  AOTC_INPUT_CONSTANT = 2
} AotcInputKind;

typedef struct AotcInput {
  /* Unique: a name used twice has "#index" appended; likewise for outputs and `names`. */
  const char* name;
  AotcInputKind kind;
  DLDataType dtype;
  int32_t ndim;
  const AotcDimension* dimensions;
  /* In elements, not negative: the layout that kernels are compiled for. A call with another
   * layout, or alignment below the element's (at most 8), is staged through scratch memory. A
   * layout in which elements share memory (stride 0) accepts only calls with these very strides. */
  const AotcExtent* strides;
  int32_t mutated; /* the program writes this input (copied back if staged) */
  /* 0: its old content matters to nobody. It is never read, and a mutated input has every element
   * overwritten (staging skips the copy in). */
  int32_t read;
  double constant_float; /* AOTC_INPUT_CONSTANT with a float dtype */
  int64_t constant_int;  /* AOTC_INPUT_CONSTANT otherwise */
  AotcDevice device;     /* of a tensor */
} AotcInput;

typedef enum AotcOutputKind {
  AOTC_OUTPUT_FRESH = 0, /* storage of its own */
  AOTC_OUTPUT_INPUT = 1, /* points into input `index`'s storage, as given by the caller */
  /* points into the storage of `names[index]`, valid until the session's next call */
  AOTC_OUTPUT_STATE = 2,
  AOTC_OUTPUT_NONE = 3,     /* Python None: stays NULL */
  AOTC_OUTPUT_SYMBOL = 4,   /* a 0-d int64 tensor holding `offset` */
  AOTC_OUTPUT_CONSTANT = 5, /* a 0-d tensor holding constant_int / constant_float */
  AOTC_OUTPUT_OUTPUT = 6    /* a view of output `index` (a fresh one): shares its storage */
} AotcOutputKind;

typedef struct AotcOutput {
  const char* name;
  AotcOutputKind kind;
  int32_t index;
  DLDataType dtype;
  int32_t ndim;
  const AotcExtent* sizes;
  /* In elements. For INPUT: in terms of the layout kernels are compiled for, see view_*. */
  const AotcExtent* strides;
  AotcExtent offset; /* elements of this output from the aliased tensor's first element */
  int32_t dynamic;   /* 1: sizes depend on data; the program calls AotcFrame.obtain_output */
  double constant_float;
  int64_t constant_int;
  /* INPUT whose caller may pass other strides: element (i_0, ...) of the view is element
   * view_start[k] + sum over d of i_d * view_step[d * rank + k], for each dimension k of the input
   * of `rank` dimensions. view_start NULL: the view is not of that form, as a reshape; where an
   * input of another layout has no strides for it, the output is a copy. */
  const AotcExtent* view_step;
  const AotcExtent* view_start;
  AotcDevice device; /* scalars are on the host */
} AotcOutput;

/* A storage that lives longer than a call. Weights are constant; states belong to a session. */
typedef struct AotcStorage {
  int64_t bytes;
  int64_t offset; /* of the initial value in the weights blob; -1: all zero bytes */
  int32_t state;  /* 1: mutated, each session has its own copy */
  AotcDevice device;
} AotcStorage;

/* A name that the archive gives to (a view of) a storage: parameters, buffers, constants; tied
 * names share. Strides and offset are not negative. */
typedef struct AotcName {
  const char* name;
  int32_t storage;
  DLDataType dtype;
  int32_t ndim;
  const int64_t* sizes;
  const int64_t* strides; /* elements */
  int64_t offset;         /* elements from the start of the storage */
  int32_t state;          /* 1: listed by model_state_name (a mutated buffer), 0: a weight */
} AotcName;

/* One thing that `run` does: a kernel, a matrix product, a check, a value read from data. Texts are
 * not NULL; where there is nothing to say they are empty. */
typedef struct AotcStep {
  const char* name;
  const char* op;   /* the ops that it computes, e.g. "aten.add.Tensor, aten.relu.default" */
  const char* line; /* the Python lines that they come from, e.g. "model.py:12, model.py:14" */
} AotcStep;

/* Where a run-time check failed. The program fills it and returns nonzero. */
typedef struct AotcFailure {
  const char* message; /* static text: op, Python line, what must hold */
  int64_t value;       /* the offending value, appended to the message when has_value */
  int32_t has_value;
} AotcFailure;

/* Written in device memory by the first check of a call that fails there; later kernels of the call
 * see it and do nothing. All zero at the start of a call. */
typedef struct AotcDeviceFailure {
  int32_t check; /* 0: none has failed; otherwise 1 + index into AotcGpu.checks */
  int32_t reserved;
  int64_t value; /* the offending value, where the check reports one */
} AotcDeviceFailure;

/* One launch of a kernel of the program. `arguments[i]` points at argument i, as in cuLaunchKernel;
 * they are read before launch returns. */
typedef struct AotcLaunch {
  int32_t kernel; /* index into AotcGpu.kernels */
  uint32_t grid[3], block[3];
  uint32_t shared_bytes; /* dynamic shared memory */
  void** arguments;
} AotcLaunch;

typedef struct AotcFrame AotcFrame;
struct AotcFrame {
  /* Data of each input in the compiled layout, aligned like its elements (at most 8). Never NULL:
   * a tensor without elements gets an address that must not be used. Device addresses for what is
   * on the GPU; likewise `outputs` and `storages` (whose alignment there is 256 bytes, but for the
   * caller's memory). */
  void** inputs;
  void** outputs; /* data of each FRESH output; NULL until obtained for dynamic ones */
  /* Data of each storage: weights (read only) and this session's states. Aligned like its offset in
   * the blob up to 64 bytes (states: 64), but a state that the caller bound: like its elements. */
  void** storages;
  char* arena;      /* arena_bytes of scratch, 64-byte aligned */
  int64_t* symbols; /* n_symbols; unbacked ones are written by run */
  int64_t* extents; /* n_extents; those of unbacked symbols are written by run */
  void* parallel_context;
  AotcParallelFor parallel_for;
  int32_t threads;
  AotcFailure failure;
  /* For sizes that depend on data; called by run itself, not from inside parallel_for.
   * obtain_output reads the output's sizes from `extents`. NULL on failure (out of memory, or the
   * caller's storage does not fit): run then returns nonzero at once, having written nothing that
   * the caller can see. 64-byte aligned, but for a caller's storage; valid for this call. */
  void* (*obtain_output)(AotcFrame*, int32_t output);
  void* (*obtain_scratch)(AotcFrame*, int32_t slot, int64_t bytes);
  /* NULL unless this call is profiled. `run` calls it right after each step that succeeded, in the
   * order of AotcProgram.steps; a step begins where the one before ends. */
  void (*step_done)(AotcFrame*, int32_t step);
  /* ---- programs with a GPU part. Everything is ordered by one stream; nothing of this waits for
   * the device but `wait`. Nonzero: it failed (the run time knows why), and run returns it at once.
   */
  char* device_arena;                /* AotcGpu.arena_bytes, 256-byte aligned */
  AotcDeviceFailure* device_failure; /* in device memory */
  int32_t (*launch)(AotcFrame*, const AotcLaunch*);
  /* Copies `bytes` contiguous bytes. Host memory is the frame's: the arena, inputs, outputs,
   * storages, scratch. To the device: `from` may change once this returns. To the host: `to` may be
   * touched after the next `wait` only. */
  int32_t (*transfer)(AotcFrame*, void* to, AotcDevice to_device, const void* from,
                      AotcDevice from_device, int64_t bytes);
  int32_t (*wait)(AotcFrame*);
  /* As obtain_scratch, in device memory; slots are counted by themselves. */
  void* (*obtain_device_scratch)(AotcFrame*, int32_t slot, int64_t bytes);
  void* runtime; /* the run time's own */
};

/* What `aliased_io` in the manifest says; this table is the truth. */
typedef struct AotcAliasedIo {
  int32_t output;       /* -1: a mutation without an output */
  int32_t input;        /* input index or -1 */
  int32_t storage_name; /* index into names, or -1 */
  const char* kind;     /* kv_cache_update | user | identity | view | mutation */
  int32_t direct;       /* 1: written in place; 0: through a copy */
  const char* reason;
} AotcAliasedIo;

/* Code for one kind of GPU. kind "cubin": runs on `arch` ("sm_90") and later minor versions of the
 * same major one; "ptx": text for `arch` ("compute_90") and everything later, compiled by the
 * driver; "sim": an image for the stand-in driver of the tests. */
typedef struct AotcDeviceImage {
  const char* arch;
  const char* kind;
  const void* data; /* 64-byte aligned */
  int64_t bytes;
} AotcDeviceImage;

/* A check that kernels make: what AotcFailure says of it when it fails. */
typedef struct AotcDeviceCheck {
  const char* message;
  int32_t has_value;
} AotcDeviceCheck;

struct AotcGpuRuntime; /* model/gpu.h */

/* Every image has a kernel
 *   aotc_strided_copy(void* to, const void* from, AotcStridedCopy what)
 * for the run time's own use, number `strided_copy` of `kernels`. */
typedef struct AotcGpu {
  /* The run time's GPU part: programs without one do not link it. */
  const struct AotcGpuRuntime* runtime;
  const AotcDeviceImage* images;
  const char* const* kernels; /* names in the images */
  const AotcDeviceCheck* checks;
  int32_t n_images, n_kernels, n_checks, n_scratch_slots;
  int32_t strided_copy;
  int32_t device_index; /* of the exported program's "cuda:N" */
  /* 1: run neither waits nor looks at the device's data, so that what it submits depends on the
   * symbols and addresses alone. */
  int32_t capturable;
  AotcExtent arena_bytes;
} AotcGpu;

/* Element i of a copy is at the byte offset sum of i_d * strides[d] on both sides. */
#define AOTC_MAX_COPY_RANK 64
typedef struct AotcStridedCopy {
  int64_t count; /* elements */
  int32_t ndim;
  int32_t element_bytes; /* 1, 2, 4, 8 or 16; addresses and strides need not be aligned to it */
  int64_t sizes[AOTC_MAX_COPY_RANK];
  int64_t to_strides[AOTC_MAX_COPY_RANK], from_strides[AOTC_MAX_COPY_RANK];
} AotcStridedCopy;

/* What the kernels aotc_matmul_<type>(a, b, c, d, AotcGpuMatmul) get: fields as in
 * templates/matmul.h. */
typedef struct AotcGpuMatmul {
  int64_t batch_sizes[4];
  int64_t m, n, k;
  int64_t a_batch[4], a_row, a_col;
  int64_t b_batch[4], b_row, b_col;
  int64_t c_batch[4], c_row, c_col;
  int64_t d_batch[4], d_row, d_col;
  double alpha, beta;
} AotcGpuMatmul;

typedef struct AotcProgram {
  uint32_t version; /* AOTC_PROGRAM_VERSION */
  uint32_t struct_size;
  const char* name;
  const char* cpu_level; /* "x86-64-v3", "aarch64", ...: checked before any kernel runs */
  const char* manifest_json;
  const AotcSymbol* symbols;
  const AotcInput* inputs;
  const AotcOutput* outputs;
  const AotcStorage* storages;
  const AotcName* names;
  const AotcAliasedIo* aliased_io;
  const AotcStep* steps;
  int32_t n_symbols, n_extents, n_inputs, n_outputs, n_storages, n_names, n_aliased_io,
      n_scratch_slots, n_steps;
  const void* weights;     /* embedded weights, 64-byte aligned, or NULL */
  int64_t weights_bytes;   /* size of the blob, embedded or external */
  uint64_t weights_digest; /* weights_digest() of digest.h: a wrong file is refused */
  AotcExtent arena_bytes;
  /* Fills every extent from the bound symbols; called only when a symbol differs from the last
   * call's. Returns nonzero (failure filled) when a constraint of the archive between symbols does
   * not hold or a size, offset or byte count does not fit in 63 bits. May be NULL when there are no
   * extents. */
  int32_t (*compute_extents)(AotcFrame*);
  int32_t (*run)(AotcFrame*);
  const AotcGpu* gpu; /* NULL: everything is on the host */
} AotcProgram;

/* Defined by the generated program. In an embedded program the name is aotc_<name>_program and
 * aotc_<name>_get_api serves it: api_entry.cpp is compiled once per model with both names given. */
#ifndef AOTC_PROGRAM_NAME
#define AOTC_PROGRAM_NAME aotc_program
#endif
#if defined(__GNUC__)
__attribute__((visibility("hidden")))
#endif
extern const AotcProgram AOTC_PROGRAM_NAME;

#ifdef __cplusplus
}
#endif
#endif /* AOTC_MODEL_PROGRAM_H_ */
