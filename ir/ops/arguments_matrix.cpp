// Conditions of matrix products and of functions of matrices.
#include "ir/ops/arguments.h"

namespace aotc {
namespace {

void check_mm(const Node& n) {
  Shapes(n).match("self", "nk").match("mat2", "km");
  require_same_dtype(n, {"self", "mat2"});
}
void check_bmm(const Node& n) {
  Shapes(n).match("self", "bnk").match("mat2", "bkm");
  require_same_dtype(n, {"self", "mat2"});
}
void check_mv(const Node& n) {
  Shapes(n).match("self", "nk").match("vec", "k");
  require_same_dtype(n, {"self", "vec"});
}
void check_outer(const Node& n) { Shapes(n).match("self", "n").match("vec2", "m"); }

void check_addmm(const Node& n) {
  Shapes(n).match("mat1", "nk").match("mat2", "km");
  require_same_dtype(n, {"self", "mat1", "mat2"});
  require_expandable(n, "self", {sizes_of(n, "mat1")[0], sizes_of(n, "mat2")[1]});
}
void check_baddbmm(const Node& n) {
  Shapes(n).match("batch1", "bnk").match("batch2", "bkm");
  require_same_dtype(n, {"self", "batch1", "batch2"});
  const Index &a = sizes_of(n, "batch1"), &b = sizes_of(n, "batch2");
  require_expandable(n, "self", {a[0], a[1], b[2]});
}
void check_addbmm(const Node& n) {
  Shapes(n).match("batch1", "bnk").match("batch2", "bkm");
  require_same_dtype(n, {"self", "batch1", "batch2"});
  require_expandable(n, "self", {sizes_of(n, "batch1")[1], sizes_of(n, "batch2")[2]});
}
void check_addmv(const Node& n) {
  Shapes(n).match("mat", "nk").match("vec", "k");
  require_same_dtype(n, {"self", "mat", "vec"});
  require_expandable(n, "self", {sizes_of(n, "mat")[0]});
}
void check_addr(const Node& n) {
  Shapes(n).match("vec1", "n").match("vec2", "m");
  require_expandable(n, "self", {sizes_of(n, "vec1")[0], sizes_of(n, "vec2")[0]});
}

void check_linear(const Node& n) {
  require_rank(n, "weight", 1, 2);
  bool vector = sizes_of(n, "weight").size() == 1;
  Shapes(n).match("input", "*k").match("weight", vector ? "k" : "mk");
  require_same_dtype(n, {"input", "weight", "bias"});
  if (!vector) require_expandable(n, "bias", {sizes_of(n, "weight")[0]});
}

void check_matmul(const Node& n) {
  bool column = sizes_of(n, "other").size() == 1;
  Shapes(n).match("self", "*k").match("other", column ? "k" : "*k.");
  require_same_dtype(n, {"self", "other"});
}

void check_inner(const Node& n) {
  require_same_dtype(n, {"self", "other"});
  if (sizes_of(n, "self").empty() || sizes_of(n, "other").empty()) return;
  Shapes(n).match("self", "*k").match("other", "*k");
}

void check_vecdot(const Node& n) {
  require_same_dtype(n, {"x", "y"});
  require_rank(n, "x", 1);
  require_rank(n, "y", 1);
  bool vectors = sizes_of(n, "x").size() == 1 && sizes_of(n, "y").size() == 1;
  if (vectors) Shapes(n).match("x", "k").match("y", "k");
}

void require_square(const Node& n) { Shapes(n).match("self", "*nn"); }

void check_matrix_exp(const Node& n) {
  require_square(n);
  require_floating(n, "self");
}

// All matrices; the first and last may be vectors.
void check_multi_dot(const Node& n) {
  const Values& list = std::get<Values>(n.args[0]);
  require(n, list.size() >= 2, "it has {} operands, expected two or more", list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    size_t rank = list[i]->type.rank();
    bool end = i == 0 || i + 1 == list.size();
    require(n, rank == 2 || (rank == 1 && end), "operand {} has {} dimensions, expected 2{}", i,
            rank, end ? ", or 1" : "");
    require(n, list[i]->type.dtype == list[0]->type.dtype, "operand {} is {}, expected {}", i,
            name(list[i]->type.dtype), name(list[0]->type.dtype));
    if (i == 0) continue;
    const Sym &rows = list[i]->type.sizes[0], &columns = list[i - 1]->type.sizes.back();
    require(n, can_be_equal(rows, columns), "operand {} has {} rows, operand {} has {} columns", i,
            rows.str(), i - 1, columns.str());
  }
}

void check_chain_matmul(const Node& n) {
  const Values& list = std::get<Values>(n.args[0]);
  require(n, !list.empty(), "it has no operand");
  for (size_t i = 0; i < list.size(); ++i)
    require(n, list[i]->type.rank() == 2, "operand {} has {} dimensions, expected 2", i,
            list[i]->type.rank());
  if (list.size() > 1) check_multi_dot(n);
}

void check_tensordot(const Node& n) {
  const Index &a = sizes_of(n, "self"), &b = sizes_of(n, "other");
  auto dims_a = require_dims(n, "dims_self", static_cast<int64_t>(a.size()));
  auto dims_b = require_dims(n, "dims_other", static_cast<int64_t>(b.size()));
  require(n, dims_a.size() == dims_b.size(), "'dims_self' has {} dimensions, 'dims_other' {}",
          dims_a.size(), dims_b.size());
  require(n, a.size() + b.size() <= 52,
          "its operands have {} dimensions together, at most 52 are supported",
          a.size() + b.size());
  require_same_dtype(n, {"self", "other"});
  for (size_t i = 0; i < dims_a.size(); ++i) {
    require(n, dims_a[i] < a.size() && dims_b[i] < b.size(),
            "a tensor without dimensions is contracted");
    const Sym &x = a[dims_a[i]], &y = b[dims_b[i]];
    require(n, x.is(1) || y.is(1) || can_be_equal(x, y),
            "dimension {} of 'self' is {}, dimension {} of 'other' is {}", dims_a[i], x.str(),
            dims_b[i], y.str());
  }
}

void check_bilinear(const Node& n) {
  Shapes(n).match("input1", "*k").match("input2", "*l").match("weight", "mkl").match("bias", "m");
  require_same_dtype(n, {"input1", "input2", "weight", "bias"});
  Index a = sizes_of(n, "input1"), b = sizes_of(n, "input2");
  a.pop_back();
  b.pop_back();
  require(n, can_be_equal(a, b), "'input1' and 'input2' have the leading sizes {} and {}",
          sizes_text(a), sizes_text(b));
}

void check_trilinear(const Node& n) {
  int64_t rank = 0;
  const char *tensors[] = {"i1", "i2", "i3"}, *expands[] = {"expand1", "expand2", "expand3"};
  for (size_t i = 0; i < 3; ++i) {
    auto own =
        static_cast<int64_t>(sizes_of(n, tensors[i]).size() + syms_arg(n, expands[i]).size());
    if (i == 0) rank = own;
    require(n, own == rank, "'{}' has {} dimensions with those of '{}', expected {}", tensors[i],
            own, expands[i], rank);
    require_dims(n, expands[i], rank);
    require_not_negative(n, expands[i]);
  }
  require_dims(n, "sumdim", rank);
}

// ---- products of groups of rows

void check_grouped(const Node& n) {
  const bool ours = n.op->schema.index_of("self") >= 0;
  const char *rows = ours ? "self" : "input", *matrices = ours ? "mat2" : "weight";
  require_same_dtype(n, {rows, matrices});
  require_floating(n, rows);
  if (!is_given(n, "offs") || input_rank(n) != 2) return;
  require_rank(n, matrices, 3, 3);
  require_rank(n, "offs", 1, 1);
  require_index_type(n, "offs");
  Shapes(n).match(rows, ".k").match(matrices, "gkn").match("offs", "g");
}

// ---- attention

void check_attention(const Node& n) {
  for (const char* a : {"query", "key", "value"}) require_rank(n, a, 2);
  require_same_dtype(n, {"query", "key", "value"});
  require_floating(n, "query");
  Shapes(n).match("query", "*qd").match("key", "*kd").match("value", "*k.");
  bool masked = is_given(n, "attn_mask");
  require(n, !masked || !bool_arg(n, "is_causal"),
          "'attn_mask' is given although 'is_causal' is true");
  if (masked && !is_bool(dtype_of(n, "attn_mask"))) require_floating(n, "attn_mask");
  bool grouped = n.op->schema.index_of("enable_gqa") >= 0 && bool_arg(n, "enable_gqa");
  if (!grouped) return;
  for (const char* a : {"query", "key", "value"}) require_rank(n, a, 3);
  auto heads = [&](const char* a) { return sizes_of(n, a)[sizes_of(n, a).size() - 3]; };
  for (const char* a : {"key", "value"}) {
    require(n, !heads(a).is(0) && can_be_equal(mod(heads("query"), heads(a)), 0),
            "'query' has {} heads, '{}' {}", heads("query").str(), a, heads(a).str());
  }
}

void check_flash_attention(const Node& n) {
  for (const char* a : {"query", "key", "value"}) require_rank(n, a, 4, 4);
  check_attention(n);
}

// ---- recurrent cells and layers

void check_cell(const Node& n) {
  Shapes s(n);
  s.match("input", "nk")
      .match("w_ih", "gk")
      .match("w_hh", "gh")
      .match("b_ih", "g")
      .match("b_hh", "g");
  const Index &gates = sizes_of(n, "w_ih"), &hidden = sizes_of(n, "w_hh");
  require_same_dtype(n, {"input", "w_ih", "w_hh", "b_ih", "b_hh"});
  int64_t count = n.op->name().starts_with("aten.lstm")  ? 4
                  : n.op->name().starts_with("aten.gru") ? 3
                                                         : 1;
  require(n, can_be_equal(gates[0], hidden[1] * count), "'w_ih' has {} rows, expected {} times {}",
          gates[0].str(), count, hidden[1].str());
  if (count != 4) {
    s.match("hx", "nh");
    return require_same_dtype(n, {"input", "hx"});
  }
  const Values& states = std::get<Values>(arg(n, "hx"));
  require(n, states.size() == 2, "'hx' has {} tensors, expected 2", states.size());
  for (const Value* v : states)
    require(n,
            can_be_equal(v->type.sizes, {sizes_of(n, "input")[0], hidden[1]}) &&
                v->type.dtype == dtype_of(n, "input"),
            "a state is {} {}, expected {} [{}, {}]", name(v->type.dtype),
            sizes_text(v->type.sizes), name(dtype_of(n, "input")), sizes_of(n, "input")[0].str(),
            hidden[1].str());
}

}  // namespace

ArgumentRules matrix_rules() {
  return {
      {"aten.mm", check_mm},
      {"aten.bmm", check_bmm},
      {"aten._grouped_mm", check_grouped},
      {"transformers.grouped_mm_fallback", check_grouped},
      {"aten.mv", check_mv},
      {"aten.dot",
       [](const Node& n) {
         Shapes(n).match("self", "k").match("tensor", "k");
         require_same_dtype(n, {"self", "tensor"});
       }},
      {"aten.vdot",
       [](const Node& n) {
         Shapes(n).match("self", "k").match("other", "k");
         require_same_dtype(n, {"self", "other"});
       }},
      {"aten.outer", check_outer},
      {"aten.ger", check_outer},
      {"aten.addmm", check_addmm},
      {"aten.baddbmm", check_baddbmm},
      {"aten.addbmm", check_addbmm},
      {"aten.addmv", check_addmv},
      {"aten.addr", check_addr},
      {"aten.linear", check_linear},
      {"aten.matmul", check_matmul},
      {"aten.linalg_matmul", check_matmul},
      {"aten.inner", check_inner},
      {"aten.linalg_vecdot", check_vecdot},
      {"aten.matrix_power", require_square},
      {"aten.linalg_matrix_power", require_square},
      {"aten.matrix_exp", check_matrix_exp},
      {"aten.linalg_matrix_exp", check_matrix_exp},
      {"aten.linalg_multi_dot", check_multi_dot},
      {"aten.chain_matmul", check_chain_matmul},
      {"aten.tensordot", check_tensordot},
      {"aten.bilinear", check_bilinear},
      {"aten._trilinear", check_trilinear},
      {"aten.trace", [](const Node& n) { require_rank(n, "self", 2, 2); }},
      {"aten.scaled_dot_product_attention", check_attention},
      {"aten._scaled_dot_product_attention_math", check_attention},
      {"aten._scaled_dot_product_flash_attention_for_cpu", check_flash_attention},
      {"aten.lstm_cell", check_cell},
      {"aten.gru_cell", check_cell},
      {"aten.rnn_tanh_cell", check_cell},
      {"aten.rnn_relu_cell", check_cell},
  };
}

}  // namespace aotc
