import { Agent, request } from "node:http";
import { connect } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { problemStatus } from "#domain/problem.ts";
import type { TestApp, TestWorkspace } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { clientOf } from "../support/http/contract.ts";
import { eachDatabase, newSqlite } from "../support/database/databases.ts";
import type { FuzzedRequest } from "../support/fuzz.ts";
import { marker, rawRequest, requestOf } from "../support/fuzz.ts";
import { operationsOf } from "../support/http/openapi.ts";

interface Got {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const seed = 20_310_414;
/** In slices, so that a failure says roughly where, and none takes long. */
const slices = { SQLite: { http: 17, raw: 3 }, MySQL: { http: 3, raw: 1 } };
const perSlice = 500;

/** What is not HTTP is answered by a status of its own. */
const rawStatuses: Readonly<Record<string, readonly number[]>> = {
  invalid_parameter: [400, 408],
  payload_too_large: [431],
};

eachDatabase("ten thousand malformed requests", (open) => {
  const own = open === newSqlite ? "SQLite" : "MySQL";
  let app: TestApp;
  let mine: TestWorkspace;
  let ids: readonly string[];
  let never: readonly string[];
  let resources: number;
  /** What was answered: if nearly all were refused for the same reason, little was tried. */
  const answers = new Set<string>();
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const tcp = (): number => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

  beforeAll(async () => {
    app = await startApp(open);
    mine = await app.createWorkspace({ plan: "enterprise", settings: { lowAnswersToEscalate: 1_000_000 } });
    const foreign = clientOf(app, app.workspace);
    const secret = await foreign.begin("The foreign conversation's own words: xylotherium");
    const document = await app.learn("foreign.md", "# Foreign\n\nThe zyxomma sleeps in the foreign document.");
    const client = clientOf(app, mine);
    ids = [
      await client.begin(),
      await client.in("claimed"),
      await client.in("resolved"),
      secret,
      document,
      "conv_none",
    ];
    // Ids of others may come back where a message says which one was not found, so what they hold is looked for.
    never = [
      app.workspace.key,
      app.workspace.identitySecret,
      mine.identitySecret,
      "xylotherium",
      "zyxomma",
      "a secret for tests",
    ];
    // What is kept open in any case: the database's connections and those of the tests' own client.
    await Promise.all(Array.from({ length: 45 }, () => client.get("/v1/documents")));
    resources = tcp();
  });
  afterAll(async () => {
    agent.destroy();
    await app.close();
  });

  const send = ({ method, path, headers, body }: FuzzedRequest): Promise<Got> =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          host: "127.0.0.1",
          port: new URL(app.url).port,
          method,
          path,
          headers: [
            ...(headers.some(([name]) => name === "host") ? [] : ["host", "parley.test"]),
            ...headers.flat(),
            ...(body === null ? [] : ["content-length", String(body.length)]),
          ],
          agent,
          timeout: 30_000,
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.on("error", reject);
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              type: response.headers["content-type"] ?? "",
              text: Buffer.concat(parts).toString(),
            }),
          );
        },
      );
      sent.on("timeout", () => sent.destroy(new Error("no answer within 30 s")));
      sent.on("error", reject);
      sent.end(body ?? undefined);
    });

  /** What is wrong about an answer; undefined: nothing. */
  function complaint({ status, type, text }: Got, head: boolean): string | undefined {
    answers.add(/"code":"(\w+)"/.exec(text)?.[1] ?? String(status));
    if (status >= 500) return "it is a 5xx";
    const leak =
      /node_modules|\.ts:\d|at async |SQLITE|\bER_[A-Z]{3}|select .* from|insert into|\/tmp\/|\/dev\/shm|parley-data/i.exec(
        text,
      );
    if (leak !== null) return `it shows ${leak[0]}`;
    const secret = never.find((each) => text.includes(each));
    if (secret !== undefined) return `it shows ${secret}`;
    if ((status >= 200 && status < 300) || head || status === 100) return undefined;
    // The bare address leads to the inbox.
    if (status === 302 && text === "") return undefined;
    if (!type.startsWith("application/json")) return `it is ${type}`;
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return "it is no JSON";
    }
    if (typeof body !== "object" || body === null) return "it is no object";
    if (Object.keys(body).toSorted().join() !== "code,detail,request_id") return "it has other fields";
    const { code, detail, request_id } = body as Readonly<Record<string, unknown>>;
    if (typeof code !== "string" || !Object.hasOwn(problemStatus, code)) return "its code is not in the table";
    const expected = [Reflect.get(problemStatus, code) as number, ...(rawStatuses[code] ?? [])];
    if (!expected.includes(status)) return `its code belongs to ${expected.join()}`;
    if (typeof detail !== "string" || detail === "" || detail.length > 2_000)
      return "its detail says nothing, or everything";
    return typeof request_id === "string" && /^req_[0-9a-z]{26}$/.test(request_id) ? undefined : "it has no request id";
  }

  async function inGroups<T>(
    all: readonly T[],
    one: (each: T) => Promise<string | undefined>,
  ): Promise<readonly (readonly [string, string])[]> {
    const wrong: (readonly [string, string])[] = [];
    for (let i = 0; i < all.length; i += 12) {
      await Promise.all(
        all.slice(i, i + 12).map(async (each) => {
          const what = await one(each).catch((error: unknown) => `it was not answered: ${String(error)}`);
          if (what !== undefined) wrong.push([what, shortened(each)]);
        }),
      );
    }
    return wrong.slice(0, 5);
  }

  const shortened = (sample: unknown): string =>
    Buffer.isBuffer(sample)
      ? sample.toString("latin1").slice(0, 600)
      : JSON.stringify(sample, (_name, value: unknown) =>
          typeof value === "object" && value !== null && "type" in value && value.type === "Buffer"
            ? Buffer.from((value as unknown as { data: number[] }).data)
                .toString("latin1")
                .slice(0, 600)
            : value,
        ).slice(0, 1_500);

  it.each(Array.from({ length: slices[own].http }, (_, slice) => slice))(
    "get an answer below 500 that tells nothing it should not: slice %i of requests",
    async (slice) => {
      const operations = await operationsOf(app.url);
      const samples = fc.sample(requestOf(operations, mine.key, mine.id, ids), {
        numRuns: perSlice,
        seed: seed + slice,
      });
      const wrong = await inGroups(samples, async (sample) => complaint(await send(sample), sample.method === "HEAD"));
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  /** All that comes back until the other side closes, or is silent after having answered. */
  const dial = (bytes: Buffer): Promise<string> =>
    new Promise((resolve, reject) => {
      let answer = "";
      const socket = connect(Number(new URL(app.url).port), "127.0.0.1", () => socket.end(bytes));
      socket.setTimeout(30_000, () => socket.destroy(new Error("neither an answer nor an end within 30 s")));
      socket.on("data", (data) => (answer += data.toString("latin1")));
      socket.on("error", (error: NodeJS.ErrnoException) =>
        ["ECONNRESET", "EPIPE"].includes(error.code ?? "") ? resolve(answer) : reject(error),
      );
      socket.on("close", () => resolve(answer));
    });

  it.each(Array.from({ length: slices[own].raw }, (_, slice) => slice))(
    "get an answer below 500, or the end of the connection: slice %i of bytes",
    async (slice) => {
      const samples = fc.sample(rawRequest(mine.key, mine.id), { numRuns: perSlice, seed: seed + slice });
      const wrong = await inGroups(samples, async (bytes) => {
        const answer = await dial(bytes);
        if (answer === "") return undefined;
        const [head = "", ...rest] = answer.split("\r\n\r\n");
        const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
        if (Number.isNaN(status)) return `it answered ${answer.slice(0, 100)}`;
        for (const [, each] of answer.matchAll(/HTTP\/1\.1 (\d{3}) /g))
          if (Number(each) >= 500) return `it is a ${each}`;
        // Of several answers only the first can be told apart for sure.
        if (rest.length !== 1 || status === 100) return complaint({ status: 200, type: "", text: answer }, true);
        const type = /^content-type: (.*)$/im.exec(head)?.[1]?.trim() ?? "";
        const chunked = /^transfer-encoding: chunked/im.test(head);
        return complaint({ status, type, text: rest[0] ?? "" }, chunked || bytes.subarray(0, 4).toString() === "HEAD");
      });
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  it("reach deep into the program, and are refused for all kinds of reasons", () => {
    // oxfmt-ignore
    const expected = [
      "200", "202", "invalid_json", "missing_field", "invalid_parameter", "invalid_cursor", "invalid_workspace_id",
"conversation_not_found", "document_not_found", "method_not_allowed", "payload_too_large",
      "unsupported_media_type", "missing_auth",
    ];
    expect(expected.filter((each) => !answers.has(each))).toEqual([]);
  });

  it("slip no second request past the first", () => {
    expect(app.logged.filter((line) => line.includes("/v1/smuggled"))).toEqual([]);
  });

  it("leave nothing behind: the program answers as before, and holds nothing of them", async () => {
    agent.destroy();
    await expect.poll(tcp, { timeout: 20_000 }).toBeLessThanOrEqual(resources + 2);
    const client = clientOf(app, mine);
    const after = await Promise.all(Array.from({ length: 45 }, () => client.get("/v1/documents")));
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await client.ask()).status).toBe(200);
    expect((await clientOf(app, app.workspace).single(ids[3] ?? "")).status).toBe("open");
  }, 60_000);

  it("write no error, no secret and nothing that they said into the log", () => {
    const errors = app.logged.filter((line) => Number(/"level":(\d+)/.exec(line)?.[1]) >= 50);
    expect(errors).toEqual([]);
    const log = app.logged.join("");
    for (const each of [...never, mine.key, marker]) expect([each, log.includes(each)]).toEqual([each, false]);
  });
});
