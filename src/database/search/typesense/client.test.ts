import { expect, it } from "vitest";
import { createTypesense } from "./client.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";

it("sends one request at a time to a hanging server, and fails the others at once", async () => {
  const engine = await startTypesense();
  const typesense = createTypesense({ urls: [engine.url], apiKey: engine.apiKey });
  const ask = (timeoutMs?: number) =>
    typesense.request("GET", "/aliases", timeoutMs === undefined ? {} : { timeoutMs });
  const askMany = (timeoutMs?: number): Promise<readonly PromiseSettledResult<unknown>[]> =>
    Promise.allSettled(Array.from({ length: 20 }, () => ask(timeoutMs)));
  engine.behave("hang");
  await expect(ask(300)).rejects.toThrow("no answer in time");
  const before = engine.requests.length;
  const answers = await askMany(300);
  expect(answers.filter(({ status }) => status === "fulfilled")).toEqual([]);
  expect(engine.requests.length - before).toBeLessThanOrEqual(1);
  engine.behave("well");
  expect((await ask()).status).toBe(200);
  expect((await askMany()).filter(({ status }) => status === "fulfilled")).toHaveLength(20);
  await engine.close();
});
