// What is known of a session: its bodies, where they are in every frame that is kept, and what was said of them.
import type { PlacedBody } from '../gen/clearance/v1/query_service_pb.js';
import type { Robot } from '../gen/clearance/v1/robot_service_pb.js';
import type { SessionRobot } from '../gen/clearance/v1/session_robot_pb.js';
import { type Body, type ContactEvent, ContactEventKind, type FrameReport, type PackedPairs, type PackedPoses, type PairReport,
  PairReportSchema, type SessionState, type VerdictCounts, type WatchSessionResponse } from '../gen/clearance/v1/session_service_pb.js';
import { Outcome, Verdict } from '../gen/clearance/v1/geometry_pb.js';
import { create } from '@bufbuild/protobuf';
import { type Placement, type Vec, composed, placementOf, quaternionOf, rowsOf, turned, undone } from './math.js';

// Numbers of a pose: x, y, z, then w, x, y, z of the rotation.
export const POSE = 7;
const SNAPSHOT_EVERY = 32;
// Frames are forgotten, the oldest first, when they take more than this or are more than so many.
const HISTORY_BYTES = 96e6;
const MOMENTS_MAX = 20_000;

export interface Part {
  shape: string;
  place: Placement;
}

// A body from when it comes, or changes, until it changes or goes.
export interface Slot {
  index: number;
  id: number;
  name: string;
  parts: Part[];
  source: PlacedBody[];
  groups: string[];
  fixed: boolean;
  isLink: boolean;
  // Of a link: whose parts its shapes are.
  robotId?: string;
  pivot: Vec;
  margin: number;
  from: number;
  until: number;
  // A link of which nobody has said where it is.
  isPlaced: boolean;
}

export interface Moment {
  // Its place in the order of all frames, which begins with 0 for the state.
  order: number;
  frameId: bigint;
  time: number;
  slots: Uint32Array;
  poses: Float64Array;
  teleported: Set<number>;
  events: ContactEvent[];
  counts?: VerdictCounts;
  report?: FrameReport;
  pairs?: PairReport[];
  bytes: number;
  // Poses and contacts at its end; kept of some.
  snapshot?: { poses: Float64Array; contacts: Map<string, Contact> };
}

export interface Contact {
  a: number;
  b: number;
  order: number;
  event?: ContactEvent;
}

export const pairKey = (a: number, b: number): string => (a < b ? `${a}-${b}` : `${b}-${a}`);

export class Model {
  slots: Slot[] = [];
  // The slot that a body has now, at the end of what is known.
  byId = new Map<number, Slot>();
  moments: Moment[] = [];
  robots = new Map<string, Robot>();
  inline = new Map<string, PlacedBody>();
  private sessionRobots = new Map<number, SessionRobot>();
  // Poses at the end of what is known, and at the moment that is shown.
  private last = new Float64Array(0);
  private lastContacts = new Map<string, Contact>();
  current = new Float64Array(0);
  contacts = new Map<string, Contact>();
  private shown = -1;
  private bytes = 0;
  // Where bodies came that came with the frame that is read.
  private fresh: { index: number; pose: number[] }[] = [];
  // Where links are that come once it is known what they are made of.
  private awaited = new Map<number, number[]>();
  private startTime?: number;
  // Whoever draws bodies is told of new slots.
  onSlot: (slot: Slot) => void = () => {};
  onFree: (slot: Slot) => void = () => {};
  onReset: () => void = () => {};
  historyBytes = HISTORY_BYTES;
  // Places of slots that ended before all that is kept.
  private free: number[] = [];

  get first(): number { return this.moments[0]?.order ?? 0; }
  get end(): number { return this.moments[this.moments.length - 1]?.order ?? 0; }
  get isEmpty(): boolean { return this.moments.length === 0; }

  at(order: number): Moment | undefined { return this.moments[order - this.first]; }

  // What a watcher is told; `time` in seconds.
  watch(told: WatchSessionResponse, time: number): void {
    this.startTime ??= time;
    if (told.state) this.begin(told.state, told.linkPoses, time - this.startTime);
    const frame = told.frame;
    if (!frame) return;
    const order = this.isEmpty ? 0 : this.end + 1;
    for (const id of frame.removedBodyIds) this.close(id, order);
    for (const body of [...frame.addedBodies, ...frame.changedBodies]) this.open(body, order);
    for (const id of frame.removedRobots) this.closeRobot(id, order);
    for (const robot of frame.addedRobots) this.openRobot(robot, order);
    this.add(order, frame.frameId, time - this.startTime, frame.packedPoses, frame.events, frame.counts);
  }

  // The state takes the place of all that was known.
  private begin(state: SessionState, links: PackedPoses | undefined, time: number): void {
    this.slots = [];
    this.byId.clear();
    this.moments = [];
    this.sessionRobots.clear();
    this.last = new Float64Array(0);
    this.lastContacts = new Map();
    this.bytes = 0;
    this.fresh = [];
    this.awaited.clear();
    this.free = [];
    this.shown = -1;
    this.onReset();
    for (const body of state.bodies) this.open(body, 0);
    for (const robot of state.robots) this.openRobot(robot, 0);
    for (const { pair } of state.contacts) {
      const [a, b] = [pair?.a, pair?.b];
      if (a !== undefined && b !== undefined) this.lastContacts.set(pairKey(a, b), { a, b, order: 0 });
    }
    this.add(0, state.frameId, time, links, [], undefined);
  }

  private open(body: Body, order: number): void {
    const id = body.id ?? 0;
    this.close(id, order);
    const parts = body.parts.map((part) => ({ shape: this.shapeOf(part), place: placementOf(part.pose) }));
    const pivot: Vec = body.pivot ? [body.pivot.x, body.pivot.y, body.pivot.z] : [0, 0, 0];
    const slot = this.addSlot({ id, name: body.name || `body ${id}`, parts, source: body.parts, groups: body.groups,
      fixed: body.fixed, isLink: false, pivot, margin: body.margin, from: order, isPlaced: true });
    this.put(slot, placementOf(body.pose));
  }

  private addSlot(given: Omit<Slot, 'index' | 'until'>): Slot {
    const slot = { ...given, index: this.free.pop() ?? this.slots.length, until: Infinity };
    this.slots[slot.index] = slot;
    this.byId.set(slot.id, slot);
    if (this.last.length < this.slots.length * POSE) {
      const grown = new Float64Array(Math.max(64, 2 * this.slots.length) * POSE);
      grown.set(this.last);
      this.last = grown;
    }
    this.onSlot(slot);
    return slot;
  }

  private put(slot: Slot, place: Placement): void {
    const pose = [...place.at, ...quaternionOf(place.turn)];
    this.last.set(pose, slot.index * POSE);
    this.fresh.push({ index: slot.index, pose });
  }

  private shapeOf(part: PlacedBody): string {
    const { source } = part;
    if (source.case === 'id' || source.case === 'alias') return source.value;
    const key = source.case === 'vertices' ? `v:${source.value.xyz.join()}` : `x:${JSON.stringify(source, (_, v) => (typeof v === 'bigint' ? `${v}` : v))}`;
    this.inline.set(key, part);
    return key;
  }

  private close(id: number, order: number): void {
    this.awaited.delete(id);
    const slot = this.byId.get(id);
    if (!slot) return;
    slot.until = order;
    this.byId.delete(id);
  }

  // Its links are bodies, as far as it is known what they are made of.
  addRobot(robot: Robot): void {
    this.robots.set(robot.id, robot);
    for (const held of this.sessionRobots.values()) if (held.robotId === robot.id) this.openRobot(held, Math.max(this.end, 0));
  }

  wantedRobots(): string[] {
    return [...this.sessionRobots.values()].map((robot) => robot.robotId).filter((id) => !this.robots.has(id));
  }

  private openRobot(held: SessionRobot, order: number): void {
    const first = held.id ?? 0;
    this.sessionRobots.set(first, held);
    const robot = this.robots.get(held.robotId);
    if (!robot) return;
    robot.links.forEach((link, k) => {
      if (link.partCount === 0 || this.byId.has(first + k)) return;
      const made = robot.parts.slice(link.firstPart, link.firstPart + link.partCount);
      const parts = made.map((part) => ({ shape: part.polytopeId, place: placementOf(part.pose) }));
      const slot = this.addSlot({ id: first + k, name: held.name ? `${held.name}/${link.name}` : link.name, parts,
        source: made.map((part) => ({ source: { case: 'id', value: part.polytopeId }, pose: part.pose }) as PlacedBody),
        groups: held.groups, fixed: held.fixedBase && !link.moves, isLink: true, robotId: robot.id, pivot: [0, 0, 0], margin: 0,
        from: order, isPlaced: false });
      const pose = this.awaited.get(slot.id);
      this.awaited.delete(slot.id);
      const moment = this.at(order);
      if (pose && moment) this.stand(slot, pose, moment);
    });
  }

  // Tells of a link afterwards where it is at a moment, the last one.
  private stand(slot: Slot, pose: number[], moment: Moment): void {
    slot.isPlaced = true;
    this.last.set(pose, slot.index * POSE);
    moment.slots = Uint32Array.from([...moment.slots, slot.index]);
    moment.poses = Float64Array.from([...moment.poses, ...pose]);
    moment.teleported.add(slot.index);
    if (moment.snapshot) moment.snapshot.poses = this.last.slice();
    this.shown = -1;
  }

  private closeRobot(id: number, order: number): void {
    const held = this.sessionRobots.get(id);
    const links = held && this.robots.get(held.robotId)?.links.length;
    for (let k = 0; k < (links ?? 0); k++) this.close(id + k, order);
    this.sessionRobots.delete(id);
  }

  private add(order: number, frameId: bigint, time: number, packed: PackedPoses | undefined, events: ContactEvent[],
    counts: VerdictCounts | undefined): void {
    const known = packed ? packed.ids.map((id) => this.byId.get(id)) : [];
    const used: number[] = [], teleported = new Set(packed?.teleportedIds.map((id) => this.byId.get(id)?.index ?? -1));
    const poses = new Float64Array((known.filter(Boolean).length + this.fresh.length) * POSE);
    for (const { index, pose } of this.fresh) {
      poses.set(pose, used.length * POSE);
      used.push(index);
      teleported.add(index);
    }
    this.fresh = [];
    known.forEach((slot, k) => {
      if (!packed) return;
      const q = packed.rotationMatrices.length > 0 ? quaternionOf(packed.rotationMatrices.slice(9 * k, 9 * k + 9))
        : packed.rotations.length > 0 ? packed.rotations.slice(4 * k, 4 * k + 4) : [1, 0, 0, 0];
      const pose = [...packed.translations.slice(3 * k, 3 * k + 3), ...q];
      if (!slot) {
        this.awaited.set(packed.ids[k]!, pose);
        return;
      }
      poses.set(pose, used.length * POSE);
      if (!slot.isPlaced) {
        slot.isPlaced = true;
        teleported.add(slot.index);
      }
      used.push(slot.index);
    });
    const moment: Moment = { order, frameId, time, slots: Uint32Array.from(used), poses, teleported, events, counts,
      bytes: poses.byteLength + 4 * used.length + 300 * events.length + 400 };
    apply(this.last, moment);
    for (const event of events) this.note(event, order);
    if (order % SNAPSHOT_EVERY === 0 || this.isEmpty) {
      moment.snapshot = { poses: this.last.slice(), contacts: new Map(this.lastContacts) };
      moment.bytes += this.last.byteLength;
    }
    this.moments.push(moment);
    this.bytes += moment.bytes;
    this.forget();
  }

  private note(event: ContactEvent, order: number): void {
    const key = pairKey(event.a, event.b);
    if (event.kind === ContactEventKind.BEGAN) this.lastContacts.set(key, { a: event.a, b: event.b, order, event });
    else if (event.kind === ContactEventKind.ENDED) this.lastContacts.delete(key);
  }

  // Of the oldest frames so many that the next one has a snapshot.
  private forget(): void {
    while (this.bytes > this.historyBytes || this.moments.length > MOMENTS_MAX) {
      const next = this.moments.findIndex((moment, k) => k > 0 && moment.snapshot !== undefined);
      if (next < 0) return;
      for (const gone of this.moments.splice(0, next)) this.bytes -= gone.bytes;
      for (const slot of this.slots) {
        if (slot.until > this.first || slot.until < 0) continue;
        // Nobody can go back to where it was.
        slot.until = -1;
        slot.from = Infinity;
        this.free.push(slot.index);
        this.onFree(slot);
      }
    }
  }

  // The answer to a frame that was watched, or to the opening.
  report(report: FrameReport, bytes = 0): void {
    for (let k = this.moments.length - 1; k >= 0; k--) {
      const moment = this.moments[k]!;
      if (moment.frameId !== report.frameId) continue;
      moment.report = report;
      moment.pairs = undefined;
      moment.bytes += bytes;
      this.bytes += bytes;
      if (report.events.length >= moment.events.length && report.events.length > 0) this.retell(moment, report.events);
      this.placeParts(report, moment);
      return;
    }
  }

  // The report's events have points, where these were asked for.
  private retell(moment: Moment, events: ContactEvent[]): void {
    moment.events = events;
    for (const event of events) {
      const held = this.lastContacts.get(pairKey(event.a, event.b));
      if (held && held.order === moment.order && event.kind === ContactEventKind.BEGAN) held.event = event;
    }
    if (moment.snapshot) moment.snapshot.contacts = new Map(this.lastContacts);
  }

  // Where links are that have not moved since the session was opened.
  private placeParts(report: FrameReport, moment: Moment): void {
    for (const { bodyId, part, numbers: n } of report.placedParts) {
      const slot = this.byId.get(bodyId);
      if (!slot || slot.isPlaced || part >= slot.parts.length) continue;
      const place = composed({ turn: n.slice(0, 9), at: [n[9]!, n[10]!, n[11]!] }, undone(slot.parts[part]!.place));
      slot.isPlaced = true;
      const pose = [...place.at, ...quaternionOf(place.turn)];
      this.last.set(pose, slot.index * POSE);
      if (moment.snapshot) {
        if (moment.snapshot.poses.length < this.last.length) moment.snapshot.poses = this.last.slice();
        moment.snapshot.poses.set(pose, slot.index * POSE);
      }
      this.shown = -1;
    }
  }

  // Makes `current` and `contacts` what they are at a frame.
  show(order: number): Moment | undefined {
    order = Math.max(this.first, Math.min(this.end, order));
    const moment = this.at(order);
    if (!moment) return undefined;
    let from = this.shown;
    if (from < this.first || from > order || order - from > SNAPSHOT_EVERY || this.current.length < this.last.length) {
      let k = order;
      while (k > this.first && !this.at(k)!.snapshot) k--;
      const { poses, contacts } = this.at(k)!.snapshot!;
      if (this.current.length < this.last.length) this.current = new Float64Array(this.last.length);
      // Of bodies that come later it is known where they come.
      this.current.set(this.last);
      this.current.set(poses.subarray(0, Math.min(poses.length, this.current.length)));
      this.contacts = new Map(contacts);
      from = k;
    }
    for (let k = from + 1; k <= order; k++) {
      const next = this.at(k)!;
      apply(this.current, next);
      for (const event of next.events) {
        const key = pairKey(event.a, event.b);
        if (event.kind === ContactEventKind.BEGAN) this.contacts.set(key, { a: event.a, b: event.b, order: k, event });
        else if (event.kind === ContactEventKind.ENDED) this.contacts.delete(key);
      }
    }
    this.shown = order;
    return moment;
  }


  slotAt(id: number, order: number): Slot | undefined {
    const now = this.byId.get(id);
    if (now && now.from <= order) return now;
    return this.slots.find((slot) => slot.id === id && slot.from <= order && order < slot.until);
  }

  // Where a slot is at `fraction` of the way to the next frame.
  place(slot: Slot, fraction: number, order = this.shown): Placement {
    const now = read(this.current, slot.index);
    const next = fraction > 0 ? this.at(order + 1) : undefined;
    const k = next ? next.slots.indexOf(slot.index) : -1;
    if (!next || k < 0 || next.teleported.has(slot.index)) return now;
    return between(now, read(next.poses, k), slot.pivot, fraction);
  }

  name(id: number): string {
    const slot = this.byId.get(id) ?? this.slots.find((other) => other.id === id);
    return slot?.name ?? `body ${id}`;
  }
}

function apply(poses: Float64Array, moment: Moment): void {
  const { slots } = moment;
  for (let k = 0; k < slots.length; k++) {
    const to = slots[k]! * POSE, from = k * POSE;
    for (let n = 0; n < POSE; n++) poses[to + n] = moment.poses[from + n]!;
  }
}

export function read(poses: Float64Array, index: number): Placement {
  const k = index * POSE;
  return {
    at: [poses[k]!, poses[k + 1]!, poses[k + 2]!],
    turn: rowsOf(poses[k + 3]!, poses[k + 4]!, poses[k + 5]!, poses[k + 6]!),
  };
}

// The way that first contacts are looked for on: a turn at a constant rate about a pivot that goes straight.
export function between(from: Placement, to: Placement, pivot: Vec, t: number): Placement {
  const a = quaternionOf(from.turn), b = quaternionOf(to.turn);
  const q = slerp(a, b, t);
  const turn = rowsOf(...q);
  const c0 = pivotOf(from, pivot), c1 = pivotOf(to, pivot), held = turned(turn, pivot);
  return { turn, at: [0, 1, 2].map((k) => c0[k]! + (c1[k]! - c0[k]!) * t - held[k]!) as Vec };
}

function pivotOf(place: Placement, pivot: Vec): Vec {
  const v = turned(place.turn, pivot);
  return [v[0] + place.at[0], v[1] + place.at[1], v[2] + place.at[2]];
}

export function slerp(a: number[], b: number[], t: number): [number, number, number, number] {
  let cosine = a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]! + a[3]! * b[3]!;
  const sign = cosine < 0 ? -1 : 1;
  cosine = Math.min(1, Math.abs(cosine));
  const angle = Math.acos(cosine);
  const s = Math.sin(angle);
  const [u, v] = s < 1e-6 ? [1 - t, t * sign] : [Math.sin((1 - t) * angle) / s, (Math.sin(t * angle) / s) * sign];
  return [a[0]! * u + b[0]! * v, a[1]! * u + b[1]! * v, a[2]! * u + b[2]! * v, a[3]! * u + b[3]! * v];
}

// The pairs of a report, packed or not.
export function pairsOf(moment: Moment | undefined): PairReport[] {
  if (!moment?.report) return [];
  moment.pairs ??= moment.report.packedPairs ? unpacked(moment.report.packedPairs) : moment.report.pairs;
  return moment.pairs;
}

function unpacked(packed: PackedPairs): PairReport[] {
  const three = (list: number[], k: number) => (list.length > 0 ? { x: list[3 * k]!, y: list[3 * k + 1]!, z: list[3 * k + 2]! } : undefined);
  const bracket = (low: number[], high: number[], k: number) =>
    high.length > 0 && Number.isFinite(high[k]) ? { lower: low[k]!, upper: high[k]! } : undefined;
  const out = packed.a.map((a, k) => {
    const contacts = packed.firstContacts, outcome = contacts?.outcomes[k] ?? Outcome.UNSPECIFIED;
    const by = contacts?.tContact[k];
    return create(PairReportSchema, {
      a, b: packed.b[k]!, verdict: packed.verdicts[k] as Verdict,
      aPart: packed.aParts[k] ?? 0, bPart: packed.bParts[k] ?? 0,
      distance: bracket(packed.distanceLower, packed.distanceUpper, k), depth: packed.verdicts[k] === Verdict.OVERLAPPING
        ? bracket(packed.depthLower, packed.depthUpper, k) : undefined,
      closestA: three(packed.closestA, k), closestB: three(packed.closestB, k), normal: three(packed.normals, k),
      firstContact: outcome === Outcome.UNSPECIFIED ? undefined
        : { outcome, tFree: contacts!.tFree[k]!, tContact: by !== undefined && Number.isFinite(by) ? by : undefined },
    });
  });
  for (const rest of packed.rest) {
    const pair = out[rest.index];
    if (!pair) continue;
    pair.certificate = rest.certificate;
    pair.distanceCertificate = rest.distanceCertificate;
    pair.depthCertificate = rest.depthCertificate;
    pair.contactPolygon = rest.contactPolygon;
    if (pair.firstContact && rest.motionCertificate) pair.firstContact.certificate = rest.motionCertificate;
  }
  return out;
}
