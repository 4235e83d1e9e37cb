// The naming convention of array files; the format itself is read and written by ir/npy.
#include "codegen/cli/array_file.h"

#include "ir/error.h"

namespace fs = std::filesystem;

namespace aotc::cli {
namespace {

constexpr char kSuffix[] = ".npy";

const NpyBits* form_of(std::string_view file_name) {
  for (const NpyBits& form : kNpyBits)
    if (file_name.ends_with(form.suffix)) return &form;
  return nullptr;
}

Array with_form(Array array, const std::string& file_name) {
  const NpyBits* form = form_of(file_name);
  if (!form) return array;
  if (element_size(array.dtype) != element_size(form->bits) || !is_integer(array.dtype))
    user_error("{}: holds {}, expected the bits of {} as {}", file_name, name(array.dtype),
               name(form->dtype), name(form->bits));
  array.dtype = form->dtype;
  return array;
}

}  // namespace

int64_t count_elements(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

std::optional<fs::path> find_array(const fs::path& folder, const std::string& stem) {
  std::error_code ignored;
  fs::path plain = folder / (stem + kSuffix);
  if (fs::exists(plain, ignored)) return plain;
  for (const NpyBits& form : kNpyBits) {
    fs::path bits = folder / (stem + form.suffix);
    if (fs::exists(bits, ignored)) return bits;
  }
  return std::nullopt;
}

std::string array_stem(const std::string& file_name) {
  if (!file_name.ends_with(kSuffix)) return "";
  const NpyBits* form = form_of(file_name);
  const std::string_view suffix = form ? form->suffix : kSuffix;
  return file_name.substr(0, file_name.size() - suffix.size());
}

Array read_array(const fs::path& file) { return with_form(read_npy(file.string()), file.string()); }

Array parse_array(std::string_view bytes, const std::string& file_name) {
  return with_form(parse_npy(bytes, file_name), file_name);
}

void write_array(const fs::path& folder, const std::string& stem, const Array& array) {
  for (const NpyBits& form : kNpyBits) {
    if (form.dtype != array.dtype) continue;
    Array bits = array;
    bits.dtype = form.bits;
    return write_npy((folder / (stem + form.suffix)).string(), bits);
  }
  write_npy((folder / (stem + kSuffix)).string(), array);
}

}  // namespace aotc::cli
