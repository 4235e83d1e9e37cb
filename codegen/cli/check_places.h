// Where results lie: an output that aliases an input or another output is in its storage, others
// are not.
#pragma once
#include <string>
#include <vector>

#include "codegen/cli/case_folder.h"
#include "codegen/cli/session.h"

namespace aotc::cli {

// Adds what is wrong to `problems`. `strict`: outputs must be where meta.json says; otherwise only
// that outputs which alias nothing are separate. Does nothing for a case that does not tell
// outputs' places.
void check_places(const CaseMeta& meta, bool strict, const std::vector<HostTensor>& inputs,
                  const Results& results, std::vector<std::string>& problems);

}  // namespace aotc::cli
