import { STATUS_CODES } from "node:http";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { ProblemCode } from "#domain/problem.ts";
import { Problem, problemStatus } from "#domain/problem.ts";
import { rateHeaders, unknownCallerRate } from "./v1/access/rate-limits.ts";
import { isDatabaseFault } from "#database/faults.ts";

/** Meanings of the codes, for the API reference. */
export const problemMeaning: Readonly<Record<ProblemCode, string>> = {
  missing_field: "A required field is absent or null; `detail` names it.",
  invalid_workspace_id: "`workspace_id` is not of the form `wt_<6 characters>_<10 or more characters>`.",
  message_too_long: "`query` exceeds 1,000 or `message` 4,000 characters, counted in Unicode code points.",
  invalid_json: "The body is not valid JSON, or not a JSON object.",
  missing_auth: "There is no Authorization header.",
  malformed_auth: "The Authorization header is not `Bearer`, one space and an API key.",
  invalid_key: "The API key was revoked or never existed.",
  expired_key: "The API key is past its expiry.",
  workspace_access_denied: "The API key belongs to another workspace.",
  feature_not_in_plan:
    "The workspace's plan does not have this; commands answer so for keys' own limits, keys that expire and limits for each user.",
  verification_required: "The proof of the user's identity is missing or does not verify.",
  workspace_not_found: "The workspace does not exist or was deleted.",
  conversation_not_found: "There is no such conversation in this workspace.",
  document_not_found: "There is no such document in this workspace.",
  plan_downgrade_blocked:
    "The plan cannot be lowered while something in use needs it, or this month's queries are over the lower allowance; `detail` names each reason.",
  duplicate_request_id:
    "The Idempotency-Key was used with another body, or the first request with it is still in flight.",
  invalid_top_k: "`top_k` is not an integer from 1 to 10.",
  invalid_temperature: "`temperature` is not a number from 0.0 to 1.0.",
  invalid_strictness: "`strictness` is neither `strict` nor `helpful`.",
  invalid_audience: "`audience` has tags that neither the workspace's rules nor its documents have.",
  rate_limit_minute: "The key's requests of this minute, or the user's questions, are used up.",
  rate_limit_day: "The key's requests of this UTC day, or the user's questions, are used up.",
  quota_exhausted: "The workspace's queries of this month are used up.",
  internal_error: "Something went wrong on our side; the log has it under the request id.",
  model_provider_error: "The language model's provider answered with an error.",
  upstream_timeout: "Something that the service depends on did not answer.",
  deploying: "The process is being replaced; try again in 30 seconds.",
  provider_down: "No language model provider can be reached.",
  not_found: "There is nothing at this path.",
  method_not_allowed: "The path exists, but not with this method; `Allow` names those that it has.",
  not_a_website: "The document is an uploaded file, which cannot be crawled again.",
  invalid_transition: "The conversation's lifecycle has no such change of status.",
  invalid_parameter:
    "A value is of the wrong type or out of range, or a field or parameter is not known; `detail` names it, and what is allowed or which names are known.",
  invalid_cursor: "The cursor was not issued by us, or for other filters.",
  payload_too_large: "The body is larger than is allowed here.",
  unsupported_media_type: "The body, or the file, is of a type that is not accepted here.",
  too_many_concurrent_requests:
    "More requests of this key are in flight at once, over all processes, than is allowed; or the unfinished requests of this address hold too many bytes.",
  request_timeout: "The request did not arrive in time.",
  overloaded: "The process receives more bytes at once than it holds in memory; try again in a second.",
  query_timeout: "No answer was made within 30 seconds.",
  storage_full: "The disk is nearly full: no files are taken until there is room.",
  search_unavailable:
    "The search of conversations or documents cannot answer now, or would take too long; other filters work.",
  signed_out: "`/admin/v1` got no session and no access token, or one that has ended.",
  cross_site: "The page of another site asked for a change or a download with an agent's session.",
  insufficient_role: "The agent's role does not allow this.",
  insufficient_scope: "The access token may only read, or the route needs a session in the dashboard.",
  managed_by_file: "The configuration file declares this, and only the file can change it.",
  last_admin: "A workspace keeps at least one admin.",
  too_many_attempts: "Too many wrong passwords, codes or test messages; try again later.",
  second_factor_required: "The workspace requires a second factor, and the agent has none yet.",
  already_exists: "There is one with this name or address already; `detail` names the field.",
  edit_conflict: "Someone has changed this since it was read; read it again.",
  not_editable: "The text of this document cannot be edited: it is a website, no text file, or too long.",
  channel_refused: "The channel cannot do this, or its platform has refused it; `detail` says why.",
};

export interface ProblemBody {
  readonly detail: string;
  readonly code: ProblemCode;
  readonly request_id: string;
}

export function problemBody(problem: Problem, requestId: string): ProblemBody {
  return { detail: problem.message, code: problem.code, request_id: requestId };
}

/** Retry-After of a 503 whose Problem has none. */
export const retryAfterDefaultS = 5;

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const retryAfterS = problem.retryAfterS ?? (problem.status === 503 ? retryAfterDefaultS : undefined);
  if (retryAfterS !== undefined) reply.header("retry-after", String(Math.max(1, Math.ceil(retryAfterS))));
  return reply
    .code(problem.status)
    .header("content-type", "application/json; charset=utf-8")
    .send(problemBody(problem, reply.request.id));
}

/** Thrown for a path that exists with other methods only. */
export class MethodNotAllowed extends Problem {
  readonly allow: string;

  constructor(allow: string) {
    super("method_not_allowed", `This path answers to ${allow} only.`);
    this.allow = allow;
  }
}

export function logFailure(request: FastifyRequest, error: unknown, { code }: Problem): void {
  const fields = { err: error, requestId: request.id };
  if (code === "internal_error") request.log.error(fields, "http: request failed");
  else request.log.warn(fields, "http: dependency unavailable");
}

/** Answers a request whose handler threw. Errors other than Problems are bugs, whose text is not sent to clients. */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // The connection is gone, so the error is only logged.
  const problem = request.raw.readableAborted
    ? new Problem("invalid_json", "The connection ended before the request was complete.", { cause: error })
    : problemOf(error);
  if (problem.status >= 500) logFailure(request, error, problem);
  if (problem instanceof MethodNotAllowed) reply.header("allow", problem.allow);
  // The rest of a body that we refuse to read must not be taken for the connection's next request.
  if (problem.status === 408 || problem.status === 413 || problem.status === 415) reply.header("connection", "close");
  return sendProblem(reply, problem);
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const code = (error as Partial<FastifyError> | null)?.code;
  switch (code) {
    case "FST_ERR_CTP_INVALID_JSON_BODY":
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Problem("invalid_json", "The body is not valid JSON.", { cause: error });
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Problem("payload_too_large", "The body is larger than is allowed here.", { cause: error });
    case "FST_REQ_FILE_TOO_LARGE":
      return new Problem("payload_too_large", "A file can be 25 MB at most.", { cause: error });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Problem("unsupported_media_type", "The body's Content-Type is not accepted here.", { cause: error });
    case "FST_INVALID_MULTIPART_CONTENT_TYPE":
      return new Problem("unsupported_media_type", "The body must be multipart/form-data.", { cause: error });
    case "FST_FILES_LIMIT":
    case "FST_PARTS_LIMIT":
    case "FST_FIELDS_LIMIT":
    case "FST_PROTO_VIOLATION":
      return new Problem("invalid_parameter", "The form may hold one file, in the part `file`, and few fields.", {
        cause: error,
      });
    default:
      return isDatabaseFault(error)
        ? new Problem("upstream_timeout", "The service cannot use its database now.", { cause: error })
        : new Problem("internal_error", "Something went wrong on our side.", { cause: error });
  }
}

/** Responds to invalid HTTP, for which there is no request, only a socket. */
export function rawProblem(
  status: 400 | 404 | 408 | 413 | 431 | 503,
  code: ProblemCode,
  detail: string,
  { requestId, now }: { readonly requestId: string; readonly now: number },
): string {
  const body = JSON.stringify({ detail, code, request_id: requestId });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Error"}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    // Without a request, neither the key nor the route is known.
    ...Object.entries(rateHeaders(unknownCallerRate(now))).map(([name, value]) => `${name}: ${value}`),
    ...(status === 503 ? [`Retry-After: ${retryAfterDefaultS}`] : []),
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

export const problemCodes = Object.keys(problemStatus) as readonly ProblemCode[];
