// Einstein sums: operands are contracted from left to right, each pair by one matrix product.
#include <algorithm>
#include <map>
#include <set>

#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

using Labels =
    std::vector<int>;  // letters; ellipsis dimensions are negative, counted from the last

struct Term {
  TensorExpr x;
  Labels labels;
};

bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::string without_spaces(const std::string& text) {
  std::string s;
  for (char c : text)
    if (c != ' ') s += c;
  return s;
}

// The labels of a subscript; "..." stands for `ellipsis_rank` dimensions.
Labels parse_labels(const std::string& text, int64_t ellipsis_rank) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.') {
      labels.push_back(text[i]);
      continue;
    }
    for (int64_t d = ellipsis_rank; d > 0; --d) labels.push_back(static_cast<int>(-d));
    i += 2;
  }
  return labels;
}

int64_t letters_in(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return c != '.'; });
}

// A label that an operand has twice is its diagonal.
Term take_diagonals(Term t) {
  for (size_t i = 0; i < t.labels.size(); ++i)
    for (size_t j = i + 1; j < t.labels.size(); ++j) {
      if (t.labels[i] != t.labels[j]) continue;
      int label = t.labels[i];
      t.x = t.x.apply("aten.diagonal.default",
                      {Sym(0), Sym(static_cast<int64_t>(i)), Sym(static_cast<int64_t>(j))});
      t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(j));
      t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(i));
      t.labels.push_back(label);
      return take_diagonals(t);
    }
  return t;
}

// Sums the dimensions whose labels are not in `kept`.
Term sum_unused(Term t, const std::set<int>& kept) {
  std::vector<int64_t> dims;
  Labels labels;
  for (size_t d = 0; d < t.labels.size(); ++d) {
    if (kept.contains(t.labels[d]))
      labels.push_back(t.labels[d]);
    else
      dims.push_back(static_cast<int64_t>(d));
  }
  if (!dims.empty()) t.x = t.x.sum(dims, false);
  return {t.x, labels};
}

// The operand with its dimensions in this order; labels that it lacks become dimensions of size 1.
TensorExpr arranged(const Term& t, const Labels& order) {
  std::vector<int64_t> permutation;
  Index sizes;
  for (int label : order) {
    auto it = std::find(t.labels.begin(), t.labels.end(), label);
    if (it != t.labels.end()) permutation.push_back(it - t.labels.begin());
    sizes.push_back(it == t.labels.end() ? Sym(1) : t.x.size(it - t.labels.begin()));
  }
  return t.x.permute(permutation).reshape(sizes);
}

Sym size_of(const Term& t, int label) {
  auto it = std::find(t.labels.begin(), t.labels.end(), label);
  return it == t.labels.end() ? Sym(1) : t.x.size(it - t.labels.begin());
}

// Labels of both operands with size 1 in one of them are broadcast before they are contracted.
TensorExpr spread(const Term& t, const Labels& order, const std::map<int, Sym>& sizes) {
  TensorExpr x = arranged(t, order);
  Index full;
  for (int label : order) full.push_back(has(t.labels, label) ? sizes.at(label) : Sym(1));
  return x.expand(full);
}

Labels joined(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

Term contract(Term a, Term b, const std::set<int>& kept) {
  std::set<int> in_a(a.labels.begin(), a.labels.end()), in_b(b.labels.begin(), b.labels.end());
  std::set<int> keep_a = kept, keep_b = kept;
  keep_a.insert(in_b.begin(), in_b.end());
  keep_b.insert(in_a.begin(), in_a.end());
  a = sum_unused(a, keep_a);
  b = sum_unused(b, keep_b);
  Labels batch, contracted, only_a, only_b;
  std::map<int, Sym> sizes;
  for (int l : a.labels) {
    bool both = has(b.labels, l);
    (!both ? only_a : kept.contains(l) ? batch : contracted).push_back(l);
    sizes[l] = both && size_of(a, l).is(1) ? size_of(b, l) : size_of(a, l);
  }
  for (int l : b.labels) {
    if (!has(a.labels, l)) only_b.push_back(l);
    if (!sizes.contains(l)) sizes[l] = size_of(b, l);
  }
  Labels order = joined({batch, only_a, only_b});
  if (contracted.empty()) return {arranged(a, order) * arranged(b, order), order};
  auto total = [&](const Labels& labels) {
    Sym n = 1;
    for (int l : labels) n = n * sizes.at(l);
    return n;
  };
  TensorExpr left = spread(a, joined({batch, only_a, contracted}), sizes)
                        .reshape({total(batch), total(only_a), total(contracted)});
  TensorExpr right = spread(b, joined({batch, contracted, only_b}), sizes)
                         .reshape({total(batch), total(contracted), total(only_b)});
  Index result;
  for (int l : order) result.push_back(sizes.at(l));
  return {left.apply("aten.bmm.default", {right.v}).reshape(result), order};
}

struct Equation {
  std::vector<std::string> inputs;
  std::optional<std::string> output;
};

Equation parse_equation(const std::string& raw) {
  std::string text = without_spaces(raw);
  Equation e;
  size_t arrow = text.find("->");
  if (arrow != std::string::npos) {
    e.output = text.substr(arrow + 2);
    text = text.substr(0, arrow);
  }
  size_t begin = 0;
  for (size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', begin)) {
    e.inputs.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  e.inputs.push_back(text.substr(begin));
  return e;
}

// Without "->": the ellipsis, then the letters that occur once, in alphabetical order.
Labels implied_output(const std::vector<Term>& terms, int64_t ellipsis_rank) {
  std::map<int, int> uses;
  for (const Term& t : terms)
    for (int l : t.labels)
      if (l > 0) ++uses[l];
  Labels out;
  for (int64_t d = ellipsis_rank; d > 0; --d) out.push_back(static_cast<int>(-d));
  for (auto [label, count] : uses)
    if (count == 1) out.push_back(label);
  return out;
}

Values einsum(Rewriter& r) {
  Equation equation = parse_equation(std::get<std::string>(arg(r.node, "equation")));
  const Values& tensors = std::get<Values>(arg(r.node, "tensors"));
  if (equation.inputs.size() != tensors.size())
    user_error("{}: node '{}': einsum names {} operands, {} are given", r.node.source.str(),
               r.node.name, equation.inputs.size(), tensors.size());
  int64_t widest = 0;
  std::vector<Term> terms;
  for (size_t i = 0; i < tensors.size(); ++i) {
    int64_t rank = r.rank(tensors[i]) - letters_in(equation.inputs[i]);
    widest = std::max(widest, rank);
    terms.push_back({{&r, tensors[i]}, parse_labels(equation.inputs[i], rank)});
  }
  Labels output =
      equation.output ? parse_labels(*equation.output, widest) : implied_output(terms, widest);
  for (Term& t : terms) t = take_diagonals(t);
  Term total = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::set<int> kept(output.begin(), output.end());
    for (size_t k = i + 1; k < terms.size(); ++k)
      kept.insert(terms[k].labels.begin(), terms[k].labels.end());
    total = contract(total, terms[i], kept);
  }
  total = sum_unused(total, std::set<int>(output.begin(), output.end()));
  return {arranged(total, output)};
}

std::string letters(size_t from, size_t count) {
  std::string s;
  for (size_t i = 0; i < count; ++i) s += static_cast<char>('a' + from + i);
  return s;
}

// Contracts the listed dimensions; the others follow in order, those of self first.
Values tensordot(Rewriter& r) {
  TensorExpr a = in(r, "self"), b = in(r, "other");
  std::vector<int64_t> dims_a = ints_arg(r.node, "dims_self"),
                       dims_b = ints_arg(r.node, "dims_other");
  auto rank_a = static_cast<size_t>(a.rank()), rank_b = static_cast<size_t>(b.rank());
  std::string left = letters(0, rank_a), right = letters(rank_a, rank_b), result = left + right;
  for (size_t i = 0; i < dims_a.size(); ++i) {
    auto i_a = static_cast<size_t>(wrap_dim(dims_a[i], a.rank(), r.node));
    auto i_b = static_cast<size_t>(wrap_dim(dims_b[i], b.rank(), r.node));
    std::erase(result, right[i_b]);
    std::erase(result, left[i_a]);
    right[i_b] = left[i_a];
  }
  return {r("aten.einsum.default", {left + "," + right + "->" + result, Values{a, b}})};
}

// y[..., o] = sum of input1[..., i] weight[o, i, j] input2[..., j], plus bias.
Values bilinear(Rewriter& r) {
  Values operands{r.tensor("input1"), r.tensor("weight"), r.tensor("input2")};
  TensorExpr y{&r, r("aten.einsum.default", {std::string("...i,oij,...j->...o"), operands})};
  TensorExpr bias = in(r, "bias");
  return {bias ? y + bias : y};
}

// Three operands, each with missing dimensions inserted; their product summed over `sumdim`.
Values trilinear(Rewriter& r) {
  TensorExpr product;
  const char* names[] = {"i1", "i2", "i3"};
  const char* expands[] = {"expand1", "expand2", "expand3"};
  for (int i = 0; i < 3; ++i) {
    TensorExpr x = in(r, names[i]);
    std::vector<int64_t> dims = ints_arg(r.node, expands[i]);
    std::sort(dims.begin(), dims.end());
    for (int64_t d : dims) x = x.unsqueeze(d);
    product = product ? product * x : x;
  }
  std::vector<int64_t> summed = ints_arg(r.node, "sumdim");
  return {summed.empty() ? product : product.sum(summed, false).cast(product.dtype())};
}

}  // namespace

Rows einsum_ops() {
  return {
      rewrite_op("aten.einsum.default(str equation, Tensor(a)[] tensors, *, int[]? path=None) -> "
                 "Tensor(a)",
                 einsum),
      rewrite_op("aten.tensordot.default(Tensor self, Tensor other, int[] dims_self, int[] "
                 "dims_other) -> Tensor",
                 tensordot),
      rewrite_op("aten.bilinear.default(Tensor input1, Tensor input2, Tensor weight, Tensor? "
                 "bias=None) -> Tensor",
                 bilinear),
      rewrite_op("aten._trilinear.default(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] "
                 "expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
                 trilinear),
  };
}

}  // namespace aotc
