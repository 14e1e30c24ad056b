// Over gRPC, to the address that the server listens on: in Node, whose HTTP/2 pages do not have.

import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Clearance, withKey } from "./client.js";
import type { RetryPolicy } from "./ways.js";

/** How a server is called over gRPC. */
export interface GrpcOptions {
  /** The key that each call brings. */
  readonly key?: string;
  /** How often a call is made that failed. */
  readonly retry?: Partial<RetryPolicy>;
  /** Certificates, as `tls.connect` of Node takes them: `{ ca }`, with `cert` and `key` of a client. */
  readonly tls?: Readonly<Record<string, unknown>>;
}

/** Calls servers at addresses as `http://127.0.0.1:50061`, or `https://` within TLS. */
export function connectGrpc(
  addresses: string | readonly string[],
  options: GrpcOptions = {},
): Clearance {
  const all = typeof addresses === "string" ? [addresses] : addresses;
  const interceptors = [withKey(options.key)];
  const ways = all.map((baseUrl) =>
    createGrpcTransport({
      baseUrl,
      interceptors,
      sessionManager: new GuardedSessions(baseUrl, undefined, { ...options.tls }),
    }),
  );
  return new Clearance(ways, options.retry);
}

/** What of a connection of Node's is of interest here. */
interface Emitter {
  on(event: "error", heard: () => void): unknown;
}

/**
 * Connections whose errors end no program. A server that lets a connection go on which nothing is
 * under way (GOAWAY) has the transport destroy it with an error, to which it listens no more then
 * (connect-node 2.1.2), and an error without a listener ends Node. What is under way learns of
 * errors by its own stream.
 */
class GuardedSessions extends Http2SessionManager {
  private readonly guarded = new WeakSet<object>();

  override async request(
    ...asked: Parameters<Http2SessionManager["request"]>
  ): ReturnType<Http2SessionManager["request"]> {
    const stream = await super.request(...asked);
    const session: Emitter | undefined = stream.session;
    if (session && !this.guarded.has(session)) {
      this.guarded.add(session);
      session.on("error", () => {});
    }
    return stream;
  }
}
