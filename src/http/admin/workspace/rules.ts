import { Type } from "typebox";
import {
  addRule,
  changeRule,
  listFirings,
  listRules,
  orderRules,
  removeRule,
  tryRules,
} from "#admin/settings/rules.ts";
import { ruleSchema } from "#config/sections/automation.ts";
import { editOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { createCursors } from "#http/v1/cursor.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const rule = Type.Object(ruleSchema.properties, { additionalProperties: false, title: "Rule" });
const ruleRequest = Type.Object(ruleSchema.properties, { additionalProperties: false, title: "RuleRequest" });
const params = Type.Object({ name: Type.String({ description: "The name" }) });
const ownCodes = [...schemas.withBody, "managed_by_file", "already_exists"] as const;

const listSchema = {
  tags: ["Administration"],
  operationId: "listRules",
  summary: "List the automation rules in their order",
  response: adminResponses(
    { 200: Type.Object({ rules: Type.Array(rule), managed_by_file: Type.Boolean() }, { title: "RuleList" }) },
    [],
  ),
};

const addSchema = {
  tags: ["Administration"],
  operationId: "createRule",
  summary: "Create a rule behind the others",
  body: ruleRequest,
  response: adminResponses({ 201: rule }, ownCodes),
};

const changeSchema = {
  tags: ["Administration"],
  operationId: "updateRule",
  summary: "Change the given parts of a rule",
  params,
  body: Type.Partial(ruleRequest, { title: "RuleUpdate", additionalProperties: false }),
  response: adminResponses({ 200: rule }, ownCodes),
};

const removeSchema = {
  tags: ["Administration"],
  operationId: "deleteRule",
  summary: "Remove a rule",
  params,
  response: adminResponses({ 204: schemas.noContent }, ["managed_by_file"]),
};

const orderSchema = {
  tags: ["Administration"],
  operationId: "orderRules",
  summary: "Put the rules into another order",
  body: Type.Object(
    { names: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200, description: "Each rule once" }) },
    { title: "RuleOrder" },
  ),
  response: adminResponses({ 204: schemas.noContent }, [...schemas.withBody, "managed_by_file"]),
};

const dryRunSchema = {
  tags: ["Administration"],
  operationId: "tryRules",
  summary: "Find what rules would have done on recent conversations; changes nothing",
  body: Type.Object(
    {
      rules: Type.Array(ruleRequest, { minItems: 1, maxItems: 20, description: "They need not be saved" }),
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 7 })),
      conversations: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 200 })),
    },
    { title: "RuleTrial" },
  ),
  response: adminResponses(
    {
      200: Type.Object(
        {
          conversations: Type.Integer({ description: "Conversations that were looked at, the newest first" }),
          fired: Type.Array(
            Type.Object({
              conversation_id: Type.String(),
              at: schemas.time,
              rule: Type.String(),
              because: Type.Array(Type.String()),
              would: Type.Array(Type.String()),
            }),
          ),
          has_more: Type.Boolean({ description: "Further firings are left out" }),
          not_fired: Type.Array(
            Type.Object({ conversation_id: Type.String(), rule: Type.String(), because: Type.String() }),
            { description: "Up to 500 conversations on which a rule would not have fired, and what was missing" },
          ),
          is_complete: Type.Boolean({ description: "False: older conversations were left out, to answer in time" }),
        },
        { title: "RuleTrialResult" },
      ),
    },
    schemas.withBody,
  ),
};

const firingsSchema = {
  tags: ["Administration"],
  operationId: "listRuleFirings",
  summary: "List when a rule fired in the last 30 days, and why",
  params,
  querystring: Type.Object({ limit: schemas.listLimit(50), cursor: schemas.listCursor }),
  response: adminResponses(
    {
      200: Type.Object(
        {
          firings: Type.Array(
            Type.Object({
              conversation_id: schemas.nullable(Type.String()),
              message_id: schemas.nullable(Type.String({ description: "The message that set it off" })),
              at: schemas.time,
              why: Type.String(),
            }),
          ),
          pagination: Type.Object({ next_cursor: schemas.nullable(Type.String()) }),
        },
        { title: "RuleFirings" },
      ),
    },
    ["invalid_cursor"],
  ),
};

/** Automation rules, in the form of the configuration file. */
export function ruleRoutes(app: App, dependencies: Resources): void {
  const cursors = createCursors(dependencies.cursorKey, "rule firings", Type.Object({ before: Type.String() }));
  app.get("/rules", { config: { least: "viewer" }, schema: listSchema }, (request) =>
    listRules(dependencies.store.read, editOf(request).workspaceId),
  );
  app.post("/rules", { schema: addSchema }, async (request, reply) =>
    reply.code(201).send(await addRule(dependencies, editOf(request), request.body)),
  );
  app.post("/rules/order", { schema: orderSchema }, async (request, reply) => {
    await orderRules(dependencies, editOf(request), request.body.names);
    return reply.code(204).send();
  });
  app.post("/rules/dry-run", { schema: dryRunSchema }, (request) => {
    const { rules, days = 7, conversations = 200 } = request.body;
    return tryRules(dependencies, editOf(request).workspaceId, { rules, days, conversations });
  });
  app.patch("/rules/:name", { schema: changeSchema }, (request) =>
    changeRule(dependencies, editOf(request), request.params.name, request.body),
  );
  app.delete("/rules/:name", { schema: removeSchema }, async (request, reply) => {
    await removeRule(dependencies, editOf(request), request.params.name);
    return reply.code(204).send();
  });
  app.get("/rules/:name/firings", { config: { least: "viewer" }, schema: firingsSchema }, async (request) => {
    const { limit = 50, cursor } = request.query;
    const { workspaceId } = editOf(request);
    const { name } = request.params;
    const list = { workspaceId, name };
    const before = cursor === undefined ? undefined : cursors.read(list, cursor).before;
    const { firings, next } = await listFirings(dependencies, workspaceId, name, { before, limit });
    return { firings, pagination: { next_cursor: next === null ? null : cursors.issue(list, { before: next }) } };
  });
}
