// Runs a fuzz target over files, for builds without libFuzzer: each argument is a file, or a folder of files.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Replay(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

int ReplayAll(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return Replay(path), 1;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files += ReplayAll(entry.path());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) files += ReplayAll(argv[i]);
  std::printf("replayed %d files\n", files);
  return files > 0 ? 0 : 1;
}
