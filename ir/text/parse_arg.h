// One argument of a node as text.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/text/reader.h"

namespace aotc::text {

using Values = std::map<std::string, Value*>;  // by name

class ArgParser {
 public:
  ArgParser(Reader& in, const Values& values) : in_(in), values_(values) {}

  // `schema_type` ("int[]", "Tensor?[]", ...) only decides what an empty list is a list of.
  Arg parse(const std::string& schema_type);
  Value* value();  // "%name" of a value defined before

 private:
  Arg word();
  Arg number_or_symbol();
  Arg list(const std::string& schema_type);
  Arg combine(const std::vector<Arg>& items, const std::string& schema_type, size_t begin);
  Reader& in_;
  const Values& values_;
};

}  // namespace aotc::text
