// Streams, events, launches, graphs.
#include <chrono>

#include "context.h"
#include "settings.h"

using namespace aotc::simt;

AOTC_SIM_API cuStreamCreate(void** stream, unsigned flags) {
  AOTC_SIM_ENTER(cuStreamCreate);
  auto s = std::make_unique<Stream>();
  s->blocking = !(flags & CU_STREAM_NON_BLOCKING);
  *stream = s.get();
  c.streams.insert(std::move(s));
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuStreamDestroy_v2(void* stream) {
  AOTC_SIM_ENTER_ANY(cuStreamDestroy_v2);
  Stream* s = find_in(c.streams, stream);
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  s->run_all();
  for (const auto& e : c.events)
    if (e->stream == s) e->stream = nullptr;
  erase_from(c.streams, stream);
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuStreamGetCtx(void* stream, void** context) {
  AOTC_SIM_ENTER(cuStreamGetCtx);
  if (!c.stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
  *context = &c;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuStreamSynchronize(void* stream) {
  AOTC_SIM_ENTER(cuStreamSynchronize);
  Stream* s = c.stream(stream);
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  if (s->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  s->run_all();
  return c.error;
}

AOTC_SIM_API cuStreamQuery(void* stream) {
  AOTC_SIM_ENTER(cuStreamQuery);
  Stream* s = c.stream(stream);
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  const bool idle = s->work.empty();
  s->run_until(s->done + 1);
  return c.error ? c.error : idle ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

AOTC_SIM_API cuStreamWaitEvent(void* stream, void* event, unsigned) {
  AOTC_SIM_ENTER(cuStreamWaitEvent);
  Stream* s = c.stream(stream);
  Event* e = c.event(event);
  if (!s || !e) return CUDA_ERROR_INVALID_HANDLE;
  if (!e->stream || e->stream == s) return CUDA_SUCCESS;
  s->submit([other = e->stream, number = e->number] { other->run_until(number); });
  return CUDA_SUCCESS;
}

// ---- events

AOTC_SIM_API cuEventCreate(void** event, unsigned) {
  AOTC_SIM_ENTER(cuEventCreate);
  auto e = std::make_unique<Event>();
  *event = e.get();
  c.events.insert(std::move(e));
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuEventDestroy_v2(void* event) {
  AOTC_SIM_ENTER_ANY(cuEventDestroy_v2);
  if (Event* e = c.event(event); e && e->stream) e->stream->run_until(e->number);
  return erase_from(c.events, event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

AOTC_SIM_API cuEventRecord(void* event, void* stream) {
  AOTC_SIM_ENTER(cuEventRecord);
  Stream* s = c.stream(stream);
  Event* e = c.event(event);
  if (!s || !e) return CUDA_ERROR_INVALID_HANDLE;
  if (s->capture) return CUDA_SUCCESS;  // one stream is captured: its order says all
  s->submit([e] {
    e->milliseconds = std::chrono::duration<double, std::milli>(
                          std::chrono::steady_clock::now().time_since_epoch())
                          .count();
  });
  e->stream = s;
  e->number = s->submitted;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuEventSynchronize(void* event) {
  AOTC_SIM_ENTER(cuEventSynchronize);
  Event* e = c.event(event);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (e->stream) e->stream->run_until(e->number);
  return c.error;
}

AOTC_SIM_API cuEventQuery(void* event) {
  AOTC_SIM_ENTER(cuEventQuery);
  Event* e = c.event(event);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  if (!e->stream || e->stream->done >= e->number) return CUDA_SUCCESS;
  e->stream->run_until(e->stream->done + 1);
  return CUDA_ERROR_NOT_READY;
}

AOTC_SIM_API cuEventElapsedTime_v2(float* milliseconds, void* from, void* to) {
  AOTC_SIM_ENTER(cuEventElapsedTime_v2);
  const Event *a = c.event(from), *b = c.event(to);
  if (!a || !b) return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds = static_cast<float>(b->milliseconds - a->milliseconds);
  return CUDA_SUCCESS;
}
AOTC_SIM_API cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  return cuEventElapsedTime_v2(milliseconds, from, to);
}

// ---- launches

namespace {

bool is_launchable(const Index3& grid, const Index3& block) {
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && threads > 0 && threads <= 1024 &&
         block.z <= 64 && grid.x <= 0x7fffffffu && grid.y <= 65535 && grid.z <= 65535;
}

}  // namespace

AOTC_SIM_API cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, void* stream,
                            void** arguments, void**) {
  AOTC_SIM_ENTER(cuLaunchKernel);
  Stream* s = c.stream(stream);
  if (!s || !function) return CUDA_ERROR_INVALID_HANDLE;
  if (!is_launchable({gx, gy, gz}, {bx, by, bz}) || shared > 49152) return CUDA_ERROR_INVALID_VALUE;
  Node n{Node::Kind::Kernel, {}, {}, {}};
  n.kernel.function = static_cast<Function*>(function);
  n.kernel.grid = {gx, gy, gz};
  n.kernel.block = {bx, by, bz};
  n.kernel.set_arguments(arguments);
  return c.submit(*s, std::move(n));
}

AOTC_SIM_API cuFuncSetAttribute(void*, int, int) {
  AOTC_SIM_ENTER(cuFuncSetAttribute);
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* size) {
  AOTC_SIM_ENTER(cuFuncGetParamInfo);
  const Kernel* k = static_cast<Function*>(function)->kernel;
  if (index >= static_cast<size_t>(k->arguments)) return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  for (size_t i = 0; i <= index; ++i) {
    const size_t aligned = k->sizes[i] >= 8 ? 8 : 4;
    *offset = (*offset + aligned - 1) / aligned * aligned + (i < index ? k->sizes[i] : 0);
  }
  *size = k->sizes[index];
  return CUDA_SUCCESS;
}

// ---- graphs

AOTC_SIM_API cuStreamBeginCapture_v2(void* stream, int) {
  AOTC_SIM_ENTER(cuStreamBeginCapture_v2);
  Stream* s = find_in(c.streams, stream);
  if (!s) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;  // the default stream
  if (s->capture) return CUDA_ERROR_INVALID_VALUE;
  s->capture = std::make_unique<Graph>();
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuStreamIsCapturing(void* stream, int* status) {
  AOTC_SIM_ENTER(cuStreamIsCapturing);
  Stream* s = c.stream(stream);
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  *status = s->capture ? 1 : 0;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuStreamEndCapture(void* stream, void** graph) {
  AOTC_SIM_ENTER(cuStreamEndCapture);
  Stream* s = find_in(c.streams, stream);
  if (!s || !s->capture) return CUDA_ERROR_INVALID_VALUE;
  *graph = s->capture.get();
  c.graphs.insert(std::move(s->capture));
  s->capture.reset();
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  AOTC_SIM_ENTER(cuGraphGetNodes);
  Graph* g = find_in(c.graphs, graph);
  if (!g) return CUDA_ERROR_INVALID_HANDLE;
  for (size_t i = 0; nodes && i < g->nodes.size() && i < *count; ++i) nodes[i] = g->nodes[i].get();
  *count = g->nodes.size();
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuGraphNodeGetType(void* node, int* type) {
  AOTC_SIM_ENTER(cuGraphNodeGetType);
  *type = static_cast<int>(static_cast<Node*>(node)->kind);  // 0 kernel, 1 memcpy, 2 memset
  return CUDA_SUCCESS;
}

// What was captured from one stream is a chain.
AOTC_SIM_API cuGraphGetRootNodes(void* graph, void** nodes, size_t* count) {
  AOTC_SIM_ENTER(cuGraphGetRootNodes);
  Graph* g = find_in(c.graphs, graph);
  if (!g) return CUDA_ERROR_INVALID_HANDLE;
  const size_t roots = g->nodes.empty() ? 0 : 1;
  if (nodes && roots && *count) nodes[0] = g->nodes[0].get();
  *count = roots;
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuGraphNodeGetDependentNodes(void* node, void** nodes, size_t* count) {
  AOTC_SIM_ENTER(cuGraphNodeGetDependentNodes);
  for (const auto& g : c.graphs)
    for (size_t i = 0; i < g->nodes.size(); ++i) {
      if (g->nodes[i].get() != node) continue;
      const size_t next = i + 1 < g->nodes.size() ? 1 : 0;
      if (nodes && next && *count) nodes[0] = g->nodes[i + 1].get();
      *count = next;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

AOTC_SIM_API cuGraphDestroy(void* graph) {
  AOTC_SIM_ENTER_ANY(cuGraphDestroy);
  return erase_from(c.graphs, graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

AOTC_SIM_API cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  AOTC_SIM_ENTER(cuGraphInstantiateWithFlags);
  Graph* g = find_in(c.graphs, graph);
  if (!g) return CUDA_ERROR_INVALID_HANDLE;
  auto e = std::make_unique<GraphExec>();
  for (const auto& n : g->nodes) {
    e->nodes.push_back(*n);
    e->origins.push_back(n.get());
  }
  *exec = e.get();
  c.execs.insert(std::move(e));
  return CUDA_SUCCESS;
}

AOTC_SIM_API cuGraphExecDestroy(void* exec) {
  AOTC_SIM_ENTER_ANY(cuGraphExecDestroy);
  return erase_from(c.execs, exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// CUDA_KERNEL_NODE_PARAMS_v2
struct KernelNodeParams {
  void* function;
  unsigned gx, gy, gz, bx, by, bz, shared;
  void** arguments;
  void** extra;
  void* kernel;
  void* context;
};

AOTC_SIM_API cuGraphExecKernelNodeSetParams_v2(void* exec, void* node, const KernelNodeParams* p) {
  AOTC_SIM_ENTER(cuGraphExecKernelNodeSetParams_v2);
  GraphExec* e = find_in(c.execs, exec);
  if (!e) return CUDA_ERROR_INVALID_HANDLE;
  for (size_t i = 0; i < e->nodes.size(); ++i) {
    if (e->origins[i] != node) continue;
    KernelCall& k = e->nodes[i].kernel;
    if (e->nodes[i].kind != Node::Kind::Kernel || k.function != p->function)
      return CUDA_ERROR_INVALID_VALUE;
    k.grid = {p->gx, p->gy, p->gz};
    k.block = {p->bx, p->by, p->bz};
    k.set_arguments(p->arguments);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

AOTC_SIM_API cuGraphLaunch(void* exec, void* stream) {
  AOTC_SIM_ENTER(cuGraphLaunch);
  GraphExec* e = find_in(c.execs, exec);
  Stream* s = c.stream(stream);
  if (!e || !s) return CUDA_ERROR_INVALID_HANDLE;
  for (const Node& n : e->nodes)
    if (const CUresult result = c.submit(*s, n)) return result;
  return CUDA_SUCCESS;
}
