import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { Document } from "#knowledge/documents/documents.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { OpenStore } from "#database/open.ts";
import type { Crawling } from "#test/support/knowledge/crawling.ts";
import { skippingClock, startCrawling } from "#test/support/knowledge/crawling.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import type { FakeSite } from "#test/support/servers/fake-site.ts";
import { htmlPage, startSite } from "#test/support/servers/fake-site.ts";
import { newWorkspace } from "#test/support/knowledge/knowledge.ts";

eachDatabase("a crawl", (open) => {
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
  const why = async (document: Document) =>
    Object.fromEntries(
      ((await crawling.documents.progress(document.id))?.left ?? []).map(({ url, reason }) => [
        url.replace(site.origin, ""),
        reason,
      ]),
    );

  it("reads the pages that link to each other, each with its own title and address", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome to the help of the shop.", ["/a", "b.html#top", "/a?utm_source=x"]));
    site.pages.set("/a", htmlPage("Parcels", "Parcels take three days.", ["/", "https://elsewhere.example/x"]));
    site.pages.set("/b.html", htmlPage("Refunds", "Refunds take a week.", ["/picture.png", "mailto:a@b.example"]));
    const added = await crawl("/", { audience: ["Staff", "staff "] });
    expect(added).toMatchObject({ source: "crawl", status: "pending", url: `${site.origin}/`, audience: ["staff"] });
    const done = await crawling.finish(added);
    expect(done).toMatchObject({ status: "indexed", title: "Help", pages: 3, chunks: 3, error: null });
    expect(await passages()).toMatchObject([
      { url: "/", title: "Help", text: "Welcome to the help of the shop." },
      { url: "/a", title: "Parcels", text: "Parcels take three days." },
      { url: "/b.html", title: "Refunds", text: "Refunds take a week." },
    ]);
    expect(site.paths()).toEqual(["/robots.txt", "/sitemap.xml", "/", "/a", "/b.html"]);
    expect(settled.map(({ id, status }) => [id, status])).toEqual([[done.id, "indexed"]]);
    expect((await crawling.documents.list(workspaceId)).documents.map(({ id }) => id)).toEqual([done.id]);
  });

  it("sends one request at a time, a quarter of a second apart, under its own name", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome.", ["/a", "/b"]));
    site.pages.set("/a", htmlPage("A", "Text of A."));
    site.pages.set("/b", htmlPage("B", "Text of B."));
    await crawled();
    const gaps = site.requests.slice(1).map(({ at }, i) => at - (site.requests[i]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(250);
    expect(site.together()).toBe(1);
    expect(site.requests.every(({ headers }) => headers["user-agent"]?.includes("ParleyBot"))).toBe(true);
  });

  it("obeys robots.txt, including its crawl delay", async () => {
    site.pages.set("/robots.txt", {
      headers: { "content-type": "text/plain" },
      body: "User-agent: *\nDisallow: /\n\nUser-agent: ParleyBot\nDisallow: /private\nCrawl-delay: 2\n",
    });
    site.pages.set("/", htmlPage("Help", "Welcome.", ["/private/x", "/open"]));
    site.pages.set("/open", htmlPage("Open", "Anyone may read it."));
    site.pages.set("/private/x", htmlPage("Private", "Nobody may read it."));
    expect(await crawled()).toMatchObject({ status: "indexed", pages: 2 });
    expect(site.paths()).not.toContain("/private/x");
    const pages = site.requests.filter(({ path }) => path === "/" || path === "/open");
    expect((pages[1]?.at ?? 0) - (pages[0]?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect(await crawled("/private/x")).toMatchObject({
      status: "failed",
      error: expect.stringContaining("robots.txt does not allow it") as unknown,
    });
  });

  it("reads nothing while robots.txt is unavailable", async () => {
    site.pages.set("/robots.txt", { status: 503 });
    site.pages.set("/", htmlPage("Help", "Welcome."));
    expect(await crawled()).toMatchObject({
      status: "failed",
      error: expect.stringContaining("robots.txt") as unknown,
    });
    expect(new Set(site.paths())).toEqual(new Set(["/robots.txt"]));
  });

  it("follows sitemaps, sitemap indexes and compressed sitemaps of the site", async () => {
    const loc = (path: string) => `<loc>${path.startsWith("http") ? path : `${site.origin}${path}`}</loc>`;
    site.pages.set("/robots.txt", `Sitemap: ${site.origin}/index.xml\nSitemap: http://elsewhere.example/map.xml`);
    site.pages.set("/index.xml", {
      headers: { "content-type": "application/xml" },
      body: `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap>${loc("/one.xml.gz")}</sitemap><sitemap>${loc("/index.xml")}</sitemap><sitemap>${loc("/bomb.xml.gz")}</sitemap></sitemapindex>`,
    });
    site.pages.set("/one.xml.gz", {
      headers: { "content-type": "application/gzip" },
      body: gzipSync(
        `<urlset><url>${loc("/far")}</url><url>${loc("https://elsewhere.example/")}</url><url>${loc("/help/deep")}</url></urlset>`,
      ),
    });
    site.pages.set("/bomb.xml.gz", {
      headers: { "content-type": "application/gzip" },
      body: gzipSync(Buffer.alloc(60 * 1_048_576, " ")),
    });
    site.pages.set("/help/", htmlPage("Help", "Welcome to the help."));
    site.pages.set("/help/deep", htmlPage("Deep", "Nothing links here."));
    site.pages.set("/far", htmlPage("Far", "Nor here."));
    expect(await crawled("/help/")).toMatchObject({ status: "indexed", pages: 3 });
    // Addresses below the start address come first.
    expect(site.paths().slice(-2)).toEqual(["/help/deep", "/far"]);
  });

  it("follows no redirects to other sites, and no redirect loops", async () => {
    const other = await startSite(clock.now);
    other.pages.set("/", htmlPage("Other", "Another site."));
    const to = (location: string) => ({ status: 302, headers: { location } });
    site.pages.set("/", htmlPage("Help", "Welcome.", ["/out", "/circle", "/moved", "/many0"]));
    site.pages.set("/out", to(`${other.origin}/`));
    site.pages.set("/circle", to("/circle"));
    site.pages.set("/moved", to("/new"));
    site.pages.set("/new", htmlPage("New", "It has moved here."));
    for (let n = 0; n < 9; n += 1) site.pages.set(`/many${n}`, to(`/many${n + 1}`));
    const done = await crawled();
    expect(done).toMatchObject({ status: "indexed", pages: 2 });
    expect(await urls()).toEqual(["/", "/new"]);
    expect(other.requests).toEqual([]);
    expect(await why(done)).toMatchObject({
      "/out": expect.stringContaining("another site") as unknown,
      "/circle": expect.stringContaining("more than 5 times") as unknown,
      "/many0": expect.stringContaining("more than 5 times") as unknown,
    });
    await other.close();
  });

  it("fails where the start address redirects to another site, and names it", async () => {
    site.pages.set("/", { status: 301, headers: { location: "https://www.shop.example/" } });
    expect(await crawled()).toMatchObject({
      status: "failed",
      error: expect.stringContaining("https://www.shop.example") as unknown,
    });
  });

  it("indexes no more pages than the limit", async () => {
    const links = Array.from({ length: 1_000 }, (_, n) => `/p/${n}`);
    site.pages.set("/", htmlPage("Help", "Welcome.", links));
    for (const link of links) site.pages.set(link, htmlPage(`Page ${link}`, `The text of page ${link}.`));
    expect(await crawled("/", { maxPages: 7 })).toMatchObject({ status: "indexed", pages: 7, chunks: 7 });
    expect(site.paths()).toHaveLength(9);
  });

  it("skips noindex pages, copies and files without text, with a reason", async () => {
    site.pages.set(
      "/",
      htmlPage("Help", "Welcome.", ["/no", "/header", "/copy", "/print", "/huge", "/zip", "/empty", "/closed"]),
    );
    site.pages.set("/no", htmlPage("No", "Not this.", ["/behind"], '<meta name="robots" content="noindex">'));
    site.pages.set(
      "/behind",
      htmlPage("Behind", "Found behind it.", ["/hidden"], '<meta name="robots" content="nofollow">'),
    );
    site.pages.set("/hidden", htmlPage("Hidden", "Only linked where links do not count."));
    site.pages.set("/header", { headers: { "x-robots-tag": "noindex" }, body: htmlPage("H", "Not this either.") });
    site.pages.set("/copy", htmlPage("Help", "Welcome."));
    site.pages.set("/print", htmlPage("Own", "The text to print.", [], '<link rel="canonical" href="/own">'));
    site.pages.set("/own", htmlPage("Own", "The text to print.", [], '<link rel="canonical" href="/own">'));
    site.pages.set("/huge", { body: Buffer.alloc(6 * 1_048_576, "x ") });
    site.pages.set("/zip", { headers: { "content-type": "application/zip" }, body: "PK" });
    site.pages.set("/empty", "<html><body></body></html>");
    site.pages.set("/closed", { status: 403, body: "no" });
    const done = await crawled();
    expect(await urls()).toEqual(["/", "/behind", "/own"]);
    expect(done).toMatchObject({ status: "indexed", pages: 3 });
    expect(await why(done)).toMatchObject({
      "/no": expect.stringContaining("noindex") as unknown,
      "/header": expect.stringContaining("noindex") as unknown,
      "/copy": expect.stringContaining("says the same") as unknown,
      "/print": expect.stringContaining("/own") as unknown,
      "/huge": expect.stringContaining("5 MB") as unknown,
      "/zip": expect.stringContaining("neither HTML") as unknown,
      "/empty": expect.stringContaining("no text") as unknown,
      "/closed": expect.stringContaining("403") as unknown,
    });
  });

  it("tells which pages were read only in small part, also after a crawl that finds them unchanged", async () => {
    const words = "Parcels to the islands take a week longer in winter. ".repeat(40);
    site.pages.set(
      "/",
      htmlPage("Help", "Welcome to the help of the shop.", ["/asides", "/app", "/empty-app", "/whole"]),
    );
    const etag = { etag: '"1"' };
    const asides = `<main><h1>Islands</h1><p>See below.</p></main><div class="sidebar"><p>${words}</p></div>`;
    site.pages.set("/asides", { headers: { "content-type": "text/html", ...etag }, body: asides });
    site.pages.set(
      "/app",
      '<title>Shop</title><div id="root"><p>Loading the shop.</p></div><script src="/app.js"></script>',
    );
    site.pages.set("/empty-app", '<div id="__next"></div><script src="/app.js"></script>');
    site.pages.set("/whole", htmlPage("Islands in winter", words));
    const done = await crawled();
    const partly = async () =>
      ((await crawling.documents.progress(done.id))?.partly ?? []).map(({ url, reason }) => [
        url.replace(site.origin, ""),
        reason.split(/[,:]/u)[0],
      ]);
    const expected = [
      ["/asides", "Only 1 % of the text on this page was read"],
      ["/app", "Scripts put this page together in the browser"],
    ];
    expect(await partly()).toEqual(expected);
    expect(await why(done)).toMatchObject({ "/empty-app": expect.stringContaining("no scripts run here") as unknown });
    await crawling.documents.recrawl(workspaceId, done.id);
    await crawling.finish(done);
    expect(await partly()).toEqual(expected);
    site.pages.set("/asides", htmlPage("Islands", words));
    await crawling.documents.recrawl(workspaceId, done.id);
    await crawling.finish(done);
    expect(await partly()).toEqual(expected.slice(1));
  });

  it("indexes a page whose canonical address is missing, and one of two that name each other", async () => {
    const own = (href: string) => `<link rel="canonical" href="${href}">`;
    site.pages.set("/", htmlPage("Help", "Welcome.", ["/left", "/right", "/lost"]));
    site.pages.set("/left", htmlPage("Left", "The left one.", [], own("/right")));
    site.pages.set("/right", htmlPage("Right", "The right one.", [], own("/left")));
    site.pages.set("/lost", htmlPage("Lost", "Its own address is gone.", [], own("/nowhere")));
    await crawled();
    const kept = await urls();
    expect(kept).toContain("/lost");
    expect(kept.filter((url) => url === "/left" || url === "/right")).toHaveLength(1);
  });

  it("reads other encodings and types, and inflates compressed pages up to the limit", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome.", ["/latin", "/wrong", "/notes.md", "/plain", "/bomb"]));
    site.pages.set("/latin", {
      headers: { "content-type": "text/html; charset=iso-8859-1" },
      body: Buffer.from(htmlPage("Rückgabe", "Grüße aus Köln."), "latin1"),
    });
    site.pages.set("/wrong", {
      headers: { "content-type": "text/html; charset=utf-8" },
      body: Buffer.from(htmlPage("Wrong", "Straße und Haus."), "latin1"),
    });
    site.pages.set("/notes.md", { headers: { "content-type": "text/plain" }, body: "# Notes\n\nWritten in Markdown." });
    site.pages.set("/plain", { headers: { "content-type": "text/plain" }, body: "Plain words alone." });
    site.pages.set("/bomb", {
      headers: { "content-encoding": "gzip" },
      body: gzipSync(Buffer.alloc(100 * 1_048_576, "a ")),
    });
    const done = await crawled();
    expect((await passages()).map(({ text }) => text)).toEqual([
      "Welcome.",
      "Grüße aus Köln.",
      "Written in Markdown.",
      "Plain words alone.",
      "Straße und Haus.",
    ]);
    expect(await why(done)).toMatchObject({ "/bomb": expect.stringContaining("5 MB") as unknown });
  });

  it("retries a failing page, abandons it after three attempts, and obeys Retry-After", async () => {
    let tries = 0;
    site.pages.set("/", htmlPage("Help", "Welcome.", ["/flaky", "/down", "/busy"]));
    site.pages.set("/flaky", {
      answer: (request, response) => {
        tries += 1;
        if (tries < 2) request.socket.destroy();
        else response.writeHead(200, { "content-type": "text/html" }).end(htmlPage("Flaky", "It works now."));
      },
    });
    site.pages.set("/down", { status: 500 });
    let asked = 0;
    site.pages.set("/busy", {
      answer: (_request, response) => {
        asked += 1;
        if (asked === 1) response.writeHead(429, { "retry-after": "120" }).end();
        else response.writeHead(200, { "content-type": "text/html" }).end(htmlPage("Busy", "Not any more."));
      },
    });
    const done = await crawled();
    expect(await urls()).toEqual(["/", "/busy", "/flaky"]);
    expect(await why(done)).toEqual({ "/down": "the site answers with status 500" });
    expect(site.paths().filter((path) => path === "/down")).toHaveLength(3);
    const busy = site.requests.filter(({ path }) => path === "/busy");
    const after = site.requests[site.requests.findIndex(({ path }) => path === "/busy") + 1];
    expect((after?.at ?? 0) - (busy[0]?.at ?? 0)).toBeGreaterThanOrEqual(120_000);
  });

  it("refuses addresses that are not public, with a reason", async () => {
    const strict = startCrawling(store, clock, { fetch: openGuardedFetch({ allowPrivate: false }) });
    site.pages.set("/", htmlPage("Help", "Welcome."));
    const added = await strict.documents.crawl({ workspaceId, url: `${site.origin}/` });
    expect(await strict.finish(added)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("not a public address") as unknown,
    });
    expect(site.requests).toEqual([]);
    await strict.close();
  });

  it("continues after a crash without storing anything twice", async () => {
    const links = Array.from({ length: 12 }, (_, n) => `/p/${n}`);
    site.pages.set("/", htmlPage("Help", "Welcome.", links));
    for (const link of links) site.pages.set(link, htmlPage(`Page ${link}`, `The text of page ${link}.`));
    let stored = 0;
    const dying: OpenStore = {
      ...store,
      write: (work) => {
        stored += 1;
        // Simulates the death of the process: nothing more is stored.
        if (stored > 10) return Promise.reject(new Error("the process is gone"));
        return store.write(work);
      },
    };
    const first = startCrawling(dying, clock);
    const added = await crawl();
    await expect(first.step(added)).rejects.toThrow("the process is gone");
    await first.close();
    const before = site.paths().filter((path) => path.startsWith("/p/"));
    expect(before.length).toBeGreaterThan(2);
    expect(await crawling.documents.get(workspaceId, added.id)).toMatchObject({ status: "processing" });
    // Lets the dead process's lease expire.
    clock.advance(20_000);
    expect(await crawling.finish(added)).toMatchObject({ status: "indexed", pages: 13, chunks: 13 });
    const fetched = site.paths().filter((path) => path.startsWith("/p/"));
    // At most the page that was fetched and not stored is fetched twice.
    expect(fetched.length).toBeLessThanOrEqual(13);
    expect(await urls()).toHaveLength(13);
  });

  it("stores nothing more once the document is removed", async () => {
    let removed: Promise<boolean> | undefined;
    site.pages.set("/", htmlPage("Help", "Welcome.", ["/a", "/b"]));
    site.pages.set("/b", htmlPage("B", "Text of B."));
    site.pages.set("/a", {
      answer: (_request, response) => {
        removed = crawling.documents.remove(workspaceId, added.id);
        void removed.then(() => response.writeHead(200, { "content-type": "text/html" }).end(htmlPage("A", "Text.")));
      },
    });
    const added = await crawl();
    while (await crawling.step(added)) expect(await removed).not.toBe(false);
    expect(await removed).toBe(true);
    expect(await crawling.documents.get(workspaceId, added.id)).toBeUndefined();
    for (const table of ["chunks", "documents"] as const) {
      expect(await store.read.selectFrom(table).select("id").where("workspace_id", "=", workspaceId).execute()).toEqual(
        [],
      );
    }
    for (const table of ["crawls", "crawl_pages"] as const) {
      expect(
        await store.read.selectFrom(table).select("document_id").where("document_id", "=", added.id).execute(),
      ).toEqual([]);
    }
    expect(site.paths()).not.toContain("/b");
  });

  it("queues work for a pending site that has none", async () => {
    site.pages.set("/", htmlPage("Help", "Welcome."));
    const added = await crawl();
    await store.write((tx) => tx.deleteFrom("outbox").where("lane", "=", crawling.documents.laneOf(added)).execute());
    expect(await crawling.documents.resumePending()).toBeGreaterThanOrEqual(1);
    await crawling.documents.resumePending();
    expect(await crawling.finish(added)).toMatchObject({ status: "indexed", pages: 1 });
  });

  it("refuses invalid addresses, and crawls of a file", async () => {
    for (const url of [
      "shop.example",
      "ftp://shop.example",
      "https://user:pass@shop.example/",
      "javascript:alert(1)",
    ]) {
      await expect(crawling.documents.crawl({ workspaceId, url })).rejects.toMatchObject({ code: "invalid_parameter" });
    }
    await expect(crawl("/", { sitemap: "https://elsewhere.example/map.xml" })).rejects.toMatchObject({
      code: "invalid_parameter",
    });
    const file = await crawling.documents.add({ workspaceId, fileName: "a.md", bytes: Buffer.from("Text.") });
    await expect(crawling.documents.recrawl(workspaceId, file.id)).rejects.toMatchObject({ code: "not_a_website" });
    expect(await crawling.documents.recrawl(workspaceId, "doc_unknown")).toBeUndefined();
  });
});
