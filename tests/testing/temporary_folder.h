// A folder for one test, gone with it.

#ifndef HEADSTART_TESTS_TESTING_TEMPORARY_FOLDER_H_
#define HEADSTART_TESTS_TESTING_TEMPORARY_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace headstart::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(::testing::TempDir() + "headstart.XXXXXX") { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  // As editors and tools replace a file: by another one, so that the change shows whatever the clock's grain.
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name + ".new"), std::ios::binary) << text;
    std::filesystem::rename(Path(name + ".new"), Path(name));
  }

  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name), std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_TEMPORARY_FOLDER_H_
