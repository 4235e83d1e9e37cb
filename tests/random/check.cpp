// The oracle is the interpreter on the program as it was drawn.
#include "check.h"

#include "agreement.h"
#include "ir/text/text.h"
#include "ir/text/verify.h"
#include "program.h"

namespace aotc::random_graphs {
namespace {

struct Stop {
  Verdict verdict;
};

class Check {
 public:
  Check(const std::string& text, const CheckOptions& options)
      : text_(text), options_(options), original_(parse_graph(text, "random.ir")) {}

  Verdict run() {
    Verdict v;
    try {
      attach_program(*original_, options_.seed);
      verify(*original_, GraphStage::Graph);
      draw();
      stages();
      if (options_.compiler) compiled();
    } catch (const Stop& s) {
      v = s.verdict;
    } catch (const UserError& e) {
      v = {stage_ == "graph" ? Outcome::Unusable : Outcome::Refused, stage_, e.what(), false};
    } catch (const std::exception& e) {
      v = {Outcome::Internal, stage_, e.what(), false};
    }
    for (const Reference& r : references_) v.inexact |= r.was_inexact();
    return v;
  }

 private:
  // Plain inputs; then strided ones, with special values, and ones for which checks may fail.
  void draw() {
    for (int i = 0; i < 3; ++i) {
      interp::RandomOptions o;
      o.strided_inputs = i == 1;
      o.special_values = i == 2;
      o.must_succeed = i != 2;
      references_.emplace_back(
          *original_,
          interp::random_inputs(*original_, options_.seed + static_cast<uint64_t>(i), o));
    }
  }

  void stages() {
    c_.settings.optimize = options_.optimize;
    c_.graph = ImportedGraph{parse_graph(text_, "random.ir")};
    c_.graph->graph->program = original_->program;
    for (const char* name : {"functional", "core", "loops", "fused", "plan"}) {
      stage_ = name;
      stage_named(name).run(c_);
      if (c_.functional) leave_out_dropped_checks();
      for (Reference& r : references_) {
        compare(r, interpret(r.inputs(), false), "");
        if (c_.loops || c_.plan) compare(r, interpret(r.inputs(), true), " with axes reversed");
      }
    }
  }

  // Stage functional removes nodes whose results nobody needs, and with them what could fail there.
  void leave_out_dropped_checks() {
    std::erase_if(references_, [&](const Reference& r) {
      return !r.result().failure.empty() && interpret(r.inputs(), false).failure.empty();
    });
  }

  interp::RunResult interpret(const interp::RunInputs& inputs, bool reverse) const {
    interp::RunOptions o;
    o.reverse_axes = reverse;
    if (c_.functional) return interp::run(*c_.functional->graph, inputs);
    if (c_.core) return interp::run(*c_.core->graph, inputs);
    return interp::run(c_.loops ? *c_.loops : c_.plan->program, inputs, o);
  }

  void compare(Reference& r, const interp::RunResult& found, const std::string& how) {
    auto difference = r.difference(found);
    if (!difference) return;
    throw Stop{{Outcome::Mismatch, stage_,
                fmt::format("inputs {}{}: {}", &r - references_.data(), how, *difference), false}};
  }

  // The C ABI takes inputs of any strides, except where an output is a view of one that has no form
  // in them.
  static bool refuses_layout(const interp::RunResult& r) {
    return r.failure.find("needs the exported layout") != std::string::npos;
  }

  void compiled() {
    stage_ = "compiled";
    const AotcApi* api = options_.compiler->build(c_);
    for (Reference& r : references_) {
      CompiledProgram program(*original_, api);
      interp::RunResult found = program.run(r.inputs());
      if (refuses_layout(found)) continue;
      compare(r, found, "");
      interp::RunInputs again = r.inputs();
      again.storages = r.result().storages;
      Reference second(*original_, again);
      // What could fail may have been dropped.
      const interp::RunResult next = program.run(again);
      const bool dropped =
          !second.result().failure.empty() && interpret(again, false).failure.empty();
      auto d = dropped ? (next.failure.empty() ? std::nullopt : std::optional(next.failure))
                       : second.difference(next);
      if (d && !r.was_inexact())
        throw Stop{{Outcome::Mismatch, stage_, "second call: " + *d, false}};
    }
  }

  const std::string& text_;
  const CheckOptions& options_;
  std::unique_ptr<Graph> original_;
  std::vector<Reference> references_;
  Compilation c_;
  std::string stage_ = "graph";
};

}  // namespace

Verdict check_graph(const std::string& text, const CheckOptions& options) {
  return Check(text, options).run();
}

}  // namespace aotc::random_graphs
