// The layouts: torch 2.5 to 2.7 has four members at the root; 2.8 has folders below a root folder,
// and pickled weights; 2.9 has the same folders, and a file for each storage.
#include "ir/pt2/container.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "ir/error.h"
#include "ir/pt2/quote.h"
#include "ir/pt2/torch_file.h"

namespace aotc::pt2 {
namespace {

const ZipMember& require_member(const ZipArchive& archive, const std::string& name) {
  const ZipMember* member = archive.find(name);
  if (member == nullptr)
    user_error("{}: member {} is missing; export the program again", archive.label(), quote(name));
  return *member;
}

Container locate_flat(const ZipArchive& archive, const ZipMember& program) {
  Container c;
  c.program = &program;
  c.weights_pickle = &require_member(archive, "serialized_state_dict.pt");
  c.constants_pickle = &require_member(archive, "serialized_constants.pt");
  c.sample_inputs = archive.find("serialized_example_inputs.pt");
  return c;
}

// The member `name` in the outermost folder that has one; nullptr: none.
const ZipMember* find_outermost(const ZipArchive& archive, std::string_view name) {
  const std::string inside = "/" + std::string(name);
  const ZipMember* found = nullptr;
  for (const ZipMember& m : archive.members()) {
    if (m.name != name && !m.name.ends_with(inside)) continue;
    if (found == nullptr || m.name.size() < found->name.size()) found = &m;
  }
  return found;
}

bool has_folder(const ZipArchive& archive, const std::string& prefix) {
  return std::any_of(archive.members().begin(), archive.members().end(),
                     [&](const ZipMember& m) { return m.name.starts_with(prefix); });
}

[[noreturn]] void fail_without_program(const ZipArchive& archive) {
  const char* what = "a zip archive";
  if (find_outermost(archive, "constants.pkl") != nullptr) {
    what = "a TorchScript archive";
  } else if (find_outermost(archive, "data.pkl") != nullptr) {
    what = "a file of torch.save";
  } else if (find_outermost(archive, "manifest.json") != nullptr) {
    what = "a package, perhaps aotc's own";
  }
  user_error("{}: is {} without an exported program; write one with torch.export.save",
             archive.label(), what);
}

// Names of the programs, from members models/NAME.json.
std::vector<std::string> program_names(const ZipArchive& archive, const std::string& prefix) {
  constexpr std::string_view kSuffix = ".json";
  std::vector<std::string> names;
  for (const ZipMember& m : archive.members()) {
    const bool is_program = m.name.size() > prefix.size() + kSuffix.size() &&
                            m.name.starts_with(prefix) && m.name.ends_with(kSuffix);
    if (is_program)
      names.push_back(m.name.substr(prefix.size(), m.name.size() - prefix.size() - kSuffix.size()));
  }
  return names;
}

std::string choose_program(const ZipArchive& archive, const std::string& root) {
  const std::vector<std::string> names = program_names(archive, root + "models/");
  if (names.empty() && has_folder(archive, root + "data/aotinductor/"))
    user_error(
        "{}: holds code that AOTInductor has compiled and no exported program; write the program "
        "with torch.export.save",
        archive.label());
  if (names.empty()) fail_without_program(archive);
  if (names.size() == 1 || std::find(names.begin(), names.end(), "model") == names.end()) {
    if (names.size() > 1)
      user_error(
          "{}: holds several programs ({}) and none is named 'model'; save one of them alone",
          archive.label(), quote(fmt::format("{}", fmt::join(names, ", ")), 300));
    return names[0];
  }
  return "model";
}

void check_format(const ZipArchive& archive, const ZipMember& format, const std::string& root,
                  Backing& backing) {
  const std::string_view kind = archive.read_checked(format, backing);
  if (kind != "pt2")
    user_error("{}: archive format {}, expected 'pt2'", archive.label(), quote(kind));
  const ZipMember* version = archive.find(root + "archive_version");
  const std::string_view number = version ? archive.read_checked(*version, backing) : "0";
  if (number != "0")
    user_error("{}: archive version {}, this aotc reads version 0; use a newer aotc",
               archive.label(), quote(number));
}

Container locate_folders(const ZipArchive& archive, const ZipMember& format, Backing& backing) {
  const std::string root =
      format.name.substr(0, format.name.size() - std::string_view("archive_format").size());
  check_format(archive, format, root, backing);
  const std::string name = choose_program(archive, root);
  Container c;
  c.program = &require_member(archive, root + "models/" + name + ".json");
  c.weights_folder = root + "data/weights/";
  c.constants_folder = root + "data/constants/";
  c.sample_inputs = archive.find(root + "data/sample_inputs/" + name + ".pt");
  c.weights_pickle = archive.find(c.weights_folder + name + ".pt");
  c.constants_pickle = archive.find(c.constants_folder + name + ".pt");
  if (c.weights_pickle == nullptr)
    c.weights_config = &require_member(archive, c.weights_folder + name + "_weights_config.json");
  if (c.constants_pickle == nullptr)
    c.constants_config =
        &require_member(archive, c.constants_folder + name + "_constants_config.json");
  c.big_endian = is_big_endian(archive, root, backing);
  return c;
}

}  // namespace

Container locate_parts(const ZipArchive& archive, Backing& backing) {
  if (const ZipMember* program = archive.find("serialized_exported_program.json"))
    return locate_flat(archive, *program);
  if (const ZipMember* format = find_outermost(archive, "archive_format"))
    return locate_folders(archive, *format, backing);
  fail_without_program(archive);
}

}  // namespace aotc::pt2
