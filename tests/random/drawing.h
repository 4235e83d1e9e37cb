// One drawing of an op's arguments: by the schema, by letters for shapes, or by the op's family.
#pragma once
#include <map>
#include <optional>

#include "arguments.h"

namespace aotc::random_graphs {

class Drawing {
 public:
  Drawing(Pool& pool, const OpDef& op, Value* self);
  std::optional<std::vector<Arg>> draw();

 private:
  int slot(const char* name) const { return op_.schema.index_of(name); }
  bool has(const char* name) const { return slot(name) >= 0; }
  void give(size_t i, Arg a) {
    args_[i] = std::move(a);
    given_[i] = true;
  }
  void give(const char* name, Arg a) {
    if (has(name)) give(static_cast<size_t>(slot(name)), std::move(a));
  }
  bool give_tensor(const char* name, Value* v) {
    if (!has(name)) return true;
    if (v) give(name, v);
    return v != nullptr;
  }
  const std::vector<Sym>& sizes() const {
    static const std::vector<Sym> kNone;
    return self_ ? self_->type.sizes : kNone;
  }
  int64_t rank() const { return static_cast<int64_t>(sizes().size()); }
  // A dimension of self, given as `dim`; -1 if there is none.
  int64_t give_dim() {
    if (rank() == 0) return -1;
    int64_t d = pool_.integer(0, rank() - 1);
    give("dim", Sym(pool_.chance(4) ? d - rank() : d));
    return d;
  }
  static bool kernel_letter(char c) { return c == 'w' || c == 'v' || c == 'u'; }
  bool choose_self();
  bool walks_dimensions() const;
  bool argument(size_t i);
  Value* other();
  bool tensor_list(size_t i);
  bool family();

  // ---- shapes by letters (letter_shapes.cpp)
  bool by_letters(std::string_view words);
  bool match(std::string_view word, const std::vector<Sym>& shape, std::map<char, Sym>& bound,
             std::optional<std::vector<Sym>>& leading);
  Value* with_letters(std::string_view word, DType dtype, std::map<char, Sym>& bound,
                      std::optional<std::vector<Sym>>& leading);

  // ---- views (view_arguments.cpp)
  bool reshaped();
  bool expanded();
  bool sliced();
  bool selected();
  int64_t least(int64_t d) const;
  bool narrowed();
  bool unfolded();
  bool strided();
  bool unflattened();
  bool split_sizes();
  bool diagonals();
  bool scattered_slice();

  // ---- indices and masks (index_arguments.cpp)
  bool along_dim();
  bool gathered();
  bool indexed();
  bool masked();
  bool embedded();
  bool flat_indices();
  bool copied();

  Pool& pool_;
  const OpDef& op_;
  Value* self_;
  const std::string base_;
  std::vector<Arg> args_;
  std::vector<bool> given_;
};

}  // namespace aotc::random_graphs
