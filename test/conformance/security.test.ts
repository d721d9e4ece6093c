import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { connect } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { revokeKey } from "#admin/api-keys.ts";
import type { App } from "#http/app-type.ts";
import type { Answered } from "../support/http/app.ts";
import type { Client } from "../support/http/contract.ts";
import { eachContract } from "../support/http/contract.ts";
import { newSqlite } from "../support/database/databases.ts";
import { startApp } from "../support/http/app.ts";
import { startHttp } from "../support/http/http-server.ts";
import type { Operation } from "../support/http/openapi.ts";
import { minimalValueOf, operationsOf } from "../support/http/openapi.ts";
import { readSourceTree } from "../support/project/source-tree.ts";

/** Builds an operation's request with these ids in its path and this workspace in every field that names one. */
function requestOf(
  { method, path, parameters, body }: Operation,
  ids: Readonly<Record<string, string>>,
  workspaceId: string,
) {
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => ids[name] ?? `no-${name}`);
  const query = parameters.some((each) => each.in === "query" && each.name === "workspace_id");
  let given: unknown;
  if (body?.mediaType === "multipart/form-data") {
    const form = new FormData();
    form.append("workspace_id", workspaceId);
    form.append("file", new Blob(["Some text."]), "matrix.txt");
    given = form;
  } else if (body !== undefined) {
    const least = minimalValueOf(body.schema) as Record<string, unknown>;
    if (Object.hasOwn(body.schema.properties ?? {}, "workspace_id")) least["workspace_id"] = workspaceId;
    if (Object.hasOwn(body.schema.properties ?? {}, "conversation_ids")) {
      least["conversation_ids"] = [ids["conversation_id"]];
      Object.assign(least, { action: "resolve" });
    }
    given = least;
  }
  return {
    method,
    path: query ? `${filled}?workspace_id=${workspaceId}` : filled,
    options: given === undefined ? {} : { body: given },
  };
}

eachContract("access", (at) => {
  let operations: readonly Operation[];
  let ids: Record<string, string>;
  let other: Client;
  beforeAll(async () => {
    // API keys never reach administration: another test tries each of its routes.
    operations = (await operationsOf(at.app.url)).filter(({ path }) => path.startsWith("/v1/"));
    ids = {
      conversation_id: await at.client.begin(),
      document_id: await at.app.learn("matrix.md", "# Matrix\n\nText."),
    };
    ids["contact_id"] = (await at.client.single(ids["conversation_id"] ?? "")).contact_id;
    other = await at.fresh();
  });

  const every = async (
    key: string | null,
    check: (answered: Answered, name: string) => void,
    workspaceId = at.client.id,
    given = ids,
  ) => {
    expect(operations.length).toBeGreaterThan(13);
    for (const operation of operations) {
      const { method, path, options } = requestOf(operation, given, workspaceId);
      check(await at.app.call(method, path, { ...options, key }), `${operation.method} ${operation.path}`);
    }
  };
  const refuses = (status: number, code: string) => (answered: Answered, name: string) =>
    expect([name, answered.status, answered.body.code]).toEqual([name, status, code]);

  it("requires a key on every operation", () => every(null, refuses(401, "missing_auth")));

  it("refuses a malformed key on every operation", () => every("nonsense", refuses(401, "malformed_auth")));

  it("refuses a key that never existed on every operation", () =>
    every(`ak_abcdef_${"0".repeat(32)}`, refuses(401, "invalid_key")));

  it("refuses a revoked key on every operation", async () => {
    const { id, key } = await at.app.createKey();
    await revokeKey(at.app.store, at.app.clock, id);
    await every(key, refuses(401, "invalid_key"));
  });

  it("refuses an expired key on every operation", async () => {
    const { id: workspaceId } = await at.fresh({ plan: "enterprise" });
    const { key } = await at.app.createKey({ workspaceId, expiresAt: at.app.clock.now() + 1 });
    at.app.clock.advance(1);
    await every(key, refuses(401, "expired_key"));
  });

  it("answers 404 to the key of a deleted workspace on every operation", async () => {
    const gone = await at.fresh();
    await at.app.store.write((tx) =>
      tx.updateTable("workspaces").set({ deleted_at: at.app.clock.now() }).where("id", "=", gone.id).execute(),
    );
    await every(gone.key, refuses(404, "workspace_not_found"), gone.id);
  });

  it("refuses another workspace's key, whatever it names", async () => {
    const before = [await at.client.single(ids["conversation_id"] ?? ""), (await at.client.get("/v1/documents")).body];
    // First the key's own workspace with our ids, then our workspace with our ids.
    for (const workspaceId of [other.id, at.client.id]) {
      await every(
        other.key,
        ({ status, text }, name) => {
          expect([name, status < 500, text.includes(at.client.id)]).toEqual([name, true, false]);
          if (name.includes("{") || workspaceId === at.client.id) {
            expect([name, [200, 403, 404, 415].includes(status)]).toEqual([name, true]);
          }
        },
        workspaceId,
      );
    }
    expect([await at.client.single(ids["conversation_id"] ?? ""), (await at.client.get("/v1/documents")).body]).toEqual(
      before,
    );
  });

  it("answers 403 if another owner's workspace is named", async () => {
    for (const operation of operations) {
      const { method, path, options } = requestOf(operation, ids, at.client.id);
      const names =
        path.includes("workspace_id=") ||
        JSON.stringify(options).includes(at.client.id) ||
        options.body instanceof FormData;
      if (!names || path.includes(ids["conversation_id"] ?? "-")) continue;
      const answered = await at.app.call(method, path, { ...options, key: other.key });
      expect([method, path, answered.status, answered.body.code]).toEqual([
        method,
        path,
        403,
        "workspace_access_denied",
      ]);
    }
  });

  it("answers another owner's ids exactly like unknown ones", async () => {
    const missing = {
      conversation_id: "conv_01hzzzzzzzzzzzzzzzzzzzzzzz",
      document_id: "doc_01hzzzzzzzzzzzzzzzzzzzzzzz",
      contact_id: "con_01hzzzzzzzzzzzzzzzzzzzzzzz",
    };
    const shown = ({ status, body, headers }: Answered) => {
      const text = JSON.stringify({ ...body, request_id: "" });
      const ownIds = [...Object.values(ids), ...Object.values(missing)];
      return {
        status,
        text: ownIds.reduce((all, id) => all.replaceAll(id, "ID"), text),
        headers: [...headers.keys()].toSorted().filter((name) => name !== "retry-after"),
      };
    };
    let compared = 0;
    for (const operation of operations) {
      const foreign = requestOf(operation, ids, other.id);
      const absent = requestOf(operation, missing, other.id);
      if (JSON.stringify([foreign.path, foreign.options]) === JSON.stringify([absent.path, absent.options])) continue;
      compared += 1;
      const [a, b] = [
        await at.app.call(foreign.method, foreign.path, { ...foreign.options, key: other.key }),
        await at.app.call(absent.method, absent.path, { ...absent.options, key: other.key }),
      ];
      expect([operation.path, shown(a)]).toEqual([operation.path, shown(b)]);
      if (operation.path.includes("{")) expect([operation.path, a.status]).toEqual([operation.path, 404]);
    }
    expect(compared).toBeGreaterThan(7);
  });

  it("protects every answer of the API equally, with no other origin allowed to read it", async () => {
    await every(
      at.client.key,
      ({ headers }, name) => {
        expect([name, headers.get("x-content-type-options"), headers.get("cache-control")]).toEqual([
          name,
          "nosniff",
          "no-store",
        ]);
        expect([...headers.keys()].filter((header) => header.startsWith("access-control-"))).toEqual([]);
        expect(headers.get("x-powered-by")).toBeNull();
        expect(headers.get("server")).toBeNull();
        expect(headers.get("set-cookie")).toBeNull();
      },
      at.client.id,
      { conversation_id: "conv_none", document_id: "doc_none", contact_id: "con_none" },
    );
  });
});

describe("the API's surface", () => {
  it("equals the reference: every route of the program, and no other", async () => {
    const registered: string[] = [];
    const collect = (message: unknown): void => {
      const { fastify } = message as { readonly fastify: App };
      fastify.addHook("onRoute", ({ method, url }) => {
        const path = url.replaceAll(/:([a-z_]+)/g, "{$1}");
        if (/^\/(?:(?:admin\/)?v1|oauth|\.well-known)\/[^*]/.test(path))
          registered.push(...[method].flat().map((each) => `${each} ${path}`));
      });
    };
    subscribe("fastify.initialization", collect);
    const app = await startApp(newSqlite);
    unsubscribe("fastify.initialization", collect);
    const documented = (await operationsOf(app.url)).map(({ method, path }) => `${method} ${path}`);
    await app.close();
    const own = registered.filter((route) => !route.startsWith("HEAD "));
    expect(own.toSorted()).toEqual(documented.toSorted());
    expect(own.length).toBeGreaterThan(100);
  });

  it("keeps the headers of each kind of page", async () => {
    const app = await startApp(newSqlite);
    const shown: Record<string, unknown> = {};
    for (const path of [
      "/v1/documents",
      "/nothing",
      "/openapi.json",
      "/docs",
      "/health/live",
      "/metrics",
      "/inbox",
      "/inbox/login",
      "/dashboard",
      "/inbox/api/me",
      `/chat/${app.workspace.id}`,
      "/chat/none",
      "/channels/telegram/none",
    ]) {
      const { headers, status } = await fetch(`${app.url}${path}`, {
        redirect: "manual",
        headers: { origin: "https://evil.test" },
      });
      const protection = [...headers].filter(([name]) =>
        /policy|frame|options|access-control|cache-control/.test(name),
      );
      const short = protection.map(([name, value]) => `${name}: ${value.replaceAll(/'sha256-[^']+'/g, "'sha256-…'")}`);
      shown[path.replace(app.workspace.id, "ID")] = [status, ...short];
    }
    await app.close();
    expect(shown).toMatchInlineSnapshot(`
      {
        "/channels/telegram/none": [
          404,
          "x-content-type-options: nosniff",
        ],
        "/chat/ID": [
          200,
          "cache-control: no-cache",
          "content-security-policy: default-src 'none'; script-src 'self'; style-src 'sha256-…'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; require-trusted-types-for 'script'",
          "referrer-policy: strict-origin-when-cross-origin",
          "x-content-type-options: nosniff",
        ],
        "/chat/none": [
          404,
          "access-control-allow-origin: *",
          "content-security-policy: default-src 'none'; frame-ancestors 'none'",
          "referrer-policy: strict-origin-when-cross-origin",
          "x-content-type-options: nosniff",
        ],
        "/dashboard": [
          303,
          "x-content-type-options: nosniff",
        ],
        "/docs": [
          200,
          "content-security-policy: default-src 'none'; style-src 'sha256-…'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
          "referrer-policy: no-referrer",
          "x-content-type-options: nosniff",
          "x-frame-options: DENY",
        ],
        "/health/live": [
          200,
          "x-content-type-options: nosniff",
        ],
        "/inbox": [
          303,
          "x-content-type-options: nosniff",
        ],
        "/inbox/api/me": [
          401,
          "cache-control: no-store",
          "x-content-type-options: nosniff",
        ],
        "/inbox/login": [
          200,
          "cache-control: no-store",
          "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
          "cross-origin-opener-policy: same-origin",
          "referrer-policy: same-origin",
          "x-content-type-options: nosniff",
          "x-frame-options: DENY",
        ],
        "/metrics": [
          404,
          "x-content-type-options: nosniff",
        ],
        "/nothing": [
          404,
          "x-content-type-options: nosniff",
        ],
        "/openapi.json": [
          200,
          "x-content-type-options: nosniff",
        ],
        "/v1/documents": [
          401,
          "cache-control: no-store",
          "x-content-type-options: nosniff",
        ],
      }
    `);
  });
});

describe("slow clients", () => {
  it("are disconnected in time while other requests succeed", async () => {
    const http = await startHttp(newSqlite, {
      timeouts: { firstByteMs: 300, headersMs: 400, requestMs: 800, checkMs: 50, keepAliveMs: 300 },
    });
    const auth = `Authorization: Bearer ${http.key}\r\nContent-Type: application/json\r\n`;
    const begin = `POST /v1/query HTTP/1.1\r\nHost: x\r\n${auth}`;
    /** Sends the beginning, then single bytes, which must not keep the connection open. */
    const slow = (first: string, drop: string): Promise<void> =>
      new Promise((resolve) => {
        const socket = connect(http.port, "127.0.0.1", () => socket.write(first));
        const timer = drop === "" ? undefined : setInterval(() => socket.write(drop), 40);
        socket.on("error", () => undefined);
        socket.on("data", () => undefined);
        socket.on("close", () => {
          clearInterval(timer);
          resolve();
        });
      });
    const kinds = [
      ["", ""],
      ["GET ", ""],
      ["G", "E"],
      [`${begin}X-Slow: `, "a"],
      [begin, "X-Another: header\r\n"],
      [`${begin}Content-Length: 1000\r\n\r\n{`, " "],
      [`${begin}Transfer-Encoding: chunked\r\n\r\n`, "1\r\n \r\n"],
      [`GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n`, ""],
    ] as const;
    const all = Array.from({ length: 10 }, () => kinds.map(([first, drop]) => slow(first, drop))).flat();
    const good = [];
    for (let i = 0; i < 40; i += 1) good.push((await http.get("/v1/documents")).status);
    expect(new Set(good)).toEqual(new Set([200]));
    // Without limits none of the connections would ever close.
    await Promise.all(all);
    expect((await http.get("/health/live")).status).toBe(200);
    await http.close();
  }, 60_000);
});

describe("the code", () => {
  // oxfmt-ignore
  const secretName = /(^|[._])(signature|hmac|mac|secret|token|password|proof|digest|csrf|apiKey|hash)$|[a-z](Signature|Hmac|Mac|Secret|Token|Password|Proof|Digest|Csrf|Key)$/;
  const harmless = /^(undefined|null|true|false|"[^"]*"|'[^']*'|`[^`]*`|-?\d[\d_]*)$/;
  /** Names that look like secrets but are not. */
  const none = /\.(body|content|fetched)_hash\b/;

  function comparisons(text: string): readonly string[] {
    const operand = String.raw`[\w.?\[\]"]+(?:\(\))?`;
    const found = [...text.matchAll(new RegExp(`(${operand}) (===|!==|==|!=) (${operand})`, "g"))];
    return [
      ...found
        .filter(
          ([, a = "", , b = ""]) =>
            (secretName.test(a) || secretName.test(b)) && !harmless.test(a) && !harmless.test(b),
        )
        .map(([whole]) => whole)
        .filter((whole) => !none.test(whole)),
      ...[...text.matchAll(/(\w+)\.(?:equals|localeCompare)\((\w+)/g)]
        .filter(([, a = "", b = ""]) => secretName.test(a) || secretName.test(b))
        .map(([whole]) => whole),
    ];
  }

  it("compares secrets in constant time only", () => {
    expect(comparisons("if (token === expected) a.signature !== b; given.equals(digest); hash === undefined")).toEqual([
      "token === expected",
      "a.signature !== b",
      "given.equals(digest",
    ]);
    const found = readSourceTree()
      .filter(({ path }) => /^(src|adapters\/[^/]+)\/(?!web\/|test\/|browser\/)/.test(path))
      .flatMap(({ path, text }) => comparisons(text).map((each) => `${path}: ${each}`));
    expect(found).toEqual([]);
  });
});
