// Saving and loading all states of a session.
//
// The file, in the machine's byte order: StateHeader; a description of the program's states (its
// name, then per state: name, dtype, sizes, strides, offset, storage); the bytes of each state
// storage. Numbers are 8 bytes; strings are their length, then their bytes padded with zeros to a
// multiple of 8. A file is written under a temporary name and renamed; it is loaded only after all
// of it has been checked.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "error.h"
#include "file.h"
#include "gpu.h"

namespace aotc::model {
namespace {

struct StateHeader {
  char magic[8];
  uint32_t version, byte_order;
  uint64_t program;     // digest of what a program's states and signature look like
  uint64_t checksum;    // of all that follows the header
  int64_t description;  // bytes
  int64_t content;      // bytes
};
constexpr char kMagic[8] = {'a', 'o', 't', 'c', 's', 't', 'a', 't'};
constexpr uint32_t kVersion = 1, kByteOrder = 0x01020304;

// Eight bytes a step, since states may be gigabytes; a shorter rest counts as padded with zeros.
uint64_t checksum(uint64_t seed, const void* data, int64_t size) {
  const char* bytes = static_cast<const char*>(data);
  for (int64_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    memcpy(&word, bytes + i, static_cast<size_t>(size - i < 8 ? size - i : 8));
    seed = (seed ^ word) * 0x9e3779b97f4a7c15u;
    seed ^= seed >> 29;
  }
  return seed;
}

// Writes into `data`, or only counts when it is NULL.
struct Writer {
  char* data;
  int64_t size;
  void number(int64_t value) {
    if (data) memcpy(data + size, &value, sizeof value);
    size += 8;
  }
  void string(const char* text) {
    const int64_t length = static_cast<int64_t>(strlen(text));
    number(length);
    if (data) {
      memset(data + size, 0, static_cast<size_t>(round_up(length, 8)));
      memcpy(data + size, text, static_cast<size_t>(length));
    }
    size += round_up(length, 8);
  }
};

int64_t dtype_number(DLDataType dtype) {
  return dtype.code | int64_t{dtype.bits} << 8 | int64_t{dtype.lanes} << 16;
}

void describe_state(Writer& out, const AotcName& name) {
  out.string(name.name);
  out.number(dtype_number(name.dtype));
  out.number(name.ndim);
  for (int32_t d = 0; d < name.ndim; ++d) out.number(name.sizes[d]);
  for (int32_t d = 0; d < name.ndim; ++d) out.number(name.strides[d]);
  out.number(name.offset);
  out.number(name.storage);
}

void describe(Writer& out, const Model* model) {
  out.string(model->program->name);
  out.number(model->n_states);
  for (int32_t i = 0; i < model->n_states; ++i)
    describe_state(out, model->program->names[model->state_names[i]]);
  for (int32_t i = 0; i < model->program->n_storages; ++i)
    if (model->program->storages[i].state) out.number(model->program->storages[i].bytes);
}

// The same program compiled for another CPU, or with other weights, has the same digest.
uint64_t program_digest(const AotcProgram* program, const char* description, int64_t size) {
  uint64_t digest = digest_bytes(kDigestSeed, description, static_cast<uint64_t>(size));
  for (int32_t i = 0; i < program->n_inputs; ++i) {
    digest = digest_string(digest, program->inputs[i].name);
    digest = digest_number(digest, dtype_number(program->inputs[i].dtype));
    digest = digest_number(digest, program->inputs[i].ndim);
  }
  for (int32_t i = 0; i < program->n_outputs; ++i)
    digest = digest_string(digest, program->outputs[i].name);
  return digest;
}

int64_t content_bytes(const AotcProgram* program) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < program->n_storages; ++i)
    if (program->storages[i].state) bytes += program->storages[i].bytes;
  return bytes;
}

AotcStatus make_description(const char* function, const Model* model, Memory* out, int64_t* size) {
  Writer measure = {nullptr, 0};
  describe(measure, model);
  if (AotcStatus status = out->allocate(function, measure.size)) return status;
  Writer writer = {out->data, 0};
  describe(writer, model);
  *size = writer.size;
  return AOTC_OK;
}

// False also at a premature end, with errno 0.
bool read_all(int fd, void* data, int64_t size) {
  char* bytes = static_cast<char*>(data);
  while (size > 0) {
    errno = 0;
    const ssize_t got = read(fd, bytes, static_cast<size_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= got;
  }
  return true;
}

bool is_device_state(const Session* s, int32_t i) {
  return s->program->storages[i].state && is_on_gpu(s, s->program->storages[i].device);
}

// A copy between a state's storage on the device and host memory.
AotcStatus copy_state(Session* s, int32_t i, char* host, bool to_device) {
  constexpr int64_t kStride[] = {1};
  const int64_t sizes[] = {s->program->storages[i].bytes};
  const View on_device = {storage_data(s, i), 1, 1, sizes, kStride};
  const View on_host = {host, 1, 1, sizes, kStride};
  return to_device ? gpu_of(s).copy(s, on_device, true, on_host, false)
                   : gpu_of(s).copy(s, on_host, false, on_device, true);
}

// What the states hold, in host memory.
class Content {
 public:
  AotcStatus fetch(Session* s) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < s->program->n_storages; ++i)
      if (is_device_state(s, i)) bytes += s->program->storages[i].bytes;
    if (bytes == 0) return AOTC_OK;
    if (AotcStatus status = copies_.allocate("session_save", bytes)) return status;
    char* to = copies_.data;
    for (int32_t i = 0; i < s->program->n_storages; ++i) {
      if (!is_device_state(s, i)) continue;
      if (AotcStatus status = copy_state(s, i, to, false)) return status;
      to += s->program->storages[i].bytes;
    }
    return AOTC_OK;
  }
  const char* of(const Session* s, int32_t storage) const {
    if (!is_device_state(s, storage)) return storage_data(s, storage);
    const char* at = copies_.data;
    for (int32_t i = 0; i < storage; ++i)
      if (is_device_state(s, i)) at += s->program->storages[i].bytes;
    return at;
  }

 private:
  Memory copies_;
};

bool write_states(NewFile& file, const Session* s, const Content& content,
                  const StateHeader& header, const char* description) {
  if (!file.write(&header, sizeof header)) return false;
  if (!file.write(description, header.description)) return false;
  for (int32_t i = 0; i < s->program->n_storages; ++i) {
    const AotcStorage& storage = s->program->storages[i];
    if (storage.state && !file.write(content.of(s, i), storage.bytes)) return false;
  }
  return true;
}

StateHeader make_header(const Session* s, const Content& content, const char* description,
                        int64_t size) {
  StateHeader header = {};
  memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.byte_order = kByteOrder;
  header.program = program_digest(s->program, description, size);
  header.description = size;
  header.content = content_bytes(s->program);
  header.checksum = checksum(kDigestSeed, description, size);
  for (int32_t i = 0; i < s->program->n_storages; ++i)
    if (s->program->storages[i].state)
      header.checksum = checksum(header.checksum, content.of(s, i), s->program->storages[i].bytes);
  return header;
}

// Names what differs between the file's description and this program's.
AotcStatus other_program(const char* path, const char* theirs, const StateHeader& header) {
  int64_t length = 0;
  if (header.description >= 8) memcpy(&length, theirs, sizeof length);
  const bool named = length > 0 && length <= header.description - 8 && length < 200;
  return fail(AOTC_BAD_PACKAGE,
              "session_load: '%s' holds the states of program '%.*s', which do not fit this one: "
              "names, dtypes, sizes or signature differ",
              path, named ? static_cast<int>(length) : 1, named ? theirs + 8 : "?");
}

AotcStatus check_header(const char* path, const StateHeader& header, int64_t file_bytes) {
  if (memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return fail(AOTC_BAD_PACKAGE, "session_load: '%s' was not written by session_save", path);
  if (header.byte_order != kByteOrder || header.version != kVersion)
    return fail(
        AOTC_BAD_PACKAGE,
        "session_load: '%s' has format version %u, this run time reads version %u of its own "
        "byte order: save the states again",
        path, header.version, kVersion);
  const int64_t body = file_bytes - static_cast<int64_t>(sizeof header);
  if (header.description < 0 || header.content < 0 || header.description > body ||
      header.content != body - header.description)
    return fail(AOTC_BAD_PACKAGE, "session_load: '%s' is truncated or damaged (it has %lld bytes)",
                path, static_cast<long long>(file_bytes));
  return AOTC_OK;
}

AotcStatus check_body(const Session* s, const char* path, const StateHeader& header,
                      const char* body) {
  Memory own;
  int64_t size = 0;
  if (AotcStatus status = make_description("session_load", s->model, &own, &size)) return status;
  const char* content = body + header.description;
  uint64_t sum = checksum(kDigestSeed, body, header.description);
  const bool fits = header.program == program_digest(s->program, own.data, size) &&
                    header.description == size &&
                    memcmp(body, own.data, static_cast<size_t>(size)) == 0 &&
                    header.content == content_bytes(s->program);
  if (!fits) return other_program(path, body, header);
  for (int32_t i = 0; i < s->program->n_storages; ++i) {
    if (!s->program->storages[i].state) continue;
    sum = checksum(sum, content, s->program->storages[i].bytes);
    content += s->program->storages[i].bytes;
  }
  if (sum == header.checksum) return AOTC_OK;
  return fail(AOTC_BAD_PACKAGE, "session_load: '%s' is damaged: its checksum differs", path);
}

AotcStatus read_file(int fd, const char* path, StateHeader* header, Memory* body) {
  const int64_t file_bytes = lseek(fd, 0, SEEK_END);  // fstat is no symbol of older systems
  if (file_bytes < 0 || lseek(fd, 0, SEEK_SET) != 0) return io_error("session_load", "read", path);
  if (file_bytes < static_cast<int64_t>(sizeof *header))
    return fail(AOTC_BAD_PACKAGE, "session_load: '%s' was not written by session_save", path);
  if (!read_all(fd, header, sizeof *header)) return io_error("session_load", "read", path);
  if (AotcStatus status = check_header(path, *header, file_bytes)) return status;
  const int64_t size = header->description + header->content;
  if (AotcStatus status = body->allocate("session_load", size)) return status;
  return read_all(fd, body->data, size) ? AOTC_OK : io_error("session_load", "read", path);
}

AotcStatus replace_states(Session* s, char* content) {
  for (int32_t i = 0; i < s->program->n_storages; ++i) {
    const AotcStorage& storage = s->program->storages[i];
    if (!storage.state) continue;
    if (!is_device_state(s, i))
      memcpy(s->frame.storages[i], content, static_cast<size_t>(storage.bytes));
    else if (AotcStatus status = copy_state(s, i, content, true))
      return status;
    content += storage.bytes;
  }
  return AOTC_OK;
}

}  // namespace

AotcStatus session_save(AotcSession* handle, const char* path) {
  constexpr char kFunction[] = "session_save";
  Use use(kFunction, handle);
  if (use.status) return use.status;
  if (!path) return fail(AOTC_INVALID_ARGUMENT, "session_save: the path is NULL");
  Session* s = use.session;
  Memory description;
  Content content;
  int64_t size = 0;
  if (s->gpu)
    if (AotcStatus status = gpu_of(s).check_usable(s, GpuUse::kAny)) return status;
  if (AotcStatus status = make_description(kFunction, s->model, &description, &size)) return status;
  if (AotcStatus status = content.fetch(s)) return status;
  NewFile file;
  if (AotcStatus status = file.create(kFunction, path)) return status;
  const StateHeader header = make_header(s, content, description.data, size);
  if (!write_states(file, s, content, header, description.data)) return file.failure();
  return file.publish(true);
}

AotcStatus session_load(AotcSession* handle, const char* path) {
  Use use("session_load", handle);
  if (use.status) return use.status;
  if (!path) return fail(AOTC_INVALID_ARGUMENT, "session_load: the path is NULL");
  Session* s = use.session;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error("session_load", "open", path);
  StateHeader header;
  Memory body;
  AotcStatus status = read_file(fd, path, &header, &body);
  close(fd);
  if (!status) status = check_body(s, path, header, body.data);
  if (!status && s->gpu) status = gpu_of(s).check_usable(s, GpuUse::kRepairsStates);
  if (!status) status = replace_states(s, body.data + header.description);
  return !status && s->gpu ? gpu_of(s).states_repaired(s) : status;
}

}  // namespace aotc::model
