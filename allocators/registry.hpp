#pragma once
// The allocators that a user can name.

#include "allocators/allocator.hpp"
#include "spec/spec.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench {

/// An allocator as chosen by a user, not yet made.
struct allocator_choice {
    std::string name;      ///< as typed or aliased: "legacy-retry"
    std::string title;     ///< for tables: "legacy-retry (after #22155)"
    std::string spec;      ///< canonical: "legacy:retry=flush"
    config settings;
};

/// All allocators, in the order of `vrambench list allocators`. Aliases (`legacy-retry`) are entries of their own.
const std::vector<const entry*>& allocator_entries();

/// Understands a spec. Throws input_error.
allocator_choice choose_allocator(std::string_view spec_text);

/// Makes a fresh allocator on `dev` for a trace with `streams` streams: one pool a stream where the original has one.
/// Throws unsupported_error where the device lacks what it needs.
std::unique_ptr<allocator> make_allocator(const allocator_choice& choice, device& dev, std::uint32_t streams);

}  // namespace vrambench
