// Derives the `.out` forms. Their names follow from those of the functional ops, but for some.
#include "ir/ops/out_forms.h"

#include <algorithm>

#include "ir/ops/require.h"

namespace aotc {
namespace {

struct Spelling {
  std::string_view op, overload;
  std::vector<std::string> outs = {"out"};
};

// Where name or arguments do not follow from the functional op's name.
const std::vector<Spelling>& special_spellings() {
  static const std::vector<std::string> kPair{"values", "indices"}, kPool{"out", "indices"},
      kLoss{"output", "total_weight"};
  static const std::vector<Spelling> kSpecial = {
      {"aten.all.default", "all_out"},
      {"aten.all.dim", "out"},
      {"aten.any.default", "all_out"},
      {"aten.any.dim", "out"},
      {"aten.arange.start_step", "start_out"},
      {"aten.div.Tensor_mode", "out_mode"},
      {"aten.divide.Tensor_mode", "out_mode"},
      {"aten.max.default", "unary_out"},
      {"aten.min.default", "unary_out"},
      {"aten.max.other", "out"},
      {"aten.min.other", "out"},
      {"aten.max.dim", "dim_max", {"max", "max_values"}},
      {"aten.min.dim", "dim_min", {"min", "min_indices"}},
      {"aten.mean.default", "dtype_out"},
      {"aten.mean.dim", "out"},
      {"aten.std.dim", "out"},
      {"aten.var.dim", "out"},
      {"aten.norm.ScalarOpt_dim", "out"},
      {"aten.norm.ScalarOpt_dim_dtype", "dtype_out"},
      {"aten.prod.dim_int", "int_out"},
      {"aten.sum.dim_IntList", "IntList_out"},
      {"aten.xlogy.Tensor", "OutTensor"},
      {"aten.xlogy.Scalar_Other", "OutScalar_Other"},
      {"aten.xlogy.Scalar_Self", "OutScalar_Self"},
      {"aten.avg_pool2d_backward.default", "grad_input", {"grad_input"}},
      {"aten.avg_pool3d_backward.default", "grad_input", {"grad_input"}},
      {"aten.max_pool2d_with_indices_backward.default", "grad_input", {"grad_input"}},
      {"aten.max_pool3d_with_indices_backward.default", "grad_input", {"grad_input"}},
      {"aten.log_sigmoid_forward.default", "output", {"output", "buffer"}},
      {"aten.nll_loss_forward.default", "output", kLoss},
      {"aten.nll_loss2d_forward.default", "output", kLoss},
      {"aten.kthvalue.default", "values", kPair},
      {"aten.mode.default", "values", kPair},
      {"aten.sort.default", "values", kPair},
      {"aten.sort.stable", "values_stable", kPair},
      {"aten.topk.default", "values", kPair},
      {"aten.median.dim", "dim_values", kPair},
      {"aten.nanmedian.dim", "dim_values", kPair},
      {"aten.cummax.default", "out", kPair},
      {"aten.cummin.default", "out", kPair},
      {"aten.aminmax.default", "out", {"min", "max"}},
      {"aten.adaptive_max_pool2d.default", "out", kPool},
      {"aten.adaptive_max_pool3d.default", "out", kPool},
      {"aten.max_pool2d_with_indices.default", "out", kPool},
      {"aten.max_pool3d_with_indices.default", "out", kPool},
  };
  return kSpecial;
}

// "aten.add" and "Tensor" of "aten.add.Tensor".
std::pair<std::string, std::string> split(const std::string& name) {
  size_t dot = name.rfind('.');
  return {name.substr(0, dot), name.substr(dot + 1)};
}

const Spelling* special(const OpDef& op) {
  for (const Spelling& s : special_spellings())
    if (s.op == op.name()) return &s;
  return nullptr;
}

// `overload` keeps the text of the result's.
Spelling spelling_of(const OpDef& op, std::string& overload) {
  if (const Spelling* s = special(op)) return *s;
  overload = split(op.name()).second;
  overload = overload == "default" || overload == "Tensor" ? "out" : overload + "_out";
  Spelling s{op.name(), overload};
  if (op.schema.num_outputs > 1) s.outs.clear();
  for (int i = 0; op.schema.num_outputs > 1 && i < op.schema.num_outputs; ++i)
    s.outs.push_back("out" + std::to_string(i));
  return s;
}

int kind_of(DType t) { return is_bool(t) ? 0 : is_integer(t) ? 1 : is_floating(t) ? 2 : 3; }

// Eager would give a tensor of other sizes new memory, of which nobody else who has it would know.
void require_fits(const Node& n, const SchemaArg& a, const TensorType& result, const Value* out) {
  require(n, out != nullptr, "argument '{}' is missing", a.name);
  require(n, can_be_equal(result.sizes, out->type.sizes),
          "argument '{}' has the sizes {}, the result {}: resizing it is not supported; pass a "
          "tensor of the result's sizes",
          a.name, sizes_text(out->type.sizes), sizes_text(result.sizes));
  require(n, kind_of(result.dtype) <= kind_of(out->type.dtype),
          "argument '{}' is {}, to which a result of {} is not cast", a.name, name(out->type.dtype),
          name(result.dtype));
}

// A result type that is not given is that of the tensor it goes to.
std::vector<Arg> functional_args(const Node& n, const OpDef& functional) {
  size_t inputs = functional.schema.args.size();
  std::vector<Arg> args(n.args.begin(), n.args.begin() + static_cast<std::ptrdiff_t>(inputs));
  int dtype = functional.schema.index_of("dtype");
  const auto* out = std::get_if<Value*>(&n.args.at(inputs));
  if (dtype >= 0 && out && *out && std::holds_alternative<None>(args[static_cast<size_t>(dtype)]))
    args[static_cast<size_t>(dtype)] = (*out)->type.dtype;
  return args;
}

Values write_results(Rewriter& r, const OpDef& functional) {
  size_t inputs = functional.schema.args.size();
  const Node* n = r.emit(functional.name(), functional_args(r.node, functional));
  Values written;
  for (size_t i = 0; i + inputs < r.node.args.size(); ++i) {
    Value *out = std::get<Value*>(r.node.args[inputs + i]), *result = n->output(i);
    require_fits(r.node, r.node.op->schema.args[inputs + i], result->type, out);
    written.push_back(r("aten.copy_.default", {out, result}));
  }
  return written;
}

// Ops that make tensors are not derived from tensors they could be written to.
bool has_out_form(const OpDef& op) {
  const auto* rewrite = op.as<RewriteMeaning>();
  if (rewrite && rewrite->writes_arguments) return false;
  return op.name().starts_with("aten.") && op.schema.num_outputs >= 1 && !op.schema.args.empty() &&
         !op.is_view() && !op.is_check() && !op.schema.args[0].mutated &&
         !op.schema.args[0].aliased;
}

}  // namespace

bool follows_out_rule(const OpDef& op) { return special(op) == nullptr; }

Rows out_forms(const OpDef& op) {
  if (!has_out_form(op)) return {};
  std::string overload;
  Spelling spelling = spelling_of(op, overload);
  OpDef form;
  form.schema = op.schema;
  form.schema.name = split(op.name()).first + "." + std::string(spelling.overload);
  for (const std::string& name : spelling.outs) {
    SchemaArg a;
    a.name = name;
    a.type = "Tensor";
    a.mutated = true;
    form.schema.args.push_back(a);
  }
  RewriteMeaning meaning;
  meaning.fn = [&op](Rewriter& r) { return write_results(r, op); };
  meaning.writes_arguments = true;
  form.meaning = meaning;
  return {form};
}

}  // namespace aotc
