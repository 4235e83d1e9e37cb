// Shorthands that several row files share.
#pragma once
#include <initializer_list>

#include "ir/lowering.h"
#include "ir/ops/rewriter.h"

namespace aotc {

// A row whose meaning is that of `target` with the same arguments.
OpDef alias_op(std::string_view schema, std::string_view target);

// A pointwise row that is one primitive applied to its leading `operands` arguments.
OpDef prim_op(std::string_view schema, TypeRule rule, Prim prim, int operands = 1);

// The row with a name for its derived in-place form that does not follow from its own.
OpDef in_place_as(OpDef op, std::string name);

// The lists that pointwise_ops() joins to its own.
Rows compare_ops();
Rows activation_ops();
Rows special_ops();
Rows bessel_ops();
Rows orthogonal_ops();
// Joined by reduce_ops().
Rows norm_reductions();
// Joined by creation_ops().
Rows conversion_ops();
Rows join_ops();
Rows pad_ops();
Rows window_ops();
Rows sequence_ops();
// Joined by index_ops().
Rows scatter_ops();
Rows scatter_dim_ops();
Rows fill_diagonal_ops();
Rows search_ops();
Rows scan_ops();
Rows sort_ops();
Rows dynamic_ops();
Rows counting_ops();
Rows grouped_ops();
Rows unique_ops();
// Joined by linear_ops().
Rows einsum_ops();
Rows conv_ops();
Rows linalg_ops();
// Joined by composite_ops().
Rows batch_norm_ops();
Rows attention_ops();
Rows recurrent_ops();
Rows pool_ops();
Rows pool_backward_ops();
Rows norm_backward_ops();
Rows resample_ops();
Rows loss_ops();
Rows grid_sample_ops();
Rows distance_ops();
// Joined by view_ops().
Rows region_views();
Rows split_views();
Rows copied_views();
Rows complex_view_ops();
Rows bit_view_ops();

// Adds rows to a list.
void append(Rows& rows, Rows more);

// The first argument, a tensor, its type and its rank.
inline Value* self_of(const Node& n) { return std::get<Value*>(n.args[0]); }
inline const TensorType& input_type(const Node& n) { return self_of(n)->type; }
inline int64_t input_rank(const Node& n) { return static_cast<int64_t>(input_type(n).rank()); }
// A dimension of the first argument, counted from the front.
size_t dim_arg(const Node& n, std::string_view name = "dim");
// The first argument's type with other sizes and strides.
TensorType with_layout(const Node& n, Index sizes, Index strides);
// A contiguous result with the sizes and dtype of the first argument.
Types same_type(const Node& n);

// The device that a node's `device` argument names, or that of its tensors.
Device device_of(const Node& n);
// The `dtype` argument, or `otherwise`. A schema default that torch writes as a number is int64.
DType dtype_or(const Node& n, DType otherwise);
// A number argument as a constant or index expression of type t; a 0-d tensor is loaded.
E number(KernelBuilder& k, const Node& n, std::string_view arg, DType t);

// A name for a temporary buffer of node n that no other buffer has.
std::string temp_name(Lowering& l, const Node& n, const std::string& what);

// A row that computes one contiguous output, element by element, from the output index.
using ElementFormula = std::function<E(KernelBuilder&, const Node&, const std::vector<Sym>&)>;
OpDef formula_op(std::string_view schema, LoopsKind kind,
                 std::function<std::vector<TensorType>(const Node&)> infer, ElementFormula fn);

// The lowest and the highest finite number of a floating-point type.
std::pair<double, double> finite_range(DType t);

// The error of a row for a form that it cannot express.
[[noreturn]] void unsupported(const Node& n, const std::string& what, const std::string& remedy);

}  // namespace aotc
