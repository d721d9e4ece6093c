import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openStore } from "#database/open.ts";
import { install, questions } from "#test/support/program/installation.ts";
import type { Launched } from "#test/support/program/launch.ts";
import { launch } from "#test/support/program/launch.ts";
import { freePort } from "#test/support/servers/free-port.ts";
import type { Notification } from "./support/fake-intercom.ts";
import { startFakeIntercom } from "./support/fake-intercom.ts";
import { isFullTier } from "#test/support/tier.ts";

async function until(what: string, reached: () => boolean | Promise<boolean>, patienceMs = 90_000): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await reached())) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await sleep(50);
  }
}

describe.runIf(isFullTier)("a program killed while customers write in Intercom", () => {
  it("stores and answers each message once, without a second delivery", async () => {
    const intercom = await startFakeIntercom();
    const installation = await install();
    const file = join(installation.dataDir, "parley.yaml");
    const channel = {
      name: "intercom",
      channel: "intercom",
      access_token: intercom.token,
      client_secret: intercom.clientSecret,
      app_id: intercom.appId,
      admin_id: intercom.bot.id,
      base_url: intercom.url,
    };
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ workspaces: [{ name: "Support", channels: [channel] }] }));
    const port = await freePort();
    const start = (env: Record<string, string> = {}): Launched =>
      launch({ installation, port, env: { PARLEY_CONFIG: file, ...env } });
    const threads: string[] = [];
    const write = (): Notification => {
      const text = questions[threads.length % questions.length] ?? "";
      const { conversation, notification } = intercom.write({ contact: `customer${threads.length}`, text });
      threads.push(conversation);
      return notification;
    };
    // The program may be down.
    const deliver = (notification: Notification) => intercom.deliver(notification).catch(() => undefined);
    const polls = (): number => intercom.calls.filter(({ path }) => path === "/conversations/search").length;
    let running = start();
    try {
      await until("it asks Intercom", () => polls() > 0);
      const store = await openStore(installation.databaseUrl);
      const account = await store.read
        .selectFrom("accounts")
        .select("id")
        .where("channel", "=", "intercom")
        .executeTakeFirstOrThrow();
      await store.close();
      const webhookUrl = `http://127.0.0.1:${port}/channels/intercom/${account.id}`;
      intercom.connect({ webhookUrl, now: () => Date.now() });
      running.signal("SIGKILL");
      await running.exited;
      // Message stored but not acknowledged; reply sent but not recorded.
      for (const point of ["accept.committed:2", "send.after:2"]) {
        const before = polls();
        running = start({ PARLEY_TEST_KILL_AT: point });
        await until("it asks Intercom again", () => polls() > before);
        for (let i = 0; i < 4; i += 1) await deliver(write());
        const exit = await running.exited;
        expect(exit.signal).toBe("SIGKILL");
        await deliver(write());
      }
      running = start();
      const answers = (thread: string): number =>
        (intercom.conversations.get(thread)?.parts ?? []).filter(({ author }) => author.id === intercom.bot.id).length;
      await until("everybody is answered", () => threads.every((thread) => answers(thread) > 0));
      const kept = await openStore(installation.databaseUrl);
      try {
        await until("nothing is left to send", async () => {
          const kinds = ["think", "send"];
          const left = await kept.read.selectFrom("outbox").select("id").where("kind", "in", kinds).execute();
          return left.length === 0;
        });
        const stored = await kept.read.selectFrom("messages").select("role").execute();
        expect(stored.filter(({ role }) => role === "user")).toHaveLength(threads.length);
        expect(stored.filter(({ role }) => role === "assistant")).toHaveLength(threads.length);
      } finally {
        await kept.close();
      }
      expect(threads.map(answers)).toEqual(threads.map(() => 1));
    } finally {
      running.signal("SIGKILL");
      await running.exited;
      await installation.remove();
      await intercom.close();
    }
  }, 300_000);
});
