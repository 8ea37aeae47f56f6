// The page in Chromium, against the real command. FOXTROT is the command, built with the page; CHROMIUM the browser;
// MODULES the folder with the packages of package.json; SCREENSHOTS a folder for pictures, if they are wanted; ROWS a number of rows in place of 100000.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

const { FOXTROT, CHROMIUM, MODULES, SCREENSHOTS, ROWS = "100000" } = process.env;
const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");

let folder, browser;
const open = new Set();

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "foxtrot-page-"));
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  open.forEach((it) => it.kill("SIGKILL"));
  rmSync(folder, { recursive: true, force: true });
});

const file = (name, text) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

// The command that serves the page, with its address and the link that it prints.
async function serve(set, ...more) {
  const child = spawn(FOXTROT, ["psi", "send", set, "--serve", "--websocket", "127.0.0.1:0", "--page", ...more], { stdio: ["ignore", "ignore", "pipe"] });
  open.add(child);
  const lines = createInterface({ input: child.stderr }), said = [];
  const link = await new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      said.push(line);
      const found = line.match(/open (http:\S+)/);
      if (found) resolve(found[1]);
    });
    child.on("exit", () => reject(new Error(said.join("\n"))));
  });
  return { child, link, said, address: new URL(link).origin, stop: () => { child.kill("SIGKILL"); open.delete(child); } };
}

async function visit(link, options = {}) {
  const context = await browser.newContext({ locale: "en-GB", acceptDownloads: true, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("console", (it) => { if (it.type() === "error") errors.push(it.text()); });
  await page.goto(link);
  return Object.assign(page, { errors });
}

async function choose(page, path, columns, forms = {}) {
  await page.setInputFiles("#file", path);
  for (const column of columns) {
    const line = page.locator(".column", { has: page.locator(`span:text-is("${column}")`) });
    await line.locator("input[type=checkbox]").check();
    if (forms[column]) await line.locator("select").selectOption(forms[column]);
  }
  await page.click("#read");
  await page.waitForSelector("#facts:not([hidden])", { timeout: 60_000 });
}

async function compare(page) {
  await page.click("#ask");
  await page.waitForSelector("#agreement:not([hidden])");
  await page.click("#run");
}

const failed = async (page, timeout = 60_000) => {
  await page.waitForSelector("#alert:not([hidden])", { timeout });
  return page.locator("#alert").getAttribute("data-code");
};

const picture = async (page, name) => {
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, name + ".png"), fullPage: true });
};

const sha = (bytes) => createHash("sha256").update(bytes).digest("hex");

// A set with quotes, line breaks, umlauts and emoji. Every third key of the other side is another one.
const key = (i) => (i % 3 ? `Nutzer "${i}", Köln` : `😀 ${i}\nzweite Zeile`);
const cell = (text) => `"${text.replaceAll('"', '""')}"`;
const table = (n, of) => "id,name,note\r\n" + Array.from({ length: n }, (_, i) => `${i},${cell(of(i))},"ü ""${i}"""\r\n`).join("");

test("a dropped file is intersected with the command, and the right rows are downloaded", { timeout: 400_000 }, async () => {
  const n = Number(ROWS);
  const ours = file("ours.csv", table(n, key)), theirs = file("theirs.csv", table(n, (i) => key(2 * i)));
  const server = await serve(theirs, "--key", "name");
  const page = await visit(server.link);
  assert.equal(new URL(page.url()).hash, "", "the token stays in the address");
  await choose(page, ours, ["name"]);
  const began = performance.now();
  await compare(page);
  await page.waitForSelector("#result:not([hidden])", { timeout: 300_000 });
  console.log(`${n} × ${n} rows: ${((performance.now() - began) / 1000).toFixed(1)} s from the agreement to the result`);
  const download = page.waitForEvent("download");
  await page.click("#save");
  const saved = readFileSync(await (await download).path());
  const expected = execFileSync(FOXTROT, ["psi", "local", ours, theirs, "--key", "name", "--quiet"], { maxBuffer: 1 << 30 });
  assert.equal(sha(saved), sha(expected));
  assert.equal(Number(await page.locator("#count").getAttribute("data-rows")), Math.ceil(n / 2));
  // The table has the rows that are seen, and those at the end when it is scrolled there.
  assert.ok(await page.locator("#rows tbody tr").count() < 60);
  assert.equal(await page.locator("#rows tbody tr >> nth=1 >> td >> nth=2").textContent(), key(0));
  await page.locator("#scroll").evaluate((it) => { it.scrollTop = it.scrollHeight; });
  const last = 2 * (Math.ceil(n / 2) - 1);
  await page.waitForSelector(`#rows td:text-is("${last}")`);
  assert.deepEqual(page.errors, []);
  server.stop();
});

const small = () => [file("a.csv", "id;E-Mail\n1;Ann@Example.org\n2;bob@example.org\n3;\n4;ann@example.org\n"), file("b.csv", "mail\nann@example.org\neve@example.org\n")];

test("the page is a keyboard's and a screen reader's, in both languages, on a phone and in the dark", { timeout: 120_000 }, async () => {
  const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  const [ours, theirs] = small(), server = await serve(theirs, "--key", "mail", "--normalize", "email");
  for (const [name, options] of Object.entries({
    desktop: { viewport: { width: 1200, height: 900 } },
    phone: { viewport: { width: 360, height: 740 }, colorScheme: "dark", locale: "de-DE" },
  })) {
    // The check's own script is not the page's: the page's policy would forbid it.
    const page = await visit(server.link, { ...options, bypassCSP: true });
    const check = async (where) => {
      await picture(page, `${name}-${where}`);
      await page.addScriptTag({ content: axe });
      const { violations } = await page.evaluate(() => globalThis.axe.run());
      assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((it) => it.html)]), [], where);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${where} is ${wide} pixels too wide`);
    };
    await check("begin");
    // By keyboard alone, from here on.
    await page.setInputFiles("#file", ours);
    const columns = page.locator(".column");
    await columns.nth(1).locator("input[type=checkbox]").focus();
    await page.keyboard.press("Space");
    await page.locator("#read").focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("#facts:not([hidden])");
    await check("file");
    assert.equal(await page.evaluate(() => document.activeElement.id), "h-peer");
    // The file was read as it is; the other side wants e-mail.
    await page.locator("#ask").focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("#agreement:not([hidden])");
    assert.equal(await page.locator("#n-keys").textContent(), "2");
    assert.equal(await page.locator("#n-duplicates").textContent(), "1");
    assert.equal(await page.locator("#n-empty").textContent(), "1");
    await check("agreement");
    assert.equal(await page.evaluate(() => document.activeElement.id), "h-terms");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#result:not([hidden])");
    await page.waitForSelector("#rows tbody td:text-is('Ann@Example.org')");
    await check("result");
    assert.equal(await page.locator("#count").getAttribute("data-rows"), "2");
    assert.equal(await page.locator("html").getAttribute("lang"), name === "phone" ? "de" : "en");
    await page.locator("#language").selectOption(name === "phone" ? "en" : "de");
    assert.match(await page.locator("#count").textContent(), name === "phone" ? /both lists/ : /beiden Listen/);
  }
  server.stop();
});

test("both languages have all texts", async () => {
  const { texts } = await import(new URL("../page/texts.js", import.meta.url));
  const places = (text) => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const [one, other] of [[texts.en, texts.de], [texts.en.errors, texts.de.errors]]) {
    assert.deepEqual(Object.keys(one), Object.keys(other));
    for (const key in one) if (typeof one[key] === "string") assert.deepEqual(places(one[key]), places(other[key]), key);
  }
});

test("a wrong token, a page of another origin and a lost connection are told, and a second try works", { timeout: 120_000 }, async () => {
  const [ours, theirs] = small(), server = await serve(theirs, "--key", "mail", "--normalize", "email");
  const page = await visit(server.link);
  await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
  const token = await page.inputValue("#token");
  await page.fill("#token", "another-token-of-20-characters");
  await compare(page);
  assert.equal(await failed(page), "token");
  await page.fill("#token", token);
  await page.fill("#name", "nobody");
  await compare(page);
  assert.equal(await failed(page), "token");
  await page.fill("#name", "");
  await page.click("#run");
  await page.waitForSelector("#result:not([hidden])");
  // The same page from another port is of another origin.
  const other = await serve(theirs, "--key", "mail", "--normalize", "email");
  await page.fill("#address", other.address.replace("http", "ws") + "/foxtrot");
  await page.click("#ask");
  assert.equal(await failed(page), "unreachable");
  assert.ok(other.said.some((line) => line.includes("another origin")), other.said.join("\n"));
  other.stop();
  server.stop();
  await page.fill("#address", server.address.replace("http", "ws") + "/foxtrot");
  await page.click("#ask");
  assert.equal(await failed(page), "unreachable");
});

test("a run can be cancelled, and ends when the connection is lost", { timeout: 200_000 }, async () => {
  const n = 60_000, set = file("many.csv", table(n, key));
  const server = await serve(set, "--key", "name");
  const page = await visit(server.link);
  await choose(page, set, ["name"]);
  await compare(page);
  await page.waitForSelector("#running:not([hidden])");
  await page.click("#cancel");
  assert.equal(await failed(page), "cancelled");
  await page.waitForSelector("#facts:not([hidden])");
  await compare(page);
  await page.waitForFunction(() => document.getElementById("bar").value > 0, undefined, { timeout: 120_000 });
  server.stop();
  assert.equal(await failed(page), "closed");
});

// A WebSocket server that says what it is told to say; bare frames, as no library would send.
function hostile(talk) {
  const server = createServer((_, response) => response.end("x"));
  server.on("upgrade", (request, socket) => {
    const accept = createHash("sha1").update(request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    socket.on("error", () => {});
    talk((bytes, first = 0x82) => {
      const length = bytes.length < 126 ? Buffer.of(first, bytes.length)
        : bytes.length < 65536 ? Buffer.of(first, 126, bytes.length >> 8, bytes.length & 255)
        : Buffer.concat([Buffer.of(first, 127, 0, 0, 0, 0), Buffer.from(Uint32Array.of(bytes.length).buffer).swap32()]);
      socket.write(Buffer.concat([length, bytes]));
    }, socket);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

test("a hostile server ends the run with an error, and hangs nothing", { timeout: 120_000 }, async () => {
  const [ours, theirs] = small(), real = await serve(theirs, "--key", "mail", "--normalize", "email");
  const page = await visit(real.link);
  await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
  const frame = (lane, payload) => Buffer.concat([Buffer.from(Uint32Array.of(payload.length).buffer), Buffer.of(lane), payload]);
  const text = (it) => Buffer.concat([Buffer.of(it.length), Buffer.from(it)]);
  const long = (it) => Buffer.concat([Buffer.from(Uint16Array.of(it.length).buffer), Buffer.from(it)]);
  const terms = { adversary: "malicious", assumption: "symmetric", base: "roted-endemic", job: "psi", normalize: "email/1" };
  const rows = (object) => Buffer.concat([Buffer.from(Uint16Array.of(Object.keys(object).length).buffer), ...Object.entries(object).flatMap(([k, v]) => [text(k), long(v)])]);
  const version = readFileSync(new URL("../../net/src/hello.rs", import.meta.url), "utf8").match(/VERSION: u16 = (\d+)/)[1];
  const hello = () => frame(0, Buffer.concat([Buffer.from("FOXTROT\0"), Buffer.of(Number(version), 0), randomBytes(32), Buffer.of(0, 0), rows(terms), rows({ "most-keys": "1000", side: "responder" })]));
  for (const [what, code, talk] of [
    ["no hello", "no-foxtrot", (send) => send(frame(0, Buffer.from("hello, world")))],
    ["text", "misbehaved", (send) => send(Buffer.from("hello"), 0x81)],
    ["a hello too long", "misbehaved", (send) => send(Buffer.of(0, 0, 0, 16, 0))],
    ["another lane", "misbehaved", (send) => send(frame(1, Buffer.alloc(40)))],
    ["a malformed frame", "closed", (send) => send(Buffer.alloc(4), 0x83)],
    ["a proof that is none", "token", (send) => send(Buffer.concat([hello(), frame(0, Buffer.alloc(42))]))],
    ["details of another form", "misbehaved", (send) => send(Buffer.concat([hello(), frame(0, Buffer.alloc(7))]))],
    ["a refusal", "peer-busy", (send) => send(Buffer.concat([hello(), frame(0, Buffer.of(5))]))],
    ["a flood", "misbehaved", (send) => { send(hello()); for (let i = 0; i < 8; i++) send(Buffer.alloc(1 << 20, 1)); }],
    ["an end", "closed", (send, socket) => { send(hello()); socket.end(); }],
  ]) {
    // The first connection asks for terms; where that already fails, the run need not begin.
    let visits = 0;
    const server = await hostile((send, socket) => (visits++ === 0 && talk.length && hellos(what) ? send(hello()) : talk(send, socket)));
    await page.fill("#address", `ws://127.0.0.1:${server.address().port}/foxtrot`);
    await page.click("#ask");
    if (hellos(what)) {
      await page.waitForSelector("#agreement:not([hidden])");
      await page.click("#run");
    }
    assert.equal(await failed(page, 20_000), code, what);
    server.closeAllConnections();
    server.close();
  }
  assert.deepEqual(page.errors.filter((it) => !it.includes("WebSocket")), []);
  real.stop();
});

const hellos = (what) => /proof|details|refusal|flood|end$/.test(what) && what !== "no hello";
