// Weights, buffers, constants and sample inputs of a program, from whichever form its archive has.
#pragma once
#include "ir/pt2/container.h"
#include "ir/pt2/exported_program.h"
#include "ir/pt2/storage_table.h"

namespace aotc::pt2 {

// Fills program.state_dict and program.constants. Custom objects are left out, with a note.
void read_weights(const ZipArchive& archive, const Container& parts, StorageTable& storages,
                  ExportedProgram& program);

// Fills program.sample_inputs, flattened as torch flattens (args, kwargs). What cannot be
// represented (fake tensors, objects of classes) leaves the program without samples, with a note;
// what is damaged is a UserError. Needs the signature and in_spec.
void read_sample_inputs(const ZipArchive& archive, const Container& parts, StorageTable& storages,
                        ExportedProgram& program);

}  // namespace aotc::pt2
