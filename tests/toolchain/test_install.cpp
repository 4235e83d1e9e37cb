// Finding the parts of an installation: a copy of this program without them says what is missing.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "codegen/process.h"
#include "ir/error.h"
#include "tests/toolchain/support.h"

using namespace aotc;
using namespace aotc::test;
namespace fs = std::filesystem;

// Hidden: run by the tests below in a copy of this program.
TEST_CASE("print the error of loading the plugin", "[.load_plugin]") {
  try {
    load_clang_toolchain();
    std::cout << "loaded\n";
  } catch (const UserError& error) {
    std::cout << error.what() << "\n";
  }
}

namespace {

// The message of a copy of this program in `prefix`/bin.
std::string load_in_copy(const fs::path& prefix) {
  fs::create_directories(prefix / "bin");
  fs::copy_file("/proc/self/exe", prefix / "bin" / "program", fs::copy_options::overwrite_existing);
  return run_process({(prefix / "bin" / "program").string(), "[.load_plugin]"}, prefix).output;
}

}  // namespace

TEST_CASE("a missing support folder is named") {
  TemporaryFolder prefix;
  std::string message = load_in_copy(prefix.path());
  CHECK(contains(message, (prefix.path() / "lib" / "aotc").string()));
  CHECK(contains(message, "reinstall aotc"));
}

TEST_CASE("a missing or broken plugin is named") {
  TemporaryFolder prefix;
  fs::path plugin = prefix.path() / "lib" / "aotc" / "libaotc_clang.so";
  fs::create_directories(plugin.parent_path());
  CHECK(contains(load_in_copy(prefix.path()), "'" + plugin.string() + "' is missing"));
  write_file(plugin, "this is no library");
  std::string message = load_in_copy(prefix.path());
  CHECK(contains(message, plugin.string()));
  CHECK(contains(message, "cannot load"));
}

TEST_CASE("the plugin is found after the whole tree was moved, and through a link to the program") {
  if (!fs::exists(support_directory() / "libaotc_clang.so")) return;
  TemporaryFolder prefix;
  fs::create_directories(prefix.path() / "lib");
  fs::copy(support_directory(), prefix.path() / "lib" / "aotc", fs::copy_options::recursive);
  CHECK(contains(load_in_copy(prefix.path()), "loaded"));
  fs::create_symlink(prefix.path() / "bin" / "program", prefix.path() / "link");
  CHECK(contains(
      run_process({(prefix.path() / "link").string(), "[.load_plugin]"}, prefix.path()).output,
      "loaded"));
}
