import { once } from "node:events";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ShopRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A company's own HTTP server whose answers a test sets. */
export interface ShopServer {
  readonly url: string;
  readonly requests: ShopRequest[];
  answer: (request: ShopRequest, response: ServerResponse) => void;
  close(): Promise<void>;
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

export async function startShopServer(): Promise<ShopServer> {
  const requests: ShopRequest[] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of incoming) body += String(chunk);
      const request = { method: incoming.method ?? "", url: incoming.url ?? "", headers: incoming.headers, body };
      requests.push(request);
      shop.answer(request, response);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const shop: ShopServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (_request, response) => sendJson(response, {}, 404),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return shop;
}
