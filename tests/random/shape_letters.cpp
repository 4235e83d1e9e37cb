// The shapes of the tensors of ops whose arguments must fit together.
#include <map>

#include "arguments.h"

namespace aotc::random_graphs {

// One word per tensor argument in schema order, a letter per dimension, equal letters equal sizes;
// a leading * stands for any dimensions, the same in every word.
std::string_view shape_letters(std::string_view op_name) {
  static const std::map<std::string_view, std::string_view> kShapes = {
      {"mm", "nk km"},
      {"bmm", "bnk bkm"},
      {"mv", "nk k"},
      {"dot", "k k"},
      {"vdot", "k k"},
      {"outer", "n m"},
      {"ger", "n m"},
      {"linear", "*k mk m"},
      {"matmul", "*nk *km"},
      {"addmm", "nm nk km"},
      {"baddbmm", "bnm bnk bkm"},
      {"addbmm", "nm bnk bkm"},
      {"addmv", "n nk k"},
      {"addr", "nm n m"},
      {"inner", "nk mk"},
      {"linalg_vecdot", "*k *k"},
      {"bilinear", "*k *l mkl m"},
      {"chain_matmul", "nk km"},
      {"linalg_multi_dot", "nk km"},
      {"scaled_dot_product_attention", "bhqd bhkd bhkd qk"},
      {"_scaled_dot_product_attention_math", "bhqd bhkd bhkd qk qk"},
      {"_scaled_dot_product_flash_attention_for_cpu", "bhqd bhkd bhkd qk"},
      {"conv1d", "ncl ocw o"},
      {"conv2d", "nclm ocwv o"},
      {"conv3d", "nclmk ocwvu o"},
      {"convolution", "nclm ocwv o"},
      {"conv_transpose1d", "ncl cow o"},
      {"conv_transpose2d", "nclm cowv o"},
      {"conv_transpose3d", "nclmk cowvu o"},
      {"_native_batch_norm_legit_no_training", "ncl c c c c"},
      {"_native_batch_norm_legit", "ncl c c c c"},
      {"_native_batch_norm_legit_functional", "ncl c c c c"},
      {"_batch_norm_with_update", "ncl c c c c"},
      {"_batch_norm_with_update_functional", "ncl c c c c"},
      {"batch_norm", "ncl c c c c"},
      {"native_batch_norm", "ncl c c c c"},
      {"instance_norm", "ncl c c c c"},
      {"group_norm", "ncl c c"},
      {"prelu", "ncl c"},
      {"_prelu_kernel", "*n *n"},
      {"layer_norm", "*k k k"},
      {"native_layer_norm", "*k k k"},
      {"rms_norm", "*k k"},
      {"_fused_rms_norm", "*k k"},
      {"_weight_norm", "nk n1"},
      {"_weight_norm_interface", "nk n1"},
      {"cdist", "bnk bmk"},
      {"_cdist_forward", "bnk bmk"},
      {"pdist", "nk"},
      {"cosine_embedding_loss", "nk nk n"},
      {"tensordot", "nk km"},
      {"lstm_cell", ""},
      {"rnn_tanh_cell", "nk nh hk hh h h"},
      {"rnn_relu_cell", "nk nh hk hh h h"},
      {"matrix_power", "nn"},
      {"linalg_matrix_power", "nn"},
      {"matrix_exp", "nn"},
      {"linalg_matrix_exp", "nn"},
      {"trace", "nm"},
      {"einsum", "nm mk"}};
  size_t first = op_name.find('.') + 1;
  std::string_view base = op_name.substr(first, op_name.find('.', first) - first);
  if (base.ends_with("_") && base != "_") base.remove_suffix(1);
  auto it = kShapes.find(base);
  return it == kShapes.end() ? std::string_view{} : it->second;
}

}  // namespace aotc::random_graphs
