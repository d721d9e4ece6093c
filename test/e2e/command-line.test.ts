import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "#database/open.ts";
import type { TestDatabase } from "../support/database/databases.ts";
import { eachDatabase } from "../support/database/databases.ts";
import { startEmbeddingServer } from "../support/servers/embedding-server.ts";
import { startRerankerServer } from "../support/servers/reranker-server.ts";
import { says, startModelServer } from "../support/servers/model-server.ts";
import type { CommandHost } from "../support/program/program.ts";
import { openCommandHost, parley as runProcess, startGateway } from "../support/program/program.ts";

eachDatabase("the command line", (open) => {
  let database: TestDatabase;
  let folder: string;
  let env: Record<string, string>;
  let workspaceId: string;
  let host: CommandHost;
  const parley: CommandHost["parley"] = (args, given) => host.parley(args, given);

  beforeAll(async () => {
    host = await openCommandHost();
    database = await open();
    folder = await mkdtemp(join(tmpdir(), "parley-cli-"));
    env = { PARLEY_DATA_DIR: join(folder, "data"), DATABASE_URL: database.url };
    workspaceId = (await json(["workspace", "create", "--name", "Acme"])).id;
  });
  afterAll(async () => {
    await host.close();
    await rm(folder, { recursive: true, force: true });
    await database.remove();
  });

  /** Runs a command that succeeds and parses the single JSON value on stdout. */
  // oxlint-disable-next-line typescript/no-explicit-any -- expectations check the fields that a test reads.
  async function json(args: readonly string[], status = 0): Promise<any> {
    const ran = await parley([...args, "--json"], env);
    expect(ran.stderr).toBe("");
    expect(ran.status).toBe(status);
    return JSON.parse(ran.stdout);
  }

  it("creates a workspace with its identity secret, and lists it", async () => {
    const made = await json(["workspace", "create", "--name", "Second", "--plan", "growth"]);
    expect(made).toMatchObject({ name: "Second", plan: "growth" });
    expect(made.id).toMatch(/^wt_[a-z0-9]{6}_[a-z0-9]{10,}$/);
    expect(made.identity_secret).toMatch(/^[0-9a-f]{64}$/);
    const names = (await json(["workspace", "list"])).map(({ name }: { name: string }) => name);
    expect(names).toEqual(["Acme", "Second"]);
  });

  it("changes settings of a workspace, and reports unknown and invalid ones", async () => {
    const { settings } = await json([
      "workspace",
      "set",
      workspaceId,
      "bot_name=Ada",
      "widget.color=#aa3300",
      "auto_resolve_days=false",
    ]);
    expect(settings).toMatchObject({ botName: "Ada", widgetColor: "#aa3300", autoResolveDays: null });
    const first = await json(["workspace", "set", workspaceId, "sla.urgent=5"]);
    const second = await json(["workspace", "set", workspaceId, "sla.low=600"]);
    expect(first.settings.slaTargets).toEqual({ urgent: 5, high: 30, normal: 60, low: 240 });
    expect(second.settings.slaTargets).toEqual({ urgent: 5, high: 30, normal: 60, low: 600 });
    const wrong = await parley(["workspace", "set", workspaceId, "colour=red"], env);
    expect(wrong.status).toBe(1);
    expect(wrong.stderr).toContain("colour is not a setting; allowed here: name, plan");
  });

  it("creates, lists and revokes a key, whose text is shown once", async () => {
    const made = await json(["key", "create", "--workspace", workspaceId, "--name", "server", "--limit-minute", "5"]);
    expect(made.key).toMatch(/^ak_[a-z0-9]{6}_[a-z0-9]{32}$/);
    const listed = await parley(["key", "list", "--workspace", workspaceId, "--json"], env);
    expect(listed.stdout).not.toContain(made.key);
    await json(["key", "revoke", made.id]);
    const [row] = await json(["key", "list", "--workspace", workspaceId]);
    expect(row).toMatchObject({ id: made.id, limit_minute: 5, revoked_at: expect.stringMatching(/Z$/) });
  });

  it("refuses a key limit above the plan's", async () => {
    const ran = await parley(
      ["key", "create", "--workspace", workspaceId, "--name", "n", "--limit-minute", "1001"],
      env,
    );
    expect(ran).toMatchObject({ status: 1, stdout: "" });
    expect(ran.stderr).toContain("1 to the workspace's 1000");
  });

  it("refuses to erase a contact that does not exist", async () => {
    const ran = await parley(["forget", "--workspace", workspaceId, "--contact", "ct_unknown", "--yes"], env);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(ran.stderr).toContain("--contact: there is no contact ct_unknown in this workspace");
  });

  it("creates an agent once, and a link that signs in", async () => {
    const email = "Ann@Example.com";
    const made = await json(["agent", "create", "--workspace", workspaceId, "--email", email, "--name", "Ann"]);
    expect(made).toMatchObject({ email: "ann@example.com", name: "Ann", role: "agent" });
    const again = await parley(["agent", "create", "--workspace", workspaceId, "--email", email, "--name", "Ann"], env);
    expect(again.status).toBe(1);
    expect(again.stderr).toContain("is an agent of this workspace already");
    const { link } = await json(["agent", "login", "--workspace", workspaceId, "--email", email]);
    expect(link).toMatch(/\/inbox\/login\/[\w-]{43}$/);
  });

  it("turns off the second factor of an agent who lost it", async () => {
    const bob = ["--workspace", workspaceId, "--email", "bob@example.com"];
    await json(["agent", "create", ...bob, "--name", "Bob"]);
    const reset = () => json(["agent", "reset-second-factor", ...bob]);
    expect(await reset()).toEqual({ email: "bob@example.com", reset: false });
    const store = await openStore(database.url);
    try {
      const rows = store.read
        .selectFrom("agents")
        .select(["id", "second_factor"])
        .where("email", "=", bob[3] ?? "");
      const { id } = await rows.executeTakeFirstOrThrow();
      await store.write(async (tx) => {
        await tx.updateTable("agents").set({ second_factor: "sealed" }).where("id", "=", id).execute();
        await tx.insertInto("recovery_codes").values({ agent_id: id, hash: "hash", created_at: 0 }).execute();
      });
      expect(await reset()).toEqual({ email: "bob@example.com", reset: true });
      expect((await rows.executeTakeFirstOrThrow()).second_factor).toBeNull();
      const codes = store.read.selectFrom("recovery_codes").selectAll().where("agent_id", "=", id);
      expect(await codes.execute()).toEqual([]);
    } finally {
      await store.close();
    }
  });

  it("adds documents, reports each outcome, answers from them, and removes them", async () => {
    const good = join(folder, "returns.md");
    const bad = join(folder, "photo.md");
    await writeFile(
      good,
      "# Returns\n\n## How long can I return an order?\n\nYou can return an order within 45 days of delivery.\n",
    );
    await writeFile(bad, Buffer.from([0, 1, 2, 3, 255, 254, 0, 0, 9]));
    const outcomes = await json(
      ["documents", "add", "--workspace", workspaceId, good, bad, join(folder, "absent.md")],
      1,
    );
    expect(outcomes.map(({ status }: { status: string }) => status)).toEqual(["indexed", "failed", "failed"]);
    expect(outcomes[2].error).toBe("there is no such file");

    const asked = await json(["ask", "--workspace", workspaceId, "How long can I return an order?"]);
    expect(asked.answer).toContain("within 45 days");
    expect(asked.sources[0]).toMatchObject({
      title: expect.stringContaining("Returns"),
      chunk: expect.stringContaining("45 days"),
    });
    const readable = await parley(["ask", "--workspace", workspaceId, "How long can I return an order?"], env);
    expect(readable.stdout).toMatch(/within 45 days[^]*\[1\] Returns/);

    const questions = join(folder, "questions.csv");
    const lines = ["question,answer,document", "How long can I return an order?,45 days,Returns"];
    await writeFile(
      questions,
      [...lines, "How long can I return an order?,30 days,", "Do you sell tyres?,,"].join("\n"),
    );
    const evaluated = await json(["evaluate", "--workspace", workspaceId, questions]);
    expect(evaluated.results.map(({ verdict }: { verdict: string }) => verdict)).toEqual([
      "right",
      "wrong",
      "refused rightly",
    ]);
    const table = await parley(["evaluate", "--workspace", workspaceId, questions], env);
    expect(table.stdout).toMatch(/3 questions, strict\n +right +1 +33 % +\(6 to 79\)[^]*The worst\n +line 3: wrong/);

    await json(["documents", "remove", "--workspace", workspaceId, outcomes[0].id]);
    expect((await json(["ask", "--workspace", workspaceId, "How long can I return an order?"])).confidence).toBe("low");
    expect(await json(["documents", "list", "--workspace", workspaceId, "--status", "indexed"])).toEqual([]);
  });

  it("refuses a document if the database's disk has no room", async () => {
    const file = join(folder, "room.md");
    await writeFile(file, "# Room\n\nThere is room for everybody.\n");
    const add = ["documents", "add", "--workspace", workspaceId, file, "--json"];
    const ran = await parley(add, { ...env, FILES_RESERVE_MB: "1048576" });
    const [outcome] = JSON.parse(ran.stdout) as readonly { readonly status: string; readonly error: string | null }[];
    // A database server has a disk of its own.
    const expected = database.url.startsWith("sqlite:")
      ? { status: "failed", error: "No files are taken now: the disk is nearly full." }
      : { status: "indexed", error: null };
    expect([outcome, ran.status]).toEqual([expect.objectContaining(expected), expected.error === null ? 0 : 1]);
  });

  it("exits with status 1 for unknown ids", async () => {
    const ran = await runProcess(["key", "list", "--workspace", "wt_aaaaaa_bbbbbbbbbbbb"], env);
    expect(ran).toMatchObject({ status: 1, stdout: "" });
    expect(ran.stderr).toContain("there is no workspace wt_aaaaaa_bbbbbbbbbbbb");
  });

  it("reports by doctor that searches fail while the search engine is down, and that all else works", async () => {
    const away = { ...env, TYPESENSE_URL: "http://127.0.0.1:1", TYPESENSE_API_KEY: "a-secret-key" };
    const checked = await parley(["doctor", "--json"], away);
    expect(checked.status).toBe(0);
    const { checks } = JSON.parse(checked.stdout) as { readonly checks: readonly { readonly name: string }[] };
    expect(checks.find(({ name }) => name === "search engine")).toMatchObject({
      ok: false,
      degraded: true,
      detail: expect.stringContaining("check TYPESENSE_URL"),
    });
    expect(checked.stdout).not.toContain("a-secret-key");
  });

  it("rebuilds the search engine's collections only if there is one", async () => {
    const refused = await parley(["search", "rebuild"], env);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("TYPESENSE_URL is not set");
    const beside = { ...env, TYPESENSE_URL: "http://127.0.0.1:1", TYPESENSE_API_KEY: "a-secret-key" };
    const queued = await parley(["search", "rebuild", "--json"], beside);
    expect(queued.status).toBe(0);
    expect((JSON.parse(queued.stdout) as { readonly queued: readonly string[] }).queued.length).toBeGreaterThan(0);
  });

  it("reports by doctor that all is well", async () => {
    expect(await json(["doctor"])).toMatchObject({ ok: true });
  });

  it("runs doctor before the first start, without creating a secret", async () => {
    const fresh = join(folder, "fresh");
    const before = { PARLEY_DATA_DIR: fresh, DATABASE_URL: `sqlite:${join(folder, "fresh.sqlite")}`, HOST: "::" };
    const checked = await parley(["doctor"], before);
    expect(checked.stdout).toContain("✓ secret: nothing is stored with it yet");
    expect(checked.stdout).not.toContain("public address");
    expect(checked.status).toBe(0);
    expect(existsSync(join(fresh, "secret"))).toBe(false);
  });

  it("protects customers' data from other users of the machine, and reports by doctor where it does not", async () => {
    const dataDir = join(folder, "kept", "data");
    const kept = { PARLEY_DATA_DIR: dataDir, DATABASE_URL: `sqlite:${join(folder, "of-the-database", "kept.sqlite")}` };
    expect((await parley(["doctor"], kept)).stdout).toMatch(/✓ data folder: .*MB free/);
    for (const made of [dataDir, join(folder, "of-the-database")]) {
      expect(((await stat(made)).mode & 0o777).toString(8), made).toBe("700");
    }
    await chmod(dataDir, 0o755);
    const wide = await parley(["doctor"], kept);
    expect(wide.stdout).toContain(`! data folder: other users of this machine`);
    expect(wide.stdout).toContain(`chmod 700 ${dataDir}`);
    expect(wide.status).toBe(0);
    // A group may have access, for example for backups.
    await chmod(dataDir, 0o750);
    expect((await parley(["doctor"], kept)).stdout).toContain("✓ data folder");
  });

  it("reports by doctor another server at the public address, and a proxy without an upstream", async () => {
    let status = 200;
    const other = createServer((_request, response) => response.writeHead(status).end("<html>Welcome!</html>"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = { ...env, PUBLIC_URL: `http://localhost:${(other.address() as AddressInfo).port}` };
    const wrong = await parley(["doctor"], address);
    expect(wrong.status).toBe(1);
    expect(wrong.stdout).toMatch(/✗ public address: another server than Parley answers at http:\/\/localhost:\d+: set/);
    // Parley may not have started yet.
    status = 502;
    const nobody = await parley(["doctor"], address);
    await new Promise((resolve) => other.close(resolve));
    expect(nobody.stdout).toMatch(/! public address: .* with status 502: start Parley; if it runs, check/);
    expect(nobody.status).toBe(0);
  });

  it("prints the next steps once, on the first start", async () => {
    const own = await open();
    const start = { PARLEY_DATA_DIR: join(folder, "first"), DATABASE_URL: own.url };
    try {
      const first = await startGateway(start);
      await expect.poll(() => first.printed(), { timeout: 60_000 }).toContain("Set it up");
      const printed = first.printed();
      const key = /ak_\w+/.exec(printed)?.[0] ?? "";
      const workspace = /wt_\w+/.exec(printed)?.[0] ?? "";
      expect(printed).toMatch(/\/(demo|chat\/wt_\w+)\n[^]*\/inbox\/login\/[\w-]{43}\n[^]*\/docs\n/);
      const asked = await fetch(`${first.url}/v1/query`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ workspace_id: workspace, query: "How do I add the widget to my website?" }),
      });
      expect(asked.status).toBe(200);
      const { sources } = (await asked.json()) as { readonly sources: readonly unknown[] };
      expect(sources.length).toBeGreaterThan(0);
      // Commands work while the server runs.
      expect((await runProcess(["workspace", "list", "--json"], start)).status).toBe(0);
      expect(await first.stop()).toBe(0);

      const second = await startGateway(start);
      expect(await second.stop()).toBe(0);
      expect(second.printed()).not.toMatch(/ak_\w{10}/);
    } finally {
      await own.remove();
    }
  }, 120_000);

  it("exits if its port is taken", async () => {
    const first = await startGateway(env);
    try {
      const own = { PARLEY_DATA_DIR: join(folder, "beside"), DATABASE_URL: `sqlite:${join(folder, "beside.sqlite")}` };
      const ran = await runProcess(["start"], { ...env, ...own, PORT: new URL(first.url).port });
      expect(ran.status).toBe(1);
      expect(ran.stderr).toContain(`Port ${new URL(first.url).port} is in use`);
      expect(ran.stderr).toContain("set PORT");
    } finally {
      await first.stop();
    }
  });

  it("replaces a workspace's identity secret, and refuses proofs by the old one", async () => {
    const made = await json(["workspace", "create", "--name", "Rotated"]);
    const { key } = await json(["key", "create", "--workspace", made.id, "--name", "server"]);
    const { id, identity_secret: secret } = await json(["workspace", "rotate-secret", made.id]);
    expect(id).toBe(made.id);
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const gateway = await startGateway(env);
    const statusWith = async (identitySecret: string): Promise<number> => {
      const hash = createHmac("sha256", identitySecret).update("ada").digest("hex");
      const response = await fetch(`${gateway.url}/v1/query`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ workspace_id: made.id, query: "hello", user: { user_id: "ada", hash } }),
      });
      return response.status;
    };
    try {
      expect(await statusWith(secret)).toBe(200);
      expect(await statusWith(made.identity_secret)).toBe(403);
    } finally {
      await gateway.stop();
    }
  });

  it("refuses to run with another secret than the data was stored with", async () => {
    const other = { ...env, PARLEY_SECRET: "0123456789abcdef0123456789abcdef" };
    for (const args of [["start"], ["workspace", "create", "--name", "Third"]]) {
      const ran = await parley(args, other);
      expect(ran.status).toBe(1);
      expect(ran.stderr).toContain("the secret is not the one that this database was made with");
    }
    const checked = await parley(["doctor"], other);
    expect(checked.status).toBe(1);
    expect(checked.stdout).toMatch(/✓ database[^]*✗ secret: .*set PARLEY_SECRET/);
  });

  it("calls the language model, and reports its faults by doctor", async () => {
    const server = await startModelServer();
    try {
      const model = {
        ...env,
        MODEL_PROVIDER: "openai-compatible",
        MODEL_NAME: "test-model",
        MODEL_BASE_URL: server.url,
        MODEL_API_KEY: "sk-test-5e1f",
      };
      server.answer = () => says("ready");
      expect((await parley(["doctor"], model)).stdout).toContain("✓ model: test-model of openai-compatible answers");
      server.answer = () => ({ kind: "status", status: 401, body: '{"error":{"message":"sk-test-5e1f is wrong"}}' });
      const checked = await parley(["doctor"], model);
      expect(checked.status).toBe(1);
      expect(checked.stdout).toMatch(/✗ model: .*401.*check MODEL_API_KEY/);
      expect(`${checked.stdout}${checked.stderr}`).not.toContain("sk-test-5e1f");
    } finally {
      await server.close();
    }
  });

  it("warns where a reranker fails", async () => {
    const [model, reranker] = await Promise.all([startModelServer(), startRerankerServer()]);
    try {
      const both = {
        ...env,
        MODEL_PROVIDER: "openai-compatible",
        MODEL_NAME: "test-model",
        MODEL_BASE_URL: model.url,
        RERANKER_BASE_URL: reranker.url,
        RERANKER_NAME: "rerank-test",
        RERANKER_API_KEY: reranker.apiKey,
      };
      model.answer = () => says("ready");
      reranker.score = (document) => (document.startsWith("Parcels") ? 0.9 : 0.1);
      expect((await parley(["doctor"], both)).stdout).toContain("✓ reranker: rerank-test");
      const refused = await parley(["doctor"], { ...both, RERANKER_API_KEY: "another-key" });
      expect(refused.stdout).toMatch(/! reranker: .*401.*check RERANKER_API_KEY/);
      expect(refused.status).toBe(0);
      const unknown = await parley(["doctor"], { ...both, RERANKER_NAME: "unknown" });
      expect(unknown.stdout).toMatch(/! reranker: .*400.*check RERANKER_NAME/);
      reranker.score = (document) => Number(document.startsWith("The shop"));
      expect((await parley(["doctor"], both)).stdout).toMatch(/! reranker: .*is it a model for ranking/);
      expect(`${refused.stdout}${refused.stderr}`).not.toContain("another-key");
    } finally {
      await Promise.all([model.close(), reranker.close()]);
    }
  });

  it("queues a calibration only with an embedding server, on which doctor reports", async () => {
    const refused = await parley(["search", "calibrate"], env);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("EMBEDDING_PROVIDER names no embedding server");
    const server = await startEmbeddingServer([]);
    try {
      const embedding = {
        ...env,
        EMBEDDING_PROVIDER: "openai-compatible",
        EMBEDDING_NAME: "test-model",
        EMBEDDING_BASE_URL: server.url,
        EMBEDDING_API_KEY: server.apiKey,
      };
      const queued = await parley(["search", "calibrate", "--workspace", workspaceId, "--json"], embedding);
      expect(JSON.parse(queued.stdout)).toEqual({ queued: [workspaceId] });
      const { stdout } = await parley(["doctor"], embedding);
      expect(stdout).toContain("✓ embedding server: test-model, vectors of 1 numbers; not calibrated yet");
    } finally {
      await server.close();
    }
  });

  it("refuses a second process on a SQLite file without Redis, and warns it on another database", async () => {
    const first = await startGateway(env);
    if (database.url.startsWith("sqlite:")) {
      const { status, stderr } = await runProcess(["start"], { ...env, PORT: "0" });
      expect(status).toBe(1);
      expect(stderr).toContain(`Another server uses the database ${database.url.slice("sqlite:".length)}: stop it`);
    } else {
      const second = await startGateway(env);
      expect(first.printed()).not.toContain("set REDIS_URL");
      expect(second.printed()).toContain("set REDIS_URL");
      await second.stop();
    }
    await first.stop();
  });

  it("does not start with an error in the configuration file, and reports file, line and allowed values", async () => {
    const file = join(folder, "parley.yaml");
    await writeFile(file, "workspaces:\n  - name: Acme\n    strictness: careless\n");
    const ran = await parley(["start"], { ...env, PARLEY_CONFIG: file });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain(`${file}, line 3: workspaces.0.strictness`);
    await writeFile(file, "workspaces:\n  - name: Acme\n    colour: red\n");
    const unknown = await parley(["start"], { ...env, PARLEY_CONFIG: file });
    expect(unknown.stderr).toContain(
      `${file}, line 3: workspaces.0.colour is not a setting; allowed here: name, plan, bot_name`,
    );
    await writeFile(file, "workspaces:\n  - name: ${NO_SUCH_VARIABLE}\n");
    const missing = await parley(["start"], { ...env, PARLEY_CONFIG: file });
    expect(missing.stderr).toContain(`${file}, line 2: the environment has no variable NO_SUCH_VARIABLE`);
  });

  it("requires a variable of the configuration file only in commands that use it", async () => {
    const file = join(folder, "parley.yaml");
    const bot = "{ name: bot, channel: telegram, token: '${NO_SUCH_VARIABLE}', transport: polling }";
    await writeFile(file, `workspaces:\n  - name: Acme\n    channels:\n      - ${bot}\n`);
    const there = { ...env, PARLEY_CONFIG: file };
    expect(await parley(["workspace", "list"], there)).toMatchObject({ status: 0, stderr: "" });
    const doctor = await parley(["doctor"], there);
    expect(doctor.status).toBe(1);
    expect(`${doctor.stdout}${doctor.stderr}`).toContain(`${file}, line 4: the environment has no variable`);
    await writeFile(file, "outbound:\n  allow_private: ['${NO_SUCH_VARIABLE}']\n");
    expect((await parley(["workspace", "list"], there)).stderr).toContain("line 2: the environment has no variable");
  });
});

// The database does not matter here.
describe("the command line with invalid arguments", () => {
  let folder: string;
  let env: Record<string, string>;
  let host: CommandHost;

  beforeAll(async () => {
    host = await openCommandHost();
    folder = await mkdtemp(join(tmpdir(), "parley-cli-"));
    env = { PARLEY_DATA_DIR: join(folder, "data") };
  });
  afterAll(async () => {
    await host.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("exits with status 2 as a process, without output on stdout", async () => {
    const ran = await runProcess(["frobnicate"], env);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(ran.stderr).toContain('no command "frobnicate"');
  });

  it.each([
    [["frobnicate"], 'no command "frobnicate"'],
    [["workspace", "create"], "--name is missing"],
    [["workspace", "create", "--name", "x", "--plan", "gold"], "--plan is one of free"],
    [["key", "create", "--workspace", "w", "--name", "n", "--limit-day", "many"], "--limit-day takes a whole number"],
    [
      ["key", "create", "--workspace", "w", "--name", "n", "--expires", "2020-01-01"],
      "--expires takes a time in the future",
    ],
    [["ask", "--workspace", "w"], 'use: parley ask --workspace W "question"'],
    [["evaluate", "--workspace", "w"], "use: parley evaluate --workspace W FILE.csv"],
    [["evaluate", "--workspace", "w", "absent.csv"], "absent.csv: there is no such file"],
    [["evaluate", "--workspace", "w", "--mode", "mild", "a.csv"], '--mode takes strict or helpful, not "mild"'],
    [["documents", "list", "--workspace", "w", "--status", "lost"], "--status is one of pending"],
  ])("exits with status 2 and shows the usage for %s", async (args, reason) => {
    const ran = await host.parley(args, env);
    expect(ran).toMatchObject({ status: 2, stdout: "" });
    expect(ran.stderr).toContain(reason);
  });

  it.each([
    [{ PORT: "eighty" }, 'PORT is "eighty": use a number'],
    [{ DATABASE_URL: "postgres://x" }, "DATABASE_URL: use sqlite:PATH or mysql://"],
    [{ PARLEY_SECRET: "short" }, "PARLEY_SECRET is too short"],
    [{ PARLEY_ROLE: "boss" }, 'PARLEY_ROLE is "boss": use all, web, worker'],
    [{ PARLEY_ROLE: "web" }, "set REDIS_URL"],
    [{ PARLEY_CONFIG: "nowhere.yaml" }, "there is no such file"],
    [{ LOG_LEVEL: "loud" }, 'LOG_LEVEL is "loud"'],
    [{ TYPESENSE_URL: "http://localhost:8108" }, "set TYPESENSE_API_KEY"],
    [{ TYPESENSE_URL: "localhost:8108", TYPESENSE_API_KEY: "k" }, "use http://host:8108"],
    [{ TYPESENSE_URL: "http://localhost:8108", TYPESENSE_API_KEY: "k\ney" }, "TYPESENSE_API_KEY has several lines"],
  ])("does not start with %o, and names the allowed values", async (setting, reason) => {
    const ran = await host.parley(["start"], { ...env, ...setting });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain(reason);
  });
});
