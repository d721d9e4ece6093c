import { afterAll, beforeAll, expect, it } from "vitest";
import type { ConversationView, Refusal } from "#http/inbox/wire.ts";
import { startFakeTwilio } from "#adapters/twilio/shared/test/fake-twilio.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { InboxAnswer, InboxUser } from "#test/support/http/inbox.ts";
import { addAgent, asked, settled, signIn, signInTeam } from "#test/support/http/inbox.ts";

eachDatabase("agents' messages in the inbox", (open) => {
  let app: TestApp;
  let anna: InboxUser;
  let ben: InboxUser;
  let stranger: InboxUser;

  beforeAll(async () => {
    app = await startApp(open);
    ({ anna, ben, stranger } = await signInTeam(app));
  });
  afterAll(() => app?.close());

  const start = (thread: string) => asked(app, thread);
  const refusal = (answer: InboxAnswer) => answer.body as Refusal;
  const view = (answer: InboxAnswer) => answer.body as ConversationView;
  const texts = (conversation: ConversationView) => conversation.messages.map(({ content }) => JSON.stringify(content));

  it("are held back in a colleague's conversation until their author confirms", async () => {
    const { conversationId } = await start("held");
    const path = `conversations/${conversationId}/reply`;
    await anna.send("POST", `conversations/${conversationId}/claim`);
    const { lastSeq } = view(await ben.get(`conversations/${conversationId}`));
    const reply = { content: "Ben here.", clientId: "reply-held", lastSeq };
    const held = await ben.send("POST", path, reply);
    expect([held.status, refusal(held).code, refusal(held).assignee?.name]).toEqual([409, "claimed_by_other", "Anna"]);
    await anna.send("POST", `conversations/${conversationId}/snooze`);
    expect(refusal(await ben.send("POST", path, reply)).code).toBe("claimed_by_other");
    expect(texts(view(await ben.get(`conversations/${conversationId}`))).join("")).not.toContain("Ben here");
    const sent = view(await ben.send("POST", path, { ...reply, anyway: true }));
    expect([texts(sent).at(-1), sent.assignee?.name]).toEqual([JSON.stringify([{ t: "p", c: ["Ben here."] }]), "Anna"]);
    // A repeated reply that is stored already needs no confirmation.
    expect((await ben.send("POST", path, reply)).status).toBe(200);
    await settled(app);
    const shown = view(await ben.get(`conversations/${conversationId}`));
    expect(shown.messages.filter(({ author }) => author === "Ben")).toHaveLength(1);
  });

  it("are stored once after a double click, as a reply and as a note", async () => {
    const { conversationId } = await start("double");
    const { lastSeq } = view(await anna.get(`conversations/${conversationId}`));
    const reply = { content: "Once.", clientId: "reply-double", lastSeq };
    const note = { content: "Also once.", clientId: "note-double-1" };
    const answers = await Promise.all([
      anna.send("POST", `conversations/${conversationId}/reply`, reply),
      anna.send("POST", `conversations/${conversationId}/reply`, reply),
      anna.send("POST", `conversations/${conversationId}/notes`, note),
      anna.send("POST", `conversations/${conversationId}/notes`, note),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const shown = view(await anna.get(`conversations/${conversationId}`));
    expect(shown.messages.filter(({ role }) => role === "agent")).toHaveLength(1);
    expect(shown.notes).toHaveLength(1);
    await anna.send("POST", `conversations/${conversationId}/notes`, { ...note, clientId: "note-double-2" });
    expect(view(await anna.get(`conversations/${conversationId}`)).notes).toHaveLength(2);
  });

  it("can be notes of an agent with the longest possible address", async () => {
    const { conversationId } = await start("long");
    const local = `${"a".repeat(60)}.`;
    const domain = `${"b".repeat(60)}.${"c".repeat(50)}.example`;
    const long = await signIn(app, await addAgent(app, "Long", undefined, `${local}d@${domain}`));
    const note = { content: "Noted.", clientId: "n".repeat(64) };
    expect((await long.send("POST", `conversations/${conversationId}/notes`, note)).status).toBe(200);
  });

  it("can be edited and deleted by their author only", async () => {
    const question = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "How long?" });
    const { conversation_id: conversationId } = question.body as { readonly conversation_id: string };
    const { lastSeq, amendable } = view(await anna.get(`conversations/${conversationId}`));
    expect(amendable).toEqual({ edit: true, remove: true, react: false });
    expect((await anna.send("POST", `conversations/${conversationId}/typing`)).status).toBe(204);
    const replied = view(
      await anna.send("POST", `conversations/${conversationId}/reply`, {
        content: "Thre days.",
        clientId: "reply-amend",
        lastSeq,
      }),
    );
    const mine = replied.messages.at(-1);
    expect(mine?.own).toBe("Thre days.");
    const path = `conversations/${conversationId}/messages/${mine?.id}`;
    const seenByBen = view(await ben.get(`conversations/${conversationId}`)).messages.at(-1);
    expect(seenByBen?.own).toBeNull();
    const bens = await ben.send("PATCH", path, { content: "Four days." });
    expect([bens.status, refusal(bens).code]).toEqual([409, "cannot_be_done"]);
    const changed = view(await anna.send("PATCH", path, { content: "Three days.", was: "Thre days." }));
    expect(changed.messages.at(-1)).toMatchObject({ own: "Three days.", edited: true, changing: null });
    const late = await anna.send("PATCH", path, { content: "Thirty days.", was: "Thre days." });
    expect([late.status, refusal(late).detail]).toEqual([409, expect.stringContaining("changed meanwhile")]);
    expect((await anna.send("PATCH", path, { content: "  " })).status).toBe(422);
    const taken = view(await anna.send("DELETE", path));
    expect(taken.messages.at(-1)).toMatchObject({ deleted: true, own: null, content: [] });
    expect((await anna.send("DELETE", path)).status).toBe(200);
    expect((await anna.send("PATCH", path, { content: "No." })).status).toBe(409);
    const elsewhere = await start("elsewhere");
    const wrong = `conversations/${elsewhere.conversationId}/messages/${mine?.id}`;
    expect((await anna.send("DELETE", wrong)).status).toBe(404);
    expect((await stranger.send("DELETE", path)).status).toBe(404);
  });

  it("can be edited while unsent if the channel cannot edit, and are refused once sent", async () => {
    const twilio = await startFakeTwilio();
    const account = { id: "acc_sms", workspace_id: app.workspace.id, channel: "sms", name: "sms" } as const;
    const config = { account_sid: twilio.accountSid, auth_token: twilio.authToken, from: "+15550001111" };
    await app.store.write((tx) =>
      tx
        .insertInto("accounts")
        .values({
          ...account,
          config: JSON.stringify({ ...config, base_url: twilio.url }),
          credentials: null,
          managed_by: "file",
          enabled: 1,
          created_at: app.clock.now(),
        })
        .execute(),
    );
    const { conversationId } = await app.engine.ingest(account.id, {
      kind: "message",
      externalId: "SM1",
      thread: "+15550001111:+15550002222",
      sender: { key: "+15550002222" },
      sentAt: app.clock.now(),
      text: "How long does delivery take?",
    });
    const read = async () => view(await anna.get(`conversations/${conversationId}`));
    const reply = async (content: string, clientId: string) => {
      const { lastSeq } = await read();
      const body = { content, clientId, lastSeq };
      const replied = view(await anna.send("POST", `conversations/${conversationId}/reply`, body));
      return { replied, path: `conversations/${conversationId}/messages/${replied.messages.at(-1)?.id}` };
    };
    const bodies = () => twilio.taken.map(({ body }) => body).join("\n");

    const sent = await reply("Sent for good.", "reply-for-good");
    await expect.poll(bodies).toContain("Sent for good.");
    await settled(app);
    const { edit, remove } = sent.replied.amendable;
    const answer = await anna.send("PATCH", sent.path, { content: "Sent for bad." });
    expect([edit, remove, answer.status]).toEqual([false, false, 409]);
    expect(refusal(answer).detail).toContain("SMS lets nobody change a message once it is sent");
    expect((await read()).messages.at(-1)?.own).toBe("Sent for good.");

    await twilio.goAway();
    const waiting = await reply("Two days.", "reply-in-line");
    const withdrawn = await reply("Nine days.", "reply-withdrawn");
    expect((await anna.send("PATCH", waiting.path, { content: "Three days." })).status).toBe(200);
    expect((await anna.send("DELETE", withdrawn.path)).status).toBe(200);
    await twilio.comeBack();
    const shown = async () => {
      app.clock.advance(1_000);
      return (await read()).messages.slice(-2).map(({ own, deleted, changing }) => ({ own, deleted, changing }));
    };
    await expect.poll(shown).toEqual([
      { own: "Three days.", deleted: false, changing: null },
      { own: null, deleted: true, changing: null },
    ]);
    await settled(app);
    expect(bodies()).toContain("Three days.");
    expect(bodies()).not.toMatch(/Two|Nine/u);
    await twilio.close();
  });
});
