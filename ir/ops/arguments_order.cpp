// Conditions of sorting, searching, running results, distances and what is built of them.
#include <cmath>

#include "ir/ops/arguments.h"

namespace aotc {
namespace {

// The dimension that an op works along; a tensor without dimensions counts as a vector of one.
Sym length_along(const Node& n, std::string_view arg = "dim") {
  size_t dim = require_dim(n, arg, input_rank(n));
  return input_rank(n) == 0 ? Sym(1) : input_type(n).sizes[dim];
}

void require_nonempty_along(const Node& n) {
  require(n, can_hold(sym_ne(length_along(n), 0)), "dimension {} has no elements",
          int_arg(n, "dim"));
}

std::string_view first_name(const Node& n) { return n.op->schema.args[0].name; }

// ---- order

void check_sort(const Node& n) {
  length_along(n);
  require_real(n, "self");
}

void check_topk(const Node& n) {
  check_sort(n);
  require_not_negative(n, "k");
  require(n, can_be_within(length_along(n) - sym_arg(n, "k"), 0),
          "'k' is {}, the dimension has {} elements", sym_arg(n, "k").str(), length_along(n).str());
}

void check_kthvalue(const Node& n) {
  require_nonempty_along(n);
  check_topk(n);
  require_within(n, "k", 1);
}

void check_along_nonempty(const Node& n) {
  require_nonempty_along(n);
  require_real(n, "self");
}

// ---- searching

void check_searchsorted(const Node& n) {
  require_rank(n, "sorted_sequence", 1);
  const Index& sequence = sizes_of(n, "sorted_sequence");
  require_same_sizes(n, "sorter", "sorted_sequence");
  if (is_given(n, "sorter")) require_int64(n, "sorter");
  if (is_given(n, "side")) {
    require_word(n, "side", {"left", "right"});
    bool left = std::get<std::string>(arg(n, "side")) == "left";
    require(n, !left || !bool_arg(n, "right"), "'side' is left although 'right' is true");
  }
  require_real(n, "sorted_sequence");
  auto* values = std::get_if<Value*>(&arg(n, "self"));
  if (sequence.size() == 1) return;
  require(n, values != nullptr, "a number is searched in a sequence of {} dimensions, expected 1",
          sequence.size());
  Index found = (*values)->type.sizes, expected = sequence;
  if (!found.empty()) expected.back() = found.back();
  require(n, can_be_equal(found, expected),
          "'self' has the sizes {}, 'sorted_sequence' {}; all but the last must agree",
          sizes_text(found), sizes_text(sequence));
}

void check_bucketize(const Node& n) {
  require_rank(n, "boundaries", 1, 1);
  require_real(n, "boundaries");
}

void check_isin(const Node& n) {
  for (const char* a : {"elements", "test_elements"})
    if (n.op->schema.index_of(a) >= 0) require_not_bool(n, a);
}

void check_one_hot(const Node& n) {
  require_int64(n, "self");
  require_within(n, "num_classes", -1);
  require(n, !sym_arg(n, "num_classes").is(0), "'num_classes' is 0");
}

// ---- embedding bags

void check_embedding_bag(const Node& n) {
  require_rank(n, "weight", 2, 2);
  require_floating(n, "weight");
  require_rank(n, "indices", 1, 1);
  require_rank(n, "offsets", 1, 1);
  require_index_type(n, "indices");
  require_index_type(n, "offsets");
  require_within(n, "mode", 0, 2);
  bool last = bool_arg(n, "include_last_offset");
  const Sym& bags = sizes_of(n, "offsets")[0];
  require(n, !last || can_hold(sym_ne(bags, 0)),
          "'offsets' is empty although it includes the last one");
  if (is_given(n, "per_sample_weights")) {
    require(n, int_arg(n, "mode") == 0, "'per_sample_weights' needs mode 0, found {}",
            int_arg(n, "mode"));
    require_same_sizes(n, "per_sample_weights", "indices");
    require_same_dtype(n, {"weight", "per_sample_weights"});
  }
  if (!is_given(n, "padding_idx")) return;
  auto rows = sizes_of(n, "weight")[0].constant(), padding = sym_arg(n, "padding_idx").constant();
  require(n, !rows || !padding || (*padding >= -*rows && *padding < *rows) || *padding == -1,
          "'padding_idx' is {}, 'weight' has {} rows", sym_arg(n, "padding_idx").str(),
          sizes_of(n, "weight")[0].str());
}

// ---- counting

void check_bincount(const Node& n) {
  require_rank(n, "self", 1, 1);
  require(n, is_integer(dtype_of(n, "self")), "'self' is {}, expected an integer type",
          name(dtype_of(n, "self")));
  require_not_negative(n, "minlength");
  if (!input_type(n).sizes[0].is(0)) require_same_sizes(n, "weights", "self");
}

void check_histogram(const Node& n) {
  require(n, is_floating(dtype_of(n, "self")), "'self' is {}, expected a floating-point type",
          name(dtype_of(n, "self")));
  require(n, int_arg(n, "bins") > 0, "'bins' is {}, expected at least 1", int_arg(n, "bins"));
  double least = double_arg(n, "min"), greatest = double_arg(n, "max");
  require(n, std::isfinite(least) && std::isfinite(greatest) && least <= greatest,
          "'min' is {} and 'max' is {}, expected finite numbers in order", least, greatest);
}

void check_repeats(const Node& n) {
  require_rank(n, "repeats", 1, 1);
  require_index_type(n, "repeats");
  if (is_given(n, "output_size")) require_not_negative(n, "output_size");
}

void check_repeat_by_tensor(const Node& n) {
  require_rank(n, "repeats", 0, 1);
  require_index_type(n, "repeats");
  if (is_given(n, "output_size")) require_not_negative(n, "output_size");
  if (is_given(n, "dim")) require_rank(n, "self", 1);
  Sym length = arg_is_none(n, "dim") ? product(input_type(n).sizes) : length_along(n);
  Sym count = product(sizes_of(n, "repeats"));
  require(n, count.is(1) || can_be_equal(count, length), "'repeats' has {} numbers for {} elements",
          count.str(), length.str());
}

// ---- running results

void check_running(const Node& n) {
  length_along(n);
  bool typed = n.op->schema.index_of("dtype") >= 0;
  auto t = typed ? dtype_arg(n, "dtype") : std::nullopt;
  require(n, !t || !is_bool(*t), "'dtype' is bool");
}

void check_logcumsumexp(const Node& n) {
  length_along(n);
  require_floating(n, "self");
}

void check_diff(const Node& n) {
  require_rank(n, "self", 1);
  require_not_negative(n, "n");
  size_t dim = require_dim(n, "dim", input_rank(n));
  for (const char* a : {"prepend", "append"}) {
    if (!is_given(n, a)) continue;
    require_rank(n, a, input_rank(n), input_rank(n));
    Index expected = input_type(n).sizes;
    expected[dim] = sizes_of(n, a)[dim];
    require_sizes(n, a, expected);
  }
}

void check_trapezoid(const Node& n) {
  require_rank(n, "y", 1);
  require_not_bool(n, "y");
  size_t dim = require_dim(n, "dim", input_rank(n));
  if (n.op->schema.index_of("x") < 0) return;
  require_not_bool(n, "x");
  const Index &x = sizes_of(n, "x"), &y = sizes_of(n, "y");
  require_rank(n, "x", 1);
  if (x.size() == 1) {
    require(n, can_be_equal(x[0], y[dim]), "'x' has {} elements, dimension {} of 'y' has {}",
            x[0].str(), dim, y[dim].str());
    return;
  }
  require_rank(n, "x", static_cast<int64_t>(y.size()), static_cast<int64_t>(y.size()));
  require(n, can_be_equal(x[dim], y[dim]), "'x' and 'y' have {} and {} elements along dimension {}",
          x[dim].str(), y[dim].str(), dim);
}

// ---- distances

void check_cdist(const Node& n) {
  Shapes(n).match("x1", "*.k").match("x2", "*.k");
  require_floating(n, "x1");
  require_same_dtype(n, {"x1", "x2"});
  require(n, double_arg(n, "p") >= 0, "'p' is {}, expected no negative number", double_arg(n, "p"));
}

void check_pdist(const Node& n) {
  require_rank(n, "self", 2, 2);
  require_floating(n, "self");
  require(n, double_arg(n, "p") >= 0, "'p' is {}, expected no negative number", double_arg(n, "p"));
}

void check_pairwise_distance(const Node& n) {
  require(n, !sizes_of(n, "x1").empty() || !sizes_of(n, "x2").empty(),
          "its tensors have no dimensions");
}

void check_cosine_similarity(const Node& n) {
  require(n, is_floating(promote(dtype_of(n, "x1"), dtype_of(n, "x2"))),
          "'x1' is {}, expected a floating-point type", name(dtype_of(n, "x1")));
}

void check_cross(const Node& n) {
  const Index &a = sizes_of(n, "self"), &b = sizes_of(n, "other");
  require_rank(n, "self", 1);
  require_rank(n, "other", input_rank(n), input_rank(n));
  require_same_dtype(n, {"self", "other"});
  broadcast_sizes({a, b}, n);
  if (!is_given(n, "dim")) return;
  size_t dim = require_dim(n, "dim", input_rank(n));
  require(n, can_be_equal(a[dim], 3) && can_be_equal(b[dim], 3),
          "dimension {} has {} and {} elements, expected 3", dim, a[dim].str(), b[dim].str());
}

double real_number(const Node& n, std::string_view arg) { return double_arg(n, arg); }

void check_renorm(const Node& n) {
  require_rank(n, "self", 2);
  length_along(n);
  require_floating(n, "self");
  require(n, real_number(n, "p") > 0, "'p' is {}, expected a positive number", real_number(n, "p"));
  require(n, real_number(n, "maxnorm") >= 0, "'maxnorm' is {}, expected no negative number",
          real_number(n, "maxnorm"));
}

void check_embedding_renorm(const Node& n) {
  require_rank(n, "self", 2, 2);
  require_index_type(n, "indices");
  require_floating(n, "self");
  require_real(n, "self");
}

void check_quantile(const Node& n) {
  DType t = dtype_of(n, "self");
  require(n, t == DType::Float32 || t == DType::Float64,
          "'self' is {}, expected float32 or float64", name(t));
  require_word(n, "interpolation", {"linear", "lower", "higher", "nearest", "midpoint"});
  require(n, can_hold(sym_ne(product(input_type(n).sizes), 0)), "'self' has no elements");
  if (is_given(n, "dim")) length_along(n);
  if (auto* q = std::get_if<Value*>(&arg(n, "q"))) {
    require(n, (*q)->type.rank() <= 1, "'q' has {} dimensions, expected 0 or 1", (*q)->type.rank());
    return require_same_dtype(n, {"self", "q"});
  }
  double q = double_arg(n, "q");
  require(n, q >= 0 && q <= 1, "'q' is {}, expected 0 to 1", q);
}

// ---- gradients

size_t spacing_count(const Node& n) {
  if (n.op->schema.index_of("spacing") < 0) return 0;
  const Arg& a = arg(n, "spacing");
  if (auto* v = std::get_if<Values>(&a)) return v->size();
  if (auto* v = std::get_if<std::vector<double>>(&a)) return v->size();
  if (auto* v = std::get_if<Index>(&a)) return v->size();
  return 0;
}

void check_gradient(const Node& n) {
  require_rank(n, "self", 1);
  require_within(n, "edge_order", 1, 2);
  std::vector<size_t> dims;
  if (arg_is_none(n, "dim"))
    for (size_t d = 0; d < input_type(n).rank(); ++d) dims.push_back(d);
  else
    dims = require_dims(n, "dim", input_rank(n));
  for (size_t d : dims)
    require(n, can_be_within(input_type(n).sizes[d] - int_arg(n, "edge_order") - 1, 0),
            "dimension {} has {} elements, too few for its slope", d, input_type(n).sizes[d].str());
  bool listed =
      n.op->schema.index_of("spacing") >= 0 &&
      n.op->schema.args[static_cast<size_t>(n.op->schema.index_of("spacing"))].type.ends_with("[]");
  require(n, !listed || spacing_count(n) == dims.size(),
          "'spacing' has {} entries for {} dimensions", spacing_count(n), dims.size());
  auto* tensors = listed ? std::get_if<Values>(&arg(n, "spacing")) : nullptr;
  for (size_t i = 0; tensors && i < dims.size(); ++i)
    require(n, can_be_equal((*tensors)[i]->type.sizes, {input_type(n).sizes[dims[i]]}),
            "a spacing has the sizes {} for a dimension of {} elements",
            sizes_text((*tensors)[i]->type.sizes), input_type(n).sizes[dims[i]].str());
}

// The `dtype` argument, where it is given, is a floating-point type.
bool has_floating_dtype(const Node& n) {
  auto t = dtype_arg(n, "dtype");
  if (t)
    require(n, is_floating(*t) || is_complex(*t), "'dtype' is {}, expected a floating-point type",
            name(*t));
  return t.has_value();
}

void check_mean(const Node& n) {
  if (!has_floating_dtype(n)) require_floating(n, "self");
}

void check_vector_norm(const Node& n) {
  require_floating(n, "self");
  has_floating_dtype(n);
}

void check_reduced_floating(const Node& n) { require_floating(n, first_name(n)); }

}  // namespace

ArgumentRules order_rules() {
  return {
      {"aten.sort", check_sort},
      {"aten.argsort", check_sort},
      {"aten.msort", [](const Node& n) { require_real(n, "self"); }},
      {"aten.topk", check_topk},
      {"aten.kthvalue", check_kthvalue},
      {"aten.median.default", [](const Node& n) { require_real(n, "self"); }},
      {"aten.nanmedian.default", [](const Node& n) { require_real(n, "self"); }},
      {"aten.median.dim", check_along_nonempty},
      {"aten.nanmedian.dim", check_along_nonempty},
      {"aten.mode", check_along_nonempty},
      {"aten.searchsorted", check_searchsorted},
      {"aten.bucketize", check_bucketize},
      {"aten.isin", check_isin},
      {"aten.one_hot", check_one_hot},
      {"aten._embedding_bag", check_embedding_bag},
      {"aten._embedding_bag_forward_only", check_embedding_bag},
      {"aten.embedding_bag", check_embedding_bag},
      {"aten.bincount", check_bincount},
      {"aten.histc", check_histogram},
      {"aten.repeat_interleave.Tensor", check_repeats},
      {"aten.repeat_interleave.self_Tensor", check_repeat_by_tensor},
      {"aten.cumsum", check_running},
      {"aten.cumprod", check_running},
      {"aten.cummax", check_running},
      {"aten.cummin", check_running},
      {"aten.logcumsumexp", check_logcumsumexp},
      {"aten._logcumsumexp", check_logcumsumexp},
      {"aten.diff", check_diff},
      {"aten.trapezoid", check_trapezoid},
      {"aten.trapz", check_trapezoid},
      {"aten.cumulative_trapezoid", check_trapezoid},
      {"aten.cdist", check_cdist},
      {"aten._cdist_forward", check_cdist},
      {"aten.pdist", check_pdist},
      {"aten._pdist_forward", check_pdist},
      {"aten.pairwise_distance", check_pairwise_distance},
      {"aten.cosine_similarity", check_cosine_similarity},
      {"aten.cross", check_cross},
      {"aten.linalg_cross", check_cross},
      {"aten.renorm", check_renorm},
      {"aten.embedding_renorm", check_embedding_renorm},
      {"aten.quantile", check_quantile},
      {"aten.nanquantile", check_quantile},
      {"aten.gradient", check_gradient},
      {"aten.linalg_vector_norm", check_vector_norm},
      {"aten.mean", check_mean},
      {"aten.var", check_reduced_floating},
      {"aten.std", check_reduced_floating},
      {"aten.var_mean", check_reduced_floating},
      {"aten.std_mean", check_reduced_floating},
  };
}

}  // namespace aotc
