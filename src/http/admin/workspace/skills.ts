import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { addSkill, changeSkill, listSkills, removeSkill, skillToTry } from "#admin/settings/skills.ts";
import { requestSchema, skillSchema } from "#config/sections/skills.ts";
import { editOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { createLookUps } from "#skills/look-up.ts";
import { readValues } from "#skills/skill-arguments.ts";
import { trySkill } from "#skills/try-skill.ts";

const headers = Type.Record(
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" }),
  schemas.nullable(Type.String({ maxLength: 4_000 })),
  {
    maxProperties: 30,
    description: "Stored encrypted and never shown. Null: keeps the stored value",
  },
);
const fields = {
  ...skillSchema.properties,
  request: Type.Optional(
    Type.Object({ ...requestSchema.properties, headers: Type.Optional(headers) }, { additionalProperties: false }),
  ),
};
const skill = Type.Object(fields, { additionalProperties: false, title: "Skill" });
const skillRequest = Type.Object(fields, { additionalProperties: false, title: "SkillRequest" });
const params = Type.Object({ name: Type.String({ description: "The name" }) });
const ownCodes = [...schemas.withBody, "managed_by_file", "already_exists"] as const;

const listSchema = {
  tags: ["Administration"],
  operationId: "listSkills",
  summary: "List the skills, without the values of headers",
  response: adminResponses(
    { 200: Type.Object({ skills: Type.Array(skill), managed_by_file: Type.Boolean() }, { title: "SkillList" }) },
    [],
  ),
};

const addSchema = {
  tags: ["Administration"],
  operationId: "createSkill",
  summary: "Create a skill",
  body: skillRequest,
  response: adminResponses({ 201: skill }, ownCodes),
};

const changeSchema = {
  tags: ["Administration"],
  operationId: "replaceSkill",
  summary: "Replace a skill",
  params,
  body: skillRequest,
  response: adminResponses({ 200: skill }, ownCodes),
};

const removeSchema = {
  tags: ["Administration"],
  operationId: "deleteSkill",
  summary: "Remove a skill",
  params,
  response: adminResponses({ 204: schemas.noContent }, ["managed_by_file"]),
};

const testSchema = {
  tags: ["Administration"],
  operationId: "testSkill",
  summary: "Call a skill's server with example values",
  body: Type.Object(
    {
      skill: skillRequest,
      values: Type.Optional(
        Type.Record(
          Type.String({ maxLength: 40 }),
          Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()]),
          {
            maxProperties: 20,
            description: "Arguments by name",
          },
        ),
      ),
      user: Type.Optional(
        Type.Object(
          {
            id: Type.String({ maxLength: 190 }),
            email: Type.Optional(Type.String({ maxLength: 190 })),
            plan: Type.Optional(Type.String({ maxLength: 190 })),
          },
          { description: "The verified customer" },
        ),
      ),
    },
    { title: "SkillTrial" },
  ),
  response: adminResponses(
    {
      200: Type.Object(
        {
          outcome: Type.Enum(["found", "not_found", "failed"]),
          reason: schemas.nullable(Type.String({ description: "Why it failed" })),
          answer: schemas.nullable(Type.String({ description: "The reply to the customer" })),
          request: schemas.nullable(
            Type.Object(
              {
                method: Type.String(),
                url: Type.String(),
                headers: Type.Record(Type.String(), Type.String(), { description: "Without their values" }),
                body: schemas.nullable(Type.String()),
              },
              { description: "What was sent; null: nothing" },
            ),
          ),
          body: schemas.nullable(Type.String({ description: "The server's JSON, up to 10,000 characters" })),
        },
        { title: "SkillTrialResult" },
      ),
    },
    [...schemas.withBody, "managed_by_file"],
  ),
};

/** The bot's abilities besides searching the documents, in the form of the configuration file. */
export function skillRoutes(app: App, dependencies: Resources): void {
  const { store, clock, secrets, guardedFetch, ending } = dependencies;
  const { seal, open } = secrets;
  const lookUps = createLookUps({ store, clock, guardedFetch, seal, open });

  app.get("/skills", { schema: listSchema }, (request) => listSkills(dependencies, editOf(request).workspaceId));
  app.post("/skills", { schema: addSchema }, async (request, reply) =>
    reply.code(201).send(await addSkill(dependencies, editOf(request), request.body)),
  );
  app.put("/skills/:name", { schema: changeSchema }, (request) =>
    changeSkill(dependencies, editOf(request), request.params.name, request.body),
  );
  app.delete("/skills/:name", { schema: removeSchema }, async (request, reply) => {
    await removeSkill(dependencies, editOf(request), request.params.name);
    return reply.code(204).send();
  });

  app.post("/skills/test", { schema: testSchema }, async (request) => {
    const { skill: given, values = {}, user } = request.body;
    const tried = await skillToTry(dependencies, editOf(request).workspaceId, given);
    if (tried.kind !== "lookup") throw new Problem("invalid_parameter", "Only a skill with a request can be tested.");
    if (!tried.safe) {
      throw new Problem("invalid_parameter", "This skill changes something, so it is called in conversations only.");
    }
    const read = readValues(tried, values);
    if ("missing" in read) {
      throw new Problem("invalid_parameter", `values.${read.missing.name}: this value is missing, or does not fit.`);
    }
    const asker = user === undefined ? null : { id: user.id, email: user.email ?? null, plan: user.plan ?? null };
    return trySkill({ lookUps, open }, tried, read.values, asker, ending);
  });
}
