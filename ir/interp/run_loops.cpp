// Level 2 of the interpreter: a whole program on one call's inputs.
#include "ir/interp/run_loops.h"

#include <set>

#include "ir/interp/call.h"
#include "ir/interp/kernel.h"
#include "ir/interp/outputs.h"
#include "ir/template_kernel.h"

namespace aotc::interp {

using namespace loops;

void run_kernels(const LoopProgram& program, Buffers& buffers, Symbols& symbols,
                 const RunOptions& options) {
  int64_t iterations = 0;
  const auto kernel = [&](size_t i) -> const Kernel& { return program.kernels[i]; };
  run_blocks(
      controls_of(program), [&](size_t i) { run_kernel(kernel(i), buffers, symbols, options); },
      [&](size_t i) {
        const bool goes_on = eval(kernel(i).bound, symbols) != 0;
        if (goes_on && kernel(i).control == Control::Test && ++iterations > options.max_iterations)
          throw CheckFailed("a loop goes on for too long");
        return goes_on;
      },
      [&](size_t i) { return eval(kernel(i).bound, symbols); },
      [&](size_t i, int64_t n) { symbols[kernel(i).symbol] = n; });
}

Tensor output_buffer(Buffers& buffers, BufferId id, const std::string& name) {
  const BufferMemory& b = buffers[id];
  if (b.written)
    for (int64_t p : positions(b.tensor))
      if (!(*b.written)[static_cast<size_t>(p)])
        internal_error("output '{}': element {} of buffer '{}' is never written", name,
                       p - b.tensor.offset, b.name);
  return b.tensor;
}

namespace {

// Inputs that kernels store to.
std::set<int> mutated_inputs(const LoopProgram& p) {
  std::set<int> inputs;
  auto add = [&](BufferId id) {
    if (id < 0 || id >= static_cast<int>(p.buffers.size())) return;
    const Buffer& b = p.buffers[static_cast<size_t>(id)];
    if (b.home == Home::Input) inputs.insert(b.index);
  };
  for (const Kernel& k : p.kernels) {
    for (const Phase& phase : k.phases)
      for (const Store& s : phase.stores) add(s.buffer);
    for (BufferId b : template_writes(k)) add(b);
  }
  return inputs;
}

// An input is staged if it shares memory with another one and a kernel writes either.
std::function<bool(size_t)> overlaps_mutated(const Call& call, std::set<int> mutated) {
  return [&call, mutated = std::move(mutated)](size_t i) {
    for (size_t j = 0; j < call.inputs().size(); ++j) {
      bool written = mutated.contains(static_cast<int>(i)) || mutated.contains(static_cast<int>(j));
      if (i != j && written && may_overlap(call.input(i), call.input(j))) return true;
    }
    return false;
  };
}

RunValue output(const LoopProgram& p, const Call& call, Buffers& buffers, int i) {
  for (const OutputView& v : p.output_views)
    if (v.output == i) return view_output(call, v);
  BufferId b =
      i < static_cast<int>(p.output_buffers.size()) ? p.output_buffers[static_cast<size_t>(i)] : -1;
  if (b >= 0) return output_buffer(buffers, b, p.graph->outputs[static_cast<size_t>(i)].name);
  return signature_output(call, i);
}

}  // namespace

RunResult run(const LoopProgram& program, const RunInputs& inputs, const RunOptions& options) {
  AOTC_CHECK(program.graph, "a loop program has a graph");
  const Graph& g = *program.graph;
  Call call(g, inputs);
  call.stage(overlaps_mutated(call, mutated_inputs(program)), false);
  Buffers buffers(
      program, call.inputs(), [&](int number) { return call.storage(number); }, call.symbols);
  try {
    run_kernels(program, buffers, call.symbols, options);
  } catch (const CheckFailed& e) {
    RunResult failed = call.result();
    failed.failure = e.what();
    return failed;
  }
  std::vector<RunValue> outputs;
  std::vector<int> alias_of;
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    outputs.push_back(output(program, call, buffers, static_cast<int>(i)));
    auto* t = std::get_if<Tensor>(&outputs.back());
    alias_of.push_back(t ? call.owner_of(*t) : -1);
  }
  call.unstage();
  RunResult r = call.result();
  r.outputs = std::move(outputs);
  r.alias_of = std::move(alias_of);
  return r;
}

}  // namespace aotc::interp
