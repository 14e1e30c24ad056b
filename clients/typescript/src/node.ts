// Over gRPC, to the address that the server listens on: in Node, whose HTTP/2 pages do not have.

import { createGrpcTransport } from "@connectrpc/connect-node";
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
    createGrpcTransport({ baseUrl, interceptors, nodeOptions: { ...options.tls } }),
  );
  return new Clearance(ways, options.retry);
}
