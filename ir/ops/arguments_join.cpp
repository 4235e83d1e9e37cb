// Conditions of ops on lists of tensors.
#include "ir/ops/arguments.h"

namespace aotc {
namespace {

const Values& parts_of_list(const Node& n) {
  const Values& parts = std::get<Values>(n.args[0]);
  require(n, !parts.empty(), "its list of tensors is empty");
  return parts;
}

void check_not_empty(const Node& n) { parts_of_list(n); }

// Eager skips one-dimensional tensors without elements.
bool counts_for_cat(const Value* v) { return v->type.rank() != 1 || !v->type.sizes[0].is(0); }

void check_cat(const Node& n) {
  const Value* first = nullptr;
  for (const Value* v : parts_of_list(n)) {
    require(n, v->type.rank() > 0, "a tensor without dimensions cannot be joined");
    if (!first && counts_for_cat(v)) first = v;
  }
  if (!first) {
    require_dim(n, "dim", 1);
    return;
  }
  size_t dim = require_dim(n, "dim", static_cast<int64_t>(first->type.rank()));
  for (const Value* v : parts_of_list(n)) {
    if (!counts_for_cat(v)) continue;
    Index sizes = v->type.sizes;
    if (dim < sizes.size()) sizes[dim] = first->type.sizes[dim];
    require(n, can_be_equal(sizes, first->type.sizes),
            "tensors of the sizes {} and {} cannot be joined along dimension {}",
            sizes_text(first->type.sizes), sizes_text(v->type.sizes), dim);
  }
}

void check_stack(const Node& n) {
  const Values& parts = parts_of_list(n);
  require_dim(n, "dim", static_cast<int64_t>(parts[0]->type.rank()) + 1);
  for (const Value* v : parts)
    require(n, can_be_equal(v->type.sizes, parts[0]->type.sizes),
            "tensors of the sizes {} and {} cannot be stacked", sizes_text(parts[0]->type.sizes),
            sizes_text(v->type.sizes));
}

void check_meshgrid(const Node& n) {
  for (const Value* v : parts_of_list(n)) {
    require(n, v->type.rank() <= 1, "a tensor has {} dimensions, expected 0 or 1", v->type.rank());
    require(n, v->type.dtype == parts_of_list(n)[0]->type.dtype,
            "a tensor is {}, expected {} like the first", name(v->type.dtype),
            name(parts_of_list(n)[0]->type.dtype));
  }
  if (n.op->schema.index_of("indexing") >= 0) require_word(n, "indexing", {"ij", "xy"});
}

void check_cartesian_prod(const Node& n) {
  for (const Value* v : parts_of_list(n))
    require(n, v->type.rank() == 1, "a tensor has {} dimensions, expected 1", v->type.rank());
  if (parts_of_list(n).size() > 1) check_meshgrid(n);
}

void check_block_diag(const Node& n) {
  for (const Value* v : parts_of_list(n))
    require(n, v->type.rank() <= 2, "a tensor has {} dimensions, expected at most 2",
            v->type.rank());
}

// ---- einsum

struct Subscripts {
  std::vector<std::string> inputs;
  std::string output;
  bool has_output = false;
};

Subscripts subscripts_of(const Node& n, std::string text) {
  std::erase(text, ' ');
  Subscripts s;
  if (size_t arrow = text.find("->"); arrow != std::string::npos) {
    s.output = text.substr(arrow + 2);
    s.has_output = true;
    text = text.substr(0, arrow);
  }
  s.inputs.emplace_back();
  for (char c : text)
    if (c == ',')
      s.inputs.emplace_back();
    else
      s.inputs.back() += c;
  s.inputs.push_back(s.output);
  for (const std::string& part : s.inputs) {
    size_t dots = part.find("...");
    std::string letters = dots == std::string::npos ? part : std::string(part).erase(dots, 3);
    for (char c : letters)
      require(n, std::isalpha(static_cast<unsigned char>(c)),
              "the equation has '{}', expected letters and one '...' per operand", c);
  }
  s.inputs.pop_back();
  return s;
}

// Letters and the dimensions of an operand; '...' stands for those in the middle.
void bind_letters(const Node& n, const std::string& part, const Value* v,
                  std::map<char, Sym>& sizes) {
  size_t dots = part.find("...");
  size_t letters = part.size() - (dots == std::string::npos ? 0 : 3), rank = v->type.rank();
  require(n, dots == std::string::npos ? letters == rank : letters <= rank,
          "the equation gives '{}' to an operand of {} dimensions", part, rank);
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '.') continue;
    size_t d = i < dots ? i : rank - (part.size() - i);
    auto [it, fresh] = sizes.try_emplace(part[i], v->type.sizes[d]);
    if (it->second.is(1)) it->second = v->type.sizes[d];
    require(n, v->type.sizes[d].is(1) || can_be_equal(it->second, v->type.sizes[d]),
            "'{}' is {} elements of one operand and {} of another", part[i], it->second.str(),
            v->type.sizes[d].str());
  }
}

void check_einsum(const Node& n) {
  auto* text = std::get_if<std::string>(&arg(n, "equation"));
  require(n, text != nullptr, "its equation is no text");
  Subscripts s = subscripts_of(n, *text);
  const Values& tensors = std::get<Values>(arg(n, "tensors"));
  require(n, s.inputs.size() == tensors.size(), "its equation names {} operands, {} are given",
          s.inputs.size(), tensors.size());
  std::map<char, Sym> sizes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    bind_letters(n, s.inputs[i], tensors[i], sizes);
    require(n, tensors[i]->type.dtype == tensors[0]->type.dtype,
            "an operand is {}, expected {} like the first", name(tensors[i]->type.dtype),
            name(tensors[0]->type.dtype));
  }
  for (size_t i = 0; i < s.output.size(); ++i) {
    if (s.output[i] == '.') continue;
    require(n, sizes.contains(s.output[i]), "no operand has the output's '{}'", s.output[i]);
    require(n, s.output.find(s.output[i], i + 1) == std::string::npos, "the output has '{}' twice",
            s.output[i]);
  }
}

}  // namespace

ArgumentRules join_rules() {
  return {
      {"aten.cat", check_cat},
      {"aten.concat", check_cat},
      {"aten.concatenate", check_cat},
      {"aten.stack", check_stack},
      {"aten._stack", check_stack},
      {"aten.hstack", check_not_empty},
      {"aten.vstack", check_not_empty},
      {"aten.row_stack", check_not_empty},
      {"aten.dstack", check_not_empty},
      {"aten.column_stack", check_not_empty},
      {"aten.broadcast_tensors", check_not_empty},
      {"aten.meshgrid", check_meshgrid},
      {"aten.cartesian_prod", check_cartesian_prod},
      {"aten.block_diag", check_block_diag},
      {"aten.einsum", check_einsum},
  };
}

}  // namespace aotc
