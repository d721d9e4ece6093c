import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { openedSettings } from "#admin/channels/account-settings.ts";
import { createAgent } from "#admin/team/agents.ts";
import { openStore } from "#database/open.ts";
import { readWorkspace } from "#database/queries/workspaces.ts";
import { systemClock } from "#runtime/clock.ts";
import { createSecrets, loadSecret } from "#runtime/secrets.ts";
import { startFakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import { eachDatabase } from "../support/database/databases.ts";
import type { AgentSession } from "../support/program/administrator.ts";
import { signIn } from "../support/program/administrator.ts";
import { install } from "../support/program/installation.ts";
import type { Launched } from "../support/program/launch.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import type { Changer, Entry, Requested, World } from "./changers.ts";
import { keys, rules, teams, webhooks } from "./changers.ts";
import { createRandom } from "./random.ts";
import { isFullTier } from "../support/tier.ts";

/** More kills find rarer faults: `ADMINISTRATION_KILLS=30 npx vitest run test/crash/administration.test.ts`. */
const kills = Number(process.env["ADMINISTRATION_KILLS"] ?? 5);
const seed = Number(process.env["ADMINISTRATION_SEED"] ?? 1);
const runMsMax = 500;
const patienceMs = 60_000;

const textOf = ({ action, detail, to_value: to }: Entry): string => `${action} ${detail ?? ""} ${to ?? ""}`;

function channels(): Changer {
  let number = 0;
  return {
    subject: "channel",
    async changeOnce({ admin, url, telegram, random, change }) {
      const settingsWith = (groups: string) => ({ token: telegram.token, base_url: telegram.url, groups });
      const { body } = await admin.call(url, "GET", "channels");
      const { channels: all } = body as {
        readonly channels: readonly {
          readonly id: string;
          readonly name: string;
          readonly managed_by: string;
          readonly state: string;
          readonly settings: { readonly groups?: string };
        }[];
      };
      const account = all.find(({ managed_by: by }) => by === "dashboard");
      if (account === undefined) {
        number += 1;
        const given = { channel: "telegram", name: `Bot ${number}`, settings: settingsWith("all") };
        await change(`channel_added Bot ${number} Telegram`, "POST", "channels", given);
        return;
      }
      const { id, name, state } = account;
      const chosen = random();
      if (chosen < 0.4) {
        const groups = account.settings.groups === "all" ? "off" : "all";
        await change(`channel_changed ${name} groups`, "PATCH", `channels/${id}`, { settings: settingsWith(groups) });
      } else if (chosen < 0.8) {
        const [action, to] = state === "paused" ? ["resume", "running"] : ["pause", "paused"];
        await change(`channel_changed ${name} ${to}`, "POST", `channels/${id}/${action}`);
      } else await change(`channel_removed ${name} `, "DELETE", `channels/${id}`);
    },
    async verify({ store, secrets, telegram }, entries, isSettled) {
      const rows = await store.read.selectFrom("accounts").selectAll().where("managed_by", "=", "dashboard").execute();
      const byName = Map.groupBy(entries, ({ detail }) => detail);
      expect(new Set(rows.map(({ name }) => name.replace(/ \(removed .*/, "")))).toEqual(new Set(byName.keys()));
      for (const row of rows) {
        const own = byName.get(row.name.replace(/ \(removed .*/, "")) ?? [];
        const isRemoved = own.some(({ action }) => action === "channel_removed");
        const paused = own.findLast(({ to_value: to }) => to === "paused" || to === "running")?.to_value === "paused";
        const edits = own.filter(({ to_value: to }) => to === "groups").length;
        expect({ ...row, revision: row.revision - own.length }).toMatchObject({
          revision: 0,
          enabled: isRemoved ? 0 : 1,
          paused: paused && !isRemoved ? 1 : 0,
        });
        expect([row.removed_at !== null, row.identity === null, row.credentials === null]).toEqual(
          Array.from({ length: 3 }, () => isRemoved),
        );
        expect(openedSettings(secrets, row)).toEqual(
          isRemoved ? {} : { token: telegram.token, base_url: telegram.url, groups: edits % 2 === 0 ? "all" : "off" },
        );
      }
      if (!isSettled) return;
      const running = rows.filter(({ enabled, paused }) => enabled === 1 && paused === 0).map(({ id }) => id);
      const polls = telegram.calls("getUpdates").length;
      const leases = store.read.selectFrom("connection_leases").select("account_id");
      await expect
        .poll(async () => (await leases.execute()).map(({ account_id: id }) => id), { timeout: patienceMs })
        .toEqual(running);
      if (running.length > 0) {
        await expect.poll(() => telegram.calls("getUpdates").length, { timeout: patienceMs }).toBeGreaterThan(polls);
      }
    },
  };
}

/** Changes two settings at once. */
function settings(): Changer {
  let number = 0;
  return {
    subject: "settings",
    async changeOnce({ change }) {
      number += 1;
      const [title, greeting] = [`Title ${number}`, `Greeting ${number}`];
      const given = { settings: { "widget.title": title, "widget.greeting": greeting } };
      await change(`settings_changed widget.title ${title}`, "PATCH", "settings", given);
    },
    async verify({ store, installation }, entries) {
      const workspace = await readWorkspace(store.read, installation.workspaceId);
      const last = (key: string): string | null => entries.findLast(({ detail }) => detail === key)?.to_value ?? null;
      const { widgetTitle: title, widgetGreeting: greeting } = workspace?.settings ?? {};
      if (entries.length === 0) return;
      expect([title, greeting]).toEqual([last("widget.title"), last("widget.greeting")]);
      expect(greeting).toBe(title?.replace("Title", "Greeting"));
    },
  };
}

/** Adds articles and removes some. */
function articles(): Changer {
  let number = 0;
  return {
    subject: "document",
    async changeOnce({ change }) {
      number += 1;
      const title = `Article ${number}`;
      const given = { title, content: `The lamp number ${number} has ${number} bulbs.` };
      const { document } = (await change(`document_added ${title} `, "POST", "documents/articles", given)) as {
        readonly document: { readonly id: string };
      };
      if (number % 2 === 0) await change(`document_removed ${title} `, "DELETE", `documents/${document.id}`);
    },
    async verify({ store }, entries, isSettled) {
      const stored = store.read.selectFrom("documents").select(["id", "title", "status", "chunks"]);
      const rows = async () => (await stored.execute()).filter(({ title }) => title.startsWith("Article"));
      const gone = new Set(entries.filter(({ action }) => action === "document_removed").map(({ detail }) => detail));
      const added = entries.filter(({ action }) => action === "document_added").map(({ detail }) => detail);
      expect(new Set((await rows()).map(({ title }) => title))).toEqual(
        new Set(added.filter((title) => !gone.has(title))),
      );
      if (!isSettled) return;
      const states = async () => [...new Set((await rows()).map(({ status, chunks }) => `${status} ${chunks}`))];
      await expect.poll(states, { timeout: patienceMs }).toEqual(["indexed 1"]);
      const chunks = store.read.selectFrom("chunks").select("document_id");
      const ids = new Set((await stored.execute()).map(({ id }) => id));
      const left = async () => (await chunks.execute()).filter(({ document_id: id }) => !ids.has(id));
      await expect.poll(left, { timeout: patienceMs }).toEqual([]);
    },
  };
}

/** Removes agents who have a conversation, which their heir gets. */
function agents(heir: { readonly id: string; readonly email: string }): Changer {
  let number = 0;
  /** The agents' conversations, by the agents' addresses. */
  const held = new Map<string, string>();
  return {
    subject: "agent",
    async changeOnce({ store, installation, url, change }) {
      number += 1;
      const email = `leaver-${number}@shop.example`;
      const { workspaceId, key } = installation;
      const leaver = { workspaceId, email, name: `Leaver ${number}`, role: "agent" } as const;
      const { id } = await createAgent(store, systemClock, leaver);
      const call = async (method: string, path: string, body: object): Promise<unknown> => {
        const answer = await fetch(`${url}/v1/${path}`, {
          method,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        if (!answer.ok) throw new Error(await answer.text());
        return answer.json();
      };
      const query = { workspace_id: workspaceId, query: "How long is the warranty of a lamp?" };
      const { conversation_id: conversation } = (await call("POST", "query", query)) as {
        readonly conversation_id: string;
      };
      await call("PATCH", `conversations/${conversation}`, { status: "claimed", assigned_to: email });
      held.set(email, conversation);
      await change(`agent_removed ${email} ${heir.email}`, "DELETE", `agents/${id}?reassign_to=${heir.id}`);
    },
    async verify({ store }, entries, isSettled) {
      const removed = new Set(entries.map(({ detail }) => detail));
      const rows = await store.read.selectFrom("agents").select("email").where("email", "like", "leaver-%").execute();
      const stay = new Set(rows.map(({ email }) => email));
      for (const [email, id] of held) {
        expect([email, stay.has(email)]).toEqual([email, !removed.has(email)]);
        const conversation = store.read
          .selectFrom("conversations")
          .select("assigned_to")
          .where("id", "=", id)
          .executeTakeFirstOrThrow();
        const moves = store.read
          .selectFrom("audit")
          .select("id")
          .where("conversation_id", "=", id)
          .where("to_value", "=", heir.email);
        const state = async () => [(await conversation).assigned_to, (await moves.execute()).length];
        const [before, after] = [
          [email, 0],
          [heir.email, 1],
        ];
        if (stay.has(email)) expect(await state()).toEqual(before);
        else if (isSettled) await expect.poll(state, { timeout: patienceMs }).toEqual(after);
        else expect([before, after]).toContainEqual(await state());
      }
    },
  };
}

/** The entries must be those of the answered changes, and of some of those without an answer, in this order. */
function expectRequested(entries: readonly Entry[], requested: readonly Requested[]): void {
  const lines = entries.map(textOf);
  /** Numbers of entries that the requests so far can have made. */
  let made = new Set([0]);
  for (const { entry, isAnswered } of requested) {
    const before = [...made];
    const after = before.filter((n) => lines[n]?.startsWith(entry) === true).map((n) => n + 1);
    made = new Set(isAnswered ? after : [...before, ...after]);
    expect(made.size, `${entry} after ${before.map((n) => lines[n - 1] ?? "nothing").join(" or ")}`).toBeGreaterThan(0);
  }
  expect([...made]).toContain(lines.length);
}

/** The second entry of a change that has two. */
const isSecond = ({ action, detail, to_value: to }: Entry): boolean =>
  detail === "widget.greeting" || (action === "webhook_changed" && to === "disabled");

eachDatabase("a program that is killed while administrators change things", (open) => {
  it.runIf(isFullTier)(
    "has made each change completely or not at all, as its audit log says",
    { timeout: 600_000 },
    async () => {
      const database = await open();
      const installation = await install(database.url);
      const [telegram, store, port] = await Promise.all([startFakeTelegram(), openStore(database.url), freePort()]);
      const url = `http://127.0.0.1:${port}`;
      const random = createRandom(seed);
      const { workspaceId } = installation;
      const admin = { workspaceId, email: "admin@shop.example", name: "Admin", role: "admin" } as const;
      const heir = await createAgent(store, systemClock, { ...admin, email: "heir@shop.example", name: "Heir" });
      const changers = [channels(), settings(), articles(), agents(heir), keys(), webhooks(), teams(heir), rules()];
      const requested = new Map(changers.map(({ subject }) => [subject, [] as Requested[]]));
      let running: Launched | undefined;

      const config = join(installation.dataDir, "parley.yaml");
      await writeFile(config, "outbound:\n  allow_private: [127.0.0.1]\n");
      async function start(): Promise<void> {
        running = launch({ installation, port, env: { PARLEY_CONFIG: config } });
        if ((await running.ready) === undefined) throw new Error(running.complaints.join("\n"));
      }
      async function kill(): Promise<void> {
        running?.signal("SIGKILL");
        await running?.exited;
      }
      try {
        await start();
        // Requests of one agent are limited, so that each kind of thing has its own.
        const sessions = new Map<string, AgentSession>();
        for (const { subject } of changers) {
          const { id } = await createAgent(store, systemClock, { ...admin, email: `${subject}@shop.example` });
          sessions.set(subject, await signIn(store, url, id));
        }
        const sessionOf = ({ subject }: Changer): AgentSession => {
          const session = sessions.get(subject);
          if (session === undefined) throw new Error(`nobody changes ${subject}`);
          return session;
        };
        const worldOf = (changer: Changer, { subject } = changer, session = sessionOf(changer)): World => ({
          store,
          secrets: createSecrets(loadSecret(undefined, installation.dataDir)),
          telegram,
          installation,
          admin: session,
          url,
          random,
          requested: requested.get(subject) ?? [],
          async change(entry, method, path, body) {
            const request = { entry, isAnswered: false };
            requested.get(subject)?.push(request);
            const answer = await session.call(url, method, path, body);
            if (answer.status >= 300) throw new Refused(`${entry}: ${answer.status} ${JSON.stringify(answer.body)}`);
            request.isAnswered = true;
            return answer.body;
          },
          entries: (of) =>
            store.read
              .selectFrom("audit")
              .select(["action", "detail", "to_value"])
              .where(sql<boolean>`action like ${`${of}%`}`)
              .where("conversation_id", "is", null)
              .where("actor_type", "=", "agent")
              .orderBy("id")
              .execute(),
        });
        const verify = async (isSettled: boolean): Promise<void> => {
          for (const changer of changers) {
            const world = worldOf(changer);
            const entries = await world.entries(`${changer.subject}_`);
            const own = entries.filter((entry) => !isSecond(entry));
            expectRequested(own, world.requested);
            await changer.verify(world, entries, isSettled);
          }
        };
        const all = () => [...requested.values()].flat();
        const answered = (): number => all().filter(({ isAnswered }) => isAnswered).length;
        for (let i = 1; i <= kills; i += 1) {
          let isKilled = false;
          const loops = changers.map(async (changer) => {
            const world = worldOf(changer);
            while (!isKilled) {
              try {
                await changer.changeOnce(world);
              } catch (error) {
                if (!isKilled || error instanceof Refused) throw error;
              }
            }
          });
          // The first requests of a process are slow, and a kill has to meet changes.
          const enough = answered() + 2;
          const some = async (): Promise<void> => {
            await expect.poll(answered, { interval: 5 }).toBeGreaterThanOrEqual(enough);
          };
          await Promise.race([some(), Promise.all(loops)]);
          await sleep(random() * runMsMax);
          isKilled = true;
          await kill();
          await Promise.all(loops);
          await start();
          await verify(false);
        }
        // The lease of the killed process would end after 15 seconds.
        await store.write((tx) => tx.updateTable("connection_leases").set({ lease_until: 0 }).execute());
        expect(answered()).toBeGreaterThan(kills);
        expect(all().some(({ isAnswered }) => !isAnswered)).toBe(true);
      } finally {
        await kill();
        await store.close();
        await telegram.close();
        await installation.remove();
        await database.remove();
      }
    },
  );
});

class Refused extends Error {}
