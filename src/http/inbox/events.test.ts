import { afterAll, beforeAll, expect, it } from "vitest";
import { systemActor } from "#domain/conversation/message.ts";
import { removeAgent } from "#admin/team/agents.ts";
import { endSession } from "#admin/team/sessions.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { InboxUser } from "#test/support/http/inbox.ts";
import { addAgent, asked, settled, signIn, signInTeam } from "#test/support/http/inbox.ts";

eachDatabase("the inbox's live events", (open) => {
  let app: TestApp;
  let anna: InboxUser;
  let ben: InboxUser;
  let stranger: InboxUser;

  beforeAll(async () => {
    app = await startApp(open);
    ({ anna, ben, stranger } = await signInTeam(app));
  });
  afterAll(() => app.close());

  const start = (thread: string) => asked(app, thread);

  const listen = async (user: InboxUser) => {
    const ending = new AbortController();
    const response = await fetch(`${app.url}/inbox/api/events`, {
      headers: { cookie: user.cookie },
      signal: ending.signal,
    });
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    return {
      response,
      text: () => text,
      ended: reading,
      async close() {
        ending.abort();
        await reading;
      },
    };
  };

  it("report changes and new customer messages, for the agent's workspace only", async () => {
    const customer = await start("live");
    const [own, foreign] = await Promise.all([listen(anna), listen(stranger)]);
    expect(own.response.headers.get("content-type")).toContain("text/event-stream");
    await expect.poll(own.text).toContain("connected");
    await customer.write("Are you there?");
    await expect.poll(own.text).toContain(JSON.stringify({ kind: "changed", conversationId: customer.conversationId }));
    expect(foreign.text()).not.toContain("data:");
    await own.close();
    await foreign.close();
  });

  it("report a message that did not reach the customer", async () => {
    const customer = await start("unreached");
    await settled(app);
    const delivery = await app.store.read
      .selectFrom("deliveries")
      .select(["account_id", "external_id"])
      .where("conversation_id", "=", customer.conversationId)
      .executeTakeFirstOrThrow();
    const events = await listen(anna);
    await expect.poll(events.text).toContain("connected");
    await app.engine.ingest(delivery.account_id, {
      kind: "delivery",
      externalId: "report-1",
      partExternalId: delivery.external_id ?? "",
      state: "failed",
      sentAt: app.clock.now(),
    });
    await expect.poll(events.text).toContain(customer.conversationId);
    await events.close();
  });

  it("report an assignment to its agent only", async () => {
    const customer = await start("assigned");
    const [annas, bens] = [await listen(anna), await listen(ben)];
    await expect.poll(annas.text).toContain("connected");
    await expect.poll(bens.text).toContain("connected");
    const seen = { status: "open", assignedTo: null };
    await anna.send("POST", `conversations/${customer.conversationId}/assign`, { to: ben.email, seen });
    const { conversationId } = customer;
    const assigned = (by: string | null) => JSON.stringify({ kind: "assigned", conversationId, by }).slice(0, -1);
    await expect.poll(bens.text).toContain(assigned("Anna"));
    await app.call("PATCH", `/v1/conversations/${conversationId}`, { body: { assigned_to: anna.email } });
    await expect.poll(annas.text).toContain(assigned(null));
    expect(annas.text()).not.toContain(assigned("Anna"));
    // An agent gets no notice of an own claim.
    await ben.send("POST", `conversations/${conversationId}/claim`, { takeOver: true });
    const last = await start("after-assigned");
    await expect.poll(bens.text).toContain(last.conversationId);
    expect(bens.text().match(/"assigned"/gu)).toHaveLength(1);
    // An agent gets no notice of an own un-snooze, but of a colleague's.
    const asleep = { status: "snoozed", assignedTo: ben.email };
    for (const by of [ben, anna]) {
      await ben.send("POST", `conversations/${conversationId}/snooze`);
      await by.send("POST", `conversations/${conversationId}/assign`, { to: ben.email, seen: asleep });
    }
    await expect.poll(() => bens.text().match(/"assigned"/gu)).toHaveLength(2);
    expect(bens.text().split(assigned("Anna"))).toHaveLength(3);
    await annas.close();
    await bens.close();
  });

  it("end at once when their session ends, while other sessions' continue", async () => {
    const [leaving, staying] = [await signIn(app, ben), await signIn(app, ben)];
    const [events, others] = [await listen(leaving), await listen(staying)];
    await expect.poll(events.text).toContain("connected");
    await expect.poll(others.text).toContain("connected");
    await fetch(`${app.url}/inbox/logout`, {
      method: "POST",
      headers: { cookie: leaving.cookie, origin: app.url },
      redirect: "manual",
    });
    await events.ended;
    const customer = await start("after");
    await expect.poll(others.text).toContain(customer.conversationId);
    await others.close();
  });

  it("end when another process ends their session, whose signals do not arrive", async () => {
    const [leaving, staying] = [await signIn(app, ben), await signIn(app, ben)];
    const [events, others] = [await listen(leaving), await listen(staying)];
    await expect.poll(events.text).toContain("connected");
    await expect.poll(others.text).toContain("connected");
    await endSession(app.store, leaving.cookie.split("=")[1] ?? "");
    app.clock.advance(500);
    await events.ended;
    const customer = await start("after-another-process");
    await expect.poll(others.text).toContain(customer.conversationId);
    await others.close();
  });

  it("end when the agent is removed, whoever removes them", async () => {
    const agent = await addAgent(app, "Gone");
    const events = await listen(await signIn(app, agent));
    await expect.poll(events.text).toContain("connected");
    const removal = { workspaceId: app.workspace.id, agentId: agent.id, by: systemActor("test"), to: null };
    expect(await removeAgent(app.store, app.clock, removal)).toMatchObject({ id: agent.id, held: 0 });
    // The worker's next poll.
    app.clock.advance(1_000);
    await events.ended;
    await expect(removeAgent(app.store, app.clock, removal)).rejects.toMatchObject({ code: "not_found" });
  });
});
