// Tells packages from exported programs by their content.
#include "codegen/cli/program_facts.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "codegen/cli/session.h"
#include "codegen/cli/stage_clock.h"
#include "codegen/manifest.h"
#include "codegen/package.h"
#include "codegen/process.h"

namespace fs = std::filesystem;

namespace aotc::cli {
namespace {

std::string first_bytes(const std::string& path, size_t count) {
  std::string bytes(count, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  return in ? bytes : std::string();
}

bool is_library(const std::string& path) {
  return first_bytes(path, 4) ==
         "\x7f"
         "ELF";
}

// A member of a package file or folder; nothing when `path` is another kind of file.
std::optional<std::string> package_member(const std::string& path, const std::string& member) {
  std::error_code ignored;
  const fs::path file = fs::path(path) / member;
  if (fs::is_directory(path, ignored)) {
    if (!fs::exists(file, ignored))
      user_error("{}: this folder is no unpacked package, it has no {}", path, member);
    return read_file(file);
  }
  // A zip; anything else is left to the reader of exported programs, which says what is wrong with
  // it.
  if (first_bytes(path, 2) != "PK") return std::nullopt;
  return read_package_member(path, member);
}

Compilation plan_program(const std::string& path, CompileSettings settings) {
  const StageClock clock(settings, false);
  return compile_model(path, settings, "plan");
}

// The manifest of a package that this aotc can read; nothing when `path` is no package.
std::optional<std::string> package_manifest(const std::string& path) {
  const auto text = package_member(path, "manifest.json");
  if (!text) return std::nullopt;
  const nlohmann::json m = nlohmann::json::parse(*text, nullptr, false);
  const auto format = m.is_object() ? m.find("format") : m.end();
  if (!m.is_object() || format == m.end() || !format->is_object() || !format->contains("major"))
    user_error("{}: its manifest.json is not as aotc writes it; compile the program again", path);
  if (format->at("major") != kFormatMajor)
    user_error("{}: package format {}.{}, this aotc reads {}.x; compile the program again", path,
               format->at("major").dump(), format->value("minor", nlohmann::json("?")).dump(),
               kFormatMajor);
  return text;
}

}  // namespace

std::string manifest_of(const std::string& path, const CompileSettings& settings) {
  if (is_library(path)) return Model(path).manifest();
  if (auto manifest = package_manifest(path)) return *manifest;
  const Compilation c = plan_program(path, settings);
  const WeightLayout weights = layout_weights(*c.plan->program.graph);
  EmitOptions options;
  options.name = model_identifier(c);
  return manifest_json(*c.plan, weights, aliased_io_rows(*c.plan, weights), options);
}

std::string explanation_of(const std::string& path, const CompileSettings& settings, bool json) {
  if (is_library(path))
    user_error("{}: a library has no explanation of its kernels; give the package or the program",
               path);
  if (package_manifest(path)) {
    const char* member = json ? "explain.json" : "explain.txt";
    if (auto text = package_member(path, member)) return *text;
    user_error("{}: it has no {}; compile the program again", path, member);
  }
  const Compilation c = plan_program(path, settings);
  return json ? c.explain_json : c.explain;
}

}  // namespace aotc::cli
