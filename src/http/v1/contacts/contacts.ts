import type { Static } from "typebox";
import { Type } from "typebox";
import { parseInstant } from "#domain/instant.ts";
import { Problem } from "#domain/problem.ts";
import type { ContactFilter, CustomerDetails } from "#conversations/contacts/contact-list.ts";
import { contactPage, customerDetails } from "#conversations/contacts/contact-list.ts";
import { contactItem, timestamp } from "#conversations/transaction/representation.ts";
import type { App } from "#http/app-type.ts";
import { createCursors, listPosition } from "#http/v1/cursor.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const contact = Type.Object(
  {
    ...schemas.contactFields,
    identities: Type.Array(
      Type.Object({
        kind: Type.String({
          description: "A channel, for the platform's own id of the customer, or `user_id`, `email`, `phone`",
        }),
        value: Type.String(),
        verified: Type.Boolean({ description: "Whether the company or the platform has proven it" }),
        created_at: schemas.time,
      }),
      { description: "At most 500, oldest first" },
    ),
    merged_contact_ids: Type.Array(Type.String(), {
      description: "Contacts of the same customer, merged into this one",
    }),
    conversation_count: Type.Integer(),
  },
  { title: "Contact" },
);

const exact = (description: string) =>
  Type.Optional(Type.String({ pattern: "\\S", maxLength: 320, allowed: "a text of 1 to 320 characters", description }));

const listQuery = Type.Object({
  workspace_id: Type.Optional(Type.String()),
  email: exact("Only customers with this address, verified or not, in upper or lower case"),
  phone: exact("Only customers with this number, verified or not, with or without spaces"),
  user_id: exact("Only the customer with this id of yours, once proven"),
  updated_since: Type.Optional(
    Type.String({
      description: "ISO 8601; only customers that changed after it, beginning with those that changed longest ago",
    }),
  ),
  limit: schemas.listLimit(20),
  cursor: schemas.listCursor,
});

const listSchema = {
  tags: ["Contacts"],
  operationId: "listContacts",
  summary: "List customers, newest first",
  description: "With several filters, a page may have fewer contacts than `limit` while `has_more` is true.",
  querystring: listQuery,
  response: schemas.responses(
    {
      200: Type.Object(
        { contacts: Type.Array(schemas.contactItem), pagination: schemas.pagination },
        { title: "ContactList" },
      ),
    },
    [...schemas.withWorkspaceId, "invalid_cursor"],
  ),
};

const readSchema = {
  tags: ["Contacts"],
  operationId: "getContact",
  summary: "Read one customer",
  description: "The id of a merged contact leads to the contact that represents the customer now.",
  params: Type.Object({ contact_id: Type.String() }),
  querystring: Type.Object({ workspace_id: Type.Optional(Type.String()) }),
  response: schemas.responses({ 200: Type.Object({ contact }, { title: "ContactResult" }) }, [
    ...schemas.withWorkspaceId,
  ]),
};

/** `GET /v1/contacts` and `GET /v1/contacts/{contact_id}`. */
export function contactRoutes(app: App, { store, cursorKey }: Resources): void {
  const cursors = createCursors(cursorKey, "contacts", listPosition);

  app.get("/contacts", { config: { workspaceId: "optional" }, schema: listSchema }, async (request) => {
    const { cursor, limit = 20 } = request.query;
    const filter = filterOf(callerOf(request).workspaceId, request.query);
    const position = cursor === undefined ? undefined : cursors.read(filter, cursor);
    if (position !== undefined && "end" in position) {
      return { contacts: [], pagination: { next_cursor: cursor, has_more: false } };
    }
    const { rows, hasMore, last } = await contactPage(store.read, filter, position, limit);
    const next = last ?? position ?? { end: true as const };
    return {
      contacts: rows.map(contactItem),
      pagination: { next_cursor: cursors.issue(filter, next), has_more: hasMore },
    };
  });

  app.get("/contacts/:contact_id", { config: { workspaceId: "optional" }, schema: readSchema }, async (request) => {
    const found = await customerDetails(store.read, callerOf(request).workspaceId, request.params.contact_id);
    if (found === undefined) throw new Problem("not_found", "There is no contact with this id.");
    return { contact: contactOf(found) };
  });
}

function filterOf(workspaceId: string, query: Static<typeof listQuery>): ContactFilter {
  const { email, phone, user_id: userId, updated_since: since } = query;
  const updatedSince = since === undefined ? undefined : parseInstant(since);
  if (since !== undefined && updatedSince === undefined) {
    throw new Problem(
      "invalid_parameter",
      "updated_since must be an ISO 8601 instant or date, such as 2026-01-31T09:30:00Z.",
    );
  }
  return { workspaceId, email, phone, userId, updatedSince };
}

const contactOf = ({ root, merged, identities, conversations }: CustomerDetails) => ({
  ...contactItem(root),
  identities: identities.map(({ createdAt, ...identity }) => ({ ...identity, created_at: timestamp(createdAt) })),
  merged_contact_ids: merged.map(({ id }) => id),
  conversation_count: conversations,
});
