// Checks that a program has the form its stage promises. All violations are reported together, in
// one InternalError that names the stage and, per line, the node or kernel and the rule.
#pragma once
#include <string_view>

#include "ir/graph.h"
#include "ir/loops.h"

namespace aotc {

enum class GraphStage : uint8_t { Graph, Functional, Core };
const char* name(GraphStage stage);

// Throws a UserError for arguments that eager refuses, in stage `graph`; else an InternalError.
// Every stage: names are unique; values are defined before use; arguments match their schema;
// results have the types that the op infers, as far as provable; symbols are declared; write-backs
// go to user tensors and buffers. Functional and core: nothing mutates; aliases are chains of
// views. Core: no op is a composition of others.
void verify(const Graph& graph, GraphStage stage);

// Operands come before users and have the types that their users need; index expressions have the
// buffer's rank and only symbols in scope; nothing is provably out of bounds; accumulators are fed
// in one phase and read in later ones (or, running, in their own ordered one); buffers are written
// before they are read, and only those of the program's own memory or of write-backs are written;
// checks store nothing. `stage` is for the message.
void verify(const loops::LoopProgram& program, std::string_view stage = "loops");

}  // namespace aotc
