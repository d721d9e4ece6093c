import { afterAll, beforeAll, expect, it } from "vitest";
import type { ConversationView, MacroView, Refusal } from "#http/inbox/wire.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { InboxAnswer, InboxUser } from "#test/support/http/inbox.ts";
import { asked, customerWrites, signInTeam } from "#test/support/http/inbox.ts";

eachDatabase("macros", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let viewer: DashboardUser;
  let anna: InboxUser;
  let ben: InboxUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
    viewer = await dashboardUser(app, "viewer");
    ({ anna, ben } = await signInTeam(app));
  });
  afterAll(() => app?.close());

  const made = async (name: string, actions: readonly object[]): Promise<void> => {
    const { status, body } = await admin.call("POST", "macros", { name, actions });
    expect([status, body]).toMatchObject([201, { name }]);
    // Settings are cached for a second.
    app.clock.advance(1_001);
  };
  const macro = async (name: string): Promise<MacroView> => {
    const { body } = await anna.get("macros");
    const found = (body as readonly MacroView[]).find((each) => each.name === name);
    if (found === undefined) throw new Error(`no macro ${name}`);
    return found;
  };
  const view = async (id: string) => (await anna.get(`conversations/${id}`)).body as ConversationView;
  let requests = 0;
  const request = async (name: string, id: string, more: object = {}) => {
    const { status, assignee, lastSeq } = await view(id);
    const { version } = await macro(name);
    const seen = { status, assignedTo: assignee?.email ?? null };
    return { name, version, clientId: `request-${(requests += 1)}`, seen, lastSeq, ...more };
  };
  const apply = async (name: string, id: string, user = anna, more: object = {}): Promise<InboxAnswer> =>
    user.send("POST", `conversations/${id}/macro`, await request(name, id, more));
  const audit = async (id: string) =>
    (
      await app.store.read
        .selectFrom("audit")
        .select("action")
        .where("conversation_id", "=", id)
        .where("actor_id", "=", anna.email)
        .orderBy("id")
        .execute()
    ).map(({ action }) => action);

  it("does all actions with one entry each in the audit log, as the agent", async () => {
    await made("Refund", [
      { reply: "Hello {customer}, your money is on its way. {agent}" },
      { note: "Paid back." },
      { tag: ["Refund", "paid"] },
      { priority: "low" },
      { assign: "me" },
      { resolve: true },
    ]);
    const { conversationId: id } = await asked(app, "refund", "I want my money back", "Ada");
    const body = await request("Refund", id);
    const answer = await anna.send("POST", `conversations/${id}/macro`, body);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { status: "resolved", priority: "low", tags: ["paid", "refund"], assignee: { email: anna.email } },
    ]);
    const { messages, notes } = answer.body as ConversationView;
    expect(JSON.stringify(messages.at(-1)?.content)).toContain("Hello Ada, your money is on its way. Anna");
    expect(notes.length).toBe(1);
    expect(await audit(id)).toEqual([
      "status_changed",
      "assigned",
      "note_added",
      "tagged",
      "tagged",
      "priority_changed",
      "status_changed",
    ]);
    // A repeated request changes nothing.
    expect((await anna.send("POST", `conversations/${id}/macro`, body)).status).toBe(200);
    expect((await audit(id)).length).toBe(7);
  });

  it("does nothing where one action is refused, and says which", async () => {
    await made("Gone", [{ tag: "seen" }, { reply: "Hello" }, { assign: "gone@shop.example" }]);
    expect((await macro("Gone")).problems).toEqual(["gone@shop.example is no agent of this workspace who may answer."]);
    expect((await admin.call("GET", "macros")).body).toMatchObject({
      macros: [{ problems: [] }, { name: "Gone", problems: [expect.stringContaining("gone@shop.example")] }],
    });
    const { conversationId: id } = await asked(app, "gone", "Is anybody there?");
    const before = await view(id);
    const answer = await apply("Gone", id);
    expect([answer.status, (answer.body as Refusal).detail]).toMatchObject([
      422,
      expect.stringContaining("Assign to gone@shop.example: "),
    ]);
    expect(await view(id)).toEqual(before);
  });

  it("is refused after a colleague, a customer's message or another version, like single actions", async () => {
    await made("Hold", [{ snooze_hours: 4 }]);
    await made("Hello", [{ reply: "Hello" }]);
    const { conversationId: id } = await asked(app, "held", "Where is my parcel?");
    const late = await request("Hello", id);
    await customerWrites(app, "held", "Hello?");
    const stale = await anna.send("POST", `conversations/${id}/macro`, late);
    expect([stale.status, (stale.body as Refusal).code]).toEqual([409, "stale_view"]);
    const old = await request("Hello", id, { version: "0" });
    expect((await anna.send("POST", `conversations/${id}/macro`, old)).body).toMatchObject({
      detail: expect.stringContaining("was changed"),
    });
    const seen = await request("Hold", id);
    await ben.send("POST", `conversations/${id}/claim`, {});
    const held = await anna.send("POST", `conversations/${id}/macro`, seen);
    expect([held.status, held.body]).toMatchObject([409, { assignee: { email: ben.email } }]);
    expect((await apply("Hello", id)).body).toMatchObject({ assignee: { email: ben.email } });
    expect((await view(id)).status).toBe("claimed");
    expect((await apply("Hold", id, ben)).body).toMatchObject({ status: "snoozed" });
  });

  it("hands over, gives back, and waits for the customer", async () => {
    await made("Over", [{ escalate: true }]);
    await made("Back", [{ assign: "me" }, { release: true }, { snooze_until_reply: true }]);
    const { conversationId: id } = await asked(app, "over", "Where is my parcel?");
    expect((await apply("Over", id)).body).toMatchObject({ status: "escalated", tags: ["escalated"] });
    expect((await apply("Back", id)).body).toMatchObject({ status: "snoozed", snoozedUntil: null });
  });

  it("is not for viewers, and is made by administrators only", async () => {
    const { conversationId: id } = await asked(app, "viewer", "Hello?");
    const path = `${app.url}/inbox/api/conversations/${id}/macro`;
    const headers = { cookie: viewer.cookie, origin: app.url, "content-type": "application/json" };
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(await request("Over", id)) });
    expect(answer.status).toBe(403);
    expect((await viewer.call("GET", "macros")).status).toBe(200);
    expect((await viewer.call("DELETE", "macros/Over")).status).toBe(403);
  });

  it("is changed, renamed and removed, with entries in the audit log", async () => {
    expect((await admin.call("POST", "macros", { name: "Over", actions: [{ resolve: true }] })).body).toMatchObject({
      code: "already_exists",
    });
    for (const actions of [[{}], [{ note: "a", resolve: true }], [{ reply: "{nobody}" }], []]) {
      expect((await admin.call("POST", "macros", { name: "Wrong", actions })).status).toBe(422);
    }
    const changed = await admin.call("PATCH", "macros/Over", { name: "Hand over" });
    expect(changed.body).toEqual({ name: "Hand over", actions: [{ escalate: true }] });
    expect((await admin.call("DELETE", "macros/Over")).status).toBe(404);
    expect((await admin.call("DELETE", "macros/Hand%20over")).status).toBe(204);
    const entries = await app.store.read
      .selectFrom("audit")
      .select("action")
      .where("action", "in", ["macro_added", "macro_changed", "macro_removed"])
      .where("actor_id", "=", admin.email)
      .orderBy("id", "desc")
      .limit(2)
      .execute();
    expect(entries.map(({ action }) => action)).toEqual(["macro_removed", "macro_changed"]);
  });
});
