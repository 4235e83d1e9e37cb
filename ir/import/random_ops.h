// Ops whose results are drawn at random: programs are compiled without a generator.
#pragma once
#include <optional>
#include <string>

#include "ir/pt2/exported_program.h"

namespace aotc {

// What to do instead, if the node draws random numbers; nullopt if it draws none, as a dropout
// that is not training.
std::optional<std::string> random_remedy(const pt2::Node& node);

}  // namespace aotc
