// Which ops, in which order, and what the program returns.
#include "maker.h"

#include <algorithm>

#include "arguments.h"

namespace aotc::random_graphs {
namespace {

// Results that are no function of the inputs, symbols that only an importer can make, and integers
// out of tensors.
bool is_left_out(const std::string& name) {
  static constexpr const char* kPrefixes[] = {"aotc.",
                                              "aten.empty",
                                              "aten.new_empty",
                                              "aten.sym_",
                                              "aten.item",
                                              "aten._local_scalar",
                                              "aten._assert_tensor_metadata",
                                              "aten.max_unpool",
                                              "aten.col2im",
                                              "aten.lstm.",
                                              "aten.gru.",
                                              "aten.rnn_tanh.",
                                              "aten.rnn_relu.",
                                              "aten._embedding_bag",
                                              "aten.embedding_bag",
                                              "aten.native_group_norm",
                                              "aten._trilinear"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* p) { return name.starts_with(p); });
}

struct Choices {
  std::vector<const OpDef*> scalars, reduces, views, loops, rewrites, in_place, common_in_place,
      all;
};

// "aten.add_.Tensor" of "aten.add.Tensor".
const OpDef* in_place_form(const OpDef& op) {
  if (!op.in_place_name.empty()) return find_op(op.in_place_name);
  size_t dot = op.name().find('.', op.name().find('.') + 1);
  const OpDef* form = find_op(op.name().substr(0, dot) + "_" + op.name().substr(dot));
  return form && form->mutates() ? form : nullptr;
}

Choices choices(const std::string& pattern) {
  Choices c;
  for (const OpDef* op : all_ops()) {
    if (is_left_out(op->name())) continue;
    bool wanted = op->name().find(pattern) != std::string::npos;
    const OpDef* in_place = in_place_form(*op);
    if (op->is_view()) c.views.push_back(op);
    if (in_place && (wanted || in_place->name().find(pattern) != std::string::npos))
      c.in_place.push_back(in_place);
    if (!wanted) continue;
    auto& list = op->is_view()             ? c.views
                 : op->as<ScalarMeaning>() ? c.scalars
                 : op->as<ReduceMeaning>() ? c.reduces
                 : op->as<LoopsMeaning>()  ? c.loops
                                           : c.rewrites;
    if (!op->is_view()) list.push_back(op);
    c.all.push_back(op);
  }
  for (const char* name :
       {"aten.add_.Tensor", "aten.add_.Scalar", "aten.mul_.Tensor", "aten.copy_.default",
        "aten.copy_.default", "aten.copy_.default", "aten.fill_.Scalar", "aten.zero_.default",
        "aten.index_put_.default", "aten.index_copy_.default", "aten.masked_fill_.Scalar",
        "aten.relu_.default", "aten.scatter_.src", "aten.sub_.Tensor", "aten.index_add_.default"})
    if (const OpDef* op = find_op(name)) c.common_in_place.push_back(op);
  return c;
}

class Maker {
 public:
  Maker(uint64_t seed, const MakerOptions& options, DrawLog& log)
      : pool_(seed, log), options_(options), choices_(choices(options.ops)) {}

  std::unique_ptr<Graph> run() {
    int64_t nodes = pool_.chance(3) ? pool_.integer(1, options_.max_nodes)
                                    : pool_.integer(1, std::max(1, options_.max_nodes / 4));
    for (int64_t attempts = 0; attempts < 40 * nodes && count() < nodes; ++attempts) step();
    finish();
    return pool_.release();
  }

 private:
  int64_t count() { return static_cast<int64_t>(pool_.graph().nodes.size()); }

  void step() {
    int64_t kind = pool_.integer(1, 100);
    if (kind <= 28) return mutate();
    const OpDef* op = kind <= 55 ? pool_.pick(choices_.views) : any_op();
    if (!op) return;
    for (int attempt = 0; attempt < 8; ++attempt) {
      auto args = draw_arguments(pool_, *op);
      if (args && pool_.emit(*op, *args)) return;
    }
  }

  const OpDef* any_op() {
    if (choices_.all.empty()) return nullptr;
    int64_t kind = pool_.integer(1, 100);
    const auto& list = kind <= 30   ? choices_.scalars
                       : kind <= 45 ? choices_.reduces
                       : kind <= 65 ? choices_.loops
                       : kind <= 85 ? choices_.rewrites
                                    : choices_.all;
    return pool_.pick(list.empty() ? choices_.all : list);
  }

  void mutate() {
    const auto& list =
        pool_.chance(2) || choices_.in_place.empty() ? choices_.common_in_place : choices_.in_place;
    const OpDef* op = pool_.pick(list);
    for (int attempt = 0; attempt < 6; ++attempt) {
      Value* target = pool_.writable();
      if (!target) return;
      auto args = draw_arguments(pool_, *op, target);
      if (args && pool_.emit(*op, *args)) return;
    }
  }

  // ---- the signature

  void finish() {
    if (pool_.chance(3)) write_back();
    int64_t outputs =
        pool_.integer(pool_.graph().write_backs.empty() && pool_.chance(8) ? 0 : 1, 4);
    for (int64_t i = 0; i < outputs; ++i) output(pool_.any());
    if (pool_.chance(6)) output(pool_.tensors().back());
    if (pool_.chance(10)) repeat_output();
    if (pool_.chance(15)) number_output();
  }

  void output(Value* v) {
    Output o;
    o.value = v;
    o.name = v->name;
    pool_.graph().outputs.push_back(o);
  }

  void repeat_output() {
    Graph& g = pool_.graph();
    if (!g.outputs.empty() && g.outputs.back().value) output(g.outputs.back().value);
  }

  void number_output() {
    Output o;
    Graph& g = pool_.graph();
    o.name = "output" + std::to_string(g.outputs.size());
    o.kind = pool_.chance(3) ? OutputKind::None : OutputKind::Scalar;
    o.scalar = Sym(7);
    for (const Input& in : g.inputs)
      for (const Sym& s : in.value->type.sizes)
        if (s.symbol_name()) o.scalar = s + 1;
    g.outputs.push_back(o);
  }

  // As a decomposed archive says it: an input holds a value after the call.
  void write_back() {
    Graph& g = pool_.graph();
    for (size_t i = 0; i < g.inputs.size(); ++i) {
      const Input& in = g.inputs[i];
      bool kind = in.kind == InputKind::User || in.kind == InputKind::Buffer;
      if (!kind || !pool_.may_write(in.value) || pool_.is_mutated(in.value) || pool_.chance(3))
        continue;
      Value* v = pool_.any([&](const Value& x) {
        return &x != in.value && x.type.dtype == in.value->type.dtype &&
               x.type.sizes == in.value->type.sizes;
      });
      if (v)
        g.write_backs.push_back(
            {static_cast<int>(i), v, {}, v->producer ? v->producer->op->name() : ""});
    }
  }

  Pool pool_;
  const MakerOptions& options_;
  Choices choices_;
};

}  // namespace

std::unique_ptr<Graph> make_graph(uint64_t seed, const MakerOptions& options, DrawLog& log) {
  return Maker(seed, options, log).run();
}

}  // namespace aotc::random_graphs
