import { connect } from "clearance-client";

const [address = "http://127.0.0.1:8080", seconds = "1"] = process.argv.slice(2);
const clearance = connect(address.split(","));
const core = { case: "box", value: { x: 0.5, y: 0.5, z: 0.5 } } as const;
await clearance.register({ alias: "crate", source: { case: "rounded", value: { core, radius: 0.02 } } });
const parts = [{ source: { case: "alias" as const, value: "crate" } }];
const ids = Array.from({ length: 200 }, (_, id) => id);
const x = ids.map((id) => 1.2 * (id % 20));
const y = ids.map((id) => 1.2 * Math.floor(id / 20));
const bodies = ids.map((id) => ({ id, parts, pose: { translation: { x: x[id]!, y: y[id]! } } }));
const session = await clearance.open({ state: { bodies } });

const [speed, tick] = [ids.map((id) => Math.sin(id)), 1 / 60];
let [events, struck] = [0, 0];
const end = performance.now() + 1_000 * Number(seconds);
for (let next = performance.now(); next < end; next += 1_000 * tick) {
  const translations = ids.flatMap((id) => [(x[id]! += speed[id]! * tick), y[id]!, 0]);
  // A server that restarts, or a connection that breaks, costs time and no event.
  const report = await session.step({ packedPoses: { ids, translations } });
  for (const { a, b } of report.events) [speed[a], speed[b], events] = [speed[b]!, speed[a]!, events + 1];
  const ray = { origin: { x: -5 }, displacement: { x: 40 } };
  const seen = await session.query({ queries: [{ kind: { case: "ray", value: ray } }] });
  struck += seen.answers[0]?.hits.length ?? 0;
  await new Promise((resolve) => setTimeout(resolve, next - performance.now()));
}
console.log(`frame ${session.state().frameId}: ${events} events, ${struck} rays have struck`);
await session.close();
