// What lowering refuses of graphs that an archive can hold.
#include <catch2/catch.hpp>

#include "ir/graph.h"
#include "ir/lowering.h"
#include "ir/text/text.h"

using namespace aotc;

namespace {
std::string refusal_of(const std::string& text) {
  try {
    lower(decompose(functionalize(ImportedGraph{parse_graph(text, "m.ir")})));
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}
}  // namespace

TEST_CASE("a size that nothing gives a value is refused by name", "[lower]") {
  const std::string error = refusal_of(R"(graph {
  symbol u7 unbacked

  input %x: float32[3]

  %y: float32[u7] = aten.expand.default(%x, [u7])
  %z: float32[u7] = aten.cos.default(%y)

  output %z
})");
  CHECK_THAT(error, Catch::Matchers::Contains("'u7'"));
}

TEST_CASE("a symbol that no size of the inputs gives alone is refused by name", "[lower]") {
  const std::string sizes = refusal_of(R"(graph {
  symbol s0
  symbol s1
  symbol s2

  input %x: float32[s0*s1, 2*s2 + 1]
  scalar n, value s0 + 3

  output none
})");
  CHECK_THAT(sizes, Catch::Matchers::Contains("input 'x' dimension 0 is s0*s1") &&
                        Catch::Matchers::Contains("gives 's1' a value") &&
                        !Catch::Matchers::Contains("'s0'") && !Catch::Matchers::Contains("'s2'"));
}
