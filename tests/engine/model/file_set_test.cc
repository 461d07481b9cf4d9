#include "engine/model/file_set.h"

#include <filesystem>

#include "tests/engine/model/temp_folder.h"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::headstart::testing::StatusIs;
using ::testing::HasSubstr;

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(MappedFolder, GivesTheBytesOfItsFiles) {
  const TempFolder folder;
  folder.Write("b", "hello");
  folder.Write("a", "");
  const auto files = MappedFolder(folder.path());
  EXPECT_EQ(files->List(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(files->Has("b"));
  EXPECT_FALSE(files->Has("c"));
  ASSERT_OK_AND_ASSIGN(const auto hello, files->Bytes("b"));
  EXPECT_EQ(Text(hello), "hello");
  ASSERT_OK_AND_ASSIGN(const auto again, files->Bytes("b"));
  EXPECT_EQ(again.data(), hello.data());
  ASSERT_OK_AND_ASSIGN(const auto empty, files->Bytes("a"));
  EXPECT_TRUE(empty.empty());
}

TEST(MappedFolder, SaysWhatTheSystemSays) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() + "/sub");
  const auto files = MappedFolder(folder.path());
  EXPECT_THAT(files->Bytes("absent"), StatusIs(absl::StatusCode::kNotFound, HasSubstr(folder.path() + "/absent")));
  EXPECT_THAT(files->Bytes("sub"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a regular file")));
  EXPECT_TRUE(MappedFolder("/does/not/exist")->List().empty());
}

TEST(MappedFolder, NamesMayNotLeaveIt) {
  const TempFolder folder;
  folder.Write("a", "x");
  const auto files = MappedFolder(folder.path());
  for (const std::string name : {"../a", "sub/../../a", "/etc/hostname", "", ".."}) {
    EXPECT_FALSE(files->Has(name)) << name;
    EXPECT_THAT(files->Bytes(name), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("inside"))) << name;
  }
}

// Model caches keep files elsewhere and link to them.
TEST(MappedFolder, FollowsLinks) {
  const TempFolder store;
  const TempFolder folder;
  store.Write("blob", "data");
  std::filesystem::create_symlink(store.path() + "/blob", folder.path() + "/link");
  ASSERT_OK_AND_ASSIGN(const auto bytes, MappedFolder(folder.path())->Bytes("link"));
  EXPECT_EQ(bytes.size(), 4);
}

TEST(OwnedFiles, OutliveWhatTheyWereMadeFrom) {
  std::shared_ptr<const FileSet> files;
  {
    std::map<std::string, std::string, std::less<>> texts = {{"short", "s"}, {"long", std::string(1000, 'l')}};
    files = OwnedFiles(std::move(texts));
  }
  ASSERT_OK_AND_ASSIGN(const auto text, files->Bytes("short"));
  EXPECT_EQ(Text(text), "s");
  EXPECT_EQ(files->List(), (std::vector<std::string>{"long", "short"}));
  EXPECT_THAT(files->Bytes("absent"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("absent")));
}

}  // namespace
}  // namespace headstart
