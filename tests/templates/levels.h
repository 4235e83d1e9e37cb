// The CPU levels built beside this program, and which of them this CPU can run.
#ifndef AOTC_TESTS_TEMPLATES_LEVELS_H_
#define AOTC_TESTS_TEMPLATES_LEVELS_H_

#include <string>
#include <vector>

#include "matmul_table.h"

struct Level {
  std::string name;
  const MatmulTable* table;
  const SortTable* sort;
};

// Opens the libraries of all levels that the CPU has; prints a note for each that it has not.
// Exits with a message when a library that should be there cannot be opened.
const std::vector<Level>& usable_levels();

#endif  // AOTC_TESTS_TEMPLATES_LEVELS_H_
