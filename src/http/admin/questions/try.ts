import { Type } from "typebox";
import type { Static } from "typebox";
import { audienceTags } from "#domain/workspace/audience.ts";
import { messageCodePointsMax } from "#domain/conversation/message.ts";
import { strictnesses } from "#domain/workspace/settings.ts";
import { channels } from "#channels/catalog.ts";
import type { Reader } from "#database/contract.ts";
import { spokenLanguages } from "#language/locale.ts";
import type { Trial, TrialResult } from "#conversations/trial/trial.ts";
import { explain, trialDecisions } from "#conversations/trial/explain.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { checkAudience } from "#http/v1/query/parse.ts";
import { closedSignal, inTime } from "#http/v1/query/run.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const body = Type.Object(
  {
    question: Type.String({
      minLength: 1,
      maxLength: messageCodePointsMax,
      pattern: "\\S",
      allowed: `a text of 1 to ${messageCodePointsMax} characters`,
    }),
    channel: Type.Optional(Type.Enum([...channels], { default: "widget", description: "The customer's channel" })),
    language: Type.Optional(
      Type.Enum([...spokenLanguages], { description: "The customer's language; absent: recognised by the question" }),
    ),
    audience: Type.Optional(schemas.audience),
    strictness: Type.Optional(Type.Enum([...strictnesses], { description: "Absent: as the workspace's settings say" })),
  },
  { title: "TriedQuestion" },
);

const passage = Type.Object(
  {
    id: Type.String(),
    document_id: Type.String({ description: "The document; for a page of a website, the website" }),
    position: Type.Integer(),
    title: Type.String(),
    url: Type.String(),
    text: Type.String(),
    score: Type.Number({ description: "0 to 1" }),
    used: Type.Boolean({ description: "Whether the answer cites it" }),
  },
  { title: "FoundPassage" },
);

const result = Type.Object(
  {
    replies: Type.Array(Type.String(), { description: "The messages that the customer would get, in Markdown" }),
    decision: Type.Object(
      { kind: Type.Enum([...trialDecisions]), text: Type.String({ description: "In words, for people" }) },
      { title: "TrialDecision" },
    ),
    confidence: schemas.nullable(schemas.confidence),
    sources: Type.Array(schemas.source),
    passages: Type.Array(passage, { description: "The passages that were found, best first" }),
    evidence: schemas.nullable(Type.Number({ description: "How much of the question the passages cover, 0 to 1" })),
    evidence_needed: schemas.nullable(Type.Number({ description: "Below this, the bot gives no answer" })),
    skills: Type.Array(
      Type.Object(
        { name: Type.String(), arguments: Type.Array(Type.String()), outcome: Type.String() },
        { title: "TriedSkill" },
      ),
      { description: "Skills that the question calls; those that may change something are not called" },
    ),
    rules: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          because: Type.Array(Type.String()),
          would: Type.Array(Type.String()),
          decides: Type.Boolean({ description: "Whether the bot leaves the question to it" }),
        },
        { title: "TriedRule" },
      ),
    ),
    latency_ms: Type.Integer(),
    tokens_used: Type.Integer(),
  },
  { title: "TrialResult" },
);

const trySchema = {
  tags: ["Administration"],
  operationId: "tryQuestion",
  summary: "Answer a question as for a new customer, without storing it",
  description: "Says which passages were found and what decided. It counts as no query.",
  body,
  response: adminResponses({ 200: result }, [
    ...schemas.withBody,
    "invalid_audience",
    "query_timeout",
    "provider_down",
    "model_provider_error",
    "search_unavailable",
  ]),
};

/** Lets administrators see how the bot answers, and why. */
export function tryQuestionRoute(app: App, resources: Resources): void {
  const { store, engine } = resources;
  app.post("/questions/try", { schema: trySchema }, async (request, reply) => {
    const startedMs = performance.now();
    const trial = trialOf(administratorOf(request).workspaceId, request.body);
    await checkAudience(store.read, callerOf(request), trial.audience);
    const tried = await inTime(resources, closedSignal(reply), (signal) => engine.tryQuestion(trial, signal));
    return {
      ...(await resultItem(store.read, tried)),
      latency_ms: Math.round(performance.now() - startedMs),
      tokens_used: tried.answer?.tokensUsed ?? 0,
    };
  });
}

function trialOf(workspaceId: string, given: Static<typeof body>): Trial {
  const { question: text, channel = "widget", language, audience = [], strictness } = given;
  return {
    workspaceId,
    text,
    channel,
    audience: audienceTags(audience),
    ...(language === undefined ? {} : { language }),
    ...(strictness === undefined ? {} : { strictness }),
  };
}

async function resultItem(db: Reader, tried: TrialResult) {
  const { replies, answer, trace, rules } = tried;
  const search = trace.find((step) => step.kind === "search");
  const found = search?.passages ?? [];
  const documents = await documentsOf(
    db,
    found.map(({ documentId }) => documentId),
  );
  return {
    replies,
    decision: explain(tried),
    confidence: answer?.confidence ?? null,
    sources: answer?.sources ?? [],
    passages: found.map(({ documentId, ...each }) => ({
      ...each,
      document_id: documents.get(documentId) ?? documentId,
    })),
    evidence: search?.evidence ?? null,
    evidence_needed: search?.floor ?? null,
    skills: (answer?.calls ?? []).map(({ skill, ...call }) => ({ name: skill, ...call })),
    rules,
  };
}

/** The website of each page. */
async function documentsOf(db: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("documents")
    .select(["id", "parent_id"])
    .where("id", "in", [...new Set(ids)])
    .execute();
  return new Map(rows.map(({ id, parent_id: parent }) => [id, parent ?? id]));
}
