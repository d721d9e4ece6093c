import { Type } from "typebox";
import { recordChange } from "#admin/audit.ts";
import { findContacts, requestErasure } from "#admin/customers.ts";
import { exportLines } from "#admin/export/export.ts";
import type { ExportLine } from "#admin/export/rows.ts";
import { queuedErasures } from "#conversations/retention/queued-erasure.ts";
import type { CustomerKey } from "#database/queries/customers.ts";
import { Problem } from "#domain/problem.ts";
import { administratorOf, editOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { fileResponse, sendDownload } from "./download.ts";

const tags = ["Administration"];
const text = schemas.nullable(Type.String());

const listSchema = {
  tags,
  operationId: "findCustomer",
  summary: "Find a customer's contacts",
  description: "Lists up to 50 contacts, those that were merged with a found one included.",
  querystring: Type.Object({
    q: Type.String({
      pattern: "\\S",
      maxLength: 320,
      allowed: "a text of 1 to 320 characters",
      description: "A whole e-mail address, phone number or proven user id, or a contact's id",
    }),
  }),
  response: adminResponses(
    {
      200: Type.Object(
        {
          contacts: Type.Array(
            Type.Object(
              {
                id: Type.String(),
                name: text,
                email: text,
                phone: text,
                user_id: text,
                conversation_count: Type.Integer(),
              },
              { title: "FoundContact" },
            ),
          ),
        },
        { title: "FoundContacts" },
      ),
    },
    [],
  ),
};

const customerNames = {
  email: Type.Optional(schemas.emailAddress),
  contact_id: Type.Optional(
    Type.String({ maxLength: 64, description: "A contact of a customer without an address, instead of `email`" }),
  ),
};

/** Throws Problem missing_field. */
function keyOf(given: { readonly email?: string; readonly contact_id?: string }): CustomerKey {
  if (given.email !== undefined) return { email: given.email };
  if (given.contact_id !== undefined) return { contactId: given.contact_id };
  throw new Problem("missing_field", "email or contact_id is required");
}

const exportSchema = {
  tags,
  operationId: "exportCustomer",
  summary: "Download all data of a customer as JSON Lines",
  description:
    "Has the lines of the command `export`. The last line has the type `end`; without it, the file is incomplete.",
  querystring: Type.Object(customerNames),
  response: adminResponses({ 200: fileResponse("CustomerFile", "application/x-ndjson") }, ["missing_field"]),
};

const eraseSchema = {
  tags,
  operationId: "eraseCustomer",
  summary: "Erase a customer",
  description:
    "Queues what the command `forget` does: all contacts, conversations and traces of the customer. It cannot be undone.",
  body: Type.Object(customerNames, { title: "CustomerErasure" }),
  response: adminResponses(
    { 202: Type.Object({ state: Type.Literal("queued") }, { title: "CustomerErasureQueued" }) },
    ["missing_field"],
  ),
};

const erasuresSchema = {
  tags,
  operationId: "listErasures",
  summary: "List erasures of customers that have not ended",
  description: "An erasure that has ended is listed in the audit log only, without the address.",
  response: adminResponses(
    {
      200: Type.Object(
        {
          erasures: Type.Array(
            Type.Object(
              {
                id: Type.String(),
                email: text,
                contact_id: text,
                state: Type.Enum(["queued", "running", "retrying"]),
                conversations_left: Type.Integer(),
                created_at: schemas.time,
              },
              { title: "Erasure" },
            ),
          ),
        },
        { title: "ErasureList" },
      ),
    },
    [],
  ),
};

/** All that is held of one customer: found, exported, erased. */
export function customerRoutes(app: App, { store, clock }: Resources): void {
  app.get("/customers", { schema: listSchema }, async (request) => ({
    contacts: await findContacts(store.read, administratorOf(request).workspaceId, request.query.q),
  }));

  app.get("/customers/export", { config: { ownPagesOnly: true }, schema: exportSchema }, async (request, reply) => {
    const { workspaceId, by } = editOf(request);
    const key = keyOf(request.query);
    const subject = "email" in key ? key.email : key.contactId;
    const now = clock.now();
    // An erasure takes the address out of the entry.
    await store.write((tx) => recordChange(tx, { workspaceId, by, action: "customer_exported", subject, now }));
    const name = `customer-${new Date(now).toISOString().slice(0, 10)}.jsonl`;
    const lines = exportLines(store, clock, workspaceId, key);
    return sendDownload(reply, { name, mediaType: "application/x-ndjson" }, jsonLines(lines));
  });

  app.post("/customers/erase", { schema: eraseSchema }, async (request, reply) => {
    await requestErasure(store, clock, { ...editOf(request), customer: keyOf(request.body) });
    return reply.code(202).send({ state: "queued" as const });
  });

  app.get("/customers/erasures", { schema: erasuresSchema }, async (request) => {
    const erasures = await queuedErasures(store.read, administratorOf(request).workspaceId, clock.now());
    return {
      erasures: erasures.map(({ contactId, conversationsLeft, createdAt, ...erasure }) => ({
        ...erasure,
        contact_id: contactId,
        conversations_left: conversationsLeft,
        created_at: new Date(createdAt).toISOString(),
      })),
    };
  });
}

async function* jsonLines(lines: AsyncIterable<ExportLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}
