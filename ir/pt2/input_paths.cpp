// Walks torch's tree of the arguments, which is JSON within the archive's JSON.
#include "ir/pt2/input_paths.h"

#include "ir/error.h"
#include "ir/pt2/json.h"
#include "ir/pt2/quote.h"

namespace aotc::pt2 {
namespace {

std::string key_text(const std::string& key) { return fmt::format("[{}]", quote(key, key.size())); }

// "args_0" is the first of *args.
std::optional<std::string> variadic_text(const std::string& name) {
  const size_t mark = name.rfind('_');
  if (mark == std::string::npos || mark == 0 || mark + 1 == name.size()) return std::nullopt;
  if (name.find_first_not_of("0123456789", mark + 1) != std::string::npos) return std::nullopt;
  return fmt::format("{}[{}]", key_text(name.substr(0, mark)), name.substr(mark + 1));
}

class PathWalker {
 public:
  explicit PathWalker(const ExportedProgram& program) : program_(program) {}

  std::map<std::string, size_t> run() {
    const JsonDocument spec(program_.in_spec, program_.path + ": in_spec");
    const auto top = spec.root().elements();
    if (top.size() != 2) spec.root().fail("expected a version and a tree");
    size_t argument = 0;
    for (const JsonRef group : top[1].require("children_spec").elements())
      for (const JsonRef child : group.require("children_spec").elements())
        walk_argument(child, argument++);
    return std::move(paths_);
  }

 private:
  void walk_argument(JsonRef tree, size_t argument) {
    std::vector<std::string> spellings;
    if (argument < program_.arg_names.size()) {
      const std::string& name = program_.arg_names[argument];
      spellings.push_back(key_text(name));
      if (const auto text = variadic_text(name)) spellings.push_back(*text);
      spellings.push_back("['kwargs']" + key_text(name));
    }
    walk(tree, spellings);
  }

  void walk(JsonRef tree, const std::vector<std::string>& spellings) {
    const auto type = tree.find("type");
    if (!type) return leaf(spellings);
    const auto children = tree.require("children_spec").elements();
    const std::vector<std::string> keys = child_keys(tree, type->text(), children.size());
    for (size_t i = 0; i < children.size(); ++i) {
      std::vector<std::string> inner;
      if (i < keys.size())
        for (const std::string& s : spellings) inner.push_back(s + keys[i]);
      walk(children[i], inner);
    }
  }

  void leaf(const std::vector<std::string>& spellings) {
    const size_t position = count_++;
    for (const std::string& s : spellings) paths_.emplace(s, position);
    paths_.emplace(fmt::format("['flat_args'][{}]", position), position);
  }

  // What Python writes behind the container for each child; none where the archive does not say.
  static std::vector<std::string> child_keys(JsonRef tree, const std::string& type, size_t count) {
    std::vector<std::string> keys;
    if (type == "builtins.tuple" || type == "builtins.list" || type == "collections.deque") {
      for (size_t i = 0; i < count; ++i) keys.push_back(fmt::format("[{}]", i));
    } else if (type == "builtins.dict" || type == "collections.OrderedDict") {
      const JsonDocument names(tree.require("context").text(), "in_spec");
      for (const JsonRef key : names.root().elements())
        keys.push_back(key.is_text() ? key_text(key.text()) : fmt::format("[{}]", key.integer()));
    }
    return keys;
  }

  const ExportedProgram& program_;
  std::map<std::string, size_t> paths_;
  size_t count_ = 0;
};

}  // namespace

std::map<std::string, size_t> input_paths(const ExportedProgram& program) {
  if (program.in_spec.empty()) return {};
  return PathWalker(program).run();
}

}  // namespace aotc::pt2
