import { Agent, request } from "node:http";
import { connect } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { randomCases } from "#test/support/tier.ts";
import { problemStatus } from "#domain/problem.ts";
import type { TestApp, TestWorkspace } from "../support/http/app.ts";
import { startApp } from "../support/http/app.ts";
import { clientOf } from "../support/http/contract.ts";
import { dashboardUser } from "../support/http/administrators.ts";
import { eachDatabase, newSqlite } from "../support/database/databases.ts";
import type { FuzzedRequest } from "../support/fuzz.ts";
import { marker, rawRequest, requestOf } from "../support/fuzz.ts";
import type { Operation } from "../support/http/openapi.ts";
import { operationsOf } from "../support/http/openapi.ts";

interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const seed = 20_310_414;
/** Slices keep each test short, and show roughly where a failure is. */
const slices = { SQLite: { http: 17, admin: 4, raw: 3 }, MySQL: { http: 3, admin: 1, raw: 1 } };
const perSlice = 500;

/** Invalid HTTP is answered with these statuses. */
const rawStatuses: Readonly<Record<string, readonly number[]>> = {
  invalid_parameter: [400, 408],
  payload_too_large: [431],
};

eachDatabase("ten thousand malformed requests", (open) => {
  const own = open === newSqlite ? "SQLite" : "MySQL";
  let app: TestApp;
  let mine: TestWorkspace;
  let ids: readonly string[];
  let secretsAndMarkers: readonly string[];
  let resources: number;
  let operations: readonly Operation[];
  let accessToken: string;
  /** The codes of all answers: a single code would mean that the requests reached little. */
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
    // An id from another workspace may come back in an error message, so the search is for its contents.
    secretsAndMarkers = [
      app.workspace.key,
      app.workspace.identitySecret,
      mine.identitySecret,
      "xylotherium",
      "zyxomma",
      "a secret for tests",
    ];
    operations = await operationsOf(app.url);
    // The administrator of a workspace of its own, since accepted changes of settings have effects.
    const administrator = await dashboardUser(app, "admin", { workspaceId: (await app.createWorkspace()).id });
    const made = await administrator.call("POST", "access-tokens", {
      name: "Fuzz",
      scope: "write",
      expires_at: new Date(app.clock.now() + 30 * 86_400_000).toISOString(),
    });
    accessToken = (made.body as { readonly token: string }).token;
    // Opens the connections of the database and of the tests' own client, which stay open anyway.
    await Promise.all(Array.from({ length: 45 }, () => client.get("/v1/documents")));
    resources = tcp();
  });
  afterAll(async () => {
    agent.destroy();
    await app.close();
  });

  const send = ({ method, path, headers, body }: FuzzedRequest): Promise<HttpAnswer> =>
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

  /** Returns what is wrong with an answer; undefined if nothing is. */
  function faultOf({ status, type, text }: HttpAnswer, head: boolean): string | undefined {
    answers.add(/"code":"(\w+)"/.exec(text)?.[1] ?? String(status));
    if (status >= 500) return "it is a 5xx";
    const leak =
      /node_modules|\.ts:\d|at async |SQLITE|\bER_[A-Z]{3}|select .* from|insert into|\/tmp\/|\/dev\/shm|parley-data/i.exec(
        text,
      );
    if (leak !== null) return `it shows ${leak[0]}`;
    const secret = secretsAndMarkers.find((each) => text.includes(each));
    if (secret !== undefined) return `it shows ${secret}`;
    if ((status >= 200 && status < 300) || head || status === 100) return undefined;
    // The root path redirects to the inbox.
    if (status === 302 && text === "") return undefined;
    if (!type.startsWith("application/json")) return `it is ${type}`;
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return "it is no JSON";
    }
    if (typeof body !== "object" || body === null) return "it is no object";
    // OAuth has errors of its own (RFC 6749, section 5.2).
    if (Object.keys(body).join() === "error,error_description" && [400, 401].includes(status)) return undefined;
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

  const faults = (requests: fc.Arbitrary<FuzzedRequest>, slice: number) =>
    inGroups(fc.sample(requests, { numRuns: perSlice, seed: seed + slice }), async (sample) =>
      faultOf(await send(sample), sample.method === "HEAD"),
    );

  it.each(Array.from({ length: randomCases(slices[own].http) }, (_, slice) => slice))(
    "get an answer below 500 without secrets or internals: slice %i of requests",
    async (slice) => {
      const ofKeys = operations.filter(({ path }) => path.startsWith("/v1/"));
      const wrong = await faults(requestOf(ofKeys, mine.key, mine.id, ids), slice);
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  it.each(Array.from({ length: randomCases(slices[own].admin) }, (_, slice) => slice))(
    "get an answer below 500 without secrets or internals: slice %i of administration and OAuth",
    async (slice) => {
      // Channels, checks and tests connect to other hosts.
      const administration = operations.filter(({ path }) =>
        /^\/(?:oauth|admin)\/(?!v1\/channels|.*\/(?:check|test)$)/.test(path),
      );
      const wrong = await faults(requestOf(administration, accessToken, mine.id, ids), slice);
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  /**
   * Sends bytes and returns the whole answer when the server has closed the connection. Fails after 30 s of silence.
   */
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

  it.each(Array.from({ length: randomCases(slices[own].raw) }, (_, slice) => slice))(
    "get an answer below 500, or a closed connection: slice %i of bytes",
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
        // Several answers cannot be split reliably, so only the text is checked.
        if (rest.length !== 1 || status === 100) return faultOf({ status: 200, type: "", text: answer }, true);
        const type = /^content-type: (.*)$/im.exec(head)?.[1]?.trim() ?? "";
        const chunked = /^transfer-encoding: chunked/im.test(head);
        return faultOf({ status, type, text: rest[0] ?? "" }, chunked || bytes.subarray(0, 4).toString() === "HEAD");
      });
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  it("reach deep into the program, and are refused for many different reasons", () => {
    // oxfmt-ignore
    const expected = [
      "200", "202", "invalid_json", "missing_field", "invalid_parameter", "invalid_cursor", "invalid_workspace_id",
"conversation_not_found", "document_not_found", "method_not_allowed", "payload_too_large",
      "unsupported_media_type", "missing_auth",
    ];
    expect(expected.filter((each) => !answers.has(each))).toEqual([]);
  });

  it("smuggle no second request past the first", () => {
    expect(app.logged.filter((line) => line.includes("/v1/smuggled"))).toEqual([]);
  });

  it("have no lasting effect: the program answers as before, and stores nothing of them", async () => {
    agent.destroy();
    await expect.poll(tcp).toBeLessThanOrEqual(resources + 2);
    const client = clientOf(app, mine);
    const after = await Promise.all(Array.from({ length: 45 }, () => client.get("/v1/documents")));
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await client.ask()).status).toBe(200);
    expect((await clientOf(app, app.workspace).single(ids[3] ?? "")).status).toBe("open");
  }, 60_000);

  it("write no error, no secret and none of their content to the log", () => {
    const errors = app.logged.filter((line) => Number(/"level":(\d+)/.exec(line)?.[1]) >= 50);
    expect(errors).toEqual([]);
    const log = app.logged.join("");
    for (const each of [...secretsAndMarkers, mine.key, marker])
      expect([each, log.includes(each)]).toEqual([each, false]);
  });
});
