import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createAddressCheck } from "./addresses.ts";
import type { GuardOptions } from "./guarded-fetch.ts";
import { openGuardedFetch, OutboundFailure, RefusedAddress } from "./guarded-fetch.ts";

/** A server that must not be reached, such as a service behind a firewall or a cloud's metadata service. */
let victim: Server;
let port: number;
let connections = 0;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  victim = createServer((request, response) => answer(request, response));
  victim.on("connection", () => (connections += 1));
  // All addresses of this machine, of both families where it has them.
  await new Promise<void>((resolve) => victim.listen(0, resolve));
  const address = victim.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
});
afterAll(() => {
  victim.closeAllConnections();
  victim.close();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((opened) => opened.close()));
  connections = 0;
  answer = (_request, response) => void response.setHeader("connection", "close").end("secret");
});

function guard(options: Partial<GuardOptions> = {}) {
  const opened = openGuardedFetch({ allowPrivate: false, ...options });
  open.push(opened);
  return (url: string, more: object = {}) => opened.fetch(url, { timeoutMs: 3_000, bytesMax: 1_000, ...more });
}

const resolves =
  (...addresses: readonly string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

describe("private addresses are not reached", () => {
  // oxfmt-ignore
  const hosts = [
    "127.0.0.1", "127.0.0.2", "127.255.255.254", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1",
    "017700000001", "0177.0.0.1", "0x7f.0x0.0x0.0x1", "127.0.0.1.", "①②⑦.⓪.⓪.①", "127。0。0。1", "%31%32%37.0.0.1",
    "0.0.0.0", "0", "0.0.0.1", "localhost", "LOCALHOST", "[::1]", "[0:0:0:0:0:0:0:1]",
    "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
    "[2001:0:7f00:1::]", "169.254.169.254", "0xa9fea9fe", "2852039166", "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]", "[fe80::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "100.100.100.200", "168.63.129.16",
    "10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.0.1", "100.64.0.1", "192.0.0.192", "198.18.0.1",
    "224.0.0.1", "255.255.255.255", "[fc00::1]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]",
  ];

  it.each(hosts)("at http://%s", async (host) => {
    await expect(guard()(`http://${host}:${port}/`)).rejects.toThrow(RefusedAddress);
    expect(connections).toBe(0);
  });

  it.each(["localhost.", "lOcAlHoSt.", "x.localhost", "ip6-localhost"])(
    "at http://%s, whether it resolves here or not",
    async (host) => {
      await expect(guard()(`http://${host}:${port}/`)).rejects.toThrow(/not a public address|cannot be resolved/);
      expect(connections).toBe(0);
    },
  );

  it.each([
    "http://user@127.0.0.1:PORT/",
    "http://user:password@example.com:PORT/",
    "http://example.com@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT#@example.com/",
    "http://127.0.0.1:PORT\\@example.com/",
    "http:\\\\127.0.0.1:PORT/",
    "http:127.0.0.1:PORT/",
    "http:////127.0.0.1:PORT/",
    " http://127.0.0.1:PORT/",
    "http://127.0.\t0.1:PORT/",
    "HTTP://127.0.0.1:PORT/",
    "https://127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
    "127.0.0.1:PORT",
    "file:///etc/passwd",
    "ftp://127.0.0.1:PORT/",
    "gopher://127.0.0.1:PORT/_GET",
    "data:text/plain,secret",
    "blob:http://127.0.0.1:PORT/x",
    "javascript:alert(1)",
    "http://[::1%25lo]:PORT/",
    "http://",
    "",
  ])("by the address %j", async (url) => {
    await expect(guard()(url.replace("PORT", String(port)))).rejects.toThrow(RefusedAddress);
    expect(connections).toBe(0);
  });

  it.each([
    "127.0.0.1",
    "::1",
    "10.0.0.1",
    "169.254.169.254",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "fe80::1%lo",
    "0.0.0.0",
  ])("by a public name that resolves to %s", async (address) => {
    const reach = guard({ resolve: resolves(address) });
    await expect(reach(`http://cname.example.com:${port}/`)).rejects.toThrow(RefusedAddress);
    expect(connections).toBe(0);
  });

  it("by a name with a public address and a private one, in either order", async () => {
    for (const addresses of [
      ["93.184.215.14", "127.0.0.1"],
      ["127.0.0.1", "93.184.215.14"],
    ]) {
      await expect(guard({ resolve: resolves(...addresses) })(`http://both.example.com:${port}/`)).rejects.toThrow(
        RefusedAddress,
      );
    }
    expect(connections).toBe(0);
  });

  it("by a resolver that returns invalid addresses or none", async () => {
    for (const addresses of [["localhost"], [""], ["127.0.0.1:80"], []]) {
      await expect(guard({ resolve: resolves(...addresses) })(`http://x.example.com:${port}/`)).rejects.toThrow(Error);
    }
    expect(connections).toBe(0);
  });

  it("by a name that resolves to a public address first and to a private one later", async () => {
    // The first address is allowed, and the name resolves to the second one afterwards.
    for (const second of ["169.254.169.254", "10.0.0.1", "::1", "127.0.0.2"]) {
      const answers = ["127.0.0.1", second];
      const asked: string[] = [];
      const reach = guard({
        allowPrivate: ["127.0.0.1"],
        async resolve(host) {
          asked.push(host);
          const address = answers.shift() ?? second;
          return [{ address, family: address.includes(":") ? 6 : 4 }];
        },
      });
      const before = connections;
      expect((await reach(`http://rebind.example.com:${port}/`)).status).toBe(200);
      await expect(reach(`http://rebind.example.com:${port}/`)).rejects.toThrow(RefusedAddress);
      // The checked address is the one connected to; the name is not resolved a third time.
      expect([asked.length, connections - before]).toEqual([2, 1]);
    }
  });

  it("by a redirect, which is returned but not followed", async () => {
    const reach = guard({ allowPrivate: ["127.0.0.1"], resolve: resolves("127.0.0.1") });
    for (const status of [301, 302, 303, 307, 308]) {
      const location = "http://169.254.169.254/latest/meta-data/";
      answer = (_request, response) => void response.writeHead(status, { location, connection: "close" }).end();
      const before = connections;
      const answered = await reach(`http://shop.example.com:${port}/`);
      expect([answered.status, answered.headers.get("location")]).toEqual([status, location]);
      expect(connections - before).toBe(1);
    }
  });

  it("by a Refresh header or an alternative service", async () => {
    answer = (_request, response) =>
      void response
        .writeHead(200, {
          refresh: "0; url=http://10.0.0.1/",
          "alt-svc": `h2="10.0.0.1:${port}"`,
          connection: "close",
        })
        .end("ok");
    const reach = guard({ allowPrivate: ["127.0.0.1"], resolve: resolves("127.0.0.1") });
    expect((await reach(`http://shop.example.com:${port}/`)).status).toBe(200);
    expect(connections).toBe(1);
  });

  it("by a proxy of the environment", async () => {
    const before = process.env["HTTP_PROXY"];
    process.env["HTTP_PROXY"] = `http://127.0.0.1:${port}`;
    try {
      await expect(guard({ resolve: resolves("127.0.0.1") })("http://proxied.example.com/")).rejects.toThrow(
        RefusedAddress,
      );
    } finally {
      if (before === undefined) delete process.env["HTTP_PROXY"];
      else process.env["HTTP_PROXY"] = before;
    }
    expect(connections).toBe(0);
  });
});

describe("allowed private addresses", () => {
  it("are those in the list only", async () => {
    const reach = guard({ allowPrivate: ["127.0.0.1/32"] });
    expect((await reach(`http://127.0.0.1:${port}/`)).status).toBe(200);
    await expect(reach(`http://127.0.0.2:${port}/`)).rejects.toThrow(RefusedAddress);
    await expect(reach(`http://[::1]:${port}/`)).rejects.toThrow(RefusedAddress);
  });

  it("exclude the clouds' metadata services when all are allowed", () => {
    const allowed = createAddressCheck(true);
    for (const address of ["10.0.0.1", "127.0.0.1", "192.168.1.1", "fd00::1", "::1"]) {
      expect([address, allowed(address)]).toEqual([address, true]);
    }
    // oxfmt-ignore
    for (const address of [
      "169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254",
      "::ffff:169.254.169.254", "::ffff:100.100.100.200", "64:ff9b::a9fe:a9fe", "fe80::a9fe:a9fe", "2002:a9fe:a9fe::",
    ]) {
      expect([address, allowed(address)]).toEqual([address, false]);
    }
    expect(createAddressCheck(["169.254.169.254"])("169.254.169.254")).toBe(true);
  });

  it("leave every public address allowed", () => {
    for (const address of ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "::ffff:1.1.1.1"]) {
      expect([address, createAddressCheck(false)(address)]).toEqual([address, true]);
    }
  });
});

describe("a hostile response", () => {
  const reach = (more: object = {}) =>
    guard({ allowPrivate: ["127.0.0.1"] })(`http://127.0.0.1:${port}/`, { bytesMax: 10_000, ...more });

  it("without end is read up to the limit", async () => {
    answer = (_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
        response.once("drain", more);
      };
      more();
    };
    const { body, complete } = await reach();
    expect([body.byteLength, complete]).toEqual([10_000, false]);
  });

  it("that decompresses to a thousand times its size is read up to the limit", async () => {
    const packed = gzipSync(Buffer.alloc(50_000_000));
    answer = (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(packed);
    const { body, complete } = await reach();
    expect([body.byteLength, complete]).toEqual([10_000, false]);
  });

  it("that never arrives or stops in the middle times out", async () => {
    for (const begin of [() => undefined, (response: ServerResponse) => response.write("half")]) {
      answer = (_request, response) => void begin(response);
      await expect(reach({ timeoutMs: 150 })).rejects.toThrow(OutboundFailure);
    }
  });

  it("with invalid HTTP, endless headers or a cut-off body is a failure", async () => {
    for (const bytes of [
      "nonsense\r\n\r\n",
      `HTTP/1.1 200 OK\r\nX: ${"a".repeat(100_000)}\r\n\r\n`,
      "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
    ]) {
      answer = (request) => void request.socket.end(bytes);
      await expect(reach()).rejects.toThrow(OutboundFailure);
    }
  });

  it("with a wrong content type is returned as bytes", async () => {
    answer = (_request, response) => void response.writeHead(200, { "content-type": "application/json" }).end("<html>");
    expect(Buffer.from((await reach()).body).toString()).toBe("<html>");
  });

  it("is aborted when the caller aborts", async () => {
    const gone = new AbortController();
    answer = () => gone.abort(new Error("enough"));
    await expect(reach({ signal: gone.signal })).rejects.toThrow("enough");
  });
});
