import * as fc from "fast-check";
import type { JsonSchema, Operation } from "./http/openapi.ts";
import { minimalValueOf } from "./http/openapi.ts";

/** Part of every request field that must not be logged. It must not appear in any log line. */
export const marker = "fuzzMark7f3a";

export interface FuzzedRequest {
  readonly method: string;
  /** The path with its query, as sent. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | null;
}

const huge = "x".repeat(70_000);

// oxfmt-ignore
const strangeText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom(
    "", " ", "null", "undefined", "NaN", "true", "0", "-1", "\u0000", "a\u0000b", "' or 1=1 --", "\"; drop table messages; --",
    "💣", "\ud800", "\udfff\ud800", "\u202e\u2066", "\uffff", "../../etc/passwd", "%00", "%", "{{7*7}}", "${7*7}",
    "<script>alert(1)</script>", "\r\nX-Injected: 1", "é\u0301", "ﬃ", "İ", "ß".repeat(400), "a".repeat(5_000), huge,
    "2026-02-30", "9999999-01-01", "cur_AAAA", "conv_", "wt_abcdef_0123456789", "\\", "\\u0000", "[[[[", "🏴‍☠️".repeat(300),
    `${marker} text`, "9".repeat(400), "1e999", "__proto__", "constructor",
  ),
);
const strangeNumber = fc.constantFrom(
  0,
  -0,
  -1,
  1,
  0.5,
  1.5,
  10,
  11,
  100,
  101,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e21,
  1e308,
  5e-324,
  0.1 + 0.2,
);
const strange: fc.Arbitrary<unknown> = fc.oneof(
  strangeText,
  strangeNumber,
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(strangeText, { maxLength: 4 }),
  fc.dictionary(strangeText, strangeText, { maxKeys: 3 }),
  fc.constant(Array.from({ length: 5_000 }, (_, i) => i)),
);

/** Mostly valid, so that invalid values are reached deep inside. */
function valueOf(schema: JsonSchema, ids: readonly string[]): fc.Arbitrary<unknown> {
  const right = (): fc.Arbitrary<unknown> => {
    if (schema.properties !== undefined) return objectOf(schema, ids);
    if (schema.items !== undefined) {
      return fc.array(valueOf(schema.items, ids), { maxLength: Math.min(schema.maxItems ?? 3, 3) });
    }
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (schema.type === "string" && schema.pattern === undefined) {
      return fc.oneof(fc.constantFrom(...ids), fc.constant(minimalValueOf(schema)), fc.string({ maxLength: 30 }));
    }
    return fc.constant(minimalValueOf(schema));
  };
  return fc.oneof({ weight: 3, arbitrary: right() }, { weight: 2, arbitrary: strange });
}

function objectOf(schema: JsonSchema, ids: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  const known = Object.entries(schema.properties ?? {}).map(([name, property]) =>
    fc
      .tuple(fc.integer({ min: 0, max: 9 }), valueOf(property, ids))
      .map(([dice, value]) =>
        dice < (schema.required?.includes(name) === true ? 8 : 4) ? [[name, value] as const] : [],
      ),
  );
  const more = fc.array(
    fc.tuple(fc.oneof(fc.constantFrom("__proto__", "constructor", "toString", "length"), strangeText), strange),
    {
      maxLength: 2,
    },
  );
  return fc.tuple(fc.tuple(...known), more).map(([fields, extra]) => {
    const object: Record<string, unknown> = {};
    for (const [name, value] of [...fields.flat(), ...extra]) {
      Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return object;
  });
}

const text = (value: unknown): Buffer => Buffer.from(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** Ways to break a valid body. */
// oxfmt-ignore
const breakers: readonly ((body: Buffer) => Buffer)[] = [
  (body) => body.subarray(0, Math.floor(body.length / 2)),
  (body) => Buffer.concat([body, Buffer.from("}")]),
  (body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]),
  (body) => Buffer.concat([body.subarray(0, 1), Buffer.from([0xff, 0xfe, 0x80]), body.subarray(1)]),
  (body) => Buffer.from(body.toString().replace(/"/g, "'")),
  (body) => Buffer.from(body.toString(), "utf16le"),
  (body) => Buffer.from(body.toString().replace("{", '{"workspace_id":1,"workspace_id":{},"query":[],"__proto__":{"x":1},')),
  (body) => Buffer.from(body.toString().replace("{", '{"metadata":{"__proto__":{"admin":true},"constructor":{"prototype":{}}},')),
  (body) => Buffer.from(body.toString().replace("{", '{"top_k":1e400,"temperature":-0,"limit":00012,')),
  (body) => Buffer.from(body.toString().replace("{", '{"query":"\\ud800\\udc00\\ud800","content":"\\u0000","x":"\\uZZZZ",')),
  () => Buffer.from(`{"metadata":${"[".repeat(200_000)}${"]".repeat(200_000)}}`),
  () => Buffer.from('{"a":'.repeat(200_000)),
  () => Buffer.from(`{"query":"${"x".repeat(1_100_000)}"}`),
  () => Buffer.from(`[${"1,".repeat(100_000)}1]`),
  () => Buffer.from(`{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`).join()}}`),
  () => Buffer.alloc(0),
  () => Buffer.alloc(2_000),
  () => Buffer.from(`{"${marker}":`),
];

/**
 * A platform's delivery, made from samples, with wrong values anywhere in it or broken bytes. Mostly valid, so that
 * invalid values are reached deep inside; a few are not broken at all.
 */
export function brokenDelivery(samples: readonly object[]): fc.Arbitrary<Buffer> {
  return fc
    .record({
      sample: fc.constantFrom(...samples),
      wrong: fc.array(fc.tuple(fc.nat(), fc.oneof(strange, fc.constant(undefined))), { maxLength: 3 }),
      dice: fc.integer({ min: 0, max: 200 }),
    })
    .map(({ sample, wrong, dice }) => {
      const delivery = structuredClone(sample);
      for (const [at, value] of wrong) {
        const places = placesIn(delivery);
        const [holder, key] = places[at % Math.max(places.length, 1)] ?? [];
        // Cloned because some of these values are shared, and an inserted value may be broken in turn.
        if (holder !== undefined && key !== undefined) Reflect.set(holder, key, structuredClone(value));
      }
      const sent = text(delivery);
      return breakers[dice]?.(sent) ?? sent;
    });
}

/** The same for forms; a field that holds JSON is broken inside too. */
export function brokenForm(samples: readonly Readonly<Record<string, string>>[]): fc.Arbitrary<Buffer> {
  return fc
    .record({
      sample: fc.constantFrom(...samples),
      inside: brokenDelivery(samples.flatMap((sample) => Object.values(sample).flatMap(objectIn)).concat({})),
      wrong: fc.array(fc.tuple(fc.nat(), strangeText), { maxLength: 2 }),
      dice: fc.integer({ min: 0, max: 99 }),
    })
    .map(({ sample, inside, wrong, dice }) => {
      const fields = Object.entries(sample).map(
        ([name, value]) => [name, objectIn(value).length > 0 && dice < 80 ? inside.toString() : value] as const,
      );
      const form = new URLSearchParams(fields.map(([name, value]) => [name, value]));
      if (dice < 50 || fields.every(([, value]) => objectIn(value).length === 0)) {
        for (const [at, value] of wrong) {
          const name = fields[at % Math.max(fields.length, 1)]?.[0] ?? "";
          if (at % 5 === 0) form.delete(name);
          else if (at % 5 === 1) form.append(name, value.toWellFormed());
          else if (fields.length > 1 || at % 5 === 2) form.set(name, value.toWellFormed());
        }
      }
      const sent = form.toString();
      if (dice === 96) return Buffer.from(sent.replaceAll("%", "%%"));
      if (dice === 97) return Buffer.from(sent.slice(0, sent.length / 2));
      if (dice === 98) return Buffer.from(`${"a=b&".repeat(50_000)}${sent}`);
      if (dice === 99) return Buffer.concat([Buffer.from(sent), Buffer.from([0xff, 0xfe, 0x00, 0x80])]);
      return Buffer.from(sent);
    });
}

function objectIn(value: string): readonly object[] {
  if (!value.startsWith("{")) return [];
  try {
    return [JSON.parse(value) as object];
  } catch {
    return [];
  }
}

/** Lists every nested value as its parent and its key. */
function placesIn(value: object): readonly (readonly [object, string])[] {
  const places: (readonly [object, string])[] = [];
  const rest: object[] = [value];
  for (let holder = rest.pop(); holder !== undefined && places.length < 1_000; holder = rest.pop()) {
    for (const [key, inside] of Object.entries(holder) as [string, unknown][]) {
      places.push([holder, key]);
      if (typeof inside === "object" && inside !== null) rest.push(inside);
    }
  }
  return places;
}

// oxfmt-ignore
const types = [
  "application/json; charset=utf-16", "application/json; charset=nonsense", "application/json;;;", "application/json, text/plain",
  "text/plain", "text/html", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data",
  "multipart/form-data; boundary=", "multipart/form-data; boundary=x", `multipart/form-data; boundary=${"b".repeat(300)}`,
  "application/vnd.api+json", "", ";", "/", "a/b/c", "*/*", `application/${"j".repeat(2_000)}`,
];

const headerText = fc
  .oneof(strangeText, fc.constantFrom("gzip", "chunked", "100-continue", "bytes=0-1", "close", "*", "h2c"))
  .map((value) => value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "?").slice(0, 4_000));
// oxfmt-ignore
const header = fc.tuple(
  fc.constantFrom(
    "idempotency-key", "accept", "accept-encoding", "content-encoding", "if-none-match", "range", "cookie", "origin",
    "x-forwarded-for", "x-forwarded-host", "x-request-id", "x-http-method-override", "user-agent", "traceparent", "referer",
    "content-language", "forwarded", "via", "x-original-url", "x-rewrite-url", "authorization", "host",
  ),
  headerText,
);

/** A request to one of these operations with something wrong in it. */
export function requestOf(operations: readonly Operation[], key: string, workspaceId: string, ids: readonly string[]) {
  const known = fc.constantFrom(...ids, workspaceId);
  // Paths are logged, so the marker is taken out of them.
  const encoded = (value: string): string => encodeURIComponent(value.replaceAll(marker, "x").toWellFormed());
  const segment = fc.oneof(
    { weight: 4, arbitrary: known },
    { weight: 2, arbitrary: strangeText.map((value) => encoded(value).slice(0, 6_000)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "%",
        "%zz",
        "%ff",
        "%00",
        "..",
        ".",
        "%2e%2e%2f",
        "a%2fb",
        ";x=1",
        "a;b",
        "~",
        "*",
        "%c0%af",
      ),
    },
  );
  const parameter = fc.tuple(
    fc.constantFrom(
      "workspace_id",
      "channel",
      "status",
      "tag",
      "since",
      "until",
      "q",
      "email",
      "sla_state",
      "limit",
      "cursor",
      "order",
      "x",
      "tag[]",
      "__proto__",
    ),
    fc.oneof(
      { weight: 1, arbitrary: known },
      { weight: 2, arbitrary: strangeText.map((value) => encodeURIComponent(value.toWellFormed()).slice(0, 3_000)) },
      {
        weight: 1,
        arbitrary: fc.constantFrom("%", "%zz", "%ff%fe", "a=b=c", "&", "%00", "open", "2031-04-14", "1", "+"),
      },
    ),
  );
  return fc.constantFrom(...operations).chain((operation): fc.Arbitrary<FuzzedRequest> => {
    const body =
      operation.body === undefined
        ? fc.option(strange.map(text), { freq: 3 })
        : fc
            .tuple(
              valueOf(operation.body.schema, [...ids, workspaceId, "Hello"]),
              fc.boolean(),
              fc.integer({ min: 0, max: 60 }),
            )
            .map(([value, own, dice]) => {
              const object = typeof value === "object" && value !== null && !Array.isArray(value);
              if (own && object) Object.assign(value, { workspace_id: workspaceId });
              const sent = text(value);
              return breakers[dice]?.(sent) ?? sent;
            });
    const multipart = operation.body?.mediaType === "multipart/form-data";
    const formPart = `--x\r\nContent-Disposition: form-data; name="file"; filename="${marker}.txt"\r\n\r\ntext\r\n`;
    return fc
      .record({
        dice: fc.integer({ min: 0, max: 99 }),
        segments: fc.array(segment, { minLength: 3, maxLength: 3 }),
        parameters: fc.array(parameter, { maxLength: 4 }),
        own: fc.integer({ min: 0, max: 9 }),
        body,
        type: fc.constantFrom(...types),
        headers: fc.array(header, { maxLength: 2 }),
        method: fc.constantFrom(
          "GET",
          "POST",
          "PUT",
          "PATCH",
          "DELETE",
          "HEAD",
          "OPTIONS",
          "PROPFIND",
          "TRACE",
          "QUERY",
        ),
        cut: fc.integer({ min: 0, max: 200 }),
      })
      .map(({ dice, segments, parameters, own, body: sent, type, headers, method, cut }) => {
        let at = 0;
        const bare = operation.path.replaceAll(/\{[^}]+\}/g, () => segments[at++] ?? "x");
        const query = parameters.map(([name, value]) => `${name}=${value}`);
        if (own < 8 && operation.method === "GET") query.unshift(`workspace_id=${workspaceId}`);
        const path = dice < 3 ? `${bare}/${segments[2] ?? ""}` : bare;
        const form = Buffer.from(`${formPart.slice(0, cut)}${dice % 2 === 0 ? "\r\n--x--\r\n" : ""}`);
        const usual = multipart ? "multipart/form-data; boundary=x" : "application/json";
        const content = multipart && dice % 3 !== 0 ? form : sent;
        return {
          method: dice >= 92 ? method : operation.method,
          path: `${path}${query.length === 0 ? "" : `?${query.join("&")}`}`,
          headers: [
            ...(dice === 50 ? [] : [["authorization", `Bearer ${key}`] as const]),
            ...(content === null ? [] : [["content-type", dice >= 80 && dice < 88 ? type : usual] as const]),
            ...headers.filter(([name]) => name !== "authorization" || dice > 97),
          ],
          body: content,
        };
      });
  });
}

/** Bytes that are barely HTTP, and attempts to smuggle a second request past a proxy. */
export function rawRequest(key: string, workspaceId: string): fc.Arbitrary<Buffer> {
  const auth = `Authorization: Bearer ${key}\r\n`;
  const json = `{"workspace_id":"${workspaceId}","query":"Hello"}`;
  const hidden = `GET /v1/smuggled HTTP/1.1\r\nHost: x\r\n${auth}\r\n`;
  const post = (headers: string, body: string): string =>
    `POST /v1/query HTTP/1.1\r\nHost: x\r\n${auth}Content-Type: application/json\r\n${headers}\r\n${body}`;
  // oxfmt-ignore
  const templates = [
    "GET", "G", "", "GET /", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/0.9\r\n\r\n", "GET  /  HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /v1/documents\r\n\r\n", "get /v1/documents HTTP/1.1\r\nHost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u0016\u0003\u0001\u0000\u0001",
      "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
      `GET http://evil.test/v1/documents HTTP/1.1\r\nHost: x\r\n${auth}\r\n`, `GET //evil.test/v1 HTTP/1.1\r\nHost: x\r\n${auth}\r\n`,
      `GET /v1/documents HTTP/1.1\r\n${auth}\r\n`, `GET /v1/documents HTTP/1.1\r\nHost: a\r\nHost: b\r\n${auth}\r\n`,
      `GET /v1/documents HTTP/1.1\r\nHost: x\r\n${auth}${auth}\r\n`, `GET /v1/documents HTTP/1.1\nHost: x\n${auth}\n`,
      `GET /v1/docu\u0000ments HTTP/1.1\r\nHost: x\r\n\r\n`, `GET /v1/\u00ff\u00fe HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /v1/documents HTTP/1.1\r\nHost: x\r\nX : y\r\n\r\n`, `GET /v1/documents HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n`,
      `GET /v1/documents HTTP/1.1\r\nHost: x\r\n: empty\r\n\r\n`, `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET / HTTP/1.1\r\n${"X: y\r\n".repeat(4_000)}\r\n`, `GET /v1/documents HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      `GET /widget/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 99\r\nSec-WebSocket-Key: x\r\n\r\n`,
    post("Content-Length: -1\r\n", json), post("Content-Length: 1e3\r\n", json), post("Content-Length: +10\r\n", json),
    post("Content-Length: 99999999999999999999\r\n", json), post("Content-Length: 5, 5\r\n", json),
    post("Content-Length: 4\r\nContent-Length: 400\r\n", json + hidden), post("Content-Length: 0x10\r\n", json),
    post(`Content-Length: 6\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${hidden}`),
    post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", `5c\r\n${hidden}0\r\n\r\n`),
    post("Transfer-Encoding: xchunked\r\n", `0\r\n\r\n${hidden}`), post("Transfer-Encoding : chunked\r\n", `0\r\n\r\n${hidden}`),
    post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", `0\r\n\r\n`), post("Transfer-Encoding: \u000bchunked\r\n", "0\r\n\r\n"),
    post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), post("Transfer-Encoding: chunked, gzip\r\n", `0\r\n\r\n${hidden}`),
    post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), post("Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n{}\r\n"),
    post("Transfer-Encoding: chunked\r\n", `2;${"e".repeat(40_000)}\r\n{}\r\n0\r\n\r\n`), post("Transfer-Encoding: chunked\r\n", "-2\r\n{}\r\n0\r\n\r\n"),
    post("Transfer-Encoding: chunked\r\n", `2\r\n{}\r\n0\r\nX-Trailer: ${"t".repeat(30_000)}\r\n\r\n`), post("Transfer-Encoding: chunked\r\n", "2\n{}\n0\n\n"),
    post("Expect: 100-continue\r\nContent-Length: 2\r\n", "{}"), post("Expect: nonsense\r\nContent-Length: 2\r\n", "{}"),
    post(`Content-Length: ${json.length}\r\n`, json).repeat(3), post("Content-Length: 2\r\n", "{}").repeat(20),
  ];
  // A changed byte can make the second request a valid pipelined one, which is not smuggled.
  const asPipelined = (bytes: Buffer): Buffer =>
    Buffer.from(bytes.toString("latin1").replaceAll("/v1/smuggled", "/v1/pipeline"), "latin1");
  const cut = (bytes: Buffer, at: number, flip: number, byte: number): Buffer => {
    const copy = Buffer.from(bytes);
    if (flip > 0) copy[Math.floor((copy.length * at) / 1_000)] = byte;
    return flip > 1 ? copy.subarray(0, Math.floor((copy.length * at) / 1_000)) : copy;
  };
  return fc.oneof(
    {
      weight: 9,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...templates).map((template) => Buffer.from(template, "latin1")),
          fc.integer({ min: 0, max: 999 }),
          fc.integer({ min: 0, max: 2 }),
          fc.integer({ min: 0, max: 255 }),
        )
        .map(([bytes, at, flip, byte]) => (flip === 0 ? bytes : cut(asPipelined(bytes), at, flip, byte))),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  );
}
