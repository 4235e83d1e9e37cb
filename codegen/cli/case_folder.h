// A case folder: inputs of one call and what must come of it. Its layout:
//   in<i>.npy    input i            out<i>.npy      output i, expected
//   mut<i>.npy   input i after the call, where it changed
//   buf_<name>.npy   a state after the call, where it changed
//   error.txt    the program or this call must be refused
//   meta.json    how inputs lie in memory and what else to know, see CaseMeta
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/cli/host_tensor.h"

namespace aotc::cli {

// An input as a view of a storage; all in elements.
struct InputLayout {
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0, storage = 0;
  std::string storage_id;  // inputs of one id share one storage; empty: a storage of its own
};

// Whose storage an output is in, by position.
struct OutputPlace {
  std::optional<int64_t> input, output;
};

struct CaseMeta {
  bool sequence = false;     // continues on the session of the sequence's earlier cases
  bool may_refuse = false;   // a clear error is right too
  bool must_refuse = false;  // there is an error.txt
  bool has_outputs = false;  // meta.json tells every output's place
  std::vector<std::optional<InputLayout>> inputs;
  std::map<int64_t, OutputPlace> outputs;
  std::set<int64_t> ambiguous_outputs;  // not to compare
};

// All throw UserError that names the file and what is wrong with it.
CaseMeta read_case_meta(const std::filesystem::path& folder);
// Inputs in their layouts, in storages whose other bytes hold a pattern. Also serves `aotc run
// --inputs`.
std::vector<HostTensor> read_case_inputs(const std::filesystem::path& folder, const CaseMeta& meta);
// The arrays of that stem by position or by name: {"0": ..., "1": ...} for "out".
std::map<std::string, std::filesystem::path> case_arrays(const std::filesystem::path& folder,
                                                         const std::string& stem);
// The same with numbers as keys.
std::map<int64_t, std::filesystem::path> numbered_arrays(const std::filesystem::path& folder,
                                                         const std::string& stem);

}  // namespace aotc::cli
