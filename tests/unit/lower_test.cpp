// What lowering refuses of graphs that an archive can hold.
#include <catch2/catch.hpp>

#include "ir/graph.h"
#include "ir/lowering.h"
#include "ir/text/text.h"

using namespace aotc;

TEST_CASE("a size that nothing gives a value is refused by name", "[lower]") {
  const std::string text = R"(graph {
  symbol u7 unbacked

  input %x: float32[3]

  %y: float32[u7] = aten.expand.default(%x, [u7])
  %z: float32[u7] = aten.cos.default(%y)

  output %z
})";
  std::string error;
  try {
    lower(decompose(functionalize(ImportedGraph{parse_graph(text, "m.ir")})));
  } catch (const UserError& e) {
    error = e.what();
  }
  CHECK_THAT(error, Catch::Matchers::Contains("'u7'"));
}
