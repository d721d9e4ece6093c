import { afterAll, beforeAll, expect, it } from "vitest";
import { idsFrom, newId } from "#domain/ids.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp, testStart } from "#test/support/http/app.ts";

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly actor: { readonly type: string; readonly id: string; readonly name: string };
  readonly detail: string | null;
  readonly to: string | null;
  readonly conversation_id: string | null;
  readonly created_at: string;
}

interface Answer {
  readonly entries: readonly Entry[];
  readonly pagination: { readonly next_cursor: string; readonly has_more: boolean };
}

const hourMs = 3_600_000;

eachDatabase("the audit log in /admin/v1", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let conversationId: string;
  beforeAll(async () => {
    const clock = createHandMovedClock(testStart);
    // Ids of this process have the time of the latest clock, which another test may have moved on.
    while (newId("aud", clock.now()) > idsFrom("aud", clock.now() + hourMs)) clock.leap(24 * hourMs);
    app = await startApp(open, { clock });
    admin = await dashboardUser(app, "admin");
    await admin.call("POST", "keys", { name: "Shop" });
    clock.advance(hourMs);
    await admin.call("POST", "keys", { name: "=cmd|'/c calc'!A1" });
    const asked = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello?" });
    conversationId = asked.body.conversation_id;
    const change = { tags: ["vip"] };
    await app.call("PATCH", `/v1/conversations/${conversationId}`, { body: change });
  });
  afterAll(() => app.close());

  const read = async (query = ""): Promise<Answer> => {
    const { status, body } = await admin.call("GET", `audit${query}`);
    expect(status).toBe(200);
    return body as Answer;
  };
  const actions = async (query: string) => (await read(query)).entries.map(({ action, detail }) => [action, detail]);

  it("lists changes of the workspace and of conversations, newest first, in pages", async () => {
    const { entries, pagination } = await read();
    expect(pagination.has_more).toBe(false);
    expect(entries.map(({ id }) => id)).toEqual(
      entries
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
    const begun = entries.find(({ conversation_id: id, to }) => id === conversationId && to === "open");
    expect(begun?.action).toBe("status_changed");
    const added = entries.find(({ action, detail }) => action === "api_key_added" && detail === "Shop");
    expect(added?.actor).toEqual({ type: "agent", id: admin.email, name: "admin" });

    const paged: Entry[] = [];
    for (let cursor = ""; ;) {
      const page = await read(`?limit=2${cursor}`);
      paged.push(...page.entries);
      if (!page.pagination.has_more) break;
      cursor = `&cursor=${page.pagination.next_cursor}`;
    }
    expect(paged).toEqual(entries);
    expect((await admin.call("GET", `audit?actor=x&cursor=${pagination.next_cursor}`)).status).toBe(422);
    expect((await read(`?cursor=${pagination.next_cursor}`)).entries).toEqual([]);
  });

  it("finds entries by actor, action, text, conversation and time", async () => {
    const keyTexts = ["=cmd|'/c calc'!A1", "Shop"];
    expect(await actions(`?actor=${admin.email.toUpperCase()}&action=api_key`)).toEqual(
      keyTexts.map((name) => ["api_key_added", name]),
    );
    expect(await actions("?action=api_key_added&q=SHOP")).toEqual([["api_key_added", "Shop"]]);
    // Neither % nor _ stands for other characters.
    expect(await actions("?action=api%25")).toEqual([]);
    expect(await actions("?q=_hop")).toEqual([]);
    const { entries } = await read(`?conversation_id=${conversationId}`);
    expect(entries.length).toBeGreaterThan(1);
    expect(entries.every(({ conversation_id: id }) => id === conversationId)).toBe(true);

    const between = new Date(app.clock.now()).toISOString();
    expect(await actions(`?action=api_key&to=${between}&q=shop`)).toEqual([["api_key_added", "Shop"]]);
    expect(await actions(`?action=api_key&from=${between}&q=shop`)).toEqual([]);
    expect(await actions(`?action=api_key&from=${between}&actor=${admin.email}`)).toHaveLength(1);
    expect((await admin.call("GET", "audit?from=yesterday")).status).toBe(422);
  });

  it("downloads the entries as CSV that spreadsheets do not run, and records that", async () => {
    const answer = await admin.call("GET", "audit/export?action=api_key");
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="audit-\d{4}-\d\d-\d\d\.csv"$/);
    const [head, ...lines] = String(answer.body).trimEnd().split("\r\n");
    expect(head).toBe("time,action,actor_type,actor,actor_name,subject,from,to,conversation");
    expect(lines.filter((line) => line.includes(admin.email)).map((line) => line.split(",")[5])).toEqual([
      "'=cmd|'/c calc'!A1",
      "Shop",
    ]);
    expect(await actions("?action=workspace_exported")).toEqual([["workspace_exported", "audit log"]]);
  });

  it("looks through a bounded number of entries a page, also where few match", async () => {
    const now = app.clock.now();
    const row = { workspace_id: app.workspace.id, conversation_id: null, action: "tagged" as const };
    const by = { actor_type: "system", actor_id: "rule:x", actor_name: null, from_value: null, to_value: "vip" };
    for (let part = 0; part < 21; part += 1) {
      const rows = Array.from({ length: 1_000 }, () => ({
        id: newId("aud", now),
        ...row,
        ...by,
        detail: null,
        created_at: now,
      }));
      await app.store.write((tx) => tx.insertInto("audit").values(rows).execute());
    }
    const first = await read("?action=api_key&q=shop");
    expect([first.entries, first.pagination.has_more]).toEqual([[], true]);
    const second = await read(`?action=api_key&q=shop&cursor=${first.pagination.next_cursor}`);
    expect(second.entries.map(({ detail }) => detail)).toEqual(["Shop"]);
    expect(second.pagination.has_more).toBe(false);
    const all = await admin.call("GET", "audit/export");
    expect(String(all.body).split("\r\n").length).toBeGreaterThan(21_000);
  });

  it("shows nothing of other workspaces, and nothing to agents and viewers", async () => {
    const other = await app.createWorkspace();
    const stranger = await dashboardUser(app, "admin", { workspaceId: other.id, name: "stranger" });
    const { body } = await stranger.call("GET", `audit?conversation_id=${conversationId}`);
    expect((body as Answer).entries).toEqual([]);
    for (const role of ["agent", "viewer"] as const) {
      const user = await dashboardUser(app, role, { name: `curious-${role}` });
      expect((await user.call("GET", "audit")).status).toBe(403);
      expect((await user.call("GET", "audit/export")).status).toBe(403);
    }
  });
});
