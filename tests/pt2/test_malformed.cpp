// Files that are not the archives they should be: the message names the file and says what to do.
#include <catch2/catch.hpp>
#include <filesystem>

#include "ir/error.h"
#include "support.h"

using namespace aotc;
using namespace aotc::pt2;
using Catch::Contains;
using test::refusal;
using test::refusal_of_bytes;

namespace {

constexpr const char* kRaw = "torch-2.15.0/mlp_dyn.pt2";     // weights in raw files
constexpr const char* kPickled = "torch-2.8.0/mlp_dyn.pt2";  // weights in pickles

// The message for an archive in which `from` became `to` in the member whose name ends so.
std::string refusal_of_change(const char* archive, const char* member, std::string_view from,
                              std::string_view to) {
  auto files = test::unzip(test::read_file(test::data_path(archive)));
  test::replace_all(test::member_ending(files, member).data, from, to);
  return refusal_of_bytes(test::make_zip(files));
}

std::string refusal_without(const char* archive, std::string_view member) {
  auto files = test::unzip(test::read_file(test::data_path(archive)));
  std::erase_if(files, [&](const test::ZipFile& f) { return f.name.ends_with(member); });
  return refusal_of_bytes(test::make_zip(files));
}

}  // namespace

TEST_CASE("what is no archive") {
  CHECK_THAT(refusal("/no such file.pt2"),
             Contains("/no such file.pt2") && Contains("cannot be opened"));
  CHECK_THAT(refusal(AOTC_TESTS_DIR), Contains("is a folder"));
  CHECK_THAT(refusal("/dev/null"), Contains("not a regular file"));
  CHECK_THAT(refusal_of_bytes(""), Contains("is empty"));
  CHECK_THAT(refusal_of_bytes("hello"), Contains("not a zip archive"));
  CHECK_THAT(refusal_of_bytes("PK"), Contains("damaged zip archive"));
  CHECK_THAT(refusal_of_bytes("version https://git-lfs.github.com/spec/v1\n"), Contains("Git LFS"));
  CHECK_THAT(refusal_of_bytes("\x80\x02\x8a\nl\xfc\x9c\x46\xf9\x20j\xa8P\x19."),
             Contains("before zip"));
  CHECK_THAT(refusal(test::data_path("saved_2.pt")), Contains("a file of torch.save"));
  CHECK_THAT(refusal_of_bytes(test::make_zip({{"m/code/a.py", ""}, {"m/constants.pkl", ""}})),
             Contains("TorchScript"));
  CHECK_THAT(refusal_of_bytes(test::make_zip({{"readme", "hi"}})),
             Contains("without an exported program"));
  CHECK_THAT(refusal_of_bytes(test::make_zip({{"m/archive_format", "pt2"},
                                              {"m/archive_version", "0"},
                                              {"m/data/aotinductor/model/a.so", ""}})),
             Contains("AOTInductor"));
}

TEST_CASE("containers of other formats and versions") {
  CHECK_THAT(refusal_of_change(kRaw, "archive_format", "pt2", "pt3"), Contains("'pt3'"));
  CHECK_THAT(refusal_of_change(kRaw, "archive_version", "0", "1"), Contains("archive version '1'"));
}

TEST_CASE("several programs in one archive: 'model' is the one") {
  auto files = test::unzip(test::read_file(test::data_path(kRaw)));
  const std::string json = test::member_ending(files, "models/model.json").data;
  files.push_back({"mlp_dyn/models/other.json", "not read"});
  CHECK(refusal_of_bytes(test::make_zip(files)) == "");
  test::member_ending(files, "models/model.json").name = "mlp_dyn/models/third.json";
  CHECK_THAT(refusal_of_bytes(test::make_zip(files)), Contains("third, other"));
}

TEST_CASE("parts that are missing") {
  for (const char* member :
       {"weights_config.json", "constants_config.json", "weight_0", "tensor_0"}) {
    INFO(member);
    CHECK_THAT(refusal_without(kRaw, member), Contains(member));
  }
  CHECK_THAT(refusal_without("torch-2.5.1/mlp_dyn.pt2", "serialized_state_dict.pt"),
             Contains("serialized_state_dict.pt"));
  CHECK_THAT(refusal_without(kRaw, "models/model.json"), Contains("without an exported program"));
  CHECK_THAT(refusal_of_change(kRaw, "weights_config.json", "\"fc1.bias\"", "\"fc1.other\""),
             Contains("'fc1.bias' has no data"));
  CHECK_THAT(refusal_of_change(kRaw, "model.json", "\"signature\"", "\"signatures\""),
             Contains("'graph_module': expected a member 'signature'"));
}

TEST_CASE("no sample inputs, or such as cannot be represented, are a note") {
  auto files = test::unzip(test::read_file(test::data_path(kRaw)));
  std::erase_if(files,
                [](const test::ZipFile& f) { return f.name.ends_with("sample_inputs/model.pt"); });
  const test::TempFile without(test::make_zip(files));
  CHECK(read_pt2(without.path()).notes ==
        std::vector<std::string>{"the archive has no sample inputs"});
  const std::string object = "\x80\2cmy.pkg\nCache\n)\x81.";
  files.push_back(
      {"mlp_dyn/data/sample_inputs/model.pt", test::make_zip({{"archive/data.pkl", object}})});
  const ExportedProgram p = read_pt2(test::TempFile(test::make_zip(files)).path());
  CHECK_FALSE(p.has_sample_inputs);
  CHECK_THAT(p.notes.at(0), Contains("'my.pkg.Cache'"));
}

TEST_CASE("sample inputs that never end are refused") {
  auto files = test::unzip(test::read_file(test::data_path(kRaw)));
  std::string doubling;  // DUP, TUPLE2: a tuple that holds the one before twice
  for (int i = 0; i < 60; ++i) doubling += "2\x86";
  const std::string endless = std::string("\x80\2]q\0h\0a", 8);
  for (const std::string& args : {"\x80\2)" + doubling, endless}) {
    test::member_ending(files, "sample_inputs/model.pt").data =
        test::make_zip({{"archive/data.pkl", args + "}\x86."}});
    CHECK_THAT(refusal_of_bytes(test::make_zip(files)), Contains("too deeply or endlessly"));
  }
}

TEST_CASE("sizes that do not fit the bytes, or the graph") {
  const char* config = "weights_config.json";
  CHECK_THAT(refusal_of_change(kRaw, config, "{\"as_int\": 24}", "{\"as_int\": 25}"),
             Contains("reaches past its storage"));
  CHECK_THAT(refusal_of_change(kRaw, config, "{\"as_int\": 24}", "{\"as_int\": 23}"),
             Contains("float32 [24, 16] in the graph"));
  CHECK_THAT(refusal_of_change(kRaw, config, "{\"as_int\": 24}", "{\"as_int\": -1}"),
             Contains("negative"));
  CHECK_THAT(
      refusal_of_change(kRaw, config, "{\"as_int\": 24}", "{\"as_int\": 9223372036854775807}"),
      Contains("larger than memory"));
  CHECK_THAT(refusal_of_change(kRaw, config, "\"as_int\": 0", "\"as_int\": 1"),
             Contains("reaches past"));
  CHECK_THAT(refusal_of_change(kRaw, config, "\"dtype\": 7", "\"dtype\": 4"), Contains("int32"));
  CHECK_THAT(refusal_of_change(kRaw, config, "\"dtype\": 7", "\"dtype\": 99"),
             Contains("scalar type number 99"));
  CHECK_THAT(refusal_of_change(kRaw, config, "\"layout\": 7", "\"layout\": 1"),
             Contains("layout 1"));
  CHECK_THAT(refusal_of_change(kRaw, config, "\"storage_offset\": {\"as_int\": 0}",
                               "\"storage_offset\": {\"as_expr\": {\"expr_str\": \"s0\"}}"),
             Contains("expected a number"));
}

TEST_CASE("weights of a fake tensor are not taken for zeros") {
  auto files = test::unzip(test::read_file(test::data_path(kRaw)));
  test::member_ending(files, "weight_0").data.clear();
  CHECK_THAT(refusal_of_bytes(test::make_zip(files)), Contains("fake tensor"));
}

TEST_CASE("damaged weights are found when they are verified, not when they are inspected") {
  for (const char* archive : {kRaw, kPickled, "torch-2.5.1/mlp_dyn.pt2"}) {
    INFO(archive);
    const ExportedProgram good = read_pt2(test::data_path(archive));
    std::string bytes = test::read_file(test::data_path(archive));
    const std::string weight = test::dense(good, good.state_dict.at("fc1.weight")).data;
    bytes[bytes.find(weight) + 100] ^= 1;
    const test::TempFile file(bytes);
    const ExportedProgram damaged = read_pt2(file.path());
    CHECK_THROWS_WITH(verify_weights(damaged), Contains(file.path()) && Contains("CRC"));
  }
}

TEST_CASE("damage in JSON and pickles is found at once") {
  std::string bytes = test::read_file(test::data_path(kRaw));
  bytes[bytes.find("\"graph_module\"") + 3] = 'x';
  CHECK_THAT(refusal_of_bytes(bytes), Contains("models/model.json") && Contains("CRC"));
}

TEST_CASE("the name of a program is its file's") {
  const std::string bytes = test::read_file(test::data_path(kRaw));
  CHECK(read_pt2(test::TempFile(bytes, ".decomp.pt2").path()).name.ends_with(".decomp"));
  const test::TempFile other(bytes, ".zip");
  CHECK(read_pt2(other.path()).name == std::filesystem::path(other.path()).filename());
}
