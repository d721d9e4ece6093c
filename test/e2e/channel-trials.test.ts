import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dovecotProgram } from "../../adapters/email/test/support/dovecot.ts";
import { startMailWorld } from "../../adapters/email/test/support/mail-world.ts";
import { contactId, startFakeIntercom } from "../../adapters/intercom/test/support/fake-intercom.ts";
import { startFakeTwilio } from "../../adapters/twilio/shared/test/fake-twilio.ts";
import { builtin, lineUp } from "../support/channels/line-up.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { AdminAnswer, DashboardUser } from "../support/http/administrators.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import type { TestApp } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { skipped } from "../support/skipped.ts";

let app: TestApp;
let admin: DashboardUser;
beforeAll(async () => {
  app = await startApp(newSqlite, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
  admin = await dashboardUser(app, "admin");
});
afterAll(() => app.close());

async function connect(channel: string, settings: object): Promise<string> {
  const { status, body } = await admin.call("POST", "channels", { channel, name: `My ${channel}`, settings });
  expect([status, body]).toMatchObject([201, {}]);
  return (body as { readonly id: string }).id;
}
const remove = (id: string) => admin.call("DELETE", `channels/${id}`);
const sendTest = (id: string, to: string): Promise<AdminAnswer> =>
  admin.call("POST", `channels/${id}/test-message`, { to, text: "Is <anybody> there?" });
const audited = async (): Promise<number> => {
  const rows = app.store.read.selectFrom("audit").select("id").where("action", "=", "channel_tested");
  return (await rows.execute()).length;
};

const wrongSecrets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  telegram: { token: "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" },
  slack: { bot_token: "xoxb-1111111111-2222222222-somebodyelses" },
  discord: { token: "MTIzNDU2Nzg5MDEyMzQ1Njc4.wrong.wrongwrongwrongwrongwrongwrong" },
  sms: { auth_token: "0123456789abcdef0123456789abcdef" },
  whatsapp: { auth_token: "0123456789abcdef0123456789abcdef" },
  "WhatsApp at Meta": { access_token: "EAAwrongwrongwrongwrongwrong" },
  voice: { auth_token: "0123456789abcdef0123456789abcdef" },
  email: { password: "wrong" },
  intercom: { access_token: "wrong-wrong-wrong-wrong-wrong-wrong" },
};

describe("the check of a channel", () => {
  for (const { channel, name, target } of lineUp.filter((each) => !builtin.has(each.channel))) {
    if (target.missing !== undefined) {
      skipped(name, target.missing);
      continue;
    }
    it(`names the setting and the fix where ${name} is away or refuses the credentials`, async () => {
      const platform = await target.start();
      const secret = wrongSecrets[name] ?? wrongSecrets[channel] ?? {};
      const away = channel === "email" ? { imap_port: 1 } : { base_url: "http://127.0.0.1:1" };
      const detail = async (more: object): Promise<string> => {
        const id = await connect(channel, { ...platform.config, ...more });
        const { body } = await admin.call("POST", `channels/${id}/check`);
        const [check] = (body as { readonly checks: readonly { readonly ok: boolean; readonly detail: string }[] })
          .checks;
        expect(check?.ok).toBe(false);
        await remove(id);
        return check?.detail ?? "";
      };
      try {
        const refused = await detail(secret);
        expect(refused).toContain(Object.keys(secret)[0]);
        expect(refused).not.toContain(Object.values(secret)[0]);
        const unreachable = await detail(away);
        expect(unreachable).toMatch(channel === "email" ? /imap_host/ : /base_url|connect to/);
      } finally {
        await platform.close();
      }
    });
  }
});

describe("a test message", () => {
  it("is a text message to a number, with Twilio's reason where it is refused", async () => {
    const twilio = await startFakeTwilio();
    try {
      const id = await connect("sms", { ...twilio.settings, from: "+15550001111" });
      expect((await sendTest(id, "+15552000001")).status).toBe(204);
      expect(twilio.taken.at(-1)).toMatchObject({ to: "+15552000001", body: "Is <anybody> there?" });
      twilio.fail({ kind: "error", status: 400, code: 21_608, message: "The number is unverified" });
      const trial = await sendTest(id, "+15552000001");
      expect([trial.status, trial.body]).toMatchObject([409, { code: "channel_refused" }]);
      expect(JSON.stringify(trial.body)).toContain("verify it in the Twilio console");
      expect((await sendTest(id, "555")).body).toMatchObject({ code: "invalid_parameter" });
      await remove(id);
      const whatsapp = await connect("whatsapp", { ...twilio.settings, from: "+15550001111" });
      expect((await sendTest(whatsapp, "+15552000001")).body).toMatchObject({
        code: "channel_refused",
        detail: expect.stringContaining("template") as unknown,
      });
      await remove(whatsapp);
    } finally {
      await twilio.close();
    }
  });

  it("is a call that speaks the text, with Twilio's reason where it is refused", async () => {
    const twilio = await startFakeTwilio();
    try {
      const id = await connect("voice", { ...twilio.settings, from: "+15550001111" });
      expect((await sendTest(id, "+15552000001")).status).toBe(204);
      expect(twilio.placed).toMatchObject([{ to: "+15552000001", from: "+15550001111" }]);
      expect(twilio.placed[0]?.twiml).toMatch(/<Say[^>]*>Is &lt;anybody&gt; there\?<\/Say><Hangup\/>/);
      twilio.fail({ kind: "error", status: 400, code: 21_215, message: "Account not authorized to call" });
      expect(JSON.stringify((await sendTest(id, "+15552000001")).body)).toContain("geo permissions");
      await remove(id);
    } finally {
      await twilio.close();
    }
  });

  it("is a message to a contact of Intercom", async () => {
    const intercom = await startFakeIntercom();
    try {
      const { token, clientSecret, appId, bot, url } = intercom;
      const id = await connect("intercom", {
        access_token: token,
        client_secret: clientSecret,
        app_id: appId,
        admin_id: bot.id,
        base_url: url,
      });
      expect((await sendTest(id, contactId)).status).toBe(204);
      expect(intercom.calls.at(-1)).toMatchObject({
        path: "/messages",
        body: { body: expect.stringContaining("Is &lt;anybody&gt; there?") as unknown },
      });
      expect((await sendTest(id, "0".repeat(24))).body).toMatchObject({
        code: "channel_refused",
        detail: "The message was not delivered: Intercom has no contact with this ID",
      });
      await remove(id);
    } finally {
      await intercom.close();
    }
  });

  it("is refused after twenty in an hour, and each is in the audit log", async () => {
    const twilio = await startFakeTwilio();
    try {
      app.clock.advance(3_600_000);
      const before = await audited();
      const id = await connect("sms", { ...twilio.settings, from: "+15550001111" });
      for (let i = 0; i < 20; i += 1) expect((await sendTest(id, "+15552000001")).status).toBe(204);
      const refused = await sendTest(id, "+15552000001");
      expect([refused.status, refused.body]).toMatchObject([429, { code: "too_many_attempts" }]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(twilio.taken).toHaveLength(20);
      expect((await audited()) - before).toBe(20);
      app.clock.advance(3_600_000);
      expect((await sendTest(id, "+15552000001")).status).toBe(204);
      await remove(id);
    } finally {
      await twilio.close();
    }
  });
});

if (dovecotProgram === undefined) skipped("a test mail", "install dovecot-imapd and dovecot-lmtpd");
else {
  describe("a test mail", () => {
    it("goes out through the account's own server, with that server's reason where it is refused", async () => {
      const world = await startMailWorld();
      try {
        const id = await connect("email", world.config);
        const { body } = await admin.call("GET", `channels/${id}`);
        expect(body).toMatchObject({ test_address: { label: "E-mail address", is_email: true } });
        expect((await sendTest(id, "admin@company.example")).status).toBe(204);
        const [sent] = world.sent;
        expect([sent?.from, sent?.to]).toEqual([world.address, ["admin@company.example"]]);
        expect(sent?.parsed.text?.trim()).toBe("Is <anybody> there?");
        world.fail({ kind: "refuse", code: 550, text: "5.1.1 No such user" });
        expect((await sendTest(id, "nobody@company.example")).body).toMatchObject({
          code: "channel_refused",
          detail: expect.stringContaining("No such user") as unknown,
        });
        expect((await sendTest(id, world.address)).body).toMatchObject({ code: "channel_refused" });
        await world.smtpAway();
        expect(JSON.stringify((await sendTest(id, "admin@company.example")).body)).toContain("check smtp_host");
        await remove(id);
      } finally {
        await world.close();
      }
    });
  });
}
