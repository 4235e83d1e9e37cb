// Arguments tell their kind by their first characters, so that the schema is not needed to read
// them.
#include "ir/text/parse_arg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/text/parse_graph.h"

namespace aotc::text {
namespace {

// "2.0", "-1e-05", "inf", "-nan"; an integer or an expression is none.
bool is_double(std::string_view s) {
  if (s.starts_with('-')) s.remove_prefix(1);
  if (s == "inf" || s == "nan") return true;
  if (s.empty() || !is_digit(s[0]) || s.find_first_of(".eE") == std::string_view::npos)
    return false;
  return s.find_first_not_of("0123456789.eE+-") == std::string_view::npos && s.find(' ') == s.npos;
}

double to_double(const std::string& s) {
  if (s == "inf") return std::numeric_limits<double>::infinity();
  if (s == "-inf") return -std::numeric_limits<double>::infinity();
  if (s == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (s == "-nan") return -std::numeric_limits<double>::quiet_NaN();
  Reader r(s, "");
  return r.number("a number");
}

template <typename T>
bool all(const std::vector<Arg>& items) {
  return std::all_of(items.begin(), items.end(),
                     [](const Arg& a) { return std::holds_alternative<T>(a); });
}

template <typename T>
Arg list_of(const std::vector<Arg>& items) {
  std::vector<T> v;
  for (const Arg& a : items) v.push_back(std::get<T>(a));
  return v;
}

Arg values_of(const std::vector<Arg>& items) {
  std::vector<Value*> v;
  for (const Arg& a : items)
    v.push_back(std::holds_alternative<None>(a) ? nullptr : std::get<Value*>(a));
  return v;
}

Arg empty_list(const std::string& type) {
  if (type.starts_with("Tensor")) return std::vector<Value*>{};
  if (type.starts_with("bool")) return std::vector<bool>{};
  if (type.starts_with("float") || type.starts_with("Scalar")) return std::vector<double>{};
  return std::vector<Sym>{};
}

}  // namespace

Value* ArgParser::value() {
  in_.expect("%");
  size_t begin = in_.mark();
  std::string name = in_.name("a value's name");
  auto it = values_.find(name);
  if (it == values_.end()) in_.fail_at(begin, fmt::format("%{} is not defined above", name));
  return it->second;
}

Arg ArgParser::parse(const std::string& schema_type) {
  char c = in_.peek();
  if (c == '%') return value();
  if (c == '"') return in_.string("text");
  if (c == '[') return list(schema_type);
  if (in_.accept("@")) return in_.device();
  return word();
}

Arg ArgParser::word() {
  std::string w = in_.peek_word();
  if (w == "graph" || w == "core") return std::shared_ptr<Graph>(parse_graph(in_));
  if (in_.accept_word("none")) return None{};
  if (in_.accept_word("true")) return true;
  if (in_.accept_word("false")) return false;
  if (in_.accept_word("complex")) {
    Complex c;
    in_.expect("(");
    c.real = in_.number("the real part");
    in_.expect(",");
    c.imag = in_.number("the imaginary part");
    in_.expect(")");
    return c;
  }
  if (auto t = dtype_from_name(w)) {
    in_.accept_word(w);
    return *t;
  }
  return number_or_symbol();
}

Arg ArgParser::number_or_symbol() {
  size_t begin = in_.mark();
  std::string text = in_.raw_expression(",)]");
  if (is_double(text)) return to_double(text);
  in_.rewind(begin);
  return in_.sym(",)]");
}

Arg ArgParser::list(const std::string& schema_type) {
  in_.expect("[");
  size_t begin = in_.mark();
  std::vector<Arg> items;
  in_.list("]", [&] {
    if (in_.peek() == '[') in_.fail("a list in a list is no argument");
    items.push_back(parse(""));
  });
  return combine(items, schema_type, begin);
}

Arg ArgParser::combine(const std::vector<Arg>& items, const std::string& type, size_t begin) {
  if (items.empty()) return empty_list(type);
  if (all<Sym>(items)) return list_of<Sym>(items);
  if (all<double>(items)) return list_of<double>(items);
  if (all<bool>(items)) return list_of<bool>(items);
  bool values = std::all_of(items.begin(), items.end(), [](const Arg& a) {
    return std::holds_alternative<None>(a) || std::holds_alternative<Value*>(a);
  });
  if (!values)
    in_.fail_at(
        begin,
        "a list holds values (or none), integers, numbers with a fraction, or bools, not a mix");
  return values_of(items);
}

}  // namespace aotc::text
