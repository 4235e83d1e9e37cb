// Parses torch's schema syntax: "aten.add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) ->
// Tensor".
#include <cctype>

#include "ir/ops/op.h"

namespace aotc {
namespace {

std::string trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return std::string(s);
}

// Splits at commas outside of brackets and parentheses.
std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trim(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trim(part).empty()) parts.push_back(trim(part));
  return parts;
}

bool is_list(const std::string& type) { return type.find('[') != std::string::npos; }

Arg list_default(const std::string& type, const std::string& text) {
  std::string inner = text.substr(1, text.size() - 2);
  std::vector<std::string> items = split_arguments(inner);
  if (type.starts_with("float") || type.starts_with("Scalar")) {
    std::vector<double> v;
    for (auto& s : items) v.push_back(std::stod(s));
    return v;
  }
  if (type.starts_with("bool")) {
    std::vector<bool> v;
    for (auto& s : items) v.push_back(s == "True");
    return v;
  }
  if (type.starts_with("Tensor")) return std::vector<Value*>{};
  std::vector<Sym> v;
  for (auto& s : items) v.push_back(Sym(int64_t{std::stoll(s)}));
  return v;
}

Arg parse_default(const std::string& type, const std::string& text) {
  if (text == "None" || text == "contiguous_format" || text == "preserve_format" || text == "long")
    return None{};
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "Mean") return Sym(1);  // at::Reduction
  if (text.front() == '[') return list_default(type, text);
  if (text.front() == '\'' || text.front() == '"') return text.substr(1, text.size() - 2);
  bool fraction = text.find_first_of(".ein") != std::string::npos;
  if (is_list(type)) {  // int[2] stride=1
    int64_t count = std::stoll(type.substr(type.find('[') + 1));
    return std::vector<Sym>(static_cast<size_t>(count), Sym(int64_t{std::stoll(text)}));
  }
  if (type.starts_with("float") || fraction) return std::stod(text);
  return Sym(int64_t{std::stoll(text)});
}

// "Tensor(a!)" -> type "Tensor", mutated. "Tensor(a -> *)[]" keeps its brackets.
void parse_type(std::string text, SchemaArg& a) {
  size_t open = text.find('(');
  if (open != std::string::npos) {
    size_t close = text.find(')', open);
    a.mutated = text.find('!') != std::string::npos;
    a.aliased = !a.mutated;
    text.erase(open, close - open + 1);
  }
  a.type = text;
}

SchemaArg parse_argument(const std::string& text) {
  SchemaArg a;
  size_t equals = text.find('=');
  std::string declaration = trim(equals == std::string::npos ? text : text.substr(0, equals));
  size_t space = declaration.rfind(' ');
  AOTC_CHECK(space != std::string::npos, "schema argument '{}' has no name", text);
  a.name = declaration.substr(space + 1);
  parse_type(trim(declaration.substr(0, space)), a);
  if (equals != std::string::npos) {
    a.has_default = true;
    a.default_value = parse_default(a.type, trim(text.substr(equals + 1)));
  }
  return a;
}

int count_outputs(const std::string& returns) {
  if (returns == "()") return 0;
  if (returns.front() != '(') return returns.ends_with("[]") ? -1 : 1;
  return static_cast<int>(split_arguments(returns.substr(1, returns.size() - 2)).size());
}

}  // namespace

int Schema::index_of(std::string_view arg_name) const {
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].name == arg_name) return static_cast<int>(i);
  return -1;
}

Schema parse_schema(std::string_view text) {
  size_t open = text.find('(');
  size_t arrow = text.rfind(" -> ");
  // The last " -> " may be inside "Tensor(a -> *)": the return type has no closing bracket left of
  // it unmatched.
  while (arrow != std::string_view::npos && arrow > 0) {
    int depth = 0;
    for (char c : text.substr(arrow)) depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0) break;
    arrow = text.rfind(" -> ", arrow - 1);
  }
  AOTC_CHECK(open != std::string_view::npos && arrow != std::string_view::npos, "bad schema '{}'",
             std::string(text));
  Schema s;
  s.name = std::string(text.substr(0, open));
  size_t close = text.rfind(')', arrow);
  for (const std::string& part : split_arguments(text.substr(open + 1, close - open - 1)))
    if (part != "*") s.args.push_back(parse_argument(part));
  s.num_outputs = count_outputs(trim(text.substr(arrow + 4)));
  return s;
}

}  // namespace aotc
