// The manifest of a program: what it takes and yields, its state, its mutations, as JSON.
#pragma once
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/plan.h"
#include "codegen/weights.h"

namespace aotc {

// The package format that this aotc writes; it reads those of the same major version.
inline constexpr int kFormatMajor = 1, kFormatMinor = 0;

// A row of aliased_io: an output that is an input's or state's storage, or a mutation without an
// output.
struct AliasedIoRow {
  int output = -1;
  int input = -1;         // position among the caller's inputs
  int storage_name = -1;  // index into WeightLayout::names
  std::string kind;       // kv_cache_update | user | identity | view | mutation
  bool direct = false;
  std::string reason;
};

std::vector<AliasedIoRow> aliased_io_rows(const Plan& plan, const WeightLayout& w);
std::string manifest_json(const Plan& plan, const WeightLayout& w,
                          const std::vector<AliasedIoRow>& rows, const EmitOptions& options);

// Names as the caller sees them; one used twice has "#index" appended.
std::vector<std::string> unique_names(std::vector<std::string> names);
std::vector<std::string> user_input_names(const Graph& g);
std::vector<std::string> output_names(const Graph& g);

}  // namespace aotc
