import { afterEach, beforeEach, expect, it } from "vitest";
import type { LookupSkill } from "#domain/workspace/skill.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Answer, Answerer, Question } from "#answering/contract.ts";
import type { Store } from "#database/contract.ts";
import { createModel } from "#models/model.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import { createLookUps } from "./look-up.ts";
import { createSkilledAnswerer } from "./skilled-answerer.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { silentLog, steppingClock } from "#test/support/knowledge/knowledge.ts";
import type { ModelServer } from "#test/support/servers/model-server.ts";
import { says, startModelServer } from "#test/support/servers/model-server.ts";
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

const noDocuments: Answerer = {
  answer: () => Promise.reject(new Error("the documents are not asked where a skill answers")),
};

function openAnswerer(documents = noDocuments): Answerer {
  const clock = steppingClock();
  return createSkilledAnswerer({
    documents,
    lookUps: createLookUps({ store, clock, guardedFetch, seal: (plain) => plain, open: (sealed) => sealed }),
    model: createModel({ provider: "openai-compatible", baseUrl: model.url, name: "test", apiKey: "sk-test" }, clock),
    clock,
    log: silentLog,
    lookUpsMs: 1_500,
  });
}

const questionOf = (text: string, skills: readonly LookupSkill[]): Question => ({
  workspaceId: "w",
  text,
  history: [],
  strictness: "strict",
  topK: 5,
  audience: [],
  settings: { ...defaultSettings, skills },
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
  const question = questionOf("What of the first, the second and the third?", names.map(skill));
  const answer = await openAnswerer().answer(question, new AbortController().signal);
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

it("is chosen by the asker's own words alone, by a phrase and by the model", async () => {
  shop.answer = (_request, response) => sendJson(response, { state: "ready" });
  model.answer = () => says("Nothing to call.");
  const fromDocuments: Answer = {
    text: "In three days.",
    sources: [],
    confidence: "high",
    answered: true,
    skillsFired: [],
    tokensUsed: 0,
  };
  const answerer = openAnswerer({ answer: async () => fromDocuments });
  const order = { ...skill("order"), phrases: ["where is my order"] };
  const ask = (text: string, ownText: string) =>
    answerer.answer({ ...questionOf(text, [order]), ownText }, new AbortController().signal);
  const answer = await ask("Is this normal?\n\n[forwarded] Where is my order?", "Is this normal?");
  expect(answer.text).toBe("In three days.");
  const [request] = model.requests;
  expect(JSON.stringify(request)).toContain("Is this normal?");
  expect(JSON.stringify(request)).not.toContain("Where is my order?");
  const own = await ask("Where is my order?\n\n[forwarded] It is late.", "Where is my order?");
  expect(own.skillsFired).toEqual(["order"]);
});
