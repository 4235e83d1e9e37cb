// Stage 1: from the archive's mirror to the graph. Every node gets its op row, types and Python
// line; whatever is not supported is collected and reported in one message.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/guards.h"
#include "ir/import/arguments.h"
#include "ir/import/dropped_copies.h"
#include "ir/import/input_strides.h"
#include "ir/import/random_ops.h"
#include "ir/import/source_line.h"
#include "ir/import/unsupported_ops.h"
#include "ir/ops/op.h"
#include "ir/pt2/inline_regions.h"
#include "ir/pt2/quote.h"
#include "ir/text/verify.h"

namespace aotc {
namespace {

class Importer {
 public:
  explicit Importer(std::shared_ptr<const pt2::ExportedProgram> p)
      : p_(*p),
        flat_(pt2::inline_regions(p->graph, p->path)),
        source_(flat_.graph),
        graph_(std::make_unique<Graph>()) {
    graph_->program = std::move(p);
    graph_->name = p_.name;
  }

  std::unique_ptr<Graph> run() {
    strides_ = stride_symbols(p_);
    for (const auto& [name, range] : p_.range_constraints)
      if (range.min && Sym::parse(name).symbol_name())  // not of an expression
        known_.set_range(symbol_name(name), Sym(*range.min), std::nullopt);
    for (const auto& [name, v] : source_.sym_int_values) symbols_[name] = parse(v.expr);
    for (const auto& [name, v] : source_.sym_bool_values)
      symbols_[name] = v.expr.empty() ? Sym(v.value ? 1 : 0) : parse_text(v.expr);
    for (const auto& [name, v] : source_.sym_float_values)
      symbols_[name] = v.expr.empty() ? float_number(v.value) : to_float(parse_text(v.expr));
    for (const pt2::InputSpec& spec : p_.input_specs) import_input(spec);
    for (const pt2::Node& n : source_.nodes) import_node(n);
    unsupported_.report(p_, errors_);
    errors_.throw_if_any();
    for (const pt2::OutputSpec& spec : p_.output_specs) import_output(spec);
    import_ranges();
    graph_->guards = read_guards(p_, *graph_).checked;
    errors_.throw_if_any();
    restore_dropped_copies(*graph_);
    refuse_reshaped_inputs(*graph_, p_.path);
    return std::move(graph_);
  }

 private:
  Sym parse_text(const std::string& text) {
    auto [it, added] = parsed_.emplace(text, Sym());
    if (added)
      it->second = known_.simplify(Sym::parse(text).substitute(strides_).substitute(
          [&](const std::string& name) -> std::optional<Sym> {
            return Sym::symbol(symbol_name(name));
          }));
    return it->second;
  }

  // Symbols become variables of generated code. torch's names (s0, u1, zuf2) stay, others get a
  // prefix.
  std::string symbol_name(const std::string& name) {
    const bool word = std::all_of(name.begin(), name.end(),
                                  [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    if (name.empty() || !word || std::isdigit(static_cast<unsigned char>(name[0])))
      user_error("{}: the symbol {} is no identifier; export the program again", p_.path,
                 pt2::quote(name, 80));
    const size_t digits = name.find_first_of("0123456789");
    const std::string kind = name.substr(0, digits);
    const bool plain = digits != std::string::npos &&
                       name.find_first_not_of("0123456789", digits) == std::string::npos;
    std::string safe = plain && (kind == "s" || kind == "u" || kind == "zuf" || kind == "zf")
                           ? name
                           : "sym_" + name;
    archive_symbols_.emplace(safe, name);
    return safe;
  }
  Sym parse(const pt2::SymIntExpr& e) { return e.expr.empty() ? Sym(e.value) : parse_text(e.expr); }

  TensorType type_of(const std::string& name) {
    auto it = source_.tensor_values.find(name);
    if (it == source_.tensor_values.end())
      user_error("{}: tensor '{}' has no metadata", p_.path, name);
    const pt2::TensorMeta& m = it->second;
    if (m.layout != 7)
      errors_.add(
          fmt::format("{}: tensor '{}' has a layout other than strided (schema layout {}), which "
                      "is not supported",
                      p_.path, name, m.layout));
    TensorType t;
    t.dtype = m.dtype;
    t.device = m.device;
    for (const auto& s : m.sizes) t.sizes.push_back(parse(s));
    for (const auto& s : m.strides) t.strides.push_back(parse(s));
    if (t.strides.size() != t.sizes.size())
      user_error("{}: tensor '{}' has {} sizes and {} strides", p_.path, name, t.sizes.size(),
                 t.strides.size());
    return t;
  }

  Value* define(const std::string& name) {
    if (name.empty()) user_error("{}: a tensor without a name; export the program again", p_.path);
    Value* v = graph_->new_value(name, type_of(name));
    if (!tensors_.emplace(name, v).second)
      errors_.add(
          fmt::format("{}: tensor '{}' is defined twice; export the program again", p_.path, name));
    return v;
  }

  void import_input(const pt2::InputSpec& spec) {
    Input in;
    in.target = spec.target;
    switch (spec.kind) {
      case pt2::InputKind::UserInput:
        in.kind = InputKind::User;
        break;
      case pt2::InputKind::Parameter:
        in.kind = InputKind::Parameter;
        break;
      case pt2::InputKind::Buffer:
        in.kind = InputKind::Buffer;
        break;
      case pt2::InputKind::TensorConstant:
        in.kind = InputKind::Constant;
        break;
      case pt2::InputKind::ConstantInput:
        in.kind = InputKind::UserScalar;
        break;
      case pt2::InputKind::CustomObj:
        errors_.add(
            fmt::format("{}: input '{}' is a custom (TorchBind) object, which is not supported; "
                        "keep its tensors as buffers of the model",
                        p_.path, spec.name.empty() ? spec.target : spec.name));
        return;
      case pt2::InputKind::Token:
        return;  // the order of the nodes says what it says
    }
    const auto& value = spec.arg.value;
    if (auto* t = std::get_if<pt2::TensorName>(&value)) {
      in.name = t->name;
      in.value = define(t->name);
      if (in.kind != InputKind::User) attach_storage(in, spec);
    } else if (auto* s = std::get_if<pt2::SymIntName>(&value)) {
      in.kind = InputKind::UserScalar;
      in.name = s->name;
      in.scalar = symbol(s->name);
    } else {
      in.name = spec.name.empty() ? spec.target : spec.name;
      import_constant_input(in, value);
    }
    graph_->inputs.push_back(std::move(in));
  }

  template <typename V>
  void import_constant_input(Input& in, const V& value) {
    if (auto* i = std::get_if<int64_t>(&value))
      in.scalar = Sym(*i);
    else if (auto* d = std::get_if<double>(&value))
      in.scalar = *d;
    else if (auto* b = std::get_if<bool>(&value))
      in.scalar = *b;
    else
      in.kind = InputKind::UserNone;  // None and strings take no position
    if (in.kind != InputKind::UserNone) in.kind = InputKind::UserScalar;
  }

  void attach_storage(Input& in, const pt2::InputSpec& spec) {
    const pt2::StoredTensor* t = nullptr;
    for (const auto* table : {&p_.state_dict, &p_.constants}) {
      auto it = table->find(spec.target);
      if (it != table->end()) t = &it->second;
    }
    if (!t) {
      errors_.add(fmt::format(
          "{}: the archive has no value for '{}' (exported with fake tensors, or incomplete)",
          p_.path, spec.target));
      return;
    }
    in.stored = {t->storage, t->sizes, t->strides, t->offset};
    if (t->dtype != in.value->type.dtype || t->sizes.size() != in.value->type.rank())
      errors_.add(
          fmt::format("{}: the value of '{}' is {} of rank {}, the graph expects {} of rank {}",
                      p_.path, spec.target, name(t->dtype), t->sizes.size(),
                      name(in.value->type.dtype), in.value->type.rank()));
    else
      for (size_t i = 0; i < t->sizes.size(); ++i)
        if (!in.value->type.sizes[i].is(t->sizes[i]))
          errors_.add(
              fmt::format("{}: the value of '{}' has size {} in dimension {}, the graph expects {}",
                          p_.path, spec.target, t->sizes[i], i, in.value->type.sizes[i].str()));
  }

  Sym symbol(const std::string& name) {
    auto it = symbols_.find(name);
    if (it == symbols_.end()) user_error("{}: integer '{}' is not defined", p_.path, name);
    return it->second;
  }

  Value* tensor(const std::string& name) {
    auto it = tensors_.find(name);
    const std::string* other = &name;
    for (size_t i = 0;
         it == tensors_.end() && i < flat_.same_as.size() && flat_.same_as.contains(*other); ++i) {
      other = &flat_.same_as.at(*other);
      it = tensors_.find(*other);
    }
    if (it == tensors_.end())
      user_error("{}: tensor '{}' is used before it is defined", p_.path, name);
    return it->second;
  }

  // Nodes that only compute with Python integers: their results are expressions, not values.
  bool is_symbol_arithmetic(const pt2::Node& n) {
    if (n.outputs.size() != 1) return false;
    const auto& out = n.outputs[0].value;
    std::string result;
    if (auto* s = std::get_if<pt2::SymIntName>(&out))
      result = s->name;
    else if (auto* b = std::get_if<pt2::SymBoolName>(&out))
      result = b->name;
    else if (auto* f = std::get_if<pt2::SymFloatName>(&out))
      result = f->name;
    else
      return false;
    return !find_op(n.target) && symbols_.contains(result) && !defines_symbol(result);
  }

  // True if the integer is a symbol of its own that no input's size or earlier node defines.
  bool defines_symbol(const std::string& name) {
    auto s = symbols_[name].symbol_name();
    return s && (s->starts_with("u") || s->starts_with("zuf"));
  }

  void import_node(const pt2::Node& n) {
    if (is_symbol_arithmetic(n)) return;
    Source source = source_of(n);
    const OpDef* op = find_op(n.target);
    const auto random = random_remedy(n);
    if (random) unsupported_.add_random(n, source, *random);
    if (!op || random) {
      if (!random) unsupported_.add(n, source);
      define_outputs(n);
      return;
    }
    if (!unsupported_.empty()) {  // only look for further unsupported ops
      define_outputs(n);
      return;
    }
    auto node = std::make_unique<Node>();
    node->op = op;
    node->source = source;
    try {
      node->args = import_arguments(n, *op, scope_);
    } catch (const UserError& e) {
      errors_.add(fmt::format("{}: {}: {}: {}", p_.path, source.str(), n.target, e.what()));
      define_outputs(n);
      return;
    }
    import_outputs(n, *node);
    node->name = !n.name.empty()         ? n.name
                 : node->outputs.empty() ? n.target
                                         : node->outputs[0]->name;
    graph_->nodes.push_back(std::move(node));
  }

  void add_output(Node* node, const pt2::Argument& a) {
    Value* v = nullptr;
    if (auto* t = std::get_if<pt2::TensorName>(&a.value)) {
      v = define(t->name);
    } else if (auto* s = std::get_if<pt2::SymIntName>(&a.value)) {
      v = graph_->new_symbol_value(s->name, symbol(s->name));
    } else if (auto* f = std::get_if<pt2::SymFloatName>(&a.value)) {
      v = graph_->new_symbol_value(f->name, symbol(f->name));
    } else if (auto* b = std::get_if<pt2::SymBoolName>(&a.value);
               b && symbol(b->name).symbols().size() == 1) {
      // item() of a bool: a condition on the symbol that is 1 where it is true
      v = graph_->new_symbol_value(b->name, Sym::symbol(*symbol(b->name).symbols().begin()));
    } else if (auto* l = std::get_if<std::vector<pt2::Argument>>(&a.value)) {
      for (const auto& item : *l) add_output(node, item);
      return;
    } else {
      TensorType none;
      v = graph_->new_value("unused", none);
    }
    if (!node) return;
    v->producer = node;
    v->output_index = static_cast<int>(node->outputs.size());
    node->outputs.push_back(v);
  }
  void import_outputs(const pt2::Node& n, Node& node) {
    for (const auto& a : n.outputs) add_output(&node, a);
  }
  void define_outputs(const pt2::Node& n) {
    for (const auto& a : n.outputs) add_output(nullptr, a);
  }

  int find_input(pt2::OutputKind kind, const std::string& target) {
    for (size_t i = 0; i < graph_->inputs.size(); ++i) {
      const Input& in = graph_->inputs[i];
      bool user = kind == pt2::OutputKind::UserInputMutation;
      if (user ? in.kind == InputKind::User && in.name == target
               : !in.is_user() && in.target == target)
        return static_cast<int>(i);
    }
    user_error("{}: the signature mutates '{}', which is no input", p_.path, target);
  }

  void import_output(const pt2::OutputSpec& spec) {
    switch (spec.kind) {
      case pt2::OutputKind::UserOutput:
      case pt2::OutputKind::LossOutput:
        return import_user_output(spec);
      case pt2::OutputKind::BufferMutation:
      case pt2::OutputKind::ParameterMutation:
      case pt2::OutputKind::UserInputMutation:
        return import_mutation(spec);
      case pt2::OutputKind::GradientToParameter:
      case pt2::OutputKind::GradientToUserInput:
        errors_.add(fmt::format(
            "{}: the signature has a gradient output, which is not supported; export for inference",
            p_.path));
        return;
      case pt2::OutputKind::Token:
        return;
    }
  }

  void import_mutation(const pt2::OutputSpec& spec) {
    auto* t = std::get_if<pt2::TensorName>(&spec.arg.value);
    if (!t) user_error("{}: the mutation of '{}' has no tensor", p_.path, spec.target);
    Value* v = tensor(t->name);
    const Node* n = v->producer;
    const int input = find_input(spec.kind, spec.target);
    const InputKind kind = graph_->inputs[static_cast<size_t>(input)].kind;
    if (kind == InputKind::Parameter || kind == InputKind::Constant)
      return errors_.add(fmt::format(
          "{}: {}: node '{}' mutates '{}', a {}; register it as a buffer to make it state", p_.path,
          n ? n->source.str() : Source{}.str(), n ? n->name : v->name, spec.target,
          kind == InputKind::Parameter ? "parameter" : "constant of the program"));
    graph_->write_backs.push_back(
        {input, v, n ? n->source : Source{}, n ? n->op->name() : std::string()});
  }

  void import_user_output(const pt2::OutputSpec& spec) {
    Output out;
    const auto& value = spec.arg.value;
    if (auto* t = std::get_if<pt2::TensorName>(&value)) {
      out.value = tensor(t->name);
      out.name = t->name;
    } else if (auto* s = std::get_if<pt2::SymIntName>(&value)) {
      out.kind = OutputKind::Scalar;
      out.scalar = symbol(s->name);
      out.name = s->name;
    } else if (auto* f = std::get_if<pt2::SymFloatName>(&value)) {
      out.kind = OutputKind::Scalar;
      out.scalar = symbol(f->name);
      out.name = f->name;
    } else if (auto* i = std::get_if<int64_t>(&value)) {
      out.kind = OutputKind::Scalar;
      out.scalar = Sym(*i);
    } else if (auto* d = std::get_if<double>(&value)) {
      out.kind = OutputKind::Scalar;
      out.scalar = *d;
    } else if (auto* b = std::get_if<bool>(&value)) {
      out.kind = OutputKind::Scalar;
      out.scalar = *b;
    } else {
      out.kind = OutputKind::None;
    }
    if (out.name.empty()) out.name = fmt::format("output{}", graph_->outputs.size());
    graph_->outputs.push_back(std::move(out));
  }

  // Every symbol that anything mentions, with the archive's range; sizes are never negative.
  void import_ranges() {
    std::set<std::string> names;
    for (const auto& [_, s] : symbols_) names.merge(s.symbols());
    for (const auto& [_, s] : parsed_) names.merge(s.symbols());
    std::set<std::string> from_inputs;
    for (const Input& in : graph_->inputs) {
      if (in.value)
        for (const Sym& s : in.value->type.sizes) from_inputs.merge(s.symbols());
      if (auto* s = std::get_if<Sym>(&in.scalar)) from_inputs.merge(s->symbols());
    }
    for (const std::string& n : names) {
      SymbolInfo info;
      info.unbacked = !from_inputs.contains(n);
      if (flat_.counters.contains(archive_symbols_.at(n))) info.min = 0;
      auto it = p_.range_constraints.find(archive_symbols_.at(n));
      if (it != p_.range_constraints.end()) {
        info.min = it->second.min;
        info.max = it->second.max;
      } else if (!info.unbacked) {
        info.min = 0;
      }
      graph_->symbols[n] = info;
    }
  }

  const pt2::ExportedProgram& p_;
  const pt2::FlatGraph flat_;  // without regions
  const pt2::Graph& source_;
  std::unique_ptr<Graph> graph_;
  std::map<std::string, Value*> tensors_;
  std::map<std::string, Sym> symbols_;  // Python integers and bools of the graph
  std::map<std::string, Sym> parsed_;
  std::map<std::string, Sym> strides_;  // what symbols of strides stand for
  Assumptions known_;                   // lower bounds, which tell truncation from rounding down
  std::map<std::string, std::string> archive_symbols_;  // names here -> in the archive
  const NamesInScope scope_{[this](const std::string& n) { return tensor(n); },
                            [this](const std::string& n) { return symbol(n); }};
  UnsupportedOps unsupported_;
  ErrorList errors_;
};

}  // namespace

ImportedGraph import_graph(std::shared_ptr<const pt2::ExportedProgram> program) {
  const std::string path = program->path;
  ImportedGraph imported{Importer(std::move(program)).run()};
  try {
    verify(*imported.graph, GraphStage::Graph);
  } catch (const InternalError& e) {
    user_error(
        "{}: aotc infers other types than the archive declares: {}; either aotc does not know this "
        "use of the op or the archive is damaged: export the program again, and report it to aotc "
        "if that does not help",
        path, e.what());
  }
  return imported;
}

}  // namespace aotc
