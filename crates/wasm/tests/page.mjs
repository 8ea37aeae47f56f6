// The command and the page in Chromium, for tests and measurements. FOXTROT is the command, built with the page; CHROMIUM the
// browser; PAGE the folder with the page; MODULES the folder with the packages of package.json.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const { FOXTROT, CHROMIUM, MODULES, PAGE } = process.env;
export const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");

export let folder, browser;
const open = new Set();

export async function begin(...more) {
  folder = mkdtempSync(join(tmpdir(), "foxtrot-page-"));
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", ...more] });
}

export async function end() {
  await browser?.close();
  open.forEach((it) => it.kill("SIGKILL"));
  rmSync(folder, { recursive: true, force: true });
}

export const file = (name, text) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

// The command that serves the page to many, with its address and the link that it prints.
export const serve = (set, ...more) => start("send", set, "--serve", ...more);

// Another command that serves the page.
export async function start(...args) {
  const child = spawn(FOXTROT, ["psi", ...args, "--websocket", "127.0.0.1:0", "--page"], { stdio: ["ignore", "pipe", "pipe"] });
  // A result goes there; the null device as Node opens it looks like a closed output.
  child.stdout.resume();
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
  const ended = new Promise((resolve) => child.on("exit", resolve));
  return { child, link, said, ended, address: new URL(link).origin, stop: () => { child.kill("SIGKILL"); open.delete(child); } };
}

// The page at a third place, which names servers of sessions, now or later.
const TYPES = { html: "text/html", css: "text/css", js: "text/javascript", wasm: "application/wasm" };
export async function elsewhere() {
  const servers = [];
  const there = createServer((request, response) => {
    const path = request.url === "/" ? "/index.html" : request.url;
    let bytes = readFileSync(join(PAGE, path));
    if (path === "/index.html") bytes = bytes.toString().replace('name="foxtrot-servers" content=""', `name="foxtrot-servers" content="${servers.join(" ")}"`);
    response.writeHead(200, { "content-type": TYPES[path.split(".").pop()] });
    response.end(bytes);
  });
  await new Promise((resolve) => there.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${there.address().port}`;
  return { origin, servers, stop: () => { there.closeAllConnections(); there.close(); } };
}

export async function visit(link, options = {}) {
  const context = await browser.newContext({ locale: "en-GB", acceptDownloads: true, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("console", (it) => { if (it.type() === "error") errors.push(it.text()); });
  await page.goto(link);
  return Object.assign(page, { errors });
}

export async function choose(page, path, columns, forms = {}) {
  await page.setInputFiles("#file", path);
  for (const column of columns) {
    const line = page.locator(".column", { has: page.locator(`span:text-is("${column}")`) });
    await line.locator("input[type=checkbox]").check();
    if (forms[column]) await line.locator("select").selectOption(forms[column]);
  }
  await page.click("#read");
  await page.waitForSelector("#facts:not([hidden])", { timeout: 60_000 });
}

export async function compare(page) {
  await page.click("#ask");
  await page.waitForSelector("#agreement:not([hidden])");
  await page.click("#run");
}

export const failed = async (page, timeout = 60_000) => {
  await page.waitForSelector("#alert:not([hidden])", { timeout });
  return page.locator("#alert").getAttribute("data-code");
};

// A set with quotes, line breaks, umlauts and emoji.
export const key = (i) => (i % 3 ? `Nutzer "${i}", Köln` : `😀 ${i}\nzweite Zeile`);
const cell = (text) => `"${text.replaceAll('"', '""')}"`;
export const table = (n, of) => "id,name,note\r\n" + Array.from({ length: n }, (_, i) => `${i},${cell(of(i))},"ü ""${i}"""\r\n`).join("");
