// Sessions that outlive connections and servers: no event is lost, and none is told twice.

import assert from "node:assert/strict";
import { createServer, connect as dial } from "node:net";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { connect } from "clearance-client";
import { connectGrpc } from "clearance-client/node";
import { ContactEventKind, SessionStateSchema, toJson } from "clearance-client/messages";
import { random, Server } from "./server.mjs";

let server;
before(async () => (server = await Server.start()));
after(() => server.stop());

const cube = {
  alias: "cube",
  source: { case: "vertices", value: { xyz: [0, 1, 2, 3, 4, 5, 6, 7].flatMap((k) => [k & 1, (k >> 1) & 1, k >> 2]) } },
};
const parts = [{ source: { case: "alias", value: "cube" } }];
const at = (id, x, y = 0) => ({ id, pose: { translation: { x, y } } });
const body = (id, x, y = 0) => ({ ...at(id, x, y), parts });

/** Both bodies, of which the second comes and goes: an event with every second frame. */
const positions = Array.from({ length: 24 }, (_, k) => (k % 4 < 2 ? 0.5 : 3));

async function open(client, sessionId) {
  await client.register(cube);
  return client.open({ sessionId, state: { bodies: [body(1, 0), body(2, 3)] } });
}

function told(report) {
  return report.events.map(({ kind, a, b }) => `${ContactEventKind[kind]} ${a} ${b}`);
}

/** The events of all frames; something happens between two of them. */
async function played(session, meanwhile = async () => {}) {
  const all = [];
  for (const [k, x] of positions.entries()) {
    await meanwhile(k);
    const report = await session.step({ poses: [at(2, x)] });
    assert.equal(report.status, undefined, report.status?.message);
    all.push(told(report));
  }
  return all;
}

/** Sessions have ids of their own. */
let named = 0;

async function expected() {
  const session = await open(connect(server.web), `undisturbed-${named++}`);
  const all = await played(session);
  await session.close();
  assert.ok(all.flat().length >= 10, all.flat().join());
  return all;
}

/** The side port, and the gRPC port. */
const WAYS = { web: connect, grpc: connectGrpc };

function each(name, check) {
  for (const [way, dial] of Object.entries(WAYS)) {
    test(`${name} (${way})`, () => check(way, dial));
  }
}

each("a server that is killed and started again is not noticed", async (way, dial) => {
  const all = await expected();
  const other = await Server.start();
  try {
    const session = await open(dial(other[way]), `killed-over-${way}`);
    const before = session.incarnation;
    const found = await played(session, async (k) => {
      if (k % 7 === 3) await other.restart();
    });
    assert.deepEqual(found, all);
    assert.notEqual(session.incarnation, before);
    await session.close();
  } finally {
    await other.stop();
  }
});

each("a server that drains is left for another one", async (way, dial) => {
  const all = await expected();
  const [first, second] = [await Server.start(), await Server.start()];
  try {
    const session = await open(dial([first[way], second[way]]), `drained-over-${way}`);
    const found = await played(session, async (k) => {
      if (k === 9) await first.stop("SIGTERM");
    });
    assert.deepEqual(found, all);
    await session.close();
  } finally {
    await first.stop();
    await second.stop();
  }
});

/** Forwards bytes, and cuts each connection whose answer it has been told to swallow. */
async function swallowing(port) {
  const proxy = { swallow: 0, swallowed: 0 };
  const listener = createServer((near) => {
    const far = dial(port, "127.0.0.1");
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
    near.on("close", () => far.destroy());
    near.pipe(far);
    far.on("data", (data) => {
      if (proxy.swallow > 0) {
        proxy.swallow--;
        proxy.swallowed++;
        near.destroy();
        return;
      }
      near.write(data);
    });
    far.on("end", () => near.end());
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  proxy.address = `http://127.0.0.1:${listener.address().port}`;
  proxy.close = () => listener.close();
  return proxy;
}

each("a frame whose answer was lost is told once", async (way, dial) => {
  const all = await expected();
  const proxy = await swallowing(server[`${way}Port`]);
  try {
    const session = await open(dial(proxy.address), `swallowed-over-${way}`);
    const found = await played(session, async (k) => {
      if (k % 3 === 1) proxy.swallow = 1;
    });
    assert.deepEqual(found, all);
    assert.ok(proxy.swallowed >= 7, `${proxy.swallowed}`);
    await session.close();
  } finally {
    proxy.close();
  }
});

each("a frame that builds on one of somebody else goes on as a whole", async (way, dial) => {
  const client = dial(server[way]);
  const session = await open(client, `shared-over-${way}`);
  await session.step({ poses: [at(2, 3)] });
  const { sessionId, sessionKey } = { sessionId: session.id, sessionKey: session.opened.sessionKey };
  const frames = [{ frameId: 7n, baseFrameId: 1n, poses: [at(1, 9)] }];
  const foreign = await client.sessions.stepSession({ sessionId, sessionKey, frames });
  assert.equal(foreign.reports[0].status, undefined, foreign.reports[0].status?.message);
  const report = await session.step({ poses: [at(2, 0.5)] });
  assert.equal(report.status, undefined, report.status?.message);
  assert.equal(report.frameId, 8n);
  // Where this session has put both, and not where the other one did.
  assert.deepEqual(told(report), ["BEGAN 1 2"]);
  await session.close();
});

/** A frame of moves, new bodies, changes and rules, of those that are there. */
function anyFrame(chance, there) {
  const pick = () => [...there][Math.floor(chance() * there.size)];
  const frame = { poses: [], addedBodies: [], removedBodyIds: [], changedBodies: [] };
  for (const id of there) {
    if (chance() < 0.4) frame.poses.push(at(id, 5 * chance(), 5 * chance()));
  }
  if (chance() < 0.3) {
    const id = 100 + Math.floor(1e6 * chance());
    frame.addedBodies.push({ ...body(id, 5 * chance(), 5 * chance()), name: `n${id}` });
    there.add(id);
  }
  if (chance() < 0.2 && there.size > 3) {
    const gone = pick();
    there.delete(gone);
    frame.removedBodyIds.push(gone);
    frame.poses = frame.poses.filter(({ id }) => id !== gone);
    frame.addedBodies = frame.addedBodies.filter(({ id }) => id !== gone);
  }
  if (chance() < 0.3) {
    const id = [...there].find((id) => !frame.addedBodies.some((body) => body.id === id));
    if (id !== undefined) {
      frame.changedBodies.push({ id, margin: chance(), joinedGroups: [chance() < 0.5 ? "g" : "h"] });
    }
  }
  if (chance() < 0.2) {
    const [a, b] = [...there];
    frame.ruleChanges = { addedIgnoredPairs: [{ a, b }] };
  }
  return frame;
}

/** What was declared, however it is written: a server tells bodies by id and poses as matrices. */
function declared(state) {
  const { bodies, rules, contacts, frameId } = toJson(SessionStateSchema, state);
  const pair = ({ a, b }) => `${a} ${b}`;
  return {
    frameId,
    bodies: bodies.map(({ id, name, pose, groups, margin }) => {
      const { x = 0, y = 0 } = pose?.translation ?? {};
      return { id, name, x, y, groups: groups?.toSorted?.() ?? groups, margin };
    }).sort((one, other) => one.id - other.id),
    ignored: rules?.ignoredPairs?.map(pair).sort(),
    contacts: contacts?.map((contact) => `${pair(contact.pair)} ${contact.beganFrameId}`).sort(),
  };
}

each("what is followed is what the server has, frame by frame", async (way, dial) => {
  const chance = random(7);
  const client = dial(server[way]);
  const session = await open(client, `followed-over-${way}`);
  const there = new Set([1, 2]);
  for (let k = 0; k < 60; k++) {
    const report = await session.step(anyFrame(chance, there));
    assert.equal(report.status, undefined, report.status?.message);
    const { sessionKey } = session.opened;
    const found = await client.sessions.getSession({ sessionId: session.id, sessionKey });
    assert.deepEqual(declared(session.state()), declared(found.state), `frame ${k}`);
  }
  await session.close();
});

each("whoever watches goes on watching after a restart", async (way, dial) => {
  const other = await Server.start();
  try {
    const session = await open(dial(other[way]), `watched-over-${way}`);
    const stop = new AbortController();
    const frames = [];
    const watching = (async () => {
      for await (const news of session.watch(stop.signal)) {
        if (news.frame) frames.push(news.frame.frameId);
        if (news.state) frames.push(-1n - news.state.frameId);
      }
    })();
    const until = async (what) => {
      for (let k = 0; !what(); k++) {
        assert.ok(k < 1_000, frames.join());
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    await until(() => frames.length > 0);
    await session.step({ poses: [at(2, 2)] });
    await until(() => frames.includes(1n));
    await other.restart();
    await session.step({ poses: [at(2, 0.5)] });
    await until(() => frames.includes(2n) || frames.includes(-3n));
    await session.step({ poses: [at(2, 3)] });
    await until(() => frames.includes(3n));
    stop.abort();
    await watching;
    await session.close();
  } finally {
    await other.stop();
  }
});

each("a session that somebody else has opened in its place is not taken", async (way, dial) => {
  const client = dial(server[way]);
  const session = await open(client, `replaced-over-${way}`);
  await client.sessions.closeSession({ sessionId: `replaced-over-${way}` });
  await client.sessions.openSession({ sessionId: `replaced-over-${way}` });
  await assert.rejects(session.step({ poses: [at(2, 1)] }), (error) => {
    assert.equal(error.reason, "SESSION_REPLACED");
    return true;
  });
});
