// What each function of Sym atoms is called, computes, and how it is built.
#include "ir/sym_op.h"

#include <algorithm>
#include <cmath>

#include "ir/error.h"
#include "ir/sym_float.h"

namespace aotc {
namespace {

struct Function {
  const char* name;
  int arity;
  bool yields_float;
};

const Function& function_of(SymOp op) {
  static constexpr Function kFunctions[] = {
      {"symbol", 0, false}, {"floordiv", 2, false}, {"min", 2, false},   {"max", 2, false},
      {"eq", 2, false},     {"lt", 2, false},       {"le", 2, false},    {"and", 2, false},
      {"or", 2, false},     {"not", 1, false},      {"float", 0, true},  {"to_float", 1, true},
      {"fadd", 2, true},    {"fmul", 2, true},      {"fdiv", 2, true},   {"fpow", 2, true},
      {"fmin", 2, true},    {"fmax", 2, true},      {"fsqrt", 1, true},  {"feq", 2, false},
      {"flt", 2, false},    {"fle", 2, false},      {"trunc", 1, false}, {"floor", 1, false},
      {"ceil", 1, false},   {"round", 1, false}};
  static_assert(std::size(kFunctions) == static_cast<size_t>(SymOp::Round) + 1);
  return kFunctions[static_cast<size_t>(op)];
}

int64_t whole(double v) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(v >= -kLimit && v < kLimit)) user_error("size expression: {} is no 64-bit integer", v);
  return static_cast<int64_t>(v);
}

int64_t apply_float(SymOp op, double a, double b) {
  switch (op) {
    case SymOp::FAdd:
      return float_bits(a + b);
    case SymOp::FMul:
      return float_bits(a * b);
    case SymOp::FDiv:
      return float_bits(a / b);
    case SymOp::FPow:
      return float_bits(std::pow(a, b));
    case SymOp::FMin:
      return float_bits(b < a ? b : a);
    case SymOp::FMax:
      return float_bits(b > a ? b : a);
    case SymOp::FSqrt:
      return float_bits(std::sqrt(a));
    case SymOp::FEq:
      return a == b;
    case SymOp::FLt:
      return a < b;
    case SymOp::FLe:
      return a <= b;
    case SymOp::Trunc:
      return whole(std::trunc(a));
    case SymOp::Floor:
      return whole(std::floor(a));
    case SymOp::Ceil:
      return whole(std::ceil(a));
    case SymOp::Round:
      return whole(std::nearbyint(a));
    default:
      internal_error("{} is no function of floats", name_of(op));
  }
}

}  // namespace

const char* name_of(SymOp op) { return function_of(op).name; }
int arity(SymOp op) { return function_of(op).arity; }
bool yields_float(SymOp op) { return function_of(op).yields_float; }

int64_t floor_divide(int64_t a, int64_t d) {
  if (d == 0) user_error("size expression divides by zero");
  if (d == -1 && a == INT64_MIN) user_error("size expression overflows 64 bits: {} / {}", a, d);
  int64_t q = a / d;
  return (a % d != 0 && (a < 0) != (d < 0)) ? q - 1 : q;
}

int64_t apply(SymOp op, const int64_t* v) {
  switch (op) {
    case SymOp::FloorDiv:
      return floor_divide(v[0], v[1]);
    case SymOp::Min:
      return std::min(v[0], v[1]);
    case SymOp::Max:
      return std::max(v[0], v[1]);
    case SymOp::Eq:
      return v[0] == v[1];
    case SymOp::Lt:
      return v[0] < v[1];
    case SymOp::Le:
      return v[0] <= v[1];
    case SymOp::And:
      return v[0] && v[1];
    case SymOp::Or:
      return v[0] || v[1];
    case SymOp::Not:
      return !v[0];
    case SymOp::ToFloat:
      return float_bits(static_cast<double>(v[0]));
    default:
      return apply_float(op, float_of_bits(v[0]), arity(op) > 1 ? float_of_bits(v[1]) : 0);
  }
}

Sym rebuild(const Sym::Atom& a, const std::vector<Sym>& args) {
  using Unary = Sym (*)(const Sym&);
  using Binary = Sym (*)(const Sym&, const Sym&);
  auto of_one = [&](Unary f) { return f(args[0]); };
  auto of_two = [&](Binary f) { return f(args[0], args[1]); };
  switch (a.op) {
    case SymOp::Symbol:
    case SymOp::Float:
      return Sym::from_atom(a.op, a.name, {});
    case SymOp::FloorDiv:
      return of_two(floordiv);
    case SymOp::Min:
      return of_two(sym_min);
    case SymOp::Max:
      return of_two(sym_max);
    case SymOp::Eq:
      return of_two(sym_eq);
    case SymOp::Lt:
      return of_two(sym_lt);
    case SymOp::Le:
      return of_two(sym_le);
    case SymOp::And:
      return of_two(sym_and);
    case SymOp::Or:
      return of_two(sym_or);
    case SymOp::Not:
      return of_one(sym_not);
    case SymOp::ToFloat:
      return of_one(to_float);
    case SymOp::FAdd:
      return of_two(float_add);
    case SymOp::FMul:
      return of_two(float_mul);
    case SymOp::FDiv:
      return of_two(float_div);
    case SymOp::FPow:
      return of_two(float_pow);
    case SymOp::FMin:
      return of_two(float_min);
    case SymOp::FMax:
      return of_two(float_max);
    case SymOp::FSqrt:
      return of_one(float_sqrt);
    case SymOp::FEq:
      return of_two(float_eq);
    case SymOp::FLt:
      return of_two(float_lt);
    case SymOp::FLe:
      return of_two(float_le);
    case SymOp::Trunc:
      return of_one(trunc_to_int);
    case SymOp::Floor:
      return of_one(floor_to_int);
    case SymOp::Ceil:
      return of_one(ceil_to_int);
    case SymOp::Round:
      return of_one(round_to_int);
  }
  internal_error("unknown atom");
}

}  // namespace aotc
