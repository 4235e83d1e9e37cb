// Stage 2: nothing mutates any more. Each storage (an input, or a fresh tensor) has a current
// value; a mutation makes a new one, through the view that was written (aotc.write_view); a view of
// a storage that has changed is recomputed from the current value when it is next read. At the end
// every changed input is a WriteBack.
#include <algorithm>
#include <map>

#include "ir/declared_types.h"
#include "ir/graph.h"
#include "ir/ops/control.h"
#include "ir/ops/op.h"
#include "ir/ops/rewriter.h"
#include "ir/ops/shape_math.h"
#include "ir/runtime_conditions.h"

namespace aotc {
namespace {

// The result of the op is its argument's storage; others (view_copy) only name the elements as a
// view does.
bool shares_storage(const OpDef& op) {
  return op.is_view() && (op.schema.args[0].aliased || op.schema.args[0].mutated);
}

// Whether `v` is `base` or a view of it.
bool is_view_of(Value* v, const Value* base) {
  while (v != base && v->producer && shares_storage(*v->producer->op))
    v = std::get<Value*>(v->producer->args[0]);
  return v == base;
}

class Functionalizer {
 public:
  explicit Functionalizer(Graph& g) : g_(g) {}

  void run() {
    unify_shared_storages();
    used_ = used_values(g_);
    find_last_uses();
    std::list<std::unique_ptr<Node>> old;
    old.swap(g_.nodes);
    for (auto& n : old) process(std::move(n));
    // Old nodes stay alive: types and sources of values refer to them until dead code is removed.
    finish_signature();
    retired_.clear();
  }

 private:
  // What is known of a value of the mutating program.
  struct Alias {
    Value* root = nullptr;    // the value that owns the storage
    Value* parent = nullptr;  // the tensor that `view` is taken of; nullptr for a root
    Node* view = nullptr;     // the (old) view node
    size_t result = 0;        // which of its outputs
    Value* image = nullptr;   // its value in the functional program ...
    int version = 0;          // ... as of this version of the root
  };
  struct Root {
    Value* current = nullptr;
    int version = 0;
    Node* last_mutation = nullptr;
    int block = 0;  // where it is made
  };

  // Two inputs that are the same view of one storage are one storage.
  void unify_shared_storages() {
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      Input& a = g_.inputs[i];
      if (!a.value) continue;
      Value* root = a.value;
      for (size_t j = 0; j < i && a.stored.storage >= 0; ++j) {
        const Input& b = g_.inputs[j];
        if (b.stored.storage != a.stored.storage) continue;
        if (b.stored.sizes == a.stored.sizes && b.stored.strides == a.stored.strides &&
            b.stored.offset == a.stored.offset) {
          root = alias_.at(b.value).root;
          break;
        }
        overlapping_[a.value] = b.value;
        overlapping_[b.value] = a.value;
      }
      alias_[a.value] = {root, nullptr, nullptr, 0, root, 0};
      if (root == a.value) roots_[root] = {root, 0, nullptr, 0};
    }
  }

  Value* get(Value* v) {
    auto it = alias_.find(v);
    if (it == alias_.end()) {  // made by a rewrite in this pass: its own storage
      define_root(v, v);
      return v;
    }
    Alias& a = it->second;
    Root& root = roots_.at(a.root);
    if (!a.view) return root.current;
    if (a.version == root.version) return a.image;
    Node* clone = clone_with(*a.view, {{a.parent, get(a.parent)}});
    a.image = clone->output(a.result);
    a.version = root.version;
    return a.image;
  }

  // The same as a chain of views that starts at the root's current value: what a mutation computed
  // for a view is equal to that, but a tensor of its own.
  Value* view_of_current(Value* v) {
    const Alias a = alias_.at(v);
    Value* image = get(v);
    if (!a.view || is_view_of(image, roots_.at(a.root).current)) return image;
    return clone_with(*a.view, {{a.parent, view_of_current(a.parent)}})->output(a.result);
  }

  void define_root(Value* v, Value* image) {
    alias_[v] = {v, nullptr, nullptr, 0, image, 0};
    roots_[v] = {image, 0, nullptr, blocks_.back()};
  }

  Node* clone_with(const Node& n, const std::map<Value*, Value*>& fixed) {
    std::vector<TensorType> types;
    for (Value* o : n.outputs) types.push_back(o->type);
    std::map<Value*, Value*> now = fixed;  // before the node: views that are taken anew come first
    Graph::for_each_operand(n, [&](Value* v) {
      if (!now.contains(v)) now[v] = get(v);
    });
    Node* c = g_.insert(g_.nodes.end(), n.op, n.args, types, n.name, n.source);
    for (size_t i = 0; i < n.outputs.size(); ++i)
      if (n.outputs[i]->kind == ValueKind::SymInt) {
        c->outputs[i]->kind = ValueKind::SymInt;
        c->outputs[i]->sym = n.outputs[i]->sym;
      }
    Graph::replace_operands(*c, [&](Value* v) { return now.at(v); });
    return c;
  }

  void process(std::unique_ptr<Node> node) {
    Node* n = node.get();
    retired_.push_back(std::move(node));
    enter(control_of(*n->op));
    bool rewrites = n->op->as<RewriteMeaning>() && !n->op->mutates();
    bool may_alias = std::any_of(n->op->schema.args.begin(), n->op->schema.args.end(),
                                 [](const SchemaArg& a) { return a.aliased; });
    if (n->op->mutates()) return mutate(*n);
    if (rewrites && n->op->as<RewriteMeaning>()->writes_arguments) return expand(*n);
    if (n->op->put) return take_image(*n);
    if (shares_storage(*n->op)) return take_view(*n);
    refuse_other_mutations(*n);
    if (rewrites && may_alias) return expand(*n);
    Node* c = clone_with(*n, {});
    for (size_t i = 0; i < n->outputs.size(); ++i) define_root(n->outputs[i], c->outputs[i]);
  }

  // Branches and loops are blocks; each part of an if is one.
  void enter(Control c) {
    const bool begins = c == Control::If || c == Control::While || c == Control::For;
    const bool ends = c == Control::EndIf || c == Control::EndWhile || c == Control::EndFor;
    if (ends || c == Control::Else) blocks_.pop_back();
    if (begins || c == Control::Else) blocks_.push_back(++last_block_);
  }

  // Whether the mutation happens would depend on a condition.
  void refuse_from_block(const Node& n, Value* root) const {
    if (roots_.at(root).block == blocks_.back()) return;
    user_error(
        "{}: node '{}': {} mutates a tensor from outside of its branch or loop, which is not "
        "supported; compute the new value there, return it, and mutate afterwards",
        n.source.str(), n.name, n.op->name());
  }

  void refuse_other_mutations(const Node& n) {
    for (const SchemaArg& a : n.op->schema.args)
      if (a.mutated)
        user_error(
            "{}: node '{}': {} mutates its argument '{}', which is not supported in this form; "
            "call run_decompositions() "
            "before saving",
            n.source.str(), n.name, n.op->name(), a.name);
  }

  // The input or buffer that `v` is the very tensor of, not a view; nullptr for others.
  const Input* input_itself(Value* v) const {
    const Alias* a = &alias_.at(v);
    while (a->view && a->view->op->schema.args[0].mutated) a = &alias_.at(a->parent);
    if (a->view) return nullptr;
    for (const Input& in : g_.inputs)
      if (in.value == a->root) return &in;
    return nullptr;
  }

  // An in-place view (transpose_) of an input would have to change the caller's tensor itself.
  void refuse_reshaped_input(const Node& n, Value* base) {
    if (!n.op->schema.args[0].mutated) return;
    const TensorType &before = base->type, &after = n.output()->type;
    if (before.sizes == after.sizes && before.strides == after.strides) return;
    if (const Input* in = input_itself(base))
      user_error(
          "{}: node '{}': {} changes the shape of the {} '{}' itself, which is not supported; use "
          "the form without '_' and return the result",
          n.source.str(), n.name, n.op->name(), in->is_user() ? "input" : "buffer",
          in->is_user() ? in->name : in->target);
  }

  void take_view(Node& n) {
    Value* base = std::get<Value*>(n.args[0]);
    get(base);
    refuse_reshaped_input(n, base);
    if (!n.op->as<ViewMeaning>()->always_aliases && !may_share(base->type, n.output()->type)) {
      Node* c = clone_with(n, {});  // a copy: a storage of its own
      for (size_t i = 0; i < n.outputs.size(); ++i)
        define_root(n.outputs[i], copy_of(c->outputs[i], n));
      const Sym same = g_.assumptions().simplify(layouts_agree(base->type, n.output()->type));
      if (!same.is(0)) sometimes_one_.push_back({alias_.at(base).root, n.output(), same});
      return;
    }
    Value* current = get(base);
    Node* c = clone_with(n, {{base, current}});
    Value* root = alias_.at(base).root;
    for (size_t i = 0; i < n.outputs.size(); ++i)
      alias_[n.outputs[i]] = {root, base, &n, i, c->outputs[i], roots_.at(root).version};
  }

  // The storage under other numbers: computed anew from the current value, as a view is taken anew.
  void take_image(Node& n) {
    Value* base = std::get<Value*>(n.args[0]);
    Value* image = clone_with(n, {})->output();
    Value* root = alias_.at(base).root;
    alias_[n.output()] = {root, base, &n, 0, image, roots_.at(root).version};
  }

  // A view as a value of its own storage: nothing mutates it through its base. A later stage fuses
  // the copy.
  Value* copy_of(Value* v, const Node& n) {
    Rewriter r(g_, g_.nodes.end(), n);
    return r.clone(v);
  }

  // Whether eager's reshape or contiguous of `in` to `out` shares storage: every output dimension
  // must walk memory with one stride.
  static bool may_share(const TensorType& in, const TensorType& out) {
    if (in.strides.size() != in.sizes.size()) return true;
    if (in.sizes == out.sizes) return same_layout(in, out);
    return view_strides(in, out.sizes).has_value();
  }

  // Dimensions of size 1 are never walked.
  static bool same_layout(const TensorType& a, const TensorType& b) {
    if (b.strides.size() != b.sizes.size()) return a.strides == contiguous_strides(a.sizes);
    for (size_t d = 0; d < a.sizes.size(); ++d)
      if (a.sizes[d].is(0)) return true;
    for (size_t d = 0; d < a.sizes.size(); ++d)
      if (!a.sizes[d].is(1) && !(a.strides[d] == b.strides[d])) return false;
    return true;
  }

  // A composite op whose result may be its argument or a view of it: what it expands to decides.
  void expand(Node& n) {
    Graph scratch;
    scratch.symbols = g_.symbols;
    Rewriter r(scratch, scratch.nodes.end(), n);
    std::vector<Value*> results = n.op->as<RewriteMeaning>()->fn(r);
    for (auto& v : scratch.values) g_.values.push_back(std::move(v));
    g_.symbols.insert(scratch.symbols.begin(), scratch.symbols.end());  // values read from data
    for (auto& inner : scratch.nodes) process(std::move(inner));
    check_declared(n, results, used_);
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      AOTC_CHECK(results[i], "{} yields nothing for output {}", n.op->name(), i);
      get(results[i]);
      alias_[n.outputs[i]] = alias_.at(results[i]);
    }
  }

  void mutate(Node& n) {
    Value* target = std::get<Value*>(n.args[0]);
    get(target);
    Value* root = alias_.at(target).root;
    refuse_constant(n, root);
    refuse_from_block(n, root);
    require_copies(n, root);
    Node twin;
    twin.op = n.op->twin;
    twin.args = n.args;
    twin.name = n.name;
    twin.source = n.source;
    Graph::replace_operands(twin, [&](Value* v) { return get(v); });
    Rewriter r(g_, g_.nodes.end(), n);
    Value* result = r.emit(twin.op->name(), twin.args)->output(0);
    result = r.cast(result, target->type.dtype);
    if (result->type.sizes != target->type.sizes) result = r.expand(result, target->type.sizes);
    result->type.strides = target->type.strides;
    write(r, target, result);
    Root& state = roots_.at(root);
    ++state.version;
    state.last_mutation = &n;
    Alias& a = alias_.at(target);
    Alias updated = a;
    updated.image = result;
    updated.version = state.version;
    if (a.view) alias_[target] = updated;
    for (Value* o : n.outputs) alias_[o] = updated;
  }

  // ---- copies that are no copies for some sizes

  // When the tensor is contiguous, a copy that would make it so is the tensor itself.
  static Sym layouts_agree(const TensorType& in, const TensorType& out) {
    const std::vector<Sym>& to = in.sizes == out.sizes && out.strides.size() == out.sizes.size()
                                     ? out.strides
                                     : contiguous_strides(in.sizes);
    Sym all(1), any_empty(0);
    for (size_t d = 0; d < in.sizes.size(); ++d) {
      all = sym_and(all, sym_or(sym_eq(in.sizes[d], Sym(1)), sym_eq(in.strides[d], to[d])));
      any_empty = sym_or(any_empty, sym_eq(in.sizes[d], Sym(0)));
    }
    return sym_and(all, sym_not(any_empty));
  }

  void find_last_uses() {
    size_t i = 0;
    for (const auto& n : g_.nodes) {
      Graph::for_each_operand(*n, [&](Value* v) { last_use_[v] = i; });
      place_[n.get()] = i++;
    }
    for (const Output& o : g_.outputs)
      if (o.value) last_use_[o.value] = i;
  }

  // Whether what happens to the storage can still be seen after the node.
  bool is_needed_after(const Node& n, const Value* root) const {
    if (is_input(root)) return true;
    const auto now = place_.find(&n);
    for (const auto& [v, alias] : alias_) {
      const auto use = last_use_.find(v);
      if (alias.root == root && use != last_use_.end() &&
          (now == place_.end() || use->second > now->second))
        return true;
    }
    return false;
  }

  // A mutation of one of two tensors that are one for some sizes: those sizes are refused.
  void require_copies(const Node& n, const Value* root) {
    for (const SometimesOne& pair : sometimes_one_) {
      if (pair.source != root && pair.copy != root) continue;
      if (!is_needed_after(n, pair.source == root ? pair.copy : pair.source)) continue;
      require_in_call(g_, g_.nodes.end(), n, sym_not(pair.same),
                      fmt::format("for other sizes it writes the tensor that '{}' is a copy of",
                                  pair.copy->name),
                      blocks_.size() > 1);
    }
  }

  // Makes the storage of `target` hold `value` there: through its images, then through its views.
  void write(Rewriter& r, Value* target, Value* value) {
    for (Value* v = nearest_image(target); v; v = nearest_image(target)) {
      const Alias& image = alias_.at(v);
      Value* whole = get(v);
      if (v != target) value = r("aotc.write_view", {whole, view_from(target, v, whole), value});
      target = image.parent;
      value = image.view->op->put(r, get(target), value);
    }
    Root& state = roots_.at(alias_.at(target).root);
    if (alias_.at(target).view)
      value = r("aotc.write_view", {state.current, view_of_current(target), value});
    state.current = value;
    state.current->type.strides = alias_.at(target).root->type.strides;
  }

  // The storage under other numbers that `v` is or is a view of; nullptr where its numbers are
  // those of the storage.
  Value* nearest_image(Value* v) const {
    for (const Alias* a = &alias_.at(v); a->view; v = a->parent, a = &alias_.at(v))
      if (a->view->op->put) return v;
    return nullptr;
  }

  // The views that lead from `base` to `v`, taken of `now`.
  Value* view_from(Value* v, const Value* base, Value* now) {
    if (v == base) return now;
    const Alias a = alias_.at(v);
    return clone_with(*a.view, {{a.parent, view_from(a.parent, base, now)}})->output(a.result);
  }

  void refuse_constant(const Node& n, Value* root) {
    for (const Input& in : g_.inputs) {
      if (in.value != root) continue;
      if (in.kind == InputKind::Constant || in.kind == InputKind::Parameter)
        user_error("{}: node '{}': {} mutates '{}', a {}; register it as a buffer to make it state",
                   n.source.str(), n.name, n.op->name(), in.target,
                   in.kind == InputKind::Constant ? "constant of the program" : "parameter");
      if (overlapping_.contains(root))
        user_error(
            "{}: node '{}': {} mutates buffer '{}', which shares its storage with another buffer "
            "or parameter under "
            "another shape; give it a storage of its own (clone it before registering)",
            n.source.str(), n.name, n.op->name(), in.target);
    }
  }

  // A view of a changed input as a view of what is written back, so that it is seen to be that
  // storage: the value that a mutation computed for the view is equal, but a tensor of its own.
  Value* place(Value* v) {
    const auto it = alias_.find(v);
    if (it == alias_.end() || roots_.at(it->second.root).version == 0 || !is_input(it->second.root))
      return get(v);
    return view_of_current(v);
  }

  bool is_input(const Value* root) const {
    return std::any_of(g_.inputs.begin(), g_.inputs.end(),
                       [&](const Input& in) { return in.value == root; });
  }

  void finish_signature() {
    for (Output& o : g_.outputs)
      if (o.value) o.value = place(o.value);
    for (WriteBack& w : g_.write_backs) w.value = get(w.value);
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      const Input& in = g_.inputs[i];
      if (!in.value || !roots_.contains(in.value)) continue;
      const Root& r = roots_.at(in.value);
      if (r.version == 0) continue;
      g_.write_backs.push_back(
          {static_cast<int>(i), r.current, r.last_mutation->source, r.last_mutation->op->name()});
    }
  }

  // A tensor and a copy of it that is the tensor itself when `same` holds.
  struct SometimesOne {
    const Value* source;
    const Value* copy;
    Sym same;
  };

  Graph& g_;
  std::map<Value*, Alias> alias_;
  std::vector<SometimesOne> sometimes_one_;
  std::map<const Value*, size_t> last_use_;  // of the mutating program
  std::map<const Node*, size_t> place_;
  std::map<Value*, Root> roots_;
  std::map<Value*, Value*> overlapping_;
  std::vector<std::unique_ptr<Node>> retired_;
  std::set<const Value*> used_;    // of the mutating program
  std::vector<int> blocks_ = {0};  // those around the node, the innermost last
  int last_block_ = 0;
};

// The value that a chain of views starts from.
Value* view_root(Value* v) {
  while (v->producer && shares_storage(*v->producer->op))
    v = std::get<Value*>(v->producer->args[0]);
  return v;
}

// An output that is (a view of) an input's storage after the call: of the value written back to it,
// or of an input that nothing writes.
void find_output_aliases(Graph& g) {
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    Value* v = g.outputs[i].value;
    if (!v) continue;
    Value* root = view_root(v);
    int input = -1;
    for (const WriteBack& w : g.write_backs)
      if (input < 0 && is_view_of(v, w.value)) input = w.input;
    for (size_t k = 0; k < g.inputs.size() && input < 0; ++k) {
      if (g.inputs[k].value != root || g.inputs[k].kind != InputKind::User) continue;
      bool written =
          std::any_of(g.write_backs.begin(), g.write_backs.end(),
                      [&](const WriteBack& w) { return w.input == static_cast<int>(k); });
      if (!written) input = static_cast<int>(k);
    }
    if (input >= 0) g.aliases.push_back({static_cast<int>(i), input, v});
  }
}

}  // namespace

FunctionalGraph functionalize(ImportedGraph imported) {
  Graph& g = *imported.graph;
  add_runtime_conditions(g);
  Functionalizer(g).run();
  find_output_aliases(g);
  g.remove_dead_nodes();
  return {std::move(imported.graph)};
}

}  // namespace aotc
