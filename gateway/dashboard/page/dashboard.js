// The dashboard: asks this server for numbers every two seconds and shows them. Text from prompts is only ever set as
// text, never as markup.
"use strict";

const DATA_EVERY_MS = 2000;
const INSIGHT_EVERY_MS = 15000;
const SOURCES = ["device", "host", "disk", "remote", "computed"];
const REASONS = {
  none: "last token of a hit",
  new: "not seen before",
  shorter_than_block: "too short to share",
  diverged: "differs from earlier prompts",
  evicted: "was evicted",
  expired: "its time to live had passed",
  caching_off: "caching was off",
  tier_error: "could not be read back",
};

const byId = (id) => document.getElementById(id);
const charts = {};
let apiKey = sessionStorage.getItem("headstart-key") || "";

// --- words and numbers

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en");

function percent(part, all) {
  return all > 0 ? `${(100 * part / all).toFixed(1)}%` : "–";
}

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return `${count.toFixed(unit === 0 || count >= 100 ? 0 : 1)} ${units[unit]}`;
}

function milliseconds(ms) {
  if (ms >= 10000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

// Nano-units come as text, for they may be more than a number holds exactly.
function money(nanos, currency) {
  const amount = Number(BigInt(nanos)) / 1e9;
  const small = Math.abs(amount) < 1 && amount !== 0;
  const shown = amount.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: small ? 6 : 2 });
  return currency ? `${shown} ${currency}` : shown;
}

function duration(seconds) {
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`;
}

function clock(unixSeconds) {
  return new Date(unixSeconds * 1000).toLocaleTimeString("en-GB");
}

// --- building the page

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function setText(id, text) {
  byId(id).textContent = text;
}

// columns: {title, number, text, of}
function fillTable(id, columns, rows, nothing) {
  const table = byId(id);
  const head = element("tr");
  for (const column of columns) head.append(element("th", column.number ? "number" : "", column.title));
  const lines = rows.map((row) => {
    const line = element("tr");
    for (const column of columns) {
      line.append(element("td", column.number ? "number" : column.text ? "text" : "", column.of(row)));
    }
    return line;
  });
  table.replaceChildren(...(rows.length ? [head, ...lines] : []));
  const note = table.parentElement.querySelector(".empty");
  if (note) note.remove();
  if (!rows.length) table.after(element("p", "empty", nothing));
}

// --- the figures on top

function showSplit(sums) {
  const parts = ["device", "host", "disk", "remote"].map((tier) => {
    const part = element("span", tier);
    part.style.width = percent(sums[`${tier}_tokens`], sums.prompt_tokens);
    return part;
  });
  byId("hit-split").replaceChildren(...parts);
}

function showHitRate(data) {
  const recent = data.now && data.now.prompt_tokens > 0;
  const sums = recent ? data.now : data.total;
  setText("hit-rate", percent(sums.cached_tokens, sums.prompt_tokens));
  const since = recent ? "in the last 5 minutes" : "since the start";
  const tiers = ["device", "host", "disk", "remote"].filter((tier) => sums[`${tier}_tokens`] > 0)
    .map((tier) => `${tier} ${percent(sums[`${tier}_tokens`], sums.prompt_tokens)}`);
  setText("hit-note", `of prompt tokens came from the cache ${since}${tiers.length ? `: ${tiers.join(", ")}` : ""}`);
  showSplit(sums);
}

function showSavings(data) {
  const total = data.total;
  setText("tokens-saved", compact.format(total.cached_tokens));
  setText("tokens-note", `of ${compact.format(total.prompt_tokens)} prompt tokens since the start; ` +
          `${percent(total.cached_tokens, total.prompt_tokens)} were not computed`);
  byId("tile-money").hidden = data.currency === "";
  setText("money-saved", money(total.saved_nanos, data.currency));
  const without = (BigInt(total.cost_nanos) + BigInt(total.saved_nanos)).toString();
  setText("money-note", `charged ${money(total.cost_nanos, data.currency)} instead of ${money(without, data.currency)}`);
}

function showTtft(data) {
  const { cold, warm } = data.ttft;
  const known = (times) => (times.count > 0 ? milliseconds(times.p50_ms) : "–");
  setText("ttft", known(warm));
  if (warm.count > 0 && cold.count > 0) {
    setText("ttft-note", `warm, against ${known(cold)} cold: ${(cold.p50_ms / warm.p50_ms).toFixed(1)} times sooner`);
  } else {
    setText("ttft-note", warm.count > 0 ? "warm (median of the last hour)" : `no warm request yet; cold ${known(cold)}`);
  }
}

function showRequests(data) {
  const rate = data.now_seconds > 0 ? data.now.requests / data.now_seconds : 0;
  setText("requests", whole.format(data.total.requests));
  setText("requests-note", `${rate.toFixed(rate < 10 ? 2 : 0)} a second lately; ${data.running} running, ` +
          `${data.waiting} waiting${data.preemptions ? `; ${data.preemptions} preempted` : ""}`);
}

// --- charts

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function axes(stacked) {
  const line = { color: color("line") };
  const ticks = { color: color("muted"), maxRotation: 0, autoSkipPadding: 24 };
  return {
    x: { stacked, grid: { display: false }, ticks },
    y: { stacked, beginAtZero: true, grid: line, ticks: { color: color("muted"), callback: (value) => compact.format(value) } },
  };
}

function chartOptions(stacked, legend) {
  return {
    animation: false, responsive: true, maintainAspectRatio: false, normalized: true,
    interaction: { mode: "index", intersect: false },
    scales: axes(stacked),
    plugins: { legend: { display: legend, position: "bottom", labels: { color: color("text"), boxWidth: 12 } } },
  };
}

function tokenDataset(source) {
  return { label: source, data: [], backgroundColor: color(source), borderWidth: 0, barPercentage: 1, categoryPercentage: 1 };
}

function lineDataset(label, name) {
  return { label, data: [], borderColor: color(name), backgroundColor: color(name), borderWidth: 2, pointRadius: 2,
           spanGaps: true, tension: 0.2 };
}

function makeCharts() {
  charts.tokens = new Chart(byId("chart-tokens"), {
    type: "bar", data: { labels: [], datasets: SOURCES.map(tokenDataset) }, options: chartOptions(true, true) });
  charts.ttft = new Chart(byId("chart-ttft"), {
    type: "line", data: { labels: [], datasets: [lineDataset("cold", "cold"), lineDataset("warm", "warm")] },
    options: chartOptions(false, true) });
  charts.misses = new Chart(byId("chart-misses"), {
    type: "bar", data: { labels: [], datasets: [{ data: [], backgroundColor: color("remote") }] },
    options: { ...chartOptions(false, false), indexAxis: "y", scales: {
      x: { ...axes(false).y }, y: { grid: { display: false }, ticks: { color: color("muted") } } } } });
}

function dropCharts() {
  for (const name of Object.keys(charts)) { charts[name].destroy(); delete charts[name]; }
}

// A page opened lately has no hour to show: leading silence is cut, to ten minutes at least.
function firstShown(series) {
  const busy = series.requests.findIndex((count) => count > 0);
  return Math.max(0, Math.min(busy < 0 ? series.time.length : busy, series.time.length - 60));
}

function showCharts(data) {
  if (!charts.tokens) makeCharts();
  const series = data.series;
  const from = firstShown(series);
  const labels = series.time.slice(from).map(clock);
  charts.tokens.data.labels = labels;
  SOURCES.forEach((source, i) => { charts.tokens.data.datasets[i].data = series[source].slice(from); });
  charts.ttft.data.labels = labels;
  charts.ttft.data.datasets[0].data = series.ttft_cold_ms.slice(from);
  charts.ttft.data.datasets[1].data = series.ttft_warm_ms.slice(from);
  const misses = data.misses.filter((miss) => miss.computed_tokens > 0)
    .sort((a, b) => b.computed_tokens - a.computed_tokens);
  charts.misses.data.labels = misses.map((miss) => REASONS[miss.reason] || miss.reason);
  charts.misses.data.datasets[0].data = misses.map((miss) => miss.computed_tokens);
  for (const chart of Object.values(charts)) chart.update();
}

// --- tiers and tables

function tierElement(tier) {
  const made = element("div", "tier");
  const line = element("div", "tier-line");
  line.append(element("strong", "", tier.name),
              element("span", "", `${bytes(tier.used_bytes)} of ${bytes(tier.capacity_bytes)}, ` +
                                  percent(tier.used_bytes, tier.capacity_bytes)));
  const bar = element("div", "bar");
  const fill = element("span", tier.name);
  fill.style.width = percent(tier.used_bytes, tier.capacity_bytes);
  bar.append(fill);
  made.append(line, bar);
  if (!tier.on) made.append(element("p", "note warning", "off: it failed, and is tried again"));
  const facts = [];
  if (tier.loaded_blocks > 0) facts.push(`${whole.format(tier.loaded_blocks)} blocks brought back`);
  if (tier.evicted_blocks > 0) facts.push(`${whole.format(tier.evicted_blocks)} blocks moved down or dropped`);
  if (facts.length) made.append(element("p", "note", facts.join("; ")));
  return made;
}

const SLOWEST_COLUMNS = [
  { title: "when", of: (row) => clock(row.time) },
  { title: "request", of: (row) => row.request_id },
  { title: "tenant", of: (row) => row.tenant },
  { title: "first token", number: true, of: (row) => milliseconds(row.ttft_ms) },
  { title: "of it queued", number: true, of: (row) => milliseconds(row.queue_ms) },
  { title: "prompt", number: true, of: (row) => whole.format(row.prompt_tokens) },
  { title: "cached", number: true, of: (row) => whole.format(row.cached_tokens) },
  { title: "why not more", of: (row) => REASONS[row.miss_reason] || row.miss_reason },
];

function tenantColumns(currency) {
  const columns = [
    { title: "tenant", of: (row) => row.tenant },
    { title: "requests", number: true, of: (row) => whole.format(row.requests) },
    { title: "prompt tokens", number: true, of: (row) => whole.format(row.prompt_tokens) },
    { title: "hit rate", number: true, of: (row) => percent(row.cached_tokens, row.prompt_tokens) },
    { title: "completion tokens", number: true, of: (row) => whole.format(row.completion_tokens) },
  ];
  if (currency === "") return columns;
  return columns.concat([
    { title: "cost", number: true, of: (row) => money(row.cost_nanos, currency) },
    { title: "saved", number: true, of: (row) => money(row.saved_nanos, currency) },
  ]);
}

const HOTTEST_COLUMNS = [
  { title: "requests", number: true, of: (row) => whole.format(row.requests) },
  { title: "tokens", number: true, of: (row) => whole.format(row.tokens) },
  { title: "tenant", of: (row) => row.tenant },
  { title: "begins with", text: true, of: (row) => row.text },
];

function explanationElement(miss) {
  const made = element("div", "explanation");
  made.append(element("p", "", `${miss.tenant}: ${miss.summary}`));
  if (miss.reason !== "diverged") return made;
  const quote = element("div", "quote", `… ${miss.text_before}`);
  if (miss.ways.length) quote.append(element("mark", "", miss.ways[0].text));
  made.append(quote);
  const ways = element("ul", "ways");
  for (const way of miss.ways.slice(1)) ways.append(element("li", "", `${way.requests} × “${way.text}”`));
  made.append(ways);
  return made;
}

// --- showing what came

function showData(data) {
  const operator = data.role === "operator";
  byId("key-form").hidden = true;
  byId("content").hidden = false;
  for (const part of document.querySelectorAll(".operator")) part.hidden = !operator;
  setText("subtitle", operator ? `${data.model}, running for ${duration(data.time - data.start)}` : `Your tenant on ${data.model}`);
  setText("footer", data.version ? `Headstart ${data.version}. Counts began when the server started.` : "");
  showHitRate(data);
  showSavings(data);
  fillTable("tenants", tenantColumns(data.currency), data.tenants, "No request yet.");
  if (!operator) return;
  showTtft(data);
  showRequests(data);
  showCharts(data);
  byId("tiers").replaceChildren(...data.tiers.map(tierElement));
  fillTable("slowest", SLOWEST_COLUMNS, data.slowest, "No request in the last hour.");
}

function showInsight(insight) {
  fillTable("hottest", HOTTEST_COLUMNS, insight.hottest, "No two recent prompts begin alike.");
  const made = insight.misses.map(explanationElement);
  byId("explanations").replaceChildren(...(made.length ? made : [element("p", "empty", "No recent request missed.")]));
}

// --- asking

function setLive(on, text) {
  byId("live-dot").className = on ? "on" : "off";
  setText("live-text", text);
}

function askForKey(refused) {
  byId("content").hidden = true;
  byId("key-form").hidden = false;
  setText("key-error", refused ? "The server does not know this key." : "");
}

async function ask(path) {
  const headers = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
  const answer = await fetch(path, { headers, cache: "no-store" });
  if (answer.status === 401) {
    askForKey(apiKey !== "");
    throw new Error("waiting for an API key");
  }
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}

async function refresh(path, show) {
  try {
    show(await ask(path));
    setLive(true, "live");
  } catch (error) {
    setLive(false, error instanceof TypeError ? "the server does not answer" : error.message);
  }
}

// Not while nobody looks; one question at a time.
function keepAsking(path, show, everyMs) {
  const again = async () => {
    if (!document.hidden) await refresh(path, show);
    setTimeout(again, everyMs);
  };
  again();
}

byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  apiKey = byId("key").value.trim();
  sessionStorage.setItem("headstart-key", apiKey);
  refresh("/dashboard/data", showData);
  refresh("/dashboard/insight", showInsight);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dropCharts);
keepAsking("/dashboard/data", showData, DATA_EVERY_MS);
keepAsking("/dashboard/insight", showInsight, INSIGHT_EVERY_MS);
