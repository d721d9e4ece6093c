import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { runLane } from "#queue/worker/run-lane.ts";
import type { Document } from "#knowledge/documents/documents.ts";
import type { OpenStore } from "#database/open.ts";
import type { Crawling } from "#test/support/knowledge/crawling.ts";
import { skippingClock, startCrawling } from "#test/support/knowledge/crawling.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import type { FakeSite } from "#test/support/servers/fake-site.ts";
import { htmlPage, startSite } from "#test/support/servers/fake-site.ts";
import { newWorkspace } from "#test/support/knowledge/knowledge.ts";
import { createWorkTable } from "#queue/work-table.ts";

eachDatabase("another crawl of the same site", (open) => {
  let store: OpenStore;
  let close: () => Promise<void>;
  let site: FakeSite;
  let crawling: Crawling;
  let workspaceId: string;
  let settled: Document[];
  const clock = skippingClock();

  beforeAll(async () => {
    ({ store, close } = await openTestStore(open));
  });
  afterAll(() => close());
  beforeEach(async () => {
    site = await startSite(clock.now);
    workspaceId = await newWorkspace(store);
    settled = [];
    crawling = startCrawling(store, clock, {
      onSettled: async (_tx, document) => {
        settled.push(document);
      },
    });
  });
  afterEach(async () => {
    await crawling.close();
    await site.close();
  });

  const crawl = (path = "/", more: object = {}) =>
    crawling.documents.crawl({ workspaceId, url: `${site.origin}${path}`, ...more });
  const crawled = async (path = "/", more: object = {}) => crawling.finish(await crawl(path, more));
  const recrawled = async ({ id }: Document): Promise<Document> => {
    const again = await crawling.documents.recrawl(workspaceId, id);
    if (again === undefined) throw new Error("the document is gone");
    return crawling.finish(again);
  };
  /** The address and the text of each searchable passage. */
  const passages = async () => {
    const rows = await store.read
      .selectFrom("chunks")
      .innerJoin("documents", "documents.id", "document_id")
      .select(["chunks.url", "text", "chunks.id", "chunks.title"])
      .where("chunks.workspace_id", "=", workspaceId)
      .where((eb) => eb("version", "=", eb.ref("indexed_version")))
      .orderBy("chunks.url")
      .orderBy("position")
      .execute();
    return rows.map((row) => ({ ...row, url: (row.url ?? "").replace(site.origin, "") }));
  };
  const urls = async () => [...new Set((await passages()).map(({ url }) => url))];

  it("keeps unchanged pages, and replaces changed ones, which answer until then", async () => {
    site.pages.set("/", { headers: { etag: '"1"' }, body: htmlPage("Help", "Welcome.", ["/a", "/b"]) });
    site.pages.set("/a", htmlPage("A", "Text of A."));
    site.pages.set("/b", htmlPage("B", "Text of B."));
    const done = await crawled();
    const before = await passages();
    site.pages.set("/b", htmlPage("B", "A newer text of B."));
    site.pages.set("/c", htmlPage("C", "Text of C."));
    site.pages.set("/a", htmlPage("A", "Text of A.", ["/c"]));
    site.clearRequests();
    const again = await crawl();
    expect(again).toMatchObject({ id: done.id, status: "indexed", crawledAt: null, pages: 3 });
    expect(await passages()).toEqual(before);
    expect(await crawling.finish(again)).toMatchObject({ id: done.id, status: "indexed", pages: 4 });
    const after = await passages();
    expect(after.map(({ url, text }) => [url, text])).toEqual([
      ["/", "Welcome."],
      ["/a", "Text of A."],
      ["/b", "A newer text of B."],
      ["/c", "Text of C."],
    ]);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(site.requests.find(({ path }) => path === "/")?.headers["if-none-match"]).toBe('"1"');
  });

  it("removes pages that are gone, and keeps pages that fail for now", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome.", ["/gone", "/down", "/closing"]));
    for (const name of ["gone", "down", "closing"]) site.pages.set(`/${name}`, htmlPage(name, `Text of ${name}.`));
    const done = await crawled();
    site.pages.set("/gone", { status: 410 });
    site.pages.set("/down", { status: 500 });
    site.pages.set("/closing", htmlPage("closing", "Text.", [], '<meta name="robots" content="none">'));
    expect(await recrawled(done)).toMatchObject({ status: "indexed", pages: 2 });
    expect(await urls()).toEqual(["/", "/down"]);
  });

  it("keeps all pages when the site is down, and reports the error", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome."));
    const done = await crawled();
    site.pages.set("/", { status: 500 });
    const failed = await recrawled(done);
    expect(failed).toMatchObject({
      status: "indexed",
      pages: 1,
      indexedAt: done.indexedAt,
      error: expect.stringContaining("500") as unknown,
    });
    expect(failed.crawledAt).toBeGreaterThan(done.crawledAt ?? 0);
    expect(settled.at(-1)).toEqual(failed);
    expect(await urls()).toEqual(["/"]);
    site.pages.set("/", htmlPage("Help", "Welcome back."));
    expect(await recrawled(done)).toMatchObject({ status: "indexed", error: null });
    expect((await passages())[0]?.text).toBe("Welcome back.");
  });

  it("runs after the number of days set in the workspace, and never without a setting", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome."));
    const done = await crawled();
    const { documents } = crawling;
    const day = async (): Promise<void> => {
      clock.advance(86_400_000);
      await runLane({ store, clock, works: createWorkTable(documents.work) }, `recrawl:${done.id}`);
    };
    const isCrawled = async () => (await documents.get(workspaceId, done.id))?.crawledAt === null;
    const set = (recrawlDays: number | null) =>
      store.write((tx) =>
        tx
          .updateTable("workspaces")
          .set({ settings: JSON.stringify({ recrawlDays }) })
          .where("id", "=", workspaceId)
          .execute(),
      );
    for (let n = 0; n < 6; n += 1) await day();
    expect(await isCrawled()).toBe(false);
    await day();
    expect(await isCrawled()).toBe(true);
    await crawling.finish(done);
    await set(null);
    for (let n = 0; n < 30; n += 1) await day();
    expect(await isCrawled()).toBe(false);
    await set(2);
    await day();
    expect(await isCrawled()).toBe(true);
  });

  it("changes the audience of all pages at once", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome."));
    const done = await crawled();
    await crawl("/", { audience: ["staff"] });
    const rows = await store.read
      .selectFrom("documents")
      .select("audience")
      .where("workspace_id", "=", workspaceId)
      .execute();
    expect(rows.map(({ audience }) => audience)).toEqual(['["staff"]', '["staff"]']);
    expect((await crawling.documents.get(workspaceId, done.id))?.audience).toEqual(["staff"]);
  });

  it("keeps time and status and emits no event where nothing changed", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome.", ["/a"]));
    site.pages.set("/a", htmlPage("A", "Text of A."));
    const done = await crawled();
    const toldOf = settled.length;
    clock.advance(60_000);
    const states: string[] = [];
    const note = async () => states.push((await crawling.documents.get(workspaceId, done.id))?.status ?? "gone");
    site.pages.set("/a", {
      answer: (_request, response) => {
        void note().then(() =>
          response.writeHead(200, { "content-type": "text/html" }).end(htmlPage("A", "Text of A.")),
        );
      },
    });
    const again = await recrawled(done);
    expect(states).toEqual(["indexed"]);
    expect(again).toMatchObject({ status: "indexed", indexedAt: done.indexedAt, error: null });
    expect(again.crawledAt).toBeGreaterThan(done.crawledAt ?? 0);
    expect(settled).toHaveLength(toldOf);
    site.pages.set("/a", { status: 410 });
    expect((await recrawled(done)).indexedAt).toBeGreaterThan(done.indexedAt ?? 0);
    expect(settled).toHaveLength(toldOf + 1);
  });

  it("runs once more after a run during which it was requested, however often", async () => {
    let asked = 0;
    site.pages.set("/", {
      answer: (_request, response) => {
        asked += 1;
        const requests = asked === 1 ? [crawl(), crawling.documents.recrawl(workspaceId, added.id), crawl()] : [];
        void Promise.all(requests).then(() =>
          response.writeHead(200, { "content-type": "text/html" }).end(htmlPage("Help", `Welcome ${asked}.`)),
        );
      },
    });
    const added = await crawl();
    while (asked === 0) await crawling.step(added);
    // The request is stored in the database, so another process continues it.
    await crawling.close();
    crawling = startCrawling(store, clock);
    await crawling.finish(added);
    expect(asked).toBe(2);
    expect((await passages())[0]?.text).toBe("Welcome 2.");
    clock.advance(3_600_000);
    expect(await crawling.step(added)).toBe(false);
    expect(asked).toBe(2);
  });

  it("runs after an abandoned run during which it was requested", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome."));
    const done = await crawled();
    await crawling.documents.recrawl(workspaceId, done.id);
    await store.write(async (tx) => {
      await tx.updateTable("crawls").set({ state: "running" }).where("document_id", "=", done.id).execute();
    });
    await crawling.documents.recrawl(workspaceId, done.id);
    await store.write(async (tx) => {
      const lane = crawling.documents.laneOf(done);
      const row = await tx.selectFrom("outbox").selectAll().where("lane", "=", lane).executeTakeFirstOrThrow();
      await tx.deleteFrom("outbox").where("lane", "=", lane).execute();
      const works = createWorkTable(crawling.documents.work);
      const work = works.read(row);
      if (work === undefined) throw new Error("the work cannot be read");
      await works.get(row.kind)?.onAbandon?.(tx, work, "it broke", clock.now());
    });
    expect(settled.at(-1)).toMatchObject({
      status: "indexed",
      error: expect.stringContaining("it broke") as unknown,
    });
    expect(await crawling.finish(done)).toMatchObject({ status: "indexed", error: null });
  });

  it("does not start twice at the same time", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome."));
    const [first, second] = await Promise.all([crawl(), crawl()]);
    expect(second?.id).toBe(first?.id);
    await crawling.documents.recrawl(workspaceId, first?.id ?? "");
    const rows = await store.read
      .selectFrom("outbox")
      .select("kind")
      .where("lane", "=", crawling.documents.laneOf(first))
      .execute();
    expect(rows).toEqual([{ kind: "crawl" }]);
  });
});
