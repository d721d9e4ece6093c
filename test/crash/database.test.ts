import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { openStore } from "#database/open.ts";
import { install, questions } from "../support/program/installation.ts";
import type { Launched } from "../support/program/launch.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import { newMysql } from "../support/database/new-database.ts";
import { mysqlServer } from "../support/database/mysql-server.ts";
import { startMariaDb, teardown } from "../support/services.ts";
import { skipped } from "../support/skipped.ts";

const clients = 20;
const kills = 3;
const name = "a database that is killed while two processes write";
const { reason } = mysqlServer();

if (reason !== undefined) {
  skipped(name, reason);
} else {
  it(`${name} loses no acknowledged message, and does nothing twice`, { timeout: 180_000 }, async () => {
    const server = await startMariaDb(["--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=1"]);
    if (server.url === undefined) throw new Error(server.reason);
    const database = await newMysql(server.url);
    const installation = await install(database.url);
    const ports = [await freePort(), await freePort()];
    const running: Launched[] = [];
    const acknowledged = new Map<string, string>();
    const statuses = new Map<number, number>();
    let isOver = false;

    async function ask(client: number, at: number): Promise<void> {
      const key = `${client}-${at}`;
      const query = `${questions[at % questions.length]} (${key})`;
      for (let tries = client; ; tries += 1) {
        const port = ports[tries % ports.length];
        const response = await fetch(`http://127.0.0.1:${port}/v1/query`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${installation.key}`,
            "content-type": "application/json",
            "idempotency-key": key,
          },
          body: JSON.stringify({ workspace_id: installation.workspaceId, query, strictness: "helpful" }),
        });
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        const body = (await response.json()) as { readonly message_id: string };
        if (response.status === 200) {
          acknowledged.set(query, body.message_id);
          return;
        }
        await delay(200);
      }
    }

    /** Waits for `count` more answers. */
    async function untilAcknowledged(count: number): Promise<void> {
      const enough = acknowledged.size + count;
      await expect.poll(() => acknowledged.size, { timeout: 60_000 }).toBeGreaterThanOrEqual(enough);
    }

    try {
      for (const port of ports) {
        const one = launch({ installation, port });
        running.push(one);
        await one.ready;
      }
      const work = Promise.all(
        Array.from({ length: clients }, async (_, client) => {
          for (let at = 0; !isOver; at += 1) await ask(client, at);
        }),
      );
      for (let kill = 0; kill < kills; kill += 1) {
        await untilAcknowledged(clients);
        await delay(Math.random() * 1_000);
        await server.kill();
        await delay(500);
        await server.start();
      }
      await untilAcknowledged(clients);
      isOver = true;
      await work;

      const store = await openStore(database.url);
      const messages = await store.read
        .selectFrom("messages")
        .select(["id", "role", "content", "conversation_id as conversationId", "answers_seq as answersSeq"])
        .execute();
      await store.close();
      const asked = Map.groupBy(
        messages.filter(({ role }) => role === "user"),
        ({ content }) => content,
      );
      const answers = Map.groupBy(
        messages.filter(({ role }) => role === "assistant"),
        ({ conversationId }) => conversationId,
      );
      const unanswered = [...acknowledged].filter(([query, answerId]) => {
        const [question, ...others] = asked.get(query) ?? [];
        const answered = answers.get(question?.conversationId ?? "") ?? [];
        return others.length > 0 || answered.length !== 1 || answered[0]?.id !== answerId;
      });
      expect(unanswered).toEqual([]);
      expect([...asked.values()].filter((each) => each.length > 1)).toEqual([]);
      expect(acknowledged.size).toBeGreaterThan(clients);
      expect([...statuses.keys()].filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
    } finally {
      isOver = true;
      for (const one of running) one.signal("SIGKILL");
      await Promise.all(running.map(({ exited }) => exited));
      await installation.remove();
      await teardown();
    }
  });
}
