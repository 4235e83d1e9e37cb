// Where each flattened input of a program lies in the Python call: the "L['state']['k']" by which
// an archive's guards name it.
#pragma once
#include <map>
#include <string>

#include "ir/pt2/exported_program.h"

namespace aotc::pt2 {

// From each spelling that torch uses, without the leading L ("['state']['k']", "['args'][0]",
// "['flat_args'][2]"), to the position among the flattened (args, kwargs). Containers whose keys
// the archive does not give (named tuples, classes of the user) have no spelling but the flat one.
// Throws UserError where in_spec is malformed.
std::map<std::string, size_t> input_paths(const ExportedProgram& program);

}  // namespace aotc::pt2
