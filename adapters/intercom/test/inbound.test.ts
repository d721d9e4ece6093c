import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eachDatabase } from "#test/support/database/databases.ts";
import { neededTopics, topics } from "../webhook-topics.ts";
import type { IntercomBench } from "./support/account.ts";
import { openIntercom } from "./support/account.ts";

eachDatabase("a customer's message in Intercom", (open) => {
  let account: IntercomBench;
  beforeAll(async () => {
    account = await openIntercom(open);
  });
  afterAll(() => account.close());

  const contactOf = async (conversation: string) => {
    const { contact_id: id } = await account.row(conversation);
    return account.bench.store.read.selectFrom("contacts").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  };

  it("is stored in order, even if a reply is delivered before it", async () => {
    const { intercom } = account;
    const first = intercom.write({ contact: "ada", text: "Hello" });
    const second = intercom.write({ contact: "ada", text: "Are you there?", conversation: first.conversation });
    await account.deliver(second.notification, first.notification, second.notification);
    const said = (await account.talk(first.conversation)).filter((line) => line.startsWith("user"));
    expect(said).toEqual(["user: Hello", "user: Are you there?"]);
  });

  it("is stored before a teammate's reply, even if that is delivered first", async () => {
    const { intercom, bench } = account;
    const { conversation, notification } = intercom.write({ contact: "bea", text: "Help me" });
    const replied = intercom.teammate(intercom.carla, conversation, { type: "comment", body: "I will" });
    const asked = bench.asked.length;
    await account.deliver(replied, notification);
    expect(await account.talk(conversation)).toEqual(["user: Help me", "agent: I will"]);
    expect(bench.asked).toHaveLength(asked);
  });

  it("shows a teammate's reply, which cannot be deleted in Parley", async () => {
    const { intercom, bench } = account;
    const { conversation, notification } = intercom.write({ contact: "dora", text: "Is it blue?" });
    const replied = intercom.teammate(intercom.carla, conversation, { type: "comment", body: "It is green" });
    await account.deliver(replied, notification);
    const { id } = await account.row(conversation);
    const [message] = await bench.store.read
      .selectFrom("messages")
      .select("id")
      .where("conversation_id", "=", id)
      .where("role", "=", "agent")
      .execute();
    const taking = { kind: "amend", messageId: message?.id ?? "", content: null } as const;
    const { email, name } = intercom.carla;
    await bench.engine.postAgentMessage(bench.workspaceId, id, taking, { email, name });
    await bench.settle();
    expect(await account.talk(conversation)).toEqual(["user: Is it blue?", "agent: It is green"]);
    expect((await account.notes(conversation)).map(({ content }) => content)).toEqual([
      "This reply could not be taken back, and the customer still sees it: it was not sent from this conversation",
    ]);
  });

  it("is plain text, with the addresses of links and without hidden content", async () => {
    const html = `<p class="no-margin">See <a href="https://shop.example/1" rel="x">the shop</a> &amp; tell<br>me</p><ul><li>one</li></ul><script>alert(1)</script><img src="http://127.0.0.1:1/tracker.png">`;
    const { conversation, notification } = account.intercom.write({ contact: "cleo", text: "", html });
    await account.deliver(notification);
    expect((await account.talk(conversation))[0]).toBe(
      "user: See the shop (https://shop.example/1) & tell\nme\n\n- one",
    );
    expect(await account.bench.store.read.selectFrom("attachments").select("id").execute()).toEqual([]);
  });

  it("is left to agents if a teammate wrote to the customer first", async () => {
    const { intercom, bench } = account;
    const { conversation, notification: first } = intercom.write({
      contact: "dora",
      text: "News!",
      by: intercom.carla,
    });
    const asked = bench.asked.length;
    const { notification } = intercom.write({ contact: "dora", text: "Thank you", conversation });
    await account.deliver(first, notification);
    expect(await account.row(conversation)).toMatchObject({ status: "escalated" });
    expect(bench.asked).toHaveLength(asked);
    expect((await account.notes(conversation))[0]?.content).toContain("A teammate has written to this customer");
  });

  it("is unverified while the workspace does not verify identities", async () => {
    const { intercom } = account;
    const { conversation, notification } = intercom.write({ contact: "eve", text: "I am user 7", externalId: "7" });
    await account.deliver(notification);
    expect(await contactOf(conversation)).toMatchObject({ user_id: null, email: "eve@customers.example" });
    expect((await account.row(conversation)).customer_verified).toBe(0);
  });

  it("is verified once the workspace verifies identities, except by e-mail", async () => {
    const { intercom, bench } = account;
    intercom.workspace.identityVerification = true;
    // The workspace's settings are read every hour.
    await bench.advance(3_700_000);
    await account.poll();
    await bench.advance(61_000);
    const signed = intercom.write({ contact: "fay", text: "Hello", externalId: "user-8" });
    await account.deliver(signed.notification);
    expect(await contactOf(signed.conversation)).toMatchObject({ user_id: "user-8" });
    expect((await account.row(signed.conversation)).customer_verified).toBe(1);
    const { conversation } = intercom.write({ contact: "gil", text: "Hello" });
    const byEmail = intercom.write({ contact: "gil", text: "It is me", conversation, externalId: "9", byEmail: true });
    await account.deliver(byEmail.notification);
    expect(await contactOf(conversation)).toMatchObject({ user_id: null });
    intercom.workspace.identityVerification = false;
  });

  it("is a guest's if its author was added to the conversation", async () => {
    const { intercom, bench } = account;
    const id = await account.write("hal", "Hello");
    const { notification } = intercom.write({ contact: "ivo", text: "I am a colleague", conversation: id });
    const asked = bench.asked.length;
    await account.deliver(notification);
    expect(bench.asked).toHaveLength(asked);
    expect(await account.row(id)).toMatchObject({ status: "escalated", customer_name: "hal" });
    expect((await account.notes(id))[0]?.content).toContain("Somebody else than the customer");
  });

  it("is erased when it is redacted in Intercom", async () => {
    const { intercom } = account;
    const id = await account.write("jo", "Hello");
    const { notification } = intercom.write({ contact: "jo", text: "My card is 4111", conversation: id });
    await account.deliver(notification);
    const part = intercom.conversations.get(id)?.parts.find(({ author }) => author.id === "jo");
    intercom.redact(id, part?.id ?? "");
    await account.deliver(...intercom.notifications.splice(0));
    const said = await account.bench.messages((await account.row(id)).id);
    expect(said.find(({ external_id: externalId }) => externalId === `${id}:${part?.id}`)).toMatchObject({
      content: "",
    });
  });

  it("has its files, even with expired addresses, except those on other servers", async () => {
    const { intercom, bench } = account;
    const bytes = randomBytes(50_000);
    const file = { name: "bill 1.dat", mediaType: "application/octet-stream", bytes };
    const { conversation, notification } = intercom.write({ contact: "kim", text: "See this", files: [file] });
    intercom.expireFiles();
    await account.deliver(notification);
    const { id } = await account.row(conversation);
    const rows = await bench.store.read
      .selectFrom("attachments")
      .select(["name", "state", "sha256"])
      .where("conversation_id", "=", id)
      .execute();
    expect(rows).toEqual([
      { name: "bill 1.dat", state: "stored", sha256: createHash("sha256").update(bytes).digest("hex") },
    ]);
    const elsewhere = structuredClone(notification) as { id: string; data: { item: { id: string; source: object } } };
    elsewhere.id = "notif_elsewhere";
    elsewhere.data.item.id = "123456";
    elsewhere.data.item.source = {
      ...elsewhere.data.item.source,
      attachments: [{ type: "upload", name: "x", url: "http://169.254.169.254/latest/meta-data", content_type: "a/b" }],
    };
    await account.deliver(elsewhere);
    const [refused] = await bench.store.read
      .selectFrom("attachments")
      .select(["state", "reason"])
      .where("conversation_id", "=", (await account.row("123456")).id)
      .execute();
    expect(refused?.state).toBe("failed");
    expect(refused?.reason).toContain("does not lead to Intercom");
  });

  it("is stored among unknown deliveries, which are skipped", async () => {
    const { intercom, bench } = account;
    const id = await account.write("lea", "Hello");
    const before = await account.row(id);
    const ignored = Object.keys(topics).filter((topic) => topics[topic] === "ignored");
    expect(ignored.length + neededTopics.length).toBe(Object.keys(topics).length);
    const events = () => bench.store.read.selectFrom("inbound_events").select("id").execute();
    const count = (await events()).length;
    for (const topic of [...ignored, "contact.created", "ticket.created", "company.deleted", "constructor"]) {
      await account.deliver(intercom.notification(topic, { type: "ping", message: "something something" }));
    }
    for (const topic of neededTopics) {
      await account.deliver(intercom.notification(topic, { type: "conversation", of: "another form" }));
    }
    expect(await events()).toHaveLength(count);
    expect(await account.row(id)).toEqual(before);
  });

  it("is skipped if it is from another workspace with the same app", async () => {
    const { notification, conversation } = account.intercom.write({ contact: "max", text: "Hello" });
    await account.deliver({ ...notification, app_id: "another1" });
    await expect(account.row(conversation)).rejects.toThrow("no result");
  });
});
