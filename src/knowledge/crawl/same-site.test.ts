import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isSameSite } from "./same-site.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { OpenStore } from "#database/open.ts";
import { skippingClock, startCrawling } from "#test/support/knowledge/crawling.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import type { FakeSite } from "#test/support/servers/fake-site.ts";
import { htmlPage, startSite } from "#test/support/servers/fake-site.ts";
import { newWorkspace } from "#test/support/knowledge/knowledge.ts";

eachDatabase("a crawl of a site with two addresses", (open) => {
  let store: OpenStore;
  let close: () => Promise<void>;
  let site: FakeSite;
  let workspaceId: string;
  const clock = skippingClock();

  beforeAll(async () => {
    ({ store, close } = await openTestStore(open));
    site = await startSite(clock.now);
    workspaceId = await newWorkspace(store);
  });
  afterAll(async () => {
    await site.close();
    await close();
  });

  it("moves to the address that the given one redirects to, and stays there", async () => {
    const { port } = new URL(site.origin);
    const named = startCrawling(store, clock, {
      fetch: openGuardedFetch({
        allowPrivate: ["127.0.0.1"],
        resolve: async () => [{ address: "127.0.0.1", family: 4 }],
      }),
    });
    const [given, own] = [`http://shop.test:${port}`, `http://www.shop.test:${port}`];
    // Both names lead to one server, which redirects to the name with www.
    const page = (path: string, body: string): void => {
      site.pages.set(path, {
        answer: ({ headers }, response) =>
          headers.host === `www.shop.test:${port}`
            ? response.writeHead(200, { "content-type": "text/html" }).end(body)
            : response.writeHead(301, { location: `${own}${path}` }).end(),
      });
    };
    page("/robots.txt", "User-agent: *\nDisallow: /closed\n");
    page("/help/", htmlPage("Help", "Welcome to the shop.", ["/help/b", "/closed", `http://other.test:${port}/`]));
    page("/help/b", htmlPage("B", "The second page."));
    page("/mapped", htmlPage("Mapped", "Only the sitemap knows it."));
    page("/closed", htmlPage("Closed", "Not this."));
    page("/map.xml", `<urlset><url><loc>${own}/mapped</loc></url></urlset>`);
    try {
      const begun = await named.documents.crawl({ workspaceId, url: `${given}/help/`, sitemap: `${given}/map.xml` });
      const done = await named.finish(begun);
      expect(done).toMatchObject({ status: "indexed", pages: 3, error: null, url: `${given}/help/`, title: "Help" });
      const hosts = site.requests.filter(({ path }) => path === "/help/").map(({ headers }) => headers.host);
      expect(hosts).toEqual([`shop.test:${port}`, `www.shop.test:${port}`]);
      expect(site.paths()).not.toContain("/closed");
      site.clearRequests();
      // Later runs start at the new address.
      const again = await named.documents.recrawl(workspaceId, done.id);
      expect(await named.finish(again ?? done)).toMatchObject({ status: "indexed", pages: 3 });
      expect(site.requests.map(({ path, headers }) => [path, headers.host]).slice(0, 2)).toEqual([
        ["/robots.txt", `www.shop.test:${port}`],
        ["/map.xml", `www.shop.test:${port}`],
      ]);
      expect(site.paths()).not.toContain("/closed");
    } finally {
      await named.close();
    }
  });
});

describe("two addresses", () => {
  it.each([
    ["http://shop.test/", "https://shop.test/", true],
    ["http://shop.test/", "https://www.shop.test/help", true],
    ["https://www.shop.test/", "https://shop.test/", true],
    ["https://shop.test/", "http://shop.test/", false],
    ["https://shop.test/", "https://help.shop.test/", false],
    ["https://shop.test/", "https://shop.test.evil.test/", false],
    ["https://shop.test/", "https://shop.test:8443/", false],
  ])("takes %s and %s for one site: %s", (from, to, same) => {
    expect(isSameSite(from, to)).toBe(same);
  });
});
