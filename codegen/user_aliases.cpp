// The copies come last, after everything that reads an input's old value; whether they cost
// anything is decided where all write-backs are (write_back.cpp).
#include "codegen/user_aliases.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "codegen/manifest.h"
#include "ir/ops/rewriter.h"
#include "ir/ops/shape_math.h"

namespace aotc {
namespace {

struct Request {
  Input* input = nullptr;
  Output* output = nullptr;
  std::string text;  // "IN=OUT"
};

template <typename... T>
[[noreturn]] void refuse(const Request& r, fmt::format_string<T...> why, T&&... args) {
  user_error("--alias {}: {}", r.text, fmt::format(why, std::forward<T>(args)...));
}

// The position that `word` names or is.
size_t position(const std::string& word, const std::vector<std::string>& names, const Request& r,
                const char* what) {
  auto it = std::ranges::find(names, word);
  if (it != names.end()) return static_cast<size_t>(it - names.begin());
  size_t index = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, index);
  if (error != std::errc() || stop != end || word.empty() || index >= names.size())
    refuse(r, "the program has no {} '{}'; it has {}", what, word, fmt::join(names, ", "));
  return index;
}

// Whether the node's result is its first argument's storage. Some views copy where they must.
bool shares(const Node& n) {
  if (n.op->schema.args.empty()) return false;
  if (n.op->schema.args[0].mutated) return true;
  if (!n.op->schema.args[0].aliased) return false;
  const auto* view = n.op->as<ViewMeaning>();
  auto* base = std::get_if<Value*>(&n.args[0]);
  if (!view || view->always_aliases || !base || !*base) return true;
  const auto strides = view_strides((*base)->type, n.output()->type.sizes);
  return strides && *strides == strides_of(n.output()->type);
}

Value* storage_of(Value* v) {
  while (v->producer && shares(*v->producer)) {
    auto* base = std::get_if<Value*>(&v->producer->args[0]);
    if (!base || !*base) break;
    v = *base;
  }
  return v;
}

bool is_mutated(const Graph& g, const Value* input) {
  return std::ranges::any_of(g.nodes, [&](const auto& n) {
    for (size_t i = 0; i < n->op->schema.args.size() && i < n->args.size(); ++i) {
      auto* v = std::get_if<Value*>(&n->args[i]);
      if (n->op->schema.args[i].mutated && v && *v && storage_of(*v) == input) return true;
    }
    return false;
  });
}

std::string sizes_of(const std::vector<Sym>& sizes) {
  std::vector<std::string> words;
  for (const Sym& s : sizes) words.push_back(s.str());
  return fmt::format("[{}]", fmt::join(words, ", "));
}

class UserAliases {
 public:
  explicit UserAliases(Graph& g) : g_(g) {
    for (Input& in : g.inputs)
      if (in.is_user()) inputs_.push_back(&in);
  }

  void add(const std::string& in, const std::string& out) {
    Request r{nullptr, nullptr, in + "=" + out};
    r.input = inputs_[position(in, unique_names(user_input_names(g_)), r, "input")];
    r.output = &g_.outputs[position(out, unique_names(output_names(g_)), r, "output")];
    require_fitting(r);
    requests_.push_back(r);
  }

  void run() {
    for (const Request& r : requests_) require_unused_storage(r);
    Node n;  // its source is the command line
    n.name = "alias";
    Rewriter build(g_, g_.nodes.end(), n);
    std::map<const Output*, Source> lines;
    for (const Request& r : requests_)
      if (const Node* producer = r.output->value->producer) lines[r.output] = producer->source;
    // An output may be a view of what a copy below changes.
    for (const Request& r : requests_) r.output->value = build.clone(r.output->value);
    for (const Request& r : requests_) {
      const std::string name = r.output->name;
      Value* value = r.output->value;
      Node* copy =
          g_.insert(g_.nodes.end(), find_op("aten.copy_.default"), {r.input->value, value, false},
                    {r.input->value->type}, name, lines[r.output]);
      r.output->value = copy->output();
      r.output->by_user = true;
    }
  }

 private:
  void require_fitting(const Request& r) {
    if (r.input->kind != InputKind::User || !r.input->value)
      refuse(r, "input '{}' is no tensor", r.input->name);
    if (r.output->kind != OutputKind::Tensor) refuse(r, "the output is no tensor");
    const TensorType &from = r.output->value->type, &to = r.input->value->type;
    if (from.dtype != to.dtype)
      refuse(r, "the output is {}, the input {}", name(from.dtype), name(to.dtype));
    if (!(from.device == to.device))
      refuse(r, "the output is on {}, the input on {}", from.device.type, to.device.type);
    for (const Sym& s : from.sizes)
      for (const std::string& symbol : s.symbols())
        if (g_.symbols.at(symbol).unbacked)
          refuse(r, "the output's sizes {} depend on data", sizes_of(from.sizes));
    if (from.rank() != to.rank())
      refuse(r, "the output has {} dimensions, the input {}", from.rank(), to.rank());
    for (size_t d = 0; d < from.rank(); ++d) require_size(r, from.sizes[d], to.sizes[d]);
    if (!same_layout(from, to))
      refuse(r, "the output has the strides {}, the input {}", sizes_of(strides_of(from)),
             sizes_of(strides_of(to)));
  }

  // Sizes that only a call knows to agree: of contiguous tensors.
  static bool same_layout(const TensorType& from, const TensorType& to) {
    const auto a = strides_of(from), b = strides_of(to);
    if (!(from.sizes == to.sizes))
      return a == contiguous_strides(from.sizes) && b == contiguous_strides(to.sizes);
    for (size_t d = 0; d < a.size(); ++d)
      if (!to.sizes[d].is(1) && !(a[d] == b[d])) return false;
    return true;
  }

  // Where only a call can tell, it does.
  void require_size(const Request& r, const Sym& from, const Sym& to) {
    const Sym condition = g_.assumptions().simplify(sym_eq(from, to));
    if (condition.is(1)) return;
    if (condition.is(0))
      refuse(r, "the output has the sizes {}, the input {}", sizes_of(r.output->value->type.sizes),
             sizes_of(r.input->value->type.sizes));
    g_.guards.push_back({condition, fmt::format("{} (--alias {})", condition.str(), r.text)});
  }

  void require_unused_storage(const Request& r) {
    for (const Request& other : requests_) {
      if (&other == &r) continue;
      if (other.input == r.input) refuse(r, "--alias {} takes the same input", other.text);
      if (other.output == r.output) refuse(r, "--alias {} takes the same output", other.text);
    }
    if (is_mutated(g_, r.input->value))
      refuse(r, "the program itself mutates input '{}'", r.input->name);
    for (const Output& o : g_.outputs) {
      const bool moves =
          std::ranges::any_of(requests_, [&](const Request& q) { return q.output == &o; });
      if (!moves && o.value && storage_of(o.value) == r.input->value)
        refuse(r, "output '{}' is the input's old value", o.name);
    }
  }

  Graph& g_;
  std::vector<Input*> inputs_;
  std::vector<Request> requests_;
};

}  // namespace

void alias_outputs(Graph& g, const std::vector<std::pair<std::string, std::string>>& aliases) {
  if (aliases.empty()) return;
  UserAliases user(g);
  for (const auto& [in, out] : aliases) user.add(in, out);
  user.run();
}

std::string mutation_text(const Graph& g, const WriteBack& w) {
  for (const OutputAlias& a : g.aliases)
    if (a.input == w.input && g.outputs[static_cast<size_t>(a.output)].by_user)
      return fmt::format("--alias {}={}", g.inputs[static_cast<size_t>(w.input)].name,
                         g.outputs[static_cast<size_t>(a.output)].name);
  return w.op;
}

}  // namespace aotc
