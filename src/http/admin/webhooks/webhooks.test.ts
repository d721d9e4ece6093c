import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { openReceiver, verify } from "#test/support/servers/webhook-receiver.ts";

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly state: string;
}

interface Delivery {
  readonly id: number;
  readonly event_id: string;
  readonly type: string;
  readonly outcome: string;
  readonly request: string;
  readonly response: string;
  readonly request_headers: string;
  readonly response_headers: string;
}

eachDatabase("webhooks in /admin/v1", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let receiver: Awaited<ReturnType<typeof openReceiver>>;
  beforeAll(async () => {
    app = await startApp(open, { file: { workspaces: [], allowPrivate: true } });
    admin = await dashboardUser(app, "admin");
    receiver = await openReceiver(() => app.clock.now());
  });
  afterAll(async () => {
    await receiver.close();
    await app.close();
  });

  const origin = (): string => new URL(receiver.url).origin;
  const add = async (body: object): Promise<Endpoint> => {
    const { status, body: added } = await admin.call("POST", "webhooks", body);
    expect(status).toBe(201);
    return added as Endpoint;
  };
  const deliveries = async (id: string, query = ""): Promise<readonly Delivery[]> => {
    const { body } = await admin.call("GET", `webhooks/${id}/deliveries${query}`);
    return (body as { readonly deliveries: readonly Delivery[] }).deliveries;
  };

  it("deliver signed events, which the log shows with request and response, and send them again on request", async () => {
    const made = await add({ url: `${origin()}/hook`, events: ["conversation.started", "message.created"] });
    await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello?" });
    const log = await eventually(async () => {
      const found = await deliveries(made.id);
      expect(found).toHaveLength(3);
      return found;
    });
    const started = log.find(({ type }) => type === "conversation.started");
    expect(started?.outcome).toBe("delivered");
    const [request] = receiver.received.filter(({ event }) => event.data.event_id === started?.event_id);
    expect(request).toBeDefined();
    if (request !== undefined) verify(made.secret, request);
    const { body } = await admin.call("GET", `webhooks/${made.id}/deliveries/${started?.id}`);
    expect((body as Delivery).request).toBe(request?.body);
    expect((body as Delivery).request_headers).toContain(
      `webhook-signature: ${String(request?.headers["webhook-signature"])}`,
    );
    expect((body as Delivery).response_headers).toMatch(/^date: /m);

    const before = receiver.received.length;
    const again = await admin.call("POST", `webhooks/${made.id}/replay`, { event_id: started?.event_id });
    expect([again.status, again.body]).toEqual([202, { events: 1 }]);
    await eventually(() => {
      app.clock.advance(100);
      expect(receiver.received.slice(before).map(({ event }) => event.data.event_id)).toEqual([started?.event_id]);
    });

    const all = await admin.call("POST", `webhooks/${made.id}/replay`, { since: "2000-01-01" });
    expect((all.body as { readonly events: number }).events).toBe(log.length);
    await eventually(() => {
      app.clock.advance(100);
      expect(receiver.received.length).toBe(before + 1 + log.length);
    });
    expect(await deliveries(made.id, "?failed=true")).toEqual([]);
  });

  it("pages through the log", async () => {
    const { id } = await add({ url: `${origin()}/paged` });
    for (let i = 0; i < 3; i += 1) await admin.call("POST", `webhooks/${id}/test`);
    const first = (await admin.call("GET", `webhooks/${id}/deliveries?limit=2`)).body as {
      readonly deliveries: readonly Delivery[];
      readonly pagination: { readonly next_cursor: string; readonly has_more: boolean };
    };
    expect([first.deliveries.length, first.pagination.has_more]).toEqual([2, true]);
    const rest = await deliveries(id, `?limit=2&cursor=${first.pagination.next_cursor}`);
    expect(rest).toHaveLength(1);
    expect(first.deliveries.map((each) => each.id)).not.toContain(rest[0]?.id);
    const other = await admin.call(
      "GET",
      `webhooks/${id}/deliveries?failed=true&cursor=${first.pagination.next_cursor}`,
    );
    expect(other.body).toMatchObject({ code: "invalid_cursor" });
  });

  it("report a test event at once, and change, pause and rotate without losing the old secret", async () => {
    const made = await add({ url: `${origin()}/test` });
    const tested = await admin.call("POST", `webhooks/${made.id}/test`);
    expect(tested.body).toMatchObject({ delivered: true, status: 204 });
    const paused = await admin.call("PATCH", `webhooks/${made.id}`, { enabled: false });
    expect(paused.body).toMatchObject({ state: "disabled", disabled_reason: "disabled by admin" });
    const changed = await admin.call("PATCH", `webhooks/${made.id}`, {
      enabled: true,
      url: `${origin()}/moved`,
      events: ["message.updated"],
    });
    expect(changed.body).toMatchObject({ state: "enabled", events: ["message.updated"] });
    const { secret } = (await admin.call("POST", `webhooks/${made.id}/rotate`)).body as Endpoint;
    await admin.call("POST", `webhooks/${made.id}/test`);
    const last = receiver.received.at(-1);
    expect(last?.path).toBe("/moved");
    for (const each of [secret, made.secret]) {
      if (last !== undefined) verify(each, last);
    }
    const { body } = await admin.call("GET", "webhooks");
    expect(JSON.stringify(body)).not.toContain("whsec_");
    expect((await admin.call("DELETE", `webhooks/${made.id}`)).status).toBe(204);
    expect((await admin.call("GET", `webhooks/${made.id}/deliveries`)).status).toBe(404);
  });

  it("refuse addresses that are none, and endpoints of other workspaces", async () => {
    for (const url of ["ftp://shop.example", "https://user:pass@shop.example", "nothing"]) {
      const { status, body } = await admin.call("POST", "webhooks", { url });
      expect([status, body]).toMatchObject([422, { code: "invalid_parameter" }]);
    }
    const made = await add({ url: `${origin()}/own` });
    const stranger = await dashboardUser(app, "admin", { workspaceId: (await app.createWorkspace()).id });
    for (const [method, path, body] of [
      ["PATCH", "", { enabled: false }],
      ["DELETE", "", undefined],
      ["POST", "/rotate", undefined],
      ["POST", "/test", undefined],
      ["POST", "/replay", { since: "2000-01-01" }],
      ["GET", "/deliveries", undefined],
    ] as const) {
      expect([path, (await stranger.call(method, `webhooks/${made.id}${path}`, body)).status]).toEqual([path, 404]);
    }
  });

  it("change as a whole or not at all, with the values before in the audit log", async () => {
    const made = await add({ url: `${origin()}/whole` });
    const refused = await admin.call("PATCH", `webhooks/${made.id}`, { url: "nothing", enabled: false });
    expect(refused.status).toBe(422);
    expect((await admin.call("PATCH", `webhooks/${made.id}`, { enabled: true })).body).toMatchObject({
      state: "enabled",
    });
    await Promise.all([
      admin.call("PATCH", `webhooks/${made.id}`, { url: `${origin()}/next` }),
      admin.call("PATCH", `webhooks/${made.id}`, { events: ["message.updated"] }),
    ]);
    const { body } = await admin.call("GET", "webhooks");
    const { webhooks } = body as { readonly webhooks: readonly Endpoint[] };
    expect(webhooks.find(({ id }) => id === made.id)).toMatchObject({
      url: `${origin()}/next`,
      events: ["message.updated"],
    });
    const log = await app.store.read
      .selectFrom("audit")
      .select(["from_value", "to_value"])
      .where("action", "=", "webhook_changed")
      .orderBy("id", "desc")
      .limit(2)
      .execute();
    expect(log[0]?.from_value).toBe(log[1]?.to_value);
  });

  it("of the configuration file cannot be changed here", async () => {
    const made = await add({ url: `${origin()}/file` });
    await app.store.write((tx) =>
      tx.updateTable("webhooks").set({ managed_by: "file" }).where("id", "=", made.id).execute(),
    );
    for (const [method, path, body] of [
      ["PATCH", "", { url: "https://shop.example/hook" }],
      ["PATCH", "", { enabled: false }],
      ["PATCH", "", { enabled: true }],
      ["POST", "/rotate", undefined],
      ["DELETE", "", undefined],
    ] as const) {
      const { status, body: answer } = await admin.call(method, `webhooks/${made.id}${path}`, body);
      expect([status, answer]).toMatchObject([409, { code: "managed_by_file" }]);
    }
  });
});
