import { afterEach, beforeEach, expect, it } from "vitest";
import type { LookupSkill } from "#domain/workspace/skill.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Question } from "#answering/contract.ts";
import type { Store } from "#database/contract.ts";
import { createModel } from "#models/model.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import { createLookUps } from "./look-up.ts";
import { createSkilledAnswerer } from "./skilled-answerer.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { silentLog, steppingClock } from "#test/support/knowledge/knowledge.ts";
import type { ModelServer } from "#test/support/servers/model-server.ts";
import { startModelServer } from "#test/support/servers/model-server.ts";
import type { ShopServer } from "#test/support/servers/shop-server.ts";
import { sendJson, startShopServer } from "#test/support/servers/shop-server.ts";

let store: Store;
let closeStore: () => Promise<void>;
let shop: ShopServer;
let model: ModelServer;
let guardedFetch: GuardedFetch;

beforeEach(async () => {
  ({ store, close: closeStore } = await openTestStore(newSqlite));
  shop = await startShopServer();
  model = await startModelServer();
  guardedFetch = openGuardedFetch({ allowPrivate: ["127.0.0.1"] });
});
afterEach(async () => {
  await guardedFetch.close();
  await model.close();
  await shop.close();
  await closeStore();
});

const skill = (name: string): LookupSkill => ({
  kind: "lookup",
  name,
  description: `Tells of ${name}.`,
  phrases: [],
  arguments: [],
  answer: `${name} is {state}.`,
  verified: false,
  method: "GET",
  safe: true,
  request: JSON.stringify({ url: `${shop.url}/${name}`, headers: {}, body: null }),
  timeoutMs: 60_000,
  bytesMax: 1_000,
  fields: [],
  notFound: null,
});

it("ends all lookups of an answer after a shared timeout, and returns the results of those that finished", async () => {
  shop.answer = ({ url }, response) => {
    // The second server accepts the request, and never answers.
    if (url === "/first") sendJson(response, { state: "ready" });
  };
  const names = ["first", "second", "third"];
  model.answer = () => ({
    kind: "calls",
    calls: names.map((name) => ({ name, arguments: {} })),
    tokens: { input: 1, output: 1 },
  });
  const clock = steppingClock();
  const answerer = createSkilledAnswerer({
    documents: { answer: () => Promise.reject(new Error("the documents are not asked where a look-up failed")) },
    lookUps: createLookUps({ store, clock, guardedFetch, seal: (plain) => plain, open: (sealed) => sealed }),
    model: createModel({ provider: "openai-compatible", baseUrl: model.url, name: "test", apiKey: "sk-test" }, clock),
    clock,
    log: silentLog,
    lookUpsMs: 1_500,
  });
  const question: Question = {
    workspaceId: "w",
    text: "What of the first, the second and the third?",
    history: [],
    strictness: "strict",
    topK: 5,
    audience: [],
    settings: { ...defaultSettings, skills: names.map(skill) },
  };
  const answer = await answerer.answer(question, new AbortController().signal);
  expect(answer).toMatchObject({ skillsFired: names, answered: true, confidence: "high" });
  expect(answer.text).toContain("first is ready.");
  expect(answer.text).toContain(defaultSettings.lookupFailedMessage);
  expect(answer.calls?.map(({ outcome }) => outcome)).toEqual([
    "chosen by the model: answered",
    "chosen by the model: failed: no answer came in time",
    "chosen by the model: failed: not called: earlier look-ups took too long",
  ]);
  expect(shop.requests.map(({ url }) => url)).toEqual(["/first", "/second"]);
});
