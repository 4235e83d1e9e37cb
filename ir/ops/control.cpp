// Control flow: torch.cond, while_loop and map as markers in the list of nodes (ir/control.h), and
// what carries values in and out of their blocks.
#include "ir/ops/control.h"

#include "ir/ops/row_helpers.h"

namespace aotc {
namespace {

OpDef marker(std::string_view schema, Control control) {
  return loops_op(
      schema, LoopsKind::Control, [](const Node&) { return Types{}; },
      [control](Lowering& l, const Node& n) { l.control(n, control); });
}

// ---- a value that the parts of an if define: assign(assign(none, a), b)

Types assigned_type(const Node& n) { return {tensor_arg(n, "value")->type}; }

void lower_assign(Lowering& l, const Node& n) {
  Value *previous = tensor_arg(n, "previous"), *value = tensor_arg(n, "value");
  if (previous) l.set_place(n.output(), l.place(previous));
  const loops::BufferId to = previous ? l.place(previous).buffer : l.output(n);
  l.copy_into(n, value, to, nullptr);
}

// ---- values that a loop carries from one iteration to the next

void lower_carry(Lowering& l, const Node& n) { l.copy_into(n, self_of(n), l.output(n), nullptr); }

// All next values are found before the first is stored.
void lower_next(Lowering& l, const Node& n) {
  const auto& carried = std::get<std::vector<Value*>>(arg(n, "carried"));
  const auto& next = std::get<std::vector<Value*>>(arg(n, "next"));
  std::vector<loops::BufferId> targets;
  for (Value* v : carried) targets.push_back(l.place(v).buffer);
  std::vector<std::optional<Place>> sources;
  for (size_t i = 0; i < next.size(); ++i) {
    Place p = l.place(next[i]);
    const bool is_carried = std::find(targets.begin(), targets.end(), p.buffer) != targets.end();
    if (p.buffer == targets[i] && !p.map) {
      sources.emplace_back();  // stays as it is
    } else if (is_carried) {
      sources.push_back(Place{l.materialize(next[i], next[i]->name + "_next", n), nullptr});
    } else {
      sources.push_back(std::move(p));
    }
  }
  for (size_t i = 0; i < next.size(); ++i) {
    if (!sources[i]) continue;
    KernelBuilder k(l, l.unique_kernel_name("next"));
    const Index at = k.axes(next[i]->type.sizes);
    k.store(targets[i], at, k.load(sources[i]->buffer, sources[i]->map ? sources[i]->map(at) : at));
    l.finish(k, n);
  }
}

// ---- results that a for fills row by row

Types rows_type(const Node& n) {
  return {contiguous_type(*dtype_arg(n, "dtype"), syms_arg(n, "size"), device_of(n))};
}

void lower_rows(Lowering& l, const Node& n) { l.output(n); }

void lower_set_row(Lowering& l, const Node& n) {
  const Sym row = sym_arg(n, "index");
  l.copy_into(n, tensor_arg(n, "row"), l.place(tensor_arg(n, "rows")).buffer,
              [row](const Index& index) {
                Index at = {row};
                at.insert(at.end(), index.begin(), index.end());
                return at;
              });
}

Types no_types(const Node&) { return {}; }

}  // namespace

Control control_of(const OpDef& op) {
  constexpr std::string_view kPrefix = "aotc.";
  const auto* m = op.as<LoopsMeaning>();
  if (!m || m->kind != LoopsKind::Control) return Control::None;
  return control_named(std::string_view(op.name()).substr(kPrefix.size())).value_or(Control::None);
}

std::vector<Control> controls_of(const Graph& g) {
  std::vector<Control> all;
  for (const auto& n : g.nodes) all.push_back(control_of(*n->op));
  return all;
}

Rows control_ops() {
  return {
      marker("aotc.if(SymInt condition) -> ()", Control::If),
      marker("aotc.else() -> ()", Control::Else),
      marker("aotc.end_if() -> ()", Control::EndIf),
      marker("aotc.while() -> ()", Control::While),
      marker("aotc.test(SymInt condition) -> ()", Control::Test),
      marker("aotc.end_while() -> ()", Control::EndWhile),
      marker("aotc.for(SymInt count) -> SymInt", Control::For),
      marker("aotc.end_for() -> ()", Control::EndFor),
      loops_op("aotc.assign(Tensor? previous, Tensor value) -> Tensor", LoopsKind::Creation,
               assigned_type, lower_assign),
      loops_op("aotc.carry(Tensor initial) -> Tensor", LoopsKind::Creation, same_type, lower_carry),
      loops_op("aotc.next(Tensor[] carried, Tensor[] next) -> ()", LoopsKind::Creation, no_types,
               lower_next),
      loops_op("aotc.rows(SymInt[] size, *, ScalarType dtype, Device? device=None) -> Tensor",
               LoopsKind::Creation, rows_type, lower_rows),
      loops_op("aotc.set_row(Tensor rows, Tensor row, SymInt index) -> ()", LoopsKind::Creation,
               no_types, lower_set_row),
  };
}

}  // namespace aotc
