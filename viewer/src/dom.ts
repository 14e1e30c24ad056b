// Small things of the page: elements, icons, glyphs of verdicts, numbers in words.
import { Verdict } from '../gen/clearance/v1/geometry_pb.js';
import type { PairReport } from '../gen/clearance/v1/session_service_pb.js';

type Props = Record<string, unknown>;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: (Node | string | undefined | false)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === 'html') element.innerHTML = value as string;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child): child is Node | string => !!child));
  return element;
}

const PATHS: Record<string, string> = {
  play: '<path d="M5 3.2v11.6L15 9z"/>', pause: '<path d="M5 3.5h3v11H5zM10.5 3.5h3v11h-3z"/>',
  back: '<path d="M11 4 6 9l5 5"/>', on: '<path d="m7 4 5 5-5 5"/>', open: '<path d="M2.5 14.5v-11h4l1.6 2h7.4v9z"/>',
  moon: '<path d="M14.5 10.5A6 6 0 0 1 7.5 3.5a6 6 0 1 0 7 7z"/>', sun: '<circle cx="9" cy="9" r="3"/><path d="M9 1.8v1.7M9 14.500v1.700M1.800 9h1.700M14.500 9h1.700M3.900 3.900l1.200 1.200M12.900 12.900l1.200 1.200M3.900 14.100l1.200-1.200M12.900 5.100l1.200-1.200"/>',
  fit: '<path d="M3 6.500V3h3.500M11.500 3H15v3.500M15 11.500V15h-3.500M6.500 15H3v-3.500"/>', help: '<circle cx="9" cy="9" r="6.500"/><path d="M7.200 7.200a1.900 1.900 0 1 1 2.700 1.700c-.7.3-.9.700-.9 1.400M9 12.700v.1"/>',
  seek: '<circle cx="8" cy="8" r="4.500"/><path d="m11.500 11.500 3 3"/>', close: '<path d="m5 5 8 8M13 5l-8 8"/>', next: '<path d="m4 4 6 5-6 5zM13.500 4v10"/>',
};

export const icon = (name: string): string => `<svg viewBox="0 0 18 18" aria-hidden="true">${PATHS[name]}</svg>`;

export function button(name: string, title: string, press: () => void, more = ''): HTMLButtonElement {
  return h('button', { class: `icon ${more}`, title, 'aria-label': title, html: icon(name), onclick: press });
}

export type Kind = 'contact' | 'between' | 'near' | 'apart';

// A form for each kind, so that it is told without colours.
const FORMS: Record<Kind, string> = {
  contact: '<circle cx="7" cy="7" r="5" fill="none" stroke="currentColor" stroke-width="2"/><circle cx="7" cy="7" r="1.700" fill="currentColor"/>',
  between: '<path d="M7 1.500 12.500 7 7 12.500 1.500 7z" fill="none" stroke="currentColor" stroke-width="1.800"/><path d="M7 5 9 7 7 9 5 7z" fill="currentColor"/>',
  near: '<path d="M2.500 7h9" stroke="currentColor" stroke-width="1.600"/><circle cx="2.600" cy="7" r="2" fill="currentColor"/><circle cx="11.400" cy="7" r="2" fill="currentColor"/>',
  apart: '<path d="M7 1.500v11" stroke="currentColor" stroke-width="1.800"/><path d="M3.500 7h-2M12.500 7h-2" stroke="currentColor" stroke-width="1.600"/>',
};

export function glyph(kind: Kind): HTMLElement {
  return h('span', { class: `glyph ${kind}`, html: `<svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true" style="display:block">${FORMS[kind]}</svg>` });
}

export const BRAND = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M2.500 17.500 9 5l4 7.500z" fill="var(--accent)"/><path d="M15.500 19.500 22 7.500v12z" fill="var(--contact)"/><path d="m11.500 21.500 6-19" stroke="currentColor" stroke-width="1.500" stroke-linecap="round"/></svg>';

export function length(metres: number): string {
  const size = Math.abs(metres);
  if (size === 0) return '0';
  if (size < 1e-9) return '< 1 nm';
  if (size < 1e-6) return `${(metres * 1e9).toPrecision(3)} nm`;
  if (size < 1e-3) return `${(metres * 1e6).toPrecision(3)} µm`;
  if (size < 1) return `${(metres * 1e3).toFixed(size < 0.1 ? 2 : 1)} mm`;
  return `${metres.toFixed(size < 10 ? 3 : 2)} m`;
}

export const count = (n: number | bigint): string => Number(n).toLocaleString('en').replace(/,/g, '\u2009');

export const WORDS: Record<number, string> = {
  [Verdict.SEPARATED]: 'separated', [Verdict.TOUCHING]: 'touching', [Verdict.OVERLAPPING]: 'overlapping', [Verdict.UNSPECIFIED]: 'not decided',
};

// The signed clearance of a pair: how far apart, or minus how deep.
export function clearance(pair: PairReport): number | undefined {
  if (pair.verdict === Verdict.OVERLAPPING) return pair.depth ? -pair.depth.upper : undefined;
  if (pair.verdict === Verdict.TOUCHING) return 0;
  return pair.distance?.upper;
}
