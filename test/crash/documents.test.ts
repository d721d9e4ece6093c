import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import type { ClientRequest } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createBlobs } from "#knowledge/documents/blobs.ts";
import { systemClock } from "#runtime/clock.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import { eachDatabase } from "../support/database/databases.ts";
import { startSite } from "../support/servers/fake-site.ts";
import { install } from "../support/program/installation.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import { textsOf } from "../support/database/table-texts.ts";

interface Document {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly status: string;
  readonly pages: number;
  readonly chunks: number;
}

const boundary = "----------of-the-upload";
const head = (name: string): string =>
  `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;

/** Long enough that reading it takes a moment. */
const manual = Array.from(
  { length: 15_000 },
  (_, i) =>
    `## Part ${i}\n\nThe lantern number ${i} is filled with oil of the kind ${i % 7}, and lasts ${i % 90} hours.\n`,
).join("\n");

const pageCount = 4;
const page = (i: number): string =>
  `<title>Page ${i}</title><main><h1>Page ${i}</h1><p>The pier number ${i} was built of oak in the year ${1800 + i}.</p>
  ${Array.from({ length: pageCount }, (_, to) => `<a href="/${to}">Page ${to}</a>`).join(" ")}</main>`;

eachDatabase("documents", (open) => {
  it(
    "are indexed completely after a kill amid a crawl, an upload and the parsing of a file",
    { timeout: 120_000 },
    async () => {
      const database = await open();
      const installation = await install(database.url);
      const store = await openStore(database.url);
      const site = await startSite();
      const port = await freePort();
      const config = join(installation.dataDir, "parley.yaml");
      await writeFile(config, "outbound:\n  allow_private: true\n");
      const env = { PARLEY_CONFIG: config };
      const headers = { authorization: `Bearer ${installation.key}` };
      const base = `http://127.0.0.1:${port}/v1/documents`;
      const list = async (): Promise<readonly Document[]> => {
        const response = await fetch(`${base}?limit=100`, { headers });
        return ((await response.json()) as { readonly documents: readonly Document[] }).documents;
      };
      let running = launch({ installation, port, env });
      let streaming: ClientRequest | undefined;
      try {
        await running.ready;
        for (let i = 0; i < pageCount; i += 1) site.pages.set(`/${i}`, page(i));
        // Never answered, so that the crawl does not finish.
        const crawlStarted = Promise.withResolvers<void>();
        site.pages.set("/2", { answer: () => crawlStarted.resolve() });
        const crawl = await fetch(`${base}/crawl`, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body: JSON.stringify({ url: `${site.origin}/0` }),
        });
        expect(crawl.status).toBe(202);
        await crawlStarted.promise;
        streaming = beginUpload(`${base}/upload`, headers);
        await expect.poll(() => openParts(store)).toBe(2);
        const form = new FormData();
        form.set("file", new File([manual], "manual.md"));
        const sent = await fetch(`${base}/upload`, { method: "POST", headers, body: form });
        expect(sent.status).toBe(202);
        const { document } = (await sent.json()) as { readonly document: Document };
        const statusOf = store.read.selectFrom("documents").select("status").where("id", "=", document.id);
        await expect.poll(async () => (await statusOf.executeTakeFirst())?.status, { interval: 1 }).toBe("processing");
        running.signal("SIGKILL");
        await running.exited;

        site.pages.set("/2", page(2));
        running = launch({ installation, port, env });
        await running.ready;
        await expect
          .poll(async () => (await list()).map(({ status }) => status), { timeout: 60_000 })
          .toEqual(["indexed", "indexed", "indexed"]);
        const documents = await list();
        expect(documents.find(({ source }) => source === "crawl")).toMatchObject({ pages: pageCount });
        // Pages already fetched are not requested again.
        const times = [0, 1, 2, 3].map((i) => site.paths().filter((path) => path === `/${i}`).length);
        expect(times).toEqual([1, 1, 2, 1]);
        await expectIndexedOnce(store);

        // The aborted upload is not listed. Its bytes are deleted once no upload can be that old.
        expect(documents.map(({ title }) => title)).not.toContain("half.md");
        await store.write((tx) =>
          tx.updateTable("document_bodies").set({ created_at: 1 }).where("document_id", "is", null).execute(),
        );
        expect(await createBlobs(store, systemClock).removeOrphans()).toBe(1);
        expect(await openParts(store)).toBe(0);
        const again = new FormData();
        again.set("file", new File(["# Half\n\nThe harbour is deep."], "half.md"));
        expect((await fetch(`${base}/upload`, { method: "POST", headers, body: again })).status).toBe(202);
        await expect.poll(async () => (await list()).map(({ status }) => status)).not.toContain("failed");
        await expect
          .poll(async () => (await list()).filter(({ status }) => status === "indexed").length, { timeout: 60_000 })
          .toBe(4);
        expect(running.complaints).toEqual([]);
        expect((await textsOf(store.read)).get("outbox")?.filter((text) => /\n(ingest|crawl)\n/.test(text))).toEqual(
          [],
        );
      } finally {
        streaming?.destroy();
        running.signal("SIGKILL");
        await running.exited;
        await store.close();
        await site.close();
        await installation.remove();
        await database.remove();
      }
    },
  );
});

/** Sends 2.5 MB of an upload that never ends. */
function beginUpload(url: string, headers: Readonly<Record<string, string>>): ClientRequest {
  const upload = request(url, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "transfer-encoding": "chunked",
    },
  });
  upload.on("error", () => undefined);
  upload.write(head("half.md"));
  upload.write("# Half\n".padEnd(2_500_000, "The harbour is deep. "));
  return upload;
}

/** The number of stored file parts without a document. */
async function openParts(store: OpenStore): Promise<number> {
  const rows = await store.read
    .selectFrom("document_body_parts")
    .leftJoin("document_bodies", "document_bodies.id", "body_id")
    .select("part")
    .where("document_id", "is", null)
    .execute();
  return rows.length;
}

/** Checks that each document has as many passages as it reports, all of one version. */
async function expectIndexedOnce(store: OpenStore): Promise<void> {
  const documents = await store.read.selectFrom("documents").selectAll().execute();
  const passages = await store.read.selectFrom("chunks").select(["document_id", "version"]).execute();
  const versions = Map.groupBy(passages, ({ document_id: id }) => id);
  for (const { id, title, chunks, indexed_version: version, source, parent_id: parent } of documents) {
    // The passages of a website belong to its pages.
    if (source === "crawl" && parent === null) continue;
    expect(
      versions.get(id)?.map((row) => row.version),
      title,
    ).toEqual(Array.from({ length: chunks }, () => version));
  }
  const known = new Set(documents.map(({ id }) => id));
  expect([...versions.keys()].filter((id) => !known.has(id))).toEqual([]);
}
