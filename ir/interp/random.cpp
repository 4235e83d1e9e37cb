// Inputs for tests of whole programs: drawn to fit the signature, or taken from the archive's
// samples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "ir/interp/bind.h"
#include "ir/interp/interp.h"
#include "ir/interp/random_data.h"
#include "ir/ops/op.h"
#include "ir/text/print_graph.h"

namespace aotc::interp {
namespace {

// Inputs whose memory some node or write-back changes.
std::set<const Value*> mutated_values(const Graph& g) {
  std::set<const Value*> roots;
  auto add = [&](const Value* v) {
    while (v->producer && !v->producer->args.empty()) {
      auto* from = std::get_if<Value*>(&v->producer->args[0]);
      if (!from || !*from) break;
      v = *from;
    }
    roots.insert(v);
  };
  for (const auto& n : g.nodes)
    if (n->op && n->op->mutates()) add(std::get<Value*>(n->args.at(0)));
  for (const WriteBack& w : g.write_backs)
    if (w.input >= 0) roots.insert(g.inputs[static_cast<size_t>(w.input)].value);
  return roots;
}

class Drawing {
 public:
  Drawing(const Graph& g, uint64_t seed, const RandomOptions& options)
      : graph_(g), options_(options), random_(seed), mutated_(mutated_values(g)) {}

  RunInputs draw(IntegerRange integers) {
    if (!draw_symbols())
      user_error(
          "no values of the symbols were found that satisfy the program's ranges and guards");
    RunInputs r;
    shareable_.clear();
    for (const Input& in : graph_.inputs) r.inputs.push_back(value(in, integers));
    if (!graph_.program) draw_storages(r, integers);
    return r;
  }

 private:
  std::set<std::string> free_symbols() const {
    std::set<std::string> names;
    for (const Input& in : graph_.inputs) {
      if (in.value && in.value->kind == ValueKind::Tensor)
        for (const Sym& s : in.value->type.sizes) names.merge(s.symbols());
      if (in.value && in.value->kind == ValueKind::SymInt) names.merge(in.value->sym.symbols());
      if (auto* s = std::get_if<Sym>(&in.scalar)) names.merge(s->symbols());
    }
    return names;
  }

  // Rejection sampling; the range widens while nothing fits.
  bool draw_symbols() {
    std::set<std::string> names = free_symbols();
    int64_t spread = std::max<int64_t>(options_.max_symbol, 0);
    for (int attempt = 0; attempt < 4000; ++attempt) {
      if (attempt % 250 == 249) spread = 2 * spread + 1;
      symbols_.clear();
      for (const std::string& name : names) {
        auto it = graph_.symbols.find(name);
        SymbolInfo info = it == graph_.symbols.end() ? SymbolInfo{} : it->second;
        int64_t low = info.min.value_or(0);
        int64_t high =
            std::min(info.max.value_or(std::numeric_limits<int64_t>::max()), low + spread);
        symbols_[name] = random_.integer(low, high);
      }
      if (broken_condition(graph_, symbols_).empty() && sizes_are_valid()) return true;
    }
    return false;
  }

  bool sizes_are_valid() const {
    for (const Input& in : graph_.inputs)
      if (in.value && in.value->kind == ValueKind::Tensor)
        for (const Sym& s : in.value->type.sizes)
          if (eval(s, symbols_) < 0) return false;
    return true;
  }

  RunValue value(const Input& in, IntegerRange integers) {
    if (in.kind == InputKind::User && in.value && in.value->kind == ValueKind::Tensor)
      return tensor(in, integers);
    if (in.value && in.value->kind == ValueKind::SymInt) return eval(in.value->sym, symbols_);
    if (in.kind != InputKind::UserScalar) return std::monostate{};
    if (auto* s = std::get_if<Sym>(&in.scalar)) return eval(*s, symbols_);
    if (auto* d = std::get_if<double>(&in.scalar)) return *d;
    if (auto* b = std::get_if<bool>(&in.scalar)) return *b;
    return std::monostate{};
  }

  Tensor tensor(const Input& in, IntegerRange integers) {
    const TensorType& type = in.value->type;
    std::vector<int64_t> sizes = eval(type.sizes, symbols_);
    bool read_only = !mutated_.contains(in.value);
    if (options_.strided_inputs && read_only && random_.chance(4))
      for (const Tensor& other : shareable_)
        if (other.dtype == type.dtype && other.sizes == sizes) return other;
    Tensor t = options_.strided_inputs
                   ? window(type.dtype, sizes)
                   : empty_strided(type.dtype, sizes,
                                   type.strides.empty() ? contiguous_strides(sizes)
                                                        : eval(type.strides, symbols_));
    random_.fill(*t.memory, t.dtype, integers, options_.special_values);
    if (read_only) shareable_.push_back(t);
    return t;
  }

  // A view of memory with gaps around it, with dimensions in any order.
  Tensor window(DType dtype, const std::vector<int64_t>& sizes) {
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1],
                order[static_cast<size_t>(random_.integer(0, static_cast<int64_t>(i) - 1))]);
    if (random_.chance(2)) std::sort(order.rbegin(), order.rend());
    std::vector<int64_t> strides(sizes.size());
    int64_t step = random_.chance(3) ? 2 : 1;
    for (size_t d : order) {
      strides[d] = step;
      step *= std::max<int64_t>(sizes[d], 1) + random_.integer(0, 1);
    }
    Tensor t = empty_strided(dtype, sizes, strides);
    t.offset = random_.integer(0, 3);
    t.memory = std::make_shared<Memory>((t.offset + span(sizes, strides) + random_.integer(0, 3)) *
                                        element_size(dtype));
    return t;
  }

  // For parsed text: storages just large enough for what views them.
  void draw_storages(RunInputs& r, IntegerRange integers) {
    std::map<int, std::pair<int64_t, DType>> needed;
    for (const Input& in : graph_.inputs) {
      if (in.stored.storage < 0 || !in.value) continue;
      auto& [bytes, dtype] = needed[in.stored.storage];
      dtype = in.value->type.dtype;
      bytes = std::max(bytes, text::byte_of(text::end_of_view(in.stored), dtype));
    }
    for (const auto& [number, need] : needed) {
      auto memory = std::make_shared<Memory>(need.first);
      random_.fill(*memory, need.second, integers, options_.special_values);
      r.storages[number] = memory;
    }
  }

  const Graph& graph_;
  const RandomOptions& options_;
  Random random_;
  std::set<const Value*> mutated_;
  Symbols symbols_;
  std::vector<Tensor> shareable_;
};

}  // namespace

RunInputs random_inputs(const Graph& graph, uint64_t seed, const RandomOptions& options) {
  // Any integers first; then what is valid as divisor, as index, as both of ever smaller tensors.
  constexpr IntegerRange kRanges[] = {{-100, 100}, {1, 100}, {0, 7}, {1, 7},
                                      {0, 1},      {1, 1},   {0, 0}};
  Drawing drawing(graph, seed, options);
  if (!options.must_succeed) return drawing.draw(kRanges[0]);
  std::string failure;
  for (IntegerRange range : kRanges)
    for (int attempt = 0; attempt < 3; ++attempt) {
      RunInputs inputs = drawing.draw(range);
      failure = run(graph, inputs).failure;
      if (failure.empty()) return inputs;
    }
  if (auto samples = sample_inputs(graph); samples && run(graph, *samples).failure.empty())
    return *samples;
  user_error(
      "no inputs were found for which every check of the program holds; the last one failed with: "
      "{}",
      failure);
}

namespace {

RunValue sample_value(const pt2::ExportedProgram& p, const pt2::SampleInput& s) {
  if (auto* i = std::get_if<int64_t>(&s)) return *i;
  if (auto* d = std::get_if<double>(&s)) return *d;
  if (auto* b = std::get_if<bool>(&s)) return *b;
  auto* t = std::get_if<pt2::StoredTensor>(&s);
  if (!t || t->storage < 0 || t->storage >= static_cast<int>(p.storages.size()))
    return std::monostate{};
  return Tensor{t->dtype, t->sizes, t->strides, t->offset,
                Memory::borrow(p.storages[static_cast<size_t>(t->storage)].bytes)};
}

}  // namespace

std::optional<RunInputs> sample_inputs(const Graph& graph) {
  const auto& p = graph.program;
  if (!p || !p->has_sample_inputs) return std::nullopt;
  RunInputs r;
  size_t next = 0;
  for (const Input& in : graph.inputs) {
    bool from_caller = in.is_user() || in.kind == InputKind::UserNone;
    if (from_caller && next >= p->sample_inputs.size()) return std::nullopt;
    r.inputs.push_back(from_caller ? sample_value(*p, p->sample_inputs[next++]) : RunValue{});
  }
  try {
    bind_symbols(graph, r);
  } catch (const UserError&) {
    return std::nullopt;  // fake samples, or samples of another signature
  }
  return r;
}

}  // namespace aotc::interp
