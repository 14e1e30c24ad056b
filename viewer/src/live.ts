// A server at the page's own origin, over gRPC-Web.
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-web';
import { type GetPolytopeResponse, PolytopeService } from '../gen/clearance/v1/polytope_service_pb.js';
import { type PlacedBody, QueryService } from '../gen/clearance/v1/query_service_pb.js';
import { type Robot, RobotService } from '../gen/clearance/v1/robot_service_pb.js';
import { Notice, type SessionSummary, SessionService, type WatchSessionResponse } from '../gen/clearance/v1/session_service_pb.js';
import { PairReportSchema, type PairReport } from '../gen/clearance/v1/session_service_pb.js';
import { create } from '@bufbuild/protobuf';

const AGAIN_MS = 1500;

export class Live {
  private sessions;
  private polytopes;
  private robots;
  private queries;
  private stop?: AbortController;

  constructor(baseUrl: string, private key: string) {
    const transport = createGrpcWebTransport({ baseUrl, interceptors: [(next) => (request) => {
      if (this.key) request.header.set('clearance-session-key', this.key);
      return next(request);
    }] });
    this.sessions = createClient(SessionService, transport);
    this.polytopes = createClient(PolytopeService, transport);
    this.robots = createClient(RobotService, transport);
    this.queries = createClient(QueryService, transport);
  }

  async list(): Promise<SessionSummary[]> {
    return (await this.sessions.listSessions({ sessionKeys: this.key ? [this.key] : [] })).sessions;
  }

  // A registered body, or a part of a robot.
  async shape(id: string, robotId = ''): Promise<GetPolytopeResponse> {
    const key = { case: 'id' as const, value: id };
    return this.polytopes.getPolytope({ key, robotId, withVertices: true, withFacets: true }).catch((error) => {
      if (ConnectError.from(error).code === Code.NotFound) throw error;
      return this.polytopes.getPolytope({ key, robotId });
    });
  }

  async robot(id: string): Promise<Robot | undefined> { return (await this.robots.getRobot({ id })).robot; }

  // Follows a session until another one is followed; comes back after the server was away.
  async watch(sessionId: string, told: (message: WatchSessionResponse) => void, said: (state: string) => void): Promise<void> {
    this.stop?.abort();
    const stop = (this.stop = new AbortController());
    while (!stop.signal.aborted) {
      try {
        for await (const message of this.sessions.watchSession({ sessionId }, { signal: stop.signal })) {
          said('live');
          told(message);
          if (message.notice === Notice.CLOSED) said('closed');
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        said(ConnectError.from(error).code === Code.NotFound ? 'closed' : 'away');
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  leave(): void { this.stop?.abort(); }

  // How two bodies of one part stand, with the proof; as a report would tell it.
  async pair(a: number, b: number, p: PlacedBody, q: PlacedBody): Promise<PairReport> {
    const told = await this.queries.measureDistance({ p, q });
    const pair = create(PairReportSchema, { a, b, verdict: told.verdict, distance: told.distance, closestA: told.closestP,
      closestB: told.closestQ, distanceCertificate: told.certificate, certificate: told.certificate?.verdict });
    return pair;
  }
}
