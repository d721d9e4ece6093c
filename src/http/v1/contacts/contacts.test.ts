import type { Kysely } from "kysely";
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import { systemActor } from "#domain/conversation/message.ts";
import { contactKeys } from "#domain/customer/contact-keys.ts";
import { mergeContacts, unmergeContact } from "#conversations/contacts/merge.ts";
import { contactKeyColumns } from "#database/migrations/0044-contact-keys.ts";
import type { Client } from "#test/support/http/contract.ts";
import { eachContract } from "#test/support/http/contract.ts";

interface Contact {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly user_id: string | null;
  readonly verified: readonly string[];
  readonly attributes: object;
  readonly updated_at: string;
  readonly identities: readonly { readonly kind: string; readonly value: string; readonly verified: boolean }[];
  readonly merged_contact_ids: readonly string[];
  readonly conversation_count: number;
}
interface Page {
  readonly contacts: readonly Contact[];
  readonly pagination: { readonly next_cursor: string; readonly has_more: boolean };
}

eachContract("the contacts of the API", (at) => {
  let shop: Client;
  /** Contacts by the name of the customer, in the order of their first question. */
  const ids = new Map<string, string>();

  async function ask(user: object): Promise<string> {
    return (await shop.single(await shop.begin("Hello", { user }))).contact_id;
  }
  async function read(query = "", client = shop): Promise<Page> {
    const { status, body } = await client.get(`/v1/contacts?${query}`);
    expect([status, body.detail]).toEqual([200, undefined]);
    return body as unknown as Page;
  }
  const names = ({ contacts }: Page) => contacts.map(({ name }) => name);
  const one = async (id: string) =>
    ((await shop.get(`/v1/contacts/${id}`)).body as unknown as { readonly contact: Contact }).contact;
  /** Stores what the customer of this name has typed into a form. */
  const claim = async (name: string, typed: { readonly email: string; readonly phone: string | null }) => {
    const contact = { name, ...typed };
    await at.app.store.write((tx) =>
      tx
        .updateTable("contacts")
        .set({ ...contact, ...contactKeys(contact) })
        .where("id", "=", ids.get(name) ?? "")
        .execute(),
    );
  };
  const proven = (userId: string) => ({ user_id: userId, hash: shop.mac(userId) });

  beforeAll(async () => {
    shop = await at.fresh();
    const people = [
      { name: "Ada", email: "ada@shop.example", ...proven("u-ada"), attributes: { plan: "pro" } },
      { name: "Bob" },
      { name: "Cleo" },
      { name: "Dora", email: "dora@shop.example", ...proven("u-dora ") },
    ];
    for (const person of people) ids.set(person.name, await ask(person));
    await claim("Bob", { email: "Shared@Shop.Example", phone: "0170 / 123-456" });
    await claim("Cleo", { email: "shared@shop.example", phone: null });
  });

  it("are listed newest first, in pages without gaps", async () => {
    const found: Contact[] = [];
    let page = await read("limit=3");
    found.push(...page.contacts);
    expect(page.pagination.has_more).toBe(true);
    page = await read(`limit=3&cursor=${page.pagination.next_cursor}`);
    found.push(...page.contacts);
    expect(page.pagination.has_more).toBe(false);
    expect(found.map(({ name }) => name)).toEqual(["Dora", "Cleo", "Bob", "Ada"]);
    expect(names(await read(`limit=3&cursor=${page.pagination.next_cursor}`))).toEqual([]);
    const empty = await at.fresh();
    const none = await read("", empty);
    expect(none.pagination.has_more).toBe(false);
    expect(names(await read(`cursor=${none.pagination.next_cursor}`, empty))).toEqual([]);
  });

  it("are found by address and by proven user id, whole and exactly", async () => {
    expect(names(await read("email=SHARED@shop.example"))).toEqual(["Cleo", "Bob"]);
    const first = await read("email=shared@shop.example&limit=1");
    expect([names(first), first.pagination.has_more]).toEqual([["Cleo"], true]);
    const second = await read(`email=shared@shop.example&limit=1&cursor=${first.pagination.next_cursor}`);
    expect([names(second), second.pagination.has_more]).toEqual([["Bob"], false]);
    expect(names(await read("email=shop.example"))).toEqual([]);
    expect(names(await read("user_id=u-ada"))).toEqual(["Ada"]);
    expect(names(await read("user_id=u-ada%20"))).toEqual([]);
    expect(names(await read("user_id=u-dora%20"))).toEqual(["Dora"]);
    expect(names(await read("user_id=u-ada&email=ada@shop.example"))).toEqual(["Ada"]);
    expect(names(await read("user_id=u-ada&email=shared@shop.example"))).toEqual([]);
    expect(names(await read("user_id=u-ada", at.client))).toEqual([]);
  });

  it("are found by number, however it is written", async () => {
    expect(names(await read(`phone=${encodeURIComponent("(0170) 12.34 56")}`))).toEqual(["Bob"]);
    expect(names(await read(`phone=0170123456&email=shared@shop.example`))).toEqual(["Bob"]);
  });

  it("that changed are listed in the order of their changes, so that none is missed", async () => {
    const since = new Date(at.app.clock.now()).toISOString();
    expect(names(await read(`updated_since=${since}`))).toEqual([]);
    const earlier = await ask({ name: "Dora Dee", ...proven("u-dora ") });
    const later = await ask({ name: "Ada Lee", ...proven("u-ada") });
    expect([earlier, later]).toEqual([ids.get("Dora"), ids.get("Ada")]);
    const first = await read(`updated_since=${since}&limit=1`);
    expect([names(first), first.pagination.has_more]).toEqual([["Dora Dee"], true]);
    const second = await read(`updated_since=${since}&limit=1&cursor=${first.pagination.next_cursor}`);
    expect([names(second), second.pagination.has_more]).toEqual([["Ada Lee"], false]);
    await ask({ name: "Dora Doe", ...proven("u-dora ") });
    expect(names(await read(`updated_since=${since}&limit=1&cursor=${second.pagination.next_cursor}`))).toEqual([
      "Dora Doe",
    ]);
    expect(names(await read(`updated_since=${since}&email=shared@shop.example`))).toEqual([]);
  });

  it("have attributes, proofs and identities, and are one after a merge", async () => {
    const [ada = "", bob = ""] = ["Ada", "Bob"].map((name) => ids.get(name));
    const known = await one(ada);
    expect(known).toMatchObject({
      user_id: "u-ada",
      verified: ["name", "email"],
      attributes: { plan: "pro" },
      merged_contact_ids: [],
      conversation_count: 2,
    });
    expect(known.identities).toContainEqual({
      kind: "user_id",
      value: "u-ada",
      verified: true,
      created_at: expect.any(String) as string,
    });
    expect((await one(bob)).verified).toEqual([]);
    const now = at.app.clock.now();
    const actor = systemActor("test");
    await at.app.store.write((tx) => mergeContacts(tx, shop.id, bob, ada, actor, now));
    expect(await one(bob)).toMatchObject({ id: ada, merged_contact_ids: [bob] });
    expect((await read("email=shared@shop.example")).contacts.map(({ id }) => id)).toEqual([ids.get("Cleo"), ada]);
    expect((await read()).contacts.map(({ id }) => id)).not.toContain(bob);
    await at.app.store.write((tx) => unmergeContact(tx, shop.id, bob, actor, now));
    expect(await one(bob)).toMatchObject({ id: bob, merged_contact_ids: [] });
  });

  it("of another workspace do not exist, and hostile parameters are refused", async () => {
    const ada = ids.get("Ada") ?? "";
    expect((await at.client.get(`/v1/contacts/${ada}`)).body.code).toBe("not_found");
    for (const id of ["__proto__", "con_%00", "%F0%9F%98%80", `${ada}%20`, "a".repeat(90)]) {
      expect([id, (await shop.get(`/v1/contacts/${id}`)).status]).toEqual([id, 404]);
    }
    const refused = [
      [`q=ada`, "invalid_parameter"],
      [`__proto__=1`, "invalid_parameter"],
      [`email=${"a".repeat(400)}`, "invalid_parameter"],
      [`email=`, "invalid_parameter"],
      [`updated_since=soon`, "invalid_parameter"],
      [`limit=101`, "invalid_parameter"],
      [`cursor=cur_made-up`, "invalid_cursor"],
      [`email=ada@shop.example&cursor=${(await read("limit=1")).pagination.next_cursor}`, "invalid_cursor"],
    ];
    for (const [query, code] of refused) {
      const { status, body } = await shop.get(`/v1/contacts?${query}`);
      expect([query, status, body.code]).toEqual([query, 422, code]);
    }
    for (const value of ["%00", "%00@%00", "'%20or%201=1", "%E2%80%AE@x", "😀"]) {
      expect(names(await read(`email=${value}&user_id=${value}&phone=${value}`))).toEqual([]);
    }
  });

  it("from before the keys were stored are found too", async () => {
    const { store } = at.app;
    const columns = ["email_key", "phone_key", "name_key"] as const;
    await store.write((tx) =>
      tx
        .updateTable("contacts")
        .set({ email: "ÉLODIE@shop.example", name: "  Élodie   D. ", email_key: null, name_key: null })
        .where("id", "=", ids.get("Cleo") ?? "")
        .execute(),
    );
    // MySQL ends a transaction at each change of a table.
    const change = async (work: (db: Kysely<never>) => Promise<unknown>) =>
      store.dialect === "mysql" ? work(store.read as never) : store.write((tx) => work(tx as never));
    await change(async (db) => {
      for (const name of ["email", "phone", "name", "updated"]) {
        const on = sql.raw(store.dialect === "mysql" ? " on contacts" : "");
        await sql`drop index ${sql.raw(`contacts_${name}`)}${on}`.execute(db);
      }
      for (const column of columns) await sql`alter table contacts drop column ${sql.ref(column)}`.execute(db);
      await contactKeyColumns.up(db);
    });
    // An interrupted migration is repeated.
    if (store.dialect === "mysql") await change((db) => contactKeyColumns.up(db));
    expect(names(await read(`email=${encodeURIComponent("élodie@shop.example")}`))).toEqual(["  Élodie   D. "]);
    const row = store.read.selectFrom("contacts").select(columns).where("name_key", "=", "elodie d.");
    expect(await row.execute()).toHaveLength(1);
  });
});
