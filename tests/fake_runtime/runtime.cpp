#include "tests/fake_runtime/runtime.hpp"

#include <cstdlib>

namespace vrambench::fake {

runtime& runtime::the()
{
    static auto* r = new runtime;
    return *r;
}

runtime::runtime()
{
    if (const char* set = std::getenv("VRAMBENCH_FAKE_RUNTIME")) how_.apply(set);
    cards_.resize(static_cast<std::size_t>(how_.devices));
}

void runtime::control(const char* settings)
{
    how_ = {};
    how_.apply(settings);
    cards_.clear();
    cards_.resize(static_cast<std::size_t>(how_.devices));
    log_.clear();
    calls_.clear();
    selected_ = 0;
    last_error_ = 0;
}

void runtime::select(int ordinal)
{
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= cards_.size()) throw refused{cards_.empty() ? no_device : invalid_device};
    selected_ = static_cast<std::size_t>(ordinal);
}

card& runtime::current() { return at(selected()); }

card& runtime::at(int ordinal)
{
    if (cards_.empty()) throw refused{no_device};
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= cards_.size()) throw refused{invalid_device};
    auto& c = cards_[static_cast<std::size_t>(ordinal)];
    if (!c) c = std::make_unique<card>(how_, log_);
    return *c;
}

int runtime::finish(int code)
{
    if (code) last_error_ = code;
    return code;
}

bool runtime::is_to_fail(const std::string& name)
{
    fault& f = how_.fail;
    if ((f.call != name && f.call != "any") || f.in == 0) return false;
    if (f.in > 1) return --f.in, false;
    if (!f.stays) f.in = 0;
    return true;
}

int runtime::driver_call(const char* name, const std::function<void()>& body)
{
    const int before = last_error_;
    const int code = call(name, body);
    last_error_ = before;
    return code;
}

int runtime::question(const char* name, const std::function<void()>& body)
{
    calls_.emplace_back(name);
    if (is_to_fail(name)) return finish(how_.fail.code);
    try {
        body();
        return 0;
    } catch (const refused& r) {
        return finish(r.code);
    } catch (const device_error& e) {
        return finish(e.code());
    } catch (const unsupported_error&) {
        return finish(not_supported);
    } catch (const std::exception&) {    // a handle that nobody has
        return finish(invalid_value);
    }
}

int runtime::call(const char* name, const std::function<void()>& body)
{
    return question(name, [&] {
        card& c = current();
        if (c.broken()) throw refused{c.broken()};
        c.catch_up();
        body();
        c.last_as_long();
    });
}

int runtime::take_last_error()
{
    const int code = last_error_;
    const bool stays = !cards_.empty() && cards_[selected_] && cards_[selected_]->broken();
    last_error_ = stays ? cards_[selected_]->broken() : 0;
    return code;
}

const char* runtime::report(const std::string& what)
{
    answer_.clear();
    if (what == "alive" && !cards_.empty() && cards_[selected_]) answer_ = cards_[selected_]->alive();
    if (what == "log")
        for (const auto& line : log_) answer_ += line + "\n";
    if (what == "calls")
        for (const auto& line : calls_) answer_ += line + "\n";
    return answer_.c_str();
}

void runtime::register_kernel(const void* host, const char* mangled_name)
{
    if (auto make = find_kernel(mangled_name)) kernels_[host] = std::move(make);
}

int runtime::launch(const void* host, void** arguments, std::uint64_t stream)
{
    return call("Launch", [&] {
        const auto it = kernels_.find(host);
        if (it == kernels_.end()) throw refused{no_host_kernel};
        current().launch(it->second(arguments), static_cast<stream_id>(stream));
    });
}

}  // namespace vrambench::fake
