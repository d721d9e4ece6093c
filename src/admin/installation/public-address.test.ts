import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { loadConfig } from "#config/environment.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { PublicAddress } from "./public-address.ts";
import { checkPublicAddress, proofOf, publicAddress } from "./public-address.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { startApp } from "#test/support/http/app.ts";
import { newSqlite } from "#test/support/database/databases.ts";

const own = createSecrets("a secret for tests, of more than thirty-two characters");
const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve)))));

/** `found`: what any name resolves to; none by default. */
async function ask(
  publicUrl: string,
  found: readonly { readonly address: string; readonly family: number }[] = [],
): Promise<PublicAddress> {
  const guarded = openGuardedFetch({ allowPrivate: true, resolve: async () => found });
  try {
    return await publicAddress(publicUrl, own, guarded);
  } finally {
    await guarded.close();
  }
}

type Answer = readonly [status: number, body: string, location?: string];

/** The server at the public address; `path` is the requested path. */
async function answering(answer: (path: string) => Answer | Promise<Answer>): Promise<string> {
  const server = createServer((request, response) => {
    void Promise.resolve(answer(request.url ?? "")).then(([status, body, location]) =>
      response.writeHead(status, location === undefined ? {} : { location }).end(body),
    );
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("the public address", () => {
  it("is not checked if PUBLIC_URL is not set, whichever address the server listens on", async () => {
    const env = { PARLEY_SECRET: "a secret for tests, of more than thirty-two characters", LOG_LEVEL: "silent" };
    for (const host of ["127.0.0.1", "0.0.0.0", "::", "::1"]) {
      expect(await checkPublicAddress(loadConfig({ ...env, HOST: host, PORT: "1" })), host).toBeUndefined();
    }
    const given = loadConfig({ ...env, HOST: "::1", PORT: "1", PUBLIC_URL: "http://[::1]:1" });
    expect(await checkPublicAddress(given)).toHaveProperty("leads");
  });

  it("is by default reachable from this machine, also when the server listens on all addresses", () => {
    const addressOf = (host: string): string => loadConfig({ HOST: host, PORT: "81" }).publicUrl;
    expect(["0.0.0.0", "::", "::1", "127.0.0.1", "support.internal"].map(addressOf)).toEqual([
      "http://localhost:81",
      "http://localhost:81",
      "http://[::1]:81",
      "http://127.0.0.1:81",
      "http://support.internal:81",
    ]);
  });

  it("is verified by a proof that only this installation can give", async () => {
    const app = await startApp(newSqlite);
    try {
      expect(await ask(app.url)).toEqual({ leads: "here", detail: `${app.url} leads here` });
      // A request without a valid challenge gets no signature.
      for (const query of ["", "?proof=", "?proof=short", `?proof=${"x".repeat(65)}`, "?proof[]=a&proof[]=b"]) {
        const answered = await app.get(`/health/live${query}`, { key: null });
        expect([answered.status, Object.keys(answered.body)]).toEqual([200, ["status", "version"]]);
      }
    } finally {
      await app.close();
    }
  });

  it("is reported if it leads to another installation, another server or a redirect", async () => {
    const other = createSecrets("the secret of another installation");
    const nonceOf = (path: string): string | null => new URL(path, "http://x").searchParams.get("proof");
    const signs = (path: string) => JSON.stringify({ status: "live", proof: proofOf(other, nonceOf(path)) });
    expect(await ask(await answering((path) => [200, signs(path)]))).toMatchObject({
      leads: "elsewhere",
      detail: expect.stringContaining("another installation of Parley"),
    });
    // A replayed proof is not accepted.
    const old = JSON.stringify({ status: "live", proof: proofOf(own, "n".repeat(32)) });
    expect((await ask(await answering(() => [200, old]))).leads).toBe("elsewhere");
    expect(await ask(await answering(() => [200, "<html>Welcome to nginx!</html>"]))).toMatchObject({
      leads: "elsewhere",
      detail: expect.stringContaining("another server than Parley"),
    });
    const led = await ask(await answering((path) => [301, "", `https://support.example${path}`]));
    expect(led).toMatchObject({
      leads: "elsewhere",
      detail: expect.stringMatching(/ leads on to https:\/\/support\.example: set PUBLIC_URL to that/),
    });
  });

  it("is reported if it is public and unencrypted", async () => {
    const app = await startApp(newSqlite);
    try {
      // A public name that resolves to this machine.
      const publicUrl = app.url.replace("127.0.0.1", "support.example");
      expect(await ask(publicUrl, [{ address: "127.0.0.1", family: 4 }])).toMatchObject({
        leads: "unsure",
        detail: expect.stringMatching(/leads here, and .*set PUBLIC_URL to the https address$/),
      });
    } finally {
      await app.close();
    }
  });

  it("is reported if it has a path, which breaks the inbox", async () => {
    const app = await startApp(newSqlite);
    const prefix = await answering(async (path) => {
      const behind = await fetch(`${app.url}${path.replace("/support/", "/")}`);
      return [behind.status, await behind.text()];
    });
    try {
      expect(await ask(`${prefix}/support`)).toMatchObject({
        leads: "unsure",
        detail: expect.stringContaining("do not work below /support: give this server a name of its own"),
      });
    } finally {
      await app.close();
    }
  });

  it("is uncertain, with what to check, if the server there cannot be identified", async () => {
    const doubted = async (url: string) => {
      const { leads, detail } = await ask(url);
      expect(leads, detail).toBe("unsure");
      return detail;
    };
    const gone = await answering(() => [200, ""]);
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
    expect(await doubted(gone)).toMatch(/takes no connections: start Parley; if it runs, check the firewall/);
    expect(await doubted(await answering(() => [502, "Bad Gateway"]))).toMatch(/status 502: start Parley/);
    expect(await doubted(`${await answering(() => [404, ""])}/support`)).toMatch(
      /status 404.*without \/support in front/,
    );
    expect(await doubted(await answering(() => [200, '{"status":"live","version":"0.1.0"}']))).toMatch(
      /an earlier version of Parley/,
    );
    expect(await ask("http://169.254.169.254")).toMatchObject({ leads: "elsewhere" });
    expect(await doubted("http://nowhere.invalid")).toMatch(/cannot be resolved: check PUBLIC_URL/);
  });
});
