// Runs either IR level slowly: the executable definition of every op, and the oracle of
// `--check-stages`.
//
// Level 1 (any stage): tensors are views of shared memory; nodes run in order; in-place ops write
// into the memory they name, after the whole right-hand side is read; other nodes are lowered one
// at a time and run as loops. Write-backs happen after the last node: all values are read first,
// then all are stored. Level 2: kernels run as ir/loops.h says; every access is checked against its
// buffer, reads of memory that no kernel has written are errors.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "ir/interp/tensor.h"
#include "ir/loops.h"

namespace aotc::interp {

// Nothing (None, constants, stored tensors), a tensor, a Python int, float or bool.
using RunValue = std::variant<std::monostate, Tensor, int64_t, double, bool>;

struct RunInputs {
  // One per Graph::inputs entry. User tensors may have any strides and share memory; UserScalars
  // are int64_t (symbolic ones; constant ones may be left out). Everything else is std::monostate.
  std::vector<RunValue> inputs;
  // Memory of the archive's storages by number; those left out come from Graph::program.
  std::map<int, std::shared_ptr<Memory>> storages;
};

struct RunResult {
  std::string failure;            // the message of the check that failed; empty: the call succeeded
  std::vector<RunValue> outputs;  // one per Graph::outputs entry
  std::vector<RunValue>
      inputs;  // the inputs after the call: copies that share memory as the given ones do
  std::map<int, std::shared_ptr<Memory>>
      storages;               // those of parameters, buffers and constants, after the call
  std::vector<int> alias_of;  // per output: the input (index) whose memory it lies in, or -1
  std::map<int, std::vector<Tensor>> stored_views;  // per storage: how inputs see it (for compare)
};

struct RunOptions {
  bool reverse_axes =
      false;  // level 2: run independent iterations backwards; results must not change
  bool reverse_reductions = false;  // level 2: feed accumulators that fix no order backwards
  // Level 1, not 0: a seed. Nodes that add up or multiply up floating-point numbers see operands
  // and yield results that are off by a few units in the last place, and with odd seeds take their
  // elements backwards: what may change is what the order may change.
  uint64_t jitter = 0;
  // A while loop that goes on longer is a failed check: random inputs may never end one.
  int64_t max_iterations = 2000;
};

// Run a program on copies of the inputs. A failed check is a result; inputs that do not fit the
// signature are UserErrors; a program that breaks its invariants is an InternalError that names
// kernel or node.
RunResult run(const Graph& graph, const RunInputs& inputs, const RunOptions& options = {});
RunResult run(const loops::LoopProgram& program, const RunInputs& inputs,
              const RunOptions& options = {});

// Floating-point values agree if |a - b| <= absolute + relative * |b|; NaN agrees with NaN. Types
// of less precision than float32 are given at least two of their units in the last place. All else,
// bytes outside of views too, is exact. Two calls that failed agree if they left inputs and
// storages alike.
struct Tolerance {
  double relative = 1e-5, absolute = 1e-6;
  bool aliases = false;  // also compare alias_of
};
// nullopt if the results agree, else the first difference: which output, input or state, where,
// both values.
std::optional<std::string> compare(const RunResult& a, const RunResult& b,
                                   const Tolerance& tolerance = {});

struct RandomOptions {
  int64_t max_symbol =
      5;  // symbols are drawn from their range's start up to this many further values
  bool special_values = false;  // NaN, infinities, signed zeros, extremes among the numbers
  bool strided_inputs =
      false;                 // windows of larger memory, permuted; read-only ones may share memory
  bool must_succeed = true;  // draw again, with smaller integers, until no check fails
};
// Inputs that fit the graph's signature: symbols within their ranges and guards, numbers of every
// dtype. Storages that the graph's archive does not provide are drawn too. Throws UserError if
// nothing fits.
RunInputs random_inputs(const Graph& graph, uint64_t seed, const RandomOptions& options = {});
// The archive's sample inputs; nullopt if it has none that fit the signature.
std::optional<RunInputs> sample_inputs(const Graph& graph);

}  // namespace aotc::interp
