import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Adds the source of a contact's values. Addresses proven by a platform have an identity of this contact or of one
 * merged into it; every other existing value may have come from a browser.
 */
export const provenance: Migration = { up };

const isProven = (field: string): string => `(
  exists (
    select 1 from identities where identities.workspace_id = contacts.workspace_id and identities.kind = '${field}'
      and identities.value = contacts.${field} and identities.verified = 1 and identities.contact_id = contacts.id
  ) or exists (
    select 1 from identities join contact_merges on contact_merges.from_contact_id = identities.contact_id
      where identities.workspace_id = contacts.workspace_id and identities.kind = '${field}'
        and identities.value = contacts.${field} and identities.verified = 1
        and contact_merges.into_contact_id = contacts.id and contact_merges.undone_at is null
  ))`;

async function up(db: Kysely<unknown>): Promise<void> {
  await apply(
    db,
    `alter table contacts add column provenance $text;
    update contacts set provenance = '{"email":"platform"}' where provenance is null and ${isProven("email")};
    update contacts set provenance = case when provenance is null
        then '{"phone":"platform"}' else '{"email":"platform","phone":"platform"}' end
      where (provenance is null or provenance = '{"email":"platform"}') and ${isProven("phone")};
    update contacts set attributes = json_remove(attributes, '$.proven') where attributes like '%"proven"%'`,
  );
}
