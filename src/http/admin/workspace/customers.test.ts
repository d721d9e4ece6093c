import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eachDatabase } from "#test/support/database/databases.ts";
import { tablesWith, textsOf } from "#test/support/database/table-texts.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp, TestWorkspace } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";

const email = "zdenka@forgotten.example";
const word = "xylotherapist";
const patienceMs = 40_000;
const path = `customers/export?email=${email}`;

interface Line {
  readonly type: string;
  readonly content?: string;
  readonly lines?: Readonly<Record<string, number>>;
}

eachDatabase("a customer's data in /admin/v1", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let stranger: DashboardUser;
  let elsewhere: TestWorkspace;

  beforeAll(async () => {
    app = await startApp(open);
    elsewhere = await app.createWorkspace();
    admin = await dashboardUser(app, "admin");
    stranger = await dashboardUser(app, "admin", { name: "stranger", workspaceId: elsewhere.id });
    for (const [workspace, text] of [
      [app.workspace, `My ${word} is broken`],
      [app.workspace, `The ${word} again`],
      [elsewhere, "The harbour lamp"],
    ] as const) {
      const hash = createHmac("sha256", workspace.identitySecret).update("u-zdenka").digest("hex");
      const user = { name: "Zdenka", email, user_id: "u-zdenka", hash };
      const asked = { workspace_id: workspace.id, query: text, user };
      await app.post("/v1/query", asked, { key: workspace.key });
    }
  });
  afterAll(() => app.close());

  const find = async (by: DashboardUser, q: string) => {
    const { status, body } = await by.call("GET", `customers?q=${encodeURIComponent(q)}`);
    expect(status).toBe(200);
    const { contacts } = body as { readonly contacts: readonly { readonly conversation_count: number }[] };
    return contacts.map(({ conversation_count: count }) => count);
  };
  const download = async (by: DashboardUser): Promise<readonly Line[]> => {
    const { status, headers, body } = await by.call("GET", path);
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    const lines = String(body).trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as Line);
  };
  const auditOf = async (by: DashboardUser): Promise<readonly unknown[]> => {
    const { body } = await by.call("GET", "audit?action=customer");
    return (body as { readonly entries: readonly unknown[] }).entries;
  };
  const conversations = async (by: DashboardUser) => (await download(by)).at(-1)?.lines?.["conversation"] ?? 0;

  it("is found by the whole address, in its own workspace only", async () => {
    const counts = await find(admin, ` ${email.toUpperCase()} `);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(await find(stranger, email)).toEqual([1]);
    expect(await find(admin, "forgotten.example")).toEqual([]);
    expect((await admin.call("GET", "customers?q=%20")).status).toBe(422);
  });

  it("is exported as the command line does, with an audit entry", async () => {
    const lines = await download(admin);
    expect(lines[0]).toMatchObject({ type: "export", scope: "customer", email });
    const texts = lines.flatMap(({ type, content }) => (type === "message" ? [content] : []));
    expect(texts).toEqual(expect.arrayContaining([`My ${word} is broken`, `The ${word} again`]));
    expect(texts).not.toContain("The harbour lamp");
    expect(lines.at(-1)).toMatchObject({ type: "end", lines: { conversation: 2 } });
    expect(await auditOf(admin)).toMatchObject([
      { action: "customer_exported", actor: { id: admin.email }, detail: email },
    ]);
  });

  it("is refused to agents, viewers, and malformed addresses", async () => {
    for (const role of ["agent", "viewer"] as const) {
      const user = await dashboardUser(app, role);
      expect((await user.call("GET", path)).status).toBe(403);
      expect((await user.call("GET", `customers?q=${email}`)).status).toBe(403);
      expect((await user.call("POST", "customers/erase", { email })).status).toBe(403);
    }
    expect((await admin.call("POST", "customers/erase", { email: "zdenka" })).status).toBe(422);
    expect(await conversations(admin)).toBe(2);
  });

  it("is erased by the queue, without a trace of the address, and not in another workspace", async () => {
    const inbox = await fetch(`${app.url}/inbox/api/events`, { headers: { cookie: admin.cookie } });
    let seen = "";
    const reading = (async () => {
      for await (const chunk of inbox.body ?? [])
        if ((seen += Buffer.from(chunk).toString()).includes('"changed"')) break;
    })();
    // A second request while the first is queued adds nothing.
    for (let times = 0; times < 2; times += 1) {
      const erased = await admin.call("POST", "customers/erase", { email });
      expect([erased.status, erased.body]).toEqual([202, { state: "queued" }]);
    }
    const left = async (by: DashboardUser) =>
      ((await by.call("GET", "customers/erasures")).body as { readonly erasures: readonly unknown[] }).erasures;
    expect(await left(stranger)).toEqual([]);
    expect(await left(admin)).toMatchObject([{ email, conversations_left: 2 }]);
    for (const end = Date.now() + patienceMs; (await left(admin)).length > 0 && Date.now() < end;)
      app.clock.advance(1_000);
    expect(await left(admin)).toEqual([]);
    await reading;
    expect(seen).toContain('"changed"');
    expect(await find(admin, email)).toEqual([]);
    const texts = await textsOf(app.store.read);
    expect(tablesWith(texts, word)).toEqual([]);
    const ours = [...texts].filter(([, rows]) =>
      rows.some((row) => row.includes(email) && row.includes(app.workspace.id.toLowerCase())),
    );
    expect(ours.map(([name]) => name)).toEqual([]);
    expect((await auditOf(admin)).slice(0, 3)).toMatchObject([
      { action: "customer_erased" },
      { action: "customer_erased", actor: { id: admin.email }, detail: "1 contact, 2 conversations" },
      { action: "customer_exported", detail: "[erased]" },
    ]);
    expect(await conversations(stranger)).toBe(1);
  });

  it("is exported and erased by a contact where there is no address", async () => {
    const asked = { workspace_id: app.workspace.id, query: "The quince press?", user: { name: "Ferdinand Quixley" } };
    const { conversation_id: id } = (await app.post("/v1/query", asked)).body as { readonly conversation_id: string };
    const { contact_id: contact } = await app.store.read
      .selectFrom("conversations")
      .select("contact_id")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    expect(await find(admin, contact)).toEqual([1]);
    expect(await find(stranger, contact)).toEqual([]);
    const { body } = await admin.call("GET", `customers/export?contact_id=${contact}`);
    expect(String(body)).toContain("The quince press?");
    expect(String(body)).not.toContain("harbour");
    const erase = (by: DashboardUser, customer: object) => by.call("POST", "customers/erase", customer);
    expect((await erase(admin, {})).status).toBe(400);
    expect((await erase(stranger, { contact_id: contact })).status).toBe(404);
    expect((await erase(admin, { contact_id: contact })).status).toBe(202);
    for (const end = Date.now() + patienceMs; (await find(admin, contact)).length > 0 && Date.now() < end;)
      app.clock.advance(1_000);
    const texts = await textsOf(app.store.read);
    expect(tablesWith(texts, "quince")).toEqual([]);
    expect(tablesWith(texts, "quixley")).toEqual([]);
  });
});
