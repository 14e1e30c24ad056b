// A server of the tests' own, which can be killed and started again at the same addresses.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const PROGRAM = process.env.CLEARANCE_SERVER ?? "../../target/debug/clearance";

/** A port that was free just now. */
export async function freePort() {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address();
  listener.close();
  await once(listener, "close");
  return port;
}

export class Server {
  static async start(...flags) {
    const server = new Server();
    server.flags = flags;
    server.grpcPort = await freePort();
    server.webPort = await freePort();
    await server.again();
    return server;
  }

  /** Where calls over HTTP/1.1 are answered. */
  get web() {
    return `http://127.0.0.1:${this.webPort}`;
  }

  /** Where gRPC is spoken. */
  get grpc() {
    return `http://127.0.0.1:${this.grpcPort}`;
  }

  async again() {
    const [listen, http] = [this.grpcPort, this.webPort].map((port) => `127.0.0.1:${port}`);
    const flags = ["serve", "--listen", listen, "--http", http, "--log", "warn", ...this.flags];
    this.process = spawn(PROGRAM, flags, { env: {}, stdio: ["ignore", "pipe", "inherit"] });
    this.process.on("error", (error) => console.error(`${PROGRAM}: ${error.message}`));
    const lines = createInterface({ input: this.process.stdout });
    for await (const line of lines) if (line.includes("listening on")) break;
    this.process.stdout.resume();
    // The line is written before the side port listens.
    for (;;) {
      const page = await fetch(`${this.web}/readyz`).catch(() => undefined);
      if (page?.ok) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends the process: at once, or as a balancer would have it. */
  async stop(signal = "SIGKILL") {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill(signal);
    await once(this.process, "exit");
  }

  async restart() {
    await this.stop();
    await this.again();
  }
}

/** A generator of numbers from 0 to 1 under a seed (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
