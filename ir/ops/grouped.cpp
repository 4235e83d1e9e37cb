// Products of groups of rows, each with a matrix of its own: the experts of a mixture. Groups are
// data: `offs[g]` is the row after the last one of group g.
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

// The arguments under the names that each spelling has for them.
struct Grouped {
  Value *rows, *matrices, *ends;
};

Grouped grouped_of(const Node& n) {
  const bool ours = n.op->schema.index_of("self") >= 0;
  return {tensor_arg(n, ours ? "self" : "input"), tensor_arg(n, ours ? "mat2" : "weight"),
          tensor_arg(n, "offs")};
}

void check_forms(const Node& n, const Grouped& g) {
  if (!g.ends || g.rows->type.rank() != 2 || g.matrices->type.rank() != 3)
    unsupported(n, "a grouped product other than of a matrix's rows with a matrix per group",
                "multiply group by group");
  for (const char* a : {"bias", "out_dtype"})
    if (n.op->schema.index_of(a) >= 0 && !arg_is_none(n, a))
      unsupported(n, fmt::format("a grouped product with '{}'", a), "apply it to the result");
  if (is_complex(g.rows->type.dtype))
    unsupported(n, "a grouped product of complex tensors", "multiply group by group");
}

Types grouped_type(const Node& n) {
  Grouped g = grouped_of(n);
  check_forms(n, g);
  const TensorType& rows = g.rows->type;
  return {contiguous_type(rows.dtype, {rows.sizes[0], g.matrices->type.sizes[2]}, rows.device)};
}

// groups[s]: how many groups end at or before row s, so the group that row s is in.
loops::BufferId groups_of_rows(Lowering& l, const Node& n, const Grouped& g) {
  const Sym& count = g.rows->type.sizes[0];
  loops::BufferId groups = l.temp(temp_name(l, n, "groups"), DType::Int64, {count});
  KernelBuilder k(l, l.unique_kernel_name("groups_of_rows"));
  Sym row = k.axis(count), group = k.inner_axis(g.ends->type.sizes[0]);
  E passed = cast(l.load(k, g.ends, {group}), DType::Int64) <= k.index(row);
  int sum = k.accumulate(Prim::add, cast(passed, DType::Int64));
  k.begin_phase();
  k.store(groups, {row}, k.result(sum));
  l.finish(k, n);
  return groups;
}

// Rows after the last group are 0.
void lower_grouped(Lowering& l, const Node& n) {
  Grouped g = grouped_of(n);
  const DType dtype = g.rows->type.dtype, compute = compute_type(dtype);
  loops::BufferId groups = groups_of_rows(l, n, g), out = l.output(n);
  KernelBuilder k(l, l.unique_kernel_name("grouped_matmul"));
  Sym row = k.axis(g.rows->type.sizes[0]), column = k.axis(g.matrices->type.sizes[2]);
  Sym inner = k.inner_axis(g.rows->type.sizes[1]);
  E group = k.load(groups, {row});
  E exists = group < k.index(g.matrices->type.sizes[0]);
  E weight = l.load(k, g.matrices, {k.value_of(group), inner, column}, exists,
                    k.constant(0.0, g.matrices->type.dtype));
  E product = cast(l.load(k, g.rows, {row, inner}), compute) * cast(weight, compute);
  int sum = k.accumulate(Prim::add, where(exists, product, k.constant(0.0, compute)));
  k.begin_phase();
  k.store(out, {row, column}, cast(k.result(sum), dtype));
  l.finish(k, n);
}

}  // namespace

// transformers' own op stands for the first one where that has no kernel.
Rows grouped_ops() {
  Rows rows;
  for (const char* schema :
       {"aten._grouped_mm.default(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
        "ScalarType? out_dtype=None) -> Tensor",
        "transformers.grouped_mm_fallback.default(Tensor input, Tensor weight, Tensor offs) -> "
        "Tensor"})
    rows.push_back(loops_op(schema, LoopsKind::Index, grouped_type, lower_grouped));
  return rows;
}

}  // namespace aotc
