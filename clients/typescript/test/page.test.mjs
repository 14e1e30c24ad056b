// A real page, in Chromium, calls both doors; one of an origin that is not listed may not.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { build } from "vite";
import { freePort, Server } from "./server.mjs";

const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"];
const executablePath = places.find((place) => place && existsSync(place));
const options = { skip: executablePath ? false : "there is no Chromium" };

let server, page, browser, files, listed, stranger;
const complaints = [];
before(async () => {
  if (options.skip) return;
  await build({ root: "page", logLevel: "error", build: { outDir: "dist", emptyOutDir: true } });
  files = createServer((request, response) => {
    const path = request.url === "/" ? "/index.html" : request.url;
    const type = path.endsWith(".js") ? "text/javascript" : "text/html";
    response.setHeader("content-type", type).end(readFileSync(`page/dist${path}`));
  });
  const port = await freePort();
  files.listen(port, "127.0.0.1");
  await once(files, "listening");
  [listed, stranger] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  server = await Server.start("--cors-origins", listed);
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  page = await browser.newPage();
  page.on("console", (said) => said.type() === "error" && complaints.push(said.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
});
after(async () => {
  await browser?.close();
  await server?.stop();
  files?.close();
});

const ask = (...what) => page.evaluate(([address, protocol, json]) => window.ask(address, protocol, json), what);

test("a page calls in both protocols and reads errors and streams", options, async () => {
  await page.goto(listed);
  for (const [protocol, json] of [["connect", false], ["connect", true], ["grpc-web", false]]) {
    const told = await ask(server.web, protocol, json);
    assert.equal(told.thrown, undefined, `${protocol}: ${told.thrown}`);
    assert.equal(told.verdict, "SEPARATED");
    assert.ok(told.lower > 0.99 && told.lower <= 1);
    assert.deepEqual(told.error, [true, "BAD_FIELD", "q.vertices.xyz"]);
    assert.equal(told.incarnation, "bigint");
    assert.deepEqual([told.frames, told.events], [[1, 2, 3], [0, 1, 1]]);
  }
  // A status that is no success is told as an error of the network, and nothing else is.
  const others = complaints.filter((text) => !/status of (400|200)/.test(text));
  assert.deepEqual(others, []);
});

test("a page of another origin may not call", options, async () => {
  await page.goto(stranger);
  const told = await ask(server.web, "connect", true);
  assert.equal(told.verdict, undefined);
  assert.ok(told.thrown, JSON.stringify(told));
});
