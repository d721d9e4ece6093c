import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { contactKeys } from "#domain/customer/contact-keys.ts";
import { apply } from "./statements.ts";

const pageSize = 500;

/** Adds keys by which contacts are found: by address, phone number, name and time of the last change. */
export const contactKeyColumns: Migration = {
  async up(db) {
    await apply(
      db,
      `alter table contacts add column email_key $key;
      alter table contacts add column phone_key $key;
      alter table contacts add column name_key $key`,
    );
    await fillKeys(db);
    await apply(
      db,
      `create index contacts_email on contacts (workspace_id, email_key, root_id);
      create index contacts_phone on contacts (workspace_id, phone_key, root_id);
      create index contacts_name on contacts (workspace_id, name_key, id);
      create index contacts_updated on contacts (workspace_id, updated_at, id)`,
    );
  },
};

interface Contact {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
}

/** The keys are computed here, because the databases fold case and accents differently. */
async function fillKeys(db: Kysely<unknown>): Promise<void> {
  for (let after = ""; ;) {
    const { rows } = await sql<Contact>`
      select id, name, email, phone from contacts where id > ${after} order by id limit ${pageSize}`.execute(db);
    const named = rows.filter(({ name, email, phone }) => name !== null || email !== null || phone !== null);
    if (named.length > 0) await storeKeys(db, named);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
    after = last.id;
  }
}

/** One statement a page: a statement a row takes minutes on a database over the network. */
async function storeKeys(db: Kysely<unknown>, rows: readonly Contact[]): Promise<void> {
  const keys = rows.map((row) => ({ id: row.id, ...contactKeys(row) }));
  const valueOf = (column: "email_key" | "phone_key" | "name_key") =>
    sql.join(
      keys.map((row) => sql`when ${row.id} then ${row[column]}`),
      sql` `,
    );
  await sql`
    update contacts set
      email_key = case id ${valueOf("email_key")} end,
      phone_key = case id ${valueOf("phone_key")} end,
      name_key = case id ${valueOf("name_key")} end
    where id in (${sql.join(keys.map(({ id }) => id))})`.execute(db);
}
