// Seconds and memory of the page in Chromium beside the native command, which is the peer of both. SIZES are numbers of rows
// on each side, of which one in two is common.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { cpus } from "node:os";
import { FOXTROT, begin, browser, choose, end, failed, file, key, serve, table, visit } from "./page.mjs";

const sizes = (process.env.SIZES ?? "10000 100000 1000000").split(" ").map(Number);
const seconds = (began) => (performance.now() - began) / 1000;
const MB = (bytes) => Math.round(bytes / 1e6);

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

// Both sides as commands, in plain TCP: seconds from the receiver's start to its rows.
async function native(ours, theirs, ...more) {
  const address = `127.0.0.1:${await freePort()}`;
  const options = ["--key", "name", "--insecure", "--yes", "--quiet", ...more];
  const sender = spawn(FOXTROT, ["psi", "send", theirs, "--listen", address, ...options], { stdio: "ignore" });
  const began = performance.now();
  execFileSync(FOXTROT, ["psi", "receive", ours, "--connect", address, "-o", ours + ".common", ...options], { stdio: "ignore" });
  sender.kill();
  return seconds(began);
}

// The process of the page, by what has taken most memory.
async function peak() {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const kilobytes = ({ id }) => Number(readFileSync(`/proc/${id}/status`, "utf8").match(/VmHWM:\s+(\d+)/)?.[1] ?? 0);
  return 1024 * Math.max(...processInfo.filter((it) => it.type === "renderer").map(kilobytes));
}

async function inPage(ours, theirs) {
  const server = await serve(theirs, "--key", "name");
  const page = await visit(server.link);
  const before = await peak();
  // The longest time in which the page could not answer a click.
  await page.evaluate(() => {
    let last = performance.now();
    globalThis.longest = 0;
    setInterval(() => {
      const now = performance.now();
      globalThis.longest = Math.max(globalThis.longest, now - last);
      last = now;
    }, 5);
  });
  const began = performance.now();
  await choose(page, ours, ["name"]);
  const read = seconds(began);
  await page.click("#ask");
  await page.waitForSelector("#agreement:not([hidden])");
  const agreed = performance.now();
  await page.click("#run");
  const ended = page.waitForSelector("#result:not([hidden])", { timeout: 1800_000 }).catch(() => {});
  const code = await Promise.race([ended.then(() => undefined), failed(page, 1800_000).catch(() => {})]);
  if (code) throw new Error(`the page says ${code}: ${await page.locator("#alert").textContent()}`);
  const ran = seconds(agreed), saving = performance.now();
  const download = page.waitForEvent("download", { timeout: 600_000 });
  await page.click("#save");
  const path = await (await download).path();
  const saved = seconds(saving), longest = await page.evaluate(() => globalThis.longest);
  const memory = await page.workers()[0].evaluate(async () => {
    const { initReceiver } = await import(new URL("foxtrot.js", location).href);
    return (await initReceiver()).memory.buffer.byteLength;
  });
  const now = await peak(), same = readFileSync(path).equals(readFileSync(ours + ".common"));
  if (!same) throw new Error("the page's rows are not those of the command");
  server.stop();
  await page.context().close();
  return { read, ran, saved, longest, memory, peak: now - before };
}

await begin();
console.log(`${cpus()[0].model}, ${cpus().length} threads; Chromium ${browser.version()}`);
console.log("| rows on each side | page: read, s | compare, s | save, s | command, 1 thread, s | command, s | WebAssembly memory, MB | page's process, MB more | longest stall, ms |");
console.log("|---|---|---|---|---|---|---|---|---|");
for (const n of sizes) {
  const ours = file("ours.csv", table(n, key)), theirs = file("theirs.csv", table(n, (i) => key(2 * i)));
  const one = await native(ours, theirs, "--threads", "1"), all = await native(ours, theirs);
  const { read, ran, saved, longest, memory, peak } = await inPage(ours, theirs);
  const times = [read, ran, saved, one, all].map((it) => it.toFixed(it < 10 ? 2 : 1));
  console.log(`| ${n} | ${[...times, MB(memory), MB(peak), Math.round(longest)].join(" | ")} |`);
}
await end();
