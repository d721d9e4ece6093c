import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { bundleForBrowsers } from "#web/build.ts";
import { safeTree } from "#channels/text/markdown.ts";

/** A request to `/admin/v1/`. A test answers it; without an answer of the test the server has one. */
export interface KitRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface KitAnswer {
  readonly status: number;
  readonly body?: unknown;
}

export interface KitServer {
  readonly url: string;
  /** Requests that change something, in their order. */
  readonly changes: KitRequest[];
  /** Answers in place of the server; undefined leaves the request to it. */
  answer: (request: KitRequest) => KitAnswer | Promise<KitAnswer> | undefined;
  role: "admin" | "viewer";
  close(): Promise<void>;
}

/** The policy of the dashboard's own page. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

const shell = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Dashboard</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/dashboard/app.css"></head>
<body><div id="dashboard"></div><script src="/dashboard/app.js" defer></script></body></html>`;

const shops = Array.from({ length: 30 }, (_, index) => ({
  id: `shop_${index}`,
  name: index === 0 ? "متجر الزاوية" : `Shop ${index}`,
  state: (["good", "bad", "wait"] as const)[index % 3],
  orders: index * 1_234,
  last_order_at: index % 4 === 0 ? null : "2031-05-14T08:20:00Z",
}));

/** Serves the page with all components, and imitates what it asks of `/admin/v1/`. */
export async function startKitServer(): Promise<KitServer> {
  const script = await bundleForBrowsers(new URL("kit.tsx", import.meta.url));
  const styles = await bundleForBrowsers(new URL("../../../src/web/dashboard/style.css", import.meta.url));
  const changes: KitRequest[] = [];

  const own = ({ method, path, query, body }: KitRequest): KitAnswer => {
    if (path === "me") {
      const agent = { id: "agt_1", email: "anna@shop.example", name: "Anna", role: kit.role };
      return { status: 200, body: { agent, workspace: { id: "ws_1", name: "Corner shop", plan: "free" } } };
    }
    if (path === "markdown") return { status: 200, body: safeTree((body as { readonly text: string }).text) };
    if (path === "number") return { status: 200, body: { number: 1 } };
    if (method !== "GET") return { status: 204 };
    const state = query.get("state");
    const from = Number(query.get("cursor") ?? 0);
    const matching = shops.filter(
      (shop) => (state === null || shop.state === state) && shop.name.includes(query.get("q") ?? ""),
    );
    const pagination = { next_cursor: String(from + 10), has_more: from + 10 < matching.length };
    return { status: 200, body: { shops: matching.slice(from, from + 10), pagination } };
  };

  const server = createServer((request, response) => {
    const address = new URL(request.url ?? "/", "http://kit.example");
    const send = (status: number, type: string, content: string | Uint8Array): void => {
      response.writeHead(status, { "content-type": type, "content-security-policy": policy }).end(content);
    };
    if (address.pathname === "/dashboard/app.js") return send(200, "text/javascript", script);
    if (address.pathname === "/dashboard/app.css") return send(200, "text/css", styles);
    if (!address.pathname.startsWith("/admin/v1/")) return send(200, "text/html", shell);
    void readJson(request).then(async (body) => {
      const asked = {
        method: request.method ?? "GET",
        path: address.pathname.slice("/admin/v1/".length),
        query: address.searchParams,
        body,
      };
      if (asked.method !== "GET" && asked.path !== "markdown") changes.push(asked);
      const { status, body: answer } = (await kit.answer(asked)) ?? own(asked);
      send(status, "application/json", answer === undefined ? "" : JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const kit: KitServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    changes,
    answer: () => undefined,
    role: "admin",
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return kit;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}
