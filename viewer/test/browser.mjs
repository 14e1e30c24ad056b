// The page in headless Chromium, and the pixels that it shows.
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { PNG } from 'pngjs';

const here = new URL('..', import.meta.url);
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--force-color-profile=srgb'];

// The page and recordings, from files or from bytes, by name.
export async function host(files) {
  const page = readFileSync(new URL('dist/index.html.gz', here));
  const server = createServer((request, reply) => {
    const name = decodeURIComponent(new URL(request.url, 'http://x').pathname.slice(1));
    if (name === '') reply.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(page);
    else if (files[name]) reply.writeHead(200).end(files[name]);
    else reply.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export async function browser() {
  const profile = mkdtempSync(join(tmpdir(), 'viewer-'));
  const opened = await chromium.launchPersistentContext(profile, { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: FLAGS });
  return { context: opened, close: async () => { await opened.close(); rmSync(profile, { recursive: true, force: true }); } };
}

// A page that plays a recording; whatever it says on the console is kept.
export async function open(context, url, { width = 1280, height = 760, dark = true } = {}) {
  const page = await context.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
  page.setDefaultTimeout(60_000);
  const said = [];
  page.on('console', (message) => { if (message.type() === 'error' || message.type() === 'warning') said.push(message.text()); });
  page.on('pageerror', (error) => said.push(String(error)));
  await page.goto(url);
  return { page, said };
}

// When all that is to be drawn has been drawn.
export async function settled(page) {
  await page.waitForFunction(() => window.viewer && !window.viewer.model.isEmpty);
  await page.evaluate(async () => {
    for (let k = 0; k < 4; k++) await new Promise((resolve) => requestAnimationFrame(resolve));
  });
}

export class Picture {
  constructor(png) { this.png = png; }
  // The mean colour around a point.
  at({ x, y }, reach = 2) {
    const sum = [0, 0, 0];
    let n = 0;
    for (let i = -reach; i <= reach; i++) {
      for (let j = -reach; j <= reach; j++) {
        const [u, v] = [Math.round(x) + i, Math.round(y) + j];
        if (u < 0 || v < 0 || u >= this.png.width || v >= this.png.height) continue;
        const k = 4 * (v * this.png.width + u);
        for (let c = 0; c < 3; c++) sum[c] += this.png.data[k + c];
        n += 1;
      }
    }
    return sum.map((value) => value / n);
  }
  // How many pixels around a point are near a colour.
  count({ x, y }, reach, colour, within = 60) {
    let n = 0;
    for (let i = -reach; i <= reach; i++) {
      for (let j = -reach; j <= reach; j++) {
        if (differ(this.at({ x: x + i, y: y + j }, 0), colour) < within) n += 1;
      }
    }
    return n;
  }
}

export const differ = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

export async function picture(page) {
  await settled(page);
  return new Picture(PNG.sync.read(await page.screenshot()));
}
