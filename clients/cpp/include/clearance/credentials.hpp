// What a client shows to servers that ask who calls, and whom it trusts.
#pragma once

#include <filesystem>
#include <string>

namespace clearance {

// Whom a client trusts, and what it shows, where addresses begin with `https`.
struct Tls {
    // The authorities of servers, PEM; empty: those that the system trusts.
    std::string authorities_pem;
    // The client's own certificate, then those that lead to its authority, PEM; empty: it has none.
    std::string certificates_pem;
    // The key of that, PEM.
    std::string key_pem;
    // The name that the server's certificate has; empty: that of the address.
    std::string server_name;

    // Trusts the authorities of a file. Throws `std::runtime_error` if it cannot be read.
    static Tls trusting(const std::filesystem::path& authorities);
    // The same, and shows a certificate.
    static Tls trusting(const std::filesystem::path& authorities, const std::filesystem::path& certificates,
                        const std::filesystem::path& key);
};

}  // namespace clearance
