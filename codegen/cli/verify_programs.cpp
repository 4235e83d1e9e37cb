// Walks folders once; a folder with thousands of cases is listed a single time.
#include "codegen/cli/verify_programs.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "ir/error.h"

namespace fs = std::filesystem;

namespace aotc::cli {
namespace {

constexpr char kSuffix[] = ".pt2", kDecomposed[] = ".decomp", kCase[] = ".case";

// What one folder holds beside its programs.
struct Folder {
  std::map<std::string, std::map<int64_t, fs::path>> cases;  // by base name and number
  std::map<std::string, std::string> decomp_match;           // by base name
};

// Notes on where torch's own decomposition computes something else: [{"name":, "decomp_match":},
// ...].
void read_match_list(const fs::path& file, Folder& folder) {
  std::ifstream in(file, std::ios::binary);
  const nlohmann::json list = in ? nlohmann::json::parse(in, nullptr, false) : nlohmann::json();
  if (!list.is_array()) return;
  for (const nlohmann::json& entry : list)
    if (entry.is_object() && entry.contains("name") && entry["name"].is_string() &&
        entry.contains("decomp_match") && entry["decomp_match"].is_string())
      folder.decomp_match[entry["name"]] = entry["decomp_match"];
}

void add_case(const fs::path& path, Folder& folder) {
  const std::string name = path.filename().string();
  const size_t dot = name.rfind(kCase);
  if (dot == std::string::npos) return;
  int64_t number = 0;
  const char* digits = name.data() + dot + sizeof kCase - 1;
  const auto end = std::from_chars(digits, name.data() + name.size(), number);
  std::error_code ignored;
  if (end.ec == std::errc() && end.ptr == name.data() + name.size() &&
      fs::is_directory(path, ignored))
    folder.cases[name.substr(0, dot)][number] = path;
}

class Finder {
 public:
  explicit Finder(const std::vector<std::string>& cases) : given_(cases.begin(), cases.end()) {
    for (const fs::path& path : given_)
      if (!fs::is_directory(path)) user_error("--case {}: no such folder", path.string());
  }

  void add(const fs::path& program, const std::string& label) {
    const fs::path parent = program.has_parent_path() ? program.parent_path() : fs::path(".");
    std::string base = program.filename().string();
    ProgramCases found;
    found.program = program;
    found.label = label;
    base.resize(base.size() - std::min(base.size(), sizeof kSuffix - 1));
    found.decomposed = base.ends_with(kDecomposed);
    if (found.decomposed) base.resize(base.size() - (sizeof kDecomposed - 1));
    const Folder& folder = folder_at(parent);
    found.cases = given_;
    if (const auto own = folder.cases.find(base); given_.empty() && own != folder.cases.end())
      for (const auto& [number, path] : own->second) found.cases.push_back(path);
    const auto match = folder.decomp_match.find(base);
    if (found.decomposed && match != folder.decomp_match.end() && match->second != "exact" &&
        match->second != "close")
      found.skip = "torch's own decomposition differs from eager: " + match->second;
    programs.push_back(std::move(found));
  }

  std::vector<ProgramCases> programs;

 private:
  const Folder& folder_at(const fs::path& path) {
    const auto [at, is_new] = folders_.try_emplace(path);
    if (!is_new) return at->second;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored))
      add_case(entry.path(), at->second);
    read_match_list(path / "manifest.json", at->second);
    return at->second;
  }

  std::vector<fs::path> given_;
  std::map<fs::path, Folder> folders_;
};

void add_folder(const fs::path& folder, Finder& finder) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error), end;
  for (; !error && at != end; at.increment(error))
    if (at->path().extension() == kSuffix && !at->is_directory()) found.push_back(at->path());
  if (error) user_error("{}: cannot read the folder: {}", folder.string(), error.message());
  if (found.empty()) user_error("{}: there is no .pt2 file in this folder", folder.string());
  std::sort(found.begin(), found.end());
  for (const fs::path& p : found) finder.add(p, p.lexically_relative(folder).string());
}

}  // namespace

std::vector<ProgramCases> find_programs(const std::vector<std::string>& paths,
                                        const std::vector<std::string>& cases) {
  Finder finder(cases);
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error))
      add_folder(path, finder);
    else if (fs::exists(path, error))
      finder.add(path, fs::path(path).filename().string());
    else
      user_error("{}: no such file or folder", path);
  }
  return std::move(finder.programs);
}

}  // namespace aotc::cli
