// The constant tables of a program (runtime_support/model/program.h): symbols, inputs, outputs,
// storages, names and what aliases what.
#pragma once
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/manifest.h"
#include "codegen/sizes.h"
#include "codegen/weights.h"

namespace aotc {

struct Signature {
  std::string
      text;  // definitions of the arrays symbols, inputs, outputs, storages, names, aliased_io
  std::vector<AliasedIoRow> aliased_io;
  size_t n_inputs = 0;  // positions that a caller fills
};

Signature signature_tables(const Plan& plan, const WeightLayout& weights, Sizes& sizes);

// The position of graph input `input` among those that a caller gives; -1: it is none of them.
int user_position(const Graph& g, int input);

}  // namespace aotc
