// The replay file and its command.
#include "codegen/cli/replay.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace aotc::cli {
namespace {

std::string quoted(const std::string& text) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string current_folder() {
  std::error_code ignored;
  return fs::current_path(ignored).string();
}

// Settings that change what the command does.
std::string environment() {
  std::string text;
  for (const char* name : {"AOTC_DUMP", "AOTC_KEEP", "AOTC_CUDA_DRIVER", "TMPDIR"})
    if (const char* value = std::getenv(name)) text += fmt::format("{}={} ", name, quoted(value));
  return text;
}

bool write_text(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return static_cast<bool>(out);
}

}  // namespace

std::string command_line(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& a : arguments) text += (text.empty() ? "" : " ") + quoted(a);
  return text;
}

std::string replay_file_name() { return fmt::format("aotc-replay-{}.txt", getpid()); }

std::string fallback_folder() {
  const char* temporary = std::getenv("TMPDIR");
  return temporary && *temporary ? temporary : "/tmp";
}

std::string replay_command(const std::vector<std::string>& arguments) {
  return fmt::format("cd {} && {}{}", quoted(current_folder()), environment(),
                     command_line(arguments));
}

std::string write_replay(const std::vector<std::string>& arguments, const std::string& stage,
                         const std::string& error) {
  const std::string text =
      fmt::format("version: aotc {}\nstage:   {}\nerror:   {}\nreplay:  {}\n", AOTC_VERSION_TEXT,
                  stage.empty() ? "(none)" : stage, error, replay_command(arguments));
  for (const std::string& file : {replay_file_name(), fallback_folder() + "/" + replay_file_name()})
    if (write_text(file, text)) return file;
  return "";
}

}  // namespace aotc::cli
