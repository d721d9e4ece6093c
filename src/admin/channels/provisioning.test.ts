import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAdapter } from "#channels/load-adapter.ts";
import { readConfigFile } from "#config/file.ts";
import { provisionWorkspaces } from "../workspaces/workspaces.ts";
import { createSecrets } from "#runtime/secrets.ts";
import type { OpenStore } from "#database/open.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

const secrets = createSecrets("a secret for tests, of more than thirty-two characters");
const token = "123456:a-token-that-nobody-has";

eachDatabase("accounts of the configuration file", (open) => {
  let store: OpenStore;
  let close: () => Promise<void>;
  beforeEach(async () => {
    ({ store, close } = await openTestStore(open));
  });
  afterEach(() => close());

  const provision = (channels: string) =>
    provisionWorkspaces(
      { store, clock: createHandMovedClock(1_900_000_000_000), secrets, load: loadAdapter },
      readConfigFile("parley.yaml", `workspaces:\n  - name: Shop\n    channels:${channels}\n`, {}).workspaces,
    );
  const accounts = () =>
    store.read
      .selectFrom("accounts")
      .select(["id", "name", "channel", "config", "credentials", "enabled"])
      .where("managed_by", "=", "file")
      .orderBy("name")
      .execute();

  it("are created once, with their secrets encrypted", async () => {
    const channels = `\n      - {name: tg, channel: telegram, token: "${token}", groups: all}`;
    await provision(channels);
    const [made] = await accounts();
    expect(made).toMatchObject({ name: "tg", channel: "telegram", config: '{"groups":"all"}', enabled: 1 });
    expect(made?.credentials).not.toContain(token);
    expect(JSON.parse(secrets.open(made?.credentials ?? ""))).toEqual({ token });
    await provision(channels.replace("all", "off"));
    expect(await accounts()).toMatchObject([{ id: made?.id, config: '{"groups":"off"}' }]);
  });

  it("are in the audit log with each change of the file, without secrets, and not when it is as before", async () => {
    const entries = async () => {
      const rows = await store.read.selectFrom("audit").selectAll().orderBy("id").execute();
      await store.write((tx) => tx.deleteFrom("audit").execute());
      expect(JSON.stringify(rows)).not.toContain(token);
      return rows.map((row) => [row.actor_id, row.action, row.detail, row.from_value, row.to_value]);
    };
    const by = "configuration file";
    const telegram = `\n      - {name: tg, channel: telegram, token: "${token}", groups: all}`;
    await provision(telegram);
    expect(await entries()).toEqual([[by, "channel_added", "tg", null, "Telegram"]]);
    const more = `\n    strictness: helpful\n    saved_replies: {bye: All the best}`;
    await provision(telegram.replace("all", "off") + more);
    expect(await entries()).toEqual([
      [by, "settings_changed", "strictness", "strict", "helpful"],
      [by, "saved_reply_added", "bye", null, "All the best"],
      [by, "channel_changed", "tg", null, null],
    ]);
    await provision(telegram.replace("all", "off") + more);
    expect(await entries()).toEqual([]);
    await provision(" []\n    strictness: helpful");
    expect(await entries()).toEqual([
      [by, "saved_reply_removed", "bye", "All the best", null],
      [by, "channel_removed", "tg", null, null],
    ]);
  });

  it("add a desk to the workspace, and remove it when the file has none", async () => {
    const desk = "\n    desk: {kind: slack, account: work, channel: C0123456789}";
    const slack = `\n      - {name: work, channel: slack, bot_token: "xoxb-0123456789ab", signing_secret: "0123456789abcdef"}`;
    const settings = async () => {
      const { settings: stored } = await store.read
        .selectFrom("workspaces")
        .select("settings")
        .executeTakeFirstOrThrow();
      return (JSON.parse(stored) as { readonly desk?: unknown }).desk;
    };
    await provision(slack);
    expect(await settings()).toBeUndefined();
    await provision(slack + desk);
    expect(await settings()).toMatchObject({ account: "work", channel: "C0123456789", mirror: "escalated" });
    await provision(slack);
    expect(await settings()).toBeNull();
  });

  it("are stored with their workspace's saved replies, which are removed when the file has none", async () => {
    const settings = async () => {
      const row = await store.read.selectFrom("workspaces").select("settings").executeTakeFirstOrThrow();
      return (JSON.parse(row.settings) as { readonly savedReplies?: unknown }).savedReplies;
    };
    await provision(" []");
    expect(await settings()).toBeUndefined();
    await provision(" []\n    saved_replies: {bye: 'All the best, {agent}', grüße: Viele Grüße}");
    expect(await settings()).toEqual({ bye: "All the best, {agent}", grüße: "Viele Grüße" });
    await provision(" []");
    expect(await settings()).toEqual({});
  });

  it("are served by the provider that they name, and refused where it is unknown", async () => {
    const numbers = (provider: string) => `
      - {name: wa, channel: whatsapp, provider: ${provider}, phone_number_id: "106540352242922", access_token: "EAAB0123456789abcdef", app_secret: "0123456789abcdef"}`;
    await provision(numbers("meta"));
    const [made] = await accounts();
    expect(made).toMatchObject({
      channel: "whatsapp",
      config: '{"provider":"meta","phone_number_id":"106540352242922"}',
    });
    expect(Object.keys(JSON.parse(secrets.open(made?.credentials ?? "")) as object)).toEqual([
      "access_token",
      "app_secret",
    ]);
    await expect(provision(numbers("nobody"))).rejects.toThrow(/provider: use twilio or meta/);
    // The default provider has other settings.
    await expect(provision(numbers("twilio"))).rejects.toThrow(/account_sid/);
  });

  it("are disabled when the file no longer names them, and enabled when it does", async () => {
    const channels = `\n      - {name: tg, channel: telegram, token: "${token}"}`;
    await provision(channels);
    await provision(" []");
    expect(await accounts()).toMatchObject([{ enabled: 0 }]);
    await provision(channels);
    expect(await accounts()).toMatchObject([{ enabled: 1 }]);
  });

  it("are disabled when the file no longer names their workspace", async () => {
    await provision(`\n      - {name: tg, channel: telegram, token: "${token}"}`);
    await provisionWorkspaces(
      { store, clock: createHandMovedClock(1_900_000_000_000), secrets, load: loadAdapter },
      [],
    );
    expect(await accounts()).toMatchObject([{ enabled: 0 }]);
  });

  it("are created once, with their workspace, by processes that start together", async () => {
    const channels = `\n      - {name: tg, channel: telegram, token: "${token}"}`;
    const before = await store.read.selectFrom("workspaces").select("id").execute();
    await Promise.all([provision(channels), provision(channels), provision(channels)]);
    const after = await store.read.selectFrom("workspaces").select(["id", "name"]).execute();
    expect([before.length, after.map(({ name }) => name)]).toEqual([0, ["Shop"]]);
    expect(await accounts()).toMatchObject([{ name: "tg", enabled: 1 }]);
  });

  it("are refused with all errors of all accounts, before any is stored", async () => {
    const channels = [
      "",
      "      - {name: good, channel: telegram, token: " + token + "}",
      "      - {name: bad, channel: telegram, tokn: x, groups: some}",
      "      - {name: mail, channel: email, address: a@b.example, imap_host: b, smtp_host: b, smtp_port: 99999}",
    ].join("\n");
    const message = await provision(channels).then(
      () => "nothing",
      (error: unknown) => String(error),
    );
    expect(message.split("\n").map((line) => line.trim().slice(0, 60))).toEqual([
      "FileError: 4 errors in parley.yaml:",
      "line 5: token is required: The bot's token, from @BotFather",
      expect.stringContaining("line 5: tokn is not a setting; allowed: token, "),
      expect.stringContaining("line 5: groups must be one of"),
      expect.stringContaining("line 6: smtp_port must be <= 65535: Default: 465"),
    ]);
    expect(await accounts()).toEqual([]);
  });

  it("are refused when two have the same app, mailbox or number", async () => {
    const start = (...declared: readonly string[]) =>
      provisionWorkspaces(
        { store, clock: createHandMovedClock(1_900_000_000_000), secrets, load: loadAdapter },
        readConfigFile(
          "parley.yaml",
          `workspaces:\n  - name: A\n    channels:\n${declared.map((each) => `      - ${each}\n`).join("")}`,
          {},
        ).workspaces,
      );
    const slack = (name: string, key: string) =>
      `{name: ${name}, channel: slack, bot_token: xoxb-111-222-${key}, app_token: xapp-0123456789ab}`;
    await expect(start(slack("s1", "old-secret"), slack("s2", "new-secret"))).rejects.toThrow(
      "line 5: the account s2 uses the app 111-222, and so does s1 of the workspace A: give each its own",
    );
    const mail = (name: string, more: string) =>
      `{name: ${name}, channel: email, address: help@a.example, password: p, imap_host: MAIL.a.example, smtp_host: b${more}}`;
    await expect(start(mail("m1", ""), mail("m2", ", user: HELP@a.example, folder: inbox"))).rejects.toThrow(
      "the account m2 uses the mailbox HELP@a.example, folder INBOX, and so does m1",
    );
    const number = (name: string, channel: string) =>
      `{name: ${name}, channel: ${channel}, account_sid: AC${"0".repeat(32)}, auth_token: a${"0".repeat(31)}, from: "+15550001111"}`;
    await expect(start(number("n1", "sms"), number("n2", "sms"))).rejects.toThrow(
      "the account n2 uses the number +15550001111, and so does n1",
    );
    expect(await accounts()).toEqual([]);
    // A number can be used for SMS and for WhatsApp, and two folders of one mailbox can be used.
    await start(number("n1", "sms"), number("n2", "whatsapp"), mail("m1", ""), mail("m2", ", folder: Sales"));
    expect(await accounts()).toHaveLength(4);
  });

  it("are refused when two have the same bot, in one workspace or in two", async () => {
    const shop = (name: string, ...declared: readonly string[]): string =>
      `  - name: ${name}\n    channels:\n${declared.map((each) => `      - ${each}\n`).join("")}`;
    const bot = (name: string, key: string, more = ""): string =>
      `{name: ${name}, channel: telegram, token: "${key}"${more}}`;
    const start = (...workspaces: readonly string[]) =>
      provisionWorkspaces(
        { store, clock: createHandMovedClock(1_900_000_000_000), secrets, load: loadAdapter },
        readConfigFile("parley.yaml", `workspaces:\n${workspaces.join("")}`, {}).workspaces,
      );
    const replaced = token.replace("nobody", "no-one");
    await expect(start(shop("A", bot("tg", token)), shop("B", bot("tg2", replaced)))).rejects.toThrow(
      "parley.yaml, line 7: the account tg2 uses the bot 123456, and so does tg of the workspace A: give each its own",
    );
    await expect(start(shop("A", bot("tg", token), bot("tg2", token)))).rejects.toThrow("the bot 123456");
    expect(await accounts()).toEqual([]);
    await start(
      shop("A", bot("tg", token), bot("tg2", token, ", enabled: false"), bot("tg3", "7654321:another-token")),
    );
    expect((await accounts()).map(({ enabled }) => enabled)).toEqual([1, 0, 1]);
  });

  it("are refused with the line and the fix, without the token", async () => {
    const wrong = async (channel: string): Promise<string> => {
      const failure = await provision(`\n      - ${channel}`).then(
        () => "nothing was wrong",
        (error: unknown) => String(error),
      );
      expect(failure).not.toContain(token);
      return failure;
    };
    expect(await wrong("{name: tg, channel: telegram}")).toContain("parley.yaml, line 4: token is required");
    expect(await wrong(`{name: tg, channel: telegram, token: "${token}", groups: some}`)).toContain(
      "groups must be one of addressed, all, off",
    );
    expect(await wrong(`{name: tg, channel: telegram, token: "${token}", colour: red}`)).toContain(
      "colour is not a setting; allowed: token, transport, groups, business_owners, base_url",
    );
    expect(await wrong(`{name: tg, channel: telegram, token: "x ${token}"}`)).toMatch(/token cannot be right: \S/);
    expect(await wrong(`{name: widget, channel: telegram, token: "${token}"}`)).toContain("choose another name");
    expect(await wrong(`{name: phone, channel: voice}`)).toContain("account_sid is required");
    expect(await accounts()).toEqual([]);
  });
});

describe("doctor", () => {
  it("asks the platform of each account, and prints the fix", async () => {
    const { startFakeTelegram } = await import("#adapters/telegram/test/support/fake-telegram.ts");
    const telegram = await startFakeTelegram();
    const adapter = await loadAdapter("telegram", {});
    const checked = async (given: string, publicUrl = "https://parley.test"): Promise<string> => {
      const webhookUrl = `${publicUrl}/channels/telegram/a`;
      const state = { get: async () => null };
      const host = { webhookUrl, signToken: () => "x", log: pino({ level: "silent" }), state };
      const config = { token: given, base_url: telegram.url, transport: "webhook" };
      const account = { id: "a", workspaceId: "w", channel: "telegram" as const, name: "tg", config };
      const made = adapter?.create(account, host as unknown as Parameters<typeof adapter.create>[1]);
      return (await made?.check?.(AbortSignal.timeout(5_000)).catch((error: unknown) => String(error))) ?? "no check";
    };
    try {
      expect(await checked("1234:not-this-one")).toContain("get the bot's token from @BotFather");
      expect(await checked(telegram.token)).toContain("has no webhook yet: start Parley");
      expect(await checked(telegram.token, "http://parley.test")).toContain("set PUBLIC_URL to an https address");
    } finally {
      await telegram.close();
    }
  });
});
