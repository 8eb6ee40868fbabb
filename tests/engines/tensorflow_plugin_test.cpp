// The TensorFlow adapter without TensorFlow: its file, its refusals, and its reader of models.
#include <filesystem>
#include <fstream>

#include "engines/support/port.hpp"
#include "engines/tensorflow/failure.hpp"
#include "engines/tensorflow/protobuf.hpp"
#include "engines/tensorflow/saved_model.hpp"
#include "tests/engines/elf_names.hpp"
#include "tests/engines/plugin_host.hpp"
#include "tests/engines/saved_models.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TensorFlowPlugin : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    root = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    std::ofstream(root + "/" + path) << text;
  }
  void compile(const std::string& path, const std::string& source, const std::string& flags = "") const {
    write("source.c", source);
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    std::string command = "gcc -shared -fPIC -o '" + root + "/" + path + "' '" + root + "/source.c' " + flags;
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  Library library{plugin_path("tensorflow")};
  std::string root;
};

TEST(TensorFlowFile, ExportsOneSymbolAndIsLinkedToNoRuntime) {
  ElfNames names = read_elf_names(plugin_path("tensorflow"));
  EXPECT_THAT(names.exported, ElementsAre(ENGINE_PLUGIN_SYMBOL));
  for (const std::string& needed : names.needed) EXPECT_THAT(needed, testing::Not(HasSubstr("tensorflow")));
}

TEST_F(TensorFlowPlugin, ReportsItsIdentity) {
  EXPECT_STREQ(library->engine, "tensorflow");
  EXPECT_EQ(library->flags & ENGINE_PLUGIN_UNLOADABLE, 0u);
  EXPECT_STREQ(library->capabilities[0], "device.cpu");
  EXPECT_STREQ(library->capabilities[1], "format.savedmodel");
  EXPECT_STREQ(library->capabilities[2], "versions.>=2.4,<3");
  EXPECT_EQ(library->capabilities[3], nullptr);
}

TEST_F(TensorFlowPlugin, NamesTheSearchedFoldersWhenThereIsNoLibrary) {
  write("tensorflow/libtensorflow_framework.so.2", "not the one");
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_CORRUPT);
  EXPECT_EQ(engine.call.details["missing_library"], "libtensorflow_cc.so.2");
  EXPECT_THAT(engine.call.message(), HasSubstr(root));
}

TEST_F(TensorFlowPlugin, PassesOnTheLoadersMessage) {
  write("tensorflow/libtensorflow_cc.so.2",
        "this is no library, but long enough to hold an ELF header: ........");
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(engine.call.message(), HasSubstr("invalid ELF header"));
  EXPECT_EQ(engine.call.details["path"], root + "/tensorflow/libtensorflow_cc.so.2");
}

TEST_F(TensorFlowPlugin, NamesALibraryThatIsMissingUnderTheRuntime) {
  compile("libneeded.so", "int needed(void) { return 1; }", "-Wl,-soname,libneeded.so.7");
  compile("tensorflow/libtensorflow_cc.so.2", "int needed(void); int use(void) { return needed(); }",
          "'" + root + "/libneeded.so'");
  std::filesystem::remove(root + "/libneeded.so");
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(engine.call.details["missing_library"], "libneeded.so.7");
}

TEST_F(TensorFlowPlugin, NamesTheFunctionALibraryLacks) {
  compile("lib/libtensorflow.so.2", "const char* TF_Version(void) { return \"2.3.0\"; }");
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(engine.call.details["missing_symbol"], "TF_NewStatus");
}

// The wheels up to 2.10 have the C API in Python's own module, which is not linked to a library of Python.
TEST_F(TensorFlowPlugin, NamesTheLibraryOfPythonThatAnOldReleaseNeeds) {
  compile("tensorflow/python/_pywrap_tensorflow_internal.so",
          "extern int PyTuple_Type; int use(void) { return PyTuple_Type; }", "-Wl,-z,now");
  Engine without(library, root), absent(library, root, {{"tensorflow.python", "libpython0.0.so.1.0"}});
  EXPECT_EQ(without.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(without.call.details["missing_symbol"], "PyTuple_Type");
  EXPECT_EQ(absent.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(absent.call.details["missing_library"], "libpython0.0.so.1.0");
}

TEST_F(TensorFlowPlugin, RefusesASecondReleaseInOneProcess) {
  compile("other/libtensorflow_framework.so.2", "int one;", "-Wl,-soname,libtensorflow_framework.so.2");
  void* other = dlopen((root + "/other/libtensorflow_framework.so.2").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(other, nullptr) << dlerror();
  compile("tensorflow/libtensorflow_cc.so.2", "int nothing;");
  Engine engine(library, root);
  dlclose(other);
  EXPECT_EQ(engine.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(engine.call.details["found"], HasSubstr("/other/libtensorflow_framework.so.2"));
}

TEST_F(TensorFlowPlugin, RefusesOptionsItDoesNotKnowAndPathsOutsideTheBuild) {
  Engine unknown(library, root, {{"tensorflow.color", "red"}});
  EXPECT_EQ(unknown.status, ENGINE_INVALID);
  EXPECT_EQ(unknown.call.details["option"], "tensorflow.color");
  for (const char* outside :
       {"/usr/lib/libtensorflow_cc.so.2", "../libtensorflow_cc.so.2", "a/../../b", ""}) {
    Engine refused(library, root, {{"tensorflow.library", outside}});
    EXPECT_EQ(refused.status, ENGINE_INVALID) << outside;
    EXPECT_EQ(refused.call.details["option"], "tensorflow.library");
  }
  Engine threads(library, root, {{"threads", "many"}});
  EXPECT_EQ(threads.call.details["option"], "threads");
}

namespace tf = enginehost::engines::tensorflow;

TEST(TensorFlowProtobuf, ReadsEveryKindOfFieldInItsOrder) {
  const std::string bytes = tf::number_field(1, 300) + tf::bytes_field(2, "text") +
                            std::string("\x1d\x01\x02\x00\x00", 5) +
                            std::string("\x21\x01\x00\x00\x00\x00\x00\x00\x80", 9);
  tf::Message message(bytes);
  EXPECT_EQ(message.next()->value, 300u);
  const auto text = message.next();
  EXPECT_EQ(text->number, 2u);
  EXPECT_EQ(text->bytes, "text");
  EXPECT_EQ(message.next()->value, 0x201u);
  EXPECT_EQ(message.next()->value, 0x8000000000000001u);
  EXPECT_FALSE(message.next().has_value());
  EXPECT_FALSE(message.damaged());
  EXPECT_EQ(tf::last_field(tf::number_field(5, 1) + tf::number_field(5, 2), 5).value, 2u);
}

TEST(TensorFlowProtobuf, EveryCutOrBadKeyIsDamageAndReadsStayInBounds) {
  const std::string whole = tf::number_field(1, 1u << 30) + tf::bytes_field(2, std::string(200, 'x'));
  const size_t first = tf::number_field(1, 1u << 30).size();
  for (size_t length = 1; length < whole.size(); length++) {
    // On the heap and of the exact length, so that AddressSanitizer sees a read beyond it.
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    tf::Message message(std::string_view(cut.data(), cut.size()));
    while (message.next()) continue;
    EXPECT_EQ(message.damaged(), length != first) << length;
  }
  const std::string field_zero("\x00\x01", 2), group_kind("\x0b", 1), no_such_kind("\x0f\x01", 2);
  const std::string endless(11, '\xff'), huge = std::string("\x12") + std::string(9, '\xff') + "\x01";
  for (const std::string& bad : {field_zero, group_kind, no_such_kind, endless, huge}) {
    tf::Message message(bad);
    EXPECT_FALSE(message.next().has_value());
    EXPECT_TRUE(message.damaged());
  }
}

TEST(TensorFlowNames, AreAnOperationAndWhichOfItsResults) {
  std::string operation;
  int index = -1;
  EXPECT_TRUE(tf::split_tensor_name("serving_x:2", operation, index));
  EXPECT_EQ(operation, "serving_x");
  EXPECT_EQ(index, 2);
  EXPECT_TRUE(tf::split_tensor_name("scope/x", operation, index));
  EXPECT_EQ(index, 0);
  for (const char* bad : {"", ":0", "x:", "x:-1", "x:9999999", "x:1a", "^x"})
    EXPECT_FALSE(tf::split_tensor_name(bad, operation, index)) << bad;
}

TEST(TensorFlowSavedModel, ItsSignaturesAreReadDefaultFirstAndPortsByName) {
  tensorflow::SavedModel model = tensorflow::layer();
  const std::string any = tensorflow::endpoint("result:0", tensorflow::float32, tensorflow::number(3, 1));
  model.signatures.insert(model.signatures.begin(),
                          {{"another", {{"b", any}, {"a", any}}, {{"y", any}}},
                           {"__saved_model_init_op", {}, {{"__saved_model_init_op", any}}},
                           {"ragged", {{"x", tensorflow::sparse_endpoint("values:0")}}, {{"y", any}}},
                           {"nothing", {{"x", any}}, {}}});
  const tf::MetaGraph read = tf::read_meta_graph(model.meta_graph());
  ASSERT_EQ(read.signatures.size(), 2u);
  EXPECT_EQ(read.signatures[0].name, "serving_default");
  const tf::Endpoint& x = read.signatures[0].inputs.at(0);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.operation, "serving_x");
  EXPECT_EQ(x.type, 1);
  EXPECT_TRUE(x.known_rank);
  EXPECT_THAT(x.sizes, ElementsAre(-1, 3));
  EXPECT_THAT(x.names, ElementsAre("batch", ""));
  EXPECT_EQ(read.signatures[1].name, "another");
  EXPECT_EQ(read.signatures[1].inputs.at(0).name, "a");
  EXPECT_FALSE(read.signatures[1].inputs.at(0).known_rank);
  EXPECT_EQ(read.left_out.size(), 2u);
  EXPECT_THAT(read.left_out, testing::Contains(HasSubstr("ragged: \"x\" is no plain tensor")));
  EXPECT_THAT(read.tags, ElementsAre("serve"));
  EXPECT_EQ(read.version, "2.10.1");
}

TEST(TensorFlowPorts, AnInputThatDoesNotFitIsRefusedWithWhatIsAccepted) {
  const int64_t open[] = {-1, 3};
  engine_port port{"x", open, nullptr, 2, {ENGINE_FLOAT, 32, 1}, 0, 0};
  Floats good({5, 3}, std::vector<float>(15)), narrow({5, 2}, std::vector<float>(10)), row({3}, {1, 2, 3});
  Owned<double> doubles({ENGINE_FLOAT, 64, 1}, {1, 3}, {1, 2, 3});
  EXPECT_TRUE(fits_port(port, good.tensor));
  for (const engine_tensor* one : {&narrow.tensor, &row.tensor, &doubles.tensor})
    EXPECT_FALSE(fits_port(port, *one));
  EXPECT_STREQ(misfit(port, narrow.tensor).c_str(), "is float32[5,2], and the model takes float32[?,3]");
  port.dtype = {0, 0, 1};
  EXPECT_TRUE(fits_port(port, doubles.tensor));
  EXPECT_STREQ(misfit(port, row.tensor).c_str(),
               "is float32[3], and the model takes any type of the shape [?,3]");
  port = {"x", nullptr, nullptr, -1, {ENGINE_FLOAT, 32, 1}, 0, 0};
  EXPECT_TRUE(fits_port(port, row.tensor));
  EXPECT_FALSE(fits_port(port, doubles.tensor));
  EXPECT_STREQ(misfit(port, doubles.tensor).c_str(),
               "is float64[1,3], and the model takes float32 of any shape");
}

TEST(TensorFlowSavedModel, OperationsInsideItsFunctionsCountAndCallsOfThemDoNot) {
  tensorflow::SavedModel model = tensorflow::layer();
  using tensorflow::bytes;
  // FunctionDef: signature 1 { name 1 }, node_def 3
  model.functions = {bytes(1, bytes(1, "inner")) +
                     bytes(3, tensorflow::node("n", "AssignVariableOp", {}, ""))};
  model.nodes.push_back(tensorflow::node("call", "inner", {}, ""));
  EXPECT_THAT(
      tf::read_meta_graph(model.meta_graph()).operations,
      testing::UnorderedElementsAre("Placeholder", "Const", "MatMul", "AddV2", "Relu", "AssignVariableOp"));
  // OpList: op 1 { name 1, is_stateful 17 }
  const std::string list =
      bytes(1, bytes(1, "MatMul")) + bytes(1, bytes(1, "Print") + tensorflow::number(17, 1));
  EXPECT_THAT(tf::stateless_operations(list), ElementsAre("MatMul"));
}

TEST(TensorFlowSavedModel, DamagedDescriptionsAreCorruptAndReadsStayInBounds) {
  const std::string whole = tensorflow::layer().meta_graph();
  size_t refused = 0;
  for (size_t length = 0; length < whole.size(); length++) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    try {
      tf::read_meta_graph(std::string_view(cut.data(), cut.size()));
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status, ENGINE_CORRUPT);
      refused++;
    }
  }
  // Only a cut between two fields of the outermost message leaves a valid one.
  EXPECT_EQ(refused, whole.size() - 3);
}

}  // namespace
}  // namespace enginehost::engines::tests
