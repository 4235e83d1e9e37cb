// The inputs of a call that a command makes: from files, from the package, or drawn.
#pragma once
#include <string>
#include <vector>

#include "codegen/cli/session.h"

namespace aotc::cli {

struct CallInputs {
  std::vector<HostTensor> tensors;
  std::string
      origin;  // where they are from, for the user: "folder x", "the package's samples", ...
};

// `paths`: one folder with in<i>.npy files, or one array file per input, or nothing: then the
// package's sample inputs, or without such, values drawn with a fixed seed from the declared types
// and ranges. Throws UserError that names the file.
CallInputs choose_inputs(const std::vector<std::string>& paths, const std::string& package,
                         const Model& model);
CallInputs inputs_from_folder(const std::string& folder);
// Sizes: each symbol is as near to 4 as its range allows. Floats lie in [-1, 1), integers are 0
// or 1.
CallInputs draw_inputs(const std::string& manifest);

}  // namespace aotc::cli
