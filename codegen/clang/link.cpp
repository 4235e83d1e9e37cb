// lld in process: objects go in through memory files, the library comes back through a pipe.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "codegen/clang/clang_api.h"
#include "codegen/clang/crash_guard.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace aotc::clang_plugin {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  ~Descriptor() { reset(); }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

bool write_all(int fd, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return true;
}

// A memory file with `bytes`; its descriptor is negative when the system has no memory for it.
Descriptor memory_file(const std::string& name, const std::string& bytes) {
  Descriptor file(memfd_create(name.c_str(), MFD_CLOEXEC));
  if (file.get() >= 0 && !write_all(file.get(), bytes)) file.reset();
  return file;
}

// Reads a pipe on a thread of its own. A file would have to be on disk: lld renames its output into
// place unless the destination is a special file.
class PipeReader {
 public:
  PipeReader() : read_end_(-1), write_end_(-1) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    read_end_ = ends[0];
    write_end_ = ends[1];
    fcntl(read_end_, F_SETFL, O_NONBLOCK);
    thread_ = std::thread([this] { read_until_done(); });
  }
  ~PipeReader() { finish(); }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  bool valid() const { return write_end_ >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(write_end_); }

  // Everything that was written. Call it when no writer is left.
  std::string finish() {
    if (!thread_.joinable()) return std::move(bytes_);
    done_ = true;
    close(write_end_);
    thread_.join();
    close(read_end_);
    return std::move(bytes_);
  }

 private:
  // Ends at the end of the pipe, or when it is empty after `done_`: a linker that crashed leaves a
  // writer open.
  void read_until_done() {
    char buffer[65536];
    for (;;) {
      bool last = done_;
      ssize_t n = read(read_end_, buffer, sizeof buffer);
      if (n > 0) {
        bytes_.append(buffer, static_cast<size_t>(n));
      } else if (n == 0 || (errno != EAGAIN && errno != EINTR) || last) {
        return;
      } else {
        pollfd wait = {read_end_, POLLIN, 0};
        poll(&wait, 1, 50);
      }
    }
  }

  int read_end_, write_end_;
  std::atomic<bool> done_ = false;
  std::string bytes_;
  std::thread thread_;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// lld frees its state after a normal run; after a fatal error it must be asked to.
bool run_lld(const std::vector<std::string>& arguments, std::string& messages) {
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  llvm::raw_string_ostream stream(messages);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  lld::Result result = {1, true};
  bool finished = run_guarded([&] { result = lld::lldMain(words, stream, stream, drivers); });
  if (!finished || !result.canRunAgain) run_guarded([] { lld::CommonLinkerContext::destroy(); });
  return finished && result.retCode == 0;
}

}  // namespace

LinkResult link(const std::vector<ObjectFile>& objects, const std::string& emulation,
                const std::string& version_script, const std::vector<std::string>& arguments) {
  LinkResult result;
  PipeReader output;
  std::vector<Descriptor> files;
  files.push_back(memory_file("exports", version_script));
  for (const ObjectFile& object : objects) files.push_back(memory_file(object.name, object.bytes));
  bool have_files = output.valid();
  for (const Descriptor& file : files) have_files = have_files && file.get() >= 0;
  if (!have_files) {
    result.messages = "no memory or no descriptors for the linker's files";
    return result;
  }
  std::vector<std::string> words = {"ld.lld", "-m", emulation, "-o", output.path()};
  words.push_back("--version-script=" + files[0].path());
  for (size_t i = 0; i < objects.size(); ++i) words.push_back(files[i + 1].path());
  words.insert(words.end(), arguments.begin(), arguments.end());
  result.ok = run_lld(words, result.messages);
  result.bytes = output.finish();
  for (size_t i = objects.size(); i-- > 0;)
    replace_all(result.messages, files[i + 1].path(), objects[i].name);
  return result;
}

}  // namespace aotc::clang_plugin
