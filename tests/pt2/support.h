// What the tests of the reader share: fixture paths, temporary files, a writer of zip archives.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/npy.h"
#include "ir/pt2/exported_program.h"

namespace aotc::test {

// data/NAME beside these tests.
std::string data_path(const std::string& name);
std::string read_file(const std::string& path);

// A file that is removed at the end of the scope.
class TempFile {
 public:
  explicit TempFile(std::string_view bytes, const std::string& suffix = ".pt2");
  ~TempFile();
  TempFile(const TempFile&) = delete;
  const std::string& path() const { return path_; }
  void write(std::string_view bytes) const;

 private:
  std::string path_;
};

struct ZipFile {
  std::string name;
  std::string data;
  bool deflate = false;
  bool zip64 = false;       // sizes and offset in zip64 fields
  bool descriptor = false;  // sizes and CRC behind the data, zero in the local header
  size_t padding = 0;       // bytes of an extra field before the data
};

// A zip archive of these members; `zip64_end` adds the zip64 end record and its locator.
std::string make_zip(const std::vector<ZipFile>& files, bool zip64_end = false,
                     const std::string& comment = "");
// The members of an archive, ready to be changed and zipped again.
std::vector<ZipFile> unzip(const std::string& bytes);
// The member whose name ends so.
ZipFile& member_ending(std::vector<ZipFile>& files, std::string_view end);

void replace_all(std::string& text, std::string_view from, std::string_view to);

// The elements of a stored tensor, in C order.
NpyArray dense(const pt2::ExportedProgram& program, const pt2::StoredTensor& tensor);
// Of a float32 tensor.
std::vector<float> floats(const pt2::ExportedProgram& program, const pt2::StoredTensor& tensor);

// Runs read_pt2 and gives the message of its UserError; "" where it reads. Any other exception is
// the test's failure.
std::string refusal(const std::string& path);
std::string refusal_of_bytes(std::string_view bytes);

}  // namespace aotc::test
