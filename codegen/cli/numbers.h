// The elements of an array as double, for comparisons and summaries.
#pragma once
#include <vector>

#include "codegen/cli/array_file.h"

namespace aotc::cli {

// One entry per element; for complex types two, real and imaginary. Large integers are rounded.
std::vector<double> to_doubles(const Array& array);
// Element `i` as a person writes it: "-3", "true", "0.25", "nan", "1-2j".
std::string element_text(const Array& array, int64_t i);
// What to look at first: leading values, minimum, maximum, mean, number of NaN.
struct Summary {
  std::vector<std::string> first;
  bool has_range = false;  // some element is a number; minimum and so on are then set
  double minimum = 0, maximum = 0, mean = 0;
  int64_t nan_count = 0;
};
Summary summarize(const Array& array, size_t leading = 6);
std::string sizes_text(const std::vector<int64_t>& sizes);

}  // namespace aotc::cli
