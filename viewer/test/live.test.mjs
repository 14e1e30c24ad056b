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
