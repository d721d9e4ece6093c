import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Page {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Writes the response instead of the fields above. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface SiteRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The time of the test's clock. */
  readonly at: number;
}

export interface FakeSite {
  readonly origin: string;
  /**
   * Pages by path with query; other paths answer 404. A string is an HTML page. Tests may change the map at any time.
   */
  readonly pages: Map<string, string | Page>;
  readonly requests: readonly SiteRequest[];
  /** The most requests that were open at once. */
  readonly together: () => number;
  paths(): string[];
  clearRequests(): void;
  close(): Promise<void>;
}

/** A website on a port of its own. */
export async function startSite(now: () => number = Date.now): Promise<FakeSite> {
  const pages = new Map<string, string | Page>();
  const requests: SiteRequest[] = [];
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => {
    open += 1;
    most = Math.max(most, open);
    response.once("close", () => (open -= 1));
    const path = request.url ?? "/";
    requests.push({ path, headers: request.headers, at: now() });
    const found = pages.get(path);
    if (found === undefined) {
      response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not here</h1><p>There is nothing.</p>");
      return;
    }
    const page: Page = typeof found === "string" ? { body: found } : found;
    if (page.answer !== undefined) {
      page.answer(request, response);
      return;
    }
    const { etag } = page.headers ?? {};
    if (etag !== undefined && request.headers["if-none-match"] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    response.writeHead(page.status ?? 200, { "content-type": "text/html; charset=utf-8", ...page.headers });
    response.end(page.body ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    pages,
    requests,
    together: () => most,
    paths: () => requests.map(({ path }) => path),
    clearRequests() {
      requests.length = 0;
      most = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A typical page: navigation, its own text, and links to other pages. */
export function htmlPage(title: string, text: string, links: readonly string[] = [], head = ""): string {
  const list = links.map((link) => `<a href="${link}">Page ${link}</a>`).join(" ");
  return `<!doctype html><html><head><title>${title}</title>${head}</head><body><nav>${list}</nav><main><h1>${title}</h1><p>${text}</p></main></body></html>`;
}
