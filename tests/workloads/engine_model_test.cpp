#include "workloads/engine/model.hpp"

#include "spec/errors.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace vrambench::engine {
namespace {

using json = nlohmann::json;

json document(std::string_view name)
{
    for (const auto& [known, text] : built_in_models())
        if (known == name) return json::parse(text);
    return {};
}

/// What parsing says of a document; empty where it is accepted.
std::string complaint(const json& j)
{
    try {
        parse_model(j.dump(), "m.json");
        return {};
    } catch (const input_error& e) {
        return e.what();
    }
}

TEST(EngineModel, ShippedModelsHaveTheirShapes)
{
    struct row {
        const char* name;
        std::uint64_t layers, width, heads, kv_heads, key_head, value_head, vocabulary, sliding;
    };
    const std::vector<row> rows{
        {"llama-3.1-8b", 32, 4096, 32, 8, 128, 128, 128256, 0},
        {"llama-3.1-70b", 80, 8192, 64, 8, 128, 128, 128256, 0},
        {"qwen3-30b-a3b", 48, 2048, 32, 4, 128, 128, 151936, 0},
        {"gemma-3-27b", 62, 5376, 32, 16, 128, 128, 262208, 52},
        {"deepseek-v3", 61, 7168, 128, 1, 576, 512, 129280, 0},
        {"gpt-oss-20b", 24, 2880, 64, 8, 64, 64, 201088, 12},
    };
    ASSERT_EQ(built_in_models().size(), rows.size());
    for (const row& r : rows) {
        const model m = find_model(r.name);
        EXPECT_EQ(m.name, r.name);
        EXPECT_EQ(m.layers, r.layers);
        EXPECT_EQ(m.width, r.width);
        EXPECT_EQ(m.heads, r.heads);
        EXPECT_EQ(m.kv_heads, r.kv_heads);
        EXPECT_EQ(m.key_head, r.key_head);
        EXPECT_EQ(m.value_head, r.value_head);
        EXPECT_EQ(m.vocabulary, r.vocabulary);
        EXPECT_EQ(m.sliding_layers(), r.sliding);
    }
}

TEST(EngineModel, KindsOfLayers)
{
    const model gemma = find_model("gemma-3-27b"), oss = find_model("gpt-oss-20b"), deepseek = find_model("deepseek-v3");
    for (std::uint64_t i = 0; i < 12; ++i) {
        EXPECT_EQ(gemma.is_sliding(i), i != 5 && i != 11) << i;
        EXPECT_EQ(oss.is_sliding(i), i % 2 == 0) << i;
        EXPECT_EQ(deepseek.has_experts(i), i >= 3) << i;
    }
    EXPECT_TRUE(deepseek.value_is_view());
    EXPECT_EQ(weights_after_attention(deepseek, 2),
              (std::vector<weight>{weight::v_b, weight::o, weight::gate, weight::up, weight::down}));
    EXPECT_EQ(weights_before_attention(gemma), (std::vector<weight>{weight::q, weight::v, weight::k}));
    EXPECT_THROW(matrix_of(gemma, weight::expert_gate), std::logic_error);
}

/// Parameters of a model: its bytes where every value takes two, halved. Routers are f32 and count twice.
std::uint64_t parameters(const char* name)
{
    json j = document(name);
    j["weights"] = {{"attention", "f16"}};
    const model m = parse_model(j.dump(), name);
    const std::uint64_t routers = m.moe.experts == 0 ? 0 : (m.layers - m.moe.dense_layers) * m.width * m.moe.experts;
    return weight_bytes(m) / 2 - routers;
}

TEST(EngineModel, ParametersAreThoseOnTheLabel)
{
    EXPECT_NEAR(static_cast<double>(parameters("llama-3.1-8b")), 8.03e9, 0.01e9);
    EXPECT_NEAR(static_cast<double>(parameters("llama-3.1-70b")), 70.6e9, 0.1e9);
    EXPECT_NEAR(static_cast<double>(parameters("qwen3-30b-a3b")), 30.5e9, 0.1e9);
    EXPECT_NEAR(static_cast<double>(parameters("gemma-3-27b")), 27.0e9, 0.1e9);
    EXPECT_NEAR(static_cast<double>(parameters("deepseek-v3")), 671e9, 1e9);
    EXPECT_NEAR(static_cast<double>(parameters("gpt-oss-20b")), 20.9e9, 0.1e9);
}

TEST(EngineModel, CacheBytes)
{
    const model llama = find_model("llama-3.1-8b");
    EXPECT_EQ(cache_bytes(llama, tensor_type::f16, 131072, 0), 2ull * 2 * 1024 * 131072 * 32);    // 16 GiB
    EXPECT_EQ(cache_bytes(llama, tensor_type::q8_0, 131072, 0), 2ull * 1024 * 34 / 32 * 131072 * 32);
    EXPECT_EQ(cache_bytes(llama, tensor_type::q4_0, 131072, 0), 2ull * 1024 * 18 / 32 * 131072 * 32);
    const model gemma = find_model("gemma-3-27b");
    EXPECT_EQ(cache_bytes(gemma, tensor_type::bf16, 32768, 1536), 2ull * 2 * 2048 * (10 * 32768 + 52 * 1536));
    EXPECT_EQ(cache_bytes(find_model("deepseek-v3"), tensor_type::f16, 4096, 0), 2ull * 576 * 4096 * 61);    // no V
    EXPECT_EQ(sliding_cells(gemma, 32768, 512, 4), 4ull * 1024 + 512);
    EXPECT_EQ(sliding_cells(llama, 32768, 512), 32768u);
}

TEST(EngineModel, BadNumbersNameTheFileAndTheKey)
{
    const json good = document("llama-3.1-8b");
    ASSERT_EQ(complaint(good), "");
    for (const char* key :
         {"layers", "width", "heads", "kv_heads", "key_head", "value_head", "ffn", "vocabulary", "trained_context"})
        for (const json& bad : {json(), json(0), json(-1), json(1.5), json("32"), json(std::uint64_t{1} << 50)}) {
            json j = good;
            if (bad.is_null()) j.erase(key);
            else j[key] = bad;
            EXPECT_EQ(complaint(j).rfind(
                          "m.json: \"" + std::string(key) + "\" " + (bad.is_null() ? "is missing" : "must be"), 0),
                      0u)
                << complaint(j);
        }
}

TEST(EngineModel, InconsistentNumbers)
{
    json heads = document("llama-3.1-8b");
    heads["kv_heads"] = 5;
    EXPECT_EQ(complaint(heads), "m.json: \"heads\" must be a multiple of \"kv_heads\", 32 is none of 5");
    json more = document("llama-3.1-8b");
    more["kv_heads"] = 64;
    EXPECT_EQ(complaint(more), "m.json: \"heads\" must be a multiple of \"kv_heads\", 32 is none of 64");
    json large = document("llama-3.1-8b");
    large["heads"] = 1024;
    large["key_head"] = 512;
    EXPECT_EQ(complaint(large), "m.json: \"heads\" times the values of a head must be at most 262144");
    json used = document("qwen3-30b-a3b");
    used["experts"]["used"] = 129;
    EXPECT_EQ(complaint(used), "m.json: experts: \"used\" must be a whole number from 1 to 128");
    json dense = document("deepseek-v3");
    dense["experts"]["dense_layers"] = 62;
    EXPECT_EQ(complaint(dense), "m.json: experts: \"dense_layers\" must be a whole number from 1 to 61");
    json unused = document("qwen3-30b-a3b");
    unused["ffn"] = 6144;
    EXPECT_EQ(complaint(unused).rfind("m.json: \"ffn\" is the width of dense layers", 0), 0u);
    json window = document("gemma-3-27b");
    window["sliding_window"]["period"] = 1;
    EXPECT_EQ(complaint(window), "m.json: sliding_window: \"period\" must be at least 2: with 1 every layer is global");
    json compressed = document("deepseek-v3");
    compressed["key_head"] = 576;
    EXPECT_EQ(complaint(compressed), "m.json: \"key_head\" follows from \"compressed_attention\" and must be left out");
    json blocks = document("llama-3.1-8b");
    blocks["width"] = 4100;
    EXPECT_EQ(complaint(blocks),
              "m.json: \"weights\" do not fit: wq has rows of 4100 values, which is no multiple of 256, the "
              "block of q4_k");
}

TEST(EngineModel, UnknownKeysAndTypes)
{
    json key = document("llama-3.1-8b");
    key["kv_head"] = 8;
    EXPECT_EQ(complaint(key), "m.json: unknown key 'kv_head', did you mean 'kv_heads'?");
    json inner = document("qwen3-30b-a3b");
    inner["experts"]["widht"] = 8;
    EXPECT_EQ(complaint(inner), "m.json: experts: unknown key 'widht', did you mean 'width'?");
    json type = document("llama-3.1-8b");
    type["weights"]["attention"] = "q4_m";
    EXPECT_EQ(complaint(type).rfind("m.json: weights: \"attention\": unknown type 'q4_m', did you mean 'q4_", 0), 0u)
        << complaint(type);
    json schema = document("llama-3.1-8b");
    schema["schema"] = "vrambench.model/2";
    EXPECT_EQ(complaint(schema), "m.json: \"schema\" must be \"vrambench.model/1\"");
    EXPECT_EQ(complaint(json::array()), "m.json: must be a JSON object");
    json object = document("qwen3-30b-a3b");
    object["experts"] = 128;
    EXPECT_EQ(complaint(object), "m.json: \"experts\" must be an object");
}

TEST(EngineModel, FilesAndNames)
{
    const auto path = (std::filesystem::temp_directory_path() / "vrambench-model-test.json").string();
    json own = document("llama-3.1-8b");
    own["name"] = "my-model";
    own["layers"] = 7;
    std::ofstream(path) << own.dump();
    EXPECT_EQ(find_model("@" + path).layers, 7u);
    std::ofstream(path) << "{";
    EXPECT_THROW(find_model("@" + path), input_error);
    std::filesystem::remove(path);
    EXPECT_THROW(find_model("@" + path), input_error);
    try {
        find_model("lama-3.1-8b");
        FAIL();
    } catch (const input_error& e) {
        EXPECT_NE(std::string(e.what()).find("did you mean 'llama-3.1-8b'?"), std::string::npos) << e.what();
    }
}

TEST(EngineModel, BytesOfTypes)
{
    EXPECT_EQ(tensor_bytes(tensor_type::q4_k, 4096, 2), 2u * 4096 * 144 / 256);
    EXPECT_EQ(tensor_bytes(tensor_type::q8_0, 33, 1), 68u);
    EXPECT_EQ(tensor_bytes(tensor_type::bf16, 3, 5), 30u);
    EXPECT_TRUE(is_quantised(tensor_type::mxfp4));
    EXPECT_FALSE(is_quantised(tensor_type::bf16));
    EXPECT_TRUE(is_k_quant(tensor_type::q6_k));
    EXPECT_FALSE(is_k_quant(tensor_type::q8_0));
    for (const std::string& name : tensor_type_names()) EXPECT_EQ(layout_of(parse_tensor_type(name, "t")).name, name);
}

}  // namespace
}  // namespace vrambench::engine
