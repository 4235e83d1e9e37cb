// clang-format's library on text in memory.
#include "clang/Format/Format.h"

#include "clang/Tooling/Core/Replacement.h"
#include "codegen/clang/clang_api.h"

namespace aotc::clang_plugin {

std::string format(const std::string& text) {
  clang::format::FormatStyle style =
      clang::format::getGoogleStyle(clang::format::FormatStyle::LK_Cpp);
  style.ColumnLimit = 100;
  style.DerivePointerAlignment = false;
  style.BreakStringLiterals = false;  // they come in pieces
  style.ReflowComments = false;       // a comment line is an op or a line of Python
  auto length = static_cast<unsigned>(text.size());
  auto changes = clang::format::reformat(style, text, {clang::tooling::Range(0, length)});
  auto formatted = clang::tooling::applyAllReplacements(text, changes);
  if (formatted) return *formatted;
  llvm::consumeError(formatted.takeError());
  return text;
}

}  // namespace aotc::clang_plugin
