#include "bench/trimmed_json.hpp"

#include <algorithm>
#include <cstring>

namespace vrambench {

namespace {

class json_trimmer {
public:
    json_trimmer(std::string_view text, std::span<const trimmed_member> members) : text_(text), members_(members) {}

    std::string trimmed()
    {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"') {
                take_string();
                continue;
            }
            depth_ += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
            ++at_;
        }
        out_.append(text_, copied_, at_ - copied_);
        return std::move(out_);
    }

private:
    bool is_space(char c) const { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

    void skip_space()
    {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    /// From an opening quote to behind the closing one.
    void skip_string()
    {
        for (++at_; at_ < text_.size();) {
            const void* const quote = std::memchr(text_.data() + at_, '"', text_.size() - at_);
            if (!quote) break;
            at_ = static_cast<std::size_t>(static_cast<const char*>(quote) - text_.data());
            std::size_t slashes = 0;
            while (text_[at_ - 1 - slashes] == '\\') ++slashes;    // ends at the opening quote at the latest
            ++at_;
            if (slashes % 2 == 0) return;
        }
        at_ = text_.size();
    }

    /// A string; where it names a member to leave out, the value too.
    void take_string()
    {
        const std::size_t from = at_ + 1;
        skip_string();
        const std::string_view name = text_.substr(from, at_ - 1 - std::min(from, at_ - 1));
        const auto wanted = [&](const trimmed_member& m) { return m.depth == depth_ && m.name == name; };
        if (std::none_of(members_.begin(), members_.end(), wanted)) return;
        skip_space();
        if (at_ >= text_.size() || text_[at_] != ':') return;    // a value that reads like the name
        ++at_;
        skip_space();
        out_.append(text_, copied_, at_ - copied_);
        skip_value();
        out_ += "{}";
        copied_ = at_;
    }

    void skip_value()
    {
        int open = 0;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"') {
                skip_string();
            } else if (c == '{' || c == '[') {
                ++open;
                ++at_;
            } else if (open > 0) {
                open -= c == '}' || c == ']';
                ++at_;
            } else if (c == ',' || c == '}' || c == ']' || is_space(c)) {
                return;    // behind a number or a word
            } else {
                ++at_;
                continue;
            }
            if (open == 0) return;
        }
    }

    std::string_view text_;
    std::span<const trimmed_member> members_;
    std::string out_;
    std::size_t at_ = 0, copied_ = 0;
    int depth_ = 0;
};

}  // namespace

std::string without_members(std::string_view text, std::span<const trimmed_member> members)
{
    return json_trimmer(text, members).trimmed();
}

}  // namespace vrambench
