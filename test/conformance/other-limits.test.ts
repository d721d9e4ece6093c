import { connect } from "node:net";
import { expect, it } from "vitest";
import { eachDatabase } from "../support/database/databases.ts";
import { eachContract } from "../support/http/contract.ts";
import type { TestHttp } from "../support/http/http-server.ts";
import { startHttp } from "../support/http/http-server.ts";

eachDatabase("8.2 time and concurrency", (open) => {
  it("8.2 ends a query after exactly 30 seconds with 504 query_timeout, and stops the work", async () => {
    let stopped = false;
    const asked = Promise.withResolvers<void>();
    const http = await startHttp(open, {
      query: (_query, signal) =>
        new Promise(() => {
          signal.addEventListener("abort", () => (stopped = true));
          asked.resolve();
        }),
    });
    let status: number | undefined;
    const answer = http.post("/v1/query", { workspace_id: http.workspaceId, query: "Hello?" });
    void answer.then((answered) => (status = answered.status));
    await asked.promise;
    http.clock.advance(29_999);
    await http.get("/v1/documents");
    expect([status, stopped]).toEqual([undefined, false]);
    http.clock.advance(1);
    expect(await answer).toMatchObject({ status: 504, body: { code: "query_timeout" } });
    expect(stopped).toBe(true);
    await http.close();
  });

  it("8.2 answers 429 too_many_concurrent_requests to a key's 51st request in flight, and to no other key", async () => {
    const held: (() => void)[] = [];
    const http = await startHttp(open, {
      query: () => new Promise((_, reject) => held.push(() => reject(new Error("over")))),
    });
    const ask = () => http.post("/v1/query", { workspace_id: http.workspaceId, query: "Hello?" });
    const waiting = Array.from({ length: 50 }, ask);
    await expect.poll(() => held.length).toBe(50);
    const refused = await ask();
    expect([refused.status, refused.body.code]).toEqual([429, "too_many_concurrent_requests"]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("x-ratelimit-limit-minute")).toBe("1000");
    for (const end of held) end();
    await Promise.all(waiting);
    expect((await http.get("/v1/documents")).status).toBe(200);
    await http.close();
  });

  it("8.2 counts requests in flight in all processes on the database", async () => {
    const held: (() => void)[] = [];
    const query = () => new Promise<never>((_, reject) => held.push(() => reject(new Error("over"))));
    const database = await open();
    const shared = { url: database.url, remove: async () => undefined };
    const [one, two] = [await startHttp(async () => shared, { query }), await startHttp(async () => shared, { query })];
    const authorization = { authorization: `Bearer ${one.key}` };
    const ask = (http: TestHttp) =>
      http.post("/v1/query", { workspace_id: one.workspaceId, query: "Hello?" }, authorization);
    const waiting = Array.from({ length: 50 }, (_, i) => ask(i % 2 === 0 ? one : two));
    await expect.poll(() => held.length).toBe(50);
    for (const http of [one, two]) {
      const refused = await ask(http);
      expect([refused.status, refused.body.code]).toEqual([429, "too_many_concurrent_requests"]);
      expect(refused.headers.get("retry-after")).toBe("1");
      expect(refused.headers.get("x-ratelimit-limit-minute")).toBe("1000");
    }
    // Another key has its own count in the same processes.
    expect((await two.get("/v1/documents")).status).toBe(200);
    for (const end of held) end();
    await Promise.all(waiting);
    await expect.poll(async () => (await one.get("/v1/documents")).status).toBe(200);
    await one.close();
    await two.close();
    await database.remove();
  });
});

eachContract("9 versioning", (at) => {
  it("9.1 serves the API below /v1 only", async () => {
    for (const path of [
      "/query",
      "/conversations",
      "/documents",
      "/v2/documents",
      "/V1/documents",
      "/api/v1/documents",
    ]) {
      const { status, body } = await at.client.get(path);
      expect([path, status, body.code]).toEqual([path, 404, "not_found"]);
    }
  });

  it("9.1 ignores a version in a header", async () => {
    for (const headers of [
      { accept: "application/vnd.api.v2+json" },
      { "api-version": "2" },
      { accept: "text/html" },
    ]) {
      const answered = await at.client.get("/v1/documents", { headers });
      expect([answered.status, answered.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    }
  });
});

eachDatabase("8.2 clients that disconnect", (open) => {
  it("8.2 stops counting a request whose client has disconnected, however early", async () => {
    const http = await startHttp(open, { query: () => new Promise(() => undefined) });
    const body = `{"workspace_id":"${http.workspaceId}","query":"Hello?"}`;
    const request = `POST /v1/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${http.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    // Sequential requests on one connection, which closes while the key is looked up, or shortly after.
    for (let round = 0; round < 60; round += 1) {
      await new Promise<void>((resolve) => {
        const socket = connect(http.port, "127.0.0.1", () => {
          socket.write(request.repeat(3), () => {
            if (round % 2 === 0) socket.destroy();
            else setImmediate(() => socket.destroy());
          });
        });
        socket.on("error", () => undefined);
        socket.on("close", () => resolve());
      });
    }
    await expect
      .poll(async () => {
        const answers = await Promise.all(Array.from({ length: 45 }, () => http.get("/v1/documents")));
        return [...new Set(answers.map(({ status }) => status))];
      })
      .toEqual([200]);
    await http.close();
  }, 60_000);
});
