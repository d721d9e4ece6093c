import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { retryDeadWork } from "#database/queries/outbox.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { isWriteWaiting } from "#test/support/database/waiting-writes.ts";
import { eventually } from "#test/support/eventually.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { asked } from "#test/support/http/inbox.ts";
import { inTime } from "#test/support/in-time.ts";
import type { GivenUpWork } from "#test/support/queue/dead-letters.ts";
import { addDeadLetter, indexingOf } from "#test/support/queue/dead-letters.ts";
import type { MailServer } from "#test/support/servers/mail-server.ts";
import { mailConfigOf, openMailServer } from "#test/support/servers/mail-server.ts";

interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly conversation_id: string | null;
  readonly error: string | null;
  readonly can_retry: boolean;
  readonly can_dismiss: boolean;
}

const unread = "left to a newer version: this program cannot read what is to be done";

eachDatabase("work that was given up", (open) => {
  let app: TestApp;
  let mails: MailServer;
  let admin: DashboardUser;
  let conversationId: string;
  beforeAll(async () => {
    mails = await openMailServer();
    app = await startApp(open, { mail: mailConfigOf(mails) });
    admin = await dashboardUser(app, "admin");
    ({ conversationId } = await asked(app, "given-up"));
  });
  afterAll(async () => {
    await app.close();
    await mails.close();
  });
  beforeEach(async () => {
    await app.store.write((tx) => tx.deleteFrom("outbox").where("dead_at", "is not", null).execute());
  });

  const list = async (user = admin) =>
    ((await user.call("GET", "overview")).body as { readonly dead_letters: readonly Listed[] }).dead_letters;
  const retry = (id: string, user = admin) => user.call("POST", `dead-letters/${id}/retry`);
  const dismiss = (id: string, user = admin) => user.call("DELETE", `dead-letters/${id}`);
  const bury = (work: GivenUpWork) => addDeadLetter(app, work);
  const rowOf = (id: string) =>
    app.store.read.selectFrom("outbox").selectAll().where("id", "=", Number(id)).executeTakeFirst();
  const entries = async (action: "work_retried" | "work_dismissed") =>
    (
      await app.store.read.selectFrom("audit").select("detail").where("action", "=", action).orderBy("id").execute()
    ).map(({ detail }) => detail);
  /** Work that this process can read and leaves to one with Typesense, so that it waits. */
  const waiting = (workspaceId = app.workspace.id): GivenUpWork => ({
    lane: `knowledge:${workspaceId}`,
    kind: "knowledge",
    payload: {},
  });
  const indexing = (): GivenUpWork => indexingOf(conversationId);

  it("is done once its cause is removed and an administrator tries it again", async () => {
    mails.refuse(...Array.from({ length: 14 }, () => 451));
    expect((await admin.call("POST", "agents", { email: "ida@shop.example", name: "Ida" })).status).toBe(201);
    const mailRow = app.store.read.selectFrom("outbox").selectAll().where("kind", "=", "mail");
    const tried = (attempts: number) =>
      eventually(async () => {
        const row = await mailRow.executeTakeFirstOrThrow();
        expect(row.attempts).toBeGreaterThan(attempts);
        return row;
      });
    let row = await inTime(app.clock, tried(0));
    while (row.dead_at === null) {
      app.clock.advance(Math.max(0, row.due_at - app.clock.now()));
      row = await inTime(app.clock, tried(row.attempts));
    }
    expect(row.attempts).toBe(14);
    const [letter] = await list();
    expect(letter).toMatchObject({ kind: "mail", title: "A mail was not sent", can_retry: true, can_dismiss: true });
    expect(mails.received).toEqual([]);

    const answer = await retry(letter?.id ?? "");
    expect([answer.status, answer.body]).toEqual([202, { retried: 1 }]);
    expect((await inTime(app.clock, mails.mails(1))).map(({ to }) => to)).toEqual([["ida@shop.example"]]);
    await inTime(
      app.clock,
      eventually(async () => expect(await mailRow.execute()).toEqual([])),
    );
    expect(await list()).toEqual([]);
    expect(await entries("work_retried")).toEqual(["A mail was not sent"]);
    expect((await retry(letter?.id ?? "")).status).toBe(404);
  });

  it("is due at once, as if it were new, and is tried again once by two clicks", async () => {
    const id = await bury(waiting());
    const before = (await entries("work_retried")).length;
    const both = await Promise.all([retry(id), retry(id)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409]);
    expect((await retry(id)).body).toMatchObject({ code: "invalid_transition" });
    expect((await dismiss(id)).body).toMatchObject({ code: "invalid_transition" });
    // The worker of this process has looked at it, woken by the retry.
    await eventually(async () => expect(await rowOf(id)).toMatchObject({ attempts: 1, dead_at: null, lease_id: null }));
    expect((await rowOf(id))?.last_error).toContain("set up for it");
    expect(await entries("work_retried")).toHaveLength(before + 1);
    await app.store.write((tx) => tx.deleteFrom("outbox").where("id", "=", Number(id)).execute());
  });

  it("is not tried again by a click that comes while another one is being stored", async () => {
    const id = await bury(waiting());
    const began = Promise.withResolvers<undefined>();
    const commit = Promise.withResolvers<undefined>();
    const first = app.store.write(async (tx) => {
      expect(await retryDeadWork(tx, [Number(id)], app.clock.now())).toEqual(new Set([Number(id)]));
      began.resolve(undefined);
      await commit.promise;
    });
    await began.promise;
    const second = retry(id);
    await expect.poll(() => isWriteWaiting(app.store)).toBe(true);
    commit.resolve(undefined);
    await first;
    expect((await second).body).toMatchObject({ code: "invalid_transition" });
    await app.store.write((tx) => tx.deleteFrom("outbox").where("id", "=", Number(id)).execute());
  });

  it("has no second try where its consequence was stored, or later work would be undone", async () => {
    const now = app.clock.now();
    const lane = `send:${conversationId}`;
    const edit = { conversationId, messageId: "msg_1", content: "Hello" };
    const refused: readonly GivenUpWork[] = [
      { lane, kind: "stand-there", payload: { conversationId } },
      { lane, kind: "amend", payload: edit, error: unread },
      { lane: "mail:1", kind: "mail", payload: { id: "1", sealed: "x", until: now } },
      { lane: "password-reset:1", kind: "password-reset", payload: { email: "ida@shop.example" } },
      // Only a newer version can read these.
      { lane, kind: "stand-there", payload: { asNewerVersionsNameIt: 1 }, error: unread },
      { lane, kind: "unheard-of", payload: {}, error: unread },
    ];
    const ids: string[] = [];
    for (const work of refused) ids.push(await bury(work));
    const unhandled = await bury({ lane, kind: "stand-there", payload: { conversationId }, error: unread });
    const canRetry = new Map((await list()).map((each) => [each.id, each.can_retry]));
    for (const id of ids) {
      expect([id, canRetry.get(id)]).toEqual([id, false]);
      expect([id, (await retry(id)).body]).toMatchObject([id, { code: "invalid_transition" }]);
      expect((await rowOf(id))?.dead_at).not.toBeNull();
    }
    expect(canRetry.get(unhandled)).toBe(true);
    expect((await admin.call("POST", "dead-letters/retry")).body).toEqual({ retried: 1 });
    await eventually(async () => expect(await rowOf(unhandled)).toBeUndefined());
    expect((await list()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  it("is tried again all at once, with one entry in the audit log", async () => {
    const ids = [await bury(indexing()), await bury(indexing()), await bury(waiting())];
    await bury({ lane: "password-reset:1", kind: "password-reset", payload: { email: "ida@shop.example" } });
    const answer = await admin.call("POST", "dead-letters/retry");
    expect([answer.status, answer.body]).toEqual([202, { retried: 3 }]);
    expect((await list()).map(({ kind }) => kind)).toEqual(["password-reset"]);
    await inTime(
      app.clock,
      eventually(async () => {
        for (const id of ids.slice(0, 2)) expect(await rowOf(id)).toBeUndefined();
      }),
    );
    expect((await entries("work_retried")).at(-1)).toBe(
      "Documents were not brought up to date in Typesense (1), A conversation was not brought up to date in the search (2)",
    );
    expect((await admin.call("POST", "dead-letters/retry")).body).toEqual({ retried: 0 });
    await app.store.write((tx) => tx.deleteFrom("outbox").where("kind", "=", "knowledge").execute());
  });

  it("is dismissed for good", async () => {
    const id = await bury({ lane: `timer:${conversationId}`, kind: "timer", payload: { conversationId } });
    expect((await dismiss(id)).status).toBe(204);
    expect(await rowOf(id)).toBeUndefined();
    const title = "A change of a conversation that was due was not made, such as the end of a snooze";
    expect(await entries("work_dismissed")).toEqual([`${title} (${conversationId})`]);
    for (const answer of [await dismiss(id), await retry(id), await retry("none"), await dismiss("0")]) {
      expect([answer.status, answer.body]).toMatchObject([404, { code: "not_found" }]);
    }
  });

  it("of another workspace is unknown, and of none is tried again by any, but dismissed by no one alone", async () => {
    const theirs = await dashboardUser(app, "admin", { workspaceId: (await app.createWorkspace()).id, name: "other" });
    const own = await bury(waiting());
    expect(await list(theirs)).toEqual([]);
    for (const answer of [await retry(own, theirs), await dismiss(own, theirs)]) {
      expect([answer.status, answer.body]).toMatchObject([404, { code: "not_found" }]);
    }
    expect((await theirs.call("POST", "dead-letters/retry")).body).toEqual({ retried: 0 });
    expect((await rowOf(own))?.dead_at).not.toBeNull();
    const shared = await bury({ lane: "report-backfill", kind: "report-backfill", payload: {}, error: "secret" });
    for (const user of [admin, theirs]) {
      const letter = (await list(user)).find(({ id }) => id === shared);
      expect(letter).toMatchObject({ error: null, can_retry: true, can_dismiss: false });
    }
    expect((await dismiss(shared)).body).toMatchObject({ code: "invalid_transition" });
    expect((await dismiss(own)).status).toBe(204);
    expect((await retry(shared, theirs)).status).toBe(202);
    await eventually(async () => expect(await rowOf(shared)).toBeUndefined());
  });
});
