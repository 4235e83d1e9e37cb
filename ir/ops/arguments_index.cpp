// Conditions of reading and writing at indices that are data, and of masks.
#include "ir/ops/arguments.h"
#include "ir/ops/index_math.h"

namespace aotc {
namespace {

Index vector_of(const Index& sizes) { return sizes.empty() ? Index{Sym(1)} : sizes; }

size_t indexed_dim(const Node& n) { return require_dim(n, "dim", input_rank(n)); }

// Each dimension of `inner` holds at most as many elements as that of `outer`; dimension `except`
// aside.
void require_no_larger(const Node& n, std::string_view inner, std::string_view outer,
                       int64_t except) {
  Index a = vector_of(sizes_of(n, inner)), b = vector_of(sizes_of(n, outer));
  require(n, a.size() == b.size(), "'{}' has {} dimensions, expected {} like '{}'", inner, a.size(),
          b.size(), outer);
  for (size_t d = 0; d < a.size(); ++d)
    require(n, static_cast<int64_t>(d) == except || can_be_within(b[d] - a[d], 0),
            "'{}' has the sizes {}, larger than {} of '{}' in dimension {}", inner,
            sizes_text(sizes_of(n, inner)), sizes_text(sizes_of(n, outer)), outer, d);
}

bool has_no_elements(const Node& n, std::string_view arg) {
  return product(sizes_of(n, arg)).is(0);
}

// ---- gather and scatter

void check_gather(const Node& n) {
  size_t dim = indexed_dim(n);
  if (has_no_elements(n, "index")) return;
  require_index_type(n, "index");
  require_no_larger(n, "index", "self", static_cast<int64_t>(dim));
}

void check_scatter(const Node& n) {
  size_t dim = indexed_dim(n);
  bool tensor = n.op->schema.index_of("src") >= 0;
  if (tensor) require_same_dtype(n, {"self", "src"});
  if (has_no_elements(n, "index")) return;
  require_index_type(n, "index");
  require_no_larger(n, "index", "self", static_cast<int64_t>(dim));
  if (tensor) require_no_larger(n, "index", "src", -1);
}

void check_scatter_by_name(const Node& n) {
  check_scatter(n);
  if (n.op->schema.index_of("include_self") >= 0)
    require_word(n, "reduce", {"sum", "prod", "mean", "amax", "amin"});
  else
    require_word(n, "reduce", {"add", "multiply"});
}

void check_take_along_dim(const Node& n) {
  require_index_type(n, "indices");
  if (arg_is_none(n, "dim")) return;
  require_rank(n, "indices", input_rank(n), input_rank(n));
  require_dim(n, "dim", input_rank(n));
}

// ---- whole slices

void require_index_vector(const Node& n) {
  indexed_dim(n);
  require_rank(n, "index", 0, 1);
}

void check_index_select(const Node& n) {
  require_index_vector(n);
  require_index_type(n, "index");
  if (input_rank(n) == 0)
    require_sizes(n, "index", sizes_of(n, "index").empty() ? Index{} : Index{Sym(1)});
}

// `source` has a slice of self for every index.
void require_slices(const Node& n) {
  size_t dim = indexed_dim(n);
  Index expected = input_type(n).sizes, count = vector_of(sizes_of(n, "index"));
  const Index& source = sizes_of(n, "source");
  if (expected.empty() || (source.empty() && count[0].is(1))) {
    require(n, source.size() <= 1 && can_be_equal(product(source), count[0]),
            "'source' has the sizes {}, expected {} elements", sizes_text(source), count[0].str());
    require(n, expected.empty() || expected.size() == 1,
            "'source' has no dimensions, 'self' has {}", expected.size());
    return;
  }
  expected[dim] = count[0];
  require_sizes(n, "source", expected);
}

void check_index_copy(const Node& n) {
  require_index_vector(n);
  require_int64(n, "index");
  require_same_dtype(n, {"self", "source"});
  require_slices(n);
}

void check_index_add(const Node& n) {
  require_index_vector(n);
  require_index_type(n, "index");
  require_same_dtype(n, {"self", "source"});
  require_slices(n);
}

void check_index_reduce(const Node& n) {
  check_index_add(n);
  require_word(n, "reduce", {"prod", "mean", "amax", "amin"});
}

void check_index_fill(const Node& n) {
  require_index_vector(n);
  require_int64(n, "index");
  if (n.op->schema.args[3].is_tensor()) require_rank(n, "value", 0, 0);
}

void check_embedding(const Node& n) {
  require_rank(n, "weight", 2, 2);
  require_index_type(n, "indices");
}

void check_take(const Node& n) {
  require_int64(n, "index");
  bool nowhere = product(input_type(n).sizes).is(0) && !has_no_elements(n, "index");
  require(n, !nowhere || !product(sizes_of(n, "index")).constant(),
          "'self' has no element to take");
}

void check_put(const Node& n) {
  require_int64(n, "index");
  require_same_dtype(n, {"self", "source"});
  Sym count = product(sizes_of(n, "index")), given = product(sizes_of(n, "source"));
  require(n, can_be_equal(count, given), "'source' has {} elements, 'index' {}", given.str(),
          count.str());
}

// ---- advanced indices

bool is_mask_type(DType t) { return is_bool(t) || t == DType::UInt8; }

// At most one index per dimension; masks have the sizes of the dimensions that they stand for.
void check_indices_fit(const Node& n) {
  const Values& indices = std::get<Values>(arg(n, "indices"));
  const Index& sizes = input_type(n).sizes;
  size_t d = 0;
  for (const Value* v : indices) {
    size_t width = v && is_mask_type(v->type.dtype) ? v->type.rank() : 1;
    require(n, d + width <= sizes.size(),
            "its indices stand for more than the {} dimensions of 'self'", sizes.size());
    if (v && is_mask_type(v->type.dtype)) {
      for (size_t i = 0; i < width; ++i)
        require(n, can_be_equal(v->type.sizes[i], sizes[d + i]),
                "a mask has the sizes {}, dimension {} of 'self' has {} elements",
                sizes_text(v->type.sizes), d + i, sizes[d + i].str());
    } else if (v) {
      require(n, is_integer(v->type.dtype), "an index is {}, expected int64, int32 or bool",
              name(v->type.dtype));
    }
    d += width;
  }
}

bool any_mask(const Node& n) {
  for (const Value* v : std::get<Values>(arg(n, "indices")))
    if (v && is_mask_type(v->type.dtype)) return true;
  return false;
}

Index region_sizes(const Node& n) {
  return AdvancedIndex(n, std::get<Values>(arg(n, "indices")), input_type(n)).sizes();
}

void check_index(const Node& n) {
  check_indices_fit(n);
  if (!any_mask(n)) region_sizes(n);
}

void check_index_put(const Node& n) {
  require_same_dtype(n, {"self", "values"});
  check_indices_fit(n);
  if (!any_mask(n)) require_expandable(n, "values", region_sizes(n));
}

// The region has the mask's sizes.
void check_masked_index(const Node& n) {
  check_index(n);
  require(n, !any_mask(n), "an index is a mask, expected integers");
  require_bool(n, "mask");
  broadcast_sizes({sizes_of(n, "mask"), region_sizes(n)}, n);
}

void check_masked_index_put(const Node& n) {
  check_masked_index(n);
  require_same_dtype(n, {"self", "values"});
  Index kept = broadcast_sizes({sizes_of(n, "mask"), sizes_of(n, "values")}, n);
  Index region = region_sizes(n);
  bool fits = kept.size() <= region.size();
  for (size_t d = 0; fits && d < kept.size(); ++d)
    fits = kept[d].is(1) || can_be_equal(kept[d], region[region.size() - kept.size() + d]);
  require(n, fits, "'mask' and 'values' have the sizes {}, which do not broadcast to {}",
          sizes_text(kept), sizes_text(region));
}

// ---- masks

void check_masked_select(const Node& n) {
  require_bool(n, "mask");
  broadcast_sizes({sizes_of(n, "mask"), input_type(n).sizes}, n);
}

void check_masked_scatter(const Node& n) {
  require_bool(n, "mask");
  require_same_dtype(n, {"self", "source"});
}

void check_masked_fill(const Node& n) {
  require_bool(n, "mask");
  if (n.op->schema.args[2].is_tensor()) require_rank(n, "value", 0, 0);
}

void check_where(const Node& n) {
  DType t = dtype_of(n, "condition");
  require(n, is_mask_type(t), "'condition' is {}, expected bool", name(t));
}

}  // namespace

ArgumentRules index_rules() {
  return {
      {"aten.gather", check_gather},
      {"aten.scatter.src", check_scatter},
      {"aten.scatter.value", check_scatter},
      {"aten.scatter.reduce", check_scatter_by_name},
      {"aten.scatter.value_reduce", check_scatter_by_name},
      {"aten.scatter_add", check_scatter},
      {"aten.scatter_reduce", check_scatter_by_name},
      {"aten.take_along_dim", check_take_along_dim},
      {"aten.index_select", check_index_select},
      {"aten.index_copy", check_index_copy},
      {"aten.index_add", check_index_add},
      {"aten.index_reduce", check_index_reduce},
      {"aten.index_fill", check_index_fill},
      {"aten.embedding", check_embedding},
      {"aten.take", check_take},
      {"aten.put", check_put},
      {"aten.index", check_index},
      {"aten._unsafe_index", check_index},
      {"aotc.index", check_index},
      {"aten.index_put", check_index_put},
      {"aten._unsafe_index_put", check_index_put},
      {"aten._index_put_impl", check_index_put},
      {"aotc.index_put", check_index_put},
      {"aten._unsafe_masked_index", check_masked_index},
      {"aten._unsafe_masked_index_put_accumulate", check_masked_index_put},
      {"aten.masked_select", check_masked_select},
      {"aten.masked_scatter", check_masked_scatter},
      {"aten.masked_fill", check_masked_fill},
      {"aten.where", check_where},
      {"aten.where.default", nullptr},  // takes any tensor
  };
}

}  // namespace aotc
