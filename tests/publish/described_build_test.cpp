// Libraries without a disk: paths lead where they would in a file system.
#include "tools/publish/described_build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace enginehost::publish {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DescribedFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* path : {"/view/lib/liba.so", "/view/far/away/libb.so"}) {
      binary::BinaryInfo info;
      info.kind = binary::Kind::elf;
      info.soname = path;
      files.add(path, info);
    }
    files.add_link("/view/lib/libb.so", "../far/away/libb.so");
    files.add_link("/view/same", "far/away");
    files.add_link("/view/round", "about");
    files.add_link("/view/about", "round");
    files.add_link("/view/absolute", "/view/lib");
  }
  std::string at(const char* path) const {
    const binary::BinaryInfo* info = files.find(path);
    return info == nullptr ? "" : info->soname;
  }
  LibraryList files;
};

TEST_F(DescribedFilesTest, FollowsLinksAndParentsAsAFileSystemDoes) {
  EXPECT_EQ(at("/view/lib/liba.so"), "/view/lib/liba.so");
  EXPECT_EQ(at("/view/./lib//liba.so"), "/view/lib/liba.so");
  EXPECT_EQ(at("/view/lib/../far/away/libb.so"), "/view/far/away/libb.so");
  EXPECT_EQ(at("/view/lib/libb.so"), "/view/far/away/libb.so");
  EXPECT_EQ(at("/view/same/libb.so"), "/view/far/away/libb.so");
  EXPECT_EQ(at("/view/absolute/liba.so"), "/view/lib/liba.so");
  EXPECT_EQ(at("/view/same/../../lib/liba.so"), "/view/lib/liba.so") << "out of where the link leads";
  EXPECT_EQ(at("/../view/lib/liba.so"), "/view/lib/liba.so");
  for (const char* nowhere :
       {"/view/same/../lib/liba.so", "/view/round/liba.so", "/view/lib", "/view/lib/libc.so", "/", ""})
    EXPECT_EQ(at(nowhere), "") << nowhere;
}

TEST_F(DescribedFilesTest, FoldersAreThoseWithEntries) {
  for (const char* folder : {"/", "/view", "/view/far", "/view/far/away/", "/view/same", "/view/lib/.."})
    EXPECT_TRUE(files.is_folder(folder)) << folder;
  for (const char* none : {"/lib", "/view/lib/liba.so", "/view/fa"})
    EXPECT_FALSE(files.is_folder(none)) << none;
  EXPECT_THAT(files.names_in("/view/lib"), ElementsAre("liba.so", "libb.so"));
  EXPECT_THAT(files.names_in("/view/same"), ElementsAre("libb.so"));
  EXPECT_THAT(files.names_in("/view/far"), IsEmpty());
}

TEST_F(DescribedFilesTest, ReadersDoNotAccessTheDisk) {
  linker::Reader reader({}, {}, &files);
  linker::Reader foreign({}, {}, &files);
  EXPECT_TRUE(reader.read("/view/lib/libb.so"));
  EXPECT_EQ(reader.read("/view/lib/libb.so")->inode, reader.read("/view/far/away/libb.so")->inode)
      << "one file";
  EXPECT_NE(reader.read("/view/lib/libb.so")->inode, reader.read("/view/lib/liba.so")->inode);
  EXPECT_TRUE(foreign.read("/view/lib/liba.so"));
  EXPECT_EQ(foreign.find_ignoring_case("/view/lib", "LibA.so"), "/view/lib/liba.so");
  // The folders of every machine.
  for (const char* there : {"/etc/passwd", "/bin/sh"}) {
    EXPECT_FALSE(reader.read(there)) << there;
    EXPECT_FALSE(reader.file_exists(there)) << there;
    EXPECT_FALSE(reader.is_file(there)) << there;
    EXPECT_FALSE(foreign.read(there)) << there;
    EXPECT_FALSE(foreign.file_exists(there)) << there;
  }
  EXPECT_FALSE(reader.folder_exists("/etc"));
  EXPECT_THAT(reader.names_in("/etc"), IsEmpty());
  EXPECT_FALSE(foreign.folder_exists("/etc"));
  EXPECT_THAT(foreign.names_in("/etc"), IsEmpty());
  EXPECT_TRUE(binary::no_such_file(reader.read("/etc/passwd").error()));
}

}  // namespace
}  // namespace enginehost::publish
