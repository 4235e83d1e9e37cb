// Chooses the code for this CPU and hands the program its weights where they lie.
#include "package.h"

#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "../model/cpu.h"
#include "../model/error.h"
#include "../model/options.h"
#include "failure.h"
#include "json.h"
#include "source.h"
#include "zip.h"

namespace aotc::loader {
namespace {

constexpr int64_t kFormatMajor = 1;

// Weights inside a package: a window of a file, or memory.
struct Window {
  std::string path;  // empty: memory
  const char* memory;
  uint64_t offset, size;
};

// The members of a package, whatever holds it.
class Contents {
 public:
  virtual ~Contents() = default;
  virtual const std::string& label() const = 0;
  virtual std::string folder() const = 0;  // with its slash: where external weights lie
  virtual std::optional<std::string> read(const std::string& name) const = 0;
  virtual std::optional<Window> find(const std::string& name) const = 0;
};

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

class ZipContents : public Contents {
 public:
  explicit ZipContents(const Source& source)
      : source_(source), members_(read_zip_directory(source)) {}
  const std::string& label() const override { return source_.label(); }
  std::string folder() const override { return source_.memory() ? "" : folder_of(source_.label()); }
  std::optional<std::string> read(const std::string& name) const override {
    const Member* member = look_up(name);
    return member ? std::optional(read_member(source_, *member)) : std::nullopt;
  }
  // By descriptor, so that the bytes are those of the file that was opened, even if its name now
  // means another one.
  std::optional<Window> find(const std::string& name) const override {
    const Member* member = look_up(name);
    if (!member) return std::nullopt;
    if (source_.memory()) return Window{"", source_.memory(), member->offset, member->size};
    return Window{"/proc/self/fd/" + std::to_string(source_.fd()), nullptr, member->offset,
                  member->size};
  }

 private:
  const Member* look_up(const std::string& name) const {
    for (const Member& member : members_)
      if (member.name == name) return &member;
    return nullptr;
  }
  const Source& source_;
  std::vector<Member> members_;
};

class FolderContents : public Contents {
 public:
  explicit FolderContents(const std::string& path) : label_(path) {}
  const std::string& label() const override { return label_; }
  std::string folder() const override { return label_ + "/"; }
  std::optional<std::string> read(const std::string& name) const override {
    if (!exists(name)) return std::nullopt;
    const Source source = Source::from_file(folder() + name);
    return source.read(0, source.size());
  }
  std::optional<Window> find(const std::string& name) const override {
    struct stat info;
    if (!exists(name) || stat((folder() + name).c_str(), &info) != 0) return std::nullopt;
    return Window{folder() + name, nullptr, 0, static_cast<uint64_t>(info.st_size)};
  }

 private:
  // Members of a package lie in the folder itself; a name that leads elsewhere is none.
  bool exists(const std::string& name) const {
    return !name.empty() && name.find('/') == std::string::npos && name != ".." &&
           access((folder() + name).c_str(), F_OK) == 0;
  }
  std::string label_;
};

std::string version_text(const Json* format) {
  const Json* parts[] = {format ? format->find("major") : nullptr,
                         format ? format->find("minor") : nullptr};
  std::string text;
  for (const Json* part : parts) {
    const auto number = part ? part->integer() : std::nullopt;
    text += (text.empty() ? "" : ".") + (number ? std::to_string(*number) : "?");
  }
  return text;
}

void check_versions(const Json& manifest, const std::string& label) {
  const Json* format = manifest.find("format");
  const Json* major = format ? format->find("major") : nullptr;
  if (!major || major->integer() != kFormatMajor)
    bad_package(label, "has package format " + version_text(format) + ", this libaotc reads " +
                           std::to_string(kFormatMajor) +
                           ".x: compile the program again with this version of aotc");
  const Json* abi = manifest.find("abi");
  if (!abi || abi->integer() != int64_t{AOTC_ABI_VERSION})
    bad_package(label, "needs another ABI version, this libaotc serves " +
                           std::to_string(AOTC_ABI_VERSION) + ": compile the program again");
}

// The file of the best CPU level that this machine has.
std::string choose_code(const Json& manifest, const std::string& label) {
  const Json* levels = manifest.find("cpu");
  if (!levels) return "model.so";
  std::string best, refused;
  int32_t best_rank = -1;
  for (const Json& item : levels->items) {
    const auto level = item.find("level") ? item.find("level")->text() : std::nullopt;
    const auto file = item.find("file") ? item.find("file")->text() : std::nullopt;
    if (!level || !file)
      bad_package(label, "has a manifest whose \"cpu\" list lacks level or file");
    const int32_t rank = model::cpu_level_rank(level->c_str());
    const char* missing = rank < 0 ? "that level's definition in this libaotc"
                                   : model::missing_cpu_feature(level->c_str());
    if (missing) {
      refused += (refused.empty() ? "" : "; ") + *level + ": this CPU lacks " + missing;
    } else if (rank > best_rank) {
      best_rank = rank;
      best = *file;
    }
  }
  if (best_rank < 0)
    throw Failure{AOTC_UNSUPPORTED, "'" + label + "' has no code for this CPU (" + refused +
                                        "): compile it with another --cpu"};
  return best;
}

std::string aliased_io_digest(const Json& manifest, const std::string& label) {
  const Json* aliased_io = manifest.find("aliased_io");
  const Json* digest = aliased_io ? aliased_io->find("digest") : nullptr;
  if (!digest || digest->string.size() != 16)
    bad_package(label, "has a manifest without aliased_io.digest: compile the program again");
  return digest->string;
}

// model_open's options for libaotc: "weights" alone.
std::string read_weights_option(const char* options) {
  char path[4096] = "";
  model::Option known[] = {model::string_option("weights", path, sizeof path)};
  if (const AotcStatus status = model::parse_options("model_open", options, known, 1))
    throw Failure{status, model::last_error()};
  return path;
}

std::string program_options(const std::string& weights, const Window* window,
                            const std::string& digest) {
  std::string json = "{\"aliased_io_digest\": " + json_quote(digest);
  if (!weights.empty()) json += ", \"weights\": " + json_quote(weights);
  if (window)
    json += ", \"weights_offset\": " + std::to_string(window->offset) +
            ", \"weights_size\": " + std::to_string(window->size);
  return json + "}";
}

// `external` is tried when the program finds no weights of its own.
Program open_program(const Library& library, const std::string& label, const std::string& weights,
                     const std::optional<Window>& window, const std::string& external,
                     const std::string& digest) {
  const AotcApi* api = library.api();
  AotcModel* program = nullptr;
  AotcStatus status = AOTC_OK;
  const auto open = [&](const std::string& path, const Window* part) {
    status = api->model_open(nullptr, program_options(path, part, digest).c_str(), &program);
  };
  if (!weights.empty()) {
    open(weights, nullptr);
  } else if (window && window->path.empty()) {
    status = api->model_open_memory(window->memory + window->offset, window->size,
                                    program_options("", nullptr, digest).c_str(), &program);
  } else if (window) {
    open(window->path, &*window);
  } else {
    open("", nullptr);
    if (status == AOTC_NOT_FOUND && !external.empty()) open(external, nullptr);
  }
  if (!status) return Program(api, program);
  std::string text = api->last_error();
  // The model run time knows the package by its descriptor only.
  if (const size_t at = window ? text.find(window->path) : std::string::npos;
      at != std::string::npos && !window->path.empty())
    text.replace(at, window->path.size(), "the package");
  throw Failure{status, "'" + label + "': " + text};
}

OpenedPackage open_contents(const Contents& contents, const char* options) {
  const std::string weights = read_weights_option(options);
  std::optional<std::string> text = contents.read("manifest.json");
  if (!text)
    bad_package(
        contents.label(),
        "has no manifest.json: it is not a package. An exported program (.pt2) is turned into "
        "one by 'aotc compile'");
  const Json manifest = parse_json(*text, contents.label() + "/manifest.json");
  check_versions(manifest, contents.label());
  const std::string digest = aliased_io_digest(manifest, contents.label());
  const std::string file = choose_code(manifest, contents.label());
  const std::optional<std::string> code = contents.read(file);
  if (!code) bad_package(contents.label(), "lacks '" + file + "', which its manifest names");
  const Json* entry = manifest.find("weights");
  const Json* name = entry ? entry->find("file") : nullptr;
  const std::string weights_name = name ? name->text().value_or("weights.bin") : "weights.bin";
  Library library(*code, contents.label() + "/" + file);
  Program program = open_program(library, contents.label(), weights, contents.find(weights_name),
                                 contents.folder() + weights_name, digest);
  return {std::move(library), std::move(program), std::move(*text)};
}

OpenedPackage open_bare(const Source& source, const char* options) {
  const std::string weights = read_weights_option(options);
  Library library(source.read(0, source.size()), source.label());
  const std::string beside = source.memory() ? "" : folder_of(source.label()) + "weights.bin";
  Program program =
      open_program(library, source.label(), weights, std::nullopt, beside, std::string());
  return {std::move(library), std::move(program), std::string()};
}

OpenedPackage open_source(const Source& source, const char* options) {
  char magic[4] = {};
  source.read(0, magic, source.size() < 4 ? source.size() : 4);
  if (std::memcmp(magic,
                  "\x7f"
                  "ELF",
                  4) == 0)
    return open_bare(source, options);
  return open_contents(ZipContents(source), options);
}

}  // namespace

OpenedPackage open_package(const std::string& path, const char* options) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return open_contents(FolderContents(path), options);
  return open_source(Source::from_file(path), options);
}

OpenedPackage open_package_memory(const void* data, uint64_t size, const char* options) {
  return open_source(Source::from_memory(data, size), options);
}

}  // namespace aotc::loader
