// A file mapped read-only into memory. Pages are read on first touch, so weights cost nothing until
// used.
#pragma once
#include <string>
#include <string_view>

namespace aotc::pt2 {

class MappedFile {
 public:
  MappedFile() = default;
  // Throws UserError that names the path: absent, unreadable, a folder, a pipe, empty.
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace aotc::pt2
