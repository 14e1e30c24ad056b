#include "proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace testing {

namespace {

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

// Whether all of it went.
bool send_all(int to, const char* bytes, ssize_t count) {
    while (count > 0) {
        const ssize_t sent = send(to, bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes += sent;
        count -= sent;
    }
    return true;
}

}  // namespace

Proxy::Proxy(int port) : port_(port), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* as = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_, as, size) != 0 || listen(listener_, 16) != 0 || getsockname(listener_, as, &size) != 0) {
        throw std::runtime_error("the proxy does not listen");
    }
    own_port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { accept(); });
}

Proxy::~Proxy() {
    is_over_ = true;
    accepting_.join();
    for (std::thread& thread : threads_) thread.join();
    close(listener_);
}

void Proxy::accept() {
    while (!is_over_) {
        pollfd waiting{listener_, POLLIN, 0};
        if (poll(&waiting, 1, 50) <= 0) continue;
        const int near = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (near >= 0) threads_.emplace_back([this, near] { forward(near); });
    }
}

void Proxy::forward(int near) {
    const int far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port_);
    bool goes_on = connect(far, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    char bytes[65536];
    while (goes_on && !is_over_) {
        pollfd waiting[2] = {{near, POLLIN, 0}, {far, POLLIN, 0}};
        if (poll(waiting, 2, 50) <= 0) continue;
        for (int side = 0; side < 2 && goes_on; side++) {
            if (!waiting[side].revents) continue;
            const ssize_t count = recv(waiting[side].fd, bytes, sizeof bytes, 0);
            if (side == 1 && count > 0 && to_swallow_ > 0) {
                to_swallow_--;
                swallowed_++;
                goes_on = false;
            } else {
                goes_on = count > 0 && send_all(waiting[1 - side].fd, bytes, count);
            }
        }
    }
    close(near);
    close(far);
}

}  // namespace testing
