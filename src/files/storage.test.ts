import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import { cleanFileName, sizeText } from "#domain/files.ts";
import { createDisk } from "./disk.ts";
import { openFiles } from "./open.ts";
import { createS3Storage } from "./s3.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { loadConfig } from "#config/environment.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { bytesOf, png } from "#test/support/channels/file-channel.ts";

const accessKey = "AKIDEXAMPLE";
const page = 2;

interface StoredObject {
  readonly bytes: Buffer;
  readonly at: string;
}

/** A strict imitation of the part of S3 that is used. */
async function startFakeS3(bucket: string) {
  const objects = new Map<string, StoredObject>();
  const seen: string[] = [];
  let failing: number | undefined;
  const server = createServer((request, response) => {
    const refuse = (status: number, code: string) =>
      response
        .writeHead(status, { "content-type": "application/xml", ...(status < 400 ? { location: "/elsewhere" } : {}) })
        .end(`<Error><Code>${code}</Code></Error>`);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://s3");
      seen.push(`${request.method} ${url.pathname}`);
      const signed = request.headers.authorization ?? "";
      if (failing !== undefined) return refuse(failing, failing < 400 ? "PermanentRedirect" : "SlowDown");
      if (!signed.startsWith(`AWS4-HMAC-SHA256 Credential=${accessKey}/`)) return refuse(403, "InvalidAccessKeyId");
      const [, asked, ...rest] = url.pathname.split("/");
      if (asked !== bucket) return refuse(404, "NoSuchBucket");
      const key = rest.join("/");
      const body = Buffer.concat(chunks);
      switch (request.method) {
        case "PUT":
          // S3 rejects bodies of unknown length.
          if (Number(request.headers["content-length"]) !== body.length) return refuse(411, "MissingContentLength");
          objects.set(key, { bytes: body, at: new Date().toISOString() });
          return response.writeHead(200).end();
        case "DELETE":
          objects.delete(key);
          return response.writeHead(204).end();
        default: {
          if (key !== "") {
            const found = objects.get(key);
            return found === undefined ? refuse(404, "NoSuchKey") : response.writeHead(200).end(found.bytes);
          }
          const prefix = url.searchParams.get("prefix") ?? "";
          const after = Number(url.searchParams.get("continuation-token") ?? "0");
          const named = [...objects]
            .filter(([name]) => name.startsWith(prefix))
            .toSorted(([a], [b]) => (a < b ? -1 : 1));
          const part = named.slice(after, after + page);
          const contents = part.map(
            ([name, { at }]) => `<Contents><Key>${name}</Key><LastModified>${at}</LastModified></Contents>`,
          );
          const next =
            after + page < named.length ? `<NextContinuationToken>${after + page}</NextContinuationToken>` : "";
          return response.writeHead(200).end(`<ListBucketResult>${contents.join("")}${next}</ListBucketResult>`);
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${bucket}`,
    objects,
    seen,
    fail: (status: number | undefined) => void (failing = status),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe.each(["a folder", "S3"] as const)("files in %s", (kind) => {
  let dataDir: string;
  let s3: Awaited<ReturnType<typeof startFakeS3>>;
  let clock: ReturnType<typeof createHandMovedClock>;
  const workspaceId = "wt_abc123_0123456789abcdef";
  const { signal } = new AbortController();
  const open = (key = accessKey) =>
    openFiles({
      config: {
        bytesMax: 1_000_000,
        ...(kind === "S3"
          ? { s3: { url: `${s3.url}/kept`, region: "eu-central-1", accessKey: key, secretKey: "secret" } }
          : {}),
      },
      dataDir,
      publicUrl: "https://help.shop.example",
      secrets: createSecrets("a secret for tests, of more than thirty-two characters"),
      clock,
      disk: createDisk([dataDir], 0),
    });
  const read = async (bytes: AsyncIterable<Uint8Array>): Promise<Buffer> => Buffer.concat(await all(bytes));
  const newName = () => ({ workspaceId, id: newId("file", Date.now()) });

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "parley-files-"));
    s3 = await startFakeS3("my-bucket");
    clock = createHandMovedClock(Date.UTC(2031, 0, 1));
  });
  afterEach(async () => {
    await s3.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it("are stored byte for byte, listed, replaced and removed, and removing is idempotent", async () => {
    const files = open();
    const names = [newName(), newName(), newName()];
    for (const name of names) await files.store(name, bytesOf("first"), "text/plain", 1_000, signal);
    const [one = newName(), two = newName()] = names;
    expect(
      await files.store(one, bytesOf(png.subarray(0, 9), png.subarray(9)), "text/html", 1_000, signal),
    ).toMatchObject({ bytes: png.length, mediaType: "image/png" });
    expect(await read(await files.open(one))).toEqual(png);
    const listed = async () => (await all(files.stored())).map(({ id }) => id).toSorted();
    expect(await listed()).toEqual(names.map(({ id }) => id).toSorted());
    await files.remove(two);
    await files.remove(two);
    expect(await listed()).toHaveLength(2);
    await expect(files.open(two)).rejects.toThrow("not stored any more");
    // No temporary file is left.
    expect(await readdir(join(dataDir, "files", "incoming"))).toEqual([]);
  });

  it("are not stored if they are too large or break off", async () => {
    const files = open();
    const name = newName();
    await expect(files.store(name, bytesOf(new Uint8Array(1_001)), "", 1_000, signal)).rejects.toThrow("larger than");
    const broken = (async function* () {
      yield new Uint8Array(10);
      throw new Error("the sender is gone");
    })();
    await expect(files.store(name, broken, "", 1_000, signal)).rejects.toThrow("the sender is gone");
    await expect(files.open(name)).rejects.toThrow("not stored any more");
    expect(await readdir(join(dataDir, "files", "incoming"))).toEqual([]);
  });

  it("cannot have names that lead out of the storage", async () => {
    for (const name of [
      { workspaceId: "..", id: newId("file", 1) },
      { workspaceId, id: "../../secret" },
    ]) {
      expect(() => files().open(name)).toThrow("not of the form");
    }
    function files() {
      return open();
    }
  });

  it("have links that expire and cannot be forged", () => {
    const files = open();
    const { id } = newName();
    const token = files.link(id, 1_000).replace("https://help.shop.example/files/", "");
    expect(files.ofLink(token)).toEqual({ id, expired: false });
    clock.leap(1_000);
    expect(files.ofLink(token)).toEqual({ id, expired: true });
    const [value = "", mac = ""] = token.split(".");
    const later = Buffer.from(`${id} ${clock.now() + 9_999}`).toString("base64url");
    for (const forged of [`${later}.${mac}`, `${value}.${mac.slice(1)}`, value, "", "a.b.c"]) {
      expect(files.ofLink(forged)).toBeNull();
    }
  });

  if (kind === "S3") {
    it("report errors of the storage without its key", async () => {
      await expect(open("AKOTHER").check(signal)).rejects.toThrow("check FILES_S3_ACCESS_KEY");
      expect(await open().check(signal)).toBe(`in ${s3.url}/kept/`);
      s3.fail(503);
      const refused = open().store(newName(), bytesOf("x"), "", 10, signal);
      await expect(refused).rejects.toThrow("refuses storing (503 SlowDown)");
      await expect(refused).rejects.not.toThrow(accessKey);
      s3.fail(307);
      await expect(open().check(signal)).rejects.toThrow("refuses listing (307 PermanentRedirect)");
      expect(s3.seen.join()).not.toContain("elsewhere");
      s3.fail(undefined);
      expect(s3.seen.filter((line) => line.startsWith("PUT")).every((line) => line.includes("/my-bucket/kept/"))).toBe(
        true,
      );
    });
  } else {
    it("report their location", async () => {
      expect(await open().check(signal)).toBe(`in ${join(dataDir, "files", "stored")}`);
    });
  }
});

describe("settings of files", () => {
  it("are refused with the reason", () => {
    const bad = (env: Record<string, string>) => {
      try {
        loadConfig({ PARLEY_CONFIG: "", ...env });
        return "nothing";
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    };
    expect(bad({ FILES_MAX_MB: "0" })).toContain("from 1 to 1024");
    expect(bad({ FILES_S3_ACCESS_KEY: "x" })).toContain("FILES_S3_URL is not");
    expect(bad({ FILES_S3_URL: "https://s3.example" })).toContain("https://HOST/BUCKET");
    expect(bad({ FILES_S3_URL: "https://s3.example/b", FILES_S3_ACCESS_KEY: "x" })).toContain(
      "set FILES_S3_SECRET_KEY",
    );
    expect(
      loadConfig({ FILES_S3_URL: "https://s3.example/b/", FILES_S3_ACCESS_KEY: "x", FILES_S3_SECRET_KEY: "y" }).files,
    ).toEqual({
      bytesMax: 26_214_400,
      reserveBytes: 1_073_741_824,
      s3: { url: "https://s3.example/b", region: "us-east-1", accessKey: "x", secretKey: "y" },
    });
  });
});

describe("a file that the storage sends slowly", () => {
  const waitLimitMs = 2_000;
  /** Sends the body in pieces; without `ends`, the last one never comes. */
  async function slowly(pieces: number, everyMs: number, ends: boolean) {
    const server = createServer((_request, response) => {
      let given = 0;
      const timer = setInterval(() => {
        response.write("x");
        given += 1;
        if (given < pieces) return;
        clearInterval(timer);
        if (ends) response.end();
      }, everyMs);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const config = { url: `http://127.0.0.1:${port}/bucket`, region: "here", accessKey, secretKey: "y" };
    const storage = createS3Storage(config, { waitLimitMs });
    const close = (): void => {
      server.closeAllConnections();
      server.close();
    };
    return { file: await storage.get(`wt_abcdef_0123456789/file_${"0".repeat(26)}`), close };
  }

  it("is read completely, however long it takes, and fails when no more bytes arrive", async () => {
    const slow = await slowly(6, 500, true);
    const stalled = await slowly(1, 10, false);
    try {
      const broken = buffer(stalled.file).then(
        () => "it came",
        (error: unknown) => String(error),
      );
      expect((await buffer(slow.file)).toString()).toBe("xxxxxx");
      expect(await broken).toContain("the file storage stopped sending");
    } finally {
      slow.close();
      stalled.close();
    }
  });
});

describe("names of files", () => {
  it("have no paths and no invisible characters, and are never empty", () => {
    expect(cleanFileName("C:\\temp\\bill.pdf")).toBe("bill.pdf");
    expect(cleanFileName("../../etc/passwd")).toBe("passwd");
    expect(cleanFileName("..")).toBe("file");
    expect(cleanFileName("invoice\u202Efdp.exe")).toBe("invoicefdp.exe");
    expect(cleanFileName('a"b\r\nc<d>.txt')).toBe("a_bc_d_.txt");
    expect([...cleanFileName("x".repeat(10_000))].length).toBeLessThan(200);
    expect([1_023, 1_536, 26_214_400].map(sizeText)).toEqual(["1023 B", "2 KB", "25 MB"]);
  });
});
