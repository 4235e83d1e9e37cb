#include "codegen/package.h"
#include "codegen/cuda/gpu_images.h"
#include "codegen/user_aliases.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>

#include "codegen/samples.h"
#include "codegen/weights.h"

// From a plan to the members of the package.
namespace aotc {

namespace {

constexpr int64_t kEmbedLimit = 1 << 20;  // larger weights stay outside model.so

bool embed_weights(const CompileSettings& s, int64_t bytes) {
  if (s.weights == "embed") return true;
  if (s.weights == "external") return false;
  return bytes <= kEmbedLimit;
}

std::vector<std::string> resolved_levels(const CompileSettings& s) {
  std::vector<std::string> levels, known = known_cpu_levels();
  for (const std::string& level : s.cpu_levels) {
    std::string l = level == "native" ? native_cpu_level() : level;
    if (std::find(known.begin(), known.end(), l) == known.end())
      user_error("unknown CPU level '{}'; this aotc knows native, {}", level,
                 fmt::join(known, ", "));
    if (std::find(levels.begin(), levels.end(), l) == levels.end()) levels.push_back(l);
  }
  if (levels.empty()) user_error("--cpu names no level");
  return levels;
}

// What is linked into a package, all of it compiled when aotc was built.
std::vector<std::string> archives_for(const std::string& level) {
  std::vector<std::string> archives;
  for (const std::string& name :
       {std::string("libaotc_model.a"), "libaotc_templates_" + level + ".a"}) {
    const std::filesystem::path file = support_directory() / name;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
      user_error(
          "CPU level '{}' needs {}, which is missing: this aotc was built without that level or is "
          "not fully installed",
          level, file.string());
    archives.push_back(file.string());
  }
  return archives;
}

std::string file_for_level(const Compilation& c, const std::string& level) {
  return c.binaries.size() == 1 ? "model.so" : "model." + level + ".so";
}

}  // namespace

std::unique_ptr<Toolchain> open_toolchain(const CompileSettings& s) {
  if (s.backend == "clang") return load_clang_toolchain();
  if (s.backend == "g++") return make_gxx_toolchain();
  user_error("unknown back end '{}'; there are clang and g++", s.backend);
}

std::string model_identifier(const Compilation& c) {
  std::string name = c.plan->program.graph->name, id;
  for (char ch : name) id += std::isalnum(static_cast<unsigned char>(ch)) ? ch : '_';
  if (id.empty() || std::isdigit(static_cast<unsigned char>(id[0]))) id = "model_" + id;
  return id;
}

void require_in_place(const Plan& plan, const CompileSettings& settings) {
  if (settings.in_place != "prefer" && settings.in_place != "require")
    user_error("--in-place is 'prefer' or 'require', found '{}'", settings.in_place);
  if (settings.in_place != "require") return;
  ErrorList errors;
  const Graph& g = *plan.program.graph;
  for (const auto& w : plan.program.write_backs) {
    if (w.direct) continue;
    const WriteBack& wb = g.write_backs[static_cast<size_t>(w.write_back)];
    const Input& in = g.inputs[static_cast<size_t>(wb.input)];
    errors.add(fmt::format(
        "{}: {} of '{}' is not in place: {}; compile with --in-place=prefer to allow the copy",
        wb.source.str(), mutation_text(g, wb), in.target.empty() ? in.name : in.target, w.reason));
  }
  errors.throw_if_any();
}

void make_sources(Compilation& c) {
  const int64_t weight_bytes = layout_weights(*c.plan->program.graph).blob_bytes;
  for (const std::string& level : resolved_levels(c.settings)) {
    EmitOptions o;
    o.cpu_level = level;
    o.embedded = !c.settings.embedded_name.empty();
    o.name = o.embedded ? c.settings.embedded_name : model_identifier(c);
    o.embed_weights = embed_weights(c.settings, weight_bytes);
    if (!(c.plan->gpu_device() == Device{})) o.gpu_images = wanted_images(c.settings).size();
    c.sources.push_back(emit(*c.plan, o));
  }
}

void make_binaries(Compilation& c) {
  std::unique_ptr<Toolchain> tools = open_toolchain(c.settings);
  std::vector<std::string> levels = resolved_levels(c.settings);
  std::vector<std::vector<std::string>> archives;
  for (const std::string& level : levels) archives.push_back(archives_for(level));
  const Sources& first = c.sources.at(0);
  if (!first.cuda.text.empty()) {
    c.gpu_images = wanted_images(c.settings);
    compile_images(c.gpu_images, first.cuda, first.cuda_kernels, *tools);
    format_generated(*tools, c.sources[0].cuda);
  }
  for (size_t i = 0; i < levels.size(); ++i) {
    Sources& s = c.sources[i];
    CompileOptions options;
    options.cpu_level = levels[i];
    options.optimize = c.settings.optimize ? 2 : 0;
    std::vector<ObjectFile> objects;
    // The largest file compiles while the rest of the work goes on beside it.
    std::future<ObjectFile> kernels = std::async(
        std::launch::async, [&] { return tools->compile_checked(s.files[0], s.stores, options); });
    std::vector<SourceFile> formatted = s.files;
    for (SourceFile& f : formatted) format_generated(*tools, f);
    for (size_t k = 1; k < s.files.size(); ++k)
      objects.push_back(tools->compile(s.files[k], options));
    objects.push_back(kernels.get());
    if (!c.gpu_images.empty())
      for (ObjectFile& o : image_objects(c.gpu_images, *tools, options))
        objects.push_back(std::move(o));
    s.files = std::move(formatted);
    if (s.embed_weights && !s.weights.empty())
      objects.push_back(make_data_object("aotc_weights", s.weights.str(), levels[i]));
    LinkOptions link;
    link.cpu_level = levels[i];
    link.export_list = "aotc_get_api";
    link.archives = archives[i];
    c.binaries.emplace_back(levels[i], tools->link(objects, link));
  }
}

void make_package(Compilation& c) {
  using json = nlohmann::ordered_json;
  json manifest = json::parse(c.sources.at(0).manifest);
  manifest["cpu"] = json::array();
  for (const auto& [level, bytes] : c.binaries)
    manifest["cpu"].push_back({{"level", level}, {"file", file_for_level(c, level)}});
  manifest["cpu_requested"] = c.settings.cpu_levels;
  manifest["backend"] = c.settings.backend;
  manifest["weights_embedded"] = c.sources[0].embed_weights;
  std::vector<PackageFile> samples = sample_files(c);
  c.package.push_back({"manifest.json", manifest.dump(1) + "\n"});
  for (const auto& [level, bytes] : c.binaries)
    c.package.push_back({file_for_level(c, level), bytes});
  for (const SourceFile& f : c.sources[0].files) c.package.push_back({"sources/" + f.name, f.text});
  if (!c.sources[0].cuda.text.empty())
    c.package.push_back({"sources/" + c.sources[0].cuda.name, c.sources[0].cuda.text});
  c.package.push_back({"explain.txt", c.explain});
  c.package.push_back({"explain.json", c.explain_json});
  for (PackageFile& f : samples) c.package.push_back(std::move(f));
  if (!c.sources[0].embed_weights)
    c.package.push_back({.name = "weights.bin", .weights = c.sources[0].weights});
}

}  // namespace aotc
