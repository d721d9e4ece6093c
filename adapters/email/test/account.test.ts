import { skippedMessages } from "#database/queries/accounts/skipped-messages.ts";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAgent } from "#admin/team/agents.ts";
import { hourMs } from "#test/support/engine-bench.ts";
import type { MailBench } from "./support/mail-bench.ts";
import { openMailBench } from "./support/mail-bench.ts";
import { letter } from "./support/mail-world.ts";

/** A skill, since the customer's identity is only looked up for skills. */
const hours = {
  kind: "business_hours",
  name: "hours",
  description: "Opening hours",
  phrases: ["no phrase of any test"],
  arguments: [],
  answer: null,
  closed: null,
} as const;

let mail: MailBench;
beforeAll(async () => {
  mail = await openMailBench({ bot_mails_per_hour: 5 }, { settings: { skills: [hours] } });
  const { store, clock, workspaceId } = mail.bench;
  await createAgent(store, clock, { workspaceId, email: "lee@shop.example", name: "Lee", role: "agent" });
});
afterAll(() => mail.close());

const talk = async (text: string) => mail.bench.talk(await mail.conversationWith(text));
const notes = async (text: string) => (await mail.bench.notes(await mail.conversationWith(text))).join("\n");
const row = async (text: string) => mail.bench.row(await mail.conversationWith(text));
/** The files of the conversation with their states. */
async function filesIn(text: string): Promise<readonly string[]> {
  const rows = await mail.bench.store.read
    .selectFrom("attachments")
    .select(["name", "state", "bytes"])
    .where("conversation_id", "=", await mail.conversationWith(text))
    .orderBy("position")
    .execute();
  return rows.map(({ name, state, bytes }) => `${name}: ${state}, ${bytes} bytes`);
}
async function tokenFor(customer: string): Promise<string> {
  const [sent] = await mail.mailsTo(customer);
  return sent?.parsed.replyTo?.value[0]?.address ?? "";
}

describe("a mailbox", () => {
  it("answers in the customer's thread, as a machine, in text and in HTML", async () => {
    await mail.write({
      from: "Ada <ada@customers.example>",
      id: "<ada-2@customers.example>",
      references: ["<ada-0@elsewhere.example>", "<ada-1@elsewhere.example>"],
      subject: "AW: Re: Lamps",
      text: "How much is a lamp?",
    });
    const [sent] = await mail.mailsTo("ada@customers.example");
    const { parsed } = sent ?? {};
    expect(parsed?.subject).toBe("Re: Lamps");
    expect(parsed?.from?.value).toEqual([{ name: "Assistant (Shop)", address: mail.world.address }]);
    expect(sent?.from).toBe(mail.world.address);
    expect(parsed?.inReplyTo).toBe("<ada-2@customers.example>");
    expect([parsed?.references].flat().slice(-3)).toEqual([
      "<ada-0@elsewhere.example>",
      "<ada-1@elsewhere.example>",
      "<ada-2@customers.example>",
    ]);
    expect(parsed?.text?.trim()).toBe("You asked: Lamps\n\nHow much is a lamp?");
    expect(parsed?.html).toContain("How much is a lamp?</p>");
    expect(parsed?.headers.get("auto-submitted")).toBe("auto-replied");
    expect(parsed?.headers.get("x-auto-response-suppress")).toBe("All");
    expect(parsed?.replyTo?.value[0]?.address).toMatch(/^support\d+\+[a-z2-7]{16}-[a-z2-7]{13}@shop\.example$/);
    expect(await row("Lamps\n\nHow much is a lamp?")).toMatchObject({
      customer_email: "ada@customers.example",
      customer_name: "Ada",
      customer_verified: 1,
    });
  });

  it("sends an agent's reply as a person's mail, with rendered Markdown and no active content", async () => {
    await mail.write({ from: "bea@customers.example", id: "<bea-1@x.example>", text: "A person, please: Bea" });
    const id = await mail.conversationWith("A person, please: Bea");
    await mail.reply(id, "It is **here**: [the page](https://shop.example/a?b=1&c=2) <script>alert(1)</script>");
    const sent = (await mail.mailsTo("bea@customers.example")).at(-1);
    expect(sent?.parsed.from?.value[0]?.name).toBe("Anna (Shop)");
    expect(sent?.parsed.headers.has("auto-submitted")).toBe(false);
    // Plain text shows the addresses of links.
    expect(sent?.parsed.text).toContain("It is here: the page (https://shop.example/a?b=1&c=2)");
    expect(sent?.parsed.text).toContain("-- \nAnna");
    const html = sent?.parsed.html === false ? "" : (sent?.parsed.html ?? "");
    expect(html).toContain("<strong>here</strong>");
    expect(html).toContain('href="https://shop.example/a?b=1&amp;c=2"');
    expect(html).toContain("&lt;script&gt;");
    expect(html).not.toContain("<script");
  });

  it("quotes the customer's mail below an agent's reply, and reads the customer's next one without it", async () => {
    const from = "Bo <bo@customers.example>";
    await mail.write({ from, id: "<bo-1@x.example>", text: "A person, please: Bo <b>\n\n> earlier" });
    const id = await mail.conversationWith("A person, please: Bo <b>");
    await mail.reply(id, "Which lamp is it?");
    const sent = (await mail.mailsTo("bo@customers.example")).at(-1);
    const { text = "", html, messageId = "" } = sent?.parsed ?? {};
    expect(text).toMatch(
      /^Which lamp is it\?\n\n-- \nAnna\n\n\d{4}-\d\d-\d\d \d\d:\d\d UTC, <bo@customers\.example>:\n> A person, please: Bo <b>\n>\n>> earlier\s*$/u,
    );
    expect(html).toContain('<blockquote type="cite"');
    expect(html).toContain("Bo &lt;b&gt;");
    const answer = `The green one.\n\n${text.replaceAll(/^/gmu, "> ")}`;
    await mail.write({ from, id: "<bo-2@x.example>", references: [messageId], text: answer });
    await mail.conversationWith("The green one.");
    expect((await mail.bench.talk(id)).at(-1)).toBe("user: The green one.");
  });

  it("answers the question above a forwarded mail, and takes the wish in that mail for nobody's", async () => {
    const from = (author: string) => `From: ${author}\n\nI want to talk to a human!`;
    const write = (name: string, own: string, author = "Bob <bob@x.example>") =>
      mail.write({
        from: `${name}@customers.example`,
        id: `<${name}-1@customers.example>`,
        subject: "Fwd: Help",
        text: `${own}\n\n---------- Forwarded message ---------\n${from(author)}`,
      });
    const taken = `[forwarded from Bob] Help\n\n${from("Bob <bob@x.example>")}`;
    await write("una", "Is this normal?");
    expect(await row(`Is this normal?\n\n${taken}`)).toMatchObject({ status: "open" });
    expect(mail.bench.asked.at(-1)).toMatchObject({ ownText: "Is this normal?" });
    // Anybody can write a mail in the customer's name, and have them forward it.
    await write("uwe", "Did I write this?", "Uwe <uwe@customers.example>");
    const forged = `[forwarded from Uwe] Help\n\n${from("Uwe <uwe@customers.example>")}`;
    expect(await row(`Did I write this?\n\n${forged}`)).toMatchObject({ status: "open" });
    await write("vic", "A human, please.");
    expect(await row(`A human, please.\n\n${taken}`)).toMatchObject({ status: "escalated" });
  });

  it("skips a newsletter, and shows agents that and why", async () => {
    const headers = { "List-Id": "<news.elsewhere.example>" };
    await mail.write({
      from: "News@elsewhere.example",
      id: "<news-1@x.example>",
      subject: "Offers",
      text: "Buy!",
      headers,
    });
    const skipped = () => skippedMessages(mail.bench.store.read, mail.bench.workspaceId, 10);
    await expect
      .poll(skipped)
      .toMatchObject([{ sender: "news@elsewhere.example", title: "Offers", reason: "it has a header list-id" }]);
  });

  it("continues the conversation by the reply address alone, or by references alone", async () => {
    const from = "cem@customers.example";
    await mail.write({ from, id: "<cem-1@x.example>", text: "First of Cem" });
    const [answer] = await mail.mailsTo(from);
    const to = await tokenFor(from);
    await mail.write({ from, to: to.toUpperCase(), id: "<cem-2@x.example>", subject: "Else", text: "Second of Cem" });
    await mail.write({
      from,
      id: "<cem-3@x.example>",
      references: [answer?.parsed.messageId ?? ""],
      text: `Third of Cem\n\nOn 19 Nov 2026, Shop <${mail.world.address}> wrote:\n> You asked: First of Cem\n`,
    });
    await mail.bench.settle();
    const said = await talk("First of Cem");
    expect(said.filter((line) => line.startsWith("user:"))).toEqual([
      "user: First of Cem",
      "user: Else\n\nSecond of Cem",
      "user: Third of Cem",
    ]);
    const last = (await mail.mailsTo(from)).at(-1)?.parsed;
    expect(last?.inReplyTo).toBe("<cem-3@x.example>");
    // Only the third names another message than the latest.
    const stored = await mail.bench.messages(await mail.conversationWith("First of Cem"));
    const [firstAnswer] = stored.filter(({ role }) => role === "assistant");
    expect(stored.flatMap(({ content, refers_to }) => (refers_to === null ? [] : [[content, refers_to]]))).toEqual([
      ["Third of Cem", JSON.stringify({ message_id: firstAnswer?.id })],
    ]);
  });

  it("treats a stranger with the reply address as a guest: the bot is silent, agents are warned", async () => {
    const from = "dora@customers.example";
    await mail.write({ from, id: "<dora-1@x.example>", text: "Where is my order? Dora" });
    const to = await tokenFor(from);
    await mail.write({ from: "Eve <eve@elsewhere.example>", to, id: "<eve-1@x.example>", text: "What did she order?" });
    await mail.bench.settle();
    expect(await talk("Where is my order? Dora")).toEqual([
      "user: Where is my order? Dora",
      "assistant: You asked: Where is my order? Dora",
      "user: What did she order?",
    ]);
    expect(await row("Where is my order? Dora")).toMatchObject({
      status: "escalated",
      customer_email: from,
    });
    expect(await notes("Where is my order? Dora")).toContain("Eve, eve@elsewhere.example is not the address");
    const id = await mail.conversationWith("Where is my order? Dora");
    await mail.reply(id, "For Dora alone");
    expect((await mail.mailsTo(from)).at(-1)?.parsed.text).toContain("For Dora alone");
    expect(await mail.mailsTo("eve@elsewhere.example")).toEqual([]);
  });

  it("treats a forged sender as a guest, even with the reply address", async () => {
    const from = "fay@customers.example";
    await mail.write({ from, id: "<fay-1@x.example>", text: "I am really Fay" });
    const to = await tokenFor(from);
    await mail.write({ from, to, id: "<fay-2@x.example>", text: "Send it to my new address", dmarc: "fail" });
    await mail.bench.settle();
    expect(await row("I am really Fay")).toMatchObject({ status: "escalated", customer_verified: 1 });
    expect(await notes("I am really Fay")).toContain("fay@customers.example, which is not proven, is not the address");
    expect(await mail.mailsTo(from)).toHaveLength(1);
  });

  it("passes the customer's identity to skills only when the sender is verified", async () => {
    const from = "gus@customers.example";
    const widget = await mail.bench.store.read
      .selectFrom("accounts")
      .select("id")
      .where("workspace_id", "=", mail.bench.workspaceId)
      .where("channel", "=", "widget")
      .executeTakeFirstOrThrow();
    await mail.bench.engine.ingest(widget.id, {
      kind: "message",
      externalId: "gus-on-the-website",
      thread: "web:gus",
      sender: { key: "gus", verified: { userId: "user-17" }, proven: { email: from } },
      sentAt: 0,
      text: "Signed in",
    });
    const userOf = async (id: string, text: string, dmarc: "pass" | "none" | "fail") => {
      await mail.write({ from, id, text, dmarc });
      await mail.bench.settle();
      const asked = mail.bench.asked.find((question) => question.text === text);
      if (asked === undefined) throw new Error(`nobody has asked "${text}"`);
      return asked.turn?.user?.id ?? null;
    };
    expect(await userOf("<gus-1@x.example>", "Verified: my orders?", "pass")).toBe("user-17");
    expect(await userOf("<gus-2@x.example>", "Unchecked: my orders?", "none")).toBeNull();
    expect(await userOf("<gus-3@x.example>", "Forged: my orders?", "fail")).toBeNull();
  });

  it("starts a new conversation for a sender who only knows a Message-ID", async () => {
    const from = "gus@customers.example";
    await mail.write({ from, id: "<gus-1@x.example>", text: "A question of Gus" });
    const [answer] = await mail.mailsTo(from);
    const references = [answer?.parsed.messageId ?? ""];
    await mail.write({ from: "eve@elsewhere.example", id: "<eve-2@x.example>", references, text: "Tell me too" });
    expect(await mail.conversationWith("Tell me too")).not.toBe(await mail.conversationWith("A question of Gus"));
  });

  it("does not merge an unverified sender with the verified customer of the address", async () => {
    const from = "hal@customers.example";
    await mail.write({ from, id: "<hal-1@x.example>", text: "Proven Hal" });
    await mail.write({ from, id: "<hal-2@x.example>", text: "Unproven Hal", dmarc: "none" });
    const [proven, unproven] = [await row("Proven Hal"), await row("Unproven Hal")];
    expect(unproven.contact_id).not.toBe(proven.contact_id);
    expect(unproven).toMatchObject({ customer_verified: 0, customer_email: from });
  });

  it("notes an automatic reply, and does not answer it", async () => {
    const from = "ida@customers.example";
    await mail.write({ from, id: "<ida-1@x.example>", text: "A question of Ida" });
    const to = await tokenFor(from);
    const headers = { "Auto-Submitted": "auto-replied" };
    await mail.write({ from, to, id: "<ida-2@x.example>", text: "I am away until Monday.", headers });
    await mail.bench.settle();
    expect(await talk("A question of Ida")).toHaveLength(2);
    expect(await notes("A question of Ida")).toContain("I am away until Monday.");
    expect(await mail.mailsTo(from)).toHaveLength(1);
  });

  it("ends a loop of two unmarked machines, and leaves it to agents", async () => {
    const from = "robot@elsewhere.example";
    for (let i = 1; i <= 8; i += 1) {
      // No header, no reference and a new text each time: the mails look human.
      await mail.write({ from, id: `<robot-${i}@x.example>`, text: `We have received your mail, number ${i}.` });
      await mail.bench.settle();
    }
    expect(await mail.mailsTo(from)).toHaveLength(5);
    expect(await row("We have received your mail, number 8.")).toMatchObject({ status: "escalated" });
    expect(await notes("We have received your mail, number 8.")).toContain("another program may be answering it");
    await mail.bench.pass(hourMs);
    await mail.write({ from, id: "<robot-9@x.example>", text: "A person after all" });
    await mail.bench.settle();
    expect(await mail.mailsTo(from)).toHaveLength(6);
  });

  it("marks a bounced reply as not delivered, with a note for agents", async () => {
    const from = "jan@customers.example";
    await mail.write({ from, id: "<jan-1@x.example>", text: "A question of Jan" });
    const id = await mail.conversationWith("A question of Jan");
    const messageId = await mail.reply(id, "This comes back");
    const sent = (await mail.mailsTo(from)).at(-1)?.parsed;
    const report = [
      "From: MAILER-DAEMON@customers.example",
      `To: ${mail.world.address}`,
      "Message-ID: <jan-bounce@customers.example>",
      "Return-Path: <>",
      "MIME-Version: 1.0",
      "Content-Type: multipart/report; report-type=delivery-status; boundary=b",
      "",
      "--b",
      "Content-Type: message/delivery-status",
      "",
      "Reporting-MTA: dns; mx.customers.example",
      "",
      `Final-Recipient: rfc822; ${from}`,
      "Action: failed",
      "Status: 5.2.2",
      "Diagnostic-Code: smtp; 552 mailbox full",
      "",
      "--b",
      "Content-Type: text/rfc822-headers",
      "",
      `Message-ID: ${sent?.messageId}`,
      "",
      "--b--",
      "",
    ].join("\r\n");
    await mail.world.deliver(report);
    expect(await mail.taken("<jan-bounce@customers.example>")).toBe(true);
    const delivery = await mail.bench.store.read
      .selectFrom("deliveries")
      .selectAll()
      .where("message_id", "=", messageId)
      .executeTakeFirstOrThrow();
    expect(delivery.state).toBe("failed");
    expect(await notes("A question of Jan")).toContain("5.2.2 552 mailbox full");
    expect(await talk("A question of Jan")).toHaveLength(3);
  });

  it("keeps Cc recipients, and the bot writes to them only if the sender is verified", async () => {
    const headers = { Cc: "Kim <kim@friends.example>, Lou <lou@friends.example>" };
    await mail.write({ from: "kai@customers.example", id: "<kai-1@x.example>", text: "For all of us", headers });
    expect((await mail.mailsTo("kai@customers.example"))[0]?.to).toEqual([
      "kai@customers.example",
      "kim@friends.example",
      "lou@friends.example",
    ]);
    const spoofed = { Cc: "victim@friends.example" };
    await mail.write({ from: "x@spam.example", id: "<x-1@x.example>", text: "Spam", headers: spoofed, dmarc: "none" });
    expect((await mail.mailsTo("x@spam.example"))[0]?.to).toEqual(["x@spam.example"]);
    expect(await mail.mailsTo("victim@friends.example")).toEqual([]);
  });

  it("shows agents which copy the server refused", async () => {
    const headers = { Cc: "gone@friends.example" };
    mail.world.fail({ kind: "refuse", code: 550, text: "5.1.1 unknown", only: "gone@friends.example" });
    await mail.write({ from: "lea@customers.example", id: "<lea-1@x.example>", text: "For me and one", headers });
    expect((await mail.mailsTo("lea@customers.example"))[0]?.to).toEqual(["lea@customers.example"]);
    expect(await notes("For me and one")).toContain("not its copy to gone@friends.example");
  });

  it("stores a mail from an agent's mail program as the agent's reply, and does not send it again", async () => {
    const from = "mia@customers.example";
    await mail.write({ from, id: "<mia-1@x.example>", text: "A question of Mia" });
    await mail.mailsTo(from);
    const own = letter({
      from: `Lee <lee@shop.example>`,
      to: from,
      id: "<lee-1@shop.example>",
      references: ["<mia-1@x.example>"],
      subject: "Re: question",
      text: "I have looked into it.\n\nOn 19 Nov 2026, Mia <mia@customers.example> wrote:\n> A question of Mia\n",
      files: [{ name: "plan.pdf", mediaType: "application/pdf", bytes: Buffer.from("%PDF-1.7 plan") }],
    });
    await mail.world.dovecot.look(mail.world.user, (client) => client.append("Sent", own, ["\\Seen"]));
    await mail.bench.advance(61_000);
    await mail.bench.until("it is stored", async () => (await talk("A question of Mia")).length === 3);
    expect((await talk("A question of Mia")).at(-1)).toBe("agent: I have looked into it.");
    await mail.bench.settle();
    expect(await filesIn("A question of Mia")).toEqual(["plan.pdf: stored, 13 bytes"]);
    expect(await row("A question of Mia")).toMatchObject({ status: "claimed", assigned_to: "lee@shop.example" });
    expect(await mail.mailsTo(from)).toHaveLength(1);
    await mail.write({ from, id: "<mia-2@x.example>", references: ["<lee-1@shop.example>"], text: "Thank you, Lee" });
    expect(await mail.conversationWith("Thank you, Lee")).toBe(await mail.conversationWith("A question of Mia"));
  });

  it("skips the mailbox's own automatic reply in the folder of sent mails", async () => {
    const from = "moe@customers.example";
    await mail.write({ from, id: "<moe-1@x.example>", text: "A question of Moe" });
    await mail.mailsTo(from);
    const away = (id: string, headers: Readonly<Record<string, string>>): string =>
      letter({
        from: mail.world.address,
        to: from,
        id,
        references: ["<moe-1@x.example>"],
        text: "We are away.",
        headers,
      });
    const byHand = letter({ from: mail.world.address, to: from, references: ["<moe-1@x.example>"], text: "By hand." });
    await mail.world.dovecot.look(mail.world.user, async (client) => {
      await client.append("Sent", away("<away-1@shop.example>", { "Auto-Submitted": "auto-replied" }));
      await client.append("Sent", away("<away-2@shop.example>", { Subject: "Automatic reply: Moe" }));
    });
    await mail.bench.advance(61_000);
    await mail.world.dovecot.look(mail.world.user, (client) => client.append("Sent", byHand));
    await mail.bench.advance(61_000);
    await mail.bench.until("it is stored", async () => (await talk("A question of Moe")).length > 2);
    expect((await talk("A question of Moe")).slice(2)).toEqual(["agent: By hand."]);
  });

  it("sends an agent's mail to the thread on to the customer, only from verified agents", async () => {
    const from = "nia@customers.example";
    await mail.write({ from, id: "<nia-1@x.example>", text: "A question of Nia" });
    const to = await tokenFor(from);
    const picture = { name: "Größe.png", mediaType: "image/png", bytes: Buffer.from("a picture") };
    await mail.write({
      from: "lee@shop.example",
      to,
      id: "<lee-2@shop.example>",
      text: "Here you are.",
      files: [picture],
    });
    await mail.bench.settle();
    expect((await talk("A question of Nia")).at(-1)).toBe("agent: Here you are.");
    const sent = (await mail.mailsTo(from)).at(-1)?.parsed;
    expect(sent?.text).toContain("Here you are.");
    expect(sent?.attachments.map(({ filename, content }) => [filename, content.toString()])).toEqual([
      ["Größe.png", "a picture"],
    ]);
    expect(await filesIn("A question of Nia")).toEqual(["Größe.png: stored, 9 bytes"]);
    await mail.write({ from: "lee@shop.example", to, id: "<lee-3@x.example>", text: "I am Lee, too", dmarc: "none" });
    expect((await talk("A question of Nia")).at(-1)).toBe("user: I am Lee, too");
    expect(await notes("A question of Nia")).toContain("lee@shop.example, which is not proven");
  });

  it("sends no forwarded or quoted words of an agent's mail on to the customer", async () => {
    const from = "noa@customers.example";
    await mail.write({ from, id: "<noa-1@x.example>", text: "A question of Noa" });
    const to = await tokenFor(from);
    const before = (await mail.mailsTo(from)).length;
    const text = "---------- Forwarded message ---------\nFrom: Boss <boss@shop.example>\n\nNoa is a fraud.";
    const agent = { from: "lee@shop.example", to };
    await mail.write({ ...agent, id: "<lee-5@shop.example>", subject: "Fwd: Noa", text });
    expect(await mail.mailsTo(from)).toHaveLength(before);
    expect(await notes("A question of Noa")).toMatch(/A mail of Lee was not sent on to the customer.*Noa is a fraud/su);
    const quoted = "On Wed, Nov 18, 2026 at 9:12 AM Boss <boss@shop.example> wrote:\n> Noa is a fraud.";
    const bill = { name: "bill.txt", mediaType: "text/plain", bytes: Buffer.from("4.90") };
    await mail.write({ ...agent, id: "<lee-6@shop.example>", subject: "Re: Noa", text: quoted, files: [bill] });
    const sent = (await mail.mailsTo(from)).slice(before).map(({ parsed }) => parsed);
    expect(sent.map(({ attachments }) => attachments.map(({ filename }) => filename))).toEqual([["bill.txt"]]);
    expect(JSON.stringify(sent)).not.toContain("fraud");
    expect((await talk("A question of Noa")).at(-1)).toBe("agent: Noa");
  });

  it("does not block customers for long when an agent's file cannot be stored, with a note for agents", async () => {
    const from = "oda@customers.example";
    await mail.write({ from, id: "<oda-1@x.example>", text: "A question of Oda" });
    const to = await tokenFor(from);
    await mail.bench.settle();
    // Blocks the folder of incoming files.
    const incoming = join(mail.bench.dataDir, "files", "incoming");
    await rm(incoming, { recursive: true, force: true });
    await mkdir(dirname(incoming), { recursive: true });
    await writeFile(incoming, "");
    const files = Array.from({ length: 23 }, (_, at) => ({
      name: `${at}.txt`,
      mediaType: "text/plain",
      bytes: Buffer.from(`file ${at}`),
    }));
    const agents = letter({
      from: "lee@shop.example",
      to,
      id: "<lee-4@shop.example>",
      text: "All of it.",
      files,
      dmarc: "pass",
    });
    await mail.world.deliver(agents, to);
    const behind = letter({ from, to, id: "<oda-2@x.example>", text: "Are you there?", dmarc: "pass" });
    await mail.world.deliver(behind, to);
    const began = mail.bench.clock.now();
    await mail.bench.until("the customer's mail is taken", async () => {
      await mail.connected();
      await mail.bench.advance(6_000);
      return (await talk("A question of Oda")).includes("user: Are you there?");
    });
    expect(mail.bench.clock.now() - began).toBeLessThan(hourMs);
    await rm(incoming);
    await mail.bench.settle();
    expect(await talk("A question of Oda")).toContain("agent: All of it.");
    expect((await mail.mailsTo(from)).map(({ parsed }) => parsed.text ?? "").join("\n")).toContain("All of it.");
    const shown = await notes("A question of Oda");
    expect(shown).toContain("0.txt: it could not be stored, and was not waited for: it is in the inbox");
    expect(shown).toContain("A message has at most 20 files; in the mailbox alone: 20.txt, 21.txt, 22.txt.");
    await mail.bench.advance(hourMs);
    const kept = await filesIn("A question of Oda");
    expect(kept).toHaveLength(20);
    expect(kept[0]).toBe("0.txt: stored, 6 bytes");
  });
});
