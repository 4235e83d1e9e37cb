// Stage 4: from core nodes to loop kernels, one per op. Views become index maps; every write-back
// is a copy.
#include "ir/lowering.h"

#include <algorithm>
#include <set>

#include "ir/input_layout.h"
#include "ir/symbol_sources.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

namespace {

std::string identifier(const std::string& text) {
  std::string s;
  for (char c : text) s += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return s;
}

// "aten.add.Tensor" -> "add"
std::string short_op(const std::string& op) {
  size_t a = op.find('.');
  size_t b = op.find('.', a + 1);
  return op.substr(a + 1, b - a - 1);
}

}  // namespace

Lowering::Lowering(std::shared_ptr<Graph> graph) : assumptions_(graph->assumptions()) {
  program_.graph = std::move(graph);
  for (const Input& i : program_.graph->inputs)
    if (i.value && i.value->kind == ValueKind::Tensor) input_buffer(i.value);
}

BufferId Lowering::input_buffer(Value* v) {
  const auto& inputs = graph().inputs;
  auto it =
      std::find_if(inputs.begin(), inputs.end(), [&](const Input& i) { return i.value == v; });
  AOTC_CHECK(it != inputs.end(), "value %{} has no producer and is no input", v->name);
  Buffer b;
  b.name = v->name;
  b.dtype = v->type.dtype;
  b.sizes = v->type.sizes;
  b.device = v->type.device;
  if (it->stored.storage >= 0) {
    b.home = Home::Storage;
    b.index = it->stored.storage;
    b.strides.assign(it->stored.strides.begin(), it->stored.strides.end());
    b.offset = it->stored.offset;
  } else {
    b.home = Home::Input;
    b.index = static_cast<int>(it - inputs.begin());
    b.strides = compiled_strides(v->type, assumptions_);
  }
  program_.buffers.push_back(std::move(b));
  BufferId id = static_cast<BufferId>(program_.buffers.size()) - 1;
  places_[v] = {id, nullptr};
  return id;
}

Place Lowering::place(Value* v) {
  auto it = places_.find(v);
  if (it != places_.end()) return it->second;
  Node* n = v->producer;
  AOTC_CHECK(n && n->op->is_view(), "value %{} was not lowered", v->name);
  const ViewMeaning* view = n->op->as<ViewMeaning>();
  Place base = place(std::get<Value*>(n->args[0]));
  int k = v->output_index;
  Place p{base.buffer, [n, view, k, inner = base.map](const std::vector<Sym>& index) {
            std::vector<Sym> at = view->map(*n, k, index);
            return inner ? inner(at) : at;
          }};
  places_[v] = p;
  return p;
}

E Lowering::load(KernelBuilder& k, Value* v, const std::vector<Sym>& index, E guard, E otherwise) {
  if (v->kind == ValueKind::SymInt) return k.index(v->sym);
  Place p = place(v);
  return k.load(p.buffer, p.map ? p.map(index) : index, guard, otherwise);
}

BufferId Lowering::temp(const std::string& name, DType dtype, std::vector<Sym> sizes) {
  Buffer b;
  b.name = name;
  b.dtype = dtype;
  b.strides = contiguous_strides(sizes);
  b.sizes = std::move(sizes);
  b.device = device_;
  program_.buffers.push_back(std::move(b));
  return static_cast<BufferId>(program_.buffers.size()) - 1;
}

BufferId Lowering::output(const Node& n, int i) {
  Value* v = n.output(static_cast<size_t>(i));
  BufferId id = temp(v->name, v->type.dtype, v->type.sizes);
  program_.buffers.back().device = v->type.device;
  places_[v] = {id, nullptr};
  return id;
}

std::string Lowering::unique_kernel_name(const std::string& base) {
  return fmt::format("k{}_{}", program_.kernels.size(), identifier(base));
}

Device Lowering::device_of(const Kernel& k) const {
  const auto device = [&](BufferId b) { return program_.buffers[static_cast<size_t>(b)].device; };
  const std::set<BufferId> written = buffers_written(k), read = buffers_read(k);
  if (!written.empty()) return device(*written.begin());
  for (BufferId b : read)
    if (!(device(b) == Device{})) return device(b);
  return {};
}

void Lowering::finish(KernelBuilder& builder, const Node& n) {
  Kernel& k = builder.kernel();
  k.origins.push_back({n.op->name(), n.name, n.source});
  k.device = device_of(k);
  Assumptions a = program_.assumptions(k);
  for (Expr& e : k.exprs) {
    e.index = a.simplify(e.index);
    for (Sym& s : e.at) s = a.simplify(s);
  }
  for (Phase& p : k.phases)
    for (Store& s : p.stores)
      for (Sym& at : s.at) at = a.simplify(at);
  program_.kernels.push_back(std::move(k));
}

void Lowering::lower_core_node(const Node& n) {
  AOTC_CHECK(!n.op->mutates(), "{} mutates", n.op->name());
  if (n.op->is_view()) return;
  if (auto* m = n.op->as<ScalarMeaning>()) return lower_scalar(n, *m);
  if (auto* m = n.op->as<ReduceMeaning>()) return lower_reduce(n, *m);
  auto* m = n.op->as<LoopsMeaning>();
  AOTC_CHECK(m, "{} is no core op", n.op->name());
  m->fn(*this, n);
}

namespace {

// Temporaries of a node live where its results do; without a tensor among them, where its first
// argument does.
Device device_of_node(const Node& n) {
  for (const Value* v : n.outputs)
    if (v->kind == ValueKind::Tensor) return v->type.device;
  Device device;
  bool found = false;
  Graph::for_each_operand(n, [&](Value* v) {
    if (!found && v->kind == ValueKind::Tensor) device = v->type.device, found = true;
  });
  return device;
}

}  // namespace

void Lowering::lower_node(const Node& n) {
  device_ = device_of_node(n);
  try {
    lower_core_node(n);
  } catch (const UnsupportedType& e) {
    user_error("{}: node '{}' ({}): {}; cast its operands first", n.source.str(), n.name,
               n.op->name(), e.what());
  }
}

void Lowering::lower_scalar(const Node& n, const ScalarMeaning& m) {
  auto [common, result] = pointwise_types(n, m);
  KernelBuilder k(*this, unique_kernel_name(short_op(n.op->name())));
  std::vector<Sym> index = k.axes(n.output()->type.sizes);
  Elements x(k, n, index, common, compute_type(common));
  E value = m.fn(x);
  BufferId out = output(n);
  k.store(out, index, cast(cast(value, result), n.output()->type.dtype));
  finish(k, n);
}

void Lowering::lower_reduce(const Node& n, const ReduceMeaning& m) {
  Value* in = std::get<Value*>(n.args[0]);
  std::vector<int64_t> dims = reduced_dims(n);
  bool keep = n.op->schema.index_of("keepdim") >= 0 && bool_arg(n, "keepdim");
  KernelBuilder k(*this, unique_kernel_name(short_op(n.op->name())));
  std::vector<Sym> index(in->type.rank()), kept, at, count_factors;
  auto is_reduced = [&](size_t d) {
    return std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end();
  };
  for (size_t d = 0; d < in->type.rank(); ++d) {
    if (!is_reduced(d)) {
      index[d] = k.axis(in->type.sizes[d]);
      at.push_back(index[d]);
    } else if (keep) {
      at.push_back(Sym(0));
    }
  }
  for (int64_t d : dims) {
    index[static_cast<size_t>(d)] = k.inner_axis(in->type.sizes[static_cast<size_t>(d)]);
    count_factors.push_back(in->type.sizes[static_cast<size_t>(d)]);
  }
  Sym count = product(count_factors), position(0);
  for (int64_t d : dims)
    position = position * in->type.sizes[static_cast<size_t>(d)] + index[static_cast<size_t>(d)];

  DType result = n.output()->type.dtype;
  // Elements are accumulated in the result's compute type, or in their own where the result is
  // another kind.
  bool own_type =
      m.result == ReduceMeaning::Result::Index || m.result == ReduceMeaning::Result::Same;
  DType acc = m.result == ReduceMeaning::Result::Bool ? DType::Bool
              : own_type                              ? in->type.dtype
                                                      : compute_type(result);
  if (own_type && (m.combine != Prim::maximum && m.combine != Prim::minimum))
    acc = compute_type(acc);
  if (is_half(acc)) acc = compute_type(acc);
  E element = cast(load(k, in, index), acc);
  if (m.before) element = m.before(element);
  if (m.with_index || m.result == ReduceMeaning::Result::Index) {
    auto [best, where] = k.accumulate_best(m.combine, element, k.index(position));
    k.begin_phase();
    if (m.result == ReduceMeaning::Result::Index) {
      k.store(output(n, 0), at, k.result(where));
    } else {
      k.store(output(n, 0), at, cast(k.result(best), result));
      k.store(output(n, 1), at, k.result(where));
    }
  } else {
    int total = k.accumulate(m.combine, element);
    k.begin_phase();
    E value = k.result(total);
    if (m.after) value = m.after(value, count, n);
    k.store(output(n), at, cast(value, result));
  }
  finish(k, n);
}

void Lowering::check(
    const Node& n, const std::vector<Sym>& extents, const std::string& message,
    const std::function<E(KernelBuilder&, const std::vector<Sym>&, E&)>& condition) {
  KernelBuilder k(*this, unique_kernel_name("check_" + short_op(n.op->name())));
  std::vector<Sym> index = k.axes(extents);
  E report{};
  E ok = condition(k, index, report);
  k.kernel().kind = KernelKind::Check;
  k.kernel().condition = ok.id;
  k.kernel().report = report.id;
  k.kernel().message = fmt::format("{} ({}): {}", n.op->name(), n.source.str(), message);
  finish(k, n);
}

void Lowering::control(const Node& n, Control c) {
  KernelBuilder k(*this, unique_kernel_name(aotc::name(c)));
  k.kernel().kind = KernelKind::Control;
  k.kernel().control = c;
  if (!n.args.empty()) k.kernel().bound = assumptions_.simplify(std::get<Sym>(n.args[0]));
  if (c == Control::For) k.kernel().symbol = *n.output()->sym.symbol_name();
  finish(k, n);
}

Lowering::Strided Lowering::strided(const Node& n, Value* v) {
  Place p = place(v);
  Assumptions a = assumptions_;
  std::vector<Sym> index;
  for (size_t i = 0; i < v->type.rank(); ++i) {
    std::string name = fmt::format("@{}", i);
    index.push_back(Sym::symbol(name));
    a.set_axis(name, v->type.sizes[i]);
  }
  const Buffer b = program_.buffers[static_cast<size_t>(p.buffer)];
  Sym rest = a.simplify(flat_offset(b, p.map ? p.map(index) : index) - b.offset);
  std::vector<Sym> strides;
  bool affine = true;
  for (size_t i = 0; i < index.size() && affine; ++i) {
    auto linear = rest.linear_in(fmt::format("@{}", i));
    affine = linear.has_value();
    if (!affine) break;
    for (const std::string& s : linear->coefficient.symbols()) affine &= s[0] != '@';
    strides.push_back(linear->coefficient);
    rest = linear->rest;
  }
  if (affine) return {p.buffer, rest, strides};
  BufferId copy = materialize(v, v->name + "_strided", n);
  return {copy, Sym(0), contiguous_strides(v->type.sizes)};
}

BufferId Lowering::materialize(Value* v, const std::string& name, const Node& n) {
  KernelBuilder k(*this, unique_kernel_name("copy_" + v->name));
  std::vector<Sym> index = k.axes(v->type.sizes);
  E value = load(k, v, index);
  const auto taken = [&](const std::string& text) {
    return std::any_of(program_.buffers.begin(), program_.buffers.end(),
                       [&](const Buffer& b) { return b.name == text; });
  };
  std::string own = name;  // of an output, say, that is returned as it came in
  for (int i = 1; taken(own); ++i) own = fmt::format("{}_{}", name, i);
  BufferId out = temp(own, v->type.dtype, v->type.sizes);
  program_.buffers.back().device = v->type.device;
  k.store(out, index, value);
  finish(k, n);
  return out;
}

void Lowering::copy_into(const Node& n, Value* src, BufferId target,
                         const std::function<std::vector<Sym>(const std::vector<Sym>&)>& map) {
  KernelBuilder k(*this, unique_kernel_name(short_op(n.op->name())));
  std::vector<Sym> index = k.axes(src->type.sizes);
  k.store(target, map ? map(index) : index, load(k, src, index));
  finish(k, n);
}

namespace {

// A buffer that some kernel computes whole and that nothing else claims yet may itself be the
// output.
bool is_fresh(const Buffer& b, const Place& p) { return !p.map && b.home == Home::Temp; }

}  // namespace

std::optional<OutputView> Lowering::output_view(const OutputAlias& a) {
  Value* input = graph().inputs[static_cast<size_t>(a.input)].value;
  const Buffer& b = program_.buffers[static_cast<size_t>(place(input).buffer)];
  OutputView v{a.output, a.input, Sym(0), {}, true, {}, {}};
  Assumptions known = assumptions_;
  std::vector<Sym> at;
  for (size_t i = 0; i < a.view->type.rank(); ++i) {
    at.push_back(Sym::symbol(fmt::format("@{}", i)));
    known.set_axis(fmt::format("@{}", i), a.view->type.sizes[i]);
  }
  size_t rank = at.size();
  // The chain ends at the storage: at the input itself or at what is written back to it.
  const auto is_storage = [&](const Value* x) {
    return x == input ||
           std::any_of(graph().write_backs.begin(), graph().write_backs.end(),
                       [&](const WriteBack& w) { return w.input == a.input && w.value == x; });
  };
  for (Value* x = a.view; !is_storage(x) && x->producer && x->producer->op->is_view();
       x = std::get<Value*>(x->producer->args[0]))
    at = x->producer->op->as<ViewMeaning>()->map(*x->producer, x->output_index, at);
  if (at.size() != b.sizes.size()) return std::nullopt;
  for (Sym& s : at) s = known.simplify(s);
  // c*@i + rest for every dimension of the output, none of the coefficients with an @ of its own
  auto split = [&](Sym s, std::vector<Sym>& coefficients) {
    for (size_t i = 0; i < rank; ++i) {
      auto linear = s.linear_in(fmt::format("@{}", i));
      if (!linear) return std::optional<Sym>();
      for (const std::string& n : linear->coefficient.symbols())
        if (n[0] == '@') return std::optional<Sym>();
      coefficients.push_back(linear->coefficient);
      s = linear->rest;
    }
    return std::optional<Sym>(s);
  };
  Sym flat(0);
  for (size_t d = 0; d < at.size(); ++d) flat = flat + at[d] * b.strides[d];
  auto offset = split(known.simplify(flat), v.strides);
  if (!offset) return std::nullopt;
  v.offset = *offset;
  v.steps.assign(rank * at.size(), Sym(0));
  for (size_t d = 0; d < at.size(); ++d) {
    std::vector<Sym> steps;
    auto start = split(at[d], steps);
    v.simple = v.simple && start.has_value();
    if (!start) break;
    v.starts.push_back(*start);
    for (size_t i = 0; i < rank; ++i) v.steps[i * at.size() + d] = steps[i];
  }
  if (!v.simple) v.steps.clear(), v.starts.clear();
  return v;
}

// Outputs first: they may be views of values that write-backs overwrite. Then all write-back values
// that are seen through mutated storage are copied aside; then the write-backs.
void Lowering::add_write_backs_and_outputs() {
  Graph& g = graph();
  std::set<int> aliased;
  for (const OutputAlias& a : g.aliases) {
    auto view = output_view(a);
    if (!view) continue;
    aliased.insert(a.output);
    program_.output_views.push_back(*view);
  }
  Node origin;
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    program_.output_buffers.push_back(-1);
    const Output& o = g.outputs[i];
    if (o.kind != OutputKind::Tensor || aliased.contains(static_cast<int>(i))) continue;
    Place p = place(o.value);
    BufferId b = p.buffer;
    if (!is_fresh(program_.buffers[static_cast<size_t>(b)], p)) {
      Node copy;
      copy.op = o.value->producer ? o.value->producer->op : find_op("aotc.write_view");
      copy.name = o.name;
      if (o.value->producer) copy.source = o.value->producer->source;
      b = materialize(o.value, o.name, copy);
    }
    Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    buffer.home = Home::Output;
    buffer.index = static_cast<int>(i);
    // Templates have taken strides from buffers; other kernels index by dimension.
    bool fixed_layout = std::any_of(program_.kernels.begin(), program_.kernels.end(),
                                    [&](const Kernel& k) { return fixes_layout(k, b); });
    if (!fixed_layout && o.value->type.strides.size() == buffer.sizes.size() &&
        is_dense_permutation(buffer.sizes, o.value->type.strides))
      buffer.strides = o.value->type.strides;
    program_.output_buffers.back() = b;
  }
  std::set<BufferId> overwritten;
  for (const WriteBack& w : g.write_backs)
    overwritten.insert(place(g.inputs[static_cast<size_t>(w.input)].value).buffer);
  std::vector<Place> values;
  for (const WriteBack& w : g.write_backs) {
    Place p = place(w.value);
    Node copy;
    copy.op = w.value->producer ? w.value->producer->op : find_op("aotc.write_view");
    copy.name = w.op;
    copy.source = w.source;
    bool same_storage = false;  // another name of an overwritten storage
    const Buffer& b = program_.buffers[static_cast<size_t>(p.buffer)];
    for (BufferId o : overwritten) {
      const Buffer& t = program_.buffers[static_cast<size_t>(o)];
      same_storage |= o == p.buffer ||
                      (b.home == Home::Storage && t.home == Home::Storage && b.index == t.index);
    }
    if (same_storage) p = {materialize(w.value, w.value->name + "_old", copy), nullptr};
    values.push_back(p);
  }
  for (size_t i = 0; i < g.write_backs.size(); ++i) {
    const WriteBack& w = g.write_backs[i];
    Value* target = g.inputs[static_cast<size_t>(w.input)].value;
    Node copy;
    copy.op = w.value->producer ? w.value->producer->op : find_op("aotc.write_view");
    copy.name = w.op;
    copy.source = w.source;
    KernelBuilder k(*this, unique_kernel_name("write_back_" + target->name));
    std::vector<Sym> index = k.axes(target->type.sizes);
    BufferId t = place(target).buffer;
    k.store(t, index, k.load(values[i].buffer, values[i].map ? values[i].map(index) : index));
    k.kernel().kind = KernelKind::Copy;
    std::string name = k.kernel().name;
    finish(k, copy);
    program_.write_backs.push_back({static_cast<int>(i), t, values[i].map ? -1 : values[i].buffer,
                                    name, false, "not examined"});
  }
}

LoopProgram lower(CoreGraph core) {
  std::shared_ptr<Graph> graph = std::move(core.graph);
  require_solvable_inputs(*graph);
  Lowering lowering(graph);
  for (const auto& n : graph->nodes) lowering.lower_node(*n);
  lowering.add_write_backs_and_outputs();
  require_defined_sizes(lowering.program());
  return std::move(lowering.program());
}

}  // namespace aotc
