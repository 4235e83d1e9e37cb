// Tensors whose shapes fit together, from a word of letters for each.
#include <algorithm>

#include "drawing.h"

namespace aotc::random_graphs {

bool Drawing::by_letters(std::string_view words) {
  std::map<char, Sym> bound{{'1', Sym(1)}, {'2', Sym(2)}, {'3', Sym(3)}};
  std::optional<std::vector<Sym>> leading;
  DType dtype = self_ ? self_->type.dtype : pool_.chance(4) ? pool_.dtype() : DType::Float32;
  for (size_t i = 0; i < op_.schema.args.size() && !words.empty(); ++i) {
    const SchemaArg& a = op_.schema.args[i];
    if (!a.is_tensor()) continue;
    std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (i == 0 && self_ && !match(word, sizes(), bound, leading)) return false;
    if (i > 0 && a.type.ends_with("?") && pool_.chance(2)) {
      give(i, None{});
      continue;
    }
    Value* v = i == 0 && self_ ? self_ : with_letters(word, dtype, bound, leading);
    if (i == 0) self_ = v;
    if (a.type.find('[') == std::string::npos) {
      give(i, v);
    } else {  // "nk km": both in one list
      Value* second = with_letters(words, dtype, bound, leading);
      give(i, std::vector<Value*>{v, second});
      words = {};
    }
  }
  return true;
}

bool Drawing::match(std::string_view word, const std::vector<Sym>& shape,
                    std::map<char, Sym>& bound, std::optional<std::vector<Sym>>& leading) {
  bool star = word.starts_with('*');
  if (star) word.remove_prefix(1);
  if (star ? shape.size() < word.size() : shape.size() != word.size()) return false;
  size_t added = shape.size() - word.size();
  if (star) leading.emplace(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(added));
  for (size_t d = 0; d < word.size(); ++d)
    if (auto [it, fresh] = bound.try_emplace(word[d], shape[added + d]);
        !fresh && !(it->second == shape[added + d]))
      return false;
  return true;
}

Value* Drawing::with_letters(std::string_view word, DType dtype, std::map<char, Sym>& bound,
                             std::optional<std::vector<Sym>>& leading) {
  if (Value* v = pool_.any([&](const Value& x) {
        auto b = bound;
        auto l = leading;
        return x.type.dtype == dtype && (!l || !word.starts_with('*')) &&
               match(word, x.type.sizes, b, l);
      });
      v && pool_.percent(70)) {
    match(word, v->type.sizes, bound, leading);
    return v;
  }
  std::vector<Sym> shape;
  if (word.starts_with('*')) {
    word.remove_prefix(1);
    if (!leading) leading = pool_.shape_of_rank(static_cast<size_t>(pool_.integer(0, 2)));
    shape = *leading;
  }
  for (char c : word)
    shape.push_back(bound
                        .try_emplace(c, std::isupper(c)    ? Sym(1)
                                        : kernel_letter(c) ? Sym(pool_.integer(1, 3))
                                                           : pool_.size())
                        .first->second);
  return pool_.like(dtype, shape);
}

}  // namespace aotc::random_graphs
