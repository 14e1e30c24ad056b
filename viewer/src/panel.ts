// The panel at the side: search, the proof of what is chosen, near pairs, contacts, bodies, what frames cost.
import { ContactEventKind, type PairReport } from '../gen/clearance/v1/session_service_pb.js';
import { Verdict } from '../gen/clearance/v1/geometry_pb.js';
import { type Kind, WORDS, clearance, count, glyph, h, icon, length } from './dom.js';
import { type Model, type Moment, type Slot, pairsOf } from './model.js';
import type { Drawing } from './proof.js';

export type Only = '' | 'contact' | 'near' | 'moving' | 'links';

export interface Chosen { body?: number; pair?: [number, number] }

export interface Told {
  model: Model;
  moment?: Moment;
  fraction: number;
  chosen: Chosen;
  pair?: PairReport;
  drawing?: Drawing;
  isAsking: boolean;
  find: string;
  only: Only;
  wholeChain: boolean;
}

export interface Wishes {
  choose(chosen: Chosen): void;
  find(text: string): void;
  only(what: Only): void;
  seek(order: number, fraction: number): void;
  wholeChain(is: boolean): void;
}

const ROWS_MAX = 60;
const ONLY: [Only, string][] = [['contact', 'In contact'], ['near', 'Near'], ['moving', 'Moving'], ['links', 'Links']];

export class Panel {
  readonly search = h('input', { type: 'search', placeholder: 'Search bodies and links', 'aria-label': 'Search bodies and links', spellcheck: 'false' });
  private chips = new Map<Only, HTMLButtonElement>();
  private lists = h('div', { class: 'lists', tabindex: '-1' });
  private chart = h('canvas', { class: 'chart' });

  constructor(root: HTMLElement, private wishes: Wishes) {
    this.search.addEventListener('input', () => wishes.find(this.search.value));
    const chips = h('div', { class: 'chips', role: 'group', 'aria-label': 'Only' });
    for (const [what, said] of ONLY) {
      const chip = h('button', { class: 'chip', 'aria-pressed': 'false', onclick: () => wishes.only(chip.getAttribute('aria-pressed') === 'true' ? '' : what) }, said);
      this.chips.set(what, chip);
      chips.append(chip);
    }
    const grip = h('button', { class: 'grip', 'aria-label': 'Show or hide the panel', onclick: () => root.classList.toggle('low') });
    root.className = 'glass';
    root.append(grip, h('div', { class: 'seek' }, h('label', {}, h('span', { html: icon('seek').replace('<svg', '<svg width="15" height="15" fill="none" stroke="currentColor" stroke-width="1.700"') }), this.search, h('kbd', {}, '/')), chips), this.lists);
    if (matchMedia('(max-width: 760px)').matches) root.classList.add('low');
  }

  update(told: Told): void {
    this.order = told.moment?.order;
    if (this.search.value !== told.find && document.activeElement !== this.search) this.search.value = told.find;
    for (const [what, chip] of this.chips) chip.setAttribute('aria-pressed', `${what === told.only}`);
    const scroll = this.lists.scrollTop;
    const parts: HTMLElement[] = [];
    const proof = this.proof(told);
    if (proof) parts.push(proof);
    if (told.find !== '') parts.push(this.bodies(told));
    parts.push(...this.near(told), this.contacts(told));
    const missed = this.between(told);
    if (missed) parts.push(missed);
    if (told.find === '') parts.push(this.bodies(told));
    parts.push(this.cost(told));
    this.lists.replaceChildren(...parts);
    this.lists.scrollTop = scroll;
    this.drawChart(told);
  }

  private row(kind: Kind, a: number, b: number | undefined, value: string, told: Told, press: () => void): HTMLElement {
    const { pair, body } = told.chosen, { model } = told;
    const isChosen = b === undefined ? body === a : pair?.[0] === a && pair[1] === b;
    const who = h('span', { class: 'who' }, short(model.name(a)), ...(b === undefined ? [] : [h('i', {}, '·'), short(model.name(b))]));
    return h('button', { class: 'row', 'aria-selected': `${isChosen}`, role: 'option', 'data-pair': b === undefined ? undefined : `${a}-${b}`,
      'data-body': b === undefined ? a : undefined, onclick: press, title: who.textContent ?? '' }, glyph(kind), who, h('span', { class: 'value' }, value));
  }

  private proof({ model, chosen, pair, drawing, isAsking, fraction, wholeChain }: Told): HTMLElement | undefined {
    if (!chosen.pair) return undefined;
    const [a, b] = chosen.pair;
    const isContact = pair?.verdict === Verdict.OVERLAPPING || pair?.verdict === Verdict.TOUCHING;
    const signed = pair && clearance(pair);
    const bracket = pair?.verdict === Verdict.OVERLAPPING ? pair.depth : pair?.distance;
    const close = h('button', { class: 'icon', title: 'Let go (Esc)', 'aria-label': 'Let go', html: icon('close'), onclick: () => this.wishes.choose({}) });
    const chain = drawing && drawing.chain.length > 0 && h('div', { class: 'chain', title: 'The chain of planes over the time between two frames' },
      ...drawing.chain.map(({ span, frame }) => h('i', { style: `flex:${Math.max(span[1] - span[0], 1e-4)}`, title: `t = ${span[0].toFixed(4)} to ${span[1].toFixed(4)}, fixed in ${frame}` })),
      h('b', { style: `left:${fraction * 100}%` }));
    const all = chain && h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: wholeChain, onchange: () => this.wishes.wholeChain(!wholeChain) }), 'All planes of the way');
    return h('div', { class: `proof ${isContact ? 'contact' : ''}` },
      h('h3', {}, glyph(isContact ? 'contact' : 'apart'), h('span', {}, `${short(model.name(a))} · ${short(model.name(b))}`), close),
      h('div', { class: 'big' }, !pair ? '–' : signed === undefined ? WORDS[pair.verdict]! : isContact && signed < 0 ? `${length(-signed)} deep` : signed === 0 ? 'touching' : length(signed)),
      bracket && bracket.upper > 0 ? h('div', { class: 'exact' }, `proven between ${digits(bracket.lower)} and ${digits(bracket.upper)} m`) : undefined,
      ...this.meets(model, chosen.pair),
      ...(drawing?.text ?? []).slice(0, 4).map((text, k) => h('p', { class: k === 0 ? 'says' : '' }, text)),
      chain || undefined, all || undefined,
      drawing && (drawing.text.length > 0 || fraction > 0) ? undefined : h('p', {}, isAsking ? 'Asking the server …' : 'Nothing said of this frame proves it; other frames may.'));
  }

  // When the two meet on the way to the next frame.
  private meets(model: Model, [a, b]: [number, number]): HTMLElement[] {
    const next = this.order === undefined ? undefined : model.at(this.order + 1);
    const event = next?.events.find((held) => held.kind === ContactEventKind.BEGAN && held.a === Math.min(a, b) && held.b === Math.max(a, b));
    if (!event?.time) return [];
    const { lower, upper } = event.time;
    return [h('p', { class: 'says' }, `On the way to the next frame they meet, proven between t = ${lower.toFixed(9)} and ${upper.toFixed(9)}${event.verdict === Verdict.SEPARATED ? '. In both frames they are apart: sampling misses it.' : '.'}`)];
  }

  private order?: number;

  private near(told: Told): HTMLElement[] {
    const list = pairsOf(told.moment).filter((pair) => matches(told, pair.a, pair.b) && (pair.verdict !== Verdict.UNSPECIFIED))
      .sort((p, q) => (clearance(p) ?? Infinity) - (clearance(q) ?? Infinity)).slice(0, 14);
    if (list.length === 0) return [];
    return [h('section', { role: 'listbox', 'aria-label': 'Near pairs' }, h('h2', {}, 'Near pairs', h('span', {}, 'clearance')),
      ...list.map((pair) => {
        const value = clearance(pair);
        const kind = pair.verdict === Verdict.SEPARATED ? 'near' : 'contact';
        return this.row(kind, pair.a, pair.b, value === undefined ? WORDS[pair.verdict]! : value < 0 ? `−${length(-value)}`.replace('−<', '<') : value === 0 ? 'touching' : length(value), told,
          () => this.wishes.choose({ pair: [pair.a, pair.b] }));
      }))];
  }

  private contacts(told: Told): HTMLElement {
    const { model } = told, all = [...model.contacts.values()].filter(({ a, b }) => matches(told, a, b));
    const rows = all.slice(-ROWS_MAX).reverse().map((contact) => {
      const since = model.at(contact.order);
      return this.row('contact', contact.a, contact.b, since ? `since ${since.time.toFixed(2)} s` : '', told, () => this.wishes.choose({ pair: [contact.a, contact.b] }));
    });
    return h('section', { role: 'listbox', 'aria-label': 'Contacts' }, h('h2', {}, 'In contact', h('span', {}, count(all.length))),
      ...(rows.length > 0 ? rows : [h('div', { class: 'none' }, 'Nothing is in contact in this frame.')]));
  }

  // Contacts that begin and end between two frames.
  private between(told: Told): HTMLElement | undefined {
    const { model } = told, rows: HTMLElement[] = [];
    let all = 0;
    for (const moment of model.moments) {
      for (const event of moment.events) {
        if (event.kind !== ContactEventKind.BEGAN || event.verdict !== Verdict.SEPARATED || !matches(told, event.a, event.b)) continue;
        all += 1;
        if (rows.length >= ROWS_MAX) continue;
        const t = event.time?.upper ?? 1, from = model.at(moment.order - 1)?.time ?? moment.time;
        rows.push(this.row('between', event.a, event.b, `${(from + t * (moment.time - from)).toFixed(4)} s`, told, () => {
          this.wishes.choose({ pair: [event.a, event.b] });
          this.wishes.seek(moment.order - 1, Math.min(event.time?.lower ?? 0, 0.999999));
        }));
      }
    }
    return all === 0 ? undefined : h('section', { role: 'listbox', 'aria-label': 'Contacts that no frame sees' }, h('h2', {}, 'Seen by no frame', h('span', {}, count(all))), ...rows);
  }

  private bodies(told: Told): HTMLElement {
    const { model, moment } = told, order = moment?.order ?? 0;
    const all = model.slots.filter((slot) => slot.from <= order && order < slot.until && isWanted(slot, told));
    const rows = all.slice(0, ROWS_MAX).map((slot) => this.row(touches(model, slot.id) ? 'contact' : 'apart', slot.id, undefined,
      slot.isPlaced ? (slot.fixed ? 'fixed' : '') : 'not placed yet', told, () => this.wishes.choose({ body: slot.id })));
    const more = all.length > ROWS_MAX ? h('div', { class: 'none' }, `and ${count(all.length - ROWS_MAX)} more: search narrows them`) : undefined;
    return h('section', { role: 'listbox', 'aria-label': 'Bodies' }, h('h2', {}, 'Bodies', h('span', {}, count(all.length))),
      ...(rows.length > 0 ? rows : [h('div', { class: 'none' }, 'No body has this in its name.')]), more);
  }

  private cost({ model, moment }: Told): HTMLElement {
    const counts = moment?.counts ?? moment?.report?.counts, cost = moment?.report?.cost;
    const took = cost?.sum?.elapsed, fact = (value: string, said: string) => h('div', {}, value, h('small', {}, said));
    const pairs = counts ? counts.separated + counts.touching + counts.overlapping + counts.undecided : undefined;
    return h('section', {}, h('h2', {}, 'This frame', h('span', {}, took ? `${(Number(took.seconds) * 1e3 + took.nanos / 1e6).toFixed(2)} ms` : '')),
      h('div', { class: 'facts' },
        fact(pairs === undefined ? '–' : count(pairs), 'pairs decided'),
        fact(cost ? count(cost.pairsLookedAt) : counts ? count(counts.overlapping + counts.touching) : '–', cost ? 'looked at' : 'in contact'),
        fact(cost ? count(cost.bodiesMoved) : count(moment?.slots.length ?? 0), 'bodies moved')),
      model.moments.some((held) => held.report?.cost) ? this.chart : undefined);
  }

  // What frames cost, over all that is kept.
  private drawChart({ model, moment }: Told): void {
    const width = this.chart.clientWidth * 2, height = 80, pen = this.chart.getContext('2d');
    if (width === 0 || !pen) return;
    Object.assign(this.chart, { width, height });
    const style = getComputedStyle(document.documentElement);
    const values = model.moments.map((held) => Number(held.report?.cost?.sum?.elapsed?.nanos ?? 0));
    const sorted = [...values].sort((a, b) => a - b), most = (sorted[Math.floor(sorted.length * 0.98)] ?? 0) || 1, each = width / Math.max(values.length, 1);
    values.forEach((value, k) => {
      const tall = Math.max(1.5, Math.min(value / most, 1) * (height - 6));
      pen.fillStyle = style.getPropertyValue(k === (moment?.order ?? -1) - model.first ? '--ink' : '--accent');
      pen.globalAlpha = k === (moment?.order ?? -1) - model.first ? 1 : 0.45;
      pen.fillRect(k * each, height - tall, Math.max(each - 0.6, 0.8), tall);
    });
  }
}

const digits = (x: number): string => (Math.abs(x) >= 1e-4 ? x.toFixed(15 - Math.max(0, Math.floor(Math.log10(Math.abs(x) || 1)))) : x.toExponential(10)).replace(/0+$/, '');

const short = (name: string): string => name.replace(/^panda\/(panda_)?/, '').replace(/_/g, ' ');

function touches(model: Model, id: number): boolean {
  for (const { a, b } of model.contacts.values()) if (a === id || b === id) return true;
  return false;
}

const matches = (told: Told, a: number, b: number): boolean => {
  const find = told.find.toLowerCase();
  return find === '' || [a, b].some((id) => told.model.name(id).toLowerCase().includes(find));
};

// Whether search and filters leave a body.
export function isWanted(slot: Slot, { find, only, model, moment }: Pick<Told, 'find' | 'only' | 'model' | 'moment'>): boolean {
  const words = `${slot.name} ${slot.groups.join(' ')} ${slot.id}`.toLowerCase();
  if (find !== '' && !words.includes(find.toLowerCase())) return false;
  switch (only) {
    case 'contact': return touches(model, slot.id);
    case 'near': return pairsOf(moment).some((pair) => pair.a === slot.id || pair.b === slot.id);
    case 'moving': return !slot.fixed;
    case 'links': return slot.isLink;
    default: return true;
  }
}
