// The view in the address: who follows it sees the same.
export interface View {
  session?: string;
  // The frame, and how much of the way to the next one has gone by.
  frame?: string;
  t?: number;
  body?: number;
  pair?: [number, number];
  eye?: number[];
  target?: number[];
  theme?: string;
  find?: string;
  only?: string;
}

export function readView(hash: string): View {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const numbers = (name: string) => given.get(name)?.split(',').map(Number).filter(Number.isFinite);
  const view: View = {};
  const pair = given.get('pair')?.split('-').map(Number);
  const eye = numbers('eye'), target = numbers('target');
  if (given.has('session')) view.session = given.get('session')!;
  if (/^\d+$/.test(given.get('frame') ?? '')) view.frame = given.get('frame')!;
  if (given.has('t')) view.t = Math.min(Math.max(Number(given.get('t')) || 0, 0), 0.999999);
  if (given.has('body')) view.body = Number(given.get('body'));
  if (pair?.length === 2 && pair.every(Number.isFinite)) view.pair = pair as [number, number];
  if (eye?.length === 3 && target?.length === 3) [view.eye, view.target] = [eye, target];
  if (given.has('theme')) view.theme = given.get('theme')!;
  if (given.has('find')) view.find = given.get('find')!;
  if (given.has('only')) view.only = given.get('only')!;
  return view;
}

export function writeView(view: View): string {
  const short = (list: number[]) => list.map((x) => Number(x.toPrecision(5))).join(',');
  const said: [string, string | undefined][] = [
    ['session', view.session], ['frame', view.frame], ['t', view.t ? Number(view.t.toPrecision(6)).toString() : undefined],
    ['body', view.body?.toString()], ['pair', view.pair?.join('-')], ['eye', view.eye && short(view.eye)],
    ['target', view.target && short(view.target)], ['theme', view.theme], ['find', view.find || undefined], ['only', view.only || undefined],
  ];
  return said.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${encodeURIComponent(value!).replace(/%2C/g, ',').replace(/%2F/g, '/')}`).join('&');
}
