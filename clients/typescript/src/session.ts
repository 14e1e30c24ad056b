// A scene of the server's that goes on frame by frame, and outlives connections and servers.
//
// | what has happened                                      | what the session does                      |
// |--------------------------------------------------------|--------------------------------------------|
// | the answer was lost, or the server drains              | sends the frame again, at the next address |
// | the session is forgotten, or the server another one    | opens it with the state that it knows      |
// | a frame builds on one that is not there                | sends it again with the pose of every body |
// | another client has a stream attached                   | the server's error; `takeOver` goes on     |
// | another session has its id                             | the server's error; nothing helps          |
//
// A frame that is sent again under the same number gets the same report again, so no event is lost
// or told twice.

import { clone, create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Clearance } from "./client.js";
import { ClearanceError } from "./errors.js";
import { ErrorReason } from "./gen/clearance/v1/status_pb.js";
import type { QuerySceneRequestSchema, QuerySceneResponse } from "./gen/clearance/v1/scene_query_pb.js";
import {
  type Frame,
  FrameSchema,
  type FrameReport,
  Notice,
  type OpenSessionRequest,
  OpenSessionRequestSchema,
  type OpenSessionResponse,
  type SessionState,
  SessionStateSchema,
  type WatchSessionResponse,
} from "./gen/clearance/v1/session_service_pb.js";
import { Mirror } from "./mirror.js";
import { pause, pauseAfter } from "./ways.js";

/** How a session is opened. */
export type SessionInit = MessageInitShape<typeof OpenSessionRequestSchema>;

/** A frame; without a number it gets the next one. */
export type FrameInit = MessageInitShape<typeof FrameSchema>;

/** What a call has to say to go on where a stream is attached. */
export interface StepOptions {
  /** Ends the stream that another client has attached. */
  readonly takeOver?: boolean;
}

/** How often one call restates the session, before it gives up. */
const RESTATEMENTS_MAX = 8;

/** A session. */
export class Session {
  private mirror: Mirror;
  private lastId: bigint;
  /** Calls that change the scene go one after the other. */
  private turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly client: Clearance,
    /** How it is opened, without the state. */
    private readonly request: OpenSessionRequest,
    state: SessionState,
    private told: OpenSessionResponse,
  ) {
    this.mirror = new Mirror(state);
    this.lastId = state.frameId;
  }

  /** Opens one with its scene. */
  static async open(client: Clearance, init: SessionInit): Promise<Session> {
    const request = create(OpenSessionRequestSchema, init);
    const state = request.state ?? create(SessionStateSchema);
    const told = await client.sessions.openSession(request).catch(async (thrown: unknown) => {
      const error = ClearanceError.of(thrown);
      if (lacksRegistered(error)) {
        // What it is made of was registered on another server, or was forgotten since.
        await client.registerAgain();
        return client.sessions.openSession(request);
      }
      // An earlier attempt has opened it, whose answer was lost: nobody else has the key.
      const isOurs = error.reason === "SESSION_EXISTS" && error.mayBeDone && request.sessionKey !== "";
      if (!isOurs) throw error;
      return client.sessions.openSession({ ...request, replace: true });
    });
    const { state: _, ...rest } = request;
    const session = new Session(client, create(OpenSessionRequestSchema, rest), state, told);
    if (told.report) session.mirror.announce(told.report);
    return session;
  }

  /** The id of the session. */
  get id(): string {
    return this.told.sessionId;
  }

  /** Which session of this id it is: 64 bits, so no `number`. */
  get incarnation(): bigint {
    return this.told.incarnation;
  }

  /** What the server said when the session was opened last. */
  get opened(): OpenSessionResponse {
    return this.told;
  }

  /** What is declared, as far as reports have confirmed it: with it, any server can go on. */
  state(): SessionState {
    return clone(SessionStateSchema, this.mirror.state());
  }

  /** Sends a frame and waits for its report. */
  step(init: FrameInit, options: StepOptions = {}): Promise<FrameReport> {
    return this.next(() => this.stepNow(create(FrameSchema, init), options));
  }

  /** Asks the scene as the last frame has left it. */
  query(init: MessageInitShape<typeof QuerySceneRequestSchema>): Promise<QuerySceneResponse> {
    return this.next(() =>
      this.going(() => this.client.sessions.queryScene({ ...init, ...this.named() })),
    );
  }

  /** What the frames of the session do, from its state on, until the signal says stop. */
  async *watch(signal?: AbortSignal): AsyncGenerator<WatchSessionResponse> {
    for (let attempt = 1; ; attempt++) {
      try {
        const options = signal ? { signal } : {};
        const { incarnation } = this;
        for await (const news of this.client.sessions.watchSession(this.named(), options)) {
          attempt = 0;
          yield news;
          // Else it would be opened anew by whoever only looks on.
          if (news.notice === Notice.CLOSED && incarnation === this.incarnation) return;
        }
        // A server that drains ends it.
        await pause(this.client.retry.pauseFirstMs, signal);
      } catch (thrown) {
        if (signal?.aborted) return;
        const error = ClearanceError.of(thrown);
        if (isForgotten(error) && attempt <= RESTATEMENTS_MAX) {
          await this.next(() => this.rejoin());
          continue;
        }
        const wait = pauseAfter(this.client.retry, Math.max(attempt, 1), error);
        if (wait === undefined) throw error;
        await pause(wait, signal);
      }
    }
  }

  /** Closes the session; a server that does not have it any more has done so. */
  close(): Promise<void> {
    return this.next(async () => {
      await this.client.sessions.closeSession({ ...this.named(), allowMissing: true });
    });
  }

  private next<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.turn.then(work);
    this.turn = turn.catch(() => undefined);
    return turn;
  }

  private named() {
    const { sessionId, sessionKey, incarnation } = this.told;
    return { sessionId, sessionKey: sessionKey || this.request.sessionKey, incarnation };
  }

  private async stepNow(frame: Frame, options: StepOptions): Promise<FrameReport> {
    if (frame.frameId === 0n) frame.frameId = this.lastId + 1n;
    for (let attempt = 1; ; attempt++) {
      if (frame.frameId > this.lastId) this.lastId = frame.frameId;
      const step = { ...this.named(), frames: [frame], takeOver: options.takeOver === true };
      const reply = await this.going(() =>
        this.client.sessions.stepSession({ ...step, ...this.named() }),
      );
      const report = reply.reports[0];
      if (!report) throw new TypeError("a frame has no report");
      const reason = report.status?.reason;
      const lacksBase =
        reason === ErrorReason.KEYFRAME_NEEDED || reason === ErrorReason.STALE_FRAME;
      if (lacksBase && !frame.keyframe && attempt <= RESTATEMENTS_MAX) {
        frame = await this.whole(frame);
        continue;
      }
      if (!report.status) await this.take(frame, report);
      return report;
    }
  }

  /** Takes in a report. */
  private async take(frame: Frame, report: FrameReport): Promise<void> {
    const isKnown = this.mirror.apply(frame);
    this.mirror.announce(report);
    const isCut = report.omittedItems > 0n || report.omittedEvents > 0n;
    if (isKnown && report.refusedItems.length === 0 && !isCut) return;
    try {
      const found = await this.client.sessions.getSession(this.named());
      if (found.state) this.mirror = new Mirror(found.state);
    } catch (thrown) {
      // Where the server is gone meanwhile, what is known has to do.
      const error = ClearanceError.of(thrown);
      if (!isForgotten(error) && !error.isLost) throw error;
    }
  }

  /** A frame that builds on what the server does not have, as a keyframe after what it has. */
  private async whole(frame: Frame): Promise<Frame> {
    const found = await this.going(() => this.client.sessions.getSession(this.named()));
    const applied = found.state?.frameId ?? 0n;
    if (applied > this.lastId) this.lastId = applied;
    return { ...this.mirror.whole(frame), frameId: this.lastId + 1n };
  }

  /** Makes a call, and again where the session had to be opened anew. */
  private async going<T>(call: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (thrown) {
        const error = ClearanceError.of(thrown);
        if (!isForgotten(error) || attempt > RESTATEMENTS_MAX) throw error;
        await this.rejoin();
      }
    }
  }

  /** Opens the session anew with all that is known to be declared, unless somebody has. */
  private async rejoin(): Promise<void> {
    const request = {
      ...this.request,
      sessionId: this.told.sessionId,
      sessionKey: this.named().sessionKey,
      state: this.mirror.state(),
    };
    for (let attempt = 1; ; attempt++) {
      try {
        this.told = await this.client.sessions.openSession(request);
        if (this.told.report) this.mirror.announce(this.told.report);
        return;
      } catch (thrown) {
        const error = ClearanceError.of(thrown);
        // The answer to an earlier attempt was lost: with the key it is still ours.
        if (error.reason === "SESSION_EXISTS" && attempt <= 2) {
          request.replace = true;
          continue;
        }
        if (!lacksRegistered(error) || attempt > 2) throw error;
        await this.client.registerAgain();
      }
    }
  }
}

/** Whether the server lacks a body or a robot that was registered. */
function lacksRegistered(error: ClearanceError): boolean {
  return ["UNKNOWN_POLYTOPE", "UNKNOWN_ROBOT"].includes(error.reason);
}

/** Whether the server knows no such session. */
function isForgotten(error: ClearanceError): boolean {
  return error.reason === "UNKNOWN_SESSION";
}
