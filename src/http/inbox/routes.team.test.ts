import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemActor } from "#domain/conversation/message.ts";
import { changeAgent } from "#admin/team/agents.ts";
import type { BulkResult, Colleague, ConversationView, ListPage, Me, Refusal } from "./wire.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { InboxAnswer, InboxUser } from "#test/support/http/inbox.ts";
import { addAgent, asked, signIn, signInTeam } from "#test/support/http/inbox.ts";

eachDatabase("agents who share an inbox", (open) => {
  let app: TestApp;
  let anna: InboxUser;
  let ben: InboxUser;
  let carl: InboxUser;
  let stranger: InboxUser;

  beforeAll(async () => {
    app = await startApp(open, { settings: { savedReplies: { thanks: "Thank you, {customer}.", bye: "Bye" } } });
    ({ anna, ben, stranger } = await signInTeam(app));
    carl = await signIn(app, await addAgent(app, "Carl"));
  });
  afterAll(() => app?.close());

  const view = (answer: InboxAnswer) => answer.body as ConversationView;
  const refusal = (answer: InboxAnswer) => answer.body as Refusal;
  const unclaimed = { status: "open", assignedTo: null };
  const heldBy = (user: InboxUser) => ({ status: "claimed", assignedTo: user.email });
  const assign = (by: InboxUser, id: string, to: string | null, seen: object) =>
    by.send("POST", `conversations/${id}/assign`, { to, seen });
  const ids = async (user: InboxUser, query: string) =>
    ((await user.get(`conversations?${query}`)).body as ListPage).items.map(({ id }) => id);

  it("get the saved replies of their own workspace", async () => {
    expect((await anna.get("saved-replies")).body).toEqual([
      { name: "bye", text: "Bye" },
      { name: "thanks", text: "Thank you, {customer}." },
    ]);
    expect((await stranger.get("saved-replies")).body).toEqual([]);
  });

  it("get a conflict when a colleague changed it first, but not for their own changes", async () => {
    const { conversationId: id } = await asked(app, "quicker");
    await ben.send("POST", `conversations/${id}/resolve`, { seen: unclaimed });
    for (const action of ["snooze", "release", "archive", "reopen"]) {
      const late = await anna.send("POST", `conversations/${id}/${action}`, { seen: unclaimed });
      expect([action, late.status, refusal(late).detail]).toEqual([
        action,
        409,
        "Ben already resolved this conversation.",
      ]);
    }
    expect((await ben.send("POST", `conversations/${id}/snooze`, { seen: unclaimed })).status).toBe(200);
  });

  it("undo their own resolution, back to the state before, but not a colleague's", async () => {
    const undo = async (by: InboxUser, id: string, body: object = {}) =>
      by.send("POST", `conversations/${id}/undo-resolve`, body);
    const resolve = (by: InboxUser, id: string) => by.send("POST", `conversations/${id}/resolve`);
    const said = async (id: string) => view(await anna.get(`conversations/${id}`)).messages.length;
    const claimed = (await asked(app, "undo-claimed")).conversationId;
    await anna.send("POST", `conversations/${claimed}/claim`);
    await ben.send("POST", `conversations/${claimed}/resolve`);
    expect((await undo(anna, claimed)).status).toBe(409);
    expect(view(await undo(ben, claimed))).toMatchObject({ status: "claimed", assignee: { email: anna.email } });

    const customer = await asked(app, "undo-escalated", "I want to talk to a human");
    const escalated = customer.conversationId;
    const words = await said(escalated);
    await anna.send("POST", `conversations/${escalated}/snooze`);
    await resolve(anna, escalated);
    expect(view(await undo(anna, escalated, { snoozedUntil: null }))).toMatchObject({
      status: "snoozed",
      snoozedFrom: "escalated",
      snoozedUntil: null,
    });
    await resolve(anna, escalated);
    // The snooze has expired.
    expect(view(await undo(anna, escalated, { snoozedUntil: app.clock.now() - 1 })).status).toBe("escalated");
    expect(await said(escalated)).toBe(words);
    await resolve(anna, escalated);
    await customer.write("Still there?");
    const late = await undo(anna, escalated);
    expect([late.status, refusal(late).detail]).toEqual([
      409,
      "The customer already changed this conversation. It is open now.",
    ]);
    expect((await undo(stranger, claimed)).status).toBe(404);
  });

  it("keep the SLA time and list position of a conversation when they undo its resolution", async () => {
    const { conversationId: id } = await asked(app, "undo-clock", "I want to talk to a human");
    app.clock.advance(50 * 60_000);
    const { sla } = view(await anna.get(`conversations/${id}`));
    await anna.send("POST", `conversations/${id}/resolve`);
    app.clock.advance(5 * 60_000);
    const back = view(await anna.send("POST", `conversations/${id}/undo-resolve`));
    expect([back.status, back.sla.state]).toEqual(["escalated", sla.state]);
    expect(sla.state).toBe("at_risk");
    const waited = ({ elapsedMs, runningSince }: typeof sla, now: number) => elapsedMs + now - (runningSince ?? now);
    expect(waited(back.sla, back.now)).toBe(50 * 60_000);
  });

  it("can remove the built-in manual, and nothing else, only as admins", async () => {
    const mine = await app.learn("prices.md", "# Prices\n\nA lamp costs 20 euros.\n");
    await app.learn("troubleshooting.md", "# Troubleshooting\n\nRestart the server.\n");
    const replaced = await app.learn("inbox.md", "# Inbox\n\nOur own text.\n");
    const first = await app.store.read
      .selectFrom("api_keys")
      .select((eb) => eb.fn.min("created_at").as("at"))
      .executeTakeFirstOrThrow();
    await app.store.write(async (tx) => {
      await tx.updateTable("documents").set({ indexed_at: first.at }).where("id", "!=", replaced).execute();
      await tx
        .updateTable("documents")
        .set({ indexed_at: first.at + 1 })
        .where("id", "=", replaced)
        .execute();
    });
    const left = async () => {
      const rows = await app.store.read.selectFrom("documents").select("id").orderBy("id").execute();
      return rows.map(({ id }) => id);
    };
    const hasManual = async (user: InboxUser) => ((await user.get("me")).body as Me).hasManual;
    const all = await left();
    expect(await hasManual(anna)).toBe(false);
    const denied = await anna.send("POST", "manual/remove");
    expect([denied.status, refusal(denied).code]).toEqual([403, "insufficient_role"]);
    await app.store.write((tx) =>
      tx.updateTable("agents").set({ role: "admin" }).where("id", "in", [anna.id, stranger.id]).execute(),
    );
    expect([await hasManual(anna), await hasManual(stranger)]).toEqual([true, false]);
    const foreign = await anna.send("POST", "manual/remove", {}, { origin: "https://evil.example" });
    expect([foreign.status, refusal(foreign).code]).toEqual([403, "cross_site"]);
    expect((await stranger.send("POST", "manual/remove")).status).toBe(204);
    expect(await left()).toEqual(all);
    expect((await anna.send("POST", "manual/remove")).status).toBe(204);
    expect(await left()).toEqual([mine, replaced].toSorted());
    expect(await hasManual(anna)).toBe(false);
    const entries = app.store.read.selectFrom("audit").select(["action", "actor_id", "detail"]);
    expect(await entries.where("action", "=", "document_removed").execute()).toEqual([
      { action: "document_removed", actor_id: anna.email, detail: "Troubleshooting" },
    ]);
  });

  it("lose no tag when they add and remove tags at the same time", async () => {
    const { conversationId: id } = await asked(app, "tags");
    await anna.send("PATCH", `conversations/${id}`, { tags: ["old", "older"] });
    await Promise.all([
      anna.send("PATCH", `conversations/${id}`, { addTags: ["Alpha "], removeTags: ["old"] }),
      ben.send("PATCH", `conversations/${id}`, { addTags: ["beta"], removeTags: ["older"] }),
    ]);
    expect(view(await anna.get(`conversations/${id}`)).tags).toEqual(["alpha", "beta"]);
  });

  describe("several conversations at once", () => {
    const bulk = async (by: InboxUser, change: object, items: readonly object[]) =>
      by.send("POST", "bulk", { ...change, items });
    const refused = (answer: InboxAnswer) => (answer.body as readonly BulkResult[]).map((result) => result.refused);
    const listed = (id: string, seen: object = unclaimed) => ({ id, ...seen });
    const three = async (name: string) => {
      const made = [await asked(app, `${name}-1`), await asked(app, `${name}-2`), await asked(app, `${name}-3`)];
      return made.map(({ conversationId }) => conversationId);
    };
    const statuses = async (all: readonly string[]) => {
      const views = await Promise.all(all.map((id) => anna.get(`conversations/${id}`)));
      return views.map((answer) => view(answer).status);
    };

    it("are resolved, archived, tagged and assigned like single ones", async () => {
      const all = await three("bulk");
      expect(
        refused(
          await bulk(
            anna,
            { action: "tag", tag: " Sale " },
            all.map((id) => listed(id)),
          ),
        ),
      ).toEqual([null, null, null]);
      expect(view(await anna.get(`conversations/${all[2]}`)).tags).toEqual(["sale"]);
      await bulk(
        anna,
        { action: "assign", to: ben.email },
        all.map((id) => listed(id)),
      );
      expect(await ids(ben, "view=mine")).toEqual(expect.arrayContaining(all));
      await bulk(
        ben,
        { action: "resolve" },
        all.map((id) => listed(id, heldBy(ben))),
      );
      expect(await statuses(all)).toEqual(["resolved", "resolved", "resolved"]);
      const resolved = { status: "resolved", assignedTo: ben.email };
      await bulk(
        ben,
        { action: "archive" },
        all.map((id) => listed(id, resolved)),
      );
      expect(await statuses(all)).toEqual(["archived", "archived", "archived"]);
    });

    it("are skipped with a reason where a colleague changed them first, and the others are changed", async () => {
      const [one = "", other = "", last = ""] = await three("race");
      await ben.send("POST", `conversations/${other}/claim`);
      const answer = await bulk(
        anna,
        { action: "resolve" },
        [one, other, last].map((id) => listed(id)),
      );
      expect(answer.status).toBe(200);
      expect(refused(answer)).toEqual([null, "Ben already claimed this conversation.", null]);
      expect(await statuses([one, other, last])).toEqual(["resolved", "claimed", "resolved"]);
      const again = await bulk(anna, { action: "archive" }, [
        listed(one, { status: "resolved", assignedTo: null }),
        listed(other, heldBy(ben)),
      ]);
      expect(refused(again)).toEqual([null, expect.stringContaining("cannot become archived")]);
    });

    it("are changed once if the request is repeated or lists one twice", async () => {
      const [one = ""] = await three("again");
      const items = [listed(one), listed(one)];
      expect(refused(await bulk(anna, { action: "resolve" }, items))).toEqual([null]);
      expect(refused(await bulk(anna, { action: "resolve" }, items))).toEqual([null]);
      const { audit } = view(await anna.get(`conversations/${one}`));
      expect(audit.filter(({ to }) => to === "resolved")).toHaveLength(1);
    });

    it("are limited to a hundred of the agent's workspace, with the action's fields", async () => {
      const [one = ""] = await three("bounds");
      const hundred = Array.from({ length: 101 }, (_, i) => listed(`conv_${String(i).padStart(26, "0")}`));
      for (const [change, items, status] of [
        [{ action: "resolve" }, hundred, 422],
        [{ action: "resolve" }, [], 422],
        [{ action: "delete" }, [listed(one)], 422],
        [{ action: "assign" }, [listed(one)], 400],
        [{ action: "assign", to: `${ben.email} ` }, [listed(one)], 422],
        [{ action: "tag", tag: "  " }, [listed(one)], 400],
      ] as const) {
        expect([change, (await bulk(anna, change, items)).status]).toEqual([change, status]);
      }
      expect(refused(await bulk(stranger, { action: "resolve" }, [listed(one)]))).toEqual([
        expect.stringContaining("no conversation"),
      ]);
      expect(await statuses([one])).toEqual(["open"]);
    });
  });

  describe("assigning", () => {
    it("gives a conversation to a colleague, then to another one, and back to the assistant", async () => {
      const { conversationId: id } = await asked(app, "given");
      const given = view(await assign(anna, id, ben.email.toUpperCase(), unclaimed));
      expect([given.status, given.assignee?.email]).toEqual(["claimed", ben.email]);
      expect(await ids(ben, "view=mine")).toContain(id);
      expect(await ids(anna, "view=mine")).not.toContain(id);
      expect(await ids(anna, "view=claimed")).toContain(id);
      const passed = view(await assign(anna, id, carl.email, heldBy(ben)));
      expect(passed.assignee?.email).toBe(carl.email);
      expect(passed.audit.at(-1)).toMatchObject({ action: "assigned", actor: "Anna", to: "Carl" });
      const back = view(await assign(anna, id, null, heldBy(carl)));
      expect([back.status, back.assignee]).toEqual(["open", null]);
      expect(await ids(anna, "view=claimed")).not.toContain(id);
    });

    it("changes nothing if a colleague claimed it first, and names the owner", async () => {
      const { conversationId: id } = await asked(app, "crossed");
      await ben.send("POST", `conversations/${id}/claim`);
      const late = await assign(anna, id, carl.email, unclaimed);
      expect([late.status, refusal(late)]).toMatchObject([
        409,
        { code: "claimed_by_other", assignee: { email: ben.email } },
      ]);
      expect(view(await ben.get(`conversations/${id}`)).assignee?.email).toBe(ben.email);
    });

    it("succeeds for one of two agents at the same time, and gives the other a conflict", async () => {
      const { conversationId: id } = await asked(app, "both");
      const [one, other] = await Promise.all([
        assign(anna, id, carl.email, unclaimed),
        assign(ben, id, ben.email, unclaimed),
      ]);
      expect([one.status, other.status].toSorted((a, b) => a - b)).toEqual([200, 409]);
      const won = one.status === 200 ? carl.email : ben.email;
      expect(view(await anna.get(`conversations/${id}`)).assignee?.email).toBe(won);
    });

    it("takes effect once, however often it is requested", async () => {
      const { conversationId: id } = await asked(app, "twice");
      await assign(anna, id, ben.email, unclaimed);
      const again = await assign(anna, id, ben.email, unclaimed);
      expect(again.status).toBe(200);
      const assigned = view(again).audit.filter(({ action }) => action === "assigned");
      expect(assigned).toHaveLength(1);
    });

    it("un-snoozes a conversation for its new owner, and refuses a resolved one", async () => {
      const { conversationId: id } = await asked(app, "asleep");
      await ben.send("POST", `conversations/${id}/claim`);
      await ben.send("POST", `conversations/${id}/snooze`);
      const asleep = { status: "snoozed", assignedTo: ben.email };
      expect((await assign(ben, id, null, asleep)).status).toBe(409);
      const woken = view(await assign(anna, id, carl.email, asleep));
      expect([woken.status, woken.assignee?.email]).toEqual(["claimed", carl.email]);
      await carl.send("POST", `conversations/${id}/resolve`);
      expect((await assign(anna, id, ben.email, { status: "resolved", assignedTo: carl.email })).status).toBe(409);
      expect(view(await anna.get(`conversations/${id}`)).status).toBe("resolved");
    });

    it("un-snoozes a conversation for the colleague who snoozed it, and assigns it to them", async () => {
      const { conversationId: id } = await asked(app, "woken");
      const assigned = async () =>
        view(await anna.get(`conversations/${id}`)).audit.filter(({ action }) => action === "assigned");
      const asleep = { status: "snoozed", assignedTo: ben.email };
      await ben.send("POST", `conversations/${id}/claim`);
      await ben.send("POST", `conversations/${id}/snooze`);
      expect((await assign(ben, id, ben.email, asleep)).status).toBe(200);
      expect(await assigned()).toHaveLength(1);
      await ben.send("POST", `conversations/${id}/snooze`);
      const woken = view(await assign(anna, id, ben.email, asleep));
      expect([woken.status, woken.assignee?.email]).toEqual(["claimed", ben.email]);
      expect(woken.audit.at(-1)).toMatchObject({ action: "assigned", actor: "Anna", to: "Ben" });
    });

    it("accepts agents of the workspace only, and lists them with those who are away", async () => {
      const { conversationId: id } = await asked(app, "nobody");
      for (const to of [stranger.email, "nobody@shop.example", "x'; drop table agents", `${ben.email} `]) {
        const answer = await assign(anna, id, to, unclaimed);
        expect([to, answer.status]).toEqual([to, 422]);
      }
      expect(view(await anna.get(`conversations/${id}`)).status).toBe("open");
      const carlOf = { workspaceId: app.workspace.id, agentId: carl.id, by: systemActor("test") };
      await changeAgent(app.store, app.clock, carlOf, { away: true });
      const colleagues = (await anna.get("agents")).body as readonly Colleague[];
      expect(colleagues).toEqual([
        { email: anna.email, name: "Anna", away: false },
        { email: ben.email, name: "Ben", away: false },
        { email: carl.email, name: "Carl", away: true },
      ]);
    });
  });
});
