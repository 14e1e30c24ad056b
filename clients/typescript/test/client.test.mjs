// Calls through every way to a server: the same answers, and the same words for what is wrong.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { ClearanceError, connect } from "clearance-client";
import { connectGrpc } from "clearance-client/node";
import { Verdict } from "clearance-client/messages";
import { Ways } from "../dist/ways.js";
import { freePort, Server } from "./server.mjs";

let server;
before(async () => (server = await Server.start()));
after(() => server.stop());

const points = (...xyz) => ({ source: { case: "vertices", value: { xyz } } });
const question = {
  p: points(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1),
  q: { ...points(2, 0, 0, 3, 0, 0), pose: { translation: { x: 0.1, y: 1 / 3, z: 1e-300 } } },
};

function ways() {
  return {
    connect: connect(server.web),
    json: connect(server.web, { json: true }),
    "grpc-web": connect(server.web, { protocol: "grpc-web" }),
    grpc: connectGrpc(server.grpc),
  };
}

test("every way gives the same answer, to the last bit", async () => {
  const answers = [];
  for (const client of Object.values(ways())) {
    const { verdict, distance, certificate } = await client.queries.measureDistance(question);
    assert.equal(verdict, Verdict.SEPARATED);
    answers.push({ verdict, distance, certificate });
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
  assert.ok(answers[0].distance.lower > 1 && answers[0].distance.upper < 2);
});

test("every way says which field is wrong, and why", async () => {
  for (const [name, client] of Object.entries(ways())) {
    const bad = { ...question, q: points(1, 2) };
    await assert.rejects(client.queries.measureDistance(bad), (error) => {
      assert.ok(error instanceof ClearanceError, name);
      assert.equal(error.code, Code.InvalidArgument, name);
      assert.equal(error.reason, "BAD_FIELD", name);
      assert.equal(error.field, "q.vertices.xyz", name);
      assert.equal(error.retryAfterMs, undefined, name);
      return true;
    });
    const unknown = { ...question, p: { source: { case: "alias", value: "none" } } };
    await assert.rejects(client.queries.measureDistance(unknown), (error) => {
      assert.equal(error.reason, "UNKNOWN_POLYTOPE", name);
      assert.equal(error.info.key, "none", name);
      return true;
    });
  }
});

test("an incarnation is never rounded, and another one is another session", async () => {
  for (const [name, client] of Object.entries(ways())) {
    const session = await client.open({ sessionId: `of-${name}` });
    assert.equal(typeof session.incarnation, "bigint");
    assert.ok(session.incarnation > 0n);
    const named = { sessionId: session.id, incarnation: session.incarnation };
    const found = await client.sessions.getSession(named);
    assert.equal(found.summary.incarnation, session.incarnation);
    const other = session.incarnation ^ 1n;
    const asked = client.sessions.getSession({ ...named, incarnation: other });
    await assert.rejects(asked, (error) => error.reason === "SESSION_REPLACED");
    await session.close();
  }
});

test("a call that takes too long ends when its caller says", async () => {
  const client = connect(server.web);
  const timed = client.server.getServerInfo({}, { timeoutMs: 0.0001 });
  await assert.rejects(timed, (error) => error.code === Code.DeadlineExceeded);
  const signal = AbortSignal.abort();
  const aborted = client.server.getServerInfo({}, { signal });
  await assert.rejects(aborted, (error) => error.code === Code.Canceled);
});

test("a server that is not there is looked for, and then given up", async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const retry = { attemptsMax: 3, pauseFirstMs: 20 };
  const alone = connect(nowhere, { retry });
  const start = performance.now();
  await assert.rejects(alone.server.getServerInfo({}), (error) => error.isLost);
  assert.ok(performance.now() - start >= 40, "the second pause is twice the first");
  const client = connect([nowhere, server.web], { retry });
  await client.server.getServerInfo({});
  const grpc = connectGrpc([nowhere, server.grpc], { retry });
  await grpc.server.getServerInfo({});
});

/** A transport that throws these errors, one after the other, and counts. */
function failing(...errors) {
  const made = { calls: 0, stream: undefined };
  made.unary = async () => {
    const error = errors[made.calls++];
    if (error) throw error;
    return { stream: false, message: {} };
  };
  return made;
}

/** A detail with a `google.rpc.RetryInfo` of so many milliseconds. */
function full(milliseconds) {
  const error = new ConnectError("full", Code.ResourceExhausted);
  const nanos = milliseconds * 1e6;
  const varint = [];
  for (let left = nanos; ; left = Math.floor(left / 128)) {
    varint.push(left > 127 ? (left % 128) | 128 : left);
    if (left <= 127) break;
  }
  const delay = [16, ...varint];
  const value = new Uint8Array([10, delay.length, ...delay]);
  error.details = [{ type: "google.rpc.RetryInfo", value }];
  return error;
}

test("calls are made again where that helps, and nowhere else", async () => {
  const policy = { attemptsMax: 4, pauseFirstMs: 1, pauseMaxMs: 8 };
  const lost = () => new ConnectError("draining", Code.Unavailable);
  const run = async (...errors) => {
    const one = failing(...errors);
    const start = performance.now();
    const result = await new Ways([one], policy).unary().then(() => "ok", (error) => error.code);
    return [result, one.calls, performance.now() - start];
  };
  assert.deepEqual((await run(lost(), lost(), undefined)).slice(0, 2), ["ok", 3]);
  const [result, calls] = await run(lost(), lost(), lost(), lost(), lost());
  assert.deepEqual([result, calls], [Code.Unavailable, 4]);
  const [told, asked, time] = await run(full(60), undefined);
  assert.deepEqual([told, asked], ["ok", 2]);
  assert.ok(time >= 55, `${time} ms`);
  for (const code of Object.values(Code).filter(Number.isInteger)) {
    // A stream that is cancelled by nobody here has lost its connection.
    if ([Code.Unavailable, Code.Canceled].includes(code)) continue;
    const [, calls] = await run(new ConnectError("no", code));
    assert.equal(calls, 1, Code[code]);
  }
});
