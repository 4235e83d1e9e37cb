// Calls as CUDA graphs: what the program submits is noted down, compared with the graph of the last
// call of the same symbols, and submitted with one launch.
#pragma once
#include "gpu_session.h"

namespace aotc::model::cuda {

// One launch or copy of a call.
struct Submission {
  int32_t kernel;  // -1: a copy
  uint32_t grid[3], block[3], shared_bytes;
  int64_t arguments;  // offset in Record.bytes, each argument at a multiple of 16
  AotcDevice to_device, from_device;
  void* to;
  const void* from;
  int64_t bytes;
  char* pinned;  // of a copy from or to the host: its memory there, else NULL
};

// A call's submissions in order; owns their pinned memory.
struct Record {
  Submission* list;
  int32_t count, capacity;
  char* bytes;  // arguments
  int64_t used, bytes_capacity;
};

// The graph of the calls with one set of symbol values.
struct Graph {
  Graph* next;  // used less recently
  int64_t* symbols;
  Record record;
  CUgraph graph;
  CUgraphExec executable;
  CUgraphNode* nodes;  // one per submission
};

struct Graphs {
  bool is_recording;
  CUstream capture;  // private: the caller's stream is never captured
  Graph* first;
  int32_t count;
  int32_t rebuilt;      // times that a graph could not be updated
  int32_t built, used;  // graphs made; calls that found one
  Graph* current;       // of the call in progress; NULL: it has none yet
  Record record;        // of the call in progress
  int32_t* parameters;  // of each kernel: where its sizes start in `sizes`; one more at the end
  size_t* sizes;
  char trouble[200];  // why graphs are not used; "" where they are
};

AotcStatus make_graphs(Session* s);
void destroy_graphs(GpuSession* g);
inline bool is_recording(const GpuSession* g) { return g->graphs && g->graphs->is_recording; }
// run_program by a graph, or without where that is not possible.
AotcStatus run_with_graph(Session* s);
// ---- records (record.cpp)
constexpr int32_t kMostArguments = 1024;
// Pinned memory that the graph of the call's symbols already has, and that stays its own.
bool is_borrowed(const Graphs* all, int32_t i);
void free_record(const Driver* driver, Record* r);
void forget_record(GpuSession* g);  // of the call in progress
int64_t argument_bytes(const Graphs* all, int32_t kernel);
// The addresses of a launch's arguments, as the driver wants them.
void point_at_arguments(const Graphs* all, const Record& r, const Submission& what, void** out);
AotcStatus submit_record(Session* s, const Record& r);
// The host's copies that a wait completes.
AotcStatus expect_arrivals(GpuSession* g, const Record& r);
AotcStatus record_launch(Session* s, const AotcLaunch& what);
AotcStatus record_transfer(Session* s, void* to, AotcDevice to_device, const void* from,
                           AotcDevice from_device, int64_t bytes);
// Submits what has been recorded of the call, since the program waits.
AotcStatus stop_recording(Session* s, const char* why);
AotcStatus submit_launch(Session* s, const AotcLaunch& what);  // gpu_call.cpp

}  // namespace aotc::model::cuda
