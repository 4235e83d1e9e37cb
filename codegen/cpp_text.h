// Pieces of C++ text that the emitters of program.cpp share.
#pragma once
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace aotc {

// A string literal; a long one in pieces, a line each, since breaking lines takes time quadratic in
// the length of a literal.
std::string cpp_string(const std::string& s);
// A DLDataType initializer.
std::string dl_type(DType t);
// "const type name[] = {...};", or nothing without items.
std::string cpp_array(const std::string& name, const std::string& type,
                      const std::vector<std::string>& items);
void replace_all(std::string& s, const std::string& from, const std::string& to);

}  // namespace aotc
