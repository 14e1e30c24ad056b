// The viewer: a session of a server, or a recording, to look at.
import './style.css';
import { create, fromBinary } from '@bufbuild/protobuf';
import { Verdict } from '../gen/clearance/v1/geometry_pb.js';
import { GetPolytopeResponseSchema } from '../gen/clearance/v1/polytope_service_pb.js';
import { PlacedBodySchema } from '../gen/clearance/v1/query_service_pb.js';
import { RobotSchema } from '../gen/clearance/v1/robot_service_pb.js';
import { ContactEventKind, FrameReportSchema, type PairReport, type SessionSummary, WatchSessionResponseSchema } from '../gen/clearance/v1/session_service_pb.js';
import { type View, readView, writeView } from './address.js';
import { BRAND, button, clearance, count, h, icon, length } from './dom.js';
import { Live } from './live.js';
import { readMessages, unzipped } from './mcap.js';
import { type Placement, type Vec, composed, mid, placed, undone, vecOf } from './math.js';
import { Model, type Slot, pairKey, pairsOf } from './model.js';
import { type Chosen, type Only, Panel, isWanted } from './panel.js';
import { type Drawing, Prover, type Side } from './proof.js';
import { type Shape, ofRegistered, ofRounded, ofPoints } from './shapes.js';
import { type Ghost, type Line, Look, type Mark, Stage } from './stage.js';
import { type Player, SPEEDS, Timeline } from './timeline.js';

const PANEL_EVERY_MS = 220;
const SHADOWS_MAX = 400;
const GHOST_FRAMES = 10;
const LABELS_MAX = 4;

class Viewer implements Player {
  model = new Model();
  order = 0;
  fraction = 0;
  isPlaying = false;
  speed = 1;
  isLive = false;
  follows = true;
  stats = { script: 0, frames: 0, calls: 0, bodies: 0 };
  private shapes = new Map<string, Shape>();
  private stage: Stage;
  private panel: Panel;
  private timeline: Timeline;
  private chosen: Chosen = {};
  private finds = '';
  private onlyOf: Only = '';
  private wholeChain = false;
  private asked?: { key: string; pair?: PairReport };
  private live?: Live;
  private session = '';
  private source = '';
  private cut = false;
  private state = '';
  private asking = new Set<string>();
  private changed = true;
  private panelAt = 0;
  private isHeld = false;
  private last = 0;
  private isFramed = false;
  private wishes: View;
  private labels = document.getElementById('labels')!;
  private head = document.getElementById('top')!;
  private canvas = document.getElementById('stage') as HTMLCanvasElement;

  constructor() {
    this.wishes = readView(location.hash);
    this.stage = new Stage(this.canvas, this.shapes);
    this.panel = new Panel(document.getElementById('panel')!, {
      choose: (chosen) => this.choose(chosen), find: (text) => { this.finds = text; this.touch(); },
      only: (what) => { this.onlyOf = what; this.touch(); }, seek: (order, fraction) => { this.play(false); this.seek(order, fraction); },
      wholeChain: (is) => { this.wholeChain = is; this.touch(); },
    });
    this.timeline = new Timeline(document.getElementById('bottom')!, this);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    this.setTheme(this.wishes.theme ?? (dark.matches ? 'dark' : 'light'));
    this.finds = this.wishes.find ?? '';
    this.onlyOf = (this.wishes.only ?? '') as Only;
    this.listen();
    this.hook();
    this.header();
    this.resize();
    requestAnimationFrame((now) => this.tick(now));
  }

  private hook(): void {
    this.model.onSlot = (slot) => this.want(slot);
    this.model.onFree = (slot) => this.stage.removeSlot(slot);
    this.model.onReset = () => { this.stage.reset(); this.order = 0; this.fraction = 0; };
  }

  // --- what is shown of what

  private async want(slot: Slot): Promise<void> {
    for (const part of slot.parts) {
      if (this.shapes.has(part.shape)) continue;
      const inline = this.model.inline.get(part.shape)?.source;
      if (inline?.case === 'vertices') this.shapes.set(part.shape, ofPoints(inline.value.xyz));
      else if (inline?.case === 'rounded') this.shapes.set(part.shape, ofRounded(inline.value));
      else if (this.live && !this.asking.has(part.shape)) void this.ask(part.shape, slot.robotId);
    }
    this.stage.addSlot(slot);
    this.changed = true;
  }

  private async ask(id: string, robotId?: string): Promise<void> {
    this.asking.add(id);
    try {
      this.shapes.set(id, ofRegistered(await this.live!.shape(id, robotId)));
    } catch {
      // It was deleted meanwhile; the session keeps what it has.
      return;
    }
    for (const slot of this.model.slots) if (slot.parts.some((part) => part.shape === id)) this.stage.addSlot(slot);
    this.isFramed = this.isFramed && this.asking.size > 400;
    this.touch();
  }

  play(is: boolean): void {
    if (is && this.order >= this.model.end && !this.isLive) this.seek(this.model.first);
    this.isPlaying = is;
    this.follows = is && this.isLive;
    this.touch();
  }

  seek(order: number, fraction = 0): void {
    this.order = Math.max(this.model.first, Math.min(this.model.end, order));
    this.fraction = this.order < this.model.end ? fraction : 0;
    this.touch();
  }

  step(by: number): void {
    this.play(false);
    const at = by > 0 ? Math.floor(this.order + this.fraction) + by : Math.ceil(this.order + this.fraction) + by;
    this.seek(at);
  }

  setSpeed(by: number): void {
    const k = SPEEDS.indexOf(this.speed) + by;
    this.speed = SPEEDS[(k + SPEEDS.length) % SPEEDS.length]!;
    this.touch();
  }

  // To the moment of the next (or last) contact that begins.
  nextEvent(by: number): void {
    const { model } = this, now = this.order + this.fraction;
    const times = model.moments.flatMap((moment) => moment.events.filter((event) => event.kind === ContactEventKind.BEGAN)
      .map((event) => ({ at: moment.order - 1 + Math.min(event.time?.lower ?? 1, 0.999999), event }))).filter(({ at }) => at >= model.first);
    times.sort((p, q) => p.at - q.at);
    const found = by > 0 ? times.find(({ at }) => at > now + 1e-6) : times.reverse().find(({ at }) => at < now - 1e-6);
    if (!found) return;
    this.play(false);
    this.choose({ pair: [found.event.a, found.event.b] });
    this.seek(Math.floor(found.at), found.at - Math.floor(found.at));
  }

  private choose(chosen: Chosen): void {
    this.chosen = chosen;
    this.asked = undefined;
    this.touch();
  }

  private touch(): void {
    this.changed = true;
    this.panelAt = 0;
  }

  private toggleTheme(): void {
    this.setTheme(this.stage.theme === 'dark' ? 'light' : 'dark');
    this.header();
    this.touch();
  }

  private setTheme(theme: string): void {
    const known = theme === 'dark' ? 'dark' : 'light';
    document.documentElement.dataset['theme'] = known;
    this.stage.setTheme(known);
  }

  // --- every frame of the screen

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    const begin = performance.now(), gone = Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    this.advance(gone);
    this.stage.controls.update();
    const isPanelDue = this.panelAt === 0 || (now - this.panelAt > PANEL_EVERY_MS && this.isPlaying);
    if (this.changed && !this.model.isEmpty) {
      this.changed = false;
      this.show();
    }
    const drawn = this.stage.dirty;
    if (drawn) {
      this.stage.dirty = false;
      this.stage.draw();
      this.placeLabels();
    }
    const script = performance.now() - begin;
    if (drawn) {
      this.stats.frames += 1;
      this.stats.script += (script - this.stats.script) * 0.1;
      this.stats.calls = this.stage.renderer.info.render.calls;
      this.stats.bodies = this.model.byId.size;
    }
    if (isPanelDue && !this.isHeld) {
      this.panelAt = now;
      this.timeline.update();
      this.tellPanel();
      this.writeAddress();
    } else if (this.isPlaying) this.timeline.update();
  }

  private advance(seconds: number): void {
    if (!this.isPlaying || this.model.isEmpty) return;
    if (this.isLive && this.follows && this.speed === 1) {
      if (this.order !== this.model.end) { this.order = this.model.end; this.fraction = 0; this.changed = true; }
      return;
    }
    let left = seconds * this.speed;
    while (left > 0 && this.order < this.model.end) {
      const from = this.model.at(this.order)!, to = this.model.at(this.order + 1)!;
      const long = Math.max(to.time - from.time, 1e-4), rest = long * (1 - this.fraction);
      if (left < rest) { this.fraction += left / long; left = 0; }
      else { left -= rest; this.order += 1; this.fraction = 0; }
    }
    if (this.order >= this.model.end && !this.isLive) { this.order = this.model.first; this.fraction = 0; }
    this.changed = true;
  }

  private drawing?: Drawing;
  private tags: { at: Vec; text: string; kind: string; more?: string }[] = [];

  private show(): void {
    const { model, stage } = this;
    this.order = Math.max(model.first, Math.min(this.order, model.end));
    const moment = model.show(this.order);
    this.paint();
    stage.setShadows(model.byId.size <= SHADOWS_MAX);
    stage.place(model, this.order, this.fraction);
    if (!this.isFramed) this.frameAll();
    const { lines, marks, tags } = this.around();
    this.tags = tags;
    stage.setGhosts(this.ghosts(marks));
    this.drawing = this.prove();
    stage.setProof(this.drawing, lines, marks);
    void moment;
  }

  // Which body is shown how.
  private paint(): void {
    const { model } = this, moment = model.at(this.order);
    const near = new Set<number>(), touching = new Set<number>();
    for (const pair of pairsOf(moment)) {
      const value = clearance(pair);
      if (pair.verdict === Verdict.SEPARATED && value !== undefined && value <= this.nearIs()) { near.add(pair.a); near.add(pair.b); }
    }
    for (const { a, b } of model.contacts.values()) { touching.add(a); touching.add(b); }
    const { body, pair } = this.chosen, isFiltered = this.finds !== '' || this.onlyOf !== '';
    const told = { find: this.finds, only: this.onlyOf, model, moment };
    for (const slot of model.slots) {
      let look = Look.Plain;
      if (isFiltered && !isWanted(slot, told)) look = Look.Faded;
      else if (body === slot.id) look = Look.Selected;
      else if (pair?.[0] === slot.id) look = Look.Selected;
      else if (pair?.[1] === slot.id) look = touching.has(slot.id) && model.contacts.has(pairKey(...pair)) ? Look.Contact : Look.Partner;
      else if (touching.has(slot.id) && !(slot.fixed && this.isVast(slot))) look = Look.Contact;
      else if (near.has(slot.id) && !(slot.fixed && this.isVast(slot)) && near.size < 24) look = slot.isLink ? Look.Plain : Look.Near;
      this.stage.look(slot, look);
    }
  }

  // Floors and walls that everything is near to do not take the colour of it.
  private isVast(slot: Slot): boolean { return this.reachOf(slot) > 0.33 * this.stage.reach; }

  private nearIs(): number { return this.stage.reach * 0.05; }

  private reachOf(slot: Slot): number {
    return slot.parts.reduce((most, part) => Math.max(most, Math.hypot(...part.place.at) + (this.shapes.get(part.shape)?.reach ?? 0)), 0);
  }

  private frameAll(): void {
    const { model } = this;
    const shown = model.slots.filter((slot) => slot.isPlaced && slot.from <= this.order && this.order < slot.until && slot.parts.some((part) => this.shapes.has(part.shape)));
    if (shown.length === 0) return;
    const boxes = shown.map((slot) => this.boxOf(slot)), low: Vec = [Infinity, Infinity, Infinity], high: Vec = [-Infinity, -Infinity, -Infinity];
    for (const [a, b] of boxes) for (let k = 0; k < 3; k++) { low[k] = Math.min(low[k]!, a[k]!); high[k] = Math.max(high[k]!, b[k]!); }
    this.isFramed = true;
    this.stage.frame(low, high, low[2]!);
    if (this.wishes.eye && this.wishes.target) {
      this.stage.camera.position.set(...(this.wishes.eye as Vec));
      this.stage.controls.target.set(...(this.wishes.target as Vec));
      this.stage.controls.update();
      this.wishes.eye = undefined;
    }
  }

  private boxOf(slot: Slot): [Vec, Vec] {
    const low: Vec = [Infinity, Infinity, Infinity], high: Vec = [-Infinity, -Infinity, -Infinity];
    const body = this.model.place(slot, 0);
    for (const part of slot.parts) {
      const shape = this.shapes.get(part.shape);
      if (!shape) continue;
      const place = composed(body, part.place), list = shape.positions, step = Math.max(3, 3 * Math.floor(list.length / 3 / 200));
      for (let i = 0; i + 2 < list.length; i += step) {
        const v = placed(place, [list[i]!, list[i + 1]!, list[i + 2]!]);
        for (let k = 0; k < 3; k++) { low[k] = Math.min(low[k]!, v[k]!); high[k] = Math.max(high[k]!, v[k]!); }
      }
    }
    return [low, high];
  }

  // Lines to what is near, marks of contacts, and what is written beside them.
  private around(): { lines: Line[]; marks: Mark[]; tags: { at: Vec; text: string; kind: string; more?: string }[] } {
    const { model } = this, moment = model.at(this.order), lines: Line[] = [], marks: Mark[] = [];
    const tags: { at: Vec; text: string; kind: string; more?: string }[] = [];
    const wanted = (id: number) => {
      const slot = model.slotAt(id, this.order);
      return !slot || isWanted(slot, { find: this.finds, only: this.onlyOf, model, moment });
    };
    const near = pairsOf(moment).filter((pair) => pair.verdict === Verdict.SEPARATED && pair.closestA && pair.closestB && (clearance(pair) ?? Infinity) <= 4 * this.nearIs())
      .filter((pair) => wanted(pair.a) || wanted(pair.b)).sort((p, q) => clearance(p)! - clearance(q)!);
    const chosen = this.chosen.pair ? pairKey(...this.chosen.pair) : '';
    for (const pair of near) {
      const [from, to] = [this.carried(pair.a, vecOf(pair.closestA)!), this.carried(pair.b, vecOf(pair.closestB)!)];
      lines.push({ from, to, kind: 'near' });
      marks.push({ at: from, kind: 'closest' }, { at: to, kind: 'closest' });
      const isChosen = pairKey(pair.a, pair.b) === chosen;
      if (isChosen || (chosen === '' && tags.length < LABELS_MAX && this.chosen.body === undefined)) tags.push({ at: mid(from, to), text: length(clearance(pair)!), kind: 'near' });
    }
    for (const contact of model.contacts.values()) {
      const at = this.contactPoint(contact.a, contact.b, contact.order, vecOf(contact.event?.point));
      if (!at || !(wanted(contact.a) || wanted(contact.b))) continue;
      marks.push({ at, kind: 'contact' });
      if (pairKey(contact.a, contact.b) === chosen || (chosen === '' && tags.length < 2 * LABELS_MAX)) tags.push({ at, text: 'contact', kind: 'contact', more: model.name(contact.b).slice(0, 24) });
    }
    if (this.chosen.body !== undefined) {
      const slot = model.slotAt(this.chosen.body, this.order);
      if (slot) {
        const [low, high] = this.boxOf(slot);
        tags.push({ at: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, high[2]], text: slot.name, kind: 'name' });
      }
    }
    return { lines, marks, tags };
  }

  // A point of a body in this frame, where the body takes it on its way to the next one.
  private carried(id: number, at: Vec): Vec {
    const slot = this.fraction > 0 ? this.model.slotAt(id, this.order) : undefined;
    return slot ? placed(composed(this.model.place(slot, this.fraction), undone(this.model.place(slot, 0))), at) : at;
  }

  private pointsOfContacts = new Map<string, { id: number; local: Vec }>();

  // Where two bodies are in contact: the point where they met, carried by the second one.
  private contactPoint(a: number, b: number, order: number, met: Vec | undefined): Vec | undefined {
    const now = pairsOf(this.model.at(this.order)).find((pair) => pair.a === a && pair.b === b);
    const polygon = now?.contactPolygon ?? [];
    if (polygon.length > 0) return polygon.map((v) => vecOf(v)!).reduce((sum, v) => [sum[0] + v[0] / polygon.length, sum[1] + v[1] / polygon.length, sum[2] + v[2] / polygon.length], [0, 0, 0] as Vec);
    const slot = this.model.slotAt(b, this.order);
    if (!slot) return undefined;
    const key = `${pairKey(a, b)}@${order}`;
    let held = this.pointsOfContacts.get(key);
    if (!held && met) {
      // It was met at that frame's beginning or on the way: the second body's place there is its place now, moved back.
      const then = this.placeAt(slot, order);
      held = { id: b, local: placed(undone(then), met) };
      if (this.pointsOfContacts.size > 4000) this.pointsOfContacts.clear();
      this.pointsOfContacts.set(key, held);
    }
    const place = this.model.place(slot, this.fraction);
    if (held) return placed(place, held.local);
    const other = this.model.slotAt(a, this.order);
    return other && mid(place.at, this.model.place(other, this.fraction).at);
  }

  private placeAt(slot: Slot, order: number): Placement {
    if (order === this.order || slot.fixed) return this.model.place(slot, 0, this.order);
    const back = this.order;
    this.model.show(order);
    const place = this.model.place(slot, 0, order);
    this.model.show(back);
    return place;
  }

  // What met between two frames, where and when it did, and for some frames after.
  private ghosts(marks: Mark[]): Ghost[] {
    const { model } = this, out: Ghost[] = [], now = this.order + this.fraction;
    for (let k = Math.max(model.first + 1, this.order - GHOST_FRAMES); k <= Math.min(this.order + 1, model.end); k++) {
      for (const event of model.at(k)!.events) {
        if (event.kind !== ContactEventKind.BEGAN || event.verdict !== Verdict.SEPARATED) continue;
        const t = event.time?.upper ?? 1, at = k - 1 + t;
        if (now < at - 0.35 || now > at + GHOST_FRAMES) continue;
        const back = this.order;
        model.show(k - 1);
        for (const id of [event.a, event.b]) {
          const slot = model.slotAt(id, k - 1);
          if (slot && !(slot.fixed && now - at > 0)) out.push({ slot, place: model.place(slot, t, k - 1), strength: 1 - (now - at) / GHOST_FRAMES });
        }
        model.show(back);
        const point = vecOf(event.point);
        if (point) {
          marks.push({ at: point, kind: 'between' });
          this.tags.push({ at: point, text: 'seen by no frame', kind: 'between', more: `t = ${(event.time?.lower ?? 0).toFixed(4)}` });
        }
      }
    }
    return out.filter((ghost) => !ghost.slot.fixed);
  }

  // --- proofs

  private sideOf(slot: Slot, place: Placement): Side {
    const parts = slot.parts.map((part) => {
      const at = composed(place, part.place), shape = this.shapes.get(part.shape);
      return { vertices: (shape?.vertices ?? []).map((v) => placed(at, v)), radius: shape?.radius ?? 0, place: at };
    });
    const all = parts.flatMap((part) => part.vertices), centre: Vec = [0, 1, 2].map((k) =>
      all.length === 0 ? place.at[k]! : all.reduce((sum, v) => sum + v[k]!, 0) / all.length) as Vec;
    const spread = all.reduce((most, v) => Math.max(most, Math.hypot(v[0] - centre[0], v[1] - centre[1], v[2] - centre[2])), 0);
    return { parts, centre, reach: Math.max(spread + (parts[0]?.radius ?? 0), all.length === 0 ? this.reachOf(slot) : 0) };
  }

  // What the report says of the chosen pair, or what the server answered about it.
  private pairNow(): PairReport | undefined {
    const { pair } = this.chosen;
    if (!pair) return undefined;
    const said = pairsOf(this.model.at(this.order)).find((held) => pairKey(held.a, held.b) === pairKey(...pair));
    return said ?? (this.asked?.key === this.askKey() ? this.asked.pair : undefined);
  }

  private askKey(): string { return `${this.chosen.pair}@${this.order}`; }

  private prove(): Drawing | undefined {
    const { pair } = this.chosen;
    if (!pair) return undefined;
    const [a, b] = pair.map((id) => this.model.slotAt(id, this.order));
    if (!a || !b) return undefined;
    const said = this.pairNow();
    if (!said && this.live && !this.isPlaying) void this.askPair(a, b);
    const when = (t: number): [Side, Side, Placement, Placement] => {
      const [p, q] = [this.model.place(a, t, this.order), this.model.place(b, t, this.order)];
      return [this.sideOf(a, p), this.sideOf(b, q), p, q];
    };
    const near = said?.closestA && said.closestB ? mid(vecOf(said.closestA)!, vecOf(said.closestB)!) : undefined;
    const [p, q] = when(0);
    const prover = new Prover(p, q, near), { out } = prover;
    if (said?.depthCertificate) prover.verdict(said.depthCertificate.verdict);
    if (out.text.length === 0 && said?.distanceCertificate && said.verdict === Verdict.SEPARATED) prover.distance(said.distanceCertificate);
    if (out.text.length === 0 && said?.certificate) prover.verdict(said.certificate);
    const next = pairsOf(this.model.at(this.order + 1)).find((held) => held.a === pair[0] && held.b === pair[1]);
    const way = next?.firstContact?.certificate ?? undefined;
    if (way && (this.fraction > 0 || this.wholeChain)) {
      const chain = new Prover(p, q);
      chain.motion(way, when);
      if (chain.out.chain.length > 0 || this.fraction > 0) {
        const held = chain.out.planes.filter((plane) => this.wholeChain || (plane.span![0] <= this.fraction && this.fraction <= plane.span![1]));
        return { ...chain.out, planes: this.wholeChain ? held : held.slice(0, 1) };
      }
    } else if (way) {
      const chain = new Prover(p, q);
      chain.motion(way, when);
      out.chain = chain.out.chain;
    }
    if (this.fraction > 0) return this.moved(out, a, b);
    return out;
  }

  // On the way to the next frame what was proven of this one is taken along by neither: only vertices go with their bodies.
  private moved(out: Drawing, a: Slot, b: Slot): Drawing {
    return { ...out, planes: [], common: undefined, links: [], vertices: out.vertices.map((vertex) => ({ ...vertex, at: this.carried(vertex.side === 0 ? a.id : b.id, vertex.at) })) };
  }

  private async askPair(a: Slot, b: Slot): Promise<void> {
    const key = this.askKey();
    if (this.asked?.key === key || a.source.length !== 1 || b.source.length !== 1) return;
    this.asked = { key };
    const placedBody = (slot: Slot) => {
      const at = composed(this.model.place(slot, 0), slot.parts[0]!.place);
      return create(PlacedBodySchema, { source: slot.source[0]!.source, pose: { translation: { x: at.at[0], y: at.at[1], z: at.at[2] },
        orientation: { case: 'rotationMatrix', value: { rows: at.turn } } } });
    };
    try {
      const pair = await this.live!.pair(a.id, b.id, placedBody(a), placedBody(b));
      if (this.asked?.key === key) this.asked.pair = pair;
    } catch {
      // It is asked again when something else is chosen.
      this.toast('The server has no answer about these two.');
    }
    this.touch();
  }

  private tellPanel(): void {
    if (this.model.isEmpty) return;
    this.panel.update({ model: this.model, moment: this.model.at(this.order), fraction: this.fraction, chosen: this.chosen, pair: this.pairNow(),
      drawing: this.drawing, isAsking: !!this.asked && !this.asked.pair && !!this.live, find: this.finds, only: this.onlyOf, wholeChain: this.wholeChain });
  }

  private placeLabels(): void {
    const shown = this.tags.slice(-9);
    while (this.labels.children.length < shown.length) this.labels.append(h('div', { class: 'label' }));
    const taken: [number, number][] = [];
    [...this.labels.children].forEach((element, k) => {
      const tag = shown[k], label = element as HTMLElement;
      const at = tag && this.stage.project(tag.at);
      const isFree = at && !taken.some(([x, y]) => Math.abs(x - at.x) < 70 && Math.abs(y - at.y) < 22);
      const isSeen = at?.isInFront && at.x > 0 && at.x < innerWidth && at.y > 0 && at.y < innerHeight;
      label.style.display = isSeen && isFree ? '' : 'none';
      if (!tag || !at || !isFree) return;
      taken.push([at.x, at.y]);
      label.className = `label ${tag.kind}`;
      const said = tag.text + (tag.more ?? '');
      if (label.dataset['said'] !== said) {
        label.dataset['said'] = said;
        label.replaceChildren(tag.text, ...(tag.more ? [h('small', {}, tag.more)] : []));
      }
      const left = Math.max(4, Math.min(at.x + 12, innerWidth - 30 - 6.5 * said.length));
      label.style.transform = `translate(${Math.round(left)}px, ${Math.round(at.y - 26)}px)`;
    });
  }

  // --- the page

  private listen(): void {
    addEventListener('resize', () => this.resize());
    addEventListener('hashchange', () => this.follow(readView(location.hash)));
    const panel = document.getElementById('panel')!;
    panel.addEventListener('pointerdown', () => { this.isHeld = true; });
    addEventListener('pointerup', () => setTimeout(() => { this.isHeld = false; }, 0));
    addEventListener('pointercancel', () => { this.isHeld = false; });
    panel.addEventListener('transitionend', () => this.resize());
    let down = [0, 0];
    this.canvas.addEventListener('pointerdown', (event) => { down = [event.clientX, event.clientY]; });
    this.canvas.addEventListener('pointerup', (event) => {
      if (Math.hypot(event.clientX - down[0]!, event.clientY - down[1]!) < 4) this.pick(event);
    });
    addEventListener('keydown', (event) => this.key(event));
    addEventListener('dragover', (event) => event.preventDefault());
    addEventListener('drop', (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.openFile(file);
    });
  }

  private pick(event: PointerEvent): void {
    const slot = this.stage.pick((event.clientX / innerWidth) * 2 - 1, 1 - (event.clientY / innerHeight) * 2);
    // With Shift the other one of a pair.
    if (slot && event.shiftKey && this.chosen.body !== undefined && slot.id !== this.chosen.body) {
      const [a, b] = [this.chosen.body, slot.id].sort((x, y) => x - y);
      this.choose({ pair: [a!, b!] });
    } else this.choose(slot ? { body: slot.id } : {});
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      if (document.getElementById('over')!.childElementCount > 0) this.closeSheet();
      else if (document.activeElement === this.panel.search) { this.panel.search.blur(); this.panel.search.value = ''; this.finds = ''; this.touch(); }
      else this.choose({});
      return;
    }
    if (event.target instanceof HTMLInputElement && event.target.type !== 'range' && event.target.type !== 'checkbox') return;
    const far = event.shiftKey ? 10 : 1;
    const keys: Record<string, () => void> = {
      ' ': () => this.play(!this.isPlaying), ArrowLeft: () => this.step(-far), ArrowRight: () => this.step(far), Home: () => { this.play(false); this.seek(this.model.first); },
      End: () => { this.play(false); this.seek(this.model.end); }, '[': () => this.setSpeed(-1), ']': () => this.setSpeed(1), n: () => this.nextEvent(1), p: () => this.nextEvent(-1),
      '/': () => { document.getElementById('panel')!.classList.remove('low'); this.panel.search.focus(); }, t: () => this.toggleTheme(), f: () => this.fit(), l: () => this.play(true), '?': () => this.help(),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  private fit(): void {
    const list = this.chosen.pair ?? (this.chosen.body === undefined ? [] : [this.chosen.body]);
    const slots = list.map((id) => this.model.slotAt(id, this.order)).filter((slot): slot is Slot => !!slot);
    if (slots.length === 0) { this.isFramed = false; this.touch(); return; }
    const small = slots.reduce((best, slot) => (this.reachOf(slot) < this.reachOf(best) ? slot : best));
    const [low, high] = this.boxOf(small), reach = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    const { camera, controls } = this.stage, way = camera.position.clone().sub(controls.target).normalize();
    controls.target.set(...mid(low, high));
    camera.position.copy(controls.target).addScaledVector(way, Math.max(reach * 3, 1e-3));
    this.stage.dirty = true;
    this.touch();
  }

  private resize(): void {
    const ratio = Math.min(devicePixelRatio, 2);
    this.stage.isWide = innerWidth > 760;
    this.stage.resize(innerWidth, innerHeight, ratio);
    if (this.stage.isWide) this.stage.setFree(innerWidth - 360, innerHeight - 110, 0, 46, innerWidth, innerHeight);
    else {
      const top = document.getElementById('panel')!.getBoundingClientRect().top;
      this.stage.setFree(innerWidth, Math.max(top - 50, 120), 0, 50, innerWidth, innerHeight);
    }
    this.touch();
  }

  private header(): void {
    const live = this.isLive, name = live ? this.session || 'sessions' : this.source;
    const source = name && h('button', { class: 'source', title: live ? 'Sessions' : 'What is played', onclick: () => (live ? void this.chooseSession() : this.openSheet()) },
      h('span', { class: `dot ${this.state}` }), h('b', {}, name), live ? (this.state === 'away' ? 'server away, coming back' : this.state === 'closed' ? 'closed' : 'live') : this.cut ? 'recording, cut off' : 'recording');
    this.head.replaceChildren(h('div', { class: 'brand', html: `${BRAND}<span>clearance</span>` }), ...(source ? [source] : []), h('div', { class: 'tools' },
      button('open', 'Open a recording', () => this.openSheet(), 'wide'), button('fit', 'Fit (f)', () => this.fit()),
      button(this.stage.theme === 'dark' ? 'sun' : 'moon', 'Dark or light (t)', () => this.toggleTheme()), button('help', 'Keys (?)', () => this.help(), 'wide')));
  }

  private sheet(...children: (Node | string)[]): void {
    const over = document.getElementById('over')!;
    over.replaceChildren(h('div', { class: 'sheet glass', role: 'dialog', 'aria-modal': 'true' }, ...children));
    over.onclick = (event) => { if (event.target === over) this.closeSheet(); };
  }

  private closeSheet(): void { document.getElementById('over')!.replaceChildren(); }

  private help(): void {
    const keys = [['space', 'play or pause'], ['← →', 'a frame back or on, with Shift ten'], ['[ ]', 'slower, faster'], ['n p', 'next contact, last one'], ['Home End', 'to the beginning, to the end'],
      ['/', 'search'], ['f', 'fit what is chosen, or all'], ['t', 'dark or light'], ['l', 'follow what is live'], ['Esc', 'let go'], ['click', 'choose a body; with Shift a second one, and see what proves how they stand']];
    this.sheet(h('h1', {}, 'Keys'), h('div', { class: 'keys' }, ...keys.flatMap(([key, said]) => [h('kbd', {}, key!), h('span', {}, said!)])));
  }

  private openSheet(): void {
    const input = h('input', { type: 'file', accept: '.mcap,.gz', style: 'display:none', onchange: () => { if (input.files?.[0]) void this.openFile(input.files[0]); } });
    this.sheet(h('div', { class: 'drop' }, h('h1', {}, 'Open a recording'), h('p', {}, 'Drop an MCAP file here, as `clearance record` writes it. It stays in this page.'),
      h('button', { class: 'act', onclick: () => input.click() }, 'Choose a file'), input));
  }

  private async chooseSession(): Promise<void> {
    const list = await this.live!.list().catch(() => [] as SessionSummary[]);
    const ms = (summary: SessionSummary) => {
      const took = summary.cost?.elapsed, frames = Number(summary.framesAnswered) || 1;
      return took ? `${(((Number(took.seconds) * 1e9 + took.nanos) / 1e6) / frames).toFixed(3)} ms` : '–';
    };
    const row = (summary: SessionSummary) => h('tr', { class: 'open', onclick: () => { this.closeSheet(); this.watch(summary.sessionId); } },
      ...[summary.sessionId, count(summary.bodies), count(summary.checkedPairs), count(summary.contacts), count(summary.framesAnswered), ms(summary),
        `${((Number(summary.bodyBytes) + Number(summary.pairBytes) + Number(summary.historyBytes)) / 1e6).toFixed(2)} MB`].map((text) => h('td', {}, text)));
    this.sheet(h('h1', {}, 'Sessions'), h('p', {}, list.length > 0 ? 'What they hold, and what they cost.' : 'None is open that this page may see.'),
      h('table', {}, h('tr', {}, ...['session', 'bodies', 'pairs', 'contacts', 'frames', 'a frame', 'memory'].map((said) => h('th', {}, said))), ...list.map(row)));
  }

  private toast(text: string): void {
    const said = h('div', { class: 'toast glass', role: 'status' }, text);
    document.body.append(said);
    setTimeout(() => said.remove(), 6000);
  }

  // --- the address

  private written = '';
  private writtenAt = 0;

  private writeAddress(): void {
    if (this.model.isEmpty) return;
    const now = performance.now();
    if (now - this.writtenAt < 400) return;
    const { camera, controls } = this.stage;
    const view: View = { session: this.isLive ? this.session : undefined, frame: this.isLive && this.follows ? undefined : `${this.model.at(this.order)?.frameId ?? 0}`, t: this.fraction,
      body: this.chosen.body, pair: this.chosen.pair, eye: camera.position.toArray(), target: controls.target.toArray(),
      theme: this.stage.theme, find: this.finds, only: this.onlyOf };
    const text = `#${writeView(view)}`;
    if (text === this.written || this.isPlaying) return;
    this.written = text;
    this.writtenAt = now;
    history.replaceState(null, '', text);
  }

  private follow(view: View): void {
    this.wishes = view;
    if (view.theme) { this.setTheme(view.theme); this.header(); }
    this.finds = view.find ?? '';
    this.onlyOf = (view.only ?? '') as Only;
    this.choose({ body: view.body, pair: view.pair });
    const moment = view.frame === undefined ? undefined : this.model.moments.find((held) => held.frameId === BigInt(view.frame!));
    if (moment) { this.play(false); this.seek(moment.order, view.t ?? 0); }
    if (view.eye && view.target) {
      this.stage.camera.position.set(...(view.eye as Vec));
      this.stage.controls.target.set(...(view.target as Vec));
      this.stage.dirty = true;
    }
  }

  // --- where it comes from

  async openFile(file: Blob & { name?: string }): Promise<void> {
    try {
      this.load(await unzipped(new Uint8Array(await file.arrayBuffer())), (file.name ?? 'recording').replace(/\.mcap(\.gz)?$/, ''));
    } catch (error) {
      this.toast(error instanceof Error ? error.message : String(error));
    }
  }

  load(bytes: Uint8Array, name: string): void {
    const { messages, cut } = readMessages(bytes);
    this.live?.leave();
    this.live = undefined;
    this.isLive = false;
    this.model = new Model();
    this.shapes.clear();
    this.stage.reset();
    this.hook();
    // Shapes first, for they are named by what they are: the bodies then find them.
    for (const { topic, data } of messages) {
      if (topic !== '/clearance/shape') continue;
      const shape = fromBinary(GetPolytopeResponseSchema, data);
      this.shapes.set(shape.polytope?.id ?? '', ofRegistered(shape));
    }
    for (const { topic, data } of messages) if (topic === '/clearance/robot') this.model.addRobot(fromBinary(RobotSchema, data));
    for (const { topic, time, data } of messages) {
      if (topic === '/clearance/watch') this.model.watch(fromBinary(WatchSessionResponseSchema, data), Number(time) / 1e9);
      else if (topic === '/clearance/report') this.model.report(fromBinary(FrameReportSchema, data), data.length);
    }
    if (this.model.isEmpty) throw new Error('this recording has no frames of a session');
    this.source = name;
    this.cut = cut;
    this.state = '';
    this.isFramed = false;
    this.closeSheet();
    this.follow(this.wishes);
    if (this.wishes.frame === undefined) { this.seek(this.model.first); this.play(!new URLSearchParams(location.search).has('still')); }
    this.header();
    this.touch();
  }

  private watch(session: string): void {
    this.session = session;
    this.isPlaying = this.follows = true;
    this.state = 'away';
    this.isFramed = false;
    this.chosen = {};
    void this.live!.watch(session, (told) => {
      this.model.watch(told, performance.now() / 1000);
      for (const id of this.model.wantedRobots()) {
        if (this.asking.has(id)) continue;
        this.asking.add(id);
        void this.live!.robot(id).then((robot) => robot && this.model.addRobot(robot)).catch(() => {});
      }
      this.changed = true;
    }, (state) => {
      if (state === this.state) return;
      this.state = state;
      this.header();
    });
    this.header();
    this.touch();
  }

  async start(): Promise<void> {
    const query = new URLSearchParams(location.search), recording = query.get('recording');
    if (recording) {
      try {
        const reply = await fetch(recording);
        if (!reply.ok) throw new Error(`${recording}: ${reply.status}`);
        this.load(await unzipped(new Uint8Array(await reply.arrayBuffer())), recording.replace(/.*\//, '').replace(/\.mcap(\.gz)?$/, ''));
      } catch (error) {
        this.toast(error instanceof Error ? error.message : String(error));
        this.openSheet();
      }
      return;
    }
    const inline = document.getElementById('recording')?.textContent?.trim();
    if (inline) {
      this.load(await unzipped(Uint8Array.from(atob(inline), (c) => c.charCodeAt(0))), 'recording');
      return;
    }
    if (!location.protocol.startsWith('http')) { this.openSheet(); return; }
    this.live = new Live(query.get('server') ?? location.origin, query.get('key') ?? '');
    try {
      const list = await this.live.list();
      this.isLive = true;
      const wanted = this.wishes.session ?? (list.length === 1 ? list[0]!.sessionId : undefined);
      if (wanted) this.watch(wanted);
      else { this.header(); await this.chooseSession(); }
    } catch {
      this.live = undefined;
      this.openSheet();
    }
  }

  // For tests: where a body is on the page, and where a point is.
  whereIs(name: string): { x: number; y: number } | undefined {
    const slot = this.model.slots.find((held) => held.name === name && held.from <= this.order && this.order < held.until);
    return slot && this.stage.project(this.sideOf(slot, this.model.place(slot, this.fraction)).centre);
  }
  get planes(): { x: number; y: number }[] { return (this.drawing?.planes ?? []).map((plane) => this.stage.project(plane.centre)); }
  get marked(): { x: number; y: number }[] { return this.around().marks.filter((mark) => mark.kind === 'contact').map((mark) => this.stage.project(mark.at)); }
  get proof(): Drawing | undefined { return this.drawing; }
  redraw(): void { this.stage.dirty = true; }
}

const viewer = new Viewer();
void icon;
Object.assign(window, { viewer });
void viewer.start();
