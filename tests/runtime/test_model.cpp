// Opening models: options, CPU level, weights, specs, damaged tables.
#include "model.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "catch2/catch.hpp"
#include "cpu.h"
#include "digest.h"
#include "error.h"
#include "support.h"

extern "C" const AotcProgram aotc_counter_program, aotc_external_program, aotc_pointwise_program,
    aotc_steps_program, aotc_views_program;

using namespace aotc;
using namespace aotc::test;

namespace {
// The message of opening `program`, or "".
std::string open_failure(const AotcProgram& program, const char* options = nullptr) {
  AotcModel* model = nullptr;
  if (model::open_model(&program, nullptr, options, &model)) {
    CHECK(model == nullptr);
    return model::last_error();
  }
  model::close_model(model);
  return "";
}

std::string blob() {
  return std::string(static_cast<const char*>(aotc_counter_program.weights),
                     static_cast<size_t>(aotc_counter_program.weights_bytes));
}

// A file that is removed with its scope.
struct File {
  explicit File(const std::string& content)
      : path(std::filesystem::temp_directory_path() /
             ("aotc-weights-" + std::to_string(getpid()))) {
    std::ofstream(path, std::ios::binary) << content;
  }
  ~File() { unlink(path.c_str()); }
  std::string options(const std::string& more = "") const {
    return "{\"weights\": \"" + path + "\"" + more + "}";
  }
  std::string path;
};
}  // namespace

TEST_CASE("the table is served for its ABI version only") {
  CHECK(aotc_counter_get_api(AOTC_ABI_VERSION)->abi_version == AOTC_ABI_VERSION);
  CHECK(aotc_counter_get_api(AOTC_ABI_VERSION)->struct_size == sizeof(AotcApi));
  CHECK(aotc_counter_get_api(AOTC_ABI_VERSION + 1) == nullptr);
  CHECK(aotc_counter_get_api(0) == nullptr);
}

TEST_CASE("several models in one executable do not mix") {
  CHECK(Model::built_in(aotc_counter_get_api(1)).manifest() == "{\"name\": \"counter\"}");
  CHECK(Model::built_in(aotc_pointwise_get_api(1)).manifest() == "{\"name\": \"pointwise\"}");
}

TEST_CASE("only the built-in program is served") {
  AotcModel* model = nullptr;
  const AotcApi* api = aotc_counter_get_api(1);
  CHECK(api->model_open("x.aotc", nullptr, &model) == AOTC_UNSUPPORTED);
  CHECK(std::string(api->last_error()) ==
        "model_open: this library serves only its built-in program 'counter': pass NULL as the "
        "path, or "
        "open 'x.aotc' with libaotc.so");
  CHECK(api->model_open(nullptr, nullptr, nullptr) == AOTC_INVALID_ARGUMENT);
}

TEST_CASE("unknown options are named") {
  CHECK(open_failure(aotc_counter_program, "{\"weight\": \"x\"}") ==
        "model_open: unknown option 'weight', known are: weights, weights_offset, weights_size, "
        "aliased_io_digest");
  const Model model = Model::built_in(aotc_counter_get_api(1));
  CHECK_THROWS_WITH(
      Session(model, "{\"thread\": 2}"),
      "session_create: unknown option 'thread', known are: threads, stream, cuda_graph, "
      "host_io");
  CHECK_THROWS_WITH(
      Session(model, "{\"threads\": \"two\"}"),
      "session_create: option 'threads' is \"two\", expected an integer from 0 to 1024");
  CHECK_THROWS_WITH(Session(model, "{\"threads\": -1}"),
                    "session_create: option 'threads' is -1, expected an integer from 0 to 1024");
  CHECK_NOTHROW(
      Session(model, "{\"threads\": 0, \"stream\": 0, \"cuda_graph\": false, \"host_io\": true}"));
  CHECK_THROWS_WITH(Session(model, "{\"cuda_graph\": true}"),
                    "session_create: option 'cuda_graph' needs a program for CUDA, this one is for "
                    "the CPU: leave it out");
  CHECK_THROWS_WITH(Session(model, "{\"stream\": 7}"),
                    Catch::Matchers::Contains("option 'stream' needs a program for CUDA"));
  CHECK_THROWS_WITH(Session(model, "{\"threads\": "),
                    "session_create: options are not valid JSON: expected a value at byte 12");
  AotcSession* session = nullptr;
  CHECK(aotc_counter_get_api(1)->session_create(nullptr, nullptr, &session) ==
        AOTC_INVALID_ARGUMENT);
  CHECK(aotc_counter_get_api(1)->session_create(model.handle(), nullptr, nullptr) ==
        AOTC_INVALID_ARGUMENT);
}

TEST_CASE("a program for another CPU is refused by what is missing") {
  AotcProgram program = aotc_counter_program;
  program.cpu_level = "mystery-v9";
  CHECK(open_failure(program) ==
        "the model was compiled for CPU level 'mystery-v9', which this run time does not know");
#if defined(__x86_64__)
  program.cpu_level = "aarch64";
  CHECK(open_failure(program) ==
        "the model was compiled for aarch64, this CPU lacks the aarch64 instruction set: compile "
        "it with "
        "another --cpu");
#endif
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    program.cpu_level = level;
    const char* missing = model::missing_cpu_feature(level);
    CHECK(open_failure(program) ==
          (missing ? std::string("the model was compiled for ") + level + ", this CPU lacks " +
                         missing + ": compile it with another --cpu"
                   : ""));
  }
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
TEST_CASE("CPU levels agree with the compiler's own detection") {
  __builtin_cpu_init();
  CHECK((model::missing_cpu_feature("x86-64") == nullptr));
  CHECK((model::missing_cpu_feature("x86-64-v2") == nullptr) ==
        bool(__builtin_cpu_supports("x86-64-v2")));
  CHECK((model::missing_cpu_feature("x86-64-v3") == nullptr) ==
        bool(__builtin_cpu_supports("x86-64-v3")));
  CHECK((model::missing_cpu_feature("x86-64-v4") == nullptr) ==
        bool(__builtin_cpu_supports("x86-64-v4")));
}
#endif

TEST_CASE("the aliased_io digest of a manifest is checked") {
  char digest[17];
  digest_text(aliased_io_digest(aotc_counter_program.aliased_io, aotc_counter_program.n_aliased_io),
              digest);
  const std::string good = std::string("{\"aliased_io_digest\": \"") + digest + "\"}";
  CHECK(open_failure(aotc_counter_program, good.c_str()) == "");
  CHECK(
      open_failure(aotc_counter_program, "{\"aliased_io_digest\": \"0123456789abcdef\"}") ==
      std::string("the manifest's aliased_io digest is 0123456789abcdef, program 'counter' has ") +
          digest + ": they were not made together, compile again");
}

TEST_CASE("the aliased_io digest sees every field") {
  const AotcAliasedIo row = {1, 2, 3, "view", 0, "because"};
  const auto digest = [](AotcAliasedIo changed) { return aliased_io_digest(&changed, 1); };
  const AotcAliasedIo others[] = {{0, 2, 3, "view", 0, "because"}, {1, 0, 3, "view", 0, "because"},
                                  {1, 2, 0, "view", 0, "because"}, {1, 2, 3, "user", 0, "because"},
                                  {1, 2, 3, "view", 1, "because"}, {1, 2, 3, "view", 0, "so"},
                                  {1, 2, 3, "viewb", 0, "ecause"}, {1, 2, 3, "view", 0, nullptr}};
  for (const AotcAliasedIo& other : others) CHECK(digest(other) != digest(row));
  CHECK(aliased_io_digest(nullptr, 0) != digest(row));
}

TEST_CASE("weights come from a file, or from a window of one") {
  const AotcProgram& program = aotc_external_program;
  File whole(blob());
  CHECK(open_failure(program, whole.options().c_str()) == "");
  File window("some bytes before" + blob() + "and some after");
  CHECK(open_failure(program,
                     window.options(", \"weights_offset\": 17, \"weights_size\": 128").c_str()) ==
        "");
  CHECK(open_failure(program, window.options().c_str()) ==
        window.path +
            " has 159 bytes of weights, program 'counter' needs 128: it is cut short or belongs to "
            "another model");
  CHECK(open_failure(program, window.options(", \"weights_offset\": 200").c_str()) ==
        "weights '" + window.path + "': bytes 200 to 200 are wanted, the file has 159");
  CHECK(open_failure(program,
                     window.options(", \"weights_offset\": 100, \"weights_size\": 128").c_str()) ==
        "weights '" + window.path + "': bytes 100 to 228 are wanted, the file has 159");
}

TEST_CASE("a program computes with the weights of a file") {
  File file("0123" + blob());
  Program program(aotc_counter_get_api);
  const Model model =
      Model::built_in(aotc_external_get_api(1), file.options(", \"weights_offset\": 4"));
  Session session(model);
  unlink(file.path.c_str());  // the mapping stays
  Floats x = {10, 20, 30};
  CHECK(values<float>(session.run({over(x)})[0]) == Floats{11, 22, 33});
  CHECK(session.state("count").item<int64_t>() == 6);
}

TEST_CASE("wrong weights are refused") {
  std::string changed = blob();
  changed[64] = 1;
  File file(changed);
  CHECK(open_failure(aotc_external_program, file.options().c_str()) ==
        "the weights in " + file.path +
            " are not those of program 'counter' (their digest differs): use the file written with "
            "it, or "
            "compile again");
  CHECK(open_failure(aotc_external_program, "{\"weights\": \"/\"}") ==
        "cannot read weights '/': Is a directory");
  CHECK(open_failure(aotc_external_program, "{\"weights\": \"/aotc-no-such-file\"}") ==
        "cannot open weights '/aotc-no-such-file': No such file or directory; name the file by "
        "option "
        "'weights'");
  const std::string missing = open_failure(aotc_external_program);
  CHECK(missing.find("weights.bin': No such file or directory") != std::string::npos);
}

TEST_CASE("weights come from memory, at any address") {
  const std::string bytes = blob();
  for (size_t shift : {0, 1, 4}) {
    std::vector<char> memory(bytes.size() + 64 + shift);
    char* data = memory.data() + shift;
    std::memcpy(data, bytes.data(), bytes.size());
    AotcModel* model = nullptr;
    REQUIRE(model::open_model_memory(&aotc_external_program, data, bytes.size(), nullptr, &model) ==
            AOTC_OK);
    model::close_model(model);
  }
  AotcModel* model = nullptr;
  CHECK(model::open_model_memory(&aotc_external_program, bytes.data(), 5, nullptr, &model) ==
        AOTC_BAD_PACKAGE);
  CHECK(std::string(model::last_error()) ==
        "memory has 5 bytes of weights, program 'counter' needs 128: it is cut short or belongs to "
        "another model");
  CHECK(model::open_model_memory(&aotc_external_program, nullptr, 5, nullptr, &model) ==
        AOTC_INVALID_ARGUMENT);
  CHECK(model::open_model_memory(&aotc_external_program, bytes.data(), bytes.size(),
                                 "{\"weights\": \"x\"}", &model) == AOTC_INVALID_ARGUMENT);
}

TEST_CASE("specs give ranges") {
  const Model model = Model::built_in(aotc_pointwise_get_api(1));
  const TensorSpec x = model.input_spec(0), y = model.output_spec(0);
  CHECK(x.name == "x");
  CHECK(x.dtype.code == kDLFloat);
  CHECK(x.device.device_type == kDLCPU);
  CHECK(x.sizes == Integers{-1, 4});
  CHECK(x.min_sizes == Integers{0, 4});
  CHECK(x.max_sizes == Integers{64, 4});
  CHECK(y.name == "y");
  CHECK(y.sizes == Integers{-1, 4});
  CHECK_THROWS_WITH(model.input_spec(2), "model_input_spec: there is no input 2, the model has 2");
  CHECK_THROWS_WITH(model.state_spec(0), "model_state_spec: there is no state 0, the model has 0");
  const Model counter = Model::built_in(aotc_counter_get_api(1));
  CHECK(counter.state_spec(1).name == "cache");
  CHECK(counter.state_spec(1).sizes == Integers{2, 3});
  CHECK(counter.state_spec(0).sizes.empty());
  CHECK(aotc_counter_get_api(1)->model_input_spec(nullptr, 0, nullptr) == AOTC_INVALID_ARGUMENT);
}

TEST_CASE("questions about nothing have empty answers") {
  const AotcApi* api = aotc_counter_get_api(1);
  CHECK(api->model_num_inputs(nullptr) == 0);
  CHECK(api->model_manifest(nullptr) == nullptr);
  CHECK(api->model_input_name(nullptr, 0) == nullptr);
  CHECK(api->session_scratch_size(nullptr) == 0);
  const Model model = Model::built_in(api);
  CHECK(api->model_input_name(model.handle(), 1) == nullptr);
  CHECK(api->model_state_name(model.handle(), -1) == nullptr);
  CHECK(api->model_weight_name(model.handle(), 3) == nullptr);
}

TEST_CASE("damaged tables are refused when a model is opened") {
  AotcProgram program = aotc_counter_program;
  program.version = 9;
  CHECK(open_failure(program) ==
        "the program was generated for run time version 9, this is version " +
        std::to_string(AOTC_PROGRAM_VERSION) + ": compile it again");
  program = aotc_counter_program;
  program.run = nullptr;
  CHECK(open_failure(program).find("is damaged") != std::string::npos);

  AotcStorage storages[4];
  std::copy_n(aotc_counter_program.storages, 4, storages);
  program = aotc_counter_program;
  program.storages = storages;
  storages[2].offset = 120;  // 12 bytes from there end behind the blob
  CHECK(open_failure(program).find("lies outside the weights") != std::string::npos);
  storages[2].offset = 64;
  storages[1].bytes = 20;  // cache needs 24
  CHECK(open_failure(program) ==
        "program 'counter' is damaged: the storage of 'cache'; compile it again");

  AotcOutput outputs[8];
  std::copy_n(aotc_views_program.outputs, 8, outputs);
  program = aotc_views_program;
  program.outputs = outputs;
  outputs[3].index = 7;
  CHECK(open_failure(program) == "program 'views' is damaged: output 'm_out'; compile it again");

  AotcStep steps[3];
  std::copy_n(aotc_steps_program.steps, 3, steps);
  program = aotc_steps_program;
  program.steps = steps;
  CHECK(open_failure(program) == "");
  steps[2].op = nullptr;
  CHECK(open_failure(program) == "program 'steps' is damaged: step 'finish'; compile it again");
  program.steps = nullptr;
  CHECK(open_failure(program).find("the table of steps") != std::string::npos);
  program.n_steps = -1;
  CHECK(open_failure(program).find("the table of steps") != std::string::npos);
}
