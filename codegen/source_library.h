// Real source files as libraries of pieces: generated files include nothing, so the declarations
// they use are copied in, and only those. A library is a sequence of chunks separated by blank
// lines (runtime_support/ include/aotc/scalar.h says the rules); a chunk is needed if a name that
// it defines is used.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace aotc {

class SourceLibrary {
 public:
  explicit SourceLibrary(std::string_view text);
  // The chunks that `user` needs, directly or through other chunks, in library order.
  std::string needed_by(const std::string& user) const;

 private:
  struct Chunk {
    std::string text;
    std::set<std::string> defines, uses;
  };
  std::vector<Chunk> chunks_;
};

// The identifiers in C++ text, without those in comments, strings and preprocessor lines.
std::set<std::string> identifiers_in(std::string_view text);

// Files built into aotc.
std::string_view scalar_library_text();      // aotc/scalar.h
std::string_view kernel_prologue_text();     // codegen/kernel_prologue.h
std::string_view number_types_text();        // its first part: int8_t to uint64_t
std::string_view cuda_compilers_text();      // codegen/cuda/compilers.cuh
std::string_view cuda_prologue_text();       // codegen/cuda/prologue.cuh
std::string_view cuda_matmul_text();         // templates/cuda/matmul.cuh
std::string_view cuda_matmul_entry_text();   // an entry point of it, with holes
std::string_view cuda_matmul_launch_text();  // how program.cpp launches it
std::string_view
program_declarations();  // program.h and what it includes, without comments and system headers
std::string_view template_declarations();  // templates/templates.h, likewise

}  // namespace aotc
