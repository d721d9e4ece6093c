import type { Static } from "typebox";
import { Type } from "typebox";
import { requireInstant } from "#domain/instant.ts";
import { Problem } from "#domain/problem.ts";
import { changeKey, createKey, listKeys, requireKey, revokeKey } from "#admin/api-keys.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { administratorOf } from "./administrator.ts";
import { adminResponses, givenName } from "./schemas.ts";

const limit = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });
const fields = {
  id: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: "The key's last four characters" }),
  limit_minute: schemas.nullable(Type.Integer({ description: "Null: the plan's" })),
  limit_day: schemas.nullable(Type.Integer({ description: "Null: the plan's" })),
  created_at: schemas.time,
  expires_at: schemas.nullable(schemas.time),
  revoked_at: schemas.nullable(schemas.time),
  last_used_at: schemas.nullable(schemas.time),
};
const apiKey = Type.Object(fields, { title: "ApiKey" });
const newApiKey = Type.Object(
  { id: Type.String(), name: Type.String(), key: Type.String({ description: "Shown once" }) },
  { title: "NewApiKey" },
);
const params = Type.Object({ id: Type.String() });
const tags = ["Administration"];
const newKeyCodes = [...schemas.withBody, "feature_not_in_plan"] as const;

const listSchema = {
  tags,
  operationId: "listKeys",
  summary: "List API keys, oldest first, with the revoked ones",
  response: adminResponses({ 200: Type.Object({ keys: Type.Array(apiKey) }, { title: "ApiKeyList" }) }, []),
};

const createSchema = {
  tags,
  operationId: "createKey",
  summary: "Make an API key",
  body: Type.Object(
    {
      name: givenName,
      limit_minute: Type.Optional(limit),
      limit_day: Type.Optional(limit),
      expires_at: Type.Optional(Type.String({ description: "An ISO 8601 instant; on Enterprise only" })),
    },
    { title: "ApiKeyRequest" },
  ),
  response: adminResponses({ 201: newApiKey }, newKeyCodes),
};

const changeSchema = {
  tags,
  operationId: "changeKey",
  summary: "Change the name and the limits of an API key",
  params,
  body: Type.Object(
    {
      name: Type.Optional(givenName),
      limit_minute: Type.Optional(Type.Union([limit, Type.Literal("plan")], { allowed: "a whole number, or plan" })),
      limit_day: Type.Optional(Type.Union([limit, Type.Literal("plan")], { allowed: "a whole number, or plan" })),
    },
    { title: "ApiKeyChange" },
  ),
  response: adminResponses({ 200: apiKey }, newKeyCodes),
};

const rotateSchema = {
  tags,
  operationId: "rotateKey",
  summary: "Make another key with the same name and limits; the old one works until it is revoked",
  params,
  response: adminResponses({ 201: newApiKey }, newKeyCodes),
};

const revokeSchema = {
  tags,
  operationId: "revokeKey",
  summary: "Revoke an API key; later requests with it are refused",
  params,
  response: adminResponses({ 204: schemas.noContent }, []),
};

/** The API keys of the workspace. */
export function keyRoutes(app: App, { store, clock }: Resources): void {
  app.get("/keys", { schema: listSchema }, async (request) => ({
    keys: (await listKeys(store, administratorOf(request).workspaceId)).map(item),
  }));

  app.post("/keys", { schema: createSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const { name, limit_minute: limitMinute, limit_day: limitDay, expires_at: end } = request.body;
    const expiresAt = end === undefined ? undefined : futureInstant(end, clock.now());
    const { id, key } = await createKey(store, clock, {
      workspaceId,
      name,
      limitMinute,
      limitDay,
      expiresAt,
      by: actor,
    });
    return reply.code(201).send({ id, name: name.trim(), key });
  });

  app.patch("/keys/:id", { schema: changeSchema }, async (request) => {
    const { workspaceId, actor } = administratorOf(request);
    const known = await ownKey(store, request.params.id, workspaceId);
    const { name, limit_minute: limitMinute, limit_day: limitDay } = request.body;
    await changeKey(store, clock, known.id, { name, limitMinute, limitDay }, actor);
    const [row] = (await listKeys(store, workspaceId)).filter(({ id }) => id === known.id);
    if (row === undefined) throw new Problem("not_found", `there is no key ${known.id}`);
    return item(row);
  });

  app.post("/keys/:id/rotate", { schema: rotateSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const known = await ownKey(store, request.params.id, workspaceId);
    if (known.revoked_at !== null) throw new Problem("invalid_parameter", "id: this key is revoked.");
    if (known.expires_at !== null && known.expires_at <= clock.now()) {
      throw new Problem("invalid_parameter", "id: this key has expired. Make a new one.");
    }
    const { id, key } = await createKey(store, clock, {
      workspaceId,
      name: known.name,
      limitMinute: known.limit_minute ?? undefined,
      limitDay: known.limit_day ?? undefined,
      expiresAt: known.expires_at ?? undefined,
      by: actor,
    });
    return reply.code(201).send({ id, name: known.name, key });
  });

  app.delete("/keys/:id", { schema: revokeSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const { id } = await ownKey(store, request.params.id, workspaceId);
    await revokeKey(store, clock, id, actor);
    return reply.code(204).send();
  });
}

/** Throws Problem not_found for OAuth clients, which have routes of their own. */
async function ownKey(store: Resources["store"], id: string, workspaceId: string) {
  const key = await requireKey(store, id, workspaceId);
  if (key.client_secret !== null) throw new Problem("not_found", `there is no key ${id}`);
  return key;
}

function futureInstant(given: string, now: number): number {
  const at = requireInstant("expires_at", given);
  if (at <= now) throw new Problem("invalid_parameter", "expires_at must be in the future.");
  return at;
}

type Key = Awaited<ReturnType<typeof listKeys>>[number];

const item = ({ hint, ...key }: Key): Static<typeof apiKey> => ({
  ...key,
  hint: hint.slice(-4),
  created_at: key.created_at ?? "",
});
