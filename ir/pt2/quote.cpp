// Archives are untrusted: a name in one must not move the cursor of the terminal that shows it.
#include "ir/pt2/quote.h"

#include <fmt/format.h>

namespace aotc::pt2 {

std::string quote(std::string_view text, size_t limit) {
  std::string out = "'";
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + (text.size() > limit ? "...'" : "'");
}

}  // namespace aotc::pt2
