// By the schema's types: 1 for a float argument is 1.0, and 3 for int[2] is [3, 3].
#include "ir/import/arguments.h"

#include <cctype>

namespace aotc {
namespace {

class Converter {
 public:
  explicit Converter(const NamesInScope& names) : names_(names) {}

  std::vector<Arg> all(const pt2::Node& n, const OpDef& op) {
    const auto& schema = op.schema.args;
    std::vector<Arg> args(schema.size());
    std::vector<bool> given(schema.size(), false);
    size_t position = 0;
    for (const pt2::NamedArgument& a : n.inputs) {
      int i = a.name.empty() ? static_cast<int>(position) : op.schema.index_of(a.name);
      if (i < 0 && op.mutates() && a.name == "self")
        i = 0;  // whatever the functional form calls it
      ++position;
      if (i < 0 || i >= static_cast<int>(schema.size()))
        user_error("the op has no argument '{}'", a.name);
      args[static_cast<size_t>(i)] = convert(a.arg, schema[static_cast<size_t>(i)].type);
      given[static_cast<size_t>(i)] = true;
    }
    for (size_t i = 0; i < schema.size(); ++i) {
      if (given[i]) continue;
      if (!schema[i].has_default && !schema[i].type.ends_with("?"))
        user_error("argument '{}' is missing", schema[i].name);
      args[i] = schema[i].default_value;
    }
    return args;
  }

 private:
  template <typename T>
  static T entry(const pt2::Argument& a, const char* what) {
    const T* value = std::get_if<T>(&a.value);
    if (!value) user_error("a list of {} with an entry of kind {}", what, a.kind);
    return *value;
  }

  Arg convert_list(const std::vector<pt2::Argument>& list, const std::string& type) {
    if (type.starts_with("Tensor")) {
      std::vector<Value*> v;
      for (const auto& a : list) {
        auto* t = std::get_if<pt2::TensorName>(&a.value);
        v.push_back(t ? names_.tensor(t->name) : nullptr);
      }
      return v;
    }
    if (type.starts_with("float") ||
        (!list.empty() && std::holds_alternative<double>(list[0].value))) {
      std::vector<double> v;
      for (const auto& a : list) {
        if (auto* d = std::get_if<double>(&a.value))
          v.push_back(*d);
        else if (auto* i = std::get_if<int64_t>(&a.value))
          v.push_back(static_cast<double>(*i));
        else
          user_error("a list of floats with an entry of kind {}", a.kind);
      }
      return v;
    }
    if (type.starts_with("bool")) {
      std::vector<bool> v;
      for (const auto& a : list) v.push_back(entry<bool>(a, "bools"));
      return v;
    }
    std::vector<Sym> v;
    for (const auto& a : list) {
      const Arg item = convert(a, "int");
      if (!std::holds_alternative<Sym>(item))
        user_error("a list of integers with an entry of kind {}", a.kind);
      v.push_back(std::get<Sym>(item));
    }
    return v;
  }

  Arg convert(const pt2::Argument& a, const std::string& type) {
    const auto& v = a.value;
    bool list = type.find('[') != std::string::npos;
    if (std::holds_alternative<pt2::None>(v)) return None{};
    if (auto* t = std::get_if<pt2::TensorName>(&v)) {
      if (list) return std::vector<Value*>{names_.tensor(t->name)};
      return names_.tensor(t->name);
    }
    if (auto* l = std::get_if<std::vector<pt2::Argument>>(&v)) return convert_list(*l, type);
    if (auto* i = std::get_if<int64_t>(&v)) {
      if (type.starts_with("float")) return static_cast<double>(*i);
      if (list && std::isdigit(static_cast<unsigned char>(type[type.find('[') + 1])))
        return std::vector<Sym>(static_cast<size_t>(std::atoi(type.c_str() + type.find('[') + 1)),
                                Sym(*i));
      if (list) return std::vector<Sym>{Sym(*i)};
      return Sym(*i);
    }
    if (auto* b = std::get_if<bool>(&v)) return *b;
    if (auto* d = std::get_if<double>(&v)) return *d;
    if (auto* s = std::get_if<std::string>(&v)) return *s;
    if (auto* s = std::get_if<pt2::SymIntName>(&v)) return names_.symbol(s->name);
    if (auto* s = std::get_if<pt2::SymBoolName>(&v)) return names_.symbol(s->name);
    if (auto* s = std::get_if<pt2::SymFloatName>(&v)) {
      const Sym f = names_.symbol(s->name);
      const auto known = float_constant(f);
      return known ? Arg(*known) : Arg(f);
    }
    if (auto* s = std::get_if<pt2::ScalarTypeArg>(&v)) return s->dtype;
    if (auto* d = std::get_if<pt2::Device>(&v)) return *d;
    if (auto* c = std::get_if<pt2::ComplexValue>(&v)) return Complex{c->real, c->imag};
    if (auto* m = std::get_if<pt2::MemoryFormatArg>(&v)) return Sym(m->value);
    if (auto* m = std::get_if<pt2::LayoutArg>(&v)) return Sym(m->value);
    user_error("an argument of kind {} is not supported here", a.kind);
  }

  const NamesInScope& names_;
};

}  // namespace

std::vector<Arg> import_arguments(const pt2::Node& node, const OpDef& op,
                                  const NamesInScope& names) {
  return Converter(names).all(node, op);
}

}  // namespace aotc
