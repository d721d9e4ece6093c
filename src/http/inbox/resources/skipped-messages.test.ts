import { afterAll, beforeAll, expect, it } from "vitest";
import { deleteSkippedOf, storeSkipped } from "#database/queries/accounts/skipped-messages.ts";
import type { Counts } from "#http/inbox/wire.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { signInTeam } from "#test/support/http/inbox.ts";

eachDatabase("skipped messages", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open);
  });
  afterAll(() => app?.close());

  it("are listed once each, newest first, for agents of the workspace, until their sender is erased", async () => {
    const { anna } = await signInTeam(app);
    const other = await app.createWorkspace();
    const accountOf = async (workspaceId: string) =>
      app.store.read
        .selectFrom("accounts")
        .select(["id", "name"])
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirstOrThrow();
    const [own, foreign] = [await accountOf(app.workspace.id), await accountOf(other.id)];
    const message = (id: string, receivedAt: number, sender: string | null) => ({
      externalId: id,
      receivedAt,
      sender,
      title: `Subject ${id}`,
      reason: "it has a header list-id",
    });
    await app.store.write(async (tx) => {
      await storeSkipped(tx, own.id, message("1", 1_000, "Ada@Elsewhere.example"));
      await storeSkipped(tx, own.id, message("1", 1_000, "Ada@Elsewhere.example"));
      await storeSkipped(tx, own.id, message("2", 2_000, null));
      await storeSkipped(tx, foreign.id, message("3", 3_000, null));
    });
    const listed = async () => (await anna.get("skipped-messages")).body;
    const shown = { account: own.name, reason: "it has a header list-id" };
    const first = { ...shown, receivedAt: 1_000, sender: "ada@elsewhere.example", title: "Subject 1" };
    const second = { ...shown, receivedAt: 2_000, sender: null, title: "Subject 2" };
    expect(await listed()).toEqual([second, first]);
    expect(((await anna.get("counts")).body as Counts).skippedMessages).toBe(2);
    await app.store.write((tx) => deleteSkippedOf(tx, app.workspace.id, "ADA@elsewhere.example"));
    expect(await listed()).toEqual([second]);
  });
});
