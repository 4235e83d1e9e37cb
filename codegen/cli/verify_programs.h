// Which programs and cases `aotc verify` runs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace aotc::cli {

struct ProgramCases {
  std::filesystem::path program;  // NAME.pt2 or NAME.decomp.pt2
  std::string label;              // its name in reports
  bool decomposed = false;
  std::vector<std::filesystem::path> cases;  // in order
  std::string skip;                          // not empty: why it is not to be compared
};

// `paths`: programs, and folders that are searched for them at any depth. Each gets `cases` or,
// where that is empty, the folders NAME.case<k> beside it. Throws UserError for a path that is not
// there and for a folder without programs.
std::vector<ProgramCases> find_programs(const std::vector<std::string>& paths,
                                        const std::vector<std::string>& cases);

}  // namespace aotc::cli
