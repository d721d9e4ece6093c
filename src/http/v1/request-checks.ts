import type { FastifyRequest } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { Reader } from "#database/contract.ts";
import type { App } from "#http/app-type.ts";
import { unknownName } from "#http/middleware/unknown-fields.ts";
import { documentNotFound } from "./documents/find.ts";
import { conversationNotFound } from "./not-found.ts";
import { checkWorkspaceId } from "./workspace-id.ts";

/** Checks ids, `workspace_id` and unknown fields of every request, before the route's own schema. */
export function checkRequests(app: App, db: Reader): void {
  app.addHook("preValidation", (request, _reply, done) => {
    const { schema, config } = request.routeOptions;
    const { caller } = request;
    try {
      requireExactIds(request.params);
      if (schema?.body !== undefined && !isObject(request.body)) {
        throw new Problem("invalid_json", "The body must be a JSON object.");
      }
      if (config.workspaceId === undefined || caller === null) {
        refuseUnknown(request);
        done();
        return;
      }
    } catch (error) {
      done(error as Problem);
      return;
    }
    checkWorkspace(db, request, caller.workspaceId, config.workspaceId)
      .then(() => refuseUnknown(request))
      .then(() => done(), done);
  });
}

/** If body and query both have a `workspace_id`, both must be the caller's. */
async function checkWorkspace(
  db: Reader,
  { body, query }: FastifyRequest,
  own: string,
  presence: "required" | "optional",
): Promise<void> {
  const given = [body, query]
    .map((from) => valueOf(from, "workspace_id") ?? undefined)
    .filter((id) => id !== undefined);
  for (const id of given.length === 0 ? [undefined] : given) await checkWorkspaceId(db, id, own, presence);
}

/** MySQL ignores spaces at the end when it compares ids. */
function requireExactIds(params: unknown): void {
  if (!isObject(params)) return;
  for (const [name, id] of Object.entries(params)) {
    if (typeof id !== "string" || !id.endsWith(" ")) continue;
    if (name === "conversation_id") throw conversationNotFound();
    if (name === "document_id") throw documentNotFound();
    throw new Problem("not_found", "There is nothing with this id.");
  }
}

/** Routes without a schema take no parameters and fields but `workspace_id`. The validator refuses them for the others. */
function refuseUnknown({ routeOptions, query, body }: FastifyRequest): void {
  const { schema, config } = routeOptions;
  const allowed = config.workspaceId === "optional" ? ["workspace_id"] : [];
  if (schema?.querystring === undefined && isObject(query)) {
    const problem = unknownName(query, allowed, "parameter");
    if (problem !== undefined) throw problem;
  }
  if (schema?.body !== undefined || body === undefined || body === null) return;
  if (!isObject(body)) throw new Problem("invalid_json", "The body must be a JSON object.");
  const problem = unknownName(body, allowed, "field");
  if (problem !== undefined) throw problem;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function valueOf(from: unknown, name: string): unknown {
  return isObject(from) && Object.hasOwn(from, name) ? from[name] : undefined;
}
