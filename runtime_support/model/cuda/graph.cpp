// Building, updating and keeping the graphs of a session.
#include "graph.h"

#include <stdio.h>
#include <string.h>

#include "../error.h"
#include "gpu_runtime.h"

namespace aotc::model::cuda {
namespace {

constexpr int32_t kMostGraphs = 16, kMostRebuilds = 8;
// Making a graph pays only if later calls use it.
constexpr int32_t kMostUnused = 64;

bool can_use_graphs(const Driver* d) {
  return d->cuFuncGetParamInfo && d->cuStreamBeginCapture_v2 && d->cuStreamEndCapture &&
         d->cuGraphGetRootNodes && d->cuGraphNodeGetDependentNodes && d->cuGraphDestroy &&
         d->cuGraphInstantiateWithFlags && d->cuGraphExecDestroy &&
         d->cuGraphExecKernelNodeSetParams_v2 && d->cuGraphLaunch;
}

// Their number; -1: the driver does not say. `sizes` NULL: they are only counted.
int32_t read_sizes(const Driver* driver, CUfunction function, size_t* sizes) {
  for (int32_t count = 0;; ++count) {
    size_t offset = 0, size = 0;
    const CUresult code =
        driver->cuFuncGetParamInfo(function, static_cast<size_t>(count), &offset, &size);
    if (code) return code == kInvalidValue ? count : -1;
    if (sizes) sizes[count] = size;
  }
}

// False without memory, or when the driver does not say; then there are no graphs.
bool read_parameters(const AotcProgram* program, GpuSession* g) {
  Graphs* all = g->graphs;
  const int32_t kernels = program->gpu->n_kernels;
  all->parameters = static_cast<int32_t*>(malloc((static_cast<size_t>(kernels) + 1) * 4));
  if (!all->parameters) return false;
  int32_t total = 0;
  for (int32_t k = 0; k < kernels; ++k) {
    const int32_t count = read_sizes(g->driver, g->model->functions[k], nullptr);
    if (count < 0) return false;
    all->parameters[k] = total;
    total += count;
  }
  all->parameters[kernels] = total;
  all->sizes = static_cast<size_t*>(malloc((static_cast<size_t>(total) + 1) * sizeof(size_t)));
  if (!all->sizes) return false;
  for (int32_t k = 0; k < kernels; ++k) {
    const int32_t count = all->parameters[k + 1] - all->parameters[k];
    size_t* sizes = all->sizes + all->parameters[k];
    if (read_sizes(g->driver, g->model->functions[k], sizes) != count) return false;
  }
  return true;
}

// The nodes in the order of the captured stream: a chain.
bool list_nodes(const Driver* driver, const Record& r, Graph* graph) {
  size_t count = 1;
  CUgraphNode node = nullptr;
  if (driver->cuGraphGetRootNodes(graph->graph, &node, &count) || count != 1) return false;
  for (int32_t i = 0; i < r.count; ++i) {
    graph->nodes[i] = node;
    count = 1;
    const CUresult code = driver->cuGraphNodeGetDependentNodes(node, &node, &count);
    if (i + 1 < r.count && (code || count != 1)) return false;
  }
  return true;
}

bool capture_record(Session* s, const Record& r, Graph* graph) {
  GpuSession* g = s->gpu;
  const Driver* driver = g->driver;
  const CUstream now = g->now;
  if (driver->cuStreamBeginCapture_v2(g->graphs->capture, kRelaxedCapture)) return false;
  g->now = g->graphs->capture;
  const AotcStatus status = submit_record(s, r);
  g->now = now;
  g->submitted = 0;  // nothing has run
  const CUresult code = driver->cuStreamEndCapture(g->graphs->capture, &graph->graph);
  return !status && !code && list_nodes(driver, r, graph) &&
         !driver->cuGraphInstantiateWithFlags(&graph->executable, graph->graph, 0);
}

void destroy_graph(const Driver* driver, Graph* graph) {
  if (graph->executable) driver->cuGraphExecDestroy(graph->executable);
  if (graph->graph) driver->cuGraphDestroy(graph->graph);
  free_record(driver, &graph->record);
  free(graph->symbols);
  free(graph->nodes);
  free(graph);
}

// ---- the cache

Graph* find_graph(Graphs* all, const Session* s) {
  const size_t bytes = static_cast<size_t>(s->program->n_symbols) * sizeof(int64_t);
  for (Graph** at = &all->first; *at; at = &(*at)->next) {
    Graph* found = *at;
    if (bytes && memcmp(found->symbols, s->frame.symbols, bytes) != 0) continue;
    *at = found->next;  // to the front
    found->next = all->first;
    all->first = found;
    return found;
  }
  return nullptr;
}

// Its last launch may still run.
void drop_graph(GpuSession* g, Graph* dropped) {
  Graphs* all = g->graphs;
  for (Graph** at = &all->first; *at; at = &(*at)->next)
    if (*at == dropped) {
      *at = dropped->next;
      break;
    }
  --all->count;
  g->driver->cuStreamSynchronize(g->now);
  destroy_graph(g->driver, dropped);
}

void keep_graph(GpuSession* g, Graph* graph) {
  Graphs* all = g->graphs;
  graph->next = all->first;
  all->first = graph;
  if (++all->count <= kMostGraphs) return;
  Graph* last = all->first;
  while (last->next) last = last->next;
  drop_graph(g, last);
}

// Takes over the record. NULL: not possible, and the record is as it was.
Graph* build_graph(Session* s) {
  GpuSession* g = s->gpu;
  Graphs* all = g->graphs;
  Graph* graph = static_cast<Graph*>(calloc(1, sizeof(Graph)));
  if (!graph) return nullptr;
  const size_t symbols = static_cast<size_t>(s->program->n_symbols) * sizeof(int64_t);
  graph->symbols = static_cast<int64_t*>(malloc(symbols + 1));
  graph->nodes = static_cast<CUgraphNode*>(
      calloc(static_cast<size_t>(all->record.count) + 1, sizeof(CUgraphNode)));
  if (!graph->symbols || !graph->nodes || !capture_record(s, all->record, graph)) {
    destroy_graph(g->driver, graph);
    return nullptr;
  }
  if (symbols) memcpy(graph->symbols, s->frame.symbols, symbols);
  graph->record = all->record;
  all->record = {};
  return graph;
}

// ---- updating

bool same_shape(const Submission& a, const Submission& b) {
  if (a.kernel != b.kernel || a.shared_bytes != b.shared_bytes) return false;
  if (a.kernel >= 0)
    return memcmp(a.grid, b.grid, sizeof a.grid) == 0 &&
           memcmp(a.block, b.block, sizeof a.block) == 0;
  const bool to_device = a.to_device == AOTC_GPU, from_device = a.from_device == AOTC_GPU;
  // The host's addresses are those of the pinned memory, which is the graph's.
  return a.to_device == b.to_device && a.from_device == b.from_device && a.bytes == b.bytes &&
         a.pinned == b.pinned && (!to_device || a.to == b.to) && (!from_device || a.from == b.from);
}

bool update_node(GpuSession* g, Graph* graph, int32_t i) {
  Graphs* all = g->graphs;
  const Submission& what = all->record.list[i];
  const Submission& kept = graph->record.list[i];
  if (what.kernel < 0) return true;
  const size_t bytes = static_cast<size_t>(argument_bytes(all, what.kernel));
  char* old = graph->record.bytes + kept.arguments;
  if (memcmp(old, all->record.bytes + what.arguments, bytes) == 0) return true;
  void* arguments[kMostArguments];
  point_at_arguments(all, all->record, what, arguments);
  KernelNodeParams node = {};
  node.function = g->model->functions[what.kernel];
  memcpy(node.grid, what.grid, sizeof node.grid);
  memcpy(node.block, what.block, sizeof node.block);
  node.shared_bytes = what.shared_bytes;
  node.arguments = arguments;
  if (g->driver->cuGraphExecKernelNodeSetParams_v2(graph->executable, graph->nodes[i], &node))
    return false;
  memcpy(old, all->record.bytes + what.arguments, bytes);
  return true;
}

// False: the graph has another form than the call, or the driver refuses.
bool update_graph(GpuSession* g, Graph* graph) {
  const Record& r = g->graphs->record;
  if (r.count != graph->record.count) return false;
  for (int32_t i = 0; i < r.count; ++i)
    if (!same_shape(r.list[i], graph->record.list[i])) return false;
  for (int32_t i = 0; i < r.count; ++i)
    if (!update_node(g, graph, i)) return false;
  return true;
}

// ---- a call

AotcStatus give_up(Session* s, const char* why) {
  GpuSession* g = s->gpu;
  Graphs* all = g->graphs;
  snprintf(all->trouble, sizeof all->trouble, "%s", why);
  AotcStatus status = submit_record(s, all->record);
  // The record's pinned memory lives until the copies are done.
  if (!status) status = expect_arrivals(g, all->record);
  if (!status) status = wait_for_device(g);
  forget_record(g);
  return status;
}

// The graph of the record: kept, updated or new; NULL: there is none.
Graph* fitting_graph(Session* s) {
  GpuSession* g = s->gpu;
  Graphs* all = g->graphs;
  if (all->current && update_graph(g, all->current)) {
    ++all->used;
    return all->current;
  }
  if (all->current) {
    // Its pinned memory may be the record's as well: the record keeps it.
    for (int32_t i = 0; i < all->record.count; ++i)
      if (is_borrowed(all, i)) all->current->record.list[i].pinned = nullptr;
    drop_graph(g, all->current);
    all->current = nullptr;
    if (++all->rebuilt > kMostRebuilds) return nullptr;
  }
  if (++all->built - all->used > kMostUnused) return nullptr;
  Graph* made = build_graph(s);
  if (made) keep_graph(g, made);
  return made;
}

const char* why_no_graph(const Graphs* all) {
  if (all->rebuilt > kMostRebuilds) return "the copies of a call differ from one call to the next";
  if (all->built - all->used > kMostUnused) return "nearly every call has sizes of its own";
  return "the driver does not make a graph of the program's kernels";
}

AotcStatus submit_graph(Session* s) {
  GpuSession* g = s->gpu;
  Graphs* all = g->graphs;
  if (all->record.count == 0) return AOTC_OK;
  Graph* graph = fitting_graph(s);
  if (!graph) return give_up(s, why_no_graph(all));
  if (AotcStatus status = expect_arrivals(g, graph == all->current ? all->record : graph->record))
    return status;
  forget_record(g);
  if (const CUresult code = g->driver->cuGraphLaunch(graph->executable, g->now))
    return device_error(g, code, "cuGraphLaunch", "launching the graph of a call");
  g->last_kernel = graph->record.list[graph->record.count - 1].kernel;
  g->submitted += graph->record.count;
  return AOTC_OK;
}

// The host's copies of the last launch are to be overwritten.
AotcStatus wait_for_copies(GpuSession* g, const Graph* graph) {
  for (int32_t i = 0; graph && g->asynchronous && i < graph->record.count; ++i)
    if (graph->record.list[i].pinned) return wait_for_device(g);
  return AOTC_OK;
}

}  // namespace

AotcStatus make_graphs(Session* s) {
  GpuSession* g = s->gpu;
  g->graphs = static_cast<Graphs*>(calloc(1, sizeof(Graphs)));
  if (!g->graphs) return fail(AOTC_OUT_OF_MEMORY, "no memory for graphs");
  Graphs* all = g->graphs;
  const char* trouble =
      !s->program->gpu->capturable
          ? "the program waits for data of the device or has sizes that depend on data"
      : !can_use_graphs(g->driver) ? "the driver is too old (it lacks functions of CUDA 12.4)"
                                   : "";
  snprintf(all->trouble, sizeof all->trouble, "%s", trouble);
  if (all->trouble[0]) return AOTC_OK;
  if (const CUresult code = g->driver->cuStreamCreate(&all->capture, kNonBlocking))
    return device_error(g, code, "cuStreamCreate", "making a session");
  if (!read_parameters(s->program, g))
    snprintf(all->trouble, sizeof all->trouble,
             "the driver does not say what the program's kernels take");
  return AOTC_OK;
}

void destroy_graphs(GpuSession* g) {
  Graphs* all = g->graphs;
  if (!all) return;
  while (Graph* graph = all->first) {
    all->first = graph->next;
    destroy_graph(g->driver, graph);
  }
  all->current = nullptr;
  free_record(g->driver, &all->record);
  if (all->capture) g->driver->cuStreamDestroy_v2(all->capture);
  free(all->parameters);
  free(all->sizes);
  free(all);
  g->graphs = nullptr;
}

AotcStatus run_with_graph(Session* s) {
  GpuSession* g = s->gpu;
  Graphs* all = g->graphs;
  if (all->trouble[0]) return run_program(s);
  all->current = find_graph(all, s);
  if (AotcStatus status = wait_for_copies(g, all->current)) return status;
  all->is_recording = true;
  AotcStatus status = run_program(s);
  const bool was_recording = all->is_recording;
  all->is_recording = false;
  if (!status && was_recording) status = submit_graph(s);
  if (status && g->submitted) g->is_broken = true;
  if (status) forget_record(g);
  all->current = nullptr;
  return status;
}

AotcStatus stop_recording(Session* s, const char* why) {
  s->gpu->graphs->is_recording = false;
  return give_up(s, why);
}

const char* graph_trouble(const Session* s) {
  return s->gpu->graphs ? s->gpu->graphs->trouble : nullptr;
}

}  // namespace aotc::model::cuda
