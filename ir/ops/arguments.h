// What eager torch refuses of an op's arguments: a column of the op table (OpDef::check), listed
// here by family, since the forms of an op (overloads, in place, copying) share their conditions.
#pragma once
#include "ir/ops/require.h"

namespace aotc {

// `op` is a row's name without its overload ("aten.conv2d", which stands for all of them), or a
// row's whole name, which counts before it.
struct ArgumentRule {
  std::string_view op;
  void (*check)(const Node&);
};
using ArgumentRules = std::vector<ArgumentRule>;

ArgumentRules matrix_rules();
ArgumentRules view_rules();
ArgumentRules index_rules();
ArgumentRules join_rules();
ArgumentRules pool_rules();
ArgumentRules convolution_rules();
ArgumentRules image_rules();
ArgumentRules norm_rules();
ArgumentRules gradient_rules();
ArgumentRules loss_rules();
ArgumentRules order_rules();
ArgumentRules number_rules();

// Gives every row its conditions. InternalError for a rule without rows.
void add_argument_checks(Rows& rows);

// The kinds of the arguments: numbers, lists of the schema's length, tensors. For nodes from an
// archive or from text.
void check_kinds(const Node& n);

// The result of an in-place op's functional form has the target's sizes, and a type that eager
// casts to the target's.
Types in_place_types(const Node& n);

}  // namespace aotc
