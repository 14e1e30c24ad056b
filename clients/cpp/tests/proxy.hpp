// Forwards bytes, and cuts each connection whose answer it has been told to swallow.
#pragma once

#include <atomic>
#include <list>
#include <string>
#include <thread>

namespace testing {

class Proxy {
public:
    // Before the server at this port of the loopback interface.
    explicit Proxy(int port);
    ~Proxy();
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;

    std::string address() const { return "127.0.0.1:" + std::to_string(own_port_); }
    // The next bytes that the server sends end the connection instead of arriving.
    void swallow() { to_swallow_++; }
    int swallowed() const { return swallowed_; }

private:
    void accept();
    void forward(int near);

    int port_;
    int own_port_ = 0;
    int listener_ = -1;
    std::atomic<bool> is_over_ = false;
    std::atomic<int> to_swallow_ = 0;
    std::atomic<int> swallowed_ = 0;
    std::list<std::thread> threads_;
    std::thread accepting_;
};

}  // namespace testing
