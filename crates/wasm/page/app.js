// The page: what a person sees and does. The work is in worker.js.
import { texts } from "./texts.js";

const $ = (id) => document.getElementById(id);
const FORMS = ["none", "email", "email,sha256:hashed", "trim,lower", "name", "words", "digits", "number", "zeros", "compact,upper", "phone", "date"];
const ROW = 32;

let language = navigator.language?.startsWith("de") ? "de" : "en";
let worker, waiting, file, facts, wanted, found, isUnsaved = false;

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
const t = (key, values = {}) => fill(texts[language][key] ?? key, values);
const number = (n) => n.toLocaleString(language);

// The worker's answer to a job. A new worker knows no file.
function start() {
  worker?.terminate();
  waiting?.forEach(({ reject }) => reject({ code: "cancelled" }));
  waiting = new Map();
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data: { what, id, result, error, ...rest } }) => {
    if (what === "done") waiting.get(id)?.resolve(result);
    else if (what === "failed") waiting.get(id)?.reject(error);
    else events[what]?.(rest);
    if (id !== undefined) waiting.delete(id);
  };
  // A trap in WebAssembly, say for lack of memory.
  worker.onerror = (e) => waiting.forEach(({ reject }) => reject({ code: "other", message: e.message ?? "worker" }));
}
let ids = 0;
const ask = (job, rest = {}) => new Promise((resolve, reject) => {
  const id = ids++;
  waiting.set(id, { resolve, reject });
  worker.postMessage({ id, job, ...rest });
});

const events = {
  reading({ part, rows }) {
    $("reading").value = part;
    say(t("reading", { rows: number(rows) }));
  },
  connected() { label(["count", "sum"].includes(wanted.function) ? t("counting") : t("working", { percent: 0 })); },
  progress({ done, of }) {
    const part = of ? done / of : 0, now = performance.now();
    $("bar").value = part;
    events.began ??= now;
    const seconds = part > 0.02 ? (now - events.began) / 1000 / part * (1 - part) : NaN;
    const time = seconds < 90 ? t("seconds", { n: Math.ceil(seconds) }) : t("minutes", { n: Math.ceil(seconds / 60) });
    label(t("working", { percent: Math.floor(100 * part) }) + (seconds > 0 ? t("left", { time }) : ""));
  },
};

const label = (text) => { $("bar-label").textContent = text; };
const say = (text) => { $("status").textContent = text; };

function show(id, focus = true) {
  $(id).hidden = false;
  if (focus) $(id).querySelector("h2").focus();
}
const hide = (...ids) => ids.forEach((id) => { $(id).hidden = true; });

function fail(error) {
  const errors = texts[language].errors;
  const shown = (value) => value ?? "–";
  const differences = (error.differences ?? [])
    .map(({ key, here, peer }) => fill(errors.difference, { key, here: shown(here), peer: shown(peer) })).join("\n");
  $("alert").textContent = fill(errors[error.code] ?? errors.other, { ...error, message: error.message ?? error.code, differences });
  $("alert").dataset.code = error.code;
  $("alert").hidden = false;
  $("alert").scrollIntoView({ block: "nearest" });
}

// Runs a step of the page, and shows what goes wrong in it.
const step = (button, work) => async (event) => {
  event?.preventDefault?.();
  hide("alert");
  if (button) button.disabled = true;
  try {
    await work(event);
  } catch (e) {
    fail(e.code ? e : { code: "other", message: String(e) });
  } finally {
    if (button) button.disabled = false;
  }
};

function translate() {
  document.documentElement.lang = language;
  document.title = t("title");
  $("language").value = language;
  document.querySelectorAll("[data-t]").forEach((it) => { it.textContent = t(it.dataset.t); });
  $("reading").setAttribute("aria-label", t("readButton"));
  $("scroll").setAttribute("aria-label", t("table"));
  document.querySelectorAll("#columns .column").forEach(nameColumn);
  if (facts) showFacts();
  if (wanted) showTerms();
  if (found) showCount();
}

// The file.
async function openFile(delimiter) {
  hide("facts", "peer", "agreement", "running", "result");
  facts = wanted = found = undefined;
  const header = $("header").checked;
  const seen = await ask("look", { file, delimiter, header });
  $("delimiter").value = seen.delimiter;
  $("header-label").hidden = seen.delimiter === "";
  $("columns").replaceChildren(...seen.names.map((name, i) => column(name, seen.shown[i], i, seen.names.length === 1)));
  $("form").hidden = false;
}

function element(tag, properties = {}, ...children) {
  const it = Object.assign(document.createElement(tag), properties);
  it.append(...children);
  return it;
}

function column(name, shown, i, checked) {
  const box = element("input", { type: "checkbox", checked, value: i });
  const form = element("select", {}, ...FORMS.map((value) => element("option", { value })));
  const value = element("input", { type: "text", hidden: true });
  const line = element("div", { className: "column" }, element("label", { className: "check" }, box, element("span", { textContent: shown })), form, value);
  Object.assign(line.dataset, { name, shown });
  form.hidden = !checked;
  const change = () => {
    form.hidden = !box.checked;
    value.hidden = !box.checked || !["phone", "date"].includes(form.value);
    nameColumn(line);
    facts = undefined;
    hide("facts", "peer", "agreement", "result");
  };
  [box, form, value].forEach((it) => it.addEventListener("change", change));
  nameColumn(line);
  return line;
}

function nameColumn(line) {
  const [form, value] = [line.querySelector("select"), line.querySelector("input[type=text]")];
  form.setAttribute("aria-label", t("normaliser", { column: line.dataset.shown }));
  value.setAttribute("aria-label", t("value", { column: line.dataset.shown }));
  value.placeholder = form.value === "phone" ? t("phoneHint") : t("dateHint");
  for (const option of form.options) option.textContent = FORMS.includes(option.value) ? t(option.value) : option.value;
}

const chosen = () => [...document.querySelectorAll("#columns .column")].filter((it) => it.querySelector("input").checked);

function normaliser(line) {
  const form = line.querySelector("select").value, value = line.querySelector("input[type=text]").value.trim();
  if (form === "phone") return "phone:" + value;
  if (form === "date") return value ? "date:" + value : "date";
  return form;
}

async function read() {
  const lines = chosen();
  if (!lines.length) throw { code: "columns" };
  $("reading").hidden = false;
  $("reading").value = 0;
  try {
    facts = await ask("read", {
      delimiter: $("delimiter").value, header: $("header").checked,
      columns: lines.map((it) => Number(it.querySelector("input").value)), normalisers: lines.map(normaliser),
    });
  } finally {
    $("reading").hidden = true;
  }
  const names = (which) => ($("delimiter").value && $("header").checked ? lines.map((it) => it.dataset[which]) : undefined);
  Object.assign(facts, { columns: names("name"), shown: names("shown") });
  isUnsaved = true;
  showFacts();
  say(t("read_", { rows: number(facts.rows), keys: number(facts.keys) }));
}

function showFacts() {
  const facts_ = ["rows", "keys", "duplicates", "empty", "blank"].filter((key) => facts[key] || key === "rows" || key === "keys");
  $("numbers").replaceChildren(...facts_.flatMap((key) =>
    [element("dt", { textContent: t(key) }), element("dd", { textContent: number(facts[key]), id: "n-" + key })]));
  $("sample").replaceChildren(...facts.sample.map((both) =>
    element("tr", {}, ...both.map((text) => element("td", { textContent: text || "–" })))));
  $("facts").hidden = false;
  $("peer").hidden = false;
}

// The peer.

// The servers that this page may talk to: its own, or those that are named in index.html where somebody else has the page. A link
// could name any server, and a person sees no difference.
const place = (origin) => origin.replace(/^http/, "ws");
const named = document.querySelector("meta[name=foxtrot-servers]").content.split(/\s+/).filter((it) => it);
const servers = named.length ? named.map((it) => place(new URL(it).origin)) : [place(location.origin)];

function reach(text) {
  let url;
  try {
    url = new URL(place(text));
  } catch {
    throw { code: "address" };
  }
  // The name of a server is in the form that no other looks like: xn--.
  const names = servers.map((it) => new URL(it).host).join(", ");
  if (!servers.includes(url.origin)) throw { code: "elsewhere", server: url.host || url.href, servers: names };
  [url.username, url.password] = ["", ""];
  return url.href;
}

const peer = () => ({ address: reach($("address").value.trim()), token: $("token").value.trim(), name: $("name").value.trim() || undefined });

// A plus sign in a link stands for itself, as in names of tokens.
const parts = (hash) => new URLSearchParams(hash.slice(1).replaceAll("+", "%2B"));

// A link as the command prints it, or one for a peer: the address, the token, its name, and columns to ask for.
const FIELDS = ["token", "name", "with"];
function takeLink(text) {
  let link;
  try {
    link = new URL(text);
  } catch {
    return false;
  }
  const values = parts(link.hash);
  if (!values.has("token") && !values.has("peer")) return false;
  // No link that somebody has made has these.
  if ([...values.values()].some((it) => /\p{C}/u.test(it))) throw { code: "link" };
  $("address").value = reach(values.get("peer") ?? (link.origin === location.origin ? servers[0] : link.origin) + "/foxtrot");
  for (const key of FIELDS) $(key).value = values.get(key) ?? "";
  return true;
}

// Asks the other side what it wants. That also tells whether the token is right, and counts as no comparison. A reload of the
// page in this tab knows what was right.
async function askTerms() {
  const said = await ask("terms", peer());
  const values = new URLSearchParams({ peer: $("address").value, ...Object.fromEntries(FIELDS.map((key) => [key, $(key).value])) });
  // A browser that keeps nothing throws.
  try {
    sessionStorage.setItem("link", `${location.origin}/#${values}`);
  } catch {}
  return said;
}

// Looks for a link through the camera until there is one, or the person closes it.
async function scan() {
  const box = $("camera"), video = $("video");
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch (e) {
    throw { code: "camera", message: e.message };
  }
  try {
    const detector = new BarcodeDetector({ formats: ["qr_code"] });
    box.showModal();
    video.srcObject = stream;
    await video.play();
    while (box.open) {
      const codes = await detector.detect(video);
      if (codes.some(({ rawValue }) => takeLink(rawValue))) break;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  } finally {
    stream.getTracks().forEach((track) => track.stop());
    video.srcObject = null;
    box.close();
  }
  $("ask").focus();
}

// What this page can agree to; everything else it refuses.
const FUNCTIONS = ["intersection", "join", "both", "count", "sum"];
const TERMS = ["job", "base", "adversary", "assumption", "normalize", "function", "width", "duplicates", "min-count", "largest"];

async function askPeer() {
  hide("agreement", "running", "result");
  say(t("asking"));
  const { role, terms, shown } = await askTerms();
  if (terms.job !== "psi") throw { code: "notPsi", job: shown.job };
  if (role !== "sender") throw { code: "role" };
  if (terms.policy) throw { code: "policy" };
  const other = Object.keys(terms).find((key) => !TERMS.includes(key));
  const kind = terms.function ?? "intersection";
  if (other || !FUNCTIONS.includes(kind)) throw { code: "function", function: other ? Object.keys(shown)[Object.keys(terms).indexOf(other)] : shown.function };
  wanted = { ...terms, function: kind, changed: false, shown };
  if (terms.normalize !== facts.terms) {
    const forms = terms.normalize.split(";"), lines = chosen();
    if (forms.length !== lines.length) throw { code: "columnsDiffer", n: forms.length, terms: shown.normalize };
    lines.forEach((line, i) => set(line, forms[i]));
    await read();
    wanted.changed = true;
  }
  $("with-label").hidden = kind !== "join";
  showTerms();
  show("agreement");
  say("");
}

// The columns of the other side that the person has named.
const withColumns = () => $("with").value.split(",").map((it) => it.trim()).filter((it) => it);

// A form without the versions that a name alone stands for.
const usual = (form) => form.replace(/\b(email|phone)\/2|\b(?!email|phone)(\w+)\/1/g, "$1$2");

// Chooses the form that the other side wants. What is behind a colon is of this file: formats of dates, countries, hashes.
function set(line, form) {
  const [select, value] = [line.querySelector("select"), line.querySelector("input[type=text]")];
  const plain = usual(form);
  if (select.value.split(":")[0] === plain) return;
  if (![...select.options].some((it) => it.value === plain)) select.append(element("option", { value: plain }));
  select.value = plain;
  value.value = "";
  value.hidden = !["phone", "date"].includes(plain);
  nameColumn(line);
}

function showTerms() {
  const keys = number(facts.keys), columns = facts.shown?.join(", ") ?? "–", of = withColumns().join(", ") || "…";
  const least = Number(wanted["min-count"] ?? 0);
  const learns = {
    intersection: ["learnsYou", "learnsPeer"], join: ["learnsYouWith", "learnsPeerWith"], both: ["learnsYou", "learnsPeerBoth"],
    count: ["learnsCount", "learnsPeerCount"], sum: ["learnsSum", "learnsPeerCount"],
  }[wanted.function];
  const lines = [
    ...learns.map((key) => t(key, { keys, columns, with: of })), ...(least ? [t("learnsLeast", { least: number(least) })] : []),
    t("compared", { terms: wanted.shown.normalize }),
    ...(wanted.changed ? [t("changed", { terms: wanted.shown.normalize })] : []),
    t(wanted.adversary === "malicious" ? "security" : "securitySemi"),
    t("assumption", { lpn: wanted.assumption === "lpn" ? t("lpn") : "" }),
    t("counts"),
  ];
  $("terms").replaceChildren(...lines.map((textContent) => element("li", { textContent })));
}

async function run() {
  hide("result");
  const names = wanted.function === "join" ? withColumns() : [];
  if (wanted.function === "join" && !names.length) throw { code: "with" };
  events.began = undefined;
  $("bar").removeAttribute("value");
  label(t("connecting"));
  $("peer-form").querySelectorAll("input, button").forEach((it) => { it.disabled = true; });
  show("running");
  try {
    const options = {
      normalize: facts.terms, columns: facts.columns, assumption: wanted.assumption, semiHonest: wanted.adversary !== "malicious",
      with: names, width: Number(wanted.width), duplicates: wanted.duplicates,
      minCount: Number(wanted["min-count"] ?? 0), largest: wanted.largest && Number(wanted.largest),
    };
    found = await ask("run", { ...peer(), kind: wanted.function, options });
  } catch (e) {
    // The other side says no more than that it does not share them.
    throw names.length && e.code === "peer-forbids" ? { code: "withWhich", columns: names.join(", ") } : e;
  } finally {
    hide("running");
    $("peer-form").querySelectorAll("input, button").forEach((it) => { it.disabled = false; });
  }
  hide("agreement");
  showCount();
  show("result");
  const hasRows = found.rows > 0;
  $("scroll").hidden = !hasRows;
  $("save").hidden = found.rows === undefined;
  $("save").disabled = !hasRows;
  $("safe-label").hidden = !hasRows || names.length === 0;
  isUnsaved = hasRows;
  if (hasRows) await showRows();
}

function showCount() {
  const { rows, count, sum, peerKeys, peerColumns } = found;
  const counts = () => {
    if (count === undefined) return t("tooFew");
    const line = t("counted", { count: number(count) });
    return sum === undefined ? line : line + t("summed", { sum: BigInt(sum).toLocaleString(language) });
  };
  const line = rows === undefined ? counts() : rows === 0 ? t("none_") : rows === 1 ? t("count1") : t("count", { rows: number(rows) });
  $("count").textContent = line;
  $("count").dataset.rows = rows ?? count ?? "";
  const columns = peerColumns ? t("peerColumns", { columns: peerColumns }) : "";
  $("peer-said").textContent = t("peerSaid", { keys: number(peerKeys), columns });
}

// The table: only rows that are seen are there. Very many share the height that a browser can have.
const height = () => Math.min(found.rows * ROW, 8e6);
let drawing = 0;
async function showRows() {
  const turn = ++drawing, box = $("scroll"), seen = Math.ceil(box.clientHeight / ROW) + 2;
  const most = Math.max(1, height() - box.clientHeight);
  const first = Math.round(Math.min(1, box.scrollTop / most) * Math.max(0, found.rows - seen + 2));
  const from = Math.max(0, Math.min(first, found.rows - 1));
  if (found.rows === 0) return;
  const { rows } = await ask("rows", { from, count: seen });
  if (turn !== drawing) return;
  const head = [t("row"), ...found.names].map((textContent) => element("th", { scope: "col", textContent }));
  $("rows").tHead.replaceChildren(element("tr", {}, ...head));
  $("rows").ariaRowCount = found.rows + 1;
  const top = Math.min(box.scrollTop, height() - rows.length * ROW), gap = (px) => {
    const cell = element("td", { className: "gap", colSpan: head.length });
    cell.style.setProperty("height", Math.max(0, px) + "px");
    const row = element("tr", {}, cell);
    row.ariaHidden = "true";
    return row;
  };
  const lines = rows.map((fields, i) => {
    const line = element("tr", {}, ...[number(from + i + 1), ...fields].map((textContent) => element("td", { textContent })));
    line.ariaRowIndex = from + i + 2;
    return line;
  });
  $("rows").tBodies[0].replaceChildren(gap(top), ...lines, gap(height() - top - rows.length * ROW));
}

async function save() {
  const { blob } = await ask("save", { isSafe: $("safe").checked });
  const address = URL.createObjectURL(blob), name = file.name.replace(/(\.\w+)?$/, (end) => "-common" + (end || ".csv"));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  isUnsaved = false;
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

async function take(files) {
  if (!files.length) return;
  file = files[0];
  await openFile();
}

start();
translate();
$("address").value = servers[0] + "/foxtrot";
const kept = () => {
  try {
    return sessionStorage.getItem("link") ?? "";
  } catch {
    return "";
  }
};
step(null, async () => {
  const link = location.href;
  // A token does not stay in the address bar, nor in the history.
  if (location.hash) history.replaceState(null, "", location.pathname);
  // A wrong token is told before a person has done anything.
  if (takeLink(link) || takeLink(kept())) await askTerms();
})();
// A reload forgets the file.
addEventListener("beforeunload", (event) => { if (isUnsaved) event.preventDefault(); });

$("language").addEventListener("change", () => { language = $("language").value; translate(); });
$("file").addEventListener("change", step(null, () => take($("file").files)));
$("delimiter").addEventListener("change", step(null, () => openFile($("delimiter").value)));
$("header").addEventListener("change", step(null, () => openFile($("delimiter").value)));
$("read").addEventListener("click", step($("read"), async () => { await read(); $("h-peer").focus(); }));
$("peer-form").addEventListener("submit", step($("ask"), askPeer));
$("address").addEventListener("change", step(null, () => takeLink($("address").value.trim())));
$("scan").addEventListener("click", step($("scan"), scan));
$("camera-close").addEventListener("click", () => $("camera").close());
globalThis.BarcodeDetector?.getSupportedFormats().then((formats) => { $("scan").hidden = !formats.includes("qr_code"); });
$("with").addEventListener("input", showTerms);
$("run").addEventListener("click", step($("run"), run));
$("again").addEventListener("click", step($("again"), askPeer));
$("save").addEventListener("click", step($("save"), save));
$("cancel").addEventListener("click", step($("cancel"), async () => {
  const { columns, shown } = facts;
  start();
  await ask("look", { file, delimiter: $("delimiter").value, header: $("header").checked });
  await read();
  Object.assign(facts, { columns, shown });
}));
let drawn = 0;
$("scroll").addEventListener("scroll", () => {
  cancelAnimationFrame(drawn);
  drawn = requestAnimationFrame(() => { showRows().catch(fail); });
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  $("drop").addEventListener(kind, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") step(null, () => take(event.dataTransfer.files))();
  });
}
