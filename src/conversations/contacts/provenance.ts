import type { Reader } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ContactField } from "#domain/customer/provenance.ts";
import { contactFields, verifiedFields } from "#domain/customer/provenance.ts";

/** Returns the verified fields of the customer by conversation. */
export async function verifiedByConversation(
  db: Reader,
  rows: readonly ConversationRow[],
): Promise<ReadonlyMap<string, readonly ContactField[]>> {
  const ids = [...new Set(rows.map((row) => row.contact_id))];
  const contacts = await db
    .selectFrom("contacts")
    .select(["id", ...contactFields, "provenance"])
    .where("id", "in", ids)
    .execute();
  return new Map(
    rows.map((row) => {
      const shown = { name: row.customer_name, email: row.customer_email, phone: row.customer_phone };
      const contact = contacts.find(({ id }) => id === row.contact_id);
      const fields = contact === undefined ? [] : verifiedFields(contact);
      return [row.id, fields.filter((field) => contact?.[field] === shown[field])];
    }),
  );
}
