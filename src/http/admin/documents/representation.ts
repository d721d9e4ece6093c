import type { FastifyRequest } from "fastify";
import type { Reader } from "#database/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import { recordChange } from "#admin/audit.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import type { RecordDocumentChange } from "#http/dependencies.ts";
import { findDocument } from "#http/v1/documents/find.ts";
import type { DocumentRow } from "#http/v1/representation.ts";
import type { Resources } from "#http/v1/resources.ts";

interface Progress {
  readonly found: number;
  readonly queued: number;
  readonly kept: number;
  /** Kept pages of which little was read. */
  readonly partly: number;
  readonly skipped: number;
  readonly failed: number;
}

const nothingYet: Progress = { found: 0, queued: 0, kept: 0, partly: 0, skipped: 0, failed: 0 };

const editableTypes: ReadonlySet<string> = new Set(["text/markdown", "text/plain"]);

/** Records changes of documents by the request's administrator. */
export function recorderOf(request: FastifyRequest, clock: Clock): RecordDocumentChange {
  const { workspaceId, actor } = administratorOf(request);
  return (tx, { verb, title, to = null }) =>
    recordChange(tx, { workspaceId, by: actor, action: `document_${verb}`, subject: title, to, now: clock.now() });
}

/** One document in the form of `adminDocument`. Throws Problem document_not_found. */
export async function shownDocument(resources: Resources, workspaceId: string, id: string) {
  const row = await findDocument(resources.store.read, workspaceId, id);
  const [document] = await documentItems(resources, [row]);
  return { document };
}

export async function documentItems({ store, representation }: Resources, rows: readonly DocumentRow[]) {
  const websites = rows.filter(({ source }) => source === "crawl").map(({ id }) => id);
  const progress = await progressOf(store.read, websites);
  return rows.map((row) => ({
    ...representation.document(row),
    kind: row.source === "crawl" ? "website" : row.article === 1 ? "article" : "file",
    file_name: row.file_name,
    media_type: row.media_type,
    content_version: row.content_hash,
    editable: row.source === "upload" && editableTypes.has(row.media_type),
    progress: row.source === "crawl" ? (progress.get(row.id) ?? nothingYet) : null,
  }));
}

/** Progress of the latest run of each website. */
async function progressOf(db: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, Progress>> {
  const byId = new Map<string, Progress>();
  if (ids.length === 0) return byId;
  const counts = await db
    .selectFrom("crawl_pages")
    .select((eb) => ["document_id", "state", eb.fn.countAll().as("count"), eb.fn.count("note").as("notes")])
    .where("document_id", "in", ids)
    .groupBy(["document_id", "state"])
    .execute();
  for (const { document_id: id, state, count, notes } of counts) {
    const before = byId.get(id) ?? nothingYet;
    const key = state === "gone" ? "failed" : state;
    const found = before.found + Number(count);
    const partly = before.partly + Number(notes);
    byId.set(id, { ...before, found, partly, [key]: before[key] + Number(count) });
  }
  return byId;
}
