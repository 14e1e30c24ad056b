// The example of a game runs as it stands in the document, is short, and survives a restart.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Server } from "./server.mjs";

test("a game of 200 bodies goes on while its server is started again", async () => {
  const server = await Server.start();
  try {
    const game = spawn(process.execPath, ["dist/examples/game.js", server.web, "6"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    game.stdout.on("data", (data) => (said += data));
    const over = once(game, "exit");
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await server.restart();
    const [code] = await over;
    assert.equal(code, 0, said);
    const [, frames, events, rays] = /frame (\d+): (\d+) events, (\d+) rays/.exec(said).map(Number);
    assert.ok(frames > 60 && events > 10 && rays > 60, said);
  } finally {
    await server.stop();
  }
});

test("it has at most thirty lines, and the document has the same", () => {
  const text = readFileSync("examples/game.ts", "utf8");
  assert.ok(text.trimEnd().split("\n").length <= 30);
  const page = readFileSync("../../docs/typescript.md", "utf8");
  assert.ok(page.includes(text), "docs/typescript.md has another one");
});
