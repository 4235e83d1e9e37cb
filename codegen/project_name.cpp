// The names that C headers, CMake and linkers have taken.
#include "codegen/project_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace aotc {
namespace {

// NAME.h in a folder that comes before the system's: of C, POSIX, and what libraries of C include.
constexpr std::string_view kHeaders[] = {
    "aio",         "aliases",  "alloca",       "ar",      "argp",      "argz",        "assert",
    "bits",        "byteswap", "complex",      "cpio",    "crypt",     "ctype",       "dirent",
    "dlfcn",       "elf",      "endian",       "envz",    "err",       "errno",       "error",
    "execinfo",    "fcntl",    "features",     "fenv",    "float",     "fmtmsg",      "fnmatch",
    "fpu_control", "fstab",    "fts",          "ftw",     "getopt",    "glob",        "grp",
    "gshadow",     "iconv",    "ieee754",      "ifaddrs", "immintrin", "intrin",      "inttypes",
    "iso646",      "langinfo", "libgen",       "libintl", "limits",    "link",        "locale",
    "malloc",      "math",     "mcheck",       "memory",  "mntent",    "monetary",    "mqueue",
    "ndbm",        "netdb",    "nl_types",     "nss",     "obstack",   "omp",         "paths",
    "poll",        "printf",   "proc_service", "process", "pthread",   "pty",         "pwd",
    "regex",       "resolv",   "sched",        "search",  "semaphore", "setjmp",      "shadow",
    "signal",      "spawn",    "stdalign",     "stdarg",  "stdatomic", "stdbit",      "stdbool",
    "stdckdint",   "stddef",   "stdint",       "stdio",   "stdlib",    "stdnoreturn", "string",
    "strings",     "syscall",  "syslog",       "tar",     "termio",    "termios",     "tgmath",
    "thread_db",   "threads",  "time",         "uchar",   "ulimit",    "unistd",      "unwind",
    "utime",       "utmp",     "utmpx",        "values",  "wait",      "wchar",       "wctype",
    "windows",     "wordexp"};

// Targets of CMake's generators, and libraries that a link line names.
constexpr std::string_view kTargets[] = {"all",
                                         "ALL_BUILD",
                                         "clean",
                                         "depend",
                                         "edit_cache",
                                         "help",
                                         "install",
                                         "INSTALL",
                                         "list_install_components",
                                         "none",
                                         "package",
                                         "PACKAGE",
                                         "package_source",
                                         "preinstall",
                                         "rebuild_cache",
                                         "RUN_TESTS",
                                         "test",
                                         "ZERO_CHECK",
                                         "c",
                                         "dl",
                                         "gcc",
                                         "m",
                                         "rt",
                                         "util",
                                         "debug",
                                         "optimized",
                                         "general"};

template <size_t N>
bool contains(const std::string_view (&names)[N], const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

std::string project_name_fault(const std::string& name) {
  if (contains(kHeaders, name))
    return fmt::format("'{0}' would hide the header <{0}.h>; take another, such as {0}_model",
                       name);
  if (contains(kTargets, name) || name.starts_with("aotc_embedded_"))
    return fmt::format(
        "'{0}' has a meaning of its own as a target; take another, such as {0}_model", name);
  return "";
}

}  // namespace aotc
