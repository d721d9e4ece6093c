import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { dialectOf } from "#database/dialects/dialect.ts";
import { apply } from "./statements.ts";

/** Adds uploads that arrive before their document exists, websites and their pages; lowers the case of tags. */
export const documents: Migration = { up };

async function up(db: Kysely<unknown>): Promise<void> {
  // Checks for existing columns and tables, since MySQL commits each step by itself.
  const columns = await columnsOf(db);
  const old = columns.has("document_bodies.body");
  if (old) {
    // An interrupted first start may have left this table, which is created again.
    await apply(db, `drop table if exists document_body_parts`);
    await apply(db, `alter table document_bodies rename to document_body_parts`);
  }
  if (old || columns.has("document_body_parts.document_id")) {
    await apply(
      db,
      dialectOf(db) === "mysql"
        ? `alter table document_body_parts change column document_id body_id $id not null`
        : `alter table document_body_parts rename column document_id to body_id`,
    );
  }
  await apply(
    db,
    `create table document_bodies (id $id not null primary key, document_id $id, created_at $time not null) $engine;
    create index document_bodies_orphans on document_bodies (document_id, created_at);
    create table crawls (
      document_id $id not null primary key, max_pages $int not null, sitemap $text, run $int not null,
      state $short not null, fetches $int not null, bytes $int not null, discovered $int not null, robots $text,
      started_at $time not null, finished_at $time
    ) $engine;
    create table crawl_pages (
      document_id $id not null, url_hash $id not null, url $text not null, position $int not null, page_id $id,
      state $short not null, reason $text, attempts $int not null, etag $text, last_modified $text,
      fetched_hash $id, canonical_hash $id, primary key (document_id, url_hash)
    ) $engine;
    create index crawl_pages_queue on crawl_pages (document_id, state, position)`,
  );
  if (!columns.has("documents.body_id")) await apply(db, `alter table documents add column body_id $id`);
  if (!columns.has("documents.parent_id")) {
    await apply(db, `alter table documents add column parent_id $id`);
  }
  await apply(db, `create index documents_parent on documents (parent_id, id)`);
  await sql`insert into document_bodies (id, document_id, created_at)
    select id, id, created_at from documents
    where id in (select body_id from document_body_parts) and id not in (select id from document_bodies)`.execute(db);
  await sql`update documents set body_id = id
    where body_id is null and id in (select id from document_bodies)`.execute(db);
  await lowerTags(db);
}

/** Names in the form "table.column". */
async function columnsOf(db: Kysely<unknown>): Promise<ReadonlySet<string>> {
  const tables = await db.introspection.getTables();
  return new Set(tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`)));
}

/** Tags are case-insensitive from this migration on. */
async function lowerTags(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ readonly id: string; readonly workspace_id: string; readonly audience: string }>`
    select id, workspace_id, audience from documents where audience <> '[]'`.execute(db);
  for (const { id, workspace_id: workspaceId, audience } of rows) {
    const tags: unknown = JSON.parse(audience);
    if (!Array.isArray(tags)) continue;
    const lower = JSON.stringify([...new Set(tags.map((tag) => String(tag).toLowerCase()))].toSorted());
    if (lower === audience) continue;
    await sql`update documents set audience = ${lower} where id = ${id}`.execute(db);
    await sql`update workspaces set knowledge_version = knowledge_version + 1 where id = ${workspaceId}`.execute(db);
  }
}
