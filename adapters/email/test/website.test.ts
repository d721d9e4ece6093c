import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InboundEvent } from "#channels/contract.ts";
import { minuteMs } from "#test/support/engine-bench.ts";
import type { MailBench } from "./support/mail-bench.ts";
import { openMailBench } from "./support/mail-bench.ts";

let mail: MailBench;
let widgetId: string;
beforeAll(async () => {
  mail = await openMailBench({ follow_up_minutes: 3 });
  const account = await mail.bench.store.read
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", mail.bench.workspaceId)
    .where("channel", "=", "widget")
    .executeTakeFirstOrThrow();
  widgetId = account.id;
});
afterAll(() => mail.close());

let events = 0;
const fromWidget = (event: InboundEvent) => mail.bench.engine.ingest(widgetId, event);
const base = (visitor: string) => ({
  externalId: `widget-${(events += 1)}`,
  thread: `web:${visitor}`,
  sender: { key: visitor },
  sentAt: 0,
});

/** A visitor asks on the website and leaves an address. Returns the conversation. */
async function visit(visitor: string, email: string | null): Promise<string> {
  const { conversationId } = await fromWidget({ ...base(visitor), kind: "message", text: `A question of ${visitor}` });
  if (email !== null) await fromWidget({ ...base(visitor), kind: "contact", contact: { email } });
  await mail.bench.settle();
  return conversationId ?? "";
}

const deliveries = async (messageId: string) =>
  mail.bench.store.read
    .selectFrom("deliveries")
    .select(["account_id", "state"])
    .where("message_id", "=", messageId)
    .orderBy("part")
    .execute();

describe("a visitor who has left the website", () => {
  it("gets an agent's reply by e-mail, and continues the same conversation by answering it", async () => {
    const address = "ann@visitors.example";
    const id = await visit("ann", address);
    await mail.reply(id, "It arrives tomorrow.");
    await mail.bench.advance(2 * minuteMs);
    expect(await mail.mailsTo(address)).toEqual([]);
    await mail.bench.advance(minuteMs + 1_000);
    const [sent] = await mail.mailsTo(address);
    expect(sent?.parsed.text).toContain("It arrives tomorrow.");
    const to = sent?.parsed.replyTo?.value[0]?.address ?? "";
    await mail.write({ from: address, to, id: "<ann-1@x.example>", text: "At what time?" });
    expect(await mail.conversationWith("At what time?")).toBe(id);
    // The visitor now reads mails, so replies are mailed at once.
    await mail.reply(id, "At noon.");
    const mails = await mail.mailsTo(address);
    expect(mails.map(({ parsed }) => parsed.text?.split("\n")[0])).toEqual(["It arrives tomorrow.", "At noon."]);
    expect(mails[1]?.parsed.inReplyTo).toBe("<ann-1@x.example>");
    expect(await mail.bench.talk(id)).toEqual([
      "user: A question of ann",
      "assistant: You asked: A question of ann",
      "agent: It arrives tomorrow.",
      "user: At what time?",
      "agent: At noon.",
    ]);
    // The visitor is back on the website and reads there.
    await fromWidget({ ...base("ann"), kind: "message", text: "I am back" });
    const messageId = await mail.reply(id, "Welcome back.");
    expect(await deliveries(messageId)).toEqual([
      { account_id: widgetId, state: "sent" },
      { account_id: mail.bench.accountId, state: "queued" },
    ]);
  });

  it("gets no e-mail for replies seen on the website", async () => {
    const address = "ben@visitors.example";
    const id = await visit("ben", address);
    const messageId = await mail.reply(id, "Here it is.");
    await fromWidget({
      kind: "delivery",
      externalId: "seen-ben",
      partExternalId: messageId,
      state: "read",
      sentAt: mail.bench.clock.now(),
    });
    await mail.bench.advance(10 * minuteMs);
    expect(await mail.mailsTo(address)).toEqual([]);
    expect(await deliveries(messageId)).toEqual([{ account_id: widgetId, state: "read" }]);
  });

  it("gets an agent's corrected reply, and none that was deleted in time", async () => {
    const address = "eve@visitors.example";
    const { bench } = mail;
    const anna = { email: "anna@test.example", name: "Anna" };
    const id = await visit("eve", address);
    const amend = async (messageId: string, content: string | null) => {
      const said = await bench.engine.postAgentMessage(
        bench.workspaceId,
        id,
        { kind: "amend", messageId, content },
        anna,
      );
      await bench.settle();
      return said.kind;
    };
    const typo = await mail.reply(id, "It arrives tomorow.");
    expect(await amend(typo, "It arrives tomorrow.")).toBe("done");
    expect(await amend(await mail.reply(id, "Not for you."), null)).toBe("done");
    await bench.advance(4 * minuteMs);
    const mails = await mail.mailsTo(address);
    expect(mails.map(({ parsed }) => parsed.text?.split("\n")[0])).toEqual(["It arrives tomorrow."]);
    // The mail is now in their mailbox.
    expect(await amend(typo, "It arrives today.")).toBe("done");
    expect((await bench.notes(id)).at(-1)).toContain("by another way, where it stays as it was");
    expect((await bench.talk(id)).at(-2)).toBe("agent: It arrives tomorrow.");
  });

  it("gets no e-mail without an address, and none from the bot", async () => {
    const before = mail.world.sent.length;
    const id = await visit("cas", null);
    await mail.reply(id, "Nobody knows where you are.");
    await visit("dan", "dan@visitors.example");
    await mail.bench.advance(10 * minuteMs);
    expect(mail.world.sent).toHaveLength(before);
  });

  it("gets the bot's answers by e-mail after writing one", async () => {
    const address = "eva@visitors.example";
    const id = await visit("eva", address);
    await mail.reply(id, "Ask away.");
    await mail.bench.advance(5 * minuteMs);
    const { workspaceId, engine } = mail.bench;
    await engine.update(workspaceId, id, { status: "open" }, { type: "agent", id: "anna@test.example", name: "Anna" });
    const to = (await mail.mailsTo(address))[0]?.parsed.replyTo?.value[0]?.address ?? "";
    await mail.write({ from: address, to, id: "<eva-1@x.example>", text: "How much is it?" });
    const last = (await mail.mailsTo(address)).at(-1)?.parsed;
    expect(last?.text?.trim()).toBe("You asked: How much is it?");
    expect(last?.headers.get("auto-submitted")).toBe("auto-replied");
  });

  it("is not merged with the verified customer of an address that they only typed", async () => {
    const address = "fred@customers.example";
    await mail.write({ from: address, id: "<fred-1@x.example>", text: "I am the real Fred" });
    const own = await mail.bench.row(await mail.conversationWith("I am the real Fred"));
    const id = await visit("mallory", address);
    await mail.reply(id, "A reply for the visitor.");
    await mail.bench.advance(5 * minuteMs);
    const to = (await mail.mailsTo(address)).at(-1)?.parsed.replyTo?.value[0]?.address ?? "";
    await mail.write({ from: address, to, id: "<fred-2@x.example>", text: "I did not ask this" });
    const visited = await mail.bench.row(id);
    expect(await mail.conversationWith("I did not ask this")).toBe(id);
    expect(visited.contact_id).not.toBe(own.contact_id);
    expect(visited.customer_verified).toBe(0);
  });

  it("is protected if a stranger has their reply address: the stranger is a guest", async () => {
    const address = "gil@visitors.example";
    const id = await visit("gil", address);
    await mail.reply(id, "Your code is 12345.");
    await mail.bench.advance(5 * minuteMs);
    const to = (await mail.mailsTo(address))[0]?.parsed.replyTo?.value[0]?.address ?? "";
    await mail.write({ from: "eve@elsewhere.example", to, id: "<eve-9@x.example>", text: "And the next code?" });
    expect((await mail.bench.notes(id)).join()).toContain("eve@elsewhere.example is not the address");
    await mail.reply(id, "Only for Gil.");
    expect(await mail.mailsTo("eve@elsewhere.example")).toEqual([]);
  });

  it("starts a new conversation by e-mail after theirs was deleted", async () => {
    const address = "hank@visitors.example";
    const id = await visit("hank", address);
    await mail.reply(id, "For Hank.");
    await mail.bench.advance(5 * minuteMs);
    const to = (await mail.mailsTo(address))[0]?.parsed.replyTo?.value[0]?.address ?? "";
    await mail.bench.engine.remove(mail.bench.workspaceId, id, {
      type: "agent",
      id: "anna@test.example",
      name: "Anna",
    });
    await mail.write({ from: address, to, id: "<hank-1@x.example>", text: "Are you there?" });
    const next = await mail.bench.row(await mail.conversationWith("Are you there?"));
    expect(next).toMatchObject({ channel: "email", customer_email: address });
    expect(next.id).not.toBe(id);
  });
});
