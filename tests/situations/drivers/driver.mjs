// The driver of the TypeScript client in Node, over gRPC, for `tests/situations`. It is started in clients/typescript, or
// wherever `clearance-client` can be found, once that is built.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const dist = process.env.CLEARANCE_CLIENT_DIST ?? new URL("../../../clients/typescript/dist", import.meta.url).pathname;
const from = (name) => import(pathToFileURL(resolve(dist, name)).href);
const { connectGrpc } = await from("node.js");
const { ClearanceError } = await from("index.js");
const { ContactEventKind, ErrorReason, PairSelection, Verdict } = await from("messages.js");

/** The codes of gRPC, by their numbers. */
const CODES = [
  "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL",
  "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
];

const clients = new Map();
const shapes = new Map();
const sessions = new Map();
const watches = new Map();
/** Sessions that another client has taken over, and that are taken back with the next frame. */
const taken = new Set();

const pose = ([x, y, z]) => ({ translation: { x, y, z } });
const pair = ([a, b]) => ({ a, b });
const small = (names, number) => names[number]?.toLowerCase() ?? String(number);
const events = (all) => all.map(({ kind, a, b }) => [small(ContactEventKind, kind), a, b]);
const part = (shape) => ({ source: { case: "id", value: shapes.get(shape) } });

function body({ id, shape, at, ...more }) {
  return { id, parts: [part(shape)], pose: pose(at), ...more };
}

function item({ code, reason, field }) {
  return { code: CODES[code], reason: ErrorReason[reason], field };
}

function told(report) {
  const { separated, touching, overlapping, undecided } = report.counts ?? {};
  return {
    frame_id: String(report.frameId),
    events: events(report.events),
    pairs: report.pairs.map(({ a, b, verdict }) => [a, b, small(Verdict, verdict)]),
    counts: [separated, touching, overlapping, undecided].map((count) => Number(count ?? 0)),
    refused: report.refusedItems.map(item),
    cut: report.cut,
    omitted: [report.omittedPairs, report.omittedEvents, report.omittedItems].map(Number),
  };
}

/** Follows a watch, and lets others wait for what it tells. */
function followed(session) {
  const watch = { news: [], last: -1n, ended: false, wake: () => {} };
  const follow = async () => {
    try {
      for await (const { state, frame, lostFrames } of session.watch()) {
        if (state) watch.news.push(["state", String(state.frameId), Number(lostFrames)]);
        if (frame) watch.news.push(["frame", String(frame.frameId), events(frame.events)]);
        for (const one of [state, frame]) if (one && one.frameId > watch.last) watch.last = one.frameId;
        watch.wake();
      }
    } catch (thrown) {
      watch.error = failure(thrown);
    }
    watch.ended = true;
    watch.wake();
  };
  follow();
  return watch;
}

const commands = {
  async connect({ client, addresses, key, attempts }) {
    const options = { ...(key && { key }), ...(attempts && { retry: { attemptsMax: attempts } }) };
    clients.set(client, connectGrpc(addresses.map((address) => `http://${address}`), options));
  },
  async register({ client, shape, points }) {
    const source = { case: "vertices", value: { xyz: points.flat() } };
    const { reports } = await clients.get(client).register({ source });
    shapes.set(shape, reports[0].polytope.id);
    return { id: reports[0].polytope.id };
  },
  async open({ client, session, bodies, pairs, contacts, ignored, checked_groups, ...more }) {
    const state = {
      bodies: bodies.map(body),
      rules: { ignoredPairs: (ignored ?? []).map(pair), checkedGroups: (checked_groups ?? []).map(pair) },
      frameId: BigInt(more.frame_id ?? 0),
      contacts: (contacts ?? []).map(([a, b, began]) => ({ pair: { a, b }, beganFrameId: BigInt(began) })),
      releaseMargin: more.release_margin ?? 0,
    };
    const report = {
      pairs: PairSelection[(pairs ?? "changed").toUpperCase()],
      distances: more.distances ?? false,
      firstContacts: more.first_contacts ?? false,
      replyBytesMax: BigInt(more.report_bytes ?? 0),
    };
    const init = { sessionId: more.session_id ?? "", sessionKey: more.session_key ?? "", state, report };
    if (more.replace) init.replace = true;
    if (more.idle_seconds !== undefined) init.idleTimeout = { seconds: BigInt(more.idle_seconds) };
    const opened = await clients.get(client).open(init);
    sessions.set(session, opened);
    const { report: first } = opened.opened;
    return { session_id: opened.id, incarnation: String(opened.incarnation), ...told(first) };
  },
  async frame({ session, poses, teleported, added, removed, margins, ignored }) {
    const moved = ([id, ...at]) => ({ id, pose: pose(at), teleported: (teleported ?? []).includes(id) });
    const init = {
      poses: (poses ?? []).map(moved),
      addedBodies: (added ?? []).map(body),
      removedBodyIds: removed ?? [],
      changedBodies: (margins ?? []).map(([id, margin]) => ({ id, margin })),
    };
    if (ignored) init.ruleChanges = { addedIgnoredPairs: ignored.map(pair) };
    const report = await sessions.get(session).step(init, { takeOver: taken.delete(session) });
    if (report.status) return { ok: false, error: { ...item(report.status), info: {} } };
    return told(report);
  },
  async state({ session }) {
    const { bodies, contacts, frameId } = sessions.get(session).state();
    const place = ({ id, pose }) => [id, pose?.translation?.x ?? 0, pose?.translation?.y ?? 0, pose?.translation?.z ?? 0];
    const contact = ({ pair: { a, b }, beganFrameId }) => [a, b, String(beganFrameId)];
    return {
      frame_id: String(frameId),
      bodies: bodies.map(place).sort((x, y) => x[0] - y[0]),
      contacts: contacts.map(contact).sort((x, y) => x[0] - y[0] || x[1] - y[1]),
    };
  },
  async take_back({ session }) {
    taken.add(session);
  },
  async ask({ client, question, p, q, deadline_ms, cancel_ms }) {
    const placed = ({ shape, at }) => ({ ...part(shape), pose: pose(at) });
    const { queries } = clients.get(client);
    const method = question === "distance" ? queries.measureDistance : queries.checkCollision;
    const options = {};
    if (deadline_ms) options.timeoutMs = deadline_ms;
    if (cancel_ms) options.signal = AbortSignal.timeout(cancel_ms);
    const { verdict } = await method({ p: placed(p), q: placed(q) }, options);
    return { verdict: small(Verdict, verdict) };
  },
  async watch({ session, watch }) {
    watches.set(watch, followed(sessions.get(session)));
  },
  async watched({ watch: name, until_frame }) {
    const watch = watches.get(name);
    const isThere = () => watch.ended || (until_frame !== undefined && watch.last >= BigInt(until_frame));
    while (!isThere()) await new Promise((resolve) => (watch.wake = resolve));
    const news = watch.news.splice(0);
    return { news, ended: watch.ended, ...(watch.error && { error: watch.error }) };
  },
  async close({ session }) {
    await sessions.get(session).close();
  },
  async wait({ ms }) {
    await new Promise((resolve) => setTimeout(resolve, ms));
  },
};

function failure(thrown) {
  if (thrown?.name === "TimeoutError" || thrown?.name === "AbortError") {
    return { code: "CANCELLED", reason: "", field: "", info: {} };
  }
  if (thrown instanceof ClearanceError) {
    return { code: CODES[thrown.code], reason: thrown.reason, field: thrown.field, info: thrown.info };
  }
  return { code: "CLIENT", reason: "", field: "", info: {}, words: String(thrown) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let said;
  try {
    const obey = commands[command.do];
    said = obey ? { ok: true, ...(await obey(command)) } : { ok: false, error: { code: "DRIVER", reason: command.do } };
  } catch (thrown) {
    said = { ok: false, error: failure(thrown) };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
process.exit(0);
