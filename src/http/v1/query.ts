import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { messageCodePointsMax, queryCodePointsMax } from "#domain/conversation/message.ts";
import { audienceTags } from "#domain/workspace/audience.ts";
import { Problem } from "#domain/problem.ts";
import type { VerifiedUser } from "#domain/customer/user-token.ts";
import { attributeNameMax, attributesMax, userTokenMax } from "#domain/customer/user-token.ts";
import { storedSettings, strictnesses } from "#domain/workspace/settings.ts";
import type { Query, QueryResult } from "#conversations/contract.ts";
import type { Caller } from "#http/middleware/auth.ts";
import type { KeptResponse } from "#http/middleware/idempotency.ts";
import type { Slot } from "#http/middleware/rate-limits.ts";
import { logFailure, problemBody, problemOf } from "#http/problem.ts";
import type { App } from "#http/app-type.ts";
import { verifyIdentity } from "./identity.ts";
import type { Resources } from "./resources.ts";
import { callerOf, idempotencyKeyOf, pathOf } from "./resources.ts";
import * as schemas from "./schemas.ts";

const timeoutMs = 30_000;
const metadataCharsMax = 16_384;

const attributeValue = Type.Union([Type.String({ maxLength: 190 }), Type.Number(), Type.Boolean()]);

const userId = Type.String({ minLength: 1, maxLength: 190 });

const queryBody = Type.Object(
  {
    workspace_id: Type.String(),
    query: Type.Optional(
      Type.String({ maxLength: queryCodePointsMax, description: "The question. This or `message` is required" }),
    ),
    message: Type.Optional(
      Type.String({ maxLength: messageCodePointsMax, description: "Another name for `query`, with room for more" }),
    ),
    conversation_id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "From an earlier response, to continue it",
        allowed: "an id of a conversation",
      }),
    ),
    user: Type.Optional(
      Type.Object(
        {
          user_id: Type.Optional(userId),
          hash: Type.Optional(
            Type.String({
              maxLength: 100,
              description: "HMAC-SHA256 of user_id with the identity secret: hex or base64(url)",
            }),
          ),
          user_token: Type.Optional(
            Type.String({
              maxLength: userTokenMax,
              description: "JWT with sub, exp and what you know of the user; instead of user_id and hash",
            }),
          ),
          name: Type.Optional(Type.String({ maxLength: 190 })),
          email: Type.Optional(schemas.emailAddress),
          attributes: Type.Optional(
            Type.Record(
              Type.String({ minLength: 1, maxLength: attributeNameMax }),
              Type.Union([attributeValue, Type.Array(attributeValue, { maxItems: 50 })]),
              {
                maxProperties: attributesMax,
                description:
                  "What you know of a verified user, such as `plan`: rules of audience tags ask for it. Kept until the next request that sends some",
                allowed: `an object of at most ${attributesMax} texts, numbers, booleans or lists of them`,
              },
            ),
          ),
        },
        { title: "QueryUser" },
      ),
    ),
    user_id: Type.Optional(userId),
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: "Context: page URL and the like" }),
    ),
    document_ids: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 100 })),
    top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: 5 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    strictness: Type.Optional(Type.Enum([...strictnesses])),
    audience: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 50, allowed: "an array of audience tags" }),
    ),
    verification_token: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "`<expiry>.<hex HMAC-SHA256 of user_id.expiry>`, instead of user.hash",
      }),
    ),
  },
  { title: "Query" },
);

type QueryBody = Type.Static<typeof queryBody>;

export const answerSchema = Type.Object(
  {
    answer: Type.String({ description: "Markdown" }),
    sources: Type.Array(schemas.source),
    conversation_id: Type.String(),
    message_id: schemas.nullable(Type.String()),
    skills_fired: Type.Array(Type.String()),
    latency_ms: Type.Integer(),
    tokens_used: Type.Integer(),
    confidence: schemas.nullable(schemas.confidence),
  },
  { title: "Answer" },
);

const codes = [
  ...schemas.withBody,
  ...schemas.withWorkspaceId,
  "message_too_long",
  "verification_required",
  "conversation_not_found",
  "document_not_found",
  "duplicate_request_id",
  "invalid_top_k",
  "invalid_temperature",
  "invalid_strictness",
  "invalid_audience",
  "quota_exhausted",
  "model_provider_error",
  "provider_down",
  "search_unavailable",
  "query_timeout",
] as const;

/** Asking: the answer at once, or as it is made. */
export function queryRoutes(app: App, resources: Resources): void {
  const { store, engine, clock, limits, idempotency, tokenKeys, ending } = resources;

  app.post(
    "/query",
    {
      config: { workspaceId: "required" },
      schema: {
        tags: ["Query"],
        operationId: "query",
        summary: "Ask a question",
        body: queryBody,
        response: schemas.responses({ 200: answerSchema }, codes),
      },
    },
    async (request, reply) => {
      const gone = goneSignal(reply);
      try {
        const { status, body, replayed } = await run(request, request.body, gone);
        if (replayed) reply.header("idempotency-replayed", "true");
        return await reply.code(status).send(body);
      } catch (error) {
        if (!(error instanceof ClientGone)) throw error;
        return reply.code(clientGoneStatus).send();
      }
    },
  );

  app.post(
    "/query/stream",
    {
      config: { workspaceId: "required" },
      schema: {
        tags: ["Query"],
        operationId: "streamQuery",
        summary: "Ask a question and read the answer as it is made",
        description:
          "Server-sent events: `token` with `{delta}`, at the end `done` with the response of `POST /v1/query`, or `error` with an error body. What fails before the first token is an ordinary error response.",
        body: queryBody,
        response: schemas.responses({ 200: Type.String({ description: "text/event-stream" }) }, codes),
      },
    },
    async (request, reply) => stream(request, request.body, reply),
  );

  async function stream(request: FastifyRequest, body: QueryBody, reply: FastifyReply): Promise<FastifyReply> {
    const gone = goneSignal(reply);
    const events = new Readable({ read: () => undefined });
    const emit = (event: string, data: unknown): void => {
      events.push(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    };
    const first = Promise.withResolvers<"token">();
    let streamed = false;
    let ended = false;
    const answer = run(request, body, gone, (delta) => {
      if (ended) return;
      streamed = true;
      emit("token", { delta });
      first.resolve("token");
    });
    // Before the first token a failure is an ordinary response.
    let begun: Awaited<typeof answer> | "token";
    try {
      begun = await Promise.race([first.promise, answer]);
    } catch (error) {
      ended = true;
      if (!(error instanceof ClientGone)) throw error;
      return reply.code(clientGoneStatus).send();
    }
    if (begun !== "token" && begun.replayed) reply.header("idempotency-replayed", "true");
    const finish = async (): Promise<void> => {
      try {
        const { body: whole } = await answer;
        if (!streamed) emit("token", { delta: answerText(whole) });
        emit("done", whole);
      } catch (error) {
        const problem = problemOf(error);
        if (problem.status >= 500 && !gone.aborted) logFailure(request, error, problem);
        emit("error", problemBody(problem, request.id));
      }
      ended = true;
      events.push(null);
    };
    void finish();
    return (
      reply
        .header("content-type", "text/event-stream; charset=utf-8")
        .header("cache-control", "no-store")
        // Proxies that gather a response before they pass it on would hide the stream.
        .header("x-accel-buffering", "no")
        .send(events)
    );
  }

  /** Answers, or gives what was answered to the same request before. */
  async function run(
    request: FastifyRequest,
    body: QueryBody,
    gone: AbortSignal,
    onToken?: (delta: string) => void,
  ): Promise<KeptResponse & { readonly replayed: boolean }> {
    const caller = callerOf(request);
    const started = performance.now();
    const question = textOf(body);
    return idempotency.run(
      { keyId: caller.keyId, path: pathOf(request), idempotencyKey: idempotencyKeyOf(request), body },
      async (workId) => {
        const query: Query = {
          ...(await queryOf(caller, body, question)),
          ...(workId === undefined ? {} : { clientId: workId }),
          ...(onToken === undefined ? {} : { onToken }),
        };
        const taken: Slot[] = [];
        try {
          const ofUser = await limits.takeUser(caller, query.user?.userId ?? body.user?.user_id ?? body.user_id);
          if (ofUser !== null) taken.push(ofUser);
          const ofMonth = await limits.takeQuery(caller);
          if (ofMonth !== null) taken.push(ofMonth);
          const result = await within(query, gone);
          return { status: 200, body: responseOf(result, performance.now() - started) };
        } catch (error) {
          for (const slot of taken) await limits.giveBack(slot);
          throw error;
        }
      },
    );
  }

  async function within(query: Query, gone: AbortSignal): Promise<QueryResult> {
    const late = new AbortController();
    const stopTimer = clock.timer(timeoutMs, () => {
      late.abort(new Problem("query_timeout", "No answer was made within 30 seconds."));
    });
    const signal = AbortSignal.any([gone, late.signal, ending]);
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    try {
      signal.throwIfAborted();
      return await Promise.race([
        engine.query({ ...query, ...inTime(query.onToken, signal) }, signal),
        aborted.promise,
      ]);
    } catch (error) {
      // What a provider throws when it is interrupted says less than why it was.
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      stopTimer();
    }
  }

  async function queryOf(caller: Caller, body: QueryBody, text: string): Promise<Query> {
    const { user } = body;
    const id = user?.user_id ?? body.user_id;
    const verified = await verifyIdentity(
      { userId: id, hash: user?.hash, token: body.verification_token, userToken: user?.user_token },
      () => tokenKeys(caller.workspaceId),
      clock.now(),
    );
    if (body.metadata !== undefined && JSON.stringify(body.metadata).length > metadataCharsMax) {
      throw new Problem(
        "invalid_parameter",
        `metadata must be an object of at most ${metadataCharsMax} characters of JSON.`,
      );
    }
    checkAttributes(user, verified);
    const documentIds =
      body.document_ids === undefined ? undefined : await findDocuments(caller.workspaceId, body.document_ids);
    const audience = body.audience === undefined ? undefined : audienceTags(body.audience);
    if (audience !== undefined) await checkAudience(caller, audience);
    return {
      workspaceId: caller.workspaceId,
      text,
      ...(body.conversation_id === undefined ? {} : { conversationId: body.conversation_id }),
      ...(verified === null ? {} : askerOf(verified, user)),
      ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
      ...(body.strictness === undefined ? {} : { strictness: body.strictness }),
      ...(body.top_k === undefined ? {} : { topK: body.top_k }),
      ...(body.temperature === undefined ? {} : { temperature: body.temperature }),
      ...(documentIds === undefined ? {} : { documentIds }),
      ...(audience === undefined ? {} : { audience }),
    };
  }

  /** The documents that hold the passages: a website's pages are documents below its own. */
  async function findDocuments(workspaceId: string, ids: readonly string[]): Promise<readonly string[]> {
    const wanted = new Set(ids);
    const rows = await store.read
      .selectFrom("documents")
      .select(["id", "source"])
      .where("workspace_id", "=", workspaceId)
      .where("parent_id", "is", null)
      .where("id", "in", [...wanted])
      .execute();
    for (const { id } of rows) wanted.delete(id);
    const [missing] = wanted;
    if (missing !== undefined) {
      throw new Problem("document_not_found", `There is no document ${JSON.stringify(missing)} in this workspace.`);
    }
    const sites = rows.filter(({ source }) => source === "crawl").map(({ id }) => id);
    if (sites.length === 0) return ids;
    const pages = await store.read.selectFrom("documents").select("id").where("parent_id", "in", sites).execute();
    return [...ids, ...pages.map(({ id }) => id)];
  }

  /** The tags that a workspace has are those of its rules and those that its documents carry. */
  async function checkAudience({ workspaceId, settings }: Caller, tags: readonly string[]): Promise<void> {
    const { audiences } = storedSettings(settings);
    const ruled = new Set(Object.keys(audiences).map((tag) => tag.trim().toLowerCase()));
    const foreign = tags.filter((tag) => !ruled.has(tag));
    if (foreign.length === 0) return;
    const rows = await store.read
      .selectFrom("documents")
      .select("audience")
      .distinct()
      .where("workspace_id", "=", workspaceId)
      .execute();
    const carried = new Set(rows.flatMap(({ audience }) => JSON.parse(audience) as readonly string[]));
    const unknown = foreign.find((tag) => !carried.has(tag));
    if (unknown !== undefined) {
      throw new Problem(
        "invalid_audience",
        `audience: the workspace has no tag ${JSON.stringify(unknown)}, neither in its setting audiences nor on a document.`,
      );
    }
  }
}

/** A model may go on for a while after it was told to stop. */
function inTime(onToken: Query["onToken"], signal: AbortSignal): Pick<Query, "onToken"> {
  if (onToken === undefined) return {};
  return {
    onToken: (delta) => {
      if (!signal.aborted) onToken(delta);
    },
  };
}

/** Nobody reads this status: the client has gone. The log and the metrics tell it from a failure by it. */
const clientGoneStatus = 499;

class ClientGone extends Error {
  constructor() {
    super("the client went away");
    this.name = "ClientGone";
  }
}

function checkAttributes(user: QueryBody["user"], verified: VerifiedUser | null): void {
  if (user?.attributes === undefined) return;
  if (verified === null) {
    throw new Problem(
      "verification_required",
      "user.attributes needs a verified user: put them into user.user_token, or send user.hash or verification_token.",
    );
  }
  if (user.user_token !== undefined) {
    throw new Problem("verification_required", "user.attributes beside user.user_token: put them into the token.");
  }
}

/**
 * The server that holds the key vouches for what it sends beside a hash. Beside a token it may pass on a browser's words:
 * they are claims.
 */
function askerOf(verified: VerifiedUser, user: QueryBody["user"]): Pick<Query, "user" | "claimed"> {
  const said = {
    ...(user?.name === undefined ? {} : { name: user.name }),
    ...(user?.email === undefined ? {} : { email: user.email }),
  };
  if (user?.user_token !== undefined) return { user: verified, claimed: said };
  const attributes = user?.attributes === undefined ? {} : { attributes: user.attributes };
  return { user: { ...verified, ...said, ...attributes } };
}

/** A client that goes away stops the generation. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort(new ClientGone());
  });
  return gone.signal;
}

function textOf({ query, message }: QueryBody): string {
  const text = query ?? message;
  if (text === undefined) throw new Problem("missing_field", "query is required.");
  if (text.trim() === "") throw new Problem("invalid_parameter", "query must not be empty.");
  return text;
}

function responseOf(result: QueryResult, tookMs: number): object {
  return {
    answer: result.answer,
    sources: result.sources,
    conversation_id: result.conversationId,
    message_id: result.messageId,
    skills_fired: result.skillsFired,
    latency_ms: Math.round(tookMs),
    tokens_used: result.tokensUsed,
    confidence: result.confidence,
  };
}

function answerText(body: unknown): string {
  return typeof body === "object" && body !== null && "answer" in body && typeof body.answer === "string"
    ? body.answer
    : "";
}
