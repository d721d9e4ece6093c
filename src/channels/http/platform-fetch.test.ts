import twilio from "twilio";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IntercomError } from "intercom-client";
import type { DeliveryError } from "#channels/errors.ts";
import { connectionFailure, createPlatformFetch } from "./platform-fetch.ts";
import { deliveryError as discordError } from "#adapters/discord/errors.ts";
import type { EmailConfig } from "#adapters/email/config.ts";
import { smtpError } from "#adapters/email/smtp.ts";
import { BrokenConnection, deliveryError as intercomError } from "#adapters/intercom/errors.ts";
import { deliveryError as twilioError } from "#adapters/twilio/shared/errors.ts";

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
  it("returns the platform's answer in each form that SDKs request", async () => {
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

  it("does not follow redirects", async () => {
    answer = (_request, response) => response.writeHead(307, { location: `${base}/elsewhere` }).end();
    expect(await send(`${base}/here`, { method: "POST", body: "a token" })).toMatchObject({ ok: false, status: 307 });
    expect(asked).toEqual(["POST /here"]);
  });

  it("is not repeated when the connection breaks", async () => {
    answer = (request) => request.socket.destroy();
    const failure: unknown = await send(`${base}/say`, { method: "POST", body: "{}" }).catch((error: unknown) => error);
    expect(connectionFailure(failure).unsent).toBe(false);
    expect(asked).toEqual(["POST /say"]);
  });

  it("reports that nothing was sent if no server answers", async () => {
    await new Promise((resolve) => platform.close(resolve));
    const failure: unknown = await send(`${base}/say`, {}).catch((error: unknown) => error);
    expect(connectionFailure(failure)).toEqual({ unsent: true, code: "ECONNREFUSED" });
  });

  it("reports that nothing was sent if the name is unknown or TLS fails", async () => {
    const ways: readonly ((url: string) => Promise<unknown>)[] = [
      (url) => send(url, { method: "POST", body: "{}" }),
      (url) => fetch(url, { method: "POST", body: "{}" }),
      (url) => new twilio.RequestClient({ timeout: 5_000 }).request({ method: "post", uri: url, data: {} }),
    ];
    for (const address of ["https://no-such-platform.invalid/say", `${base.replace("http:", "https:")}/say`]) {
      for (const [at, way] of ways.entries()) {
        const failure: unknown = await way(address).catch((error: unknown) => error);
        expect(connectionFailure(failure).unsent, `${address}, way ${at}`).toBe(true);
      }
    }
    expect(asked).toEqual([]);
    for (const code of ["DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID", "CERT_HAS_EXPIRED"]) {
      const cause = Object.assign(new Error("certificate"), { code });
      expect(connectionFailure(new TypeError("fetch failed", { cause })), code).toEqual({ unsent: true, code });
    }
  });

  it("does not report as unsent a call on a connection that the network has left", () => {
    const brokenBy = (syscall: string): Error =>
      new TypeError("fetch failed", { cause: Object.assign(new Error("broken"), { code: "EHOSTUNREACH", syscall }) });
    expect(connectionFailure(brokenBy("read"))).toEqual({ unsent: false, code: "EHOSTUNREACH" });
    expect(connectionFailure(brokenBy("write"))).toEqual({ unsent: false, code: "EHOSTUNREACH" });
    expect(connectionFailure(brokenBy("connect"))).toEqual({ unsent: true, code: "EHOSTUNREACH" });
    const each = Object.assign(new Error("refused"), { code: "ECONNREFUSED", syscall: "connect" });
    const tried = Object.assign(new AggregateError([each, each]), { code: "ECONNREFUSED" });
    expect(connectionFailure(tried)).toEqual({ unsent: true, code: "ECONNREFUSED" });
    // As SDKs hand it on, with the code and without what was being done.
    const handedOn = (cause: Error): Error =>
      Object.assign(new Error("handed on", { cause }), { code: "code" in cause ? cause.code : "ERR_BAD_RESPONSE" });
    expect(connectionFailure(handedOn(tried))).toEqual({ unsent: true, code: "ECONNREFUSED" });
    expect(connectionFailure(handedOn(brokenBy("connect")))).toEqual({ unsent: true, code: "EHOSTUNREACH" });
    expect(connectionFailure(handedOn(brokenBy("write")))).toEqual({ unsent: false, code: "EHOSTUNREACH" });
    expect(connectionFailure(Object.assign(new Error("no cause"), { code: "EHOSTUNREACH" })).unsent).toBe(false);
  });

  it("decompresses an answer that a proxy compressed without a request", async () => {
    const told = JSON.stringify({ ok: true, text: "grüß dich ".repeat(500) });
    const packed: readonly (readonly [string, Buffer])[] = [
      ["gzip", gzipSync(told)],
      ["X-GZip", gzipSync(told)],
      ["deflate", deflateSync(told)],
      ["deflate", deflateRawSync(told)],
      ["br", brotliCompressSync(told)],
      ["zstd", zstdCompressSync(told)],
      ["identity", Buffer.from(told)],
      ["gzip, br", brotliCompressSync(gzipSync(told))],
    ];
    for (const [encoding, bytes] of packed) {
      answer = (_request, response) => response.writeHead(200, { "content-encoding": encoding }).end(bytes);
      expect(await (await send(`${base}/say`, {})).text(), encoding).toBe(told);
    }
    answer = (_request, response) => response.writeHead(204, { "content-encoding": "gzip" }).end();
    expect(await (await send(`${base}/say`, {})).text()).toBe("");
  });

  it("refuses an answer that is too large unpacked, damaged, or compressed in an unknown way", async () => {
    const bomb = gzipSync(Buffer.alloc(33 * 1_048_576));
    const refusals: readonly (readonly [string, Buffer, string])[] = [
      ["gzip", bomb, "larger than any"],
      ["gzip, br", brotliCompressSync(bomb), "larger than any"],
      ["gzip", Buffer.from('{"ok":true}'), "content-encoding: gzip"],
      ["gzip", gzipSync("cut off".repeat(100)).subarray(0, 20), "content-encoding: gzip"],
      ["compress", Buffer.from("x"), "content-encoding: compress"],
      ["gzip, gzip, gzip, gzip", gzipSync(gzipSync(gzipSync(gzipSync("x")))), "nobody asked for"],
    ];
    for (const [encoding, bytes, message] of refusals) {
      answer = (_request, response) => response.writeHead(200, { "content-encoding": encoding }).end(bytes);
      const failure: unknown = await send(`${base}/say`, {}).catch((error: unknown) => error);
      expect(String(failure), encoding).toContain(message);
      // The platform has done what it was asked.
      expect(connectionFailure(failure).unsent, encoding).toBe(false);
    }
  });

  it("ends at its timeout, and closes the connection", async () => {
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

  it("is aborted by its signal, and never begun if aborted before", async () => {
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

  it("refuses an answer that would fill the memory", async () => {
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

describe("a message on a connection that the network has left", () => {
  const clock = { now: () => 0 };
  const config = { address: "help@shop.example", smtp_host: "mail.example" } as EmailConfig;
  const adapters: Readonly<Record<string, (error: Error) => DeliveryError>> = {
    Twilio: twilioError,
    Discord: discordError,
    // Intercom's SDK keeps only the message of an error from fetch.
    Intercom: (error) => intercomError(new IntercomError({ message: new BrokenConnection(error).message }), clock),
    // Nodemailer puts a word of its own in front of the system's.
    "the mail server": (error) =>
      smtpError(
        Object.assign(error, { code: "ESOCKET", originalCode: "code" in error ? error.code : "", command: "CONN" }),
        config,
      ),
  };
  for (const [name, read] of Object.entries(adapters)) {
    it(`may have reached ${name}, unless there was no connection yet`, () => {
      for (const code of ["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]) {
        const brokenBy = (syscall: string): DeliveryError =>
          read(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }));
        expect(brokenBy("read").outcome, code).toBe("unknown");
        expect(brokenBy("write").outcome, code).toBe("unknown");
        expect(brokenBy("connect").outcome, code).toBe("not_sent");
        for (const syscall of ["read", "connect"]) {
          if (name !== "Discord") expect(brokenBy(syscall).message).toContain(code);
        }
      }
      const noName = Object.assign(new Error("getaddrinfo ENOTFOUND x"), { code: "ENOTFOUND", syscall: "getaddrinfo" });
      expect(read(noName).outcome).toBe("not_sent");
    });
  }
});
