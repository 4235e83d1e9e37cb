// Names, numbers, types and sources as text.
#include "ir/text/format.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace aotc::text {
namespace {

constexpr size_t kSourceColumn = 68;

bool all_of(std::string_view text, std::string_view extra) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || extra.find(c) != std::string_view::npos;
  });
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Source lines are printed as they are unless that could not be read back.
bool is_plain_line(std::string_view text) {
  if (text.empty() || text.front() == '"' || text.front() == ' ' || text.back() == ' ')
    return false;
  return std::none_of(text.begin(), text.end(), is_control);
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string s = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      s += std::string("\\") + c;
    else if (c == '\n')
      s += "\\n";
    else if (is_control(c))
      s += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      s += c;
  }
  return s + "\"";
}

bool is_plain_name(std::string_view name) { return all_of(name, "_."); }

std::string name_text(std::string_view name) {
  return is_plain_name(name) ? std::string(name) : quoted(name);
}

std::string value_text(const Value* v) { return v ? "%" + name_text(v->name) : "none"; }

std::string double_text(double v) {
  std::string s = fmt::format("{}", v);
  if (std::isnan(v)) return std::signbit(v) ? "-nan" : "nan";
  return s.find_first_of(".ein") == std::string::npos ? s + ".0" : s;
}

std::string list_text(const std::vector<Sym>& items) {
  std::string s;
  for (const Sym& i : items) s += (s.empty() ? "" : ", ") + i.str();
  return s;
}

bool has_plain_strides(const std::vector<Sym>& sizes, const std::vector<Sym>& strides) {
  return strides.empty() ||
         (strides.size() == sizes.size() && strides == contiguous_strides(sizes));
}

std::string device_text(const Device& d) {
  if (d == Device{}) return "";
  std::string s = "@" + name_text(d.type);
  return d.index < 0 ? s : s + ":" + std::to_string(d.index);
}

std::string type_text(const TensorType& t) {
  std::string s = fmt::format("{}[{}]", name(t.dtype), list_text(t.sizes));
  if (!has_plain_strides(t.sizes, t.strides)) s += "{" + list_text(t.strides) + "}";
  return s + device_text(t.device);
}

std::string source_text(const Source& s) {
  if (s.file.empty() && s.line == 0 && s.text.empty() && s.function.empty()) return "";
  std::string out = "# " + (all_of(s.file, "_./+@~-") ? s.file : text::quoted(s.file)) + ":" +
                    std::to_string(s.line);
  if (!s.function.empty())
    out += " in " + (all_of(s.function, "_.<>") ? s.function : text::quoted(s.function));
  if (!s.text.empty()) out += ": " + (is_plain_line(s.text) ? s.text : text::quoted(s.text));
  return out;
}

std::string with_source(std::string line, const Source& s) {
  std::string source = source_text(s);
  if (source.empty()) return line;
  line.resize(std::max(line.size() + 2, kSourceColumn), ' ');
  return line + source;
}

}  // namespace aotc::text
