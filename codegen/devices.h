// Which device each value of the graph is on, after --device and --device-map.
#pragma once
#include "codegen/pipeline.h"

namespace aotc {

// Rewrites the devices of all tensors and device arguments. UserError if the program then needs a
// device that this build does not compile for.
void assign_devices(Graph& g, const CompileSettings& settings);

}  // namespace aotc
