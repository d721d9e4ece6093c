import { createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { agent, idPattern, timestampPattern } from "../support/http/contract.ts";
import type { TestDatabase } from "../support/database/databases.ts";
import { eachDatabase } from "../support/database/databases.ts";
import type { Gateway } from "../support/program/program.ts";
import { parley, startGateway } from "../support/program/program.ts";

interface Delivered {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>> & {
      readonly conversation: Readonly<Record<string, unknown>>;
    };
  };
}

/** Runs the program as people do: webhooks are created by a command, and a server receives them. */
eachDatabase("6 events", (open) => {
  let database: TestDatabase;
  let folder: string;
  let gateway: Gateway;
  let receiver: Server;
  let workspaceId: string;
  let key: string;
  let secret: string;
  const delivered: Delivered[] = [];
  /** Deliveries to an endpoint that names its types. */
  const named: Delivered[] = [];

  beforeAll(async () => {
    database = await open();
    folder = await mkdtemp(join(tmpdir(), "parley-events-"));
    receiver = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const text = Buffer.concat(parts).toString();
        const list = request.url === "/named" ? named : delivered;
        list.push({ headers: request.headers, text, body: JSON.parse(text) as Delivered["body"] });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const address = receiver.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const file = join(folder, "parley.yaml");
    await writeFile(file, "outbound:\n  allow_private: [127.0.0.1]\n");
    const env = { PARLEY_DATA_DIR: folder, PARLEY_CONFIG: file, DATABASE_URL: database.url };
    const json = async (...args: readonly string[]): Promise<Readonly<Record<string, string>>> => {
      const { status, stdout, stderr } = await parley([...args, "--json"], env);
      if (status !== 0) throw new Error(`${args.join(" ")} failed: ${stderr}`);
      return JSON.parse(stdout) as Readonly<Record<string, string>>;
    };
    workspaceId = (await json("workspace", "create", "--name", "Acme"))["id"] ?? "";
    key = (await json("key", "create", "--workspace", workspaceId, "--name", "Events"))["key"] ?? "";
    const url = `http://127.0.0.1:${port}/hook`;
    secret = (await json("webhook", "add", "--workspace", workspaceId, "--url", url))["secret"] ?? "";
    const events = "conversation.updated,note.created,contact.updated,conversation.deleted";
    await json(
      "webhook",
      "add",
      "--workspace",
      workspaceId,
      "--url",
      `http://127.0.0.1:${port}/named`,
      "--events",
      events,
    );
    gateway = await startGateway(env);
  }, 120_000);
  afterAll(async () => {
    await gateway?.stop();
    receiver?.closeAllConnections();
    receiver?.close();
    await database?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? {} : ((await response.json()) as Record<string, unknown>);
  };
  const ask = async (body: object = {}) =>
    String(
      (await call("POST", "/v1/query", { workspace_id: workspaceId, query: "Hello", ...body }))["conversation_id"],
    );
  const patch = (id: string, body: object) => call("PATCH", `/v1/conversations/${id}`, body);
  const of = (id: string) => delivered.filter(({ body }) => body.data.conversation["id"] === id);
  const types = (id: string) => of(id).map(({ body }) => body.type);

  it("6 reports creation, claim, snooze, resolution, archiving and reopening in order", async () => {
    const id = await ask();
    await patch(id, { status: "claimed", assigned_to: agent });
    await patch(id, { status: "snoozed" });
    await patch(id, { status: "resolved" });
    await patch(id, { status: "archived" });
    await patch(id, { status: "open" });
    await patch(id, { status: "resolved" });
    await ask({ conversation_id: id });
    await expect
      .poll(() => types(id))
      .toEqual([
        "conversation.started",
        "conversation.claimed",
        "conversation.snoozed",
        "conversation.resolved",
        "conversation.archived",
        "conversation.reopened",
        "conversation.resolved",
        "conversation.reopened",
      ]);
  });

  it("6 reports an escalation after the creation of the same conversation", async () => {
    const id = await ask({ query: "I want to talk to a human" });
    await expect.poll(() => types(id)).toEqual(["conversation.started", "conversation.escalated"]);
  });

  it("6 reports nothing if the status did not change", async () => {
    const id = await ask();
    await patch(id, { status: "open", tags: ["x"], priority: "high", internal_notes: [{ content: "A note" }] });
    const marker = await ask();
    await expect.poll(() => types(marker)).toEqual(["conversation.started"]);
    expect(types(id)).toEqual(["conversation.started"]);
  });

  it("6 reports other changes to endpoints that name their types", async () => {
    const id = await ask({ user: { name: "Ada" } });
    await patch(id, { tags: ["x"], priority: "high", internal_notes: [{ content: "A note" }] });
    await patch(id, { tags: ["x"], priority: "high" });
    await call("POST", `/v1/conversations/${id}/notes`, { content: "Another" });
    const theirs = () => named.filter(({ body }) => body.data.conversation?.["id"] === id);
    const seen = () => theirs().map(({ body }) => body.type);
    await expect.poll(seen).toEqual(["note.created", "conversation.updated", "note.created"]);
    await call("DELETE", `/v1/conversations/${id}`);
    await expect.poll(() => seen().slice(3)).toEqual(["conversation.deleted"]);
    const deleted = theirs().at(-1);
    expect(deleted?.body.data.conversation).toEqual({ id });
    expect(deleted?.body.data).toMatchObject({ sequence: 5, actor: { type: "api_key", name: "Events" } });
    expect(deleted?.text).not.toContain("Ada");
    expect(types(id)).toEqual(["conversation.started"]);
  });

  it("6 sends type, timestamp and data: the event, the workspace, the conversation, the previous status, and the actor", async () => {
    const id = await ask();
    await patch(id, { status: "claimed", assigned_to: agent });
    await expect.poll(() => of(id).length).toBe(2);
    const [, claimed] = of(id);
    expect(claimed?.body).toMatchObject({
      type: "conversation.claimed",
      timestamp: expect.stringMatching(timestampPattern),
      data: {
        event_id: expect.stringMatching(idPattern("evt")),
        workspace_id: workspaceId,
        conversation: { id, status: "claimed", channel: "api", assigned_to: agent },
        previous_status: "open",
        actor: { type: "api_key", name: "Events" },
      },
    });
  });

  it("6 signs each delivery by the Standard Webhooks specification", async () => {
    const before = Date.now();
    const id = await ask();
    await expect.poll(() => of(id).length).toBe(1);
    const [first] = of(id);
    const headers: IncomingHttpHeaders = first?.headers ?? {};
    const text = first?.text ?? "";
    expect(secret).toMatch(/^whsec_/);
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${text}`;
    const mac = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
      .update(signed)
      .digest("base64");
    expect(String(headers["webhook-signature"]).split(" ")).toContain(`v1,${mac}`);
    const sentAt = Number(headers["webhook-timestamp"]);
    expect(sentAt).toBeGreaterThanOrEqual(Math.floor(before / 1_000));
    expect(sentAt).toBeLessThanOrEqual(Date.now() / 1_000);
    expect(headers["content-type"]).toMatch(/^application\/json/);
  });

  it("6 does not count deliveries against the key's rate limit", async () => {
    const before = await fetch(`${gateway.url}/v1/documents`, { headers: { authorization: `Bearer ${key}` } });
    const after = await fetch(`${gateway.url}/v1/documents`, { headers: { authorization: `Bearer ${key}` } });
    const left = (response: Response) => Number(response.headers.get("x-ratelimit-remaining-day"));
    expect(left(before) - left(after)).toBe(1);
  });
});
