import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openStore } from "#database/open.ts";
import { install, questions } from "#test/support/program/installation.ts";
import type { Launched } from "#test/support/program/launch.ts";
import { launch } from "#test/support/program/launch.ts";
import { freePort } from "#test/support/servers/free-port.ts";
import { letter, startMailWorld } from "./support/mail-world.ts";

async function until(what: string, reached: () => boolean | Promise<boolean>, patienceMs = 60_000): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await reached())) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await sleep(50);
  }
}

describe("a program killed while mails arrive and are sent", () => {
  it("stores every mail once, and answers each under one Message-ID", async () => {
    const world = await startMailWorld();
    const installation = await install();
    const file = join(installation.dataDir, "parley.yaml");
    // JSON is YAML.
    const channel = { name: "mail", channel: "email", ...world.config };
    writeFileSync(file, JSON.stringify({ workspaces: [{ name: "Support", channels: [channel] }] }));
    const port = await freePort();
    const start = (env: Record<string, string> = {}): Launched =>
      launch({ installation, port, env: { PARLEY_CONFIG: file, ...env } });
    let customers = 0;
    const write = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i += 1) {
        customers += 1;
        const from = `customer${customers}@customers.example`;
        const text = questions[customers % questions.length] ?? "";
        await world.deliver(
          letter({ from, to: world.address, id: `<kill-${customers}@x.example>`, text, dmarc: "pass" }),
        );
      }
    };
    let running = start();
    try {
      await until("it waits for mails", world.listening);
      running.signal("SIGKILL");
      await running.exited;
      // Mail stored but the position not; reply sent but not recorded.
      for (const point of ["accept.committed:2", "send.after:2"]) {
        running = start({ PARLEY_TEST_KILL_AT: point });
        await write(4);
        const exit = await running.exited;
        expect(exit.signal).toBe("SIGKILL");
      }
      running = start();
      await write(2);
      const sentTo = (i: number) => world.sent.filter(({ to }) => to.includes(`customer${i}@customers.example`));
      const all = Array.from({ length: customers }, (_, i) => i + 1);
      await until("everybody is answered", () => all.every((i) => sentTo(i).length > 0));
      const store = await openStore(installation.databaseUrl);
      try {
        await until("nothing is left to send", async () => {
          const left = await store.read
            .selectFrom("outbox")
            .select("id")
            .where("kind", "in", ["think", "send"])
            .execute();
          return left.length === 0;
        });
        const stored = await store.read.selectFrom("messages").select(["role", "content"]).execute();
        expect(stored.filter(({ role }) => role === "user")).toHaveLength(customers);
        expect(stored.filter(({ role }) => role === "assistant")).toHaveLength(customers);
      } finally {
        await store.close();
      }
      for (const i of all) expect(new Set(sentTo(i).map(({ parsed }) => parsed.messageId)).size).toBe(1);
    } finally {
      running.signal("SIGKILL");
      await running.exited;
      await installation.remove();
      await world.close();
    }
  }, 240_000);
});
