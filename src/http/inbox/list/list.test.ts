import { afterAll, beforeAll, expect, it } from "vitest";
import type { ListPage, Me } from "#http/inbox/wire.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { InboxUser } from "#test/support/http/inbox.ts";
import { asked, signIn, signInTeam } from "#test/support/http/inbox.ts";

eachDatabase("the lists of the inbox", (open) => {
  let app: TestApp;
  let anna: InboxUser;
  let ben: InboxUser;

  beforeAll(async () => {
    app = await startApp(open);
    ({ anna, ben } = await signInTeam(app));
  });
  afterAll(() => app?.close());

  const list = async (user: InboxUser, query: string) => (await user.get(`conversations?${query}`)).body as ListPage;

  it("show the customer's last message, and who wrote last", async () => {
    const { conversationId: id } = await asked(app, "words", "I want to talk to a human. It is about the bill.");
    const item = async (name: string) => (await list(anna, `view=${name}`)).items.find((each) => each.id === id);
    const words = { role: "user", text: "I want to talk to a human. It is about the bill." };
    expect(await item("escalated")).toMatchObject({ status: "escalated", preview: words, lastRole: "assistant" });
    await anna.send("POST", `conversations/${id}/reply`, { content: "Hello!", clientId: "12345678", lastSeq: 99 });
    expect(await item("mine")).toMatchObject({ preview: words, lastRole: "agent" });
  });

  it("show the last message if the customer wrote none, without Markdown escapes and entities", async () => {
    const { conversationId: id } = await asked(app, "escapes");
    await app.store.write(async (tx) => {
      await tx
        .updateTable("messages")
        .set({ content: "5 \\- 7 *days* &amp; no [later](https://a.test)\n\n- one" })
        .where("conversation_id", "=", id)
        .where("role", "=", "assistant")
        .execute();
      await tx.updateTable("conversations").set({ last_customer_seq: 0 }).where("id", "=", id).execute();
    });
    const found = async () => (await list(anna, "view=open")).items.find((each) => each.id === id)?.preview?.text;
    expect(await found()).toBe("5 - 7 days & no later - one");
    await app.store.write((tx) =>
      tx
        .updateTable("messages")
        .set({ content: "2 * 3 * 4 \\- &amp;" })
        .where("conversation_id", "=", id)
        .where("role", "=", "user")
        .execute(),
    );
    await app.store.write((tx) =>
      tx.updateTable("conversations").set({ last_customer_seq: 1 }).where("id", "=", id).execute(),
    );
    expect(await found()).toBe("2 * 3 * 4 \\- &amp;");
  });

  it("sort waiting conversations as each agent has chosen, in all their sessions", async () => {
    const order = async (user: InboxUser) => ((await user.get("me")).body as Me).agent.waitingOrder;
    expect([await order(anna), await order(ben)]).toEqual(["urgency", "urgency"]);
    expect((await anna.send("PATCH", "me", { waitingOrder: "latest" })).status).toBe(204);
    expect((await anna.send("PATCH", "me", { waitingOrder: "random" })).status).toBe(422);
    expect([await order(await signIn(app, anna)), await order(ben)]).toEqual(["latest", "urgency"]);
    expect((await anna.get("conversations?view=escalated&order=random")).status).toBe(422);
  });
});
