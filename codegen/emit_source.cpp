// `aotc emit-source`: the program as a CMake project with everything that it needs.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "codegen/package.h"
#include "codegen/pipeline.h"
#include "codegen/project_name.h"

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

}  // namespace

void emit_source_project(const std::string& pt2, const std::string& dir,
                         const CompileSettings& requested) {
  CompileSettings settings = requested;
  if (settings.cpu_levels.size() != 1)
    user_error("emit-source takes one CPU level, found {}", settings.cpu_levels.size());
  Compilation c = compile_model(pt2, settings, "plan");
  const std::string name = project_name(c);
  c.settings.embedded_name = name;
  if (c.settings.weights == "auto")
    c.settings.weights = "embed";  // an object file has no size limit
  make_sources(c);
  Sources& s = c.sources[0];
  std::string level =
      settings.cpu_levels[0] == "native" ? native_cpu_level() : settings.cpu_levels[0];
  if (settings.backend == "clang") {
    try {
      auto tools = load_clang_toolchain();
      for (SourceFile& f : s.files) format_generated(*tools, f);
    } catch (const UserError&) {
      // Without the plugin the sources are the same, only not formatted.
    }
  }
  const Draft draft(dir);
  const fs::path& root = draft.path();
  for (const SourceFile& f : s.files) write_file(root / "src" / f.name, f.text);
  bool weights = s.embed_weights;  // the object is there even if it is empty: builds name it
  if (weights)
    write_file(root / "src" / "weights.o",
               make_data_object("aotc_" + name + "_weights", s.weights.str(), level).bytes);
  if (!weights && !s.weights.empty()) write_weights(root / "weights.bin", s.weights);
  std::string signature = describe_manifest(s.manifest);
  std::map<std::string, std::string> holes = {
      {"NAME", name},
      {"LEVEL", level},
      {"MARCH", level == "aarch64" ? "-march=armv8-a" : "-march=" + level},
      {"WEIGHTS", weights ? "src/weights.o" : ""},
      {"WEIGHTS_FILE", weights             ? "src/weights.o"
                       : s.weights.empty() ? "(none)"
                                           : "weights.bin"},
      {"TEMPLATES", fmt::format("{}", fmt::join(s.templates, " "))},
      {"SIGNATURE", ""}};
  fs::path templates = support_directory() / "source" / "project";
  write_file(root / "CMakeLists.txt", fill(read_file(templates / "CMakeLists.txt.in"), holes));
  holes["SIGNATURE"] = indented(signature, "    ");
  write_file(root / "README.md", fill(read_file(templates / "README.md.in"), holes));
  holes["SIGNATURE"] = indented(signature, " *   ");
  write_file(root / "include" / (name + ".h"), fill(read_file(templates / "model.h.in"), holes));
  copy_runtime(root / "aotc", s.templates);
  draft.publish();
}

}  // namespace aotc
