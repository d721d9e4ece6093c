import { createHmac } from "node:crypto";
import { assert, asyncProperty, boolean, constantFrom, integer, option, record, subarray } from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seeded } from "#test/support/tier.ts";
import type { AttributeValue } from "./audience.ts";
import type { Question } from "#answering/contract.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";

const audiences = {
  partner: { kind: ["partner"] },
  pro: { plan: ["pro", "enterprise"] },
  admin: { plan: ["enterprise"], role: ["admin", "owner"] },
  signed_in: {},
};

eachDatabase("gated documents", (open) => {
  let app: TestApp;
  const documents: { readonly id: string; readonly tags: readonly string[]; readonly secret: string }[] = [];
  beforeAll(async () => {
    app = await startApp(open, { settings: { audiences } });
    await app.learn("partners.md", "# Partner discount\n\nPartners get a discount of forty percent on every order.", [
      "partner",
    ]);
    const tagSets = [[], ["pro"], ["admin"], ["pro", "admin"], ["signed_in"], ["gold"], ["pro", "gold"], ["unused"]];
    for (const [i, tags] of tagSets.entries()) {
      const secret = `codeword${String.fromCharCode(97 + i)}${String.fromCharCode(107 + i)}`;
      const text = `# Lighthouse manual ${i}\n\nThe lighthouse lamp opens with the ${secret}. Nobody else knows it.`;
      documents.push({ id: await app.learn(`manual-${i}.md`, text, tags), tags, secret });
    }
  });
  afterAll(() => app.close());

  const user = (userId: string, attributes?: Readonly<Record<string, unknown>>) => ({
    user_id: userId,
    hash: createHmac("sha256", app.workspace.identitySecret).update(userId).digest("hex"),
    ...(attributes === undefined ? {} : { attributes }),
  });
  const ask = (body: object = {}) =>
    app.post("/v1/query", {
      workspace_id: app.workspace.id,
      query: "What discount do partners get on every order?",
      ...body,
    });
  const knows = async (body: object) => (await ask(body)).body.answer.includes("forty");

  it("are for verified users whose attributes fit, and for nobody else", async () => {
    expect(await knows({})).toBe(false);
    expect(await knows({ user_id: "p1" })).toBe(false);
    expect(await knows({ user: user("p1") })).toBe(false);
    expect(await knows({ user: user("p1", { kind: "customer" }) })).toBe(false);
    expect(await knows({ user: user("p1", { kind: "partner" }) })).toBe(true);
    expect(await knows({ user: user("p2", { kind: ["reseller", "partner"] }) })).toBe(true);
  });

  it("are shown by what the company said last of the user", async () => {
    expect(await knows({ user: user("p3", { kind: "partner" }) })).toBe(true);
    expect(await knows({ user: user("p3") })).toBe(true);
    expect(await knows({ user_id: "p3" })).toBe(false);
    expect(await knows({ user: user("p3", {}) })).toBe(false);
    expect(await knows({ user: user("p3") })).toBe(false);
  });

  it("cannot be reached by naming their tag, or the document itself", async () => {
    const partners = (await app.get("/v1/documents?limit=100")).body.documents.find(
      (document) => Reflect.get(document, "title") === "Partner discount",
    );
    for (const body of [
      { audience: ["partner"] },
      { document_ids: [partners?.id] },
      { audience: ["partner"], user_id: "p1", metadata: { kind: "partner", audience: ["partner"] } },
    ]) {
      const { body: answered } = await ask(body);
      expect(answered.answer).not.toContain("forty");
      expect(JSON.stringify(answered.sources)).not.toContain("forty");
    }
  });

  it("are not opened by what a browser says of its user", async () => {
    const account = await app.store.read
      .selectFrom("accounts")
      .select("id")
      .where("workspace_id", "=", app.workspace.id)
      .where("channel", "=", "widget")
      .executeTakeFirstOrThrow();
    const attributes = { kind: "partner" };
    const event = {
      kind: "message" as const,
      externalId: "forged",
      thread: "forged",
      sender: { key: "forged", verified: { userId: "p9" }, attributes },
      attributes,
      metadata: { attributes },
      sentAt: app.clock.now(),
      text: "What discount do partners get on every order?",
    };
    const { conversationId } = await app.engine.ingest(account.id, event);
    await expect
      .poll(async () => (await app.get(`/v1/conversations/${conversationId ?? ""}`)).body.messages.length, {
        timeout: 10_000,
      })
      .toBe(2);
    const { messages } = (await app.get(`/v1/conversations/${conversationId ?? ""}`)).body;
    expect(messages[1]?.content).not.toContain("forty");
    expect(await knows({ user: user("p9") })).toBe(false);
  });

  it("are narrowed by the tags that a request names, never widened", async () => {
    const partner = { user: user("p4", { kind: "partner", plan: "pro" }) };
    expect(await knows({ ...partner, audience: ["partner"] })).toBe(true);
    expect(await knows({ ...partner, audience: ["pro"] })).toBe(false);
    expect(await knows({ ...partner, audience: [] })).toBe(false);
    expect(await knows({ user: user("p5", { plan: "pro" }), audience: ["partner"] })).toBe(false);
  });

  it("know tags that the workspace has a rule for, and those that its documents carry", async () => {
    expect((await ask({ audience: ["signed_in", "gold"] })).status).toBe(200);
    expect(await ask({ audience: ["silver"] })).toMatchObject({ status: 422, body: { code: "invalid_audience" } });
    expect(await ask({ audience: ["constructor"] })).toMatchObject({ status: 422, body: { code: "invalid_audience" } });
  });

  it.each([
    [403, "verification_required", { user: { user_id: "x", attributes: { kind: "partner" } } }],
    [403, "verification_required", { user: { user_id: "x", hash: "00", attributes: { kind: "partner" } } }],
    [422, "invalid_parameter", { user: { user_id: "x", attributes: "partner" } }],
    [422, "invalid_parameter", { user: { user_id: "x", attributes: { kind: { deep: true } } } }],
    [422, "invalid_parameter", { user: { user_id: "x", attributes: { kind: "x".repeat(191) } } }],
    [
      422,
      "invalid_parameter",
      { user: { user_id: "x", attributes: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`a${i}`, 1])) } },
    ],
  ])("answer %i %s to attributes that are not proven or not sound (%#)", async (status, code, body) => {
    const answered = await ask(body);
    expect([answered.status, answered.body.code]).toEqual([status, code]);
  });

  it(
    "are shown to no customer outside their audience, with random attributes and documents",
    { timeout: 120_000 },
    async () => {
      const attributes = record(
        {
          plan: constantFrom<AttributeValue>("free", "pro", "enterprise", "gold", "admin", true, 5),
          role: constantFrom("admin", "owner", "guest"),
          kind: constantFrom("partner", "signed_in"),
          __proto__: constantFrom("enterprise"),
        },
        { requiredKeys: [] },
      );
      const asker = record({
        verified: boolean(),
        attributes: option(attributes),
        named: option(subarray(["pro", "admin", "signed_in", "gold", "unused", "partner"])),
        picked: option(subarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 1 })),
        strictness: constantFrom("strict", "helpful"),
        id: integer({ min: 1, max: 1_000_000 }),
      });
      await assert(
        asyncProperty(asker, async (given) => {
          const { verified, named, picked } = given;
          const known = verified ? (given.attributes ?? {}) : {};
          const { body } = await ask({
            query: "Which codeword opens the lighthouse lamp?",
            strictness: given.strictness,
            top_k: 10,
            ...(verified ? { user: user(`asker ${given.id}`, known) } : { user_id: `asker ${given.id}` }),
            ...(named === null ? {} : { audience: named }),
            ...(picked === null ? {} : { document_ids: picked.map((i) => documents[i]?.id) }),
          });
          expect(body.answer).toEqual(expect.any(String));
          const shown = JSON.stringify([body.answer, body.sources]);
          for (const { id, tags, secret } of documents) {
            const picks = picked === null || picked.some((i) => documents[i]?.id === id);
            const may = tags.some((tag) => verified && mayHave(tag, known) && (named === null || named.includes(tag)));
            if (!picks || (tags.length > 0 && !may)) expect(shown).not.toContain(secret);
          }
        }),
        { numRuns: 60, ...seeded },
      );
    },
  );

  /** The rules of `audience.ts`, implemented a second time. */
  function mayHave(
    tag: string,
    known: { readonly plan?: AttributeValue; readonly role?: string; readonly kind?: string },
  ) {
    switch (tag) {
      case "pro":
        return known.plan === "pro" || known.plan === "enterprise";
      case "admin":
        return known.plan === "enterprise" && (known.role === "admin" || known.role === "owner");
      case "signed_in":
        return true;
      case "partner":
        return known.kind === "partner";
      default:
        return known.plan === tag;
    }
  }
});

eachDatabase("the history of a conversation", (open) => {
  it("holds nothing for an asker that was said to somebody who may see more", async () => {
    const questions: Question[] = [];
    const app = await startApp(open, {
      settings: { audiences },
      answerer: {
        async answer(question) {
          questions.push(question);
          return {
            text: question.audience.length > 0 ? "The gate code is forty." : "Open to all.",
            sources: [],
            confidence: "high",
            answered: true,
            skillsFired: [],
            tokensUsed: 0,
          };
        },
      },
    });
    const hash = createHmac("sha256", app.workspace.identitySecret).update("p1").digest("hex");
    const ask = async (body: object) =>
      (await app.post("/v1/query", { workspace_id: app.workspace.id, query: "What is the gate code?", ...body })).body;
    const partner = { user: { user_id: "p1", hash, attributes: { kind: "partner" } } };
    const first = await ask(partner);
    expect(first.answer).toContain("forty");
    await ask({ conversation_id: first.conversation_id });
    await ask({ conversation_id: first.conversation_id, ...partner });
    const said = questions.map(({ history }) => history.map(({ content }) => content));
    expect(said[1]).toEqual(["What is the gate code?"]);
    expect(said[2]).toEqual([
      "What is the gate code?",
      "The gate code is forty.",
      "What is the gate code?",
      "Open to all.",
    ]);
    await app.close();
  });
});
