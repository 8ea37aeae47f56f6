// The page in Chromium, against the real command (page.mjs). SCREENSHOTS is a folder for pictures, if they are wanted; ROWS
// a number of rows in place of 100000.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FOXTROT, begin, browser, choose, compare, elsewhere, end, failed, file, key, require, serve, start, table, visit } from "./page.mjs";

const { SCREENSHOTS, ROWS = "100000" } = process.env;

before(() => begin("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"));
after(end);

const picture = async (page, name) => {
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, name + ".png"), fullPage: true });
};

const sha = (bytes) => createHash("sha256").update(bytes).digest("hex");

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
  assert.equal(await page.locator("#rows tbody tr >> nth=1 >> td >> nth=2").textContent(), key(0).replace("\n", "\\n"));
  await page.locator("#scroll").evaluate((it) => { it.scrollTop = it.scrollHeight; });
  const last = 2 * (Math.ceil(n / 2) - 1);
  await page.waitForSelector(`#rows td:text-is("${last}")`);
  assert.deepEqual(page.errors, []);
  assert.ok(server.said.every((line) => !line.includes("refused")), server.said.join("\n"));
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

const agreement = (page) => page.locator("#terms").innerText();

async function saved(page) {
  const download = page.waitForEvent("download");
  await page.click("#save");
  return readFileSync(await (await download).path(), "utf8");
}

test("columns of the other side stand behind the rows, and the agreement names them", { timeout: 120_000 }, async () => {
  const ours = file("ours.csv", "id;mail\r\n1;ann@example.org\r\n2;eve@example.org\r\n3;bob@example.org");
  const theirs = file("theirs.csv", "mail,city,plan,secret\nbob@example.org,Köln,\"a; \"\"b\"\"\",s\nann@example.org,,x,s\n");
  const server = await serve(theirs, "--key", "mail", "--share", "city,plan", "--width", "20");
  const page = await visit(server.link);
  await choose(page, ours, ["mail"]);
  await page.click("#ask");
  await page.waitForSelector("#agreement:not([hidden])");
  await page.click("#run");
  assert.equal(await failed(page), "with");
  await page.fill("#with", "plan, secret");
  await page.click("#run");
  await page.waitForSelector("#alert[data-code=withWhich]:not([hidden])");
  await page.fill("#with", "plan, city");
  assert.match(await agreement(page), /its columns plan, city in these rows/);
  await page.click("#run");
  await page.waitForSelector("#result:not([hidden])");
  assert.equal(await saved(page), "id;mail;plan;city\r\n1;ann@example.org;x;\r\n3;bob@example.org;\"a; \"\"b\"\"\";Köln\n");
  await page.waitForSelector("#rows td:text-is('Köln')");
  assert.equal(await page.locator("#rows th").last().textContent(), "city");
  server.stop();
});

test("both sides learn their matches, where both have agreed to that", { timeout: 120_000 }, async () => {
  const [ours, theirs] = small(), out = theirs + ".common";
  const server = await start("send", theirs, "--key", "mail", "--normalize", "email", "--both", "-o", out, "--yes");
  const page = await visit(server.link);
  await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
  await page.click("#ask");
  await page.waitForSelector("#agreement:not([hidden])");
  assert.match(await agreement(page), /other side also learns which of its keys you have/);
  await page.click("#run");
  await page.waitForSelector("#result:not([hidden])");
  assert.equal(await page.locator("#count").getAttribute("data-rows"), "2");
  await server.ended;
  assert.equal(readFileSync(out, "utf8"), "mail\nann@example.org\n");
});

test("counts and sums show no rows", { timeout: 120_000 }, async () => {
  const [ours] = small(), theirs = file("amounts.csv", "mail,amount\nann@example.org,7\nbob@example.org,30\neve@example.org,1000\n");
  for (const [args, told, shown] of [
    [["count"], /Neither learns which/, "2 keys are on both lists"],
    [["count", "--min-count", "3"], /fewer than 3 keys/, "Too few keys are on both lists: there is no result"],
    [["sum", "--value", "amount"], /sum of the other side’s numbers/, "2 keys are on both lists; the sum of the other side’s numbers beside them is 37"],
  ]) {
    const [command, ...more] = args, server = await start(command, theirs, "--key", "mail", "--normalize", "email", "--yes", ...more);
    const page = await visit(server.link);
    await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
    await page.click("#ask");
    await page.waitForSelector("#agreement:not([hidden])");
    assert.match(await agreement(page), told);
    assert.match(await agreement(page), /only if both sides follow the rules/);
    await page.click("#run");
    await page.waitForSelector("#result:not([hidden])");
    assert.equal(await page.locator("#count").textContent(), shown);
    assert.ok(await page.locator("#save").isHidden() && await page.locator("#scroll").isHidden());
    assert.equal(await server.ended, 0, server.said.join("\n"));
    await page.context().close();
  }
});

test("what the page cannot agree to it refuses before anything is compared", { timeout: 120_000 }, async () => {
  const [ours, theirs] = small(), policy = file("policy.toml", "policy = 1\nfunctions = [\"intersection\"]\n");
  for (const [code, more] of [["policy", ["--policy", policy]], ["function", ["--or-key", "mail"]]]) {
    const server = await serve(theirs, "--key", "mail", ...more);
    const page = await visit(server.address);
    await choose(page, ours, ["E-Mail"]);
    await page.fill("#address", server.link);
    await page.locator("#address").blur();
    assert.equal(await page.inputValue("#address"), server.address.replace("http", "ws") + "/foxtrot");
    await page.click("#ask");
    await page.waitForSelector(`#alert[data-code=${code}]:not([hidden])`);
    assert.ok(await page.locator("#agreement").isHidden());
    await page.context().close();
    server.stop();
  }
});

test("a link is taken from a code before the camera", { timeout: 60_000 }, async () => {
  const [ours, theirs] = small(), server = await serve(theirs, "--key", "mail", "--normalize", "email");
  const context = await browser.newContext({ permissions: ["camera"] });
  // Chromium on Linux reads no codes: the camera is real as far as it can be, what it sees is not.
  await context.addInitScript((link) => {
    let looks = 0;
    globalThis.BarcodeDetector = class {
      static async getSupportedFormats() { return ["qr_code"]; }
      async detect(video) { return video.videoWidth && looks++ > 2 ? [{ rawValue: "https://example.org/other" }, { rawValue: link }] : []; }
    };
  }, server.link);
  const page = await context.newPage();
  await page.goto(server.address);
  await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
  assert.equal(await page.inputValue("#token"), "");
  await page.click("#scan");
  await page.waitForSelector("#camera[open]");
  await picture(page, "camera");
  await page.waitForSelector("#camera:not([open])", { state: "attached" });
  assert.equal(await page.inputValue("#token"), new URLSearchParams(new URL(server.link).hash.slice(1)).get("token"));
  await compare(page);
  await page.waitForSelector("#result:not([hidden])");
  await context.close();
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

const address = (server) => server.address.replace("http", "ws") + "/foxtrot";

test("a wrong token is told before a file is chosen, and before the agreement; a second try works", { timeout: 120_000 }, async () => {
  const [ours, theirs] = small(), server = await serve(theirs, "--key", "mail", "--normalize", "email");
  const early = await visit(server.link.replace(/token=.*/, "token=another-token-of-20-characters"));
  assert.equal(await failed(early), "token");
  await early.context().close();
  const page = await visit(server.link);
  await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
  const token = await page.inputValue("#token");
  for (const [wrong, name] of [["another-token-of-20-characters", ""], [token, "nobody"]]) {
    await page.fill("#token", wrong);
    await page.fill("#name", name);
    await page.click("#ask");
    await page.waitForSelector("#alert[data-code=token]:not([hidden])");
    assert.ok(await page.locator("#agreement").isHidden());
  }
  await page.fill("#name", "");
  await compare(page);
  await page.waitForSelector("#result:not([hidden])");
  server.stop();
  await page.click("#ask");
  assert.equal(await failed(page), "unreachable");
});

test("looks, wrong tokens and reloads count as no comparison of the day", { timeout: 120_000 }, async () => {
  const [ours, theirs] = small();
  const server = await serve(theirs, "--key", "mail", "--normalize", "email", "--max-runs-per-day", "1", "--limits", theirs + ".limits");
  const page = await visit(server.link), right = await page.inputValue("#token");
  page.on("dialog", (dialog) => dialog.accept());
  for (const token of [right, "another-token-of-20-characters", right]) {
    await page.reload();
    await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
    await page.fill("#token", token);
    await page.click("#ask");
    await page.waitForSelector(token === right ? "#agreement:not([hidden])" : "#alert[data-code=token]:not([hidden])");
  }
  assert.match(await agreement(page), /counts as one comparison at the other side, also if you cancel it/);
  await page.click("#run");
  await page.waitForSelector("#result:not([hidden])");
  await page.click("#again");
  await page.waitForSelector("#agreement:not([hidden])");
  await page.click("#run");
  assert.equal(await failed(page), "peer-used-up");
  server.stop();
});

test("a reload is asked for while a file is open, and keeps the token in its tab alone", { timeout: 60_000 }, async () => {
  const [ours, theirs] = small(), server = await serve(theirs, "--key", "mail", "--normalize", "email");
  const page = await visit(server.link + "&with=city"), asked = [];
  page.on("dialog", (dialog) => { asked.push(dialog.type()); dialog.accept(); });
  await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
  const token = await page.inputValue("#token");
  await page.reload();
  assert.deepEqual(asked, ["beforeunload"]);
  assert.deepEqual([await page.inputValue("#token"), await page.inputValue("#with")], [token, "city"]);
  await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
  await compare(page);
  await page.waitForSelector("#result:not([hidden])");
  await saved(page);
  await page.reload();
  assert.equal(asked.length, 1, "nothing is lost when the rows are saved");
  const other = await page.context().newPage();
  await other.goto(server.address);
  assert.equal(await other.inputValue("#token"), "");
  server.stop();
});

test("a link aims the page at no other server", { timeout: 120_000 }, async () => {
  const [ours, theirs] = small(), server = await serve(theirs, "--key", "mail", "--normalize", "email");
  let came = 0;
  const other = await hostile(() => { came++; });
  const there = `ws://127.0.0.1:${other.address().port}/foxtrot`, token = new URL(server.link).hash;
  for (const aim of [there, there.replace("127.0.0.1", "b\u00fccher.example"), server.address.replace("http://", "ws://u:p@evil.example/?")]) {
    const page = await visit(server.address + "/" + token + "&peer=" + encodeURIComponent(aim));
    assert.equal(await failed(page), "elsewhere");
    const said = await page.locator("#alert").textContent();
    assert.ok(said.includes(new URL(aim).host) && said.includes(new URL(server.address).host), said);
    if (aim.includes("\u00fc")) assert.match(said, /xn--bcher-kva\.example/);
    assert.equal(await page.inputValue("#token"), "", "the token goes with the link");
    assert.equal(await page.inputValue("#address"), address(server));
    assert.equal(new URL(page.url()).hash, "");
    // Neither typed, nor pasted, nor past the page's own code.
    await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
    await page.fill("#token", "another-token-of-20-characters");
    await page.fill("#address", aim);
    await page.click("#ask");
    await page.waitForSelector("#alert[data-code=elsewhere]:not([hidden])");
    const blocked = await page.evaluate((it) => new Promise((resolve) => {
      addEventListener("securitypolicyviolation", (e) => resolve(e.violatedDirective));
      try { new WebSocket(it); } catch {}
    }), there);
    assert.equal(blocked, "connect-src");
    await page.context().close();
  }
  const damaged = await visit(server.link + "&name=" + encodeURIComponent("acme\u202etxt"));
  assert.equal(await failed(damaged), "link");
  assert.equal(came, 0);
  other.close();
  server.stop();
});

test("a third place names the servers of its page, and these allow it", { timeout: 120_000 }, async () => {
  const [ours, theirs] = small(), place = await elsewhere(), options = ["--key", "mail", "--normalize", "email"];
  const [server, strict] = [await serve(theirs, ...options, "--allow-origin", place.origin), await serve(theirs, ...options)];
  place.servers.push(server.address, strict.address.replace("http", "ws"));
  const page = await visit(place.origin + "/" + new URL(server.link).hash);
  assert.equal(await page.inputValue("#address"), address(server));
  await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
  await compare(page);
  await page.waitForSelector("#result:not([hidden])");
  await page.fill("#address", address(strict));
  await page.click("#ask");
  assert.equal(await failed(page), "unreachable");
  // The command may say it a little later.
  for (let i = 0; i < 100 && !strict.said.some((line) => line.includes("another origin")); i++) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(strict.said.some((line) => line.includes("another origin")), strict.said.join("\n"));
  [server, strict, place].forEach((it) => it.stop());
});

test("what the file and the other side wrote is shown without characters that steer or hide, and saved as it came", { timeout: 120_000 }, async () => {
  const evil = "x\u202egnp.exe\u0007", ours = file("ours.csv", `mail,${evil}\nann@example.org,\u200bA\u001b[2J\n`);
  const theirs = file("theirs.csv", "mail,pl\u202ean,more\nann@example.org,=cmd|' /C calc'!A0,\u2066\u0085\n");
  const server = await serve(theirs, "--key", "mail", "--share", "pl\u202ean,more", "--width", "40");
  const page = await visit(server.link);
  await choose(page, ours, ["mail"]);
  await page.click("#ask");
  await page.waitForSelector("#agreement:not([hidden])");
  await page.fill("#with", "pl\u202ean,more");
  await page.click("#run");
  await page.waitForSelector("#result:not([hidden])");
  await page.waitForSelector("#rows td:text-is('ann@example.org')");
  const shown = await page.locator("#rows").innerText() + await page.locator("#columns").innerText() + await page.locator("#peer-said").innerText();
  assert.match(shown, /x\\u\{202e\}gnp\.exe\\u\{7\}/);
  assert.match(shown, /\\u\{200b\}A\\u\{1b\}\[2J/);
  assert.match(shown, /\\u\{2066\}\\u\{85\}/);
  assert.match(shown, /pl\\u\{202e\}an/);
  assert.doesNotMatch(shown, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
  const expected = (field) => `mail,${evil},pl\u202ean,more\nann@example.org,\u200bA\u001b[2J,${field},\u2066\u0085\n`;
  assert.equal(await saved(page), expected("=cmd|' /C calc'!A0"));
  await page.check("#safe");
  assert.equal(await saved(page), expected("'=cmd|' /C calc'!A0"));
  server.stop();
});

test("a browser loads the smaller module, and all jobs for a count alone", { timeout: 120_000 }, async () => {
  const [ours, theirs] = small();
  for (const [command, modules] of [["send", ["foxtrot_receive_simd"]], ["count", ["foxtrot_receive_simd", "foxtrot_wasm_simd"]]]) {
    const server = await start(command, theirs, "--key", "mail", "--normalize", "email", "--yes");
    const context = await browser.newContext(), page = await context.newPage(), loaded = [];
    page.on("request", (it) => { if (it.url().endsWith(".wasm")) loaded.push(it.url().match(/(\w+)_bg/)[1]); });
    context.on("request", (it) => { if (it.url().endsWith(".wasm")) loaded.push(it.url().match(/(\w+)_bg/)[1]); });
    await page.goto(server.link);
    await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
    await compare(page);
    await page.waitForSelector("#result:not([hidden])");
    assert.deepEqual([...new Set(loaded)].sort(), modules);
    await context.close();
    server.stop();
  }
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
  const [ours] = small(), place = await elsewhere();
  let talk;
  const server = await hostile((send, socket) => talk(send, socket));
  place.servers.push(`ws://127.0.0.1:${server.address().port}`);
  const page = await visit(place.origin);
  await choose(page, ours, ["E-Mail"], { "E-Mail": "email" });
  const frame = (lane, payload) => Buffer.concat([Buffer.from(Uint32Array.of(payload.length).buffer), Buffer.of(lane), payload]);
  const text = (it) => Buffer.concat([Buffer.of(it.length), Buffer.from(it)]);
  const long = (it) => Buffer.concat([Buffer.from(Uint16Array.of(it.length).buffer), Buffer.from(it)]);
  const terms = { adversary: "malicious", assumption: "symmetric", base: "roted-endemic", job: "psi", normalize: "email/2" };
  const rows = (object) => Buffer.concat([Buffer.from(Uint16Array.of(Object.keys(object).length).buffer), ...Object.entries(object).flatMap(([k, v]) => [text(k), long(v)])]);
  const version = readFileSync(new URL("../../net/src/hello.rs", import.meta.url), "utf8").match(/VERSION: u16 = (\d+)/)[1];
  const hello = () => frame(0, Buffer.concat([Buffer.from("FOXTROT\0"), Buffer.of(Number(version), 0), randomBytes(32), Buffer.of(0, 0), rows(terms), rows({ "most-keys": "1000", side: "responder" })]));
  for (const [what, code, talks] of [
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
    talk = talks;
    await page.fill("#token", "a-token-of-20-characters");
    await page.click("#ask");
    await page.waitForSelector(`#alert[data-code=${code}]:not([hidden])`, { timeout: 20_000 }).catch((e) => { throw new Error(`${what}: ${e}`); });
    assert.ok(await page.locator("#agreement").isHidden(), what);
    server.closeAllConnections();
  }
  server.close();
  place.stop();
  assert.deepEqual(page.errors.filter((it) => !it.includes("WebSocket")), []);
});
