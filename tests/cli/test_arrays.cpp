// Array files with types that numpy lacks, strided copies, guarded storage.
#include <catch2/catch.hpp>

#include "codegen/cli/host_tensor.h"
#include "codegen/cli/numbers.h"
#include "codegen/human_text.h"
#include "ir/error.h"
#include "support.h"

namespace aotc::cli::test {

TEST_CASE("bfloat16 is kept as bits under a name that says so", "[arrays]") {
  const Folder folder;
  const Array array{DType::BFloat16, {2}, std::string("\x80\x3f\x00\x40", 4)};
  write_array(folder.path(), "out0", array);
  CHECK(std::filesystem::exists(folder / "out0.bf16.npy"));
  const Array back = read_array(*find_array(folder.path(), "out0"));
  CHECK(back.dtype == DType::BFloat16);
  CHECK(back.data == array.data);
  CHECK(to_doubles(back) == std::vector<double>{1, 2});
  CHECK(array_stem("out0.bf16.npy") == "out0");
  CHECK(array_stem("out0.npy") == "out0");
  CHECK(array_stem("meta.json").empty());
  CHECK_FALSE(find_array(folder.path(), "out1"));
}

TEST_CASE("float8 and complex32 too", "[arrays]") {
  const Folder folder;
  for (DType t : {DType::Float8E4M3FN, DType::Float8E5M2FNUZ, DType::Complex32}) {
    const Array array{t, {1}, std::string(static_cast<size_t>(element_size(t)), '\x38')};
    write_array(folder.path(), name(t), array);
    const Array back = read_array(*find_array(folder.path(), name(t)));
    CHECK(back.dtype == t);
    CHECK(back.data == array.data);
  }
}

TEST_CASE("bits of another width are refused", "[arrays]") {
  const Folder folder;
  write_npy((folder / "x.bf16.npy").string(), floats({1}, {1}));
  CHECK_THROWS_AS(read_array(folder / "x.bf16.npy"), UserError);
}

TEST_CASE("gather and scatter follow strides", "[arrays]") {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  const std::byte* base = reinterpret_cast<const std::byte*>(memory);
  const auto value = [&](std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    return to_doubles({DType::Float32, sizes, gather(base, DType::Float32, sizes, strides)});
  };
  CHECK(value({3, 2}, {1, 3}) == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(value({2, 2}, {0, 1}) == std::vector<double>{0, 1, 0, 1});
  CHECK(value({}, {}) == std::vector<double>{0});
  CHECK(value({0, 2}, {2, 1}).empty());
  float out[6] = {};
  const std::string values = gather(base, DType::Float32, {2, 3}, {3, 1});
  scatter(reinterpret_cast<std::byte*>(out), DType::Float32, {2, 3}, {1, 2}, values);
  CHECK(out[0] == 0);
  CHECK(out[2] == 1);
  CHECK(out[1] == 3);
}

TEST_CASE("a DLPack tensor without strides is contiguous", "[arrays]") {
  int64_t memory[4] = {1, 2, 3, 4}, shape[2] = {2, 2};
  DLTensor t{};
  t.data = memory;
  t.byte_offset = 0;
  t.ndim = 2;
  t.shape = shape;
  t.dtype = dl_dtype(DType::Int64);
  t.device = {kDLCPU, 0};
  CHECK(value_of(t).data == integers({1, 2, 3, 4}, {2, 2}).data);
}

TEST_CASE("every element type has a DLPack type of its own", "[arrays]") {
  for (const char* text :
       {"bool", "uint8", "int64", "bfloat16", "float16", "complex64", "float8_e5m2"}) {
    const DType t = *dtype_from_name(text);
    CHECK(dtype_of(dl_dtype(t)) == t);
  }
  CHECK_FALSE(dtype_of(DLDataType{kDLInt, 7, 1}));
}

TEST_CASE("summaries skip NaN and say how many", "[numbers]") {
  const Summary s = summarize(floats({1, std::numeric_limits<float>::quiet_NaN(), 3}, {3}));
  CHECK(s.nan_count == 1);
  CHECK(s.minimum == 1);
  CHECK(s.maximum == 3);
  CHECK(s.mean == 2);
  CHECK(s.first == std::vector<std::string>{"1", "nan", "3"});
  CHECK_FALSE(summarize(floats({}, {0})).has_range);
}

TEST_CASE("numbers have units and tables have columns", "[text]") {
  CHECK(bytes_text(999) == "999 bytes");
  CHECK(bytes_text(1500000) == "1.50 MB");
  CHECK(nanoseconds_text(12345) == "12.3 us");
  CHECK(table_text({{"a", "b"}, {"long", "c"}}, " ") == " a     b\n long  c\n");
  CHECK(one_line("a\nb\n") == "a | b");
}

}  // namespace aotc::cli::test
