// Vectors, turns and poses in double precision.
import type { Pose } from '../gen/clearance/v1/geometry_pb.js';

export type Vec = [number, number, number];
// A rotation, row by row.
export type Rows = number[];

export const add = (a: Vec, b: Vec): Vec => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a: Vec, k: number): Vec => [a[0] * k, a[1] * k, a[2] * k];
export const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec, b: Vec): Vec => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const norm = (a: Vec): number => Math.hypot(a[0], a[1], a[2]);
export const mid = (a: Vec, b: Vec): Vec => scale(add(a, b), 0.5);
export const lerp = (a: Vec, b: Vec, t: number): Vec => add(scale(a, 1 - t), scale(b, t));
export function unit(a: Vec): Vec {
  const length = norm(a);
  return length > 0 ? scale(a, 1 / length) : [0, 0, 1];
}

export interface Placement {
  turn: Rows;
  at: Vec;
}

export const HOME: Placement = { turn: [1, 0, 0, 0, 1, 0, 0, 0, 1], at: [0, 0, 0] };

export function rowsOf(w: number, x: number, y: number, z: number): Rows {
  const n = Math.sqrt(w * w + x * x + y * y + z * z) || 1;
  w /= n; x /= n; y /= n; z /= n;
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
    2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
    2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
  ];
}

// The quaternion (w, x, y, z) of a rotation.
export function quaternionOf(r: Rows): [number, number, number, number] {
  const trace = r[0]! + r[4]! + r[8]!;
  let q: [number, number, number, number];
  if (trace > 0) q = [1 + trace, r[7]! - r[5]!, r[2]! - r[6]!, r[3]! - r[1]!];
  else if (r[0]! > r[4]! && r[0]! > r[8]!) q = [r[7]! - r[5]!, 1 + r[0]! - r[4]! - r[8]!, r[1]! + r[3]!, r[2]! + r[6]!];
  else if (r[4]! > r[8]!) q = [r[2]! - r[6]!, r[1]! + r[3]!, 1 + r[4]! - r[0]! - r[8]!, r[5]! + r[7]!];
  else q = [r[3]! - r[1]!, r[2]! + r[6]!, r[5]! + r[7]!, 1 + r[8]! - r[0]! - r[4]!];
  const n = Math.hypot(...q);
  return q.map((value) => value / n) as [number, number, number, number];
}

export function turned(r: Rows, v: Vec): Vec {
  return [
    r[0]! * v[0] + r[1]! * v[1] + r[2]! * v[2],
    r[3]! * v[0] + r[4]! * v[1] + r[5]! * v[2],
    r[6]! * v[0] + r[7]! * v[1] + r[8]! * v[2],
  ];
}

export const placed = (p: Placement, v: Vec): Vec => add(turned(p.turn, v), p.at);

export function product(a: Rows, b: Rows): Rows {
  const out: Rows = [];
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) out.push(a[3 * i]! * b[j]! + a[3 * i + 1]! * b[3 + j]! + a[3 * i + 2]! * b[6 + j]!);
  }
  return out;
}

export const transposed = (r: Rows): Rows => [r[0]!, r[3]!, r[6]!, r[1]!, r[4]!, r[7]!, r[2]!, r[5]!, r[8]!];

export const composed = (a: Placement, b: Placement): Placement => ({ turn: product(a.turn, b.turn), at: placed(a, b.at) });

// The placement that undoes a placement.
export function undone(p: Placement): Placement {
  const turn = transposed(p.turn);
  return { turn, at: scale(turned(turn, p.at), -1) };
}

export function placementOf(pose: Pose | undefined): Placement {
  if (!pose) return HOME;
  const { translation: t, orientation: o } = pose;
  const at: Vec = [t?.x ?? 0, t?.y ?? 0, t?.z ?? 0];
  if (o.case === 'rotation') return { turn: rowsOf(o.value.w, o.value.x, o.value.y, o.value.z), at };
  return { turn: o.case === 'rotationMatrix' ? o.value.rows : HOME.turn, at };
}

export const vecOf = (v: { x: number; y: number; z: number } | undefined): Vec | undefined => v && [v.x, v.y, v.z];
