import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfigFile } from "#config/file.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { ShopServer } from "#test/support/servers/shop-server.ts";
import { sendJson, startShopServer } from "#test/support/servers/shop-server.ts";

interface Tried {
  readonly replies: readonly string[];
  readonly decision: { readonly kind: string; readonly text: string };
  readonly confidence: string | null;
  readonly sources: readonly { readonly title: string }[];
  readonly passages: readonly {
    readonly document_id: string;
    readonly title: string;
    readonly score: number;
    readonly used: boolean;
  }[];
  readonly evidence: number;
  readonly skills: readonly { readonly name: string; readonly outcome: string }[];
  readonly rules: readonly { readonly name: string; readonly decides: boolean }[];
}

const file = (shop: string): string => `
workspaces:
  - name: Kettles
    escalation: {anger: 0.8}
    rules:
      - name: refunds
        when: {message: customer}
        if: {words: [refund]}
        then: [{tag: refund}]
      - name: closed shop
        when: {message: customer}
        if: {words: [franchise]}
        then: [{reply: "We have no franchises."}]
    skills:
      - name: order_status
        description: Tells the status of one order.
        request: {url: "${shop}/orders/{order}"}
        arguments: {order: {description: The number., shape: "BK-######", ask: Which order?}}
        phrases: ["where is order {order}", "where is my order"]
        answer: Your order is {status}.
      - name: cancel_order
        description: Cancels one order.
        request: {method: POST, url: "${shop}/cancellations", body: {order: "{order}"}}
        arguments: {order: {description: The number., shape: "BK-######"}}
        phrases: ["cancel order {order}"]
        answer: The order {order} is cancelled.
outbound: {allow_private: [127.0.0.1]}
`;

eachDatabase("trying a question", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let shop: ShopServer;
  let workspaceId: string;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    shop = await startShopServer();
    app = await startApp(open, { file: readConfigFile("parley.yaml", file(shop.url), {}) });
    const row = await app.store.read
      .selectFrom("workspaces")
      .select("id")
      .where("name", "=", "Kettles")
      .executeTakeFirstOrThrow();
    workspaceId = row.id;
    admin = await dashboardUser(app, "admin", { workspaceId });
    const { documents } = app.app.services;
    for (const [name, text, audience] of [
      ["delivery.md", "# Delivery\n\nDelivery takes three working days.", []],
      ["colours.md", "# Colours\n\nKettles come in blue and red.", []],
      ["partners.md", "# Partner discount\n\nPartners get a discount of thirty percent.", ["partner"]],
    ] as const) {
      const { id } = await documents.add({ workspaceId, fileName: name, bytes: Buffer.from(text), audience });
      await documents.process(id);
      ids[name] = id;
    }
  });
  afterAll(async () => {
    await app.close();
    await shop.close();
  });

  const attempt = async (question: string, more: object = {}): Promise<Tried> => {
    const { status, body } = await admin.call("POST", "questions/try", { question, ...more });
    expect([status, body]).toMatchObject([200, {}]);
    return body as Tried;
  };

  it("answers with sources, and shows the passages with their scores", async () => {
    const tried = await attempt("How long does delivery take?");
    expect(tried).toMatchObject({
      replies: [expect.stringContaining("three working days")],
      decision: { kind: "answer", text: expect.stringMatching(/cover \d\d % of the question, and 28 % is needed/) },
      sources: [{ title: "Delivery" }],
    });
    expect(tried.passages[0]).toMatchObject({ document_id: ids["delivery.md"], title: "Delivery", used: true });
    expect(tried.passages[0]?.score).toBeGreaterThan(0);
    expect(tried.evidence).toBeGreaterThan(0.2);
  });

  it("answers as the API does", async () => {
    const { key } = await app.createKey({ workspaceId });
    for (const query of ["How long does delivery take?", "Which colours are there?", "What is the weather on Mars?"]) {
      const { body } = await app.post("/v1/query", { workspace_id: workspaceId, query }, { key });
      const tried = await attempt(query, { channel: "api" });
      expect([tried.replies, tried.sources]).toEqual([[body.answer], body.sources]);
    }
  });

  it("says why the bot refuses", async () => {
    const tried = await attempt("What is the weather on Mars?");
    expect(tried).toMatchObject({ decision: { kind: "refusal" }, confidence: "low" });
    expect(tried.passages.every(({ used }) => !used)).toBe(true);
  });

  it("names small talk, the escalation phrase and anger", async () => {
    expect((await attempt("Hello!")).decision.kind).toBe("small_talk");
    const person = await attempt("I want to talk to a human");
    expect(person.decision).toEqual({
      kind: "handover",
      text: 'Agents take over: the message asks for a person, by the words "talk to a human".',
    });
    expect(person.replies).toHaveLength(1);
    const angry = await attempt("This is a SCAM, you are useless, I am furious!!!");
    expect(angry.decision.text).toMatch(/reads as angry \((?:0\.\d\d|1\.00), and the limit is 0\.80\)/);
  });

  it("uses documents for customers with a tag only when the tag is given", async () => {
    const question = "What discount do partners get?";
    expect((await attempt(question)).replies.join()).not.toContain("thirty");
    expect((await attempt(question, { audience: ["Partner"] })).replies.join()).toContain("thirty");
    const unknown = await admin.call("POST", "questions/try", { question, audience: ["nobody-has-this"] });
    expect(unknown.body).toMatchObject({ code: "invalid_audience" });
  });

  it("speaks the given language", async () => {
    const [reply] = (await attempt("xqzt", { language: "de" })).replies;
    const [english] = (await attempt("xqzt")).replies;
    expect(reply).not.toBe(english);
    expect(reply).toMatch(/ich|Ihnen|leider/i);
  });

  it("calls skills that only read, and names those that change something", async () => {
    shop.answer = (_request, answer) => sendJson(answer, { status: "on its way" });
    const read = await attempt("Where is order BK-123456?");
    expect(read).toMatchObject({ decision: { kind: "skill" }, skills: [{ name: "order_status" }] });
    const calls = shop.requests.length;
    const changing = await attempt("Cancel order BK-123456");
    expect(changing).toMatchObject({
      decision: { kind: "skill", text: expect.stringContaining("not called: this is a trial") },
      skills: [{ name: "cancel_order" }],
    });
    expect(shop.requests).toHaveLength(calls);
    expect((await attempt("Where is my order?")).decision.text).toContain("asks the customer");
  });

  it("names the rules that the message triggers, and lets a rule reply in the bot's place", async () => {
    const tagged = await attempt("Can I get a refund when delivery takes long?");
    expect(tagged.rules).toMatchObject([{ name: "refunds", decides: false }]);
    const replied = await attempt("Do you offer a franchise?");
    expect(replied).toMatchObject({
      replies: ["We have no franchises."],
      decision: { kind: "rule", text: expect.stringContaining("closed shop") },
    });
  });

  it("stores nothing, and counts no query", async () => {
    const counts = async () => {
      const tables = ["conversations", "messages", "contacts", "outbox", "skill_calls", "audit", "counters"] as const;
      const rows: Record<string, number> = {};
      for (const table of tables) {
        const { count } = await app.store.read
          .selectFrom(table)
          .select((eb) => eb.fn.countAll().as("count"))
          .executeTakeFirstOrThrow();
        rows[table] = Number(count);
      }
      return rows;
    };
    const before = await counts();
    await attempt("How long does delivery take?");
    await attempt("Cancel order BK-123456");
    await attempt("I want to talk to a human");
    expect(await counts()).toEqual(before);
  });

  it("is for admins", async () => {
    const viewer = await dashboardUser(app, "viewer", { workspaceId });
    const { status, body } = await viewer.call("POST", "questions/try", { question: "Hi" });
    expect([status, body]).toMatchObject([403, { code: "insufficient_role" }]);
  });
});
