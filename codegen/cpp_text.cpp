// Pieces of C++ text.
#include "codegen/cpp_text.h"

#include <fmt/format.h>

namespace aotc {

std::string cpp_string(const std::string& s) {
  constexpr size_t kLongestPiece = 80;
  std::string out = "\"";
  size_t piece = 0;  // where the last literal begins
  for (unsigned char c : s) {
    const bool continues_character = (c & 0xC0) == 0x80;
    if (out.size() - piece > kLongestPiece && !continues_character) {
      out += "\"\n";
      piece = out.size();
      out += '"';
    }
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c < 32 || c == '?' || c == 127)  // '?': no trigraph
      out += fmt::format("\\{:03o}", c);
    else
      out += static_cast<char>(c);
  }
  return out + "\"";
}

std::string dl_type(DType t) {
  return fmt::format("{{{}, {}, 1}}", dlpack_code(t), 8 * element_size(t));
}

std::string cpp_array(const std::string& name, const std::string& type,
                      const std::vector<std::string>& items) {
  if (items.empty()) return "";
  return fmt::format("const {} {}[] = {{{}}};\n", type, name, fmt::join(items, ", "));
}

void replace_all(std::string& s, const std::string& from, const std::string& to) {
  if (from == to) return;
  for (size_t at = s.find(from); at != std::string::npos; at = s.find(from, at + to.size()))
    s.replace(at, from.size(), to);
}

}  // namespace aotc
