import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { addAgent, cookieOf, password } from "#test/support/http/inbox.ts";
import { inTime } from "#test/support/in-time.ts";
import type { MailServer } from "#test/support/servers/mail-server.ts";
import { mailConfigOf, openMailServer } from "#test/support/servers/mail-server.ts";

eachDatabase("setting a forgotten password", (open) => {
  let app: TestApp;
  let server: MailServer;
  beforeAll(async () => {
    server = await openMailServer();
    app = await startApp(open, { mail: mailConfigOf(server), trustedProxies: ["127.0.0.1"] });
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });

  const form = (path: string, fields: Readonly<Record<string, string>>, from = "192.0.2.1") =>
    fetch(`${app.url}/inbox/login${path}`, {
      method: "POST",
      headers: { origin: app.url, "x-forwarded-for": from },
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
  const signIn = (email: string, given: string) => form("", { email, password: given });
  const me = async (cookie: string) => (await fetch(`${app.url}/inbox/api/me`, { headers: { cookie } })).status;
  const settled = () =>
    inTime(
      app.clock,
      eventually(async () => {
        const work = app.store.read.selectFrom("outbox").select("id").where("kind", "in", ["password-reset", "mail"]);
        expect(await work.execute()).toEqual([]);
      }),
    );
  /** The path of the newest link, after `/inbox/login`. */
  const linkFor = async (email: string, from?: string): Promise<string> => {
    expect((await form("/forgot", { email }, from)).status).toBe(200);
    await settled();
    const mail = server.received.findLast(({ to }) => to.includes(email.trim().toLowerCase()));
    return /http:\/\/parley\.test\/inbox\/login(\/reset\/[\w-]{43})\n/u.exec(mail?.text ?? "")?.[1] ?? "";
  };

  it("mails a link that works once and ends all sessions", async () => {
    const ada = await addAgent(app, "Ada");
    const session = cookieOf(await signIn(ada.email, password));
    expect(await me(session)).toBe(200);
    const link = await linkFor("ADA@shop.example ");
    expect((await fetch(`${app.url}/inbox/login${link}`)).status).toBe(200);
    const short = await form(link, { password: "short" });
    expect([short.status, await short.text()]).toEqual([422, expect.stringContaining("at least 10 characters")]);
    const next = "a brand new passphrase";
    expect((await form(link, { password: next })).status).toBe(200);
    expect(await me(session)).toBe(401);
    expect((await signIn(ada.email, password)).status).toBe(401);
    expect((await signIn(ada.email, next)).status).toBe(303);
    expect((await form(link, { password: "yet another passphrase" })).status).toBe(404);
    expect((await signIn(ada.email, next)).status).toBe(303);
  });

  it("sets the password in all workspaces that have an agent with the address, and in no deleted one", async () => {
    const other = await app.createWorkspace();
    const bea = await addAgent(app, "Bea");
    await addAgent(app, "Bea", other.id, bea.email);
    const link = await linkFor(bea.email);
    const next = "the same in both places";
    expect((await form(link, { password: next })).status).toBe(200);
    const answer = await signIn(bea.email, next);
    expect(await answer.text()).toContain("You can sign in to 2 workspaces");
  });

  it("gives the same answer for an unknown address, and sends nothing to it", async () => {
    const cleo = await addAgent(app, "Cleo");
    const known = await form("/forgot", { email: cleo.email }, "192.0.2.9");
    const unknown = await form("/forgot", { email: "nobody@shop.example" }, "192.0.2.9");
    expect([unknown.status, await unknown.text()]).toEqual([known.status, await known.text()]);
    await settled();
    expect(server.received.flatMap(({ to }) => to)).not.toContain("nobody@shop.example");
  });

  it("makes links that end after an hour, or when a newer one is sent", async () => {
    const dan = await addAgent(app, "Dan");
    const first = await linkFor(dan.email, "192.0.2.20");
    const second = await linkFor(dan.email, "192.0.2.20");
    expect((await form(first, { password: "a brand new passphrase" })).status).toBe(404);
    app.clock.advance(3_600_000);
    expect((await form(second, { password: "a brand new passphrase" })).status).toBe(404);
    expect((await fetch(`${app.url}/inbox/login${second}`)).status).toBe(404);
    expect((await signIn(dan.email, password)).status).toBe(303);
  });

  it("limits requests by address and by network, whether the address is known or not", async () => {
    for (const email of ["eva@shop.example", "nobody-else@shop.example"]) {
      const statuses: number[] = [];
      for (let i = 0; i < 4; i += 1) statuses.push((await form("/forgot", { email }, "198.51.100.7")).status);
      expect(statuses).toEqual([200, 200, 200, 429]);
    }
    const many: number[] = [];
    for (let i = 0; i < 11; i += 1)
      many.push((await form("/forgot", { email: `x${i}@y.example` }, "198.51.100.8")).status);
    expect(many.filter((status) => status === 429)).toHaveLength(1);
  });

  it("holds guesses of links back, by network and by account", async () => {
    const guesses: number[] = [];
    for (let i = 0; i < 31; i += 1) {
      guesses.push((await form(`/reset/guess${i}`, { password: "short" }, "203.0.113.40")).status);
    }
    expect([guesses.slice(0, 30).includes(429), guesses[30]]).toEqual([false, 429]);
    const { email } = await addAgent(app, "Gus");
    const link = await linkFor(email);
    const tries: number[] = [];
    for (let i = 0; i < 11; i += 1) tries.push((await form(link, { password: "short" }, "203.0.113.50")).status);
    expect(tries).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
  });

  it("is offered only where the program can send mails", async () => {
    const login = (of: TestApp) => fetch(`${of.url}/inbox/login`).then((answer) => answer.text());
    expect(await login(app)).toContain("/inbox/login/forgot");
    const without = await startApp(open);
    try {
      expect(await login(without)).not.toContain("/inbox/login/forgot");
    } finally {
      await without.close();
    }
  });
});
