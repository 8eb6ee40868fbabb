#include "host/explain/loader_text.hpp"
#include "host/explain/explain.hpp"

#include <gtest/gtest.h>

namespace enginehost::explain {
namespace {

struct Case {
  const char *text, *code, *subject, *symbol, *version, *required_by;
};

// Texts as glibc 2.36 and musl 1.2.3 printed them.
constexpr Case cases[] = {
    {"libcudart.so.11.0: cannot open shared object file: No such file or directory", "EH-L01",
     "libcudart.so.11.0", "", "", ""},
    {"/v/e.so: cannot open shared object file: No such file or directory", "EH-F01", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot open shared object file: Permission denied", "EH-L25", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot open shared object file: Too many open files", "EH-L26", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot open shared object file: Too many levels of symbolic links", "EH-F11", "/v/e.so", "",
     "", ""},
    {"/v/e.so: cannot open shared object file: Operation not permitted", "EH-L24", "/v/e.so", "", "", ""},
    {"/v/e.so: wrong ELF class: ELFCLASS32", "EH-L06", "/v/e.so", "", "", ""},
    {"/v/e.so: invalid ELF header", "EH-F08", "/v/e.so", "", "", ""},
    {"/v/e.so: file too short", "EH-F03", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot read file data: Is a directory", "EH-F11", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot read file data: Input/output error", "EH-L26", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot open shared object file: Input/output error", "EH-L26", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot open shared object file: File name too long", "EH-L33", "/v/e.so", "", "", ""},
    {"/v/e.so: ELF load command past end of file", "EH-F04", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot map zero-fill pages", "EH-L23", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot create shared object descriptor: Cannot allocate memory", "EH-L23", "/v/e.so", "", "",
     ""},
    {"/v/e.so: ELF file data encoding not little-endian", "EH-L07", "/v/e.so", "", "", ""},
    {"/v/e.so: ELF file version does not match current one", "EH-L07", "/v/e.so", "", "", ""},
    {"/v/e.so: object file has no loadable segments", "EH-F12", "/v/e.so", "", "", ""},
    {"/v/e.so: ELF load command address/offset not page-aligned", "EH-F12", "/v/e.so", "", "", ""},
    {"/v/e.so: ELF load command alignment not page-aligned", "EH-F12", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot make segment writable for relocation: Permission denied", "EH-L21", "/v/e.so", "", "",
     ""},
    {"/v/e.so: cannot restore segment prot after reloc: Permission denied", "EH-L21", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot change memory protections", "EH-L24", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot change memory protections: Cannot allocate memory", "EH-L23", "/v/e.so", "", "", ""},
    {"ImportError: /v/e.so: cannot create cache for search path: Cannot allocate memory", "EH-L23", "/v/e.so",
     "", "", ""},
    {"out of memory", "EH-L23", "", "", "", ""},
    {"/v/e.so: DT_RELR without GLIBC_ABI_DT_RELR dependency", "EH-L10", "/v/e.so", "", "", ""},
    {"/v/e.so: no more namespaces available for dlmopen(): Invalid argument", "EH-L18", "/v/e.so", "", "",
     ""},
    {"/v/e.so: wrong ELF class: ELFCLASS64", "EH-L06", "/v/e.so", "", "", ""},
    {"/v/e.so: unexpected reloc type 0x2a", "EH-F08", "/v/e.so", "", "", ""},
    {"/lib/x86_64-linux-gnu/libc.so: invalid ELF header", "EH-F08", "/lib/x86_64-linux-gnu/libc.so", "", "",
     ""},
    {"/v/e.so: undefined symbol: napi_create_error", "EH-L16", "", "napi_create_error", "", "/v/e.so"},
    {"/v/e.so: undefined symbol: engine_plugin_v1", "EH-R11", "", "engine_plugin_v1", "", "/v/e.so"},
    {"/v/e.so: symbol f, version libcudnn_ops_infer.so.8 not defined in file libcudnn_ops_infer.so.8 with "
     "link time "
     "reference",
     "EH-R16", "libcudnn_ops_infer.so.8", "f", "libcudnn_ops_infer.so.8", "/v/e.so"},
    {"/v/libver.so.1: version `V2' not found (required by /v/e.so)", "EH-L15", "/v/libver.so.1", "", "V2",
     "/v/e.so"},
    {"ERROR: ld.so: object '/nope.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): "
     "ignored.",
     "EH-L34", "/nope.so", "", "", ""},
    // Programs put text before the loader's message.
    {"ImportError: libcudart.so.12: cannot open shared object file: No such file or directory", "EH-L01",
     "libcudart.so.12", "", "", ""},
    {"java.lang.UnsatisfiedLinkError: /c/libtorch.so: libcudart.so.11.0: cannot open shared object file: No "
     "such file "
     "or directory",
     "EH-L01", "libcudart.so.11.0", "", "", "/c/libtorch.so"},
    {"load_backend: failed to load /g/libggml-cuda.so: libcudart.so.12: cannot open shared object file: No "
     "such file "
     "or directory",
     "EH-L01", "libcudart.so.12", "", "", "/g/libggml-cuda.so"},
    {"OSError: /c/libtorch cuda.so: undefined symbol: cublasLtCreate, version libcublasLt.so.12", "EH-L15",
     "", "cublasLtCreate", "libcublasLt.so.12", "/c/libtorch cuda.so"},
    {"/v/e.so: cannot read file data", "EH-F04", "/v/e.so", "", "", ""},
    {"/v/e.so: failed to map segment from shared object", "EH-L22", "/v/e.so", "", "", ""},
    {"/v/e.so: ELF file OS ABI invalid", "EH-L07", "/v/e.so", "", "", ""},
    {"/v/e.so: only ET_DYN and ET_EXEC can be loaded", "EH-F10", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot dynamically load position-independent executable", "EH-F10", "/v/e.so", "", "", ""},
    {"/v/e.so: shared object cannot be dlopen()ed", "EH-F13", "/v/e.so", "", "", ""},
    {"/v/e.so: object file has no dynamic section", "EH-F12", "/v/e.so", "", "", ""},
    {"/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.99' not found (required by /v/e.so)", "EH-L08",
     "/lib/x86_64-linux-gnu/libc.so.6", "", "GLIBC_2.99", "/v/e.so"},
    {"/c/libstdc++.so.6: version `GLIBCXX_3.4.99' not found (required by /v/e.so)", "EH-L09",
     "/c/libstdc++.so.6", "", "GLIBCXX_3.4.99", "/v/e.so"},
    {"/c/libstdc++.so.6: version `CXXABI_1.3' not found (required by /v/e.so)", "EH-L09", "/c/libstdc++.so.6",
     "", "CXXABI_1.3", "/v/e.so"},
    {"/lib/libc.so.6: version `GLIBC_ABI_DT_RELR' not found (required by /v/e.so)", "EH-L10",
     "/lib/libc.so.6", "", "GLIBC_ABI_DT_RELR", "/v/e.so"},
    {"/v/e.so: undefined symbol: missing_kernel", "EH-L12", "", "missing_kernel", "", "/v/e.so"},
    {"/v/e.so: undefined symbol: f2, version V1", "EH-L15", "", "f2", "V1", "/v/e.so"},
    {"/v/e.so: symbol f2, version V1 not defined in file libver.so.1 with link time reference", "EH-L15",
     "libver.so.1", "f2", "V1", "/v/e.so"},
    {"/v/e.so: undefined symbol: cuMemCreate", "EH-G04", "", "cuMemCreate", "", "/v/e.so"},
    {"/v/e.so: undefined symbol: cudaMalloc", "EH-L12", "", "cudaMalloc", "", "/v/e.so"},
    {"/v/e.so: cannot allocate memory in static TLS block", "EH-L19", "/v/e.so", "", "", ""},
    {"/v/e.so: cannot enable executable stack as shared object requires: Invalid argument", "EH-L20",
     "/v/e.so", "", "", ""},
    {"/v/e.so: CPU ISA level is lower than required", "EH-L27", "/v/e.so", "", "", ""},
    {"Error loading shared library libz.so.1: No such file or directory (needed by /v/e.so)", "EH-L01",
     "libz.so.1", "", "", "/v/e.so"},
    {"Error loading shared library /v/e.so: Exec format error", "EH-F08", "/v/e.so", "", "", ""},
    {"Error relocating /v/e.so: gnu_get_libc_version: symbol not found", "EH-L29", "", "gnu_get_libc_version",
     "", "/v/e.so"},
    {"Error relocating /v/e.so: missing_kernel: symbol not found", "EH-L12", "", "missing_kernel", "",
     "/v/e.so"},
    {"Error relocating /v/e.so: initial-exec TLS resolves to dynamic definition in /v/d.so", "EH-L29",
     "/v/d.so", "", "", "/v/e.so"},
    {"Error loading shared library /v/e.so: Permission denied", "EH-L25", "/v/e.so", "", "", ""},
    {"Error loading shared library libstdc++.so.6: No such file or directory (needed by /v/e.so)", "EH-L01",
     "libstdc++.so.6", "", "", "/v/e.so"},
    {"Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /v/e.so)",
     "EH-L29", "ld-linux-x86-64.so.2", "", "", "/v/e.so"},
    {"Dynamic loading not supported", "EH-L29", "", "", "", ""},
};

TEST(LoaderText, EachTextGivesItsHint) {
  for (const Case& one : cases) {
    const auto hint = read_loader_text(one.text);
    ASSERT_TRUE(hint) << one.text;
    EXPECT_EQ(hint->code, one.code) << one.text;
    EXPECT_EQ(hint->subject, one.subject) << one.text;
    EXPECT_EQ(hint->symbol, one.symbol) << one.text;
    EXPECT_EQ(hint->version, one.version) << one.text;
    EXPECT_EQ(hint->required_by, one.required_by) << one.text;
    EXPECT_EQ(to_diagnosis(*hint, one.text).value(Key::os_said), one.text);
  }
}

TEST(LoaderText, OtherTextGivesNoHint) {
  EXPECT_FALSE(read_loader_text("all is well"));
  EXPECT_FALSE(read_loader_text(""));
  EXPECT_FALSE(read_error_output("loading model\ndone\n"));
}

TEST(LoaderText, AnUncaughtExceptionIsReadFromErrorOutput) {
  const auto hint = read_error_output(
      "some log\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  no GPU\n");
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->code, "EH-R03");
  EXPECT_EQ(hint->exception, "std::runtime_error");
  EXPECT_EQ(hint->what, "no GPU");
}

TEST(LoaderText, ALazySymbolIsReadFromErrorOutput) {
  const auto hint =
      read_error_output("/usr/bin/probe: symbol lookup error: /v/e.so: undefined symbol: missing\n");
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->code, "EH-L13");
  EXPECT_EQ(hint->symbol, "missing");
  EXPECT_EQ(hint->required_by, "/v/e.so");
}

TEST(LoaderText, ARelocationErrorIsAMissingLazySymbolToo) {
  const auto hint = read_error_output(
      "/usr/bin/probe: relocation error: /v/e.so: symbol f2, version V1 not defined in file libver.so.1 with "
      "link "
      "time reference\n");
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->code, "EH-L13");
  EXPECT_EQ(hint->symbol, "f2");
  EXPECT_EQ(hint->version, "V1");
}

struct LastWords {
  const char *text, *code, *subject, *found;
};

// Libraries print these lines before they end the process, as bug reports quote them.
constexpr LastWords last_words[] = {
    {"Intel MKL FATAL ERROR: Cannot load libmkl_avx2.so or libmkl_def.so.\n", "EH-R15", "libmkl_def.so", ""},
    {"INTEL oneMKL ERROR: /x/libmkl_def.so.2: cannot open shared object file: No such file or "
     "directory.\nIntel oneMKL FATAL ERROR: Cannot load libmkl_def.so.2.\n",
     "EH-R15", "libmkl_def.so.2", ""},
    {"INTEL MKL ERROR: /x/libmkl_avx512.so.2: undefined symbol: mkl_sparse_optimize_bsr_trsm_i8.\nIntel MKL "
     "FATAL ERROR: Cannot load libmkl_avx512.so.2 or libmkl_def.so.2.\n",
     "EH-L12", "", ""},
    {"OMP: Error #15: Initializing libiomp5.so, but found libomp.so.5 already initialized.\nOMP: Hint This "
     "means that multiple copies of the OpenMP runtime have been linked into the program.\n",
     "EH-L35", "libiomp5.so", "libomp.so.5"},
    {"[libprotobuf ERROR google/protobuf/descriptor_database.cc:642] File already exists in database: "
     "onnx/onnx-ml.proto\n[libprotobuf FATAL google/protobuf/descriptor.cc:1984] CHECK failed: "
     "GeneratedDatabase()->Add(encoded_file_descriptor, size): \nterminate called after throwing an instance "
     "of 'google::protobuf::FatalException'\n  what():  CHECK failed: GeneratedDatabase()\n",
     "EH-L45", "", "onnx/onnx-ml.proto"},
    {"E0000 00:00:1703612509.198109       1 descriptor_database.cc:656] File already exists in database: "
     "onnx/onnx-ml.proto\n",
     "EH-L45", "", "onnx/onnx-ml.proto"},
    {"==73446==ASan runtime does not come first in initial library list; you should either link runtime to "
     "your application or manually preload it with LD_PRELOAD.\n",
     "EH-R21", "", ""},
    {"==1==Your application is linked against incompatible ASan runtimes.\n", "EH-R21", "", ""},
    {"INTEL MKL ERROR: Parameter 4 was incorrect on entry to DGEMM.\nterminate called after throwing an "
     "instance of 'std::runtime_error'\n  what():  no\n",
     "EH-R03", "", ""},
};

TEST(LoaderText, TheReasonForWhichALibraryEndsTheProcessIsRead) {
  for (const LastWords& one : last_words) {
    const auto hint = read_error_output(one.text);
    ASSERT_TRUE(hint) << one.text;
    EXPECT_EQ(hint->code, one.code) << one.text;
    EXPECT_EQ(hint->subject, one.subject) << one.text;
    EXPECT_EQ(hint->found, one.found) << one.text;
    Diagnosis diagnosis = to_diagnosis(*hint, one.text);
    EXPECT_FALSE(render(diagnosis).cause.empty() || render(diagnosis).remedy.empty()) << one.text;
  }
}

TEST(LoaderText, ABadPreloadNeverHidesTheLaterError) {
  const std::string preload =
      "ERROR: ld.so: object '/nope.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): "
      "ignored.\n";
  ASSERT_TRUE(read_error_output(preload));
  EXPECT_EQ(read_error_output(preload)->code, "EH-L34");
  const auto hint =
      read_error_output(preload + "terminate called after throwing an instance of 'int'\n" + preload);
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->code, "EH-R03");
}

TEST(LoaderText, TheLoadersOwnAssertionMeansDamagedContent) {
  const auto hint = read_error_output(
      "Inconsistency detected by ld.so: dl-version.c: 205: _dl_check_map_versions: "
      "Assertion `needed != NULL' failed!\n");
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->code, "EH-F08");
}

TEST(LoaderText, CudnnNamesItsMissingPart) {
  const auto old = read_error_output(
      "Could not load library libcudnn_cnn_infer.so.8. Error: libcudnn_cnn_infer.so.8: "
      "cannot open shared object file: No such file or directory\n");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->code, "EH-R15");
  EXPECT_EQ(old->subject, "libcudnn_cnn_infer.so.8");
  const auto nine = read_error_output("Invalid handle. Cannot load symbol cudnnGetVersion\n");
  ASSERT_TRUE(nine);
  EXPECT_EQ(nine->code, "EH-R15");
  EXPECT_EQ(nine->symbol, "cudnnGetVersion");
}

TEST(LoaderText, APartOfCudnnOfAnotherVersionIsNotCalledMissing) {
  const auto nine = read_error_output(
      "Could not load symbol cudnnGetVersion. Error: /x/libcudnn_graph.so.9: undefined symbol: "
      "cudnnGetVersion\n");
  ASSERT_TRUE(nine);
  EXPECT_EQ(nine->code, "EH-R16");
  EXPECT_EQ(nine->subject, "/x/libcudnn_graph.so.9");
  const auto eight = read_error_output(
      "Could not load library libcudnn_cnn_infer.so.8. Error: /x/libcudnn_cnn_infer.so.8: symbol f, version "
      "libcudnn_ops_infer.so.8 not defined in file libcudnn_ops_infer.so.8 with link time reference\n");
  ASSERT_TRUE(eight);
  EXPECT_EQ(eight->code, "EH-R16");
}

}  // namespace
}  // namespace enginehost::explain
