// What is drawn: every part of every body in one batch, ghosts, planes, lines and marks in a few more.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { type Model, type Moment, type Slot, POSE, between, read } from './model.js';
import { type Placement, type Vec, quaternionOf } from './math.js';
import type { Drawing } from './proof.js';
import type { Shape } from './shapes.js';

export type Theme = 'light' | 'dark';

// How a body is shown.
export enum Look { Plain, Near, Contact, Selected, Partner, Faded, Hidden }

// Colours that are told apart without seeing red and green (those of Okabe and Ito, a little calmer).
export const PALETTE = {
  light: { plain: '#c3cbd8', fixed: '#e2e5ea', link: '#f0f1f4', near: '#e8b54d', contact: '#d8602a', selected: '#3d8fd1', partner: '#dcbb95',
    faded: '#eceef2', ground: '#b9c0cc', edge: '#3a4557', plane: '#2f7fc4', ghost: '#b0568f', line: '#22303f', p: '#1f6fb5', q: '#c65a1e' },
  dark: { plain: '#9aa8c0', fixed: '#5d6a82', link: '#e6eaf2', near: '#e3ae45', contact: '#e8703a', selected: '#56b4e9', partner: '#c9a57e',
    faded: '#2b3342', ground: '#56627a', edge: '#10151e', plane: '#56b4e9', ghost: '#d88bbd', line: '#e8edf5', p: '#6cc0f0', q: '#f0955f' },
} as const;

export interface Mark { at: Vec; kind: 'contact' | 'between' | 'p' | 'q' | 'common' | 'closest'; size?: number }
export interface Ghost { slot: Slot; place: Placement; strength: number }
export interface Line { from: Vec; to: Vec; kind: 'near' | 'p' | 'q' | 'pair' }

const vertexHead = 'attribute vec3 rim; varying vec3 vRim;\n';
const fragmentHead = 'varying vec3 vRim; uniform vec3 edgeColour; uniform float edgeStrength;\n';

// Lines along the edges of shapes, one pixel wide, drawn with the faces.
function withEdges(material: THREE.MeshLambertMaterial, uniforms: Record<string, THREE.IUniform>): void {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = vertexHead + shader.vertexShader.replace('#include <begin_vertex>', '#include <begin_vertex>\nvRim = rim;');
    shader.fragmentShader = fragmentHead + shader.fragmentShader.replace('#include <opaque_fragment>', `
      vec3 wide = max(fwidth(vRim), vec3(1e-6));
      vec3 near3 = smoothstep(vec3(0.35), vec3(1.35), vRim / wide);
      float far = clamp(1.0 - max(max(wide.x, wide.y), wide.z) * 2.2, 0.0, 1.0);
      float line = (1.0 - min(near3.x, min(near3.y, near3.z))) * far * edgeStrength;
      outgoingLight = mix(outgoingLight, edgeColour, line);
      #include <opaque_fragment>`);
  };
}

class Batch {
  mesh: THREE.BatchedMesh;
  private shapes = new Map<string, number>();
  private vertices = 0;

  constructor(private material: THREE.Material, private scene: THREE.Scene, private isGhost: boolean) {
    this.mesh = this.make(1 << 16, 512);
  }

  private make(vertices: number, instances: number): THREE.BatchedMesh {
    const mesh = new THREE.BatchedMesh(instances, vertices, 0, this.material);
    mesh.perObjectFrustumCulled = false;
    mesh.sortObjects = false;
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = !this.isGhost;
    if (this.isGhost) mesh.renderOrder = 3;
    this.scene.add(mesh);
    return mesh;
  }

  clear(): void {
    this.scene.remove(this.mesh);
    this.mesh.dispose();
    this.shapes.clear();
    this.vertices = 0;
    this.mesh = this.make(1 << 16, 512);
  }

  // A part that is drawn; it has no place yet.
  add(key: string, shape: Shape): number {
    let geometry = this.shapes.get(key);
    if (geometry === undefined) {
      const made = geometryOf(shape), count = made.getAttribute('position').count;
      while (this.vertices + count > this.roomFor()) this.mesh.setGeometrySize(Math.max(2 * this.roomFor(), this.vertices + count), 0);
      geometry = this.mesh.addGeometry(made);
      this.vertices += count;
      this.shapes.set(key, geometry);
      made.dispose();
    }
    if (this.mesh.instanceCount >= this.mesh.maxInstanceCount) this.mesh.setInstanceCount(2 * this.mesh.maxInstanceCount);
    return this.mesh.addInstance(geometry);
  }

  private roomFor(): number { return this.vertices + this.mesh.unusedVertexCount; }

  get matrices(): Float32Array {
    const texture = (this.mesh as unknown as { _matricesTexture: THREE.DataTexture })._matricesTexture;
    texture.needsUpdate = true;
    return texture.image.data as unknown as Float32Array;
  }
}

function geometryOf(shape: Shape): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  const count = shape.positions.length / 3, rim = new Float32Array(count * 3);
  for (let k = 0; k < count; k++) {
    for (let e = 0; e < 3; e++) rim[3 * k + e] = shape.edges[3 * k + e] ? (k % 3 === e ? 1 : 0) : 1;
  }
  geometry.setAttribute('position', new THREE.BufferAttribute(Float32Array.from(shape.positions), 3));
  geometry.setAttribute('normal', new THREE.BufferAttribute(Float32Array.from(shape.normals), 3));
  geometry.setAttribute('rim', new THREE.BufferAttribute(rim, 3));
  return geometry;
}

interface Drawn { batch: number; slot: Slot; part: number; look: Look; isVisible: boolean }

const PLANES_MAX = 24;
const GHOSTS_MAX = 24;
const MARKS_MAX = 512;
const LINES_MAX = 1024;

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  private bodies: Batch;
  private ghosts: Batch;
  private ghostParts: { id: number; key: string }[] = [];
  private drawn: Drawn[] = [];
  private bySlot: Drawn[][] = [];
  private ofBatch = new Map<number, Slot>();
  private uniforms = { edgeColour: { value: new THREE.Color() }, edgeStrength: { value: 0.5 } };
  private sun = new THREE.DirectionalLight(0xffffff, 2.1);
  private sky = new THREE.HemisphereLight(0xffffff, 0x888888, 1.5);
  private ground: THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial>;
  private planes: THREE.InstancedMesh<THREE.PlaneGeometry, THREE.ShaderMaterial>;
  private lines: THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  private marks: THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial>;
  private colour = new THREE.Color();
  theme: Theme = 'dark';
  dirty = true;
  reach = 1;
  isWide = true;

  constructor(canvas: HTMLCanvasElement, private shapes: Map<string, Shape>) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.sun.shadow.intensity = 0.72;
    this.renderer.setClearColor(0, 0);
    const solid = new THREE.MeshLambertMaterial({ color: 0xffffff });
    withEdges(solid, this.uniforms);
    const pale = new THREE.MeshLambertMaterial({ color: 0xffffff, transparent: true, opacity: 0.42, depthWrite: false });
    withEdges(pale, this.uniforms);
    this.bodies = new Batch(solid, this.scene, false);
    this.ghosts = new Batch(pale, this.scene, true);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(2, -2.6, 1.8);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener('change', () => { this.dirty = true; });
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = 0.02;
    this.scene.add(this.sun, this.sun.target, this.sky);
    this.ground = groundMesh();
    this.planes = planesMesh();
    this.lines = linesMesh();
    this.marks = marksMesh();
    this.scene.add(this.ground, this.planes, this.lines, this.marks);
    this.setTheme('dark');
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    const palette = PALETTE[theme], isDark = theme === 'dark';
    this.uniforms.edgeColour.value.set(palette.edge);
    this.uniforms.edgeStrength.value = isDark ? 0.62 : 0.4;
    this.sun.intensity = isDark ? 2.4 : 1.9;
    this.sky.intensity = isDark ? 1.5 : 1.9;
    this.sky.color.set(isDark ? '#dfe9ff' : '#ffffff');
    this.sky.groundColor.set(isDark ? '#39455e' : '#b6bfcd');
    this.ground.material.uniforms['colour']!.value.set(palette.ground);
    this.ground.material.uniforms['shade']!.value = isDark ? 0.42 : 0.13;
    this.planes.material.uniforms['colour']!.value.set(palette.plane);
    for (const drawn of this.drawn) this.paint(drawn);
    this.dirty = true;
  }

  reset(): void {
    this.bodies.clear();
    this.ghosts.clear();
    this.ghostParts = [];
    this.drawn = [];
    this.bySlot = [];
    this.ofBatch.clear();
    this.dirty = true;
  }

  // Draws a body as far as its shapes are known; it may be called again when more are.
  addSlot(slot: Slot): void {
    const held = (this.bySlot[slot.index] ??= []);
    slot.parts.forEach((part, k) => {
      const shape = this.shapes.get(part.shape);
      if (!shape || shape.positions.length === 0 || held.some((drawn) => drawn.part === k)) return;
      const batch = this.bodies.add(part.shape, shape);
      const drawn = { batch, slot, part: k, look: Look.Plain, isVisible: true };
      this.drawn.push(drawn);
      held.push(drawn);
      this.ofBatch.set(batch, slot);
      this.paint(drawn);
      this.bodies.mesh.setVisibleAt(batch, false);
      drawn.isVisible = false;
    });
    this.dirty = true;
  }

  // A body that nobody can go back to.
  removeSlot(slot: Slot): void {
    for (const { batch } of this.bySlot[slot.index] ?? []) {
      this.bodies.mesh.deleteInstance(batch);
      this.ofBatch.delete(batch);
    }
    this.drawn = this.drawn.filter((drawn) => drawn.slot !== slot);
    this.bySlot[slot.index] = [];
  }

  look(slot: Slot, look: Look): void {
    for (const drawn of this.bySlot[slot.index] ?? []) {
      if (drawn.look === look) continue;
      drawn.look = look;
      this.paint(drawn);
      this.dirty = true;
    }
  }

  private paint({ batch, slot, look }: Drawn): void {
    const palette = PALETTE[this.theme];
    const plain = slot.isLink ? palette.link : slot.fixed ? palette.fixed : palette.plain;
    const by = { [Look.Plain]: plain, [Look.Near]: palette.near, [Look.Contact]: palette.contact, [Look.Selected]: palette.selected,
      [Look.Partner]: palette.partner, [Look.Faded]: palette.faded, [Look.Hidden]: palette.faded }[look];
    this.colour.set(by);
    // Neighbours of one kind differ a little.
    if (look === Look.Plain && !slot.isLink) this.colour.offsetHSL(0, 0, (((slot.index * 0.618034) % 1) - 0.5) * 0.07);
    this.bodies.mesh.setColorAt(batch, this.colour);
  }

  // Puts all bodies where they are at a fraction of the way from a frame to the next.
  place(model: Model, order: number, fraction: number): void {
    const { current } = model, next = fraction > 0 ? model.at(order + 1) : undefined;
    const moved = next ? onTheWay(model, next, fraction, this.turning) : undefined;
    const matrices = this.bodies.matrices;
    for (const drawn of this.drawn) {
      const { slot } = drawn, isVisible = slot.isPlaced && slot.from <= order && order < slot.until && drawn.look !== Look.Hidden;
      if (isVisible !== drawn.isVisible) {
        drawn.isVisible = isVisible;
        this.bodies.mesh.setVisibleAt(drawn.batch, isVisible);
      }
      if (!isVisible) continue;
      const at = moved?.get(slot.index);
      if (at === undefined) compose(current, slot.index * POSE, slot.parts[drawn.part]!.place, matrices, drawn.batch * 16);
      else compose(this.turning.poses, at, slot.parts[drawn.part]!.place, matrices, drawn.batch * 16);
    }
    this.dirty = true;
  }

  private turning = { poses: new Float64Array(0), at: new Map<number, number>() };

  setGhosts(list: Ghost[]): void {
    const wanted = list.slice(0, GHOSTS_MAX).flatMap(({ slot, place }) =>
      slot.parts.map((part) => ({ key: part.shape, part, place })).filter(({ key }) => this.shapes.has(key)));
    const used = new Set<number>();
    for (const { key, part, place } of wanted) {
      let k = this.ghostParts.findIndex((held, at) => held.key === key && !used.has(at));
      if (k < 0) k = this.ghostParts.push({ id: this.ghosts.add(key, this.shapes.get(key)!), key }) - 1;
      used.add(k);
      const { id } = this.ghostParts[k]!;
      const pose = Float64Array.of(...place.at, ...quaternionOf(place.turn));
      compose(pose, 0, part.place, this.ghosts.matrices, id * 16);
      this.ghosts.mesh.setColorAt(id, this.colour.set(PALETTE[this.theme].ghost));
    }
    this.ghostParts.forEach(({ id }, k) => this.ghosts.mesh.setVisibleAt(id, used.has(k)));
    this.ghosts.mesh.visible = used.size > 0;
    this.dirty = true;
  }

  setProof(drawing: Drawing | undefined, near: Line[], marks: Mark[]): void {
    const planes = drawing?.planes.slice(0, PLANES_MAX) ?? [];
    const matrix = new THREE.Matrix4(), normal = new THREE.Vector3(), turn = new THREE.Quaternion(), z = new THREE.Vector3(0, 0, 1);
    planes.forEach((plane, k) => {
      turn.setFromUnitVectors(z, normal.set(...plane.normal));
      matrix.compose(new THREE.Vector3(...plane.centre), turn, new THREE.Vector3().setScalar(plane.size * 2));
      this.planes.setMatrixAt(k, matrix);
    });
    this.planes.count = planes.length;
    this.planes.material.uniforms['strength']!.value = planes.length > 3 ? 0.45 : 1;
    this.planes.instanceMatrix.needsUpdate = true;
    this.planes.visible = planes.length > 0;
    const links = drawing?.links.map(([from, to, side]): Line => ({ from, to, kind: side === 0 ? 'p' : side === 1 ? 'q' : 'pair' })) ?? [];
    this.setLines([...near, ...links]);
    const proven = drawing?.vertices.map(({ at, side }): Mark => ({ at, kind: side === 0 ? 'p' : 'q' })) ?? [];
    this.setMarks([...marks, ...proven, ...(drawing?.common ? [{ at: drawing.common, kind: 'common' as const }] : [])]);
    this.dirty = true;
  }

  private setLines(list: Line[]): void {
    const { geometry } = this.lines, at = geometry.getAttribute('position') as THREE.BufferAttribute;
    const colours = geometry.getAttribute('color') as THREE.BufferAttribute, palette = PALETTE[this.theme];
    const by = { near: palette.near, p: palette.p, q: palette.q, pair: palette.line };
    list.slice(0, LINES_MAX).forEach((line, k) => {
      at.setXYZ(2 * k, ...line.from);
      at.setXYZ(2 * k + 1, ...line.to);
      this.colour.set(by[line.kind]);
      for (const end of [0, 1]) colours.setXYZ(2 * k + end, this.colour.r, this.colour.g, this.colour.b);
    });
    geometry.setDrawRange(0, 2 * Math.min(list.length, LINES_MAX));
    this.lines.visible = list.length > 0;
    at.needsUpdate = colours.needsUpdate = true;
  }

  // Kinds of marks differ in form as well as in colour.
  private setMarks(list: Mark[]): void {
    const { geometry } = this.marks, at = geometry.getAttribute('position') as THREE.BufferAttribute;
    const colours = geometry.getAttribute('color') as THREE.BufferAttribute, forms = geometry.getAttribute('form') as THREE.BufferAttribute;
    const palette = PALETTE[this.theme];
    const by = { contact: [palette.contact, 0, 19], between: [palette.ghost, 1, 21], p: [palette.p, 2, 11], q: [palette.q, 3, 11],
      common: [palette.line, 4, 20], closest: [palette.near, 2, 6] } as const;
    // Where there are many they are smaller.
    const less = list.filter((mark) => mark.kind === 'contact').length > 60 ? 0.5 : 1;
    list.slice(0, MARKS_MAX).forEach((mark, k) => {
      const [colour, form, most] = by[mark.kind], size = mark.kind === 'contact' ? most * less : most;
      at.setXYZ(k, ...mark.at);
      this.colour.set(colour);
      colours.setXYZ(k, this.colour.r, this.colour.g, this.colour.b);
      forms.setXY(k, form, mark.size ?? size);
    });
    geometry.setDrawRange(0, Math.min(list.length, MARKS_MAX));
    this.marks.visible = list.length > 0;
    at.needsUpdate = colours.needsUpdate = forms.needsUpdate = true;
  }

  // Looks at all bodies that do not fill the whole scene by themselves.
  frame(low: Vec, high: Vec, floor: number, direction: Vec = [-0.5, -0.95, 0.5]): void {
    const centre = new THREE.Vector3(...low).add(new THREE.Vector3(...high)).multiplyScalar(0.5);
    const reach = Math.max(0.5 * Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]), 1e-3);
    this.reach = reach;
    const wide = Math.min(1, this.camera.aspect);
    this.controls.target.copy(centre);
    const away = (reach * (this.isWide ? 0.84 : 0.95)) / Math.sin((this.camera.fov * Math.PI) / 360) / Math.max(wide, 0.45);
    this.camera.position.copy(centre).addScaledVector(new THREE.Vector3(...direction).normalize(), away);
    this.camera.near = reach / 200;
    this.camera.far = reach * 60;
    this.camera.updateProjectionMatrix();
    this.lightUp(centre, reach, floor);
    this.controls.update();
    this.dirty = true;
  }

  lightUp(centre: THREE.Vector3, reach: number, floor: number): void {
    this.sun.target.position.copy(centre);
    this.sun.position.copy(centre).add(new THREE.Vector3(-0.85, -0.55, 1.4).multiplyScalar(reach * 2));
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -reach * 1.15;
    shadow.right = shadow.top = reach * 1.15;
    shadow.near = reach * 0.2;
    shadow.far = reach * 6;
    shadow.updateProjectionMatrix();
    this.sun.shadow.normalBias = reach * 0.004;
    this.ground.position.set(centre.x, centre.y, floor - reach * 0.002);
    this.ground.scale.setScalar(reach * 12);
    const step = 10 ** Math.floor(Math.log10(reach / 2));
    this.ground.material.uniforms['spacing']!.value = step;
    this.ground.material.uniforms['reach']!.value = reach;
    this.ground.material.uniforms['middle']!.value.set(centre.x, centre.y);
  }

  // A scene of thousands is drawn without shadows.
  setShadows(are: boolean): void { this.sun.castShadow = are; }

  resize(width: number, height: number, ratio: number): void {
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  // The part of the canvas that panels leave free, which the scene's middle is in the middle of.
  setFree(width: number, height: number, left: number, top: number, fullWidth: number, fullHeight: number): void {
    const x = Math.round(fullWidth / 2 - (left + width / 2)), y = Math.round(fullHeight / 2 - (top + height / 2));
    this.camera.setViewOffset(fullWidth, fullHeight, x, y, fullWidth, fullHeight);
    this.dirty = true;
  }

  pick(x: number, y: number): Slot | undefined {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
    this.bodies.mesh.boundingSphere = null;
    const hit = ray.intersectObject(this.bodies.mesh)[0];
    return hit?.batchId === undefined ? undefined : this.ofBatch.get(hit.batchId);
  }

  // Where a point is on the canvas, in CSS pixels.
  project(v: Vec): { x: number; y: number; isInFront: boolean } {
    const at = new THREE.Vector3(...v).project(this.camera);
    const { clientWidth: w, clientHeight: h } = this.renderer.domElement;
    return { x: ((at.x + 1) / 2) * w, y: ((1 - at.y) / 2) * h, isInFront: at.z < 1 };
  }

  draw(): void { this.renderer.render(this.scene, this.camera); }
}

// Where all that moves to the next frame is at a fraction of the way; see `between` in model.ts.
function onTheWay(model: Model, next: Moment, t: number, into: { poses: Float64Array; at: Map<number, number> }): Map<number, number> {
  const { slots, poses } = next, { current } = model;
  if (into.poses.length < slots.length * POSE) into.poses = new Float64Array(slots.length * POSE);
  into.at.clear();
  for (let k = 0; k < slots.length; k++) {
    const slot = slots[k]!, [px, py, pz] = model.slots[slot]!.pivot;
    if (next.teleported.has(slot)) continue;
    const a = slot * POSE, b = k * POSE;
    if (px !== 0 || py !== 0 || pz !== 0) {
      const place = between(read(current, slot), read(poses, k), [px, py, pz], t);
      into.poses.set([...place.at, ...quaternionOf(place.turn)], b);
    } else {
      for (let n = 0; n < 3; n++) into.poses[b + n] = current[a + n]! + (poses[b + n]! - current[a + n]!) * t;
      turnBetween(current, a + 3, poses, b + 3, t, into.poses);
    }
    into.at.set(slot, b);
  }
  return into.at;
}

// Slerp of two quaternions in arrays, written to the place of the second.
function turnBetween(from: Float64Array, a: number, to: Float64Array, b: number, t: number, out: Float64Array): void {
  const dot = from[a]! * to[b]! + from[a + 1]! * to[b + 1]! + from[a + 2]! * to[b + 2]! + from[a + 3]! * to[b + 3]!;
  const sign = dot < 0 ? -1 : 1, angle = Math.acos(Math.min(1, Math.abs(dot))), s = Math.sin(angle);
  const u = s < 1e-6 ? 1 - t : Math.sin((1 - t) * angle) / s, v = (s < 1e-6 ? t : Math.sin(t * angle) / s) * sign;
  for (let n = 0; n < 4; n++) out[b + n] = from[a + n]! * u + to[b + n]! * v;
}

// Writes the matrix of a part: the pose of its body, then its place in the body.
function compose(poses: Float64Array, k: number, part: Placement, out: Float32Array, at: number): void {
  const w = poses[k + 3]!, x = poses[k + 4]!, y = poses[k + 5]!, z = poses[k + 6]!;
  const r0 = 1 - 2 * (y * y + z * z), r1 = 2 * (x * y - w * z), r2 = 2 * (x * z + w * y);
  const r3 = 2 * (x * y + w * z), r4 = 1 - 2 * (x * x + z * z), r5 = 2 * (y * z - w * x);
  const r6 = 2 * (x * z - w * y), r7 = 2 * (y * z + w * x), r8 = 1 - 2 * (x * x + y * y);
  const p = part.turn, t = part.at;
  for (let c = 0; c < 3; c++) {
    const a = p[c]!, b = p[3 + c]!, d = p[6 + c]!;
    out[at + 4 * c] = r0 * a + r1 * b + r2 * d;
    out[at + 4 * c + 1] = r3 * a + r4 * b + r5 * d;
    out[at + 4 * c + 2] = r6 * a + r7 * b + r8 * d;
    out[at + 4 * c + 3] = 0;
  }
  out[at + 12] = r0 * t[0] + r1 * t[1] + r2 * t[2] + poses[k]!;
  out[at + 13] = r3 * t[0] + r4 * t[1] + r5 * t[2] + poses[k + 1]!;
  out[at + 14] = r6 * t[0] + r7 * t[1] + r8 * t[2] + poses[k + 2]!;
  out[at + 15] = 1;
}

function groundMesh(): THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial> {
  const material = new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, lights: true, side: THREE.DoubleSide,
    uniforms: THREE.UniformsUtils.merge([THREE.UniformsLib.lights, {
      colour: { value: new THREE.Color() }, spacing: { value: 1 }, reach: { value: 1 }, middle: { value: new THREE.Vector2() }, shade: { value: 0.4 },
    }]),
    vertexShader: `
      #include <common>
      #include <shadowmap_pars_vertex>
      varying vec2 at;
      void main() {
        vec3 transformedNormal = vec3(0.0, 0.0, 1.0);
        vec4 worldPosition = modelMatrix * vec4(position, 1.0);
        #include <shadowmap_vertex>
        at = worldPosition.xy;
        gl_Position = projectionMatrix * viewMatrix * worldPosition;
      }`,
    fragmentShader: `
      #include <common>
      #include <packing>
      #include <lights_pars_begin>
      #include <shadowmap_pars_fragment>
      #include <shadowmask_pars_fragment>
      uniform vec3 colour; uniform float spacing; uniform float reach; uniform vec2 middle; uniform float shade;
      varying vec2 at;
      float grid(float size) {
        vec2 q = at / size, wide = max(fwidth(q), vec2(1e-6));
        vec2 g = abs(fract(q - 0.5) - 0.5) / wide;
        return (1.0 - min(min(g.x, g.y), 1.0)) * clamp(1.0 - 2.0 * max(wide.x, wide.y), 0.0, 1.0);
      }
      void main() {
        float far = length(at - middle) / reach;
        float fade = 1.0 - smoothstep(0.5, 3.2, far);
        float line = max(grid(spacing) * 0.32, grid(spacing * 10.0) * 0.75);
        float dark = (1.0 - getShadowMask()) * shade * (1.0 - smoothstep(0.8, 1.6, far));
        float lined = line * 0.5 * fade * (1.0 - dark), alpha = lined + dark * (1.0 - lined);
        gl_FragColor = vec4(colour * (lined / max(alpha, 1e-4)), alpha);
        #include <colorspace_fragment>
      }`,
  });
  const mesh = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material);
  mesh.receiveShadow = true;
  mesh.renderOrder = -1;
  mesh.frustumCulled = false;
  return mesh;
}

function planesMesh(): THREE.InstancedMesh<THREE.PlaneGeometry, THREE.ShaderMaterial> {
  const material = new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, side: THREE.DoubleSide, uniforms: { colour: { value: new THREE.Color() }, strength: { value: 1 } },
    vertexShader: `
      varying vec2 at;
      void main() { at = position.xy * 2.0; gl_Position = projectionMatrix * viewMatrix * instanceMatrix * vec4(position, 1.0); }`,
    fragmentShader: `
      uniform vec3 colour; uniform float strength; varying vec2 at;
      void main() {
        float r = max(abs(at.x), abs(at.y));
        vec2 q = at * 5.0, wide = max(fwidth(q), vec2(1e-6)), g = abs(fract(q - 0.5) - 0.5) / wide;
        float line = 1.0 - min(min(g.x, g.y), 1.0);
        float border = smoothstep(fwidth(r) * 2.6, fwidth(r) * 1.2, 1.0 - r);
        float alpha = (0.26 + 0.2 * line * (1.0 - r * 0.6)) * strength + border * (0.4 + 0.6 * strength);
        gl_FragColor = vec4(colour, min(alpha, 1.0));
        #include <colorspace_fragment>
      }`,
  });
  const mesh = new THREE.InstancedMesh(new THREE.PlaneGeometry(1, 1), material, PLANES_MAX);
  mesh.count = 0;
  mesh.frustumCulled = false;
  mesh.renderOrder = 4;
  return mesh;
}

function linesMesh(): THREE.LineSegments<THREE.BufferGeometry, THREE.LineBasicMaterial> {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(LINES_MAX * 6), 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(LINES_MAX * 6), 3));
  const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true, opacity: 0.95 }));
  lines.frustumCulled = false;
  lines.renderOrder = 5;
  return lines;
}

function marksMesh(): THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial> {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(MARKS_MAX * 3), 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(MARKS_MAX * 3), 3));
  geometry.setAttribute('form', new THREE.BufferAttribute(new Float32Array(MARKS_MAX * 2), 2));
  const material = new THREE.ShaderMaterial({
    transparent: true, depthTest: false, depthWrite: false, uniforms: { ratio: { value: 1 } },
    vertexShader: `
      attribute vec3 color; attribute vec2 form; uniform float ratio;
      varying vec3 vColour; varying float vForm; varying float vSize;
      void main() {
        vColour = color; vForm = form.x; vSize = form.y * ratio;
        gl_PointSize = vSize + 2.0 * ratio;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: `
      varying vec3 vColour; varying float vForm; varying float vSize;
      void main() {
        vec2 q = (gl_PointCoord - 0.5) * (vSize + 2.0);
        float half_ = vSize * 0.5, r = length(q), d;
        if (vForm < 0.5) d = min(abs(r - half_ * 0.8) - half_ * 0.17, r - half_ * 0.26);
        else if (vForm < 1.5) { float s = abs(q.x) + abs(q.y); d = min(abs(s - half_ * 0.86) - half_ * 0.16, s - half_ * 0.3); }
        else if (vForm < 2.5) d = r - half_ * 0.9;
        else if (vForm < 3.5) d = max(abs(q.x), abs(q.y)) - half_ * 0.72;
        else { vec2 s = abs(vec2(q.x + q.y, q.x - q.y)) * 0.7071; d = max(min(s.x, s.y) - half_ * 0.14, max(s.x, s.y) - half_ * 0.85); }
        float alpha = smoothstep(0.7, -0.7, d);
        float halo = smoothstep(2.2, 0.0, d) * 0.35;
        if (max(alpha, halo) < 0.01) discard;
        gl_FragColor = vec4(mix(vec3(0.0), vColour, alpha / max(alpha, halo)), max(alpha, halo));
        #include <colorspace_fragment>
      }`,
  });
  const marks = new THREE.Points(geometry, material);
  marks.frustumCulled = false;
  marks.renderOrder = 6;
  return marks;
}
