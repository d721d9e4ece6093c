import { Type } from "typebox";
import { questionStates } from "#database/schema/feedback.ts";
import type { QuestionGroup } from "#admin/answers/questions.ts";
import { listQuestions, readQuestion, setQuestionState } from "#admin/answers/questions.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const dayMs = 86_400_000;
const tags = ["Administration"];

const count = Type.Integer({ minimum: 0 });
const groupFields = {
  id: Type.String(),
  question: Type.String({ description: "The newest of the similar questions" }),
  state: Type.Enum([...questionStates]),
  count: Type.Integer({ description: "How often it was asked in these days without a good answer" }),
  reasons: Type.Object(
    {
      refused: count,
      unsure: Type.Integer({ minimum: 0, description: "Answers of low confidence" }),
      disliked: Type.Integer({ minimum: 0, description: "Answers with a thumb down" }),
      handed_over: Type.Integer({ minimum: 0, description: "People took over within the next two messages" }),
    },
    { description: "A question can have several reasons" },
  ),
  channels: Type.Array(schemas.channel),
  last_asked_at: schemas.time,
  document: schemas.nullable(
    Type.Object({ id: Type.String(), title: Type.String() }, { description: "The document written to answer it" }),
  ),
};
const group = Type.Object(groupFields, { title: "UnansweredQuestion" });
const example = Type.Object(
  {
    message_id: Type.String(),
    conversation_id: Type.String(),
    channel: schemas.channel,
    asked_at: schemas.time,
    question: Type.String(),
    reasons: Type.Array(Type.Enum(["refused", "unsure", "disliked", "handed_over"])),
  },
  { title: "AskedQuestion" },
);
const groupWithExamples = Type.Object(
  { ...groupFields, examples: Type.Array(example, { description: "The newest ones, at most 20" }) },
  { title: "UnansweredQuestionWithExamples" },
);

const days = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 90, default: 30, description: "Questions of so many days until now" }),
);
const params = Type.Object({ id: Type.String() });

const listSchema = {
  tags,
  operationId: "listUnanswered",
  summary: "List questions that need a better answer, most frequent first",
  querystring: Type.Object({
    days,
    state: Type.Optional(
      Type.Enum([...questionStates], { default: "open", description: "Only questions in this state" }),
    ),
    limit: schemas.listLimit(50),
  }),
  response: adminResponses(
    {
      200: Type.Object(
        { questions: Type.Array(group), total: Type.Integer({ description: "Also those beyond `limit`" }) },
        { title: "UnansweredQuestionList" },
      ),
    },
    ["invalid_parameter"],
  ),
};

const readSchema = {
  tags,
  operationId: "getUnanswered",
  summary: "Read one question with the times it was asked",
  params,
  querystring: Type.Object({ days }),
  response: adminResponses({ 200: groupWithExamples }, ["invalid_parameter"]),
};

const changed = adminResponses({ 204: schemas.noContent }, []);

const doneSchema = {
  tags,
  operationId: "answerUnanswered",
  summary: "Mark a question as answered; it opens again when it is asked and not answered",
  params,
  body: Type.Object(
    { document_id: Type.Optional(Type.String({ description: "The document that answers it now" })) },
    { title: "UnansweredDone" },
  ),
  response: adminResponses({ 204: schemas.noContent }, [...schemas.withBody, "document_not_found"]),
};

const ignoreSchema = {
  tags,
  operationId: "ignoreUnanswered",
  summary: "Ignore a question, however often it is asked",
  params,
  response: changed,
};

const reopenSchema = {
  tags,
  operationId: "reopenUnanswered",
  summary: "Open a question again",
  params,
  response: changed,
};

/** Questions that were refused, answered with low confidence, disliked, or followed by a hand-over. */
export function unansweredRoutes(app: App, { store, clock }: Resources): void {
  const { read } = store;
  const rangeOf = (workspaceId: string, given = 30) => ({ workspaceId, since: clock.now() - given * dayMs });

  app.get("/unanswered", { config: { least: "viewer" }, schema: listSchema }, async (request) => {
    const { state = "open", limit = 50 } = request.query;
    const range = rangeOf(administratorOf(request).workspaceId, request.query.days);
    const { groups, total } = await listQuestions(read, { ...range, state, limit });
    return { questions: groups.map(groupItem), total };
  });

  app.get("/unanswered/:id", { config: { least: "viewer" }, schema: readSchema }, async (request) => {
    const range = rangeOf(administratorOf(request).workspaceId, request.query.days);
    const found = await readQuestion(read, request.params.id, range);
    return {
      ...groupItem(found.group),
      examples: found.examples.map((each) => ({
        message_id: each.messageId,
        conversation_id: each.conversationId,
        channel: each.channel,
        asked_at: new Date(each.askedAt).toISOString(),
        question: each.question,
        reasons: [...each.reasons],
      })),
    };
  });

  app.post("/unanswered/:id/done", { schema: doneSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const { document_id: documentId = null } = request.body;
    const change = { workspaceId, id: request.params.id, state: "done", documentId, by: actor } as const;
    await setQuestionState({ store, clock }, change);
    return reply.code(204).send();
  });

  for (const [path, state, schema] of [
    ["ignore", "ignored", ignoreSchema],
    ["reopen", "open", reopenSchema],
  ] as const) {
    app.post(`/unanswered/:id/${path}`, { schema }, async (request, reply) => {
      const { workspaceId, actor } = administratorOf(request);
      const change = { workspaceId, id: request.params.id, state, documentId: null, by: actor };
      await setQuestionState({ store, clock }, change);
      return reply.code(204).send();
    });
  }
}

const groupItem = ({ lastAskedAt, ...each }: QuestionGroup) => ({
  ...each,
  channels: [...each.channels],
  last_asked_at: new Date(lastAskedAt).toISOString(),
});
