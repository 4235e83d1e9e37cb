// Access to a node's arguments by schema name.
#include "ir/ops/op.h"

namespace aotc {
namespace {

[[noreturn]] void wrong_kind(const Node& n, std::string_view name, const char* expected) {
  user_error("{}: node '{}' ({}): argument '{}' must be {}", n.source.str(), n.name, n.op->name(),
             std::string(name), expected);
}

}  // namespace

const Arg& arg(const Node& n, std::string_view name) {
  int i = n.op->schema.index_of(name);
  AOTC_CHECK(i >= 0 && i < static_cast<int>(n.args.size()), "{} has no argument '{}'", n.op->name(),
             std::string(name));
  return n.args[static_cast<size_t>(i)];
}

bool arg_is_none(const Node& n, std::string_view name) {
  return std::holds_alternative<None>(arg(n, name));
}

Value* tensor_arg(const Node& n, std::string_view name) {
  const Arg& a = arg(n, name);
  if (std::holds_alternative<None>(a)) return nullptr;
  if (auto* v = std::get_if<Value*>(&a)) return *v;
  wrong_kind(n, name, "a tensor");
}

Sym sym_arg(const Node& n, std::string_view name) {
  const Arg& a = arg(n, name);
  if (auto* s = std::get_if<Sym>(&a); s && !is_float(*s)) return *s;
  if (auto* b = std::get_if<bool>(&a)) return Sym(*b ? 1 : 0);
  wrong_kind(n, name, "an integer");
}

int64_t int_arg(const Node& n, std::string_view name) {
  if (auto c = sym_arg(n, name).constant()) return *c;
  wrong_kind(n, name, "an integer known at compile time");
}

bool bool_arg(const Node& n, std::string_view name) {
  const Arg& a = arg(n, name);
  if (auto* b = std::get_if<bool>(&a)) return *b;
  if (auto* s = std::get_if<Sym>(&a))
    if (auto c = s->constant()) return *c != 0;
  wrong_kind(n, name, "a bool");
}

double double_arg(const Node& n, std::string_view name) {
  const Arg& a = arg(n, name);
  if (auto* d = std::get_if<double>(&a)) return *d;
  if (auto* b = std::get_if<bool>(&a)) return *b ? 1 : 0;
  if (auto* s = std::get_if<Sym>(&a))
    if (auto c = float_constant(to_float(*s))) return *c;
  wrong_kind(n, name, "a number known at compile time");
}

Sym number_arg(const Arg& a) {
  if (auto* s = std::get_if<Sym>(&a)) return *s;
  if (auto* b = std::get_if<bool>(&a)) return Sym(*b ? 1 : 0);
  if (auto* d = std::get_if<double>(&a)) return float_number(*d);
  internal_error("an argument is no real number");
}

bool is_whole(const Arg& a) {
  auto* s = std::get_if<Sym>(&a);
  return (s && !is_float(*s)) || std::holds_alternative<bool>(a);
}

std::vector<Sym> syms_arg(const Node& n, std::string_view name) {
  const Arg& a = arg(n, name);
  if (std::holds_alternative<None>(a)) return {};
  if (auto* v = std::get_if<std::vector<Sym>>(&a)) return *v;
  if (auto* s = std::get_if<Sym>(&a)) return {*s};
  wrong_kind(n, name, "a list of integers");
}

std::vector<int64_t> ints_arg(const Node& n, std::string_view name) {
  std::vector<int64_t> v;
  for (const Sym& s : syms_arg(n, name)) {
    auto c = s.constant();
    if (!c) wrong_kind(n, name, "a list of integers known at compile time");
    v.push_back(*c);
  }
  return v;
}

std::optional<DType> dtype_arg(const Node& n, std::string_view name) {
  const Arg& a = arg(n, name);
  if (std::holds_alternative<None>(a)) return std::nullopt;
  if (auto* t = std::get_if<DType>(&a)) return *t;
  wrong_kind(n, name, "a dtype");
}

}  // namespace aotc
