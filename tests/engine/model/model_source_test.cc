#include "engine/model/model_source.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/model/file_set.h"
#include "engine/model/gguf_writer.h"
#include "engine/model/synth.h"
#include "engine/model/weights_digest.h"
#include "nlohmann/json.hpp"
#include "tests/engine/model/temp_folder.h"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::headstart::testing::IsOk;
using ::headstart::testing::StatusIs;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
constexpr char kStories[] = "../shared/data/models/stories260K.gguf";

using Files = std::map<std::string, std::string, std::less<>>;

// The files of a synthetic model, to be spoilt.
Files SynthFiles(const SynthOptions& options = {}) {
  const auto set = SynthModelFiles(options);
  Files files;
  for (const std::string& name : (*set)->List()) {
    const auto bytes = *(*set)->Bytes(name);
    files[name].assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return files;
}

absl::StatusOr<std::unique_ptr<ModelSource>> Open(Files files) {
  return OpenModel(OwnedFiles(std::move(files)), "folder");
}

void EditJson(std::string& text, const std::function<void(json&)>& edit) {
  json root = json::parse(text);
  edit(root);
  text = root.dump();
}

// Edits the header of a safetensors file and leaves its data.
void EditHeader(std::string& file, const std::function<void(json&)>& edit) {
  uint64_t length;
  std::memcpy(&length, file.data(), sizeof(length));
  std::string header = file.substr(8, length);
  EditJson(header, edit);
  const uint64_t new_length = header.size();
  file = std::string(reinterpret_cast<const char*>(&new_length), 8) + header + file.substr(8 + length);
}

// Divides a safetensors file in two, each with every tensor's bytes and half of their names.
void Split(Files& files) {
  const std::string whole = files["model.safetensors"];
  files.erase("model.safetensors");
  json index = {{"weight_map", json::object()}};
  for (const char* shard : {"a.safetensors", "b.safetensors"}) {
    files[shard] = whole;
    EditHeader(files[shard], [&](json& header) {
      json kept = json::object();
      for (const auto& [name, entry] : header.items()) {
        if ((name.size() % 2 == 0) != (shard[0] == 'a')) continue;
        kept[name] = entry;
        if (name != "__metadata__") index["weight_map"][name] = shard;
      }
      header = kept;
    });
  }
  files["model.safetensors.index.json"] = index.dump();
}

TEST(OpenModel, ReadsATrainedGguf) {
  if (!std::filesystem::exists(kStories)) GTEST_SKIP() << kStories << " is not there";
  ASSERT_OK_AND_ASSIGN(const auto model, OpenModel(kStories));
  const ModelConfig& config = model->config();
  EXPECT_EQ(config.name, "stories260K");
  EXPECT_EQ(config.architecture, Architecture::kLlama);
  EXPECT_EQ(config.layers, 5);
  EXPECT_EQ(config.hidden_size, 64);
  EXPECT_EQ(config.intermediate_size, 172);
  EXPECT_EQ(config.heads, 8);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_dim, 8);
  EXPECT_EQ(config.vocab_size, 512);
  EXPECT_EQ(config.max_positions, 512);
  EXPECT_TRUE(config.rope_adjacent_pairs);
  EXPECT_FALSE(config.tied_embeddings);
  EXPECT_EQ(config.eos_token_ids, std::vector<int32_t>{2});
  EXPECT_EQ(model->AllTensors().size(), 48);
  ASSERT_OK_AND_ASSIGN(const auto down, model->Tensor({.role = WeightRole::kDown, .layer = 4}));
  EXPECT_EQ(down.name, "blk.4.ffn_down.weight");
  EXPECT_EQ(down.shape, (std::vector<int64_t>{64, 172}));
  EXPECT_EQ(model->tokenizer().vocabulary.size(), 512);
}

TEST(OpenModel, ReadsTheDemoModel) {
  constexpr char kDemo[] = "gateway/demo/model";
  if (!std::filesystem::exists(kDemo)) GTEST_SKIP() << kDemo << " is not there";
  ASSERT_OK_AND_ASSIGN(const auto model, OpenModel(kDemo));
  EXPECT_EQ(model->config().name, "model");
  EXPECT_EQ(model->config().head_dim, 64);
  EXPECT_EQ(model->config().eos_token_ids, std::vector<int32_t>{463});
  EXPECT_THAT(model->chat_template(), HasSubstr("<|assistant|>"));
}

TEST(OpenModel, GivesOnlyWeightsThatTheModelHas) {
  ASSERT_OK_AND_ASSIGN(const auto tied, Open(SynthFiles()));
  EXPECT_OK(tied->Tensor({.role = WeightRole::kEmbedding, .layer = 9}));  // belongs to no layer
  EXPECT_OK(tied->Tensor({.role = WeightRole::kQueryNorm, .layer = 1}));
  EXPECT_THAT(tied->Tensor({.role = WeightRole::kOutput}), StatusIs(kNotFound, HasSubstr("'lm_head.weight'")));
  EXPECT_THAT(tied->Tensor({.role = WeightRole::kQueryBias}), StatusIs(kNotFound, HasSubstr("q_proj.bias")));
  EXPECT_THAT(tied->Tensor({.role = WeightRole::kQuery, .layer = 2}), StatusIs(kNotFound, HasSubstr("layers.2.")));
}

TEST(OpenModel, ASplitFolderIsTheSameModel) {
  ASSERT_OK_AND_ASSIGN(const auto whole, Open(SynthFiles()));
  Files files = SynthFiles();
  Split(files);
  ASSERT_OK_AND_ASSIGN(const auto split, Open(std::move(files)));
  EXPECT_EQ(WeightsDigest(*split), WeightsDigest(*whole));
}

TEST(OpenModel, OneFlippedBitIsAnotherModel) {
  ASSERT_OK_AND_ASSIGN(const auto before, Open(SynthFiles()));
  Files files = SynthFiles();
  files["model.safetensors"].back() ^= 1;
  ASSERT_OK_AND_ASSIGN(const auto after, Open(std::move(files)));
  EXPECT_FALSE(WeightsDigest(*before) == WeightsDigest(*after));
}

TEST(OpenModel, TakesTheTemplateFromWhereItIs) {
  Files files = SynthFiles();
  files["chat_template.jinja"] = "own file";
  ASSERT_OK_AND_ASSIGN(const auto own_file, Open(files));
  EXPECT_EQ(own_file->chat_template(), "own file");
  files.erase("chat_template.jinja");
  EditJson(files["tokenizer_config.json"], [](json& config) {
    config["chat_template"] = {{{"name", "tools"}, {"template", "t"}}, {{"name", "default"}, {"template", "d"}}};
  });
  ASSERT_OK_AND_ASSIGN(const auto list, Open(files));
  EXPECT_EQ(list->chat_template(), "d");
  files.erase("tokenizer_config.json");
  ASSERT_OK_AND_ASSIGN(const auto none, Open(files));
  EXPECT_EQ(none->chat_template(), "");
}

struct Spoilt {
  std::string what;
  std::function<void(Files&)> spoil;
  absl::StatusCode code;
  std::string message;
};

void ExpectRefused(const Files& good, const std::vector<Spoilt>& cases) {
  ASSERT_THAT(Open(good), IsOk());
  for (const Spoilt& spoilt : cases) {
    Files files = good;
    spoilt.spoil(files);
    EXPECT_THAT(Open(std::move(files)), StatusIs(spoilt.code, HasSubstr(spoilt.message))) << spoilt.what;
  }
}

const std::string kLfsPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 99\n";
constexpr char kQuery[] = "model.layers.1.self_attn.q_proj.weight";

TEST(OpenModel, SaysWhatIsWrongWithAFolder) {
  ExpectRefused(
      SynthFiles(),
      {
          {"nothing there", [](Files& f) { f.clear(); }, kNotFound,
           "folder: not a model folder: it has neither config.json nor a .gguf file, but no files"},
          {"something else there",
           [](Files& f) {
             f = {{"README.md", ""}, {"setup.py", ""}};
           },
           kNotFound, "but README.md, setup.py"},
          {"many things there",
           [](Files& f) {
             f.clear();
             for (int i = 10; i < 30; ++i) f[std::to_string(i)] = "";
           },
           kNotFound, "17 and 12 more"},
          {"two GGUF files",
           [](Files& f) {
             f = {{"a.gguf", ""}, {"b.gguf", ""}};
           },
           kInvalid, "several models; name one of a.gguf, b.gguf"},
          {"empty config", [](Files& f) { f["config.json"] = ""; }, kInvalid, "config.json: the file is empty"},
          {"empty weights", [](Files& f) { f["model.safetensors"] = ""; }, kInvalid,
           "model.safetensors: the file is empty"},
          {"LFS pointer", [](Files& f) { f["model.safetensors"] = kLfsPointer; }, kInvalid,
           "model.safetensors: a Git LFS pointer"},
          {"LFS tokenizer", [](Files& f) { f["tokenizer.json"] = kLfsPointer; }, kInvalid,
           "tokenizer.json: a Git LFS pointer"},
          {"no weights", [](Files& f) { f.erase("model.safetensors"); }, kNotFound, "model.safetensors is missing"},
          {"PyTorch only",
           [](Files& f) {
             f.erase("model.safetensors");
             f["pytorch_model.bin"] = "x";
           },
           kUnimplemented, "PyTorch's .bin format"},
          {"no tokenizer", [](Files& f) { f.erase("tokenizer.json"); }, kNotFound, "tokenizer.json is missing"},
          {"shard missing",
           [](Files& f) {
             Split(f);
             f.erase("b.safetensors");
           },
           kNotFound, "b.safetensors"},
          {"shard outside",
           [](Files& f) {
             Split(f);
             EditJson(f["model.safetensors.index.json"], [](json& i) { i["weight_map"]["x"] = "../x"; });
           },
           kNotFound, "../x"},
          {"tensor in two shards",
           [](Files& f) {
             Split(f);
             f["b.safetensors"] = f["a.safetensors"];
           },
           kInvalid, "lies in more than one of its files"},
      });
}

TEST(OpenModel, ChecksEveryTensorBeforeLoading) {
  const auto edit = [](const std::function<void(json&)>& change) {
    return [change](Files& files) { EditHeader(files["model.safetensors"], change); };
  };
  const auto config = [](const char* field, int value) {
    return [=](Files& files) { EditJson(files["config.json"], [&](json& root) { root[field] = value; }); };
  };
  ExpectRefused(SynthFiles(),
                {
                    {"missing", edit([](json& h) { h.erase(kQuery); }), kInvalid,
                     "tensor 'model.layers.1.self_attn.q_proj.weight' is missing"},
                    {"transposed", edit([](json& h) {
                       h[kQuery]["shape"] = {64, 128};
                     }),
                     kInvalid, "has the shape [64, 128]; the configuration implies [128, 64]"},
                    {"flat", edit([](json& h) { h[kQuery]["shape"] = {8192}; }), kInvalid, "has the shape [8192]"},
                    {"needed in another type", edit([](json& h) { h[kQuery]["dtype"] = "F8_E5M2"; }), kUnimplemented,
                     "of type F8_E5M2, which is not supported"},
                    {"a layer more", config("num_hidden_layers", 3), kInvalid,
                     "tensor 'model.layers.2.input_layernorm.weight' is missing"},
                    {"another width", config("hidden_size", 32), kInvalid, "the configuration implies [512, 32]"},
                    {"other heads", config("num_key_value_heads", 4), kInvalid,
                     "k_proj.weight' has the shape [64, 64]; the configuration implies [128, 64]"},
                    {"another vocabulary", config("vocab_size", 600), kInvalid, "the configuration implies [600, 64]"},
                });
}

TEST(OpenModel, TensorsThatAreNotNeededMayBeOfAnyType) {
  Files files = SynthFiles();
  EditHeader(files["model.safetensors"], [](json& header) {
    header["extra"] = {{"dtype", "I64"}, {"shape", {1}}, {"data_offsets", {0, 8}}};
  });
  EXPECT_OK(Open(std::move(files)));
}

// A small GGUF file whose metadata a test writes itself.
Files Gguf(const std::function<void(GgufWriter&)>& metadata) {
  GgufWriter writer;
  metadata(writer);
  const int64_t table[] = {8, 4};
  writer.AddTensor("token_embd.weight", DType::kF32, table);
  return {{"m.gguf", writer.Header() + std::string(128, '\0')}};
}

void AddLlama(GgufWriter& writer) {
  writer.Add("general.architecture", "llama");
  for (const char* key : {"llama.block_count", "llama.attention.head_count"}) writer.Add(key, 1);
  for (const char* key : {"llama.embedding_length", "llama.feed_forward_length"}) writer.Add(key, 4);
  writer.Add("llama.context_length", 64);
  writer.Add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
}

TEST(OpenModel, SaysWhatIsWrongWithGgufMetadata) {
  const auto llama_and = [](auto key, auto value) {
    return [=](Files& files) {
      files = Gguf([&](GgufWriter& w) {
        AddLlama(w);
        w.Add(key, value);
      });
    };
  };
  const auto only = [](auto key, auto value) {
    return [=](Files& files) { files = Gguf([&](GgufWriter& w) { w.Add(key, value); }); };
  };
  const std::string name = "m.gguf: ";
  ExpectRefused(
      SynthFiles({.format = SynthFormat::kGguf}),
      {
          {"empty", [](Files& f) { f["model.gguf"] = ""; }, kInvalid, "model.gguf: the file is empty"},
          {"LFS pointer", [](Files& f) { f["model.gguf"] = kLfsPointer; }, kInvalid, "model.gguf: a Git LFS pointer"},
          {"no architecture", only("general.name", "x"), kInvalid, name + "metadata 'general.architecture' is missing"},
          {"architecture a number", only("general.architecture", 1), kInvalid, "must be a string"},
          {"another architecture", only("general.architecture", "gemma3"), kUnimplemented,
           "'gemma3' is not supported; llama, qwen2 and qwen3 are"},
          {"a part", only("split.count", 3), kUnimplemented, "one of 3 files of a split model"},
          {"no sizes", only("general.architecture", "qwen3"), kInvalid, "metadata 'qwen3.block_count' is missing"},
          {"experts", llama_and("llama.expert_count", 8), kUnimplemented, "mixtures of experts"},
          {"partial rotation", llama_and("llama.rope.dimension_count", 2), kUnimplemented, "rope.dimension_count 2"},
          {"other value heads", llama_and("llama.attention.value_length", 8), kUnimplemented,
           "attention.value_length 8"},
          {"longrope", llama_and("llama.rope.scaling.type", "longrope"), kUnimplemented,
           "rope.scaling.type 'longrope'"},
          {"yarn without factor", llama_and("llama.rope.scaling.type", "yarn"), kInvalid,
           "'llama.rope.scaling.factor' is missing"},
          {"KV heads", llama_and("llama.attention.head_count_kv", 0), kInvalid, name + "kv_heads is 0"},
          {"end token", llama_and("tokenizer.ggml.eos_token_id", 8), kInvalid, "eos_token_id is 8; 0 to 7"},
          {"end token a string", llama_and("tokenizer.ggml.eos_token_id", "8"), kInvalid, "must be a token id"},
          {"no tokenizer", llama_and("general.name", "x"), kInvalid, "metadata 'tokenizer.ggml.model' is missing"},
      });
}

TEST(OpenModel, NoneIsNoEndToken) {
  Files files = SynthFiles({.format = SynthFormat::kGguf});
  std::string& file = files["model.gguf"];
  const std::string key = "tokenizer.ggml.eot_token_id";
  const size_t value = file.find(key) + key.size() + 4;
  file.replace(value, 4, "\xff\xff\xff\xff");
  ASSERT_OK_AND_ASSIGN(const auto model, Open(std::move(files)));
  EXPECT_EQ(model->config().eos_token_ids, std::vector<int32_t>{258});
}

TEST(OpenModel, SaysWhatIsWrongWithAPath) {
  const TempFolder folder;
  folder.Write("config.json", "{}");
  folder.Write("cut.gguf", "GGUF");
  EXPECT_THAT(OpenModel(""), StatusIs(kInvalid, HasSubstr("no model is named")));
  EXPECT_THAT(OpenModel(folder.At("absent")), StatusIs(kNotFound, HasSubstr("absent: no such file or folder")));
  EXPECT_THAT(OpenModel(folder.At("config.json")), StatusIs(kInvalid, HasSubstr("the folder that holds config.json")));
  EXPECT_THAT(OpenModel(folder.At("cut.gguf")),
              StatusIs(kInvalid, HasSubstr("cut.gguf: the file ends inside the header")));
  EXPECT_THAT(OpenModel(folder.path()), StatusIs(kUnimplemented, HasSubstr("config.json: the architecture ''")));
}

// Cut anywhere, a file is refused with words about its end, or about what the cut took away.
void ExpectRefusedWhenCut(const SynthOptions& options, const std::string& name) {
  const Files good = SynthFiles(options);
  const size_t size = good.at(name).size();
  for (size_t part = 0; part < 64; ++part) {
    Files files = good;
    files[name].resize(size * part / 64);
    EXPECT_THAT(Open(std::move(files)), StatusIs(kInvalid, AnyOf(HasSubstr("truncated"), HasSubstr("is empty"))))
        << part;
  }
}

TEST(OpenModel, RefusesTruncatedSafetensors) { ExpectRefusedWhenCut({}, "model.safetensors"); }

TEST(OpenModel, RefusesTruncatedGguf) { ExpectRefusedWhenCut({.format = SynthFormat::kGguf}, "model.gguf"); }

TEST(OpenModel, RefusesATruncatedTrainedModel) {
  if (!std::filesystem::exists(kStories)) GTEST_SKIP() << kStories << " is not there";
  const auto files = MappedFolder("../shared/data/models");
  ASSERT_OK_AND_ASSIGN(const auto bytes, files->Bytes("stories260K.gguf"));
  for (size_t part = 0; part < 64; ++part) {
    const auto cut = MemoryFiles({{"m.gguf", bytes.first(bytes.size() * part / 64)}});
    EXPECT_THAT(OpenModel(cut, "m"), StatusIs(kInvalid, AnyOf(HasSubstr("truncated"), HasSubstr("is empty")))) << part;
  }
}

}  // namespace
}  // namespace headstart
