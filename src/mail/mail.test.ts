import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { loadConfig } from "#config/environment.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { inTime } from "#test/support/in-time.ts";
import type { MailServer } from "#test/support/servers/mail-server.ts";
import { mailConfigOf, openMailServer } from "#test/support/servers/mail-server.ts";
import { createMailTransport } from "./transport.ts";
import { mailWork } from "./work.ts";

eachDatabase("mails of the program", (open) => {
  let server: MailServer;
  let app: TestApp;
  beforeAll(async () => {
    server = await openMailServer();
    app = await startApp(open, { mail: mailConfigOf(server) });
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });

  const queue = (subject: string, usefulMs = 3_600_000) => {
    const mail = { to: "ada@shop.example", subject, text: "The link: https://parley.test/x\n" };
    const { secrets } = app.app.services;
    return app.store.write(async (tx) => {
      const now = app.clock.now();
      await insertWork(tx, [mailWork(secrets, mail, now, usefulMs)], now);
    });
  };
  const queued = () => app.store.read.selectFrom("outbox").selectAll().where("kind", "=", "mail").execute();

  it("are sent after the transaction that queued them, and again with the same id when the server was busy", async () => {
    server.refuse(451);
    await queue("A first mail");
    // The refused attempt has been stored, with the time of the next one.
    await inTime(
      app.clock,
      eventually(async () => expect((await queued())[0]?.attempts).toBe(1)),
    );
    const [row] = await queued();
    expect(row?.payload).not.toContain("https://parley.test/x");
    const [mail] = await inTime(app.clock, server.mails(1));
    expect(mail).toMatchObject({ from: "parley@shop.example", to: ["ada@shop.example"], subject: "A first mail" });
    expect(mail?.text).toContain("https://parley.test/x");
    const { id = "" } = JSON.parse(row?.payload ?? "{}") as { readonly id?: string };
    expect(mail?.id).toBe(`<${id}@127.0.0.1>`);
  });

  it("are not sent when they have become useless", async () => {
    await queue("Too late", 0);
    await inTime(
      app.clock,
      eventually(async () => expect(await queued()).toEqual([])),
    );
    expect(server.received.map(({ subject }) => subject)).not.toContain("Too late");
  });

  it("have a server that can be checked without a mail", async () => {
    const config = mailConfigOf(server);
    expect(await createMailTransport(config).check()).toBe(`127.0.0.1:${server.port}, as Parley <parley@shop.example>`);
    const wrong = { ...config, credentials: { user: "parley", password: "guess" } };
    await expect(createMailTransport(wrong).check()).rejects.toThrow(/does not take mail .*check SMTP_URL/u);
  });
});

describe("the variables SMTP_URL and SMTP_FROM", () => {
  const from = "Parley <parley@shop.example>";
  const mailOf = (SMTP_URL: string, SMTP_FROM = from) => loadConfig({ SMTP_URL, SMTP_FROM }).mail;

  it("name the server, its port by the kind of TLS, and decoded credentials", () => {
    expect(loadConfig({}).mail).toBeUndefined();
    expect(mailOf("smtp://me%40shop:p%3Aw@mail.example")).toEqual({
      host: "mail.example",
      port: 587,
      secure: false,
      credentials: { user: "me@shop", password: "p:w" },
      from,
    });
    expect(mailOf("smtps://mail.example")).toMatchObject({ port: 465, secure: true, credentials: undefined });
    expect(mailOf("smtp://[::1]:2525", "a@b.example")).toMatchObject({ host: "::1", port: 2525, from: "a@b.example" });
  });

  it("are refused when they are wrong, without the password in the error", () => {
    for (const url of ["http://mail.example", "smtp://:hunter2@mail.example", "smtp://me:hunter2@mail.example/x"]) {
      expect(() => mailOf(url)).toThrow("SMTP_URL");
      expect(() => mailOf(url)).not.toThrow("hunter2");
    }
    for (const sender of ["Parley", "a@b\nBcc: x@y", "A <a@b> <c@d>"]) {
      expect(() => mailOf("smtp://mail.example", sender)).toThrow("SMTP_FROM");
    }
    expect(() => loadConfig({ SMTP_FROM: from })).toThrow("SMTP_URL");
  });
});
