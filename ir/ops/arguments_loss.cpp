// Conditions of losses: inputs and targets that fit, and what is done with the losses of the
// elements.
#include "ir/ops/arguments.h"

namespace aotc {
namespace {

void require_reduction(const Node& n) { require_within(n, "reduction", 0, 2); }

template <bool floating>
void check_pair_loss(const Node& n) {
  require_reduction(n);
  if (floating) require_not_bool(n, "self");
}

void check_huber(const Node& n) {
  require_reduction(n);
  require(n, double_arg(n, "delta") > 0, "'delta' is {}, expected a positive number",
          double_arg(n, "delta"));
}

void check_smooth_l1(const Node& n) {
  require_reduction(n);
  require(n, double_arg(n, "beta") >= 0, "'beta' is {}, expected no negative number",
          double_arg(n, "beta"));
}

// The losses have the sizes of the first argument.
void check_soft_margin(const Node& n) {
  require_reduction(n);
  require_expandable(n, "target", sizes_of(n, "self"));
}

void check_bce(const Node& n) {
  require_reduction(n);
  require_floating(n, "self");
  require_same_dtype(n, {"self", "target", "weight"});
  if (product(sizes_of(n, "target")).is(1) && product(sizes_of(n, "self")).is(1)) return;
  broadcast_sizes({sizes_of(n, "self"), sizes_of(n, "target")}, n);
}

void check_bce_with_logits(const Node& n) {
  require_reduction(n);
  require_floating(n, "self");
  Index common = broadcast_sizes({sizes_of(n, "self"), sizes_of(n, "target")}, n);
  require(n, can_be_equal(common, sizes_of(n, "target")),
          "'target' has the sizes {}, the losses {}", sizes_text(sizes_of(n, "target")),
          sizes_text(common));
}

void check_cosine_embedding(const Node& n) {
  require_reduction(n);
  require_rank(n, "target", 0, 1);
  auto rank = static_cast<int64_t>(sizes_of(n, "target").size()) + 1;
  require_rank(n, "input1", rank, rank);
  require_rank(n, "input2", rank, rank);
}

void check_triplet_margin(const Node& n) {
  require_reduction(n);
  auto rank = static_cast<int64_t>(sizes_of(n, "anchor").size());
  require_rank(n, "anchor", 1);
  require_rank(n, "positive", rank, rank);
  require_rank(n, "negative", rank, rank);
}

// ---- classes

// Integers where `index` of eager's kernel are wanted.
void require_class_type(const Node& n) {
  DType t = dtype_of(n, "target");
  require(n, t == DType::Int64 || t == DType::UInt8, "'target' is {}, expected int64", name(t));
}

void require_class_weights(const Node& n, const Sym& classes) {
  if (is_given(n, "weight")) require_sizes(n, "weight", {classes});
}

// [N, C, d...] and [N, d...]; or [C] and one number.
void require_classes(const Node& n) {
  const Index &self = sizes_of(n, "self"), &target = sizes_of(n, "target");
  require_rank(n, "self", 1);
  if (self.size() == 1) {
    require(n, target.empty() || can_be_equal(target, {Sym(1)}),
            "'target' has the sizes {}, expected one number", sizes_text(target));
  } else {
    Index expected = self;
    expected.erase(expected.begin() + 1);
    require_sizes(n, "target", expected);
  }
  require_class_weights(n, self[self.size() == 1 ? 0 : 1]);
}

template <int64_t low, int64_t high>
void check_nll(const Node& n) {
  require_reduction(n);
  require_rank(n, "self", low, high);
  require_floating(n, "self");
  require_class_type(n);
  require_classes(n);
  if (is_given(n, "weight")) require_same_dtype(n, {"self", "weight"});
}

void check_cross_entropy(const Node& n) {
  require_reduction(n);
  require_floating(n, "self");
  double smoothing = double_arg(n, "label_smoothing");
  require(n, smoothing >= 0 && smoothing <= 1, "'label_smoothing' is {}, expected 0 to 1",
          smoothing);
  if (is_given(n, "weight")) require_same_dtype(n, {"self", "weight"});
  if (is_floating(dtype_of(n, "target"))) {
    require_rank(n, "self", 1);
    require_same_sizes(n, "target", "self");
    require(n, can_be_within(sym_arg(n, "ignore_index"), std::numeric_limits<int64_t>::min(), -1),
            "'ignore_index' is {}, which targets that are probabilities do not have",
            sym_arg(n, "ignore_index").str());
    return require_class_weights(n, sizes_of(n, "self")[sizes_of(n, "self").size() == 1 ? 0 : 1]);
  }
  require_class_type(n);
  require_classes(n);
}

void check_multi_margin(const Node& n) {
  require_reduction(n);
  require_floating(n, "self");
  require_rank(n, "self", 0, 2);
  require_elements(n, "self", sizes_of(n, "self").size() == 2 ? 1 : 0);
  require_int64(n, "target");
  double p = double_arg(n, "p");
  require(n, p == 1 || p == 2, "'p' is {}, expected 1 or 2", p);
  const Index& self = sizes_of(n, "self");
  Sym samples = self.size() == 2 ? self[0] : Sym(1), classes = self.empty() ? Sym(1) : self.back();
  require_rank(n, "target", 0, 1);
  require(n, can_be_equal(product(sizes_of(n, "target")), samples),
          "'target' has {} classes for {} samples", product(sizes_of(n, "target")).str(),
          samples.str());
  if (!is_given(n, "weight")) return;
  require_class_weights(n, classes);
  require_same_dtype(n, {"self", "weight"});
}

}  // namespace

ArgumentRules loss_rules() {
  return {
      {"aten.mse_loss", check_pair_loss<true>},
      {"aten.l1_loss", check_pair_loss<true>},
      {"aten.smooth_l1_loss", check_smooth_l1},
      {"aten.huber_loss", check_huber},
      {"aten.soft_margin_loss", check_soft_margin},
      {"aten.poisson_nll_loss", require_reduction},
      {"aten.kl_div", require_reduction},
      {"aten.binary_cross_entropy", check_bce},
      {"aten.binary_cross_entropy_with_logits", check_bce_with_logits},
      {"aten.margin_ranking_loss", require_reduction},
      {"aten.hinge_embedding_loss", require_reduction},
      {"aten.cosine_embedding_loss", check_cosine_embedding},
      {"aten.triplet_margin_loss", check_triplet_margin},
      {"aten.nll_loss", check_nll<1, 2>},
      {"aten.nll_loss_forward", check_nll<1, 2>},
      {"aten.nll_loss2d", check_nll<4, 4>},
      {"aten.nll_loss2d_forward", check_nll<4, 4>},
      {"aten.nll_loss_nd", check_nll<1, std::numeric_limits<int64_t>::max()>},
      {"aten.cross_entropy_loss", check_cross_entropy},
      {"aten.multi_margin_loss", check_multi_margin},
  };
}

}  // namespace aotc
