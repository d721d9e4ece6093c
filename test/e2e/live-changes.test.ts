import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createAgent } from "#admin/team/agents.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import { systemClock } from "#runtime/clock.ts";
import type { FakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import { startFakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import type { TestDatabase } from "../support/database/databases.ts";
import { newSqlite, onMysql } from "../support/database/databases.ts";
import type { AgentSession } from "../support/program/administrator.ts";
import { signIn } from "../support/program/administrator.ts";
import type { Installation } from "../support/program/installation.ts";
import { install } from "../support/program/installation.ts";
import type { Launched } from "../support/program/launch.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import { median } from "../support/quantile.ts";
import { skipped } from "../support/skipped.ts";

// Real processes and their own clocks. How long each change took to be seen is printed, and `LIVE_RUNS=10` repeats it:
// dashboard and documentation promise a second for changes, and two for the connection of a channel. The time itself is
// no test, since a machine that others use too is slower.
const runs = Number(process.env["LIVE_RUNS"] ?? 1);
/** Nothing has been lost as long as a change is seen in this time. */
const patienceMs = 40_000;

const redis = inject("redis");

describe("changes in the dashboard of one process on SQLite", () => suite(newSqlite, { processes: 1 }));

onMysql("changes in one of two processes", (open) => {
  describe("without Redis", () => suite(open, { processes: 2 }));
  if (redis.url === undefined) skipped("with Redis", redis.reason);
  else describe("with Redis", () => suite(open, { processes: 2, redisUrl: redis.url }));
});

interface Account {
  readonly id: string;
  readonly state: string;
}

function suite(
  open: () => Promise<TestDatabase>,
  { processes, redisUrl }: { readonly processes: 1 | 2; readonly redisUrl?: string },
): void {
  let database: TestDatabase;
  let installation: Installation;
  let otherFolder: string;
  let store: OpenStore;
  let telegram: FakeTelegram;
  const launched: Launched[] = [];
  /** Serves the dashboard. */
  let here: string;
  /** Runs connections, and serves as well; with one process the same. */
  let there: string;
  /** Serves the dashboard, and did not begin the connection of the channel. */
  let elsewhere: string;
  let admin: AgentSession;
  let agents = 0;
  const took = new Map<string, number[]>();

  beforeAll(async () => {
    database = await open();
    [installation, telegram] = await Promise.all([install(database.url), startFakeTelegram()]);
    store = await openStore(database.url);
    otherFolder = await mkdtemp(join(tmpdir(), "parley-other-process-"));
    await cp(join(installation.dataDir, "secret"), join(otherFolder, "secret"));
    const config = join(otherFolder, "parley.yaml");
    await writeFile(config, "outbound:\n  allow_private: [127.0.0.1]\n");
    const start = async (role: string, dataDir: string): Promise<string> => {
      const port = await freePort();
      // Processes of different roles need Redis.
      const roles = redisUrl === undefined ? {} : { PARLEY_ROLE: role, REDIS_URL: redisUrl };
      const env = { PARLEY_CONFIG: config, ...roles };
      const process = launch({ installation: { ...installation, dataDir }, port, env });
      launched.push(process);
      if ((await process.ready) === undefined) throw new Error(process.complaints.join("\n"));
      return `http://127.0.0.1:${port}`;
    };
    there = await start("all", installation.dataDir);
    here = processes === 1 ? there : await start("web", otherFolder);
    // Without Redis, the process that an account is connected in hears of it first and connects it.
    elsewhere = redisUrl === undefined ? there : here;
    ({ session: admin } = await newAgent("admin"));
  });
  afterAll(async () => {
    for (const process of launched) process.signal("SIGTERM");
    for (const process of launched) await process.exited;
    await store?.close();
    await telegram?.close();
    await installation?.remove();
    await database?.remove();
    await rm(otherFolder, { recursive: true, force: true });
    const setup = processes === 1 ? "one process" : `two processes${redisUrl === undefined ? "" : ", Redis"}`;
    for (const [what, times] of took) {
      const ms = (value: number): string => `${Math.round(value)} ms`;
      const promised = what.startsWith("channel") ? "2 s" : "1 s";
      const measured = `median ${ms(median(times))}, longest ${ms(Math.max(...times))}, promised ${promised}`;
      process.stdout.write(`${setup}: ${what.padEnd(26)} ${measured}\n`);
    }
  });

  /** Waits until the change is seen. */
  async function seen(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
    const began = performance.now();
    while (!(await look())) {
      if (performance.now() - began > patienceMs) throw new Error(`waited in vain: ${what}`);
      await sleep(5);
    }
    took.set(what, [...(took.get(what) ?? []), performance.now() - began]);
  }

  async function newAgent(role: AgentRole): Promise<{ readonly id: string; readonly session: AgentSession }> {
    agents += 1;
    const { id } = await createAgent(store, systemClock, {
      workspaceId: installation.workspaceId,
      email: `agent-${agents}@shop.example`,
      name: `Agent ${agents}`,
      role,
    });
    return { id, session: await signIn(store, here, id) };
  }

  const change = (method: string, path: string, body?: unknown): Promise<unknown> => changeAt(here, method, path, body);

  async function changeAt(url: string, method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await admin.call(url, method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  const started = (): number => telegram.calls("deleteWebhook").length;
  const leases = async (): Promise<number> =>
    (await store.read.selectFrom("connection_leases").select("account_id").execute()).length;
  const settings = (groups: string) => ({
    token: telegram.token,
    base_url: telegram.url,
    transport: "polling",
    groups,
  });
  const query = (at: string, key: string, text: string) =>
    fetch(`${at}/v1/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ workspace_id: installation.workspaceId, query: text }),
    });

  for (let run = 1; run <= runs; run += 1) {
    it(`start, replace, stop, resume and end a channel, ${run}`, async () => {
      let before = started();
      const { id } = (await change("POST", "channels", {
        channel: "telegram",
        name: `Bot ${run}`,
        settings: settings("addressed"),
      })) as Account;
      const state = async (): Promise<string> => ((await change("GET", `channels/${id}`)) as Account).state;
      await seen("channel: connected", () => started() > before);
      await seen("channel: shown as connected", async () => (await state()) === "connected");
      before = started();
      await changeAt(elsewhere, "PATCH", `channels/${id}`, { settings: settings("all") });
      await seen("channel: replaced", () => started() > before);
      await seen("channel: shown as replaced", async () => (await state()) === "connected");
      await changeAt(elsewhere, "POST", `channels/${id}/pause`);
      await seen("channel: paused", async () => (await leases()) === 0);
      before = started();
      const polls = telegram.calls("getUpdates").length;
      await changeAt(elsewhere, "POST", `channels/${id}/resume`);
      await seen("channel: resumed", () => started() > before);
      expect(telegram.calls("getUpdates").length - polls).toBeLessThanOrEqual(1);
      await change("DELETE", `channels/${id}`);
      await seen("channel: ended", async () => (await leases()) === 0);
      expect(telegram.calls("deleteWebhook")).toHaveLength(before + 1);
    });

    it(`take away a key, ${run}`, async () => {
      const { id, key } = (await change("POST", "keys", { name: `Key ${run}` })) as {
        readonly id: string;
        readonly key: string;
      };
      const status = async (): Promise<number> =>
        (await fetch(`${there}/v1/documents`, { headers: { authorization: `Bearer ${key}` } })).status;
      await seen("key: created", async () => (await status()) === 200);
      await change("DELETE", `keys/${id}`);
      await seen("key: revoked", async () => (await status()) === 401);
    });

    it(`set the widget's title, ${run}`, async () => {
      const title = `Title ${run}`;
      const page = async (): Promise<string> => (await fetch(`${there}/chat/${installation.workspaceId}`)).text();
      // The settings of a moment ago are cached.
      await page();
      await change("PATCH", "settings", { settings: { "widget.title": title } });
      await seen("setting", async () => (await page()).includes(title));
    });

    it(`begin and end a rule, ${run}`, async () => {
      const tags = async (): Promise<readonly string[]> => {
        const answer = await query(there, installation.key, "Do you sell a xylophone?");
        const { conversation_id: id } = (await answer.json()) as { readonly conversation_id: string };
        const read = await fetch(`${there}/v1/conversations/${id}`, {
          headers: { authorization: `Bearer ${installation.key}` },
        });
        return ((await read.json()) as { readonly tags: readonly string[] }).tags;
      };
      expect(await tags()).not.toContain("music");
      await change("POST", "rules", {
        name: "Music",
        when: { message: "customer" },
        if: { words: ["xylophone"] },
        // oxlint-disable-next-line unicorn/no-thenable -- a key of the API.
        then: [{ tag: ["music"] }],
      });
      await seen("rule: added", async () => (await tags()).includes("music"));
      await change("DELETE", "rules/Music");
      await seen("rule: removed", async () => !(await tags()).includes("music"));
    });

    it(`answer from an article, ${run}`, async () => {
      const text = `The lantern festival number ${run} begins in week ${run + 20}.`;
      await query(there, installation.key, "When does the lantern festival begin?");
      await change("POST", "documents/articles", { title: `Festival ${run}`, content: text });
      await seen("article", async () => {
        const answer = await query(there, installation.key, `When does the lantern festival number ${run} begin?`);
        return (await answer.text()).includes(`week ${run + 20}`);
      });
    });

    it(`lower a role, and sign an agent out with the open inbox, ${run}`, async () => {
      const { id, session } = await newAgent("admin");
      expect((await session.call(there, "GET", "keys")).status).toBe(200);
      await change("PATCH", `agents/${id}`, { role: "viewer" });
      await seen("role", async () => (await session.call(there, "GET", "keys")).status === 403);
      const stream = await fetch(`${there}/inbox/api/events`, { headers: { cookie: session.cookie } });
      expect(stream.status).toBe(200);
      let isOpen = true;
      void stream.text().then(() => (isOpen = false));
      await change("DELETE", `agents/${id}/sessions`);
      await seen("session", async () => (await session.call(there, "GET", "me")).status === 401);
      await seen("session: open inbox", () => !isOpen);
    });
  }
}
