// Conditions on a node's arguments, for the rows' checks (arguments.h). Each refuses with a user
// error that names the Python line, the node, the op, what is expected and what is found. What
// only a call knows is checked there.
#pragma once
#include <initializer_list>
#include <limits>
#include <map>

#include "ir/ops/row_helpers.h"

namespace aotc {

template <typename... T>
[[noreturn]] void refuse(const Node& n, fmt::format_string<T...> format, T&&... args) {
  user_error("{}: node '{}' ({}): {}", n.source.str(), n.name, n.op->name(),
             fmt::format(format, std::forward<T>(args)...));
}

template <typename... T>
void require(const Node& n, bool holds, fmt::format_string<T...> format, T&&... args) {
  if (!holds) refuse(n, format, std::forward<T>(args)...);
}

// "[2, s0]"
std::string sizes_text(const Index& sizes);

// Not known to be false. What stays open is checked at run time (open_conditions.h): none of these
// may be called for a condition that need not hold.
bool can_hold(const Sym& condition);
// Not known to differ.
bool can_be_equal(const Sym& a, const Sym& b);
bool can_be_equal(const Index& a, const Index& b);
// Not known to be outside of low..high.
bool can_be_within(const Sym& s, int64_t low, int64_t high = std::numeric_limits<int64_t>::max());

// The sizes of a tensor argument; of None, none.
const Index& sizes_of(const Node& n, std::string_view arg);
bool is_given(const Node& n, std::string_view arg);  // the op has the argument and it is not None

// ---- ranks and sizes

void require_rank(const Node& n, std::string_view arg, int64_t low,
                  int64_t high = std::numeric_limits<int64_t>::max());
// Argument `arg`, where it is given, has these sizes.
void require_sizes(const Node& n, std::string_view arg, const Index& sizes);
// Its sizes broadcast to `to` without changing it.
void require_expandable(const Node& n, std::string_view arg, const Index& to);
// The sizes are those of another argument.
void require_same_sizes(const Node& n, std::string_view arg, std::string_view as);
// Its dimensions have elements, the first `batch` of them aside.
void require_elements(const Node& n, std::string_view arg, size_t batch);

// Tensors whose sizes fit together: a letter per dimension, equal letters for equal sizes; a digit
// is that size, '.' any size. A leading '*' stands for any dimensions.
class Shapes {
 public:
  explicit Shapes(const Node& n) : n_(n) {}
  Shapes& match(std::string_view arg, std::string_view word);

 private:
  const Node& n_;
  std::map<char, std::pair<Sym, std::string>> bound_;  // size, and where it was met
};

// ---- lists of numbers

// One number for all, or one for each of `count` dimensions (none, where `may_be_empty`); each at
// least `low`.
void require_per_dimension(const Node& n, std::string_view arg, size_t count, int64_t low,
                           bool may_be_empty = false);
// Exactly `count` numbers, each at least `low`.
void require_list(const Node& n, std::string_view arg, size_t count, int64_t low);
void require_not_negative(const Node& n, std::string_view arg);  // a number or a list
void require_within(const Node& n, std::string_view arg, int64_t low,
                    int64_t high = std::numeric_limits<int64_t>::max());
// A dimension of a tensor of this rank; dimensions that are all different.
size_t require_dim(const Node& n, std::string_view arg, int64_t rank);
std::vector<size_t> require_dims(const Node& n, std::string_view arg, int64_t rank);
void require_word(const Node& n, std::string_view arg,
                  std::initializer_list<std::string_view> words);

// ---- element types

DType dtype_of(const Node& n, std::string_view arg);
// Those that are given have the type of the first.
void require_same_dtype(const Node& n, std::initializer_list<std::string_view> args);
void require_floating(const Node& n, std::string_view arg);    // or complex
void require_index_type(const Node& n, std::string_view arg);  // int32 or int64
void require_int64(const Node& n, std::string_view arg);
void require_bool(const Node& n, std::string_view arg);
void require_not_bool(const Node& n, std::string_view arg);
void require_real(const Node& n, std::string_view arg);  // not complex

}  // namespace aotc
