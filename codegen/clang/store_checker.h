// The store checker as a Clang AST consumer; the rules are in codegen/toolchain.h (StoreTable).
#pragma once
#include <memory>
#include <vector>

#include "codegen/clang/clang_api.h"

namespace clang {
class ASTConsumer;
}

namespace aotc::clang_plugin {

// Appends to `findings`, which must outlive the consumer. A source with compile errors is not
// checked.
std::unique_ptr<clang::ASTConsumer> make_store_checker(const StoreRules& rules,
                                                       std::vector<SourceProblem>& findings);

}  // namespace aotc::clang_plugin
