import { counted } from "#domain/plural.ts";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Services } from "#app/services.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { UsageError, readArguments } from "#cli/terminal/arguments.ts";
import type { Command } from "#cli/command.ts";
import { withServices } from "#cli/with-services.ts";
import type { Output } from "#cli/terminal/output.ts";
import { bar, dim, green, red } from "#cli/terminal/output.ts";

type Document = NonNullable<Awaited<ReturnType<Services["documents"]["get"]>>>;

interface AddedSource {
  readonly source: string;
  readonly id: string | null;
  readonly status: string;
  readonly pages: number;
  readonly chunks: number;
  readonly error: string | null;
  /** Pages of a website that are not used, and why. */
  readonly left_out?: readonly { readonly url: string; readonly reason: string }[];
  /** Pages of a website of which little was read, and why. */
  readonly partly_read?: readonly { readonly url: string; readonly reason: string }[];
}

/** A website stays indexed when a later crawl of it fails, and then has the error. */
const isDone = ({ status, error }: AddedSource): boolean => status === "indexed" && error === null;

const pollMs = 250;

/** Adds files and websites, and waits until each is indexed or has failed. */
export const documentsAdd: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "audience", "max-pages", "sitemap"]);
  const workspaceId = given.required("workspace");
  const tags = given.optional("audience")?.split(",");
  const audience = tags === undefined ? {} : { audience: tags };
  const maxPages = given.number("max-pages");
  const sitemap = given.optional("sitemap");
  if (given.words.length === 0) throw new UsageError("use: parley documents add --workspace W FILE-or-URL…");
  return withServices(config, async (core) => {
    const workspace = await requireWorkspace(core.store, workspaceId);
    return addAll(core, output, given.words, async (source) => {
      if (/^https?:\/\//i.test(source)) {
        return core.documents.crawl({
          workspaceId: workspace.id,
          url: source,
          ...audience,
          ...(maxPages === undefined ? {} : { maxPages }),
          ...(sitemap === undefined ? {} : { sitemap }),
        });
      }
      const fileName = basename(source);
      core.documents.checkType(fileName);
      const body = await core.documents.receive(bytesOf(source));
      try {
        return await core.documents.add({ workspaceId: workspace.id, fileName, body, ...audience });
      } catch (error) {
        await core.documents.discard(body);
        throw error;
      }
    });
  });
};

/** Crawls websites again. */
export const documentsRecrawl: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace"]);
  const workspaceId = given.required("workspace");
  if (given.words.length === 0) throw new UsageError("use: parley documents recrawl --workspace W ID…");
  return withServices(config, async (core) => {
    const workspace = await requireWorkspace(core.store, workspaceId);
    return addAll(core, output, given.words, async (id) => {
      const document = await core.documents.recrawl(workspace.id, id);
      if (document === undefined) throw new Error("there is no such document in this workspace");
      return document;
    });
  });
};

async function addAll(
  core: Services,
  output: Output,
  sources: readonly string[],
  begin: (source: string) => Promise<Document>,
): Promise<number> {
  const added: AddedSource[] = [];
  for (const [i, source] of sources.entries()) {
    const outcome = await addOne(source);
    added.push(outcome);
    const done = isDone(outcome);
    const pages = outcome.pages === 1 ? "" : `${counted(outcome.pages, "page")}, `;
    const what = done ? `${pages}${counted(outcome.chunks, "passage")}` : outcome.error;
    output.progress(`[${i + 1}/${sources.length}] ${done ? green("✓") : red("✗")} ${source}: ${what}`);
    for (const { url, reason } of outcome.left_out ?? []) output.progress(dim(`      left out ${url}: ${reason}`));
    for (const { url, reason } of outcome.partly_read ?? []) output.progress(`      partly read ${url}: ${reason}`);
  }
  const indexed = added.filter(isDone).length;
  output.result(added, [`${indexed} of ${sources.length} indexed.`]);
  return indexed === sources.length ? 0 : 1;

  async function addOne(source: string): Promise<AddedSource> {
    try {
      const document = await begin(source);
      const done = await finish(core, document, output);
      const progress = done.source === "crawl" ? await core.documents.progress(done.id) : undefined;
      return {
        source,
        id: done.id,
        status: done.status,
        pages: done.pages,
        chunks: done.chunks,
        error: done.error,
        ...(progress === undefined ? {} : { left_out: progress.left, partly_read: progress.partly }),
      };
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown failure";
      return { source, id: null, status: "failed", pages: 0, chunks: 0, error: reason };
    }
  }
}

/** Opens the file at the first read, so that an error rejects the read. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of createReadStream(path)) yield piece as Buffer;
  } catch (error) {
    const why = unreadable[(error as { readonly code?: string }).code ?? ""];
    throw why === undefined ? error : new Error(why, { cause: error });
  }
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "this is a folder: name the files in it",
  EACCES: "this user has no right to read it",
};

/** Indexes the document, or waits while a running server does. */
async function finish(core: Services, document: Document, output: Output): Promise<Document> {
  const lane = core.documents.laneOf(document);
  const ended = new AbortController();
  const showing = (async () => {
    while (!ended.signal.aborted) {
      await show(core, document, output);
      await delay(pollMs, undefined, { signal: ended.signal }).catch(() => undefined);
    }
    output.status("");
  })();
  // A rejection before the `await` below must not count as unhandled.
  showing.catch(() => undefined);
  try {
    for (;;) {
      const now = await core.documents.get(document.workspaceId, document.id);
      if (now === undefined) throw new Error("the document was removed meanwhile");
      if (core.documents.isSettled(now)) return now;
      if (!(await core.runLane(lane))) await delay(pollMs);
    }
  } finally {
    ended.abort();
    await showing;
  }
}

async function show(core: Services, document: Document, output: Output): Promise<void> {
  const progress = document.source === "crawl" ? await core.documents.progress(document.id) : undefined;
  if (progress === undefined) return;
  const { found, visited, kept } = progress;
  output.status(`${bar(visited, found)} ${found} found, ${visited} looked at, ${kept} indexed`);
}
