// What a page asks for the tests: by both protocols, and what it is told, for the tests to look at.

import { ClearanceError, connect } from "../dist/index.js";
import { Verdict } from "../dist/messages.js";

const points = (...xyz) => ({ source: { case: "vertices", value: { xyz } } });
const parts = [{ ...points(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1) }];

/** Asks a server in the words of a protocol. */
window.ask = async (address, protocol, json) => {
  const clearance = connect(address, { protocol, json, retry: { attemptsMax: 1 } });
  const told = {};
  try {
    const question = { p: points(0, 0, 0, 1, 0, 0), q: points(2, 0, 0) };
    const answer = await clearance.queries.measureDistance(question);
    told.verdict = Verdict[answer.verdict];
    told.lower = answer.distance.lower;
    const bad = clearance.queries.measureDistance({ ...question, q: points(1) });
    const error = await bad.catch((error) => error);
    told.error = [error instanceof ClearanceError, error.reason, error.field];
    const session = await clearance.open({
      state: { bodies: [{ id: 1, parts }, { id: 2, parts, pose: { translation: { x: 3 } } }] },
    });
    told.incarnation = typeof session.incarnation;
    const stop = new AbortController();
    const frames = [];
    let hasState = () => {};
    const first = new Promise((resolve) => (hasState = resolve));
    const watching = (async () => {
      for await (const news of session.watch(stop.signal)) {
        if (news.state) hasState();
        if (news.frame) frames.push(Number(news.frame.frameId));
        if (frames.length === 3) stop.abort();
      }
    })();
    await first;
    const events = [];
    for (const x of [2, 0.5, 3]) {
      const report = await session.step({ poses: [{ id: 2, pose: { translation: { x } } }] });
      events.push(report.events.length);
    }
    await watching;
    Object.assign(told, { frames, events });
    await session.close();
  } catch (error) {
    told.thrown = [String(error), error.isLost];
  }
  return told;
};
