// The page beside a server: what it says of a session that goes on, and that it comes back when the server does.
// CLEARANCE_SERVER names the program; without it, or where that has no door for browsers, nothing is tested.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { browser, open, settled } from './browser.mjs';
import { doorOf, playing } from './session.mjs';

const program = process.env.CLEARANCE_SERVER;

test('a session is followed, asked for proofs, and followed again after a restart', { skip: !program && 'no server' }, async (context) => {
  const door = await doorOf(program);
  if (!door) return context.skip('this server has no door for browsers');
  const chrome = await browser();
  const game = await playing(door);
  try {
    const { page, said } = await open(chrome.context, door.url);
    await settled(page);
    await page.waitForFunction(() => window.viewer.model.end > 10);
    assert.equal(await page.evaluate(() => window.viewer.shapes.size), 14);
    await page.evaluate(() => { window.viewer.play(false); window.viewer.choose({ pair: [4, 5] }); });
    await page.waitForFunction(() => window.viewer.proof?.text.length > 0);
    assert.ok(await page.evaluate(() => window.viewer.proof.planes.length + window.viewer.proof.vertices.length) > 0);
    const before = [...said];
    await door.restart();
    await game.again();
    await page.waitForFunction(() => window.viewer.state === 'live' && window.viewer.model.end > 2);
    await page.locator('.source').click();
    await page.waitForSelector('.sheet td');
    assert.match(await page.locator('.sheet').innerText(), /live\s+14/);
    assert.deepEqual(before.filter((text) => !text.includes('GL Driver')), []);
  } finally {
    game.stop();
    door.close();
    await chrome.close();
  }
});

test('the demo shows its arm, link by link, in its own shapes', { skip: !program && 'no server' }, async (context) => {
  const { started } = await import('../tools/server.mjs');
  const address = `127.0.0.1:${50550 + (process.pid % 90)}`;
  const { child, found } = await started(program, ['demo', '--watch', '--no-browser', '--http', address], /page +(http\S+)/)
    .catch(() => ({}));
  if (!child) return context.skip('this demo has no page');
  const chrome = await browser();
  try {
    const { page, said } = await open(chrome.context, found[1]);
    await settled(page);
    const links = () => window.viewer.model.slots.filter((slot) => slot.isLink);
    await page.waitForFunction(`(${links})().length > 8 && (${links})().every((slot) => slot.parts.every((part) => window.viewer.shapes.has(part.shape)))`);
    // Those that no joint moves have never moved, and stand where they are, too.
    const told = await page.evaluate(`(${links})().map((slot) => [slot.name, slot.isPlaced, slot.fixed])`);
    assert.ok(told.every(([name, isPlaced]) => name.startsWith('panda/') && isPlaced), JSON.stringify(told));
    assert.ok(told.some(([, , isFixed]) => isFixed), 'its foot is bolted down');
    await page.waitForFunction(() => window.viewer.model.moments.some((moment) => moment.events.length > 0));
    assert.deepEqual(said.filter((text) => !text.includes('GL Driver')), []);
  } finally {
    child.kill();
    await chrome.close();
  }
});
