// What remains of an internal error: a file that says how to see it again.
#pragma once
#include <string>
#include <vector>

namespace aotc::cli {

// The arguments as a shell would take them.
std::string command_line(const std::vector<std::string>& arguments);
// Writes aotc-replay-<pid>.txt in the current folder or, where that fails, in $TMPDIR or /tmp.
// Returns its path; "" when it cannot be written anywhere.
std::string write_replay(const std::vector<std::string>& arguments, const std::string& stage,
                         const std::string& error);
std::string replay_file_name();
// $TMPDIR or /tmp.
std::string fallback_folder();
// The command that repeats the run.
std::string replay_command(const std::vector<std::string>& arguments);

}  // namespace aotc::cli
