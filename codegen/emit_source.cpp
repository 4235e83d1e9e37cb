// `aotc emit-source`: the program as a CMake project with everything that it needs.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "codegen/package.h"
#include "codegen/pipeline.h"
#include "codegen/project_name.h"
#include "codegen/source_project_gpu.h"

namespace aotc {

void emit_source_project(const std::string& pt2, const std::string& dir,
                         const CompileSettings& settings);

namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) user_error("cannot read {}; reinstall aotc", path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_file(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) user_error("cannot write {}: {}", path.string(), std::strerror(errno));
}

void write_weights(const fs::path& path, const WeightBlob& weights) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  weights.read(0, weights.size(), [&](std::string_view piece) { out << piece; });
  out.close();
  if (!out) user_error("cannot write {}: {}", path.string(), std::strerror(errno));
}

// Replaces @HOLE@; an unknown hole, or one that is left over, is an error of ours.
std::string fill(std::string text, const std::map<std::string, std::string>& holes) {
  for (size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at)) {
    size_t end = text.find('@', at + 1);
    AOTC_CHECK(end != std::string::npos, "a hole of the project template has no end");
    auto it = holes.find(text.substr(at + 1, end - at - 1));
    AOTC_CHECK(it != holes.end(), "unknown hole in the project template: {}",
               text.substr(at, end - at + 1));
    text.replace(at, end - at + 1, it->second);
    at += it->second.size();
  }
  return text;
}

std::string indented(const std::string& text, const std::string& prefix) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    out += prefix + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  if (!out.empty()) out.pop_back();
  return out;
}

void copy_runtime(const fs::path& to, const std::set<std::string>& templates) {
  fs::path from = support_directory() / "source";
  if (!fs::is_directory(from))
    user_error("aotc's run-time sources are missing: expected {}; reinstall aotc", from.string());
  std::error_code error;
  for (const char* part : {"include", "model"}) {
    fs::create_directories(to / part, error);
    fs::copy(from / part, to / part,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing, error);
    if (error) user_error("cannot write {}: {}", (to / part).string(), error.message());
  }
  if (templates.empty()) return;
  for (const auto& entry : fs::directory_iterator(from / "templates")) {
    const fs::path file = entry.path().filename();
    if (file.extension() == ".h" || templates.contains(file.stem().string()))
      write_file(to / "templates" / file, read_file(entry.path()));
  }
}

// The requested name, which the caller has checked, or one that the model's is a part of.
std::string project_name(const Compilation& c) {
  if (!c.settings.embedded_name.empty()) return c.settings.embedded_name;
  const std::string name = model_identifier(c);
  if (!project_name_fault(name).empty()) return name + "_model";
  return name;
}

// A project in the making, beside the folder that it will be: a failure leaves nothing behind.
class Draft {
 public:
  explicit Draft(const fs::path& target)
      : target_(fs::absolute(target).lexically_normal()),
        path_(fmt::format(
            "{}.partial-{}",
            target_.has_filename() ? target_.string() : target_.parent_path().string(), getpid())) {
    std::error_code error;
    if (fs::exists(target_) && !fs::is_directory(target_))
      user_error("{}: is no folder; name another with -o", target_.string());
    fs::create_directories(path_, error);
    if (error) user_error("cannot create {}: {}", path_.string(), error.message());
  }
  ~Draft() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const fs::path& path() const { return path_; }

  // Moves each file to its place; others that are in the folder stay.
  void publish() const {
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      const fs::path to = target_ / fs::relative(entry.path(), path_);
      if (entry.is_directory()) {
        fs::create_directories(to, error);
      } else {
        fs::create_directories(to.parent_path(), error);
        fs::rename(entry.path(), to, error);
      }
      if (error) user_error("cannot write {}: {}", to.string(), error.message());
    }
  }

 private:
  fs::path target_, path_;
};

std::string project_level(const CompileSettings& settings) {
  if (settings.cpu_levels.size() != 1)
    user_error("emit-source takes one CPU level, found {}", settings.cpu_levels.size());
  return settings.cpu_levels[0] == "native" ? native_cpu_level() : settings.cpu_levels[0];
}

// Without the plugin the sources are the same, only not formatted.
void format_sources(const CompileSettings& settings, Sources& s) {
  if (settings.backend != "clang") return;
  try {
    auto tools = load_clang_toolchain();
    for (SourceFile& f : s.files) format_generated(*tools, f);
    format_generated(*tools, s.cuda);
  } catch (const UserError&) {
  }
}

// Where the weights are in the project; "" if there are none. The object is there even if it is
// empty: builds name it.
std::string write_weights_file(const fs::path& root, const Sources& s, const std::string& level) {
  if (!s.embed_weights && s.weights.empty()) return "";
  if (!s.embed_weights) {
    write_weights(root / "weights.bin", s.weights);
    return "weights.bin";
  }
  write_file(root / "src" / "weights.o",
             make_data_object("aotc_" + s.name + "_weights", s.weights.str(), level).bytes);
  return "src/weights.o";
}

using Holes = std::map<std::string, std::string>;

Holes holes_of(const Sources& s, const std::string& level, const std::string& weights) {
  return {{"NAME", s.name},
          {"LEVEL", level},
          {"MARCH", level == "aarch64" ? "-march=armv8-a" : "-march=" + level},
          {"WEIGHTS", s.embed_weights ? weights : ""},
          {"WEIGHTS_FILE", weights.empty() ? "(none)" : weights},
          {"TEMPLATES", fmt::format("{}", fmt::join(s.templates, " "))},
          {"SIGNATURE", ""}};
}

void write_templates(const fs::path& root, const Sources& s, const GpuProject& gpu, Holes holes) {
  const fs::path templates = support_directory() / "source" / "project";
  const auto write = [&](const std::string& path, const std::string& from) {
    write_file(root / path, fill(read_file(templates / from), holes));
  };
  const std::string signature = describe_manifest(s.manifest);
  write("CMakeLists.txt", "CMakeLists.txt.in");
  for (const auto& [path, from] : gpu.templates) write(path, from);
  holes["SIGNATURE"] = indented(signature, "    ");
  write("README.md", "README.md.in");
  holes["SIGNATURE"] = indented(signature, " *   ");
  write("include/" + s.name + ".h", "model.h.in");
}

}  // namespace

void emit_source_project(const std::string& pt2, const std::string& dir,
                         const CompileSettings& settings) {
  const std::string level = project_level(settings);
  Compilation c = compile_model(pt2, settings, "plan");
  c.settings.embedded_name = project_name(c);
  if (c.settings.weights == "auto")
    c.settings.weights = "embed";  // an object file has no size limit
  make_sources(c);
  Sources& s = c.sources[0];
  format_sources(settings, s);
  const Draft draft(dir);
  const fs::path& root = draft.path();
  for (const SourceFile& f : s.files) write_file(root / "src" / f.name, f.text);
  const std::string weights = write_weights_file(root, s, level);
  const GpuProject gpu = gpu_project(c, s);
  for (const auto& [path, text] : gpu.files) write_file(root / path, text);
  Holes holes = holes_of(s, level, weights);
  holes.insert(gpu.holes.begin(), gpu.holes.end());
  write_templates(root, s, gpu, holes);
  copy_runtime(root / "aotc", s.templates);
  draft.publish();
}

}  // namespace aotc
