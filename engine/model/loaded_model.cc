#include "engine/model/loaded_model.h"

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace headstart {
namespace {

class LoadedModel : public ModelSource {
 public:
  explicit LoadedModel(ModelParts parts) : parts_(std::move(parts)) {}

  // Finds and checks every weight. Called once, before anything else.
  absl::Status Index() {
    std::map<std::string_view, const TensorView*> by_name;
    for (const TensorView& tensor : parts_.tensors) by_name.emplace(tensor.name, &tensor);
    for (const WeightName name : WeightsOf(parts_.config)) {
      const std::string file_name = WeightFileName(parts_.format, name);
      const auto found = by_name.find(file_name);
      if (found == by_name.end()) return Missing(file_name);
      if (auto status = CheckWeight(name.role, *found->second); !status.ok()) return status;
      weights_.emplace(file_name, found->second);
    }
    return absl::OkStatus();
  }

  const ModelConfig& config() const override { return parts_.config; }
  const TokenizerSpec& tokenizer() const override { return parts_.tokenizer; }
  const std::string& chat_template() const override { return parts_.chat_template; }
  std::vector<TensorView> AllTensors() const override { return parts_.tensors; }

  absl::StatusOr<TensorView> Tensor(WeightName name) const override {
    const std::string file_name = WeightFileName(parts_.format, name);
    const auto found = weights_.find(file_name);
    if (found != weights_.end()) return *found->second;
    return absl::NotFoundError(fmt::format("{}: the model has no tensor '{}'", parts_.path, file_name));
  }

 private:
  absl::Status CheckWeight(WeightRole role, const TensorView& tensor) const {
    const auto shape = WeightShape(parts_.config, role);
    if (tensor.shape != shape) {
      return absl::InvalidArgumentError(
          fmt::format("{}: tensor '{}' has the shape [{}]; the configuration implies [{}]", parts_.path, tensor.name,
                      fmt::join(tensor.shape, ", "), fmt::join(shape, ", ")));
    }
    if (shape.size() > 1 || tensor.dtype != DType::kQ8_0) return absl::OkStatus();
    return absl::UnimplementedError(
        fmt::format("{}: tensor '{}' is a vector in Q8_0, which is not supported; F32, F16 and BF16 are", parts_.path,
                    tensor.name));
  }

  absl::Status Missing(const std::string& name) const {
    const auto unsupported = parts_.unsupported_tensors.find(name);
    if (unsupported == parts_.unsupported_tensors.end()) {
      return absl::InvalidArgumentError(fmt::format("{}: tensor '{}' is missing", parts_.path, name));
    }
    return absl::UnimplementedError(
        fmt::format("{}: tensor '{}' is of type {}, which is not supported; F32, F16 and "
                    "BF16 are",
                    parts_.path, name, unsupported->second));
  }

  const ModelParts parts_;
  std::map<std::string, const TensorView*, std::less<>> weights_;  // what the model computes with, by name in the file
};

}  // namespace

absl::StatusOr<std::unique_ptr<ModelSource>> AssembleModel(ModelParts parts) {
  auto model = std::make_unique<LoadedModel>(std::move(parts));
  if (auto status = model->Index(); !status.ok()) return status;
  return model;
}

}  // namespace headstart
