import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { mailKind } from "#mail/work.ts";
import { addWebhook, disableWebhook, enableWebhook, listWebhooks } from "#admin/webhooks/webhooks.ts";
import { readSignInSettings, storeSignInSettings } from "#admin/sign-in/settings.ts";
import { createAgent } from "#admin/team/agents.ts";
import { listTeams } from "#admin/team/teams.ts";
import { readStored } from "#admin/settings/change.ts";
import { requestOf } from "#admin/settings/skills.ts";
import type { ApplyOptions } from "./apply-config.ts";
import { applyConfig } from "./apply-config.ts";
import { exportConfig } from "./export-config.ts";

const withoutAgents = (yaml: string): string => yaml.replace(/^ {4}agents:\n(?: {6}.*\n)+/m, "");

eachDatabase("the dashboard's state as a file", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
    const changes: readonly (readonly [method: string, path: string, body: unknown])[] = [
      [
        "PATCH",
        "settings",
        {
          settings: {
            "widget.title": "Help",
            auto_resolve_days: false,
            business_hours: { timezone: "Europe/Berlin", monday: ["09:00-17:00"] },
            "messages.translations": { de: { hello: "Moin!" } },
            audiences: { pro: { plan: ["pro"] } },
          },
        },
      ],
      ["POST", "saved-replies", { name: "hi", text: "Hello {customer}!\n\nHow can I help?" }],
      [
        "POST",
        "rules",
        JSON.parse(
          '{"name":"Refunds","when":{"message":"customer"},"if":{"words":["refund"],"business_hours":"closed"},"then":[{"tag":["money"]},{"assign":"round_robin","max_claimed":3}]}',
        ),
      ],
      [
        "POST",
        "rules",
        JSON.parse('{"name":"Idle","enabled":false,"when":{"minutes":60,"since":"status"},"then":[{"resolve":true}]}'),
      ],
      [
        "POST",
        "skills",
        {
          name: "order_status",
          description: "Tells the state of an order.",
          arguments: { order: { description: "The number.", shape: ["A-####"], ask: "Which order?" } },
          request: { url: "https://shop.example/orders/{order}", headers: { authorization: "Bearer k-1" } },
          phrases: ["status of order {order}"],
          answer: "It is {state}.",
        },
      ],
      ["POST", "skills", { name: "human", use: "talk_to_human" }],
    ];
    for (const [method, path, body] of changes) {
      const answer = await admin.call(method, path, body);
      if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    }
    await addWebhook(
      { store: app.store, clock: app.clock, secrets: app.app.services.secrets, allowPrivate: false },
      { workspaceId: app.workspace.id, url: "https://hooks.example/parley" },
    );
  });
  afterAll(() => app.close());

  const services = () => {
    const { secrets, documents } = app.app.services;
    return { secrets, documents };
  };
  const exported = (id = app.workspace.id) => exportConfig({ read: app.store.read, ...services() }, [id]);
  const mail = () => ({ secrets: app.app.services.secrets, publicUrl: "https://support.example" });
  const apply = (content: string, options: Partial<ApplyOptions> = {}) =>
    applyConfig(
      { store: app.store, clock: app.clock, ...services(), mail: mail(), allowPrivate: false },
      "state.yaml",
      content,
      { env: {}, prune: false, ...options },
    );
  const stored = async () => JSON.stringify((await readStored(app.store.read, app.workspace.id)).stored);
  const mails = async () =>
    (await app.store.read.selectFrom("outbox").select("id").where("kind", "=", mailKind.kind).execute()).length;
  const audited = async () =>
    (await app.store.read.selectFrom("audit").select("id").where("actor_id", "=", "config apply").execute()).length;

  it("has no secret, and lists the variables that stand for them", async () => {
    const { yaml, variables } = await exported();
    expect(yaml).not.toContain("k-1");
    expect(yaml).not.toContain("whsec_");
    expect([...variables.keys()]).toEqual([
      "TEST_SKILL_ORDER_STATUS_AUTHORIZATION",
      "TEST_WEBHOOK_HOOKS_EXAMPLE_SECRET",
    ]);
    for (const name of variables.keys()) expect(yaml).toContain(`#   ${name}\n`);
    expect(yaml).toContain("${TEST_SKILL_ORDER_STATUS_AUTHORIZATION}");
  });

  it("changes nothing when it is applied where it comes from", async () => {
    const before = await stored();
    const { yaml } = await exported();
    await apply(yaml);
    await apply(yaml, { prune: true });
    expect(await stored()).toBe(before);
    expect(await audited()).toBe(0);
    expect((await exported()).yaml).toBe(yaml);
  });

  it("makes the same of another workspace, once its secrets are set", async () => {
    const { yaml } = await exported();
    const other = yaml.replace("name: Test", "name: Other").replaceAll("TEST_", "OTHER_");
    await expect(apply(other)).rejects.toThrow(
      /state\.yaml.*the environment has no variable OTHER_SKILL_ORDER_STATUS_AUTHORIZATION/s,
    );
    const env = {
      OTHER_SKILL_ORDER_STATUS_AUTHORIZATION: "Bearer k-2",
      OTHER_WEBHOOK_HOOKS_EXAMPLE_SECRET: `whsec_${"A".repeat(32)}`,
    };
    const [made] = await apply(other, { env });
    expect((await exported(made?.id)).yaml).toBe(other);
    // The stored secrets are kept where the variables are not set any more.
    await apply(other);
    const { settings } = await readStored(app.store.read, made?.id ?? "");
    const [skill] = settings.skills;
    if (skill?.kind !== "lookup") throw new Error("no look-up");
    expect(requestOf(app.app.services.secrets, skill).headers).toEqual({ authorization: "Bearer k-2" });
  });

  it("keeps disabled webhooks disabled, and disables or enables those that the file says so of", async () => {
    const { store, clock } = app;
    const state = async () => (await listWebhooks(store, app.workspace.id)).map((each) => each.state);
    const [{ id } = { id: "" }] = await listWebhooks(store, app.workspace.id);
    await disableWebhook(store, clock, id);
    const { yaml } = await exported();
    expect(yaml).toContain("enabled: false\n        secret:");
    await enableWebhook(store, clock, id);
    await apply(yaml);
    expect(await state()).toEqual(["disabled"]);
    expect((await exported()).yaml).toBe(yaml);
    await apply(yaml.replace("enabled: false\n        secret:", "secret:"));
    expect(await state()).toEqual(["enabled"]);
  });

  it("makes the same teams, sign-in and pauses in an empty workspace, whose agents join later", async () => {
    const { store, clock } = app;
    const bo = { email: "bo@shop.example", name: "Bo", role: "agent" } as const;
    const { id: agentId } = await createAgent(store, clock, { workspaceId: app.workspace.id, ...bo });
    await admin.call("POST", "teams", { name: "Billing", agent_ids: [agentId] });
    await admin.call("POST", "teams", { name: "Empty" });
    const { channels } = (await admin.call("GET", "channels")).body as {
      readonly channels: readonly { readonly id: string; readonly channel: string }[];
    };
    const widget = channels.find(({ channel }) => channel === "widget")?.id ?? "";
    expect((await admin.call("POST", `channels/${widget}/pause`)).status).toBe(200);
    const setRequired = (secondFactorRequired: boolean) =>
      store.write((tx) => storeSignInSettings(tx, app.workspace.id, { secondFactorRequired }));
    await setRequired(true);
    const { yaml, variables } = await exported();
    await setRequired(false);
    expect(yaml).toContain("teams:\n      - name: Billing\n        agents:\n          - bo@shop.example\n");
    expect(yaml).toContain("paused_channels:\n      - widget\n");
    expect(yaml).toContain("second_factor_required: true\n");
    const env = Object.fromEntries([...variables].map(([name, value]) => [name.replace("TEST_", "THIRD_"), value]));
    const third = withoutAgents(yaml.replace("name: Test", "name: Third").replaceAll("TEST_", "THIRD_"));
    const [made] = await apply(third, { env });
    const id = made?.id ?? "";
    expect((await exported(id)).yaml).toBe(third);
    const before = await audited();
    await apply(third);
    await apply(third, { prune: true });
    expect(await audited()).toBe(before);

    const late = await createAgent(store, clock, { workspaceId: id, ...bo });
    expect(await listTeams(store.read, id)).toMatchObject([
      { name: "Billing", agentIds: [late.id], expectedAgents: [] },
      { name: "Empty", agentIds: [] },
    ]);
    expect(withoutAgents((await exported(id)).yaml)).toBe(third);
    await apply("workspaces: [{name: Third, teams: [{name: Empty}]}]", { prune: true });
    expect((await listTeams(store.read, id)).map(({ name }) => name)).toEqual(["Empty"]);
    expect(await readSignInSettings(store.read, id)).toEqual({ secondFactorRequired: false });
    expect((await exported(id)).yaml).not.toContain("paused");
  });

  it("makes the same agents, websites and articles in an empty workspace", async () => {
    const { documents } = app.app.services;
    const workspaceId = app.workspace.id;
    const shell = "# Paths\n\nSet `${HOME}` and `$${HOME}`.  \n\n```sh\necho ${HOME}\n```\n";
    await documents.addArticle(workspaceId, {
      title: "Paths of ${USER}",
      content: shell,
      audience: ["pro", "${plan}"],
    });
    await admin.call("POST", "teams", { name: "Crew of ${CREW}" });
    await documents.addArticle(workspaceId, { title: "Twice", content: "One.", audience: [] });
    await documents.addArticle(workspaceId, { title: "Twice", content: "Two.", audience: [] });
    await documents.add({ workspaceId, fileName: "a.md", bytes: Buffer.from("A file.") });
    await documents.crawl({ workspaceId, url: "https://shop.example/help", maxPages: 7, audience: ["pro"] });
    const site = await documents.crawl({
      workspaceId,
      url: "https://docs.example",
      sitemap: "https://docs.example/map.xml",
    });
    await documents.change(workspaceId, site.id, { title: "Handbook" });
    const { yaml, variables } = await exported();
    const recorded = await audited();
    expect(await apply(yaml)).toMatchObject([{ invited: [], documents: 0 }]);
    expect([(await exported()).yaml, await audited()]).toEqual([yaml, recorded]);
    expect(yaml).toContain("agents:\n      - email: ");
    expect(yaml).not.toContain("A file.");
    const env = Object.fromEntries([...variables].map(([name, value]) => [name.replace("TEST_", "FOURTH_"), value]));
    const fourth = yaml.replace("name: Test", "name: Fourth").replaceAll("TEST_", "FOURTH_");
    const mailsBefore = await mails();
    const [made] = await apply(fourth, { env });
    const id = made?.id ?? "";
    expect((await exported(id)).yaml).toBe(fourth);
    expect(made).toMatchObject({ documents: 5, invited: expect.arrayContaining(["bo@shop.example"]) });
    expect((await documents.list(id)).documents.map(({ title, audience }) => [title, audience])).toContainEqual([
      "Paths of ${USER}",
      ["${plan}", "pro"],
    ]);
    expect(await mails()).toBe(mailsBefore + (made?.invited.length ?? 0));
    const before = await audited();
    expect(await apply(fourth, { prune: true })).toMatchObject([{ invited: [], documents: 0 }]);
    expect(await audited()).toBe(before);
  });

  it("changes agents, websites and articles, and leaves those that the file does not name", async () => {
    const { documents } = app.app.services;
    const workspaceId = app.workspace.id;
    const before = await documents.list(workspaceId, { limit: 100 });
    const file = {
      name: "Test",
      agents: [{ email: "BO@shop.example", name: "Bo B.", role: "viewer" }],
      websites: [
        { url: "https://shop.example/help", max_pages: 9 },
        { url: "https://docs.example/", title: "Guide", audience: ["staff"] },
        { url: "https://plain.example/", title: "plain.example" },
      ],
      articles: [
        { title: "Twice", text: "One more." },
        { title: "New", text: "Fresh." },
      ],
    };
    const content = JSON.stringify({ workspaces: [file] });
    expect(await apply(content)).toMatchObject([{ invited: [], documents: 5 }]);
    expect(await apply(content)).toMatchObject([{ invited: [], documents: 0 }]);
    const { yaml } = await exported();
    expect(yaml).toContain("- email: bo@shop.example\n        name: Bo B.\n        role: viewer\n");
    expect(yaml).toContain(
      "- url: https://shop.example/help\n        max_pages: 9\n        audience:\n          - pro\n",
    );
    expect(yaml).toContain(
      "title: Guide\n        max_pages: 50\n        sitemap: https://docs.example/map.xml\n        audience:\n          - staff\n",
    );
    expect(yaml).toContain("- title: Twice\n        text: One more.\n");
    expect((await documents.list(workspaceId, { limit: 100 })).documents).toHaveLength(before.documents.length + 2);
  });

  it("finds a workspace by its name as it is read, with its variables", async () => {
    const [made] = await apply("workspaces: [{name: 'Shop $${X} of ${OWNER}'}]", { env: { OWNER: "Ada" } });
    const { yaml } = await exported(made?.id);
    expect(yaml).toContain("- name: Shop $${X} of Ada\n");
    expect(await apply(yaml)).toMatchObject([{ id: made?.id, name: "Shop ${X} of Ada" }]);
  });

  it("leaves out an article that cannot be read, and adds the readable one beside it", async () => {
    const { documents } = app.app.services;
    const [{ id } = { id: "" }] = await apply("workspaces: [{name: Unreadable}]");
    await documents.addArticle(id, { title: "Notes", content: "Old.", audience: [] });
    await app.store.write((tx) =>
      tx
        .updateTable("document_body_parts")
        .set({ body: Buffer.from("a\0b") })
        .where("body_id", "in", tx.selectFrom("documents").select("body_id").where("workspace_id", "=", id))
        .execute(),
    );
    expect(await exported(id)).toMatchObject({ leftOut: ["Notes"], yaml: expect.not.stringContaining("articles") });
    const content = JSON.stringify({
      workspaces: [{ name: "Unreadable", articles: [{ title: "Notes", text: "New." }] }],
    });
    expect(await apply(content)).toMatchObject([{ id, documents: 1 }]);
    expect(await apply(content)).toMatchObject([{ id, documents: 0 }]);
  });

  it("refuses the whole file for an agent, a website or an article that cannot be", async () => {
    const refused = (part: object) =>
      apply(JSON.stringify({ workspaces: [{ name: "Test", bot_name: "Eve", ...part }] }));
    const before = await stored();
    const [only = { email: "" }] = await app.store.read
      .selectFrom("agents")
      .select("email")
      .where("workspace_id", "=", app.workspace.id)
      .where("role", "=", "admin")
      .execute();
    for (const [part, message] of [
      [{ websites: [{ url: "ftp://shop.example" }] }, "Test: ftp://shop.example: url has to be an address"],
      [{ websites: [{ url: "https://a.example", title: " " }] }, "Test: https://a.example: title must be"],
      [{ websites: [{ url: "https://a.example" }, { url: "https://a.example/" }] }, "names this website twice"],
      [{ articles: [{ title: "T", text: "  " }] }, "Test: T: content must be"],
      [{ articles: [{ title: "T", text: "Hi\u000Bthere" }] }, "Test: T: content has control characters"],
      [{ agents: [{ email: only.email, name: "No admin", role: "agent" }] }, "the only admin"],
    ] as const) {
      await expect(refused(part)).rejects.toThrow(message);
      expect(await stored()).toBe(before);
    }
    const twice = { email: "a@shop.example", name: "A" };
    await expect(refused({ agents: [twice, { ...twice, email: "A@shop.example" }] })).rejects.toThrow(
      "two agents have a@shop.example",
    );
  });

  it("refuses channels with servers on private addresses, unless the operator allows them", async () => {
    const file = (url: string) =>
      `workspaces:\n  - name: Test\n    channels:\n      - {name: shop, channel: telegram, token: "12345678:${"a".repeat(35)}", transport: polling, base_url: "${url}"}\n`;
    await expect(apply(file("http://127.0.0.1:9"))).rejects.toThrow(
      /line 4: base_url: 127\.0\.0\.1 is not a public address/,
    );
    expect(await app.store.read.selectFrom("accounts").select("id").where("name", "=", "shop").execute()).toEqual([]);
  });

  it("keeps what the file does not name, and removes it with --prune", async () => {
    const file = "workspaces:\n  - name: Test\n    bot_name: Ada\n    saved_replies: {bye: Goodbye}\n";
    await apply(file);
    const kept = await readStored(app.store.read, app.workspace.id);
    expect(Object.keys(kept.settings.savedReplies)).toEqual(["hi", "bye"]);
    expect([kept.settings.botName, kept.settings.widgetTitle, kept.settings.skills.length]).toEqual(["Ada", "Help", 2]);
    await apply(file, { prune: true });
    const pruned = await readStored(app.store.read, app.workspace.id);
    expect(pruned.stored).toEqual({ botName: "Ada", savedReplies: { bye: "Goodbye" } });
    expect((await exported()).yaml).not.toContain("webhooks");
  });

  it("is refused with the lines of all errors, and changes nothing", async () => {
    const before = await stored();
    const wrong =
      "workspaces:\n  - name: Test\n    bot_name: Eve\n    widget: {color: red}\n    auto_resolve_days: 0\n";
    await expect(apply(wrong)).rejects.toThrow(/line 4: .*widget\.color.*line 5: .*auto_resolve_days/s);
    expect(await stored()).toBe(before);
    // A wrong part of a workspace leaves all of it as it was.
    const partly = "workspaces:\n  - name: Test\n    bot_name: Eve\n    webhooks: [{url: 'http://127.0.0.1/x'}]\n";
    await expect(apply(partly)).rejects.toMatchObject({ code: "invalid_parameter" });
    expect(await stored()).toBe(before);
  });
});
