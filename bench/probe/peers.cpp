// Peers: memory of one device used by kernels of another.

#include "bench/probe/probes.hpp"

namespace vrambench::probing {

void probe_peers(session& s)
{
    s.ask("peers.access", "memory of another device", [&]() -> answer {
        const auto& facts = s.dev.info().facts;
        const auto devices = facts.find("devices");
        if (devices == facts.end() || devices->second == "1") throw unsupported_error("there is one device");
        throw unsupported_error("there are " + devices->second + " devices; not asked by this version");
    });
}

}  // namespace vrambench::probing
