import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { CDPSession, Page, Route } from "playwright-core";
import type { ConversationView, ListItem, MessageView } from "#http/inbox/wire.ts";
import { shell } from "#http/inbox/pages.ts";
import { median } from "#test/support/quantile.ts";
import { openBrowser } from "#test/support/browser.ts";

/**
 * Processor time of the inbox's page, with 500 conversations in the list and 300 messages in the open one. The server is
 * imitated. Usage: node bench/inbox.ts BUNDLE..., for instance dist/inbox.js and an older build; rounds alternate.
 */
const rounds = 5;
const now = Date.now();
const idOf = (index: number): string => `conv_${String(index).padStart(26, "0")}`;

const items = Array.from({ length: 500 }, (_, index): ListItem => {
  const lastMessageAt = now - index * 47_000;
  return {
    id: idOf(index),
    channel: index % 3 === 0 ? "widget" : "email",
    status: index % 2 === 0 ? "escalated" : "open",
    priority: index % 7 === 0 ? "high" : "normal",
    customer: `Customer ${index}`,
    assignee: null,
    preview: { role: "user", text: `Where is parcel ${index}? It was due on Monday.` },
    lastRole: "user",
    lastMessageAt,
    startedAt: lastMessageAt - 60_000,
    snoozedUntil: null,
    sla: { state: "in_compliance", elapsedMs: index * 1_000, runningSince: now, targetMs: 3_600_000 },
    tags: [],
  };
});

const messages = Array.from({ length: 300 }, (_, index): MessageView => ({
  id: `msg_${index}`,
  seq: index + 1,
  role: index % 3 === 0 ? "assistant" : "user",
  author: null,
  refersTo: null,
  forwarded: null,
  content: [{ t: "p", c: [`This is line ${index} of `, { t: "b", c: ["a conversation"] }, "."] }],
  createdAt: now - (300 - index) * 60_000,
  edited: false,
  deleted: false,
  confidence: index % 3 === 0 ? "high" : null,
  sources: [],
  thumbs: { up: 0, down: 0 },
  reactions: [],
  delivery: null,
  unsent: false,
  files: [],
  own: null,
  changing: null,
}));

function conversation(id: string): ConversationView {
  const { channel, status, priority, customer, sla, startedAt, lastMessageAt } =
    items.find((item) => item.id === id) ?? items[0] ?? ({} as ListItem);
  return {
    id,
    channel,
    status,
    snoozedFrom: null,
    snoozedUntil: null,
    priority,
    assignee: null,
    customer: {
      contactId: "con_0",
      label: customer,
      name: customer,
      email: null,
      phone: null,
      verified: false,
      verifiedFields: [],
      page: null,
    },
    sla,
    tags: [],
    startedAt,
    lastMessageAt,
    resolvedAt: null,
    lastSeq: messages.length,
    amendable: { edit: true, remove: true, react: true },
    window: null,
    unreachable: null,
    messages,
    hasEarlier: false,
    notes: [],
    audit: [],
    others: [],
    now,
  };
}

const me = {
  agent: { email: "anna@shop.example", name: "Anna", role: "agent", waitingOrder: "urgency" },
  workspace: { id: "ws_1", name: "Shop" },
  hasManual: false,
  channels: { widget: "Website chat", email: "E-mail" },
  now,
};

/** Counts requests of the list: each moves another conversation to the top. */
let listed = 0;
function list(): readonly ListItem[] {
  listed += 1;
  const first = items[(listed * 37) % items.length];
  if (first === undefined) return items;
  return [{ ...first, lastMessageAt: now + listed }, ...items.filter((item) => item !== first)];
}

async function answer(route: Route, bundle: string): Promise<void> {
  const path = new URL(route.request().url()).pathname.replace(/^\/inbox\/?/u, "");
  const json = (body: unknown): Promise<void> => route.fulfill({ json: body });
  if (path === "") return route.fulfill({ body: shell, contentType: "text/html" });
  if (path === "app.js") return route.fulfill({ body: bundle, contentType: "text/javascript" });
  if (path === "app.css") return route.fulfill({ path: "dist/inbox.css", contentType: "text/css" });
  if (path === "api/me") return json(me);
  if (path === "api/counts") return json({ unassigned: 100, mine: 0, escalated: 100, open: 100, snoozed: 0 });
  if (path === "api/conversations") return json({ items: list(), nextCursor: null, now: Date.now() });
  if (path.startsWith("api/conversations/conv_")) return json(conversation(path.slice("api/conversations/".length)));
  // The response ends at once: an open connection would block the route. `retry` prevents a reconnection.
  if (path === "api/events")
    return route.fulfill({ body: "retry: 100000000\n\n", contentType: "text/event-stream", status: 200 });
  return json([]);
}

async function busyMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
}

type Measured = Record<"load" | "key press" | "list refresh" | "next conversation" | "second at rest", number>;

async function measure(page: Page, bundle: string): Promise<Measured> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.route("**/*", (route) => answer(route, bundle));
  const rest = (ms: number): Promise<void> => page.waitForTimeout(ms);
  const during = async (times: number, work: (turn: number) => Promise<unknown>): Promise<number> => {
    const before = await busyMs(cdp);
    for (let turn = 0; turn < times; turn += 1) await work(turn);
    return ((await busyMs(cdp)) - before) / times;
  };
  const load = await during(1, async () => {
    await page.goto(`http://127.0.0.1:1/inbox#/all/${idOf(3)}`);
    await page.getByText("This is line 299").waitFor();
    await page.locator(".item").nth(499).waitFor();
    await rest(500);
  });
  await page.locator(".composer textarea").focus();
  const key = await during(60, () => page.keyboard.press("m", { delay: 20 }));
  const refresh = await during(8, async () => {
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await rest(1_200);
  });
  const next = await during(8, async (turn) => {
    const id = idOf(100 + turn);
    await page.evaluate((hash) => void (location.hash = hash), `#/all/${id}`);
    await page.getByRole("heading", { name: `Customer ${100 + turn}`, exact: true }).waitFor();
    await rest(200);
  });
  const second = await during(1, () => rest(4_000));
  return {
    load,
    "key press": key,
    "list refresh": refresh,
    "next conversation": next,
    "second at rest": second / 4,
  };
}

const paths = process.argv.slice(2);
const browser = await openBrowser();
const results = new Map<string, Measured[]>(paths.map((path) => [path, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const path of paths) {
    const page = await browser.newPage({ viewport: { width: 1500, height: 900 } });
    results.get(path)?.push(await measure(page, await readFile(path, "utf8")));
    await page.context().close();
  }
}
await browser.close();
for (const [path, measured] of results) {
  const [first] = measured;
  const names = Object.keys(first ?? {}) as (keyof Measured)[];
  const texts = names.map((name) => `${name} ${median(measured.map((each) => each[name])).toFixed(1)} ms`);
  console.log(`${basename(path)}: ${texts.join(", ")}`);
}
