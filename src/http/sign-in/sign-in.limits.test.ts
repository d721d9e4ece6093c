import { hash } from "node:crypto";
import { request } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inviteAgent } from "#admin/team/invitations.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import { systemActor } from "#domain/conversation/message.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { addAgent, password } from "#test/support/http/inbox.ts";

eachDatabase("signing in to the inbox", (open) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(open, { trustedProxies: ["127.0.0.1"] });
  });
  afterAll(() => app.close());

  const form = (path: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>) =>
    fetch(`${app.url}${path}`, { method: "POST", headers, body: new URLSearchParams(fields), redirect: "manual" });

  const tries = async (from: string, email: string, wrong: number): Promise<number[]> => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < wrong; attempt += 1) {
      const headers = { origin: app.url, "x-forwarded-for": from };
      statuses.push((await form("/inbox/login", { email, password: `guess ${attempt}` }, headers)).status);
    }
    return statuses;
  };
  const enter = async (from: string, email: string): Promise<number> =>
    (await form("/inbox/login", { email, password }, { origin: app.url, "x-forwarded-for": from })).status;

  it("allows a client ten attempts at an account in 15 minutes, without effect on others", async () => {
    const carl = await addAgent(app, "Carl");
    expect(await tries("192.0.2.1", carl.email, 10)).toEqual(Array.from({ length: 10 }, () => 401));
    expect(await enter("192.0.2.1", carl.email)).toBe(429);
    expect(await enter("192.0.2.2", carl.email)).toBe(303);
    app.clock.advance(15 * 60_000);
    expect(await enter("192.0.2.1", carl.email)).toBe(303);
  });

  it("counts the addresses of one IPv6 network as one client", async () => {
    const dora = await addAgent(app, "Dora");
    await tries("2001:db8:0:1::a", dora.email, 5);
    await tries("2001:db8:0:1:ffff::b", dora.email, 5);
    expect(await enter("2001:db8::1:0:0:0:c", dora.email)).toBe(429);
    expect(await enter("2001:db8:0:2::a", dora.email)).toBe(303);
  });

  it("limits attempts of many clients together, except the agent's known network", async () => {
    const emil = await addAgent(app, "Emil");
    // Simulates many attempts, because checking a password is slow.
    const manyTried = () =>
      app.store.write(async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable("counters")
          .set({ value: 60 })
          .where("name", "=", `inbox:account:${hash("sha256", emil.email)}`)
          .executeTakeFirst();
        expect(numUpdatedRows).toBe(1n);
      });
    expect(await enter("198.51.100.1", emil.email)).toBe(303);
    app.clock.advance(15 * 60_000);
    await tries("203.0.113.1", emil.email, 1);
    await manyTried();
    expect(await enter("203.0.113.2", emil.email)).toBe(429);
    expect(await enter("198.51.100.1", emil.email)).toBe(303);
    // Other networks are still limited.
    expect(await enter("203.0.113.2", emil.email)).toBe(429);
    app.clock.advance(31 * 86_400_000);
    await tries("203.0.113.1", emil.email, 1);
    await manyTried();
    expect(await enter("198.51.100.1", emil.email)).toBe(429);
  });

  it("holds guesses of invitations back, by network and by account", async () => {
    const tryTimes = async (path: string, from: string, times: number) => {
      const statuses: number[] = [];
      for (let guess = 0; guess < times; guess += 1) {
        const headers = { origin: app.url, "x-forwarded-for": from };
        statuses.push((await form(path.replace("GUESS", `guess${guess}`), { password: "short" }, headers)).status);
      }
      return statuses;
    };
    const unknown = await tryTimes("/inbox/invitation/GUESS", "203.0.113.40", 31);
    expect([unknown.slice(0, 30).includes(429), unknown[30]]).toEqual([false, 429]);
    const given = { workspaceId: app.workspace.id, email: "gil@shop.example", name: "Gil", role: "agent" } as const;
    const invited = { ...given, teamIds: [], by: systemActor("test") };
    const { token } = await inviteAgent(app.store, app.clock, invited, null);
    const known = await tryTimes(`/inbox/invitation/${token}`, "203.0.113.50", 11);
    expect(known).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
  });

  it("refuses to sign in where browsers would drop the cookie, names the right address, and uses up no link", async () => {
    const secured = await startApp(open, { publicUrl: "https://support.example" });
    try {
      const agent = await addAgent(secured, "Fay");
      const token = await createLoginToken(secured.store, secured.clock, agent.id);
      const post = (path: string, from: string) =>
        // A browser sends the host of the address that it opened.
        request(`${secured.url}${path}`, {
          method: "POST",
          headers: {
            origin: from,
            host: new URL(from).host,
            "content-type": "application/x-www-form-urlencoded",
          },
          body: new URLSearchParams({ email: agent.email, password }).toString(),
        });
      for (const path of ["/inbox/login", `/inbox/login/${token}`]) {
        const refused = await post(path, "http://192.0.2.7:8080");
        expect([refused.statusCode, refused.headers["set-cookie"]]).toEqual([403, undefined]);
        expect(await refused.body.text()).toContain("Open this page at https://support.example");
      }
      expect((await post("/inbox/login", "http://localhost:8080")).statusCode).toBe(303);
      expect((await post(`/inbox/login/${token}`, "https://support.example")).statusCode).toBe(303);
    } finally {
      await secured.close();
    }
  });
});
