#include "clearance/credentials.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace clearance {

namespace {

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path.string() + " cannot be read");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Tls Tls::trusting(const std::filesystem::path& authorities) {
    Tls tls;
    tls.authorities_pem = content(authorities);
    return tls;
}

Tls Tls::trusting(const std::filesystem::path& authorities, const std::filesystem::path& certificates,
                  const std::filesystem::path& key) {
    Tls tls = trusting(authorities);
    tls.certificates_pem = content(certificates);
    tls.key_pem = content(key);
    return tls;
}

}  // namespace clearance
