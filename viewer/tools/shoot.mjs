// Takes pictures: node tools/shoot.mjs RECORDING OUT.png [WIDTH HEIGHT dark|light HASH]
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { browser, host, open, settled } from '../test/browser.mjs';

const [recording, out, width = 1280, height = 760, theme = 'dark', hash = '', script = ''] = process.argv.slice(2);
const name = basename(recording);
const server = await host({ [name]: readFileSync(recording) });
const { context, close } = await browser();
const { page, said } = await open(context, `${server.url}?recording=${name}&still#${hash}`, { width: +width, height: +height, dark: theme === 'dark' });
await settled(page);
if (script) { await page.evaluate(script); await settled(page); }
await page.waitForTimeout(700);
await page.screenshot({ path: out });
console.log(JSON.stringify(await page.evaluate(() => window.viewer.stats)), said.join('\n'));
await close();
server.close();
