#include "codegen/pipeline.h"

#include <chrono>
#include <fstream>
#include <sstream>

#include "codegen/check_stages.h"
#include "codegen/devices.h"
#include "codegen/package.h"
#include "codegen/passes.h"
#include "codegen/user_aliases.h"
#include "ir/lowering.h"
#include "ir/text/text.h"
#include "ir/text/verify.h"

// The table of contents of the compiler: what happens to a program, in order.
namespace aotc {
namespace {

void run_graph(Compilation& c) {
  c.graph = import_graph(c.exported);
  assign_devices(*c.graph->graph, c.settings);
  alias_outputs(*c.graph->graph, c.settings.aliases);
  verify(*c.graph->graph, GraphStage::Graph);
}

void run_functional(Compilation& c) {
  c.functional = functionalize(std::move(*c.graph));
  c.graph.reset();
  verify(*c.functional->graph, GraphStage::Functional);
}

void run_core(Compilation& c) {
  c.core = decompose(std::move(*c.functional));
  c.functional.reset();
  verify(*c.core->graph, GraphStage::Core);
}

void run_loops(Compilation& c) {
  c.loops = lower(std::move(*c.core));
  c.core.reset();
  verify(*c.loops);
}

void run_fused(Compilation& c) {
  place_kernels(*c.loops);
  if (c.settings.optimize) {
    narrow_selections(*c.loops);
    share_copies(*c.loops);
    inline_producers(*c.loops);
    absorb_copies(*c.loops);
    merge_kernels(*c.loops);
    hoist_checks(*c.loops);
  }
  verify(*c.loops);
  verify_places(*c.loops);
}

void run_plan(Compilation& c) {
  c.plan = make_plan(std::move(*c.loops));
  c.loops.reset();
  verify(c.plan->program);
  verify_places(c.plan->program);
  require_in_place(*c.plan, c.settings);
  c.explain = explain(*c.plan);
  c.explain_json = explain_json(*c.plan);
}

std::string print_exported(const Compilation& c) { return pt2::to_text(*c.exported); }
std::string print_graph(const Compilation& c) { return print(*c.graph->graph); }
std::string print_functional(const Compilation& c) { return print(*c.functional->graph); }
std::string print_core(const Compilation& c) { return print(*c.core->graph); }
std::string print_loops(const Compilation& c) { return print(*c.loops); }
std::string print_plan(const Compilation& c) { return print(*c.plan); }
std::string print_sources(const Compilation& c) {
  std::string text;
  for (const SourceFile& f : c.sources.at(0).files) text += "// ---- " + f.name + "\n" + f.text;
  if (const SourceFile& f = c.sources.at(0).cuda; !f.text.empty())
    text += "// ---- " + f.name + "\n" + f.text;
  return text;
}
std::string print_binary(const Compilation& c) {
  std::string text;
  for (const auto& [level, bytes] : c.binaries)
    text += fmt::format("{}: {} bytes\n", level, bytes.size());
  return text;
}
std::string print_package(const Compilation& c) {
  std::string text;
  for (const PackageFile& f : c.package) text += fmt::format("{} {} bytes\n", f.name, f.size());
  return text;
}

void parse_graph_stage(Compilation& c, const std::string& text, const std::string& file) {
  c.graph = ImportedGraph{parse_graph(text, file)};
  c.graph->graph->program = c.exported;
}
void parse_functional_stage(Compilation& c, const std::string& text, const std::string& file) {
  c.functional = FunctionalGraph{parse_graph(text, file)};
  c.functional->graph->program = c.exported;
}
void parse_core_stage(Compilation& c, const std::string& text, const std::string& file) {
  c.core = CoreGraph{parse_graph(text, file)};
  c.core->graph->program = c.exported;
}
void parse_loops_stage(Compilation& c, const std::string& text, const std::string& file) {
  c.loops = parse_loops(text, file);
  c.loops->graph->program = c.exported;
}

void run_stage(Compilation& c, const Stage& s) {
  if (c.settings.progress) c.settings.progress(s.name);
  auto begin = std::chrono::steady_clock::now();
  StageChecker checker(c);
  s.run(c);
  checker.compare_after(s.name);
  c.milliseconds[s.name] =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void run_from(Compilation& c, size_t first, const std::string& last) {
  for (size_t i = first; i < stages().size(); ++i) {
    const Stage& s = stages()[i];
    if (s.run) run_stage(c, s);
    if (s.name == last) return;
  }
}

}  // namespace

const std::vector<Stage>& stages() {
  static const std::vector<Stage> list = {
      {"exported", "reads the archive and mirrors it field by field", nullptr, print_exported,
       nullptr},
      {"graph",
       "gives each node its op row, types and Python line; reports all unsupported ops at once",
       run_graph, print_graph, parse_graph_stage},
      {"functional", "turns mutations into values and write-backs", run_functional,
       print_functional, parse_functional_stage},
      {"core", "expands composite ops until only core meanings are left", run_core, print_core,
       parse_core_stage},
      {"loops", "makes a loop kernel of each op; views become index maps, write-backs copies",
       run_loops, print_loops, parse_loops_stage},
      {"fused", "merges kernels and forwards values between them", run_fused, print_loops,
       parse_loops_stage},
      {"plan", "gives every value storage; proves write-backs direct or says why not", run_plan,
       print_plan, nullptr},
      {"sources", "prints C++", make_sources, print_sources, nullptr},
      {"binary", "compiles, checks every store, links", make_binaries, print_binary, nullptr},
      {"package", "collects manifest, sources, library, weights", make_package, print_package,
       nullptr},
  };
  return list;
}

const Stage& stage_named(const std::string& name) {
  std::string names;
  for (const Stage& s : stages()) {
    if (s.name == name) return s;
    names += (names.empty() ? "" : ", ") + std::string(s.name);
  }
  user_error("unknown stage '{}'; the stages are {}", name, names);
}

namespace {

std::shared_ptr<const pt2::ExportedProgram> read_archive(const std::string& path) {
  auto program = std::make_shared<pt2::ExportedProgram>(pt2::read_pt2(path));
  pt2::verify_weights(*program);
  return program;
}

size_t stage_index(const std::string& name) {
  return static_cast<size_t>(&stage_named(name) - stages().data());
}

}  // namespace

Compilation compile_model(const std::string& pt2_path, const CompileSettings& settings,
                          const std::string& last) {
  if (!last.empty()) stage_named(last);
  Compilation c;
  c.settings = settings;
  if (settings.progress) settings.progress("exported");
  c.exported = read_archive(pt2_path);
  if (last != "exported") run_from(c, 1, last);
  return c;
}

namespace {

// The text is the user's: what is wrong with it is a user's error.
void check_parsed(const Compilation& c, const std::string& stage, const std::string& file) {
  try {
    if (c.graph) verify(*c.graph->graph, GraphStage::Graph);
    if (c.functional) verify(*c.functional->graph, GraphStage::Functional);
    if (c.core) verify(*c.core->graph, GraphStage::Core);
    if (c.loops) verify(*c.loops, stage);
  } catch (const InternalError& e) {
    user_error("{}: this is no program of stage '{}': {}", file, stage, e.what());
  }
}

}  // namespace

Compilation compile_from(const std::string& from, const std::string& text_file,
                         const std::string& pt2_path, const CompileSettings& settings,
                         const std::string& last) {
  const Stage& stage = stage_named(from);
  if (!stage.parse) user_error("stage '{}' has no text form to start from", from);
  std::ifstream in(text_file, std::ios::binary);
  if (!in) user_error("cannot read {}: {}", text_file, std::strerror(errno));
  std::stringstream text;
  text << in.rdbuf();
  Compilation c;
  c.settings = settings;
  if (!pt2_path.empty()) c.exported = read_archive(pt2_path);
  stage.parse(c, text.str(), text_file);
  check_parsed(c, from, text_file);
  if (last != from) run_from(c, stage_index(from) + 1, last);
  return c;
}

}  // namespace aotc
