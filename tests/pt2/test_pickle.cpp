// The unpickler: what torch.save writes in protocols 2 to 5, and what must be refused by name.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "ir/error.h"
#include "ir/pt2/torch_file.h"
#include "support.h"

using namespace aotc;
using namespace aotc::pt2;
using Catch::Contains;
using namespace std::string_literals;

namespace {

// A file of torch.save, read; the program only holds its storages.
struct Loaded {
  explicit Loaded(std::string file) : bytes(std::move(file)) {
    backing.inflate_budget = bytes.size() * 1032;
    StorageTable table(program.storages, backing);
    pickle = read_torch_file(bytes, "w.pt", table);
  }
  // The tensor of this name in a dict.
  StoredTensor tensor(const std::string& name) const {
    const auto* dict = pickle.heap.get<PickleDict>(pickle.root);
    REQUIRE(dict != nullptr);
    for (const auto& [key, value] : dict->entries)
      if (*pickle.heap.get<std::string>(key) == name) return *pickle.heap.get<StoredTensor>(value);
    FAIL("no tensor " << name);
    return {};
  }
  std::string bytes;
  Backing backing;
  ExportedProgram program;
  Pickle pickle;
};

std::string torch_zip(const std::string& pickle,
                      const std::string& storage = std::string(16, '\1')) {
  return test::make_zip({{"archive/data.pkl", pickle}, {"archive/data/0", storage}});
}

std::string error_of(const std::string& file) {
  try {
    Loaded loaded(file);
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

std::string text(const std::string& s) {  // BINUNICODE
  return std::string("X") + static_cast<char>(s.size()) + std::string(3, '\0') + s;
}

const std::string kProto("\x80\2", 2);
// A float32 storage "0" of 4 elements, as a persistent id.
const std::string kStorage =
    "(" + text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") + "K\4tQ";

// _rebuild_tensor_v2 with these pickled offset, sizes and strides.
std::string tensor(const std::string& offset, const std::string& sizes, const std::string& strides,
                   const std::string& more = "") {
  return kProto + "ctorch._utils\n_rebuild_tensor_v2\n(" + kStorage + offset + sizes + strides +
         "\x89"
         "ccollections\nOrderedDict\n)R" +
         more + "tR.";
}

}  // namespace

TEST_CASE("every protocol of torch.save yields the same tensors") {
  for (int protocol = 2; protocol <= 5; ++protocol) {
    INFO(protocol);
    const Loaded file(test::read_file(test::data_path(fmt::format("saved_{}.pt", protocol))));
    CHECK(test::floats(file.program, file.tensor("turned")) ==
          std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    CHECK(test::floats(file.program, file.tensor("row")) == std::vector<float>{4, 5, 6, 7});
    CHECK(file.tensor("row").storage == file.tensor("base").storage);
    CHECK(file.tensor("turned").storage == file.tensor("base").storage);
    CHECK(file.tensor("weight").requires_grad);
    CHECK(file.tensor("tied").storage == file.tensor("weight").storage);
    CHECK(file.tensor("weight").storage != file.tensor("base").storage);
    CHECK(file.tensor("scalar").sizes.empty());
    CHECK(file.tensor("empty").sizes == std::vector<int64_t>{0, 3});
  }
}

TEST_CASE("every element type is read from a pickle") {
  const Loaded file(test::read_file(test::data_path("saved_2.pt")));
  const auto raw = [&](const char* name) {
    return test::dense(file.program, file.tensor(name)).data;
  };
#define X(enumerator, text, ...) CHECK(file.tensor("of_" text).dtype == DType::enumerator);
  AOTC_DTYPES(X)
#undef X
  CHECK(raw("of_bool") == std::string("\0\1\1", 3));
  CHECK(raw("of_uint16") == std::string("\0\0\1\0\2\0", 6));
  CHECK(raw("of_int16") == std::string("\0\0\1\0\xfe\xff", 6));
  CHECK(raw("of_bfloat16") == std::string("\0\0\x80\x3f\0\xc0", 6));
  CHECK(raw("of_float8_e5m2") == std::string("\0\x3c\xc0", 3));
  CHECK(raw("of_complex64") ==
        std::string("\0\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\0\0\0\0\xc0\0\0\0\0", 24));
}

TEST_CASE("a file written on a big-endian machine is turned, storage by storage") {
  auto files = test::unzip(test::read_file(test::data_path("saved_2.pt")));
  const Loaded little(test::make_zip(files));
  test::member_ending(files, "byteorder").data = "big";
  for (const auto& row :
       {"of_float32", "of_int64", "of_complex128", "of_uint16", "of_bool", "base"}) {
    const StoredTensor t = little.tensor(row);
    const int64_t unit = is_complex(t.dtype) ? element_size(t.dtype) / 2 : element_size(t.dtype);
    const std::string& origin = little.program.storages[static_cast<size_t>(t.storage)].origin;
    std::string& data = test::member_ending(files, origin.substr(origin.rfind('/'))).data;
    for (size_t i = 0; i < data.size(); i += static_cast<size_t>(unit))
      std::reverse(&data[i], &data[i] + unit);
  }
  const Loaded big(test::make_zip(files));
  for (const auto& row :
       {"of_float32", "of_int64", "of_complex128", "of_uint16", "of_bool", "base", "turned"}) {
    INFO(row);
    CHECK(test::dense(big.program, big.tensor(row)).data ==
          test::dense(little.program, little.tensor(row)).data);
  }
  test::member_ending(files, "byteorder").data = "middle";
  CHECK_THAT(error_of(test::make_zip(files)), Contains("byte order 'middle'"));
}

TEST_CASE("code is never run, and is refused by name") {
  const std::string call = kProto + "cos\nsystem\n(" + text("true") + "tR.";
  CHECK_THAT(error_of(torch_zip(call)), Contains("calls 'os.system'") && Contains("w.pt"));
  CHECK_THAT(error_of(torch_zip("\x80\4" + ("\x8c\2os\x8c\6system\x93)R."s))),
             Contains("'os.system'"));
  CHECK_THAT(error_of(torch_zip(kProto + "cbuiltins\neval\n)\x81.")), Contains("'builtins.eval'"));
  CHECK_THAT(error_of(torch_zip(kProto + "cmine\nThing\n)R}b.")), Contains("'mine.Thing'"));
  CHECK_THAT(error_of(torch_zip(kProto + "ctorch._utils\n_rebuild_sparse_tensor\n)R.")),
             Contains("a sparse tensor"));
  CHECK_THAT(error_of(torch_zip(kProto + "ctorch._utils\n_rebuild_qtensor\n)R.")),
             Contains("a quantized tensor"));
  const std::string subclass =
      kProto + "ctorch._tensor\n_rebuild_from_type_v2\n(cos\nsystem\ncmy.pkg\nFancy\n)NtR.";
  CHECK_THAT(error_of(torch_zip(subclass)), Contains("subclass 'my.pkg.Fancy'"));
  CHECK_THAT(error_of(torch_zip(kProto + "(i")), Contains("opcode 0x69"));  // INST
}

TEST_CASE("tensors must lie inside their storage") {
  const std::string one = "K\1\x85", two = "K\2\x85", four = "K\4\x85";
  CHECK(error_of(torch_zip(tensor("K\0"s, four, one))) == "");
  CHECK(error_of(torch_zip(tensor("K\2"s, two, one))) == "");
  CHECK(error_of(torch_zip(tensor("K\0"s, four, "K\0\x85"s))) == "");
  CHECK(error_of(torch_zip(tensor("K\x64", "K\0\x85"s, one))) == "");  // empty
  CHECK_THAT(error_of(torch_zip(tensor("K\1"s, four, one))), Contains("reaches past its storage"));
  CHECK_THAT(error_of(torch_zip(tensor("K\0"s, two, four))), Contains("reaches past its storage"));
  CHECK_THAT(error_of(torch_zip(tensor("J\xff\xff\xff\xff", two, one))), Contains("negative"));
  CHECK_THAT(error_of(torch_zip(tensor("K\0"s, two, "J\xff\xff\xff\xff\x85"))),
             Contains("negative"));
  CHECK_THAT(error_of(torch_zip(tensor("K\0"s, "K\2K\2\x86", one))),
             Contains("2 sizes but 1 strides"));
  const std::string huge = "\x8a\x08" + std::string(7, '\xff') + "\x7f";
  CHECK_THAT(error_of(torch_zip(tensor("K\0"s, huge + "\x85", huge + "\x85"))),
             Contains("larger than memory"));
  CHECK_THAT(error_of(torch_zip(tensor(huge, one, one))), Contains("larger than memory"));
  CHECK_THAT(error_of(torch_zip(tensor("K\0"s, four, one), "short")),
             Contains("should hold 4 elements"));
}

TEST_CASE("pending conjugation and negation are refused, cleared flags are not") {
  const std::string four = "K\4\x85", one = "K\1\x85";
  CHECK(error_of(torch_zip(tensor("K\0"s, four, one, "}" + text("conj") + "\x89s"))) == "");
  CHECK_THAT(error_of(torch_zip(tensor("K\0"s, four, one, "}" + text("conj") + "\x88s"))),
             Contains("'conj'"));
}

TEST_CASE("malformed pickles are errors") {
  for (const std::string& bad : {std::string(""),
                                 kProto,
                                 kProto + ".",
                                 kProto + "K",
                                 kProto + "X\xff\xff\xff\xff",
                                 kProto + "h\0."s,
                                 kProto + "t.",
                                 kProto + "(t",
                                 kProto + "NR.",
                                 kProto + "NNR.",
                                 kProto + "]K\1s.",
                                 kProto + "}K\1a.",
                                 kProto + "}(K\1u.",
                                 kProto + "NQ.",
                                 kProto + "(K\1K\1K\1K\1K\1tQ.",
                                 kProto + "\x93.",
                                 kProto + "cos",
                                 kProto + "(0.",
                                 kProto + "\x85.",
                                 "\x80\1N."s,
                                 "\x80\6N."s,
                                 "N."s,
                                 kProto + "\x8b\xff\xff\xff\xff",
                                 kProto + "2.",
                                 kProto + "q\0."s,
                                 kProto + "\x8e\xff\xff\xff\xff\xff\xff\xff\xff",
                                 kProto + "b."}) {
    INFO(bad);
    CHECK_THAT(error_of(torch_zip(bad)), Contains("malformed pickle"));
  }
  CHECK_THAT(error_of(torch_zip(kProto + "\x8a\x09" + std::string(9, '\x7f') + ".")),
             Contains("64 bits"));
  CHECK_THAT(error_of(test::make_zip({{"archive/other", ""}})), Contains("data.pkl"));
  CHECK_THAT(error_of("\x80\x02\x8a\nl\xfc\x9c\x46\xf9\x20j\xa8P\x19."), Contains("before zip"));
}

TEST_CASE("long integers of any length and sign are read where 64 bits hold them") {
  const auto value = [](const std::string& digits) {
    const Loaded file(torch_zip(kProto + "\x8a" + static_cast<char>(digits.size()) + digits + "."));
    return *file.pickle.heap.get<int64_t>(file.pickle.root);
  };
  CHECK(value("") == 0);
  CHECK(value("\x7f") == 127);
  CHECK(value("\x80") == -128);
  CHECK(value("\xff\0"s) == 255);
  CHECK(value(std::string(8, '\xff') + "\xff") == -1);
  CHECK(value(std::string(7, '\0') + "\x80") == INT64_MIN);
  CHECK(value(std::string(7, '\xff') + "\x7f"s + '\0') == INT64_MAX);
}

TEST_CASE("a cyclic pickle ends") { CHECK(error_of(torch_zip(kProto + "]q\0h\0a."s)) == ""); }
