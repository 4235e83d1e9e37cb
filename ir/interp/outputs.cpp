// Following the view chain of an output from its input.
#include "ir/interp/outputs.h"

#include "ir/interp/views.h"
#include "ir/ops/op.h"

namespace aotc::interp {
namespace {

// v as a view of the input's tensor: v is its value, or what is written back to it, or a view of
// such.
Tensor view_of_input(const Call& call, int input, const Value* v) {
  const Graph& g = call.graph();
  const Tensor& base = call.input(static_cast<size_t>(input));
  for (const WriteBack& w : g.write_backs)
    if (w.input == input && w.value == v) return base;
  if (g.inputs[static_cast<size_t>(input)].value == v) return base;
  const Node* n = v->producer;
  if (!n || !n->op || !n->op->is_view())
    internal_error("output %{} is no chain of views of input '{}'", v->name,
                   g.inputs[static_cast<size_t>(input)].name);
  Tensor from = view_of_input(call, input, std::get<Value*>(n->args[0]));
  auto t = alias_view(*n, v->output_index, from, call.symbols);
  return t ? *t : gather_view(*n, v->output_index, from, call.symbols);
}

// The form that holds for any layout of the input.
void check_simple(const Call& call, const loops::OutputView& v, const Tensor& base,
                  const Tensor& t) {
  std::vector<int64_t> steps = eval(v.steps, call.symbols), starts = eval(v.starts, call.symbols);
  const size_t rank = base.sizes.size();
  bool complete = steps.size() == t.sizes.size() * rank && starts.size() == rank;
  if (!complete) internal_error("output {}: the view's form by dimensions is incomplete", v.output);
  int64_t offset = base.offset;
  for (size_t d = 0; d < starts.size(); ++d) offset += starts[d] * base.strides[d];
  bool same = offset == t.offset;
  for (size_t i = 0; i < t.sizes.size(); ++i) {
    int64_t stride = 0;
    for (size_t d = 0; d < rank; ++d) stride += steps[i * rank + d] * base.strides[d];
    same &= t.sizes[i] == 1 || t.strides[i] == stride;
  }
  if (!same) internal_error("output {}: the view's two forms name different elements", v.output);
}

}  // namespace

const OutputAlias* alias_of_output(const Graph& g, int i) {
  for (const OutputAlias& a : g.aliases)
    if (a.output == i) return &a;
  return nullptr;
}

Tensor view_output(const Call& call, const loops::OutputView& v) {
  const Graph& g = call.graph();
  AOTC_CHECK(v.output >= 0 && v.output < static_cast<int>(g.outputs.size()),
             "output {} does not exist", v.output);
  AOTC_CHECK(v.input >= 0 && v.input < static_cast<int>(g.inputs.size()), "input {} does not exist",
             v.input);
  const Tensor& base = call.input(static_cast<size_t>(v.input));
  const TensorType& type = g.outputs[static_cast<size_t>(v.output)].value->type;
  Tensor t{type.dtype, eval(type.sizes, call.symbols), eval(v.strides, call.symbols),
           base.offset + eval(v.offset, call.symbols), base.memory};
  if (t.strides.size() != t.sizes.size() || !base.memory || !fits(t))
    internal_error("output {}: the view does not fit into the memory of input {}", v.output,
                   v.input);
  if (v.simple && t.numel() > 0) check_simple(call, v, base, t);
  return t;
}

RunValue scalar_output(const Output& o, const Symbols& symbols) {
  if (auto* s = std::get_if<Sym>(&o.scalar)) {
    const int64_t v = eval(*s, symbols);
    return is_float(*s) ? RunValue(float_of_bits(v)) : RunValue(v);
  }
  if (auto* d = std::get_if<double>(&o.scalar)) return *d;
  if (auto* b = std::get_if<bool>(&o.scalar)) return *b;
  internal_error("output '{}' is no number", o.name);
}

RunValue signature_output(const Call& call, int i) {
  const Output& o = call.graph().outputs[static_cast<size_t>(i)];
  switch (o.kind) {
    case OutputKind::None:
      return std::monostate{};
    case OutputKind::Scalar:
      return scalar_output(o, call.symbols);
    case OutputKind::Tensor:
      break;
  }
  const OutputAlias* a = alias_of_output(call.graph(), i);
  if (!a) internal_error("output '{}' has neither a buffer nor an alias", o.name);
  return view_of_input(call, a->input, a->view);
}

}  // namespace aotc::interp
