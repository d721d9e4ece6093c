import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { systemClock } from "#runtime/clock.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import { openStore } from "#database/open.ts";
import type { Installation } from "../support/program/installation.ts";
import { install } from "../support/program/installation.ts";
import type { Gateway } from "../support/program/program.ts";
import { startGateway } from "../support/program/program.ts";

/** A connection on which the test sends each byte. */
interface Wire {
  send(text: string): void;
  received(): string;
  readonly closed: Promise<unknown>;
}

async function wire(port: string): Promise<Wire> {
  const socket = connect(Number(port), "127.0.0.1");
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  // Some of these tests expect the connection to be reset.
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  return { send: (chunk) => socket.write(chunk), received: () => text, closed };
}

interface Running {
  readonly gateway: Gateway;
  readonly port: string;
  readonly key: string;
  readonly workspaceId: string;
  readonly loginLink: string;
  readonly dataDir: string;
  /** Sends the head of a request whose body follows. */
  begin(path: string, contentType: string, bytes: number): string;
}

const installations: Installation[] = [];
afterAll(() => Promise.all(installations.map(({ remove }) => remove())));

/** Starts the program in a process of its own. */
async function run(): Promise<Running> {
  const installation = await install();
  installations.push(installation);
  const { dataDir, databaseUrl, workspaceId, key } = installation;
  const store = await openStore(databaseUrl);
  const { id } = await store.read.selectFrom("agents").select("id").executeTakeFirstOrThrow();
  const token = await createLoginToken(store, systemClock, id);
  await store.close();
  const gateway = await startGateway({ PARLEY_DATA_DIR: dataDir });
  const { port } = new URL(gateway.url);
  return {
    gateway,
    port,
    key,
    workspaceId,
    loginLink: `/inbox/login/${token}`,
    dataDir,
    begin: (path, contentType, bytes) =>
      `POST ${path} HTTP/1.1\r\nHost: parley.test\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${contentType}\r\nContent-Length: ${bytes}\r\n\r\n`,
  };
}

async function signIn({ gateway, loginLink }: Running): Promise<string> {
  const response = await fetch(`${gateway.url}${loginLink}`, {
    method: "POST",
    headers: { origin: gateway.url, "content-type": "application/x-www-form-urlencoded" },
    redirect: "manual",
  });
  return response.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
}

const refusesConnections = async (port: string): Promise<boolean> => {
  const socket = connect(Number(port), "127.0.0.1");
  try {
    await once(socket, "connect");
    return false;
  } catch (error) {
    return (error as { readonly code?: unknown }).code === "ECONNREFUSED";
  } finally {
    socket.destroy();
  }
};

// Each test starts the whole program, and some wait until it gives up.
describe("a program that is stopped", { timeout: 120_000 }, () => {
  it("answers requests in flight, refuses new ones, releases all resources, and exits with status 0", async () => {
    const running = await run();
    const { gateway, port, workspaceId, key } = running;
    const question = JSON.stringify({ workspace_id: workspaceId, query: "How many days do I have to return a lamp?" });
    const form = [
      "--limit",
      'Content-Disposition: form-data; name="file"; filename="hours.md"',
      "Content-Type: text/markdown",
      "",
      "# Hours\n\nWe are open on weekdays from nine to five.",
      "--limit--",
      "",
    ].join("\r\n");

    const asking = await wire(port);
    asking.send(running.begin("/v1/query", "application/json", question.length) + question.slice(0, 20));
    const streaming = await wire(port);
    streaming.send(running.begin("/v1/query/stream", "application/json", question.length) + question.slice(0, 20));
    const uploading = await wire(port);
    uploading.send(
      running.begin("/v1/documents/upload", "multipart/form-data; boundary=limit", form.length) + form.slice(0, 90),
    );
    const late = await wire(port);
    late.send("GET /v1/documents HTTP/1.1\r\n");
    const idle = await wire(port);
    idle.send("GET /health/live HTTP/1.1\r\nHost: parley.test\r\n\r\n");
    await expect.poll(idle.received).toContain("200 OK");
    const inbox = await wire(port);
    inbox.send(`GET /inbox/api/events HTTP/1.1\r\nHost: parley.test\r\nCookie: ${await signIn(running)}\r\n\r\n`);
    await expect.poll(inbox.received).toContain(": connected");
    const widget = new WebSocket(`ws://127.0.0.1:${port}/widget/ws?workspace=${workspaceId}&channel=widget`);
    await once(widget, "open");
    const widgetClosed = once(widget, "close");

    const status = gateway.stop();
    await expect.poll(() => refusesConnections(port)).toBe(true);
    await Promise.all([idle.closed, inbox.closed]);
    expect((await widgetClosed)[0]).toBe(1001);

    late.send(`Host: parley.test\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await late.closed;
    expect(late.received()).toMatch(/^HTTP\/1\.1 503 /);
    expect(late.received()).toMatch(/\r\nretry-after: 30\r\n/i);
    expect(late.received()).toMatch(/\r\nx-ratelimit-limit-minute: 0\r\n/i);
    expect(late.received()).toContain('"code":"deploying"');

    asking.send(question.slice(20));
    await asking.closed;
    expect(asking.received()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n[^]*"answer":"[^"]/i);
    streaming.send(question.slice(20));
    await streaming.closed;
    expect(streaming.received()).toMatch(/^HTTP\/1\.1 200 [^]*event: token\n[^]*event: done\n/);
    uploading.send(form.slice(90));
    await uploading.closed;
    expect(uploading.received()).toMatch(/^HTTP\/1\.1 202 [^]*"document":\{"id":"doc_/);

    expect(await status).toBe(0);
    expect(gateway.printed()).not.toMatch(/"level":(50|60)/);
    const store = await openStore(`sqlite:${join(running.dataDir, "parley.sqlite")}`);
    try {
      expect(await store.read.selectFrom("processes").selectAll().execute()).toEqual([]);
      expect(await store.read.selectFrom("connection_leases").selectAll().execute()).toEqual([]);
      expect(await store.read.selectFrom("outbox").select("id").where("lease_id", "is not", null).execute()).toEqual(
        [],
      );
      // The acknowledged upload is kept, and read at the next start.
      const stored = await store.read.selectFrom("documents").select("id").where("title", "like", "%hours%").execute();
      expect(stored).toHaveLength(1);
    } finally {
      await store.close();
    }
  });

  // Ten seconds after the signal it would exit with status 1.
  it("aborts unfinished requests, and still exits with status 0", async () => {
    const running = await run();
    const stalled = await wire(running.port);
    stalled.send(`${running.begin("/v1/query", "application/json", 1_000)}{`);
    // The answer to a later request shows that the server has the first one.
    await fetch(`${running.gateway.url}/health/live`);
    expect(await running.gateway.stop()).toBe(0);
    await stalled.closed;
    expect(running.gateway.printed()).not.toMatch(/"level":(50|60)/);
  });

  it("prints its progress during the first start, and exits without an error when it is stopped then", async () => {
    const installation = await install();
    installations.push(installation);
    const gateway = await startGateway({ PARLEY_DATA_DIR: join(installation.dataDir, "interrupted") });
    await expect.poll(gateway.printed, { timeout: 60_000 }).toContain("reading its manual");
    expect(await gateway.stop()).toBe(0);
    expect(gateway.printed()).not.toMatch(/Parley is running|error:|"level":(50|60)/);
  });

  it("exits at once at the second signal", async () => {
    const running = await run();
    const stalled = await wire(running.port);
    stalled.send(`${running.begin("/v1/query", "application/json", 1_000)}{`);
    await fetch(`${running.gateway.url}/health/live`);
    const first = running.gateway.stop();
    await expect.poll(running.gateway.printed).toContain('"msg":"stop: begun"');
    await expect.poll(() => refusesConnections(running.port)).toBe(true);
    running.gateway.child.kill("SIGINT");
    // An orderly stop would abort the request and exit with status 0.
    expect(await first).toBe(1);
    await stalled.closed;
  });
});
