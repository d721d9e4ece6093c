import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConversationView, Counts, ListPage, MessagePage, Refusal } from "./wire.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { InboxAnswer, InboxUser } from "#test/support/http/inbox.ts";
import { asked, cookieOf, customerWrites, password, settled, signIn, signInTeam } from "#test/support/http/inbox.ts";

eachDatabase("the inbox", (open) => {
  let app: TestApp;
  let anna: InboxUser;
  let ben: InboxUser;
  let stranger: InboxUser;

  beforeAll(async () => {
    app = await startApp(open);
    await app.learn("shipping.md", "# Shipping\n\nStandard delivery takes 3 to 5 working days.\n");
    ({ anna, ben, stranger } = await signInTeam(app));
  });
  afterAll(() => app?.close());

  const start = (thread: string, text?: string, name?: string) => asked(app, thread, text, name);
  const refusal = (answer: InboxAnswer) => answer.body as Refusal;
  const view = (answer: InboxAnswer) => answer.body as ConversationView;
  const texts = (conversation: ConversationView) => conversation.messages.map(({ content }) => JSON.stringify(content));
  const list = async (user: InboxUser, query: string) => (await user.get(`conversations?${query}`)).body as ListPage;
  const ids = async (user: InboxUser, query: string) => (await list(user, query)).items.map(({ id }) => id);
  const form = (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = { origin: app.url },
  ) => fetch(`${app.url}${path}`, { method: "POST", headers, body: new URLSearchParams(fields), redirect: "manual" });

  describe("signing in", () => {
    it("redirects to the sign-in page, which loads nothing from other sites", async () => {
      const page = await fetch(`${app.url}/inbox`, { redirect: "manual" });
      expect([page.status, page.headers.get("location")]).toEqual([303, "/inbox/login"]);
      const login = await fetch(`${app.url}/inbox/login`);
      expect(login.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(login.headers.get("content-security-policy")).not.toContain("unsafe-inline");
      expect(await login.text()).toContain("Password");
    });

    it("accepts a link once, and does not use it up by opening it", async () => {
      const token = await createLoginToken(app.store, app.clock, anna.id);
      const logged = () => app.logged.filter((line) => line.includes("/inbox/login/:token")).length;
      const before = logged();
      for (let look = 0; look < 2; look += 1) {
        const page = await fetch(`${app.url}/inbox/login/${token}`);
        expect([page.status, page.headers.get("set-cookie")]).toEqual([200, null]);
      }
      const first = await form(`/inbox/login/${token}`, {});
      expect(first.status).toBe(303);
      expect(first.headers.get("set-cookie")).toMatch(/HttpOnly.*SameSite=Lax/i);
      expect(first.headers.get("set-cookie")).toContain("Path=/inbox");
      const second = await form(`/inbox/login/${token}`, {});
      expect([second.status, second.headers.get("set-cookie")]).toEqual([401, null]);
      // A reader of the log could sign in with an unused link.
      await expect.poll(() => logged() - before).toBe(4);
      expect(app.logged.join("")).not.toContain(token);
    });

    it("accepts the right password only", async () => {
      const wrong = await form("/inbox/login", { email: anna.email, password: "not the password" });
      expect([wrong.status, wrong.headers.get("set-cookie")]).toEqual([401, null]);
      const right = await form("/inbox/login", { email: anna.email.toUpperCase(), password });
      expect(right.status).toBe(303);
      const shell = await fetch(`${app.url}/inbox`, { headers: { cookie: cookieOf(right) } });
      expect(await shell.text()).toContain("/inbox/app.js");
    });

    it("refuses a form that another site sends, even with the right password", async () => {
      const elsewhere = await form("/inbox/login", { email: anna.email, password }, { origin: "https://evil.example" });
      expect([elsewhere.status, elsewhere.headers.get("set-cookie")]).toEqual([403, null]);
      expect((await form("/inbox/login", { email: anna.email, password }, {})).status).toBe(403);
    });

    it("ends a session on sign-out, and after two weeks", async () => {
      const leaving = await signIn(app, anna);
      expect((await leaving.get("me")).status).toBe(200);
      await fetch(`${app.url}/inbox/logout`, {
        method: "POST",
        headers: { cookie: leaving.cookie, origin: app.url },
        redirect: "manual",
      });
      expect((await leaving.get("me")).status).toBe(401);
      const old = await signIn(app, anna);
      app.clock.advance(14 * 86_400_000);
      expect((await old.get("me")).status).toBe(401);
      anna = await signIn(app, anna);
      ben = await signIn(app, ben);
      stranger = await signIn(app, stranger);
    });
  });

  describe("protection", () => {
    it("refuses requests without a session", async () => {
      for (const path of ["me", "counts", "skipped-messages", "conversations?view=all", "events"]) {
        const answer = await fetch(`${app.url}/inbox/api/${path}`, { headers: { cookie: "parley_session=x" } });
        expect([path, answer.status]).toEqual([path, 401]);
      }
    });

    it("refuses changes from another site or without an origin", async () => {
      const { conversationId } = await start("forged");
      const path = `conversations/${conversationId}/resolve`;
      for (const headers of [
        { origin: "https://evil.example" },
        { origin: "null" },
        {},
        { "sec-fetch-site": "cross-site", origin: app.url },
      ]) {
        const answer = await anna.send("POST", path, {}, headers);
        expect([headers, answer.status]).toEqual([headers, 403]);
      }
      expect(view(await anna.get(`conversations/${conversationId}`)).status).toBe("open");
    });

    it("shows and changes nothing of another workspace", async () => {
      const { conversationId } = await start("private", "A secret of ours");
      expect(await ids(stranger, "view=all")).toEqual([]);
      expect(await ids(stranger, "view=all&q=secret")).toEqual([]);
      const attempts: readonly (readonly [string, object])[] = [
        ["claim", {}],
        ["claim", { takeOver: true }],
        ["resolve", {}],
        ["reopen", {}],
        ["snooze", {}],
        ["notes", { content: "hello" }],
        ["reply", { content: "hello", clientId: "12345678", lastSeq: 99 }],
        ["typing", {}],
        ["preview", { content: "hello" }],
      ];
      for (const [action, body] of attempts) {
        const answer = await stranger.send("POST", `conversations/${conversationId}/${action}`, body);
        expect([action, answer.status]).toEqual([action, 404]);
      }
      expect((await stranger.get(`conversations/${conversationId}`)).status).toBe(404);
      expect((await stranger.get(`conversations/${conversationId}/messages?before=5`)).status).toBe(404);
      expect((await stranger.send("PATCH", `conversations/${conversationId}`, { priority: "urgent" })).status).toBe(
        404,
      );
    });

    it.each([
      ["conversations?view=nothing", 422],
      ["conversations?view=all&page=2", 422],
      ["conversations?view=all&cursor=whatever", 422],
      ["conversations/not-an-id", 422],
      ["nothing", 404],
    ])("answers GET %s with status %i", async (path, status) => {
      expect((await anna.get(path)).status).toBe(status);
    });

    it.each([
      ["reply", { content: "  ", clientId: "12345678", lastSeq: 1 }],
      ["reply", { content: "x".repeat(10_001), clientId: "12345678", lastSeq: 1 }],
      ["reply", { content: "x", clientId: "a'b", lastSeq: 1 }],
      ["notes", { content: { $ne: 1 } }],
      ["snooze", { until: -1 }],
      ["notes", { content: "x", visible: true }],
    ])("refuses an invalid body for %s", async (action, body) => {
      const { conversationId } = await start(`odd-${JSON.stringify(body).length}-${action}`);
      const answer = await anna.send("POST", `conversations/${conversationId}/${action}`, body);
      expect(answer.status).toBe(422);
    });
  });

  describe("a conversation", () => {
    it("shows the customer's text as written, and the answer with its confidence and sources", async () => {
      const { conversationId } = await start("shown", "How *long* does <b>delivery</b> take?", "Ada Byron");
      const shown = view(await anna.get(`conversations/${conversationId}`));
      expect(shown.customer).toMatchObject({ label: "Ada Byron", email: "shown@customers.example", verified: true });
      expect(shown.messages[0]?.content).toEqual([{ t: "p", c: ["How *long* does <b>delivery</b> take?"] }]);
      expect(shown.messages[1]).toMatchObject({
        role: "assistant",
        delivery: { state: expect.stringMatching(/sent|delivered/) },
      });
      expect(shown.messages[1]?.confidence).not.toBeNull();
      expect(shown.messages[1]?.sources[0]?.title).toContain("Shipping");
      expect(shown.sla.targetMs).toBe(3_600_000);
    });

    it("goes to one of two agents who claim it, and names the owner to the other", async () => {
      const { conversationId } = await start("claimed");
      const answers = await Promise.all(
        [anna, ben].map((user) => user.send("POST", `conversations/${conversationId}/claim`)),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
      const winner = view(
        answers.find(({ status }) => status === 200) ?? { status: 0, headers: new Headers(), body: undefined },
      ).assignee;
      expect(
        refusal(
          answers.find(({ status }) => status === 409) ??
            answers[0] ?? { status: 0, headers: new Headers(), body: undefined },
        ),
      ).toMatchObject({
        code: "claimed_by_other",
        assignee: winner,
      });
    });

    it("can be taken over explicitly, and given back to the assistant", async () => {
      const { conversationId } = await start("taken");
      await ben.send("POST", `conversations/${conversationId}/claim`);
      const taken = view(await anna.send("POST", `conversations/${conversationId}/claim`, { takeOver: true }));
      expect([taken.status, taken.assignee?.email]).toEqual(["claimed", anna.email]);
      const released = view(await anna.send("POST", `conversations/${conversationId}/release`));
      expect([released.status, released.assignee]).toEqual(["open", null]);
    });

    it("changes its status by the buttons", async () => {
      const { conversationId } = await start("life");
      const applyAction = async (action: string, body: object = {}) =>
        view(await anna.send("POST", `conversations/${conversationId}/${action}`, body));
      await applyAction("claim");
      const snoozed = await applyAction("snooze", { until: app.clock.now() + 3_600_000 });
      expect([snoozed.status, snoozed.snoozedUntil]).toEqual(["snoozed", app.clock.now() + 3_600_000]);
      const woken = await applyAction("reopen");
      expect([woken.status, woken.assignee?.email]).toEqual(["claimed", anna.email]);
      expect((await applyAction("snooze")).snoozedUntil).toBeNull();
      expect((await applyAction("resolve")).status).toBe("resolved");
      expect((await applyAction("archive")).status).toBe("archived");
      expect((await applyAction("reopen")).status).toBe("open");
      expect((await anna.send("POST", `conversations/${conversationId}/archive`)).status).toBe(409);
    });

    it("is claimed by a reply, which is sent once, however often it is posted", async () => {
      const { conversationId } = await start("replied");
      const { lastSeq } = view(await anna.get(`conversations/${conversationId}`));
      const reply = { content: "Hello, **Anna** here.", clientId: "reply-0001", lastSeq };
      const [first, again] = [
        await anna.send("POST", `conversations/${conversationId}/reply`, reply),
        await anna.send("POST", `conversations/${conversationId}/reply`, reply),
      ];
      expect([first.status, again.status]).toEqual([200, 200]);
      await settled(app);
      const shown = view(await anna.get(`conversations/${conversationId}`));
      expect(shown.messages.filter(({ role }) => role === "agent")).toMatchObject([
        { author: "Anna", delivery: { error: null } },
      ]);
      expect([shown.status, shown.assignee?.email]).toEqual(["claimed", anna.email]);
    });

    it("shows a reply as the customer will get it, and stores nothing", async () => {
      const { conversationId } = await start("previewed");
      const before = view(await anna.get(`conversations/${conversationId}`));
      const content = "Dial *21*number#, it is **free**: 60*40*30.";
      const { status, body } = await anna.send("POST", `conversations/${conversationId}/preview`, { content });
      expect(status).toBe(200);
      expect(body).toEqual({
        blocks: [
          {
            t: "p",
            c: ["Dial ", "*", "21", "*", "number#, it is ", { t: "b", c: ["free"] }, ": 60", "*", "40", "*", "30."],
          },
        ],
        texts: null,
      });
      const plain = { content: "Dial *21*number#." };
      const same = await anna.send("POST", `conversations/${conversationId}/preview`, plain);
      expect(same.body).toEqual({ blocks: null, texts: null });
      expect(view(await anna.get(`conversations/${conversationId}`)).lastSeq).toBe(before.lastSeq);
    });

    it("holds back a reply whose author has not seen the newest messages", async () => {
      const customer = await start("stale");
      const { conversationId } = customer;
      await anna.send("POST", `conversations/${conversationId}/claim`);
      const { lastSeq } = view(await anna.get(`conversations/${conversationId}`));
      await customer.write("Never mind, I found it!");
      await settled(app);
      const reply = { content: "Let me look.", clientId: "reply-stale", lastSeq };
      const held = await anna.send("POST", `conversations/${conversationId}/reply`, reply);
      expect([held.status, refusal(held).code]).toEqual([409, "stale_view"]);
      expect(refusal(held).newer?.map(({ content }) => content)).toEqual([
        [{ t: "p", c: ["Never mind, I found it!"] }],
      ]);
      expect(texts(view(await anna.get(`conversations/${conversationId}`))).join("")).not.toContain("Let me look");
      const forced = await anna.send("POST", `conversations/${conversationId}/reply`, { ...reply, force: true });
      expect(forced.status).toBe(200);
      const bens = await ben.send("POST", `conversations/${conversationId}/reply`, {
        content: "Me too",
        clientId: "reply-ben1",
        lastSeq: lastSeq + 1,
        anyway: true,
      });
      expect(refusal(bens).newer?.map(({ author }) => author)).toEqual(["Anna"]);
    });

    it("hides notes from the customer", async () => {
      const { conversationId } = await start("noted");
      const noted = view(await anna.send("POST", `conversations/${conversationId}/notes`, { content: "Be **kind**." }));
      expect(noted.notes).toMatchObject([{ author: "Anna" }]);
      await settled(app);
      const sent = await app.store.read
        .selectFrom("deliveries")
        .select("payload")
        .where("conversation_id", "=", conversationId)
        .execute();
      expect(sent.map(({ payload }) => payload).join("")).not.toContain("kind");
    });

    it("accepts tags, which are normalised, and a priority", async () => {
      const { conversationId } = await start("tagged");
      const changed = view(
        await anna.send("PATCH", `conversations/${conversationId}`, {
          tags: [" VIP ", "vip", "Refund"],
          priority: "urgent",
        }),
      );
      expect([changed.tags, changed.priority, changed.sla.targetMs]).toEqual([["refund", "vip"], "urgent", 900_000]);
      expect(changed.audit.map(({ action }) => action)).toEqual(expect.arrayContaining(["tagged", "priority_changed"]));
    });

    it("returns a long thread from its end", async () => {
      const { conversationId } = await start("long");
      await app.store.write(async (tx) => {
        const rows = Array.from({ length: 130 }, (_, index) => ({
          id: `msg_long${index}`,
          conversation_id: conversationId,
          seq: 10 + index,
          role: "user" as const,
          content: `Line ${index}`,
          created_at: app.clock.now(),
        }));
        await tx
          .insertInto("messages")
          .values(rows.map((row) => ({ ...blank, ...row })))
          .execute();
      });
      const shown = view(await anna.get(`conversations/${conversationId}`));
      expect([shown.messages.length, shown.hasEarlier, shown.messages.at(-1)?.seq]).toEqual([100, true, 139]);
      const earlier = (await anna.get(`conversations/${conversationId}/messages?before=${shown.messages[0]?.seq}`))
        .body as MessagePage;
      expect([earlier.messages.length, earlier.hasEarlier, earlier.messages[0]?.seq]).toEqual([32, false, 1]);
      const page = async (query: string) => {
        const { messages, hasEarlier, hasLater } = (await anna.get(`conversations/${conversationId}/messages?${query}`))
          .body as MessagePage;
        return [messages[0]?.seq, messages.at(-1)?.seq, hasEarlier, hasLater];
      };
      expect(await page("from=1")).toEqual([1, 107, false, true]);
      expect(await page("from=50")).toEqual([50, 139, true, false]);
      expect(await page("from=10&before=21")).toEqual([10, 20, true, true]);
      expect(await page("at=0")).toEqual([1, 107, false, true]);
      expect(await page(`at=${app.clock.now() + 1}`)).toEqual([40, 139, true, false]);
      for (const query of ["from=0", "before=x", "at=-1", "from=1e400"]) {
        expect((await anna.get(`conversations/${conversationId}/messages?${query}`)).status).toBe(422);
      }
    });

    it("shows which messages did not arrive", async () => {
      const { conversationId } = await start("lost");
      await app.store.write((tx) =>
        tx
          .updateTable("deliveries")
          .set({ state: "unknown", error: "The connection broke." })
          .where("conversation_id", "=", conversationId)
          .execute(),
      );
      const shown = view(await anna.get(`conversations/${conversationId}`));
      expect(shown.messages[1]?.delivery).toEqual({ state: "unknown", error: "The connection broke." });
    });

    it("shows which messages are still unsent in all their parts", async () => {
      const { conversationId } = await start("in-parts");
      await settled(app);
      const lastState = async () => {
        const message = view(await anna.get(`conversations/${conversationId}`)).messages[1];
        return [message?.delivery?.state, message?.unsent];
      };
      const ofIt = (set: { readonly state: "sent" | "queued"; readonly thread?: string }, part: number) =>
        app.store.write((tx) =>
          tx
            .updateTable("deliveries")
            .set(set)
            .where("conversation_id", "=", conversationId)
            .where("part", "=", part)
            .execute(),
        );
      await app.store.write(async (tx) => {
        const first = await tx
          .selectFrom("deliveries")
          .selectAll()
          .where("conversation_id", "=", conversationId)
          .executeTakeFirstOrThrow();
        const second = { id: `${first.id}2`, part: first.part + 1, external_id: null, state: "queued" as const };
        await tx
          .insertInto("deliveries")
          .values({ ...first, ...second })
          .execute();
      });
      expect(await lastState()).toEqual(["queued", false]);
      await ofIt({ state: "queued" }, 0);
      expect(await lastState()).toEqual(["queued", true]);
      await ofIt({ state: "queued", thread: "ada@example.com" }, 1);
      expect(await lastState()).toEqual(["queued", false]);
    });
  });

  describe("the views", () => {
    it("contain their conversations, the latest first, and count them", async () => {
      const before = (await anna.get("counts")).body as Counts;
      const [one, two, mine] = [await start("view-1"), await start("view-2"), await start("view-3")];
      app.clock.advance(1_000);
      await anna.send("POST", `conversations/${mine.conversationId}/claim`);
      await one.write("I want to talk to a human");
      await settled(app);
      expect((await ids(anna, "view=unassigned"))[0]).toBe(one.conversationId);
      expect((await ids(anna, "view=escalated"))[0]).toBe(one.conversationId);
      expect(await ids(anna, "view=open")).toContain(two.conversationId);
      expect(await ids(anna, "view=open")).not.toContain(mine.conversationId);
      expect(await ids(anna, "view=mine")).toContain(mine.conversationId);
      expect(await ids(ben, "view=mine")).not.toContain(mine.conversationId);
      const after = (await anna.get("counts")).body as Counts;
      expect([
        after.unassigned - before.unassigned,
        after.mine - before.mine,
        after.escalated - before.escalated,
      ]).toEqual([2, 1, 1]);
    });

    it("find conversations by words", async () => {
      const found = await start("search-1", "My zeppelin arrived damaged");
      await start("search-2", "My parcel arrived damaged");
      // Search finds words from the next second on.
      app.clock.advance(1_000);
      await expect.poll(() => ids(anna, "view=all&q=zeppelin")).toEqual([found.conversationId]);
      expect(await ids(anna, "view=unassigned&q=zeppelin+damaged")).toEqual([found.conversationId]);
      expect(await ids(anna, "view=mine&q=zeppelin")).toEqual([]);
      await anna.send("POST", `conversations/${found.conversationId}/claim`);
      await expect.poll(() => ids(anna, "view=mine&q=zeppelin")).toEqual([found.conversationId]);
      expect(await ids(anna, "view=all&q=%22%22+***+(")).toEqual([]);
    });

    it("find a customer's conversations by e-mail address; an unknown address is searched as text", async () => {
      const { conversationId: first } = await customerWrites(app, "ida.rhodes", "Good morning", "Ida");
      await settled(app);
      const mentioning = await start("search-address", "Please write to nobody.here@shop.example");
      app.clock.advance(1_000);
      expect(await ids(anna, "view=all&q=Ida.Rhodes%40customers.example")).toEqual([first]);
      expect(await ids(anna, "view=mine&q=ida.rhodes%40customers.example")).toEqual([]);
      await anna.send("POST", `conversations/${first}/claim`);
      expect(await ids(anna, "view=mine&q=ida.rhodes%40customers.example")).toEqual([first]);
      await expect.poll(() => ids(anna, "view=all&q=nobody.here%40shop.example")).toEqual([mentioning.conversationId]);
    });

    it("page through all conversations once", async () => {
      for (let index = 0; index < 45; index += 1) await customerWrites(app, `page-${index}`, "Hello");
      await settled(app);
      for (const name of ["all", "open"]) {
        const seen: string[] = [];
        let cursor: string | null = "";
        while (cursor !== null) {
          const page: ListPage = await list(anna, `view=${name}${cursor === "" ? "" : `&cursor=${cursor}`}`);
          seen.push(...page.items.map(({ id }) => id));
          cursor = page.nextCursor;
        }
        const rows = await app.store.read
          .selectFrom("conversations")
          .select("id")
          .where("workspace_id", "=", app.workspace.id)
          .where(
            "status",
            "in",
            name === "open" ? ["open"] : ["open", "claimed", "escalated", "snoozed", "resolved", "archived"],
          )
          .execute();
        expect(seen.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
      }
    });
  });
});

const blank = {
  author_id: null,
  author_name: null,
  external_id: null,
  answers_seq: null,
  confidence: null,
  sources: null,
  skills: null,
  tokens_used: null,
  metadata: null,
  edited_at: null,
  deleted_at: null,
};
