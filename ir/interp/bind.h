// Symbols of a call: solved from the inputs' sizes, checked against ranges and guards.
#pragma once
#include <map>
#include <string>

#include "ir/interp/interp.h"

namespace aotc::interp {

using Symbols = std::map<std::string, int64_t>;

// Throws UserError for inputs that do not fit the signature.
Symbols bind_symbols(const Graph& graph, const RunInputs& inputs);
// As bind_symbols, but guards and ranges that do not hold yield their text instead of an error.
std::string broken_condition(const Graph& graph, const Symbols& symbols);
// Throws InternalError for a symbol without value.
int64_t eval(const Sym& s, const Symbols& symbols);
std::vector<int64_t> eval(const std::vector<Sym>& list, const Symbols& symbols);
// The expression with the known symbols replaced by their values.
Sym concrete(const Sym& s, const Symbols& symbols);

}  // namespace aotc::interp
