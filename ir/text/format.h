// Pieces of text that both printers share: names, numbers, types, sources.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace aotc::text {

// "text" with quotes, backslashes and control bytes escaped.
std::string quoted(std::string_view text);
// A name as it is if it is made of letters, digits, '_' and '.', else quoted.
std::string name_text(std::string_view name);
bool is_plain_name(std::string_view name);
std::string value_text(const Value* v);  // "%name", "none" for nullptr
std::string double_text(double v);       // shortest that reads back; never looks like an integer
std::string list_text(const std::vector<Sym>& items);  // "a, b"
std::string type_text(const TensorType& t);            // float32[s0, 128]{1, s0}@cuda:0
std::string device_text(const Device& d);              // "@cuda:0", "" for the CPU
// Contiguous, or without strides (core): the braces are left out.
bool has_plain_strides(const std::vector<Sym>& sizes, const std::vector<Sym>& strides);
// "# model.py:34 in forward: x.mul_(2)", "" without a source.
std::string source_text(const Source& s);
// The line with its source, from a column at which sources of neighbouring lines mostly align.
std::string with_source(std::string line, const Source& s);

}  // namespace aotc::text
