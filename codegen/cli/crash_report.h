// A crash of aotc itself is an internal error like any other: exit code 70 and a replay file.
#pragma once
#include <string>
#include <vector>

namespace aotc::cli {

// From now on a fatal signal (segmentation fault, abort, ...) writes the replay file, says so and
// ends the process with exit code 70. Call once, before other threads exist.
void report_crashes(const std::vector<std::string>& arguments);
// Fatal signals end the process as usual again: for worker processes, whose parent reports.
void stop_reporting_crashes();

}  // namespace aotc::cli
