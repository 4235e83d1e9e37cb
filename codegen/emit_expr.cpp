// C++ text of constants, index expressions and scalar expressions; shared by all emitters.
#include <cmath>

#include "codegen/emit.h"
#include "codegen/emit_expr.h"

namespace aotc {

using namespace loops;

const char* cpp_type(DType t) {
  switch (t) {
    case DType::Bool:
      return "bool";
    case DType::UInt8:
      return "uint8_t";
    case DType::Int8:
      return "int8_t";
    case DType::Int16:
      return "int16_t";
    case DType::Int32:
      return "int32_t";
    case DType::Int64:
      return "int64_t";
    case DType::UInt16:
      return "uint16_t";
    case DType::UInt32:
      return "uint32_t";
    case DType::UInt64:
      return "uint64_t";
    case DType::Float16:
      return "float16";
    case DType::BFloat16:
      return "bfloat16";
    case DType::Float32:
      return "float";
    case DType::Float64:
      return "double";
    case DType::Complex32:
      break;
    case DType::Complex64:
      return "complex64";
    case DType::Complex128:
      return "complex128";
    case DType::Float8E4M3FN:
      return "float8_e4m3fn";
    case DType::Float8E5M2:
      return "float8_e5m2";
    case DType::Float8E4M3FNUZ:
      return "float8_e4m3fnuz";
    case DType::Float8E5M2FNUZ:
      return "float8_e5m2fnuz";
  }
  user_error("dtype {} is not supported in compiled programs", name(t));
}

namespace {

std::string floating_constant(double v, bool single) {
  if (std::isnan(v)) return single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
  if (std::isinf(v))
    return std::string(v < 0 ? "-" : "") + (single ? "__builtin_inff()" : "__builtin_inf()");
  std::string s = single ? fmt::format("{}", static_cast<float>(v)) : fmt::format("{}", v);
  if (s.find_first_of(".en") == std::string::npos) s += ".0";
  return s + (single ? "f" : "");
}

std::string integer_constant(int64_t v) {
  if (v == INT64_MIN) return "(-9223372036854775807 - 1)";
  return std::to_string(v);
}

}  // namespace

std::string cpp_constant(const ScalarValue& v) {
  switch (v.dtype) {
    case DType::Bool:
      return as_int64(v) ? "true" : "false";
    case DType::Float32:
      return floating_constant(as_double(v), true);
    case DType::Float64:
      return floating_constant(as_double(v), false);
    case DType::Int64:
      return fmt::format("int64_t({})", integer_constant(as_int64(v)));
    case DType::Int32:
      return fmt::format("int32_t({})", as_int64(v));
    default:
      break;
  }
  if (is_integer(v.dtype))
    return fmt::format("({}){}", cpp_type(v.dtype), integer_constant(as_int64(v)));
  if (is_complex(v.dtype)) {
    auto [re, im] = as_complex(v);
    bool single = v.dtype == DType::Complex64;
    return fmt::format("{}{{{}, {}}}", cpp_type(v.dtype), floating_constant(re, single),
                       floating_constant(im, single));
  }
  return fmt::format("cast<{}>({})", cpp_type(v.dtype), floating_constant(as_double(v), true));
}

namespace {

// A float as a double, whatever type indices have.
std::string float_text(const Sym& s, const Assumptions& a) {
  const Sym::Atom& f = *s.terms().at(0).factors.at(0);
  auto arg = [&](size_t i) { return float_text(f.args[i], a); };
  switch (f.op) {
    case SymOp::Float:
      return floating_constant(*float_constant(s), false);
    case SymOp::ToFloat:
      return fmt::format("double({})", cpp_index(f.args[0], a, "int64_t"));
    case SymOp::FAdd:
      return fmt::format("({} + {})", arg(0), arg(1));
    case SymOp::FMul:
      return fmt::format("({} * {})", arg(0), arg(1));
    case SymOp::FDiv:
      return fmt::format("({} / {})", arg(0), arg(1));
    case SymOp::FPow:
      return fmt::format("__builtin_pow({}, {})", arg(0), arg(1));
    case SymOp::FMin:
      return fmt::format("minimum<double>({}, {})", arg(0), arg(1));
    case SymOp::FMax:
      return fmt::format("maximum<double>({}, {})", arg(0), arg(1));
    case SymOp::FSqrt:
      return fmt::format("__builtin_sqrt({})", arg(0));
    case SymOp::Symbol:
      return fmt::format("bitcast<double>({})", f.name);
    default:
      internal_error("{} is no float", s.str());
  }
}

std::string atom_text(const Sym::Atom& f, const Assumptions& a, const char* type) {
  auto arg = [&](size_t i) { return cpp_index(f.args[i], a, type); };
  auto real = [&](size_t i) { return float_text(f.args[i], a); };
  auto rounded = [&](const char* how) {
    return fmt::format("({})__builtin_{}({})", type, how, real(0));
  };
  switch (f.op) {
    case SymOp::Symbol:
      return f.name[0] == '%' ? "v" + f.name.substr(1) : f.name;
    case SymOp::FloorDiv: {
      bool plain = a.proves_nonnegative(f.args[0]) && a.proves_nonnegative(f.args[1] - 1);
      return plain ? fmt::format("({}) / ({})", arg(0), arg(1))
                   : fmt::format("floor_divide<{}>({}, {})", type, arg(0), arg(1));
    }
    case SymOp::Min:
      return fmt::format("minimum<{}>({}, {})", type, arg(0), arg(1));
    case SymOp::Max:
      return fmt::format("maximum<{}>({}, {})", type, arg(0), arg(1));
    case SymOp::Eq:
      return fmt::format("({})({} == {})", type, arg(0), arg(1));
    case SymOp::Lt:
      return fmt::format("({})({} < {})", type, arg(0), arg(1));
    case SymOp::Le:
      return fmt::format("({})({} <= {})", type, arg(0), arg(1));
    case SymOp::And:
      return fmt::format("({})({} && {})", type, arg(0), arg(1));
    case SymOp::Or:
      return fmt::format("({})({} || {})", type, arg(0), arg(1));
    case SymOp::Not:
      return fmt::format("({})!({})", type, arg(0));
    case SymOp::FEq:
      return fmt::format("({})({} == {})", type, real(0), real(1));
    case SymOp::FLt:
      return fmt::format("({})({} < {})", type, real(0), real(1));
    case SymOp::FLe:
      return fmt::format("({})({} <= {})", type, real(0), real(1));
    case SymOp::Trunc:
      return rounded("trunc");
    case SymOp::Floor:
      return rounded("floor");
    case SymOp::Ceil:
      return rounded("ceil");
    case SymOp::Round:
      return rounded("nearbyint");
    default:  // the bits of a float
      return fmt::format("bitcast<int64_t>({})",
                         float_text(Sym::from_atom(f.op, f.name, f.args), a));
  }
}

}  // namespace

std::string cpp_index(const Sym& s, const Assumptions& a, const char* type) {
  std::string text;
  for (const Sym::Term& t : s.terms()) {
    int64_t c = t.coefficient;
    bool negative = c < 0 && c != INT64_MIN;
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    if (negative) c = -c;
    if (t.factors.empty()) {
      text += integer_constant(c);
      continue;
    }
    bool first = c == 1;
    if (!first) text += integer_constant(c);
    for (const auto& f : t.factors) {
      std::string atom = atom_text(*f, a, type);
      bool wrap = f->op == SymOp::FloorDiv && atom[0] == '(' &&
                  (t.factors.size() > 1 || t.coefficient != 1);
      text += (first ? "" : " * ") + (wrap ? "(" + atom + ")" : atom);
      first = false;
    }
  }
  return text.empty() ? "0" : text;
}

// ---- scalar expressions

namespace {

const char* infix_operator(Prim p, DType operand) {
  bool floating = operand == DType::Float32 || operand == DType::Float64;
  bool ordinary = floating || is_integer(operand) || is_bool(operand);
  if (p == Prim::add && floating) return "+";
  if (p == Prim::sub && floating) return "-";
  if (p == Prim::mul && floating) return "*";
  if (p == Prim::div && floating) return "/";
  if (!ordinary) return nullptr;
  if (p == Prim::eq) return "==";
  if (p == Prim::ne) return "!=";
  if (p == Prim::lt) return "<";
  if (p == Prim::le) return "<=";
  if (p == Prim::gt) return ">";
  if (p == Prim::ge) return ">=";
  if (is_bool(operand) && p == Prim::bitwise_and) return "&";
  if (is_bool(operand) && p == Prim::bitwise_or) return "|";
  return nullptr;
}

}  // namespace

std::string apply_text(Prim p, DType result, const std::vector<std::string>& args,
                       const std::vector<DType>& types) {
  if (prim_info(p).result == PrimResult::Target)
    return fmt::format("{}<{}>({})", prim_name(p), cpp_type(result), args[0]);
  if (p == Prim::where) return fmt::format("({} ? {} : {})", args[0], args[1], args[2]);
  if (args.size() == 2)
    if (const char* op = infix_operator(p, types[0]))
      return fmt::format("({} {} {})", args[0], op, args[1]);
  if (p == Prim::neg && (result == DType::Float32 || result == DType::Float64))
    return "(-" + (args[0][0] == '-' ? "(" + args[0] + ")" : args[0]) + ")";  // no --
  std::vector<std::string> operands = args;
  for (size_t i = 0; i < args.size() && i < types.size(); ++i)
    if (is_bool(types[i]) && args[i][0] == '(') operands[i] = "bool" + args[i];  // a & b is an int
  return fmt::format("{}({})", prim_function(p, types[0]), fmt::join(operands, ", "));
}

}  // namespace aotc
