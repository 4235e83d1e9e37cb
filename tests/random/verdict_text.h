// Verdicts as text, to cross from a forked process.
#pragma once
#include "check.h"

namespace aotc::random_graphs {

std::string to_text(const Verdict& v);
Verdict verdict_from_text(const std::string& text);
// For people: "mismatch at stage 'fused': ..."
std::string describe(const Verdict& v);
// The kind of failure, the same for programs that fail in the same way.
std::string signature(const Verdict& v);

}  // namespace aotc::random_graphs
