import { afterAll, beforeAll, expect, it } from "vitest";
import { randomCases } from "#test/support/tier.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";
import { sendFuzzedDeliveries } from "#test/support/channels/webhook-signers.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";
import type { FakeTelegram } from "./support/fake-telegram.ts";
import { startFakeTelegram } from "./support/fake-telegram.ts";
import {
  businessDeletionUpdate,
  businessEditUpdate,
  businessUpdate,
  connectionUpdate,
  editUpdate,
  messageUpdate,
  updateId,
} from "./support/updates.ts";

/** Several tests, so that a failure is narrowed down and none takes long. */
const slices = { SQLite: 18, MySQL: 2 };
/** Ten thousand in total, repeated deliveries included. */
const perSlice = 420;
const seed = 20_310_514;

eachDatabase("ten thousand deliveries that are not what Telegram would send", (open) => {
  let telegram: FakeTelegram;
  let bench: EngineBench;
  let url: string;

  beforeAll(async () => {
    telegram = await startFakeTelegram();
    const config = { token: telegram.token, base_url: telegram.url, transport: "webhook" };
    bench = await openBench(open, { account: { channel: "telegram", load: loadAdapter, config } });
    url = `${await bench.app.listen()}/channels/telegram/${bench.accountId}`;
    await bench.advance(10_000);
    await bench.until("the webhook is set", () => telegram.webhook !== undefined);
  });
  afterAll(async () => {
    await telegram.close();
    await bench.close();
  });

  const headers = (secret: string | undefined): Readonly<Record<string, string>> => ({
    "content-type": "application/json",
    ...(secret === undefined ? {} : { "x-telegram-bot-api-secret-token": secret }),
  });

  function samples(): readonly object[] {
    const group = { id: -100_5, type: "supergroup", title: "Fans" };
    const file = { file_id: "f1", file_unique_id: "u1", file_size: 5 };
    const chatMember = {
      update_id: updateId(),
      my_chat_member: {
        chat: { id: 77, type: "private" },
        from: { id: 77, is_bot: false, first_name: "Ada" },
        date: 1_934_000_000,
        old_chat_member: { status: "member" },
        new_chat_member: { status: "kicked" },
      },
    };
    const connection = telegram.business.connect(900);
    return [
      messageUpdate({ chatId: 77, messageId: 5, text: "Hello @you https://a.example" }),
      messageUpdate({ chatId: 77, messageId: 6, more: { caption: "See", photo: [file, file], media_group_id: "g" } }),
      messageUpdate({ chatId: 77, messageId: 7, more: { document: { ...file, file_name: "a.pdf" } } }),
      messageUpdate({ chatId: 1, messageId: 8, text: "@bot x", chat: group, more: { is_topic_message: true } }),
      messageUpdate({ chatId: 1, messageId: 9, chat: group, more: { migrate_to_chat_id: -100_6 } }),
      editUpdate({ chatId: 77, messageId: 5, text: "Hallo" }),
      connectionUpdate(connection),
      businessUpdate(connection.id, { chatId: 77, messageId: 15, text: "Hello" }),
      businessUpdate(connection.id, { chatId: 77, messageId: 16, text: "By hand", from: { id: connection.user.id } }),
      businessEditUpdate(connection.id, { chatId: 77, messageId: 15, text: "Hallo" }),
      businessDeletionUpdate(connection.id, 77, [15, 17]),
      chatMember,
      { update_id: updateId(), callback_query: { id: "1", from: { id: 1 }, data: "x" } },
    ];
  }

  const slicesHere = randomCases(open === newSqlite ? slices.SQLite : slices.MySQL);
  for (let slice = 0; slice < slicesHere; slice += 1) {
    it(`are answered at once, and never with an internal error (${slice + 1} of ${slicesHere})`, async () => {
      const seen = await sendFuzzedDeliveries({
        samples: samples(),
        as: "json",
        count: perSlice,
        seed: seed + slice,
        refusesLate: false,
        request: (_body, signer) => {
          const { secret } = telegram.webhook ?? {};
          const given = { platform: secret, forger: `${secret?.slice(0, -1)}_`, nobody: undefined }[signer];
          return { url, init: { headers: headers(given) } };
        },
      });
      // A broad mix of outcomes shows that the inputs reached the parser.
      for (const answer of ["platform 200", "platform 400", "forger 401", "nobody 401"]) {
        expect(seen.get(answer), answer).toBeGreaterThan(0);
      }
    }, 120_000);
  }

  it("do not affect the next customer", async () => {
    const update = JSON.stringify(messageUpdate({ chatId: 4_711, messageId: 1, text: "Are you well?" }));
    for (let i = 0; i < 2; i += 1) {
      const response = await fetch(url, { method: "POST", headers: headers(telegram.webhook?.secret), body: update });
      expect(response.status).toBe(200);
    }
    const sent = () => telegram.shown.filter(({ chatId }) => chatId === 4_711);
    await bench.until("it is answered", () => sent().length > 0, 60_000);
    const stored = await bench.store.read
      .selectFrom("messages")
      .select("id")
      .where("content", "=", "Are you well?")
      .where("role", "=", "user")
      .execute();
    expect(stored).toHaveLength(1);
    expect(bench.logged.filter((line) => line.includes(": storing"))).toEqual([]);
  }, 120_000);
});
