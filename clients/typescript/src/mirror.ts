// What a session has declared, followed frame by frame, so that it can be restated on a server
// that does not have it.

import { clone, create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  QuaternionSchema,
  RotationMatrixSchema,
  type Pose,
  PoseSchema,
  Vector3Schema,
} from "./gen/clearance/v1/geometry_pb.js";
import { type RobotMove, RobotMoveSchema, type SessionRobot } from "./gen/clearance/v1/session_robot_pb.js";
import {
  type Body,
  type BodyChange,
  BodyPoseSchema,
  type BodyPair,
  ContactEventKind,
  type Frame,
  FrameSchema,
  type FrameReport,
  type GroupPair,
  type PairMargin,
  type PairRules,
  PairRulesSchema,
  type RuleChanges,
  type SessionState,
  SessionStateSchema,
} from "./gen/clearance/v1/session_service_pb.js";

/** The id of what a server has taken, which says it. */
const idOf = ({ id }: { id?: number }): number => id ?? -1;

/** The declared state of a session. */
export class Mirror {
  private readonly bodies = new Map<number, Body>();
  private readonly robots = new Map<number, SessionRobot>();
  private rules: PairRules;
  /** Announced contacts, with the frame whose report announced them; by both ids. */
  private readonly contacts = new Map<string, { a: number; b: number; began: bigint }>();
  private releaseMargin: number;
  private beginMargin: number;
  /** The last frame that was applied. */
  frameId: bigint;

  constructor(state: SessionState) {
    for (const body of state.bodies) this.bodies.set(idOf(body), body);
    for (const robot of state.robots) this.robots.set(idOf(robot), robot);
    this.rules = state.rules ?? create(PairRulesSchema);
    for (const { pair, beganFrameId } of state.contacts) {
      if (pair?.a === undefined || pair.b === undefined) continue;
      const both = { a: pair.a, b: pair.b };
      this.contacts.set(key(both), { ...both, began: beganFrameId });
    }
    this.releaseMargin = state.releaseMargin;
    this.beginMargin = state.beginMargin;
    this.frameId = state.frameId;
  }

  /** What another server goes on with. */
  state(): SessionState {
    const contacts = [...this.contacts.values()];
    return create(SessionStateSchema, {
      bodies: [...this.bodies.values()],
      robots: [...this.robots.values()],
      rules: this.rules,
      frameId: this.frameId,
      contacts: contacts.map(({ a, b, began }) => ({ pair: { a, b }, beganFrameId: began })),
      releaseMargin: this.releaseMargin,
      beginMargin: this.beginMargin,
    });
  }

  /** Takes in what a report says of contacts. */
  announce(report: FrameReport): void {
    for (const { a, b, kind } of report.events) {
      if (kind === ContactEventKind.BEGAN) {
        this.contacts.set(key({ a, b }), { a, b, began: report.frameId });
      } else if (kind === ContactEventKind.ENDED) {
        this.contacts.delete(key({ a, b }));
      }
    }
  }

  /** Takes in a frame that was applied; false: the server alone knows all that it has changed. */
  apply(frame: Frame): boolean {
    if (frame.frameId > this.frameId) this.frameId = frame.frameId;
    this.remove(frame);
    for (const body of frame.addedBodies) this.bodies.set(idOf(body), body);
    for (const robot of frame.addedRobots) this.robots.set(idOf(robot), robot);
    for (const change of frame.changedBodies) this.change(change);
    if (frame.rules) this.rules = frame.rules;
    if (frame.ruleChanges) this.rules = changed(this.rules, frame.ruleChanges);
    this.pose(frame);
    let isKnown = true;
    for (const moved of frame.robotMoves) isKnown = this.move(moved) && isKnown;
    const carries = frame.addedRobots.some((robot) => robot.attached.length > 0);
    const lets = frame.detachedBodyIds.length > 0 || frame.detachedBodyNames.length > 0;
    return isKnown && !carries && !lets && frame.attached.length === 0;
  }

  private remove(frame: Frame): void {
    const named = <T>(name: string, of: Map<number, T & { name: string }>) => this.named(name, of);
    for (const name of frame.removedRobotNames) this.robots.delete(named(name, this.robots) ?? -1);
    for (const id of frame.removedRobots) this.robots.delete(id);
    const names = frame.removedBodyNames.map((name) => named(name, this.bodies) ?? -1);
    const gone = new Set([...names, ...frame.removedBodyIds]);
    if (gone.size === 0) return;
    for (const id of gone) this.bodies.delete(id);
    const stays = (pair: BodyPair | undefined) =>
      pair === undefined || (!gone.has(pair.a ?? -1) && !gone.has(pair.b ?? -1));
    for (const [at, { a, b }] of this.contacts) if (gone.has(a) || gone.has(b)) this.contacts.delete(at);
    const rules = clone(PairRulesSchema, this.rules);
    rules.checkedPairs = rules.checkedPairs.filter(stays);
    rules.ignoredPairs = rules.ignoredPairs.filter(stays);
    rules.margins = rules.margins.filter(({ pair }) => stays(pair));
    this.rules = rules;
  }

  private change(change: BodyChange): void {
    const id = change.name === "" ? change.id : this.named(change.name, this.bodies);
    const body = this.bodies.get(id ?? -1);
    if (!body) return;
    const groups = body.groups.filter((group) => !change.leftGroups.includes(group));
    const joined = change.joinedGroups.filter((group) => !groups.includes(group));
    this.bodies.set(idOf(body), {
      ...body,
      parts: change.parts.length > 0 ? change.parts : body.parts,
      groups: [...groups, ...joined],
      fixed: change.fixed ?? body.fixed,
      margin: change.margin ?? body.margin,
      continuous: change.continuous ?? body.continuous,
      category: change.category ?? body.category,
      mask: change.mask ?? body.mask,
    });
  }

  private pose(frame: Frame): void {
    const put = (id: number | undefined, pose: Pose) => {
      const body = this.bodies.get(id ?? -1);
      if (body) this.bodies.set(idOf(body), { ...body, pose });
    };
    for (const { id, name, pose } of frame.poses) {
      put(name === "" ? id : this.named(name, this.bodies), pose ?? create(PoseSchema));
    }
    const packed = frame.packedPoses;
    packed?.ids.forEach((id, at) => {
      const [x, y, z] = packed.translations.slice(3 * at, 3 * at + 3);
      const pose = create(PoseSchema, { translation: create(Vector3Schema, { x, y, z }) });
      const turn = packed.rotations.slice(4 * at, 4 * at + 4);
      const rows = packed.rotationMatrices.slice(9 * at, 9 * at + 9);
      if (turn.length === 4) {
        const [w, x, y, z] = turn;
        pose.orientation = { case: "rotation", value: create(QuaternionSchema, { w, x, y, z }) };
      } else if (rows.length === 9) {
        pose.orientation = { case: "rotationMatrix", value: create(RotationMatrixSchema, { rows }) };
      }
      put(id, pose);
    });
  }

  private move(moved: RobotMove): boolean {
    const id = moved.name === "" ? moved.id : this.named(moved.name, this.robots);
    const robot = this.robots.get(id ?? -1);
    if (!robot || moved.joints.length > 0) return false;
    const values = moved.values.length > 0 ? moved.values : robot.values;
    const next = { ...robot, values };
    if (moved.base) next.base = moved.base;
    this.robots.set(idOf(robot), next);
    return true;
  }

  private named<T extends { name: string }>(name: string, of: Map<number, T>): number | undefined {
    for (const [id, one] of of) if (one.name === name) return id;
    return undefined;
  }

  /** A frame with all that it changes, as one that says where everything is and builds on none. */
  whole(frame: Frame): Frame {
    const after = new Mirror(clone(SessionStateSchema, this.state()));
    after.apply(frame);
    const jumped = new Set(frame.packedPoses?.teleportedIds);
    const own = new Map(
      frame.poses.map((pose) => [
        pose.name === "" ? pose.id : after.named(pose.name, after.bodies),
        pose,
      ]),
    );
    const robots = [...after.robots];
    const carried = new Set(robots.flatMap(([, { attached }]) => attached.map(({ bodyId }) => bodyId)));
    const standing = [...after.bodies].filter(([id]) => !carried.has(id));
    const poses = standing.map(([id, { pose }]) => {
      const said = own.get(id);
      const init: MessageInitShape<typeof BodyPoseSchema> = {
        id,
        teleported: said?.teleported === true || jumped.has(id),
      };
      if (pose) init.pose = pose;
      if (said?.deviation !== undefined) init.deviation = said.deviation;
      return create(BodyPoseSchema, init);
    });
    const moves = robots.map(([key, robot]) => {
      const said = frame.robotMoves.find(
        ({ id, name }) => (name === "" ? id : after.named(name, after.robots)) === key,
      );
      return create(RobotMoveSchema, {
        id: key,
        values: robot.values,
        base: robot.base ?? create(PoseSchema),
        joints: said?.joints ?? [],
        teleported: said?.teleported ?? false,
      });
    });
    const whole = clone(FrameSchema, frame);
    delete whole.baseFrameId;
    delete whole.packedPoses;
    return { ...whole, keyframe: true, poses, robotMoves: moves };
  }
}

function key({ a, b }: { a: number; b: number }): string {
  return `${a} ${b}`;
}

function isSamePair(x: { a?: unknown; b?: unknown }, y: { a?: unknown; b?: unknown }): boolean {
  return (x.a === y.a && x.b === y.b) || (x.a === y.b && x.b === y.a);
}

/** Rules with what goes taken away, and then what is new added. */
function changed(rules: PairRules, changes: RuleChanges): PairRules {
  const replace = <T extends GroupPair | BodyPair>(list: T[], gone: T[], added: T[]): T[] => {
    const kept = list.filter((known) => !gone.some((one) => isSamePair(known, one)));
    const isNew = (one: T) => !kept.some((known) => isSamePair(known, one));
    return [...kept, ...added.filter(isNew)];
  };
  const set = changes.setMargins.flatMap(({ pair }) => (pair ? [pair] : []));
  const gone = [...changes.removedMargins, ...set];
  const stays = ({ pair }: PairMargin) => !pair || !gone.some((one) => isSamePair(one, pair));
  return {
    ...rules,
    checkedGroups: replace(rules.checkedGroups, changes.removedCheckedGroups, changes.addedCheckedGroups),
    checkedPairs: replace(rules.checkedPairs, changes.removedCheckedPairs, changes.addedCheckedPairs),
    ignoredPairs: replace(rules.ignoredPairs, changes.removedIgnoredPairs, changes.addedIgnoredPairs),
    margins: [...rules.margins.filter(stays), ...changes.setMargins],
    groupsToCome: [...rules.groupsToCome, ...changes.groupsToCome],
  };
}
