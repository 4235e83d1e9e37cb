#include "codegen/check_stages.h"

#include "ir/interp/interp.h"

// Interpreting before and after. Inputs are drawn once per stage from fixed seeds, so that a
// failure repeats.
namespace aotc {

namespace {

constexpr uint64_t kSeeds[] = {1, 2};
constexpr interp::RunOptions kOptions = {.reverse_axes = false, .jitter = 0, .max_iterations = 100};

// The interpretable form that the compilation holds; null before stage `graph` and from `sources`
// on.
const Graph* current_graph(const Compilation& c) {
  if (c.graph) return c.graph->graph.get();
  if (c.functional) return c.functional->graph.get();
  if (c.core) return c.core->graph.get();
  if (c.loops) return c.loops->graph.get();
  return c.plan ? c.plan->program.graph.get() : nullptr;
}

interp::RunResult interpret(const Compilation& c, const interp::RunInputs& inputs) {
  if (c.loops) return interp::run(*c.loops, inputs, kOptions);
  if (c.plan) return interp::run(c.plan->program, inputs, kOptions);
  return interp::run(*current_graph(c), inputs, kOptions);
}

}  // namespace

struct StageChecker::Results {
  std::vector<interp::RunInputs> inputs;
  std::vector<interp::RunResult> results;
};

StageChecker::StageChecker(const Compilation& c) : c_(c) {
  const Graph* g = current_graph(c);
  if (!c.settings.check_stages || !g || !c.sources.empty()) return;
  before_ = std::make_unique<Results>();
  for (uint64_t seed : kSeeds) {
    before_->inputs.push_back(interp::random_inputs(*g, seed));
    before_->results.push_back(interpret(c, before_->inputs.back()));
  }
}

StageChecker::~StageChecker() = default;

void StageChecker::compare_after(const std::string& stage) {
  if (!before_ || !c_.sources.empty()) return;
  for (size_t i = 0; i < before_->inputs.size(); ++i) {
    auto difference = interp::compare(before_->results[i], interpret(c_, before_->inputs[i]));
    if (difference)
      internal_error("stage '{}' changes what the program computes (random inputs, seed {}): {}",
                     stage, kSeeds[i], *difference);
  }
}

}  // namespace aotc
