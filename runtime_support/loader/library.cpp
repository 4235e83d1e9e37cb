// memfd_create and dlopen of its /proc path.
#include "library.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "failure.h"
#include "source.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace aotc::loader {
namespace {

// Systems that make memory files not executable by default want to be asked; older kernels do not
// know the question.
File make_memory_file() {
  int fd = memfd_create("aotc-model", MFD_CLOEXEC | MFD_EXEC);
  if (fd < 0 && errno == EINVAL) fd = memfd_create("aotc-model", MFD_CLOEXEC);
  if (fd < 0)
    throw Failure{AOTC_UNSUPPORTED, std::string("cannot load code from memory (memfd_create): ") +
                                        std::strerror(errno)};
  return File(fd);
}

void write_all(const File& file, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = write(file.fd(), bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw Failure{AOTC_OUT_OF_MEMORY, "no memory for the package's code"};
    done += static_cast<size_t>(written);
  }
}

// The dynamic linker trusts a file's headers and dies on a truncated one.
void check_elf(const std::string& bytes, const std::string& label) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) bad_package(label, "is truncated");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr))
    bad_package(label, "is not a 64-bit shared library");
  const uint64_t size = bytes.size(), table = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (header.e_phoff > size || table > size - header.e_phoff) bad_package(label, "is truncated");
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      bad_package(label, "is truncated: a segment ends behind the file's end");
  }
}

// The dynamic linker takes two equal paths for one library, but descriptor numbers are used again.
// So each path is spelled differently: the bits of a counter as "/" and "/." between folder and
// number.
std::string unique_path(int fd) {
  static std::atomic<uint64_t> counter{1};
  std::string path = "/proc/self/fd";
  for (uint64_t bits = counter.fetch_add(1, std::memory_order_relaxed); bits; bits >>= 1)
    path += bits & 1 ? "/." : "/";
  return path + "/" + std::to_string(fd);
}

std::string loading_error() {
  const char* error = dlerror();
  return error ? error : "unknown error";
}

}  // namespace

Library::Library(const std::string& bytes, const std::string& label) {
  check_elf(bytes, label);
  const File file = make_memory_file();
  write_all(file, bytes);
  handle_ = dlopen(unique_path(file.fd()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_)
    throw Failure{AOTC_BAD_PACKAGE, "'" + label + "' cannot be loaded: " + loading_error()};
  using GetApi = const AotcApi* (*)(uint32_t);
  const auto get_api = reinterpret_cast<GetApi>(dlsym(handle_, "aotc_get_api"));
  api_ = get_api ? get_api(AOTC_ABI_VERSION) : nullptr;
  if (api_ && api_->struct_size >= sizeof(AotcApi)) return;
  dlclose(handle_);
  bad_package(label, get_api ? "does not serve ABI version " + std::to_string(AOTC_ABI_VERSION) +
                                   ": compile the program again"
                             : "is not a model: it has no aotc_get_api");
}

Library::~Library() {
  if (handle_) dlclose(handle_);
}

}  // namespace aotc::loader
