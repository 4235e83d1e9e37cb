// A symbol of a stride stands for the elements that the dimensions within it hold.
#include "ir/import/input_strides.h"

#include <set>

namespace aotc {
namespace {

Sym read(const pt2::SymIntExpr& e) { return e.expr.empty() ? Sym(e.value) : Sym::parse(e.expr); }

// The symbols that a call's sizes and integers give.
std::set<std::string> given_symbols(const std::vector<const pt2::TensorMeta*>& inputs,
                                    const pt2::ExportedProgram& p) {
  std::set<std::string> given;
  for (const pt2::TensorMeta* m : inputs)
    for (const pt2::SymIntExpr& size : m->sizes) given.merge(read(size).symbols());
  for (const pt2::InputSpec& spec : p.input_specs)
    if (auto* s = std::get_if<pt2::SymIntName>(&spec.arg.value))
      if (auto it = p.graph.sym_int_values.find(s->name); it != p.graph.sym_int_values.end())
        given.merge(read(it->second.expr).symbols());
  return given;
}

void add_strides(const pt2::TensorMeta& m, const std::set<std::string>& given,
                 std::map<std::string, Sym>& found) {
  Sym inner(1);
  std::vector<std::pair<size_t, std::string>> unknown;
  for (size_t d = 0; d < m.sizes.size() && d < m.strides.size(); ++d) {
    auto name = read(m.strides[d]).symbol_name();
    if (name && !given.contains(*name))
      unknown.emplace_back(d, *name);
    else
      inner = inner * read(m.sizes[d]);
  }
  for (auto it = unknown.rbegin(); it != unknown.rend(); ++it) {
    found.emplace(it->second, inner);
    inner = inner * read(m.sizes[it->first]);
  }
}

}  // namespace

std::map<std::string, Sym> stride_symbols(const pt2::ExportedProgram& p) {
  std::vector<const pt2::TensorMeta*> inputs;
  for (const pt2::InputSpec& spec : p.input_specs)
    if (auto* t = std::get_if<pt2::TensorName>(&spec.arg.value))
      if (auto it = p.graph.tensor_values.find(t->name); it != p.graph.tensor_values.end())
        inputs.push_back(&it->second);
  const std::set<std::string> given = given_symbols(inputs, p);
  std::map<std::string, Sym> found;
  for (const pt2::TensorMeta* m : inputs) add_strides(*m, given, found);
  return found;
}

}  // namespace aotc
