import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectionFailure, createPlatformFetch } from "#channel/platform-fetch.ts";

let platform: Server;
let base: string;
let asked: string[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  asked = [];
  platform = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => platform.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
});
afterEach(() => {
  platform.closeAllConnections();
  platform.close();
});

const send = createPlatformFetch();

describe("a call of a platform's API", () => {
  it("gives the SDK what the platform answers, in each of the ways that SDKs ask for it", async () => {
    answer = (request, response) => {
      request.setEncoding("utf8");
      let body = "";
      request.on("data", (text: string) => (body += text));
      request.on("end", () => {
        response.writeHead(429, "Slower", { "content-type": "application/json", "Retry-After": "7" });
        response.end(JSON.stringify({ said: body, as: request.headers["content-type"] }));
      });
    };
    const headers = { "content-type": "text/plain; charset=utf-8" };
    const response = await send(`${base}/say?x=1`, { method: "POST", headers, body: "grüß dich" });
    expect(response).toMatchObject({ ok: false, status: 429, statusText: "Slower", url: `${base}/say?x=1` });
    expect(response.headers.get("Retry-After")).toBe("7");
    expect(response.headers.get("x-none")).toBeNull();
    expect(Object.fromEntries(response.headers.entries())).toMatchObject({ "retry-after": "7" });
    const told = { said: "grüß dich", as: "text/plain; charset=utf-8" };
    expect(await response.json()).toEqual(told);
    expect(JSON.parse(await response.text())).toEqual(told);
    expect(JSON.parse(Buffer.from(await response.arrayBuffer()).toString())).toEqual(told);

    const streamed = await send(`${base}/say`, { method: "POST", body: Readable.from([Buffer.from("in "), "parts"]) });
    expect(await streamed.json()).toMatchObject({ said: "in parts" });
  });

  it("goes nowhere else, whatever the platform says", async () => {
    answer = (_request, response) => response.writeHead(307, { location: `${base}/elsewhere` }).end();
    expect(await send(`${base}/here`, { method: "POST", body: "a token" })).toMatchObject({ ok: false, status: 307 });
    expect(asked).toEqual(["POST /here"]);
  });

  it("is made once, and not again, when the connection breaks", async () => {
    answer = (request) => request.socket.destroy();
    const failure: unknown = await send(`${base}/say`, { method: "POST", body: "{}" }).catch((error: unknown) => error);
    expect(connectionFailure(failure).unsent).toBe(false);
    expect(asked).toEqual(["POST /say"]);
  });

  it("tells when nothing was sent, because nobody is there", async () => {
    await new Promise((resolve) => platform.close(resolve));
    const failure: unknown = await send(`${base}/say`, {}).catch((error: unknown) => error);
    expect(connectionFailure(failure)).toEqual({ unsent: true, code: "ECONNREFUSED" });
  });

  it("is not said to be unsent when the network goes away under an open connection", () => {
    const brokenBy = (syscall: string): Error =>
      new TypeError("fetch failed", { cause: Object.assign(new Error("broken"), { code: "EHOSTUNREACH", syscall }) });
    expect(connectionFailure(brokenBy("read"))).toEqual({ unsent: false, code: "EHOSTUNREACH" });
    expect(connectionFailure(brokenBy("write"))).toEqual({ unsent: false, code: "EHOSTUNREACH" });
    expect(connectionFailure(brokenBy("connect"))).toEqual({ unsent: true, code: "EHOSTUNREACH" });
    const each = Object.assign(new Error("refused"), { code: "ECONNREFUSED", syscall: "connect" });
    const tried = Object.assign(new AggregateError([each, each]), { code: "ECONNREFUSED" });
    expect(connectionFailure(tried)).toEqual({ unsent: true, code: "ECONNREFUSED" });
  });

  it("ends after its time, and leaves the connection", async () => {
    const left = new Promise((resolve) => {
      answer = (request, response) => {
        response.writeHead(200).write("{");
        request.socket.once("close", resolve);
      };
    });
    const failure: unknown = await send(`${base}/say`, { timeoutMs: 1_000 }).catch((error: unknown) => error);
    expect(String(failure)).toBe("Error: there was no answer within 1 s");
    await left;
  });

  it("is given up when it is no longer wanted, and is not begun when it never was", async () => {
    const given = new AbortController();
    const left = new Promise((resolve) => {
      answer = (request) => {
        request.socket.once("close", resolve);
        given.abort();
      };
    });
    await expect(send(`${base}/say`, { signal: given.signal })).rejects.toThrow("the call was given up");
    await left;
    await expect(send(`${base}/again`, { signal: given.signal })).rejects.toThrow("the call was given up");
    expect(asked).toEqual(["GET /say"]);
  });

  it("takes no answer that would fill the memory", async () => {
    const part = Buffer.alloc(1_048_576);
    let written = 0;
    answer = (_request, response) => {
      const more = (): void => {
        while (!response.destroyed) {
          written += 1;
          if (!response.write(part)) break;
        }
      };
      response.on("drain", more);
      more();
    };
    await expect(send(`${base}/history`, {})).rejects.toThrow("larger than any");
    expect(written).toBeLessThan(100);
  });
});
