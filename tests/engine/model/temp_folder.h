// TempFolder: an empty folder that goes with the object.

#ifndef HEADSTART_TESTS_ENGINE_MODEL_TEMP_FOLDER_H_
#define HEADSTART_TESTS_ENGINE_MODEL_TEMP_FOLDER_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace headstart {

class TempFolder {
 public:
  TempFolder() : path_((std::filesystem::temp_directory_path() / "headstart-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string At(std::string_view name) const { return (std::filesystem::path(path_) / name).string(); }

  void Write(std::string_view name, std::string_view text) const { std::ofstream(At(name), std::ios::binary) << text; }

 private:
  std::string path_;
};

}  // namespace headstart

#endif  // HEADSTART_TESTS_ENGINE_MODEL_TEMP_FOLDER_H_
