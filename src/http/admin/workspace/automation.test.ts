import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfigFile } from "#config/file.ts";
import { provisionWorkspaces } from "#admin/workspaces/workspaces.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { readWorkspace } from "#database/queries/workspaces.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { ShopServer } from "#test/support/servers/shop-server.ts";
import { sendJson, startShopServer } from "#test/support/servers/shop-server.ts";

eachDatabase("automation in the dashboard", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let shop: ShopServer;
  beforeAll(async () => {
    shop = await startShopServer();
    app = await startApp(open, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
    admin = await dashboardUser(app, "admin");
  });
  afterAll(async () => {
    await app.close();
    await shop.close();
  });

  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await admin.call(method, path, body);
    return { status: answer.status, body: answer.body as Readonly<Record<string, unknown>> };
  };
  const settings = async () => (await readWorkspace(app.store.read, app.workspace.id))?.settings;
  const startWith = async (...lines: readonly string[]): Promise<void> => {
    const { name } = await app.store.read
      .selectFrom("workspaces")
      .select("name")
      .where("id", "=", app.workspace.id)
      .executeTakeFirstOrThrow();
    const text = `workspaces:\n  - name: ${JSON.stringify(name)}\n${lines.map((line) => `    ${line}\n`).join("")}`;
    const { secrets } = app.app.services;
    const { workspaces } = readConfigFile("file", text, {});
    await provisionWorkspaces({ store: app.store, clock: app.clock, secrets, load: loadAdapter }, workspaces);
  };
  const refunds = {
    name: "Refunds",
    when: { message: "customer" },
    if: { words: ["refund"] },
    // oxlint-disable-next-line unicorn/no-thenable -- a key of the API.
    then: [{ tag: ["money"] }],
  };
  const lookup = (headers: Readonly<Record<string, string | null>>, url = `${shop.url}/orders/{order}`) => ({
    name: "order_status",
    description: "Tells the state of an order.",
    arguments: { order: { description: "The number.", shape: "A-####" } },
    request: { url, headers },
    answer: "It is {state}.",
  });

  it("adds, changes, renames and removes saved replies, whose names are unique", async () => {
    expect((await call("POST", "saved-replies", { name: "hi", text: "Hello {customer}!" })).status).toBe(201);
    expect((await call("POST", "saved-replies", { name: "hi", text: "Again" })).body).toMatchObject({
      code: "already_exists",
    });
    expect((await call("POST", "saved-replies", { name: "bad", text: "{nobody}" })).status).toBe(422);
    expect((await call("PATCH", "saved-replies/hi", { name: "hello" })).body).toEqual({
      name: "hello",
      text: "Hello {customer}!",
    });
    expect((await call("DELETE", "saved-replies/hi")).status).toBe(404);
    expect((await call("GET", "saved-replies")).body).toEqual({
      saved_replies: [{ name: "hello", text: "Hello {customer}!" }],
      managed_by_file: false,
    });
    expect((await settings())?.savedReplies).toEqual({ hello: "Hello {customer}!" });
  });

  it("keeps rules in their order, on or off, and runs those that are on", async () => {
    expect((await call("POST", "rules", refunds)).status).toBe(201);
    expect((await call("POST", "rules", { ...refunds, name: "Later" })).status).toBe(201);
    expect((await call("POST", "rules", { ...refunds, name: "Wrong", when: {} })).body).toMatchObject({
      code: "invalid_parameter",
      detail: expect.stringContaining("exactly one"),
    });
    expect((await call("PATCH", "rules/Refunds", { enabled: false })).body).toMatchObject({ enabled: false });
    expect((await settings())?.rules.map(({ name }) => name)).toEqual(["Later"]);
    expect((await call("POST", "rules/order", { names: ["Later", "Refunds"] })).status).toBe(204);
    expect((await call("POST", "rules/order", { names: ["Later"] })).status).toBe(422);
    const { rules } = (await call("GET", "rules")).body as { rules: readonly { name: string }[] };
    expect(rules).toEqual([
      { ...refunds, name: "Later" },
      { ...refunds, enabled: false },
    ]);
    expect((await call("DELETE", "rules/Later")).status).toBe(204);
    await call("PATCH", "rules/Refunds", { enabled: true });
    expect((await call("PATCH", "settings", { settings: { business_hours: { timezone: "UTC" } } })).status).toBe(200);
    expect((await call("PATCH", "rules/Refunds", { if: { words: ["refund"], business_hours: "closed" } })).status).toBe(
      200,
    );
    expect((await call("PATCH", "settings", { reset: ["business_hours"] })).body).toMatchObject({
      detail: expect.stringContaining("Refunds"),
    });
  });

  it("assigns by a rule to agents of the workspace only", async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- a key of the API.
    const by = (assign: string) => ({ then: [{ assign }] });
    const to = (assign: string) => ({ ...refunds, name: "Assign", ...by(assign) });
    const refused = await call("POST", "rules", to("ghost@shop.example"));
    expect([refused.status, refused.body["detail"]]).toEqual([422, expect.stringContaining("ghost@shop.example")]);
    expect((await call("POST", "rules", to(admin.email))).status).toBe(201);
    expect((await call("PATCH", "rules/Assign", by("ghost@shop.example"))).status).toBe(422);
    expect((await call("DELETE", "rules/Assign")).status).toBe(204);
  });

  it("tells what rules would do, and why they fired", async () => {
    app.clock.advance(1_001);
    const asked = await app.post("/v1/query", {
      workspace_id: app.workspace.id,
      query: "I want a refund for my order",
    });
    expect(asked.status).toBe(200);
    const tried = await call("POST", "rules/dry-run", { rules: [{ ...refunds, name: "Tried" }], days: 1 });
    expect(tried.body).toMatchObject({
      conversations: 1,
      fired: [
        { rule: "Tried", because: ["the customer has written", 'the message says "refund"'], would: ["tag money"] },
      ],
      has_more: false,
      not_fired: [],
      is_complete: true,
    });
    const { body } = await call("GET", "rules/Refunds/firings");
    expect(body).toMatchObject({
      firings: [
        { message_id: expect.stringMatching(/^msg_/), why: expect.stringContaining('the message says "refund"') },
      ],
    });
    const { code } = (await call("GET", "rules/Refunds/firings?cursor=aud_00000000000000000000000000")).body as {
      readonly code: string;
    };
    expect(code).toBe("invalid_cursor");
  });

  it("tells why rules would not have fired, and changes nothing", async () => {
    const audited = async () => (await app.store.read.selectFrom("audit").select("id").execute()).length;
    const before = await audited();
    const checks: readonly (readonly [checks: object, because: string])[] = [
      [{ words: ["invoice"] }, "the message has none of the words"],
      [{ words: ["refund"], channels: ["email"] }, "the channel is api"],
      [{ tags: ["vip", "money"] }, "it lacks the tags vip, money"],
      [{ verified: true }, "the customer is not verified"],
      [{ business_hours: "closed", assigned: true }, "it is not assigned to an agent"],
      [{ languages: ["fr"] }, "the language is en"],
      [{ unanswered: false }, "the customer's last message is not answered"],
    ];
    for (const [given, because] of checks) {
      const tried = await call("POST", "rules/dry-run", {
        rules: [{ ...refunds, name: "Tried", if: given, when: { message: "customer" } }],
      });
      expect(tried.body).toMatchObject({ fired: [], not_fired: [{ rule: "Tried", because }] });
    }
    const never = await call("POST", "rules/dry-run", { rules: [{ ...refunds, if: {}, when: { tagged: "vip" } }] });
    expect(never.body).toMatchObject({ fired: [], not_fired: [{ because: "nothing set it off" }] });
    expect(await audited()).toBe(before);
  });

  it("stores a skill's headers encrypted, shows none, and sends them to the same server only", async () => {
    shop.answer = ({ headers }, response) =>
      sendJson(response, { state: headers["authorization"] === "Bearer k-1" ? "ready" : "unknown" });
    const added = await call("POST", "skills", lookup({ authorization: "Bearer k-1" }));
    expect([added.status, added.body]).toMatchObject([201, { request: { headers: { authorization: null } } }]);
    expect(JSON.stringify((await call("GET", "skills")).body)).not.toContain("k-1");
    expect(JSON.stringify(await settings())).not.toContain("k-1");
    const tried = await call("POST", "skills/test", {
      skill: lookup({ authorization: null }),
      values: { order: "A-1234" },
    });
    expect(tried.body).toMatchObject({
      outcome: "found",
      answer: "It is ready.",
      request: { method: "GET", url: `${shop.url}/orders/A-1234`, headers: { authorization: "•••" }, body: null },
    });
    expect((await call("POST", "skills/test", { skill: lookup({}), values: { order: "no" } })).status).toBe(422);
    const elsewhere = lookup({ authorization: null }, "https://elsewhere.example/orders/{order}");
    expect((await call("PUT", "skills/order_status", elsewhere)).body).toMatchObject({
      code: "invalid_parameter",
      detail: expect.stringContaining("authorization"),
    });
    expect((await call("PUT", "skills/order_status", lookup({ authorization: null }))).status).toBe(200);
  });

  it("hides the values of headers in a response that repeats them", async () => {
    shop.answer = ({ headers }, response) => sendJson(response, { state: "ready", echo: headers["authorization"] });
    const { body } = await call("POST", "skills/test", {
      skill: lookup({ authorization: "Bearer long-secret-key" }),
      values: { order: "A-1234" },
    });
    expect(body).toMatchObject({ outcome: "found", body: expect.stringContaining("•••") });
    expect(JSON.stringify(body)).not.toContain("long-secret-key");
  });

  it("keeps a paused skill with its headers, and does not use it", async () => {
    const paused = { ...lookup({ authorization: null }), enabled: false };
    expect((await call("PUT", "skills/order_status", paused)).body).toMatchObject({ enabled: false });
    expect((await settings())?.skills).toEqual([]);
    expect((await call("GET", "skills")).body).toMatchObject({
      skills: [{ enabled: false, request: { headers: { authorization: null } } }],
    });
    expect((await call("PUT", "skills/order_status", lookup({ authorization: null }))).status).toBe(200);
    expect((await settings())?.skills.length).toBe(1);
  });

  it("survives starts, is the file's while that declares it, and ends with the declaration", async () => {
    await startWith("bot_name: Ada");
    const { savedReplies, rules = [], skills = [] } = (await settings()) ?? {};
    expect([savedReplies, rules.length, skills.length]).toEqual([{ hello: "Hello {customer}!" }, 1, 1]);
    await startWith(
      "saved_replies: {file: From the file}",
      "rules: [{name: File, when: {message: bot}, then: [{resolve: true}]}]",
      "skills: [{name: human, use: talk_to_human}]",
    );
    for (const [path, body] of [
      ["saved-replies", { name: "more", text: "More" }],
      ["rules", refunds],
      ["skills", lookup({})],
    ] as const) {
      const { status, body: refused } = await call("POST", path, body);
      expect([status, refused]).toMatchObject([409, { code: "managed_by_file" }]);
      expect((await call("GET", path)).body).toMatchObject({ managed_by_file: true });
    }
    await startWith("bot_name: Ada");
    expect(await settings()).toMatchObject({ savedReplies: {}, rules: [], skills: [] });
    expect((await call("POST", "rules", refunds)).status).toBe(201);
  });

  it("removes skills, and names each change and its author in the audit log", async () => {
    expect((await call("POST", "skills", { name: "human", use: "talk_to_human" })).status).toBe(201);
    expect((await call("DELETE", "skills/human")).status).toBe(204);
    const entries = await app.store.read
      .selectFrom("audit")
      .select(["action", "actor_id"])
      .where("action", "in", ["skill_added", "skill_changed", "skill_removed"])
      .orderBy("id")
      .execute();
    const own = entries.filter(({ actor_id: by }) => by !== "configuration file");
    expect(own.map(({ action }) => action)).toEqual([
      "skill_added",
      ...Array<string>(2).fill("skill_changed"),
      "skill_added",
      "skill_removed",
    ]);
    expect(new Set(own.map(({ actor_id }) => actor_id))).toEqual(new Set([admin.email]));
  });
});
