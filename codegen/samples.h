// The archive's sample inputs as package members samples/in<i>.npy.
#pragma once
#include <vector>

#include "codegen/pipeline.h"

namespace aotc {

std::vector<PackageFile> sample_files(const Compilation& c);

}  // namespace aotc
