#include "engine/model/synth.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "engine/model/gguf_writer.h"
#include "engine/model/number_formats.h"
#include "engine/model/synth_plan.h"
#include "engine/model/synth_weights.h"
#include "fmt/format.h"

namespace headstart {
namespace {

constexpr std::string_view kGgufName = "model.gguf";  // in memory
constexpr int64_t kProgressBytes = 8 << 20;           // some hundred calls for a model of a gigabyte

using Content = std::function<void(std::ostream&)>;

// Where the files go.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  virtual absl::Status Write(const std::string& name, const Content& content) = 0;
};

class MemoryWriter : public FileWriter {
 public:
  absl::Status Write(const std::string& name, const Content& content) override {
    std::ostringstream out;
    content(out);
    files_[name] = std::move(out).str();
    return absl::OkStatus();
  }

  std::shared_ptr<const FileSet> Take() && { return OwnedFiles(std::move(files_)); }

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

// Writes beside the file and renames, so that what has the file's name is always whole. The process's number keeps the
// other name clear of files that somebody else has there.
class DiskWriter : public FileWriter {
 public:
  explicit DiskWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}

  absl::Status Write(const std::string& name, const Content& content) override {
    const auto path = folder_ / name;
    const std::string partial = fmt::format("{}.partial-{}", path.string(), getpid());
    errno = 0;
    {
      std::ofstream out(partial, std::ios::binary | std::ios::trunc);
      if (out) content(out);
      if (!out.flush()) return Failed(partial);
    }
    std::error_code error;
    std::filesystem::rename(partial, path, error);
    if (!error) return absl::OkStatus();
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    return absl::ErrnoToStatus(error.value(), fmt::format("cannot rename {} to {}", partial, path.string()));
  }

 private:
  static absl::Status Failed(const std::string& partial) {
    const int cause = errno != 0 ? errno : EIO;  // a stream need not say why it failed
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    return absl::ErrnoToStatus(cause, fmt::format("cannot write {}", partial));
  }

  const std::filesystem::path folder_;
};

// Writes the tensors' bytes, row after row.
class BodyWriter {
 public:
  BodyWriter(const SynthPlan& plan, bool padded, const SynthProgress& progress)
      : plan_(plan),
        padded_(padded),
        progress_(progress),
        weights_(plan.config, plan.seed),
        total_(plan.total_bytes()) {}

  void Write(std::ostream& out) {
    for (const SynthTensor& tensor : plan_.tensors) WriteTensor(tensor, out);
    Report(total_);
  }

 private:
  void WriteTensor(const SynthTensor& tensor, std::ostream& out) {
    std::vector<float> row(static_cast<size_t>(tensor.row_length()));
    std::vector<std::byte> bytes(static_cast<size_t>(DTypeBytes(tensor.dtype, tensor.row_length())));
    for (int64_t i = 0; i < tensor.rows() && out; ++i) {
      FillRow(tensor, i, row);
      EncodeRow(tensor.dtype, row, bytes);
      out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
      done_ += std::ssize(bytes);
      if (done_ - reported_ >= kProgressBytes) Report(done_);
    }
    if (padded_) out << std::string(static_cast<size_t>(GgufPadding(tensor.bytes())), '\0');
  }

  void FillRow(const SynthTensor& tensor, int64_t row, std::vector<float>& values) const {
    if (!tensor.values.empty()) {
      values = tensor.values;
    } else {
      const int64_t source = tensor.interleaved ? InterleavedRow(row, plan_.config.head_dim) : row;
      weights_.Row(tensor.weight, source, values);
    }
  }

  void Report(int64_t done) {
    reported_ = done;
    if (progress_ != nullptr) progress_(done, total_);
  }

  const SynthPlan& plan_;
  const bool padded_;
  const SynthProgress& progress_;
  const SynthWeights weights_;
  const int64_t total_;
  int64_t done_ = 0;
  int64_t reported_ = 0;
};

absl::Status WriteGguf(const SynthPlan& plan, const std::string& name, FileWriter& files,
                       const SynthProgress& progress) {
  return files.Write(name, [&](std::ostream& out) {
    out << SynthGgufHeader(plan);
    BodyWriter(plan, /*padded=*/true, progress).Write(out);
  });
}

absl::Status WriteHuggingFace(const SynthPlan& plan, FileWriter& files, const SynthProgress& progress) {
  struct TextFile {
    const char* name;
    std::string text;
  };
  const TextFile texts[] = {
      {"config.json", SynthConfigJson(plan)},
      {"generation_config.json", SynthGenerationConfigJson(plan)},
      {"tokenizer.json", SynthTokenizerJson(plan.tokenizer)},
      {"tokenizer_config.json", SynthTokenizerConfigJson(plan.tokenizer)},
  };
  for (const TextFile& file : texts) {
    if (auto status = files.Write(file.name, [&](std::ostream& out) { out << file.text; }); !status.ok()) return status;
  }
  return files.Write("model.safetensors", [&](std::ostream& out) {
    out << SynthSafetensorsHeader(plan);
    BodyWriter(plan, /*padded=*/false, progress).Write(out);
  });
}

absl::Status MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(), fmt::format("cannot make the folder {}", folder.string()));
}

}  // namespace

absl::Status WriteSynthModel(const SynthOptions& options, const SynthProgress& progress) {
  if (options.path.empty()) return absl::InvalidArgumentError("a path to write the synthetic model to is missing");
  const auto plan = PlanSynthModel(options);
  if (!plan.ok()) return plan.status();
  const std::filesystem::path path(options.path);
  const bool gguf = options.format == SynthFormat::kGguf;
  if (gguf && path.extension() != ".gguf") {
    return absl::InvalidArgumentError(fmt::format("{}: the name of a GGUF file ends in .gguf", options.path));
  }
  const auto folder = gguf ? path.parent_path() : path;
  if (auto status = MakeFolder(folder); !status.ok()) return status;
  DiskWriter files(folder);
  return gguf ? WriteGguf(*plan, path.filename().string(), files, progress) : WriteHuggingFace(*plan, files, progress);
}

absl::StatusOr<std::shared_ptr<const FileSet>> SynthModelFiles(const SynthOptions& options) {
  const auto plan = PlanSynthModel(options);
  if (!plan.ok()) return plan.status();
  MemoryWriter files;
  const bool gguf = options.format == SynthFormat::kGguf;
  const auto status =
      gguf ? WriteGguf(*plan, std::string(kGgufName), files, nullptr) : WriteHuggingFace(*plan, files, nullptr);
  if (!status.ok()) return status;
  return std::move(files).Take();
}

}  // namespace headstart
