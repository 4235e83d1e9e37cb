// One kernel of level 2 as text.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/loops.h"
#include "ir/text/reader.h"

namespace aotc::text {

using BufferNames = std::map<std::string, loops::BufferId>;

// Reads "kernel ... {" (or check, template, host, copy) to its closing brace.
loops::Kernel parse_kernel(Reader& in, const BufferNames& buffers);
bool is_kernel_word(const std::string& word);
loops::BufferId parse_buffer_name(Reader& in, const BufferNames& buffers);

}  // namespace aotc::text
