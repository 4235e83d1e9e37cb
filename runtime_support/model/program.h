/* The interface between a generated program (program.cpp) and the model run time linked beside it.
 *
 * The generated side is constant data plus a few functions; the run time owns everything that lives:
 * models, sessions, memory, checks of the caller's tensors, threads. C++ without exceptions, RTTI or the
 * standard library: this is compiled into model.so.
 *
 * One call of session_run goes: check the inputs against `inputs`, bind symbols, check their ranges,
 * compute_extents, size the arena, obtain outputs, run, then (after success only) copy staged mutated
 * inputs back. So a call that fails leaves inputs, states and outputs as they were.
 */
#ifndef AOTC_MODEL_PROGRAM_H_
#define AOTC_MODEL_PROGRAM_H_

#include "aotc/aotc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AOTC_PROGRAM_VERSION 1u

/* A size, stride, offset or byte count. extent < 0: the constant `value`; otherwise entry `extent` of the
 * array that compute_extents fills. */
typedef struct AotcExtent {
  int64_t value;
  int32_t extent;
} AotcExtent;

/* One dimension of an input. symbol >= 0: this size binds that symbol (first use) or must equal it; else
 * it must equal `size`. */
typedef struct AotcDimension {
  AotcExtent size;
  int32_t symbol;
} AotcDimension;

typedef struct AotcSymbol {
  const char* name;  /* as in the archive, e.g. "s77" */
  int64_t min, max;  /* inclusive; INT64_MIN / INT64_MAX: unbounded */
} AotcSymbol;

typedef enum AotcInputKind {
  AOTC_INPUT_TENSOR = 0,
  AOTC_INPUT_SYMBOL = 1,   /* a symbolic Python int: a 0-d int64 tensor that binds dimensions[0].symbol */
  AOTC_INPUT_CONSTANT = 2  /* a specialised Python int, float or bool: a 0-d tensor that must equal `constant` */
} AotcInputKind;

typedef struct AotcInput {
  const char* name;
  AotcInputKind kind;
  DLDataType dtype;
  int32_t ndim;
  const AotcDimension* dimensions;
  const AotcExtent* strides; /* elements; the layout kernels are compiled for. A call with another layout,
                                alignment below the element size, or overlap is staged through the arena */
  int32_t mutated;           /* the program writes this input (copied back if staged) */
  int32_t read;              /* 0: its old content is never read (staging skips the copy in) */
  double constant_float;     /* AOTC_INPUT_CONSTANT with a float dtype */
  int64_t constant_int;      /* AOTC_INPUT_CONSTANT otherwise */
} AotcInput;

typedef enum AotcOutputKind {
  AOTC_OUTPUT_FRESH = 0,  /* storage of its own */
  AOTC_OUTPUT_INPUT = 1,  /* points into input `index`'s storage, as given by the caller */
  AOTC_OUTPUT_STATE = 2,  /* points into state `index`'s storage, valid until the session's next call */
  AOTC_OUTPUT_NONE = 3,   /* Python None: stays NULL */
  AOTC_OUTPUT_SYMBOL = 4, /* a 0-d int64 tensor holding `offset` */
  AOTC_OUTPUT_CONSTANT = 5, /* a 0-d tensor holding constant_int / constant_float */
  AOTC_OUTPUT_OUTPUT = 6  /* a view of output `index` (a fresh one): shares its storage */
} AotcOutputKind;

typedef struct AotcOutput {
  const char* name;
  AotcOutputKind kind;
  int32_t index;
  DLDataType dtype;
  int32_t ndim;
  const AotcExtent* sizes;
  const AotcExtent* strides; /* elements. For INPUT: in terms of the layout kernels are compiled for, see view_* */
  AotcExtent offset;         /* elements from the aliased tensor's first element */
  int32_t dynamic;           /* 1: sizes depend on data; the program calls AotcFrame.obtain_output */
  double constant_float;
  int64_t constant_int;
  /* INPUT whose caller may pass other strides: size i of the view is along input dimension view_dim[i]
   * with step view_step[i], starting at view_start[d] in input dimension d. NULL: the view is not of that
   * simple form, and an input of another layout is refused when this output aliases it. */
  const int32_t* view_dim;   /* ndim entries; -1: a size-1 or broadcast dimension (stride 0) */
  const AotcExtent* view_step;  /* ndim entries */
  const AotcExtent* view_start; /* one per dimension of the input */
} AotcOutput;

/* A storage that lives longer than a call. Weights are constant; states belong to a session. */
typedef struct AotcStorage {
  int64_t bytes;
  int64_t offset; /* of the initial value in the weights blob; -1: all zero bytes */
  int32_t state;  /* 1: mutated, each session has its own copy */
} AotcStorage;

/* A name that the archive gives to (a view of) a storage: parameters, buffers, constants; tied names share. */
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

/* Where a run-time check failed. The program fills it and returns nonzero. */
typedef struct AotcFailure {
  const char* message; /* static text: op, Python line, what must hold */
  int64_t value;       /* the offending value, appended to the message when has_value */
  int32_t has_value;
} AotcFailure;

typedef struct AotcFrame AotcFrame;
struct AotcFrame {
  void** inputs;          /* data of each input, in the compiled layout */
  void** outputs;         /* data of each FRESH output; NULL until obtained for dynamic ones */
  void** storages;        /* data of each storage: weights (read only) and this session's states */
  char* arena;            /* arena_bytes of scratch, 64-byte aligned */
  int64_t* symbols;       /* n_symbols; unbacked ones are written by run */
  int64_t* extents;       /* n_extents */
  void* parallel_context;
  AotcParallelFor parallel_for;
  int32_t threads;
  AotcFailure failure;
  /* For sizes that depend on data. NULL on failure (out of memory). Valid for this call. */
  void* (*obtain_output)(AotcFrame*, int32_t output);
  void* (*obtain_scratch)(AotcFrame*, int32_t slot, int64_t bytes);
  void* runtime;          /* the run time's own */
};

typedef struct AotcAliasedIo { /* what `aliased_io` in the manifest says; this table is the truth */
  int32_t output;              /* -1: a mutation without an output */
  int32_t input;               /* input index or -1 */
  int32_t storage_name;        /* index into names, or -1 */
  const char* kind;            /* kv_cache_update | user | identity | view | mutation */
  int32_t direct;              /* 1: written in place; 0: through a copy */
  const char* reason;
} AotcAliasedIo;

typedef struct AotcProgram {
  uint32_t version;      /* AOTC_PROGRAM_VERSION */
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
  int32_t n_symbols, n_extents, n_inputs, n_outputs, n_storages, n_names, n_aliased_io, n_scratch_slots;
  const void* weights;    /* embedded weights, or NULL */
  int64_t weights_bytes;  /* size of the blob, embedded or external */
  uint64_t weights_digest; /* FNV-1a 64 of the blob's first and last 4096 bytes and its size: a wrong file is refused */
  AotcExtent arena_bytes;
  /* Fills every extent from the bound symbols. Returns nonzero (failure filled) when a constraint of the
   * archive between symbols does not hold. */
  int32_t (*compute_extents)(AotcFrame*);
  int32_t (*run)(AotcFrame*);
} AotcProgram;

/* Defined by the generated program (hidden in model.so). In an embedded program the name is
 * aotc_<name>_program and aotc_<name>_get_api serves it. */
extern const AotcProgram aotc_program;

#ifdef __cplusplus
}
#endif
#endif /* AOTC_MODEL_PROGRAM_H_ */
