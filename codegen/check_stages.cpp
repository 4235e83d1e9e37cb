#include "codegen/check_stages.h"

namespace aotc {

struct StageChecker::Results {};

StageChecker::StageChecker(const Compilation& c) : c_(c) {}
StageChecker::~StageChecker() = default;
void StageChecker::compare_after(const std::string&) {}

}  // namespace aotc
