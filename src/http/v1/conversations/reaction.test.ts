import { afterAll, beforeAll, expect, it } from "vitest";
import type { AdapterModule } from "#channels/contract.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { asked } from "#test/support/http/inbox.ts";

eachDatabase("a reaction over the API", (open) => {
  let app: TestApp;
  const shownThere: (string | null)[] = [];

  /** Keeps the reactions that the widget's channel is asked to show. */
  const keepReactions = (module: AdapterModule): AdapterModule => ({
    ...module,
    create: (...given) => ({
      ...module.create(...given),
      react: async (_externalId, emoji) => void shownThere.push(emoji),
    }),
  });

  beforeAll(async () => {
    app = await startApp(open, {
      loadAdapter: (channel, config) =>
        channel === "widget" ? loadAdapter(channel, config)?.then(keepReactions) : loadAdapter(channel, config),
    });
  });
  afterAll(() => app.close());

  async function react(conversationId: string, messageId: string, emoji?: string) {
    const body = { ...(emoji === undefined ? {} : { emoji }), author_email: "Mia@shop.example" };
    return app.call("PUT", `/v1/conversations/${conversationId}/messages/${messageId}/reaction`, { body });
  }
  async function messagesOf(
    conversationId: string,
  ): Promise<readonly { readonly id: string; readonly role: string }[]> {
    return (await app.get(`/v1/conversations/${conversationId}/messages`)).body.messages;
  }

  it("reaches the customer, replaces the one before, and is taken back", async () => {
    const { conversationId } = await asked(app, "Una", "When do you open?", "Una");
    const [question] = await messagesOf(conversationId);
    const mine = (emoji: string) => [{ emoji, author: "mia@shop.example", role: "agent" }];
    for (const emoji of ["❤️", "👍"]) {
      expect(await react(conversationId, question?.id ?? "", emoji)).toMatchObject({
        status: 200,
        body: { id: question?.id, reactions: mine(emoji) },
      });
      await expect.poll(() => shownThere.at(-1)).toBe(emoji);
    }
    const none = await react(conversationId, question?.id ?? "");
    expect(none).toMatchObject({ status: 200, body: { id: question?.id } });
    expect(none.body).not.toHaveProperty("reactions");
    await expect.poll(() => shownThere.at(-1)).toBe(null);
  });

  it("is refused for other emoji, for messages that are not the customer's, and where no channel shows it", async () => {
    const { conversationId } = await asked(app, "Olga", "When do you close?", "Olga");
    const [question] = await messagesOf(conversationId);
    expect(await react(conversationId, question?.id ?? "", "🍕")).toMatchObject({ status: 422 });
    expect(await react(conversationId, "msg_none", "👍")).toMatchObject({ status: 404, body: { code: "not_found" } });
    const answers = async () => (await messagesOf(conversationId)).filter(({ role }) => role === "assistant");
    await expect.poll(async () => (await answers()).length).toBeGreaterThan(0);
    const [answer] = await answers();
    const refused = { status: 409, body: { code: "invalid_transition" } };
    expect(await react(conversationId, answer?.id ?? "", "👍")).toMatchObject(refused);
    const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "When do you open?" });
    const [query] = await messagesOf(body.conversation_id);
    expect(await react(body.conversation_id, query?.id ?? "", "👍")).toMatchObject(refused);
  });
});
