import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { openStore } from "#database/open.ts";
import { install } from "#test/support/program/installation.ts";
import type { Launched } from "#test/support/program/launch.ts";
import { launch } from "#test/support/program/launch.ts";
import { freePort } from "#test/support/servers/free-port.ts";
import { startFakeTwilio } from "../../shared/test/fake-twilio.ts";
import { createFakeCalls } from "./support/fake-calls.ts";
import { isFullTier } from "#test/support/tier.ts";

const own = "+15550001111";
const publicUrl = "http://parley.test";

async function until(what: string, reached: () => boolean | Promise<boolean>, patienceMs = 60_000): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await reached())) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await sleep(50);
  }
}

it.runIf(isFullTier)(
  "a program killed during a call stores each turn once and speaks each answer once",
  async () => {
    const twilio = await startFakeTwilio();
    const installation = await install();
    const file = join(installation.dataDir, "parley.yaml");
    // JSON is YAML.
    const channels = [{ name: "phone", channel: "voice", ...twilio.settings, from: own }];
    writeFileSync(file, JSON.stringify({ workspaces: [{ name: "Support", channels }] }));
    const port = await freePort();
    const start = (env: Record<string, string> = {}): Launched =>
      launch({ installation, port, env: { PARLEY_CONFIG: file, PUBLIC_URL: publicUrl, ...env } });
    let running = start();
    const store = await openStore(installation.databaseUrl);
    try {
      await running.ready;
      const { id } = await store.read
        .selectFrom("accounts")
        .select("id")
        .where("channel", "=", "voice")
        .executeTakeFirstOrThrow();
      const path = `/channels/voice/${id}`;
      // The telephone's clock runs ahead of the program's, to skip speech.
      let ahead = 0;
      const now = (): number => Date.now() + ahead;
      twilio.connect({ publicUrl, webhookUrl: `http://127.0.0.1:${port}${path}`, now });
      const calls = createFakeCalls({
        twilio,
        own,
        webhookUrl: publicUrl + path,
        now,
        // The program's own clock is the real one, so a request must not time out sooner than in real time.
        lookMs: 1_000,
        async pass(ms) {
          const waited = Math.min(ms, 300);
          await sleep(waited);
          ahead += ms - waited;
        },
      });
      running.signal("SIGKILL");
      await running.exited;
      // Turn stored but not answered; answer stored but not spoken; spoken but not recorded.
      for (const point of ["accept.committed:1", "answer.stored:1", "send.after:1"]) {
        running = start({ PARLEY_TEST_KILL_AT: point });
        await running.ready;
        const call = await calls.call("+15552000001");
        const request = await calls.request(call, "How long is the warranty of a lamp?");
        const first = await calls.attempt(call, request).catch(() => undefined);
        expect((await running.exited).signal, point).toBe("SIGKILL");
        running = start();
        await running.ready;
        // Twilio retries after no answer.
        if (first?.status !== 200) expect((await calls.attempt(call, request)).status, point).toBe(200);
        await until(`the caller hears it (${point})`, async () => {
          await calls.listenToTheEnd(call);
          return call.heard.some((text) => text.includes("three years"));
        });
        // Drains any other work.
        await until("nothing is left to send", async () => {
          const left = store.read.selectFrom("outbox").select("id").where("kind", "in", ["think", "send"]);
          return (await left.execute()).length === 0;
        });
        expect(
          call.heard.filter((text) => text.includes("three years")),
          point,
        ).toHaveLength(1);
        expect(call.errors, point).toEqual([]);
        const messages = await store.read
          .selectFrom("messages")
          .innerJoin("conversations", "conversations.id", "messages.conversation_id")
          .select("role")
          .where("conversations.context_key", "=", call.sid)
          .orderBy("seq")
          .execute();
        expect(
          messages.map(({ role }) => role),
          point,
        ).toEqual(["user", "assistant"]);
        running.signal("SIGKILL");
        await running.exited;
      }
      const states = await store.read.selectFrom("deliveries").select("state").execute();
      expect(new Set(states.map(({ state }) => state))).toEqual(new Set(["sent"]));
    } finally {
      running.signal("SIGKILL");
      await running.exited;
      await store.close();
      await installation.remove();
      await twilio.close();
    }
  },
  240_000,
);
