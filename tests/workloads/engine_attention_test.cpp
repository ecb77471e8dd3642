#include "tests/workloads/engine_tools.hpp"

#include <array>

namespace vrambench::engine {
namespace {

attention_plan plan(const std::string& target_name, const std::string& model_name, tensor_type cache,
                    std::uint64_t tokens, std::uint64_t n_kv, era e = era::reserved_fa, std::uint64_t streams = 1)
{
    return plan_attention(find_target(target_name), e,
                          attention_of(find_model(model_name), cache, tokens, n_kv, streams));
}

std::string kernel_and_buffers(const attention_plan& p)
{
    return std::string(to_string(p.kernel)) + ": " + text_of(p.buffers);
}

/// "mma 16x4 [256/256] -"
std::string split_text(const attention_plan& p)
{
    return std::string(to_string(p.kernel)) + " " + std::to_string(p.columns) + "x" + std::to_string(p.groups) + " [" +
           std::to_string(p.blocks) + "/" + std::to_string(p.tiles) + "] " + text_of(p.buffers);
}

TEST(EngineAttention, TemporariesOfKAndV)
{
    struct row {
        const char* model;
        std::uint64_t a_cell;
        std::array<std::uint64_t, 4> bytes;    ///< n_kv 512, 4,096, 32,768, 131,072
    };
    const std::array<std::uint64_t, 4> depths{512, 4096, 32768, 131072};
    const std::vector<row> rows{
        {"llama-3.1-8b", 2048, {1048576, 8388608, 67108864, 268435456}},
        {"llama-3.1-70b", 2048, {1048576, 8388608, 67108864, 268435456}},
        {"qwen3-30b-a3b", 1024, {524288, 4194304, 33554432, 134217728}},
        {"gemma-3-27b", 4096, {2097152, 16777216, 134217728, 536870912}},
        {"deepseek-v3", 1152, {589824, 4718592, 37748736, 150994944}},
        {"gpt-oss-20b", 1024, {524288, 4194304, 33554432, 134217728}},
    };
    for (const row& r : rows)
        for (std::size_t i = 0; i < depths.size(); ++i)
            for (const tensor_type cache : {tensor_type::q8_0, tensor_type::q4_0, tensor_type::bf16}) {
                const attention_plan p = plan("h200", r.model, cache, 512, depths[i], era::pool_fa_late);
                EXPECT_EQ(p.buffers[0], (buffer{buffer_kind::k_f16, r.bytes[i]})) << r.model;
                EXPECT_EQ(p.buffers[0].bytes, r.a_cell * depths[i]);
                if (r.model == std::string("deepseek-v3")) EXPECT_FALSE(p.converts_v);
                else EXPECT_EQ(p.buffers[1], (buffer{buffer_kind::v_f16, r.bytes[i]})) << r.model;
            }
    for (const row& r : rows)
        EXPECT_FALSE(plan("h200", r.model, tensor_type::f16, 512, 4096, era::pool_fa_late).converts_k) << r.model;
}

TEST(EngineAttention, SlidingLayersAreCapped)
{
    const model gemma = find_model("gemma-3-27b"), oss = find_model("gpt-oss-20b");
    for (const std::uint64_t cells : {4096u, 32768u, 131072u}) {
        EXPECT_EQ(sliding_cells(gemma, cells, 512), 1536u);
        EXPECT_EQ(sliding_cells(oss, cells, 512), 768u);
    }
    EXPECT_EQ(sliding_cells(gemma, 512, 512), 512u);
    const auto k = [](const model& m, std::uint64_t n_kv) {
        return plan_attention(find_target("h200"), era::pool_fa_late, attention_of(m, tensor_type::q8_0, 512, n_kv))
            .buffers[0]
            .bytes;
    };
    EXPECT_EQ(k(gemma, 512), 2'097'152u);
    EXPECT_EQ(k(gemma, 1536), 6'291'456u);
    EXPECT_EQ(k(oss, 512), 524'288u);
    EXPECT_EQ(k(oss, 768), 786'432u);
}

struct split_row {
    std::string target;
    std::array<std::string, 6> models;    ///< 8B, 70B, Qwen3, Gemma-3, DeepSeek-V3, gpt-oss
};
constexpr std::array<const char*, 6> split_models{"llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b",
                                                  "gemma-3-27b",  "deepseek-v3",   "gpt-oss-20b"};

const std::vector<split_row>& split_rows()
{
    static const std::vector<split_row> all{
        {"h200",
         {"mma 16x4 [256/256] -", "mma 8x8 [264/512] dst_tmp_meta 8921088", "mma 8x8 [256/256] -",
          "mma 32x2 [256/256] -", "mma 4x16 [132/1024] dst_tmp_meta 17436672",
          "mma 8x8 [264/512] dst_tmp_meta 4595712"}},
        {"rtx-5090",
         {"mma 16x4 [340/256] dst_tmp_meta 11489280", "mma 8x8 [340/512] dst_tmp_meta 11489280",
          "mma 8x8 [340/256] dst_tmp_meta 11489280", "mma 32x2 [340/256] dst_tmp_meta 11489280",
          "mma 4x16 [170/1024] dst_tmp_meta 22456320", "mma 8x8 [340/512] dst_tmp_meta 5918720"}},
        {"rtx-4090",
         {"mma 16x4 [256/256] -", "mma 8x8 [256/512] -", "mma 8x8 [256/256] -", "mma 32x2 [256/256] -",
          "mma 4x16 [128/1024] -", "mma 8x8 [256/512] -"}},
        {"rtx-3090",
         {"mma 16x4 [256/256] -", "mma 8x8 [512/512] -", "mma 8x8 [256/256] -", "mma 32x2 [256/256] -",
          "mma 4x16 [1024/1024] -", "mma 8x8 [512/512] -"}},
        {"mi300x",
         {"mma 16x4 [608/256] dst_tmp_meta 20545536", "mma 8x8 [608/512] dst_tmp_meta 20545536",
          "mma 8x8 [608/256] dst_tmp_meta 20545536", "mma 32x2 [608/256] dst_tmp_meta 20545536", "tile 2x16 [1/2048] -",
          "mma 8x8 [1216/512] dst_tmp_meta 21168128"}},
        {"rx-7900-xtx",
         {"mma 16x4 [96/256] dst_tmp_meta 3244032", "mma 8x8 [96/512] dst_tmp_meta 3244032",
          "mma 8x8 [96/256] dst_tmp_meta 3244032", "mma 32x2 [96/256] dst_tmp_meta 3244032",
          "tile 2x16 [2/2048] dst_tmp 268435456, dst_tmp_meta 1048576", "mma 8x8 [96/512] dst_tmp_meta 1671168"}},
        {"radeon-vii",
         {"tile 16x4 [5/256] dst_tmp 41943040, dst_tmp_meta 655360",
          "tile 8x8 [3/512] dst_tmp 50331648, dst_tmp_meta 786432",
          "tile 8x8 [5/256] dst_tmp 41943040, dst_tmp_meta 655360",
          "tile 32x2 [5/256] dst_tmp 41943040, dst_tmp_meta 655360", "tile 2x16 [1/2048] -",
          "tile 8x8 [3/512] dst_tmp 25165824, dst_tmp_meta 786432"}},
    };
    return all;
}

TEST(EngineAttention, SplitBuffersOfAPrefillOnEveryTarget)
{
    for (const split_row& r : split_rows())
        for (std::size_t i = 0; i < split_models.size(); ++i)
            for (const std::uint64_t n_kv : {512u, 4096u, 32768u, 131072u})
                for (const tensor_type cache : {tensor_type::f16, tensor_type::q8_0})
                    EXPECT_EQ(split_text(plan(r.target, split_models[i], cache, 512, n_kv)), r.models[i])
                        << r.target << " " << split_models[i] << " " << n_kv;
}

std::string vec(std::uint64_t partial, std::uint64_t meta)
{
    return "vec: dst_tmp " + std::to_string(partial) + ", dst_tmp_meta " + std::to_string(meta);
}
std::string mma(std::uint64_t meta) { return "mma: dst_tmp_meta " + std::to_string(meta); }
std::string mma_k(std::uint64_t k, std::uint64_t meta)
{
    return "mma: K_f16 " + std::to_string(k) + ", dst_tmp_meta " + std::to_string(meta);
}

struct decode_row {
    const char* model;
    std::uint64_t n_kv;
    std::string f16, q8_0;
};

TEST(EngineAttention, DecodeOnAnH200)
{
    const std::string full = vec(196608, 3072), half = vec(131072, 2048);
    const std::vector<decode_row> rows{
        {"llama-3.1-8b", 256, vec(32768, 512), vec(32768, 512)},
        {"llama-3.1-8b", 4096, full, half},
        {"llama-3.1-8b", 32768, full, half},
        {"llama-3.1-8b", 131072, full, half},
        {"llama-3.1-70b", 256, vec(65536, 1024), vec(65536, 1024)},
        {"llama-3.1-70b", 4096, full, half},
        {"llama-3.1-70b", 32768, mma(1115136), half},
        {"llama-3.1-70b", 131072, mma(1115136), half},
        {"qwen3-30b-a3b", 256, vec(32768, 512), vec(32768, 512)},
        {"qwen3-30b-a3b", 4096, full, half},
        {"qwen3-30b-a3b", 32768, mma(1115136), half},
        {"qwen3-30b-a3b", 131072, mma(1115136), half},
        {"gemma-3-27b", 256, vec(32768, 512), vec(32768, 512)},
        {"gemma-3-27b", 1536, full, half},
        {"gemma-3-27b", 4096, full, half},
        {"gemma-3-27b", 32768, full, half},
        {"gemma-3-27b", 131072, full, half},
        {"deepseek-v3", 256, mma(2113536), mma_k(294912, 2113536)},
        {"deepseek-v3", 4096, mma(17436672), mma_k(4718592, 17436672)},
        {"deepseek-v3", 32768, mma(17436672), mma_k(37748736, 17436672)},
        {"deepseek-v3", 131072, mma(17436672), mma_k(150994944, 17436672)},
        {"gpt-oss-20b", 256, vec(65536, 2048), vec(65536, 2048)},
        {"gpt-oss-20b", 768, vec(131072, 4096), vec(131072, 4096)},
        {"gpt-oss-20b", 4096, vec(131072, 4096), vec(131072, 4096)},
        {"gpt-oss-20b", 32768, mma(852992), vec(131072, 4096)},
        {"gpt-oss-20b", 131072, mma(852992), vec(131072, 4096)},
    };
    for (const decode_row& r : rows) {
        SCOPED_TRACE(std::string(r.model) + " " + std::to_string(r.n_kv));
        EXPECT_EQ(kernel_and_buffers(plan("h200", r.model, tensor_type::f16, 1, r.n_kv, era::pool_fa_late)), r.f16);
        EXPECT_EQ(kernel_and_buffers(plan("h200", r.model, tensor_type::q8_0, 1, r.n_kv, era::pool_fa_late)), r.q8_0);
    }
}

TEST(EngineAttention, ManyHeadsLeaveTheVectorKernelAt8192Cells)
{
    // f16 only, and more than four query heads a KV head.
    // At 8,192 cells its 64 KV tiles give 4 x 64 blocks, fewer than the 264 that fit.
    EXPECT_EQ(kernel_and_buffers(plan("h200", "qwen3-30b-a3b", tensor_type::f16, 1, 8192)), mma(256 * 8 * 528));
    EXPECT_EQ(kernel_and_buffers(plan("h200", "qwen3-30b-a3b", tensor_type::f16, 1, 8448)), mma(1115136));
    EXPECT_EQ(plan("h200", "qwen3-30b-a3b", tensor_type::f16, 1, 7936).kernel, attention_kernel::vector);
    EXPECT_EQ(plan("h200", "qwen3-30b-a3b", tensor_type::q8_0, 1, 8192).kernel, attention_kernel::vector);
    EXPECT_EQ(plan("h200", "llama-3.1-8b", tensor_type::f16, 1, 8192).kernel, attention_kernel::vector);
}

TEST(EngineAttention, DecodeOnOtherTargets)
{
    const auto f16 = [](const char* target_name, const char* model_name) {
        return kernel_and_buffers(plan(target_name, model_name, tensor_type::f16, 1, 32768));
    };
    EXPECT_EQ(f16("rtx-3090", "llama-3.1-8b"), mma(675840));
    EXPECT_EQ(f16("rtx-3090", "qwen3-30b-a3b"), mma(692736));
    EXPECT_EQ(f16("rtx-3090", "deepseek-v3"), mma(10831872));
    EXPECT_EQ(f16("rtx-3090", "gpt-oss-20b"), mma(348160));
    EXPECT_EQ(f16("radeon-vii", "llama-3.1-8b"), "tile: dst_tmp 245760, dst_tmp_meta 3840");
    EXPECT_EQ(f16("radeon-vii", "llama-3.1-70b"), "tile: dst_tmp 491520, dst_tmp_meta 7680");
    EXPECT_EQ(f16("radeon-vii", "qwen3-30b-a3b"), "tile: dst_tmp 491520, dst_tmp_meta 7680");
}

TEST(EngineAttention, FewTokensConvertAQuantisedCache)
{
    // Two tokens run on the vector kernel from Ada on; before it, and from three tokens on, the cache is converted.
    EXPECT_FALSE(plan("h200", "llama-3.1-8b", tensor_type::q8_0, 2, 32768).converts_k);
    EXPECT_TRUE(plan("h200", "llama-3.1-8b", tensor_type::q8_0, 3, 32768).converts_k);
    EXPECT_FALSE(plan("rtx-3090", "llama-3.1-8b", tensor_type::q8_0, 1, 32768).converts_k);
    EXPECT_TRUE(plan("rtx-3090", "llama-3.1-8b", tensor_type::q8_0, 2, 32768).converts_k);
    EXPECT_FALSE(
        plan("h200", "llama-3.1-8b", tensor_type::bf16, 1, 32768).converts_k);    // which the vector kernel reads
}

TEST(EngineAttention, Streams)
{
    const auto text = [](tensor_type cache, std::uint64_t streams) {
        return kernel_and_buffers(plan("h200", "llama-3.1-8b", cache, 1, 32768, era::reserved_fa, streams));
    };
    EXPECT_EQ(text(tensor_type::f16, 4), "mma: KV_max 16, dst_tmp_meta 1081344");
    EXPECT_EQ(text(tensor_type::q8_0, 4), "vec: KV_max 16, dst_tmp 131072, dst_tmp_meta 2048");
    EXPECT_EQ(text(tensor_type::f16, 16), "mma: KV_max 64, dst_tmp_meta 1081344");
    EXPECT_EQ(text(tensor_type::q8_0, 16), "vec: KV_max 64, dst_tmp 524288, dst_tmp_meta 8192");
}

TEST(EngineAttention, BatchSizes)
{
    struct row {
        std::uint64_t tokens;
        std::string kernel, buffers;
        bool converts;
    };
    const std::vector<row> rows{
        {1, "vec 1x1", "dst_tmp 131072, dst_tmp_meta 2048", false},
        {2, "vec 2x1", "dst_tmp 262144, dst_tmp_meta 4096", false},
        {4, "mma 4x4", "dst_tmp_meta 2230272", true},
        {8, "mma 8x4", "dst_tmp_meta 4460544", true},
        {16, "mma 16x4", "dst_tmp_meta 8921088", true},
        {32, "mma 16x4", "dst_tmp_meta 8650752", true},
        {64, "mma 16x4", "dst_tmp_meta 8650752", true},
        {128, "mma 16x4", "dst_tmp_meta 8650752", true},
        {256, "mma 16x4", "dst_tmp_meta 8650752", true},
        {300, "mma 16x4", "dst_tmp_meta 8921088", true},    // recorded, and the next
        {384, "mma 16x4", "dst_tmp_meta 8921088", true},
        {512, "mma 16x4", "-", true},
        {1024, "mma 16x4", "KV_max 256, dst_tmp_meta 8921088", true},
        {2048, "mma 16x4", "KV_max 512, dst_tmp_meta 8921088", true},
    };
    for (const row& r : rows) {
        SCOPED_TRACE(r.tokens);
        const attention_plan p = plan("h200", "llama-3.1-8b", tensor_type::q8_0, r.tokens, 32768);
        EXPECT_EQ(std::string(to_string(p.kernel)) + " " + std::to_string(p.columns) + "x" + std::to_string(p.groups),
                  r.kernel);
        EXPECT_EQ(text_of(p.buffers), r.buffers);
        EXPECT_EQ(p.converts_k && p.converts_v, r.converts);
        const attention_plan pool = plan("h200", "llama-3.1-8b", tensor_type::q8_0, r.tokens, 32768, era::pool_fa_late);
        EXPECT_EQ(pool.buffers.bytes() - p.buffers.bytes(), r.converts ? 134'217'728u : 0u);
    }
}

TEST(EngineAttention, TheAprilKernelIsResidentThrice)
{
    for (const std::uint64_t tokens : {3u, 4u}) {
        const attention_plan april = plan("h200", "llama-3.1-8b", tensor_type::q8_0, tokens, 32768, era::pool_fa_early);
        EXPECT_EQ(april.blocks, 392u);
        EXPECT_EQ(text_of(april.buffers), "K_f16 67108864, V_f16 67108864, dst_tmp_meta 3311616");
    }
    // From 8 tokens on both trees agree.
    for (const std::uint64_t tokens : {8u, 16u, 512u})
        EXPECT_EQ(plan("h200", "llama-3.1-8b", tensor_type::q8_0, tokens, 32768, era::pool_fa_early).buffers,
                  plan("h200", "llama-3.1-8b", tensor_type::q8_0, tokens, 32768, era::pool_fa_late).buffers);
}

TEST(EngineAttention, MetaBuffersBefore2026WereEightTimesTooLarge)
{
    EXPECT_EQ(plan("h200", "llama-3.1-70b", tensor_type::f16, 512, 4096).buffers.bytes() * 8, 71'368'704u);
}

TEST(EngineAttention, ReservedOutput)
{
    const attention_plan q8_0 = plan("h200", "llama-3.1-8b", tensor_type::q8_0, 512, 131072);
    EXPECT_EQ(q8_0.output_bytes, 545'259'520u);
    EXPECT_EQ(q8_0.temporary_bytes, 2u * 268'435'456);
    const attention_plan f16 = plan("h200", "llama-3.1-8b", tensor_type::f16, 512, 131072);
    EXPECT_EQ(f16.output_bytes, 8'388'608u);
    EXPECT_EQ(f16.temporary_bytes, 0u);
    EXPECT_EQ(plan("h200", "llama-3.1-8b", tensor_type::q8_0, 512, 131072, era::pool_fa_early).temporary_bytes, 0u);
    EXPECT_EQ(plan("h200", "deepseek-v3", tensor_type::q8_0, 512, 131072).temporary_bytes, 150'994'944u);    // K only
}

TEST(EngineAttention, WithoutFlashAttention)
{
    struct row {
        std::uint64_t n_kv, k, probabilities;
    };
    const std::vector<row> rows{{512, 2097152, 16777216},
                                {4096, 16777216, 134217728},
                                {32768, 134217728, 1073741824},
                                {131072, 536870912, 4294967296}};
    const model m = find_model("llama-3.1-8b");
    const target h200 = find_target("h200");
    const std::string pointers = ", ptrs_src 512, ptrs_dst 256";
    for (const row& r : rows) {
        const attention_shape a = attention_of(m, tensor_type::f16, 512, r.n_kv);
        EXPECT_EQ(text_of(plan_scores(h200, era::reserved_fa, a).buffers), "src0_conv " + std::to_string(r.k) + pointers);
        EXPECT_EQ(text_of(plan_scores(h200, era::pool_fa_early, a).buffers), "src1_conv 4194304" + pointers);
        for (const era e : {era::reserved_fa, era::pool_fa_early})
            EXPECT_EQ(text_of(plan_values(h200, e, a).buffers),
                      "src1_conv " + std::to_string(r.probabilities) + ", dst_conv 4194304" + pointers);
    }
    const attention_shape wide = attention_of(m, tensor_type::f16, 2048, 131072);
    EXPECT_EQ(plan_values(h200, era::reserved_fa, wide).buffers[0].bytes, std::uint64_t{16} << 30);
    const attention_shape decode = attention_of(m, tensor_type::f16, 1, 4096);
    EXPECT_TRUE(plan_scores(h200, era::reserved_fa, decode).buffers.empty());
    EXPECT_TRUE(plan_values(h200, era::pool_fa_early, decode).buffers.empty());
}

TEST(EngineAttention, CostsOfConversionAndKernel)
{
    const attention_plan p = plan("h200", "llama-3.1-8b", tensor_type::q8_0, 512, 4096);
    EXPECT_EQ(p.convert_k_cost.bytes, 4096u * 1024 * 34 / 32 + 8'388'608);
    EXPECT_EQ(p.convert_v_cost, p.convert_k_cost);
    EXPECT_EQ(p.cost.flops, 4ull * 512 * 32 * 128 * 4096);
    EXPECT_EQ(p.cost.bytes, 2u * 8'388'608 + 2u * 8'388'608);    // K and V as f16; Q and the result in f32
    const attention_plan direct = plan("h200", "llama-3.1-8b", tensor_type::q8_0, 1, 4096);
    EXPECT_EQ(direct.convert_k_cost, op_cost{});
    EXPECT_EQ(direct.cost.bytes, 2u * 4096 * 1024 * 34 / 32 + 2u * 4 * 32 * 128);
}

}  // namespace
}  // namespace vrambench::engine
