import { afterAll, beforeAll, expect, it } from "vitest";
import { changeSettings } from "#admin/settings/change.ts";
import { systemActor } from "#domain/conversation/message.ts";
import { newId } from "#domain/ids.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { startFakeSlack } from "../../adapters/slack/test/support/fake-slack.ts";
import type { FakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import { startFakeTelegram } from "../../adapters/telegram/test/support/fake-telegram.ts";
import { messageUpdate } from "../../adapters/telegram/test/support/updates.ts";

interface Item {
  readonly id: string;
  readonly state: string;
  readonly last_event_at: string | null;
}

const chat = 77;

eachDatabase("a channel that is connected in the dashboard", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let telegram: FakeTelegram;
  let id: string;
  let messages = 0;
  beforeAll(async () => {
    telegram = await startFakeTelegram();
    app = await startApp(open, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
    admin = await dashboardUser(app, "admin");
    await app.learn("opening.md", "# Opening hours\n\nThe shop opens at nine in the morning.");
  });
  afterAll(async () => {
    await app.close();
    await telegram.close();
  });

  async function until(what: string, reached: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + 40_000;
    while (performance.now() < end) {
      if (await reached()) return;
      app.clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    throw new Error(`waited in vain: ${what}`);
  }
  const settings = (more: object = {}) => ({ token: telegram.token, base_url: telegram.url, ...more });
  const connect = (name: string, given: object) =>
    admin.call("POST", "channels", { channel: "telegram", name, settings: given });
  const item = async (): Promise<Item> => (await admin.call("GET", `channels/${id}`)).body as Item;
  const polls = (): number => telegram.calls("getUpdates").length;
  const shown = (): readonly string[] => telegram.shown.map(({ text }) => text);
  const asks = (text: string): void => {
    messages += 1;
    telegram.queue(messageUpdate({ chatId: chat, messageId: messages, text }));
  };
  async function agentReplies(content: string): Promise<void> {
    const row = await app.store.read
      .selectFrom("conversations")
      .select("id")
      .where("account_id", "=", id)
      .executeTakeFirstOrThrow();
    await app.engine.reply({
      workspaceId: app.workspace.id,
      conversationId: row.id,
      content,
      files: [],
      uploadedBy: admin.email,
      authorEmail: admin.email,
      actor: { type: "agent", id: admin.email, name: "Anna" },
    });
  }
  const deliveries = async (): Promise<readonly string[]> => {
    const of = app.store.read.selectFrom("deliveries").select("state").where("account_id", "=", id).orderBy("id");
    return (await of.execute()).map(({ state }) => state);
  };

  it("starts at once, shows that it is connected, and answers customers", async () => {
    const { status, body } = await connect("Telegram", settings());
    expect([status, body]).toMatchObject([201, { state: "starting", managed_by: "dashboard", webhook_url: null }]);
    ({ id } = body as Item);
    await until("it is connected", async () => (await item()).state === "connected");
    expect((await item()).last_event_at).toBeNull();
    asks("When does the shop open?");
    await until("the bot answers", () => shown().some((text) => text.includes("nine in the morning")));
    await until("the last event is shown", async () => (await item()).last_event_at !== null);
  });

  it("never shows its secrets again", async () => {
    const answers = await Promise.all(["channels", `channels/${id}`].map((path) => admin.call("GET", path)));
    expect(answers[1]?.body).toMatchObject({ settings: { base_url: telegram.url }, secrets_set: ["token"] });
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(telegram.token);
  });

  it("cannot use the bot of another channel, nor its name, nor wrong settings", async () => {
    const second = await connect("Second", settings());
    expect([second.status, second.body]).toMatchObject([409, { code: "already_exists" }]);
    const sameName = await connect("Telegram", settings({ token: "123456:a-token-that-nobody-has" }));
    expect([sameName.status, sameName.body]).toMatchObject([409, { code: "already_exists" }]);
    const wrong = await connect("Wrong", { token: "secret-that-is-no-token" });
    expect([wrong.status, wrong.body]).toMatchObject([422, { code: "invalid_parameter" }]);
    expect(wrong.body).toMatchObject({
      detail: expect.stringMatching(/^settings\.token: token cannot be right/) as unknown,
    });
    expect(JSON.stringify(wrong.body)).not.toContain("secret-that-is-no-token");
    const none = await admin.call("POST", "channels", { channel: "widget", name: "Widget", settings: {} });
    expect([none.status, none.body]).toMatchObject([422, { code: "invalid_parameter" }]);
  });

  it("is checked as doctor does, and sends a test message", async () => {
    const checked = await admin.call("POST", `channels/${id}/check`);
    expect(checked.body).toEqual({
      checks: [{ name: "channel Telegram", ok: true, detail: `@${telegram.username}, polling` }],
    });
    const sent = await admin.call("POST", `channels/${id}/test-message`, { to: String(chat), text: "Testing." });
    expect(sent.status).toBe(204);
    expect(telegram.shown.at(-1)).toMatchObject({ chatId: chat, text: "Testing." });
    const refused = await admin.call("POST", `channels/${id}/test-message`, { to: "Ada" });
    expect([refused.status, refused.body]).toMatchObject([422, { code: "invalid_parameter" }]);
  });

  it("keeps the stored secrets when its other settings change", async () => {
    const before = polls();
    const changed = await admin.call("PATCH", `channels/${id}`, {
      name: "Bot",
      settings: { base_url: telegram.url, groups: "off" },
    });
    expect([changed.status, changed.body]).toMatchObject([200, { name: "Bot", secrets_set: ["token"] }]);
    await until("it is connected again", async () => polls() > before && (await item()).state === "connected");
    asks("When does the shop open on Monday?");
    const answers = shown().length;
    await until("the bot answers", () => shown().length > answers);
  });

  it("receives and sends nothing while it is paused, and sends what has waited when it is resumed", async () => {
    expect((await admin.call("POST", `channels/${id}/pause`)).body).toMatchObject({ state: "paused" });
    await until("it stops", async () => {
      const lease = app.store.read.selectFrom("connection_leases").select("holder").where("account_id", "=", id);
      return (await lease.executeTakeFirst()) === undefined;
    });
    const [pollsBefore, shownBefore] = [polls(), shown().length];
    asks("Is anybody there?");
    await agentReplies("We are back soon.");
    for (let hour = 0; hour < 30; hour += 1) {
      app.clock.advance(3_600_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect([polls(), shown().length]).toEqual([pollsBefore, shownBefore]);
    expect(await deliveries()).toContain("queued");
    expect((await admin.call("POST", `channels/${id}/test-message`, { to: String(chat) })).body).toMatchObject({
      code: "channel_refused",
    });
    // Work that runs while the channel is resumed looks again after five minutes only.
    const waiting = app.store.read
      .selectFrom("outbox")
      .select("id")
      .where("last_error", "like", "%is paused")
      .where("lease_id", "is", null)
      .where("due_at", ">", app.clock.now());
    await expect.poll(() => waiting.execute()).toHaveLength(1);
    const resumed = app.clock.now();
    await admin.call("POST", `channels/${id}/resume`);
    const isSent = (): boolean => {
      app.clock.advance(100);
      return shown().some((text) => text.includes("We are back soon."));
    };
    await expect.poll(isSent, { interval: 50 }).toBe(true);
    expect(app.clock.now() - resumed).toBeLessThan(60_000);
    await until("it polls again", () => polls() > pollsBefore);
  });

  it("fails the messages that wait when it is removed, and keeps its conversations", async () => {
    await admin.call("POST", `channels/${id}/pause`);
    await agentReplies("This never arrives.");
    await until("the reply waits", async () => (await deliveries()).includes("queued"));
    expect((await admin.call("DELETE", `channels/${id}`)).status).toBe(204);
    await until("the reply has failed", async () => (await deliveries()).includes("failed"));
    expect(shown().some((text) => text.includes("This never arrives."))).toBe(false);
    const { body } = await app.get(`/v1/conversations?workspace_id=${app.workspace.id}`);
    expect(body.conversations).toHaveLength(1);
    const { body: conversation } = await app.get(`/v1/conversations/${body.conversations[0]?.id ?? ""}`);
    expect(JSON.stringify(conversation)).toContain("was removed or is disabled");
    expect((await admin.call("GET", `channels/${id}`)).status).toBe(404);
    const row = await app.store.read.selectFrom("accounts").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    expect(row).toMatchObject({ credentials: null, config: "{}", identity: null, enabled: 0 });
    const again = await connect("Bot", settings());
    expect(again.status).toBe(201);
  });

  it("leaves entries without secrets in the audit log", async () => {
    const rows = await app.store.read
      .selectFrom("audit")
      .select(["action", "actor_id", "detail", "from_value", "to_value"])
      .where("action", "in", ["channel_added", "channel_changed", "channel_tested", "channel_removed"])
      .orderBy("id")
      .execute();
    expect(rows.map(({ action, detail, to_value }) => [action, detail, to_value])).toEqual([
      ["channel_added", "Telegram", "Telegram"],
      ["channel_tested", "Telegram", String(chat)],
      ["channel_changed", "Bot", "name, groups"],
      ["channel_changed", "Bot", "paused"],
      ["channel_changed", "Bot", "running"],
      ["channel_changed", "Bot", "paused"],
      ["channel_removed", "Bot", null],
      ["channel_added", "Bot", "Telegram"],
    ]);
    expect(JSON.stringify(rows)).not.toContain(telegram.token);
  });

  it("may be the website chat, which websites and the chat page do not show while it is paused", async () => {
    const { body } = await admin.call("GET", "channels");
    const { channels } = body as { readonly channels: readonly (Item & { readonly channel: string })[] };
    const idOf = (channel: string) => channels.find((each) => each.channel === channel)?.id ?? "";
    const face = async (channel: string) => (await app.get(`/chat/${app.workspace.id}/face?channel=${channel}`)).status;
    await admin.call("POST", `channels/${idOf("widget")}/pause`);
    await until("the widget is closed", async () => (await face("widget")) === 404);
    expect(await face("hosted")).toBe(200);
    await admin.call("POST", `channels/${idOf("hosted")}/pause`);
    await until("the page is closed", async () => (await face("hosted")) === 404);
    expect(await app.get(`/chat/${app.workspace.id}`)).toMatchObject({
      status: 404,
      text: "This chat is closed at the moment.\n",
    });
    expect((await app.get("/widget.js")).status).toBe(200);
    for (const channel of ["widget", "hosted"]) await admin.call("POST", `channels/${idOf(channel)}/resume`);
    await until("both are shown", async () => (await face("widget")) === 200 && (await face("hosted")) === 200);
    expect((await admin.call("POST", `channels/${idOf("api")}/pause`)).body).toMatchObject({ code: "managed_by_file" });
  });

  it("keeps its secrets, its revision and the operator's network from careless and hostile changes", async () => {
    // Another bot than that of the other tests.
    const connected = await connect("Moved", settings({ token: "4242:another-bot-of-this-test" }));
    expect(connected).toMatchObject({ status: 201 });
    const moved = connected.body as { readonly id: string; readonly revision: number };
    const change = (given: object) => admin.call("PATCH", `channels/${moved.id}`, given);
    // Another allowed server.
    const elsewhere = { base_url: "http://127.0.0.1:9" };
    expect(await change({ settings: elsewhere })).toMatchObject({
      status: 422,
      body: { detail: "settings.token: enter it again for this server" },
    });
    const inner = settings({ base_url: "http://10.0.0.5" });
    const refusal = {
      status: 422,
      body: { detail: expect.stringMatching(/^settings\.base_url: .*outbound\.allow_private/) },
    };
    expect(await change({ settings: inner })).toMatchObject(refusal);
    expect(await connect("Inner", inner)).toMatchObject(refusal);
    expect(await change({ name: "Stale", revision: moved.revision - 1 })).toMatchObject({
      status: 409,
      body: { code: "edit_conflict" },
    });
    const names = ["One", "Two", "Three"];
    const answers = await Promise.all(names.map((name) => change({ name })));
    const changes = answers.filter(({ status }) => status === 200).length;
    expect(await admin.call("GET", `channels/${moved.id}`)).toMatchObject({
      body: { revision: moved.revision + changes },
    });
    await app.store.write((tx) =>
      tx
        .updateTable("accounts")
        .set({ config: JSON.stringify({ base_url: "http://10.0.0.5" }) })
        .where("id", "=", moved.id)
        .execute(),
    );
    expect(await admin.call("POST", `channels/${moved.id}/check`)).toMatchObject(refusal);
    // Its connection, which nobody checks beforehand, is refused too.
    expect(await admin.call("POST", `channels/${moved.id}/pause`)).toMatchObject({ status: 200 });
    expect(await admin.call("POST", `channels/${moved.id}/resume`)).toMatchObject({ status: 200 });
    await until("the refusal is the last error", async () => {
      const { body } = await admin.call("GET", `channels/${moved.id}`);
      return /base_url: 10\.0\.0\.5 is not a public address/.test(JSON.stringify(body));
    });
    expect(await admin.call("DELETE", `channels/${moved.id}`)).toMatchObject({ status: 204 });
  });

  it("gets and loses the agents' desk without a restart", async () => {
    const slack = await startFakeSlack();
    try {
      const { body } = await admin.call("POST", "channels", {
        channel: "slack",
        name: "Slack",
        settings: { bot_token: slack.botToken, app_token: slack.appToken, base_url: slack.url },
      });
      const { id: slackId } = body as Item;
      const edit = { workspaceId: app.workspace.id, by: systemActor("test") };
      const entry = { action: "settings_changed", subject: "desk" } as const;
      const checked = async (): Promise<readonly string[]> => {
        const answer = (await admin.call("POST", `channels/${slackId}/check`)).body as {
          readonly checks: readonly { readonly name: string }[];
        };
        return answer.checks.map(({ name }) => name);
      };
      expect(await checked()).toEqual(["channel Slack"]);
      const desk = { account: "Slack", channel: "C0123456789", mirror: "escalated", replyMode: "explicit" } as const;
      await changeSettings(app, edit, ({ stored }) => ({
        stored: { ...stored, desk },
        entries: [entry],
        result: undefined,
      }));
      await until("the desk is there", async () => (await checked()).includes("desk Slack"));
      await changeSettings(app, edit, ({ stored: { desk: _desk, ...stored } }) => ({
        stored,
        entries: [entry],
        result: undefined,
      }));
      await until("the desk is gone", async () => !(await checked()).includes("desk Slack"));
      expect((await admin.call("DELETE", `channels/${slackId}`)).status).toBe(204);
    } finally {
      await slack.close();
    }
  });

  it("is shown but not changed where the configuration file declares it", async () => {
    const filed = newId("acc", app.clock.now());
    const row = { id: filed, workspace_id: app.workspace.id, channel: "telegram", name: "Filed", config: "{}" };
    await app.store.write((tx) =>
      tx
        .insertInto("accounts")
        .values({ ...row, credentials: null, managed_by: "file", enabled: 0, created_at: app.clock.now() })
        .execute(),
    );
    const { body } = await admin.call("GET", "channels");
    expect((body as { readonly channels: readonly object[] }).channels).toContainEqual(
      expect.objectContaining({ name: "Filed", managed_by: "file", state: "disabled" }),
    );
    const tries = [
      admin.call("PATCH", `channels/${filed}`, { name: "Mine" }),
      admin.call("POST", `channels/${filed}/pause`),
      admin.call("DELETE", `channels/${filed}`),
    ];
    for (const answer of await Promise.all(tries)) {
      expect([answer.status, answer.body]).toMatchObject([409, { code: "managed_by_file" }]);
    }
  });

  it("can be one of several kinds, each with its settings, its secrets and the steps to connect it", async () => {
    const { body } = await admin.call("GET", "channels/kinds");
    const { kinds } = body as {
      readonly kinds: readonly { readonly channel: string; readonly provider: string | null; readonly label: string }[];
    };
    expect(kinds.map(({ channel }) => channel)).toContain("telegram");
    expect(kinds.filter(({ channel }) => channel === "whatsapp").map(({ label }) => label)).toEqual([
      "WhatsApp (Meta Cloud API)",
      "WhatsApp (Twilio)",
    ]);
    for (const { channel, provider } of kinds) {
      const query = provider === null ? "" : `?provider=${provider}`;
      const kind = (await admin.call("GET", `channels/kinds/${channel}${query}`)).body as {
        readonly schema: { readonly properties: Readonly<Record<string, { readonly title?: string }>> };
        readonly secrets: readonly string[];
        readonly steps: string;
        readonly provider: string | null;
      };
      const untitled = Object.entries(kind.schema.properties).filter(([, { title }]) => title === undefined);
      expect(untitled.map(([name]) => `${channel}: ${name}`)).toEqual([]);
      expect(Object.keys(kind.schema.properties)).toEqual(expect.arrayContaining([...kind.secrets]));
      expect(kind.provider).toBe(provider);
      expect(kind.steps, channel).toMatch(/^1\. /m);
    }
    expect((await admin.call("GET", "channels/kinds/widget")).status).toBe(404);
    expect((await admin.call("GET", "channels/kinds/whatsapp?provider=nobody")).status).toBe(404);
  });
});
