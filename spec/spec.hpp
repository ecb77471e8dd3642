#pragma once
// The grammar of specs: `name[:key=value[,key=value...]]`, optionally with one positional item (`sim:h200,vram=4GiB`).
// Every name that a user can type is an `entry` with its keys, defaults, units and help in one table, from which parsing,
// the canonical form, `vrambench list` and the suggestions for typing errors all follow.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vrambench {

/// What was typed, split but not understood.
struct spec {
    std::string name;
    std::string positional;                                      ///< `h200` in `sim:h200,vram=4GiB`; empty if none
    std::vector<std::pair<std::string, std::string>> values;    ///< in the order typed
};

/// Splits one spec. Throws input_error on an empty name, key or value, or a repeated key. A first item without `=` is
/// positional, and so is one with a `/`, `.` or `@` before its `=`: a path may hold one.
spec parse_spec(std::string_view text);

/// Splits a comma-separated list of specs. An item starts a new spec unless it is a `key=value`: that is, where it has
/// no `=`, or a `:` before its first `=` (keys hold no colon). `legacy,async:retry=sync,threshold=0,vmm` are three.
/// The first item after `name:` may be positional, so `sim:h200,vram=4GiB` is one.
std::vector<std::string> split_specs(std::string_view text);
/// The same for a repeated option.
std::vector<std::string> split_specs(const std::vector<std::string>& typed);

/// The spec with `key` set to `value`, whatever it was before. Throws input_error where `text` is no spec.
std::string with_key(std::string_view text, const std::string& key, const std::string& value);

/// Splits a repeated option whose values are comma-separated lists of plain words ("none,40MiB"). An empty item stays: who
/// reads the words refuses it and names the option.
std::vector<std::string> split_words(const std::vector<std::string>& typed);

enum class key_type { size, integer, number, choice, text };

/// One key of an entry. `unit` and `help` are printed by `vrambench list`.
struct key_info {
    std::string name;
    key_type type = key_type::text;
    std::string default_value;               ///< as a user would type it; empty: the key must be given
    std::string unit;                        ///< "bytes", "tokens", "ns", ... or empty
    std::string help;
    std::vector<std::string> choices = {};   ///< key_type::choice; also words that a size or integer key accepts beside numbers
    std::uint64_t least = 0;                 ///< size, integer and number
    std::uint64_t most = std::uint64_t{1} << 60;
    std::uint64_t multiple = 1;              ///< size: whole multiples of this only
};

/// The resolved values of an entry's keys, in the order of its table, every one present.
class config {
public:
    config() = default;
    void set(std::string key, std::string value);               ///< adds or replaces; the value is in canonical form
    const std::string& text(std::string_view key) const;        ///< throws std::logic_error for a key that is not there
    bool is(std::string_view key, std::string_view word) const { return text(key) == word; }
    std::uint64_t size(std::string_view key) const;
    std::uint64_t integer(std::string_view key) const;
    double number(std::string_view key) const;
    const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }

private:
    std::vector<std::pair<std::string, std::string>> values_;
};

/// A name that users can type.
struct entry {
    std::string name;
    std::string help;                        ///< one line
    std::string origin;                      ///< where the policy or the traffic comes from: paper, thread, file; may be empty
    std::vector<key_info> keys;
    std::string positional_help = {};        ///< non-empty: the entry takes a positional item, described by this
};

/// Resolves what was typed against the entry: defaults filled in, values checked and brought to canonical form.
/// Throws input_error that names the entry and suggests the nearest key or choice.
config resolve(const entry& e, const spec& s);

/// `name:key=value,...` with all keys and defaults; parse_spec and resolve of it give the same config.
std::string canonical(const entry& e, const config& c, std::string_view positional = {});

/// The entry named `name`; throws input_error "unknown KIND 'NAME', did you mean 'X'? (vrambench list KINDs)".
const entry& find_entry(const std::vector<const entry*>& entries, std::string_view name, std::string_view kind);

/// FNV-1a, 64 bits, as 16 hexadecimal digits: names contents, guards nothing.
std::string fnv1a(std::string_view text);

/// The candidate with the smallest edit distance to `word`, or empty where none is near (more than a third of it wrong).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// ", did you mean 'X'?" with the nearest candidate, or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "one, two, three"
std::string joined(const std::vector<std::string>& words);

}  // namespace vrambench
