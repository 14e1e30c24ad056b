// Builds the page: one file with everything in it, and the same packed by gzip as a server hands it out.
import { readFileSync, readdirSync, writeFileSync, mkdirSync, rmSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const here = new URL('.', import.meta.url);
execFileSync('node', ['node_modules/@bufbuild/buf/bin/buf', 'generate', '../proto'], { cwd: here, stdio: 'inherit' });
await build({ root: here.pathname, logLevel: 'warn', configFile: new URL('vite.config.mjs', here).pathname });

const out = new URL('out/', here), assets = new URL('assets/', out);
const names = readdirSync(assets).sort();
const held = (end) => names.filter((name) => name.endsWith(end)).map((name) => readFileSync(new URL(name, assets), 'utf8')).join('\n');
const page = readFileSync(new URL('index.html', out), 'utf8')
  .replace(/\s*<link rel="stylesheet"[^>]*>/, () => `\n<style>${held('.css').trim()}</style>`)
  .replace(/\s*<script type="module"[^>]*><\/script>/, '')
  .replace('</body>', () => `<script type="module">${held('.js').trim().replace(/<\/script/g, '<\\/script')}</script>\n</body>`);
if (/(src|href)="\//.test(page)) throw new Error('something is not inside the page');

const dist = new URL(process.argv[2] ? `${process.argv[2]}/` : 'dist/', process.argv[2] ? `file://${process.cwd()}/` : here);
mkdirSync(dist, { recursive: true });
const packed = gzipSync(page, { level: 9 });
// The byte that names the operating system is the same everywhere.
packed[9] = 255;
writeFileSync(new URL('index.html', dist), page);
writeFileSync(new URL('index.html.gz', dist), packed);
rmSync(out, { recursive: true });
console.log(`${page.length} bytes, ${packed.length} packed`);
if (packed.length > 300_000) throw new Error('the page is larger than 300 KB');
