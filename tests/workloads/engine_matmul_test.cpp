#include "tests/workloads/engine_tools.hpp"

#include <map>

namespace vrambench::engine {
namespace {

const std::string fx = ", FX 8650752";

std::string ids(std::uint64_t rows, std::uint64_t bounds)
{
    const std::string n = std::to_string(rows);
    return "ids_src1 " + n + ", ids_dst " + n + ", bounds " + std::to_string(bounds) + ", ";
}
std::string y(std::uint64_t bytes) { return "Y " + std::to_string(bytes); }

using table = std::vector<std::pair<std::string, std::string>>;

/// A layer's products in graph order, with their buffers; gate and up once where they are fused.
table layer_of(const model& m, const target& t, era e, std::uint64_t layer, std::uint64_t tokens)
{
    table out;
    std::vector<weight> all = weights_before_attention(m);
    for (const weight w : weights_after_attention(m, layer)) all.push_back(w);
    for (const weight w : all) {
        const bool second = w == weight::up || w == weight::expert_up || w == weight::shared_up;
        if (second && gate_up_are_fused(t, matrix_of(m, w), tokens)) continue;
        out.emplace_back(to_string(w), product_text(m, t, e, w, tokens));
    }
    return out;
}

struct worked {
    std::string name;
    table prefill, decode;    ///< ubatch 512; 1 token
    std::uint64_t output;     ///< Y of lm_head, 1 row
};

// The tables of one prefill micro-batch of 512 tokens and of one decoded token on an H200, layer behind the dense ones.
const std::vector<worked>& worked_tables()
{
    static const std::vector<worked> all{
        {"llama-3.1-8b",
         {{"wq", y(2377728)}, {"wv", y(2377728) + fx}, {"wk", y(2377728) + fx}, {"wo", y(2377728)},
          {"gate", y(2377728) + fx}, {"up", y(2377728) + fx}, {"down", y(8275968)}},
         {{"wq", y(4608)}, {"wv", y(4608)}, {"wk", y(4608)}, {"wo", y(4608)}, {"gate", y(4608)}, {"down", y(16128)}},
         4608},
        {"llama-3.1-70b",
         {{"wq", y(4737024)}, {"wv", y(4737024) + fx}, {"wk", y(4737024) + fx}, {"wo", y(4737024)},
          {"gate", y(4737024)}, {"up", y(4737024)}, {"down", y(16533504)}},
         {{"wq", y(9216)}, {"wv", y(9216)}, {"wk", y(9216)}, {"wo", y(9216)}, {"gate", y(9216)}, {"down", y(32256)}},
         9216},
        {"qwen3-30b-a3b",
         {{"wq", y(1198080)}, {"wv", y(1198080) + fx}, {"wk", y(1198080) + fx}, {"wo", y(2377728) + fx},
          {"exp.gate", ids(16384, 516) + y(9437184)}, {"exp.up", ids(16384, 516) + y(9437184)},
          {"exp.down", ids(16384, 516) + y(4719744)}},
         {{"wq", y(2304)}, {"wv", y(2304)}, {"wk", y(2304)}, {"wo", y(4608)}, {"exp.gate", y(2304)}, {"exp.down", y(9216)}},
         2304},
        {"gemma-3-27b",
         {{"wq", y(3262464)}, {"wv", y(3262464) + fx}, {"wk", y(3262464) + fx}, {"wo", y(2377728) + fx},
          {"gate", y(3262464) + fx}, {"up", y(3262464) + fx}, {"down", y(12404736) + fx}},
         {{"wq", y(6336)}, {"wv", y(6336)}, {"wk", y(6336)}, {"wo", y(4608)}, {"gate", y(6336)}, {"down", y(24192)}},
         6336},
        {"deepseek-v3",
         {{"wq_a", y(4147200) + fx}, {"wq_b", y(903168)}, {"wkv_a", y(4147200) + fx}, {"wk_b", y(37767168)},
          {"wv_b", y(37767168)}, {"wo", y(9455616) + fx}, {"exp.gate", ids(16384, 1028) + y(33030144)},
          {"exp.up", ids(16384, 1028) + y(33030144)}, {"exp.down", ids(16384, 1028) + y(9438336)},
          {"sh.gate", y(4147200) + fx}, {"sh.up", y(4147200) + fx}, {"sh.down", y(1198080) + fx}},
         {{"wq_a", y(8064)}, {"wq_b", y(1728)}, {"wkv_a", y(8064)}, {"wk_b", y(73728)}, {"wv_b", y(73728)}, {"wo", y(18432)},
          {"exp.gate", y(8064)}, {"exp.down", y(18432)}, {"sh.gate", y(8064)}, {"sh.down", y(2304)}},
         8064},
        {"gpt-oss-20b",
         {{"wq", y(1787904)}, {"wv", y(1787904) + fx}, {"wk", y(1787904) + fx}, {"wo", y(2377728) + fx},
          {"exp.gate", ids(8192, 132) + y(7077888)}, {"exp.up", ids(8192, 132) + y(7077888)},
          {"exp.down", ids(8192, 132) + y(7077888)}},
         {{"wq", y(3456)}, {"wv", y(3456)}, {"wk", y(3456)}, {"wo", y(4608)}, {"exp.gate", y(3456)}, {"exp.down", y(13824)}},
         3456},
    };
    return all;
}

TEST(EngineMatmul, EveryModelsLayerOnAnH200)
{
    const target h200 = find_target("h200");
    for (const worked& w : worked_tables()) {
        SCOPED_TRACE(w.name);
        const model m = find_model(w.name);
        for (const era e : {era::reserved_fa, era::pool_fa_late}) {
            EXPECT_EQ(layer_of(m, h200, e, m.layers - 1, 512), w.prefill);
            EXPECT_EQ(layer_of(m, h200, e, m.layers - 1, 1), w.decode);
        }
        EXPECT_EQ(product_text(m, h200, era::reserved_fa, weight::output, 1), y(w.output));
    }
}

TEST(EngineMatmul, DenseLayersOfDeepSeek)
{
    const model m = find_model("deepseek-v3");
    const table all = layer_of(m, find_target("h200"), era::reserved_fa, 0, 512);
    const table ffn(all.end() - 3, all.end());
    EXPECT_EQ(ffn, (table{{"gate", y(4147200) + fx}, {"up", y(4147200) + fx}, {"down", y(10635264) + fx}}));
}

/// FX of a plan, 0 for none.
std::uint64_t fixup_of(const matmul_plan& p)
{
    for (const buffer& b : p.buffers)
        if (b.kind == buffer_kind::fixup) return b.bytes;
    return 0;
}

/// FX of the dense products of all models at 512 tokens, by row count of the matrix; the per-head matrices of MLA apart.
std::map<std::uint64_t, std::uint64_t> fixups_by_rows(const target& t, era e)
{
    std::map<std::uint64_t, std::uint64_t> out;
    for (const auto& [name, text] : built_in_models()) {
        const model m = find_model(name);
        std::vector<weight> all = weights_before_attention(m);
        for (const std::uint64_t layer : {std::uint64_t{0}, m.layers - 1})
            for (const weight w : weights_after_attention(m, layer)) all.push_back(w);
        for (const weight w : all) {
            const weight_matrix x = matrix_of(m, w);
            if (x.experts == 0 && x.channels == 1) out[x.rows] = fixup_of(product(m, t, e, w, 512));
        }
    }
    return out;
}

/// The same with `bytes` for every row count but those in `without`.
std::map<std::uint64_t, std::uint64_t> fixups_but(std::uint64_t bytes, const std::vector<std::uint64_t>& without)
{
    std::map<std::uint64_t, std::uint64_t> out;
    for (const std::uint64_t r :
         {512, 576, 1024, 1536, 2048, 2880, 4096, 5376, 7168, 8192, 14336, 18432, 21504, 24576, 28672})
        out[r] = bytes;
    for (const std::uint64_t r : without) out[r] = 0;
    return out;
}

TEST(EngineMatmul, FixupFollowsTheMultiprocessors)
{
    const auto fixups = [](const char* name) { return fixups_by_rows(find_target(name), era::reserved_fa); };
    EXPECT_EQ(fixups("h200"), fixups_but(8'650'752, {4096, 8192, 24576, 28672}));
    // The rows of the H200, but that DeepSeek-V3's dense 18,432 (576 tiles) fills five waves of 128 to exactly 90 %.
    EXPECT_EQ(fixups("rtx-4090"), fixups_but(8'388'608, {4096, 8192, 18432, 24576, 28672}));
    // Beside 5,376 and 21,504 here, 14,336, 21,504 and 28,672 below, DeepSeek-V3's 24,576 (768 tiles) fills five waves of
    // 170 to 90.4 % and ten of 82 to 93.7 %, and its 7,168 (224 tiles) three of 82 to 91.1 %.
    EXPECT_EQ(fixups("rtx-5090"), fixups_but(11'141'120, {5376, 21504, 24576}));
    EXPECT_EQ(fixups("rtx-3090"), fixups_but(5'373'952, {7168, 14336, 21504, 24576, 28672}));
    EXPECT_EQ(fixups("mi300x"), fixups_but(9'961'472, {}));
    EXPECT_EQ(fixups("rx-7900-xtx"), fixups_but(0, {}));
    EXPECT_EQ(fixups("radeon-vii"), fixups_but(0, {}));
}

TEST(EngineMatmul, ExpertsOnCdnaHaveAFixup)
{
    const model m = find_model("qwen3-30b-a3b");
    const target mi300x = find_target("mi300x");
    for (const weight w : {weight::expert_gate, weight::expert_up, weight::expert_down})
        EXPECT_EQ(fixup_of(product(m, mi300x, era::reserved_fa, w, 512)), 9'961'472u);
}

TEST(EngineMatmul, TailFollowsTheWidestTile)
{
    const model m = find_model("llama-3.1-8b");
    const std::map<std::string, std::uint64_t> tails{{"h200", 18432},  {"rtx-5090", 18432},   {"rtx-4090", 18432},
                                                     {"rtx-3090", 18432}, {"rx-7900-xtx", 18432}, {"mi300x", 9216},
                                                     {"radeon-vii", 9216}};
    for (const auto& [name, tail] : tails)
        for (const era e : {era::pool_fa_early, era::reserved_fa})
            EXPECT_EQ(product(m, find_target(name), e, weight::q, 512).buffers[0].bytes, 512u * 4096 * 144 / 128 + tail)
                << name;
}

TEST(EngineMatmul, BatchSizes)
{
    const model m = find_model("llama-3.1-8b");
    const target h200 = find_target("h200");
    struct row {
        std::uint64_t tokens;
        std::string wq;
        std::uint64_t down;
    };
    // 9, 17, 300 and 384 tokens were recorded, the others too where they are up to 256.
    const std::vector<row> rows{
        {1, y(4608), 16128},         {2, y(9216), 32256},          {4, y(18432), 64512},
        {8, y(36864), 129024},       {16, y(76032) + ", FX 1081344", 260352},
        {32, y(152064) + ", FX 2162688", 520704},                  {64, y(304128) + ", FX 4325376", 1041408},
        {128, y(608256) + ", FX 8650752", 2082816},                {256, y(1198080) + ", FX 8650752", 4147200},
        {512, y(2377728), 8275968},  {1024, y(4737024), 16533504}, {2048, y(9455616), 33048576},
    };
    for (const row& r : rows) {
        EXPECT_EQ(product_text(m, h200, era::reserved_fa, weight::q, r.tokens), r.wq) << r.tokens;
        EXPECT_EQ(product(m, h200, era::reserved_fa, weight::down, r.tokens).buffers[0].bytes, r.down) << r.tokens;
    }
    EXPECT_EQ(product_text(m, h200, era::reserved_fa, weight::q, 9), y(42624) + ", FX 1081344");
    EXPECT_EQ(fixup_of(product(m, h200, era::reserved_fa, weight::q, 17)), 1'622'016u);
    EXPECT_EQ(fixup_of(product(m, h200, era::reserved_fa, weight::q, 300)), 7'569'408u);
    EXPECT_EQ(fixup_of(product(m, h200, era::reserved_fa, weight::q, 384)), 8'650'752u);
}

TEST(EngineMatmul, WhereTheVectorKernelsEnd)
{
    const weight_matrix k_quant{.columns = 4096, .rows = 4096, .type = tensor_type::q4_k};
    const weight_matrix q8_0{.columns = 4096, .rows = 4096, .type = tensor_type::q8_0};
    const auto path = [](const char* name, era e, const weight_matrix& w, std::uint64_t tokens) {
        return plan_matmul(find_target(name), e, w, tokens).path;
    };
    EXPECT_EQ(path("h200", era::reserved_fa, k_quant, 8), matmul_path::vector);
    EXPECT_EQ(path("h200", era::reserved_fa, k_quant, 9), matmul_path::matrix);
    EXPECT_EQ(path("rtx-4090", era::reserved_fa, k_quant, 8), matmul_path::matrix);
    EXPECT_EQ(path("rtx-4090", era::pool_fa_early, k_quant, 8), matmul_path::vector);
    EXPECT_EQ(path("rtx-4090", era::reserved_fa, q8_0, 8), matmul_path::vector);
    EXPECT_TRUE(gate_up_are_fused(find_target("h200"), k_quant, 1));
    EXPECT_FALSE(gate_up_are_fused(find_target("h200"), k_quant, 2));
    EXPECT_FALSE(gate_up_are_fused(find_target("nvidia/6.0/56/21e12/732e9"), k_quant, 1));
}

TEST(EngineMatmul, EarlyTreeAlwaysSplitsAndHasTheWidestTail)
{
    const target h200 = find_target("h200");
    const model llama = find_model("llama-3.1-8b");
    for (const auto& [name, text] : layer_of(llama, h200, era::pool_fa_early, 0, 512))
        EXPECT_EQ(text, (name == "down" ? y(8275968) : y(2377728)) + fx) << name;
    const model qwen = find_model("qwen3-30b-a3b");
    const auto early = [&](weight w) { return product_text(qwen, h200, era::pool_fa_early, w, 512); };
    EXPECT_EQ(early(weight::expert_gate), ids(16384, 516) + y(9455616) + fx);
    EXPECT_EQ(early(weight::expert_down), ids(16384, 516) + y(4737024) + fx);
    EXPECT_EQ(product_text(llama, h200, era::pool_fa_early, weight::q, 1), y(4608));
}

TEST(EngineMatmul, PaddingOfShortRowsQuadruplesY)
{
    // k_b has rows of 128 values, padded to 512.
    const matmul_plan p = product(find_model("deepseek-v3"), find_target("h200"), era::reserved_fa, weight::k_b, 1);
    EXPECT_EQ(p.buffers[0].bytes, 4u * 128 * 128 * 36 / 32);
}

TEST(EngineMatmul, Fp4OnBlackwellHalvesY)
{
    const model m = find_model("gpt-oss-20b");
    const target blackwell = find_target("rtx-5090");
    const std::uint64_t rows = 512 * 4, columns = 3072;
    EXPECT_EQ(product(m, blackwell, era::reserved_fa, weight::expert_gate, 512).buffers[3].bytes,
              rows * columns * 144 / 256);
    EXPECT_EQ(product(m, blackwell, era::pool_fa_early, weight::expert_gate, 512).buffers[3].bytes,
              rows * columns * 144 / 128 + 18432);
    const weight_matrix nvfp4{.columns = 4096, .rows = 4096, .type = tensor_type::nvfp4};
    EXPECT_EQ(text_of(plan_matmul(blackwell, era::reserved_fa, nvfp4, 512).buffers),
              "Y " + std::to_string(512 * 4096 * 144 / 256 + 18432) + ", Y_scale 2048, FX 11141120");
}

TEST(EngineMatmul, FloatWeights)
{
    const target h200 = find_target("h200");
    const weight_matrix f16{.columns = 4096, .rows = 14336, .type = tensor_type::f16};
    const weight_matrix bf16{.columns = 4096, .rows = 14336, .type = tensor_type::bf16};
    const weight_matrix f32{.columns = 4096, .rows = 128, .type = tensor_type::f32};
    const std::string source = "src1_conv " + std::to_string(2 * 4096 * 512);
    const std::string result = "dst_conv " + std::to_string(2 * 14336 * 512);
    EXPECT_EQ(text_of(plan_matmul(h200, era::reserved_fa, f16, 512).buffers), source + ", " + result);
    EXPECT_EQ(text_of(plan_matmul(h200, era::reserved_fa, bf16, 512).buffers), source);
    EXPECT_EQ(text_of(plan_matmul(find_target("rx-7900-xtx"), era::reserved_fa, bf16, 512).buffers), source + ", " + result);
    EXPECT_EQ(text_of(plan_matmul(find_target("mi300x"), era::reserved_fa, f16, 512).buffers), source);
    EXPECT_EQ(text_of(plan_matmul(h200, era::reserved_fa, f16, 16).buffers), "-");
    EXPECT_EQ(text_of(plan_matmul(h200, era::reserved_fa, f16, 17).buffers).substr(0, 9), "src1_conv");
    EXPECT_EQ(plan_matmul(h200, era::reserved_fa, f32, 512).path, matmul_path::float_kernel);
}

TEST(EngineMatmul, QuantisedWeightsThroughBlas)
{
    // Volta has no matrix kernel for 64 tokens or more: the FFN matrix of Llama-3.1-8B becomes f16.
    const target volta = find_target("nvidia/7.0/80/112e12/900e9");
    const weight_matrix gate = matrix_of(find_model("llama-3.1-8b"), weight::gate);
    const matmul_plan p = plan_matmul(volta, era::reserved_fa, gate, 512);
    EXPECT_EQ(p.path, matmul_path::blas);
    EXPECT_EQ(text_of(p.buffers), "src0_conv 117440512, src1_conv 4194304");
    EXPECT_EQ(plan_matmul(volta, era::reserved_fa, gate, 63).path, matmul_path::matrix);
    // RDNA3 leaves large q6_k products to BLAS, which takes the result as f16.
    weight_matrix q6 = gate;
    q6.type = tensor_type::q6_k;
    EXPECT_EQ(text_of(plan_matmul(find_target("rx-7900-xtx"), era::reserved_fa, q6, 512).buffers),
              "src0_conv 117440512, src1_conv 4194304, dst_conv 14680064");
}

TEST(EngineMatmul, FloatExperts)
{
    const target h200 = find_target("h200");
    const weight_matrix narrow{.columns = 2048, .rows = 768, .experts = 128, .used = 8, .type = tensor_type::bf16};
    EXPECT_EQ(text_of(plan_expert_matmul(h200, era::reserved_fa, narrow, 16, 1).buffers), "-");
    EXPECT_EQ(text_of(plan_expert_matmul(h200, era::reserved_fa, narrow, 512, 1).buffers),
              "ids_src1 16384, ids_dst 16384, bounds 516");
    const matmul_plan loop = plan_expert_matmul(h200, era::reserved_fa, narrow, 513, 1);
    EXPECT_EQ(loop.path, matmul_path::expert_loop);
    EXPECT_EQ(loop.repeats, 128u);
    EXPECT_EQ(loop.repeat_from, 3u);
    // 4,104 rows over 128 experts are 33 each, evenly spread.
    const std::vector<std::uint64_t> bytes{8 * 513 * 8, 513 * 8 * 2048 * 2, 4 * 513 * 8 * 768, 2 * 2048 * 33};
    ASSERT_EQ(loop.buffers.size(), bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(loop.buffers[i].bytes, bytes[i]) << i;
}

TEST(EngineMatmul, CostsCountWhatIsReadAndMultiplied)
{
    const model qwen = find_model("qwen3-30b-a3b");
    const target h200 = find_target("h200");
    const matmul_plan one = product(qwen, h200, era::reserved_fa, weight::expert_gate, 1);
    EXPECT_EQ(one.cost.flops, 2u * 8 * 2048 * 768);
    EXPECT_EQ(one.cost.bytes, 8ull * (2048 * 768 * 144 / 256 + 2048 * 9 / 8 + 768 * 4));
    const matmul_plan many = product(qwen, h200, era::reserved_fa, weight::expert_gate, 512);
    // 32 tokens for each of 128 experts, in tiles of 128.
    EXPECT_EQ(many.cost.flops, 2ull * 2048 * 768 * 128 * 128);
    EXPECT_EQ(many.cost.bytes, 128ull * 2048 * 768 * 144 / 256 + 512u * 8 * (2048 * 9 / 8 + 768 * 4));
}

}  // namespace
}  // namespace vrambench::engine
