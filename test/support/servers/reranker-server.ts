import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface RerankRequest {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n: number;
}

export interface RerankerServer {
  readonly url: string;
  readonly apiKey: string;
  readonly requests: readonly RerankRequest[];
  /** Scores a document; tests replace it. */
  score: (document: string, query: string) => number;
  /** `short`: refuses documents of more than 500 characters, as models with a short limit; `short_500`: with 500. */
  behave(as: "well" | "away" | "failing" | "broken" | "foreign" | "short" | "short_500" | "hang"): void;
  close(): Promise<void>;
}

/** A server with Cohere's `/rerank`. Its results are not in the order of their scores: clients must use these. */
export async function startRerankerServer(): Promise<RerankerServer> {
  const apiKey = "a-key-for-ranking";
  const requests: RerankRequest[] = [];
  let behaviour: Parameters<RerankerServer["behave"]>[0] = "well";
  const server = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const chunk of request) text += String(chunk);
      const reply = (status: number, body: unknown): void => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(typeof body === "string" ? body : JSON.stringify(body));
      };
      if (request.url !== "/v2/rerank" || request.method !== "POST") return reply(404, { message: "not here" });
      if (request.headers.authorization !== `Bearer ${apiKey}`) return reply(401, { message: "no api key supplied" });
      const asked = JSON.parse(text) as RerankRequest;
      requests.push(asked);
      const { query, documents, top_n: count } = asked;
      if (asked.model === "unknown") return reply(400, { message: "unknown model" });
      if (query === "" || documents.length === 0 || count < 1) return reply(400, { message: "not as described" });
      if (behaviour === "hang") return undefined;
      if (behaviour === "away") return request.socket.destroy();
      if (behaviour === "failing") return reply(500, { message: "overloaded" });
      if (behaviour === "broken") return reply(200, '{"results": [{"index": 0,');
      if (behaviour.startsWith("short") && documents.some((each) => each.length > 500))
        return reply(behaviour === "short" ? 400 : 500, { message: "input is too large to process" });
      const results = documents
        .map((document, index) => ({ index, relevance_score: served.score(document, query) }))
        .toSorted((left, right) => right.relevance_score - left.relevance_score)
        .slice(0, count)
        .toReversed();
      if (behaviour === "foreign") results.push({ index: documents.length, relevance_score: 1 });
      return reply(200, { id: "1", results, meta: { api_version: { version: "2" } } });
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const served: RerankerServer = {
    url: `http://127.0.0.1:${port}/v2`,
    apiKey,
    requests,
    score: () => 0,
    behave(as) {
      behaviour = as;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return served;
}
