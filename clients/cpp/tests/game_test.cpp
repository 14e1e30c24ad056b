// The example of a game goes on while its server is started again.
//
// usage: game_test PROGRAM

#include <cstdio>
#include <iostream>
#include <thread>

#include "server.hpp"

int main(int count, char** arguments) {
    if (count != 2) return 2;
    testing::Server server;
    testing::Program game({arguments[1], server.address(), "6"});
    std::this_thread::sleep_for(std::chrono::seconds(2));
    server.restart();
    std::string said;
    unsigned frames = 0, events = 0, rays = 0;
    while (game.line(said)) std::sscanf(said.c_str(), "frame %u: %u events, %u rays", &frames, &events, &rays);
    const int code = game.wait();
    std::cout << frames << " frames, " << events << " events, " << rays << " rays, code " << code << '\n';
    return code == 0 && frames > 60 && events > 10 && rays > 60 ? 0 : 1;
}
