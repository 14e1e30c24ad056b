// A client: every service with its types, what it has registered, and sessions.

import { type MessageInitShape } from "@bufbuild/protobuf";
import {
  type Client,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import {
  type PolytopeSpec,
  PolytopeService,
  type PolytopeSpecSchema,
  RegisterPolytopesRequestSchema,
  type RegisterPolytopesResponse,
} from "./gen/clearance/v1/polytope_service_pb.js";
import { QueryService } from "./gen/clearance/v1/query_service_pb.js";
import {
  type RegisterRobotRequestSchema,
  type RegisterRobotResponse,
  RobotService,
} from "./gen/clearance/v1/robot_service_pb.js";
import { ServerService } from "./gen/clearance/v1/server_service_pb.js";
import { SessionService } from "./gen/clearance/v1/session_service_pb.js";
import { Session, type SessionInit } from "./session.js";
import { type RetryPolicy, USUAL_RETRY, Ways } from "./ways.js";
import { create } from "@bufbuild/protobuf";
import { PolytopeSpecSchema as SpecSchema } from "./gen/clearance/v1/polytope_service_pb.js";

/** How a server is called. */
export interface ConnectOptions {
  /** The key that each call brings. */
  readonly key?: string;
  /** How often a call is made that failed. */
  readonly retry?: Partial<RetryPolicy>;
  /** In which words; Connect where nothing else is said. */
  readonly protocol?: "connect" | "grpc-web";
  /** Messages as JSON, to be read in the browser's tools; in bytes where nothing is said. */
  readonly json?: boolean;
}

/** Calls servers at addresses of their side ports, as `http://127.0.0.1:8080`: in Node and in pages. */
export function connect(
  addresses: string | readonly string[],
  options: ConnectOptions = {},
): Clearance {
  const all = typeof addresses === "string" ? [addresses] : addresses;
  const interceptors = [withKey(options.key)];
  const make = options.protocol === "grpc-web" ? createGrpcWebTransport : createConnectTransport;
  const useBinaryFormat = options.json !== true;
  const ways = all.map((baseUrl) => make({ baseUrl, useBinaryFormat, interceptors }));
  return new Clearance(ways, options.retry);
}

/** Lets each call bring a key. */
export function withKey(key: string | undefined): Interceptor {
  return (next) => (request) => {
    if (key !== undefined) request.header.set("authorization", `Bearer ${key}`);
    return next(request);
  };
}

/** All services of a server, or of several that may stand in for one another. */
export class Clearance {
  /** Bodies: registered, asked for, deleted. */
  readonly polytopes: Client<typeof PolytopeService>;
  /** Questions about two bodies. */
  readonly queries: Client<typeof QueryService>;
  /** Robots, their configurations and edges. */
  readonly robots: Client<typeof RobotService>;
  /** Scenes that go on frame by frame, as the server has them; `open` has them outlive it. */
  readonly sessions: Client<typeof SessionService>;
  /** What the server is, and what it holds. */
  readonly server: Client<typeof ServerService>;
  /** How often a call is made that failed. */
  readonly retry: RetryPolicy;
  private readonly specs = new Map<string, PolytopeSpec>();
  private readonly robotRequests = new Map<string, MessageInitShape<typeof RegisterRobotRequestSchema>>();

  constructor(ways: readonly Transport[], retry: Partial<RetryPolicy> = {}) {
    this.retry = { ...USUAL_RETRY, ...retry };
    const all = new Ways(ways, this.retry);
    this.polytopes = createClient(PolytopeService, all);
    this.queries = createClient(QueryService, all);
    this.robots = createClient(RobotService, all);
    this.sessions = createClient(SessionService, all);
    this.server = createClient(ServerService, all);
  }

  /** Registers bodies, and again wherever a session is opened anew on a server without them. */
  async register(
    ...specs: MessageInitShape<typeof PolytopeSpecSchema>[]
  ): Promise<RegisterPolytopesResponse> {
    const request = create(RegisterPolytopesRequestSchema, { polytopes: specs });
    const response = await this.polytopes.registerPolytopes(request);
    response.reports.forEach((report, at) => {
      const spec = request.polytopes[at] ?? create(SpecSchema);
      if (report.polytope) this.specs.set(`${report.polytope.id} ${spec.alias}`, spec);
    });
    return response;
  }

  /** Registers a robot, likewise. */
  async registerRobot(
    request: MessageInitShape<typeof RegisterRobotRequestSchema>,
  ): Promise<RegisterRobotResponse> {
    const response = await this.robots.registerRobot(request);
    if (response.robot) this.robotRequests.set(response.robot.id, request);
    return response;
  }

  /** Registers again what this client has registered. */
  async registerAgain(): Promise<void> {
    const polytopes = [...this.specs.values()];
    if (polytopes.length > 0) await this.polytopes.registerPolytopes({ polytopes });
    for (const request of this.robotRequests.values()) await this.robots.registerRobot(request);
  }

  /** Opens a session that outlives connections and servers. */
  open(init: SessionInit = {}): Promise<Session> {
    return Session.open(this, init);
  }
}
