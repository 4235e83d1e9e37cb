// Conditions on a node's arguments.
#include "ir/ops/require.h"

#include <algorithm>

#include "ir/ops/open_conditions.h"

namespace aotc {
namespace {

void require_type(const Node& n, std::string_view arg, bool holds, std::string_view expected) {
  require(n, holds, "'{}' is {}, expected {}", arg, name(dtype_of(n, arg)), expected);
}

}  // namespace

std::string sizes_text(const Index& sizes) {
  std::string text;
  for (const Sym& s : sizes) text += (text.empty() ? "" : ", ") + s.str();
  return "[" + text + "]";
}

namespace {
thread_local OpenConditions* listener = nullptr;
}

OpenConditions::OpenConditions() : outer_(listener) { listener = this; }
OpenConditions::~OpenConditions() { listener = outer_; }
void OpenConditions::add(const Sym& condition) {
  if (listener) listener->list_.push_back(condition);
}

bool can_hold(const Sym& condition) {
  if (auto c = condition.constant()) return *c != 0;
  OpenConditions::add(condition);
  return true;
}

bool can_be_equal(const Sym& a, const Sym& b) {
  auto difference = (a - b).constant();
  return difference ? *difference == 0 : can_hold(sym_eq(a, b));
}

bool can_be_equal(const Index& a, const Index& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Sym& x, const Sym& y) { return can_be_equal(x, y); });
}

bool can_be_within(const Sym& s, int64_t low, int64_t high) {
  if (auto c = s.constant()) return *c >= low && *c <= high;
  const bool open = high == std::numeric_limits<int64_t>::max();
  return can_hold(sym_le(Sym(low), s)) && (open || can_hold(sym_le(s, Sym(high))));
}

const Index& sizes_of(const Node& n, std::string_view arg) {
  static const Index kNone;
  const Value* v = tensor_arg(n, arg);
  return v ? v->type.sizes : kNone;
}

bool is_given(const Node& n, std::string_view arg) {
  return n.op->schema.index_of(arg) >= 0 && !arg_is_none(n, arg);
}

void require_rank(const Node& n, std::string_view arg, int64_t low, int64_t high) {
  if (!is_given(n, arg)) return;
  auto rank = static_cast<int64_t>(sizes_of(n, arg).size());
  std::string expected = low == high ? fmt::format("{}", low)
                         : high == std::numeric_limits<int64_t>::max()
                             ? fmt::format("{} or more", low)
                             : fmt::format("{} to {}", low, high);
  require(n, rank >= low && rank <= high, "'{}' has {} dimensions, expected {}", arg, rank,
          expected);
}

void require_sizes(const Node& n, std::string_view arg, const Index& sizes) {
  if (is_given(n, arg))
    require(n, can_be_equal(sizes_of(n, arg), sizes), "'{}' has the sizes {}, expected {}", arg,
            sizes_text(sizes_of(n, arg)), sizes_text(sizes));
}

void require_expandable(const Node& n, std::string_view arg, const Index& to) {
  if (!is_given(n, arg)) return;
  const Index& from = sizes_of(n, arg);
  bool fits = from.size() <= to.size();
  for (size_t d = 0; fits && d < from.size(); ++d)
    fits = from[d].is(1) || can_be_equal(from[d], to[to.size() - from.size() + d]);
  require(n, fits, "'{}' has the sizes {}, which do not broadcast to {}", arg, sizes_text(from),
          sizes_text(to));
}

void require_same_sizes(const Node& n, std::string_view arg, std::string_view as) {
  if (is_given(n, arg) && is_given(n, as))
    require(n, can_be_equal(sizes_of(n, arg), sizes_of(n, as)),
            "'{}' has the sizes {}, expected {} like '{}'", arg, sizes_text(sizes_of(n, arg)),
            sizes_text(sizes_of(n, as)), as);
}

void require_elements(const Node& n, std::string_view arg, size_t batch) {
  const Index& sizes = sizes_of(n, arg);
  for (size_t d = batch; d < sizes.size(); ++d)
    require(n, can_hold(sym_ne(sizes[d], 0)),
            "'{}' has the sizes {}, dimension {} must not be empty", arg, sizes_text(sizes), d);
}

Shapes& Shapes::match(std::string_view arg, std::string_view word) {
  if (!is_given(n_, arg)) return *this;
  const Index& sizes = sizes_of(n_, arg);
  bool open = word.starts_with('*');
  if (open) word.remove_prefix(1);
  auto rank = static_cast<int64_t>(word.size());
  require_rank(n_, arg, rank, open ? std::numeric_limits<int64_t>::max() : rank);
  for (size_t d = 0; d < word.size(); ++d) {
    if (word[d] == '.') continue;
    size_t at = sizes.size() - word.size() + d;
    std::string here = fmt::format("dimension {} of '{}'", at, arg);
    bool digit = word[d] >= '0' && word[d] <= '9';
    auto [it, fresh] = bound_.try_emplace(word[d], digit ? Sym(int64_t{word[d] - '0'}) : sizes[at],
                                          digit ? "required" : here);
    const auto& [size, met] = it->second;
    require(n_, can_be_equal(sizes[at], size), "{} is {}, expected {} ({})", here, sizes[at].str(),
            size.str(), met);
  }
  return *this;
}

void require_per_dimension(const Node& n, std::string_view arg, size_t count, int64_t low,
                           bool may_be_empty) {
  Index list = syms_arg(n, arg);
  require(n, list.size() == 1 || list.size() == count || (may_be_empty && list.empty()),
          "'{}' has {} numbers, expected one or {}", arg, list.size(), count);
  for (const Sym& s : list)
    require(n, can_be_within(s, low), "'{}' is {}, expected {} or more", arg, sizes_text(list),
            low);
}

void require_list(const Node& n, std::string_view arg, size_t count, int64_t low) {
  Index list = syms_arg(n, arg);
  require(n, list.size() == count, "'{}' has {} numbers, expected {}", arg, list.size(), count);
  for (const Sym& s : list)
    require(n, can_be_within(s, low), "'{}' is {}, expected {} or more", arg, sizes_text(list),
            low);
}

void require_not_negative(const Node& n, std::string_view arg) {
  for (const Sym& s : syms_arg(n, arg))
    require(n, can_be_within(s, 0), "'{}' is {}, expected no negative number", arg,
            sizes_text(syms_arg(n, arg)));
}

void require_within(const Node& n, std::string_view arg, int64_t low, int64_t high) {
  Sym s = sym_arg(n, arg);
  if (high == std::numeric_limits<int64_t>::max())
    require(n, can_be_within(s, low), "'{}' is {}, expected {} or more", arg, s.str(), low);
  else
    require(n, can_be_within(s, low, high), "'{}' is {}, expected {} to {}", arg, s.str(), low,
            high);
}

size_t require_dim(const Node& n, std::string_view arg, int64_t rank) {
  return static_cast<size_t>(wrap_dim(int_arg(n, arg), rank, n));
}

std::vector<size_t> require_dims(const Node& n, std::string_view arg, int64_t rank) {
  std::vector<size_t> dims;
  for (int64_t d : ints_arg(n, arg)) {
    auto wrapped = static_cast<size_t>(wrap_dim(d, rank, n));
    require(n, std::find(dims.begin(), dims.end(), wrapped) == dims.end(),
            "'{}' names dimension {} twice", arg, wrapped);
    dims.push_back(wrapped);
  }
  return dims;
}

void require_word(const Node& n, std::string_view arg,
                  std::initializer_list<std::string_view> words) {
  auto* word = std::get_if<std::string>(&aotc::arg(n, arg));
  require(n, word && std::find(words.begin(), words.end(), *word) != words.end(),
          "'{}' is {}, expected one of {}", arg, word ? "'" + *word + "'" : "no text",
          fmt::join(words, ", "));
}

DType dtype_of(const Node& n, std::string_view arg) {
  const Value* v = tensor_arg(n, arg);
  require(n, v != nullptr, "'{}' is missing", arg);
  return v->type.dtype;
}

void require_same_dtype(const Node& n, std::initializer_list<std::string_view> args) {
  DType first = dtype_of(n, *args.begin());
  for (std::string_view a : args)
    if (is_given(n, a))
      require(n, dtype_of(n, a) == first, "'{}' is {}, expected {} like '{}'", a,
              name(dtype_of(n, a)), name(first), *args.begin());
}

void require_floating(const Node& n, std::string_view arg) {
  DType t = dtype_of(n, arg);
  require_type(n, arg, is_floating(t) || is_complex(t), "a floating-point type");
}
void require_index_type(const Node& n, std::string_view arg) {
  DType t = dtype_of(n, arg);
  require_type(n, arg, t == DType::Int64 || t == DType::Int32, "int64 or int32");
}
void require_int64(const Node& n, std::string_view arg) {
  require_type(n, arg, dtype_of(n, arg) == DType::Int64, "int64");
}
void require_bool(const Node& n, std::string_view arg) {
  require_type(n, arg, is_bool(dtype_of(n, arg)), "bool");
}
void require_not_bool(const Node& n, std::string_view arg) {
  require_type(n, arg, !is_bool(dtype_of(n, arg)), "a number type");
}
void require_real(const Node& n, std::string_view arg) {
  require_type(n, arg, !is_complex(dtype_of(n, arg)), "a real type");
}

}  // namespace aotc
