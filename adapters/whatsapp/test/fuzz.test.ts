import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { randomCases } from "#test/support/tier.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";
import { sendFuzzedDeliveries } from "#test/support/channels/webhook-signers.ts";
import type { WhatsappBench } from "./support/account.ts";
import { openWhatsapp } from "./support/account.ts";

/** Several tests, so that a failure is narrowed down and none takes long. */
const slices = { SQLite: 12, MySQL: 2 };
const perSlice = 420;
const seed = 20_310_521;

eachDatabase("thousands of deliveries that are not what Meta would send", (open) => {
  let at: WhatsappBench;
  beforeAll(async () => {
    at = await openWhatsapp({ open });
  });
  afterAll(() => at.close());

  function samples(): readonly object[] {
    let count = 0;
    const contacts = [{ profile: { name: "Ada", username: "ada" }, wa_id: "15551000077", user_id: "US.77" }];
    const of = (type: string, content: object, more: object = {}): object => {
      const id = `wamid.fuzz.${(count += 1)}`;
      const message = { from: "15551000077", from_user_id: "US.77", id, timestamp: "1934000000", type };
      return at.meta.delivery({ contacts, messages: [{ ...message, [type]: content, ...more }] });
    };
    const media = { id: "1", mime_type: "image/png", sha256: "x", caption: "See", filename: "a.png" };
    const status = { id: "wamid.x", timestamp: "1934000000", recipient_id: "1", biz_opaque_callback_data: "dlv_1" };
    return [
      of("text", { body: "Hello https://a.example" }, { context: { id: "wamid.x", forwarded: true } }),
      of("image", media, { referral: { source_url: "https://a.example", headline: "Ad" } }),
      of("location", { latitude: 1, longitude: 2, name: "Here" }),
      of("contacts", [
        { name: { formatted_name: "Bob" }, phones: [{ phone: "1" }], emails: [{ email: "a@b.example" }] },
      ]),
      of("interactive", { type: "button_reply", button_reply: { id: "parley:up:msg_1", title: "👍" } }),
      of("interactive", { type: "list_reply", list_reply: { id: "x", title: "Two" } }),
      of("order", { text: "x", product_items: [{ product_retailer_id: "1", quantity: 1, item_price: 1 }] }),
      of("reaction", { message_id: "wamid.x", emoji: "👍" }),
      of("system", { type: "user_changed_number", wa_id: "15551000078" }),
      of("edit", { original_message_id: "wamid.x", message: { type: "text", text: { body: "y" } } }),
      of("revoke", { original_message_id: "wamid.x" }),
      of("unsupported", {}, { errors: [{ code: 131_051, title: "Unsupported" }] }),
      at.meta.delivery({
        statuses: [{ ...status, status: "failed", errors: [{ code: 1, error_data: { details: "x" } }] }],
      }),
      at.meta.delivery({ errors: [{ code: 131_031, title: "Locked" }] }),
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
        request(body, signer) {
          const secret = signer === "platform" ? at.meta.appSecret : "a secret of somebody else";
          const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
          return {
            url: at.webhookUrl,
            init: { headers: signer === "nobody" ? {} : { "x-hub-signature-256": signature } },
          };
        },
      });
      // A broad mix of outcomes shows that the inputs reached the parser.
      for (const answer of ["platform 200", "platform 400", "forger 401", "nobody 401"]) {
        expect(seen.get(answer), answer).toBeGreaterThan(0);
      }
    }, 120_000);
  }

  it("do not affect the next customer", async () => {
    for (let i = 0; i < 2; i += 1)
      expect(await at.meta.write("15551004711", "Are you well?", { id: "wamid.next" })).toBe(200);
    await at.bench.until("it is answered", () => at.shown("15551004711").length > 0, 60_000);
    expect((await at.stored()).filter(({ content }) => content === "Are you well?")).toHaveLength(1);
    expect(at.bench.logged.filter((line) => line.includes(": storing"))).toEqual([]);
  }, 120_000);
});
