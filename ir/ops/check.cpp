// Run-time checks: assertions of the program, and those that other rows ask for.
#include "ir/ops/row_helpers.h"
#include "ir/ops/scalar_math.h"

namespace aotc {
namespace {

Types no_types(const Node&) { return {}; }

OpDef check_op(std::string_view schema, void (*lower)(Lowering&, const Node&)) {
  return loops_op(schema, LoopsKind::Check, no_types, lower);
}

// What the archive states and the compiler has verified, or will through other nodes.
OpDef nothing_op(std::string_view schema) {
  return rewrite_op(schema, [](Rewriter&) { return std::vector<Value*>{}; });
}

std::string message_of(const Node& n) {
  if (n.op->schema.index_of("assert_msg") < 0) return "assertion failed";
  auto* text = std::get_if<std::string>(&arg(n, "assert_msg"));
  return text && !text->empty() ? *text : "assertion failed";
}

void lower_assert_scalar(Lowering& l, const Node& n) {
  const Arg& condition = arg(n, "self");
  Sym holds = 1;
  if (auto* s = std::get_if<Sym>(&condition))
    holds = *s;
  else if (auto* b = std::get_if<bool>(&condition))
    holds = Sym(*b ? 1 : 0);
  else if (auto* d = std::get_if<double>(&condition))
    holds = Sym(*d != 0 ? 1 : 0);
  if (auto c = holds.constant(); c && *c != 0) return;
  l.check(n, {}, message_of(n),
          [&](KernelBuilder& k, const Index&, E&) { return k.index(holds) != 0.0; });
}

void lower_assert_tensor(Lowering& l, const Node& n) {
  Value* self = std::get<Value*>(n.args[0]);
  l.check(n, self->type.sizes, message_of(n), [&](KernelBuilder& k, const Index& at, E&) {
    return cast(l.load(k, self, at), DType::Bool);
  });
}

// What a factorization reports: 0, or which row of a matrix failed.
void lower_check_factors(Lowering& l, const Node& n) {
  Value* info = std::get<Value*>(n.args[0]);
  const auto& name = std::get<std::string>(arg(n, "api_name"));
  l.check(n, info->type.sizes,
          name + ": a matrix is singular or not positive definite, found at row",
          [&](KernelBuilder& k, const Index& at, E& report) {
            report = cast(l.load(k, info, at), DType::Int64);
            return report == 0.0;
          });
}

void lower_check_nonzero(Lowering& l, const Node& n) {
  Value* self = std::get<Value*>(n.args[0]);
  l.check(n, self->type.sizes, "integer division by zero",
          [&](KernelBuilder& k, const Index& at, E&) { return l.load(k, self, at) != 0.0; });
}

void lower_check_below(Lowering& l, const Node& n) {
  Value* self = std::get<Value*>(n.args[0]);
  Sym bound = sym_arg(n, "bound");
  l.check(n, self->type.sizes, "value out of range, expected 0 to " + bound.str() + " - 1",
          [&](KernelBuilder& k, const Index& at, E& report) {
            report = cast(l.load(k, self, at), DType::Int64);
            return (report >= 0.0) && (report < k.index(bound));
          });
}

}  // namespace

Rows check_ops() {
  return {
      check_op("aten._assert_scalar.default(Scalar self, str assert_msg) -> ()",
               lower_assert_scalar),
      check_op("aten._assert_async.default(Tensor self) -> ()", lower_assert_tensor),
      check_op("aten._assert_async.msg(Tensor self, str assert_msg) -> ()", lower_assert_tensor),
      check_op("aten._linalg_check_errors.default(Tensor info, str api_name, *, bool is_matrix) -> "
               "()",
               lower_check_factors),
      check_op("aotc.check_nonzero(Tensor self) -> ()", lower_check_nonzero),
      check_op("aotc.check_below(Tensor self, SymInt bound) -> ()", lower_check_below),
      nothing_op("aten._assert_tensor_metadata.default(Tensor a, SymInt[]? size=None, SymInt[]? "
                 "stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? "
                 "layout=None) -> ()"),
      nothing_op(
          "aten.sym_constrain_range.default(Scalar size, *, int? min=None, int? max=None) -> ()"),
      nothing_op("aten.sym_constrain_range_for_size.default(Scalar size, *, int? min=None, int? "
                 "max=None) -> ()"),
      // The archive has its value as an expression.
      rewrite_op(
          "aten.sym_is_contiguous.default(Tensor self, MemoryFormat memory_format=0) -> SymBool",
          [](Rewriter&) { return Values{nullptr}; }),
  };
}

}  // namespace aotc
