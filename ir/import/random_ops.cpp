#include "ir/import/random_ops.h"

#include <algorithm>
#include <string_view>

namespace aotc {
namespace {

const char* const kGenerators[] = {
    "rand",         "rand_like",         "randn",       "randn_like",      "randint",
    "randint_like", "randperm",          "bernoulli",   "bernoulli_",      "normal",
    "normal_",      "normal_functional", "multinomial", "uniform",         "uniform_",
    "exponential",  "exponential_",      "geometric",   "geometric_",      "cauchy",
    "cauchy_",      "log_normal",        "log_normal_", "random",          "random_",
    "random_from",  "poisson",           "binomial",    "_standard_gamma", "_sample_dirichlet"};
// Random where the named argument is true (or, for `train` of native_dropout, not false).
const char* const kTraining[] = {"dropout",
                                 "dropout_",
                                 "alpha_dropout",
                                 "alpha_dropout_",
                                 "feature_dropout",
                                 "feature_dropout_",
                                 "native_dropout",
                                 "feature_alpha_dropout",
                                 "feature_alpha_dropout_",
                                 "rrelu",
                                 "rrelu_",
                                 "rrelu_with_noise",
                                 "rrelu_with_noise_",
                                 "rrelu_with_noise_functional"};

bool contains(const auto& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

const pt2::Argument* argument(const pt2::Node& n, std::string_view name) {
  for (const pt2::NamedArgument& a : n.inputs)
    if (a.name == name) return &a.arg;
  return nullptr;
}

bool is_true(const pt2::Node& n, std::string_view name) {
  const pt2::Argument* a = argument(n, name);
  const bool* b = a ? std::get_if<bool>(&a->value) : nullptr;
  return b && *b;
}

bool is_zero(const pt2::Node& n, std::string_view name) {
  const pt2::Argument* a = argument(n, name);
  if (!a) return false;
  if (const double* d = std::get_if<double>(&a->value)) return *d == 0;
  const int64_t* i = std::get_if<int64_t>(&a->value);
  return i && *i == 0;
}

}  // namespace

std::optional<std::string> random_remedy(const pt2::Node& node) {
  std::string_view name = pt2::aten_name(node.target);
  if (contains(kGenerators, name)) return "make them outside and pass them as inputs of the model";
  bool training = contains(kTraining, name) && !is_zero(node, "p") &&
                  (is_true(node, "train") || is_true(node, "training"));
  bool attention =
      name.starts_with("scaled_dot_product") || name.starts_with("_scaled_dot_product");
  if (attention && argument(node, "dropout_p")) training = !is_zero(node, "dropout_p");
  if (!training) return std::nullopt;
  return "export the model in eval mode: call model.eval() before torch.export.export, or set the "
         "rate of dropout to 0";
}

}  // namespace aotc
