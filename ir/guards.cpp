// Guards are Python expressions over L['x'].size()[0], L['n'], ...: each such place is replaced by
// the input's own expression, the rest is read as a Sym.
#include "ir/guards.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "ir/pt2/input_paths.h"
#include "ir/runtime_conditions.h"

namespace aotc {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class GuardReader {
 public:
  GuardReader(const pt2::ExportedProgram& program, const Graph& graph)
      : known_(graph.assumptions()) {
    for (const Input& in : graph.inputs)
      if (in.is_user() || in.kind == InputKind::UserNone) inputs_.push_back(&in);
    for (const auto& [path, position] : pt2::input_paths(program))
      if (position < inputs_.size()) paths_.emplace(path, inputs_[position]);
  }

  ArchiveGuards read(const std::vector<std::string>& code) {
    for (const std::string& text : code) {
      try {
        add(text);
      } catch (const UserError&) {
        guards_.unreadable.push_back(text);
      }
    }
    return std::move(guards_);
  }

 private:
  void add(const std::string& text) {
    shown_.clear();
    reads_strides_ = false;
    const Sym condition = known_.simplify(Sym::parse(substitute(text)));
    if (reads_strides_) return;  // of the example's layout; calls may bring any
    // Python refuses a call whose guard divides by zero; evaluation must not get that far.
    for (const Sym& divisor : operation_conditions(condition, known_)) require(divisor);
    require(condition);
  }

  void require(const Sym& condition) {
    const auto constant = condition.constant();
    if (constant && *constant != 0) return;
    for (const Guard& g : guards_.checked)
      if (g.condition == condition) return;
    guards_.checked.push_back({condition, shown_});
  }

  // The text with inputs replaced by their expressions; shown_ is the text as Python's user would
  // write it.
  std::string substitute(const std::string& text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      if (text.compare(at, 2, "L[") != 0 || (at > 0 && is_word(text[at - 1]))) {
        out += text[at];
        shown_ += text[at++];
        continue;
      }
      out += "(" + input_expression(text, at).str() + ")";
    }
    return out;
  }

  // The place that begins at `at`, which moves behind it.
  Sym input_expression(const std::string& text, size_t& at) {
    const std::vector<size_t> ends = path_ends(text, at + 1);
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const auto found = paths_.find(text.substr(at + 1, *end - at - 1));
      if (found == paths_.end()) continue;
      const Input& in = *found->second;
      const size_t begin = *end;
      at = begin;
      const Sym value = property(in, text, at);
      shown_ += in.name + text.substr(begin, at - begin);
      return value;
    }
    user_error("no input is at '{}'", text.substr(at, 80));
  }

  // Ends of the prefixes of a path ['a'][0]: behind each bracket.
  static std::vector<size_t> path_ends(const std::string& text, size_t at) {
    std::vector<size_t> ends;
    while (at < text.size() && text[at] == '[') {
      size_t close = at + 1;
      if (close < text.size() && text[close] == '\'') {
        for (++close; close < text.size() && text[close] != '\''; ++close)
          if (text[close] == '\\') ++close;
      }
      close = close < text.size() ? text.find(']', close) : std::string::npos;
      if (close == std::string::npos) break;
      ends.push_back(at = close + 1);
    }
    return ends;
  }

  Sym property(const Input& in, const std::string& text, size_t& at) {
    const auto accept = [&](std::string_view word) {
      if (text.compare(at, word.size(), word) != 0) return false;
      at += word.size();
      return true;
    };
    const bool tensor = in.kind == InputKind::User && in.value;
    if (tensor && accept(".size()")) return entry(in.value->type.sizes, text, at);
    if (tensor && accept(".stride()")) {
      reads_strides_ = true;
      const TensorType& type = in.value->type;  // calls with other strides are staged into these
      return entry(type.strides.empty() ? contiguous_strides(type.sizes) : type.strides, text, at);
    }
    const Sym* scalar = std::get_if<Sym>(&in.scalar);
    if (tensor || scalar == nullptr || (at < text.size() && (text[at] == '.' || text[at] == '[')))
      user_error("input '{}' has no such property", in.name);
    return *scalar;
  }

  static Sym entry(const std::vector<Sym>& list, const std::string& text, size_t& at) {
    size_t index = 0;
    const char* const end = text.data() + text.size();
    if (at >= text.size() || text[at] != '[') user_error("expected '['");
    const auto [stop, error] = std::from_chars(text.data() + at + 1, end, index);
    if (error != std::errc() || stop == end || *stop != ']' || index >= list.size())
      user_error("no such dimension");
    at = static_cast<size_t>(stop - text.data()) + 1;
    return list[index];
  }

  Assumptions known_;
  std::vector<const Input*> inputs_;
  std::map<std::string, const Input*> paths_;
  ArchiveGuards guards_;
  bool reads_strides_ = false;  // the guard at hand
  std::string shown_;
};

}  // namespace

ArchiveGuards read_guards(const pt2::ExportedProgram& program, const Graph& graph) {
  if (program.guards_code.empty()) return {};
  return GuardReader(program, graph).read(program.guards_code);
}

}  // namespace aotc
