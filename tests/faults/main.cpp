// A call that fails changes nothing. Each program is compiled once for each of its checks, with
// that check made to fail, and run; then with each allocation of the call refused in turn. Inputs
// and states must be, byte for byte, what they were; after a refused allocation the same session
// must then succeed.
#include <cstdio>
#include <cstring>

#include "../random/compiled.h"
#include "../runtime/failing_malloc.h"

using namespace aotc;
using namespace aotc::random_graphs;

namespace {

using interp::Memory;

bool same_bytes(const Memory& a, const Memory& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size())) == 0;
}

class Program {
 public:
  Program(const std::string& path, Compiler& compiler)
      : compiler_(compiler), compiled_(compile_model(path, {}, "plan")) {}

  // The number of faults tried; -1 if no drawn inputs let the program succeed.
  int run() {
    if (!draw_inputs()) return -1;
    int faults = 0;
    for (size_t i = 0; i < kernels().size(); ++i)
      if (kernels()[i].kind == loops::KernelKind::Check) {
        fail_check(i);
        ++faults;
      }
    return faults + refuse_allocations();
  }

 private:
  const std::vector<loops::Kernel>& kernels() const { return compiled_.plan->program.kernels; }
  const Graph& graph() const { return *compiled_.plan->program.graph; }

  // With a plan of its own.
  Compilation copy() const {
    Compilation c;
    c.settings = compiled_.settings;
    c.exported = compiled_.exported;
    c.plan = compiled_.plan;
    return c;
  }

  bool draw_inputs() {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      interp::RandomOptions o;
      o.must_succeed = true;
      inputs_ = interp::random_inputs(graph(), seed, o);
      try {
        if (interp::run(compiled_.plan->program, inputs_).failure.empty()) return true;
      } catch (const UserError&) {  // sizes that its guards exclude
      }
    }
    return false;
  }

  void fail_check(size_t i) {
    Compilation c = copy();
    loops::Kernel& check = c.plan->program.kernels[i];
    loops::Expr never;
    never.dtype = DType::Bool;
    never.constant = ScalarValue::of(false);
    check.condition = check.add(never);
    CompiledProgram program(graph(), compiler_.build(c));
    const interp::RunResult r = program.run(inputs_);
    // A check of elements, or in a loop, may have none to check.
    if (r.failure.empty() && check.axes.empty() && !is_in_block(i))
      user_error("check '{}' did not fail the call", check.name);
    if (!r.failure.empty()) require_unchanged(r, "check '" + check.name + "' failed");
  }

  bool is_in_block(size_t i) const {
    return Blocks(loops::controls_of(compiled_.plan->program)).depth(i) > 0;
  }

  int refuse_allocations() {
    Compilation c = copy();
    const AotcApi* api = compiler_.build(c);
    api->last_error();  // the C library ends the process if this thread's variables have no memory
    for (int n = 0;; ++n) {
      CompiledProgram program(graph(), api);
      program.around_call = [&](bool begins) { test::fail_allocations_after(begins ? n : -1); };
      const interp::RunResult r = program.run(inputs_);
      if (r.failure.empty()) return n;
      require_unchanged(r, fmt::format("allocation {} was refused", n));
      program.around_call = {};
      const interp::RunResult again = program.run(inputs_);
      if (!again.failure.empty())
        user_error("after allocation {} was refused, the next call failed: {}", n, again.failure);
    }
  }

  void require_unchanged(const interp::RunResult& r, const std::string& fault) const {
    for (size_t i = 0; i < inputs_.inputs.size(); ++i)
      if (auto* before = std::get_if<interp::Tensor>(&inputs_.inputs[i]))
        if (!same_bytes(*before->memory, *std::get<interp::Tensor>(r.inputs[i]).memory))
          user_error("{}: input '{}' changed", fault, graph().inputs[i].name);
    for (const Input& in : graph().inputs) {
      if (in.stored.storage < 0) continue;
      const std::string_view bytes =
          graph().program->storages[static_cast<size_t>(in.stored.storage)].bytes;
      const Memory& now = *r.storages.at(in.stored.storage);
      if (std::memcmp(now.data(), bytes.data(), bytes.size()) != 0)
        user_error("{}: '{}' changed", fault, in.target);
    }
  }

  Compiler& compiler_;
  const Compilation compiled_;
  interp::RunInputs inputs_;
};

}  // namespace

int main(int argc, char** argv) {
  Compiler compiler;
  int failed = 0, faults = 0, skipped = 0;
  for (int i = 1; i < argc; ++i) try {
      const int tried = Program(argv[i], compiler).run();
      faults += std::max(tried, 0);
      if (tried < 0) {
        ++skipped;
        fmt::print("{}: no drawn inputs let it succeed\n", argv[i]);
      }
    } catch (const std::exception& e) {
      ++failed;
      fmt::print("FAILED {}: {}\n", argv[i], e.what());
    }
  fmt::print("{} programs, {} faults, {} skipped, {} failed\n", argc - 1, faults, skipped, failed);
  return failed > 0 || faults == 0;
}
