import { afterEach, describe, expect, it } from "vitest";
import { reactAsAgent, storedReactions } from "#test/support/channels/reactions.ts";
import type { WhatsappBench } from "./support/account.ts";
import { openWhatsapp } from "./support/account.ts";

const customer = "15551000001";
const scopedId = "US.13491208655302741918";
let at: WhatsappBench;
afterEach(() => at.close());

async function begun(): Promise<void> {
  at = await openWhatsapp();
  await at.meta.write(customer, "Hello");
  await at.bench.settle();
}
const newest = () => at.meta.taken.at(-1);
const lastStored = async () => (await at.stored()).at(-1);

/** `both`: with the number and the ID, as Meta sends it. */
async function writeAs(
  way: "both" | "hidden" | "number",
  text: string,
  id = scopedId,
  number = customer,
): Promise<void> {
  const contact = {
    profile: { name: "Ada" },
    ...(way === "hidden" ? {} : { wa_id: number }),
    ...(way === "number" ? {} : { user_id: id }),
  };
  const message = {
    ...(way === "hidden" ? {} : { from: number }),
    ...(way === "number" ? {} : { from_user_id: id }),
    id: at.meta.newId(),
    timestamp: "1",
    type: "text",
    text: { body: text },
  };
  expect(await at.meta.post(at.meta.delivery({ contacts: [contact], messages: [message] }))).toBe(200);
  await at.bench.settle();
}

const conversations = () =>
  at.bench.store.read.selectFrom("conversations").select(["context_key", "last_seq"]).execute();

async function say(type: string, content: object, more: object = {}): Promise<void> {
  expect(await at.meta.write(customer, "", { text: undefined, type, [type]: content, ...more })).toBe(200);
  await at.bench.settle();
}

describe("a WhatsApp number at Meta", () => {
  it("answers in WhatsApp's formatting, and knows the customer by name and proven number", async () => {
    await begun();
    expect(at.shown(customer)).toEqual(["You asked: Hello"]);
    await at.reply("**bold** *it* ~~gone~~ [docs](https://a.example/x)");
    expect(newest()?.body).toBe("*Anna:*\n*bold* _it_ ~gone~ docs (https://a.example/x)");
    expect(newest()?.request).toMatchObject({ to: customer, text: { preview_url: false } });
    expect(await at.conversation()).toMatchObject({ customer_name: "Ada", customer_phone: `+${customer}` });
  });

  it("serves customers who do not show their number", async () => {
    at = await openWhatsapp();
    const contacts = [{ profile: { name: "Ada", username: "ada.l" }, user_id: scopedId }];
    const message = { from_user_id: scopedId, id: "wamid.1", timestamp: "1", type: "text", text: { body: "Who?" } };
    expect(await at.meta.post(at.meta.delivery({ contacts, messages: [message] }))).toBe(200);
    await at.bench.settle();
    expect(at.shown(scopedId)).toEqual(["You asked: Who?"]);
    expect(newest()?.request).toMatchObject({ recipient: scopedId });
    expect(newest()?.request).not.toHaveProperty("to");
    expect(await at.conversation()).toMatchObject({
      context_key: scopedId,
      customer_name: "Ada",
      customer_phone: null,
    });
    expect(await lastStored()).toMatchObject({ metadata: { username: "ada.l" } });
  });

  describe.each([
    ["the number", "the ID", ["both", "hidden", "number", "hidden"]],
    ["the ID", "the number", ["hidden", "both", "number", "hidden"]],
  ] as const)("keeps one conversation with a customer who shows %s first", (_first, _then, ways) => {
    it(`and then ${_then}`, async () => {
      at = await openWhatsapp();
      for (const [index, way] of ways.entries()) await writeAs(way, `message ${index}`);
      expect((await conversations()).map(({ context_key }) => context_key)).toEqual([`+${customer}`]);
      expect(await at.conversation()).toMatchObject({ customer_phone: `+${customer}`, last_seq: 8 });
      await at.reply("By hand");
      expect(newest()?.request).toMatchObject({ to: customer });
      const contacts = await at.bench.store.read.selectFrom("contacts").select("merged_into").execute();
      expect(contacts).toHaveLength(1);
    });
  });

  it("goes on in one conversation where the number and the ID had one each", async () => {
    at = await openWhatsapp();
    for (const way of ["number", "hidden", "both", "hidden", "number"] as const) await writeAs(way, way);
    const found = await conversations();
    expect(found.map(({ context_key }) => context_key).toSorted()).toEqual([`+${customer}`, scopedId]);
    expect(found.find(({ context_key }) => context_key === scopedId)?.last_seq).toBe(2);
  });

  it("follows a customer to a new ID, by a notice that names the previous one", async () => {
    at = await openWhatsapp();
    await writeAs("both", "Hello");
    const next = "US.999";
    const notice = { user_id: next, previous_user_id: scopedId, type: "user_changed_user_id", body: "Ada changed" };
    const message = { id: "wamid.notice", timestamp: "2", type: "system", system: notice };
    expect(await at.meta.post(at.meta.delivery({ messages: [message] }))).toBe(200);
    await writeAs("hidden", "By the new ID", next);
    await at.reply("By hand");
    expect(newest()?.request).toMatchObject({ recipient: next });
    await writeAs("hidden", "By the old ID, late");
    await writeAs("both", "By the old number, late");
    expect((await conversations()).map(({ context_key }) => context_key)).toEqual([next]);
    await writeAs("both", "By the new number", next, "15551000002");
    await writeAs("hidden", "By the new ID", next);
    expect((await conversations()).map(({ context_key }) => context_key)).toEqual(["+15551000002"]);
  });

  it("follows a customer to a new number, of which the new ID is known then", async () => {
    at = await openWhatsapp();
    await writeAs("both", "Hello");
    const notice = { type: "user_changed_number", wa_id: "15551000002", user_id: "US.999", previous_user_id: scopedId };
    await say("system", notice);
    await writeAs("hidden", "It is me", "US.999");
    await writeAs("hidden", "By the old ID, late");
    await writeAs("both", "By the old number, late");
    expect((await conversations()).map(({ context_key }) => context_key)).toEqual(["+15551000002"]);
    await at.reply("By hand");
    expect(newest()?.request).toMatchObject({ to: "15551000002" });
  });

  it("keeps the order of messages in one delivery, and skips those for another number", async () => {
    at = await openWhatsapp();
    const messageOf = (id: number) => ({
      from: customer,
      id: `wamid.${id}`,
      timestamp: "1",
      type: "text",
      text: { body: `number ${id}` },
    });
    const messages = [3, 1, 2].map(messageOf);
    const { entry } = at.meta.delivery({ messages }) as { readonly entry: readonly object[] };
    const { entry: others } = at.meta.delivery({ messages: [messageOf(9)] }, "1000000000") as { entry: object[] };
    expect(await at.meta.post({ object: "whatsapp_business_account", entry: [...others, ...entry] })).toBe(200);
    expect((await at.stored()).map(({ content }) => content)).toEqual(["number 3", "number 1", "number 2"]);
  });

  it("takes the message that the customer answers for the one that is meant", async () => {
    await begun();
    const { id } = newest() ?? {};
    await at.meta.write(customer, "Something else");
    await at.bench.settle();
    await at.meta.write(customer, "This one", { context: { from: "15550783881", id } });
    await at.bench.settle();
    expect(at.bench.asked.at(-1)?.history.at(-1)).toMatchObject({ role: "assistant", content: "You asked: Hello" });
  });

  it("marks a forwarded message, and stores which ad the customer came by", async () => {
    at = await openWhatsapp();
    await at.meta.write(customer, "Is it in stock?", {
      context: { forwarded: true },
      referral: { source_url: "https://fb.me/1", source_type: "ad", source_id: "77", headline: "Lamps for less" },
    });
    const marks = await at.bench.store.read.selectFrom("messages").select("forwarded").execute();
    expect(marks).toContainEqual({ forwarded: "{}" });
    expect(await lastStored()).toMatchObject({
      metadata: {
        forwarded: "true",
        referral: "https://fb.me/1",
        referral_headline: "Lamps for less",
        referral_source: "ad",
        referral_id: "77",
      },
    });
  });

  it("shows places, contacts, orders and forms as lines", async () => {
    at = await openWhatsapp();
    await say("location", { latitude: 52.5, longitude: 13.4, name: "Office" });
    await say("contacts", [{ name: { formatted_name: "Bob" }, phones: [{ phone: "+1 555" }] }]);
    const item = { product_retailer_id: "lamp-1", quantity: 2, item_price: 9.5, currency: "EUR" };
    await say("order", { catalog_id: "1", text: "Soon, please", product_items: [item] });
    await say("interactive", { type: "nfm_reply", nfm_reply: { body: "Sent", response_json: '{"size":"L"}' } });
    await say("button", { text: "Yes", payload: "confirm" });
    const stored = await at.stored();
    expect(stored.map(({ content }) => content)).toEqual([
      "[location: 52.5, 13.4, Office]",
      "[contact: Bob, +1 555]",
      "Soon, please\n\n[order: 2 × lamp-1 (9.5 EUR)]",
      "Sent",
      "Yes",
    ]);
    expect(stored[3]?.metadata).toMatchObject({ form: '{"size":"L"}' });
    expect(stored[4]?.metadata).toMatchObject({ button: "confirm" });
  });

  it("leaves to agents what WhatsApp does not pass on, and what has an unknown form", async () => {
    at = await openWhatsapp();
    const errors = [{ code: 131_051, title: "Unsupported", error_data: { details: "Polls are not supported" } }];
    await say("unsupported", {}, { errors });
    await say("hologram", { data: 1 });
    await say("location", { latitude: "north" });
    expect((await at.stored()).map(({ content }) => content)).toEqual([
      "[message that can be seen on the telephone only]",
      "[hologram that can be seen on the telephone only]",
      "[location that can be seen on the telephone only]",
    ]);
    expect(at.shown(customer).join()).not.toContain("You asked");
    expect(await at.notes()).toContain("(Polls are not supported). Ask what it is.");
  });

  it("takes a message with a reason of an unknown form, which Meta would deliver again without end", async () => {
    at = await openWhatsapp();
    for (const errors of [[null], {}, "none", [{ code: 131_051, title: 7 }], []])
      await say("unsupported", {}, { errors });
    expect((await at.stored()).map(({ content }) => content)).toEqual(
      Array.from({ length: 5 }, () => "[message that can be seen on the telephone only]"),
    );
  });

  it("applies a customer's edit and deletion", async () => {
    await begun();
    await at.meta.write(customer, "How is it?", { id: "wamid.first" });
    await say("edit", { original_message_id: "wamid.first", message: { type: "text", text: { body: "How was it?" } } });
    expect((await lastStored())?.content).toBe("How was it?");
    await say("revoke", { original_message_id: "wamid.first" });
    expect((await lastStored())?.content).toBe("");
  });

  it("writes to the new number of a customer who has changed it", async () => {
    await begun();
    await say("system", { type: "user_changed_user_id", user_id: scopedId });
    await say("system", { type: "user_changed_number", wa_id: "15551000002", body: "Ada changed" });
    await at.reply("Are you there?");
    expect(newest()).toMatchObject({ to: "15551000002" });
    expect((await at.stored()).map(({ content }) => content)).toEqual(["Hello"]);
  });

  it("fetches pictures, voice messages and documents, and shows the caption as the text", async () => {
    at = await openWhatsapp();
    const id = at.meta.keep(Buffer.from("%PDF-1.7 bill"), "application/pdf");
    await say("image", { id, mime_type: "image/jpeg", sha256: "aa", caption: "Broken" });
    await say("audio", { id, mime_type: "audio/ogg; codecs=opus", voice: true });
    await say("document", { id, mime_type: "application/pdf", filename: "bill.pdf" });
    await say("sticker", { id, mime_type: "image/webp" });
    expect((await at.stored())[0]?.content).toBe("Broken");
    const rows = await at.bench.store.read.selectFrom("attachments").select(["name", "state"]).orderBy("id").execute();
    expect(rows.map(({ name }) => name)).toEqual(["photo.jpg", "voice message.ogg", "bill.pdf", "sticker.webp"]);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(["stored"]));
  });

  it("gives the token to no other server, and a file of another server to nobody", async () => {
    at = await openWhatsapp();
    for (const address of [
      "https://lookaside.fbsbx.com.evil.example/x",
      "http://lookaside.fbsbx.com/x",
      "https://lookaside.fbsbx.com:8443/x",
      "https://user@lookaside.fbsbx.com/x",
      "https://evilfacebook.com/x",
      "http://localhost:1/x",
      "no address",
    ]) {
      const id = at.meta.keep(Buffer.from("x"), "image/png");
      at.meta.leads.set(id, address);
      await say("image", { id, mime_type: "image/png" });
    }
    const rows = await at.bench.store.read.selectFrom("attachments").select("reason").execute();
    expect(rows).toHaveLength(7);
    for (const { reason } of rows) expect(reason).toContain("does not lead to Meta");
  });
});

describe("a reaction to an answer", () => {
  it("is an opinion if it is a thumb, and taken back when it is removed", async () => {
    at = await openWhatsapp();
    const { answerFromDocuments, thumbsOf } = await import("#test/support/channels/opinions.ts");
    answerFromDocuments(at.bench);
    await at.meta.write(customer, "When do you open?");
    await at.bench.settle();
    const message_id = newest()?.id;
    for (const [emoji, value] of [
      ["👍🏽", "up"],
      ["❤️", "up"],
      ["👎", "down"],
      ["", null],
    ] as const) {
      await say("reaction", { message_id, emoji });
      expect(await thumbsOf(at.bench)).toEqual([value]);
    }
    expect(await at.stored()).toHaveLength(1);
  });

  it("is shown at the message where it is no opinion, and replaces the one before", async () => {
    at = await openWhatsapp();
    const id = at.meta.newId();
    await at.meta.write(customer, "When do you open?", { id });
    await at.bench.settle();
    for (const emoji of ["❤️", "👍", ""]) {
      await say("reaction", { message_id: id, emoji });
      expect(await storedReactions(at.bench)).toEqual(emoji === "" ? [] : [`user ${emoji} Ada`]);
    }
  });

  it("of an agent goes to the customer, is replaced and taken back", async () => {
    at = await openWhatsapp();
    const id = at.meta.newId();
    await at.meta.write(customer, "When do you open?", { id });
    await at.bench.settle();
    for (const emoji of ["❤️", "👍", null]) {
      await reactAsAgent(at.bench, emoji);
      expect(newest()).toMatchObject({ to: customer, request: { reaction: { message_id: id, emoji: emoji ?? "" } } });
    }
  });
});
