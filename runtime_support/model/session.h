// A session: the states of one user of a model, its scratch memory and thread settings, and the
// working data of the call in progress. Everything of fixed size lives in the one block that starts
// with the struct.
#pragma once
#include "model.h"
#include "tensor.h"

namespace aotc::model {

// Memory that only grows; its content does not survive growing.
struct Scratch {
  char* data;
  int64_t bytes;
};
// False when there is no memory (or bytes < 0); then the scratch is empty. Aligned to kAlignment;
// nothing is allocated for 0 bytes.
bool reserve(Scratch* scratch, int64_t bytes);

// What the program gets for a tensor without elements: an aligned address, never read or written.
char* no_elements();

// An input of the call in progress.
struct InputUse {
  char* data;      // first element in the caller's storage
  int64_t count;   // elements
  int64_t staged;  // offset in the staging memory, -1: used where it is
  bool same_layout;
};

// An output of the call in progress.
struct OutputUse {
  DLManagedTensor* provided;  // the caller's, or NULL
  DLManagedTensor* made;      // ours: to hand out, or to copy into a provided one of another layout
  bool direct;                // the program writes the provided one itself
  bool copied;  // a view that the input's layout has no strides for: a copy of its elements
};

enum class RegionKind { kInput, kOutput, kState, kStates };

// Memory that a call touches.
struct Region {
  uintptr_t lo, hi;
  RegionKind kind;
  int32_t index;  // input, output or storage; kStates: all states that the session itself holds
  bool written;
};

struct GpuSession;  // cuda/gpu_session.h
enum class StepKind : int64_t { kHost, kKernel, kTransfer };
struct Profile;     // profile.h
struct CallRecord;  // profile.h

struct Session {
  Model* model;
  const AotcProgram* program;
  AotcFrame frame;
  uint32_t busy;
  int32_t threads;  // of the run time's own pool
  bool prepared;    // extents, arena and the layouts below fit the symbols in frame.symbols

  char* state_block;    // as calloc gave it
  char** own_storages;  // where each state lives unless bound; NULL for weights
  Scratch arena, staging;
  Scratch* slots;  // for data-dependent sizes

  // Evaluated for the current symbols; one entry per dimension of all inputs / outputs.
  int64_t *input_sizes, *input_strides, *output_sizes, *output_strides;
  int64_t *input_spans, *output_spans;  // bytes that the compiled layout reaches
  uint8_t* input_overlaps;              // the compiled layout reaches an element twice

  // Of the call in progress.
  const DLTensor* inputs;
  InputUse* input_uses;
  OutputUse* output_uses;
  Region* regions;        // inputs, outputs, storages and the session's block of states
  int32_t* region_order;  // sorted by address; kept over calls, since addresses seldom change
  int32_t n_regions, n_ordered;
  AotcStatus obtain_status;  // why a callback of the frame has failed
  CallRecord* record;        // NULL unless the profile records this call

  Profile* profile;  // NULL unless session_profile_start was called

  GpuSession* gpu;    // NULL unless the program has a GPU part; see gpu.h
  bool host_io;       // inputs and outputs are host tensors whatever the program's device
  Region gpu_states;  // the block of states on the device; empty without one
};

// The AotcApi members of the same names.
AotcStatus session_create(AotcModel* model, const char* options, AotcSession** out);
void session_destroy(AotcSession* session);
AotcStatus session_run(AotcSession* session, const DLTensor* inputs, int32_t n_inputs,
                       DLManagedTensor** outputs, int32_t n_outputs);
AotcStatus session_synchronize(AotcSession* session);
AotcStatus session_state_get(AotcSession* session, const char* name, DLTensor* into);
AotcStatus session_state_set(AotcSession* session, const char* name, const DLTensor* from);
AotcStatus session_state_bind(AotcSession* session, const char* name, const DLTensor* storage);
AotcStatus session_state_reset(AotcSession* session);
AotcStatus session_fork(AotcSession* session, AotcSession** out);
AotcStatus session_save(AotcSession* session, const char* path);
AotcStatus session_load(AotcSession* session, const char* path);
AotcStatus session_profile_start(AotcSession* session, const char* options);
AotcStatus session_profile_stop(AotcSession* session, const char* path);
AotcStatus session_set_parallel_for(AotcSession* session, AotcParallelFor fn, void* context,
                                    int32_t threads);
int64_t session_scratch_size(const AotcSession* session);
const char* session_graph_trouble(const AotcSession* session);

inline Session* from_handle(AotcSession* session) { return reinterpret_cast<Session*>(session); }
inline const Session* from_handle(const AotcSession* session) {
  return reinterpret_cast<const Session*>(session);
}

// Marks the session as in use for the lifetime of this object. `status` is AOTC_OK, or says that
// the handle is NULL or another thread is using the session; then nothing may be touched.
class Use {
 public:
  Use(const char* function, AotcSession* handle);
  ~Use() {
    if (!status) store_release(&session->busy, 0u);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  Session* session;
  AotcStatus status;
};

inline int64_t evaluate(const Session* s, AotcExtent extent) {
  return extent.extent < 0 ? extent.value : s->frame.extents[extent.extent];
}
inline char* storage_data(const Session* s, int32_t storage) {
  return static_cast<char*>(s->frame.storages[storage]);
}

// Symbols. The size that a symbol's value gives; false when it does not fit.
bool size_of(const AotcDimension& dimension, int64_t symbol, int64_t* size);
struct SizeRange {
  int64_t min, max;  // INT64_MIN / INT64_MAX: unbounded
};
SizeRange range_of(const AotcProgram* program, const AotcDimension& dimension);
// Dimension d of input i has a symbol and is `size`: gives the symbol its value, or compares.
AotcStatus bind_size(Session* s, int32_t i, int32_t d, int64_t size);
AotcStatus check_range(const Session* s, int32_t symbol);

// The steps of session_run, in order. On failure nothing of the caller's has changed, and
// release_outputs gives back what was obtained.
AotcStatus check_inputs(Session* s, const DLTensor* inputs, int32_t n_inputs);  // binds the symbols
AotcStatus prepare(Session* s);  // extents, arena, layouts; only when a symbol has changed
AotcStatus check_expressions(const Session* s);  // sizes of more than one symbol
AotcStatus check_layouts(Session* s);            // decides what is staged, obtains memory for it
AotcStatus check_outputs(Session* s, DLManagedTensor** outputs, int32_t n_outputs);
AotcStatus check_overlaps(Session* s);
AotcStatus obtain_outputs(Session* s);
void stage_inputs(Session* s);
void write_back_inputs(Session* s);  // the first step that changes the caller's memory by itself
AotcStatus finish_outputs(Session* s, DLManagedTensor** outputs);
void release_outputs(Session* s);

// All checks of a call, in their order: everything before obtain_outputs.
AotcStatus get_ready(Session* s, const DLTensor* inputs, int32_t n_inputs,
                     DLManagedTensor** outputs, int32_t n_outputs);
// Decides whether input i is used where it is; grows *staging_bytes when it is not. `elsewhere`: it
// is not, since it is in other memory than the program has it.
AotcStatus check_layout(Session* s, int32_t i, bool elsewhere, int64_t* staging_bytes);
// The input's elements as the program sees them, at `data`.
View compiled_view(const Session* s, int32_t i, char* data);

// Sizes and strides of output `i` by the current extents, into its rows of output_sizes,
// output_strides.
void evaluate_output(Session* s, int32_t i);
// Output i as a view of its input's layout at the call: fills its sizes and strides, and the number
// of elements from the input's first one. False if no strides are that view.
bool view_in_given_layout(Session* s, int32_t i, int64_t* start);
// Bytes from the first to past the last element of a compiled layout (no negative strides), 0
// without elements; -1 when a size is negative or the sum does not fit.
int64_t span_bytes(const int64_t* sizes, const int64_t* strides, int32_t ndim, int64_t item);
// Around a call, when there is a profile; the program of a call that is recorded runs by
// run_recorded.
void profile_call_begins(Session* s);
void profile_call_ends(Session* s, AotcStatus status);
int32_t run_recorded(Session* s);
void discard_profile(Session* s);  // if there is one

// Records what the program found wrong.
AotcStatus failure_status(AotcStatus status, const AotcFailure& failure);

// Callbacks of the frame.
void* obtain_output(AotcFrame* frame, int32_t output);
void* obtain_scratch(AotcFrame* frame, int32_t slot, int64_t bytes);

// The name's elements where they live in this session.
View view_of_name(const Session* s, const AotcName& name);
// The initial content of all states.
AotcStatus reset_states(Session* s);

// The program itself; its failure, or what a callback of the frame has recorded.
AotcStatus run_program(Session* s);

// A result's memory: descriptor, sizes and strides, data. `references` counts the results that
// share it; the last one frees the block after `destroy`, which may be NULL.
struct Block {
  DLManagedTensor tensor;
  int32_t references;
  void (*destroy)(Block*);
  void* resource;  // what `destroy` gives back
};
// The result's deleter counts from now on, so that others can share its memory.
void make_shared(DLManagedTensor* made);
// Gives back a result that was not handed out.
void discard(DLManagedTensor* made);

// Memory for a result: a descriptor whose deleter frees everything at once. Sizes, strides and data
// are set by the caller; `data` (aligned to kAlignment) has `bytes` bytes. NULL: no memory.
DLManagedTensor* make_tensor(int32_t ndim, int64_t bytes, char** data);

}  // namespace aotc::model
