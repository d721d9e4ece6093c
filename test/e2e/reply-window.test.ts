import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import type { MailBench } from "#adapters/email/test/support/mail-bench.ts";
import { openMailBench } from "#adapters/email/test/support/mail-bench.ts";
import type { FakeTwilio } from "#adapters/twilio/shared/test/fake-twilio.ts";
import { startFakeTwilio } from "#adapters/twilio/shared/test/fake-twilio.ts";
import { hourMs } from "../support/engine-bench.ts";

const own = "+15550001111";
let mail: MailBench;
let twilio: FakeTwilio;
let whatsappId: string;
let widgetId: string;

beforeAll(async () => {
  mail = await openMailBench();
  twilio = await startFakeTwilio();
  const { bench } = mail;
  const { store, secrets } = bench.app.services;
  whatsappId = newId("acc", bench.clock.now());
  await store.write((tx) =>
    tx
      .insertInto("accounts")
      .values({
        id: whatsappId,
        workspace_id: bench.workspaceId,
        channel: "whatsapp",
        name: "whatsapp",
        config: JSON.stringify({ account_sid: twilio.accountSid, base_url: twilio.url, from: own }),
        credentials: secrets.seal(JSON.stringify({ auth_token: twilio.authToken })),
        managed_by: "dashboard",
        enabled: 1,
        created_at: bench.clock.now(),
      })
      .execute(),
  );
  const webhookUrl = `${mail.url}/channels/whatsapp/${whatsappId}`;
  twilio.connect({ publicUrl: "http://parley.test", webhookUrl, now: () => bench.clock.now() });
  const { id } = await store.read
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", bench.workspaceId)
    .where("channel", "=", "widget")
    .executeTakeFirstOrThrow();
  widgetId = id;
});
afterAll(async () => {
  await twilio.close();
  await mail.close();
});

/** A customer writes on WhatsApp; returns the conversation's id. */
async function write(number: string, body: string): Promise<string> {
  const from = `whatsapp:${number}`;
  const response = await twilio.post(twilio.messageForm({ from, to: `whatsapp:${own}`, body }));
  expect(response.status).toBe(200);
  return mail.conversationWith(body);
}

/** The customer signs in on the website, which proves the address. */
async function prove(thread: string, email: string, phone: string): Promise<void> {
  await mail.bench.engine.ingest(widgetId, {
    kind: "message",
    externalId: `proof of ${thread}`,
    thread: `web:${thread}`,
    sender: { key: thread, proven: { email, phone } },
    sentAt: mail.bench.clock.now(),
    text: "It is me",
  });
  await mail.bench.settle();
}

async function closed(): Promise<void> {
  await mail.bench.pass(25 * hourMs);
  await mail.connected();
}

const tagsOf = async (id: string) =>
  (
    await mail.bench.store.read
      .selectFrom("conversation_tags")
      .select("tag")
      .where("conversation_id", "=", id)
      .execute()
  ).map(({ tag }) => tag);

describe("a customer with an e-mail address whose WhatsApp window is closed", () => {
  it("gets the agent's reply by e-mail if the address is proven, and answers in the same conversation", async () => {
    const { bench } = mail;
    const [number, email] = ["+15551000001", "ada@customers.example"];
    const id = await write(number, "Where is my parcel?");
    await prove("ada", email, number);
    await closed();
    expect((await bench.engine.window(await bench.row(id)))?.closed).toContain(
      "A reply goes to their verified e-mail address, ada@customers.example.",
    );
    const previewed = await bench.engine.previewReply(bench.workspaceId, id, "Dial *21*, it arrives **tomorrow**.");
    expect(previewed).toEqual({ channel: "whatsapp", texts: ["Dial *21*, it arrives tomorrow."] });
    await mail.reply(id, "It arrives **tomorrow**.");
    const [sent] = await mail.mailsTo(email);
    expect(sent?.parsed.text).toContain("It arrives");
    expect((await bench.notes(id)).join()).toContain(
      "This reply goes to the customer's verified e-mail address ada@customers.example instead.",
    );
    expect(await tagsOf(id)).toEqual([]);
    const to = sent?.parsed.replyTo?.value[0]?.address ?? "";
    await mail.write({ from: email, to, id: "<ada-1@x.example>", text: "At what time?" });
    expect(await mail.conversationWith("At what time?")).toBe(id);
    // An e-mail opens no window at WhatsApp: further replies go by e-mail alone, without a note.
    const notes = await bench.notes(id);
    await mail.reply(id, "At noon.");
    expect((await mail.mailsTo(email)).map(({ parsed }) => parsed.inReplyTo).at(-1)).toBe("<ada-1@x.example>");
    expect(await bench.notes(id)).toEqual(notes);
    expect(twilio.taken.filter(({ to: receiver }) => receiver === `whatsapp:${number}`)).toHaveLength(1);
    await write(number, "Back on WhatsApp");
    await mail.reply(id, "Welcome back");
    expect(twilio.taken.at(-1)?.body).toContain("Welcome back");
  });

  it("gets the e-mail once if WhatsApp refuses one part after another, long after accepting them", async () => {
    const { bench } = mail;
    const [number, email] = ["+15551000003", "cleo@customers.example"];
    const id = await write(number, "How do I assemble it?");
    await prove("cleo", email, number);
    await mail.reply(id, `First this.\n\n${"Turn the screw. ".repeat(150)}`);
    const parts = twilio.taken.filter(({ to }) => to === `whatsapp:${number}`).slice(-2);
    expect(parts.map(({ body }) => body.includes("Turn the screw."))).toEqual([true, true]);
    for (const { sid } of parts) {
      await twilio.report(sid, "failed", 63_016);
      await bench.settle();
    }
    expect(await mail.mailsTo(email)).toHaveLength(1);
    expect((await bench.notes(id)).filter((note) => note.includes("instead."))).toHaveLength(1);
  });

  it("gets no e-mail at an unproven address: agents get a task", async () => {
    const { bench } = mail;
    const number = "+15551000002";
    const id = await write(number, "I am ben@customers.example");
    await bench.engine.ingest(whatsappId, {
      kind: "contact",
      externalId: "claim-1",
      thread: number,
      sender: { key: number },
      sentAt: bench.clock.now(),
      contact: { email: "ben@customers.example" },
    });
    await bench.settle();
    expect(await bench.row(id)).toMatchObject({ customer_email: "ben@customers.example", customer_verified: 1 });
    await closed();
    await mail.reply(id, "Your secret is 42.");
    expect(await mail.mailsTo("ben@customers.example")).toEqual([]);
    expect((await bench.notes(id)).join()).toContain("Needs action");
    expect(await tagsOf(id)).toEqual(["needs_action"]);
  });
});
