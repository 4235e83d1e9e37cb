// What a call writes must not share memory with anything else that the call reads or writes: the
// program was compiled as if its inputs, outputs and states were separate. Cases where that could
// matter are refused by name; tensors that interleave without sharing a byte are fine.
#include <stdio.h>

#include "error.h"
#include "session.h"

namespace aotc::model {
namespace {

// Dense bytes as a view; `size` must outlive it.
constexpr int64_t kUnitStride[1] = {1};
View bytes_view(uintptr_t lo, const int64_t* size) {
  return {reinterpret_cast<char*>(lo), 1, 1, size, kUnitStride};
}

struct RegionView {
  int64_t strides[kMaxRank];
  int64_t size[1];
  View view;
};
void make_view(const Session* s, const Region& region, RegionView* out) {
  if (region.kind == RegionKind::kInput) {
    out->view = view_of(s->inputs[region.index], out->strides);
  } else if (region.kind == RegionKind::kOutput) {
    out->view = view_of(s->output_uses[region.index].provided->dl_tensor, out->strides);
  } else {
    out->size[0] = static_cast<int64_t>(region.hi - region.lo);
    out->view = bytes_view(region.lo, out->size);
  }
}

void add_region(Session* s, const Region& region) { s->regions[s->n_regions++] = region; }

void add_inputs(Session* s) {
  for (int32_t i = 0; i < s->program->n_inputs; ++i) {
    const AotcInput& input = s->program->inputs[i];
    const InputUse& use = s->input_uses[i];
    // Scalars are read before anything is written, and an input that nobody reads cannot be wrong.
    if (input.kind != AOTC_INPUT_TENSOR || use.count == 0 || !(input.read || input.mutated))
      continue;
    Region region = {reinterpret_cast<uintptr_t>(use.data), 0, RegionKind::kInput, i,
                     input.mutated != 0};
    region.hi = region.lo + static_cast<uintptr_t>(s->input_spans[i]);
    int64_t strides[kMaxRank];
    if (!use.same_layout) byte_range(view_of(s->inputs[i], strides), &region.lo, &region.hi);
    add_region(s, region);
  }
}

// Returns whether there is any.
bool add_provided_outputs(Session* s) {
  bool any = false;
  for (int32_t i = 0; i < s->program->n_outputs; ++i) {
    const AotcOutputKind kind = s->program->outputs[i].kind;
    const DLManagedTensor* provided = s->output_uses[i].provided;
    if (!provided ||
        (kind != AOTC_OUTPUT_FRESH && kind != AOTC_OUTPUT_SYMBOL && kind != AOTC_OUTPUT_CONSTANT))
      continue;
    any = true;
    int64_t strides[kMaxRank];
    const View view = view_of(provided->dl_tensor, strides);
    Region region = {reinterpret_cast<uintptr_t>(view.data), 0, RegionKind::kOutput, i, true};
    region.hi = region.lo + static_cast<uintptr_t>(s->output_spans[i]);
    if (!s->output_uses[i].direct) byte_range(view, &region.lo, &region.hi);
    if (region.lo != region.hi) add_region(s, region);
  }
  return any;
}

void add_states(Session* s) {
  const uintptr_t block = reinterpret_cast<uintptr_t>(align_up(s->state_block));
  if (s->gpu_states.lo != s->gpu_states.hi) add_region(s, s->gpu_states);
  if (s->state_block)
    add_region(s, {block, block + static_cast<uintptr_t>(s->model->state_bytes),
                   RegionKind::kStates, 0, true});
  for (int32_t i = 0; i < s->program->n_storages; ++i) {
    const AotcStorage& storage = s->program->storages[i];
    if (!storage.state || s->frame.storages[i] == s->own_storages[i] || storage.bytes == 0)
      continue;
    const uintptr_t data = reinterpret_cast<uintptr_t>(s->frame.storages[i]);
    add_region(s,
               {data, data + static_cast<uintptr_t>(storage.bytes), RegionKind::kState, i, true});
  }
}

// Insertion sort: the order of the last call is nearly always still right.
void sort_regions(Session* s) {
  if (s->n_ordered != s->n_regions) {
    s->n_ordered = s->n_regions;
    for (int32_t i = 0; i < s->n_regions; ++i) s->region_order[i] = i;
  }
  for (int32_t i = 1; i < s->n_regions; ++i) {
    const int32_t moved = s->region_order[i];
    int32_t at = i;
    for (; at > 0 && s->regions[s->region_order[at - 1]].lo > s->regions[moved].lo; --at)
      s->region_order[at] = s->region_order[at - 1];
    s->region_order[at] = moved;
  }
}

struct Description {
  char text[192];
};
Description describe(const Session* s, const Region& region) {
  Description out;
  const AotcProgram* program = s->program;
  if (region.kind == RegionKind::kInput)
    snprintf(out.text, sizeof out.text, "input '%.128s'", program->inputs[region.index].name);
  else if (region.kind == RegionKind::kOutput)
    snprintf(out.text, sizeof out.text, "the storage given for output '%.128s'",
             program->outputs[region.index].name);
  else if (region.kind == RegionKind::kStates)
    snprintf(out.text, sizeof out.text, "the states of this session");
  else
    for (int32_t n = program->n_names - 1; n >= 0; --n)
      if (program->names[n].storage == region.index)
        snprintf(out.text, sizeof out.text, "the storage bound to state '%.128s'",
                 program->names[n].name);
  return out;
}

AotcStatus check_pair(const Session* s, const Region& a, const Region& b) {
  if (!a.written && !b.written) return AOTC_OK;
  RegionView view_a, view_b;
  make_view(s, a, &view_a);
  make_view(s, b, &view_b);
  if (!views_overlap(view_a.view, view_b.view)) return AOTC_OK;
  // Inputs first, whatever the addresses, so that the same mistake has the same message.
  const bool in_order = a.kind != b.kind ? a.kind < b.kind : a.index < b.index;
  const Region& first = in_order ? a : b;
  const Region& second = in_order ? b : a;
  return fail(AOTC_INVALID_ARGUMENT,
              "%s and %s share memory, and the call writes %s: pass a copy that does not overlap",
              describe(s, first).text, describe(s, second).text,
              describe(s, first.written ? first : second).text);
}

}  // namespace

AotcStatus check_overlaps(Session* s) {
  s->n_regions = 0;
  if (!add_provided_outputs(s) && !s->model->writes_memory) return AOTC_OK;
  add_inputs(s);
  add_states(s);
  sort_regions(s);
  uintptr_t reached = 0;
  for (int32_t i = 0; i < s->n_regions; ++i) {
    const Region& region = s->regions[s->region_order[i]];
    for (int32_t j = 0; region.lo < reached && j < i; ++j) {
      const Region& before = s->regions[s->region_order[j]];
      if (before.hi <= region.lo) continue;
      if (AotcStatus status = check_pair(s, before, region)) return status;
    }
    if (region.hi > reached) reached = region.hi;
  }
  return AOTC_OK;
}

}  // namespace aotc::model
