import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { systemClock } from "#runtime/clock.ts";
import { createKey } from "#admin/api-keys.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import { eachDatabase } from "../support/database/databases.ts";
import { install } from "../support/program/installation.ts";
import type { Launched } from "../support/program/launch.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import type { ShopServer } from "../support/servers/shop-server.ts";
import { sendJson, startShopServer } from "../support/servers/shop-server.ts";
import type { Sender } from "./sender.ts";
import { openSender } from "./sender.ts";
import { isFullTier } from "../support/tier.ts";

const patienceMs = 60_000;

const file = (shop: string): string => `
workspaces:
  - name: Shop
    escalation: {low_answers: 20}
    rules:
      - name: Music
        when: {message: customer}
        if: {words: [xylophone]}
        then:
          - tag: music
          - note: Somebody asks for music.
          - reply: We have xylophones.
    skills:
      - name: order_status
        description: Tells the status of an order.
        request: {url: "${shop}/orders/{order}"}
        arguments: {order: {description: Its number., shape: "BK-####"}}
        phrases: ["status of order {order}"]
        answer: "Order {order} is {status}."
      - name: cancel_order
        description: Cancels an order.
        request: {method: POST, url: "${shop}/cancellations", body: {order: "{order}"}}
        arguments: {order: {description: Its number., shape: "BK-####"}}
        phrases: ["cancel order {order}"]
        answer: Order {order} is cancelled.
    messages: {lookup_unsure: Perhaps it is cancelled.}
outbound: {allow_private: [127.0.0.1]}
`;

interface Single {
  readonly tags: readonly string[];
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly internal_notes: readonly { readonly content: string }[];
  readonly audit_log: readonly { readonly action: string; readonly detail: string | null }[];
}

interface World {
  readonly shop: ShopServer;
  /** Starts the program; it kills itself at the point `killAt`. */
  start(killAt?: string): Promise<void>;
  /** Waits until the process has been killed. */
  died(): Promise<void>;
  kill(): Promise<void>;
  write(text: string): Sender;
  /** Waits until no work is left. */
  settled(): Promise<void>;
  /** The only conversation that begins with this text. */
  conversation(text: string): Promise<Single>;
}

eachDatabase("a killed program", (open) => {
  async function inWorld(work: (world: World) => Promise<void>): Promise<void> {
    const database = await open();
    const installation = await install(database.url);
    const shop = await startShopServer();
    const path = join(installation.dataDir, "parley.yaml");
    await writeFile(path, file(shop.url));
    const port = await freePort();
    const senders: Sender[] = [];
    let running: Launched | undefined;
    let store: OpenStore | undefined;
    let workspaceId = "";
    let key = "";
    const world: World = {
      shop,
      async start(killAt) {
        const env = { PARLEY_CONFIG: path, ...(killAt === undefined ? {} : { PARLEY_TEST_KILL_AT: `${killAt}:1` }) };
        running = launch({ installation, port, env });
        // Pending work may reach the point before the program is ready.
        if ((await running.ready) === undefined && killAt === undefined) throw new Error(running.complaints.join("\n"));
        store ??= await openStore(installation.databaseUrl);
        if (key !== "") return;
        const workspaces = store.read.selectFrom("workspaces").select("id").where("name", "=", "Shop");
        ({ id: workspaceId } = await workspaces.executeTakeFirstOrThrow());
        ({ key } = await createKey(store, systemClock, { workspaceId, name: "test" }));
      },
      async died() {
        const exit = await Promise.race([running?.exited, sleep(patienceMs)]);
        expect(exit).toMatchObject({ signal: "SIGKILL" });
      },
      async kill() {
        running?.signal("SIGKILL");
        await running?.exited;
      },
      write(text) {
        const url = `ws://127.0.0.1:${port}/widget/ws?workspace=${workspaceId}&channel=widget`;
        const sender = openSender(url, randomBytes(12).toString("hex"), text);
        senders.push(sender);
        return sender;
      },
      async settled() {
        const left = async (): Promise<number> => {
          const kinds = ["think", "send", "speak"];
          const rows = await store?.read.selectFrom("outbox").select("id").where("kind", "in", kinds).execute();
          return rows?.length ?? 0;
        };
        await expect.poll(left, { timeout: patienceMs, interval: 50 }).toBe(0);
      },
      async conversation(text) {
        const headers = { authorization: `Bearer ${key}` };
        const get = async (at: string) =>
          (await (await fetch(`http://127.0.0.1:${port}/v1/${at}`, { headers })).json()) as unknown;
        const { conversations } = (await get(`conversations?workspace_id=${workspaceId}&limit=100`)) as {
          readonly conversations: readonly { readonly id: string }[];
        };
        const all = await Promise.all(conversations.map(({ id }) => get(`conversations/${id}`) as Promise<Single>));
        const found = all.filter(({ messages }) => messages[0]?.content === text);
        expect(found).toHaveLength(1);
        return found[0] as Single;
      },
    };
    try {
      await work(world);
    } finally {
      for (const sender of senders) sender.close();
      await world.kill();
      await store?.close();
      await shop.close();
      await installation.remove();
      await database.remove();
    }
  }

  const texts = ({ messages }: Single) => messages.map(({ role, content }) => `${role}: ${content}`);

  it("applies a rule and records it exactly once, at whatever point it is killed", { timeout: 180_000 }, () =>
    inWorld(async (world) => {
      await world.start();
      await world.kill();
      const points = [
        "accept.committed",
        "accept.acknowledged",
        "speak.before",
        "speak.stored",
        "send.before",
        "send.after",
        "send.marked",
      ];
      const senders: Sender[] = [];
      for (const point of points) {
        await world.start(point);
        senders.push(world.write(`A xylophone, please: ${point}`));
        await world.died();
      }
      await world.start();
      await Promise.all(senders.map(({ acknowledged }) => acknowledged));
      await world.settled();
      for (const [n, point] of points.entries()) {
        const text = `A xylophone, please: ${point}`;
        const found = await world.conversation(text);
        expect(texts(found)).toEqual([`user: ${text}`, "assistant: We have xylophones."]);
        expect(found.tags).toEqual(["music"]);
        expect(found.internal_notes.map(({ content }) => content)).toEqual(["Somebody asks for music."]);
        expect(found.audit_log.filter(({ action }) => action === "rule_fired")).toHaveLength(1);
        expect(found.audit_log.filter(({ action }) => action === "tagged")).toHaveLength(1);
        const seen = () => senders[n]?.shown().filter((role) => role !== "user");
        await expect.poll(seen, { timeout: patienceMs }).toEqual(["assistant"]);
      }
    }),
  );

  it.runIf(isFullTier)("repeats an interrupted lookup, and answers once", { timeout: 180_000 }, () =>
    inWorld(async (world) => {
      await world.start();
      const ask = "What is the status of order BK-1234?";
      world.shop.answer = () => void world.kill();
      const sender = world.write(ask);
      await world.died();
      world.shop.answer = (_request, response) => sendJson(response, { status: "shipped" });
      // Killed a second time, once the answer is stored.
      await world.start("answer.stored");
      await world.died();
      await world.start();
      await sender.acknowledged;
      await world.settled();
      const found = await world.conversation(ask);
      expect(texts(found)).toEqual([`user: ${ask}`, "assistant: Order BK-1234 is shipped."]);
      expect(found.audit_log.filter(({ action }) => action === "skill_called")).toHaveLength(1);
      expect(world.shop.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
        "GET /orders/BK-1234",
        "GET /orders/BK-1234",
      ]);
    }),
  );

  it(
    "does not repeat an interrupted call that may have changed something, and says so once",
    { timeout: 180_000 },
    () =>
      inWorld(async (world) => {
        await world.start();
        const ask = "Please cancel order BK-1234";
        world.shop.answer = () => void world.kill();
        const sender = world.write(ask);
        await world.died();
        await world.start();
        await sender.acknowledged;
        await world.settled();
        const found = await world.conversation(ask);
        expect(texts(found)).toEqual([`user: ${ask}`, "assistant: Perhaps it is cancelled."]);
        expect(found.audit_log.filter(({ action }) => action === "skill_called")).toEqual([
          expect.objectContaining({ detail: expect.stringMatching(/failed: an earlier try was cut off/) }),
        ]);
        expect(world.shop.requests).toHaveLength(1);
      }),
  );
});
