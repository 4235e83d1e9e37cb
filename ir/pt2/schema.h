// From JSON in the export schema (torch._export.serde.schema, versions 7.x and 8.x) to the structs
// of exported_program.h. Fields that are not used are not looked at, so newer minor versions are
// read as long as what is used has the known form. Errors are UserErrors with the JSON path.
#pragma once
#include "ir/pt2/exported_program.h"
#include "ir/pt2/json.h"

namespace aotc::pt2 {

// schema.Graph, with the graphs in its arguments.
Graph parse_graph(JsonRef json);
// schema.Argument: an object with exactly one as_* member.
Argument parse_argument(JsonRef json);
// schema.TensorMeta.
TensorMeta parse_tensor_meta(JsonRef json);
// A concrete size of schema.SymInt, as tensors in the archive have them.
int64_t parse_concrete_size(JsonRef json);
DType parse_dtype(JsonRef json);

// schema.ExportedProgram: fills schema version, torch version, graph, signature, ranges, guards,
// tree specs. Refuses other major versions before it reads anything else.
void parse_program(JsonDocument& document, ExportedProgram& program);

// schema.GraphSignature's lists.
std::vector<InputSpec> parse_input_specs(JsonRef json);
std::vector<OutputSpec> parse_output_specs(JsonRef json);

}  // namespace aotc::pt2
