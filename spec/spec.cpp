#include "spec/spec.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <stdexcept>

namespace vrambench {
namespace {

constexpr auto npos = std::string_view::npos;

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// Paths may hold a `=`; keys hold no `/`, `.` or `@`.
bool is_positional(std::string_view item)
{
    const auto equals = item.find('=');
    return equals == npos || item.substr(0, equals).find_first_of("/.@") != npos;
}

void add_value(spec& s, std::string_view item)
{
    const auto equals = item.find('=');
    const std::string name = printable(s.name);
    if (equals == npos) throw input_error(name + ": " + in_quotes(item) + " is not key=value");
    const std::string key(item.substr(0, equals)), value(item.substr(equals + 1));
    if (key.empty()) throw input_error(name + ": " + in_quotes(item) + " has no key");
    if (value.empty()) throw input_error(name + ": key " + in_quotes(key) + " has no value");
    for (const auto& known : s.values)
        if (known.first == key) throw input_error(name + ": key " + in_quotes(key) + " is given twice");
    s.values.emplace_back(key, value);
}

/// Words of a key that has a fixed set of them, or words that a size or integer key accepts beside numbers.
std::string canonical_word(const std::string& what, const key_info& key, const std::string& value)
{
    if (std::find(key.choices.begin(), key.choices.end(), value) != key.choices.end()) return value;
    const char* const also = key.type == key_type::size ? "a size or " : key.type == key_type::choice ? "" : "a number or ";
    throw input_error(what + ": " + in_quotes(value) + " is not " + also + "one of " + joined(key.choices) +
                      did_you_mean(value, key.choices));
}

void check_size_range(const std::string& what, const key_info& key, std::uint64_t bytes)
{
    const std::string typed = what + ": " + exact_size(bytes);
    if (bytes < key.least) throw input_error(typed + " is too small (at least " + exact_size(key.least) + ")");
    if (bytes > key.most) throw input_error(typed + " is too large (at most " + exact_size(key.most) + ")");
    if (bytes % key.multiple != 0) throw input_error(typed + " is not a multiple of " + exact_size(key.multiple));
}

std::string canonical_value(const entry& e, const key_info& key, const std::string& value)
{
    const std::string what = e.name + ": " + key.name;
    const bool numeric = !value.empty() && value.front() >= '0' && value.front() <= '9';
    if (key.type == key_type::choice || (!numeric && !key.choices.empty())) return canonical_word(what, key, value);
    switch (key.type) {
    case key_type::size: {
        const std::uint64_t bytes = parse_size(value, what);
        check_size_range(what, key, bytes);
        return exact_size(bytes);
    }
    case key_type::integer: return std::to_string(parse_integer(value, what, key.least, key.most));
    case key_type::number:
        return exact_number(parse_number(value, what, static_cast<double>(key.least), static_cast<double>(key.most)));
    case key_type::choice:
    case key_type::text: break;
    }
    return value;
}

void check_keys(const entry& e, const spec& s)
{
    std::vector<std::string> names;
    for (const auto& k : e.keys) names.push_back(k.name);
    for (const auto& typed : s.values) {
        if (std::find(names.begin(), names.end(), typed.first) != names.end()) continue;
        const std::string hint = did_you_mean(typed.first, names);
        const std::string keys = names.empty() ? " (it has no keys)" : " (keys: " + joined(names) + ")";
        throw input_error(e.name + ": unknown key " + in_quotes(typed.first) + (hint.empty() ? keys : hint));
    }
}

void check_positional(const entry& e, const spec& s)
{
    if (s.positional.empty() || !e.positional_help.empty()) return;
    std::string hint;
    for (const auto& k : e.keys)
        if (std::find(k.choices.begin(), k.choices.end(), s.positional) != k.choices.end())
            hint = ", did you mean " + in_quotes(k.name + "=" + s.positional) + "?";
    throw input_error(e.name + ": " + in_quotes(s.positional) + " is not key=value" + hint);
}

const std::string* typed_value(const spec& s, const std::string& key)
{
    for (const auto& v : s.values)
        if (v.first == key) return &v.second;
    return nullptr;
}

std::string lower(std::string_view text)
{
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

/// Edits that turn `a` into `b`: insertions, deletions, replacements, and swaps of neighbours, which are one typing error.
std::size_t edit_distance(const std::string& a, const std::string& b)
{
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

}  // namespace

spec parse_spec(std::string_view text)
{
    spec s;
    const auto colon = text.find(':');
    s.name = text.substr(0, colon);
    if (s.name.empty()) throw input_error("a spec must start with a name: " + in_quotes(text));
    if (s.name.find_first_of("=,") != std::string::npos)
        throw input_error(in_quotes(text) + " is not a spec: write name:key=value,key=value");
    if (colon == npos) return s;
    bool first = true;
    for (const auto item : split(text.substr(colon + 1), ',')) {
        if (item.empty()) throw input_error(in_quotes(text) + " has an empty item");
        if (first && is_positional(item))
            s.positional = item;
        else
            add_value(s, item);
        first = false;
    }
    return s;
}

std::vector<std::string> split_specs(std::string_view text)
{
    std::vector<std::string> specs;
    for (const auto item : split(text, ',')) {
        if (item.empty()) throw input_error(in_quotes(text) + " has an empty item");
        const auto equals = item.find('=');
        if (equals == npos || item.find(':') < equals)
            specs.emplace_back(item);
        else if (specs.empty())
            throw input_error(in_quotes(item) + " belongs to no name: write name:key=value");
        else   // `sim,vram=4GiB` has a name without a colon: its keys start here
            specs.back().append(specs.back().find(':') == std::string::npos ? ":" : ",").append(item);
    }
    return specs;
}

std::vector<std::string> split_specs(const std::vector<std::string>& typed)
{
    std::vector<std::string> all;
    for (const auto& list : typed)
        for (auto& s : split_specs(list)) all.push_back(std::move(s));
    return all;
}

std::string with_key(std::string_view text, const std::string& key, const std::string& value)
{
    spec s = parse_spec(text);
    const auto found = std::find_if(s.values.begin(), s.values.end(), [&](const auto& kv) { return kv.first == key; });
    if (found != s.values.end()) found->second = value;
    else s.values.emplace_back(key, value);
    std::string out = s.name + ":" + s.positional;
    for (const auto& [k, v] : s.values) out += (out.back() == ':' ? "" : ",") + k + "=" + v;
    return out;
}

std::vector<std::string> split_words(const std::vector<std::string>& typed)
{
    std::vector<std::string> all;
    for (const auto& list : typed)
        for (const auto word : split(list, ',')) all.emplace_back(word);
    return all;
}

void config::set(std::string key, std::string value)
{
    for (auto& v : values_)
        if (v.first == key) {
            v.second = std::move(value);
            return;
        }
    values_.emplace_back(std::move(key), std::move(value));
}

const std::string& config::text(std::string_view key) const
{
    for (const auto& v : values_)
        if (v.first == key) return v.second;
    throw std::logic_error("no key " + in_quotes(key) + " in this configuration");
}

// A stored value is canonical, so one that does not parse is a word, and asking for its number is a mistake in our code.
std::uint64_t config::size(std::string_view key) const
{
    try {
        return parse_size(text(key), key);
    } catch (const input_error& e) {
        throw std::logic_error(e.what());
    }
}

std::uint64_t config::integer(std::string_view key) const
{
    try {
        return parse_integer(text(key), key, 0, ~std::uint64_t{0});
    } catch (const input_error& e) {
        throw std::logic_error(e.what());
    }
}

double config::number(std::string_view key) const
{
    try {
        return parse_number(text(key), key, -1e300, 1e300);
    } catch (const input_error& e) {
        throw std::logic_error(e.what());
    }
}

config resolve(const entry& e, const spec& s)
{
    check_positional(e, s);
    check_keys(e, s);
    config c;
    for (const auto& key : e.keys) {
        const std::string* typed = typed_value(s, key.name);
        if (typed == nullptr && key.default_value.empty())
            throw input_error(e.name + ": " + key.name + "= must be given (" + key.help + ")");
        c.set(key.name, canonical_value(e, key, typed != nullptr ? *typed : key.default_value));
    }
    return c;
}

std::string canonical(const entry& e, const config& c, std::string_view positional)
{
    std::string items(positional);
    for (const auto& v : c.values()) items += (items.empty() ? "" : ",") + v.first + "=" + v.second;
    return items.empty() ? e.name : e.name + ":" + items;
}

const entry& find_entry(const std::vector<const entry*>& entries, std::string_view name, std::string_view kind)
{
    std::vector<std::string> names;
    for (const entry* e : entries) {
        if (e->name == name) return *e;
        names.push_back(e->name);
    }
    const std::string what(kind);
    throw input_error("unknown " + what + " " + in_quotes(name) + did_you_mean(name, names) + " (vrambench list " + what +
                      "s)");
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates)
{
    std::string best;
    std::size_t fewest = npos;
    for (const auto& candidate : candidates) {
        const std::size_t edits = edit_distance(lower(word.substr(0, 100)), lower(candidate));
        if (edits >= fewest || 3 * edits > std::max(word.size(), candidate.size())) continue;
        best = candidate;
        fewest = edits;
    }
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates)
{
    const std::string near = nearest(word, candidates);
    return near.empty() ? std::string{} : ", did you mean " + in_quotes(near) + "?";
}

std::string joined(const std::vector<std::string>& words)
{
    std::string out;
    for (const auto& w : words) out += (out.empty() ? "" : ", ") + w;
    return out;
}

std::string fnv1a(std::string_view text)
{
    std::uint64_t hash = 14695981039346656037u;
    for (const char ch : text) hash = (hash ^ static_cast<unsigned char>(ch)) * 1099511628211u;
    static constexpr char digits[] = "0123456789abcdef";
    std::string word(16, '0');
    for (int i = 15; i >= 0; --i, hash >>= 4) word[static_cast<std::size_t>(i)] = digits[hash & 15];
    return word;
}

}  // namespace vrambench
