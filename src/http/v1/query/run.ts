import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { Query, QueryResult } from "#conversations/answering/query.ts";
import type { KeptResponse } from "#http/v1/access/idempotency-claims.ts";
import type { Slot } from "#http/v1/access/rate-limits.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf, idempotencyKeyOf, pathOf } from "#http/v1/resources.ts";
import { parseQuery, textOf } from "./parse.ts";
import type { QueryBody } from "./schemas.ts";

const timeoutMs = 30_000;

/** Status in log and metrics when the client closed the connection. It is never sent. */
export const clientClosedStatus = 499;

export class ClientClosed extends Error {
  constructor() {
    super("the client closed the connection");
    this.name = "ClientClosed";
  }
}

/** Aborts with {@link ClientClosed} if the connection closes before the response is complete. */
export function closedSignal(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) closed.abort(new ClientClosed());
  });
  return closed.signal;
}

/** Answers a question, or repeats the response to an earlier request with the same Idempotency-Key. */
export async function runQuery(
  resources: Resources,
  request: FastifyRequest,
  body: QueryBody,
  closed: AbortSignal,
  onToken?: (delta: string) => void,
): Promise<KeptResponse & { readonly replayed: boolean }> {
  const { limits, idempotency } = resources;
  const caller = callerOf(request);
  const startedMs = performance.now();
  const text = textOf(body);
  return idempotency.run(
    { keyId: caller.keyId, path: pathOf(request), idempotencyKey: idempotencyKeyOf(request), body },
    async (workId) => {
      const query: Query = {
        ...(await parseQuery(resources, caller, body, text)),
        ...(workId === undefined ? {} : { clientId: workId }),
        ...(onToken === undefined ? {} : { onToken }),
      };
      const slots: Slot[] = [];
      try {
        const ofUser = await limits.takeUser(caller, query.user?.userId ?? body.user?.user_id ?? body.user_id);
        if (ofUser !== null) slots.push(ofUser);
        const ofMonth = await limits.takeQuery(caller);
        if (ofMonth !== null) slots.push(ofMonth);
        const result = await inTime(resources, closed, (signal) =>
          resources.engine.query({ ...query, ...untilAborted(query.onToken, signal) }, signal),
        );
        return { status: 200, body: responseOf(result, performance.now() - startedMs) };
      } catch (error) {
        for (const slot of slots) await limits.giveBack(slot);
        throw error;
      }
    },
  );
}

/** Rejects with the cause when the time is up, the client has gone or the program ends. */
export async function inTime<Result>(
  { clock, ending }: Pick<Resources, "clock" | "ending">,
  closed: AbortSignal,
  answer: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const stopTimer = clock.timer(timeoutMs, () => {
    late.abort(new Problem("query_timeout", "No answer was made within 30 seconds."));
  });
  const signal = AbortSignal.any([closed, late.signal, ending]);
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    signal.throwIfAborted();
    return await Promise.race([answer(signal), aborted.promise]);
  } catch (error) {
    // The error of an interrupted provider does not name the cause; the signal does.
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    stopTimer();
  }
}

/** A model can send tokens for a while after it was aborted. */
function untilAborted(onToken: Query["onToken"], signal: AbortSignal): Pick<Query, "onToken"> {
  if (onToken === undefined) return {};
  return {
    onToken: (delta) => {
      if (!signal.aborted) onToken(delta);
    },
  };
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
