// Where a model's weights come from: embedded in the library, a window of a file that is mapped and
// never copied, or memory of the caller. Size and digest are checked in constant time.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "digest.h"
#include "error.h"
#include "model.h"

namespace aotc::model {
namespace {

bool is_aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % kAlignment == 0; }

AotcStatus check_blob(const AotcProgram* program, const void* data, int64_t size,
                      const char* where) {
  if (size != program->weights_bytes)
    return fail(
        AOTC_BAD_PACKAGE,
        "%s has %lld bytes of weights, program '%s' needs %lld: it is cut short or belongs to "
        "another model",
        where, static_cast<long long>(size), program->name,
        static_cast<long long>(program->weights_bytes));
  if (size > 0 && weights_digest(data, size) != program->weights_digest)
    return fail(
        AOTC_BAD_PACKAGE,
        "the weights in %s are not those of program '%s' (their digest differs): use the file "
        "written with it, or compile again",
        where, program->name);
  return AOTC_OK;
}

// Kernels rely on the alignment, so a blob that lacks it is copied.
AotcStatus align_blob(int64_t size, Weights* weights) {
  if (is_aligned(weights->data) || size == 0) return AOTC_OK;
  weights->copy = aligned_alloc(kAlignment, static_cast<size_t>(round_up(size, kAlignment)));
  if (!weights->copy)
    return fail(AOTC_OUT_OF_MEMORY, "no memory for a copy of %lld bytes of unaligned weights",
                static_cast<long long>(size));
  memcpy(weights->copy, weights->data, static_cast<size_t>(size));
  weights->data = static_cast<const char*>(weights->copy);
  return AOTC_OK;
}

// weights.bin in the folder of the library (or executable) that holds the program.
AotcStatus default_path(const AotcProgram* program, char* path, int64_t capacity) {
  Dl_info info;
  char executable[4096];
  const char* file = dladdr(program, &info) ? info.dli_fname : nullptr;
  if (!file || !strchr(file, '/')) {
    // An executable found through PATH is known by its bare name.
    const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    if (length < 0)
      return fail(AOTC_NOT_FOUND, "cannot find weights.bin: name it by option 'weights'");
    executable[length] = 0;
    file = executable;
  }
  const char* slash = strrchr(file, '/');
  const int folder = slash ? static_cast<int>(slash - file + 1) : 0;
  if (snprintf(path, static_cast<size_t>(capacity), "%.*sweights.bin", folder, file) >= capacity)
    return fail(AOTC_NOT_FOUND, "the path of weights.bin is too long: name it by option 'weights'");
  return AOTC_OK;
}

AotcStatus io_error(const char* what, const char* path) {
  const int error = errno;
  return fail(error == ENOENT ? AOTC_NOT_FOUND : AOTC_IO, "cannot %s weights '%s': %s%s", what,
              path, strerror(error), error == ENOENT ? "; name the file by option 'weights'" : "");
}

// Maps [offset, offset + size) of the open file; the mapping itself starts at a page.
AotcStatus map_window(int fd, const char* path, int64_t offset, int64_t size, Weights* out) {
  if (size == 0) return AOTC_OK;
  const int64_t start = offset / sysconf(_SC_PAGESIZE) * sysconf(_SC_PAGESIZE);
  const int64_t bytes = offset - start + size;
  void* mapping = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_PRIVATE, fd, start);
  if (mapping == MAP_FAILED) return io_error("map", path);
  out->mapping = mapping;
  out->mapping_bytes = bytes;
  out->data = static_cast<const char*>(mapping) + (offset - start);
  return AOTC_OK;
}

AotcStatus map_file(int fd, const char* path, const WeightsOptions& options, Weights* out,
                    int64_t* size) {
  const int64_t file_bytes = lseek(fd, 0, SEEK_END);  // fstat is no symbol of older systems
  char byte;
  if (file_bytes < 0 || pread(fd, &byte, 1, 0) < 0) return io_error("read", path);  // e.g. a folder
  *size = options.size < 0 ? file_bytes - options.offset : options.size;
  if (options.offset > file_bytes || *size > file_bytes - options.offset)
    return fail(AOTC_BAD_PACKAGE, "weights '%s': bytes %lld to %lld are wanted, the file has %lld",
                path, static_cast<long long>(options.offset),
                static_cast<long long>(options.offset + (options.size < 0 ? 0 : options.size)),
                static_cast<long long>(file_bytes));
  return map_window(fd, path, options.offset, *size, out);
}

AotcStatus load_file(const AotcProgram* program, const char* path, const WeightsOptions& options,
                     Weights* out) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error("open", path);
  int64_t size = 0;
  AotcStatus status = map_file(fd, path, options, out, &size);
  close(fd);
  if (!status) status = check_blob(program, out->data, size, path);
  return status ? status : align_blob(size, out);
}

}  // namespace

AotcStatus load_weights(const AotcProgram* program, const WeightsOptions& options, Weights* out) {
  *out = {};
  if (options.path[0]) return load_file(program, options.path, options, out);
  if (program->weights || program->weights_bytes == 0)
    return use_weights(program, program->weights, static_cast<uint64_t>(program->weights_bytes),
                       out);
  char path[4096];
  if (AotcStatus status = default_path(program, path, sizeof path)) return status;
  return load_file(program, path, options, out);
}

AotcStatus use_weights(const AotcProgram* program, const void* data, uint64_t size, Weights* out) {
  *out = {};
  out->data = static_cast<const char*>(data);
  if (size > INT64_MAX || (!data && size))
    return fail(AOTC_INVALID_ARGUMENT, "the weights are NULL or larger than memory");
  if (AotcStatus status = check_blob(program, data, static_cast<int64_t>(size), "memory"))
    return status;
  return align_blob(static_cast<int64_t>(size), out);
}

void release_weights(Weights* weights) {
  if (weights->mapping) munmap(weights->mapping, static_cast<size_t>(weights->mapping_bytes));
  free(weights->copy);
  *weights = {};
}

}  // namespace aotc::model
