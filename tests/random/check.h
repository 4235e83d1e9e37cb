// One random graph through everything: interpreted before and after each stage, compiled, loaded
// and called.
#pragma once
#include <optional>
#include <string>

#include "compiled.h"

namespace aotc::random_graphs {

struct CheckOptions {
  Compiler* compiler = nullptr;  // null: stages only
  bool optimize = true;
  uint64_t seed = 1;  // of inputs and weights
};

enum class Outcome : char {
  Agrees = 'a',
  Refused = 'r',   // a stage does not support it and says so
  Unusable = 'u',  // no inputs for which the program's checks hold
  Mismatch = 'm',
  Internal = 'i',
  Crash = 'c',  // or no answer in time
};

struct Verdict {
  Outcome outcome = Outcome::Agrees;
  std::string stage;  // where it was found
  std::string message;
  bool inexact = false;  // agreed within what the order of additions changes
  bool fails() const {
    return outcome == Outcome::Mismatch || outcome == Outcome::Internal ||
           outcome == Outcome::Crash;
  }
};

// `text`: a program of stage `graph`.
Verdict check_graph(const std::string& text, const CheckOptions& options);

}  // namespace aotc::random_graphs
