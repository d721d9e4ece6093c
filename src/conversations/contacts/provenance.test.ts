import type { Kysely } from "kysely";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { verifiedFields } from "#domain/customer/provenance.ts";
import { provenance } from "#database/migrations/0028-provenance.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";

eachDatabase("values of contacts from before provenance was stored", (open) => {
  it("are verified if an identity has them, and claims otherwise", async () => {
    const { store, close } = await openTestStore(open);
    try {
      // MySQL ends a transaction at each change of a table.
      const change = async (work: (db: Kysely<never>) => Promise<unknown>) =>
        store.dialect === "mysql" ? work(store.read as never) : store.write((tx) => work(tx as never));
      await change((db) => sql`alter table contacts drop column provenance`.execute(db));
      const contact = (id: string, more: object) => ({
        id,
        workspace_id: "wt",
        name: "Ada",
        email: null,
        phone: null,
        user_id: null,
        attributes: "{}",
        merged_into: null,
        root_id: id,
        created_at: 1,
        updated_at: 1,
        ...more,
      });
      const identity = (kind: string, value: string, contact_id: string) => ({
        workspace_id: "wt",
        kind,
        value,
        contact_id,
        verified: 1 as const,
        created_at: 1,
      });
      const proven = `{"plan":"pro","proven":["email"]}`;
      await store.write(async (tx) => {
        const contacts = [
          contact("mail", { email: "a@x.example", attributes: proven }),
          contact("both", { email: "b@x.example", phone: "+491", attributes: `{"proven":["email","phone"]}` }),
          contact("phone", { email: "c@x.example", phone: "+492", attributes: `{"proven":["phone"]}` }),
          // A browser has replaced the verified address.
          contact("replaced", { email: "victim@x.example", user_id: "u", attributes: proven }),
          contact("browser", { email: "d@x.example", user_id: "v", attributes: `{"plan":"pro"}` }),
          contact("merged", { email: "e@x.example", attributes: proven }),
          contact("from", { root_id: "merged", merged_into: "merged" }),
        ];
        await tx.insertInto("contacts").values(contacts).execute();
        const identities = [
          identity("email", "a@x.example", "mail"),
          identity("email", "b@x.example", "both"),
          identity("phone", "+491", "both"),
          identity("phone", "+492", "phone"),
          identity("email", "own@x.example", "replaced"),
          identity("email", "e@x.example", "from"),
        ];
        await tx.insertInto("identities").values(identities).execute();
        const merge = { id: "m", workspace_id: "wt", from_contact_id: "from", into_contact_id: "merged" };
        await tx
          .insertInto("contact_merges")
          .values({
            ...merge,
            reason: "email",
            filled: "{}",
            actor_type: "system",
            actor_id: null,
            created_at: 1,
            undone_at: null,
          })
          .execute();
      });
      // An interrupted migration is repeated.
      await change((db) => provenance.up(db));
      if (store.dialect === "mysql") await change((db) => provenance.up(db));
      const rows = await store.read.selectFrom("contacts").selectAll().execute();
      expect(Object.fromEntries(rows.map((row) => [row.id, verifiedFields(row)]))).toEqual({
        mail: ["email"],
        both: ["email", "phone"],
        phone: ["phone"],
        replaced: [],
        browser: [],
        merged: ["email"],
        from: [],
      });
      const attributes = rows.map((row) => [row.id, JSON.parse(row.attributes) as unknown]);
      expect(Object.fromEntries(attributes)).toMatchObject({
        mail: { plan: "pro" },
        both: {},
        browser: { plan: "pro" },
      });
      expect(JSON.stringify(attributes)).not.toContain("proven");
    } finally {
      await close();
    }
  });
});
