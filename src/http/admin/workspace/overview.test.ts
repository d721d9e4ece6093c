import { afterAll, beforeAll, expect, it } from "vitest";
import { insertWork } from "#database/queries/outbox.ts";
import { storeAccountStatus } from "#database/queries/accounts/status.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";

interface Overview {
  readonly channels: readonly { readonly id: string; readonly error: string | null }[];
  readonly documents_failed: number;
  readonly webhooks: readonly { readonly id: string; readonly state: string }[];
  readonly dead_letters: readonly { readonly conversation_id: string | null; readonly error: string | null }[];
  readonly versions: readonly (string | null)[];
  readonly first_steps: Readonly<Record<string, boolean>>;
}

eachDatabase("the overview in /admin/v1", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());

  const read = async (user = admin) => (await user.call("GET", "overview")).body as Overview;

  it("ticks the first steps as they are done, until they are dismissed for all", async () => {
    const none = { documents: false, manual: false, question: false, widget: false, channel: false, colleague: false };
    expect((await read()).first_steps).toEqual({ dismissed: false, ...none });
    await app.learn("shipping.md", "# Shipping\n\nDelivery takes 3 days.\n");
    await app.post("/v1/query", { workspace_id: app.workspace.id, query: "How long does delivery take?" });
    const viewer = await dashboardUser(app, "viewer");
    expect((await read(viewer)).first_steps).toMatchObject({ documents: true, question: true, colleague: true });
    expect((await viewer.call("DELETE", "overview/first-steps")).status).toBe(403);
    expect((await admin.call("DELETE", "overview/first-steps")).status).toBe(204);
    expect((await read(viewer)).first_steps).toMatchObject({ dismissed: true });
  });

  it("names failed channels, documents, webhooks and work, of this workspace only", async () => {
    const other = await dashboardUser(app, "admin", { workspaceId: (await app.createWorkspace()).id, name: "other" });
    const asked = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "And to Spain?" });
    const { conversation_id: conversationId } = asked.body;
    const { body } = await admin.call("POST", "webhooks", { url: "https://shop.example/hook" });
    const { id: webhookId } = body as { readonly id: string };
    const now = app.clock.now();
    const account = await app.store.read
      .selectFrom("accounts")
      .select(["id", "revision"])
      .where("workspace_id", "=", app.workspace.id)
      .executeTakeFirstOrThrow();
    await app.store.write(async (tx) => {
      await storeAccountStatus(tx, account.id, { revision: account.revision, state: "broken", error: "no token" });
      await tx.updateTable("webhooks").set({ failing_since: now }).where("id", "=", webhookId).execute();
      await tx.updateTable("documents").set({ status: "failed" }).execute();
      await insertWork(tx, [{ lane: `send:${conversationId}`, kind: "probe", payload: {}, dueAt: now + 1 }], now);
      await tx.updateTable("outbox").set({ dead_at: now, last_error: "refused" }).where("kind", "=", "probe").execute();
    });
    const found = await read();
    expect(found.channels).toMatchObject([{ id: account.id, error: "no token" }]);
    expect(found.documents_failed).toBe(1);
    expect(found.webhooks).toMatchObject([{ id: webhookId, state: "failing" }]);
    expect(found.dead_letters).toMatchObject([{ conversation_id: conversationId, error: "refused" }]);
    const viewer = await dashboardUser(app, "viewer", { name: "vera" });
    const seen = await read(viewer);
    expect(seen.webhooks).toMatchObject([{ id: webhookId, url: "shop.example", reason: null }]);
    expect(seen.channels).toMatchObject([{ error: null }]);
    expect(seen.dead_letters).toMatchObject([{ conversation_id: conversationId, error: null }]);
    expect(await read(other)).toMatchObject({ channels: [], documents_failed: 0, webhooks: [], dead_letters: [] });
  });

  it("shows dead letters of documents and webhooks, and those of no workspace without their error", async () => {
    const other = await dashboardUser(app, "admin", { workspaceId: (await app.createWorkspace()).id, name: "third" });
    const { id: documentId } = await app.store.read.selectFrom("documents").select("id").executeTakeFirstOrThrow();
    const now = app.clock.now();
    const payloads: readonly (readonly [string, object])[] = [
      ["crawl:0123", { documentId, text: "conv_00000000000000000000000000" }],
      [`questions:${app.workspace.id}`, {}],
      ["mail:0123", { sealed: "x" }],
    ];
    await app.store.write(async (tx) => {
      await tx.deleteFrom("outbox").where("kind", "=", "probe").execute();
      await insertWork(
        tx,
        payloads.map(([lane, payload]) => ({ lane, kind: "probe", payload, dueAt: now + 60_000 })),
        now,
      );
      await tx.updateTable("outbox").set({ dead_at: now, last_error: "refused" }).where("kind", "=", "probe").execute();
    });
    const none = { conversation_id: null, kind: "probe", error: null };
    const found = { ...none, error: "refused" };
    const { dead_letters: own } = await read();
    expect(own.toSorted((a, b) => (b.error ?? "").localeCompare(a.error ?? ""))).toMatchObject([found, found, none]);
    expect((await read(other)).dead_letters).toMatchObject([none]);
    await app.store.write((tx) => tx.deleteFrom("outbox").where("kind", "=", "probe").execute());
  });

  it("shows dead letters however many newer ones another workspace has", async () => {
    const other = await app.createWorkspace();
    const now = app.clock.now();
    const work = (lane: string, payload: object) => ({ lane, kind: "probe", payload, dueAt: now + 60_000 });
    const { id: documentId } = await app.store.read
      .selectFrom("documents")
      .select("id")
      .where("workspace_id", "=", app.workspace.id)
      .executeTakeFirstOrThrow();
    const bury = (deadAt: number) => (works: readonly ReturnType<typeof work>[]) =>
      app.store.write(async (tx) => {
        await insertWork(tx, works, now);
        const rows = tx.updateTable("outbox").set({ dead_at: deadAt, last_error: "refused" });
        await rows.where("kind", "=", "probe").where("dead_at", "is", null).execute();
      });
    await bury(now - 1)([work(`questions:${app.workspace.id}`, {}), work("crawl:own", { documentId })]);
    await bury(now)(
      Array.from({ length: 600 }, (_, i) => [
        work(`questions:${other.id}`, { i }),
        work(`crawl:${i}`, { documentId: `doc_${"0".repeat(26)}` }),
      ]).flat(),
    );
    expect((await read()).dead_letters).toMatchObject([{ error: "refused" }, { error: "refused" }]);
    await app.store.write((tx) => tx.deleteFrom("outbox").where("kind", "=", "probe").execute());
  });

  it("names the versions of processes where they differ", async () => {
    expect((await read()).versions).toEqual([]);
    const now = app.clock.now();
    const [{ version } = { version: null }] = await app.store.read.selectFrom("processes").select("version").execute();
    expect(version).toMatch(/^\d/);
    const row = { id: "ses_earlier", host: "elsewhere", pid: 1, started_at: now, heartbeat_at: now };
    await app.store.write((tx) => tx.insertInto("processes").values(row).execute());
    expect((await read()).versions).toEqual([null, version]);
    await app.store.write((tx) => tx.deleteFrom("processes").where("id", "=", row.id).execute());
  });
});
