import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { mergeContacts } from "./merge.ts";
import { readConfigFile } from "#config/file.ts";
import { connect, greet, newClientId } from "#adapters/widget/test/support/client.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { HandMovedClock } from "#test/support/hand-moved-clock.ts";
import type { ShopServer } from "#test/support/servers/shop-server.ts";
import { sendJson, startShopServer } from "#test/support/servers/shop-server.ts";
import { asymmetric, badTokens, keyPairs, pemOf, tokenOf, userToken } from "#test/support/user-tokens.ts";

const file = (shop: string): string => `
workspaces:
  - name: Kettles
    identity_public_keys: ${JSON.stringify(pemOf(keyPairs.rsa.publicKey) + pemOf(keyPairs.ec.publicKey))}
    audiences: {partner: {plan: [pro]}}
    skills:
      - name: account
        description: Shows the account of the signed-in customer.
        verified: true
        request:
          method: POST
          safe: true
          url: ${shop}/account
          body: {id: "{user.id}", email: "{user.email}", plan: "{user.plan}"}
        phrases: [show my account]
        answer: Your balance is {balance}.
      - {name: keep_address, use: capture_lead}
outbound: {allow_private: [127.0.0.1]}
`;

const victim = "victim@shop.example";
const secretText = "forty";

eachDatabase("verified values of a customer", (open) => {
  let database: TestDatabase;
  let app: TestApp;
  let shop: ShopServer;
  let workspaceId: string;
  let key: string;
  let secret: string;
  let asked = 0;
  const started: TestApp[] = [];

  beforeAll(async () => {
    database = await open();
    shop = await startShopServer();
    app = await start();
    started.push(app);
    const row = await app.store.read
      .selectFrom("workspaces")
      .select(["id", "identity_secret"])
      .where("name", "=", "Kettles")
      .executeTakeFirstOrThrow();
    workspaceId = row.id;
    secret = app.app.services.secrets.open(row.identity_secret);
    ({ key } = await app.createKey({ workspaceId }));
    const { documents } = app.app.services;
    const bytes = Buffer.from("# Partner discount\n\nPartners get a discount of forty percent on every order.");
    const { id } = await documents.add({ workspaceId, fileName: "partners.md", bytes, audience: ["partner"] });
    await documents.process(id);
  });
  afterAll(async () => {
    for (const each of started.toReversed()) await each.close();
    await shop.close();
    await database.remove();
  });
  beforeEach(() => {
    shop.requests.length = 0;
    shop.answer = (_request, response) => sendJson(response, { balance: 7 });
  });

  const start = (clock?: HandMovedClock) =>
    startApp(open, {
      databaseUrl: database.url,
      file: readConfigFile("parley.yaml", file(shop.url), {}),
      ...(clock === undefined ? {} : { clock }),
    });
  const hash = (userId: string) => createHmac("sha256", secret).update(userId).digest("hex");
  const token = (userId: string, claims: object = {}) =>
    userToken(secret, { sub: userId, exp: Math.floor(app.clock.now() / 1_000) + 600, ...claims });
  const newUser = (): string => `user-${(asked += 1)}`;

  async function chat(identity: object | undefined, channel = "widget", session?: string) {
    const socketUrl = `${app.url.replace("http", "ws")}/widget/ws?workspace=${workspaceId}&channel=${channel}`;
    const client = await greet(
      { socketUrl },
      { ...(identity === undefined ? {} : { identity }), ...(session === undefined ? {} : { token: session }) },
    );
    const say = async (text: string): Promise<string> => {
      client.send({ kind: "send", clientId: newClientId(), text });
      for (;;) {
        const frame = await client.next("message");
        if (frame.role === "assistant") return JSON.stringify(frame.content);
      }
    };
    const lead = async (): Promise<void> => {
      client.send({ kind: "lead", clientId: newClientId(), name: "Victim", email: victim });
      await client.next("lead_saved");
    };
    return { ...client, say, lead };
  }

  const query = async (text: string, more: object) =>
    app.post("/v1/query", { workspace_id: workspaceId, query: text, ...more }, { key });

  /** The customer's values that the skill's server received, and whether the gated document was used. */
  const receivedFrom = async (say: (text: string) => Promise<string>) => {
    shop.requests.length = 0;
    await say("Please show my account");
    const received: unknown[] = shop.requests.map(({ body }) => JSON.parse(body));
    const answer = await say("What discount do partners get on every order?");
    return { received, isOpen: answer.includes(secretText) };
  };

  const saysOverApi = (more: object) => async (text: string) => JSON.stringify((await query(text, more)).body);

  const contactOf = async (userId: string) =>
    app.store.read.selectFrom("contacts").selectAll().where("user_id", "=", userId).executeTakeFirstOrThrow();

  it("exclude what a browser sends next to a verified id, on all routes", async () => {
    const claims = { email: victim, name: "Victim", plan: "pro", attributes: { plan: "pro" } };
    const tries: Record<string, (id: string) => Promise<(text: string) => Promise<string>>> = {};
    for (const channel of ["widget", "hosted"]) {
      const by = (identity: (id: string) => object) => async (id: string) => (await chat(identity(id), channel)).say;
      tries[`${channel}: hash`] = by((id) => ({ user_id: id, hash: hash(id), ...claims }));
      tries[`${channel}: token`] = by((id) => ({ user_token: token(id), ...claims }));
      tries[`${channel}: token and another's id`] = by((id) => ({
        user_id: "victim",
        user_token: token(id),
        ...claims,
      }));
      tries[`${channel}: token and hash`] = by((id) => ({
        user_id: id,
        hash: hash(id),
        user_token: token(id),
        ...claims,
      }));
      for (const proof of ["hash", "token"]) {
        const proven = (id: string) => (proof === "hash" ? { user_id: id, hash: hash(id) } : { user_token: token(id) });
        tries[`${channel}: ${proof}, then the form`] = async (id) => {
          const client = await chat(proven(id), channel);
          await client.say("Hello");
          await client.lead();
          return client.say;
        };
        tries[`${channel}: ${proof}, then the skill that keeps addresses`] = async (id) => {
          const client = await chat(proven(id), channel);
          await client.say(`My email is ${victim}`);
          return client.say;
        };
        tries[`${channel}: the form, then ${proof}`] = async (id) => {
          const visitor = await chat(undefined, channel);
          await visitor.say("Hello");
          await visitor.lead();
          return (await chat(proven(id), channel, visitor.ready.token)).say;
        };
      }
    }
    tries["api: token with more beside it"] = async (id) =>
      saysOverApi({ user: { user_token: token(id), email: victim, name: "Victim" }, metadata: claims });
    tries["api: hash with metadata"] = async (id) =>
      saysOverApi({ user: { user_id: id, hash: hash(id) }, metadata: { user: claims, ...claims } });
    tries["a visitor's contact merged into the user's"] = async (id) => {
      const visitor = await chat(undefined);
      await visitor.say("Hello");
      await visitor.lead();
      const user = await chat({ user_id: id, hash: hash(id) });
      await user.say("Hello");
      const into = await contactOf(id);
      const from = await app.store.read
        .selectFrom("identities")
        .select("contact_id")
        .where("value", "=", visitor.ready.session)
        .executeTakeFirstOrThrow();
      const by = { type: "system", id: "test", name: null } as const;
      await app.store.write((tx) => mergeContacts(tx, workspaceId, from.contact_id, into.id, by, app.clock.now()));
      return user.say;
    };
    for (const [what, begin] of Object.entries(tries)) {
      const id = newUser();
      const outcome = await receivedFrom(await begin(id));
      // After the form, two people may have written, so that no user is verified.
      expect([
        what,
        outcome.isOpen,
        outcome.received.filter((each) => JSON.stringify(each) !== JSON.stringify({ id })),
      ]).toEqual([what, false, []]);
      const { provenance, attributes } = await contactOf(id);
      expect([what, provenance, attributes]).toEqual([what, null, "{}"]);
    }
    expect(Object.keys(tries)).toHaveLength(23);
  });

  it("are empty if the user is not verified", async () => {
    const claims = { email: victim, name: "Victim" };
    const bad = badTokens({ workspaceId, secret, otherSecret: app.workspace.identitySecret }, app.clock.now());
    const unproven: readonly object[] = [
      { user: { user_id: "victim", ...claims } },
      { user_id: "victim", user: claims },
      { user: claims, metadata: { plan: "pro", user_id: "victim" } },
    ];
    for (const more of unproven) expect(await receivedFrom(saysOverApi(more))).toEqual({ received: [], isOpen: false });
    for (const identity of [
      { user_id: "victim", ...claims },
      claims,
      { user_id: "victim", hash: hash("eve"), ...claims },
    ])
      expect(await receivedFrom((await chat(identity)).say)).toEqual({ received: [], isOpen: false });
    for (const [what, user_token] of bad) {
      const refused = await query("Please show my account", { user: { user_token, ...claims } });
      expect([what, refused.status]).toEqual([what, user_token.length > 8_192 ? 422 : 403]);
      const streamed = await app.post(
        "/v1/query/stream",
        { workspace_id: workspaceId, query: "x", user: { user_token } },
        { key },
      );
      expect([what, streamed.status]).toEqual([what, refused.status]);
      const client = await chat({ user_id: "victim", user_token, ...claims });
      expect([what, client.ready.verified, (await client.next("error")).code]).toEqual([
        what,
        false,
        "identity_rejected",
      ]);
      client.close();
    }
    expect(shop.requests).toEqual([]);
    const more = { user: { user_token: token("u"), attributes: { plan: "pro" } } };
    expect(await query("x", more)).toMatchObject({ status: 403, body: { code: "verification_required" } });
    expect(await query("x", { user: { user_token: token("u"), user_id: "victim" } })).toMatchObject({ status: 403 });
  });

  it("include the values of a token, in the chat, on the chat page and over the API", async () => {
    const exp = Math.floor(app.clock.now() / 1_000) + 600;
    const claims = { email: "ada@shop.example", name: "Ada", plan: "pro", exp };
    const { rsa, ec } = keyPairs;
    const made: readonly ((sub: string) => string)[] = [
      (sub) => token(sub, claims),
      (sub) => tokenOf({ sub, ...claims }, { alg: "RS256" }, asymmetric(rsa.privateKey)),
      (sub) => tokenOf({ sub, ...claims }, { alg: "ES256" }, asymmetric(ec.privateKey)),
    ];
    for (const make of made) {
      for (const route of ["widget", "hosted", "api"]) {
        const id = newUser();
        const user_token = make(id);
        const say = route === "api" ? saysOverApi({ user: { user_token } }) : (await chat({ user_token }, route)).say;
        expect(await receivedFrom(say)).toEqual({ received: [{ id, email: claims.email, plan: "pro" }], isOpen: true });
        expect(await contactOf(id)).toMatchObject({ name: "Ada", provenance: `{"name":"company","email":"company"}` });
      }
    }
  });

  it("include values that the company sets with its API key", async () => {
    const id = newUser();
    const proof = { user_id: id, hash: hash(id) };
    const set = { ...proof, email: "bob@shop.example", attributes: { plan: "pro" } };
    await query("Hello", { user: set });
    const expected = { received: [{ id, email: "bob@shop.example", plan: "pro" }], isOpen: true };
    expect(await receivedFrom(saysOverApi({ user: proof }))).toEqual(expected);
    expect(await receivedFrom((await chat({ ...proof, email: victim })).say)).toEqual(expected);
  });

  it("survive later claims, other conversations and a restart", async () => {
    const id = newUser();
    const signed = { email: "cleo@shop.example", name: "Cleo", phone: "+4930111", plan: "pro" };
    await (await chat({ user_token: token(id, signed) })).say("Hello");
    const claimed = { user_id: id, hash: hash(id), email: victim, name: "Victim" };
    const later = await chat(claimed);
    await later.say(`My email is ${victim}`);
    await later.lead();
    await (await chat(claimed, "hosted")).say("Hello");
    await query("Hello", { user: { user_token: token(id), email: victim, name: "Victim" } });
    const { email, name, phone } = signed;
    expect(await contactOf(id)).toMatchObject({ email, name, phone });
    const expected = { received: [{ id, email, plan: "pro" }], isOpen: true };
    expect(await receivedFrom((await chat(claimed)).say)).toEqual(expected);
    const again = await start(app.clock);
    started.push(again);
    const first = app;
    app = again;
    expect(await receivedFrom((await chat(claimed)).say)).toEqual(expected);
    app = first;
    const newer = { email: "cleo@home.example" };
    await (await chat({ user_token: token(id, newer) })).say("Hello");
    expect(await contactOf(id)).toMatchObject({ ...newer, name, phone });
  });

  it("expire with the token: the socket closes, and a newer token continues the conversation", async () => {
    const id = newUser();
    const old = token(id, { exp: Math.floor(app.clock.now() / 1_000) + 5 });
    const client = await chat({ user_token: old });
    await client.say("Hello");
    app.clock.advance(6_000);
    expect(await client.closed).toBe(4402);
    const socketUrl = client.socket.url;
    const late = await connect({ socketUrl });
    late.send({ kind: "hello", lastSeq: 0, token: client.ready.token, identity: { user_token: old } });
    expect(await late.closed).toBe(4402);
    const next = await chat({ user_token: token(id) }, "widget", client.ready.token);
    expect(next.ready).toMatchObject({ verified: true, session: client.ready.session });
    expect(next.ready.lastSeq).toBeGreaterThan(0);
  });
});
