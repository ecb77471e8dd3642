#pragma once
// Reads one JSON object of our own data files (models, targets, cost profiles) and says where it is wrong: one line with the
// file and the key.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench {

/// Parses `text`; throws input_error "ORIGIN: not valid JSON" where it is none, "ORIGIN: must be a JSON object" where it is no object.
nlohmann::json parse_json(std::string_view text, const std::string& origin);

/// Whatever a key does not hold as asked for is an input_error: "WHERE: "KEY" must be ...".
class json_reader {
public:
    /// `j` must outlive the reader; `where` names it in errors.
    json_reader(const nlohmann::json& j, std::string where);

    [[noreturn]] void fail(const std::string& key, const std::string& what) const;
    /// Every key that is asked for is a known one.
    bool has(const std::string& key) const;
    /// The value of a key that must be there.
    const nlohmann::json& at(const std::string& key) const;
    json_reader in(const std::string& key) const;
    std::string text(const std::string& key) const;   ///< not empty
    std::uint64_t number(const std::string& key, std::uint64_t least, std::uint64_t most) const;
    bool flag(const std::string& key) const;
    /// To be called when all was read: a misspelt optional key must not be silently left out.
    void no_other_keys() const;
    const std::string& where() const { return where_; }

private:
    const nlohmann::json& j_;
    std::string where_;
    mutable std::vector<std::string> known_;
};

}  // namespace vrambench
