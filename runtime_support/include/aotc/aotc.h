/* The C ABI of aotc: open a compiled model, create sessions, run them.
 *
 * One table, AotcApi, is served by two kinds of library:
 *   model.so (in a package)  exports aotc_get_api alone; model_open(NULL, ...) opens the program built into it.
 *   libaotc.so               serves any package, and exports each member as a function aotc_<member>.
 *
 * Tensors are DLPack's unversioned structs: strides count elements (NULL: contiguous), any byte offset;
 * a tensor without elements may have NULL data. Strings are UTF-8. `options_json` NULL, "" or "{}" means
 * defaults; an unknown key is an error that names it. Every function that returns AotcStatus returns 0 on
 * success; otherwise last_error() has the message of the calling thread's last failure. No exception
 * crosses this interface and nothing here ends the process.
 *
 * A model is immutable and may be used by any number of threads. A session is used by one thread at a
 * time (a second call on a busy session is AOTC_BUSY); different sessions never wait for each other.
 */
#ifndef AOTC_AOTC_H_
#define AOTC_AOTC_H_

#include <stdint.h>

#include "dlpack/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t AotcStatus;
enum {
  AOTC_OK = 0,
  AOTC_INVALID_ARGUMENT = 1, /* a wrong argument: NULL, count, dtype, rank, size, range, name, option */
  AOTC_FAILED_CHECK = 2,     /* a run-time check of the program failed (index out of range, an assert) */
  AOTC_BUSY = 3,             /* the session is running in another thread */
  AOTC_OUT_OF_MEMORY = 4,
  AOTC_NOT_FOUND = 5,        /* no such file, state or weight */
  AOTC_BAD_PACKAGE = 6,      /* damaged, foreign, or made by another major version */
  AOTC_UNSUPPORTED = 7,      /* this build, CPU or device cannot do it */
  AOTC_IO = 8,               /* reading or writing a file failed */
  AOTC_DEVICE = 9,           /* there is no GPU or driver, or it has failed; the message has the driver's text */
  AOTC_INTERNAL = 70
};

typedef struct AotcModel AotcModel;
typedef struct AotcSession AotcSession;

/* Runs fn(arg, begin, end) over disjoint ranges that cover [0, n), each of at least `grain` items (but the
 * last), and returns when all are done. The body never throws. */
typedef void (*AotcRangeFn)(void* arg, int64_t begin, int64_t end);
typedef void (*AotcParallelFor)(void* context, int64_t n, int64_t grain, AotcRangeFn fn, void* arg);

/* What a tensor position accepts or yields. A size of -1 is symbolic: any value in [min_sizes, max_sizes]. */
typedef struct AotcTensorSpec {
  const char* name;
  DLDataType dtype;
  DLDevice device;
  int32_t ndim;
  const int64_t* sizes;     /* ndim entries, -1: symbolic */
  const int64_t* min_sizes; /* ndim entries */
  const int64_t* max_sizes; /* ndim entries, INT64_MAX: unbounded */
} AotcTensorSpec;

#define AOTC_ABI_VERSION 1u

typedef struct AotcApi { /* new members only at the end */
  uint32_t abi_version, struct_size;
  /* Message of the calling thread's last failure; valid until its next failing call. Never NULL. */
  const char* (*last_error)(void);
  /* Opens a package (.aotc) or, in a model.so with path NULL, the built-in program.
   * Options: "weights": file with the weights (default: in the package, or weights.bin beside model.so). */
  AotcStatus (*model_open)(const char* path, const char* options_json, AotcModel** out);
  /* The same from memory, which must stay valid until the model is closed. */
  AotcStatus (*model_open_memory)(const void* data, uint64_t size, const char* options_json, AotcModel** out);
  /* Gives up the caller's reference; sessions keep their model alive. NULL is allowed. */
  void (*model_close)(AotcModel*);
  const char* (*model_manifest)(const AotcModel*); /* JSON, valid until close */
  int32_t (*model_num_inputs)(const AotcModel*);
  int32_t (*model_num_outputs)(const AotcModel*);
  int32_t (*model_num_states)(const AotcModel*);
  /* Names; NULL when i is out of range. A name used twice gets "#index". */
  const char* (*model_input_name)(const AotcModel*, int32_t i);
  const char* (*model_output_name)(const AotcModel*, int32_t i);
  const char* (*model_state_name)(const AotcModel*, int32_t i);
  const char* (*model_aliased_input)(const AotcModel*, int32_t output); /* input name or NULL */
  const char* (*model_aliased_state)(const AotcModel*, int32_t output); /* state name or NULL */
  /* Options: "threads" (int, 0: the CPUs the process may use), "stream" (integer handle), "cuda_graph"
   * (bool), "host_io" (bool). States start from the archive's values. The last three are for programs with a GPU
   * part:
   *   stream      a CUstream of the device's primary context (0: its default stream) on which calls are ordered,
   *               instead of one of the session's own. session_run then returns before the device is done; see there.
   *   cuda_graph  calls are launched as CUDA graphs, one per set of sizes; see session_graph_trouble.
   *   host_io     all inputs and outputs are host tensors, whatever the program's device: they are copied to and
   *               from the GPU, mutated inputs back after success. Outputs that are states come as copies. */
  AotcStatus (*session_create)(AotcModel*, const char* options_json, AotcSession** out);
  void (*session_destroy)(AotcSession*); /* NULL is allowed */
  /* Runs the program once. `inputs`: the user inputs in order. `outputs`: n_outputs entries; one that is
   * not NULL on entry is the caller's storage (exact shape and dtype), NULL ones are allocated and owned
   * by the caller through their deleter. On failure inputs, states and `outputs` are as before the call.
   * Programs with a GPU part: tensors are where model_*_spec says, on the device or the host. A check that fails
   * on the device (AOTC_FAILED_CHECK) suppresses what the call would write later, and the session is failed: every
   * call of it is refused until its states are reset, set or loaded. When the GPU itself fails (AOTC_DEVICE) the
   * session may be lost for good, and says so.
   * With option "stream" the call is asynchronous: inputs, and storage given for outputs, must stay alive and
   * unchanged until session_synchronize or until the stream has passed the call; results may be used by work that
   * follows on that stream, and freed at any time. A failed check is reported by session_synchronize, or by a later
   * call of the session. A call that must copy results to host memory, or write back an input of another layout
   * than the exported one, waits for the device nevertheless. */
  AotcStatus (*session_run)(AotcSession*, const DLTensor* inputs, int32_t n_inputs, DLManagedTensor** outputs,
                            int32_t n_outputs);
  /* Until all calls of the session are done; reports what has failed in them. */
  AotcStatus (*session_synchronize)(AotcSession*);
  /* Copies out / in the value of a state, buffer, parameter or constant by its name in the archive (`set`:
   * states only). Shape and dtype must match exactly. */
  AotcStatus (*session_state_get)(AotcSession*, const char* name, DLTensor* into);
  AotcStatus (*session_state_set)(AotcSession*, const char* name, const DLTensor* from);
  /* The session uses the caller's storage (contiguous, exact shape and dtype) for this state from now on;
   * its content is the state. It must outlive the session or the next bind. */
  AotcStatus (*session_state_bind)(AotcSession*, const char* name, const DLTensor* storage);
  AotcStatus (*session_state_reset)(AotcSession*); /* all states back to the archive's values */
  AotcStatus (*session_fork)(AotcSession*, AotcSession** out); /* a new session with a copy of the states */
  AotcStatus (*session_save)(AotcSession*, const char* path);
  AotcStatus (*session_load)(AotcSession*, const char* path);
  /* Times every step of the session's calls from now on. Options, in calls: "wait" (int, 0: not recorded), then
   * "warmup" (int, 0: recorded and forgotten), then "active" (int, at least 1; default: all until the stop), after
   * which nothing more is recorded. A failed call counts too. A call never fails because of its profile: without
   * memory for its record (one number per step) it is left out. AOTC_INVALID_ARGUMENT: already started. A fork of
   * the session is not profiled; session_destroy discards a profile. */
  AotcStatus (*session_profile_start)(AotcSession*, const char* options_json);
  /* Writes what was recorded as a Chrome trace and ends the profile; path NULL discards it. Events are complete
   * ones ("ph": "X"), "ts" (of CLOCK_MONOTONIC) and "dur" in microseconds with three decimals: per call one of
   * category "call", named like the program, with args {"call": its number since the start, "status"}; per step one
   * of category "step", named like the kernel, with args {"call", "op", "line": Python lines}. "failed": true marks a
   * failed call and the step that failed in it. "otherData" has "calls", "lost_calls" and "truncated" (whether any
   * was left out), and "cuda_graph": session_graph_trouble. With a GPU part, a step that submits work to the device
   * has category "kernel" or "transfer", the times when the device did it (by events on the stream, within some
   * microseconds of the host's clock) and args {"device"}; a recorded call waits for the device and launches its
   * kernels one by one. The file appears when it is complete. AOTC_INVALID_ARGUMENT: not started; AOTC_IO,
   * AOTC_NOT_FOUND: it cannot be written; then the profile goes on as if stop had not been called. */
  AotcStatus (*session_profile_stop)(AotcSession*, const char* chrome_trace_path);
  int32_t (*model_num_weights)(const AotcModel*);
  const char* (*model_weight_name)(const AotcModel*, int32_t i);
  /* Not in this version: AOTC_UNSUPPORTED. */
  AotcStatus (*model_update_weights)(AotcModel*, const char* const* names, const DLTensor* values, int32_t n);
  /* Specs; the pointers stay valid until the model is closed. */
  AotcStatus (*model_input_spec)(const AotcModel*, int32_t i, AotcTensorSpec* out);
  AotcStatus (*model_output_spec)(const AotcModel*, int32_t i, AotcTensorSpec* out);
  AotcStatus (*model_state_spec)(const AotcModel*, int32_t i, AotcTensorSpec* out);
  /* The host lends its own thread pool to this session; fn NULL: back to the run time's. `threads` >= 1. */
  AotcStatus (*session_set_parallel_for)(AotcSession*, AotcParallelFor fn, void* context, int32_t threads);
  /* Bytes of scratch memory this session holds now (grows only for a larger shape). */
  int64_t (*session_scratch_size)(const AotcSession*);
  /* Memory of the GPU that the model's program uses, for callers without a toolkit of their own: aligned to 256
   * bytes, in the device's primary context, to be freed before the model is closed. `copy` takes host memory and
   * this GPU's on either side, and returns when the bytes are there. AOTC_UNSUPPORTED: a program for the CPU. */
  AotcStatus (*device_alloc)(AotcModel*, uint64_t bytes, void** out);
  AotcStatus (*device_free)(AotcModel*, void* data); /* NULL is allowed */
  AotcStatus (*device_copy)(AotcModel*, void* to, DLDevice to_device, const void* from, DLDevice from_device,
                            uint64_t bytes);
  /* Of a session with option "cuda_graph": why its calls are not launched as graphs, "" where they are. NULL
   * without the option. Valid until the session's next call. */
  const char* (*session_graph_trouble)(const AotcSession*);
} AotcApi;

#if defined(_WIN32)
#define AOTC_EXPORT __declspec(dllexport)
#else
#define AOTC_EXPORT __attribute__((visibility("default")))
#endif

/* The table, or NULL when this ABI version is not served. */
AOTC_EXPORT const AotcApi* aotc_get_api(uint32_t abi_version);

/* libaotc.so also exports every member of the table as an ordinary function, for direct linking, dlsym and
 * ctypes. Declared here for the linker's users; a model.so does not have them. */
AOTC_EXPORT const char* aotc_last_error(void);
AOTC_EXPORT AotcStatus aotc_model_open(const char* path, const char* options_json, AotcModel** out);
AOTC_EXPORT AotcStatus aotc_model_open_memory(const void* data, uint64_t size, const char* options_json, AotcModel** out);
AOTC_EXPORT void aotc_model_close(AotcModel*);
AOTC_EXPORT const char* aotc_model_manifest(const AotcModel*);
AOTC_EXPORT int32_t aotc_model_num_inputs(const AotcModel*);
AOTC_EXPORT int32_t aotc_model_num_outputs(const AotcModel*);
AOTC_EXPORT int32_t aotc_model_num_states(const AotcModel*);
AOTC_EXPORT const char* aotc_model_input_name(const AotcModel*, int32_t i);
AOTC_EXPORT const char* aotc_model_output_name(const AotcModel*, int32_t i);
AOTC_EXPORT const char* aotc_model_state_name(const AotcModel*, int32_t i);
AOTC_EXPORT const char* aotc_model_aliased_input(const AotcModel*, int32_t output);
AOTC_EXPORT const char* aotc_model_aliased_state(const AotcModel*, int32_t output);
AOTC_EXPORT AotcStatus aotc_session_create(AotcModel*, const char* options_json, AotcSession** out);
AOTC_EXPORT void aotc_session_destroy(AotcSession*);
AOTC_EXPORT AotcStatus aotc_session_run(AotcSession*, const DLTensor* inputs, int32_t n_inputs, DLManagedTensor** outputs, int32_t n_outputs);
AOTC_EXPORT AotcStatus aotc_session_synchronize(AotcSession*);
AOTC_EXPORT AotcStatus aotc_session_state_get(AotcSession*, const char* name, DLTensor* into);
AOTC_EXPORT AotcStatus aotc_session_state_set(AotcSession*, const char* name, const DLTensor* from);
AOTC_EXPORT AotcStatus aotc_session_state_bind(AotcSession*, const char* name, const DLTensor* storage);
AOTC_EXPORT AotcStatus aotc_session_state_reset(AotcSession*);
AOTC_EXPORT AotcStatus aotc_session_fork(AotcSession*, AotcSession** out);
AOTC_EXPORT AotcStatus aotc_session_save(AotcSession*, const char* path);
AOTC_EXPORT AotcStatus aotc_session_load(AotcSession*, const char* path);
AOTC_EXPORT AotcStatus aotc_session_profile_start(AotcSession*, const char* options_json);
AOTC_EXPORT AotcStatus aotc_session_profile_stop(AotcSession*, const char* chrome_trace_path);
AOTC_EXPORT int32_t aotc_model_num_weights(const AotcModel*);
AOTC_EXPORT const char* aotc_model_weight_name(const AotcModel*, int32_t i);
AOTC_EXPORT AotcStatus aotc_model_update_weights(AotcModel*, const char* const* names, const DLTensor* values, int32_t n);
AOTC_EXPORT AotcStatus aotc_model_input_spec(const AotcModel*, int32_t i, AotcTensorSpec* out);
AOTC_EXPORT AotcStatus aotc_model_output_spec(const AotcModel*, int32_t i, AotcTensorSpec* out);
AOTC_EXPORT AotcStatus aotc_model_state_spec(const AotcModel*, int32_t i, AotcTensorSpec* out);
AOTC_EXPORT AotcStatus aotc_session_set_parallel_for(AotcSession*, AotcParallelFor fn, void* context, int32_t threads);
AOTC_EXPORT int64_t aotc_session_scratch_size(const AotcSession*);
AOTC_EXPORT AotcStatus aotc_device_alloc(AotcModel*, uint64_t bytes, void** out);
AOTC_EXPORT AotcStatus aotc_device_free(AotcModel*, void* data);
AOTC_EXPORT AotcStatus aotc_device_copy(AotcModel*, void* to, DLDevice to_device, const void* from, DLDevice from_device, uint64_t bytes);
AOTC_EXPORT const char* aotc_session_graph_trouble(const AotcSession*);
/* Compiles MODEL.pt2 to a package: loads the compile plugin. options_json: the flags of `aotc compile`,
 * e.g. {"device": "cpu", "cpu": "x86-64-v3", "in-place": "require"}. */
/* Not in this version: AOTC_UNSUPPORTED or AOTC_NOT_FOUND; compile with the program `aotc`. */
AOTC_EXPORT AotcStatus aotc_compile(const char* pt2_path, const char* package_path, const char* options_json);

#ifdef __cplusplus
}
#endif
#endif /* AOTC_AOTC_H_ */
