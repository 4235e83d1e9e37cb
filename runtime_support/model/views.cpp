// Outputs that point into an input whose layout at the call is not the compiled one: the strides
// that the view has there, if it has any.
#include "session.h"

namespace aotc::model {
namespace {

// Strides of dimensions of size 1 may be any number, so sums of products wrap.
int64_t wrapping(uint64_t n) { return static_cast<int64_t>(n); }
uint64_t product(int64_t a, int64_t b) {
  return static_cast<uint64_t>(a) * static_cast<uint64_t>(b);
}

// By the view's steps along the input's dimensions. Returns the start, in elements.
int64_t follow_steps(const Session* s, const AotcOutput& output, const View& input,
                     int64_t* strides) {
  uint64_t start = 0;
  for (int32_t k = 0; k < input.ndim; ++k)
    start += product(evaluate(s, output.view_start[k]), input.strides[k]);
  for (int32_t d = 0; d < output.ndim; ++d) {
    uint64_t stride = 0;
    for (int32_t k = 0; k < input.ndim; ++k)
      stride += product(evaluate(s, output.view_step[d * input.ndim + k]), input.strides[k]);
    strides[d] = wrapping(stride);
  }
  return wrapping(start);
}

// The input's dimensions, those of the largest compiled strides first, without those of size 1.
struct Order {
  const int64_t *sizes, *compiled, *given;
  int32_t dims[kMaxRank];
  int32_t count;
};

Order order_of(const Session* s, int32_t input, const View& given) {
  const int32_t first = s->model->first_input_dim[input];
  Order out = {s->input_sizes + first, s->input_strides + first, given.strides, {}, 0};
  for (int32_t d = 0; d < given.ndim; ++d) {
    if (out.sizes[d] == 1) continue;
    int32_t at = out.count++;
    for (; at > 0 && out.compiled[out.dims[at - 1]] < out.compiled[d]; --at)
      out.dims[at] = out.dims[at - 1];
    out.dims[at] = d;
  }
  return out;
}

// From an element's place in the compiled layout to that in the given one. False where the compiled
// layout does not nest, so that the place does not say which element it is.
bool translate(const Order& order, int64_t compiled, int64_t* given) {
  *given = 0;
  for (int32_t k = 0; k < order.count; ++k) {
    const int32_t d = order.dims[k];
    if (order.compiled[d] <= 0) return false;
    const int64_t index = compiled / order.compiled[d];
    if (index >= order.sizes[d]) return false;
    compiled -= index * order.compiled[d];
    *given += index * order.given[d];
  }
  return compiled == 0;
}

// Steps to the next of `sizes`' positions that differ in place; false after the last.
bool advance(const int64_t* sizes, const int64_t* compiled, int32_t ndim, int64_t* at) {
  for (int32_t d = ndim - 1; d >= 0; --d) {
    if (compiled[d] == 0) continue;
    if (++at[d] < sizes[d]) return true;
    at[d] = 0;
  }
  return false;
}

// A reshape walks several dimensions of the input with one of its own: whether that is one stride
// depends on the given layout. Looks at every element, as staging does. `strides` has the compiled
// ones and gets the given ones.
bool find_strides(const Order& order, int64_t offset, const int64_t* sizes, int32_t ndim,
                  int64_t* strides, int64_t* start) {
  int64_t compiled[kMaxRank], found[kMaxRank], at[kMaxRank] = {};
  if (!translate(order, offset, start)) return false;
  for (int32_t d = 0; d < ndim; ++d) {
    compiled[d] = sizes[d] == 1 ? 0 : strides[d];
    found[d] = 0;
    if (compiled[d] == 0) continue;
    if (!translate(order, offset + compiled[d], &found[d])) return false;
    found[d] -= *start;
  }
  do {
    int64_t from = offset, expected = *start, place = 0;
    for (int32_t d = 0; d < ndim; ++d) {
      from += at[d] * compiled[d];
      expected += at[d] * found[d];
    }
    if (!translate(order, from, &place) || place != expected) return false;
  } while (advance(sizes, compiled, ndim, at));
  for (int32_t d = 0; d < ndim; ++d) strides[d] = found[d];
  return true;
}

}  // namespace

bool view_in_given_layout(Session* s, int32_t i, int64_t* start) {
  const AotcOutput& output = s->program->outputs[i];
  const int32_t first = s->model->first_output_dim[i];
  const int64_t* sizes = s->output_sizes + first;
  int64_t* strides = s->output_strides + first;
  int64_t given[kMaxRank];
  const View input = view_of(s->inputs[output.index], given);
  evaluate_output(s, i);
  if (is_simple_view(output)) {
    *start = follow_steps(s, output, input, strides);
    return true;
  }
  *start = 0;
  if (count_elements(sizes, output.ndim) <= 0) return true;
  return find_strides(order_of(s, output.index, input), evaluate(s, output.offset), sizes,
                      output.ndim, strides, start);
}

}  // namespace aotc::model
