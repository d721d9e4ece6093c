import { afterAll, beforeAll, expect, it } from "vitest";
import { newSqlite } from "#test/support/database/databases.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { addAgent, customerWrites, settled, signIn } from "#test/support/http/inbox.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startApp(newSqlite);
});
afterAll(() => app.close());

it("lets a viewer read conversations, and change nothing but the order of their own list", async () => {
  const viewer = await signIn(app, await addAgent(app, "Vera"));
  await app.store.write((tx) => tx.updateTable("agents").set({ role: "viewer" }).where("id", "=", viewer.id).execute());
  const { conversationId } = await customerWrites(app, "viewed", "Where is my order?", "Ada");
  await settled(app);
  expect((await viewer.get(`conversations/${conversationId}`)).status).toBe(200);
  expect((await viewer.send("PATCH", "me", { waitingOrder: "latest" })).status).toBe(204);
  for (const [path, body] of [
    [`conversations/${conversationId}/claim`, {}],
    [`conversations/${conversationId}/reply`, { content: "Hello", clientId: "abcdefgh1" }],
    ["bulk", { action: "resolve", items: [] }],
    ["manual/remove", {}],
  ] as const) {
    const { status, body: answer } = await viewer.send("POST", path, body);
    expect([path, status, answer]).toMatchObject([path, 403, { code: "insufficient_role" }]);
  }
  const { status } = await app.store.read
    .selectFrom("conversations")
    .select("status")
    .where("id", "=", conversationId)
    .executeTakeFirstOrThrow();
  expect(status).toBe("open");
});
