#include "gateway/auth/key_file.h"

#include <utility>

#include "fmt/format.h"

namespace headstart {

absl::StatusOr<std::unique_ptr<KeyFile>> KeyFile::Open(const std::string& path, OnFileNews on_news) {
  auto parse = [path, on_news](const std::vector<std::string>& texts) {
    auto table = KeyTable::Parse(texts.front());
    if (!table.ok()) return table;
    for (const std::string& warning : table->warnings())
      on_news(FileNews::kTrouble, fmt::format("{}: {}", path, warning));
    return table;
  };
  auto file = WatchedFiles<KeyTable>::Open({path}, std::move(parse), std::move(on_news));
  if (!file.ok()) return file.status();
  return std::unique_ptr<KeyFile>(new KeyFile(*std::move(file)));
}

}  // namespace headstart
