import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { randomCases } from "#test/support/tier.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";
import { brokenDelivery } from "#test/support/fuzz.ts";
import type { IntercomBench } from "./support/account.ts";
import { openIntercom } from "./support/account.ts";

/** Slices narrow down a failure and keep each test short. */
const slices = { SQLite: 18, MySQL: 2 };
const perSlice = 500;
const seed = 20_310_516;

eachDatabase("Intercom's webhook", (open) => {
  let account: IntercomBench;
  beforeAll(async () => {
    account = await openIntercom(open);
  });
  afterAll(() => account.close());

  it("answers Intercom's check of the address, and accepts only signed deliveries", async () => {
    const { intercom } = account;
    const { notification, conversation } = intercom.write({ contact: "ada", text: "Hello" });
    const body = Buffer.from(JSON.stringify(notification));
    expect(await intercom.deliver(body, { method: "HEAD" })).toBe(200);
    expect(await intercom.deliver(body, { method: "GET" })).toBe(405);
    for (const signature of ["", "sha1=", "sha1=zz", `sha1=${"0".repeat(40)}`, "x".repeat(10_000)]) {
      expect(await intercom.deliver(body, { signature })).toBe(401);
    }
    expect(await intercom.deliver(body, { secret: "another secret" })).toBe(401);
    // The signature covers the bytes: reformatted JSON is not signed.
    const signed = Buffer.from(JSON.stringify(notification, null, 1));
    const { signatureOf } = await import("../webhook.ts");
    expect(await intercom.deliver(body, { signature: signatureOf(intercom.clientSecret, signed) })).toBe(401);
    await expect(account.row(conversation)).rejects.toThrow("no result");
    expect(await intercom.deliver(signed)).toBe(200);
    expect(await account.row(conversation)).toMatchObject({ status: "open" });
    expect(await intercom.deliver(intercom.notification("ping", { type: "ping", message: "hello" }))).toBe(200);
  });

  /** Notifications of every known kind, and some unknown ones. */
  function samples(): readonly object[] {
    const { intercom } = account;
    const file = { name: "a.png", mediaType: "image/png", bytes: Buffer.from("png") };
    const { conversation: id, notification } = intercom.write({ contact: "fuzz", text: "Hello <b>", files: [file] });
    const replied = intercom.write({ contact: "fuzz", text: "More", conversation: id, externalId: "7" }).notification;
    const until = Math.floor(account.bench.clock.now() / 1_000) + 3_600;
    return [
      notification,
      replied,
      intercom.teammate(intercom.carla, id, { type: "comment", body: "Hello" }),
      intercom.teammate(intercom.carla, id, { type: "note", body: "Hm" }),
      intercom.teammate(intercom.carla, id, { type: "assignment", to: intercom.carla }),
      intercom.teammate(intercom.carla, id, { type: "snoozed", until }),
      intercom.teammate(intercom.carla, id, { type: "close" }),
      intercom.teammate(intercom.carla, id, { type: "open" }),
      intercom.notification("conversation.deleted", { type: "conversation", id: "1", conversation_id: "1" }),
      intercom.notification("conversation.rating.added", { type: "conversation", id }),
    ];
  }

  const slicesHere = randomCases(open === newSqlite ? slices.SQLite : slices.MySQL);
  for (let slice = 0; slice < slicesHere; slice += 1) {
    it(`answers what nobody would send at once, and by no failure of its own (${slice + 1} of ${slicesHere})`, async () => {
      const { intercom } = account;
      const made = samples();
      const bodies = fc.sample(fc.tuple(brokenDelivery(made), fc.nat(99)), { numRuns: perSlice, seed: seed + slice });
      const statuses = new Set<number>();
      let next = 0;
      const post = async (): Promise<void> => {
        for (let at = next++; at < bodies.length; at = next++) {
          const [broken = Buffer.alloc(0), dice = 0] = bodies[at] ?? [];
          // Some are replays, some forged.
          const body = dice < 10 ? Buffer.from(JSON.stringify(made[dice])) : broken;
          const status = await intercom.deliver(body, dice >= 80 ? { secret: "somebody else's secret" } : {});
          statuses.add(status);
          expect([200, 400, 401], `${dice}: ${body.toString().slice(0, 2_000)}`).toContain(status);
          if (dice >= 80) expect(status).toBe(401);
        }
      };
      await Promise.all(Array.from({ length: 8 }, post));
      // Guards against mutations that are all refused for one reason.
      expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 400, 401]);
    }, 120_000);
  }

  it("takes the next message once", async () => {
    const { intercom, bench } = account;
    const { notification, conversation } = intercom.write({ contact: "next", text: "Are you well?" });
    expect(await intercom.deliver(notification)).toBe(200);
    expect(await intercom.deliver(notification)).toBe(200);
    await bench.until("it is answered", () => account.done(conversation).length > 0, 60_000);
    expect(await account.talk(conversation)).toEqual(["user: Are you well?", "assistant: You asked: Are you well?"]);
    expect(bench.logged.filter((line) => line.includes(": storing"))).toEqual([]);
  }, 120_000);
});
