// Pieces of text for people: numbers with units, tables, sentences.
#pragma once
#include <string>
#include <vector>

namespace aotc {

std::string bytes_text(double bytes);     // "1.5 MB"
std::string nanoseconds_text(double ns);  // "12.3 us"
// "input 'x' by aten.mul_.Tensor at model.py:12 (reason)" from an entry of the manifest's
// mutations, as JSON.
std::string mutation_text(const std::string& entry_json);
// Columns as wide as their widest cell, two spaces between; each row ends without spaces.
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::string& indent = "");
// One line: line breaks become " | ".
std::string one_line(std::string text);

}  // namespace aotc
