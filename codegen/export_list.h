// LinkOptions::export_list, read and turned into a linker version script. Used on both sides of the
// plugin.
#pragma once
#include <sstream>
#include <string>
#include <vector>

namespace aotc {

inline std::vector<std::string> exported_symbols(const std::string& export_list) {
  std::istringstream words(export_list);
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

// Everything but `symbols` is local to the library.
inline std::string version_script(const std::vector<std::string>& symbols) {
  std::string out = "{ ";
  for (const std::string& symbol : symbols)
    out += (out.size() == 2 ? "global: " : "") + symbol + "; ";
  return out + "local: *; };\n";
}

}  // namespace aotc
