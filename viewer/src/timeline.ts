// The line at the bottom: what happened when, and where one is.
import { ContactEventKind } from '../gen/clearance/v1/session_service_pb.js';
import { Verdict } from '../gen/clearance/v1/geometry_pb.js';
import { button, h } from './dom.js';
import type { Model } from './model.js';

export interface Player {
  model: Model;
  order: number;
  fraction: number;
  isPlaying: boolean;
  speed: number;
  isLive: boolean;
  follows: boolean;
  seek(order: number, fraction?: number): void;
  play(is: boolean): void;
  step(by: number): void;
  nextEvent(by: number): void;
  setSpeed(by: number): void;
}

export const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];

export class Timeline {
  private canvas = h('canvas', {});
  private range = h('input', { type: 'range', min: 0, max: 1000, step: 'any', 'aria-label': 'Time line' });
  private now = h('div', { class: 'now' });
  private playButton: HTMLButtonElement;
  private speedButton: HTMLButtonElement;
  private liveButton: HTMLButtonElement;
  private drawnFor = '';
  private icon = '';

  constructor(private root: HTMLElement, private player: Player) {
    this.playButton = button('play', 'Play or pause (space)', () => player.play(!player.isPlaying), 'play solid');
    this.speedButton = h('button', { class: 'speed', title: 'Speed ([ and ])', onclick: () => player.setSpeed(1) }, '1×');
    this.liveButton = h('button', { class: 'speed', title: 'Follow (l)', onclick: () => player.play(true) }, 'live');
    this.range.addEventListener('input', () => {
      const { model } = player, at = model.first + (Number(this.range.value) / 1000) * Math.max(model.end - model.first, 0);
      player.play(false);
      player.seek(Math.floor(at), at - Math.floor(at));
    });
    root.className = 'glass';
    root.append(this.playButton, button('back', 'A frame back (←)', () => player.step(-1)), button('on', 'A frame on (→)', () => player.step(1)),
      h('div', { class: 'line' }, this.canvas, this.range), this.now, this.speedButton, this.liveButton,
      button('next', 'Next contact (n)', () => player.nextEvent(1), 'wide'));
  }

  update(): void {
    const { model, order, fraction, isPlaying, speed } = this.player;
    const icon = isPlaying ? 'pause' : 'play';
    if (icon !== this.icon) {
      this.icon = icon;
      this.playButton.innerHTML = button(icon, '', () => {}).innerHTML;
    }
    const span = Math.max(model.end - model.first, 1), at = (order + fraction - model.first) / span;
    if (document.activeElement !== this.range || isPlaying) this.range.value = `${at * 1000}`;
    const moment = model.at(order);
    const frame = moment ? `${moment.frameId}` : '–';
    const next = model.at(order + 1)?.time ?? moment?.time ?? 0, time = (moment?.time ?? 0) * (1 - fraction) + next * fraction;
    this.now.replaceChildren(`${time.toFixed(3)} s`, h('small', {}, `frame ${frame}${fraction > 0 ? ` + ${fraction.toFixed(3)}` : ''}`));
    this.speedButton.textContent = `${speed}×`;
    this.liveButton.style.display = this.player.isLive ? '' : 'none';
    this.liveButton.style.color = this.player.follows && isPlaying ? '#2fae7a' : '';
    this.draw(at);
  }

  private draw(at: number): void {
    const { model } = this.player, ratio = Math.min(devicePixelRatio, 2);
    const width = Math.round(this.canvas.clientWidth * ratio), height = Math.round(this.canvas.clientHeight * ratio);
    const key = [width, height, Math.round(at * width), model.first, model.end, document.documentElement.dataset['theme']].join();
    if (key === this.drawnFor || width === 0) return;
    this.drawnFor = key;
    Object.assign(this.canvas, { width, height });
    const pen = this.canvas.getContext('2d')!, style = getComputedStyle(document.documentElement), colour = (name: string) => style.getPropertyValue(name);
    const span = Math.max(model.end - model.first, 1), middle = height * 0.62, thick = 3 * ratio;
    pen.fillStyle = colour('--chip');
    pen.fillRect(0, middle - thick / 2, width, thick);
    pen.fillStyle = colour('--accent');
    pen.fillRect(0, middle - thick / 2, at * width, thick);
    // Marks of frames with contacts: those that begin, and higher those that no frame sees.
    for (const moment of model.moments) {
      let began = 0, missed = 0;
      for (const event of moment.events) {
        if (event.kind !== ContactEventKind.BEGAN) continue;
        if (event.verdict === Verdict.SEPARATED) missed += 1;
        else began += 1;
      }
      const x = ((moment.order - model.first) / span) * width;
      if (began > 0) {
        pen.fillStyle = colour('--contact');
        pen.fillRect(x - ratio * 0.75, middle - (6 + Math.min(began, 5) * 1.5) * ratio, 1.5 * ratio, (5 + Math.min(began, 5) * 1.5) * ratio);
      }
      if (missed > 0) {
        pen.fillStyle = colour('--ghost');
        pen.beginPath();
        const y = height * 0.16, s = 3.6 * ratio;
        pen.moveTo(x, y - s); pen.lineTo(x + s, y); pen.lineTo(x, y + s); pen.lineTo(x - s, y);
        pen.fill();
      }
    }
    pen.fillStyle = colour('--ink');
    pen.beginPath();
    pen.arc(Math.min(Math.max(at * width, 6 * ratio), width - 6 * ratio), middle, 6 * ratio, 0, 7);
    pen.fill();
  }

  get element(): HTMLElement { return this.root; }
}
