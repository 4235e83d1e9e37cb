// Text from an archive as messages may show it: quoted, control bytes escaped, long text cut.
#pragma once
#include <string>
#include <string_view>

namespace aotc::pt2 {

// 'text', with bytes below 0x20, 0x7f, quotes and backslashes as escapes, at most `limit` bytes of
// it.
std::string quote(std::string_view text, size_t limit = 120);

}  // namespace aotc::pt2
