import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { it } from "vitest";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";
import type { TestDatabase } from "../support/database/databases.ts";
import { eachDatabase } from "../support/database/databases.ts";
import type { DeskWorld } from "../support/desk/world.ts";
import { mia, openDeskWorld } from "../support/desk/world.ts";
import { expectDocumented } from "../support/channels/documented-faults.ts";
import type { Installation } from "../support/program/installation.ts";
import { install } from "../support/program/installation.ts";
import type { Launched } from "../support/program/launch.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import type { Line } from "../support/channels/line-up.ts";
import { builtin, fileWith, countedLineUp, openLimits, startLines } from "../support/channels/line-up.ts";
import { numbersBehind, tally } from "../support/tally.ts";
import { isFullTier } from "../support/tier.ts";

const patienceMs = 90_000;
const customer = "ada";
const plea = "I want to talk to a human";

async function until<T>(
  what: string,
  read: () => Promise<T | undefined> | T | undefined,
  because: () => unknown = () => undefined,
): Promise<T> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(50)) {
    const found = await read();
    if (found !== undefined) return found;
  }
  throw new Error(`timed out waiting until ${what}`, { cause: because() });
}
const holds = (reached: boolean): true | undefined => (reached ? true : undefined);

/** The program in a process of its own, started repeatedly on the same database. */
async function openProgram(desk: DeskWorld, lines: readonly Line[], installation: Installation) {
  const file = join(installation.dataDir, "parley.yaml");
  await writeFile(file, fileWith(desk, lines, "Support"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { workspaceId, key } = installation;
  const store: OpenStore = await openStore(installation.databaseUrl);
  await store.write((tx) =>
    tx
      .updateTable("accounts")
      .set({ config: JSON.stringify(openLimits) })
      .where("channel", "=", "hosted")
      .execute(),
  );
  let running: Launched | undefined;

  async function start(): Promise<Launched> {
    const env = { PARLEY_CONFIG: file, PUBLIC_URL: "http://parley.test" };
    const launched = launch({ installation, port, env });
    running = launched;
    if ((await launched.ready) === undefined) throw new Error(launched.complaints.join("\n"));
    return launched;
  }

  const accounts = new Map<string, string>();
  const idOf = (name: string): string => {
    const found = accounts.get(name);
    if (found === undefined) throw new Error(`there is no account ${name}`);
    return found;
  };
  const accountOf = ({ channel, account }: Line): string => idOf(builtin.has(channel) ? channel : account);
  /** Each account has one customer here; each call is a conversation of its own. */
  const conversationsOf = (line: Line) =>
    store.read
      .selectFrom("conversations")
      .select(["id", "status"])
      .where("account_id", "=", accountOf(line))
      .orderBy("id");

  async function connect(): Promise<void> {
    const rows = await store.read
      .selectFrom("accounts")
      .select(["id", "name"])
      .where("workspace_id", "=", workspaceId)
      .execute();
    for (const { id, name } of rows) accounts.set(name, id);
    const now = (): number => Date.now();
    desk.reach({ url, now, accounts: { telegram: "", slack: idOf("slack") } });
    for (const line of lines) {
      const { channel, platform } = line;
      const accountId = accountOf(line);
      await platform.connect({
        url,
        workspaceId,
        accountId,
        key,
        webhookUrl: `${url}/channels/${channel}/${accountId}`,
        now,
        tick: () => sleep(200),
        async stored(externalId) {
          const events = store.read.selectFrom("inbound_events").select("id").where("account_id", "=", accountId);
          return (await events.where("external_id", "=", externalId).execute()).length > 0;
        },
      });
    }
    for (const { name, platform } of lines) {
      await until(`${name} is connected`, () => holds(platform.connected?.() !== false));
    }
  }

  return {
    start,
    connect,
    conversation: (line: Line) => conversationsOf(line).executeTakeFirst(),
    /** Escalates as an agent does in the inbox. */
    async escalate(id: string): Promise<void> {
      const response = await fetch(`${url}/v1/conversations/${id}`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ status: "escalated" }),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    async written(line: Line): Promise<readonly string[]> {
      const written: string[] = [];
      for (const { id } of await conversationsOf(line).execute()) {
        const response = await fetch(`${url}/v1/conversations/${id}`, { headers: { authorization: `Bearer ${key}` } });
        const { messages } = (await response.json()) as {
          readonly messages: readonly { readonly role: string; readonly content: string }[];
        };
        written.push(...messages.filter(({ role }) => role === "user").map(({ content }) => content));
      }
      return written;
    },
    async isIdle(): Promise<true | undefined> {
      const rows = await store.read
        .selectFrom("outbox")
        .select("id")
        .where("dead_at", "is", null)
        .where("kind", "in", ["think", "send", "desk", "desk-event", "desk-notice"])
        .execute();
      return holds(rows.length === 0);
    },
    async stop(): Promise<void> {
      running?.signal("SIGTERM");
      await running?.exited;
      await store.close();
    },
  };
}

/** Delivers until the message is acknowledged, as a platform or a customer's browser does. */
async function deliver({ channel, name, platform }: Line, number: number, text = `message ${number}`): Promise<void> {
  const message = { customer, id: `${channel}-${number}`, text };
  let refusal: unknown;
  const taken = async (): Promise<boolean> => {
    try {
      return await platform.deliver(message);
    } catch (error) {
      refusal = error;
      return false;
    }
  };
  await until(
    `${name}: "${text}" is taken`,
    async () => holds(await taken()),
    () => refusal,
  );
}

const sees = async ({ platform }: Line, number: number): Promise<boolean> =>
  numbersBehind("reply", await platform.shown(customer)).includes(number);

eachDatabase("a program killed while messages arrive and leave on all channels", (open) => {
  // The short tier kills the program on one channel: crash.test.ts.
  it.runIf(isFullTier)(
    "loses no message, and duplicates none beyond the documented cases",
    { timeout: 180_000 },
    async () => {
      const database: TestDatabase = await open();
      const [desk, lines, installation] = await Promise.all([
        openDeskWorld(),
        startLines(countedLineUp),
        install(database.url),
      ]);
      const program = await openProgram(desk, lines, installation);
      const each = <T>(run: (line: Line) => Promise<T>): Promise<readonly T[]> => Promise.all(lines.map(run));
      try {
        const first = await program.start();
        await program.connect();
        const cards = new Map<Line, FakeMessage>();
        await each(async (line) => {
          // A caller who asks for a person is put through or leaves a message, so that agents cannot reply. An agent
          // escalates instead.
          await deliver(line, 0, line.isCall === true ? "Hello" : plea);
          const { id } = await until("there is a conversation", () => program.conversation(line));
          if (line.isCall === true) await program.escalate(id);
          const find = () => desk.cards().find(({ blocks }) => JSON.stringify(blocks).includes(id));
          const card = await until(`${line.name} has a card`, find);
          cards.set(line, card);
          await until("the claim is taken", async () =>
            holds((await desk.clicks(mia, card, "parley_claim").catch(() => undefined))?.ok === true),
          );
          await until("it is claimed", async () => holds((await program.conversation(line))?.status === "claimed"));
        });
        const replies = (number: number) =>
          each((line) => desk.writes(mia, cards.get(line)?.ts ?? "", `reply ${number}`));

        // Kills the program after one acknowledgement, while other messages are stored but unacknowledged, or in transit.
        const firstAcknowledged = Promise.withResolvers<void>();
        const coming = each(async (line) => {
          await deliver(line, 1);
          firstAcknowledged.resolve();
          await deliver(line, 2);
        });
        await firstAcknowledged.promise;
        first.signal("SIGKILL");
        await first.exited;
        const second = await program.start();
        await Promise.all([coming, replies(1)]);
        await each((line) => until(`${line.name} shows reply 1`, async () => holds(await sees(line, 1))));

        // Every platform has accepted the reply, and the program has no receipt.
        const sending = lines.filter(({ target }) => target.cannot["unknown-send"] === undefined);
        for (const { platform } of sending) platform.misbehave("hang_up_after_commit");
        await replies(2);
        await each(async (line) => {
          await until(`${line.name} shows reply 2`, async () => holds(await sees(line, 2)));
          if (sending.includes(line)) await line.platform.away(customer);
        });
        second.signal("SIGKILL");
        await second.exited;

        await program.start();
        await Promise.all(sending.map(({ platform }) => platform.back(customer)));
        await Promise.all([each((line) => deliver(line, 3)), replies(3)]);
        await each((line) => until(`${line.name} shows reply 3`, async () => holds(await sees(line, 3))));

        await until("nothing is left to do", program.isIdle);
        const found = await each(async (line) => {
          const arrived = (await line.platform.transmitted?.(customer)) ?? (await line.platform.shown(customer));
          const counted = {
            inbound: tally(3, numbersBehind("message", await program.written(line))),
            outbound: tally(3, numbersBehind("reply", arrived)),
          };
          return [`${line.name}\nkill -9`, counted] as const;
        });
        expectDocumented(["kill -9"], lines, new Map(found));
      } finally {
        await program.stop();
        await Promise.all(lines.map(({ platform }) => platform.close()));
        await desk.close();
        await installation.remove();
        await database.remove();
      }
    },
  );
});
