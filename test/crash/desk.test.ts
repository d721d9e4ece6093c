import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { openStore } from "#database/open.ts";
import type { OpenStore } from "#database/open.ts";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";
import { eachDatabase } from "../support/database/databases.ts";
import type { DeskWorld } from "../support/desk/world.ts";
import { mia, openDeskWorld } from "../support/desk/world.ts";
import type { Installation } from "../support/program/installation.ts";
import { install } from "../support/program/installation.ts";
import type { Launched } from "../support/program/launch.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import { isFullTier } from "../support/tier.ts";

const patienceMs = 60_000;
const quietMs = 700;
const customer = "U0ADA0001";
const chat = 4_711;
const replies = ["Hello!", "It costs five euros.", "Anything else?"];

async function until<T>(what: string, read: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(50)) {
    const found = await read();
    if (found !== undefined) return found;
  }
  throw new Error(`timed out waiting until ${what}`);
}

/** The program, started repeatedly on the same database. */
async function openProgram(world: DeskWorld, installation: Installation) {
  const file = join(installation.dataDir, "parley.yaml");
  await writeFile(file, world.yaml);
  const port = await freePort();
  let running: Launched | undefined;
  let store: OpenStore | undefined;

  async function start(): Promise<void> {
    running = launch({ installation, port, env: { PARLEY_CONFIG: file } });
    if ((await running.ready) === undefined) throw new Error(running.complaints.join("\n"));
    store ??= await openStore(installation.databaseUrl);
    const accounts = await store.read
      .selectFrom("accounts")
      .select(["id", "name"])
      .where("managed_by", "=", "file")
      .execute();
    const idOf = (name: string) => accounts.find((each) => each.name === name)?.id ?? "";
    world.reach({
      url: `http://127.0.0.1:${port}`,
      now: () => Date.now(),
      accounts: { telegram: idOf("telegram"), slack: idOf("slack") },
    });
    await until("the webhook is set", () => world.telegram.webhook);
  }

  return {
    start,
    /**
     * Kills the program at the next call of this Slack method, which Slack still carries out. Waits until `ready` has
     * held for a while, so that no message to the customer is in transit: Telegram cannot look up whether one has
     * arrived.
     */
    killAt(method: string, ready: () => boolean): { readonly dead: Promise<unknown>; readonly back: Promise<void> } {
      const dead = Promise.withResolvers<unknown>();
      let since: number | undefined;
      world.slack.trouble((called) => {
        if (called !== method) return undefined;
        since = ready() ? (since ?? Date.now()) : undefined;
        if (since === undefined || Date.now() - since < quietMs) return { kind: "limit", seconds: 1 };
        world.slack.trouble(undefined);
        running?.signal("SIGKILL");
        void running?.exited.then(dead.resolve);
        return { kind: "hang_up_after_commit" };
      });
      return { dead: dead.promise, back: dead.promise.then(start) };
    },
    async conversation() {
      return store?.read
        .selectFrom("conversations")
        .select(["status", "assigned_to", "last_seq"])
        .orderBy("id", "desc")
        .executeTakeFirst();
    },
    async isIdle(): Promise<boolean> {
      const rows = await store?.read
        .selectFrom("outbox")
        .select("id")
        .where("dead_at", "is", null)
        .where("kind", "in", ["think", "send", "desk", "desk-event", "desk-notice"])
        .execute();
      return rows?.length === 0;
    },
    async stop(): Promise<void> {
      await store?.close();
      running?.signal("SIGTERM");
      await running?.exited;
    },
  };
}

eachDatabase("the desk", (open) => {
  for (const channel of isFullTier ? ["Telegram", "Slack"] : ["Telegram"]) {
    it(
      `shows every message once and in order although it is killed twice: customer on ${channel}`,
      { timeout: 180_000 },
      async () => {
        const world = await openDeskWorld();
        world.slack.users.set(customer, { id: customer, name: "Ada L.", teamId: world.slack.teamId });
        const database = await open();
        const installation = await install(database.url);
        const program = await openProgram(world, installation);
        let message = 0;
        const says = (text: string): Promise<void> =>
          channel === "Telegram" ? world.telegramSays(chat, (message += 1), text) : world.slackSays(customer, text);
        const sees = () => (channel === "Telegram" ? world.telegramSees(chat) : world.slackSees(customer));
        const status = (expected: string) =>
          until(expected, async () => ((await program.conversation())?.status === expected ? true : undefined));
        try {
          await program.start();
          await says("How much is shipping?");
          await until("the bot has answered", () => (sees().length === 1 ? true : undefined));

          const method = channel === "Telegram" ? "chat.postMessage" : "chat.update";
          const first = program.killAt("chat.postMessage", () => channel === "Slack" || sees().length === 2);
          await says("I want to talk to a human");
          await first.back;
          const card = await until<FakeMessage>("the card is shown", () => world.cards()[0]);

          await until("the bot has handed over", () => (sees().length === 2 ? true : undefined));
          const second = program.killAt(method, () => true);
          await until("the claim is taken", async () =>
            (await world.clicks(mia, card, "parley_claim").catch(() => undefined))?.ok === true ? true : undefined,
          );
          await second.dead;
          for (const text of replies) await world.writes(mia, card.ts, text);
          await second.back;
          await until("the card is up to date", () =>
            JSON.stringify(card.blocks).includes("Claimed by Mia") ? true : undefined,
          );
          await until("the replies are stored", async () =>
            (await program.conversation())?.last_seq === 7 ? true : undefined,
          );
          await world.clicks(mia, card, "parley_resolve");
          await status("resolved");
          await says("One more question");
          await until("the bot has answered again", async () =>
            (await program.conversation())?.last_seq === 9 ? true : undefined,
          );
          await until("everything is done", async () => ((await program.isIdle()) ? true : undefined));

          expect(world.cards()).toHaveLength(1);
          expect(world.thread(card).filter((text) => !text.startsWith(mia))).toEqual([
            expect.stringContaining("I want to talk to a human"),
            "Handed to people: the customer asked for a person.",
            "Mia Meyer claimed it.",
            "Resolved by Mia Meyer.",
            "Reopened by Ada L.",
            expect.stringContaining("One more question"),
            expect.stringContaining("I don't know"),
          ]);
          expect(sees()).toEqual([
            expect.stringContaining("I don't know"),
            expect.stringContaining("A person will reply to you here."),
            ...replies.map((text) => `Mia Meyer:\n${text}`),
            expect.stringContaining("I don't know"),
          ]);
        } finally {
          await program.stop();
          await installation.remove();
          await database.remove();
          await world.close();
        }
      },
    );
  }
});
